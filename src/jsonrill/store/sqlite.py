"""A store in one SQLite file: survives a restart, for one machine.

All writes go through one thread, and what arrives while it is busy is written in one transaction
with the next; reads have a thread of their own. Waiting readers are woken within the process;
another process on the same file is noticed at the next look, every `LOOK` seconds.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
import time
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from .base import (
    Bounds,
    Entry,
    LogClosed,
    LogGap,
    Status,
    Store,
    StoreError,
    StoreFull,
    StoreUnavailable,
    StreamTaken,
    UnknownStream,
    check_fits,
    unwritten,
)
from .signals import Signals

T = TypeVar("T")
BATCH = 500
LOOK = 0.5
SWEEP_EVERY = 30.0

SCHEMA = """
PRAGMA journal_mode = WAL;
PRAGMA synchronous = NORMAL;
CREATE TABLE IF NOT EXISTS streams (
    id TEXT PRIMARY KEY, owner TEXT NOT NULL, meta BLOB NOT NULL, producer TEXT NOT NULL,
    lease REAL NOT NULL, last INTEGER NOT NULL, size INTEGER NOT NULL, closed INTEGER NOT NULL,
    expires REAL NOT NULL
);
CREATE INDEX IF NOT EXISTS streams_by_owner ON streams (owner, closed);
CREATE INDEX IF NOT EXISTS streams_by_age ON streams (expires);
CREATE TABLE IF NOT EXISTS entries (
    stream TEXT NOT NULL, seq INTEGER NOT NULL, final INTEGER NOT NULL, data BLOB NOT NULL,
    PRIMARY KEY (stream, seq)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS used (token TEXT PRIMARY KEY, until REAL NOT NULL);
"""


class SqliteStore(Store):
    """Logs in tables. Leases are wall-clock times, since they must outlive the process."""

    def __init__(self, path: str, bounds: Bounds | None = None) -> None:
        super().__init__(bounds)
        self.path = path
        self._signals = Signals()
        self._writer = _Worker(path)
        self._reader = _Worker(path)
        self._swept = 0.0

    async def open(self) -> None:
        # What streams hold is for nobody else; SQLite gives its other files the same mode.
        os.close(os.open(self.path, os.O_CREAT | os.O_RDWR, 0o600))
        await self._writer.do(lambda db: db.executescript(SCHEMA).close())
        await self._reader.do(lambda db: db.execute("PRAGMA query_only = 1").close())

    async def close(self) -> None:
        self._signals.close()
        await self._reader.close()
        await self._writer.close()

    async def acquire(
        self,
        stream: str,
        producer: str,
        *,
        lease: float,
        owner: str = "",
        meta: bytes | None = None,
    ) -> Status:
        def work(db: sqlite3.Connection) -> Status:
            now = time.time()
            if meta is not None:
                self._make(db, stream, owner, meta, now)
            found = _find(db, stream)
            if found.closed:
                raise LogClosed(f"stream {stream} has ended")
            _check_producer(found, producer)
            db.execute(
                "UPDATE streams SET producer = ?, lease = ?, expires = ? WHERE id = ?",
                (producer, now + lease, now + self.bounds.keep_open, stream),
            )
            return _find(db, stream)

        return await self._writer.write(work)

    def _make(
        self, db: sqlite3.Connection, stream: str, owner: str, meta: bytes, now: float
    ) -> None:
        self._sweep(db, now)
        if db.execute("SELECT 1 FROM streams WHERE id = ?", (stream,)).fetchone():
            raise StreamTaken(f"stream {stream} exists")
        if _count(db, "SELECT count(*) FROM streams") >= self.bounds.total_streams:
            raise StoreFull("total_streams", "the store holds no more streams")
        mine = "SELECT count(*) FROM streams WHERE owner = ? AND closed = 0"
        if _count(db, mine, owner) >= self.bounds.owner_streams:
            raise StoreFull("owner_streams", "too many open streams of one owner")
        db.execute(
            "INSERT INTO streams VALUES (?, ?, ?, '', ?, 0, 0, 0, ?)",
            (stream, owner, meta, now, now + self.bounds.keep_open),
        )

    async def append(
        self,
        stream: str,
        producer: str,
        records: Sequence[bytes],
        *,
        first: int | None = None,
        lease: float | None = None,
    ) -> int:
        def work(db: sqlite3.Connection) -> int:
            found = _find(db, stream)
            new = unwritten(found.last, found.closed, records, first)
            if found.closed:
                return found.last
            _check_producer(found, producer)
            check_fits(self.bounds, found.last, found.size, new)
            self._write(db, stream, found, new, closed=False)
            if lease is not None:
                held = (producer, time.time() + lease, stream)
                db.execute("UPDATE streams SET producer = ?, lease = ? WHERE id = ?", held)
            return found.last + len(new)

        last = await self._writer.write(work)
        self._signals.wake(stream)
        return last

    async def finalize(self, stream: str, data: bytes, *, only_if_lost: bool = False) -> bool:
        def work(db: sqlite3.Connection) -> bool:
            found = _find(db, stream)
            if found.closed or (only_if_lost and not found.lost):
                return False
            self._write(db, stream, found, [data], closed=True)
            return True

        done = await self._writer.write(work)
        self._signals.wake(stream)
        return done

    def _write(
        self,
        db: sqlite3.Connection,
        stream: str,
        found: Status,
        records: Sequence[bytes],
        *,
        closed: bool,
    ) -> None:
        db.executemany(
            "INSERT INTO entries VALUES (?, ?, ?, ?)",
            ((stream, found.last + at, closed, data) for at, data in enumerate(records, 1)),
        )
        keep = self.bounds.keep_closed if closed else self.bounds.keep_open
        db.execute(
            "UPDATE streams SET last = last + ?, size = size + ?, closed = ?, expires = ?"
            " WHERE id = ?",
            (len(records), sum(map(len, records)), closed, time.time() + keep, stream),
        )

    async def read(self, stream: str, after: int = 0) -> AsyncIterator[list[Entry]]:
        def work(db: sqlite3.Connection) -> tuple[Status, list[Entry]]:
            found = _find(db, stream)
            rows = db.execute(
                "SELECT seq, data, final FROM entries WHERE stream = ? AND seq > ?"
                " ORDER BY seq LIMIT ?",
                (stream, after, BATCH),
            )
            return found, [Entry(seq, data, bool(final)) for seq, data, final in rows]

        with self._signals.listen(stream) as signal:
            while not signal.closed:
                signal.clear()
                status, batch = await self._reader.do(work)
                if batch:
                    after = batch[-1].seq
                    yield batch
                    if batch[-1].final:
                        return
                elif after > status.last:
                    raise LogGap(status.last)
                elif status.closed:
                    return
                else:
                    await signal.wait(LOOK)

    async def status(self, stream: str) -> Status:
        return await self._reader.do(lambda db: _find(db, stream))

    async def delete(self, stream: str) -> None:
        def work(db: sqlite3.Connection) -> None:
            db.execute("DELETE FROM streams WHERE id = ?", (stream,))
            db.execute("DELETE FROM entries WHERE stream = ?", (stream,))

        await self._writer.write(work)
        self._signals.wake(stream)

    async def once(self, token: str, seconds: float) -> bool:
        def work(db: sqlite3.Connection) -> bool:
            now = time.time()
            db.execute("DELETE FROM used WHERE until <= ?", (now,))
            added = db.execute("INSERT OR IGNORE INTO used VALUES (?, ?)", (token, now + seconds))
            return added.rowcount == 1

        return await self._writer.write(work)

    def _sweep(self, db: sqlite3.Connection, now: float) -> None:
        if now - self._swept < SWEEP_EVERY:
            return
        self._swept = now
        old = "SELECT id FROM streams WHERE expires <= ?"
        db.execute(f"DELETE FROM entries WHERE stream IN ({old})", (now,))
        db.execute("DELETE FROM streams WHERE expires <= ?", (now,))


def _find(db: sqlite3.Connection, stream: str) -> Status:
    now = time.time()
    row = db.execute(
        "SELECT owner, meta, last, size, closed, producer, lease FROM streams"
        " WHERE id = ? AND expires > ?",
        (stream, now),
    ).fetchone()
    if row is None:
        raise UnknownStream(f"there is no stream {stream}")
    owner, meta, last, size, closed, producer, lease = row
    return Status(owner, meta, last, size, bool(closed), producer, lease - now)


def _check_producer(found: Status, producer: str) -> None:
    if found.producer != producer and found.lease > 0:
        raise StreamTaken("another producer holds this stream")


def _count(db: sqlite3.Connection, query: str, *arguments: str) -> int:
    return int(db.execute(query, arguments).fetchone()[0])


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
        await asyncio.get_running_loop().run_in_executor(self._thread, self._disconnect)
        self._thread.shutdown()

    async def _write_all(self) -> None:
        while self._waiting:
            jobs, self._waiting = self._waiting, []
            works = [work for work, _ in jobs]
            try:
                results = await self.do(lambda db, works=works: _together(db, works))  # type: ignore[misc]
            except Exception as error:  # nobody may be left waiting
                results = [error] * len(jobs)
            for (_, done), result in zip(jobs, results, strict=True):
                if done.done():  # whoever asked has gone; the work is done all the same
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


def _together(
    db: sqlite3.Connection, works: Sequence[Callable[[sqlite3.Connection], Any]]
) -> list[Any]:
    """Run each in one transaction; one that refuses has written nothing yet."""
    results: list[Any] = []
    db.execute("BEGIN IMMEDIATE")
    try:
        for work in works:
            try:
                results.append(work(db))
            except StoreError as refused:
                results.append(refused)
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise
    return results
