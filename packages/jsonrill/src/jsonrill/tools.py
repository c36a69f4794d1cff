"""`run_tools`: run the tools that an answer calls while the rest of the answer still streams.

A call starts once its arguments are complete and valid (`when="args"`), or once its provider has
closed it (`when="call"`). A call that is cut off, broken or violates its schema never starts.
Arguments that are exactly `{}` may be a placeholder with the real ones still to come: such a call
starts when another part begins or the provider closes it.
"""

from __future__ import annotations

import inspect
from collections.abc import (
    AsyncGenerator,
    AsyncIterable,
    AsyncIterator,
    Callable,
    Generator,
    Iterable,
    Iterator,
    Mapping,
)
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial
from math import inf
from time import monotonic
from types import SimpleNamespace
from typing import (
    TYPE_CHECKING,
    Any,
    Final,
    Literal,
    NotRequired,
    Required,
    Unpack,
    get_type_hints,
    overload,
)

from .answer import Answer
from .answers import Part, Parts, turns
from .errors import CutShort, SourceFailed
from .options import PartOptions, refuse_unknown
from .providers.finish import Reason
from .sources import EventReading
from .streams.driving import END, close_async_source, close_source, drive
from .toolcalls import ToolCall
from .toolcalls.lifecycle import LiveCall

if TYPE_CHECKING:
    from .schema import Schema

When = Literal["args", "call"]
Function = Callable[..., Any]
Tools = Mapping[str, Function] | Iterable[Function]
# A tool's result, and the error message if it failed.
Outcome = tuple[Any, str | None]

# How many characters of broken arguments the error quotes to the model.
_QUOTED: Final = 500


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

    `tools` are functions, by name or in a list. A tool starts as soon as its arguments are complete
    and fit its signature, or the schema in `schemas` (with `when="call"`: once the provider has
    closed the call). A call that is cut off, broken or does not fit never runs. Results come as
    parts of the kind `result`, whose `error` says what went wrong. At most `concurrency` tools run
    at once, each for `timeout` seconds. Types in signatures are checked if pydantic is installed.

    A function that is not async runs in a thread. Leaving the loop cancels the tools that run (a
    thread cannot be cancelled, its result is dropped). A sync source yields a result with the next
    event after it is there. Afterwards `messages()` is the turn for the next request.
    """
    refuse_unknown(options, ["answer", *PartOptions.__annotations__], "unknown option")
    if timeout is not None and not timeout > 0:
        raise ValueError(f"timeout is a number of seconds above 0, not {timeout!r}")
    run = ToolRun(tools, when=when, concurrency=concurrency, choice=choice, **options)
    run.parts.tell(answer)
    events = drive(_pass_on, source, reading=EventReading(options.get("provider", "auto")))
    if isinstance(events, AsyncGenerator):
        return AsyncToolParts(run, _run_async(run, events, timeout), source)
    return ToolParts(run, _run_sync(run, events, timeout), source)


def _pass_on(event: Any) -> Iterator[Any]:
    if event is not END:
        yield event


class _Turn:
    """The answer, its calls, and the messages for the next request."""

    def __init__(self, run: ToolRun) -> None:
        self._run = run

    @property
    def calls(self) -> list[ToolCall]:
        """The calls of your tools with their `result` and `result_is_error`; not those that the
        provider runs itself."""
        return [call for call in self._run.parts.calls if not call.hosted]

    @property
    def done(self) -> bool:
        """True if no request follows: no call has a result, or the answer was cut (`outcome`)."""
        waits = self._run.parts.paused or any(call.answered for call in self.calls)
        return self._run.cut is not None or not waits

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
        """Return the answer and the results as the next request to this provider sends them.

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
        # A generator that has not started does not close its source.
        self._unread = source

    def __next__(self) -> Part:
        self._unread = None
        return next(self._parts)

    def close(self) -> None:
        """Close the source; do not wait for tools that run."""
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


# ---- which calls run ----


@dataclass(slots=True, eq=False)
class Job:
    """A function to run with these arguments."""

    call: LiveCall
    function: Function
    positional: list[Any]
    named: dict[str, Any]
    # True: the provider took the call back after it was started.
    revoked: bool = False

    def __call__(self) -> Any:
        return self.function(*self.positional, **self.named)


class ToolRun:
    """Decides which calls run, and when. It has no threads and no event loop.

    Feed it events, start the jobs that `next_job` returns, and `finish` each.
    """

    def __init__(
        self,
        tools: Tools,
        *,
        when: When = "args",
        concurrency: int = 8,
        choice: int = 0,
        **options: Unpack[PartOptions],
    ) -> None:
        if when not in ("args", "call"):
            raise ValueError(f'when is "args" or "call", not {when!r}')
        if type(concurrency) is not int or concurrency < 1:
            raise ValueError(f"concurrency is a whole number from 1 up, not {concurrency!r}")
        self._signatures = {name: _Signature(name, it) for name, it in _by_name(tools).items()}
        schemas = dict(options.get("schemas") or {})
        for name, signature in self._signatures.items():
            if name not in schemas and (schema := signature.schema()) is not None:
                schemas[name] = schema
        self._when = when
        self._concurrency = concurrency
        options["schemas"] = schemas
        self.parts = Parts(choice=choice, **options)
        self.parts.asks_again()
        # Calls that were started (with their job) or answered, by number.
        self._handled: dict[int, Job | None] = {}
        # Calls whose arguments are `{}`, with the index of their part.
        self._empty: dict[int, tuple[LiveCall, int]] = {}
        # How the answer was cut, once it has ended.
        self.cut: CutShort | None = None
        self.jobs: list[Job] = []
        self.running: set[Job] = set()

    def feed(self, event: Any) -> list[Part]:
        """Return the parts that an event changes."""
        return self._watch(self.parts.feed(event))

    def flush(self) -> list[Part]:
        """Return the parts at the end of the stream."""
        parts = self._watch(self.parts.flush())
        self.cut = self.parts.cut
        for call in self.parts.calls:
            if call.status == "error" and not call.hosted and isinstance(call, LiveCall):
                parts += self._refuse(call, _problem(call))
        return parts

    def next_job(self) -> Job | None:
        """Return the next job to start, unless `concurrency` jobs run; it counts as running."""
        if not self.jobs or len(self.running) >= self._concurrency:
            return None
        job = self.jobs.pop(0)
        self.running.add(job)
        return job

    def finish(self, job: Job, result: Any = None, error: str | None = None) -> list[Part]:
        """Return the part of a job's result; a result that JSON cannot carry is an error."""
        self.running.discard(job)
        if job.revoked:
            return []
        if error is None:
            try:
                result = turns.sendable(result)
            except Exception as failed:  # whatever the object's own methods raise
                error = (
                    f"the tool returned what JSON cannot carry ({type(result).__name__}): {failed}"
                )
        return self.parts.answer(job.call, result, error=error)

    def _watch(self, parts: list[Part]) -> list[Part]:
        """Return these parts, and the results of calls that are refused."""
        shown: list[Part] = []
        for part in parts:
            shown.append(part)
            for number, (call, index) in [*self._empty.items()]:
                if part.index > index:
                    del self._empty[number]
                    if call.complete_args and call.live == {}:
                        shown += self._start(call)
            if part.kind == "call" and isinstance(part.call, LiveCall) and not part.call.hosted:
                shown += self._change(part.call, part)
        return shown

    def _change(self, call: LiveCall, part: Part) -> list[Part]:
        if call.number in self._handled:
            return self._revoke(call) if call.status in ("error", "truncated") else []
        if call.status == "error":
            return self._refuse(call, _problem(call))
        closed = call.status == "complete"
        if not closed:
            early = part.complete and self._when == "args"
            # The provider may still say that it runs a call whose name is unknown.
            if not early or call.name not in self._signatures:
                return []
            if call.live == {}:
                self._empty[call.number] = call, part.index
                return []
        return self._start(call) if call.name is not None else []

    def _start(self, call: LiveCall) -> list[Part]:
        """Make a job of a call; if its arguments do not fit, its result is the error."""
        self._empty.pop(call.number, None)
        if call.number in self._handled:
            return []
        signature = self._signatures.get(call.name or "")
        if signature is None:
            known = ", ".join(self._signatures) or "none"
            return self._refuse(call, f"there is no tool named {call.name!r}; there are: {known}")
        try:
            positional, named = signature.arguments(call)
        except TypeError as error:
            return self._refuse(call, str(error))
        job = self._handled[call.number] = Job(call, signature.function, positional, named)
        self.jobs.append(job)
        return []

    def _refuse(self, call: LiveCall, error: str) -> list[Part]:
        """Return the error result of a call that does not run, once its arguments have ended.

        A call without a name cannot be sent back, so it has no result.
        """
        self._empty.pop(call.number, None)
        unfinished = call.open and not call.args_ended
        if call.number in self._handled or call.name is None or unfinished:
            return []
        self._handled[call.number] = None
        if not call.args_ended and call.raw:
            error = f"{error}; the arguments were: {call.raw[:_QUOTED]}"
        return self.parts.answer(call, error=error)

    def _revoke(self, call: LiveCall) -> list[Part]:
        """Return the error result of a call that went wrong after it was started."""
        job = self._handled[call.number]
        if job is None or job.revoked:
            return []
        job.revoked = True
        why = call.error["message"] if call.error else "it was cut off"
        return self.parts.answer(call, error=f"the call was started, and then went wrong: {why}")


def _problem(call: LiveCall) -> str:
    return call.error["message"] if call.error else "it is not valid"


def _by_name(tools: Tools) -> dict[str, Function]:
    if not isinstance(tools, Mapping):
        tools = {getattr(tool, "__name__", repr(tool)): tool for tool in tools}
    for name, function in tools.items():
        if not callable(function):
            raise TypeError(f"the tool {name!r} is a function, not {function!r}")
    return dict(tools)


class _Signature:
    """The parameters of a tool: how the arguments of a call are checked and passed."""

    def __init__(self, name: str, function: Function) -> None:
        self.name = name
        self.function = function
        try:
            self._signature = inspect.signature(function)
        except (TypeError, ValueError):  # some built-in functions have none
            self._signature = inspect.signature(lambda **named: None)
        kinds = inspect.Parameter
        every = self._signature.parameters.values()
        self._has_more = any(it.kind is kinds.VAR_KEYWORD for it in every)
        variadic = (kinds.VAR_POSITIONAL, kinds.VAR_KEYWORD)
        self._parameters = [it for it in every if it.kind not in variadic]

    def schema(self) -> Schema | None:
        """Return what validates the arguments while they come; None without pydantic."""
        try:
            from pydantic import ConfigDict, PydanticSchemaGenerationError
            from typing_extensions import TypedDict
        except ImportError:
            return None
        from .schema import Schema

        hints = self._hints()
        fields: dict[str, Any] = {}
        for it in self._parameters:
            hint = hints.get(it.name, Any)
            fields[it.name] = Required[hint] if it.default is it.empty else NotRequired[hint]
        make: Any = TypedDict  # type checkers accept only literal fields
        arguments = make("Arguments", fields)
        arguments.__pydantic_config__ = ConfigDict(extra="allow" if self._has_more else "forbid")
        try:
            return Schema(arguments)
        except (PydanticSchemaGenerationError, TypeError, ValueError) as error:
            raise TypeError(
                f"a parameter of the tool {self.name!r} has a type that JSON cannot give: {error}"
            ) from error

    def arguments(self, call: ToolCall) -> tuple[list[Any], dict[str, Any]]:
        """Return the arguments of a call; `TypeError` if they do not fit the signature."""
        if call.encoding == "text":
            return [call.raw], {}
        received: Any = call.args if call.model is None else call.model
        if hasattr(received, "model_fields_set"):
            received = {name: getattr(received, name) for name in received.model_fields_set}
        if not isinstance(received, Mapping):
            raise TypeError("the arguments are not an object")
        named = dict(received)
        own = [it for it in self._parameters if it.kind is it.POSITIONAL_ONLY]
        # Defaults before the last positional argument have to be passed, too.
        count = max((at for at, it in enumerate(own, 1) if it.name in named), default=0)
        positional = [named.pop(it.name, it.default) for it in own[:count]]
        self._signature.bind(*positional, **named)
        return positional, named

    def _hints(self) -> dict[str, Any]:
        function: Any = self.function
        while isinstance(function, partial):
            function = function.func
        if isinstance(function, type):
            function = function.__init__  # type: ignore[misc]  # a class is called as its __init__
        elif not inspect.isroutine(function):
            function = type(function).__call__
        function = inspect.unwrap(function)
        every = getattr(function, "__annotations__", {})
        names = [it.name for it in self._parameters if it.name in every]
        own = SimpleNamespace(__annotations__={name: every[name] for name in names})
        try:
            return get_type_hints(own, getattr(function, "__globals__", None), include_extras=True)
        except Exception as error:  # evaluating annotations may raise anything
            raise TypeError(
                f"the annotations of the tool {self.name!r} cannot be read: {error}"
            ) from error


# ---- running them ----


def _run_sync(run: ToolRun, events: Iterator[Any], timeout: float | None) -> Generator[Part]:
    """Yield the parts of an answer and the results of its tools, which run in threads."""
    from queue import Empty, SimpleQueue

    ended: SimpleQueue[tuple[Job, Any, str | None]] = SimpleQueue()
    deadlines: dict[Job, float] = {}

    def work(job: Job) -> None:
        ended.put((job, *_call(job, timeout)))

    def results(*, wait: bool) -> Iterator[Part]:
        while True:
            while (job := run.next_job()) is not None:
                deadlines[job] = inf if timeout is None else monotonic() + timeout
                _in_thread(partial(work, job))
            if not deadlines:
                return
            first = min(deadlines.values())
            try:
                left = None if first == inf else max(first - monotonic(), 0)
                job, result, error = ended.get(wait, left)
            except Empty:
                late = [job for job, time in deadlines.items() if time <= monotonic()]
                if not (wait or late):
                    return
                for job in late:
                    del deadlines[job]
                    yield from run.finish(job, error=_too_late(timeout))
                continue
            if deadlines.pop(job, None) is not None:
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
        events.close()  # type: ignore[attr-defined]  # a generator
    _raise(failure, run)


async def _run_async(
    run: ToolRun, source: AsyncGenerator[Any], timeout: float | None
) -> AsyncGenerator[Part]:
    """Yield the same in an event loop, where async tools are tasks."""
    from asyncio import Event, Queue, Task, create_task, gather

    # Functions that return the next parts.
    queue: Queue[Callable[[], list[Part]]] = Queue()
    wanted = Event()
    failure: Exception | None = None
    is_open = True
    tasks: set[Task[None]] = set()

    async def read() -> None:
        # One task reads the source from its first event to its closing.
        nonlocal failure
        try:
            async with aclosing(source) as events:
                async for event in events:
                    queue.put_nowait(partial(run.feed, event))
                    await wanted.wait()
                    wanted.clear()
        except Exception as error:
            failure = error
        queue.put_nowait(end)

    def end() -> list[Part]:
        nonlocal is_open
        is_open = False
        return run.flush()

    async def work(job: Job) -> None:
        result, error = await _call_async(job, timeout)
        queue.put_nowait(partial(run.finish, job, result, error))

    tasks.add(create_task(read()))
    try:
        while is_open or run.running:
            parts = (await queue.get())()
            while (job := run.next_job()) is not None:
                tasks.add(task := create_task(work(job)))
                task.add_done_callback(tasks.discard)
            for part in parts:
                yield part
            wanted.set()
    finally:
        for task in tasks:
            task.cancel()
        await gather(*tasks, return_exceptions=True)
    _raise(failure, run)


def _raise(failure: Exception | None, run: ToolRun) -> None:
    """Raise what the source raised, or the error that the provider reported."""
    if failure is not None:
        raise failure
    if run.parts.error is not None:
        raise SourceFailed(run.parts.error)


def _in_thread(work: Callable[[], object]) -> None:
    """Run this in a daemon thread, which does not keep the program from ending."""
    from contextvars import copy_context
    from threading import Thread

    Thread(target=copy_context().run, args=(work,), daemon=True, name="jsonrill tool").start()


def _call(job: Job, timeout: float | None) -> Outcome:
    """Run a tool in this thread; an async one gets an event loop of its own."""
    import asyncio

    async def wait(result: Any) -> Outcome:
        return await _wait(result, timeout)

    try:
        result = job()
        return asyncio.run(wait(result)) if inspect.isawaitable(result) else (result, None)
    except BaseException as error:  # `sys.exit` in a thread ends nothing but the thread
        return None, _message(error)


async def _call_async(job: Job, timeout: float | None) -> Outcome:
    """Run a tool in this event loop; one that is not async gets a thread of its own."""
    from asyncio import CancelledError, current_task

    try:
        if _is_async(job.function):
            return await _wait(job(), timeout)
        return await _wait_for_thread(job, timeout)
    except CancelledError as error:
        task = current_task()
        if task is not None and task.cancelling():
            raise
        return None, _message(error)  # the tool cancelled itself, or something in it
    except Exception as error:
        return None, _message(error)


async def _wait(result: Any, timeout: float | None) -> Outcome:
    import asyncio

    try:
        async with asyncio.timeout(timeout) as limit:
            return await result, None
    except TimeoutError as error:
        return None, _too_late(timeout) if limit.expired() else _message(error)


async def _wait_for_thread(job: Job, timeout: float | None) -> Outcome:
    import asyncio

    loop = asyncio.get_running_loop()
    future: asyncio.Future[Outcome] = loop.create_future()

    def deliver(outcome: Outcome) -> None:
        if not future.done():
            future.set_result(outcome)

    def work() -> None:
        outcome = _call(job, timeout)
        try:
            loop.call_soon_threadsafe(deliver, outcome)
        except RuntimeError:  # the loop has been closed, so the result is dropped
            pass

    _in_thread(work)
    try:
        async with asyncio.timeout(timeout):
            return await future
    except TimeoutError:
        return None, _too_late(timeout)


def _too_late(timeout: float | None) -> str:
    return f"the tool has not returned within {timeout:g} seconds"


def _message(error: BaseException) -> str:
    message = str(error)
    return f"{type(error).__name__}: {message}" if message else type(error).__name__


def _is_async(function: Any) -> bool:
    """Return whether calling this function gives a coroutine."""
    while isinstance(function, partial):
        function = function.func
    is_coroutine = inspect.iscoroutinefunction
    return is_coroutine(function) or is_coroutine(type(function).__call__)
