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

from jsonrill.ext.tasks import stop

from .base import (
    NO_TURN,
    Append,
    Bounds,
    Entry,
    LogClosed,
    Look,
    New,
    Status,
    Store,
    StoreError,
    StoreFull,
    StoreUnavailable,
    StreamTaken,
    Tail,
    Turn,
    UnknownStream,
    check_fits,
    check_free,
    check_order,
    new_mark,
    next_mark,
    next_turn,
    turn_cost,
)

T = TypeVar("T")
POLL = 0.01
SWEEP_EVERY = 30.0
VERSION = 4
RECORD_COST = 24
STREAM_COST = 200


def _cost(row: str) -> str:
    records = f"{row}.size + {RECORD_COST} * {row}.last"
    return f"(length({row}.meta) + {records} + {row}.turned + {STREAM_COST})"


# `lease` is when the producer's time runs out, or when the stream ended. `expires` moves with each
# use by `ttl` seconds (0: as the bounds say), unless it is fixed. `turned` are the bytes that a
# stream's producers take in `turns`. `changed` numbers the transactions, across processes. `books`
# has what each owner's streams take; triggers keep it.
SCHEMA = f"""
PRAGMA journal_mode = WAL;
PRAGMA synchronous = NORMAL;
CREATE TABLE IF NOT EXISTS streams (
    key INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, owner TEXT NOT NULL, meta BLOB NOT NULL,
    producer TEXT NOT NULL, lease REAL NOT NULL, last INTEGER NOT NULL, size INTEGER NOT NULL,
    mark INTEGER NOT NULL, closed INTEGER NOT NULL, expires REAL NOT NULL,
    changed INTEGER NOT NULL, ttl REAL NOT NULL, fixed INTEGER NOT NULL,
    turned INTEGER NOT NULL DEFAULT 0, placed BLOB NOT NULL DEFAULT x''
);
CREATE INDEX IF NOT EXISTS streams_by_owner ON streams (owner, lease);
CREATE INDEX IF NOT EXISTS streams_by_lease ON streams (lease);
CREATE INDEX IF NOT EXISTS streams_by_age ON streams (expires);
CREATE INDEX IF NOT EXISTS streams_by_change ON streams (changed);
CREATE TABLE IF NOT EXISTS entries (
    stream INTEGER NOT NULL, seq INTEGER NOT NULL, mark INTEGER NOT NULL, data BLOB NOT NULL,
    PRIMARY KEY (stream, seq)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS turns (
    stream INTEGER NOT NULL, producer TEXT NOT NULL, epoch INTEGER NOT NULL, seq INTEGER NOT NULL,
    PRIMARY KEY (stream, producer)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS changes (number INTEGER NOT NULL);
INSERT INTO changes SELECT 0 WHERE NOT EXISTS (SELECT 1 FROM changes);
CREATE TABLE IF NOT EXISTS books (
    owner TEXT PRIMARY KEY, streams INTEGER NOT NULL, cost INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TRIGGER IF NOT EXISTS stream_made AFTER INSERT ON streams BEGIN
    INSERT INTO books VALUES (new.owner, 1, {_cost("new")})
    ON CONFLICT DO UPDATE SET streams = streams + 1, cost = cost + excluded.cost;
END;
CREATE TRIGGER IF NOT EXISTS stream_grown AFTER UPDATE OF size, turned ON streams BEGIN
    UPDATE books SET cost = cost + {_cost("new")} - {_cost("old")}
    WHERE owner = new.owner;
END;
CREATE TRIGGER IF NOT EXISTS stream_gone AFTER DELETE ON streams BEGIN
    UPDATE books SET streams = streams - 1, cost = cost - {_cost("old")}
    WHERE owner = old.owner;
    DELETE FROM books WHERE owner = old.owner AND streams = 0;
    DELETE FROM entries WHERE stream = old.key;
    DELETE FROM turns WHERE stream = old.key;
END;
CREATE TABLE IF NOT EXISTS used (token TEXT PRIMARY KEY, until REAL NOT NULL);
CREATE TABLE IF NOT EXISTS clock (boot TEXT NOT NULL, began REAL NOT NULL);
PRAGMA user_version = {VERSION};
"""
# When a stream that is used now expires; takes the time and how long the bounds keep it.
EXPIRES = "expires = CASE WHEN fixed THEN expires ELSE ? + CASE ttl WHEN 0 THEN ? ELSE ttl END END"


class SqliteStore(Store):
    """Keeps logs in tables. Its clock is one that does not jump, and outlives the process."""

    record_cost = RECORD_COST
    stream_cost = STREAM_COST

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

    def _now(self) -> float:
        return self._began + time.monotonic()

    async def close(self) -> None:
        await stop(self._polling)
        self._signals.close()
        await self._reader.close()
        await self._writer.close()

    async def _take(self, stream: str, producer: str, lease: float, new: New | None) -> Status:
        def work(db: sqlite3.Connection) -> Status:
            now = self._now()
            if new is not None:
                self._make(db, stream, new, now)
            found = _find(db, stream, now)
            if found.closed:
                raise LogClosed(f"stream {stream} has ended")
            check_free(found.producer, found.lease, producer)
            self._hold(db, stream, producer, lease, now)
            if new is not None and (new.records or new.end is not None):
                self._write(db, stream, found, new.records, new.end, now)
            return _find(db, stream, now)

        return await self._writer.write(work)

    def _make(self, db: sqlite3.Connection, stream: str, new: New, now: float) -> None:
        """Make room for a new stream, and make it; or refuse it."""
        self._sweep(db, now)
        gone = "DELETE FROM streams WHERE id = ? AND (expires <= ? OR (closed AND ?))"
        db.execute(gone, (stream, now, new.replace))
        if db.execute("SELECT 1 FROM streams WHERE id = ?", (stream,)).fetchone():
            raise StreamTaken(f"stream {stream} exists")
        mine = "SELECT count(*) FROM streams WHERE owner = ? AND lease > ? AND expires > ?"
        if _count(db, mine, new.owner, now, now) >= self.bounds.owner_streams:
            raise StoreFull("owner_streams", "too many open streams of one owner")
        check_fits(self.bounds, 0, 0, new.records)
        cost = self.stream_cost + len(new.meta) + self._cost(new.records)
        self._make_room(db, stream, new.owner, cost, now)
        full = _count(db, "SELECT sum(streams) FROM books") >= self.bounds.total_streams
        if full and not self._evict(db, stream, None, now):
            raise StoreFull("total_streams", "the store holds no more streams")
        expires = now + (new.until - time.time() if new.until else 1.0)
        db.execute(
            "INSERT INTO streams (id, owner, meta, producer, lease, last, size, mark,"
            " closed, expires, changed, ttl, fixed)"
            " VALUES (?, ?, ?, '', ?, 0, 0, ?, 0, ?, 0, ?, ?)",
            (stream, new.owner, new.meta, now, new_mark(), expires, new.ttl, new.until > 0),
        )

    async def _add(self, stream: str, producer: str, append: Append) -> Tail:
        def work(db: sqlite3.Connection) -> Tail:
            now, turn = self._now(), append.turn
            found = _find(db, stream, now)
            tail, records = Tail(found.last, found.mark), append.records
            key, placed = db.execute(
                "SELECT key, placed FROM streams WHERE id = ?", (stream,)
            ).fetchone()
            turned = 0
            if turn is not None and next_turn(turn, *_turns(db, key, turn), tail, found.closed):
                turned = turn_cost(turn.producer)
            if found.closed:
                raise LogClosed(f"stream {stream} has ended")
            check_order(append.order, placed)
            check_free(found.producer, found.lease, producer)
            check_fits(self.bounds, found.last, found.size, records)
            self._make_room(db, stream, found.owner, self._cost(records) + turned, now)
            tail = self._write(db, stream, found, records, append.end, now)
            if turn is not None:
                db.execute("INSERT OR REPLACE INTO turns VALUES (?, ?, ?, ?)", (key, *turn))
            if turned:
                grown = "UPDATE streams SET turned = turned + ? WHERE id = ?"
                db.execute(grown, (turned, stream))
            if append.order:
                db.execute("UPDATE streams SET placed = ? WHERE id = ?", (append.order, stream))
            if append.lease is not None and append.end is None:
                self._hold(db, stream, producer, append.lease, now)
            return tail

        tail = await self._writer.write(work)
        self._signals.wake(stream)
        return tail

    async def finalize(self, stream: str, data: bytes, *, only_if_lost: bool = False) -> bool:
        def work(db: sqlite3.Connection) -> bool:
            now = self._now()
            found = _find(db, stream, now)
            if found.closed or (only_if_lost and not found.lost):
                return False
            self._write(db, stream, found, [], data, now)
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
        end: bytes | None,
        now: float,
    ) -> Tail:
        [key] = db.execute("SELECT key FROM streams WHERE id = ?", (stream,)).fetchone()
        mark, rows = found.mark, []
        for seq, data in enumerate([*records, *([] if end is None else [end])], found.last + 1):
            mark = next_mark(mark, data)
            rows.append((key, seq, mark, data))
        db.executemany("INSERT INTO entries VALUES (?, ?, ?, ?)", rows)
        db.execute("UPDATE changes SET number = number + 1")
        size = sum(len(data) for *_, data in rows)
        keep = self.bounds.keep_open if end is None else self.bounds.keep_closed
        db.execute(
            f"UPDATE streams SET last = last + ?, size = size + ?, mark = ?, {EXPIRES},"
            " changed = (SELECT number FROM changes) WHERE key = ?",
            (len(rows), size, mark, now, keep, key),
        )
        if end is not None:
            db.execute("UPDATE streams SET closed = 1, lease = ? WHERE key = ?", (now, key))
        return Tail(found.last + len(rows), mark)

    def _hold(
        self, db: sqlite3.Connection, stream: str, producer: str, lease: float, now: float
    ) -> None:
        db.execute(
            f"UPDATE streams SET producer = ?, lease = ?, {EXPIRES} WHERE id = ?",
            (producer, now + lease, now, self.bounds.keep_open, stream),
        )

    async def _look(self, stream: str, after: int, count: int) -> Look:
        def work(db: sqlite3.Connection) -> Look:
            row = db.execute(
                "SELECT key, last, mark, closed FROM streams WHERE id = ? AND expires > ?",
                (stream, self._now()),
            ).fetchone()
            if row is None:
                raise UnknownStream(f"there is no stream {stream}")
            key, last, mark, closed = row
            rows = db.execute(
                "SELECT seq, data, mark FROM entries WHERE stream = ? AND seq > ? AND seq <= ?"
                " ORDER BY seq LIMIT ?",
                (key, after, last, count),
            )
            found = [Entry(seq, data, closed and seq == last, mark) for seq, data, mark in rows]
            return Look(last, mark, bool(closed), found)

        return await self._reader.do(work)

    async def status(self, stream: str) -> Status:
        return await self._reader.do(lambda db: _find(db, stream, self._now()))

    async def touch(self, stream: str, lease: float) -> None:
        def work(db: sqlite3.Connection) -> None:
            now = self._now()
            closed = _find(db, stream, now).closed
            keep = self.bounds.keep_closed if closed else self.bounds.keep_open
            db.execute(
                "UPDATE streams SET lease = CASE WHEN closed OR fixed THEN lease ELSE ? END,"
                f" {EXPIRES} WHERE id = ?",
                (now + lease, now, keep, stream),
            )

        await self._writer.write(work)

    async def delete(self, stream: str) -> None:
        def work(db: sqlite3.Connection) -> None:
            db.execute("DELETE FROM streams WHERE id = ?", (stream,))

        await self._writer.write(work)
        self._signals.wake(stream)

    async def once(self, token: str, seconds: float) -> bool:
        def work(db: sqlite3.Connection) -> bool:
            now = self._now()
            db.execute("DELETE FROM used WHERE until <= ?", (now,))
            added = db.execute("INSERT OR IGNORE INTO used VALUES (?, ?)", (token, now + seconds))
            return added.rowcount == 1

        return await self._writer.write(work)

    def _make_room(
        self, db: sqlite3.Connection, stream: str, owner: str, cost: int, now: float
    ) -> None:
        """Delete old streams, but not this one, until there is room for `cost` more bytes."""
        theirs = "SELECT sum(cost) FROM books WHERE owner = ?"
        while _count(db, theirs, owner) + cost > self.bounds.owner_bytes:
            if not self._evict(db, stream, owner, now):
                raise StoreFull("owner_bytes", "one owner has too much in the store")
        while _count(db, "SELECT sum(cost) FROM books") + cost > self.bounds.total_bytes:
            if not self._evict(db, stream, None, now):
                raise StoreFull("total_bytes", "the store is full")

    def _evict(self, db: sqlite3.Connection, but: str, owner: str | None, now: float) -> bool:
        """Delete the oldest stream that has no producer; False if there is none."""
        old = "SELECT key FROM streams WHERE lease <= ? AND id != ?"
        arguments: list[Any] = [now, but]
        if owner is not None:
            old += " AND owner = ?"
            arguments.append(owner)
        gone = db.execute(
            f"DELETE FROM streams WHERE key = ({old} ORDER BY lease LIMIT 1)", arguments
        )
        return gone.rowcount == 1

    def _sweep(self, db: sqlite3.Connection, now: float) -> None:
        if now - self._swept < SWEEP_EVERY:
            return
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
    last = _count(db, "SELECT number FROM changes")
    rows = db.execute("SELECT id FROM streams WHERE changed > ?", (seen,)).fetchall()
    return now, last, [stream for [stream] in rows]


def _find(db: sqlite3.Connection, stream: str, now: float) -> Status:
    """Return the state of a stream that has not expired at `now`."""
    row = db.execute(
        "SELECT owner, meta, last, size, mark, closed, producer, lease, expires FROM streams"
        " WHERE id = ? AND expires > ?",
        (stream, now),
    ).fetchone()
    if row is None:
        raise UnknownStream(f"there is no stream {stream}")
    owner, meta, last, size, mark, closed, producer, lease, expires = row
    return Status(
        owner,
        meta,
        last,
        size,
        mark,
        bool(closed),
        producer,
        lease - now,
        not closed and lease <= now,
        expires - now,
    )


def _turns(db: sqlite3.Connection, key: int, turn: Turn) -> tuple[tuple[int, int], int]:
    """Return the last turn of a producer, and, if it has had none, how many have had one."""
    mine = "SELECT epoch, seq FROM turns WHERE stream = ? AND producer = ?"
    last = db.execute(mine, (key, turn.producer)).fetchone()
    if last is not None:
        return last, 0
    return NO_TURN, _count(db, "SELECT count(*) FROM turns WHERE stream = ?", key)


def _count(db: sqlite3.Connection, query: str, *arguments: Any) -> int:
    return int(db.execute(query, arguments).fetchone()[0] or 0)


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
