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


class Pieces:
    """Plain text, as it arrives."""

    def feed(self, text: str) -> list[str]:
        return [text[at : at + PIECE] for at in range(0, len(text), PIECE)]

    def flush(self) -> list[str]:
        return []


class Lines:
    """The lines of a body, or the whole of it."""

    def __init__(self, limit: int, *, is_whole: bool = False) -> None:
        self._limit = limit
        self._is_whole = is_whole
        self._rest = ""

    def feed(self, text: str) -> list[str]:
        text = self._rest + text
        *lines, self._rest = [text] if self._is_whole else text.split("\n")
        if max(map(len, (*lines, self._rest))) > self._limit:
            raise LimitExceeded(f"a record has at most {self._limit} bytes")
        return lines

    def flush(self) -> list[str]:
        return [self._rest]


class Intake:
    """Decodes a body, splits it, and checks that its parts are what a stream takes."""

    def __init__(self, input: Input, split: Pieces | Lines | EventText) -> None:
        self._input = input
        self._split = split
        self._utf8: Any = getincrementaldecoder("utf-8")()
        self._number = 0

    def feed(self, data: bytes, is_last: bool = False) -> list[Record]:
        """Return the records that are complete with these bytes."""
        try:
            text = self._utf8.decode(data, is_last)
        except UnicodeDecodeError as error:
            raise _invalid("the body is not UTF-8") from error
        parts = self._split.feed(text)
        if is_last:
            parts = [*parts, *self._split.flush()]
        if isinstance(self._split, Pieces):
            return [Record("text", part) for part in parts]
        return [self._record(part) for part in map(str.strip, parts) if part]

    def _record(self, text: str) -> Record:
        self._number += 1
        place = f"record {self._number} of the body"
        try:
            value = json.loads(text, parse_constant=_refuse)
        except (ValueError, RecursionError) as error:
            raise _invalid(f"{place} is not JSON") from error
        if self._input == "text":
            if not isinstance(value, str):
                raise _invalid(f"{place} is not a JSON string, and input is text")
            return Record("text", value)
        if self._input == "events" and not isinstance(value, dict):
            raise _invalid(f"{place} is not a JSON object, and input is events")
        return Record(self._input, text)


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _invalid(message: str) -> Problem:
    return Problem(400, "INVALID_BODY", message)


def intake_for(media: str, input: Input, limit: int) -> Intake:
    """Return the intake for a media type; 415 if a stream of this kind cannot be sent so."""
    if is_lines(media):
        return Intake(input, Lines(limit))
    if is_event_stream(media) and input == "events":
        return Intake(input, EventText(sse=True, limit=limit))
    if media in ("application/json", "text/plain", "application/octet-stream") and input == "text":
        return Intake(input, Pieces())
    if media == "application/json":
        return Intake(input, Lines(limit, is_whole=True))
    sent = media or "a body without a type"
    raise Problem(415, "MEDIA_TYPE", f"a stream of {input} cannot be sent as {sent}")
