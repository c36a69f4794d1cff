"""A store in Redis or Valkey Streams, for many replicas. Needs the extra `redis`.

Commands go over a pool and are tried again while Redis is away or answers with an error, for
`patience` seconds; every one of them may be repeated without harm.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, TypeVar
from zlib import crc32

import redis.asyncio
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import (
    NoPermissionError,
    OutOfMemoryError,
)

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
    LogLost,
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
    check_fits,
    new_call,
    new_mark,
    turn_cost,
)
from .redis_scripts import (
    ACQUIRE,
    APPEND,
    DELETE,
    FINALIZE,
    LOOK,
    STATUS,
    TICK,
    TICK_EVERY,
    TOUCH,
    VERSION,
)
from .redis_wake_ups import WakeUps

T = TypeVar("T")
CONNECTIONS = 50
# One try each: `_call` decides what happens next.
CONNECTING: dict[str, Any] = {
    "protocol": 2,
    "retry": Retry(NoBackoff(), 0),
    "socket_connect_timeout": 2,
}


class RedisStore(Store):
    """Logs as Redis streams with ids `<seq>-<mark>`."""

    record_cost = 20
    stream_cost = 1400

    def __init__(
        self,
        url: str,
        bounds: Bounds | None = None,
        *,
        prefix: str = "jsonrill",
        patience: float = PATIENCE,
    ) -> None:
        super().__init__(bounds)
        self._prefix = prefix
        self._patience = patience
        self._client = self._new_client(url)
        self._connections = asyncio.Semaphore(CONNECTIONS)
        listener = self._new_listener(url)
        self._wake_ups = WakeUps(listener, self._signals, (f"{prefix}:{{", "}:log"), self._report)
        self._ticking: list[asyncio.Task[None]] = []
        script = self._script
        self._acquire, self._append, self._finalize = map(script, (ACQUIRE, APPEND, FINALIZE))
        self._look_at, self._status, self._delete = map(script, (LOOK, STATUS, DELETE))
        self._touch, self._tick_once = script(TOUCH), script(TICK)

    def _new_client(self, url: str) -> Any:
        return redis.asyncio.from_url(
            url, socket_timeout=5, max_connections=CONNECTIONS, **CONNECTING
        )

    def _new_listener(self, url: str) -> Any:
        return redis.asyncio.from_url(url, **CONNECTING)

    def _script(self, text: str) -> Any:
        return self._client.register_script(text)

    def _keys(self, stream: str) -> list[str]:
        name = f"{self._prefix}:{{{stream}}}"
        return [f"{name}:meta", f"{name}:log", f"{self._prefix}:pulse"]

    async def open(self) -> None:
        await self._call(self._client.ping)
        with suppress(NoPermissionError):  # then it is not told
            if (await self._call(lambda: self._client.info("cluster"))).get("cluster_enabled"):
                raise StoreError("this Redis is a node of a cluster: write redis+cluster://")
        await self._check_version()
        self._ticking = [asyncio.create_task(self._tick())]

    async def _check_version(self) -> None:
        """Raise StoreError if the keys are those of another version; mark them if nothing says."""
        key = f"{self._prefix}:version"
        with suppress(StoreFull, StoreUnavailable):  # then it is marked later, by another process
            await self._call(lambda: self._client.set(key, VERSION, nx=True), patience=1.0)
        version = await self._call(lambda: self._client.get(key))
        if version not in (None, b"%d" % VERSION):
            raise StoreError(
                f"the keys {self._prefix}:* of this Redis were made by another version of jsonrill:"
                " use another database, or delete them, with the logs in them"
            )

    async def close(self) -> None:
        self._signals.close()
        await stop(*self._ticking)
        await self._wake_ups.close()
        await self._client.aclose()

    async def _take(self, stream: str, producer: str, lease: float, new: New | None) -> Status:
        bounds = self.bounds
        arguments: list[Any] = [producer, milliseconds(lease), milliseconds(bounds.keep_open)]
        if new is not None:
            check_fits(bounds, 0, 0, new.records)
            cost = self.stream_cost + len(new.meta) + self._cost(new.written)
            arguments += [new.owner, new.meta, new_mark(), new_call(), cost]
            arguments += [bounds.owner_streams, bounds.owner_bytes]
            arguments += [bounds.total_streams, bounds.total_bytes, int(new.replace)]
            arguments += [milliseconds(time) if time else 0 for time in (new.ttl, new.until)]
            arguments += [milliseconds(bounds.keep_closed), *_written(new)]
        return _status(await self._run(self._acquire, stream, arguments))

    async def _add(self, stream: str, producer: str, append: Append) -> Tail:
        bounds, turn = self.bounds, append.turn
        # Tried again, it must not add twice.
        arguments: list[Any] = [producer, "" if turn else new_call()]
        lease = 0 if append.lease is None else milliseconds(append.lease)
        arguments += [CALLS * CALL_SIZE, lease, milliseconds(bounds.keep_open)]
        arguments += [bounds.stream_entries, bounds.stream_bytes]
        arguments += [bounds.owner_bytes, bounds.total_bytes, self.record_cost]
        arguments += turn or ("", 0, 0)
        arguments += [TURNS, turn_cost(turn.producer) if turn else 0, append.order]
        # The script takes the end's flag, how long a closed stream is kept, and the records.
        flag, *pairs = _written(append)
        arguments += [flag, milliseconds(bounds.keep_closed), *pairs]
        last, mark = await self._run(self._append, stream, arguments)
        return Tail(int(last), int(mark))

    async def finalize(self, stream: str, data: bytes, *, only_if_lost: bool = False) -> bool:
        keep = milliseconds(self.bounds.keep_closed)
        arguments = [data, crc32(data), int(only_if_lost), keep, self.record_cost]
        done = bool((await self._run(self._finalize, stream, arguments))[0])
        self._signals.wake(stream)  # an end arrives here even if no message does
        return done

    async def _look(self, stream: str, after: int, count: int) -> Look:
        arguments = [after + 1, count]
        last, mark, closed, raw = await self._run(self._look_at, stream, arguments, patience=0)
        entries = []
        for name, (field, data) in raw:
            seq, _, its_mark = name.partition(b"-")
            entries.append(Entry(int(seq), data, field == b"e", int(its_mark)))
        return Look(int(last), int(mark), closed == b"1", entries)

    async def status(self, stream: str) -> Status:
        return _status(await self._run(self._status, stream, []))

    async def touch(self, stream: str, lease: float) -> None:
        arguments = [
            milliseconds(lease),
            milliseconds(self.bounds.keep_open),
            milliseconds(self.bounds.keep_closed),
        ]
        await self._run(self._touch, stream, arguments)

    async def delete(self, stream: str) -> None:
        await self._run(self._delete, stream, [])

    async def once(self, token: str, seconds: float) -> bool:
        # Its own mark tells a repeated call from a second use.
        key, mark = f"{self._prefix}:once:{token}", secrets.token_hex(8).encode()
        set_it: Callable[[], Awaitable[Any]] = lambda: self._client.set(  # noqa: E731
            key, mark, nx=True, px=milliseconds(seconds), get=True
        )
        before = await self._call(set_it)
        return before is None or before == mark

    async def _tick(self, stream: str = "") -> None:
        """Write the pulse at intervals, as evidence that Redis accepts writes."""
        while True:
            try:
                await self._run(self._tick_once, stream, [], patience=0)
            except Exception as error:  # the loop must survive any error
                self.on_error("pulse", error)
            await asyncio.sleep(TICK_EVERY)

    def _report(self, what: str, error: Exception) -> None:
        self.on_error(what, error)

    async def _run(
        self, script: Any, stream: str, arguments: list[Any], patience: float | None = None
    ) -> list[Any]:
        """Return a script's result, or raise the error that its first item names."""
        arguments = [self._prefix, stream, self._longest, *arguments]
        word, *rest = await self._answer(script, stream, arguments, patience)
        if word != b"OK":
            raise _refusal(word.decode(), rest)
        return list(rest)

    async def _answer(
        self, script: Any, stream: str, arguments: list[Any], patience: float | None
    ) -> list[Any]:
        keys = self._keys(stream)
        answer: list[Any] = await self._call(lambda: script(keys=keys, args=arguments), patience)
        return answer

    @property
    def _longest(self) -> int:
        """How long a stream without a life of its own is kept at the most, in milliseconds."""
        return milliseconds(max(self.bounds.keep_open, self.bounds.keep_closed))

    async def _call(self, command: Callable[[], Awaitable[T]], patience: float | None = None) -> T:
        """Repeat a command until Redis has executed it; errors of Redis may be temporary.

        With a patience of 0 there is one try without a time limit.
        """
        patience = self._patience if patience is None else patience
        until = time.monotonic() + patience
        pause = 0.02
        try:
            async with asyncio.timeout(patience or None):
                while True:
                    try:
                        async with self._connections:
                            return await command()
                    # Its client raises whatever it meets, of many kinds, while servers come and go:
                    # a connection that is closed meanwhile is a RuntimeError where uvloop runs.
                    except Exception as error:
                        self.on_error("command", error)
                        # Redis before 7 puts the error of a command in a script into the message.
                        if isinstance(error, OutOfMemoryError) or "-OOM " in str(error):
                            raise StoreFull("memory", "the store is full") from error
                        if time.monotonic() + pause > until:
                            raise StoreUnavailable(f"no answer from Redis: {error}") from error
                    await asyncio.sleep(pause)
                    pause = min(pause * 2, 0.5)
        except TimeoutError:
            raise StoreUnavailable(f"no answer from Redis for {patience:g} s") from None


def _status(answer: list[Any]) -> Status:
    owner, meta, last, size, mark, closed, producer, lease, lost, expires = answer
    return Status(
        owner.decode(),
        meta,
        last,
        size,
        mark,
        bool(closed),
        producer.decode(),
        int(lease) / 1000,
        bool(lost),
        int(expires) / 1000,
    )


def _written(what: New | Append) -> list[Any]:
    """Return whether the last record is the end, and each record after its CRC."""
    pairs = [part for data in what.written for part in (crc32(data), data)]
    return [int(what.end is not None), *pairs]


def milliseconds(seconds: float) -> int:
    """Return a time as Redis takes it, at least 1."""
    return max(1, int(seconds * 1000))


def _refusal(word: str, rest: list[Any]) -> StoreError:
    if word == "TURN":
        epoch, seq, last, mark, closed = map(int, rest)
        return TurnRefused(epoch, seq, Tail(last, mark), bool(closed))
    if word == "FULL":
        bound = rest[0].decode()
        return StoreFull(bound, f"the bound {bound} is reached")
    kinds = {
        "UNKNOWN": (UnknownStream, "there is no such stream"),
        "TAKEN": (StreamTaken, "another producer holds this stream"),
        "CLOSED": (LogClosed, "the stream has ended"),
        "ORDER": (OutOfOrder, "an append before this one has this place in the order or a later"),
        "LOST": (LogLost, "the store lost records of this stream"),
    }
    kind, message = kinds[word]
    return kind(message)
