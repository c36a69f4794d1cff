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
from dataclasses import asdict
from typing import Any, Final, TypeVar

from .log import FORMAT, Head, NewLog, Row, Store, StoreFull, StoreUnavailable, Write

T = TypeVar("T")
POLL: Final = 0.02
SCHEMA: Final = (
    """
CREATE TABLE logs (
    key TEXT PRIMARY KEY, log TEXT NOT NULL, epoch INTEGER NOT NULL, last INTEGER NOT NULL,
    state INTEGER NOT NULL, until REAL NOT NULL, size INTEGER NOT NULL, meta TEXT NOT NULL,
    owner TEXT NOT NULL, keep REAL NOT NULL, used REAL NOT NULL
) WITHOUT ROWID
""",
    "CREATE INDEX logs_by_owner ON logs (owner, state, used)",
    """
CREATE TABLE records (
    log TEXT NOT NULL, seq INTEGER NOT NULL, epoch INTEGER NOT NULL, data BLOB NOT NULL,
    PRIMARY KEY (log, seq)
) WITHOUT ROWID
""",
    """
CREATE TRIGGER log_deleted AFTER DELETE ON logs BEGIN
    DELETE FROM records WHERE log = old.log;
END
""",
    "CREATE TABLE probe (data BLOB)",
    f"PRAGMA user_version = {FORMAT}",
)
HEAD: Final = "log, epoch, last, state, until - :now, size, meta"
MAKE_ROOM: Final = """
DELETE FROM logs WHERE NOT EXISTS (SELECT 1 FROM logs WHERE key = :key) AND key IN (
    SELECT key FROM logs WHERE owner = :owner AND state = 2 ORDER BY used
    LIMIT max(0, (SELECT count(*) FROM logs WHERE owner = :owner) - :most + 1)
)
"""
CREATE: Final = f"""
INSERT INTO logs SELECT :key, :log, :epoch, 0, 0, :now + :lease, 0, :meta, :owner, :keep, :now
WHERE (SELECT count(*) FROM logs WHERE owner = :owner) < :most
ON CONFLICT DO NOTHING RETURNING {HEAD}
"""
WRITE: Final = f"""
UPDATE logs SET epoch = :next_epoch, last = last + :count, state = :next_state,
    until = :now + :lease, size = size + :size, used = :now
WHERE key = :key AND epoch = :epoch AND state = :state
    AND (last = :last OR (epoch <> :next_epoch AND :count = 0))
RETURNING {HEAD}
"""
READ: Final = "SELECT seq, epoch, data FROM records WHERE log = ? AND seq > ? ORDER BY seq LIMIT ?"


class SqliteStore(Store):
    """Logs in tables; its clock is the system's."""

    remedy = "name another file, or delete it with the logs in it"

    def __init__(self, url: str) -> None:
        super().__init__()
        self._path = url.partition("///")[2]
        self._thread = ThreadPoolExecutor(1, "jsonrill-sqlite")
        self._db: Any = None

    async def connect(self) -> int:
        self._db = await self._run(lambda: _connect(self._path))
        return await self._pragma("user_version")

    async def disconnect(self) -> None:
        if self._db is not None:
            await self._run(self._db.close)
        self._thread.shutdown()

    async def try_create(self, key: str, new: NewLog, lease: float) -> Head | None:
        def work(db: sqlite3.Connection) -> Head | None:
            values = {**asdict(new), "key": key, "lease": lease, "now": time.time()}
            db.execute("DELETE FROM logs WHERE key = :key AND log = :replaces", values)
            db.execute(MAKE_ROOM, values)
            return _head(db.execute(CREATE, values))

        head = await self._transaction(work)
        self.signals.wake(key)
        return head

    async def try_write(self, key: str, write: Write) -> Head | None:
        def work(db: sqlite3.Connection) -> Head | None:
            values = {**write.fields(), "key": key, "now": time.time()}
            head = _head(db.execute(WRITE, values))
            if head is not None:
                rows = [
                    (head.log, seq, head.epoch, data)
                    for seq, data in enumerate(write.records, write.head.last + 1)
                ]
                db.executemany("INSERT INTO records VALUES (?,?,?,?)", rows)
            return head

        head = await self._transaction(work)
        self.signals.wake(key)
        return head

    async def read(self, key: str, after: int, limit: int = 200) -> tuple[Head | None, list[Row]]:
        def work(db: sqlite3.Connection) -> tuple[Head | None, list[Row]]:
            values = {"key": key, "now": time.time()}
            head = _head(db.execute(f"SELECT {HEAD} FROM logs WHERE key = :key", values))
            if head is None:
                return None, []
            return head, [Row(*row) for row in db.execute(READ, (head.log, after, limit))]

        return await self._transaction(work, "BEGIN")

    async def delete(self, key: str) -> None:
        await self._execute("DELETE FROM logs WHERE key = ?", key)
        self.signals.wake(key)

    async def expire(self) -> list[str]:
        now = time.time()
        await self._execute("DELETE FROM logs WHERE used + keep < ?", now)
        due = "SELECT key FROM logs WHERE state < 2 AND until < ? LIMIT 200"
        return [key for [key] in await self._execute(due, now)]

    async def probe(self) -> None:
        await self._execute("INSERT INTO probe VALUES (zeroblob(65536))")
        await self._execute("DELETE FROM probe")

    async def watch_changes(self) -> None:
        version = 0
        while True:
            await asyncio.sleep(POLL)
            # It changes with every change of the file by another connection.
            if self.signals.listening and version != (now := await self._pragma("data_version")):
                version = now
                self.signals.wake_all()

    async def _pragma(self, name: str) -> int:
        [[number]] = await self._execute(f"PRAGMA {name}")
        return int(number)

    async def _execute(self, statement: str, *values: str | float) -> list[tuple[Any, ...]]:
        return await self._run(lambda: self._db.execute(statement, values).fetchall())

    async def _transaction(
        self, work: Callable[[sqlite3.Connection], T], begin: str = "BEGIN IMMEDIATE"
    ) -> T:
        def transaction() -> T:
            with self._db:
                self._db.execute(begin)
                return work(self._db)

        return await self._run(transaction)

    async def _run(self, work: Callable[[], T]) -> T:
        def guarded() -> T:
            try:
                return work()
            except (sqlite3.Error, OSError) as error:
                if getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_FULL:
                    raise StoreFull("the disk of the SQLite store is full") from error
                raise StoreUnavailable(f"SQLite: {error}") from error

        return await asyncio.get_running_loop().run_in_executor(self._thread, guarded)


def _connect(path: str) -> sqlite3.Connection:
    # Only this user may read the logs; SQLite gives its other files the same mode.
    os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    db = sqlite3.connect(path, isolation_level=None, timeout=10)
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA synchronous = NORMAL")
    with db:  # one transaction: processes that start together must not see half of the tables
        db.execute("BEGIN IMMEDIATE")
        if not db.execute("SELECT 1 FROM sqlite_master").fetchone():
            for statement in SCHEMA:
                db.execute(statement)
    return db


def _head(cursor: sqlite3.Cursor) -> Head | None:
    rows = cursor.fetchall()
    return Head(*rows[0]) if rows else None
