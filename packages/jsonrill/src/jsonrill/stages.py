"""The stages of the public functions: thin objects around what reads text, snapshots or events."""

from __future__ import annotations

from codecs import getincrementaldecoder
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .answer import Answer
from .document import Document
from .driver import Stage, log_error
from .errors import (
    CutShort,
    FieldNotFound,
    InvalidJSON,
    InvalidSchema,
    JsonrillError,
    LimitExceeded,
    SourceFailed,
    stream_error,
)
from .eventstream import CLOSE, ClientStream, SSEEncoder, encode_event, event_data
from .parse.create import PARSE_OPTIONS, create_machine
from .parse.sink import Sink
from .paths import Path

if TYPE_CHECKING:
    from .toolcalls import ToolCalls

# What reading a text may raise.
_BAD_TEXT = (InvalidJSON, InvalidSchema, LimitExceeded)


def create_document(schema: Any, missing: Any, options: Mapping[str, Any]) -> Any:
    """Return a `Document`, or with a schema a document of its type."""
    if missing not in ("none", "zero"):
        raise ValueError(f"missing is one of none, zero, not {missing!r}")
    if schema is not None:
        from .schema.document import SchemaDocument  # loads pydantic

        return SchemaDocument(schema, missing=missing, **options)
    if missing == "zero":
        raise TypeError('missing="zero" needs a schema')
    return Document(**options)


class ValueStage(Stage):
    """The value after each piece that changed it."""

    def __init__(self, document: Any, live: bool = False) -> None:
        self._document = document
        self._live = live

    def feed(self, piece: Any) -> Sequence[Any]:
        document = self._document
        try:
            is_changed = document.feed(piece)
        except _BAD_TEXT as error:
            return self._fail(error)
        if not is_changed:
            return ()
        return (document.live if self._live else document.value,)

    def flush(self, cut: CutShort | None = None) -> Sequence[Any]:
        document = self._document
        try:
            is_changed = document.flush(cut)
        except _BAD_TEXT as error:
            return self._fail(error)
        return (document.live if self._live else document.value,) if is_changed else ()

    def _fail(self, error: JsonrillError) -> Sequence[Any]:
        document = self._document
        self.fail(error)
        if error.value is None:
            error.value = document.value
        return (document.live if self._live else document.value,) if document.changed else ()


class LastValueStage(ValueStage):
    """Only the value of the complete document; or, if it `shows_partial`, that before an error."""

    def __init__(self, document: Any, *, shows_partial: bool = False) -> None:
        super().__init__(document)
        self._shows_partial = shows_partial

    def feed(self, piece: Any) -> Sequence[Any]:
        super().feed(piece)
        return self._value_at_error()

    def flush(self, cut: CutShort | None = None) -> Sequence[Any]:
        super().flush(cut)
        return self._value_at_error() if self.ended else (self._document.value,)

    def _value_at_error(self) -> Sequence[Any]:
        is_shown = self.ended and self._shows_partial and self._document.started
        return (self._document.value,) if is_shown else ()


class FieldStage(Stage):
    """The top-level fields of a document with a schema, when they are complete."""

    def __init__(self, document: Any) -> None:
        schema = getattr(document, "schema", None)
        if schema is None or not schema.takes_objects:
            raise TypeError("the schema has no fields: use values(…) for what is not an object")
        self._document = document

    def feed(self, piece: Any) -> Sequence[Any]:
        return self._read(self._document.feed, piece)

    def flush(self, cut: CutShort | None = None) -> Sequence[Any]:
        return self._read(self._document.flush, cut)

    def _read(self, read: Callable[[Any], Any], data: Any) -> Sequence[Any]:
        try:
            read(data)
        except _BAD_TEXT as error:
            self.fail(error)
        fields: list[tuple[str, Any]] = self._document.take_fields()
        return fields


class FragmentStage(Stage):
    """The fragments of a text."""

    def __init__(self, options: Mapping[str, Any]) -> None:
        from .fragment import Parser

        self._parser = Parser(**options)

    def feed(self, piece: Any) -> Sequence[Any]:
        return self._read(self._parser.feed, piece)

    def flush(self, cut: CutShort | None = None) -> Sequence[Any]:
        return self._read(self._parser.flush, cut)

    def _read(self, read: Callable[[Any], Sequence[Any]], data: Any) -> Sequence[Any]:
        try:
            return read(data)
        except (InvalidJSON, LimitExceeded) as error:
            self.fail(error)
            return error.fragments


class TextStage(Stage):
    """The pieces of the string at a path; it has ended when the string is complete."""

    def __init__(self, field: str | Path, read_all: bool, options: Mapping[str, Any]) -> None:
        from .selection import Field, TextSink

        self._sink = TextSink(Field(field))
        self._machine = create_machine(self._sink, options)
        self._read_all = read_all

    def feed(self, piece: Any) -> Sequence[str]:
        return self._read(self._machine.feed, piece)

    def flush(self, cut: CutShort | None = None) -> Sequence[str]:
        pieces = self._read(self._machine.flush, cut)
        if not self.ended:
            try:
                self._sink.field.check()
            except JsonrillError as error:
                self.fail(error)
        return pieces

    def _read(self, read: Callable[[Any], None], data: Any) -> Sequence[str]:
        try:
            read(data)
        except (InvalidJSON, LimitExceeded) as error:
            # An error behind the string does not matter, unless everything is read.
            if self._read_all or not self._sink.ended:
                self.fail(error)
        self.ended = self.ended or (self._sink.ended and not self._read_all)
        pieces, self._sink.pieces = self._sink.pieces, []
        return pieces


class UpdateStage(Stage):
    """The updates of a text. Entities are counted in `counts`, over many documents."""

    def __init__(
        self, mode: Any, schema: Any, options: Mapping[str, Any], counts: dict[Any, int]
    ) -> None:
        from .partial_stream import PartialStream

        self._stream = PartialStream(mode, schema=schema, **options)
        self._counts = counts
        self._before = dict(counts)

    def feed(self, piece: Any) -> Sequence[Any]:
        return self._counted(self._stream.feed(piece))

    def flush(self, cut: CutShort | None = None) -> Sequence[Any]:
        return self._counted(self._stream.flush(cut))

    def _counted(self, updates: list[Any]) -> Sequence[Any]:
        self.ended = self._stream.ended
        for update in updates:
            if update.index is not None:
                update.index += self._before.get(update.entity, 0)
                self._counts[update.entity] = update.index + 1
        return updates


class ChunkStage(Stage):
    """The chunks of snapshots, without empty ones."""

    def __init__(self, options: Mapping[str, Any]) -> None:
        from .chunker import Chunker

        self._chunker = Chunker(**options)

    def feed(self, piece: Any) -> Sequence[str]:
        chunk = self._chunker.feed(piece)
        return (chunk,) if chunk else ()

    def flush(self, cut: CutShort | None = None) -> Sequence[str]:
        chunk = self._chunker.flush()
        return (chunk,) if chunk else ()


# ---- one document after another ----


class _End(Sink):
    """Notices that a document is complete."""

    def __init__(self) -> None:
        self.is_complete = False

    def complete(self, offset: int) -> None:
        self.is_complete = True

    def takes_values(self) -> bool:
        return True


class DocumentsStage(Stage):
    """One document after another, each read by a stage of its own that `begin(options)` makes.

    A separator (RFC 7464), as between the arguments of two calls, ends a document. With `splits`
    it also ends where more text follows a complete value, which a second machine finds. The first
    error in a call is raised at the end, so that the calls after it are read.
    """

    def __init__(
        self, begin: Callable[[dict[str, Any]], Stage], options: dict[str, Any], *, splits: bool
    ) -> None:
        self._begin = begin
        self._options = dict(options)
        self._splits = splits
        self._decoder = getincrementaldecoder("utf-8")("strict")
        self._stage: Stage | None = None
        self._is_skipping = False
        self._late_error: Exception | None = None

    def feed(self, piece: Any) -> Sequence[Any]:
        try:
            text = piece if isinstance(piece, str) else self._decoder.decode(piece)
        except UnicodeDecodeError as error:
            self.fail(InvalidJSON(f"expected UTF-8: {error.reason}"))
            return ()
        first, *others = text.split("\x1e")
        items = self._read(first)
        for record in others:
            items += self._end_document()
            self._is_skipping = False
            items += self._read(record)
        return items

    def flush(self, cut: CutShort | None = None) -> Sequence[Any]:
        was_open = self._stage is not None
        items = self._end_document(cut)
        if not self.ended and self._late_error is not None:
            self.fail(self._late_error)
        # If the provider cut the answer, more documents might have come.
        if not self.ended and cut is not None and (cut.reason != "lost" or not was_open):
            self._stage = self._begin(self._options)
            items += self._end_document(cut)
        return items

    def _read(self, text: str) -> list[Any]:
        items: list[Any] = []
        while text and not self.ended and not self._is_skipping:
            stage = self._stage
            if stage is None:
                text = text.lstrip(" \t\r\n\ufeff")
                if not text:
                    break
                stage = self._start()
            own, text = self._split(text)
            items += self._take(stage, stage.feed(own))
            if text:
                items += self._end_document()
        return items

    def _start(self) -> Stage:
        """Begin a document."""
        stage = self._stage = self._begin(self._options)
        known = PARSE_OPTIONS & self._options.keys() - {"on_repair"}
        self._end = _End()
        parsing = {name: self._options[name] for name in known}
        self._probe = create_machine(self._end, parsing)
        self._options.pop("prefix", None)
        # The text from the piece on that completed the document, and where the piece began.
        self._tail, self._tail_start = "", 0
        return stage

    def _split(self, text: str) -> tuple[str, str]:
        """Return the text of this document, and that of the next one if one begins."""
        if not self._splits:
            return text, ""
        if not self._end.is_complete:
            self._tail_start, self._tail = self._tail_start + len(self._tail), ""
        self._tail += text
        try:
            self._probe.feed(text)
        except JsonrillError as error:
            if self._end.is_complete and error.offset is not None:
                rest = self._tail[max(error.offset - self._tail_start, 0) :]
                return text[: max(len(text) - len(rest), 0)], rest
        return text, ""

    def _end_document(self, cut: CutShort | None = None) -> list[Any]:
        stage, self._stage = self._stage, None
        if stage is None:
            return []
        items = stage.flush(cut)
        stage.ended = stage.error is not None
        return self._take(stage, items)

    def _take(self, stage: Stage, items: Sequence[Any]) -> list[Any]:
        """Return the items of a stage; if it has ended early, end as well, or skip its text."""
        if stage.ended and self._splits:
            self.error, self.ended = stage.error, True
        elif stage.ended:
            self._late_error = self._late_error or stage.error
            self._stage, self._is_skipping = None, True
        return list(items)


# ---- a provider's events ----


class CallStage(Stage):
    """The updates of the tool calls in a provider's stream, which `events` reads."""

    def __init__(
        self, calls: ToolCalls | None, answer: Answer | None, options: Mapping[str, Any]
    ) -> None:
        from . import ToolCalls
        from .providers.ending import Watch
        from .providers.statements import Finish
        from .sources.events import EventReader

        if not isinstance(calls, ToolCalls | None):
            raise TypeError(f"calls is a ToolCalls object, not {calls!r}")
        if not isinstance(answer, Answer | None):
            raise ValueError(f"answer is an Answer object, not {answer!r}")
        self._calls = ToolCalls(**options) if calls is None else calls
        self._reader = self._calls.reader
        self.events = EventReader(self._reader.named)
        self._finish = Finish
        self._watch = None if answer is None else Watch(answer)
        # Other streams may be read into the same calls: this one ends only its own messages.
        self._messages: set[str] = set()
        self._failure: str | None = None

    def feed(self, piece: Any) -> Sequence[Any]:
        statements = self._reader.feed(piece)
        if self._watch is not None:
            self._watch.read(statements)
        for statement in statements:
            if isinstance(statement, self._finish) and statement.reason == "error":
                self._failure = self._failure or statement.detail
        updates = self._calls.read(statements)
        self._messages.update(update.message_id for update in updates)
        return updates

    def flush(self, cut: CutShort | None = None) -> Sequence[Any]:
        if self._watch is not None:
            self._watch.end(ends=self._reader.ends and not self.events.said_done)
        updates = self._calls.flush(*sorted(self._messages)) if self._messages else ()
        if self._failure is not None:
            self.fail(SourceFailed(self._failure))
        return updates


class PartStage(Stage):
    """The parts of an answer in a provider's stream, which `events` reads."""

    def __init__(self, choice: int, answer: Answer | None, options: Mapping[str, Any]) -> None:
        from . import Parts
        from .sources.events import EventReader

        self._parts = Parts(choice=choice, **options)
        self._parts.tell(answer)
        self.events = EventReader(options.get("provider", "auto"))

    def feed(self, piece: Any) -> Sequence[Any]:
        return self._parts.feed(piece)

    def flush(self, cut: CutShort | None = None) -> Sequence[Any]:
        parts = self._parts.flush(done=self.events.said_done)
        if self._parts.error is not None:
            self.fail(SourceFailed(self._parts.error))
        return parts


# ---- server-sent events ----


class EventStage(Stage):
    """Items → the bytes of events. The last one is CLOSE, or what the source's client expects."""

    def __init__(self, retry: int | None, source: Any) -> None:
        self._encoder = SSEEncoder(retry=retry)
        self._client = source if isinstance(source, ClientStream) else None

    def feed(self, piece: Any) -> list[bytes]:
        if isinstance(piece, bytes):
            if piece.startswith(CLOSE):
                self._encoder.flush()  # nothing may come after it
            return [piece] if piece else []
        data = event_data(piece)
        return [self._encoder.feed(data)] if data else []

    def flush(self, cut: CutShort | None = None) -> list[bytes]:
        if self._client is None:
            last = self._encoder.flush()
            return [last] if last else []
        return [] if self._client.done is None else [encode_event(self._client.done)]

    def error_events(self, error: Exception) -> list[bytes]:
        """Return the events for an exception of the source."""
        if self._client is not None:  # its own events tell about a failure
            log_error("the source of an event stream failed", error)
            return self.flush()
        if isinstance(error, (InvalidJSON, InvalidSchema, LimitExceeded, FieldNotFound)):
            problem = stream_error(error)
        else:
            log_error("the source of an event stream failed", error)
            problem = SourceFailed("the source failed").to_dict()
        if self._encoder.closed:
            return []
        return [self._encoder.feed({"status": "ERROR", "error": problem}), *self.flush()]
