"""A store in PostgreSQL, for many replicas. Needs the extra `postgres`.

Calls go over a few connections and are tried again while the server is away or answers with an
error, for `patience` seconds; every one of them may be repeated without harm. What other processes
change is notified (LISTEN, NOTIFY). A pooler may lose that, so the store notices whether its own
notices come back; while they do not, it asks for changes every `POLL` seconds.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from hashlib import blake2b
from typing import Any, TypeVar
from zlib import crc32

import psycopg
from psycopg import AsyncConnection, errors, waiting
from psycopg.conninfo import conninfo_to_dict

from jsonrill.ext.tasks import stop

from .base import (
    CALL_SIZE,
    CALLS,
    PATIENCE,
    TURNS,
    Append,
    Bounds,
    Entry,
    LogClosed,
    Look,
    New,
    OutOfOrder,
    Status,
    Store,
    StoreError,
    StoreFull,
    StoreUnavailable,
    StreamTaken,
    Tail,
    TurnRefused,
    UnknownStream,
    new_call,
    new_mark,
    turn_cost,
)
from .postgres_schema import CALLS as SQL
from .postgres_schema import (
    CHANNEL,
    SCHEMA,
    SETUP_LOCK,
    TICK_EVERY,
    VERSION,
)

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
LOOK_EVERY = 0.1
# Unless the URL says otherwise.
_DEFAULTS = {
    "application_name": "jsonrill",
    "connect_timeout": 3,
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 3,
}
_LISTEN = f"LISTEN {CHANNEL}"
_ENDS = "SELECT id, mark FROM jsonrill.streams WHERE id = ANY(%b::bytea[])"
_LOOK = """
SELECT stream.last, stream.mark, stream.closed, entry.seq, entry.mark, entry.data
FROM jsonrill.streams AS stream LEFT JOIN LATERAL (
    SELECT seq, mark, data FROM jsonrill.entries
    WHERE stream = stream.key AND seq > %b AND seq <= stream.last ORDER BY seq LIMIT %b
) AS entry ON true
WHERE id = %b AND expires > extract(epoch FROM clock_timestamp())::float8
"""


class PostgresStore(Store):
    """Keeps logs in the tables of a schema `jsonrill`, which it creates."""

    record_cost = 90
    stream_cost = 800

    def __init__(
        self, url: str, bounds: Bounds | None = None, *, patience: float = PATIENCE
    ) -> None:
        super().__init__(bounds)
        try:
            given = conninfo_to_dict(url)
        except psycopg.Error as error:
            raise ValueError(f"not the URL of a PostgreSQL database: {error}") from None
        self._url = url
        self._defaults: dict[str, Any] = {
            name: value for name, value in _DEFAULTS.items() if name not in given
        }
        self._patience = patience
        self._free = asyncio.Semaphore(CONNECTIONS)
        self._idle: list[_Connection] = []
        self._tasks: list[asyncio.Task[None]] = []
        # Whether notices arrive here, and the streams of whose change others are to be notified.
        self._hears = False
        self._changed: set[str] = set()
        self._notify = asyncio.Event()

    async def open(self) -> None:
        await self._call(_prepare)
        loops = (self._tick, self._listen, self._poll, self._tell)
        self._tasks = [asyncio.create_task(loop()) for loop in loops]

    async def close(self) -> None:
        self._signals.close()
        await stop(*self._tasks)
        self._drop_idle()

    async def _take(self, stream: str, producer: str, lease: float, new: New | None) -> Status:
        bounds, name, by = self.bounds, _key(stream), _bytes(producer)
        if new is None:
            row = await self._ask("acquire", name, by, lease, bounds.keep_open)
            return _status(row)
        call = new_call()
        row = await self._ask(
            "make",
            *(name, by, lease, _key(new.owner), _bytes(new.owner), new.meta, new_mark(), call),
            *(new.replace, new.ttl, new.until, *_written(new)),
            *(bounds.keep_open, bounds.keep_closed),
            *(self.stream_cost + len(new.meta), self.record_cost),
            *(bounds.stream_entries, bounds.stream_bytes),
            *(bounds.owner_streams, bounds.owner_bytes, bounds.total_streams, bounds.total_bytes),
        )
        await self._ask("settle", name)
        return _status(row)

    async def _add(self, stream: str, producer: str, append: Append) -> Tail:
        bounds, turn = self.bounds, append.turn
        call = "" if turn else new_call()  # tried again, it must not add twice
        turned = (None, 0, 0) if turn is None else (_key(turn.producer), turn.epoch, turn.seq)
        _, last, mark, *_ = await self._with_room(
            stream,
            "append",
            *(_key(stream), _bytes(producer), call, CALLS * CALL_SIZE, append.lease),
            *(*turned, TURNS, turn_cost(turn.producer) if turn else 0, append.order),
            *_written(append),
            *(bounds.keep_open, bounds.keep_closed, bounds.stream_entries, bounds.stream_bytes),
            self.record_cost,
            bounded=True,
        )
        self._wake(stream)
        return Tail(last, mark)

    async def finalize(self, stream: str, data: bytes, *, only_if_lost: bool = False) -> bool:
        arguments = (crc32(data), data, only_if_lost, self.bounds.keep_closed, self.record_cost)
        answer = await self._with_room(stream, "finalize", _key(stream), *arguments, bounded=False)
        done = answer[1]
        self._wake(stream)
        return bool(done)

    async def _look(self, stream: str, after: int, count: int) -> Look:
        rows = await self._query(_LOOK, (after, count, _key(stream)), patience=0)
        if not rows:
            raise _refusal("UNKNOWN")
        last, mark, closed, *_ = rows[0]
        entries = [
            Entry(seq, data, closed and seq == last, its_mark)
            for *_, seq, its_mark, data in rows
            if seq is not None
        ]
        return Look(last, mark, closed, entries)

    async def status(self, stream: str) -> Status:
        return _status(await self._ask("status", _key(stream)))

    async def touch(self, stream: str, lease: float) -> None:
        keep = self.bounds
        await self._ask("touch", _key(stream), lease, keep.keep_open, keep.keep_closed)

    async def delete(self, stream: str) -> None:
        await self._query("DELETE FROM jsonrill.streams WHERE id = %b", (_key(stream),))
        self._signals.wake(stream)  # the database notifies the others

    async def once(self, token: str, seconds: float) -> bool:
        # Its own mark tells a repeated call from a second use.
        [first] = await self._ask("use_once", _key(token), secrets.token_hex(8), seconds)
        return bool(first)

    # ---- calls ----

    async def _with_room(
        self, stream: str, function: str, *arguments: Any, bounded: bool
    ) -> tuple[Any, ...]:
        """Return the answer of a function, for which room is booked first if it asks for it."""
        limits = (self.bounds.owner_bytes, self.bounds.total_bytes) if bounded else (None, None)
        while True:
            row = await self._ask(function, *arguments)
            if row[0] != "ROOM":
                return row
            await self._ask("reserve", _key(stream), row[-1], *limits)

    async def _ask(
        self, function: str, *arguments: Any, patience: float | None = None
    ) -> tuple[Any, ...]:
        """Return the row that a function answers, or raise the error that its first item names."""
        [row] = await self._query(SQL[function], arguments, patience)
        if isinstance(row[0], str) and row[0] not in ("OK", "ROOM"):
            raise _refusal(*row)
        return row

    async def _query(
        self, query: str, arguments: Sequence[Any], patience: float | None = None
    ) -> list[tuple[Any, ...]]:
        async def work(link: AsyncConnection) -> list[tuple[Any, ...]]:
            cursor = await link.execute(query, arguments, binary=True)
            return await cursor.fetchall() if cursor.description else []

        return await self._call(work, patience)

    async def _call(
        self, work: Callable[[AsyncConnection], Awaitable[T]], patience: float | None = None
    ) -> T:
        """Repeat work until the database has done it; its errors may be temporary.

        With a patience of 0 there is one try without a time limit.
        """
        patience = self._patience if patience is None else patience
        until = time.monotonic() + patience
        pause, why = 0.02, ""
        try:
            async with asyncio.timeout(patience or None):
                while True:
                    try:
                        return await self._try(work)
                    except (psycopg.Error, OSError) as error:
                        self.on_error("call", error)
                        if isinstance(error, errors.DiskFull):
                            raise StoreFull("disk", "the disk of the database is full") from error
                        if time.monotonic() + pause > until:
                            raise StoreUnavailable(f"no answer from PostgreSQL: {error}") from error
                        why = f": {error}"
                    await asyncio.sleep(pause)
                    pause = min(pause * 2, 0.5)
        except TimeoutError:
            raise StoreUnavailable(f"no answer from PostgreSQL for {patience:g} s{why}") from None

    async def _try(self, work: Callable[[AsyncConnection], Awaitable[T]]) -> T:
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

    def _wake(self, stream: str) -> None:
        """Wake the readers of a stream here at once, and those elsewhere soon."""
        self._signals.wake(stream)
        self._changed.add(stream)
        self._notify.set()

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
                await self._quietly("wake-ups", self._ask("tell", notice, patience=0))

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
            await self._ask("tell", "probe", patience=0)
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
            rows = await self._quietly("wake-ups", self._query(_ENDS, ([*names],), patience=0))
            if rows is None:
                continue
            now = {names[name]: mark for name, mark in rows}
            for stream in names.values():
                # What is new here was read after its listener came.
                if stream in seen and seen[stream] != now.get(stream):
                    self._signals.wake(stream)
            seen = {stream: now.get(stream) for stream in names.values()}

    async def _tick(self) -> None:
        """Write the pulse at intervals, as evidence that the database accepts writes."""
        swept = time.monotonic()
        while True:
            await self._quietly("pulse", self._ask("beat", patience=0))
            if time.monotonic() - swept > SWEEP_EVERY:
                swept = time.monotonic()
                await self._quietly("sweep", self._ask("sweep", patience=0))
            await asyncio.sleep(TICK_EVERY)

    async def _quietly(self, what: str, call: Awaitable[T]) -> T | None:
        """Await a call for a background task, which must survive any error."""
        try:
            async with asyncio.timeout(self._patience):
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
    async def wait(self, gen: Any, interval: float = LOOK_EVERY, *rest: Any, **named: Any) -> Any:
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
        found = await _version(link)
        await link.execute("SELECT * FROM jsonrill.streams, jsonrill.pulse LIMIT 0")
    except errors.InsufficientPrivilege as error:
        raise StoreError(
            f"the user {link.info.user} may not create or use the schema jsonrill in the database"
            f" {link.info.dbname} ({error}): grant it CREATE on the database, or let an"
            " administrator run what `python -m jsonrill_server.store.postgres_schema"
            f" {link.info.user}` prints"
        ) from error
    if found != VERSION:
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


def _refusal(word: str, *rest: Any) -> StoreError:
    match word:
        case "UNKNOWN":
            return UnknownStream("there is no such stream")
        case "TAKEN":
            return StreamTaken("another producer holds this stream, or its id is in use")
        case "CLOSED":
            return LogClosed("the stream has ended")
        case "ORDER":
            return OutOfOrder("an append before this one has this place in the order, or a later")
        case "TURN":
            last, mark, closed, epoch, seq, _ = rest
            return TurnRefused(epoch, seq, Tail(last, mark), closed)
        case bound:
            return StoreFull(bound, f"the bound {bound} is reached")


def _bytes(text: str) -> bytes:
    """Return a text as PostgreSQL keeps it: its own texts can hold less than Python's."""
    return text.encode()


def _written(what: New | Append) -> tuple[list[int], list[bytes], bool]:
    """Return the CRCs of the records, the records, and whether the last one is the end."""
    written = [bytes(data) for data in what.written]
    return [crc32(data) for data in written], written, what.end is not None


def _key(name: str) -> bytes:
    """Return the key of a name: itself, or a digest, because no index holds a long one."""
    key = _bytes(name)
    return key if len(key) <= LONGEST_KEY else DIGESTED + blake2b(key, digest_size=32).digest()


def _status(row: tuple[Any, ...]) -> Status:
    _, owner, meta, last, size, mark, closed, producer, lease, lost, expires = row
    return Status(
        owner.decode(),
        meta,
        last,
        size,
        mark,
        closed,
        producer.decode(),
        lease,
        lost,
        expires,
    )
