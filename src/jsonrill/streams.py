"""The public functions. Each takes a sync or an async iterable; no other file knows both.

A stage is a generator function of one piece (or `END`), so that it can yield what was good and
then raise. `drive` runs it over a source, lazily, and closes the source when the loop is left.
"""

from __future__ import annotations

from collections.abc import (
    AsyncGenerator,
    AsyncIterable,
    AsyncIterator,
    Callable,
    Iterable,
    Iterator,
    Mapping,
)
from contextlib import aclosing
from functools import partial as partial_of
from inspect import isawaitable
from math import inf, isfinite
from time import monotonic
from typing import Any, Final, TypeVar, Unpack, overload

from .answers import Part, Parts, ToolRun
from .answers.running import awaited_outcome_of, in_thread, late, outcome_of
from .answers.tools import Function, Job, When
from .build.document import Document
from .chunker import Chunker
from .errors import InvalidJSON, LimitExceeded, ProviderError, Truncated
from .options import (
    CallOptions,
    ChunkOptions,
    Mode,
    ParseOptions,
    PartOptions,
    Stage,
    UpdateOptions,
    refuse_unknown,
    taken_by,
)
from .partial_stream import PartialStream, Update, absorb
from .paths import Path, lookup, parse_path
from .providers.statements import Outcome, Translate
from .sources import AnswerText
from .toolcalls import ToolCall, ToolCalls, ToolCallUpdate
from .wire.fragment import Fragment
from .wire.parser import Parser

Text = str | bytes
Texts = Text | Iterable[Text]
T = TypeVar("T")
U = TypeVar("U")
# What `drive` runs: a stage, and a function that tells if it needs no more pieces.
StageOf = Callable[[T], Iterator[U]]
Over = Callable[[], bool]

END: Final[Any] = object()


@overload
def values(
    source: Texts, *, live: bool = False, **options: Unpack[ParseOptions]
) -> Iterator[Any]: ...
@overload
def values(
    source: AsyncIterable[Text], *, live: bool = False, **options: Unpack[ParseOptions]
) -> AsyncIterator[Any]: ...
def values(source: Any, *, live: bool = False, **options: Unpack[ParseOptions]) -> Any:
    """Yield the value after each piece of text that changed it, safe to keep.

    With `live=True` it is not copied, and changes with the next piece. Options are those of
    `Document`. With `many=True` a document that is not JSON does not stop the others; the first
    such error is raised at the end of the source.
    """
    _known("values", options, "live")
    return drive(value_stage(Document(**options), live), source)


def value_stage(document: Document, live: bool) -> Callable[[Text], Iterator[Any]]:
    """The stage of `values`, for a document that the caller keeps."""

    def stage(piece: Text) -> Iterator[Any]:
        try:
            changed = document.flush() if piece is END else document.feed(piece)
        except (InvalidJSON, LimitExceeded):
            if document.changed:
                yield document.live if live else document.value
            raise
        yield from document.finished
        if changed:
            yield document.live if live else document.value
        if piece is END and document.errors:
            raise document.errors[0]

    return stage


@overload
def fragments(source: Texts, **options: Unpack[ParseOptions]) -> Iterator[Fragment]: ...
@overload
def fragments(
    source: AsyncIterable[Text], **options: Unpack[ParseOptions]
) -> AsyncIterator[Fragment]: ...
def fragments(source: Any, **options: Unpack[ParseOptions]) -> Any:
    """Yield the fragments of a text, each as soon as it is certain. Options: those of `Parser`."""
    _known("fragments", options)
    parser = Parser(**options)

    def stage(piece: Text) -> Iterator[Fragment]:
        try:
            yield from parser.flush() if piece is END else parser.feed(piece)
        except (InvalidJSON, LimitExceeded) as error:
            yield from error.fragments
            raise
        if piece is END and parser.errors:
            raise parser.errors[0]

    return drive(stage, source)


@overload
def texts(
    source: Texts, field: str | Path, *, document: Document | None = None
) -> Iterator[str]: ...
@overload
def texts(
    source: AsyncIterable[Text], field: str | Path, *, document: Document | None = None
) -> AsyncIterator[str]: ...
def texts(source: Any, field: str | Path, *, document: Document | None = None) -> Any:
    """Yield the text of one string field as it grows; joined, the pieces are the field.

    `field` is a path (`"answer"`, `"root.steps[0].title"`). Give a `Document` to keep the rest.
    """
    path = parse_path(field) if isinstance(field, str) else tuple(field)
    reading = Document() if document is None else document
    shown = 0

    def stage(piece: Text) -> Iterator[str]:
        nonlocal shown
        error = None
        try:
            changed = reading.flush() if piece is END else reading.feed(piece)
        except (InvalidJSON, LimitExceeded) as raised:
            error, changed = raised, reading.changed
        if changed:
            _, text = lookup(reading.live, path)
            if isinstance(text, str) and len(text) > shown:
                new, shown = text[shown:], len(text)
                yield new
        if error is not None:
            raise error

    return drive(stage, source)


@overload
def updates(
    source: Texts,
    mode: Mode = "REALTIME",
    *,
    every: float | None = None,
    **options: Unpack[UpdateOptions],
) -> Iterator[Update]: ...
@overload
def updates(
    source: AsyncIterable[Text],
    mode: Mode = "REALTIME",
    *,
    every: float | None = None,
    **options: Unpack[UpdateOptions],
) -> AsyncIterator[Update]: ...
def updates(
    source: Any,
    mode: Mode = "REALTIME",
    *,
    every: float | None = None,
    **options: Unpack[UpdateOptions],
) -> Any:
    """Yield updates of the entities in a text, in one of five modes.

    Options are those of `PartialStream`. After an ERROR of the stream the source is closed.

    With `every`, a PARTIAL is emitted at most once in that many seconds. Those held back become
    one, which is always emitted: when it is due, before the next COMPLETED or ERROR, or at the end.
    A sync source blocks while it waits, so there it is emitted with the next piece after it is due.
    An async source is read in a task of its own, by asyncio.
    """
    _known("updates", options, "every")
    stream = PartialStream(mode, **options)

    def stage(piece: Text) -> Iterator[Update]:
        yield from stream.flush() if piece is END else stream.feed(piece)

    def over() -> bool:
        return stream.ended

    return drive(stage, source, over, None if every is None else Pace(every))


@overload
def chunks(
    source: str | bytes | Iterable[Any], **options: Unpack[ChunkOptions]
) -> Iterator[str]: ...
@overload
def chunks(source: AsyncIterable[Any], **options: Unpack[ChunkOptions]) -> AsyncIterator[str]: ...
def chunks(source: Any, **options: Unpack[ChunkOptions]) -> Any:
    """Yield the chunks of text that snapshots of a growing value make.

    Joined, they are the last snapshot. Options are those of `Chunker`; empty chunks are left out.
    """
    _known("chunks", options)
    chunker = Chunker(**options)

    def stage(snapshot: Any) -> Iterator[str]:
        text = chunker.flush() if snapshot is END else chunker.feed(snapshot)
        if text:
            yield text

    return drive(stage, _events(source))


@overload
def tool_calls(
    source: AsyncIterable[Any], *, calls: ToolCalls | None = None, **options: Unpack[CallOptions]
) -> AsyncIterator[ToolCallUpdate]: ...
@overload
def tool_calls(
    source: Iterable[Any], *, calls: ToolCalls | None = None, **options: Unpack[CallOptions]
) -> Iterator[ToolCallUpdate]: ...
def tool_calls(
    source: Any, *, calls: ToolCalls | None = None, **options: Unpack[CallOptions]
) -> Any:
    """Yield an update for each change of a tool call in a provider's stream (`update.call`).

    The source is the stream that a client library returns, or any iterable of events. Options are
    those of `ToolCalls`; give one as `calls` to keep it, or for the next turn.
    """
    _known("calls", options, "calls")
    if calls is not None and options:
        raise TypeError(f"calls is given, so it cannot have {', '.join(sorted(options))} too")
    if not isinstance(calls, ToolCalls | None):
        raise TypeError(f"calls is a ToolCalls object, not {calls!r}")
    reading = ToolCalls(**options) if calls is None else calls
    # Other streams may be read into the same calls: this one ends only its own messages.
    seen: set[str] = set()

    def stage(event: Any) -> Iterator[ToolCallUpdate]:
        if event is END:
            yield from reading.flush(*sorted(seen)) if seen else ()
            return
        for update in reading.feed(event):
            seen.add(update.message_id)
            yield update

    return drive(stage, _events(source))


@overload
def content(
    source: AsyncIterable[Any], *, choice: int = 0, provider: str | Translate = "auto"
) -> AsyncIterator[str]: ...
@overload
def content(
    source: Iterable[Any], *, choice: int = 0, provider: str | Translate = "auto"
) -> Iterator[str]: ...
def content(source: Any, *, choice: int = 0, provider: str | Translate = "auto") -> Any:
    """Yield the text of the answer in a provider's stream, for `values` and the other functions.

    The source is what `tool_calls` takes; `provider` is that of `ToolCalls`. Reasoning and tool
    calls are not part of the text. If the answer has several choices, `choice` selects one.
    """
    answer = AnswerText(provider, choice=choice)

    def stage(event: Any) -> Iterator[str]:
        if event is not END and (text := answer.feed(event)):
            yield text

    return drive(stage, _events(source))


def partial(text: Text, **options: Unpack[ParseOptions]) -> Any:
    """The value of a text that may be cut off anywhere; InvalidJSON if it cannot become JSON."""
    _known("values", options)
    document = Document(**options)
    document.feed(text)
    try:
        document.flush()
    except Truncated:
        pass
    return document.value


def _known(stage: Stage, given: Mapping[str, object], *own: str) -> None:
    if given:
        refuse_unknown(given, [*own, *(it.name for it in taken_by(stage))], "unknown option")


class Pace:
    """Holds a PARTIAL back until it is due, and merges those that are held.

    At most one is held: entities come one after the other, and a COMPLETED or ERROR, which is never
    held, contains what a PARTIAL held before it would have told.
    """

    def __init__(self, every: float) -> None:
        if isinstance(every, bool) or not isinstance(every, (int, float)):
            raise TypeError(f"every is a number of seconds, not {every!r}")
        if not (isfinite(every) and every > 0):
            raise ValueError(f"every is a number of seconds above 0, not {every!r}")
        self.held: Update | None = None
        self._every = every
        self._due = monotonic()

    def feed(self, fresh: Iterable[Update]) -> Iterator[Update]:
        """Yield the updates that are emitted now."""
        for update in fresh:
            if self.held is not None and not absorb(self.held, update):
                yield from self.flush()
            self.held = None
            if update.status == "PARTIAL":
                self.held = update
            else:
                yield update
        if self.held is not None and self.wait() <= 0:
            yield from self.flush()

    def flush(self) -> Iterator[Update]:
        """Yield the update that is held, due or not."""
        held, self.held = self.held, None
        if held is not None:
            self._due = monotonic() + self._every
            yield held

    def wait(self) -> float:
        """Seconds until the update that is held is due."""
        return self._due - monotonic()


def _never() -> bool:
    return False


def drive(
    stage: StageOf[Any, Any], source: Any, over: Over = _never, pace: Pace | None = None
) -> Any:
    """Run a stage over a source until it ends or the stage is `over`; `pace` is for updates."""
    if isinstance(source, (str, bytes, bytearray, memoryview)):
        source = (source,)
    if isinstance(source, AsyncIterable):
        if pace is None:
            return _drive_async(stage, source, over)
        return _paced_async(stage, source, over, pace)
    if not isinstance(source, Iterable):
        raise TypeError(f"a source is text or an iterable of it, not {type(source).__name__}")
    if pace is None:
        return _drive_sync(stage, source, over)
    return _paced_sync(stage, source, over, pace)


def _events(source: Any) -> Any:
    """The source as an iterable of events. A model or a mapping is one event, though iterable."""
    one = isinstance(source, Mapping) or hasattr(source, "model_dump")
    return (source,) if one else source


def _drive_sync(stage: StageOf[T, U], source: Iterable[T], over: Over) -> Iterator[U]:
    pieces = iter(source)
    ended = False
    try:
        for piece in pieces:
            yield from stage(piece)
            if over():
                return
        ended = True
        yield from stage(END)
    finally:
        close = None if ended else _closer(pieces, source, "close")
        if close is not None:
            close()


async def _drive_async(
    stage: StageOf[T, U], source: AsyncIterable[T], over: Over
) -> AsyncGenerator[U]:
    pieces = aiter(source)
    ended = False
    try:
        async for piece in pieces:
            for out in stage(piece):
                yield out
            if over():
                return
        ended = True
        for out in stage(END):
            yield out
    finally:
        close = None if ended else _closer(pieces, source, "aclose", "close")
        if close is not None:
            closing = close()
            if isawaitable(closing):
                await closing


def _paced_sync(
    stage: StageOf[T, Update], source: Iterable[T], over: Over, pace: Pace
) -> Iterator[Update]:
    try:
        yield from _drive_sync(lambda piece: pace.feed(stage(piece)), source, over)
    except Exception:
        yield from pace.flush()
        raise


async def _paced_async(
    stage: StageOf[T, Update], source: AsyncIterable[T], over: Over, pace: Pace
) -> AsyncIterator[Update]:
    """As `_drive_async`, but a held update is emitted when it is due, even if the source stalls."""
    from asyncio import Event, create_task, timeout, wait

    slot: list[T] = []
    arrived, wanted = Event(), Event()

    async def read() -> None:
        # All in one task, from its first piece to its closing: a source may have opened
        # something (a timeout, a cancel scope) that belongs to the task it was opened in.
        try:
            async with aclosing(_drive_async(_as_is, source, _never)) as pieces:
                async for piece in pieces:
                    slot.append(piece)
                    arrived.set()
                    await wanted.wait()
                    wanted.clear()
        finally:
            arrived.set()

    reader = create_task(read())
    try:
        while not over():
            try:
                async with timeout(None if pace.held is None else max(pace.wait(), 0)):
                    await arrived.wait()
            except TimeoutError:
                for update in pace.flush():
                    yield update
                continue
            arrived.clear()
            if not slot:
                for update in pace.flush():
                    yield update
                await reader  # raises what the source raised
                return
            for update in pace.feed(stage(slot.pop())):
                yield update
            wanted.set()
    finally:
        reader.cancel()
        await wait((reader,))
        failure = None if reader.cancelled() else reader.exception()
    if failure is not None:
        raise failure


def _as_is(piece: T) -> Iterator[T]:
    yield piece


def _closer(pieces: Any, source: Any, *names: str) -> Callable[[], Any] | None:
    """The method that closes the source, so that `break` stops a generation, or None."""
    found = (getattr(owner, name, None) for owner in (source, pieces) for name in names)
    return next(filter(callable, found), None)


@overload
def parts(
    source: AsyncIterable[Any], *, choice: int = 0, **options: Unpack[PartOptions]
) -> AsyncIterator[Part]: ...
@overload
def parts(
    source: Iterable[Any], *, choice: int = 0, **options: Unpack[PartOptions]
) -> Iterator[Part]: ...
def parts(source: Any, *, choice: int = 0, **options: Unpack[PartOptions]) -> Any:
    """Yield the parts of an answer as they grow: text, reasoning, calls and results, in order.

    The source is a provider's stream. `ProviderError` is raised at the end if the provider reported
    an error; a call that was cut off has the status `truncated`.
    """
    refuse_unknown(options, PartOptions.__annotations__, "unknown option")
    reading = Parts(choice=choice, **options)

    def stage(event: Any) -> Iterator[Part]:
        yield from reading.flush() if event is END else reading.feed(event)
        if event is END and reading.error is not None:
            raise ProviderError(reading.error)

    return drive(stage, _events(source))


class _Turn:
    """What `run_tools` tells of the answer, besides its parts."""

    def __init__(self, run: ToolRun) -> None:
        self._run = run

    @property
    def calls(self) -> list[ToolCall]:
        """The calls of the answer; `result` and `result_is_error` are what their tools returned."""
        return self._run.parts.calls

    @property
    def text(self) -> str:
        """The text of the answer, without reasoning and calls."""
        return self._run.parts.text

    @property
    def outcome(self) -> Outcome | None:
        """How the answer ended: complete, cut or error; None if the provider has not ended it."""
        return self._run.parts.outcome

    def messages(self, form: str | None = None) -> list[dict[str, Any]]:
        """The answer and the results, as the next request to this provider sends them.

        `form` is the name of another provider, for a request to that one. Calls without a result
        (they were cut off) are left out.
        """
        return self._run.messages(form)


class ToolParts(_Turn, Iterator[Part]):
    """The parts of an answer and the results of its tools."""

    def __init__(self, run: ToolRun, parts: Iterator[Part]) -> None:
        super().__init__(run)
        self._parts = parts

    def __next__(self) -> Part:
        return next(self._parts)

    def close(self) -> None:
        """Close the source; tools that run are not waited for."""
        self._parts.close()  # type: ignore[attr-defined]  # a generator


class AsyncToolParts(_Turn, AsyncIterator[Part]):
    """The parts of an answer and the results of its tools."""

    def __init__(self, run: ToolRun, parts: AsyncGenerator[Part]) -> None:
        super().__init__(run)
        self._parts = parts

    async def __anext__(self) -> Part:
        return await anext(self._parts)

    async def aclose(self) -> None:
        """Close the source and cancel the tools that run."""
        await self._parts.aclose()


@overload
def run_tools(
    source: AsyncIterable[Any],
    tools: Mapping[str, Function],
    *,
    when: When = "args",
    concurrency: int = 8,
    timeout: float | None = None,
    choice: int = 0,
    **options: Unpack[PartOptions],
) -> AsyncToolParts: ...
@overload
def run_tools(
    source: Iterable[Any],
    tools: Mapping[str, Function],
    *,
    when: When = "args",
    concurrency: int = 8,
    timeout: float | None = None,
    choice: int = 0,
    **options: Unpack[PartOptions],
) -> ToolParts: ...
def run_tools(
    source: Any,
    tools: Mapping[str, Function],
    *,
    when: When = "args",
    concurrency: int = 8,
    timeout: float | None = None,
    choice: int = 0,
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
    refuse_unknown(options, PartOptions.__annotations__, "unknown option")
    if type(concurrency) is not int or concurrency < 1:
        raise ValueError(f"concurrency is a whole number from 1 up, not {concurrency!r}")
    if timeout is not None and not timeout > 0:
        raise ValueError(f"timeout is a number of seconds above 0, not {timeout!r}")
    run = ToolRun(tools, when=when, choice=choice, **options)
    events = _events(source)
    if isinstance(events, AsyncIterable):
        return AsyncToolParts(run, _run_async(run, events, concurrency, timeout))
    return ToolParts(run, _run_sync(run, drive(_as_event, events), concurrency, timeout))


def _as_event(event: Any) -> Iterator[Any]:
    if event is not END:
        yield event


def _run_sync(
    run: ToolRun, events: Iterator[Any], concurrency: int, timeout: float | None
) -> Iterator[Part]:
    from queue import Empty, SimpleQueue

    ended: SimpleQueue[tuple[Job, Any, str | None]] = SimpleQueue()
    # What runs, and when it is too late.
    running: dict[Job, float] = {}

    def work(job: Job) -> None:
        ended.put((job, *outcome_of(job, timeout)))

    def results(*, wait: bool) -> Iterator[Part]:
        while True:
            while run.jobs and len(running) < concurrency:
                job = run.jobs.pop(0)
                running[job] = inf if timeout is None else monotonic() + timeout
                in_thread(partial_of(work, job))
            if not running:
                return
            due = min(running.values())
            try:
                left = None if due == inf else max(due - monotonic(), 0)
                job, result, error = ended.get(wait, left)
            except Empty:
                overdue = [job for job, due in running.items() if due <= monotonic()]
                if not (wait or overdue):
                    return
                for job in overdue:
                    del running[job]
                    yield from run.finish(job, error=late(timeout))
                continue
            if running.pop(job, None) is not None:
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
    run: ToolRun, source: AsyncIterable[Any], concurrency: int, timeout: float | None
) -> AsyncGenerator[Part]:
    from asyncio import Event, Queue, Semaphore, Task, create_task, gather

    # What has happened: functions that return the parts it makes.
    news: Queue[Callable[[], list[Part]]] = Queue()
    wanted = Event()
    gate = Semaphore(concurrency)
    failure: Exception | None = None
    is_open, running = True, 0
    tasks: set[Task[None]] = set()

    async def read() -> None:
        # One task reads the source from its first event to its closing, as in `_paced_async`.
        nonlocal failure
        try:
            async with aclosing(_drive_async(_as_event, source, _never)) as events:
                async for event in events:
                    news.put_nowait(partial_of(run.feed, event))
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
        async with gate:
            result, error = await awaited_outcome_of(job, timeout)
        news.put_nowait(partial_of(finish, job, result, error))

    def finish(job: Job, result: Any, error: str | None) -> list[Part]:
        nonlocal running
        running -= 1
        return run.finish(job, result, error)

    tasks.add(create_task(read()))
    try:
        while is_open or running:
            parts = (await news.get())()
            for job in run.jobs:
                running += 1
                tasks.add(task := create_task(work(job)))
                task.add_done_callback(tasks.discard)
            run.jobs.clear()
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
        raise ProviderError(run.parts.error)
