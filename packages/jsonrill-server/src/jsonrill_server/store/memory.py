"""The default store, in the memory of one process: bounded, and lost when the process ends."""

from __future__ import annotations

import time
from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field

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
    StoreFull,
    StreamTaken,
    Tail,
    UnknownStream,
    check_fits,
    check_free,
    check_order,
    new_mark,
    next_mark,
    next_turn,
    turn_cost,
)
from .workers import Mark, only_worker


@dataclass(slots=True)
class _Log:
    owner: str
    meta: bytes
    # The mark before the first record; those of the records are beside them.
    start: int
    producer: str
    # When the lease runs out; for a closed log, when it was closed.
    lease_until: float
    # When it is deleted; of a stream with a life of its own, how long after its last use, or 0, and
    # whether that never moves.
    expires: float
    ttl: float
    fixed: bool
    records: list[bytes] = field(default_factory=list)
    marks: array[int] = field(default_factory=lambda: array("I"))
    # Epoch and number of the last append of each producer that numbers them.
    turns: dict[str, tuple[int, int]] = field(default_factory=dict)
    order: bytes = b""
    size: int = 0
    cost: int = 0
    closed: bool = False

    @property
    def last(self) -> int:
        return len(self.records)

    @property
    def mark(self) -> int:
        return self.marks[-1] if self.marks else self.start

    @property
    def tail(self) -> Tail:
        return Tail(self.last, self.mark)


class MemoryStore(Store):
    """Keeps logs as lists. Time is `time.monotonic`, so that a changed clock ends no lease."""

    record_cost = 56
    stream_cost = 300
    write_every = 0.0

    def __init__(self, bounds: Bounds | None = None) -> None:
        super().__init__(bounds)
        self._logs: dict[str, _Log] = {}
        self._used: dict[str, float] = {}
        self._cost_of: dict[str, int] = {}  # by owner
        self._total = 0
        self._swept = 0.0
        self._marks: list[Mark] = []

    @classmethod
    def takes(cls, rest: str) -> bool:
        return rest in ("", "//")

    @classmethod
    def at(cls, url: str, bounds: Bounds | None) -> Store:
        return cls(bounds)

    async def open(self) -> None:
        self._marks = await only_worker()

    def stop(self) -> None:
        while self._marks:
            self._marks.pop().release()

    async def close(self) -> None:
        self.stop()
        self._signals.close()

    async def _take(self, stream: str, producer: str, lease: float, new: New | None) -> Status:
        now = time.monotonic()
        if new is not None:
            self._make(stream, new, now)
        log = self._log(stream)
        if log.closed and new is None:
            raise LogClosed(f"stream {stream} has ended")
        if not log.closed:
            check_free(log.producer, log.lease_until - now, producer)
            log.lease_until = now + lease
        log.producer = producer
        self._touch(log, now)
        return self._status(log)

    def _make(self, stream: str, new: New, now: float) -> None:
        self._sweep(now)
        if (old := self._logs.get(stream)) is not None:
            if old.expires > now and not (new.replace and old.closed):
                raise StreamTaken(f"stream {stream} exists")
            self._forget(stream)
        bounds, owner = self.bounds, new.owner
        mine = sum(1 for log in self._logs.values() if log.owner == owner and log.lease_until > now)
        if mine >= bounds.owner_streams:
            raise StoreFull("owner_streams", "too many open streams of one owner")
        check_fits(bounds, 0, 0, new.records)
        cost = self.stream_cost + len(new.meta)
        self._make_room(stream, owner, cost + self._cost(new.records), now)
        if len(self._logs) >= bounds.total_streams and not self._evict(stream, None, now):
            raise StoreFull("total_streams", "the store holds no more streams")
        left = new.until - time.time() if new.until else new.ttl or bounds.keep_open
        log = _Log(owner, new.meta, new_mark(), "", now, now + left, new.ttl, bool(new.until))
        self._logs[stream] = log
        self._book(log, cost)
        self._write(log, new.records)
        if new.end is not None:
            self._end(log, new.end, now)

    async def _add(self, stream: str, producer: str, append: Append) -> Tail:
        log, turn = self._log(stream), append.turn
        now = time.monotonic()
        turned = 0
        if turn is not None:
            last = log.turns.get(turn.producer, NO_TURN)
            if next_turn(turn, last, len(log.turns), log.tail, log.closed):
                turned = turn_cost(turn.producer)
        if log.closed:
            raise LogClosed(f"stream {stream} has ended")
        check_order(append.order, log.order)
        check_free(log.producer, log.lease_until - now, producer)
        check_fits(self.bounds, log.last, log.size, append.records)
        self._make_room(stream, log.owner, self._cost(append.records) + turned, now)
        self._write(log, append.records)
        log.order = append.order or log.order
        if turn is not None:
            log.turns[turn.producer] = turn.epoch, turn.seq
            self._book(log, turned)
        if append.lease is not None:
            log.producer, log.lease_until = producer, now + append.lease
        if append.end is not None:
            self._end(log, append.end, now)
        self._touch(log, now)
        self._signals.wake(stream)
        return log.tail

    async def finalize(self, stream: str, data: bytes, *, only_if_lost: bool = False) -> bool:
        log = self._log(stream)
        now = time.monotonic()
        if log.closed or (only_if_lost and log.lease_until > now):
            return False
        self._end(log, data, now)
        self._touch(log, now)
        self._signals.wake(stream)
        return True

    def _end(self, log: _Log, data: bytes, now: float) -> None:
        self._write(log, [data])
        log.closed = True
        log.lease_until = now

    async def _look(self, stream: str, after: int, count: int) -> Look:
        log = self._log(stream)
        records, marks = log.records[after : after + count], log.marks[after : after + count]
        last = log.last if log.closed else 0
        found = [
            Entry(seq, data, seq == last, mark)
            for seq, (data, mark) in enumerate(zip(records, marks, strict=True), after + 1)
        ]
        return Look(log.last, log.mark, log.closed, found)

    async def status(self, stream: str) -> Status:
        return self._status(self._log(stream))

    async def touch(self, stream: str, lease: float) -> None:
        log, now = self._log(stream), time.monotonic()
        if not log.closed and not log.fixed:
            log.lease_until = now + lease
        self._touch(log, now)

    async def delete(self, stream: str) -> None:
        if stream in self._logs:
            self._forget(stream)

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

    def _write(self, log: _Log, records: Sequence[bytes]) -> None:
        mark = log.mark
        for data in records:
            mark = next_mark(mark, data)
            log.records.append(bytes(data))
            log.marks.append(mark)
        log.size += sum(map(len, records))
        self._book(log, self._cost(records))

    def _touch(self, log: _Log, now: float) -> None:
        if not log.fixed:
            keep = self.bounds.keep_closed if log.closed else self.bounds.keep_open
            log.expires = now + (log.ttl or keep)

    def _book(self, log: _Log, cost: int) -> None:
        log.cost += cost
        self._total += cost
        left = self._cost_of.get(log.owner, 0) + cost
        if left:
            self._cost_of[log.owner] = left
        else:
            del self._cost_of[log.owner]

    def _make_room(self, stream: str, owner: str, cost: int, now: float) -> None:
        """Delete old streams, but not this one, until there is room for `cost` more bytes."""
        while self._cost_of.get(owner, 0) + cost > self.bounds.owner_bytes:
            if not self._evict(stream, owner, now):
                raise StoreFull("owner_bytes", "one owner has too much in the store")
        while self._total + cost > self.bounds.total_bytes:
            if not self._evict(stream, None, now):
                raise StoreFull("total_bytes", "the store is full")

    def _evict(self, but: str, owner: str | None, now: float) -> bool:
        """Delete the oldest stream that has no producer; False if there is none."""
        oldest = min(
            (
                (log.lease_until, name)
                for name, log in self._logs.items()
                if log.lease_until <= now and name != but and owner in (None, log.owner)
            ),
            default=None,
        )
        if oldest is not None:
            self._forget(oldest[1])
        return oldest is not None

    def _forget(self, stream: str) -> None:
        log = self._logs.pop(stream)
        self._book(log, -log.cost)
        self._signals.wake(stream)

    def _sweep(self, now: float) -> None:
        if now - self._swept < 1.0:
            return
        self._swept = now
        for stream in [name for name, log in self._logs.items() if log.expires <= now]:
            self._forget(stream)

    def _status(self, log: _Log) -> Status:
        now = time.monotonic()
        left = log.lease_until - now
        lost = not log.closed and left <= 0
        return Status(
            log.owner,
            log.meta,
            log.last,
            log.size,
            log.mark,
            log.closed,
            log.producer,
            left,
            lost,
            log.expires - now,
        )
