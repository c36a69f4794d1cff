"""Records in, the data of events out: what a reader sees of a log, in the format it asked for.

A rendering is a function of the log alone: the same records give the same events in any process,
and what it has seen, not how that was grouped, decides what comes next. That is what makes a
resume exact. No I/O, no clock, nothing raised on data.

One record can be a million characters that take seconds to read, and give a hundred thousand
events. So a rendering yields its events part by part, each after a bounded number of characters:
its caller (`steps.py`) can stop between two parts, and never has all events at once.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby, islice
from typing import Any, Final, TypeVar

from jsonrill.answer_parts import Parts
from jsonrill.chunker import Chunker
from jsonrill.dialects import DIALECTS
from jsonrill.document import Document
from jsonrill.errors import (
    CutShort,
    InvalidJSON,
    JsonrillError,
    LimitExceeded,
    RevisionError,
    UnknownSource,
    stream_error,
)
from jsonrill.fragment import Fragment, Parser
from jsonrill.jsontext import dumps, dumps_in_parts
from jsonrill.partial_stream import PartialStream, Update
from jsonrill.providers import Reader
from jsonrill.sending import TextSender
from jsonrill.sources.answer import AnswerText
from jsonrill.toolcalls import ToolCallEvents, ToolCalls

from .options import BadOption, StreamOptions, ViewOptions
from .positions import Position
from .records import End, Record

T = TypeVar("T")
# Characters that are read in one part. An update has all the data, so there are few of those.
EVENT: Final = 4096
UPDATE: Final = 1 << 15
# Events of one part.
EVENTS: Final = 64
# What came says nothing in the format that was asked for: that is not an empty answer.
UNKNOWN: Final = {
    "code": UnknownSource.code,
    "message": "nothing in this stream is an event of a known provider",
}
# Characters after which a value may be so large that it is written in parts, too.
LARGE: Final = 1 << 18


class Named(str):
    """The data of an event that has a name."""

    __slots__ = ("name",)
    name: str

    def __new__(cls, data: str, name: str) -> Named:
        event = super().__new__(cls, data)
        event.name = name
        return event


class Rendering(ABC):
    """A stage whose input is groups of records: `feed`, and `end` instead of `flush`.

    `feed_in_parts` and `end_in_parts` do the same as they are asked for the next part.
    """

    # Whether the last event is `event: CLOSE`; dialects of others end in their own way.
    closes = True
    # Whether its clients resume a lost connection without being told to.
    resumes = True

    # Schemas with which even a short text takes long; they count while this is in use.
    heavy: object = None
    # Whether a record is shown the same whatever came before it.
    stateless = False

    def __init__(self, stream: StreamOptions, view: ViewOptions) -> None:  # noqa: B027
        """Some need neither."""

    def start(self, position: Position) -> int:
        """Return after which record a rendering begins for a reader at this position.

        The record at the position is one of them: it tells whether this is the log that was read.
        """
        return max(position.done - 1, 0) if self.stateless else 0

    @abstractmethod
    def feed_in_parts(self, records: Sequence[Record]) -> Iterator[list[str]]:
        """Yield the data of the events for these records, part by part; a part may be empty."""

    @abstractmethod
    def end_in_parts(self, end: End) -> Iterator[list[str]]:
        """Yield the data of the last events, part by part."""

    def feed(self, records: Sequence[Record]) -> list[str]:
        """Return the data of the events for these records."""
        return [data for part in self.feed_in_parts(records) for data in part]

    def end(self, end: End) -> list[str]:
        """Return the data of the last events."""
        return [data for part in self.end_in_parts(end) for data in part]

    def failure(self, end: End) -> list[str]:
        """Return the data of an error after any events, for a reader whose connection ends."""
        return [error_data(end.error())]


class TextSource:
    """Records → text: pieces joined, snapshots chunked, the text in a provider's events."""

    def __init__(self, options: StreamOptions) -> None:
        self._chunker = Chunker(**options.of("text"))
        self._answer = AnswerText(options.provider)
        self._has_events = False
        self._failed = False

    def feed(self, records: Sequence[Record]) -> str:
        """Raises what the chunker does, once; the text before it is in `.text` of the error."""
        texts: list[str] = []
        if self._failed:
            return ""
        for record in records:
            try:
                texts.append(self._text(record))
            except (InvalidJSON, LimitExceeded, RevisionError) as error:
                self._failed = True
                raise SourceFailed("".join(texts), error) from error
        return "".join(texts)

    def _text(self, record: Record) -> str:
        if record.input == "text":
            return record.body
        if record.input == "snapshots":
            return self._chunker.feed(record.body)
        self._has_events = True
        return self._answer.feed(record.body)

    @property
    def recognised(self) -> bool:
        """False if there are events and none of them is one of a known provider."""
        return self._answer.recognised or not self._has_events

    @property
    def cut(self) -> CutShort | None:
        """How the answer in a provider's events was cut, once the stream is closed."""
        return self._answer.cut()

    @property
    def failure(self) -> str | None:
        """The error that the provider has reported in its events; None if there is none."""
        return self._answer.failure

    def flush(self) -> str:
        if self._failed:
            return ""
        try:
            return self._chunker.flush()
        except (RevisionError, InvalidJSON) as error:
            self._failed = True
            raise SourceFailed("", error) from error


class SourceFailed(JsonrillError):
    """The text cannot go on because of `error`; `text` is what was good before."""

    def __init__(self, text: str, error: JsonrillError) -> None:
        super().__init__(error.message)
        self.text = text
        self.error = error


class TextRendering(Rendering):
    """A rendering of the text: subclasses yield the events of a piece and of the end."""

    def __init__(self, stream: StreamOptions, view: ViewOptions) -> None:
        self._source = TextSource(stream)
        self._over = False
        self._seen = 0

    def feed_in_parts(self, records: Sequence[Record]) -> Iterator[list[str]]:
        if self._over:
            return
        try:
            text = self._source.feed(records)
        except SourceFailed as failed:
            yield from self._failed(failed)
        else:
            yield from self._read(text)

    def end_in_parts(self, end: End) -> Iterator[list[str]]:
        if self._over:
            return
        if end.reason != "closed":
            yield self._error(end.error())
            return
        if (failure := self._source.failure) is not None:
            yield self._error(provider_error(failure))
            return
        if not self._recognised:
            yield self._error(UNKNOWN)
            return
        try:
            text = self._source.flush()
        except SourceFailed as failed:
            yield from self._failed(failed)
        else:
            yield from self._read(text)
            if not self._over:
                yield from self._last()

    @property
    def _recognised(self) -> bool:
        return self._source.recognised

    def _failed(self, failed: SourceFailed) -> Iterator[list[str]]:
        yield from self._read(failed.text or "")
        self._over = True
        yield self._error(stream_error(failed.error))

    def _read(self, text: str) -> Iterator[list[str]]:
        self._seen += len(text)
        return self._piece(text) if text else iter(())

    def _dumps(self, value: Any) -> str:
        return dumps(value) if self._seen < LARGE else dumps_in_parts(value)

    def _error(self, error: Mapping[str, Any]) -> list[str]:
        return [error_data(error)]

    @abstractmethod
    def _piece(self, text: str) -> Iterator[list[str]]: ...

    @abstractmethod
    def _last(self) -> Iterator[list[str]]: ...


class Updates(TextRendering):
    def __init__(self, stream: StreamOptions, view: ViewOptions) -> None:
        super().__init__(stream, view)
        self._stream = PartialStream(**update_options(stream, view))

    def _piece(self, text: str) -> Iterator[list[str]]:
        for part in parts(text, UPDATE):
            yield [self._json(update) for update in self._stream.feed(part)]

    def _last(self) -> Iterator[list[str]]:
        return in_parts(self._stream.flush(self._source.cut), self._json)

    def _json(self, update: Update) -> str:
        return update.to_json() if self._seen < LARGE else dumps_in_parts(update.to_dict())


class Fragments(TextRendering):
    """One event per piece of text, or per 4096 characters of a long one: its fragments."""

    def __init__(self, stream: StreamOptions, view: ViewOptions) -> None:
        super().__init__(stream, view)
        self._parser = Parser(**stream.of("document"))

    def _piece(self, text: str) -> Iterator[list[str]]:
        for part in parts(text, EVENT):
            yield self._events(self._parser.feed, part)

    def _last(self) -> Iterator[list[str]]:
        yield self._events(self._parser.flush, self._source.cut)

    def _events(self, read: Callable[[Any], list[Fragment]], data: Any) -> list[str]:
        """Return the fragments in one event, and an error in another."""
        if self._over:
            return []
        try:
            return self._event(read(data))
        except (InvalidJSON, LimitExceeded) as error:
            self._over = True
            return [*self._event(error.fragments), _error_of(error)]

    def _event(self, fragments: Sequence[Fragment]) -> list[str]:
        return [dumps([fragment.to_dict() for fragment in fragments])] if fragments else []


class TextPieces(TextRendering):
    """The text itself, each event a JSON string; joined, they are the document."""

    def _piece(self, text: str) -> Iterator[list[str]]:
        yield [dumps(text)]

    def _last(self) -> Iterator[list[str]]:
        return iter(())


class Deltas(TextRendering):
    """The messages of the wire for growing JSON, which keep a copy of the document equal."""

    def __init__(self, stream: StreamOptions, view: ViewOptions) -> None:
        super().__init__(stream, view)
        self._sender = TextSender(**stream.of("document"))

    def _piece(self, text: str) -> Iterator[list[str]]:
        for part in parts(text, EVENT):
            yield [self._dumps(message) for message in self._sender.feed(part)]

    def _last(self) -> Iterator[list[str]]:
        yield [self._dumps(message) for message in self._sender.flush(self._source.cut)]

    def _error(self, error: Mapping[str, Any]) -> list[str]:
        if self._sender.ended:
            return []
        failed = JsonrillError(error["message"])
        failed.code = error["code"]
        return [self._dumps(message) for message in self._sender.stop(failed)]


class Calls(Rendering):
    """Tool calls of a provider's events, as jsonrill's own events."""

    def __init__(self, stream: StreamOptions, view: ViewOptions) -> None:
        self._events = ToolCallEvents(ToolCalls(**stream.of("calls")))
        self._has_events = False

    def feed_in_parts(self, records: Sequence[Record]) -> Iterator[list[str]]:
        for record in records:
            if record.input == "events":
                self._has_events = True
                yield from in_parts(self._feed(record.body), _writer(record))

    def end_in_parts(self, end: End) -> Iterator[list[str]]:
        yield from in_parts(self._flush(), dumps_in_parts)
        failure, provider = self._state()
        if end.reason != "closed":
            yield [error_data(end.error())]
        elif failure is not None:
            yield [error_data(provider_error(failure))]
        elif self._has_events and provider is None:
            yield [error_data(UNKNOWN)]

    def _feed(self, event: str) -> list[dict[str, Any]]:
        return self._events.feed(event)

    def _flush(self) -> list[dict[str, Any]]:
        return self._events.flush()

    def _state(self) -> tuple[str | None, str | None]:
        """The error that the provider has reported, and who the provider is."""
        return self._events.failure, self._events.calls.reader.provider


class AnswerParts(Calls):
    """The parts of the answer in a provider's events."""

    def __init__(self, stream: StreamOptions, view: ViewOptions) -> None:
        self._parts = Parts(**stream.of("calls"))
        self._has_events = False

    def _feed(self, event: str) -> list[dict[str, Any]]:
        return [part.to_dict() for part in self._parts.feed(event)]

    def _flush(self) -> list[dict[str, Any]]:
        return [part.to_dict() for part in self._parts.flush()]

    def _state(self) -> tuple[str | None, str | None]:
        return self._parts.error, self._parts.reader.provider


class Raw(Rendering):
    """The records as they were published, one event each: text as a JSON string."""

    stateless = True

    def feed_in_parts(self, records: Sequence[Record]) -> Iterator[list[str]]:
        for it in records:
            yield [dumps(it.body) if it.input == "text" else one_line(it.body)]

    def end_in_parts(self, end: End) -> Iterator[list[str]]:
        yield [] if end.reason == "closed" else [error_data(end.error())]


class Dialect(TextRendering):
    """A rendering for clients of others, which take the end of a response for that of the answer.

    Its events have ids all the same, for readers that send them back.
    """

    closes = False
    resumes = False

    def __init__(self, stream: StreamOptions, view: ViewOptions) -> None:
        super().__init__(stream, view)
        self._has_events = False
        # Reads events until it has understood one.
        self._reader: Reader | None = Reader(stream.provider)
        named = {"thread": view.thread, "run": view.run} if view.format == "ag-ui" else {}
        self._stage = DIALECTS[view.format](**stream.of("calls"), **named)
        self._updates = PartialStream(**update_options(stream, view))

    def feed_in_parts(self, records: Sequence[Record]) -> Iterator[list[str]]:
        for events, group in groupby(records, lambda record: record.input == "events"):
            if not events:
                yield from super().feed_in_parts([*group])
                continue
            self._has_events = True
            for record in group:
                self._seen += len(record.body)
                if self._reader is not None and self._reader.feed(record.body):
                    self._reader = None
                yield from in_parts(self._stage.feed(record.body), self._dumps)

    @property
    def _recognised(self) -> bool:
        return not self._has_events or self._reader is None or self._reader.provider is not None

    def _piece(self, text: str) -> Iterator[list[str]]:
        for part in parts(text, UPDATE):
            yield self._show(self._updates.feed(part))

    def _show(self, updates: list[Update]) -> list[str]:
        return [self._dumps(event) for update in updates for event in self._stage.feed(update)]

    def _last(self) -> Iterator[list[str]]:
        if not self._has_events:
            yield self._show(self._updates.flush())
        yield from in_parts(self._stage.flush(), self._dumps)
        yield self._done()

    def _error(self, error: Mapping[str, Any]) -> list[str]:
        return [*map(self._dumps, self._stage.flush(problem=error)), *self._done()]

    def _done(self) -> list[str]:
        return [] if self._stage.done is None else [self._stage.done]

    def failure(self, end: End) -> list[str]:
        last = self._stage.flush(problem=end.error())
        events = [event for event in last if event["type"] in ("error", "abort", "RUN_ERROR")]
        return [*map(dumps, events), *self._done()]


def rendering(stream: StreamOptions, view: ViewOptions) -> Rendering:
    """Return the rendering for a view; BadOption if these options exclude each other.

    Values of stored options that this version does not know are left out.
    """
    try:
        return _rendering(stream, view)
    except BadOption:
        known = usable(stream)
        if known is stream:
            raise
        return _rendering(known, view)


def usable(stream: StreamOptions) -> StreamOptions:
    """Stored options as far as this version can use them; the same object if it is all of them."""
    if not stream.stored or _is_usable(stream):
        return stream
    known = StreamOptions.as_far_as_known(stream.given, _is_usable)
    known.heavy, known.notes, known.stored = stream.heavy, stream.notes, True
    return known


def _is_usable(stream: StreamOptions) -> bool:
    try:
        check_options(stream)
    except BadOption:
        return False
    return True


def check_options(stream: StreamOptions) -> None:
    """BadOption if a stage would not take these options; nothing is rendered for that.

    Each of them was checked when it was read. What is left is what they mean together, and
    schemas.
    """
    try:
        PartialStream(**stream.of("updates"))
        Document(**stream.of("document"))
        Chunker(**stream.of("text"))
        ToolCalls(**stream.of("calls"))
    except (ValueError, TypeError, JsonrillError) as error:
        raise BadOption(str(error)) from error


def kind_of(view: ViewOptions) -> type[Rendering]:
    """The class of renderings for a view."""
    kinds: dict[str, type[Rendering]] = {
        "updates": Updates,
        "fragments": Fragments,
        "text": TextPieces,
        "deltas": Deltas,
        "calls": Calls,
        "parts": AnswerParts,
        "raw": Raw,
    }
    return kinds.get(view.format, Dialect)


def _rendering(stream: StreamOptions, view: ViewOptions) -> Rendering:
    try:
        work = kind_of(view)(stream, view)
    except (ValueError, TypeError, JsonrillError) as error:
        raise BadOption(str(error)) from error
    work.heavy = stream.heavy
    return work


def update_options(stream: StreamOptions, view: ViewOptions) -> dict[str, Any]:
    """The options of the stream, and those that the reader chose."""
    chosen = {} if view.entity is None else {"entity": view.entity}
    options = {**stream.of("updates"), "mode": view.modes, "send": view.send, **chosen}
    modes = {view.modes} if isinstance(view.modes, str) else {*view.modes.values(), "REALTIME"}
    # What the publisher wishes for his mode is no concern of a reader who chose another.
    if "REALTIME" not in modes:
        unused = {"partial_numbers", "early_literals"}
        if "PROGRESSIVE" not in modes:
            unused |= {"zero_values", "only_complete"}
        options = {name: value for name, value in options.items() if name not in unused}
    return options


def error_data(error: Mapping[str, Any]) -> str:
    return dumps({"status": "ERROR", "error": error})


def _error_of(error: InvalidJSON | LimitExceeded) -> str:
    return error_data(stream_error(error))


def parts(text: str, size: int) -> Iterator[str]:
    """A piece of text in parts."""
    for at in range(0, len(text), size):
        yield text[at : at + size]


def in_parts(items: Iterable[T], write: Callable[[T], str]) -> Iterator[list[str]]:
    """Items as texts, written part by part."""
    waiting = iter(items)
    while some := [write(item) for item in islice(waiting, EVENTS)]:
        yield some


def _writer(record: Record) -> Callable[[Any], str]:
    return dumps if len(record.body) < LARGE else dumps_in_parts


def provider_error(message: str) -> dict[str, str]:
    return {"code": "PROVIDER_ERROR", "message": message}


def one_line(body: str) -> str:
    """JSON text without line ends; between values they mean nothing, inside they are escaped."""
    return body.replace("\r", " ").replace("\n", " ")
