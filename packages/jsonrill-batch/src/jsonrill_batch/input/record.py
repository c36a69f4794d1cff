"""One line of a log → one stream: its form, its pieces, and the times at which they came.

Only this file knows the forms. A line that is no stream raises `BadRecord`, with a code for the
report.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from math import isfinite
from typing import Any, Final, Literal

from jsonrill.options import of_stage
from jsonrill.sources.complete import events_of, refusal_of

from jsonrill.chunker import Chunker
from jsonrill.errors import CutShort
from jsonrill.paths import Path, lookup, parse_path
from jsonrill.providers import recognise
from jsonrill.sources.answer import AnswerText

from ..errors import BadRecord
from ..job import DEFAULT_ID, Job
from .exports import exported

Form = Literal["chunks", "snapshots", "events", "text"]
# The first of these that a line has is its form.
FORMS: Final[tuple[Form, ...]] = ("chunks", "snapshots", "events", "text")
# Larger numbers are no times, not even in nanoseconds.
_FAR: Final = 1e20
_EXPECTED: Final = "expected an object with one of " + ", ".join(f'"{form}"' for form in FORMS)
_ARRAY: Final = "a log has one object a line; jq -c '.[]' FILE makes lines of an array"


@dataclass(slots=True)
class Stream:
    """A recorded stream: `pieces` in the order they came, their `times` in seconds if known."""

    id: Any
    form: Form
    pieces: list[Any]
    times: list[float] | None = None
    start: float | None = None
    # Once its texts have been read: how the answer in its events was cut.
    cut: CutShort | None = None

    def seconds(self, piece: int) -> float | None:
        """Seconds from the start of the stream to a piece; None without times."""
        if self.times is None:
            return None
        begin = self.times[0] if self.start is None else self.start
        return max(0.0, round(float(self.times[piece] - begin), 9))


def read_line(line: str | bytes, job: Job, name: str) -> Stream:
    """The stream in a line of JSON; `name` is the id of a stream without one."""
    record = _decoded(line)
    if not isinstance(record, dict):
        advice = f": {_ARRAY}" if isinstance(record, list) else ""
        raise BadRecord("NOT_A_STREAM", f"{_EXPECTED}, not {_called(record)}{advice}")
    form, pieces, named = _found(record, job)
    known, id = lookup(record, _path(job.id_field))
    if named is not None and (job.id_field == DEFAULT_ID or not known):
        known, id = True, named
    stream = Stream(id if known and id is not None else name, form, pieces)
    if type(stream.id) not in (str, int):
        raise BadRecord("NOT_A_STREAM", f"the id must be a string or an integer, not {_called(id)}")
    _add_times(stream, record)
    return stream


def texts(stream: Stream, job: Job) -> Iterator[str]:
    """The text of each piece, "" if it has none; snapshots may add one at the end."""
    if stream.form == "events":
        return _texts_of_events(stream, AnswerText(job.provider))
    if stream.form == "snapshots":
        return _texts_of_snapshots(stream.pieces, chunker(job))
    return iter(stream.pieces)


def chunker(job: Job) -> Chunker:
    """A chunker with the options of the job."""
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
        written = text.strip()
        in_array = written == "[" or (written[:1] == "{" and written[-1:] == ",")
        raise BadRecord("NOT_JSON", f"{error}{f': {_ARRAY}' if in_array else ''}") from None


def _found(record: dict[str, Any], job: Job) -> tuple[Form, list[Any], Any]:
    """Form and pieces of the stream in a line, and the id that an export gives it."""
    if job.field is not None:
        known, pieces = lookup(record, _path(job.field))
        if not known:
            raise BadRecord("NOT_A_STREAM", f"there is nothing at {job.field}")
        return *_guessed(pieces), None
    for form in FORMS:
        if form in record:
            return form, _checked(form, record[form]), None
    export = exported(record)
    refusal = (
        refusal_of(record if export is None else export.answer) if job.kind != "calls" else None
    )
    if refusal is not None:
        raise BadRecord("NO_TEXT", f"the model refused: {refusal}")
    if export is not None:
        return *_answer(export.answer), export.id
    events = events_of(record)
    if events is not None:
        return "events", events, None
    raise BadRecord("NOT_A_STREAM", f"{_EXPECTED}{_advice(record)}")


def _answer(answer: Any) -> tuple[Form, list[Any]]:
    """Form and pieces of an answer in an export: a provider's, a text, or the value itself."""
    events = events_of(answer)
    if events is not None:
        return "events", events
    if isinstance(answer, str):
        return "text", [answer]
    if isinstance(answer, dict | list):
        return "text", [json.dumps(answer)]
    raise BadRecord("NO_ANSWER", f"the answer is {_called(answer)}")


def _guessed(pieces: Any) -> tuple[Form, list[Any]]:
    """The form and the pieces of a stream in a field that the user named."""
    if isinstance(pieces, str):
        return "text", [pieces]
    if isinstance(pieces, list) and all(isinstance(piece, str) for piece in pieces):
        return "chunks", pieces
    if isinstance(pieces, list) and any(recognise(piece) for piece in pieces):
        return "events", pieces
    if isinstance(pieces, list):
        return "snapshots", pieces
    events = events_of(pieces)
    if events is not None:
        return "events", events
    raise BadRecord("NOT_A_STREAM", f"a stream is a string or a list, not {_called(pieces)}")


def _checked(form: Form, pieces: Any) -> list[Any]:
    if form == "text":
        if isinstance(pieces, str):
            return [pieces]
        raise BadRecord("NOT_A_STREAM", f'"text" must be a string, not {_called(pieces)}')
    if not isinstance(pieces, list):
        raise BadRecord("NOT_A_STREAM", f'"{form}" must be a list, not {_called(pieces)}')
    if form == "chunks":
        if not {*map(type, pieces)} <= {str}:
            wrong = next(piece for piece in pieces if not isinstance(piece, str))
            raise BadRecord("NOT_A_STREAM", f'"chunks" must be strings, not {_called(wrong)}')
    return pieces


def _advice(record: dict[str, Any]) -> str:
    """A remedy for a line without a stream."""
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
        raise BadRecord("NOT_A_STREAM", '"times" must be a list of seconds')
    if len(times) != len(stream.pieces):
        raise BadRecord(
            "NOT_A_STREAM", f"{len(times)} times for {len(stream.pieces)} {stream.form}"
        )
    if start is not None and not _are_times([start]):
        raise BadRecord("NOT_A_STREAM", '"start" must be a number of seconds below 1e20')
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
    return parse_path(text)


def need_events(stream: Stream) -> None:
    """`BadRecord` if none of the events is of a known provider."""
    if stream.pieces and not any(recognise(event) for event in stream.pieces):
        raise BadRecord("NOT_A_STREAM", "none of the events is from a known provider")


def _texts_of_events(stream: Stream, answer: AnswerText) -> Iterator[str]:
    came = False
    for event in stream.pieces:
        text = answer.feed(event)
        came = came or bool(text)
        yield text
    stream.cut = answer.cut()
    if answer.has_only_calls:
        raise BadRecord("NO_TEXT", "the answer has tool calls and no text: use the job calls")
    if not came:
        need_events(stream)


def _texts_of_snapshots(snapshots: list[Any], chunker: Chunker) -> Iterator[str]:
    for snapshot in snapshots:
        ready = isinstance(snapshot, (str, dict, list))
        yield chunker.feed(snapshot if ready else json.dumps(snapshot))
    yield chunker.flush()


def _called(value: Any) -> str:
    names = {dict: "an object", list: "a list", str: "a string", bool: "a boolean"}
    return names.get(type(value), "null" if value is None else "a number")
