"""A store in the memory of one process, for one worker; a restart loses it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from .log import Head, NewLog, Row, State, Store, Write, check, next_epoch, refuse, refuse_more


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

    async def open(self) -> None: ...

    async def close(self) -> None: ...

    async def probe(self) -> None: ...

    async def create(self, key: str, new: NewLog, lease: float) -> Head | None:
        log = self._logs.get(key)
        if log is None or (log.state == State.ENDED and new.replaces):
            self._make_room(new)
            now = self._clock()
            self._logs[key] = _Log(new, next_epoch(), now + lease, now)
        elif log.new.log != new.log:
            return None
        self.signals.wake(key)
        return self._head(key)

    async def claim(self, key: str, lease: float, *, force: bool = False) -> Head | None:
        log, now = self._logs.get(key), self._clock()
        if log is None or log.state == State.ENDED or (log.until > now and not force):
            return None
        log.epoch, log.until = next_epoch(log.epoch), now + lease
        self.signals.wake(key)
        return self._head(key)

    def _make_room(self, new: NewLog) -> None:
        mine = [(key, log) for key, log in self._logs.items() if log.new.owner == new.owner]
        old = sorted((log.used, key) for key, log in mine if log.state == State.ENDED)
        surplus = len(mine) - new.most + 1
        if surplus > len(old):
            refuse_more(new)
        for _, key in old[: max(surplus, 0)]:
            del self._logs[key]

    async def append(self, key: str, write: Write) -> None:
        if answer := check(self._head(key), write):
            refuse(answer)
            return
        log = self._logs[key]
        log.rows += [
            Row(seq, write.epoch, data) for seq, data in enumerate(write.records, write.after + 1)
        ]
        log.size += sum(map(len, write.records))
        log.used = self._clock()
        log.until = log.used + write.lease
        log.state = max(log.state, write.state)
        self.signals.wake(key)

    async def read(self, key: str, after: int, limit: int = 200) -> tuple[Head | None, list[Row]]:
        log = self._logs.get(key)
        return self._head(key), [] if log is None else log.rows[after : after + limit]

    def _head(self, key: str) -> Head | None:
        if (log := self._logs.get(key)) is None:
            return None
        left = log.until - self._clock()
        return Head(log.new.log, log.epoch, len(log.rows), log.state, left, log.new.meta, log.size)

    async def delete(self, key: str) -> None:
        self._logs.pop(key, None)
        self.signals.wake(key)

    async def expire(self, limit: int = 20) -> list[str]:
        now = self._clock()
        for key in [key for key, log in self._logs.items() if log.used + log.new.keep < now]:
            await self.delete(key)
        due = [
            key for key, log in self._logs.items() if log.until < now and log.state != State.ENDED
        ]
        return due[:limit]
