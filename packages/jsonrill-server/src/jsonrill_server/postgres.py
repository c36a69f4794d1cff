"""A store in PostgreSQL, for many replicas. Needs the extra `postgres`.

A write is one statement. The schema `jsonrill` is created when it is missing. Changes are announced
with NOTIFY. A pooler may lose notifications, so readers also poll every second.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import asdict
from typing import Any, Final

import psycopg
from psycopg import AsyncConnection, errors, waiting
from psycopg.conninfo import conninfo_to_dict

from .log import FORMAT, Head, NewLog, Row, Store, StoreError, StoreFull, StoreUnavailable, Write

Fields = Mapping[str, Any]
CONNECTIONS: Final = 16
TIMEOUT: Final = 10.0
# Defaults; the URL can override them.
DEFAULTS: Final = {
    "application_name": "jsonrill",
    "connect_timeout": 3,
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 3,
}
CLOCK: Final = "extract(epoch FROM clock_timestamp())::float8"
# No column that a write changes has an index, so that PostgreSQL can rewrite a row in its page.
SCHEMA: Final = f"""
SELECT pg_advisory_xact_lock(1785950060, 2);
CREATE SCHEMA IF NOT EXISTS jsonrill;
CREATE TABLE IF NOT EXISTS jsonrill.logs (
    key text PRIMARY KEY, log text NOT NULL, epoch bigint NOT NULL, last integer NOT NULL,
    state integer NOT NULL, ends float8 NOT NULL, size bigint NOT NULL, meta text NOT NULL,
    owner text NOT NULL, keep float8 NOT NULL, used float8 NOT NULL
) WITH (fillfactor = 60);
CREATE INDEX IF NOT EXISTS logs_by_owner ON jsonrill.logs (owner);
CREATE TABLE IF NOT EXISTS jsonrill.records (
    log text NOT NULL, seq integer NOT NULL, epoch bigint NOT NULL, data bytea NOT NULL,
    PRIMARY KEY (log, seq)
);
CREATE OR REPLACE FUNCTION jsonrill.log_deleted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM jsonrill.records WHERE log = OLD.log;
    PERFORM pg_notify('jsonrill', OLD.key);
    RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER log_deleted AFTER DELETE ON jsonrill.logs
    FOR EACH ROW EXECUTE FUNCTION jsonrill.log_deleted();
CREATE TABLE IF NOT EXISTS jsonrill.format (number integer NOT NULL, probed float8);
INSERT INTO jsonrill.format SELECT {FORMAT} WHERE NOT EXISTS (SELECT FROM jsonrill.format);
"""
_HEAD: Final = f"log, epoch, last, state, ends - {CLOCK}, size, meta"
# In one transaction, with a lock for the owner: concurrent creations must not exceed its limit.
_CREATE: Final = (
    "SELECT pg_advisory_xact_lock(1785950061, hashtext(%(owner)b))",
    "DELETE FROM jsonrill.logs WHERE key = %(key)b AND log = %(replaces)b",
    """
DELETE FROM jsonrill.logs WHERE NOT EXISTS (SELECT FROM jsonrill.logs WHERE key = %(key)b)
AND key IN (
    SELECT key FROM jsonrill.logs WHERE owner = %(owner)b AND state = 2 ORDER BY used
    LIMIT greatest(0, (SELECT count(*) FROM jsonrill.logs WHERE owner = %(owner)b) - %(most)b + 1)
)
""",
    f"""
WITH notified AS (SELECT pg_notify('jsonrill', %(key)b))
INSERT INTO jsonrill.logs SELECT %(key)b, %(log)b, %(epoch)b, 0, 0, {CLOCK} + %(lease)b, 0,
    %(meta)b, %(owner)b, %(keep)b, {CLOCK} FROM notified
WHERE (SELECT count(*) FROM jsonrill.logs WHERE owner = %(owner)b) < %(most)b
ON CONFLICT DO NOTHING RETURNING {_HEAD}
""",
)
_WRITE: Final = f"""
WITH head AS (
    UPDATE jsonrill.logs SET epoch = %(next_epoch)b, last = last + %(count)b,
        state = %(next_state)b, ends = {CLOCK} + %(lease)b, size = size + %(size)b, used = {CLOCK}
    WHERE key = %(key)b AND epoch = %(epoch)b AND state = %(state)b
        AND (last = %(last)b OR (epoch <> %(next_epoch)b AND %(count)b = 0))
    RETURNING {_HEAD}
), added AS (
    INSERT INTO jsonrill.records SELECT log, %(last)b + number, epoch, data
    FROM head, unnest(%(records)b::bytea[]) WITH ORDINALITY AS given (data, number)
)
SELECT head.*, pg_notify('jsonrill', %(key)b) FROM head
"""
_READ: Final = f"""
SELECT {_HEAD}, ARRAY(SELECT row(seq, epoch, data) FROM jsonrill.records WHERE log = logs.log
    AND seq > %(after)b ORDER BY seq LIMIT %(limit)b)
FROM jsonrill.logs WHERE key = %(key)b
"""
_DELETE: Final = "DELETE FROM jsonrill.logs WHERE key = %(key)b"
_EXPIRE: Final = f"""
DELETE FROM jsonrill.logs WHERE key IN (SELECT key FROM jsonrill.logs
    WHERE used + keep < {CLOCK} LIMIT 500 FOR UPDATE SKIP LOCKED)
"""
_DUE: Final = f"SELECT key FROM jsonrill.logs WHERE state < 2 AND ends < {CLOCK} LIMIT 200"


class PostgresStore(Store):
    """Logs in the tables of a schema; the clock is the database server's."""

    remedy = "use another database, or DROP SCHEMA jsonrill CASCADE, with the logs in it"

    def __init__(self, url: str) -> None:
        super().__init__()
        try:
            self._options: dict[str, Any] = {**DEFAULTS, **conninfo_to_dict(url)}
        except psycopg.Error as error:
            raise ValueError("not the URL of a PostgreSQL database") from error
        self._free = asyncio.Semaphore(CONNECTIONS)
        self._idle: list[_Connection] = []
        self._closed = False

    async def connect(self) -> int:
        [[is_missing]] = await self._query("SELECT to_regclass('jsonrill.format') IS NULL")
        if is_missing:
            try:
                await self._query(SCHEMA)
            except StoreUnavailable as error:
                raise StoreError(
                    f"the schema jsonrill cannot be created ({error}): grant CREATE on the"
                    " database, or run what `python -m jsonrill_server.postgres` prints"
                ) from error
        [[version]] = await self._query("SELECT number FROM jsonrill.format")
        return int(version)

    async def disconnect(self) -> None:
        self._closed = True
        self._drop_idle()

    async def try_create(self, key: str, new: NewLog, lease: float) -> Head | None:
        fields = {**asdict(new), "key": key, "lease": lease}
        async with self._connection() as connection, connection.transaction():
            for statement in _CREATE:
                rows = await _execute(connection, statement, fields)
        return Head(*rows[0]) if rows else None

    async def try_write(self, key: str, write: Write) -> Head | None:
        fields = {**write.fields(), "key": key, "records": list(write.records)}
        rows = await self._query(_WRITE, fields)
        return Head(*rows[0][:-1]) if rows else None

    async def read(self, key: str, after: int, limit: int = 200) -> tuple[Head | None, list[Row]]:
        rows = await self._query(_READ, {"key": key, "after": after, "limit": limit})
        if not rows:
            return None, []
        *head, records = rows[0]
        return Head(*head), [Row(*row) for row in records]

    async def delete(self, key: str) -> None:
        await self._query(_DELETE, {"key": key})

    async def expire(self) -> list[str]:
        await self._query(_EXPIRE)
        return [key for [key] in await self._query(_DUE)]

    async def probe(self) -> None:
        await self._query(f"UPDATE jsonrill.format SET probed = {CLOCK}")

    async def _query(self, statement: str, fields: Fields | None = None) -> list[Any]:
        async with self._connection() as connection:
            return await _execute(connection, statement, fields)

    @asynccontextmanager
    async def _connection(self) -> AsyncIterator[_Connection]:
        try:
            async with self._free, asyncio.timeout(TIMEOUT):
                connection = self._idle.pop() if self._idle else await self._connect()
                try:
                    yield connection
                except BaseException:
                    await connection.close()
                    raise
                if self._closed:
                    await connection.close()
                else:
                    self._idle.append(connection)
        except errors.DiskFull as error:
            raise StoreFull("the disk of PostgreSQL is full") from error
        except (psycopg.Error, OSError, TimeoutError) as error:
            # The other connections were most likely cut, too, or lead to a server that became a
            # replica: new ones find out where the database is now.
            self._drop_idle()
            raise StoreUnavailable(f"PostgreSQL: {error}") from error

    async def _connect(self) -> _Connection:
        return await _Connection.connect(autocommit=True, prepare_threshold=None, **self._options)

    def _drop_idle(self) -> None:
        idle, self._idle = self._idle, []
        for connection in idle:
            connection.pgconn.finish()

    async def watch_changes(self) -> None:
        connection = await self._connect()
        try:
            await connection.execute("LISTEN jsonrill")
            while True:
                self.signals.wake_all()
                async for notice in connection.notifies(timeout=1.0):
                    self.signals.wake(notice.payload)
        finally:
            await connection.close()


async def _execute(connection: _Connection, statement: str, fields: Fields | None) -> list[Any]:
    # Several statements in one text are only possible without parameters and binary results.
    cursor = await connection.execute(statement.encode(), fields, binary=fields is not None)
    return await cursor.fetchall() if cursor.description else []


class _Connection(AsyncConnection[tuple[Any, ...]]):
    """A connection that is closed when a call is cancelled.

    psycopg would ask the server to cancel the statement and wait for that; a server that does not
    answer is the reason for most cancellations.
    """

    async def wait(self, gen: Any, interval: float = 0.1, *rest: Any, **named: Any) -> Any:
        try:
            return await waiting.wait_async(gen, self.pgconn.socket, interval, *rest, **named)
        except asyncio.CancelledError:
            self.pgconn.finish()
            raise


if __name__ == "__main__":
    print(SCHEMA)
