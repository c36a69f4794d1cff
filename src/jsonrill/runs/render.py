"""Records in, the data of events out: what a reader sees of a log, in the format it asked for.

A rendering is a function of the log alone: the same records give the same events in any process,
and what it has seen, not how that was grouped, decides what comes next. That is what makes a
resume exact. No I/O, no clock, nothing raised on data.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from ..chunker import Chunker
from ..dialects import DIALECTS, Event, Settings
from ..errors import InvalidJSON, JsonrillError, LimitExceeded, RevisionError, stream_error
from ..jsontext import dumps
from ..partial_stream import PartialStream
from ..sources import AnswerText
from ..toolcalls import ToolCallEvents, ToolCalls
from ..wire.compact import CompactEncoder
from ..wire.fragment import Fragment
from ..wire.full import to_wire
from ..wire.parser import Parser
from .options import BadOption, StreamOptions, ViewOptions
from .records import End, Record


class Rendering(ABC):
    """A stage whose input is groups of records: `feed`, and `end` instead of `flush`."""

    # Whether the last event is `event: CLOSE`; dialects of others end in their own way.
    closes = True
    # Whether events carry an id: clients that cannot resume are not sent any.
    ids = True

    @abstractmethod
    def feed(self, records: Sequence[Record]) -> list[str]:
        """Return the data of the events for these records."""

    @abstractmethod
    def end(self, end: End) -> list[str]:
        """Return the data of the last events."""

    def failure(self, end: End) -> list[str]:
        """Return the data of an error after any events, for a reader whose connection ends."""
        return [error_data(end.error())]


class TextSource:
    """Records → text: pieces joined, snapshots chunked, the text in a provider's events."""

    def __init__(self, options: StreamOptions) -> None:
        self._chunker = Chunker(**options.of("chunks"))
        self._answer = AnswerText(options.provider)
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
        return self._answer.feed(record.body)

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
    """A rendering of the text: subclasses return the events of a piece and of the end."""

    def __init__(self, stream: StreamOptions) -> None:
        self._source = TextSource(stream)
        self._over = False

    def feed(self, records: Sequence[Record]) -> list[str]:
        if self._over:
            return []
        try:
            return self._piece(self._source.feed(records))
        except SourceFailed as failed:
            return self._failed(failed)

    def end(self, end: End) -> list[str]:
        if self._over:
            return []
        if end.reason != "closed":
            return self._error(end.error())
        try:
            return [*self._piece(self._source.flush()), *self._last()]
        except SourceFailed as failed:
            return self._failed(failed)

    def _failed(self, failed: SourceFailed) -> list[str]:
        events = self._piece(failed.text)
        self._over = True
        return [*events, *self._error(stream_error(failed.error))]

    def _error(self, error: dict[str, Any]) -> list[str]:
        return [error_data(error)]

    @abstractmethod
    def _piece(self, text: str) -> list[str]: ...

    @abstractmethod
    def _last(self) -> list[str]: ...


class Updates(TextRendering):
    def __init__(self, stream: StreamOptions, view: ViewOptions) -> None:
        super().__init__(stream)
        self._stream = PartialStream(**update_options(stream, view))

    def _piece(self, text: str) -> list[str]:
        return [update.to_json() for update in self._stream.feed(text)] if text else []

    def _last(self) -> list[str]:
        return [update.to_json() for update in self._stream.flush()]


class Fragments(TextRendering):
    """One event per piece of text: an array of its fragments."""

    def __init__(self, stream: StreamOptions, view: ViewOptions) -> None:
        super().__init__(stream)
        if stream.many and view.wire == "compact":
            raise ValueError("compact fragments are for one document, many is for several")
        self._parser = Parser(**stream.of("fragments"))
        self._many = stream.many
        self._told = 0
        self._encode: Callable[[list[Fragment]], list[Any]] = (
            CompactEncoder().feed if view.wire == "compact" else _full
        )

    def _piece(self, text: str) -> list[str]:
        # A document of many that is broken ends with its line: the next line is another one's.
        pieces = text.splitlines(keepends=True) if self._many else [text]
        return self._read([partial(self._parser.feed, piece) for piece in pieces if piece])

    def _last(self) -> list[str]:
        return self._read([self._parser.flush])

    def _read(self, work: Sequence[Callable[[], list[Fragment]]]) -> list[str]:
        """Fragments in one event, but those before and behind an error in two."""
        events: list[str] = []
        found: list[Fragment] = []
        for step in work if not self._over else ():
            try:
                fragments = step()
            except (InvalidJSON, LimitExceeded) as error:
                self._over = True
                return [*events, *self._event(found + error.fragments), _error_of(error)]
            cut_off, broken = self._errors()
            for errors, more in ((cut_off, fragments), (broken, [])):
                if errors:
                    events += [*self._event(found), *map(_error_of, errors)]
                    found = []
                found += more
        return [*events, *self._event(found)]

    def _errors(self) -> tuple[list[InvalidJSON | LimitExceeded], ...]:
        """Of many documents, the new errors: of one that ended before this line, of this line's."""
        errors = self._parser.errors[self._told :]
        self._told += len(errors)
        count = int(bool(errors) and errors[0].column == 1)
        return errors[:count], errors[count:]

    def _event(self, fragments: list[Fragment]) -> list[str]:
        return [dumps(self._encode(fragments))] if fragments else []


class Chunks(TextRendering):
    """The text itself, each event a JSON string; joined, they are the document."""

    def _piece(self, text: str) -> list[str]:
        return [dumps(text)] if text else []

    def _last(self) -> list[str]:
        return []


class Calls(Rendering):
    """Tool calls of a provider's events, as jsonrill's own events."""

    def __init__(self, stream: StreamOptions, view: ViewOptions) -> None:
        calls = ToolCalls(**stream.of("calls"))
        self._events = ToolCallEvents(calls, compact=view.wire == "compact")

    def feed(self, records: Sequence[Record]) -> list[str]:
        events = [record.body for record in records if record.input == "events"]
        return [dumps(event) for body in events for event in self._events.feed(body)]

    def end(self, end: End) -> list[str]:
        last = [dumps(event) for event in self._events.flush()]
        return last if end.reason == "closed" else [*last, error_data(end.error())]


class Raw(Rendering):
    """The records as they were published, one event each: text as a JSON string."""

    def feed(self, records: Sequence[Record]) -> list[str]:
        return [dumps(it.body) if it.input == "text" else one_line(it.body) for it in records]

    def end(self, end: End) -> list[str]:
        return [] if end.reason == "closed" else [error_data(end.error())]


class Dialect(TextRendering):
    """A rendering for clients of others, which read from the start and send no ids back."""

    closes = False
    ids = False

    def __init__(self, stream: StreamOptions, view: ViewOptions) -> None:
        super().__init__(stream)
        self._events = stream.input == "events"
        self._stage = DIALECTS[view.format](
            Settings(
                calls=stream.of("calls"),
                parser=stream.of("fragments"),
                updates=update_options(stream, view),
                fragments=bool(view.fragments),
                compact=view.wire == "compact",
                thread=view.thread,
                run=view.run,
            )
        )

    def feed(self, records: Sequence[Record]) -> list[str]:
        if not self._events:
            return super().feed(records)
        return [_data(event) for it in records for event in self._stage.feed(it.body)]

    def _piece(self, text: str) -> list[str]:
        return [_data(event) for event in self._stage.feed_json(text)] if text else []

    def _last(self) -> list[str]:
        return [_data(event) for event in self._stage.flush()]

    def _error(self, error: dict[str, Any]) -> list[str]:
        return [_data(event) for event in self._stage.flush(error)]

    def failure(self, end: End) -> list[str]:
        return [_data(event) for event in self._stage.interrupt(end.error())]


def rendering(stream: StreamOptions, view: ViewOptions) -> Rendering:
    """Return the rendering for a view; BadOption if these options exclude each other."""
    makers: dict[str, Callable[[], Rendering]] = {
        "updates": lambda: Updates(stream, view),
        "fragments": lambda: Fragments(stream, view),
        "chunks": lambda: Chunks(stream),
        "calls": lambda: Calls(stream, view),
        "raw": Raw,
    }
    try:
        return makers[view.format]() if view.format in makers else Dialect(stream, view)
    except (ValueError, TypeError, JsonrillError) as error:
        raise BadOption(str(error)) from error


def update_options(stream: StreamOptions, view: ViewOptions) -> dict[str, Any]:
    """The options of the stream, and those that the reader chose."""
    chosen = {} if view.entity is None else {"entity": view.entity}
    return {**stream.of("updates"), "mode": view.mode, "send": view.send, **chosen}


def error_data(error: dict[str, Any]) -> str:
    return dumps({"status": "ERROR", "error": error})


def _error_of(error: InvalidJSON | LimitExceeded) -> str:
    return error_data(stream_error(error))


def _data(event: Event) -> str:
    """The data of a dialect's event; what is text already is sent as it came."""
    return one_line(event) if isinstance(event, str) else dumps(event)


def one_line(body: str) -> str:
    """JSON text without line ends; between values they mean nothing, inside they are escaped."""
    return body.replace("\r", " ").replace("\n", " ")


def _full(fragments: list[Fragment]) -> list[Any]:
    return [to_wire(fragment) for fragment in fragments]
