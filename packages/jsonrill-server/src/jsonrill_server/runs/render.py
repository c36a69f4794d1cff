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
from typing import Any, Final, TypeVar, cast

from jsonrill.options import TABLE, UpdateOptions, is_used
from jsonrill.partial_stream.settings import StreamSettings
from jsonrill.wire.fragment import Fragment
from jsonrill.wire.full import to_wire
from jsonrill.wire.parser import Parser

from jsonrill.build.document import Document
from jsonrill.chunker import Chunker
from jsonrill.dialects import DIALECTS, Event, Settings
from jsonrill.errors import (
    CutShort,
    InvalidJSON,
    JsonrillError,
    LimitExceeded,
    RevisionError,
    UnknownSource,
    stream_error,
)
from jsonrill.jsontext import dumps, dumps_in_parts
from jsonrill.partial_stream import PartialStream, Update
from jsonrill.sources.answer import AnswerText
from jsonrill.toolcalls import ToolCallEvents, ToolCalls

from .options import BadOption, StreamOptions, ViewOptions
from .positions import Position
from .records import End, Record

T = TypeVar("T")
# Characters that are read in one part, where that does not show: the costliest schemas take a
# third of a millisecond for each.
PART: Final = 256
# The same where each part is an event of its own.
EVENT: Final = 4096
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
        self._chunker = Chunker(**options.of("chunks"))
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
        for part, more in parts(text, PART):
            yield [self._json(update) for update in self._stream.feed(part, more=more)]

    def _last(self) -> Iterator[list[str]]:
        return in_parts(self._stream.flush(self._source.cut), self._json)

    def _json(self, update: Update) -> str:
        return update.to_json() if self._seen < LARGE else dumps_in_parts(update.to_dict())


class Fragments(TextRendering):
    """One event per piece of text, or per 4096 characters of a long one: its fragments."""

    def __init__(self, stream: StreamOptions, view: ViewOptions) -> None:
        super().__init__(stream, view)
        self._parser = Parser(**stream.of("fragments"))

    def _piece(self, text: str) -> Iterator[list[str]]:
        for part, _ in parts(text, EVENT):
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

    def _event(self, fragments: list[Fragment]) -> list[str]:
        return [dumps(list(map(to_wire, fragments)))] if fragments else []


class Chunks(TextRendering):
    """The text itself, each event a JSON string; joined, they are the document."""

    def _piece(self, text: str) -> Iterator[list[str]]:
        yield [dumps(text)]

    def _last(self) -> Iterator[list[str]]:
        return iter(())


class Calls(Rendering):
    """Tool calls of a provider's events, as jsonrill's own events."""

    def __init__(self, stream: StreamOptions, view: ViewOptions) -> None:
        calls = ToolCalls(**stream.of("calls"))
        self._events = ToolCallEvents(calls)
        self._has_events = False

    def feed_in_parts(self, records: Sequence[Record]) -> Iterator[list[str]]:
        for record in records:
            if record.input == "events":
                self._has_events = True
                yield from in_parts(self._events.feed(record.body), _writer(record))

    def end_in_parts(self, end: End) -> Iterator[list[str]]:
        yield from in_parts(self._events.flush(), dumps_in_parts)
        if end.reason != "closed":
            yield [error_data(end.error())]
        elif (failure := self._events.failure) is not None:
            yield [error_data(provider_error(failure))]
        elif self._has_events and self._events.calls.reader.provider is None:
            yield [error_data(UNKNOWN)]


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
        self._stage = DIALECTS[view.format](
            Settings(
                calls=stream.of("calls"),
                parser=stream.of("fragments"),
                updates=update_options(stream, view),
                thread=view.thread,
                run=view.run,
            )
        )

    def feed_in_parts(self, records: Sequence[Record]) -> Iterator[list[str]]:
        for events, group in groupby(records, lambda record: record.input == "events"):
            if not events:
                yield from super().feed_in_parts([*group])
                continue
            self._has_events = True
            for record in group:
                self._seen += len(record.body)
                yield from in_parts(self._stage.feed(record.body), self._data)

    @property
    def _recognised(self) -> bool:
        return self._stage.recognised or not self._has_events

    def _piece(self, text: str) -> Iterator[list[str]]:
        for part, more in parts(text, self._stage.part):
            yield [self._data(event) for event in self._stage.feed_json(part, more=more)]

    def _last(self) -> Iterator[list[str]]:
        return in_parts(self._stage.flush(), self._data)

    def _error(self, error: Mapping[str, Any]) -> list[str]:
        return [self._data(event) for event in self._stage.flush(error)]

    def _data(self, event: Event) -> str:
        """The data of an event; what is text already is sent as it came."""
        return one_line(event) if isinstance(event, str) else self._dumps(event)

    def failure(self, end: End) -> list[str]:
        return [self._data(event) for event in self._stage.interrupt(end.error())]


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
    updates = stream.of("updates")
    mode, schema = updates.pop("mode", TABLE["mode"].default), updates.pop("schema", None)
    try:
        StreamSettings(mode, schema, cast(UpdateOptions, updates))
        Document(**stream.of("values"))
        ToolCalls(**stream.of("calls"))
    except (ValueError, TypeError, JsonrillError) as error:
        raise BadOption(str(error)) from error


def kind_of(view: ViewOptions) -> type[Rendering]:
    """The class of renderings for a view."""
    kinds: dict[str, type[Rendering]] = {
        "updates": Updates,
        "fragments": Fragments,
        "chunks": Chunks,
        "calls": Calls,
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
    if view.modes != stream.given.get("mode", TABLE["mode"].default):
        # What the publisher wishes for his mode is no concern of a reader who chose another.
        modes = [view.modes] if isinstance(view.modes, str) else view.modes.values()
        options = {name: it for name, it in options.items() if is_used(TABLE[name], modes)}
    return options


def error_data(error: Mapping[str, Any]) -> str:
    return dumps({"status": "ERROR", "error": error})


def _error_of(error: InvalidJSON | LimitExceeded) -> str:
    return error_data(stream_error(error))


def parts(text: str, size: int) -> Iterator[tuple[str, bool]]:
    """A piece of text in parts, and whether more of it follows."""
    for at in range(0, len(text), size):
        yield text[at : at + size], at + size < len(text)


def in_parts(items: Iterable[T], write: Callable[[T], str]) -> Iterator[list[str]]:
    """Items as texts, written part by part."""
    waiting = iter(items)
    while some := [write(item) for item in islice(waiting, EVENTS)]:
        yield some


def _writer(record: Record) -> Callable[[Any], str]:
    return dumps if len(record.body) < PART * EVENTS else dumps_in_parts


def provider_error(message: str) -> dict[str, str]:
    return {"code": "PROVIDER_ERROR", "message": message}


def one_line(body: str) -> str:
    """JSON text without line ends; between values they mean nothing, inside they are escaped."""
    return body.replace("\r", " ").replace("\n", " ")
