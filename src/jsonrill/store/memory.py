"""A store in the memory of one process: the default. Bounded, gone with the process."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field

from .base import (
    Bounds,
    Entry,
    LogClosed,
    LogGap,
    Status,
    Store,
    StoreFull,
    StreamTaken,
    UnknownStream,
    check_fits,
    unwritten,
)
from .signals import Signals

BATCH = 500


@dataclass(slots=True)
class _Log:
    owner: str
    meta: bytes
    producer: str
    lease_until: float
    expires: float
    entries: list[Entry] = field(default_factory=list)
    size: int = 0
    closed: bool = False


class MemoryStore(Store):
    """Logs as lists. Time is `time.monotonic`, so that a changed clock ends no lease."""

    def __init__(self, bounds: Bounds | None = None) -> None:
        super().__init__(bounds)
        self._logs: dict[str, _Log] = {}
        self._used: dict[str, float] = {}
        self._size = 0
        self._swept = 0.0
        self._signals = Signals()

    async def close(self) -> None:
        self._signals.close()

    async def acquire(
        self,
        stream: str,
        producer: str,
        *,
        lease: float,
        owner: str = "",
        meta: bytes | None = None,
    ) -> Status:
        now = time.monotonic()
        if meta is not None:
            self._make(stream, owner, meta, now)
        log = self._log(stream)
        if log.closed:
            raise LogClosed(f"stream {stream} has ended")
        self._check_producer(log, producer, now)
        log.producer = producer
        log.lease_until = now + lease
        self._touch(log, now)
        return self._status(log)

    def _make(self, stream: str, owner: str, meta: bytes, now: float) -> None:
        self._sweep(now, every=0.0 if len(self._logs) >= self.bounds.total_streams else 1.0)
        if stream in self._logs:
            raise StreamTaken(f"stream {stream} exists")
        if len(self._logs) >= self.bounds.total_streams:
            raise StoreFull("total_streams", "the store holds no more streams")
        mine = sum(1 for log in self._logs.values() if log.owner == owner and not log.closed)
        if mine >= self.bounds.owner_streams:
            raise StoreFull("owner_streams", "too many open streams of one owner")
        self._logs[stream] = _Log(owner, meta, "", now, now + self.bounds.keep_open)

    async def append(
        self,
        stream: str,
        producer: str,
        records: Sequence[bytes],
        *,
        first: int | None = None,
        lease: float | None = None,
    ) -> int:
        log = self._log(stream)
        now = time.monotonic()
        last = len(log.entries)
        new = unwritten(last, log.closed, records, first)
        if log.closed:
            return last
        self._check_producer(log, producer, now)
        check_fits(self.bounds, last, log.size, new)
        if self._size + sum(map(len, new)) > self.bounds.total_bytes:
            raise StoreFull("total_bytes", "the store is full")
        for data in new:
            self._write(log, data, final=False)
        if lease is not None:
            log.producer, log.lease_until = producer, now + lease
        self._touch(log, now)
        self._signals.wake(stream)
        return len(log.entries)

    async def finalize(self, stream: str, data: bytes, *, only_if_lost: bool = False) -> bool:
        log = self._log(stream)
        now = time.monotonic()
        if log.closed or (only_if_lost and log.lease_until > now):
            return False
        self._write(log, data, final=True)
        log.closed = True
        self._touch(log, now)
        self._signals.wake(stream)
        return True

    async def read(self, stream: str, after: int = 0) -> AsyncIterator[list[Entry]]:
        log = self._log(stream)
        if after > len(log.entries):
            raise LogGap(len(log.entries))
        with self._signals.listen(stream) as signal:
            while not signal.closed:
                signal.clear()
                if self._logs.get(stream) is not log:
                    raise UnknownStream(f"there is no stream {stream}")
                batch = log.entries[after : after + BATCH]
                after += len(batch)
                if batch:
                    yield batch
                    if batch[-1].final:
                        return
                elif log.closed:
                    return
                else:
                    await signal.wait()

    async def status(self, stream: str) -> Status:
        return self._status(self._log(stream))

    async def delete(self, stream: str) -> None:
        log = self._logs.pop(stream, None)
        if log is not None:
            self._size -= log.size
            self._signals.wake(stream)

    async def once(self, token: str, seconds: float) -> bool:
        now = time.monotonic()
        self._used = {key: until for key, until in self._used.items() if until > now}
        if token in self._used:
            return False
        self._used[token] = now + seconds
        return True

    def _log(self, stream: str) -> _Log:
        log = self._logs.get(stream)
        if log is None or log.expires <= time.monotonic():
            raise UnknownStream(f"there is no stream {stream}")
        return log

    def _check_producer(self, log: _Log, producer: str, now: float) -> None:
        if log.producer != producer and log.lease_until > now:
            raise StreamTaken("another producer holds this stream")

    def _write(self, log: _Log, data: bytes, *, final: bool) -> None:
        log.entries.append(Entry(len(log.entries) + 1, bytes(data), final))
        log.size += len(data)
        self._size += len(data)

    def _touch(self, log: _Log, now: float) -> None:
        keep = self.bounds.keep_closed if log.closed else self.bounds.keep_open
        log.expires = now + keep

    def _sweep(self, now: float, every: float) -> None:
        if now - self._swept < every:
            return
        self._swept = now
        for stream in [name for name, log in self._logs.items() if log.expires <= now]:
            self._size -= self._logs.pop(stream).size
            self._signals.wake(stream)

    def _status(self, log: _Log) -> Status:
        left = log.lease_until - time.monotonic()
        return Status(
            log.owner, log.meta, len(log.entries), log.size, log.closed, log.producer, left
        )
