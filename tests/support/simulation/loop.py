"""An event loop without a clock or a socket: time is a number, and a seed says who goes next.

A task belongs to a process of the simulation, by a context variable that tasks inherit. A process
can be killed between any two of its awaits (nothing of it ever runs again, not even `finally`), and
halted for a while (what it should do meanwhile is done later).
"""

from __future__ import annotations

import asyncio
import heapq
import logging
import random
import sys
from collections.abc import Callable
from contextlib import suppress
from contextvars import Context, ContextVar
from typing import Any, Final
from weakref import WeakKeyDictionary, WeakSet

PROCESS: Final[ContextVar[str]] = ContextVar("PROCESS", default="")
# Steps after which a schedule goes round in circles.
MOST_STEPS: Final = 400_000


class Stuck(Exception):
    """Nothing can happen any more, or things happen without an end."""


class SimulatedLoop(asyncio.BaseEventLoop):
    """Runs one callback at a time; of those that are ready, the seed chooses one."""

    # What the base class keeps: callbacks that are ready, and a heap of those that have a time.
    _ready: Any
    _scheduled: list[asyncio.TimerHandle]

    def __init__(self, seed: int) -> None:
        super().__init__()
        self.choices = random.Random(seed)
        self.now = 1000.0
        self.steps = 0
        # How much faster than the world the clock of a process is.
        self.rates: dict[str, float] = {}
        self._tasks: dict[str, WeakSet[asyncio.Task[Any]]] = {}
        # The step in which a callback was made ready.
        self._since: WeakKeyDictionary[asyncio.Handle, int] = WeakKeyDictionary()
        self._dead: set[str] = set()
        self._halted: dict[str, list[asyncio.Handle]] = {}
        # Kept until the end: what is collected would run its `finally`.
        self._buried: list[Any] = []
        self.errors: list[dict[str, Any]] = []
        self.set_exception_handler(lambda _, context: self.errors.append(context))

    # ---- processes ----

    def kill(self, process: str) -> None:
        self._dead.add(process)
        self._buried += self._halted.pop(process, ())
        for task in self.tasks_of(process):
            task._log_destroy_pending = False  # type: ignore[attr-defined]
            self._buried.append(task)

    def halt(self, process: str) -> None:
        self._halted.setdefault(process, [])

    def resume(self, process: str) -> None:
        for handle in self._halted.pop(process, ()):
            self._ready.append(handle)

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
        task = super().create_task(coro, name=name, context=context)
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
        handle = super().call_soon(callback, *args, context=context)
        self._since[handle] = self.steps
        return handle

    def call_at(  # type: ignore[override]
        self, when: float, callback: Callable[..., Any], *args: Any, context: Context | None = None
    ) -> asyncio.TimerHandle:
        return super().call_at(when / self._rate(), callback, *args, context=context)

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

    def _run_once(self) -> None:
        while True:
            self._due()
            if (handle := self._chosen()) is not None:
                break
            if self._ready:
                continue  # all of them were put aside
            if not self._scheduled:
                raise Stuck("everything waits")
            self.now = max(self.now, self._scheduled[0].when())
        self.steps += 1
        if self.steps > MOST_STEPS:
            raise Stuck("there is no end")
        handle._run()

    def _due(self) -> None:
        """Make ready what has a time that has come."""
        while self._scheduled and (
            self._scheduled[0].cancelled() or self._scheduled[0].when() <= self.now
        ):
            timer = heapq.heappop(self._scheduled)
            timer._scheduled = False  # type: ignore[attr-defined]
            if not timer.cancelled():
                self._ready.append(timer)

    def _chosen(self) -> asyncio.Handle | None:
        """Take one that is ready: of a process that lives and is not halted."""
        handles: list[asyncio.Handle] = []
        for handle in self._ready:
            process = handle._context.get(PROCESS, "")  # type: ignore[attr-defined]
            if process in self._dead:
                self._buried.append(handle)
            elif process in self._halted:
                self._halted[process].append(handle)
            elif not handle.cancelled():
                handles.append(handle)
        self._ready.clear()
        if not handles:
            return None
        # asyncio runs what is ready in order, and code may rely on that within a process. The
        # processes do not wait for each other.
        processes = sorted({_process(handle) for handle in handles})
        process = processes[self.choices.randrange(len(processes))]
        first = min((it for it in handles if _process(it) == process), key=self._order)
        handles.remove(first)
        self._ready.extend(handles)
        return first

    def _order(self, handle: asyncio.Handle) -> tuple[int, int]:
        """In order of time. What one step has made ready comes in the order of its tasks: sets,
        of which it may have taken them, have another order each time."""
        task = getattr(handle._callback, "__self__", None)  # type: ignore[attr-defined]
        number = int(task.get_name()[5:]) if isinstance(task, asyncio.Task) else 0
        return self._since.get(handle, self.steps), number


def _process(handle: asyncio.Handle) -> str:
    return handle._context.get(PROCESS, "")  # type: ignore[attr-defined,no-any-return]


def run(seed: int, main: Callable[[SimulatedLoop], Any]) -> Any:
    """Run `main(loop)` to its end, in simulated time."""
    loop = SimulatedLoop(seed)
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
