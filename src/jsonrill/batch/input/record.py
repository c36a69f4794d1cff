"""One line of a log → one stream: which form it has, its pieces, and when they came.

This file alone knows the forms. What is no stream raises `BadRecord`, with a code for the report.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from math import isfinite
from typing import Any, Final, Literal

from ...chunker import Chunker
from ...options import of_stage
from ...paths import Path, from_text, lookup
from ...providers import recognise
from ...sources import AnswerText
from ..errors import BadRecord
from ..job import Job

Form = Literal["chunks", "snapshots", "events", "text"]
# In the order in which they are looked for.
FORMS: Final[tuple[Form, ...]] = ("chunks", "snapshots", "events", "text")
# Seconds beyond this, nanoseconds too, are no times.
_FAR: Final = 1e20
_EXPECTED: Final = "expected an object with one of " + ", ".join(f'"{form}"' for form in FORMS)


@dataclass(slots=True)
class Stream:
    """A recorded stream: `pieces` in the order they came, `times` in seconds, if known."""

    id: Any
    form: Form
    pieces: list[Any]
    times: list[float] | None = None
    start: float | None = None

    def seconds(self, piece: int) -> float | None:
        """From the beginning until that piece came."""
        if self.times is None:
            return None
        begin = self.times[0] if self.start is None else self.start
        return max(0.0, round(float(self.times[piece] - begin), 9))


def read_line(line: str | bytes, job: Job, name: str) -> Stream:
    """The stream in a line of JSON; `name` is its id if it has none of its own."""
    record = _decoded(line)
    if not isinstance(record, dict):
        raise BadRecord("NOT_A_STREAM", f"{_EXPECTED}, not {_called(record)}")
    form, pieces = _found(record, job)
    known, given = lookup(record, _path(job.id_field))
    stream = Stream(given if known and given is not None else name, form, pieces)
    if type(stream.id) not in (str, int):
        raise BadRecord("NOT_A_STREAM", f"an id is a text or a whole number, not {_called(given)}")
    _add_times(stream, record)
    return stream


def texts(stream: Stream, job: Job) -> Iterator[str]:
    """The text that each piece brings, "" if none; one more at the end may come of snapshots."""
    if stream.form == "events":
        return _texts_of_events(stream, AnswerText(job.provider))
    if stream.form == "snapshots":
        return _texts_of_snapshots(stream.pieces, chunker(job))
    return iter(stream.pieces)


def chunker(job: Job) -> Chunker:
    """As the job wants it."""
    return Chunker(**of_stage("chunks", vars(job)))


def _decoded(line: str | bytes) -> Any:
    try:
        text = line if isinstance(line, str) else line.decode()
        return json.loads(text.removeprefix("\ufeff"))
    except UnicodeDecodeError as error:
        raise BadRecord("NOT_UTF8", f"not UTF-8: {error.reason} at byte {error.start}") from None
    except RecursionError:
        raise BadRecord("NOT_JSON", "too deeply nested") from None
    except ValueError as error:
        raise BadRecord("NOT_JSON", str(error)) from None


def _found(record: dict[str, Any], job: Job) -> tuple[Form, list[Any]]:
    if job.field is not None:
        known, pieces = lookup(record, _path(job.field))
        if not known:
            raise BadRecord("NOT_A_STREAM", f"there is nothing at {job.field}")
        return _guessed(pieces)
    for form in FORMS:
        if form in record:
            return form, _checked(form, record[form])
    raise BadRecord("NOT_A_STREAM", f"{_EXPECTED}{_advice(record)}")


def _guessed(pieces: Any) -> tuple[Form, list[Any]]:
    """The form of what lies in a field of the user's naming."""
    if isinstance(pieces, str):
        return "text", [pieces]
    if isinstance(pieces, list) and all(isinstance(piece, str) for piece in pieces):
        return "chunks", pieces
    if isinstance(pieces, list) and any(recognise(piece) for piece in pieces):
        return "events", pieces
    if isinstance(pieces, list):
        return "snapshots", pieces
    raise BadRecord("NOT_A_STREAM", f"a stream is a text or a list, not {_called(pieces)}")


def _checked(form: Form, pieces: Any) -> list[Any]:
    if form == "text":
        if isinstance(pieces, str):
            return [pieces]
        raise BadRecord("NOT_A_STREAM", f'"text" is a text, not {_called(pieces)}')
    if not isinstance(pieces, list):
        raise BadRecord("NOT_A_STREAM", f'"{form}" is a list, not {_called(pieces)}')
    if form == "chunks":
        if not {*map(type, pieces)} <= {str}:
            wrong = next(piece for piece in pieces if not isinstance(piece, str))
            raise BadRecord("NOT_A_STREAM", f'"chunks" are texts, not {_called(wrong)}')
    return pieces


def _advice(record: dict[str, Any]) -> str:
    """What somebody may have meant."""
    if recognise(record):
        return (
            ": this is one event; put all events of a stream into one line,"
            ' {"events": [...]}, or keep the event stream as it came (.sse)'
        )
    return ", or --field for another name"


def _add_times(stream: Stream, record: dict[str, Any]) -> None:
    times, start = record.get("times"), record.get("start")
    if times is None:
        return
    if not isinstance(times, list) or not _are_times(times):
        raise BadRecord("NOT_A_STREAM", '"times" is a list of seconds')
    if len(times) != len(stream.pieces):
        raise BadRecord(
            "NOT_A_STREAM", f"{len(times)} times for {len(stream.pieces)} {stream.form}"
        )
    if start is not None and not _are_times([start]):
        raise BadRecord("NOT_A_STREAM", f'"start" is a number of seconds, not {_called(start)}')
    stream.times, stream.start = times, start


def _are_times(times: list[Any]) -> bool:
    try:
        return (
            {*map(type, times)} <= {int, float}
            and isfinite(sum(map(float, times)))
            and max(map(abs, times), default=0) < _FAR
        )
    except OverflowError:
        return False


@lru_cache
def _path(text: str) -> Path:
    return from_text(text)


def need_events(stream: Stream) -> None:
    """Nothing came of these events: they had better be some."""
    if stream.pieces and not any(recognise(event) for event in stream.pieces):
        raise BadRecord("NOT_A_STREAM", "none of the events is one of a known provider")


def _texts_of_events(stream: Stream, answer: AnswerText) -> Iterator[str]:
    came = False
    for event in stream.pieces:
        text = answer.feed(event)
        came = came or bool(text)
        yield text
    if answer.has_only_calls:
        raise BadRecord("NO_TEXT", "the answer has tool calls and no text: read it with calls")
    if not came:
        need_events(stream)


def _texts_of_snapshots(snapshots: list[Any], chunker: Chunker) -> Iterator[str]:
    for snapshot in snapshots:
        ready = isinstance(snapshot, (str, dict, list))
        yield chunker.feed(snapshot if ready else json.dumps(snapshot))
    yield chunker.flush()


def _called(value: Any) -> str:
    names = {dict: "an object", list: "a list", str: "a text", bool: "a truth value"}
    return names.get(type(value), "null" if value is None else "a number")
