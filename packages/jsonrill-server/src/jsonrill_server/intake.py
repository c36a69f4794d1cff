"""The bytes of a request's body → records, as they arrive."""

from __future__ import annotations

import json
from codecs import getincrementaldecoder
from typing import Any, Final

from jsonrill.errors import LimitExceeded
from jsonrill.eventstream import is_event_stream, is_lines
from jsonrill.sources.events import EventText

from .access import Problem
from .records import Input, Record

# Characters of one record of text.
PIECE: Final = 64 << 10
TEXT: Final = ("application/json", "text/plain", "application/octet-stream")


class Intake:
    """Decodes a body, splits it, and checks that its parts are what a stream takes."""

    def __init__(self, media: str, input: Input, limit: int) -> None:
        self._input = input
        self._limit = limit
        self._has_lines = is_lines(media)
        self._is_text = input == "text" and media in TEXT
        self._events: EventText | None = None
        if is_event_stream(media) and input == "events":
            self._events = EventText(sse=True, limit=limit)
        elif not (self._has_lines or self._is_text or media == "application/json"):
            sent = media or "a body without a type"
            raise Problem(415, "MEDIA_TYPE", f"a stream of {input} cannot be sent as {sent}")
        self._utf8: Any = getincrementaldecoder("utf-8")()
        self._rest = ""
        self._number = 0

    def feed(self, data: bytes, is_last: bool = False) -> list[Record]:
        """Return the records that are complete with these bytes."""
        try:
            text = self._utf8.decode(data, is_last)
        except UnicodeDecodeError as error:
            raise _invalid("the body is not UTF-8") from error
        if self._is_text:
            pieces = range(0, len(text), PIECE)
            return [Record("text", text[at : at + PIECE]) for at in pieces]
        parts = self._split(text, is_last) if self._events is None else self._events.feed(text)
        if self._events is not None and is_last:
            parts += self._events.flush()
        return [self._record(part) for part in map(str.strip, parts) if part]

    def _split(self, text: str, is_last: bool) -> list[str]:
        """Return the lines of a body, or all of it."""
        text = self._rest + text
        *parts, self._rest = text.split("\n") if self._has_lines else [text]
        if max(map(len, (*parts, self._rest))) > self._limit:
            raise LimitExceeded(f"a record has at most {self._limit} bytes")
        return [*parts, self._rest] if is_last else parts

    def _record(self, text: str) -> Record:
        self._number += 1
        place = f"record {self._number} of the body"
        try:
            value = json.loads(text, parse_constant=_refuse)
        except (ValueError, RecursionError) as error:
            raise _invalid(f"{place} is not JSON") from error
        if self._input == "text" and isinstance(value, str):
            return Record("text", value)
        if self._input == "text" or (self._input == "events" and not isinstance(value, dict)):
            kind = "string" if self._input == "text" else "object"
            raise _invalid(f"{place} is not a JSON {kind}, and input is {self._input}")
        return Record(self._input, text)


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _invalid(message: str) -> Problem:
    return Problem(400, "INVALID_BODY", message)
