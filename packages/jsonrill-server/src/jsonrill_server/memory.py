"""A store in the memory of one process, for one worker; a restart loses it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from .log import FORMAT, Head, NewLog, Row, State, Store, Write


@dataclass(slots=True)
class _Log:
    new: NewLog
    epoch: int
    until: float
    used: float
    state: int = State.OPEN
    size: int = 0
    rows: list[Row] = field(default_factory=list)


class MemoryStore(Store):
    """Logs in a dict."""

    write_every = 0.0

    def __init__(self, url: str = "memory:", clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock = clock
        self._logs: dict[str, _Log] = {}

    async def connect(self) -> int:
        return FORMAT

    async def disconnect(self) -> None: ...

    async def watch_changes(self) -> None:
        await asyncio.Event().wait()

    async def probe(self) -> None: ...

    async def try_create(self, key: str, new: NewLog, lease: float) -> Head | None:
        log, now = self._logs.get(key), self._clock()
        if log.new.log != new.replaces if log else not self._make_room(new):
            return None
        self._logs[key] = _Log(new, new.epoch, now + lease, now)
        self.signals.wake(key)
        return self._head(key)

    def _make_room(self, new: NewLog) -> bool:
        mine = [(key, log) for key, log in self._logs.items() if log.new.owner == new.owner]
        old = sorted((log.used, key) for key, log in mine if log.state == State.ENDED)
        surplus = max(len(mine) - new.most + 1, 0)
        for _, key in old[:surplus]:
            del self._logs[key]
        return surplus <= len(old)

    async def try_write(self, key: str, write: Write) -> Head | None:
        if not follows(write, self._head(key)):
            return None
        log, now = self._logs[key], self._clock()
        first = len(log.rows) + 1
        log.rows += [Row(seq, write.epoch, data) for seq, data in enumerate(write.records, first)]
        log.size += sum(map(len, write.records))
        log.epoch, log.state = write.epoch, write.state
        log.until, log.used = now + write.lease, now
        self.signals.wake(key)
        return self._head(key)

    async def read(self, key: str, after: int, limit: int = 200) -> tuple[Head | None, list[Row]]:
        log = self._logs.get(key)
        return self._head(key), [] if log is None else log.rows[after : after + limit]

    def _head(self, key: str) -> Head | None:
        if (log := self._logs.get(key)) is None:
            return None
        left = log.until - self._clock()
        return Head(log.new.log, log.epoch, len(log.rows), log.state, left, log.size, log.new.meta)

    async def delete(self, key: str) -> None:
        self._logs.pop(key, None)
        self.signals.wake(key)

    async def expire(self) -> list[str]:
        now = self._clock()
        for key in [key for key, log in self._logs.items() if log.used + log.new.keep < now]:
            await self.delete(key)
        return [
            key for key, log in self._logs.items() if log.until < now and log.state != State.ENDED
        ]


def follows(write: Write, head: Head | None) -> bool:
    """Return whether a log has the head that a writer knows."""
    if head is None or (head.epoch, head.state) != (write.head.epoch, write.head.state):
        return False
    is_claim = write.epoch != head.epoch and not write.records
    return is_claim or head.last == write.head.last
