"""The public functions: a stage over a source. Each takes a sync or an async source."""

from __future__ import annotations

import functools
from collections.abc import (
    AsyncGenerator,
    AsyncIterable,
    Awaitable,
    Callable,
    Generator,
    Iterable,
    Mapping,
    Sequence,
)
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol, TypedDict, Unpack, overload

from .answer import Answer
from .driver import Pace, drive, last_item
from .errors import InvalidJSON, Limits, Truncated, check_names
from .many import Documents, Splitter
from .parse.options import PARSE_OPTIONS, ParseOptions, rule_names
from .paths import Path
from .pipeline import Pipe, Stage
from .sources.options import AnswerOptions
from .stages import (
    CallStage,
    ChunkStage,
    EventStage,
    FieldStage,
    FragmentStage,
    LastValueStage,
    PartStage,
    TextReader,
    ValueStage,
)

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    from .answer_parts import Part
    from .fragment import Fragment
    from .partial_stream import Mode, Update
    from .toolcalls import ToolCalls, ToolCallUpdate

    T = TypeVar("T", default=Any)
    T_co = TypeVar("T_co", covariant=True)

    class Adapter(Protocol[T_co]):
        """What a type checker needs to know about a pydantic `TypeAdapter`."""

        def validate_python(self, object: Any, /) -> T_co: ...

    # A type that pydantic takes, or a JSON Schema.
    Schema = type[T] | Adapter[T] | Mapping[str, Any] | bool | None

Text = str | bytes
# Text, or an iterable of text or of a provider's events.
Source = Text | Iterable[Any]
Provider = str | Callable[[dict[str, Any]], Sequence[Any]]


class SourceOptions(TypedDict, total=False):
    """The options that select which part of a source is read.

    `tool`: the arguments of this tool's calls (True: of any), each of them a document. `choice`:
    which of several answers. `provider`: whose events these are, or a function that reads them.
    `sse`: the text is an event stream. `answer` gets the text, the end and the token counts.
    """

    tool: str | bool | None
    choice: int
    provider: Provider
    sse: bool
    answer: Answer | None


class ReadOptions(ParseOptions, SourceOptions, total=False):
    """The options of the functions that read JSON text from a source."""


class ValueOptions(ReadOptions, total=False):
    """The options of `values`."""

    live: bool
    missing: Literal["none", "zero"]
    many: bool


class UpdateOptions(ReadOptions, total=False):
    """The options of `updates`, which include the options of `PartialStream`."""

    entity: str | Sequence[str] | Mapping[str, str] | None
    send: Literal["data", "delta", "both"]
    partial_numbers: bool
    early_literals: bool
    zero_values: bool
    only_complete: str | Sequence[str]
    every: float | None
    many: bool


class ChunkOptions(TypedDict, total=False):
    """The options of `Chunker`."""

    eager: bool
    null: Literal["value", "placeholder"]
    on_revision: Literal["raise", "keep"]
    verify: bool
    numbers: Literal["growing", "final"]


class CallOptions(TypedDict, total=False):
    """The options of `ToolCalls` and `Parts`."""

    provider: Provider
    schemas: Mapping[str, Any] | None
    repair: bool | Iterable[str]
    on_repair: Callable[[Any], object] | None
    limits: Limits | None
    keep: int | None


class CallStreamOptions(CallOptions, total=False):
    """The options of `tool_calls`."""

    calls: ToolCalls | None
    answer: Answer | None


class PartOptions(CallOptions, total=False):
    """The options of `parts`."""

    choice: int
    answer: Answer | None
    every: float | None


_SOURCE: Final = frozenset(SourceOptions.__annotations__)
_CALLS: Final = frozenset(CallOptions.__annotations__)


def read_options(
    options: Mapping[str, Any], *names: str, **more: Any
) -> tuple[AnswerOptions, dict[str, Any]]:
    """Return the options of the source, and the options of the stage.

    The function takes the options in `names`, too.
    """
    check_names(options, {*names, *ReadOptions.__annotations__})
    rest = dict(options)
    source = {name: rest.pop(name) for name in _SOURCE & rest.keys()}
    if rest.get("repair"):
        # The provider says whether a call is complete.
        rest["repair"] = _rules(rest["repair"], may_close=not source.get("tool"))
    shared = {name: rest[name] for name in ("repair", "prefix") if name in rest}
    return AnswerOptions(**source, **shared, **more), rest


def _rules(repair: Any, *, may_close: bool) -> frozenset[str]:
    """Return the names of the rules that `repair=` selects, without `cut-off` if it may not."""
    return rule_names(repair) - (set() if may_close else {"cut-off"})


def read_text(
    source: Any,
    begin: Callable[[dict[str, Any]], Stage],
    options: Mapping[str, Any],
    *names: str,
    many: bool = False,
    pace: Pace[Any] | None = None,
    is_first_call: bool = False,
) -> Any:
    """Drive the stage that `begin(options)` creates over the text of a source.

    Each document gets its own stage if the text has many, or is the arguments of calls.
    """
    reading, settings = read_options(options, *names, many=many, is_first_call=is_first_call)
    stage = begin(settings)  # raises for wrong options
    reader: Stage = TextReader(reading)
    if many:
        reader = Pipe(reader, Splitter(settings))
    if many or reading.reads_calls:
        stage = Documents(begin, settings)
    return drive(Pipe(reader, stage), source, pace=pace)


# ---- values ----


@overload
def values(
    source: AsyncIterable[Any], schema: Schema[T] = None, **options: Unpack[ValueOptions]
) -> AsyncGenerator[T]: ...
@overload
def values(
    source: Source, schema: Schema[T] = None, **options: Unpack[ValueOptions]
) -> Generator[T]: ...
def values(
    source: Any,
    schema: Any = None,
    *,
    live: bool = False,
    missing: Literal["none", "zero"] = "none",
    many: bool = False,
    **options: Any,
) -> Any:
    """Yield the value after each piece of text that changed it, safe to keep.

    With a `schema` (a pydantic model, a dataclass, any type that a `TypeAdapter` takes) values are
    instances of that type: partial ones (`is_partial`) first, and a validated one at the end. With
    a JSON Schema values are plain. A violation raises `InvalidSchema` at the earliest character.
    Fields that have not arrived are None, or their default; with `missing="zero"` they are the zero
    of their type (`""`, `0`, `[]`, a partial model).

    With `live=True` the value is not copied, and changes with the next piece. With `many=True` the
    text is one document after another: lines of JSON, or values with nothing between them. Offsets
    in errors then count from the beginning of their document.
    """
    if live and schema is not None:
        raise TypeError("live=True shows plain values: leave out live or schema")

    begin = functools.partial(ValueStage, schema, missing, live=live)
    return read_text(source, begin, options, "schema", *ValueOptions.__annotations__, many=many)


@overload
def fields(
    source: AsyncIterable[Any], schema: Any, **options: Unpack[ReadOptions]
) -> AsyncGenerator[tuple[str, object]]: ...
@overload
def fields(
    source: Source, schema: Any, **options: Unpack[ReadOptions]
) -> Generator[tuple[str, object]]: ...
def fields(source: Any, schema: Any, **options: Unpack[ReadOptions]) -> Any:
    """Yield the name and the value of each top-level field when it is complete, validated.

    A missing field is not yielded. A field that changes after it was yielded (because of a repeated
    key, or a validator of the whole model) is yielded again.
    """
    return read_text(source, functools.partial(FieldStage, schema, "none"), options, "schema")


@overload
def loads(
    source: AsyncIterable[Any], schema: Schema[T] = None, **options: Unpack[ReadOptions]
) -> Awaitable[T]: ...
@overload
def loads(source: Source, schema: Schema[T] = None, **options: Unpack[ReadOptions]) -> T: ...
def loads(source: Any, schema: Any = None, **options: Unpack[ReadOptions]) -> Any:
    """Return the final value of a source, validated by the schema; await it if that is async.

    A text that stops early is `Truncated`, unless `repair` closes it.
    """
    begin = functools.partial(LastValueStage, schema, "none")
    return last_item(read_text(source, begin, options, "schema", is_first_call=True))


def partial(
    text: Text,
    schema: Schema[T] = None,
    *,
    missing: Literal["none", "zero"] = "none",
    **options: Unpack[ParseOptions],
) -> T | None:
    """Return the value of a text that may be cut off anywhere; None if it has not begun.

    With a `schema` it is an instance of that type, a partial one if the text is not complete.
    `InvalidJSON` if the text cannot become JSON.
    """
    check_names(options, {"schema", "missing", *PARSE_OPTIONS})
    # Repair would close objects whose fields may still arrive, and the schema would refuse them.
    parsing: dict[str, Any] = {**options}
    if schema is not None and parsing.get("repair"):
        parsing["repair"] = _rules(parsing["repair"], may_close=False)
    stage = ValueStage(schema, missing, parsing)
    stage.feed(text)
    if stage.error is None:
        stage.flush()
        is_cut = isinstance(stage.error, Truncated)
        # Unfinished text may have no value yet.
        if is_cut or (isinstance(stage.error, InvalidJSON) and stage.value is None):
            stage.error = None
    if stage.error is not None:
        stage.rescue(stage.error)
    value: T | None = stage.value
    return value


# ---- values at a path ----


@overload
def select(
    source: AsyncIterable[Any],
    field: str | Path,
    schema: Schema[T] = None,
    **options: Unpack[ReadOptions],
) -> AsyncGenerator[T]: ...
@overload
def select(
    source: Source, field: str | Path, schema: Schema[T] = None, **options: Unpack[ReadOptions]
) -> Generator[T]: ...
def select(
    source: Any, field: str | Path, schema: Any = None, **options: Unpack[ReadOptions]
) -> Any:
    """Yield each value at a path when it is complete, and keep nothing else of the document.

    `field` is a path or a pattern: `"results[*]"`, `"days[*].activities[*].title"`. An array at its
    end selects its elements (`"results"`), a null nothing. With a `schema` each value is of its
    type. `limits.text` counts for each value. `FieldNotFound` at the end if nothing was there.
    """
    from .selection import Selection

    return read_text(source, functools.partial(Selection, field, schema), options, "schema")


@overload
def text(
    source: AsyncIterable[Any], field: str | Path, **options: Unpack[ReadOptions]
) -> AsyncGenerator[str]: ...
@overload
def text(source: Source, field: str | Path, **options: Unpack[ReadOptions]) -> Generator[str]: ...
def text(source: Any, field: str | Path, **options: Unpack[ReadOptions]) -> Any:
    """Yield the text of one string as it grows; joined, the pieces are the string.

    `field` is a path (`"answer"`, `"steps[0].title"`). `FieldNotFound` at the end if it never came,
    or is not a string. When it is complete, the source is closed, and the rest is not read.
    """
    from .selection import TextSelection

    return read_text(source, functools.partial(TextSelection, field), options, is_first_call=True)


# ---- updates, fragments, chunks ----


@overload
def updates(
    source: AsyncIterable[Any],
    mode: Mode | Mapping[str, Mode] = "REALTIME",
    *,
    schema: Schema[T] = None,
    **options: Unpack[UpdateOptions],
) -> AsyncGenerator[Update[T]]: ...
@overload
def updates(
    source: Source,
    mode: Mode | Mapping[str, Mode] = "REALTIME",
    *,
    schema: Schema[T] = None,
    **options: Unpack[UpdateOptions],
) -> Generator[Update[T]]: ...
def updates(
    source: Any,
    mode: Any = "REALTIME",
    *,
    schema: Any = None,
    every: float | None = None,
    many: bool = False,
    **options: Any,
) -> Any:
    """Yield updates of the entities in a text, in one of five modes.

    It takes the options of `PartialStream`. After an ERROR of the stream the source is closed.

    With `every`, a PARTIAL is emitted at most once in that many seconds. Updates in between are
    merged into one, which is always emitted: when it is due, before the next COMPLETED or ERROR, or
    at the end. A sync source blocks while it waits, so its merged update comes with the next one.
    """
    if isinstance(mode, type):
        raise TypeError(f"the second argument is the mode: pass schema={mode.__name__}")
    from .partial_stream import PartialStream

    documents: list[PartialStream] = []

    def begin(settings: dict[str, Any]) -> Any:
        documents.append(PartialStream(mode, schema=schema, **settings))
        if len(documents) > 1:
            documents[1].follow(documents.pop(0))
        return documents[0]

    pace = None if every is None else Pace(every, lambda held, new: new.absorb(held), _is_urgent)
    names = ("schema", *UpdateOptions.__annotations__)
    return read_text(source, begin, options, *names, many=many, pace=pace)


def _is_urgent(update: Update) -> bool:
    return update.status != "PARTIAL"


@overload
def fragments(
    source: AsyncIterable[Any], **options: Unpack[ReadOptions]
) -> AsyncGenerator[Fragment]: ...
@overload
def fragments(source: Source, **options: Unpack[ReadOptions]) -> Generator[Fragment]: ...
def fragments(source: Any, **options: Unpack[ReadOptions]) -> Any:
    """Yield the fragments of a text, each as soon as it is known."""
    return read_text(source, FragmentStage, options)


@overload
def chunks(source: AsyncIterable[Any], **options: Unpack[ChunkOptions]) -> AsyncGenerator[str]: ...
@overload
def chunks(source: Source, **options: Unpack[ChunkOptions]) -> Generator[str]: ...
def chunks(source: Any, **options: Unpack[ChunkOptions]) -> Any:
    """Yield chunks of JSON text for snapshots of a growing value.

    Joined, they are the last snapshot. It takes the options of `Chunker`, and skips empty chunks.
    """
    check_names(options, ChunkOptions.__annotations__)
    return drive(ChunkStage(options), source, in_blocks=False)


# ---- a provider's stream ----


@overload
def content(
    source: AsyncIterable[Any], **options: Unpack[SourceOptions]
) -> AsyncGenerator[str]: ...
@overload
def content(source: Source, **options: Unpack[SourceOptions]) -> Generator[str]: ...
def content(source: Any, **options: Unpack[SourceOptions]) -> Any:
    """Yield the text of the answer in a provider's stream, without reasoning and tool calls.

    The source is a provider's stream, or a response or text that holds its events.
    """
    check_names(options, _SOURCE - {"tool"})
    return drive(Pipe(TextReader(AnswerOptions(**options, reads_events=True)), Stage()), source)


@overload
def tool_calls(
    source: AsyncIterable[Any], **options: Unpack[CallStreamOptions]
) -> AsyncGenerator[ToolCallUpdate]: ...
@overload
def tool_calls(
    source: Source, **options: Unpack[CallStreamOptions]
) -> Generator[ToolCallUpdate]: ...
def tool_calls(
    source: Any, *, calls: Any = None, answer: Answer | None = None, **options: Any
) -> Any:
    """Yield an update for each change of a tool call in a provider's stream (`update.call`).

    It takes the options of `ToolCalls`; pass one as `calls` to keep it, or for the next turn.
    `SourceFailed` is raised at the end if the provider reported an error.
    """
    check_names(options, {"calls", "answer", *_CALLS})
    if calls is not None and options:
        raise TypeError(f"calls is given, so it cannot have {', '.join(sorted(options))} too")
    stage = CallStage(calls, answer, options)
    return drive(Pipe(stage.events, stage), source)


@overload
def parts(source: AsyncIterable[Any], **options: Unpack[PartOptions]) -> AsyncGenerator[Part]: ...
@overload
def parts(source: Source, **options: Unpack[PartOptions]) -> Generator[Part]: ...
def parts(
    source: Any,
    *,
    choice: int = 0,
    answer: Answer | None = None,
    every: float | None = None,
    **options: Any,
) -> Any:
    """Yield the parts of an answer as they grow: text, reasoning, calls and results, in order.

    `SourceFailed` is raised at the end if the provider reported an error. A text that was cut is
    never `complete`, and its `error` says why; a call that was cut has the status `truncated`.
    With `every`, changes of one part are merged and emitted at most once in that many seconds.
    """
    check_names(options, {"choice", "answer", "every", *_CALLS} - {"keep"})
    stage = PartStage(choice, answer, options)
    pace = None if every is None else Pace(every, _merge_parts, _is_complete)
    return drive(Pipe(stage.events, stage), source, pace=pace)


def _merge_parts(held: Part, part: Part) -> Part | None:
    if (held.turn, held.index, held.kind) != (part.turn, part.index, part.kind):
        return None
    part.delta = held.delta + part.delta
    return part


def _is_complete(part: Part) -> bool:
    return part.complete or part.error is not None


@overload
def sse(source: AsyncIterable[Any], *, retry: int | None = None) -> AsyncGenerator[bytes]: ...
@overload
def sse(source: Iterable[Any], *, retry: int | None = None) -> Generator[bytes]: ...
def sse(source: Any, *, retry: int | None = None) -> Any:
    """Yield the bytes of server-sent events: one for each update, part, value or text, then CLOSE.

    Empty texts are skipped, and CLOSE is always sent. If the source raises, an ERROR is sent before
    CLOSE. For bad data it describes the problem; for anything else its code is SOURCE_FAILED, and
    the exception is logged. Bytes are complete events and pass unchanged. Events of `to_ai_sdk` and
    `to_ag_ui` end as their clients expect. When the client disconnects (the generator is closed, or
    its task cancelled), the source is closed. `retry` is sent with the first event, in
    milliseconds.
    """
    if isinstance(source, (str, bytes, Mapping)):
        raise TypeError(f"sse() takes an iterable of updates, not {type(source).__name__}")
    return drive(EventStage(retry, source), source, in_blocks=False)
