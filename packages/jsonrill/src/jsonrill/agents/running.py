"""`run_tools`: the tools of an answer, run in threads or in the event loop while the rest streams.

`deciding.py` decides which calls run and when; this file runs them, and merges what they
return with what the source sends.
"""

from __future__ import annotations

from collections.abc import (
    AsyncGenerator,
    AsyncIterable,
    AsyncIterator,
    Callable,
    Generator,
    Iterable,
    Iterator,
)
from contextlib import aclosing
from functools import partial
from inspect import isawaitable, iscoroutinefunction
from math import inf
from time import monotonic
from typing import Any, Unpack, overload

from ..answer import Answer
from ..answers import Part, turns
from ..errors import SourceFailed
from ..options import PartOptions, refuse_unknown
from ..providers.finish import Reason
from ..sources import EventReading
from ..streams.driving import END, close_async_source, close_source, drive
from ..toolcalls import ToolCall
from .deciding import Job, ToolRun
from .tools import Tools, When, check_bounds


class _Turn:
    """What `run_tools` tells of the answer, besides its parts."""

    def __init__(self, run: ToolRun) -> None:
        self._run = run

    @property
    def calls(self) -> list[ToolCall]:
        """The calls that are left to your tools; `result` and `result_is_error` are what those
        returned. Calls that the provider runs itself are not among them."""
        return self._run.calls

    @property
    def done(self) -> bool:
        """True if no request follows: no call has a result that the model waits for, nor does it
        pause, or the answer was cut, which `outcome` says."""
        return self._run.cut is not None or not self._run.waits(self.calls)

    @property
    def waiting(self) -> list[ToolCall]:
        """The calls that a person has to approve; see `agent`."""
        return self._run.waiting

    @property
    def text(self) -> str:
        """The text of the answer, without reasoning and calls."""
        return self._run.parts.text

    @property
    def outcome(self) -> Reason | None:
        """How the answer ended: complete, calls, length, filtered, refused, lost or error; None if
        the provider has not ended it."""
        return self._run.parts.outcome

    def messages(self, form: str | None = None) -> list[Any]:
        """The answer and the results, as the next request to this provider sends them.

        `form` is the name of another provider, for a request to that one. Calls without a result
        (they were cut off) are left out.
        """
        parts = self._run.parts
        return turns.messages(form or parts.reader.provider, parts.entries)


class ToolParts(_Turn, Iterator[Part]):
    """The parts of an answer and the results of its tools."""

    def __init__(self, run: ToolRun, parts: Generator[Part], source: Any) -> None:
        super().__init__(run)
        self._parts = parts
        # What a generator that was not begun does not close.
        self._unread = source

    def __next__(self) -> Part:
        self._unread = None
        return next(self._parts)

    def close(self) -> None:
        """Close the source; tools that run are not waited for."""
        self._parts.close()
        close_source(self._unread)


class AsyncToolParts(_Turn, AsyncIterator[Part]):
    """The parts of an answer and the results of its tools."""

    def __init__(self, run: ToolRun, parts: AsyncGenerator[Part], source: Any) -> None:
        super().__init__(run)
        self._parts = parts
        self._unread = source

    async def __anext__(self) -> Part:
        self._unread = None
        return await anext(self._parts)

    async def aclose(self) -> None:
        """Close the source and cancel the tools that run."""
        await self._parts.aclose()
        await close_async_source(self._unread)


@overload
def run_tools(
    source: AsyncIterable[Any],
    tools: Tools,
    *,
    when: When = "args",
    concurrency: int = 8,
    timeout: float | None = None,
    choice: int = 0,
    answer: Answer | None = None,
    **options: Unpack[PartOptions],
) -> AsyncToolParts: ...
@overload
def run_tools(
    source: Iterable[Any],
    tools: Tools,
    *,
    when: When = "args",
    concurrency: int = 8,
    timeout: float | None = None,
    choice: int = 0,
    answer: Answer | None = None,
    **options: Unpack[PartOptions],
) -> ToolParts: ...
def run_tools(
    source: Any,
    tools: Tools,
    *,
    when: When = "args",
    concurrency: int = 8,
    timeout: float | None = None,
    choice: int = 0,
    answer: Answer | None = None,
    **options: Unpack[PartOptions],
) -> Any:
    """Yield the parts of an answer, and run its tools while the rest still streams.

    A tool starts as soon as its arguments are complete and fit its signature, or the schema in
    `schemas` (with `when="call"`: once the provider has closed the call). A call that is cut off,
    broken or misfits never runs. Results come as parts of the kind `result`, whose `error` says
    what went wrong. At most `concurrency` tools run at once, each for `timeout` seconds.

    A function that is not async runs in a thread. Leaving the loop cancels the tools that run (a
    thread cannot be cancelled, its result is dropped). A sync source yields a result with the next
    event after it is there. Afterwards `messages()` is the turn for the next request.
    """
    refuse_unknown(options, ["answer", *PartOptions.__annotations__], "unknown option")
    check_bounds(concurrency, timeout)
    run = ToolRun(tools, when=when, concurrency=concurrency, choice=choice, **options)
    run.parts.tell(answer)
    events = events_of(source, options)
    if isinstance(events, AsyncGenerator):
        return AsyncToolParts(run, run_async(run, events, timeout), source)
    return ToolParts(run, run_sync(run, events, timeout), source)


def events_of(source: Any, options: PartOptions) -> Any:
    """The events of a source, as a generator, sync or async."""
    split = bool(options.get("split"))
    reading = EventReading(options.get("provider", "auto"), split=split)
    return drive(_as_event, source, reading=reading)


def _as_event(event: Any) -> Iterator[Any]:
    if event is not END:
        yield event


def run_sync(
    run: ToolRun, events: Iterator[Any], timeout: float | None, *, announce: bool = False
) -> Generator[Part]:
    """The parts of an answer and the results of its tools, which run in threads.

    With `announce`, a part says that a tool is started, and it is started when the next part is
    asked for: the caller has logged it then.
    """
    from queue import Empty, SimpleQueue

    ended: SimpleQueue[tuple[Job, Any, str | None]] = SimpleQueue()
    # When it is too late, for what runs.
    due: dict[Job, float] = {}

    def work(job: Job, limit: float | None) -> None:
        ended.put((job, *_ran(job, limit)))

    def results(*, wait: bool) -> Iterator[Part]:
        while True:
            while (job := run.next_job()) is not None:
                if announce:
                    yield run.started(job)
                limit = _limit(job, timeout)
                due[job] = inf if limit is None else monotonic() + limit
                _in_thread(partial(work, job, limit))
            if not due:
                return
            first = min(due.values())
            try:
                left = None if first == inf else max(first - monotonic(), 0)
                job, result, error = ended.get(wait, left)
            except Empty:
                overdue = [job for job, time in due.items() if time <= monotonic()]
                if not (wait or overdue):
                    return
                for job in overdue:
                    del due[job]
                    yield from run.finish(job, error=_late(_limit(job, timeout)))
                continue
            if due.pop(job, None) is not None:
                yield from run.finish(job, result, error)

    failure: Exception | None = None
    try:
        while True:
            try:
                event = next(events, END)
            except Exception as error:
                event, failure = END, error
            yield from run.flush() if event is END else run.feed(event)
            yield from results(wait=event is END)
            if event is END:
                break
    finally:
        run.cancel()
        events.close()  # type: ignore[attr-defined]  # a generator
    _raise(failure, run)


async def run_async(
    run: ToolRun, source: AsyncGenerator[Any], timeout: float | None, *, announce: bool = False
) -> AsyncGenerator[Part]:
    """The same in the event loop."""
    from asyncio import Event, Queue, Task, create_task, gather

    # What has happened: functions that return the parts it makes.
    news: Queue[Callable[[], list[Part]]] = Queue()
    wanted = Event()
    failure: Exception | None = None
    is_open = True
    tasks: set[Task[None]] = set()

    async def read() -> None:
        # One task reads the source from its first event to its closing, as in `streams.py`.
        nonlocal failure
        try:
            async with aclosing(source) as events:
                async for event in events:
                    news.put_nowait(partial(run.feed, event))
                    await wanted.wait()
                    wanted.clear()
        except Exception as error:
            failure = error
        news.put_nowait(end)

    def end() -> list[Part]:
        nonlocal is_open
        is_open = False
        return run.flush()

    async def work(job: Job) -> None:
        result, error = await _ran_async(job, _limit(job, timeout))
        news.put_nowait(partial(run.finish, job, result, error))

    def start(job: Job) -> None:
        tasks.add(task := create_task(work(job)))
        task.add_done_callback(tasks.discard)

    tasks.add(create_task(read()))
    try:
        while is_open or run.running:
            parts = (await news.get())()
            while not announce and (job := run.next_job()) is not None:
                start(job)
            for part in parts:
                yield part
            while announce and (job := run.next_job()) is not None:
                yield run.started(job)
                start(job)
            wanted.set()
    finally:
        run.cancel()
        for task in tasks:
            task.cancel()
        await gather(*tasks, return_exceptions=True)
    _raise(failure, run)


def _limit(job: Job, timeout: float | None) -> float | None:
    """The seconds that a tool may take: its own rule wins."""
    return timeout if job.tool.timeout is None else job.tool.timeout


def _raise(failure: Exception | None, run: ToolRun) -> None:
    """Raise what the source raised, or the error that the provider reported."""
    if failure is not None:
        raise failure
    if run.parts.error is not None:
        raise SourceFailed(run.parts.error)


# A tool's result, and the error text if it failed.
Ran = tuple[Any, str | None]


def _in_thread(work: Callable[[], object]) -> None:
    """Run this in a thread of its own, which does not keep the program from ending."""
    from contextvars import copy_context
    from threading import Thread

    Thread(target=copy_context().run, args=(work,), daemon=True, name="jsonrill tool").start()


def _ran(job: Job, timeout: float | None) -> Ran:
    """Run a tool in this thread; an async one gets an event loop of its own."""
    import asyncio

    async def waited(result: Any) -> Ran:
        return await _waited(result, timeout)

    try:
        result = job.tool.function(*job.positional, **job.named)
        return asyncio.run(waited(result)) if isawaitable(result) else (result, None)
    except BaseException as error:  # `sys.exit` in a thread ends nothing but the thread
        return None, _described(error)


async def _ran_async(job: Job, timeout: float | None) -> Ran:
    """Run a tool in this event loop; one that is not async gets a thread of its own."""
    from asyncio import CancelledError, current_task

    function = job.tool.function
    try:
        if is_async(function):
            return await _waited(function(*job.positional, **job.named), timeout)
        result, error = await _waited_thread(job, timeout)
        return await _waited(result, timeout) if isawaitable(result) else (result, error)
    except CancelledError as error:
        task = current_task()
        if task is not None and task.cancelling():
            raise
        return None, _described(error)  # the tool has cancelled itself, or something in it
    except Exception as error:
        return None, _described(error)


def _late(timeout: float | None) -> str:
    """The error text of a tool that took too long."""
    return f"the tool has not returned within {timeout:g} seconds"


def _described(error: BaseException) -> str:
    """The error text of an exception: its type and what it says."""
    message = str(error)
    return f"{type(error).__name__}: {message}" if message else type(error).__name__


async def _waited(result: Any, timeout: float | None) -> Ran:
    import asyncio

    try:
        async with asyncio.timeout(timeout) as limit:
            return await result, None
    except TimeoutError as error:
        return None, _late(timeout) if limit.expired() else _described(error)


async def _waited_thread(job: Job, timeout: float | None) -> Ran:
    import asyncio

    loop = asyncio.get_running_loop()
    future: asyncio.Future[Ran] = loop.create_future()

    def deliver(outcome: Ran) -> None:
        if not future.done():
            future.set_result(outcome)

    def work() -> None:
        try:
            outcome: Ran = job.tool.function(*job.positional, **job.named), None
        except BaseException as error:  # `sys.exit` in a thread ends nothing but the thread
            outcome = None, _described(error)
        try:
            loop.call_soon_threadsafe(deliver, outcome)
        except RuntimeError:  # the loop has been closed, so the result is dropped
            pass

    _in_thread(work)
    try:
        async with asyncio.timeout(timeout):
            return await future
    except TimeoutError:
        return None, _late(timeout)


def is_async(function: Any) -> bool:
    """True if calling this function gives a coroutine."""
    while hasattr(function, "func"):  # functools.partial
        function = function.func
    return iscoroutinefunction(function) or iscoroutinefunction(type(function).__call__)
