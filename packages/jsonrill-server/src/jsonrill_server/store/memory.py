"""The default store, in the memory of one process: bounded, and lost when the process ends."""

from __future__ import annotations

import time
from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field

from .base import Bounds, Entry
from .heads import Clock, Head
from .logs import Found, Store, Usage
from .workers import Mark, only_worker


@dataclass(slots=True)
class _Log:
    head: Head
    records: list[bytes] = field(default_factory=list)
    marks: array[int] = field(default_factory=lambda: array("I"))


class MemoryStore(Store):
    """Keeps logs as lists. Time is `time.monotonic`, so that a changed clock ends no lease."""

    write_every = 0.0

    def __init__(self, bounds: Bounds | None = None) -> None:
        super().__init__(bounds)
        self._logs: dict[str, _Log] = {}
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

    async def _find(self, stream: str, after: int, count: int) -> Found:
        clock, log = Clock(time.monotonic()), self._logs.get(stream)
        if log is None:
            return Found(clock, None)
        first = after + 1
        records, marks = log.records[first : first + count], log.marks[first : first + count]
        last = log.head.last if log.head.closed else -1
        rows = [
            Entry(seq, data, seq == last, mark)
            for seq, (data, mark) in enumerate(zip(records, marks, strict=True), first)
        ]
        return Found(clock, log.head, rows)

    async def _swap(
        self, stream: str, before: str, head: Head, rows: Sequence[Entry], listed: bool
    ) -> Found:
        clock, log = Clock(time.monotonic()), self._logs.get(stream)
        if (log.head.name if log is not None else "") != before:
            return Found(clock, None if log is None else log.head)
        if log is None or (rows and rows[0].seq == 0):
            self._sweep(clock.now)
            log = self._logs[stream] = _Log(head)
        log.head = head
        log.records += [row.data for row in rows]
        log.marks.extend(row.mark for row in rows)
        return Found(clock, head)

    async def _drop(self, stream: str, name: str | None) -> None:
        if stream in self._logs and name in (None, self._logs[stream].head.name):
            del self._logs[stream]

    async def _usage(self, owner: str, now: float) -> Usage:
        heads = [log.head for log in self._logs.values()]
        return Usage(sum(it.owner == owner and it.listed > now for it in heads), len(heads))

    async def _oldest(self, now: float) -> Sequence[str]:
        ended = [
            (log.head.listed, stream)
            for stream, log in self._logs.items()
            if log.head.listed <= now
        ]
        return [stream for _, stream in sorted(ended)]

    async def _probe(self) -> None:
        pass

    def _sweep(self, now: float) -> None:
        """Delete what has expired."""
        for stream in [name for name, log in self._logs.items() if log.head.expires <= now]:
            del self._logs[stream]
            self._signals.wake(stream)
