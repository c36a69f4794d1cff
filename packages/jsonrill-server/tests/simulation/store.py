"""A shared store as the processes of a simulation see it: over a network that fails.

The store keeps its logs in memory and does each call at once. Between a process and the store a
request or its answer may be late or lost, and so may the notice of a change.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextvars import copy_context
from copy import copy
from typing import TYPE_CHECKING, Any, TypeVar

from jsonrill_server.log import Head, NewLog, Row, Store, StoreError, StoreUnavailable, Write
from jsonrill_server.memory import MemoryStore

from .loop import Process

if TYPE_CHECKING:
    from .world import World

T = TypeVar("T")


class SharedStore(MemoryStore):
    """The database. Its clock may jump, and it may lose the last writes of a log."""

    def __init__(self, world: World) -> None:
        super().__init__(clock=lambda: world.loop.now + world.clock_offset)
        self._world = world
        self._history: dict[str, list[Any]] = {}

    def lose(self, key: str, writes: int) -> Any:
        """Forget the last writes, as a server that was behind when it took over; return the log."""
        former = self._logs.get(key)
        history = self._history.get(key, [])
        if len(history) > writes:
            del history[-writes:]
            self._logs[key] = _copy_log(history[-1])
            self._world.notify(key)
        return former

    async def try_create(self, key: str, new: NewLog, lease: float) -> Head | None:
        head = await super().try_create(key, new, lease)
        self._note(key, head)
        return head

    async def try_write(self, key: str, write: Write) -> Head | None:
        head = await super().try_write(key, write)
        self._note(key, head)
        return head

    def _note(self, key: str, head: Head | None) -> None:
        if head is not None:
            self._history.setdefault(key, []).append(_copy_log(self._logs[key]))
            self._world.notify(key)


def _copy_log(log: Any) -> Any:
    log = copy(log)
    log.rows = [*log.rows]
    return log


class SimulatedStore(Store):
    """The connection of one process to the shared store."""

    def __init__(self, world: World, process: Process) -> None:
        super().__init__()
        self._world = world
        self.process = process
        self.write_every = world.write_every
        self._context = copy_context()

    def notice(self, key: str, delay: float) -> None:
        """Wake the readers of a log in this process, later."""
        self._world.loop.call_later(delay, self.signals.wake, key, context=self._context)

    async def connect(self) -> int:
        return await self._call(self._world.store.connect)

    async def disconnect(self) -> None: ...

    async def watch_changes(self) -> None:
        await asyncio.Event().wait()  # `notice` wakes readers

    async def probe(self) -> None:
        await self._call(self._world.store.probe)

    async def try_create(self, key: str, new: NewLog, lease: float) -> Head | None:
        return await self._call(lambda: self._world.store.try_create(key, new, lease))

    async def try_write(self, key: str, write: Write) -> Head | None:
        return await self._call(lambda: self._world.store.try_write(key, write))

    async def read(self, key: str, after: int, limit: int = 200) -> tuple[Head | None, list[Row]]:
        return await self._call(lambda: self._world.store.read(key, after, limit))

    async def delete(self, key: str) -> None:
        await self._call(lambda: self._world.store.delete(key))

    async def expire(self) -> list[str]:
        return await self._call(self._world.store.expire)

    async def _call(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Send a request and wait for its answer. The store handles it even if nobody waits."""
        answer: asyncio.Future[T] = self._world.loop.create_future()
        self._world.loop.deliver(self._world.latency(), self._arrive, work, answer)
        return await answer

    def _arrive(
        self, work: Callable[[], Coroutine[Any, Any, T]], answer: asyncio.Future[T]
    ) -> None:
        world, after, result = self._world, self._world.latency(), None
        error: StoreError | None = None
        if world.is_cut(self.process) or world.fails():
            after, error = 0.5, StoreUnavailable("the request was lost")
        else:
            try:
                result = _at_once(work())
            except StoreError as refusal:
                error = refusal
            if world.fails():
                error = StoreUnavailable("the answer was lost")
        world.loop.deliver(after, self._answer, answer, result, error)

    def _answer(self, answer: asyncio.Future[T], result: T, error: StoreError | None) -> None:
        if answer.done():
            return
        if self._world.is_cut(self.process):
            error = StoreUnavailable("the connection was lost")
        if error is None:
            answer.set_result(result)
        else:
            answer.set_exception(error)


def _at_once(work: Coroutine[Any, Any, T]) -> T:
    """Return the result of a coroutine that never waits."""
    try:
        work.send(None)
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]
    raise AssertionError("a call of the memory store does not wait")
