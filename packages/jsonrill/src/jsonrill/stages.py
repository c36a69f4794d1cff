"""The stages of the public functions: a source's text, and thin wrappers of its readers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NoReturn

from .answer import Answer, joined
from .document import Document
from .driver import log_error
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
from .eventstream import (
    CLOSE,
    DONE,
    ClientStream,
    encode_event,
    event_data,
    is_event_stream,
    is_lines,
)
from .pipeline import Stage
from .sources.explain import explain
from .sources.opening import TEXT, Opened
from .sources.options import AnswerOptions

if TYPE_CHECKING:
    from .toolcalls import ToolCalls


# The errors that reading a text may raise.
BAD_TEXT: Final = (InvalidJSON, InvalidSchema, LimitExceeded)
# How many characters of a text are kept for its errors.
_KEPT: Final = 1 << 16


class TextReader(Stage):
    """The text of a source. The first element decides what the elements are.

    Text passes unchanged unless it is an event stream. Anything else is a provider's event.
    """

    def __init__(self, options: AnswerOptions) -> None:
        self._options = options
        self._sse, self._has_events = options.sse, options.has_events
        self._is_decided = False

    def open(self, source: Opened) -> None:
        self._sse = self._sse or is_event_stream(source.content_type)
        is_lined = is_lines(source.content_type) and not self._options.many
        self._has_events = self._has_events or self._sse or is_lined

    def feed(self, element: Any) -> Iterable[Any]:
        """Return the pieces of text in an element."""
        self._decide(not isinstance(element, TEXT))
        if self.rest is not None:
            return self.rest.feed(element)
        if self._options.answer is not None:
            self._options.answer.add(element)
        return (element,)

    def flush(self, cut: CutShort | None = None) -> Iterable[Any]:
        """Return the last pieces; raise an error if the source is not what was requested."""
        self._decide(False)
        return () if self.rest is None else self.rest.flush()

    def _decide(self, is_event: bool) -> None:
        if self._is_decided:
            return
        self._is_decided = True
        if is_event or self._has_events:
            from .sources.answer import AnswerReader

            self.rest = AnswerReader(self._options, sse=self._sse)
        elif self._options.answer is not None:
            self._options.answer.begin()
        else:
            self.passes = True


class Reading(Stage):
    """A stage around an object whose `feed` and `flush` read text and may raise.

    Subclasses turn their results into items; after an error the result is None. The beginning of
    the text is kept for error messages.
    """

    def __init__(self, reader: Any, options: Mapping[str, Any]) -> None:
        self._reader = reader
        self._options = options
        self._beginning: list[Any] = []
        self._room = _KEPT

    def feed(self, piece: Any) -> Sequence[Any]:
        try:
            result = self._reader.feed(piece)
        except BAD_TEXT as error:
            self.fail(error)
            result = None
        if self._room > 0:
            self._beginning.append(piece)
            self._room -= len(piece)
        return self._items(result)

    def flush(self, cut: CutShort | None = None) -> Sequence[Any]:
        try:
            result = self._reader.flush(cut)
        except BAD_TEXT as error:
            self.fail(error)
            result = None
        return self._items(result)

    def rescue(self, error: Exception) -> NoReturn:
        """Raise the error with the text so far, and with a helpful message."""
        if isinstance(error, JsonrillError):
            error = explain(error, joined(self._beginning)[:_KEPT], self._options)
        raise error

    def _items(self, result: Any) -> Sequence[Any]:
        raise NotImplementedError


# ---- one document ----


class ValueStage(Reading):
    """The value after each piece that changed it."""

    def __init__(
        self, schema: Any, missing: Any, options: Mapping[str, Any], live: bool = False
    ) -> None:
        if missing not in ("none", "zero"):
            raise ValueError(f"missing must be one of none, zero, not {missing!r}")
        if schema is not None:
            from .schema.document import SchemaDocument  # loads pydantic

            super().__init__(SchemaDocument(schema, missing == "zero", **options), options)
        elif missing == "zero":
            raise TypeError('missing="zero" needs a schema')
        else:
            super().__init__(Document(**options), options)
        self._live = live

    @property
    def value(self) -> Any:
        return self._reader.value

    def fail(self, error: Exception) -> None:
        super().fail(error)
        if isinstance(error, JsonrillError) and error.value is None:
            error.value = self._reader.value

    def _items(self, result: Any) -> Sequence[Any]:
        document = self._reader
        if not (document.changed if result is None else result):
            return ()
        return (document.live if self._live else document.value,)


class LastValueStage(ValueStage):
    """Only the value of the complete document."""

    def flush(self, cut: CutShort | None = None) -> Sequence[Any]:
        super().flush(cut)
        return () if self.ended else (self._reader.value,)

    def _items(self, result: Any) -> Sequence[Any]:
        return ()


class FieldStage(ValueStage):
    """The top-level fields of a document with a schema, when they are complete."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        schema = getattr(self._reader, "schema", None)
        if schema is None or not schema.node.allows("object"):
            raise TypeError("the schema has no fields: use values(…) for anything but an object")

    def _items(self, result: Any) -> Sequence[Any]:
        fields: list[tuple[str, Any]] = self._reader.take_fields()
        return fields


class FragmentStage(Reading):
    """The fragments of a text."""

    def __init__(self, options: Mapping[str, Any]) -> None:
        from .fragment import Parser

        super().__init__(Parser(**options), options)

    def _items(self, result: Any) -> Sequence[Any]:
        fragments: Sequence[Any] = (
            getattr(self.error, "fragments", ()) if result is None else result
        )
        return fragments


class ChunkStage(Stage):
    """The chunks of snapshots, without empty ones."""

    def __init__(self, options: Mapping[str, Any]) -> None:
        from .chunker import Chunker

        self._chunker = Chunker(**options)

    def feed(self, piece: Any) -> Iterable[str]:
        return filter(None, (self._chunker.feed(piece),))

    def flush(self, cut: CutShort | None = None) -> Iterable[str]:
        return filter(None, (self._chunker.flush(),))


# ---- a provider's events ----


class CallStage(Stage):
    """The updates of the tool calls in a provider's stream, which `events` reads."""

    def __init__(
        self, calls: ToolCalls | None, answer: Answer | None, options: Mapping[str, Any]
    ) -> None:
        from . import ToolCalls
        from .providers.ending import Ending
        from .sources.events import EventReader

        if not isinstance(calls, ToolCalls | None):
            raise TypeError(f"calls must be a ToolCalls object, not {calls!r}")
        self._calls = ToolCalls(**options) if calls is None else calls
        self._reader = self._calls.reader
        self.events = EventReader(self._reader.named)
        self._ending = Ending(answer=answer)
        # Other streams may be read into the same calls: this one ends only its own messages.
        self._messages: set[str] = set()

    def feed(self, piece: Any) -> Sequence[Any]:
        statements = self._reader.feed(piece)
        self._ending.read(statements)
        updates = self._calls.read(statements)
        self._messages.update(update.message_id for update in updates)
        return updates

    def flush(self, cut: CutShort | None = None) -> Sequence[Any]:
        self._ending.end(ends=self._reader.ends and not self.events.said_done)
        updates = self._calls.flush(*sorted(self._messages)) if self._messages else ()
        if self._ending.failure is not None:
            self.fail(SourceFailed(self._ending.failure))
        return updates


class PartStage(Stage):
    """The parts of an answer in a provider's stream, which `events` reads."""

    def __init__(self, choice: int, answer: Answer | None, options: Mapping[str, Any]) -> None:
        from . import Parts
        from .sources.events import EventReader

        self._parts = Parts(choice=choice, answer=answer, **options)
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
    """Items → the bytes of events. The last event is CLOSE, or the one that the client expects."""

    def __init__(self, retry: int | None, source: Any) -> None:
        if retry is not None:
            encode_event(DONE, retry=retry)  # refuses a wrong one
        self._retry = retry
        self._client = source if isinstance(source, ClientStream) else None

    def feed(self, piece: Any) -> list[bytes]:
        if isinstance(piece, bytes):
            self.ended = piece.startswith(CLOSE)  # nothing may come after it
            return [piece] if piece else []
        data = event_data(piece)
        return [self._encode(data)] if data else []

    def flush(self, cut: CutShort | None = None) -> list[bytes]:
        if self._client is None:
            return [self._encode(DONE, "CLOSE")]
        return [] if self._client.done is None else [self._encode(self._client.done)]

    def rescue(self, error: Exception) -> list[bytes]:
        if self._client is None and isinstance(error, (*BAD_TEXT, FieldNotFound)):
            problem = stream_error(error)
        else:
            log_error("the source of an event stream failed", error)
            problem = SourceFailed("the source failed").to_dict()
        if self.ended:
            return []
        if self._client is not None:  # its own events report the failure
            return self.flush()
        return [*self.feed({"status": "ERROR", "error": problem}), *self.flush()]

    def _encode(self, data: str, event: str | None = None) -> bytes:
        retry, self._retry = self._retry, None
        return encode_event(data, event=event, retry=retry)
