"""The bytes of a request's body → records, as they arrive; one stage for each media type."""

from __future__ import annotations

import json
from codecs import getincrementaldecoder
from collections.abc import Iterator
from typing import Any, Final, Protocol

from jsonrill.errors import LimitExceeded
from jsonrill.eventstream import is_event_stream, is_lines
from jsonrill.sources.events import EventText

from .access import Problem
from .records import Input, Record

# Characters of one record of text.
PIECE: Final = 64 << 10


class Intake(Protocol):
    def feed(self, data: bytes) -> Iterator[Record]: ...
    def flush(self) -> Iterator[Record]: ...


class TextIntake:
    """Plain text: pieces as they arrive."""

    def __init__(self) -> None:
        self._decoder: Any = getincrementaldecoder("utf-8")()

    def feed(self, data: bytes, is_last: bool = False) -> Iterator[Record]:
        try:
            text = self._decoder.decode(data, is_last)
        except UnicodeDecodeError as error:
            raise Problem(400, "INVALID_BODY", "the text is not UTF-8") from error
        return (Record("text", text[at : at + PIECE]) for at in range(0, len(text), PIECE))

    def flush(self) -> Iterator[Record]:
        return self.feed(b"", True)


class JsonIntake:
    """JSON texts, one per line, or one that is the whole body."""

    def __init__(self, input: Input, limit: int, *, has_lines: bool) -> None:
        self._input = input
        self._limit = limit
        self._has_lines = has_lines
        self._rest = b""
        self._line = 0

    def feed(self, data: bytes) -> Iterator[Record]:
        lines = data.split(b"\n") if self._has_lines else [data]
        lines[0] = self._rest + lines[0]
        self._rest = lines.pop()
        for line in lines:
            self._line += 1
            yield from self._records(line)
        if len(self._rest) > self._limit:
            raise too_large(f"a record has at most {self._limit} bytes")

    def flush(self) -> Iterator[Record]:
        self._line += 1
        yield from self._records(self._rest)

    def _records(self, line: bytes) -> Iterator[Record]:
        line = line.strip(b" \t\r")
        if len(line) > self._limit:
            raise too_large(f"a record has at most {self._limit} bytes")
        if line or not self._has_lines:
            place = f"line {self._line}" if self._has_lines else "the body"
            yield _record(self._input, line, place)


class EventsIntake:
    """Server-sent events as a provider sends them."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._text = EventText(sse=True, limit=limit)

    def feed(self, data: bytes) -> Iterator[Record]:
        try:
            events = self._text.feed(data)
        except LimitExceeded as error:
            raise too_large(str(error)) from error
        return (_record("events", event.encode(), "an event") for event in events if event.strip())

    def flush(self) -> Iterator[Record]:
        events = self._text.flush()
        return (_record("events", event.encode(), "an event") for event in events if event.strip())


def _record(input: Input, data: bytes, place: str) -> Record:
    try:
        text = data.decode()
        value = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise Problem(400, "INVALID_BODY", f"{place} is not JSON") from error
    if input == "text":
        if not isinstance(value, str):
            raise Problem(400, "INVALID_BODY", f"{place} is not a JSON string, and input is text")
        return Record("text", value)
    if input == "events" and not isinstance(value, dict):
        raise Problem(400, "INVALID_BODY", f"{place} is not a JSON object, and input is events")
    return Record(input, text)


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def too_large(message: str) -> Problem:
    return Problem(413, "LIMIT_EXCEEDED", message)


def intake_for(media: str, input: Input, limit: int) -> Intake:
    """Return the stage for a media type; 415 if a stream of this kind cannot be sent so."""
    if is_lines(media):
        return JsonIntake(input, limit, has_lines=True)
    if is_event_stream(media) and input == "events":
        return EventsIntake(limit)
    if media in ("application/json", "text/plain", "application/octet-stream") and input == "text":
        return TextIntake()
    if media == "application/json":
        return JsonIntake(input, limit, has_lines=False)
    sent = media or "a body without a type"
    raise Problem(415, "MEDIA_TYPE", f"a stream of {input} cannot be sent as {sent}")
