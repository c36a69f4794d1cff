"""The public functions. Each takes a sync or an async source; no other file iterates both.

A stage is a generator function of one piece (or `END`), so that it can yield what was good and
then raise; a `Loop` is one for many pieces. `drive` runs it over a source, lazily, and closes the
source when the loop is left. With a `Reading` the first element decides what the pieces are: text
goes to the stage as it is, and anything else through a decoder (`sources/`).
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
    Mapping,
)
from contextlib import aclosing
from inspect import isawaitable
from itertools import chain
from math import isfinite
from time import monotonic
from typing import (
    Any,
    Final,
    Generic,
    Literal,
    Protocol,
    TypeVar,
    Unpack,
    get_type_hints,
    overload,
)

from .answers import Part, Parts
from .build.document import Document
from .chunker import Chunker
from .errors import (
    CutShort,
    FieldNotFound,
    InvalidJSON,
    InvalidSchema,
    JsonrillError,
    LimitExceeded,
    SourceFailed,
    Truncated,
    stream_error,
)
from .eventstream import CLOSE, ClientStream, SSEEncoder, encode_event
from .opening import inner_streams, open_source
from .options import (
    CallOptions,
    ChunkOptions,
    Modes,
    ParseOptions,
    PartOptions,
    Provider,
    ReadOptions,
    ReadTextOptions,
    ReadUpdateOptions,
    SourceOptions,
    Stage,
    refuse_unknown,
    taken_by,
)
from .parse.lenient.rules import rule_names
from .partial_stream import PartialStream, Update, absorb
from .paths import Path, parse_path, parse_pattern
from .providers.statements import Finish
from .selection import Selection, TextSelection
from .sources import Decoder, EventReading, Opened, Reading
from .sources.explain import Transcript, explained
from .toolcalls import ToolCalls, ToolCallUpdate
from .wire.fragment import Fragment
from .wire.parser import Parser

Text = str | bytes
# Text, or an iterable of text or of a provider's events.
Source = Text | Iterable[Any]
T = TypeVar("T")
U = TypeVar("U")
T_co = TypeVar("T_co", covariant=True)
JsonSchema = Mapping[str, Any] | bool


class Adapter(Protocol[T_co]):
    """What a type checker needs to know of a pydantic `TypeAdapter`: what it makes."""

    def validate_python(self, object: Any, /) -> T_co: ...


class Ended(Protocol):
    """What knows, once a text has ended, how the answer that it is the text of was cut."""

    cut: CutShort | None


# What `drive` runs: a stage, and a function that tells if it needs no more pieces.
StageOf = Callable[[T], Iterator[U]]
Over = Callable[[], bool]

END: Final[Any] = object()


class Loop(Generic[T, U]):
    """A stage written as a loop over pieces: a generator for each piece costs more than the piece.

    `run` returns early when it needs no more pieces; `END` comes in a call of its own.
    """

    __slots__ = ("run",)

    def __init__(self, run: Callable[[Iterable[T]], Iterator[U]]) -> None:
        self.run = run

    def __call__(self, piece: T) -> Iterator[U]:
        return self.run((piece,))


@overload
def values(
    source: Source,
    schema: type[T] | Adapter[T],
    *,
    live: Literal[False] = False,
    **options: Unpack[ReadOptions],
) -> Iterator[T]: ...
@overload
def values(
    source: AsyncIterable[Any],
    schema: type[T] | Adapter[T],
    *,
    live: Literal[False] = False,
    **options: Unpack[ReadOptions],
) -> AsyncIterator[T]: ...
@overload
def values(
    source: Source,
    schema: JsonSchema | None = None,
    *,
    live: bool = False,
    **options: Unpack[ReadOptions],
) -> Iterator[Any]: ...
@overload
def values(
    source: AsyncIterable[Any],
    schema: JsonSchema | None = None,
    *,
    live: bool = False,
    **options: Unpack[ReadOptions],
) -> AsyncIterator[Any]: ...
def values(
    source: Any, schema: Any = None, *, live: bool = False, **options: Unpack[ReadOptions]
) -> Any:
    """Yield the value after each piece of text that changed it, safe to keep.

    With a `schema` (a pydantic model, a dataclass, any type that a `TypeAdapter` takes) it is an
    instance of that type: partial ones (`is_partial`) on the way, at last the validated one. With a
    JSON Schema values are plain. A violation raises `InvalidSchema` at the earliest character.

    With `live=True` the value is not copied, and changes with the next piece. Options are those of
    `Document`. With `many=True` a document that is not JSON does not stop the others; the first
    such error is raised at the end of the source.
    """
    reading, given = take_options("values", options, "schema", "live")
    if live and schema is not None:
        raise TypeError("live=True shows plain values: leave out live or schema")
    document = _document(schema, given)
    return drive(value_stage(document, live, reading), source, reading=reading)


def value_stage(document: Document, live: bool, reading: Ended | None = None) -> Loop[Text, Any]:
    """The stage of `values`, for a document that the caller keeps."""

    def run(pieces: Iterable[Text]) -> Iterator[Any]:
        feed, many = document.feed, document.many
        for piece in pieces:
            try:
                changed = document.flush(_cut(reading)) if piece is END else feed(piece)
            except (InvalidJSON, InvalidSchema, LimitExceeded) as error:
                yield from document.finished
                if document.changed:
                    yield document.live if live else document.value
                if error.value is None:
                    error.value = document.value
                raise
            if many:
                yield from document.finished
            if changed:
                yield document.live if live else document.value
            if piece is END and document.errors:
                raise document.errors[0]

    return Loop(run)


def _cut(reading: Ended | None) -> CutShort | None:
    """How the answer was cut whose text has ended."""
    return None if reading is None else reading.cut


def _with_schema(schema: Any, options: Mapping[str, Any]) -> Any:
    """As a `Document`, but with a schema. (Its module is imported when it is first needed.)"""
    from .schema.document import SchemaDocument

    return SchemaDocument(schema, **options)


@overload
def fields(
    source: Source, schema: Any, **options: Unpack[ReadOptions]
) -> Iterator[tuple[str, Any]]: ...
@overload
def fields(
    source: AsyncIterable[Any], schema: Any, **options: Unpack[ReadOptions]
) -> AsyncIterator[tuple[str, Any]]: ...
def fields(source: Any, schema: Any, **options: Unpack[ReadOptions]) -> Any:
    """Yield the name and the value of each top-level field when it is complete, validated.

    `schema` and options are those of `values`. A field that did not come is not yielded. One that
    changes after it was yielded (a key that comes twice, a validator of the whole) comes again.
    """
    reading, given = take_options("values", options, "schema")
    document = _with_schema(schema, given)
    if not document.has_fields:
        raise TypeError("the schema has no fields: use values(…) for what is no object")

    def stage(piece: Text) -> Iterator[tuple[str, Any]]:
        try:
            document.flush(reading.cut) if piece is END else document.feed(piece)
        except (InvalidJSON, InvalidSchema, LimitExceeded):
            yield from document.take_fields()
            raise
        yield from document.take_fields()
        if piece is END and document.errors:
            raise document.errors[0]

    return drive(stage, source, reading=reading)


def is_partial(value: object) -> bool:
    """True if this is an instance of a model or dataclass that is not complete yet."""
    return getattr(type(value), "__partial_of__", None) is not None


@overload
def fragments(source: Source, **options: Unpack[ReadOptions]) -> Iterator[Fragment]: ...
@overload
def fragments(
    source: AsyncIterable[Any], **options: Unpack[ReadOptions]
) -> AsyncIterator[Fragment]: ...
def fragments(source: Any, **options: Unpack[ReadOptions]) -> Any:
    """Yield the fragments of a text, each as soon as it is certain. Options: those of `Parser`."""
    reading, given = take_options("fragments", options)
    parser = Parser(**given)

    def run(pieces: Iterable[Text]) -> Iterator[Fragment]:
        for piece in pieces:
            try:
                yield from parser.flush(reading.cut) if piece is END else parser.feed(piece)
            except (InvalidJSON, LimitExceeded) as error:
                yield from error.fragments
                raise
            if piece is END and parser.errors:
                raise parser.errors[0]

    return drive(Loop(run), source, reading=reading)


@overload
def select(
    source: Source, field: str | Path, schema: type[T], **options: Unpack[ReadOptions]
) -> Iterator[T]: ...
@overload
def select(
    source: Source, field: str | Path, schema: Any = None, **options: Unpack[ReadOptions]
) -> Iterator[Any]: ...
@overload
def select(
    source: AsyncIterable[Any],
    field: str | Path,
    schema: type[T],
    **options: Unpack[ReadOptions],
) -> AsyncIterator[T]: ...
@overload
def select(
    source: AsyncIterable[Any],
    field: str | Path,
    schema: Any = None,
    **options: Unpack[ReadOptions],
) -> AsyncIterator[Any]: ...
def select(
    source: Any, field: str | Path, schema: Any = None, **options: Unpack[ReadOptions]
) -> Any:
    """Yield each value at a path when it is complete, and keep nothing else of the document.

    `field` is a path or a pattern: `"results[*]"`, `"days[*].activities[*].title"`. An array at its
    end stands for its elements (`"results"`), a null for nothing. With a `schema` each value is of
    its type. `limits.text` counts for each value. `FieldNotFound` at the end if nothing was there.
    """
    reading, given = take_options("select", options, "schema")
    stage = selection_stage(Selection(field, schema=schema, **given), reading)
    return drive(stage, source, reading=reading)


def selection_stage(
    selection: Selection | TextSelection, reading: Ended | None = None
) -> Loop[Text, Any]:
    """The stage of `select` and `texts`, for a selection that the caller keeps."""

    def run(pieces: Iterable[Text]) -> Iterator[Any]:
        for piece in pieces:
            yield from selection.flush(_cut(reading)) if piece is END else selection.feed(piece)

    return Loop(run)


@overload
def text(
    source: Source,
    field: str | Path,
    *,
    read_all: bool = False,
    **options: Unpack[ReadTextOptions],
) -> Iterator[str]: ...
@overload
def text(
    source: AsyncIterable[Any],
    field: str | Path,
    *,
    read_all: bool = False,
    **options: Unpack[ReadTextOptions],
) -> AsyncIterator[str]: ...
def text(
    source: Any,
    field: str | Path,
    *,
    read_all: bool = False,
    **options: Unpack[ReadTextOptions],
) -> Any:
    """Yield the text of one string as it grows; joined, the pieces are the string.

    `field` is a path (`"answer"`, `"steps[0].title"`). `FieldNotFound` at the end if it never came,
    or is no string. When it is complete, the source is closed; with `read_all` it is read to its
    end, and errors in the rest are raised. Nothing of the rest is kept.
    """
    reading, given = take_options("text", options, "read_all", first=True)
    if isinstance(field, str):
        try:
            parse_path(field)
        except ValueError as error:
            parse_pattern(field)
            raise ValueError(f"{error}: use texts(source, {field!r})") from None
    selection = TextSelection(field, **given)

    def over() -> bool:
        return selection.ended and not read_all

    def run(pieces: Iterable[Text]) -> Iterator[str]:
        for piece in pieces:
            fresh = selection.flush(reading.cut) if piece is END else selection.feed(piece)
            while True:
                try:
                    _, new = next(fresh)
                except StopIteration:
                    break
                except (InvalidJSON, LimitExceeded):
                    if over():
                        return
                    raise
                yield new
            if over():
                return

    return drive(Loop(run), source, over, reading=reading)


@overload
def texts(
    source: Source, *fields: str | Path, **options: Unpack[ReadTextOptions]
) -> Iterator[tuple[Path, str]]: ...
@overload
def texts(
    source: AsyncIterable[Any], *fields: str | Path, **options: Unpack[ReadTextOptions]
) -> AsyncIterator[tuple[Path, str]]: ...
def texts(source: Any, *fields: str | Path, **options: Unpack[ReadTextOptions]) -> Any:
    """Yield the texts of several strings as they grow: each piece with the path of its string.

    The fields are paths or patterns: `"title"`, `"items[*].summary"`. `FieldNotFound` at the end if
    one of them never came, or is no string.
    """
    reading, given = take_options("text", options, first=True)
    stage = selection_stage(TextSelection(*fields, **given), reading)
    return drive(stage, source, reading=reading)


@overload
def updates(
    source: Source,
    mode: Modes = "REALTIME",
    *,
    schema: type[T] | Adapter[T],
    every: float | None = None,
    **options: Unpack[ReadUpdateOptions],
) -> Iterator[Update[T]]: ...
@overload
def updates(
    source: AsyncIterable[Any],
    mode: Modes = "REALTIME",
    *,
    schema: type[T] | Adapter[T],
    every: float | None = None,
    **options: Unpack[ReadUpdateOptions],
) -> AsyncIterator[Update[T]]: ...
@overload
def updates(
    source: Source,
    mode: Modes = "REALTIME",
    *,
    schema: JsonSchema | None = None,
    every: float | None = None,
    **options: Unpack[ReadUpdateOptions],
) -> Iterator[Update[Any]]: ...
@overload
def updates(
    source: AsyncIterable[Any],
    mode: Modes = "REALTIME",
    *,
    schema: JsonSchema | None = None,
    every: float | None = None,
    **options: Unpack[ReadUpdateOptions],
) -> AsyncIterator[Update[Any]]: ...
def updates(
    source: Any,
    mode: Modes = "REALTIME",
    *,
    schema: Any = None,
    every: float | None = None,
    **options: Unpack[ReadUpdateOptions],
) -> Any:
    """Yield updates of the entities in a text, in one of five modes.

    Options are those of `PartialStream`. After an ERROR of the stream the source is closed.

    With `every`, a PARTIAL is emitted at most once in that many seconds. Those held back become
    one, which is always emitted: when it is due, before the next COMPLETED or ERROR, or at the end.
    A sync source blocks while it waits, so there it is emitted with the next piece after it is due.
    An async source is read in a task of its own, by asyncio.
    """
    reading, given = take_options("updates", options, "every")
    if isinstance(mode, type):
        raise TypeError(f"the second argument is the mode: pass schema={mode.__name__}")
    stream = PartialStream(mode, schema=schema, **given)

    def run(pieces: Iterable[Text]) -> Iterator[Update]:
        for piece in pieces:
            yield from stream.flush(reading.cut) if piece is END else stream.feed(piece)
            if stream.ended:
                return

    def over() -> bool:
        return stream.ended

    return drive(Loop(run), source, over, None if every is None else Pace(every), reading=reading)


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

    return drive(stage, source)


@overload
def tool_calls(
    source: AsyncIterable[Any], *, calls: ToolCalls | None = None, **options: Unpack[CallOptions]
) -> AsyncIterator[ToolCallUpdate]: ...
@overload
def tool_calls(
    source: Source, *, calls: ToolCalls | None = None, **options: Unpack[CallOptions]
) -> Iterator[ToolCallUpdate]: ...
def tool_calls(
    source: Any, *, calls: ToolCalls | None = None, **options: Unpack[CallOptions]
) -> Any:
    """Yield an update for each change of a tool call in a provider's stream (`update.call`).

    The source is a provider's stream, or a response or text that holds its events. Options are
    those of `ToolCalls`; give one as `calls` to keep it, or for the next turn. `SourceFailed` is
    raised at the end if the provider reported an error.
    """
    _known("calls", options, "calls")
    if calls is not None and options:
        raise TypeError(f"calls is given, so it cannot have {', '.join(sorted(options))} too")
    if not isinstance(calls, ToolCalls | None):
        raise TypeError(f"calls is a ToolCalls object, not {calls!r}")
    reading = ToolCalls(**options) if calls is None else calls
    # Other streams may be read into the same calls: this one ends only its own messages.
    seen: set[str] = set()
    failure: str | None = None

    def run(events: Iterable[Any]) -> Iterator[ToolCallUpdate]:
        nonlocal failure
        for event in events:
            if event is END:
                yield from reading.flush(*sorted(seen)) if seen else ()
                if failure is not None:
                    raise SourceFailed(failure)
                return
            said = reading.reader.feed(event)
            for statement in said:
                if type(statement) is Finish and statement.reason == "error":
                    failure = failure or statement.detail
            for update in reading.read(said):
                seen.add(update.message_id)
                yield update

    return drive(Loop(run), source, reading=EventReading(reading.reader.given))


@overload
def content(
    source: AsyncIterable[Any], *, choice: int = 0, provider: Provider = "auto"
) -> AsyncIterator[str]: ...
@overload
def content(source: Source, *, choice: int = 0, provider: Provider = "auto") -> Iterator[str]: ...
def content(source: Any, *, choice: int = 0, provider: Provider = "auto") -> Any:
    """Yield the text of the answer in a provider's stream; `values` and the others do so, too.

    The source is what `tool_calls` takes; `provider` is that of `ToolCalls`. Reasoning and tool
    calls are not part of the text. If the answer has several choices, `choice` selects one.
    """
    return drive(_pass_on, source, reading=Reading(choice=choice, provider=provider, events=True))


@overload
def arguments(
    source: AsyncIterable[Any],
    tool: str | Literal[True],
    *,
    choice: int = 0,
    provider: Provider = "auto",
) -> AsyncIterator[str]: ...
@overload
def arguments(
    source: Source, tool: str | Literal[True], *, choice: int = 0, provider: Provider = "auto"
) -> Iterator[str]: ...
def arguments(
    source: Any, tool: str | Literal[True], *, choice: int = 0, provider: Provider = "auto"
) -> Any:
    """Yield the argument text of the calls of a tool (True: of any) in a provider's stream.

    Each call but the first begins with a record separator (U+001E), which `many=True` reads; of
    interleaved calls the later one waits until the earlier one is complete.
    """
    if not tool:
        raise ValueError(f"tool is a tool's name, or True for any, not {tool!r}")
    return drive(_pass_on, source, reading=Reading(tool=tool, choice=choice, provider=provider))


def _pass_on(piece: str) -> Iterator[str]:
    if piece is not END:
        yield piece


@overload
def parts(
    source: AsyncIterable[Any], *, choice: int = 0, **options: Unpack[PartOptions]
) -> AsyncIterator[Part]: ...
@overload
def parts(source: Source, *, choice: int = 0, **options: Unpack[PartOptions]) -> Iterator[Part]: ...
def parts(source: Any, *, choice: int = 0, **options: Unpack[PartOptions]) -> Any:
    """Yield the parts of an answer as they grow: text, reasoning, calls and results, in order.

    The source is a provider's stream, with `split` also a text. `SourceFailed` is raised at the end
    if the provider reported an error. A text that was cut is never `complete`, and its `error` says
    why; a call that was cut has the status `truncated`.
    """
    refuse_unknown(options, PartOptions.__annotations__, "unknown option")
    reading = Parts(choice=choice, **options)

    split = bool(options.get("split"))
    events = EventReading(options.get("provider", "auto"), split=split)

    def stage(event: Any) -> Iterator[Part]:
        yield from reading.flush(done=events.said_done) if event is END else reading.feed(event)
        if event is END and reading.error is not None:
            raise SourceFailed(reading.error)

    return drive(stage, source, reading=events)


@overload
def partial(
    text: Text, schema: type[T] | Adapter[T], **options: Unpack[ParseOptions]
) -> T | None: ...
@overload
def partial(
    text: Text, schema: JsonSchema | None = None, **options: Unpack[ParseOptions]
) -> Any: ...
def partial(text: Text, schema: Any = None, **options: Unpack[ParseOptions]) -> Any:
    """The value of a text that may be cut off anywhere; InvalidJSON if it cannot become JSON.

    With a `schema` (as `values` takes it) it is an instance of that type, a partial one if the text
    is not complete. None if the value has not begun.
    """
    _known("values", options, "schema")
    document = _document(schema, options)
    try:
        document.feed(text)
        try:
            document.flush()
        except InvalidJSON as error:
            # Unfinished text may have no value yet.
            if not isinstance(error, Truncated) and document.value is not None:
                raise
    except JsonrillError as error:
        raise _explained(error, text, options) from error.__cause__
    return document.value


@overload
def loads(text: Text, schema: type[T] | Adapter[T], **options: Unpack[ParseOptions]) -> T: ...
@overload
def loads(text: Text, schema: JsonSchema | None = None, **options: Unpack[ParseOptions]) -> Any: ...
def loads(text: Text, schema: Any = None, **options: Unpack[ParseOptions]) -> Any:
    """The value of a text that is complete: with `repair` nearly JSON, but never a cut off one.

    With a `schema` (as `values` takes it) it is the validated instance of that type. Errors are
    those of `values`; a text that stops early is `Truncated`, although `repair` could close it.
    """
    _known("values", options, "schema")
    if options.get("many"):
        raise ValueError("loads reads one document: use values(text, many=True)")
    document = _document(schema, _without_cut_off(options))
    try:
        document.feed(text)
        document.flush()
    except JsonrillError as error:
        raise _explained(error, text, options) from error.__cause__
    return document.value


def _document(schema: Any, options: Mapping[str, Any]) -> Any:
    return Document(**options) if schema is None else _with_schema(schema, options)


def _explained(error: JsonrillError, text: Text, options: Mapping[str, Any]) -> JsonrillError:
    transcript = Transcript()
    transcript.add(text)
    return explained(error, transcript, strict=not options.get("repair"))


def _known(stage: Stage, given: Mapping[str, object], *own: str) -> None:
    if given:
        refuse_unknown(given, [*own, *(it.name for it in taken_by(stage))], "unknown option")


def take_options(
    stage: Stage | None, options: Mapping[str, Any], *own: str, first: bool = False
) -> tuple[Reading, dict[str, Any]]:
    """How to read the source, and the options of the stage; names in `own` are allowed, too."""
    if not options:
        return Reading(first=first), {}
    stages = ("source",) if stage is None else (stage, "source")
    refuse_unknown(options, [*own, *(it.name for it in taken_by(*stages))], "unknown option")
    given = dict(options)
    wanted = {name: given.pop(name) for name in get_type_hints(SourceOptions) if name in given}
    parsing = {name: given[name] for name in ("repair", "many", "prefix") if name in given}
    reading = Reading(**wanted, **parsing, first=first)
    if reading.many:
        given["many"] = True
    # The provider says whether a call is complete.
    return reading, given if reading.tool is None else _without_cut_off(given)


def _without_cut_off(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options for a text that is complete: `repair` closes nothing at its end."""
    repair = options.get("repair", False)
    return {**options, "repair": rule_names(repair) - {"cut-off"}} if repair else {**options}


@overload
def sse(source: AsyncIterable[Any], *, retry: int | None = None) -> AsyncIterator[bytes]: ...
@overload
def sse(source: Iterable[Any], *, retry: int | None = None) -> Iterator[bytes]: ...
def sse(source: Any, *, retry: int | None = None) -> Any:
    """Yield the bytes of server-sent events: one for each update, part, value or text, then CLOSE.

    CLOSE comes in any case. If the source raises, an ERROR comes before it: for bad data with what
    is wrong, for anything else with the code SOURCE_FAILED, and the exception is logged. Bytes are
    complete events and pass as they are. What `to_openai` and the others yield ends as its client
    expects. When the client leaves (the generator is closed, or its
    task cancelled), the source is closed. `retry` is sent with the first event, in milliseconds.
    """
    if isinstance(source, (str, bytes, Mapping)):
        raise TypeError(f"sse() takes an iterable of updates, not {type(source).__name__}")
    framing = _Framing(retry)
    if isinstance(source, ClientStream):
        framing = _ForClient(retry, source.done)
    blocks = drive(framing.stage, source)
    return (_sse_async if isinstance(source, AsyncIterable) else _sse_sync)(blocks, framing)


class _Framing:
    """Items → the bytes of events; the last one is CLOSE, also after a failure."""

    def __init__(self, retry: int | None) -> None:
        self._encoder = SSEEncoder(retry=retry)

    def stage(self, item: Any) -> Iterator[bytes]:
        if item is END:
            yield from self._close()
        elif isinstance(item, bytes):
            if item.startswith(CLOSE):
                self._encoder.flush()  # nothing may come after it
            yield item
        else:
            yield self._encoder.feed(item)

    def fail(self, error: Exception) -> Iterator[bytes]:
        """The events that tell of an exception of the source."""
        if isinstance(error, (InvalidJSON, InvalidSchema, LimitExceeded, FieldNotFound)):
            shown = stream_error(error)
        else:
            _log("the source of an event stream failed", error)
            shown = SourceFailed("the source failed").to_dict()
        if not self._encoder.closed:
            yield self._encoder.feed(Update(None, "ERROR", error=shown))
        yield from self._close()

    def _close(self) -> Iterator[bytes]:
        if last := self._encoder.flush():
            yield last


class _ForClient(_Framing):
    """For clients of others: their own events tell of a failure, and of the end."""

    def __init__(self, retry: int | None, done: str | None) -> None:
        super().__init__(retry)
        self._done = done

    def fail(self, error: Exception) -> Iterator[bytes]:
        _log("the source of an event stream failed", error)
        yield from self._close()

    def _close(self) -> Iterator[bytes]:
        if self._done is not None:
            yield encode_event(self._done)


def _log(message: str, error: Exception) -> None:
    import logging  # which takes a while

    logging.getLogger("jsonrill").error(message, exc_info=error)


def _sse_sync(blocks: Generator[bytes], framing: _Framing) -> Iterator[bytes]:
    try:
        # With `yield from`, what closing the source raises would be taken for its failure.
        for block in blocks:  # noqa: UP028
            yield block
    except Exception as error:
        yield from framing.fail(error)
    finally:
        try:
            blocks.close()
        except Exception as error:
            _log("the source of an event stream could not be closed", error)


async def _sse_async(blocks: AsyncGenerator[bytes], framing: _Framing) -> AsyncIterator[bytes]:
    try:
        async for block in blocks:
            yield block
    except Exception as error:
        for block in framing.fail(error):
            yield block
    finally:
        try:
            await blocks.aclose()
        except Exception as error:
            _log("the source of an event stream could not be closed", error)


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
    stage: StageOf[Any, Any],
    source: Any,
    over: Over = _never,
    pace: Pace | None = None,
    *,
    reading: Reading | EventReading | None = None,
) -> Any:
    """Run a stage over a source until it ends or the stage is `over`; `pace` is for updates.

    With a `Reading` the stage gets text, with an `EventReading` events; else it gets the elements
    as they are.
    """
    opened = open_source(source, in_blocks=reading is not None)
    if isinstance(opened.elements, AsyncIterable):
        if pace is None:
            return _drive_async(stage, opened, over, reading)
        return _paced_async(stage, opened, over, reading, pace)
    if pace is None:
        return _drive_sync(stage, opened, over, reading)
    return _paced_sync(stage, opened, over, reading, pace)


def _decoded(stage: StageOf[Any, U], over: Over, decoder: Decoder) -> tuple[StageOf[Any, U], Over]:
    """The stage with a decoder before it, and a function that tells if either needs no more."""

    def pieces(elements: Iterable[Any]) -> Iterator[Any]:
        for element in elements:
            yield from decoder.flush() if element is END else decoder.feed(element)
            if element is END or decoder.done:
                yield END
                return

    def run(element: Any) -> Iterator[U]:
        for piece in decoder.flush() if element is END else decoder.feed(element):
            yield from stage(piece)
            if over():
                return
        if element is END or decoder.done:
            yield from stage(END)

    def is_over() -> bool:
        return over() or decoder.done

    if isinstance(stage, Loop):
        looped = stage.run
        return Loop(lambda elements: looped(pieces(elements))), is_over
    return run, is_over


def _drive_sync(
    stage: StageOf[Any, U], source: Opened, over: Over, reading: Reading | EventReading | None
) -> Iterator[U]:
    elements = pieces = iter(source.elements)
    ended = False
    try:
        if reading is not None:
            # One look at the first element, so that text costs no more than without.
            first = next((it for it in elements if it is not None), END)
            ended = first is END
            decoder = reading.decoder(None if ended else first, source)
            if decoder is not None:
                stage, over = _decoded(stage, over, decoder)
            pieces = iter(()) if ended else chain((first,), elements)
            if decoder is None and isinstance(reading, Reading):
                pieces = reading.transcript.kept(pieces)
        if isinstance(stage, Loop):
            yield from stage.run(pieces)
            if over():
                return
        else:
            for piece in pieces:
                yield from stage(piece)
                if over():
                    return
        ended = True
        yield from stage(END)
    except JsonrillError as error:
        if isinstance(reading, Reading):
            raise reading.explained(error) from error.__cause__
        raise
    finally:
        close = None if ended else _closer(elements, source.owner, "close")
        if close is not None:
            close()


async def _drive_async(
    stage: StageOf[Any, U], source: Opened, over: Over, reading: Reading | EventReading | None
) -> AsyncGenerator[U]:
    pieces = aiter(source.elements)
    ended, begun = False, reading is None
    keep = _keep_nothing
    try:
        async for piece in pieces:
            if piece is None and reading is not None:
                continue
            if not begun and reading is not None:
                begun = True
                if (decoder := reading.decoder(piece, source)) is not None:
                    stage, over = _decoded(stage, over, decoder)
                elif isinstance(reading, Reading):
                    keep = reading.transcript.add
            keep(piece)
            for out in stage(piece):
                yield out
            if over():
                return
        ended = True
        if not begun and reading is not None:
            if (decoder := reading.decoder(None, source)) is not None:
                stage, over = _decoded(stage, over, decoder)
        for out in stage(END):
            yield out
    except JsonrillError as error:
        if isinstance(reading, Reading):
            raise reading.explained(error) from error.__cause__
        raise
    finally:
        close = None if ended else _closer(pieces, source.owner, "aclose", "close")
        if close is not None:
            inner = inner_streams(source.owner)
            closing = close()
            if isawaitable(closing):
                await closing
            for stream in inner:
                await stream.aclose()


def _paced_sync(
    stage: StageOf[Any, Update],
    source: Opened,
    over: Over,
    reading: Reading | EventReading | None,
    pace: Pace,
) -> Iterator[Update]:
    try:
        yield from _drive_sync(lambda piece: pace.feed(stage(piece)), source, over, reading)
    except Exception:
        yield from pace.flush()
        raise


async def _paced_async(
    stage: StageOf[Any, Update],
    source: Opened,
    over: Over,
    reading: Reading | EventReading | None,
    pace: Pace,
) -> AsyncIterator[Update]:
    """As `_drive_async`, but a held update is emitted when it is due, even if the source stalls."""
    from asyncio import Event, create_task, timeout, wait

    slot: list[Any] = []
    arrived, wanted = Event(), Event()

    async def read() -> None:
        # All in one task, from its first piece to its closing: a source may have opened
        # something (a timeout, a cancel scope) that belongs to the task it was opened in.
        try:
            async with aclosing(_drive_async(_as_is, source, _never, reading)) as pieces:
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


def _keep_nothing(piece: Any) -> None:
    pass


def _as_is(piece: T) -> Iterator[T]:
    yield piece


def _closer(elements: Any, owner: Any, *names: str) -> Callable[[], Any] | None:
    """The method that closes the source, so that `break` stops a generation, or None."""
    found = (getattr(it, name, None) for it in (owner, elements) for name in names)
    return next(filter(callable, found), None)
