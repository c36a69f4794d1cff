"""The bytes of a request's body in, records out, as they arrive; one stage for each media type."""

from __future__ import annotations

import json
from codecs import getincrementaldecoder
from typing import Any, Protocol

from jsonrill.errors import LimitExceeded
from jsonrill.eventstream import is_event_stream, is_lines
from jsonrill.sources.events import EventText

from ..problems import Problem
from ..runs.records import Input, Record


class BadBody(Problem):
    """The body is not what its media type says."""

    def __init__(self, message: str, status: int = 400, line: int | None = None) -> None:
        code = {413: "LIMIT_EXCEEDED", 415: "MEDIA_TYPE"}.get(status, "INVALID_BODY")
        super().__init__(status, code, message, line=line)


class Intake(Protocol):
    def feed(self, data: bytes) -> list[Record]: ...
    def flush(self) -> list[Record]: ...


class TextIntake:
    """Plain text: each piece a record, as it arrives."""

    def __init__(self, limit: int) -> None:
        self._decoder: Any = getincrementaldecoder("utf-8")()
        self._limit = limit

    def feed(self, data: bytes) -> list[Record]:
        return self._records(data, final=False)

    def flush(self) -> list[Record]:
        return self._records(b"", final=True)

    def _records(self, data: bytes, *, final: bool) -> list[Record]:
        try:
            text = self._decoder.decode(data, final)
        except UnicodeDecodeError as error:
            raise BadBody("the text is not UTF-8") from error
        # Characters of UTF-8 have up to four bytes, and a record is bounded in bytes.
        step = max(1, self._limit // 4) if len(data) > self._limit else max(1, len(text))
        return [Record("text", text[at : at + step]) for at in range(0, len(text), step)]


class JsonIntake:
    """JSON: a chunk (a JSON string), a snapshot or an event; one a line (NDJSON), or the body."""

    def __init__(self, input: Input, limit: int, *, lines: bool) -> None:
        self._input = input
        self._limit = limit
        self._lines = lines
        self._held = b""
        self._line = 0

    def feed(self, data: bytes) -> list[Record]:
        complete = data.split(b"\n") if self._lines else [data]
        complete[0] = self._held + complete[0]
        self._held = complete.pop()
        records = [record for line in complete for record in self._records(line)]
        self._check(self._held)
        return records

    def flush(self) -> list[Record]:
        rest, self._held = self._held, b""
        return self._records(rest) if self._lines else [one_record(self._input, rest, "the body")]

    def _records(self, line: bytes) -> list[Record]:
        self._line += 1
        line = line.strip(b" \t\r")
        self._check(line, self._line)
        return [one_record(self._input, line, f"line {self._line}", self._line)] if line else []

    def _check(self, line: bytes, number: int | None = None) -> None:
        if len(line) > self._limit:
            raise BadBody(f"a record has at most {self._limit} bytes", 413, number)


class EventsIntake:
    """Server-sent events as a provider sends them; the data of each is an event."""

    def __init__(self, limit: int) -> None:
        self._text = EventText(sse=True, limit=limit)

    def feed(self, data: bytes) -> list[Record]:
        try:
            return _records(self._text.feed(data))
        except LimitExceeded as error:
            raise BadBody(str(error), 413) from error

    def flush(self) -> list[Record]:
        """The last event, which counts without its blank line if it is JSON."""
        return _records(self._text.flush())


def _records(events: list[str]) -> list[Record]:
    return [one_record("events", data.encode(), "an event") for data in events if data.strip()]


def one_record(input: Input, data: bytes, where: str, line: int | None = None) -> Record:
    """A record from JSON; BadBody if it is none, or not of the kind that this input takes."""
    try:
        text = data.decode()
        value = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise BadBody(f"{where} is not JSON", line=line) from error
    if input == "text":
        if not isinstance(value, str):
            raise BadBody(f"{where} is not a JSON string: chunks of text are strings", line=line)
        return Record("text", value)
    if input == "events" and not isinstance(value, dict):
        raise BadBody(f"{where} is not a JSON object: events are objects", line=line)
    return Record(input, text)


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def intake_for(media: str, input: Input, limit: int) -> Intake:
    """The stage for this media type and kind of stream; BadBody (415) if there is none."""
    if is_lines(media):
        return JsonIntake(input, limit, lines=True)
    if is_event_stream(media) and input == "events":
        return EventsIntake(limit)
    if media in ("application/json", "text/plain", "application/octet-stream") and input == "text":
        return TextIntake(limit)
    if media == "application/json":
        return JsonIntake(input, limit, lines=False)
    raise BadBody(f"a stream of {input} cannot be sent as {media or 'a body without a type'}", 415)
