"""A shared log as the processes of a simulation see it: over a network that fails.

What a store does is atomic, and is done by the store that keeps logs in memory; between a process
and it a request or its answer may be late or lost, and so may the notice that there is more. The
kinds differ in what the real stores can do to their users.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from contextvars import copy_context
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeVar

from jsonrill_server.store import (
    Entry,
    StoreError,
    StoreFull,
    StoreUnavailable,
    Tail,
)
from jsonrill_server.store.heads import Head
from jsonrill_server.store.logs import Found, Store, Usage
from jsonrill_server.store.memory import MemoryStore
from jsonrill_server.store.memory import _Log as Log

from .loop import Process

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
}


class _OpenStore(MemoryStore):
    """A store in memory that asks nothing of the machine."""

    async def open(self) -> None:
        pass


class LogAlone(_OpenStore):
    """A store that has one log."""

    def __init__(self, stream: str, log: Log) -> None:
        super().__init__()
        self._logs[stream] = log


class SharedLog(_OpenStore):
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
            raise StoreFull("memory", "the store is full")
        old = self._logs.get(stream)
        state = await super()._swap(stream, before, head, rows, listed)
        if state.head is head:
            if old is not None and self._logs[stream] is not old:
                self._world.forget(stream, old)
            self._before[stream, head.tail] = head
            if rows:
                self._world.changed(stream)
        return state

    async def _drop(self, stream: str, name: str | None) -> None:
        await super()._drop(stream, name)
        self._world.changed(stream)

    def copy(self, stream: str) -> Log:
        """A log as it is now."""
        log = self._logs[stream]
        return Log(log.head, [*log.records], log.marks[:])

    def is_closed(self, stream: str) -> bool:
        return stream in self._logs and self._logs[stream].head.closed

    def expire(self, stream: str) -> None:
        """Forget a log because its time is over, which tells nobody."""
        self._world.forget(stream, self._logs.pop(stream))

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

    def __init__(self, world: World, process: Process) -> None:
        super().__init__()
        self._world = world
        self.process = process
        self.write_every = world.kind.write_every  # type: ignore[misc]
        self.check_every = world.kind.check_every  # type: ignore[misc]
        self._context = copy_context()

    async def open(self) -> None:
        await self._asked(self._world.log.open)

    async def close(self) -> None:
        self._signals.close()

    def notice(self, stream: str, delay: float) -> None:
        """Wake who waits for a stream in this process, later."""
        self._world.loop.call_later(delay, self._signals.wake, stream, context=self._context)

    def reconnect(self) -> None:
        """Wake who waits for any stream: there may have been notices that nobody heard."""
        for stream in sorted(self._signals.streams):
            self.notice(stream, 0.0)

    async def _asked(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Send a request, and wait for its answer. It is done even if nobody waits any more."""
        answer: asyncio.Future[T] = self._world.loop.create_future()
        self._world.loop.deliver(self._world.latency(), self._arrive, work, answer)
        return await answer

    def _arrive(
        self, work: Callable[[], Coroutine[Any, Any, T]], answer: asyncio.Future[T]
    ) -> None:
        world, after, result = self._world, self._world.latency(), None
        error: StoreError | None = None
        if (cut := world.cut_for(self.process)) > 0:
            after, error = min(cut, 1.0), StoreUnavailable("the store cannot be reached")
        elif world.fails():
            error = StoreUnavailable("the request was lost")
        else:
            try:
                result = _at_once(work())
            except StoreError as refusal:
                error = refusal
            if world.kind.loses_answers and world.fails():
                error = StoreUnavailable("the answer was lost")
        world.loop.deliver(after, self._answer, answer, result, error)

    def _answer(self, answer: asyncio.Future[T], result: T, error: StoreError | None) -> None:
        if answer.done():
            return
        if error is None and self._world.cut_for(self.process) > 0:
            error = StoreUnavailable("the connection was lost")
        if error is None:
            answer.set_result(result)
        else:
            answer.set_exception(error)

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

    async def _oldest(self, now: float) -> Sequence[str]:
        return await self._asked(lambda: self._world.log._oldest(now))

    async def _probe(self) -> None:
        await self._asked(self._world.log._probe)


def _at_once(work: Coroutine[Any, Any, T]) -> T:
    """The result of a coroutine that never waits."""
    try:
        work.send(None)
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]
    raise AssertionError("what is done in memory does not wait")
