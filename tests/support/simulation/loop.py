"""An event loop without a clock or a socket: time is a number, and a seed says who goes next.

A task belongs to a process of the simulation, by a context variable that tasks inherit. A process
can be killed between any two of its awaits (nothing of it ever runs again, not even `finally`), and
halted for a while (what it should do meanwhile is done later).
"""

from __future__ import annotations

import asyncio
import gc
import heapq
import logging
import random
import sys
from asyncio.futures import _set_result_unless_cancelled  # type: ignore[attr-defined]
from collections.abc import Callable
from contextlib import suppress
from contextvars import Context, ContextVar
from typing import Any, Final
from weakref import WeakSet

PROCESS: Final[ContextVar[str]] = ContextVar("PROCESS", default="")
# Steps after which a schedule goes round in circles.
MOST_STEPS: Final = 400_000


class Stuck(Exception):
    """Nothing can happen any more, or things happen without an end."""


class SimulatedLoop(asyncio.BaseEventLoop):
    """Runs one callback at a time: the seed chooses a process, which goes on where it was.

    asyncio runs what is ready in order, and code may rely on that within a process. The processes
    do not wait for each other.
    """

    def __init__(self, seed: int) -> None:
        super().__init__()
        self.choices = random.Random(seed)
        self.now = 1000.0
        self.steps = 0
        # How much faster than the world the clock of a process is.
        self.rates: dict[str, float] = {}
        self._tasks: dict[str, WeakSet[asyncio.Task[Any]]] = {}
        # Of each process: a heap of what is ready; and a heap of what has a time.
        self._queues: dict[str, list[tuple[int, int, int, asyncio.Handle]]] = {}
        self._timers: list[tuple[float, int, asyncio.TimerHandle]] = []
        self._count = 0
        self._dead: set[str] = set()
        self._halted: set[str] = set()
        # Kept until the end: what is collected would run its `finally`.
        self._buried: list[Any] = []
        self.errors: list[dict[str, Any]] = []
        self.set_exception_handler(lambda _, context: self.errors.append(context))

    # ---- processes ----

    def kill(self, process: str) -> None:
        self._dead.add(process)
        self._buried.append(self._queues.pop(process, None))
        for task in self.tasks_of(process):
            task._log_destroy_pending = False  # type: ignore[attr-defined]
            self._buried.append(task)

    def halt(self, process: str) -> None:
        self._halted.add(process)

    def resume(self, process: str) -> None:
        self._halted.discard(process)

    def is_dead(self, process: str) -> bool:
        return process in self._dead

    def tasks_of(self, process: str) -> list[asyncio.Task[Any]]:
        """The tasks of a process that have not ended."""
        return [task for task in self._tasks.get(process, ()) if not task.done()]

    def bury(self) -> None:
        """End what never ended, at the end of the simulation and without a word."""
        for process in self._tasks:
            for task in self.tasks_of(process):
                task._log_destroy_pending = False  # type: ignore[attr-defined]
                with suppress(BaseException):
                    task.get_coro().close()  # type: ignore[union-attr]

    # ---- what asyncio asks of a loop ----

    def create_task(
        self, coro: Any, *, name: object = None, context: Context | None = None
    ) -> asyncio.Task[Any]:
        self._count += 1
        task = asyncio.Task(coro, loop=self, name=str(self._count), context=context)
        process = PROCESS.get() if context is None else context.get(PROCESS, "")
        self._tasks.setdefault(process, WeakSet()).add(task)
        return task

    def time(self) -> float:
        return self.now * self._rate()

    def _rate(self) -> float:
        return self.rates.get(PROCESS.get(), 1.0)

    def call_soon(  # type: ignore[override]
        self, callback: Callable[..., Any], *args: Any, context: Context | None = None
    ) -> asyncio.Handle:
        handle = asyncio.Handle(callback, args, self, context)
        self._make_ready(handle)
        return handle

    def call_at(  # type: ignore[override]
        self, when: float, callback: Callable[..., Any], *args: Any, context: Context | None = None
    ) -> asyncio.TimerHandle:
        when /= self._rate()
        timer = asyncio.TimerHandle(when, callback, args, self, context)
        self._count += 1
        heapq.heappush(self._timers, (when, self._count, timer))
        return timer

    def call_soon_threadsafe(  # type: ignore[override]
        self, callback: Callable[..., Any], *args: Any, context: Context | None = None
    ) -> asyncio.Handle:
        return self.call_soon(callback, *args, context=context)

    def run_in_executor(  # type: ignore[override]
        self, executor: Any, func: Callable[..., Any], *args: Any
    ) -> Any:
        """What others do in a thread is done at once; who waits for it learns of it later."""
        future = self.create_future()
        try:
            future.set_result(func(*args))
        except Exception as error:
            future.set_exception(error)
        return future

    def _write_to_self(self) -> None:
        pass

    def _process_events(self, event_list: Any) -> None:
        pass

    def _asyncgen_finalizer_hook(self, agen: Any) -> None:
        self._buried.append(agen)

    def _make_ready(self, handle: asyncio.Handle) -> None:
        """Put a callback behind those of its process: in order of time. What one step has made
        ready comes in the order of its tasks: sets, of which it may have taken them, have another
        order each time."""
        process = handle._context.get(PROCESS, "")  # type: ignore[attr-defined]
        if process in self._dead:
            self._buried.append(handle)
            return
        task = getattr(handle._callback, "__self__", None)  # type: ignore[attr-defined]
        number = int(task.get_name()) if isinstance(task, asyncio.Task) else 0
        self._count += 1
        queue = self._queues.setdefault(process, [])
        heapq.heappush(queue, (self.steps, number, self._count, handle))

    def _run_once(self) -> None:
        while (handle := self._chosen()) is None:
            if not self._timers:
                raise Stuck("everything waits")
            self.now = max(self.now, self._timers[0][0])
        self.steps += 1
        if self.steps > MOST_STEPS:
            raise Stuck("there is no end")
        handle._run()

    def _chosen(self) -> asyncio.Handle | None:
        """Take what is next in a process that lives and is not halted."""
        while self._timers and self._timers[0][0] <= self.now:
            timer = heapq.heappop(self._timers)[2]
            if timer.cancelled():
                continue
            if timer._callback is _set_result_unless_cancelled:  # type: ignore[attr-defined]
                # The end of a sleep only makes its task ready, which takes no step of its own.
                timer._run()
            else:
                self._make_ready(timer)
        while True:
            queues = [
                queue
                for process, queue in self._queues.items()
                if queue and process not in self._halted
            ]
            if not queues:
                return None
            queue = queues[int(self.choices.random() * len(queues))]
            handle = heapq.heappop(queue)[3]
            if not handle.cancelled():
                return handle


def run(seed: int, main: Callable[[SimulatedLoop], Any]) -> Any:
    """Run `main(loop)` to its end, in simulated time."""
    loop = SimulatedLoop(seed)
    # What is collected runs code: at the end, and not whenever there is much of it.
    gc.disable()
    hooks, level = sys.get_asyncgen_hooks(), logging.root.manager.disable
    logging.disable(logging.CRITICAL)  # what fails here fails on purpose
    asyncio.set_event_loop(loop)
    try:
        return loop.run_until_complete(main(loop))
    finally:
        loop.bury()
        logging.disable(level)
        asyncio.set_event_loop(None)
        sys.set_asyncgen_hooks(*hooks)
        loop._closed = True  # type: ignore[attr-defined]
        gc.enable()
