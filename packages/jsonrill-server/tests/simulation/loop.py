"""An event loop without a clock or a socket: time is a number, and a seed picks the next task.

A task belongs to a process of the simulation, by a context variable that tasks inherit. A process
can be killed between any two of its awaits (nothing of it ever runs again, not even `finally`), and
halted for a while (what it should do meanwhile is done later).

It does not use asyncio's own loop, which would take most of the time of a schedule.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import random
import sys
from asyncio.futures import _set_result_unless_cancelled  # type: ignore[attr-defined]
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import Context, ContextVar, copy_context
from heapq import heappop, heappush
from typing import Any, Final
from weakref import ref

# A schedule with more steps than this never ends.
MAX_STEPS: Final = 400_000


class Stuck(Exception):
    """Nothing can happen any more, or things happen without an end."""


class Handle:
    """A callback that will be called, unless it is cancelled."""

    __slots__ = ("args", "callback", "context", "is_cancelled")

    def __init__(self, callback: Callable[..., Any], args: Any, context: Context) -> None:
        self.callback = callback
        self.args = args
        self.context = context
        self.is_cancelled = False

    def cancel(self) -> None:
        self.is_cancelled = True


class Process:
    """What is ready in a process, in order, and its clock: its rate, and its time at the start."""

    __slots__ = ("dead", "halted", "name", "rate", "ready", "start")

    def __init__(self, name: str, rate: float = 1.0, start: float = 0.0) -> None:
        self.name = name
        self.rate = rate
        self.start = start
        self.ready: deque[Handle] = deque()
        self.dead = self.halted = False


# The context of everything outside the processes.
NOBODY: Final = Context()
PROCESS: Final[ContextVar[Process]] = ContextVar("PROCESS")


class SimulatedLoop(asyncio.AbstractEventLoop):
    """Runs one callback at a time: the seed chooses a process, which goes on where it was.

    asyncio runs what is ready in order, and code may rely on that within a process. The processes
    do not wait for each other.
    """

    # Called for each future and task.
    get_debug = bool  # type: ignore[assignment]

    def __init__(self, seed: int) -> None:
        self.choose = random.Random(seed).random
        self.now = 1000.0
        self.steps = 0
        self._world = Process("")
        self._tasks: list[tuple[Process, ref[asyncio.Task[Any]]]] = []
        # Handles that the last step made ready, processes with ready handles, and timers.
        self._new: list[Handle] = []
        self._busy: list[Process] = []
        self._timers: list[tuple[float, int, Handle]] = []
        self._count = 0
        # Kept until the end, because a collected task would run its `finally`.
        self._buried: list[Any] = []
        self.errors: list[dict[str, Any]] = []

    # ---- processes ----

    def kill(self, process: Process) -> None:
        process.dead = True
        self._buried += process.ready
        process.ready.clear()
        if process in self._busy:
            self._busy.remove(process)
        for task in self.tasks_of(process):
            task._log_destroy_pending = False  # type: ignore[attr-defined]
            self._buried.append(task)

    def halt(self, process: Process) -> None:
        process.halted = True
        if process in self._busy:
            self._busy.remove(process)

    def resume(self, process: Process) -> None:
        process.halted = False
        if process.ready and process not in self._busy:
            self._busy.append(process)

    def tasks_of(self, process: Process) -> list[asyncio.Task[Any]]:
        """Return the tasks of a process that have not ended."""
        return [task for owner, task in self._living() if owner is process]

    def _living(self) -> Iterator[tuple[Process, asyncio.Task[Any]]]:
        for process, reference in self._tasks:
            task = reference()
            if task is not None and not task.done():
                yield process, task

    def bury(self) -> None:
        """Close the tasks that never ended, at the end of the simulation."""
        for _, task in self._living():
            task._log_destroy_pending = False  # type: ignore[attr-defined]
            with suppress(BaseException):
                task.get_coro().close()  # type: ignore[union-attr]

    # ---- the interface of an event loop ----

    def create_task(
        self, coro: Any, *, name: object = None, context: Context | None = None
    ) -> asyncio.Task[Any]:
        self._count += 1
        if context is None:
            context = copy_context()
        task = asyncio.Task(coro, loop=self, name=str(self._count), context=context)
        self._tasks.append((context.get(PROCESS, self._world), ref(task)))
        return task

    def create_future(self) -> asyncio.Future[Any]:
        return asyncio.Future(loop=self)

    def time(self) -> float:
        process = PROCESS.get(self._world)
        return process.start + self.now * process.rate

    def call_soon(  # type: ignore[override]
        self, callback: Callable[..., Any], *args: Any, context: Context | None = None
    ) -> Handle:
        handle = Handle(callback, args, copy_context() if context is None else context)
        self._new.append(handle)
        return handle

    call_soon_threadsafe = call_soon  # type: ignore[assignment]

    def call_later(  # type: ignore[override]
        self, delay: float, callback: Callable[..., Any], *args: Any, context: Context | None = None
    ) -> Handle:
        process = PROCESS.get(self._world)
        handle = Handle(callback, args, copy_context() if context is None else context)
        self._count += 1
        heappush(self._timers, (self.now + delay / process.rate, self._count, handle))
        return handle

    def call_at(  # type: ignore[override]
        self, when: float, callback: Callable[..., Any], *args: Any, context: Context | None = None
    ) -> Handle:
        return self.call_later(when - self.time(), callback, *args, context=context)

    def deliver(self, delay: float, callback: Callable[..., Any], *args: Any) -> None:
        """Call a function that belongs to no process and takes no step, such as a network."""
        self._count += 1
        handle = Handle(callback, args, NOBODY)
        heappush(self._timers, (self.now + delay, self._count, handle))

    def run_in_executor(  # type: ignore[override]
        self, executor: Any, func: Callable[..., Any], *args: Any
    ) -> Any:
        """Call a function in this thread, where other loops use another one."""
        future = self.create_future()
        try:
            future.set_result(func(*args))
        except Exception as error:
            future.set_exception(error)
        return future

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        self.errors.append(context)

    def is_running(self) -> bool:
        return True

    def is_closed(self) -> bool:
        return False

    # ---- step by step ----

    def run_until_complete(self, future: Any) -> Any:
        done = self.create_task(future)
        choose, busy = self.choose, self._busy
        while not done.done():
            if self._new:
                self._make_ready()
            if self._timers and self._timers[0][0] <= self.now:
                self._wake()
                continue
            if not busy:
                self._advance()
                continue
            process = busy[int(choose() * len(busy))] if len(busy) > 1 else busy[0]
            handle = process.ready.popleft()
            if not process.ready:
                busy.remove(process)
            if handle.is_cancelled:
                continue
            self.steps += 1
            if self.steps > MAX_STEPS:
                raise Stuck("there is no end")
            try:
                handle.context.run(handle.callback, *handle.args)
            except Exception as error:
                self.errors.append({"exception": error})
        return done.result()

    def _make_ready(self) -> None:
        """Queue what one step has made ready, in the order of its tasks: sets have no order."""
        new = self._new
        if len(new) > 1:
            new.sort(key=_number)
        for handle in new:
            process = handle.context.get(PROCESS, self._world)
            if process.dead:
                self._buried.append(handle)
                continue
            if not process.ready and not process.halted:
                self._busy.append(process)
            process.ready.append(handle)
        new.clear()

    def _wake(self) -> None:
        """Make the timers ready that are due."""
        while self._timers and self._timers[0][0] <= self.now:
            handle = heappop(self._timers)[2]
            if handle.is_cancelled:
                continue
            # The end of a sleep only makes its task ready, which is not a step.
            if handle.context is NOBODY or handle.callback is _set_result_unless_cancelled:
                handle.callback(*handle.args)
            else:
                self._new.append(handle)
            self._make_ready()

    def _advance(self) -> None:
        """Advance the time to the next timer."""
        timers = self._timers
        while timers and timers[0][2].is_cancelled:
            heappop(timers)
        if not timers:
            raise Stuck("everything waits")
        self.now = max(self.now, timers[0][0])


def _number(handle: Handle) -> int:
    task = getattr(handle.callback, "__self__", None)
    return int(task.get_name()) if isinstance(task, asyncio.Task) else 0


def run(seed: int, main: Callable[[SimulatedLoop], Any]) -> Any:
    """Run `main(loop)` to its end, in simulated time."""
    loop = SimulatedLoop(seed)  # type: ignore[abstract]
    with _alone(loop):
        try:
            return loop.run_until_complete(main(loop))
        finally:
            loop.bury()


@contextmanager
def _alone(loop: SimulatedLoop) -> Iterator[None]:
    """Make a loop the running one of this thread, and let nothing else happen meanwhile."""
    hooks, level = sys.get_asyncgen_hooks(), logging.root.manager.disable
    outer = asyncio._get_running_loop()
    # Garbage collection runs code, so it has to wait for the end.
    gc.disable()
    logging.disable(logging.CRITICAL)  # failures are on purpose
    sys.set_asyncgen_hooks(firstiter=None, finalizer=loop._buried.append)
    asyncio._set_running_loop(loop)
    # The set of all tasks is too slow for thousands of tasks per second.
    everything = asyncio.tasks._all_tasks  # type: ignore[attr-defined]
    everything.add = bool
    try:
        yield
    finally:
        asyncio._set_running_loop(outer)
        sys.set_asyncgen_hooks(*hooks)
        if outer is None:
            del everything.add
            logging.disable(level)
            gc.enable()
