"""Server-sent events: text ↔ events, as the WHATWG standard defines them. No I/O.

`encode_event` writes `id`, `event`, `retry` and `data` lines, LF only, no BOM. It writes nothing
that clients less strict than a browser mistake for an event: a heartbeat is a comment of one line,
and `retry` is sent in a block with data. The decoder reads all that a browser reads, in any pieces.
"""

from __future__ import annotations

import re
from codecs import utf_8_decode
from typing import Any, Final, NamedTuple

from .errors import LimitExceeded, StreamClosed
from .jsontext import dumps

# One newline and not two: a blank line makes several clients see an empty event.
HEARTBEAT: Final = b": hb\n"
# The most characters that one event may have.
MAX_EVENT: Final = 16 * 2**20
# Seconds of silence after which a heartbeat is sent.
HEARTBEAT_SECONDS: Final = 15.0
# The data of a last event, here and in the streams of many providers.
DONE: Final = "[DONE]"
# The beginning of the last event of our own streams.
CLOSE: Final = b"event: CLOSE\n"

_FIELDS: Final = (b"data:", b"event:", b"id:", b"retry:", b":")
_LINES: Final = r"(?:application|text)/(?:x-)?(?:ndjson|jsonl|json-?lines|json-stream|stream\+json)"
_LINE_END: Final = re.compile(r"\r\n|\r|\n")
_FORBIDDEN: Final = re.compile(r"[\r\n\x00]")


class SSEEvent(NamedTuple):
    """One event: its type, its data, and the last id that was sent with or before it."""

    type: str
    data: str
    id: str


def encode_event(
    data: str, *, event: str | None = None, id: str | int | None = None, retry: int | None = None
) -> bytes:
    """Return the bytes of one event. Every line end in `data` arrives as a newline.

    Empty data, and CR, LF or NUL in an id or an event name, are a ValueError.
    """
    if not data:
        raise ValueError(
            "an event needs data: browsers ignore one without, and some clients fail on it"
        )
    lines = []
    if id is not None:
        lines.append(f"id: {_field('id', str(id))}\n")
    if event is not None:
        lines.append(f"event: {_field('event', event)}\n")
    if retry is not None:
        if type(retry) is not int or retry < 0:
            raise ValueError(f"retry must be a whole number of milliseconds, not {retry!r}")
        lines.append(f"retry: {retry}\n")
    lines += [f"data: {line}\n" for line in _LINE_END.split(data)]
    return ("".join(lines) + "\n").encode()


def _field(name: str, value: str) -> str:
    if _FORBIDDEN.search(value):
        raise ValueError(f"an {name} cannot contain CR, LF or NUL: {value!r}")
    return value


def is_done(data: str) -> bool:
    """Return whether this is `[DONE]`, which is not an event, but the end of a stream."""
    return data.lstrip().startswith(DONE)


def ends_stream(event: SSEEvent) -> bool:
    """Return whether this event is CLOSE, or `[DONE]` as many providers send it."""
    return event.type == "CLOSE" or is_done(event.data)


def media_type(content_type: str) -> str:
    """Return the media type in a `content-type`, without parameters and in lower case."""
    return content_type.partition(";")[0].strip().lower()


def is_event_stream(content_type: str) -> bool:
    """Return whether this is the type of server-sent events."""
    return media_type(content_type) == "text/event-stream"


def is_lines(content_type: str) -> bool:
    """Return whether this is a type of JSON lines. Several are in use; none is a standard."""
    return re.fullmatch(_LINES, media_type(content_type)) is not None


def looks_like_events(beginning: bytes) -> bool:
    """Return whether a text with this beginning is an event stream and not JSON."""
    return beginning.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(_FIELDS)


def event_data(item: Any) -> str:
    """Return the data of an event: a text as it is, anything else as JSON."""
    if isinstance(item, str):
        return item
    if type(item) is list or type(item) is dict:
        return _as_json(item)
    for name in ("to_json", "model_dump_json"):
        if hasattr(item, name):
            text: str = getattr(item, name)()
            return text
    if hasattr(item, "to_dict"):
        item = item.to_dict()
    return _as_json(item)


def _as_json(item: Any) -> str:
    try:
        return dumps(item)
    except TypeError:  # models, dates or dataclasses in it
        try:
            from pydantic_core import to_jsonable_python
        except ImportError:
            pass
        else:
            return dumps(to_jsonable_python(item))
        raise


class SSEDecoder:
    """Turns bytes or text of an event stream into events, each when its blank line has arrived.

    `last_event_id` is the id that a client sends to resume a lost connection. Pass the id at which
    an earlier connection stopped. `retry` is the number of milliseconds to wait before that, if the
    server set it; a number of more than 15 digits is ignored. More than `limit` characters in one
    line or in the data of one event are a `LimitExceeded`.
    """

    __slots__ = ("_closed", "_data", "_event", "_failure", "_id", "_limit", "_line", "_size",
                 "_skip_lf", "_started", "_tail", "last_event_id", "retry")  # fmt: skip

    def __init__(self, *, limit: int = MAX_EVENT, last_event_id: str = "") -> None:
        self.last_event_id = last_event_id
        self.retry: int | None = None
        self._limit = limit
        # A cut UTF-8 sequence, which waits for the next piece.
        self._tail = b""
        self._closed = False
        self._failure: LimitExceeded | None = None
        self._started = False
        # A CR ends a line at once; an LF right after it, even in the next piece, belongs to it.
        self._skip_lf = False
        # The line that is being read, and the length of it and of the data lines before it.
        self._line: list[str] = []
        self._size = 0
        # The block that is being read.
        self._data: list[str] = []
        self._event = ""
        self._id = last_event_id

    def feed(self, data: bytes | str) -> list[SSEEvent]:
        """Return the events that are complete with this piece."""
        if self._closed:
            raise self._failure or StreamClosed("this event stream is closed")
        text = data if isinstance(data, str) else self._decoded(data)
        if text and not self._started:
            self._started = True
            text = text.removeprefix("\ufeff")
        if text and self._skip_lf:
            self._skip_lf = False
            text = text.removeprefix("\n")
        events: list[SSEEvent] = []
        if text:
            self._skip_lf = text.endswith("\r")
            self._lines(text, events)
        return events

    def _decoded(self, data: bytes) -> str:
        if self._tail:
            data = self._tail + data
        text, used = utf_8_decode(data, "replace", False)
        self._tail = bytes(data[used:]) if used < len(data) else b""
        return text

    def flush(self) -> list[SSEEvent]:
        """Close the stream. A block without its blank line is not an event: the list is empty."""
        self._closed = True
        return []

    def _lines(self, text: str, events: list[SSEEvent]) -> None:
        *complete, rest = _LINE_END.split(text) if "\r" in text else text.split("\n")
        try:
            for line in complete:
                self._add(line)
                self._end_line(events)
            self._add(rest)
        except LimitExceeded as error:
            # The events before it are returned first; the next call raises the error.
            self._closed, self._failure = True, error
            if not events:
                raise

    def _add(self, text: str) -> None:
        self._line.append(text)
        self._size += len(text)
        if self._size > self._limit:
            raise LimitExceeded(f"more than {self._limit} characters (event)", limit="event")

    def _end_line(self, events: list[SSEEvent]) -> None:
        line = self._line[0] if len(self._line) == 1 else "".join(self._line)
        self._line.clear()
        if not line:
            self._end_block(events)
            return
        if line.startswith("data: "):
            self._data.append(line[6:])
            return
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "data":
            self._data.append(value)
            return
        self._size -= len(line)
        if name == "event":
            self._event = value
        elif name == "id" and "\x00" not in value:
            self._id = value
        elif name == "retry" and re.fullmatch("[0-9]{1,15}", value):
            self.retry = int(value)

    def _end_block(self, events: list[SSEEvent]) -> None:
        self.last_event_id = self._id
        if self._data:
            data = "\n".join(self._data)
            events.append(SSEEvent(self._event or "message", data, self._id))
        self._data.clear()
        self._event = ""
        self._size = 0


class ClientStream:
    """Marks events that are written for another project's client, which end in its own way.

    `done` is the data of the last event on the wire; None if there is no such event.
    """

    def __init__(self, items: Any, done: str | None) -> None:
        self._items = items
        self.done = done
