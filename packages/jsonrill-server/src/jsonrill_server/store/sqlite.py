"""A store in one SQLite file: survives a restart, for one machine.

All writes go through one thread, and what arrives while it is busy is written in one transaction
with the next; reads have a thread of their own. Waiting readers are woken by name: at once within
the process, and every `POLL` seconds by what other processes have changed in the file.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from jsonrill_server.tasks import stop

from .base import Bounds, Entry, StoreError, StoreUnavailable
from .heads import Clock, Head
from .logs import Found, Store, Usage

T = TypeVar("T")
POLL = 0.01
SWEEP_EVERY = 30.0
VERSION = 6

# `name`, `owner`, `listed` and `expires` are those of the head. `changed` numbers the
# transactions that wrote records, across processes.
SCHEMA = f"""
PRAGMA journal_mode = WAL;
PRAGMA synchronous = NORMAL;
CREATE TABLE IF NOT EXISTS streams (
    key INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, name TEXT NOT NULL, head BLOB NOT NULL,
    owner TEXT NOT NULL, listed REAL NOT NULL, expires REAL NOT NULL,
    changed INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX IF NOT EXISTS streams_by_owner ON streams (owner, listed);
CREATE INDEX IF NOT EXISTS streams_by_change ON streams (changed);
CREATE TABLE IF NOT EXISTS entries (
    stream INTEGER NOT NULL, seq INTEGER NOT NULL, mark INTEGER NOT NULL, data BLOB NOT NULL,
    PRIMARY KEY (stream, seq)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS changes (number INTEGER NOT NULL);
INSERT INTO changes SELECT 0 WHERE NOT EXISTS (SELECT 1 FROM changes);
CREATE TRIGGER IF NOT EXISTS stream_gone AFTER DELETE ON streams BEGIN
    DELETE FROM entries WHERE stream = old.key;
END;
CREATE TABLE IF NOT EXISTS clock (boot TEXT NOT NULL, began REAL NOT NULL);
PRAGMA user_version = {VERSION};
"""


class SqliteStore(Store):
    """Keeps logs in tables. Its clock is one that does not jump, and outlives the process."""

    def __init__(self, path: str, bounds: Bounds | None = None) -> None:
        super().__init__(bounds)
        self.path = path
        self._writer = _Worker(path)
        self._reader = _Worker(path)
        self._swept = 0.0
        # Unix time at which the system's monotonic clock was 0, as all processes take it.
        self._began = 0.0
        self._polling: asyncio.Task[None] | None = None
        self._listened = asyncio.Event()
        self._signals.on_change = lambda _: self._listened.set()

    @classmethod
    def takes(cls, rest: str) -> bool:
        return rest.startswith("///") and len(rest) > 3

    @classmethod
    def at(cls, url: str, bounds: Bounds | None) -> Store:
        return cls(url.partition("///")[2], bounds)

    async def open(self) -> None:
        # Only this user may read the streams; SQLite gives its other files the same mode.
        os.close(os.open(self.path, os.O_CREAT | os.O_RDWR, 0o600))
        self._began = await self._writer.do(_prepare)
        await self._reader.do(lambda db: db.execute("PRAGMA query_only = 1").close())
        self._polling = asyncio.create_task(self._poll())

    def _clock(self) -> Clock:
        return Clock(self._began + time.monotonic())

    async def close(self) -> None:
        await stop(self._polling)
        self._signals.close()
        await self._reader.close()
        await self._writer.close()

    async def _find(self, stream: str, after: int, count: int) -> Found:
        def work(db: sqlite3.Connection) -> Found:
            row = db.execute("SELECT key, head FROM streams WHERE id = ?", (stream,)).fetchone()
            if row is None:
                return Found(self._clock(), None)
            key, head = row[0], Head.decoded(row[1])
            rows = db.execute(
                "SELECT seq, data, mark FROM entries WHERE stream = ? AND seq > ? AND seq <= ?"
                " ORDER BY seq LIMIT ?",
                (key, after, head.last, count),
            )
            final = head.last if head.closed else -1
            entries = [Entry(seq, data, seq == final, mark) for seq, data, mark in rows]
            return Found(self._clock(), head, entries)

        return await self._reader.do(work)

    async def _swap(
        self, stream: str, before: str, head: Head, rows: Sequence[Entry], listed: bool
    ) -> Found:
        def work(db: sqlite3.Connection) -> Found:
            old = "SELECT key, name, head FROM streams WHERE id = ?"
            key, name, text = db.execute(old, (stream,)).fetchone() or (None, "", None)
            if name != before:
                return Found(self._clock(), None if text is None else Head.decoded(text))
            if rows and rows[0].seq == 0:
                self._sweep(db)
                db.execute("DELETE FROM streams WHERE key = ?", (key,))
                insert = "INSERT INTO streams (id, name, head, owner, listed, expires)"
                values = (stream, "", b"", head.owner, 0.0, 0.0)
                key = db.execute(f"{insert} VALUES (?, ?, ?, ?, ?, ?)", values).lastrowid
            db.execute(
                "UPDATE streams SET name = ?, head = ?, listed = ?, expires = ? WHERE key = ?",
                (head.name, head.encoded(), head.listed, head.expires, key),
            )
            if rows:
                added = ((key, row.seq, row.mark, row.data) for row in rows)
                db.executemany("INSERT INTO entries VALUES (?, ?, ?, ?)", added)
                db.execute("UPDATE changes SET number = number + 1")
                changed = "UPDATE streams SET changed = (SELECT number FROM changes) WHERE key = ?"
                db.execute(changed, (key,))
            return Found(self._clock(), head)

        return await self._writer.write(work)

    async def _drop(self, stream: str, name: str | None) -> None:
        def work(db: sqlite3.Connection) -> None:
            gone = "DELETE FROM streams WHERE id = ? AND name = coalesce(?, name)"
            db.execute(gone, (stream, name))

        await self._writer.write(work)

    async def _usage(self, owner: str, now: float) -> Usage:
        def work(db: sqlite3.Connection) -> Usage:
            mine = "SELECT count(*) FROM streams WHERE owner = ? AND listed > ?"
            [open] = db.execute(mine, (owner, now)).fetchone()
            [streams] = db.execute("SELECT count(*) FROM streams").fetchone()
            return Usage(open, streams)

        return await self._reader.do(work)

    async def _oldest(self, now: float) -> Sequence[str]:
        def work(db: sqlite3.Connection) -> Sequence[str]:
            oldest = "SELECT id FROM streams WHERE listed <= ? ORDER BY listed LIMIT 20"
            return [stream for [stream] in db.execute(oldest, (now,))]

        return await self._reader.do(work)

    async def _probe(self) -> None:
        def work(db: sqlite3.Connection) -> None:
            db.execute("UPDATE changes SET number = number + 1")

        await self._writer.write(work)

    def _sweep(self, db: sqlite3.Connection) -> None:
        """Delete what has expired."""
        now = self._clock().now
        if now - self._swept >= SWEEP_EVERY:
            self._swept = now
            db.execute("DELETE FROM streams WHERE expires <= ?", (now,))

    async def _poll(self) -> None:
        """Wake the readers here of streams that another process has changed."""
        # The writer's connection sees a new version only after a commit that was not its own.
        version, seen = 0, 0
        while True:
            if not self._signals.streams:
                self._listened.clear()
                await self._listened.wait()
            try:
                version, seen, streams = await self._writer.do(partial(_changes, version, seen))
            except Exception as error:  # the loop must survive any error
                self.on_error("wake-ups", error)
                await asyncio.sleep(1.0)
                continue
            for stream in streams:
                self._signals.wake(stream)
            await asyncio.sleep(POLL)


def _prepare(db: sqlite3.Connection) -> float:
    """Create what is missing in the file, and return when its clock began.

    The clock is the system's monotonic one, which stands still while a laptop sleeps and does not
    follow a wall clock that is set. It begins again with the system, and then the first process
    says what time it is.
    """
    [version] = db.execute("PRAGMA user_version").fetchone()
    if version != VERSION and db.execute("SELECT 1 FROM sqlite_master").fetchone():
        raise StoreError("this file was made by another version of jsonrill: name another file")
    db.executescript(SCHEMA).close()
    with _transaction(db):
        row = db.execute("SELECT boot, began FROM clock").fetchone()
        if row is not None and row[0] == _boot():
            return float(row[1])
        began = time.time() - time.monotonic()
        db.execute("DELETE FROM clock")
        db.execute("INSERT INTO clock VALUES (?, ?)", (_boot(), began))
        return began


def _boot() -> str:
    """What is the same until the system is started again."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
    except OSError:  # to within ten minutes, which it may be wrong by
        return f"{(time.time() - time.monotonic()) // 600:.0f}"


def _changes(version: int, seen: int, db: sqlite3.Connection) -> tuple[int, int, list[str]]:
    """The version of the file, the number of its last change, and what changed since `seen`."""
    [now] = db.execute("PRAGMA data_version").fetchone()
    if now == version:
        return version, seen, []
    # The number first: what is changed between the two statements is found twice, not never.
    [last] = db.execute("SELECT number FROM changes").fetchone()
    rows = db.execute("SELECT id FROM streams WHERE changed > ?", (seen,)).fetchall()
    return now, last, [stream for [stream] in rows]


class _Worker:
    """One connection in one thread. `write` puts what waits into one transaction."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._thread = ThreadPoolExecutor(1, "jsonrill-sqlite")
        self._connection: sqlite3.Connection | None = None
        self._waiting: list[tuple[Callable[[sqlite3.Connection], Any], asyncio.Future[Any]]] = []
        self._busy: asyncio.Task[None] | None = None

    async def do(self, work: Callable[[sqlite3.Connection], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._guarded, work)

    async def write(self, work: Callable[[sqlite3.Connection], T]) -> T:
        loop = asyncio.get_running_loop()
        done: asyncio.Future[T] = loop.create_future()
        self._waiting.append((work, done))
        if self._busy is None:
            self._busy = loop.create_task(self._write_all())
        return await done

    async def close(self) -> None:
        if self._busy is not None:
            await self._busy
        if self._connection is not None:
            await asyncio.get_running_loop().run_in_executor(self._thread, self._disconnect)
        self._thread.shutdown()

    async def _write_all(self) -> None:
        while self._waiting:
            jobs, self._waiting = self._waiting, []
            works = [work for work, _ in jobs]
            try:
                results = await self.do(lambda db, works=works: _together(db, works))  # type: ignore[misc]
            except Exception as error:  # no caller may be left waiting
                results = [error] * len(jobs)
            for (_, done), result in zip(jobs, results, strict=True):
                if done.done():  # the caller has gone; the work is done all the same
                    continue
                if isinstance(result, BaseException):
                    done.set_exception(result)
                else:
                    done.set_result(result)
        self._busy = None

    def _guarded(self, work: Callable[[sqlite3.Connection], T]) -> T:
        try:
            if self._connection is None:
                self._connection = sqlite3.connect(self._path, isolation_level=None, timeout=10)
            return work(self._connection)
        except sqlite3.Error as error:
            raise StoreUnavailable(str(error)) from error

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def _together(
    db: sqlite3.Connection, works: Sequence[Callable[[sqlite3.Connection], Any]]
) -> list[Any]:
    """Run each in one transaction; one that refuses has written nothing yet."""
    results: list[Any] = []
    with _transaction(db):
        for work in works:
            try:
                results.append(work(db))
            except StoreError as refused:
                results.append(refused)
    return results


@contextmanager
def _transaction(db: sqlite3.Connection) -> Iterator[None]:
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise
