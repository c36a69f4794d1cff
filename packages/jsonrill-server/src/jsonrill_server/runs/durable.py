"""The Durable Streams protocol as text: settings of a stream, offsets, bodies ↔ records, events.

A stream of JSON has a record for each message, any other a record for each append, or several if
that is large. Records are written as those of other streams, so that every format can read them.
"""

from __future__ import annotations

import base64
import json
import random
import re
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from hashlib import blake2b
from itertools import islice
from typing import Any, Final, NamedTuple

from jsonrill.eventstream import media_type
from jsonrill.jsontext import dumps

from ..store import Entry, Tail
from .options import StreamOptions
from .records import End, Record, from_entry, raw_bytes, raw_record, to_bytes

DEFAULT_TYPE: Final = "application/octet-stream"
MOST_SECONDS: Final = 10**10
# The lease of a stream is that much longer than its life: it never runs out before.
LEASE_MARGIN: Final = 5.0
_SECONDS: Final = re.compile("0|[1-9][0-9]*")
_TIME: Final = re.compile(
    r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)", re.ASCII
)
_OFFSET: Final = re.compile("([0-9]{16})_([0-9a-f]{8})", re.ASCII)
_MEDIA: Final = re.compile(r"[\w!#$&^.+-]+/[\w!#$&^.+-]+", re.ASCII)
_SPACE: Final = re.compile(r"[ \t\n\r]*")
# Cursors count intervals of this many seconds, from this moment on; one that a client has already
# seen is followed by one that is up to an hour later.
_INTERVAL: Final = 20
_BEGINNING: Final = 1_728_432_000
_LINE_END: Final = re.compile(b"\r\n|\r|\n")
# Messages that are read at once, and characters that are first given to the decoder.
AT_ONCE: Final = 1000
WINDOW: Final = 1 << 14


class BadRequest(ValueError):
    """A header, a parameter or a body that the protocol does not allow."""


@dataclass(frozen=True, slots=True)
class DurableSettings:
    """What a client chose when it created a stream."""

    content_type: str
    ttl: int | None = None
    expires_at: str = ""

    @classmethod
    def of(cls, content_type: str, ttl: str | None, expires_at: str | None) -> DurableSettings:
        """Read the headers of a request; BadRequest if they are wrong."""
        if not _MEDIA.fullmatch(media_type(content_type)):
            raise BadRequest("Content-Type is no media type")
        if ttl is not None and expires_at is not None:
            raise BadRequest("a stream has a Stream-TTL or a Stream-Expires-At, not both")
        if ttl is not None and (not _SECONDS.fullmatch(ttl) or int(ttl[:12]) > MOST_SECONDS):
            raise BadRequest("Stream-TTL is a whole number of seconds without leading zeros")
        settings = cls(content_type, None if ttl is None else int(ttl), expires_at or "")
        if expires_at is not None and settings.until() <= time.time():
            raise BadRequest("Stream-Expires-At is in the past")
        return settings

    @classmethod
    def in_options(cls, options: StreamOptions) -> DurableSettings | None:
        """Return the settings of a stream; None if it was not created by this protocol."""
        notes = options.notes.get("durable")
        if notes is None:
            return None
        return cls(**{it.name: notes[it.name] for it in fields(cls) if it.name in notes})

    def to_options(self) -> StreamOptions:
        options = StreamOptions(input="events" if self.is_json else "text")
        options.notes["durable"] = asdict(self)
        return options

    def until(self) -> float:
        """Return the Unix time at which the stream ends, 0 if it has none."""
        if not self.expires_at:
            return 0.0
        if not _TIME.fullmatch(self.expires_at):
            raise BadRequest("Stream-Expires-At is a time such as 2030-01-31T12:00:00Z")
        try:
            return datetime.fromisoformat(self.expires_at.upper()).timestamp()
        except ValueError as error:
            raise BadRequest(f"Stream-Expires-At is no time: {error}") from error

    def seconds(self) -> float:
        """Return the time to live; 0 if the stream has none, a moment if that is 0."""
        return 0.0 if self.ttl is None else self.ttl or 0.001

    def lease(self, keep: float) -> float:
        """Return the seconds that the stream lives if it is used now; `keep`: if it may choose."""
        until = self.until()
        return (until - time.time() if until else self.seconds() or keep) + LEASE_MARGIN

    def headers(self) -> dict[str, str]:
        headers = {"content-type": self.content_type}
        if self.ttl is not None:
            headers["stream-ttl"] = str(self.ttl)
        if self.expires_at:
            headers["stream-expires-at"] = self.expires_at
        return headers

    @property
    def is_json(self) -> bool:
        return media_type(self.content_type) == "application/json"

    @property
    def is_text(self) -> bool:
        return self.is_json or media_type(self.content_type).startswith("text/")

    def is_as(self, other: DurableSettings) -> bool:
        """Return True if both ask for the same stream."""
        mine, theirs = media_type(self.content_type), media_type(other.content_type)
        return mine == theirs and (self.ttl, self.until()) == (other.ttl, other.until())


def settings_of(options: StreamOptions) -> DurableSettings:
    """Return the settings of any stream, as a client of this protocol sees them."""
    is_text = options.input == "text"
    other = DurableSettings("text/plain; charset=utf-8" if is_text else "application/json")
    return DurableSettings.in_options(options) or other


def stream_id(owner: str, path: str) -> str:
    """Return the id under which the stream of a path is stored: each owner has its own paths."""
    name = blake2b(json.dumps([owner, path]).encode(), digest_size=24).digest()
    return "ds-" + base64.urlsafe_b64encode(name).decode()


def offset(tail: Tail) -> str:
    """Return the offset of a position: its record, so that offsets sort, and that record's mark."""
    return f"{tail.last:016d}_{tail.mark:08x}"


def parse_offset(text: str) -> Tail:
    """Parse an offset; BadRequest if it is none."""
    match = _OFFSET.fullmatch(text)
    if match is None:
        raise BadRequest("offset is -1, now, or a Stream-Next-Offset of this stream")
    return Tail(int(match[1]), int(match[2], 16))


def cursor(theirs: str | None) -> str:
    """Return a cursor for a live response that is later than the one that the client has."""
    now = int(time.time() - _BEGINNING) // _INTERVAL
    if theirs is not None and _SECONDS.fullmatch(theirs) and len(theirs) < 16:
        if int(theirs) >= now:
            return str(int(theirs) + random.randint(1, 3600 // _INTERVAL))
    return str(now)


def records_of(
    body: bytes, settings: DurableSettings, limit: int, most: int
) -> Iterator[list[bytes]]:
    """Yield the records for a body, part by part; BadRequest if it is not JSON.

    OverflowError as soon as one has more than `limit` bytes, or there are more than `most`.
    """
    if not settings.is_json:
        yield [raw_record(part) for part in _parts(body, limit)]
        return
    try:
        messages = _messages(body.decode(), limit)
        count = 0
        while part := list(islice(messages, AT_ONCE)):
            count += len(part)
            if count > most:
                raise OverflowError(f"a stream has at most {most} records")
            yield [_record(message, limit) for message in part]
    except (ValueError, RecursionError) as error:
        raise BadRequest("the body is not JSON") from error


def _record(message: str, limit: int) -> bytes:
    record = to_bytes(Record("events", message))
    if len(record) > limit + 1:
        raise OverflowError(f"a message has at most {limit} bytes")
    return record


def _parts(body: bytes, limit: int) -> Iterator[bytes]:
    """Cut a body into parts, not inside a character if it is UTF-8."""
    at = 0
    while at < len(body):
        end = at + limit
        if end < len(body):
            cut = end
            while cut > max(at + 1, end - 3) and body[cut] & 0xC0 == 0x80:
                cut -= 1
            end = cut
        yield body[at:end]
        at = end


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


# Only where a value ends is of interest; as texts, numbers of any length are read quickly.
_JSON: Final = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=_refuse)


def _messages(text: str, limit: int) -> Iterator[str]:
    """Yield the elements of an array, or one other value, as they are written."""
    at = _space(text, 0)
    if text[at : at + 1] != "[":
        values = _Values(text, limit)
        end = values.end(at)
        yield text[at:end]
    else:
        values, end = _Values(text, limit), at + 1
        while text[_space(text, end) : _space(text, end) + 1] != "]" or end > at + 1:
            begin = _space(text, end)
            end = values.end(begin)
            yield text[begin:end]
            end = _space(text, end)
            if text[end : end + 1] == "]":
                break
            if text[end : end + 1] != ",":
                raise ValueError("a comma is missing")
            end += 1
        end = _space(text, end) + 1
    if _space(text, end) != len(text):
        raise ValueError("there is more than one value")


class _Values:
    """Finds where values of a text end, without reading further than the largest one may reach.

    The decoder reads a window of the text, which grows until it has the complete value: a call
    holds the lock of Python, and a value that is too large is not read at all.
    """

    def __init__(self, text: str, limit: int) -> None:
        self._text = text
        self._limit = limit
        self._begin = 0
        self._window = ""

    def end(self, at: int) -> int:
        size = WINDOW
        while True:
            try:
                end = _JSON.raw_decode(self._window, at - self._begin)[1]
                # A number may go on behind the window, also behind `1.` or `1e+`.
                if end < len(self._window) - 2 or self._has_all:
                    return self._begin + end
            except json.JSONDecodeError as error:
                if self._has_all or not self._is_cut(error):
                    raise
            if self._begin == at and len(self._window) > self._limit:
                raise OverflowError(f"a message has at most {self._limit} bytes")
            self._begin, self._window = at, self._text[at : at + min(size, self._limit + 1)]
            size *= 4

    def _is_cut(self, error: json.JSONDecodeError) -> bool:
        """Return True if this may be the end of the window, inside of an escape or of a word."""
        return error.pos > len(self._window) - 16 or error.msg.startswith("Unterminated string")

    @property
    def _has_all(self) -> bool:
        return self._begin + len(self._window) >= len(self._text)


def _space(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at


def body_of(entries: Iterable[Entry], settings: DurableSettings) -> bytes:
    """Return the body of a response: the messages as an array, or the bytes as they were."""
    data = [raw_bytes(entry) for entry in entries]
    return b"[" + b",".join(data) + b"]" if settings.is_json else b"".join(data)


def data_event(entries: Sequence[Entry], settings: DurableSettings) -> bytes:
    """Return an event with the data of entries; what is not text is sent as base64."""
    data = body_of(entries, settings)
    if not settings.is_text:
        data = base64.b64encode(data)
    # A reader drops one space after the colon.
    lines = [
        b"data:" + (b" " if line[:1] == b" " else b"") + line for line in _LINE_END.split(data)
    ]
    return b"\n".join([b"event: data", *lines, b"\n"])


def control_event(tail: Tail, *, cursor: str, up_to_date: bool, closed: bool) -> bytes:
    """Return the event that says where the stream goes on, or that it does not."""
    says: dict[str, Any] = {"streamNextOffset": offset(tail)}
    if not closed:
        says["streamCursor"] = cursor
    if up_to_date:
        says["upToDate"] = True
    if closed:
        says["streamClosed"] = True
    return f"event: control\ndata:{dumps(says)}\n\n".encode()


class Page(NamedTuple):
    """Entries with data and the position after them; whether the log has more now, or ever.

    `failed` is how the stream ended if that was an error. The protocol knows no such end, and it
    must not look like a good one: a page with data does not tell it, the next request fails.
    """

    data: Sequence[Entry]
    tail: Tail
    up_to_date: bool
    closed: bool = False
    failed: End | None = None

    @classmethod
    def of(cls, entries: Sequence[Entry], *, up_to_date: bool) -> Page:
        last = entries[-1]
        tail = Tail(last.seq, last.mark)
        end = from_entry(last) if last.final else None
        if not isinstance(end, End):
            return cls(entries, tail, up_to_date)
        data = entries[:-1]
        if end.reason == "closed":
            return cls(data, tail, True, True)
        return cls(data, Tail(data[-1].seq, data[-1].mark) if data else tail, False, failed=end)

    def events(self, settings: DurableSettings, cursor: str) -> bytes:
        """Return the events of a page; nothing if the stream has failed."""
        if self.failed is not None and not self.data:
            return b""
        control = control_event(
            self.tail, cursor=cursor, up_to_date=self.up_to_date, closed=self.closed
        )
        return data_event(self.data, settings) + control if self.data else control


def with_cursor(events: bytes, theirs: str | None) -> bytes:
    """Return events with later cursors than the one that the client has."""
    later = cursor(theirs)
    if theirs is None or later == cursor(None):
        return events
    return _CURSOR.sub(rb"\g<1>" + later.encode(), events)


# At the beginning of a line, which data has only after `data:`.
_CURSOR: Final = re.compile(
    rb'^(event: control\ndata:\{"streamNextOffset":"[0-9a-f_]+","streamCursor":")[0-9]+', re.M
)
