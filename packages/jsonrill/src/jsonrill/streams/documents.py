"""Text → values: `values`, `fields`, `partial`, `loads`."""

from __future__ import annotations

from collections.abc import (
    AsyncGenerator,
    AsyncIterable,
    Callable,
    Generator,
    Iterator,
    Mapping,
)
from typing import Any, Unpack, overload

from ..build.document import Document
from ..errors import CutShort, InvalidJSON, InvalidSchema, JsonrillError, LimitExceeded, Truncated
from ..options import TABLE, Missing, ParseOptions, ReadOptions
from ..sources.explain import Transcript, explained
from .driving import END, Loop, Pulled, drive
from .many import ManyDocuments, check_many
from .settings import refuse_other, take_options, without_cut_off
from .types import AnySchema, Ended, Source, Text, V


@overload
def values(
    source: Source,
    schema: AnySchema[V] = None,
    *,
    live: bool = False,
    missing: Missing = "none",
    many: bool = False,
    **options: Unpack[ReadOptions],
) -> Generator[V]: ...
@overload
def values(
    source: AsyncIterable[Any],
    schema: AnySchema[V] = None,
    *,
    live: bool = False,
    missing: Missing = "none",
    many: bool = False,
    **options: Unpack[ReadOptions],
) -> AsyncGenerator[V]: ...
def values(
    source: Any,
    schema: Any = None,
    *,
    live: bool = False,
    missing: Missing = "none",
    many: bool = False,
    **options: Unpack[ReadOptions],
) -> Any:
    """Yield the value after each piece of text that changed it, safe to keep.

    With a `schema` (a pydantic model, a dataclass, any type that a `TypeAdapter` takes) it is an
    instance of that type: partial ones (`is_partial`) on the way, at last the validated one. With a
    JSON Schema values are plain. A violation raises `InvalidSchema`.

    Fields of a partial instance that have not come are None, or their default; with
    `missing="zero"` they are the zero of their type (`""`, `0`, `[]`, a partial model), so that
    `len(trip.stops)` works on the way. With `live=True` the value is not copied, and changes with
    the next piece.

    Options of the source: `tool` (arguments of this tool's calls, True: of any), `choice`,
    `provider`, `sse` (the text is an event stream), `answer` (an `Answer` gets text, end and token
    counts). Of the text: `repair` (True, or names of repairs), `on_repair`, `prefix` (text before
    the answer), `parse_float`, `limits` (a `Limits`).

    With `many=True` the text is one document after another: lines of JSON, or values with nothing
    between them. Offsets in errors then count from the beginning of their document.
    """
    own = ("schema", "live", "missing", "many")
    reading, parsing = take_options("values", options, *own, many=check_many(many))
    if live and schema is not None:
        raise TypeError("live=True shows plain values: leave out live or schema")
    document = _document(schema, parsing, missing)
    stage = value_stage(document, live, reading)
    if many or reading.reads_calls:

        def begin(parsing: Mapping[str, Any]) -> ValueStage:
            return ValueStage(_document(schema, parsing, missing), live)

        stage = ManyDocuments(begin, parsing, splits=many).loop(reading)
    return drive(stage, source, reading=reading)


def value_stage(document: Document, live: bool, reading: Ended | None = None) -> Loop[Text, Any]:
    """The stage of `values`, for a document that the caller keeps."""

    def run(source: Pulled[Text]) -> Iterator[Any]:
        feed, is_live = document.feed, live
        with source as pieces:
            for piece in pieces:
                try:
                    changed = document.flush(cut_of(reading)) if piece is END else feed(piece)
                except (InvalidJSON, InvalidSchema, LimitExceeded) as error:
                    if document.changed:
                        yield document.live if is_live else document.value
                    if error.value is None:
                        error.value = document.value
                    raise
                if changed:
                    yield document.live if is_live else document.value

    return Loop(run)


class ValueStage:
    """The values of one of many documents: after each piece, or only the last one."""

    def __init__(self, document: Document, live: bool, *, each: bool = True) -> None:
        self._document = document
        self._live = live
        self._each = each

    def feed(self, text: str) -> Iterator[Any]:
        return self._read(self._document.feed, text, self._each)

    def flush(self, cut: CutShort | None = None) -> Iterator[Any]:
        return self._read(self._document.flush, cut, True)

    def _read(self, read: Callable[[Any], bool], data: Any, shows: bool) -> Iterator[Any]:
        document = self._document
        try:
            changed = read(data)
        except (InvalidJSON, InvalidSchema, LimitExceeded) as error:
            if document.changed or (document.started and not self._each):
                yield document.live if self._live else document.value
            if error.value is None:
                error.value = document.value
            raise
        if shows and (changed or not self._each):
            yield document.live if self._live else document.value


class _FieldStage:
    """The complete fields of one document."""

    def __init__(self, document: Any) -> None:
        self._document = document

    def feed(self, text: Text) -> Iterator[tuple[str, Any]]:
        return self._read(self._document.feed, text)

    def flush(self, cut: CutShort | None = None) -> Iterator[tuple[str, Any]]:
        return self._read(self._document.flush, cut)

    def _read(self, read: Callable[[Any], bool], data: Any) -> Iterator[tuple[str, Any]]:
        try:
            read(data)
        except (InvalidJSON, InvalidSchema, LimitExceeded):
            yield from self._document.take_fields()
            raise
        yield from self._document.take_fields()


def cut_of(reading: Ended | None) -> CutShort | None:
    """How the answer was cut whose text has ended."""
    return None if reading is None else reading.cut


def _with_schema(schema: Any, options: Mapping[str, Any]) -> Any:
    """As a `Document`, but with a schema. (Its module is imported when it is first needed.)"""
    from ..schema.document import SchemaDocument

    return SchemaDocument(schema, **options)


@overload
def fields(
    source: Source, schema: Any, **options: Unpack[ReadOptions]
) -> Generator[tuple[str, object]]: ...
@overload
def fields(
    source: AsyncIterable[Any], schema: Any, **options: Unpack[ReadOptions]
) -> AsyncGenerator[tuple[str, object]]: ...
def fields(source: Any, schema: Any, **options: Unpack[ReadOptions]) -> Any:
    """Yield the name and the value of each top-level field when it is complete, validated.

    `schema` and options are those of `values`. A field that did not come is not yielded. One that
    changes after it was yielded (a key that comes twice, a validator of the whole) comes again.
    """
    reading, parsing = take_options("values", options, "schema")
    document = _with_schema(schema, parsing)
    if not document.has_fields:
        raise TypeError("the schema has no fields: use values(…) for what is no object")
    if reading.reads_calls:

        def begin(parsing: Mapping[str, Any]) -> _FieldStage:
            return _FieldStage(_with_schema(schema, parsing))

        many = ManyDocuments(begin, parsing, splits=False)
        return drive(many.loop(reading), source, reading=reading)
    fields = _FieldStage(document)

    def stage(piece: Text) -> Iterator[tuple[str, Any]]:
        return fields.flush(reading.cut) if piece is END else fields.feed(piece)

    return drive(stage, source, reading=reading)


def partial(
    text: Text,
    schema: AnySchema[V] = None,
    *,
    missing: Missing = "none",
    **options: Unpack[ParseOptions],
) -> V | None:
    """The value of a text that may be cut off anywhere; InvalidJSON if it cannot become JSON.

    With a `schema` (as `values` takes it) it is an instance of that type, a partial one if the text
    is not complete; `missing` is that of `values`. None if the value has not begun.
    """
    refuse_other("values", options, "schema", "missing")
    # What repair closes would be complete to a schema, and lack fields that may still come.
    document = _document(schema, options if schema is None else without_cut_off(options), missing)
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
    value: V = document.value
    return value


def loads(text: Text, schema: AnySchema[V] = None, **options: Unpack[ParseOptions]) -> V:
    """The value of a whole text; with `repair` it may be nearly JSON.

    With a `schema` (as `values` takes it) it is the validated instance of that type. Errors are
    those of `values`: a text that stops early is `Truncated`, unless `repair` closes it.
    """
    refuse_other("values", options, "schema")
    document = _document(schema, options)
    try:
        document.feed(text)
        document.flush()
    except JsonrillError as error:
        raise _explained(error, text, options) from error.__cause__
    value: V = document.value
    return value


def _document(schema: Any, options: Mapping[str, Any], missing: Missing = "none") -> Any:
    if schema is None and TABLE["missing"].check(missing) == "zero":
        raise TypeError('missing="zero" needs a schema')
    if schema is None:
        return Document(**options)
    return _with_schema(schema, {**options, "missing": missing})


def _explained(error: JsonrillError, text: Text, options: Mapping[str, Any]) -> JsonrillError:
    transcript = Transcript()
    transcript.add(text)
    return explained(error, transcript, strict=not options.get("repair"))
