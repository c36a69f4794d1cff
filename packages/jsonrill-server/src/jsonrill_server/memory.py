"""A store in the memory of one process, for one worker; a restart loses it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from .log import Head, NewLog, Row, State, Store, TooManyLogs, check_append, next_epoch


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

    async def check(self) -> None: ...

    async def claim(
        self,
        key: str,
        lease: float,
        *,
        new: NewLog | None = None,
        replace: bool = False,
        force: bool = False,
    ) -> Head | None:
        now = self._clock()
        log = self._logs.get(key)
        if new is not None:
            if log is None or (log.state == State.ENDED and replace):
                self._make_room(new)
                self._logs[key] = _Log(new, next_epoch(), now + lease, now)
            elif log.new.log != new.log:
                return None
        elif log is None or log.state == State.ENDED or (log.until > now and not force):
            return None
        else:
            log.epoch = next_epoch(log.epoch)
            log.until = now + lease
        self.signals.wake(key)
        return self._head(key)

    def _make_room(self, new: NewLog) -> None:
        mine = [(key, log) for key, log in self._logs.items() if log.new.owner == new.owner]
        old = sorted((log.used, key) for key, log in mine if log.state == State.ENDED)
        surplus = len(mine) - new.most + 1
        if surplus > len(old):
            raise TooManyLogs(f"there are {new.most} streams that have not ended")
        for _, key in old[: max(surplus, 0)]:
            del self._logs[key]

    async def append(
        self,
        key: str,
        epoch: int,
        after: int,
        records: Sequence[bytes],
        lease: float,
        *,
        state: State = State.OPEN,
        again: bool = False,
    ) -> None:
        if not check_append(self._head(key), epoch, after, len(records), again):
            return
        log = self._logs[key]
        log.rows += [Row(seq, epoch, data) for seq, data in enumerate(records, after + 1)]
        log.size += sum(map(len, records))
        log.used = self._clock()
        log.until = log.used + lease
        log.state = max(log.state, state)
        if records or state:
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
