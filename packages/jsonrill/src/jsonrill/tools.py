"""`run_tools`: run the tools that an answer calls while the rest of the answer still streams.

`ToolRun` decides which calls run, and when; it has no threads and no event loop. `_run_sync` and
`_run_async` start its jobs and yield the parts of the answer with the results.
"""

from __future__ import annotations

import inspect
from collections import deque
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Iterator, Mapping
from contextlib import aclosing, closing, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Literal, NotRequired, Required, Unpack, overload

from .answer import Answer
from .answer_parts import Part, Parts
from .driver import AsyncItems, Items, drive
from .errors import SourceFailed, check_names
from .messages import messages, sendable
from .providers.finish import Reason
from .sources.events import EventReader
from .streams import CallOptions
from .toolcalls import ToolCall

if TYPE_CHECKING:
    from concurrent.futures import Future

    from .schema import Schema

Function = Callable[..., Any]
Tools = Mapping[str, Function] | Iterable[Function]
# A tool's result, and the error message if it failed.
Outcome = tuple[Any, str | None]

# How many characters of refused arguments the error quotes to the model.
_QUOTED: Final = 500


class RunOptions(CallOptions, total=False):
    """The options of `run_tools`."""

    when: Literal["args", "call"]
    concurrency: int
    timeout: float | None
    choice: int
    answer: Answer | None


@overload
def run_tools(
    source: AsyncIterable[Any], tools: Tools, **options: Unpack[RunOptions]
) -> AsyncToolParts: ...
@overload
def run_tools(source: Iterable[Any], tools: Tools, **options: Unpack[RunOptions]) -> ToolParts: ...
def run_tools(source: Any, tools: Tools, **options: Any) -> Any:
    """Yield the parts of an answer, and run its tools while the rest still streams.

    `tools` are functions, by name or in a list. A tool starts as soon as its arguments are complete
    and fit its signature, or the schema in `schemas` (with `when="call"`: once the provider has
    ended the call). A call that is cut off, invalid or does not fit never runs: its result is an
    error that quotes the arguments. Results come as parts of the kind `result`. At most
    `concurrency` (8) tools run at once, each for `timeout` seconds. Types in signatures are checked
    if pydantic is installed.

    A function that is not async runs in a thread. Leaving the loop cancels the tools that run (a
    thread cannot be cancelled, its result is dropped). With a sync source, a result is yielded with
    the next event. Afterwards `messages()` is the turn for the next request.
    """
    check_names(options, RunOptions.__annotations__.keys() - {"keep"})
    timeout = options.pop("timeout", None)
    if timeout is not None and not (isinstance(timeout, int | float) and timeout > 0):
        raise ValueError(f"timeout must be a number of seconds above 0, not {timeout!r}")
    reader = EventReader(options.get("provider", "auto"))
    run = ToolRun(tools, reader, **options)
    events = drive(reader, source)
    if isinstance(events, AsyncIterable):
        return AsyncToolParts(run, _run_async(run, events, timeout))
    return ToolParts(run, _run_sync(run, events, timeout))


class _Turn:
    """The answer, its calls, and the messages for the next request."""

    def __init__(self, run: ToolRun, items: Any) -> None:
        self._parts = run.parts
        self._items: Any = items

    @property
    def calls(self) -> list[ToolCall]:
        """The calls of your tools with their results, not those that the provider runs itself."""
        return [call for call in self._parts.calls if not call.hosted]

    @property
    def done(self) -> bool:
        """True if no request follows: no call has a result, or the answer was cut (`outcome`)."""
        waits = self._parts.ending.paused or any(call.answered for call in self.calls)
        return self._parts.cut is not None or not waits

    @property
    def text(self) -> str:
        """The text of the answer, without reasoning and calls."""
        return self._parts.text

    @property
    def outcome(self) -> Reason | None:
        """How the answer ended: complete, calls, length, filtered, refused, lost or error; None if
        the provider has not ended it."""
        return self._parts.outcome

    def messages(self, form: str | None = None) -> list[Any]:
        """Return the answer and the results as the next request to this provider sends them.

        `form` is the name of another provider, for a request to that one.
        """
        return messages(self._parts, form)


class ToolParts(_Turn, Items[Part]):
    """The parts of an answer and the results of its tools; `close` does not wait for tools."""


class AsyncToolParts(_Turn, AsyncItems[Part]):
    """The parts of an answer and the results of its tools; `aclose` cancels the tools that run."""


# ---- which calls run ----


@dataclass(slots=True, eq=False)
class Job:
    """A function to run with the arguments of a call."""

    call: ToolCall
    run: Callable[[], Any]
    # True if the call went wrong after it was started.
    is_revoked: bool = False


class ToolRun:
    """Decides which calls run: feed it events, start the jobs from `due`, and `finish` each."""

    def __init__(
        self,
        tools: Tools,
        reader: EventReader,
        *,
        when: str = "args",
        concurrency: int = 8,
        schemas: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> None:
        if when not in ("args", "call"):
            raise ValueError(f'when must be "args" or "call", not {when!r}')
        if type(concurrency) is not int or concurrency < 1:
            raise ValueError(f"concurrency must be a whole number from 1 up, not {concurrency!r}")
        self._tools = {name: Tool(name, function) for name, function in _by_name(tools).items()}
        types = {name: schema for name, tool in self._tools.items() if (schema := tool.schema())}
        self.parts = Parts(schemas={**types, **(schemas or {})}, asks_again=True, **options)
        self._reader = reader
        self._is_early = when == "args"
        self._concurrency = concurrency
        # The calls that may still change, and the job of each; None if it was refused.
        self._calls: dict[int, ToolCall] = {}
        self._jobs: dict[int, Job | None] = {}
        self._queue: deque[Job] = deque()
        self.running: set[Job] = set()
        self.ended = False

    def feed(self, event: Any) -> list[Part]:
        """Return the parts that an event changes, and the results of calls that are refused."""
        return self._follow(self.parts.feed(event))

    def flush(self) -> list[Part]:
        """Return the parts at the end of the stream."""
        self.ended = True
        return self._follow(self.parts.flush(done=self._reader.said_done))

    def due(self) -> Iterator[Job]:
        """Yield the jobs to start now and count them as running, at most `concurrency` at once."""
        while self._queue and len(self.running) < self._concurrency:
            job = self._queue.popleft()
            self.running.add(job)
            yield job

    def finish(self, job: Job, result: Any, error: str | None) -> list[Part]:
        """Return the part of a job's result. A result that JSON cannot represent is an error."""
        self.running.discard(job)
        if job.is_revoked:
            return []
        if error is None:
            try:
                result = sendable(result)
            except Exception as problem:  # whatever the object's own methods raise
                kind = type(result).__name__
                error = f"the tool returned a value that JSON cannot represent ({kind}): {problem}"
        return self.parts.answer(job.call, result, error=error)

    def _follow(self, parts: list[Part]) -> list[Part]:
        for part in parts:
            if part.kind == "call" and part.call is not None:
                self._calls[part.call.number] = part.call
        for call in [*self._calls.values()]:
            # The provider may say only later that it runs the call itself.
            parts += [] if call.hosted else self._decide(call)
            if call.has_ended:
                del self._calls[call.number]
        return parts

    def _decide(self, call: ToolCall) -> list[Part]:
        """Start a call, or return its error result, or wait."""
        has_failed = call.status in ("error", "truncated")
        if call.number in self._jobs:
            job = self._jobs[call.number]
            if job is None or not has_failed:
                return []
            if job in self._queue:
                self._queue.remove(job)
                return self._refuse(call, _problem(call))
            job.is_revoked = True
            problem = f"the call was started, and then went wrong: {_problem(call)}"
            return self._refuse(call, problem)
        if has_failed:
            # The text of a broken call may still grow. A call without a name cannot be sent back.
            is_growing = call.is_open and not call.has_all_args
            return [] if call.name is None or is_growing else self._refuse(call, _problem(call))
        tool = self._tools.get(call.name or "")
        if call.status == "complete" or (self._is_early and call.complete_args and tool):
            return self._start(call, tool)
        return []

    def _start(self, call: ToolCall, tool: Tool | None) -> list[Part]:
        if tool is None:
            names = ", ".join(self._tools) or "none"
            return self._refuse(call, f"there is no tool named {call.name!r}; there are: {names}")
        try:
            job = Job(call, tool.bind(call))
        except TypeError as error:
            return self._refuse(call, f"{error}; the arguments were: {call.raw[:_QUOTED]}")
        self._jobs[call.number] = job
        self._queue.append(job)
        return []

    def _refuse(self, call: ToolCall, error: str) -> list[Part]:
        self._jobs[call.number] = None
        return self.parts.answer(call, error=error)


def _problem(call: ToolCall) -> str:
    cut = "the call was cut off before its arguments were complete"
    message = cut if call.error is None else call.error["message"]
    return f"{message}; the arguments were: {call.raw[:_QUOTED]}" if call.raw else message


def _by_name(tools: Tools) -> dict[str, Function]:
    if not isinstance(tools, Mapping):
        tools = {getattr(tool, "__name__", repr(tool)): tool for tool in tools}
    for name, function in tools.items():
        if not callable(function):
            raise TypeError(f"the tool {name!r} must be a function, not {function!r}")
    return dict(tools)


class Tool:
    """A function and its signature, to check and pass the arguments of calls."""

    def __init__(self, name: str, function: Function) -> None:
        self.name = name
        self._function = function
        try:
            self._signature = inspect.signature(function, eval_str=True)
        except ValueError:  # some built-in functions have no signature
            self._signature = inspect.signature(lambda **named: None)
        except Exception as error:  # evaluating annotations may raise anything
            problem = f"the signature of the tool {name!r} cannot be read"
            raise TypeError(f"{problem}: {error}") from error

    def schema(self) -> Schema | None:
        """Return a schema that validates arguments while they grow; None without pydantic."""
        try:
            from pydantic import ConfigDict, PydanticSchemaGenerationError
            from typing_extensions import TypedDict
        except ImportError:
            return None
        from .schema import Schema

        fields: dict[str, Any] = {}
        extra: Literal["allow", "forbid"] = "forbid"
        for name, parameter in self._signature.parameters.items():
            if parameter.kind is parameter.VAR_KEYWORD:
                extra = "allow"
            elif parameter.kind is not parameter.VAR_POSITIONAL:
                hint = Any if parameter.annotation is parameter.empty else parameter.annotation
                is_required = parameter.default is parameter.empty
                fields[name] = Required[hint] if is_required else NotRequired[hint]
        make: Any = TypedDict  # type checkers accept only literal fields
        arguments = make("Arguments", fields)
        arguments.__pydantic_config__ = ConfigDict(extra=extra)
        try:
            return Schema(arguments)
        except (PydanticSchemaGenerationError, TypeError, ValueError) as error:
            problem = f"a parameter of the tool {self.name!r} has a type that JSON cannot represent"
            raise TypeError(f"{problem}: {error}") from error

    def bind(self, call: ToolCall) -> Callable[[], Any]:
        """Return the function bound to the call's arguments; `TypeError` if they do not fit."""
        if call.encoding == "text":
            return partial(self._function, call.raw)
        received: Any = call.args if call.model is None else call.model
        if hasattr(received, "model_fields_set"):
            received = {name: getattr(received, name) for name in received.model_fields_set}
        if not isinstance(received, Mapping):
            raise TypeError("the arguments are not an object")
        arguments = dict(received)
        leading = [p for p in self._signature.parameters.values() if p.kind is p.POSITIONAL_ONLY]
        # Defaults before the last positional argument have to be passed, too.
        count = max((n for n, p in enumerate(leading, 1) if p.name in arguments), default=0)
        positional = [arguments.pop(p.name, p.default) for p in leading[:count]]
        self._signature.bind(*positional, **arguments)
        return partial(self._function, *positional, **arguments)


# ---- running the calls ----


def _run_sync(run: ToolRun, source: Any, timeout: float | None) -> Iterator[Part]:
    """Yield the parts and the results; the tools run in an event loop in another thread."""
    from asyncio import run_coroutine_threadsafe
    from concurrent.futures import FIRST_COMPLETED, wait

    running: dict[Future[Outcome], Job] = {}

    def results(*, waits: bool) -> Iterator[Part]:
        while True:
            for job in run.due():
                running[run_coroutine_threadsafe(_outcome(job, timeout), loop)] = job
            wait(running, None if waits else 0, FIRST_COMPLETED)
            finished = [future for future in running if future.done()]
            if not finished:
                return
            for future in finished:
                yield from run.finish(running.pop(future), *future.result())

    failure: Exception | None = None
    with closing(source) as events, _event_loop() as loop:
        try:
            for event in events:
                yield from run.feed(event)
                yield from results(waits=False)
        except Exception as error:
            failure = error
        yield from run.flush()
        yield from results(waits=True)
    _raise(failure, run)


@contextmanager
def _event_loop() -> Iterator[Any]:
    """Run an event loop in a daemon thread; cancel its tasks at the end, without waiting."""
    import asyncio

    def serve() -> None:
        with runner:
            runner.run(closed.wait())

    runner, closed = asyncio.Runner(), asyncio.Event()
    loop = runner.get_loop()
    _start_thread(serve)
    try:
        yield loop
    finally:
        loop.call_soon_threadsafe(closed.set)


async def _run_async(run: ToolRun, source: Any, timeout: float | None) -> AsyncIterator[Part]:
    """Yield the parts and the results; the tools are tasks of this event loop."""
    from asyncio import Event, Queue, Task, create_task, gather

    # Functions that return the next parts.
    queue: Queue[Callable[[], list[Part]]] = Queue()
    is_wanted = Event()
    failure: Exception | None = None
    tasks: set[Task[None]] = set()

    async def read() -> None:
        # One task reads the source from its first event to its closing.
        nonlocal failure
        try:
            async with aclosing(source) as events:
                async for event in events:
                    queue.put_nowait(partial(run.feed, event))
                    await is_wanted.wait()
                    is_wanted.clear()
        except Exception as error:
            failure = error
        queue.put_nowait(run.flush)

    async def work(job: Job) -> None:
        outcome = await _outcome(job, timeout)
        queue.put_nowait(partial(run.finish, job, *outcome))

    tasks.add(create_task(read()))
    try:
        while run.running or not run.ended:
            parts = (await queue.get())()
            for job in run.due():
                tasks.add(task := create_task(work(job)))
                task.add_done_callback(tasks.discard)
            for part in parts:
                yield part
            is_wanted.set()
    finally:
        for task in tasks:
            task.cancel()
        await gather(*tasks, return_exceptions=True)
    _raise(failure, run)


def _raise(failure: Exception | None, run: ToolRun) -> None:
    """Raise the source's exception, or the error that the provider reported."""
    if failure is not None:
        raise failure
    if run.parts.error is not None:
        raise SourceFailed(run.parts.error)


def _start_thread(run: Callable[[], Any]) -> Future[Outcome]:
    """Call a function in a daemon thread, which does not keep the program alive."""
    from concurrent.futures import Future
    from contextvars import copy_context
    from threading import Thread

    future: Future[Outcome] = Future()
    future.set_running_or_notify_cancel()  # it can no longer be cancelled

    def work() -> None:
        outcome: Outcome
        try:
            outcome = run(), None
        except BaseException as error:  # `sys.exit` in a thread ends only the thread
            outcome = None, _message(error)
        future.set_result(outcome)

    Thread(target=copy_context().run, args=(work,), daemon=True, name="jsonrill tool").start()
    return future


async def _outcome(job: Job, timeout: float | None) -> Outcome:
    """Call a tool in a thread. If it returns an awaitable, await it here."""
    import asyncio

    try:
        async with asyncio.timeout(timeout) as limit:
            result, error = await asyncio.wrap_future(_start_thread(job.run))
            return await result if inspect.isawaitable(result) else result, error
    except (Exception, asyncio.CancelledError, SystemExit) as error:
        task = asyncio.current_task()
        if isinstance(error, asyncio.CancelledError) and task is not None and task.cancelling():
            raise  # any other cancellation comes from the tool
        is_late = isinstance(error, TimeoutError) and limit.expired()
        message = f"the tool has not returned within {timeout:g} seconds" if is_late else None
        return None, message or _message(error)


def _message(error: BaseException) -> str:
    message = str(error)
    return f"{type(error).__name__}: {message}" if message else type(error).__name__
