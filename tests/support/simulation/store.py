"""A shared log as the processes of a simulation see it: over a network that fails.

What a store does is atomic, and is done by the store that keeps logs in memory; between a process
and it a request or its answer may be late or lost, and so may the notice that there is more. The
kinds differ in what the real stores can do to their users.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextvars import copy_context
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeVar

from jsonrill_server.store import Entry, StoreFull, StoreUnavailable, Tail, UnknownStream
from jsonrill_server.store.base import LogPage
from jsonrill_server.store.heads import Head
from jsonrill_server.store.logs import Found, Store, Usage
from jsonrill_server.store.memory import MemoryStore

if TYPE_CHECKING:
    from .schedules import World

T = TypeVar("T")


@dataclass(frozen=True)
class Kind:
    """What may happen between a process and a store of this kind."""

    # Seconds of a request or of an answer, at most; seconds between two writes of a producer.
    latency: float
    write_every: float
    check_every: float
    # Whether an answer can be lost, a notice can be lost or come twice.
    loses_answers: bool
    loses_notices: bool
    # Whether the last writes, which were confirmed, can be lost when another server takes over.
    loses_writes: bool = False


KINDS: Final = {
    "sqlite": Kind(0.002, 0.0, 2.0, loses_answers=False, loses_notices=False),
    "postgresql": Kind(0.02, 0.025, 20.0, loses_answers=True, loses_notices=True),
    "redis": Kind(0.01, 0.025, 20.0, loses_answers=True, loses_notices=True, loses_writes=True),
    "redis+cluster": Kind(
        0.05, 0.025, 20.0, loses_answers=True, loses_notices=True, loses_writes=True
    ),
}


class SharedLog(MemoryStore):
    """The database: it tells the world what has changed."""

    def __init__(self, world: World) -> None:
        super().__init__()
        self._world = world
        # The head at each end that a log has had.
        self._before: dict[tuple[str, Tail], Head] = {}

    async def _swap(
        self, stream: str, before: str, head: Head, rows: Sequence[Entry], listed: bool
    ) -> Found:
        if any(not row.final for row in rows) and self._world.is_full():
            raise StoreFull("total_bytes", "the store is full")
        found = await super()._swap(stream, before, head, rows, listed)
        if found.head is head:
            self._before[stream, head.tail] = head
            if rows:
                self._world.changed(stream)
        return found

    async def _drop(self, stream: str, name: str | None) -> None:
        await super()._drop(stream, name)
        self._world.changed(stream)

    async def whole(self, stream: str) -> LogPage:
        """All records of a log."""
        _, head, rows = await self._find(stream, 0, 1 << 20)
        if head is None:
            raise UnknownStream(f"there is no stream {stream}")
        return LogPage(head.last, head.mark, head.closed, list(rows))

    def is_closed(self, stream: str) -> bool:
        return stream in self._logs and self._logs[stream].head.closed

    def expire(self, stream: str) -> None:
        """Forget a log because its time is over, which tells nobody."""
        del self._logs[stream]

    def lose_last(self, stream: str, count: int) -> None:
        """Forget the last writes of a log, as a server does that was behind when it took over."""
        log = self._logs.get(stream)
        if log is None or log.head.closed:
            return
        last = max(0, log.head.last - count)
        # A write is lost with its number, and as a whole.
        while (old := self._before.get((stream, Tail(last, log.marks[last])))) is None:
            last -= 1
        del log.records[last + 1 :], log.marks[last + 1 :]
        now = log.head
        log.head = old._replace(
            producer=now.producer, lease=now.lease, term=now.term, expires=now.expires
        )


class SimulatedStore(Store):
    """The connection of one process to the shared log."""

    record_cost = MemoryStore.record_cost
    stream_cost = MemoryStore.stream_cost

    def __init__(self, world: World, process: str) -> None:
        super().__init__()
        self._world = world
        self._process = process
        self.write_every = world.kind.write_every  # type: ignore[misc]
        self.check_every = world.kind.check_every  # type: ignore[misc]
        self._context = copy_context()

    async def open(self) -> None:
        await self._asked(lambda: asyncio.sleep(0))

    async def close(self) -> None:
        self._signals.close()

    def notice(self, stream: str, delay: float) -> None:
        """Wake who waits for a stream in this process, later."""
        loop = asyncio.get_running_loop()
        context = self._context
        loop.call_soon(
            lambda: loop.call_later(delay, self._signals.wake, stream, context=context),
            context=context,
        )

    async def _asked(self, work: Callable[[], Awaitable[T]]) -> T:
        """Send a request, and wait for its answer."""
        world, process = self._world, self._process
        await asyncio.sleep(world.latency())
        await world.reachable(process)
        if world.fails():
            raise StoreUnavailable("the request was lost")
        try:
            result = await work()
        finally:
            await asyncio.sleep(world.latency())
        await world.reachable(process)
        if world.kind.loses_answers and world.fails():
            raise StoreUnavailable("the answer was lost")
        return result

    async def _find(self, stream: str, after: int, count: int) -> Found:
        return await self._asked(lambda: self._world.log._find(stream, after, count))

    async def _swap(
        self, stream: str, before: str, head: Head, rows: Sequence[Entry], listed: bool
    ) -> Found:
        return await self._asked(lambda: self._world.log._swap(stream, before, head, rows, listed))

    async def _drop(self, stream: str, name: str | None) -> None:
        await self._asked(lambda: self._world.log._drop(stream, name))

    async def _usage(self, owner: str, now: float) -> Usage:
        return await self._asked(lambda: self._world.log._usage(owner, now))

    async def _oldest(self, owner: str | None, now: float) -> Sequence[str]:
        return await self._asked(lambda: self._world.log._oldest(owner, now))

    async def _use(self, token: str, name: str, seconds: float) -> bool:
        return await self._asked(lambda: self._world.log._use(token, name, seconds))


def seconds_of(loop: Any) -> Any:
    """A module `time` whose clocks are those of the simulation."""

    class Clock:
        monotonic = staticmethod(lambda: loop.now)
        time = staticmethod(lambda: loop.now)

    return Clock
