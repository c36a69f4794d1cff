"""A store in one SQLite file, for the processes of one machine; it survives restarts.

All statements run in one thread. Readers of other processes are woken by looking at the version of
the file every 20 ms.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeVar

from .log import (
    FORMAT,
    Head,
    NewLog,
    Row,
    State,
    Store,
    StoreError,
    StoreFull,
    StoreUnavailable,
    Write,
    cancel,
    check,
    next_epoch,
    refuse,
    refuse_more,
)

T = TypeVar("T")
POLL: Final = 0.02
SCHEMA: Final = f"""
PRAGMA journal_mode = WAL;
PRAGMA synchronous = NORMAL;
CREATE TABLE IF NOT EXISTS logs (
    key TEXT PRIMARY KEY, log TEXT NOT NULL, epoch INTEGER NOT NULL, last INTEGER NOT NULL,
    state INTEGER NOT NULL, until REAL NOT NULL, meta TEXT NOT NULL, size INTEGER NOT NULL,
    owner TEXT NOT NULL, keep REAL NOT NULL, used REAL NOT NULL
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS logs_by_owner ON logs (owner, state, used);
CREATE TABLE IF NOT EXISTS records (
    log TEXT NOT NULL, seq INTEGER NOT NULL, epoch INTEGER NOT NULL, data BLOB NOT NULL,
    PRIMARY KEY (log, seq)
) WITHOUT ROWID;
CREATE TRIGGER IF NOT EXISTS log_deleted AFTER DELETE ON logs BEGIN
    DELETE FROM records WHERE log = old.log;
END;
CREATE TABLE IF NOT EXISTS probe (data BLOB);
PRAGMA user_version = {FORMAT};
"""
HEAD: Final = "SELECT log, epoch, last, state, until - ?, meta, size FROM logs WHERE key = ?"
ROWS: Final = "SELECT seq, epoch, data FROM records WHERE log = ? AND seq > ? ORDER BY seq LIMIT ?"
UPDATE: Final = """
UPDATE logs SET last = last + ?, size = size + ?, state = max(state, ?), until = ?, used = ?
WHERE key = ?
"""


class SqliteStore(Store):
    """Logs in tables; its clock is the system's."""

    def __init__(self, url: str) -> None:
        super().__init__()
        self._path = url.partition("///")[2]
        self._thread = ThreadPoolExecutor(1, "jsonrill-sqlite")
        self._db: sqlite3.Connection | None = None
        self._polling: asyncio.Task[None] | None = None

    async def open(self) -> None:
        await self._run(_prepare)
        self._polling = asyncio.create_task(self._poll())

    async def close(self) -> None:
        await cancel(self._polling)
        await asyncio.get_running_loop().run_in_executor(self._thread, self._disconnect)
        self._thread.shutdown()

    async def create(self, key: str, new: NewLog, lease: float) -> Head | None:
        def work(db: sqlite3.Connection) -> Head | None:
            now, head = time.time(), _head(db, key)
            if head is not None and head.log == new.log:
                return head
            if head is not None and not (head.state == State.ENDED and new.replaces):
                return None
            _make_room(db, new)
            db.execute("DELETE FROM logs WHERE key = ?", (key,))
            row = (key, new.log, next_epoch(), 0, 0, now + lease, new.meta, 0)
            values = (*row, new.owner, new.keep, now)
            db.execute("INSERT INTO logs VALUES (?,?,?,?,?,?,?,?,?,?,?)", values)
            return _head(db, key)

        head = await self._transaction(work)
        self.signals.wake(key)
        return head

    async def claim(self, key: str, lease: float, *, force: bool = False) -> Head | None:
        def work(db: sqlite3.Connection) -> Head | None:
            head = _head(db, key)
            if head is None or head.state == State.ENDED or (head.left > 0 and not force):
                return None
            claimed = (next_epoch(head.epoch), time.time() + lease, key)
            db.execute("UPDATE logs SET epoch = ?, until = ? WHERE key = ?", claimed)
            return _head(db, key)

        head = await self._transaction(work)
        self.signals.wake(key)
        return head

    async def append(self, key: str, write: Write) -> None:
        def work(db: sqlite3.Connection) -> None:
            now, head = time.time(), _head(db, key)
            if answer := check(head, write):
                refuse(answer)
                return
            log = head.log if head else ""
            rows = [
                (log, seq, write.epoch, data)
                for seq, data in enumerate(write.records, write.after + 1)
            ]
            db.executemany("INSERT INTO records VALUES (?,?,?,?)", rows)
            size = sum(map(len, write.records))
            values = (len(rows), size, int(write.state), now + write.lease, now, key)
            db.execute(UPDATE, values)

        await self._transaction(work)
        self.signals.wake(key)

    async def read(self, key: str, after: int, limit: int = 200) -> tuple[Head | None, list[Row]]:
        def work(db: sqlite3.Connection) -> tuple[Head | None, list[Row]]:
            if (head := _head(db, key)) is None:
                return None, []
            rows = db.execute(ROWS, (head.log, after, limit)).fetchall()
            return head, [Row(*row) for row in rows]

        return await self._transaction(work, "BEGIN")

    async def delete(self, key: str) -> None:
        await self._transaction(
            lambda db: db.execute("DELETE FROM logs WHERE key = ?", (key,)).close()
        )
        self.signals.wake(key)

    async def expire(self, limit: int = 20) -> list[str]:
        def work(db: sqlite3.Connection) -> list[str]:
            now = time.time()
            db.execute("DELETE FROM logs WHERE used + keep < ?", (now,))
            due = "SELECT key FROM logs WHERE state < 2 AND until < ? LIMIT ?"
            return [key for [key] in db.execute(due, (now, limit))]

        return await self._transaction(work)

    async def probe(self) -> None:
        await self._transaction(lambda db: db.execute("INSERT INTO probe VALUES (zeroblob(65536))"))
        await self._transaction(lambda db: db.execute("DELETE FROM probe"))

    async def _poll(self) -> None:
        """Wake all readers here when another process has changed the file."""
        version = 0
        while True:
            if not self.signals.listening:
                self.signals.wanted.clear()
                await self.signals.wanted.wait()
            try:
                [now] = await self._run(lambda db: db.execute("PRAGMA data_version").fetchone())
            except StoreError:
                now = 0
            if now != version:
                version = now
                self.signals.wake_all()
            await asyncio.sleep(POLL)

    async def _transaction(
        self, work: Callable[[sqlite3.Connection], T], begin: str = "BEGIN IMMEDIATE"
    ) -> T:
        def transaction(db: sqlite3.Connection) -> T:
            db.execute(begin)
            try:
                result = work(db)
                db.execute("COMMIT")
            except BaseException:
                if db.in_transaction:
                    db.execute("ROLLBACK")
                raise
            return result

        return await self._run(transaction)

    async def _run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        def guarded() -> T:
            try:
                return work(self._connected())
            except sqlite3.Error as error:
                if getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_FULL:
                    raise StoreFull("the disk of the SQLite store is full") from error
                raise StoreUnavailable(f"SQLite: {error}") from error

        return await asyncio.get_running_loop().run_in_executor(self._thread, guarded)

    def _connected(self) -> sqlite3.Connection:
        if self._db is None:
            # Only this user may read the logs; SQLite gives its other files the same mode.
            try:
                os.close(os.open(self._path, os.O_CREAT | os.O_RDWR, 0o600))
            except OSError as error:
                raise StoreUnavailable(f"SQLite: {error}") from error
            self._db = sqlite3.connect(self._path, isolation_level=None, timeout=10)
        return self._db

    def _disconnect(self) -> None:
        if self._db is not None:
            self._db.close()


def _prepare(db: sqlite3.Connection) -> None:
    [version] = db.execute("PRAGMA user_version").fetchone()
    if version != FORMAT and db.execute("SELECT 1 FROM sqlite_master").fetchone():
        raise StoreError(
            f"this file has format {version} and not {FORMAT}: name another file, or delete it with"
            " the logs in it"
        )
    db.executescript(SCHEMA).close()


def _head(db: sqlite3.Connection, key: str) -> Head | None:
    row = db.execute(HEAD, (time.time(), key)).fetchone()
    return row and Head(*row)


def _make_room(db: sqlite3.Connection, new: NewLog) -> None:
    [count] = db.execute("SELECT count(*) FROM logs WHERE owner = ?", (new.owner,)).fetchone()
    surplus = count - new.most + 1
    if surplus <= 0:
        return
    old = "SELECT key FROM logs WHERE owner = ? AND state = 2 ORDER BY used LIMIT ?"
    gone = db.execute(f"DELETE FROM logs WHERE key IN ({old})", (new.owner, surplus)).rowcount
    if gone < surplus:
        refuse_more(new)
