"""A shared log as the processes of a simulation see it: over a network that fails.

What a store does is atomic, and is done by the store that keeps logs in memory; between a process
and it a request or its answer may be late or lost, and so may the notice that there is more. The
kinds differ in what the real stores can do to their users.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextvars import copy_context
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeVar

from jsonrill_server.store import Status, Store, StoreFull, StoreUnavailable, Tail
from jsonrill_server.store.base import NO_TURN, Append, Look, New
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
    look_every: float
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
        # The numbers of producers at each end that a log has had.
        self._before: dict[tuple[str, Tail], dict[str, tuple[int, int]]] = {}
        self._signals.wake = world.changed  # type: ignore[method-assign]

    async def _take(self, stream: str, producer: str, lease: float, new: New | None) -> Status:
        if new is not None:
            self._check_room()
        return await super()._take(stream, producer, lease, new)

    async def _add(self, stream: str, producer: str, append: Append) -> Tail:
        # What is there already is not refused, though it is sent again.
        log, turn = self._logs.get(stream), append.turn
        is_new = log is None or turn is None or turn.follows(*log.turns.get(turn.producer, NO_TURN))
        if append.records and is_new:
            self._check_room()
        tail = await super()._add(stream, producer, append)
        self._before[stream, tail] = dict(self._logs[stream].turns)
        return tail

    def _check_room(self) -> None:
        if self._world.is_full():
            raise StoreFull("total_bytes", "the store is full")

    def is_closed(self, stream: str) -> bool:
        return stream in self._logs and self._logs[stream].closed

    def expire(self, stream: str) -> None:
        """Forget a log because its time is over, which tells nobody."""
        self._forget(stream)

    def lose_last(self, stream: str, count: int) -> None:
        """Forget the last writes of a log, as a server does that was behind when it took over."""
        if stream in self._logs and not self._logs[stream].closed:
            log = self._logs[stream]
            for _ in range(count):
                if log.records:
                    log.records.pop()
                    log.marks.pop()
            # A write is lost with its number, and as a whole.
            while log.records and (stream, log.tail) not in self._before:
                log.records.pop()
                log.marks.pop()
            log.turns = dict(self._before.get((stream, log.tail), {}))


class SimulatedStore(Store):
    """The connection of one process to the shared log."""

    record_cost = MemoryStore.record_cost
    stream_cost = MemoryStore.stream_cost

    def __init__(self, world: World, process: str) -> None:
        super().__init__()
        self._world = world
        self._process = process
        self.write_every = world.kind.write_every  # type: ignore[misc]
        self.look_every = world.kind.look_every  # type: ignore[misc]
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

    async def _take(self, stream: str, producer: str, lease: float, new: New | None) -> Status:
        return await self._asked(lambda: self._world.log._take(stream, producer, lease, new))

    async def _add(self, stream: str, producer: str, append: Append) -> Tail:
        return await self._asked(lambda: self._world.log._add(stream, producer, append))

    async def finalize(self, stream: str, data: bytes, *, only_if_lost: bool = False) -> bool:
        return await self._asked(
            lambda: self._world.log.finalize(stream, data, only_if_lost=only_if_lost)
        )

    async def _look(self, stream: str, after: int, count: int) -> Look:
        return await self._asked(lambda: self._world.log._look(stream, after, count))

    async def status(self, stream: str) -> Status:
        return await self._asked(lambda: self._world.log.status(stream))

    async def touch(self, stream: str, lease: float) -> None:
        await self._asked(lambda: self._world.log.touch(stream, lease))

    async def delete(self, stream: str) -> None:
        await self._asked(lambda: self._world.log.delete(stream))

    async def once(self, token: str, seconds: float) -> bool:
        return await self._asked(lambda: self._world.log.once(token, seconds))


def seconds_of(loop: Any) -> Any:
    """A module `time` whose clocks are those of the simulation."""

    class Clock:
        monotonic = staticmethod(lambda: loop.now)
        time = staticmethod(lambda: loop.now)

    return Clock
