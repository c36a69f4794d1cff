"""A store in Redis or Valkey Streams, for many replicas. Needs the extra `redis`.

Commands go over a pool and are tried again while Redis is away, for `patience` seconds; every one
of them may be repeated without harm. Waiting for new entries is the tailer's work.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any, TypeVar

import redis.asyncio
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError, OutOfMemoryError, ReadOnlyError, TimeoutError

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
)
from .redis_scripts import ACQUIRE, APPEND, FINALIZE, STATUS
from .redis_tail import Tailer, entries

T = TypeVar("T")
BATCH = 500
AWAY = (ConnectionError, TimeoutError, ReadOnlyError, OSError)


class RedisStore(Store):
    """Logs as Redis streams with ids `<seq>-0`: a position can be written once only."""

    def __init__(
        self,
        url: str,
        bounds: Bounds | None = None,
        *,
        prefix: str = "jsonrill",
        patience: float = 5.0,
    ) -> None:
        super().__init__(bounds)
        self._prefix = prefix
        self._patience = patience
        # One try each: `_call` decides what happens next. No socket timeout for blocking reads.
        common: dict[str, Any] = {"protocol": 2, "retry": Retry(NoBackoff(), 0)}
        self._client = redis.asyncio.from_url(
            url, socket_timeout=5, socket_connect_timeout=2, **common
        )
        blocking = redis.asyncio.from_url(
            url,
            socket_timeout=None,
            socket_connect_timeout=2,
            single_connection_client=True,
            **common,
        )
        self._tailer = Tailer(blocking, self._client)
        self._acquire = self._client.register_script(ACQUIRE)
        self._append = self._client.register_script(APPEND)
        self._finalize = self._client.register_script(FINALIZE)
        self._status = self._client.register_script(STATUS)

    async def open(self) -> None:
        await self._call(self._client.ping)

    async def close(self) -> None:
        await self._tailer.close()
        await self._client.aclose()

    async def acquire(
        self,
        stream: str,
        producer: str,
        *,
        lease: float,
        owner: str = "",
        meta: bytes | None = None,
    ) -> Status:
        keys = [self._meta(stream), self._log(stream)]
        keep = _ms(self.bounds.keep_open)
        arguments: list[Any] = [self._owner(""), stream, producer, _ms(lease), keep]
        if meta is not None:
            arguments += [owner, meta, self.bounds.owner_streams]
        return _status(await self._run(self._acquire, keys, arguments))

    async def append(
        self,
        stream: str,
        producer: str,
        records: Sequence[bytes],
        *,
        first: int | None = None,
        lease: float | None = None,
    ) -> int:
        bounds = self.bounds
        limits = [_ms(bounds.keep_open), bounds.stream_entries, bounds.stream_bytes]
        renewed = 0 if lease is None else _ms(lease)
        arguments = [producer, first or 0, secrets.token_hex(8), renewed, *limits, *records]
        keys = [self._meta(stream), self._log(stream)]
        return int((await self._run(self._append, keys, arguments))[0])

    async def finalize(self, stream: str, data: bytes, *, only_if_lost: bool = False) -> bool:
        keys = [self._meta(stream), self._log(stream)]
        keep = _ms(self.bounds.keep_closed)
        arguments = [self._owner(""), stream, data, int(only_if_lost), keep]
        return bool((await self._run(self._finalize, keys, arguments))[0])

    async def read(self, stream: str, after: int = 0) -> AsyncIterator[list[Entry]]:
        with self._tailer.follow(self._log(stream)) as following:
            while not following.closed:
                batch: list[Entry] = []
                if following.waits:
                    batch = await following.wait()
                if following.closed:
                    return
                if not batch or batch[0].seq != after + 1:
                    following.stop()  # waited in vain, or missed something: look at the log
                    try:
                        batch, ended = await self._after(stream, after)
                    except StoreUnavailable:
                        yield []
                        continue
                    if ended:
                        return
                if not following.waits and len(batch) < BATCH:
                    following.start(batch[-1].seq if batch else after)
                if batch:
                    after = batch[-1].seq
                    yield batch
                    if batch[-1].final:
                        return

    async def _after(self, stream: str, after: int) -> tuple[list[Entry], bool]:
        """What the log has after a position now, and whether nothing can ever come."""
        key = self._log(stream)
        raw = await self._call(lambda: self._client.xrange(key, f"({after}-0", "+", count=BATCH))
        if raw:
            return entries(raw), False
        status = await self.status(stream)
        if after > status.last:
            raise LogGap(status.last)
        return [], status.closed and after == status.last

    async def status(self, stream: str) -> Status:
        return _status(await self._run(self._status, [self._meta(stream)], []))

    async def delete(self, stream: str) -> None:
        try:
            owner = (await self.status(stream)).owner
        except UnknownStream:
            return
        await self._call(lambda: self._client.zrem(self._owner(owner), stream))
        await self._call(lambda: self._client.delete(self._meta(stream), self._log(stream)))

    async def once(self, token: str, seconds: float) -> bool:
        # Its own mark tells a repeated call from a second use.
        key, mark = f"{self._prefix}:once:{token}", secrets.token_hex(8).encode()
        set_it: Callable[[], Awaitable[Any]] = lambda: self._client.set(  # noqa: E731
            key, mark, nx=True, px=_ms(seconds), get=True
        )
        before = await self._call(set_it)
        return before is None or before == mark

    def _meta(self, stream: str) -> str:
        return f"{self._prefix}:{{{stream}}}:meta"

    def _log(self, stream: str) -> str:
        return f"{self._prefix}:{{{stream}}}:log"

    def _owner(self, owner: str) -> str:
        return f"{self._prefix}:owner:{owner}"

    async def _run(self, script: Any, keys: list[str], arguments: list[Any]) -> list[Any]:
        """A script's answer without its first word, or the refusal that this word names."""
        try:
            word, *rest = await self._call(lambda: script(keys=keys, args=arguments))
        except OutOfMemoryError as error:
            raise StoreFull("memory", "the store is full") from error
        if word != b"OK":
            raise _refusal(word.decode(), rest)
        return list(rest)

    async def _call(self, command: Callable[[], Awaitable[T]]) -> T:
        until = time.monotonic() + self._patience
        pause = 0.02
        while True:
            try:
                return await command()
            except AWAY as error:
                if time.monotonic() + pause > until:
                    raise StoreUnavailable(f"no answer from Redis: {error}") from error
            await asyncio.sleep(pause)
            pause = min(pause * 2, 0.5)


def _status(answer: list[Any]) -> Status:
    owner, meta, last, size, closed, producer, lease = answer
    return Status(
        owner.decode(), meta, last, size, bool(closed), producer.decode(), int(lease) / 1000
    )


def _ms(seconds: float) -> int:
    return max(1, int(seconds * 1000))


def _refusal(word: str, rest: list[Any]) -> StoreError:
    if word == "GAP":
        return LogGap(int(rest[0]))
    if word == "FULL":
        bound = rest[0].decode()
        return StoreFull(bound, f"the bound {bound} is reached")
    kinds = {"UNKNOWN": UnknownStream, "TAKEN": StreamTaken, "CLOSED": LogClosed}
    messages = {
        "UNKNOWN": "there is no such stream",
        "TAKEN": "another producer holds this stream",
        "CLOSED": "the stream has ended",
    }
    return kinds[word](messages[word])
