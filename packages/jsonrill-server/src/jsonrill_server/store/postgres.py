"""A store in PostgreSQL, for many replicas. Needs the extra `postgres`.

Calls go over a few connections, each is one statement. What other processes change is notified
(LISTEN, NOTIFY). A pooler may lose that, so the store notices whether its own notices come back;
while they do not, it asks for changes every `POLL` seconds.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from hashlib import blake2b
from typing import Any, TypeVar

import psycopg
from psycopg import AsyncConnection, errors, waiting
from psycopg.conninfo import conninfo_to_dict

from jsonrill_server.tasks import stop

from .base import Bounds, Entry, StoreError, StoreFull, StoreUnavailable
from .heads import Clock, Head
from .logs import RETRY_FOR, Found, Store, Usage
from .postgres_schema import CHANNEL, SCHEMA, SETUP_LOCK, TICK_EVERY, VERSION

T = TypeVar("T")
CONNECTIONS = 16
# Bytes of a key in an index; the first byte of one that is a digest, which no text begins with.
LONGEST_KEY = 200
DIGESTED = b"\xff"
# A notice has less than 8000 bytes.
KEYS_IN_NOTICE = 7900 // (2 * LONGEST_KEY + 2)
# Seconds between two looks for changes while notices do not arrive, between two tries to be
# notified, of silence after which a notice is sent to oneself, and between two sweeps.
POLL = 0.1
RETRY = 1.0
PROBE_EVERY = 5.0
SWEEP_EVERY = 30.0
# Seconds after which psycopg looks at a connection on which nothing has arrived.
CHECK_EVERY = 0.1
# Unless the URL says otherwise.
_DEFAULTS = {
    "application_name": "jsonrill",
    "connect_timeout": 3,
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 3,
}
_LISTEN = f"LISTEN {CHANNEL}"
_NAMES = "SELECT id, name FROM jsonrill.streams WHERE id = ANY(%b::bytea[])"
_FIND = """
SELECT time.now, time.back, stream.head, entry.seqs, entry.marks, entry.records
FROM jsonrill.clock() AS time LEFT JOIN jsonrill.streams AS stream ON id = %b
LEFT JOIN LATERAL (
    SELECT array_agg(seq) AS seqs, array_agg(mark) AS marks, array_agg(data) AS records FROM (
        SELECT seq, mark, data FROM jsonrill.entries
        WHERE stream = stream.key AND seq > %b ORDER BY seq LIMIT %b
    ) AS few
) AS entry ON true
"""
_SWAP = """
SELECT * FROM jsonrill.swap(
    %b, %b, %b::text, %b::text, %b::text, %b, %b::float8, %b::float8,
    %b::boolean, %b::integer[], %b::bigint[], %b::bytea[])
"""
_DROP = "DELETE FROM jsonrill.streams WHERE id = %b AND name = coalesce(%b::text, name)"
_USAGE = """
SELECT count(*) FILTER (WHERE listed > %b::float8 AND payer = %b), count(*) FROM jsonrill.streams
"""
_OLDEST = """
SELECT whole FROM jsonrill.streams WHERE listed <= %b::float8 ORDER BY listed LIMIT 20
"""
_TELL = "SELECT jsonrill.tell(%b::text)"
_TICK = "SELECT jsonrill.tick()"
_SWEEP = "SELECT jsonrill.sweep()"


class PostgresStore(Store):
    """Keeps logs in the tables of a schema `jsonrill`, which it creates."""

    def __init__(
        self, url: str, bounds: Bounds | None = None, *, retry_for: float = RETRY_FOR
    ) -> None:
        super().__init__(bounds)
        try:
            parameters = conninfo_to_dict(url)
        except psycopg.Error as error:
            raise ValueError(f"not the URL of a PostgreSQL database: {error}") from None
        self._url = url
        self._defaults: dict[str, Any] = {
            name: value for name, value in _DEFAULTS.items() if name not in parameters
        }
        self.retry_for = retry_for
        self._free = asyncio.Semaphore(CONNECTIONS)
        self._idle: list[_Connection] = []
        self._closed = False
        self._tasks: list[asyncio.Task[None]] = []
        # Whether notices arrive here, and the streams of whose change others are to be notified.
        self._hears = False
        self._changed: set[str] = set()
        self._notify = asyncio.Event()

    async def open(self) -> None:
        await self._insist(lambda: self._try(_prepare))
        loops = (self._tick, self._listen, self._poll, self._tell)
        self._tasks = [asyncio.create_task(loop()) for loop in loops]

    async def close(self) -> None:
        self._closed = True
        self._signals.close()
        await stop(*self._tasks)
        self._drop_idle()

    async def _find(self, stream: str, after: int, count: int) -> Found:
        [row] = await self._query(_FIND, _key(stream), after, count)
        now, back, text, seqs, marks, records = row
        if text is None:
            return Found(Clock(now, back), None)
        head = Head.decoded(text)
        final = head.last if head.closed else -1
        rows = [
            Entry(seq, data, seq == final, mark)
            for seq, mark, data in zip(seqs or (), marks or (), records or (), strict=True)
        ]
        return Found(Clock(now, back), head, rows)

    async def _swap(
        self, stream: str, before: str, head: Head, rows: Sequence[Entry], listed: bool
    ) -> Found:
        [[now, back, text]] = await self._query(
            _SWAP,
            *(_key(stream), stream.encode(), before, head.name, head.encoded().decode()),
            *(_key(head.owner), head.listed, head.expires),
            bool(rows) and rows[0].seq == 0,
            *([row.seq for row in rows], [row.mark for row in rows], [row.data for row in rows]),
        )
        if text is None:
            current = Found(Clock(now, back), head)
            if rows:
                self._changed.add(stream)
                self._notify.set()
            return current
        return Found(Clock(now, back), Head.decoded(text) if text else None)

    async def _drop(self, stream: str, name: str | None) -> None:
        await self._query(_DROP, _key(stream), name)

    async def _usage(self, owner: str, now: float) -> Usage:
        [row] = await self._query(_USAGE, now, _key(owner))
        return Usage(*row)

    async def _oldest(self, now: float) -> Sequence[str]:
        rows = await self._query(_OLDEST, now)
        return [whole.decode() for [whole] in rows]

    async def _probe(self) -> None:
        await self._query(_TICK)

    # ---- connections ----

    async def _query(self, query: str, *arguments: Any) -> list[tuple[Any, ...]]:
        async def work(link: AsyncConnection) -> list[tuple[Any, ...]]:
            cursor = await link.execute(query, arguments, binary=True)
            return await cursor.fetchall() if cursor.description else []

        return await self._try(work)

    async def _try(self, work: Callable[[AsyncConnection], Awaitable[T]]) -> T:
        try:
            return await self._work(work)
        except (psycopg.Error, OSError) as error:  # it may be temporary
            if isinstance(error, errors.DiskFull):
                self.on_error("disk", error)
                raise StoreFull("disk", "the disk of the database is full") from error
            raise StoreUnavailable(f"no answer from PostgreSQL: {error}") from error

    async def _work(self, work: Callable[[AsyncConnection], Awaitable[T]]) -> T:
        async with self._free:
            link = self._idle.pop() if self._idle else await self._connect()
            try:
                result = await work(link)
            except BaseException as error:
                await link.close()
                # Others were most likely cut with it, or lead to the same server, which became a
                # replica: a new connection finds out where the database is now.
                if isinstance(error, (psycopg.OperationalError, errors.ReadOnlySqlTransaction)):
                    self._drop_idle()
                raise
            if self._closed:
                await link.close()
            else:
                self._idle.append(link)
            return result

    async def _connect(self) -> _Connection:
        return await _Connection.connect(
            self._url, autocommit=True, prepare_threshold=None, **self._defaults
        )

    def _drop_idle(self) -> None:
        idle, self._idle = self._idle, []
        for link in idle:
            link.pgconn.finish()

    # ---- wake-ups, and what else goes on by itself ----

    def _wake_all(self) -> None:
        for stream in tuple(self._signals.streams):
            self._signals.wake(stream)

    async def _tell(self) -> None:
        """Notify other processes of what was changed here, many streams in one notice.

        Not in the transaction that changes: PostgreSQL lets those that notify commit one by one.
        """
        while True:
            await self._notify.wait()
            self._notify.clear()
            changed, self._changed = self._changed, set()
            for notice in _notices(changed):
                await self._quietly("wake-ups", self._query(_TELL, notice))

    async def _listen(self) -> None:
        """Wake the readers here of streams that another process has changed."""
        while True:
            try:
                link = await self._connect()
                try:
                    await link.execute(_LISTEN)
                    await self._hear(link)
                finally:
                    await link.close()
            except Exception as error:  # the loop must survive any error
                self.on_error("wake-ups", error)
            self._hears = False
            self._wake_all()
            await asyncio.sleep(RETRY)

    async def _hear(self, link: AsyncConnection) -> None:
        """Return when nothing arrives any more, not even a notice to oneself."""
        while True:
            await self._query(_TELL, "probe")
            heard = False
            async for notice in link.notifies(timeout=PROBE_EVERY):
                heard = True
                if not self._hears:
                    self._hears = True
                    self._wake_all()
                self._heed(notice.payload)
            if not heard:
                return

    def _heed(self, notice: str) -> None:
        for key in (bytes.fromhex(word[1:]) for word in notice.split() if word[0] == "/"):
            if key.startswith(DIGESTED):  # it does not say which
                self._wake_all()
            else:
                self._signals.wake(key.decode())

    async def _poll(self) -> None:
        """Look for changes as long as notices do not arrive."""
        seen: dict[str, Any] = {}
        while True:
            await asyncio.sleep(POLL)
            streams = self._signals.streams
            if self._hears or not streams:
                seen.clear()
                continue
            names = {_key(stream): stream for stream in streams}
            rows = await self._quietly("wake-ups", self._query(_NAMES, [*names]))
            if rows is None:
                continue
            now = {names[key]: name for key, name in rows}
            for stream in names.values():
                # What is new here was read after its listener came.
                if stream in seen and seen[stream] != now.get(stream):
                    self._signals.wake(stream)
            seen = {stream: now.get(stream) for stream in names.values()}

    async def _tick(self) -> None:
        """Write the time at intervals, as evidence that the database accepts writes."""
        swept = time.monotonic()
        while True:
            await self._quietly("tick", self._query(_TICK))
            if time.monotonic() - swept > SWEEP_EVERY:
                swept = time.monotonic()
                await self._quietly("sweep", self._query(_SWEEP))
            await asyncio.sleep(TICK_EVERY)

    async def _quietly(self, what: str, call: Awaitable[T]) -> T | None:
        """Await a call for a background task, which must survive any error."""
        try:
            async with asyncio.timeout(self.retry_for):
                return await call
        except Exception as error:
            self.on_error(what, error)
            return None


class _Connection(AsyncConnection[tuple[Any, ...]]):
    """A connection that is closed when a call is cancelled.

    psycopg would ask the server to cancel, and wait for it; a server that does not answer is why
    most calls are cancelled.
    """

    # Without an interval psycopg would look again and again instead of waiting.
    async def wait(self, gen: Any, interval: float = CHECK_EVERY, *rest: Any, **named: Any) -> Any:
        try:
            return await waiting.wait_async(gen, self.pgconn.socket, interval, *rest, **named)
        except asyncio.CancelledError:
            self.pgconn.finish()
            raise


async def _prepare(link: AsyncConnection) -> None:
    """Create the tables if they are missing; raise if they cannot be used."""
    try:
        if await _version(link) is None:
            try:  # one message is one transaction, also where a pooler allows no other
                await link.execute(f"SELECT {SETUP_LOCK}; {SCHEMA}".encode())
            except (errors.DuplicateTable, errors.DuplicateSchema, errors.UniqueViolation):
                pass  # another process was faster
        version = await _version(link)
        await link.execute("SELECT * FROM jsonrill.streams, jsonrill.ticks LIMIT 0")
    except errors.InsufficientPrivilege as error:
        raise StoreError(
            f"the user {link.info.user} may not create or use the schema jsonrill in the database"
            f" {link.info.dbname} ({error}): grant it CREATE on the database, or let an"
            " administrator run what `python -m jsonrill_server.store.postgres_schema"
            f" {link.info.user}` prints"
        ) from error
    if version != VERSION:
        raise StoreError(
            "the schema jsonrill of this database was made by another version of jsonrill: use"
            " another database, or DROP SCHEMA jsonrill CASCADE, with the logs in it"
        )


async def _version(link: AsyncConnection) -> int | None:
    """The version of the tables; None if there are none."""
    cursor = await link.execute("SELECT to_regclass('jsonrill.version') IS NOT NULL")
    [exists] = await cursor.fetchone() or [False]
    if not exists:
        return None
    cursor = await link.execute("SELECT number FROM jsonrill.version")
    [number] = await cursor.fetchone() or [0]
    return int(number)


def _notices(streams: Iterable[str]) -> Iterator[str]:
    """Yield texts that name these streams, each short enough for a notice."""
    keys = [f"/{_key(stream).hex()}" for stream in streams]
    for first in range(0, len(keys), KEYS_IN_NOTICE):
        yield " ".join(keys[first : first + KEYS_IN_NOTICE])


def _key(name: str) -> bytes:
    """Return the key of a name: itself, or a digest, because no index holds a long one."""
    key = name.encode()  # a text of PostgreSQL can hold less than one of Python
    return key if len(key) <= LONGEST_KEY else DIGESTED + blake2b(key, digest_size=32).digest()
