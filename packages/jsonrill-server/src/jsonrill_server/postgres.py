"""A store in PostgreSQL, for many replicas. Needs the extra `postgres`.

Each operation is one statement, a function of the schema `jsonrill`, which is created when it is
missing. Changes are announced with NOTIFY. A pooler may lose that, so readers also look every
second.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from typing import Any, Final

import psycopg
from psycopg import AsyncConnection, errors, waiting
from psycopg.conninfo import conninfo_to_dict

from .log import (
    FORMAT,
    Head,
    NewLog,
    Row,
    Store,
    StoreError,
    StoreFull,
    StoreUnavailable,
    Write,
    cancel,
    next_epoch,
    refuse,
    refuse_more,
)

log = logging.getLogger("jsonrill_server")
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
# No column that an append changes has an index, so that PostgreSQL can rewrite a row in its page.
SCHEMA: Final = f"""
SELECT pg_advisory_xact_lock(1785950060, 2);
CREATE SCHEMA IF NOT EXISTS jsonrill;
CREATE TABLE jsonrill.logs (
    key text PRIMARY KEY, log text NOT NULL, epoch bigint NOT NULL, last integer NOT NULL,
    state integer NOT NULL, ends float8 NOT NULL, meta text NOT NULL, size bigint NOT NULL,
    owner text NOT NULL, keep float8 NOT NULL, used float8 NOT NULL
) WITH (fillfactor = 60);
CREATE INDEX ON jsonrill.logs (owner);
CREATE TABLE jsonrill.records (
    log text NOT NULL, seq integer NOT NULL, epoch bigint NOT NULL, data bytea NOT NULL,
    PRIMARY KEY (log, seq)
);
CREATE TABLE jsonrill.format (number integer NOT NULL, probed float8);
INSERT INTO jsonrill.format VALUES ({FORMAT});

CREATE FUNCTION jsonrill.log_deleted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM jsonrill.records WHERE log = OLD.log;
    PERFORM pg_notify('jsonrill', OLD.key);
    RETURN NULL;
END $$;
CREATE TRIGGER log_deleted AFTER DELETE ON jsonrill.logs
    FOR EACH ROW EXECUTE FUNCTION jsonrill.log_deleted();

CREATE FUNCTION jsonrill.make_room(its_owner text, most integer) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
    surplus integer; gone integer;
BEGIN
    SELECT count(*) - most + 1 INTO surplus FROM jsonrill.logs WHERE owner = its_owner;
    IF surplus <= 0 THEN RETURN true; END IF;
    DELETE FROM jsonrill.logs WHERE key IN (SELECT key FROM jsonrill.logs
        WHERE owner = its_owner AND state = 2 ORDER BY used LIMIT surplus);
    GET DIAGNOSTICS gone = ROW_COUNT;
    RETURN gone >= surplus;
END $$;

CREATE FUNCTION jsonrill.make(
    its_key text, lease float8, may_replace boolean, its_epoch bigint, its_log text, its_meta text,
    its_owner text, its_keep float8, most integer
) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    it jsonrill.logs; now float8;
BEGIN
    PERFORM pg_advisory_xact_lock(1785950061, hashtext(its_owner));
    SELECT * INTO it FROM jsonrill.logs WHERE key = its_key FOR UPDATE;
    now := {CLOCK};
    IF it.log = its_log THEN RETURN 'DONE'; END IF;
    IF it.key IS NOT NULL AND NOT (it.state = 2 AND may_replace) THEN RETURN 'TAKEN'; END IF;
    IF NOT jsonrill.make_room(its_owner, most) THEN RETURN 'FULL'; END IF;
    DELETE FROM jsonrill.logs WHERE key = its_key;
    INSERT INTO jsonrill.logs VALUES (its_key, its_log, its_epoch, 0, 0, now + lease, its_meta, 0,
        its_owner, its_keep, now);
    PERFORM pg_notify('jsonrill', its_key);
    RETURN 'DONE';
END $$;

CREATE FUNCTION jsonrill.append(
    its_key text, its_epoch bigint, after integer, rows bytea[], lease float8, its_state integer,
    again boolean
) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    it jsonrill.logs; count integer := coalesce(array_length(rows, 1), 0); now float8; bytes bigint;
BEGIN
    SELECT * INTO it FROM jsonrill.logs WHERE key = its_key FOR UPDATE;
    now := {CLOCK};
    IF it.key IS NULL THEN RETURN 'LOST'; END IF;
    IF it.epoch <> its_epoch THEN RETURN 'FENCED'; END IF;
    IF again AND count > 0 AND it.last = after + count THEN RETURN 'DONE'; END IF;
    IF it.last <> after THEN RETURN 'LOST'; END IF;
    IF it.state = 2 OR (it.state = 1 AND count > 0) THEN RETURN 'FENCED'; END IF;
    INSERT INTO jsonrill.records SELECT it.log, after + number, its_epoch, data
        FROM unnest(rows) WITH ORDINALITY AS given (data, number);
    SELECT coalesce(sum(length(data)), 0) INTO bytes FROM unnest(rows) AS given (data);
    UPDATE jsonrill.logs SET last = after + count, size = it.size + bytes, used = now,
        state = greatest(it.state, its_state), ends = now + lease WHERE key = its_key;
    IF count > 0 OR its_state > 0 THEN PERFORM pg_notify('jsonrill', its_key); END IF;
    RETURN 'DONE';
END $$;
"""
_HEAD: Final = f"log, epoch, last, state, ends - {CLOCK}, meta, size"
_MAKE: Final = "SELECT jsonrill.make(%b, %b, %b, %b, %b, %b, %b, %b, %b)"
_CLAIM: Final = f"""
UPDATE jsonrill.logs SET epoch = epoch + %b, ends = {CLOCK} + %b
WHERE key = %b AND state < 2 AND (ends < {CLOCK} OR %b) RETURNING {_HEAD}
"""
_APPEND: Final = "SELECT jsonrill.append(%b, %b, %b, %b, %b, %b, %b)"
_READ: Final = f"""
SELECT {_HEAD}, ARRAY(SELECT row(seq, epoch, data) FROM jsonrill.records WHERE log = logs.log
    AND seq > %b ORDER BY seq LIMIT %b)
FROM jsonrill.logs WHERE key = %b
"""
_DUE: Final = f"SELECT key FROM jsonrill.logs WHERE state < 2 AND ends < {CLOCK} LIMIT %b"
_EXPIRE: Final = f"""
DELETE FROM jsonrill.logs WHERE key IN (SELECT key FROM jsonrill.logs
    WHERE used + keep < {CLOCK} LIMIT 500 FOR UPDATE SKIP LOCKED)
"""


class PostgresStore(Store):
    """Logs in the tables of a schema; its clock is the server's."""

    def __init__(self, url: str) -> None:
        super().__init__()
        try:
            given = conninfo_to_dict(url)
        except psycopg.Error as error:
            raise ValueError(f"not the URL of a PostgreSQL database: {error}") from None
        self._url = url
        self._options: dict[str, Any] = {
            name: value for name, value in DEFAULTS.items() if name not in given
        }
        self._free = asyncio.Semaphore(CONNECTIONS)
        self._idle: list[_Connection] = []
        self._closed = False
        self._listening: asyncio.Task[None] | None = None

    async def open(self) -> None:
        version = await self._format()
        if version is None:
            try:  # one message is one transaction
                await self._query(SCHEMA)
            except StoreUnavailable as error:  # another process was faster, or it is not allowed
                version = await self._format()
                if version is None:
                    raise StoreError(
                        f"the schema jsonrill cannot be created ({error}): grant CREATE on the"
                        " database, or run what `python -m jsonrill_server.postgres` prints"
                    ) from error
            version = await self._format()
        if version != FORMAT:
            raise StoreError(
                f"the schema jsonrill of this database has format {version} and not {FORMAT}: use"
                " another database, or DROP SCHEMA jsonrill CASCADE, with the logs in it"
            )
        self._listening = asyncio.create_task(self._listen())

    async def _format(self) -> int | None:
        """Return the version of the tables; None if there are none."""
        [[table]] = await self._query("SELECT to_regclass('jsonrill.format')::text")
        if table is None:
            [[schema]] = await self._query("SELECT to_regclass('jsonrill.version')::text")
            return None if schema is None else 0
        [[number]] = await self._query("SELECT number FROM jsonrill.format")
        return int(number)

    async def close(self) -> None:
        self._closed = True
        await cancel(self._listening)
        self._drop_idle()

    async def create(self, key: str, new: NewLog, lease: float) -> Head | None:
        about = (new.log, new.meta, new.owner, new.keep, new.most)
        [[answer]] = await self._query(_MAKE, key, lease, new.replaces, next_epoch(), *about)
        if answer == "FULL":
            refuse_more(new)
        head, _ = await self.read(key, 1 << 30)
        return head if answer == "DONE" and head and head.log == new.log else None

    async def claim(self, key: str, lease: float, *, force: bool = False) -> Head | None:
        rows = await self._query(_CLAIM, next_epoch(), lease, key, force)
        return Head(*rows[0]) if rows else None

    async def append(self, key: str, write: Write) -> None:
        about = (write.lease, int(write.state), write.again)
        arguments = (key, write.epoch, write.after, list(write.records), *about)
        [[answer]] = await self._query(_APPEND, *arguments)
        refuse(answer)

    async def read(self, key: str, after: int, limit: int = 200) -> tuple[Head | None, list[Row]]:
        found = await self._query(_READ, after, limit, key)
        if not found:
            return None, []
        *head, rows = found[0]
        return Head(*head), [Row(*row) for row in rows]

    async def delete(self, key: str) -> None:
        await self._query("DELETE FROM jsonrill.logs WHERE key = %b", key)

    async def expire(self, limit: int = 20) -> list[str]:
        await self._query(_EXPIRE)
        return [key for [key] in await self._query(_DUE, limit)]

    async def probe(self) -> None:
        await self._query(f"UPDATE jsonrill.format SET probed = {CLOCK}")

    async def _query(self, query: str, *arguments: Any) -> list[tuple[Any, ...]]:
        try:
            async with self._free, asyncio.timeout(TIMEOUT):
                link = self._idle.pop() if self._idle else await self._connect()
                try:
                    result = await _execute(link, query, arguments)
                except BaseException:
                    await link.close()
                    raise
                if self._closed:
                    await link.close()
                else:
                    self._idle.append(link)
                return result
        except errors.DiskFull as error:
            raise StoreFull("the disk of PostgreSQL is full") from error
        except (psycopg.Error, OSError, TimeoutError) as error:
            # The other connections were most likely cut, too, or lead to a server that became a
            # replica: new ones find out where the database is now.
            self._drop_idle()
            raise StoreUnavailable(f"PostgreSQL: {error}") from error

    async def _connect(self) -> _Connection:
        return await _Connection.connect(
            self._url, autocommit=True, prepare_threshold=None, **self._options
        )

    def _drop_idle(self) -> None:
        idle, self._idle = self._idle, []
        for link in idle:
            link.pgconn.finish()

    async def _listen(self) -> None:
        """Wake this process's readers of logs that any process has changed."""
        while True:
            try:
                link = await self._connect()
                try:
                    await link.execute("LISTEN jsonrill")
                    self.signals.wake_all()
                    while True:
                        async for notice in link.notifies(timeout=1.0):
                            self.signals.wake(notice.payload)
                        self.signals.wake_all()
                finally:
                    await link.close()
            except Exception as error:
                log.warning("changes in PostgreSQL are not announced: %s", error)
            self.signals.wake_all()
            await asyncio.sleep(1.0)


async def _execute(link: _Connection, query: str, arguments: Sequence[Any]) -> list[Any]:
    if not arguments:
        cursor = await link.execute(query.encode())
    else:
        cursor = await link.execute(query.encode(), arguments, binary=True)
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
