"""The stages of the public functions: a source's text, and thin objects around what reads it."""

from __future__ import annotations

from codecs import getincrementaldecoder
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from .answer import Answer, joined
from .document import Document
from .driver import log_error
from .errors import (
    CutShort,
    FieldNotFound,
    JsonrillError,
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
from .parse.machine import Sink
from .parse.options import PARSE_OPTIONS, create_machine
from .parse.states import END, EXPECTED
from .pipeline import BAD_TEXT, Reading, Stage
from .sources.explain import explain
from .sources.opening import TEXT, Opened
from .sources.options import NEXT_CALL, AnswerOptions

if TYPE_CHECKING:
    from .partial_stream import Update
    from .sources.answer import AnswerReader
    from .toolcalls import ToolCalls

# How many characters of an answer are kept for its errors.
_KEPT: Final = 1 << 16


class Beginning:
    """The beginning of a text, kept for an error."""

    def __init__(self) -> None:
        self._pieces: list[Any] = []
        self._size = 0

    def add(self, piece: Any) -> None:
        if self._size < _KEPT and (type(piece) is str or isinstance(piece, TEXT)):
            self._pieces.append(piece)
            self._size += len(piece)

    @property
    def text(self) -> str:
        return joined(self._pieces)[:_KEPT]


class TextReader(Stage):
    """The text of a source. The first element decides what the elements are.

    Text stays as it is, unless it is an event stream; anything else is an event of a provider.
    """

    def __init__(self, options: AnswerOptions) -> None:
        self._options = options
        self._answer = options.answer
        self._sse, self._has_events = options.sse, options.has_events
        # What reads events; None for plain text.
        self._events: AnswerReader | None = None
        self._is_decided = False
        self.beginning = Beginning()

    def open(self, source: Opened) -> None:
        self._sse = self._sse or is_event_stream(source.content_type)
        is_lined = is_lines(source.content_type) and not self._options.many
        self._has_events = self._has_events or self._sse or is_lined

    def feed(self, element: Any) -> Iterable[Any]:
        """Return the pieces of text in an element, which may be None in a list of deltas."""
        if element is None:
            return ()
        if not self._is_decided:
            self._decide(not isinstance(element, TEXT))
        if self._events is not None:
            return self._read(self._events.feed(element))
        if self._answer is not None:
            self._answer.add(element)
        self.beginning.add(element)
        return (element,)

    def flush(self, cut: CutShort | None = None) -> Iterable[Any]:
        """Return the last pieces; raise an error if the source is not what was requested."""
        if not self._is_decided:
            self._decide(False)
        return () if self._events is None else self._read(self._events.flush())

    def explain(self, error: Exception) -> Exception:
        """Return the error with the text that was read, and with a helpful message."""
        if not isinstance(error, JsonrillError):
            return error
        options = self._options
        return explain(error, self.beginning.text, repair=options.repair, prefix=options.prefix)

    def _read(self, pieces: Iterator[str]) -> Iterator[str]:
        for piece in pieces:
            self.beginning.add(piece)
            yield piece
        if self._events is not None:
            self.ended, self.cut = self._events.ended, self._events.cut

    def _decide(self, is_event: bool) -> None:
        self._is_decided = True
        if is_event or self._has_events:
            from .sources.answer import AnswerReader

            self._events = AnswerReader(self._options, sse=self._sse)
        elif self._answer is not None:
            self._answer.begin()


# ---- one document ----


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


class ValueStage(Reading):
    """The value after each piece that changed it."""

    def __init__(
        self, schema: Any, missing: Any, options: Mapping[str, Any], live: bool = False
    ) -> None:
        super().__init__(create_document(schema, missing, options))
        self._live = live

    def fail(self, error: Exception) -> None:
        super().fail(error)
        if isinstance(error, JsonrillError) and error.value is None:
            error.value = self._reader.value

    def _items(self, found: Any) -> Sequence[Any]:
        document = self._reader
        if not (document.changed if found is None else found):
            return ()
        return (document.live if self._live else document.value,)


class LastValueStage(ValueStage):
    """Only the value of the complete document."""

    def flush(self, cut: CutShort | None = None) -> Sequence[Any]:
        super().flush(cut)
        return () if self.ended else (self._reader.value,)

    def _items(self, found: Any) -> Sequence[Any]:
        return ()


class FieldStage(ValueStage):
    """The top-level fields of a document with a schema, when they are complete."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        schema = getattr(self._reader, "schema", None)
        if schema is None or not schema.node.allows("object"):
            raise TypeError("the schema has no fields: use values(…) for what is not an object")

    def _items(self, found: Any) -> Sequence[Any]:
        fields: list[tuple[str, Any]] = self._reader.take_fields()
        return fields


class FragmentStage(Reading):
    """The fragments of a text."""

    def __init__(self, options: Mapping[str, Any]) -> None:
        from .fragment import Parser

        super().__init__(Parser(**options))

    def _items(self, found: Any) -> Sequence[Any]:
        fragments: Sequence[Any] = getattr(self.error, "fragments", ()) if found is None else found
        return fragments


class UpdateStage(Reading):
    """The updates of a text. Entities are counted in `counts`, over many documents."""

    def __init__(
        self, mode: Any, schema: Any, options: Mapping[str, Any], counts: dict[Any, int]
    ) -> None:
        from .partial_stream import PartialStream

        super().__init__(PartialStream(mode, schema=schema, **options))
        self._counts = counts
        self._before = dict(counts)

    def _items(self, found: Any) -> Sequence[Any]:
        updates: list[Update] = found
        # After `flush` it has ended, too; here only if that was because of an error.
        self.ended = self._reader.ended and updates != [] and updates[-1].status == "ERROR"
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
    """Detect where a document is complete."""

    offset: int | None = None

    def complete(self, offset: int) -> None:
        self.offset = offset

    def takes_values(self) -> bool:
        return True


class DocumentsStage(Stage):
    """Read one document after another, each with a new stage from `begin(options)`.

    With `splits` a document ends at a separator (RFC 7464), or where more text follows a complete
    value, which a second machine finds. Otherwise each call is a document; the first error in a
    call is raised at the end, so that the calls after it are read.
    """

    def __init__(
        self, begin: Callable[[dict[str, Any]], Stage], options: dict[str, Any], *, splits: bool
    ) -> None:
        self._begin = begin
        self._options = dict(options)
        self._splits = splits
        self._decoder = getincrementaldecoder("utf-8")("strict")
        self._stage: Stage | None = None
        self._beginning, self._tail = Beginning(), ""
        self._is_skipping = False
        self._late_error: Exception | None = None

    def feed(self, piece: Any) -> Iterator[Any]:
        if piece is NEXT_CALL:
            yield from self._end_document()
            self._is_skipping = False
            return
        bad = b""
        try:
            text = piece if isinstance(piece, str) else self._decoder.decode(piece)
        except UnicodeDecodeError as error:
            text, bad = error.object[: error.start].decode(), error.object[error.start :]
        first, *others = text.split("\x1e") if self._splits else [text]
        yield from self._read(first)
        for record in others:
            yield from self._end_document()
            yield from self._read(record)
        yield from self._read_bytes(bad)

    def flush(self, cut: CutShort | None = None) -> Iterator[Any]:
        yield from self._read_bytes(self._decoder.getstate()[0])
        if self._options.get("prefix") and self._stage is None:
            self._start()
        was_open = self._stage is not None
        yield from self._end_document(cut)
        # If the provider cut the answer, more documents might have come.
        is_good = not self.ended and self._late_error is None
        if is_good and cut is not None and (cut.reason != "lost" or not was_open):
            self._stage = self._begin(self._options)
            yield from self._end_document(cut)
        if not self.ended and self._late_error is not None:
            self.fail(self._late_error)

    def _read(self, text: str) -> Iterator[Any]:
        while text and not self.ended and not self._is_skipping:
            stage = self._stage
            if stage is None:
                if not self._options.get("prefix"):
                    text = text.lstrip(" \t\r\n\ufeff")
                if not text:
                    break
                stage = self._start()
            own, text = self._split(text)
            self._beginning.add(own)
            yield from stage.feed(own)
            self._check(stage)
            if text:
                yield from self._end_document()

    def _read_bytes(self, data: bytes) -> Iterator[Any]:
        """Read bytes that are not UTF-8, or half a character; the document's stage refuses them."""
        if data and self._stage is not None and self._end.offset is not None:
            yield from self._end_document()
        if data and not self.ended and not self._is_skipping:
            stage = self._stage or self._start()
            yield from stage.feed(data)
            self._check(stage)

    def _start(self) -> Stage:
        """Begin a document."""
        stage = self._stage = self._begin(self._options)
        self._beginning = Beginning()
        self._end = _End()
        if self._splits:
            known = PARSE_OPTIONS & self._options.keys() - {"on_repair"}
            self._probe = create_machine(self._end, {name: self._options[name] for name in known})
        self._options.pop("prefix", None)
        # The text after the complete value, which may start the next document, and its offset.
        self._tail, self._tail_start = "", 0
        return stage

    def _split(self, text: str) -> tuple[str, str]:
        """Return more text of this document, and the text of the next one if one begins."""
        if not self._splits:
            return text, ""
        text = self._tail + text
        end = len(text)
        try:
            self._probe.feed(text[len(self._tail) :])
        except JsonrillError as error:
            if error.offset is not None:
                end = max(error.offset - self._tail_start, 0)
                # A number is complete if what follows begins another value.
                is_number = getattr(error, "expected", "") == EXPECTED[END]
                if self._end.offset is not None or (is_number and text[end] in '{["tfn'):
                    self._tail = ""
                    return text[:end], text[end:]
                end = len(text)
        if self._end.offset is not None:
            end = max(self._end.offset - self._tail_start, 0)
        self._tail_start += end
        self._tail = text[end:]
        return text[:end], ""

    def _end_document(self, cut: CutShort | None = None) -> Iterator[Any]:
        stage, self._stage = self._stage, None
        if stage is not None:
            tail, self._tail = self._tail, ""
            if tail:
                yield from stage.feed(tail)
            yield from stage.flush(cut)
            self._check(stage)

    def _check(self, stage: Stage) -> None:
        """End, or skip the rest of the text, if a document has ended early."""
        if isinstance(stage.error, JsonrillError):
            stage.error.text = self._beginning.text
        if stage.ended and self._splits:
            self.error, self.ended = stage.error, True
        elif stage.ended:
            self._late_error = self._late_error or stage.error
            self._stage, self._is_skipping = None, True


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
            raise TypeError(f"calls is a ToolCalls object, not {calls!r}")
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
    """Items → the bytes of events. The last one is CLOSE, or what the source's client expects."""

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
