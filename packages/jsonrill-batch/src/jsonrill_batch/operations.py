"""One stream → its rows: a function for each kind of job, on top of the stages of jsonrill.

A row is JSON text. An error in a stream is no failure of the job: its rows have what was valid and
the error, and the tally counts it.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import accumulate
from typing import Any, Final, get_args

from jsonrill.build.document import Document
from jsonrill.errors import (
    InvalidJSON,
    InvalidSchema,
    LimitExceeded,
    Limits,
    RevisionError,
    Truncated,
)
from jsonrill.jsontext import dumps
from jsonrill.options import TABLE, Stage, of_stage
from jsonrill.partial_stream import PartialStream
from jsonrill.partial_stream.entities import Entities
from jsonrill.schema import Schema
from jsonrill.schema.document import SchemaDocument
from jsonrill.toolcalls import ToolCall, ToolCalls
from jsonrill.wire.full import to_wire
from jsonrill.wire.parser import Parser

from .errors import BadRecord
from .input.record import Stream, chunker, need_events, texts
from .job import Job, resolved
from .output.tally import Tally


class Work:
    """A job with its schemas compiled; `ValueError` for options that a stage refuses."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.schema: Schema | None = None
        if job.schema is not None and job.kind in ("values", "check"):
            self.schema = self._schema(job.schema)
        self.options = {stage: of_stage(stage, vars(job)) for stage in get_args(Stage)}
        # Options that differ from their defaults: others would be checked for each stream.
        self._reading = {
            name: value
            for name, value in self.options["values"].items()
            if value is not None
            and value != (Limits() if name == "limits" else TABLE[name].default)
        }
        # Whether a text that is valid as a whole is read the same in one go.
        self.at_once = not self._reading
        self.entity_options = self._entity_options() if job.kind == "updates" else {}
        tools = job.schemas if job.kind == "calls" else None
        self.tools = {name: self._schema(one) for name, one in (tools or {}).items()}
        self._rows = ROWS[job.kind]
        chunker(job)
        self.document()
        if job.kind == "updates":
            PartialStream(**self.entity_options)
        elif job.kind == "calls":
            self.calls()

    def _entity_options(self) -> dict[str, Any]:
        options = {**self.options["updates"]}
        for name in ("schema", "document_schema"):
            schema = resolved(options[name])
            if schema is not None:
                options[name] = self._compiled(schema)
        return options

    def _compiled(self, schema: Any) -> Any:
        """The compiled schema, or one for each name of an entity."""
        names = set(Entities(self.job.entity).names)
        if isinstance(schema, dict) and schema and schema.keys() <= names:
            return {name: self._schema(one) for name, one in schema.items()}
        return self._schema(schema)

    def _schema(self, schema: Any) -> Schema:
        return Schema(resolved(schema), check_formats=self.job.check_formats)

    def calls(self) -> ToolCalls:
        """What reads the calls of one stream."""
        # The `keep` of a job is another option: bytes of a line in quarantine.
        return ToolCalls(**{**self.options["calls"], "schemas": self.tools, "keep": None})

    def document(self) -> Document | SchemaDocument:
        """What reads the text of one stream."""
        if self.schema is None:
            return Document(**self._reading)
        return SchemaDocument(self.schema, live=True, **self._reading)

    def rows(self, stream: Stream, tally: Tally) -> Iterator[str]:
        """The rows of one stream; the tally gets its measures, errors and repairs."""
        return self._rows(self, stream, tally)


# The errors that a stream may have.
ERRORS: Final = (RevisionError, InvalidJSON, LimitExceeded, InvalidSchema)


def _read(work: Work, stream: Stream, tally: Tally) -> Document | SchemaDocument:
    """Read the text of a stream to its end or its error, and measure it."""
    return _in_one_go(work, stream, tally) or _piece_by_piece(work, stream, tally)


def _in_one_go(work: Work, stream: Stream, tally: Tally) -> Document | None:
    """Read a stream that is valid as a whole, as most are; None for any other.

    When it showed its first value, and when it changed last, is seen from both ends of its text.
    """
    if not work.at_once:
        return None
    document = Document()
    try:
        pieces = stream.pieces
        if stream.form not in ("chunks", "text"):
            pieces = [*texts(stream, work.job)]
        text = "".join(pieces)
        if stream.cut is not None:
            return None
        document.feed(text)
        document.flush()
        if work.schema is not None:
            work.schema.typed(document.live)
    except ERRORS:
        return None
    # With a schema the end of the document counts, too: then the value has been found valid.
    changed = _last_change(text) if work.schema is None else len(text.rstrip(" \t\n\r"))
    first = _FIRST.match(text)
    if first is None or changed is None:
        return None
    ends = [*accumulate(map(len, pieces))]
    shown, last = (bisect_left(ends, at) + 1 for at in (first.end(), changed))
    tally.read(pieces, shown, last, len(pieces))
    return document


# Up to where a container shows its first value: a string or a container as soon as it begins, a
# word when it is complete, a number with what comes after it.
_FIRST: Final = re.compile(
    r"""\s*(?:\[|\{\s*"(?:[^"\\]|\\.)*"\s*:)\s*(?:["\[{]|true|false|null|[-+.0-9eE]+.)""", re.S
)
# Half of a surrogate pair: what follows it decides when it is shown.
_LONE: Final = re.compile(r"\\u[dD][89abAB]")


def _last_change(text: str) -> int | None:
    """The number of characters up to the last one that changed the value of a valid text."""
    end = len(text.rstrip("]} \t\n\r"))
    if text[end - 1] == '"':
        if _LONE.match(text, max(end - 7, 0)):
            return None
        return end - 1  # the last character of a string, or the quote before an empty one
    # What comes after a number completes it.
    return min(end + 1, len(text)) if text[end - 1].isdigit() else end


def _piece_by_piece(work: Work, stream: Stream, tally: Tally) -> Document | SchemaDocument:
    """As `_read`, for any stream.

    The pieces after the first value are read without a loop in Python, and lengths are added up
    only at the end.
    """
    document = work.document()
    feed = document.feed
    seen, source = _kept(stream, work.job)
    numbered = enumerate(source, start=1)
    pieces = first = last = 0
    try:
        for pieces, text in numbered:
            if feed(text):
                last = pieces
                if _shows(document):
                    first = pieces
                    break
        # Whether each of the pieces that follow changed the value; an error keeps those before it,
        # and is in the piece after them.
        changes: list[bool] = []
        failed = True
        try:
            changes.extend(map(feed, source))
            failed = False
        finally:
            pieces += len(changes)
            if True in changes:
                last = pieces - changes[::-1].index(True)
            if failed:
                pieces = min(pieces + 1, len(seen))
        if document.flush(stream.cut):
            last = pieces
    except ERRORS as error:
        tally.errors.append(error.to_dict())
        if document.changed:
            last = pieces
    first = first or (last if _shows(document) else 0)
    for _ in _rest(source) if tally.errors else ():
        pass
    tally.read(seen, first, last, pieces)
    tally.repairs = document.repairs
    return document


def _kept(stream: Stream, job: Job) -> tuple[list[str], Iterator[str]]:
    """A list that fills with the texts of a stream, and the iterator that fills it."""
    if stream.form in ("chunks", "text"):
        return stream.pieces, iter(stream.pieces)
    seen: list[str] = []

    def keep() -> Iterator[str]:
        for text in texts(stream, job):
            seen.append(text)
            yield text

    return seen, keep()


def _rest(texts: Iterator[str]) -> Iterator[str]:
    """The texts after an error, up to the next error."""
    with suppress(*ERRORS):
        yield from texts


def _shows(document: Document | SchemaDocument) -> bool:
    """True if there is more than an empty string or container."""
    live = document.live
    return document.started and (bool(live) or not isinstance(live, (str, dict, list)))


def _values(work: Work, stream: Stream, tally: Tally) -> Iterator[str]:
    document = _read(work, stream, tally)
    row = {"id": stream.id, "value": document.live if document.started else None}
    yield dumps({**row, **_error_and_repairs(tally)})


def _check(work: Work, stream: Stream, tally: Tally) -> Iterator[str]:
    _read(work, stream, tally)
    row: dict[str, Any] = {"id": stream.id, "ok": not tally.errors}
    row |= {"characters": tally.characters, "pieces": tally.pieces}
    for name, place in (("first", tally.first), ("last", tally.last)):
        if place is not None:
            row[name] = tally.waited(place)
    yield dumps({**row, **_error_and_repairs(tally)})


def _updates(work: Work, stream: Stream, tally: Tally) -> Iterator[str]:
    partial = PartialStream(**work.entity_options)
    head = dumps({"id": stream.id})[:-1]
    sequence = 0
    pieces = texts(stream, work.job)
    while not partial.ended:
        try:
            text = next(pieces, None)
        except ERRORS as error:
            tally.errors.append(error.to_dict())
            yield dumps({"id": stream.id, "seq": sequence, **_error_and_repairs(tally)})
            return
        if text is not None:
            tally.piece(text)
        for update in partial.flush(stream.cut) if text is None else partial.feed(text):
            if update.error is None:
                tally.change()
            else:
                tally.errors.append(update.error)
            yield f'{head},"seq":{sequence},{update.to_json()[1:]}'
            sequence += 1
    tally.repairs = partial.repairs
    tally.rest(_rest(pieces))


def _fragments(work: Work, stream: Stream, tally: Tally) -> Iterator[str]:
    parser = Parser(**work.options["fragments"])
    head = dumps({"id": stream.id})[:-1]
    sequence = 0
    pieces = texts(stream, work.job)
    ended = False
    while not ended:
        try:
            text = next(pieces, None)
            ended = text is None
            if text is not None:
                tally.piece(text)
            found = parser.flush(stream.cut) if text is None else parser.feed(text)
        except ERRORS as error:
            tally.errors.append(error.to_dict())
            found, ended = getattr(error, "fragments", []), True
        for fragment in found:
            tally.change(fragment.kind not in ("StartObject", "StartArray"))
            yield f'{head},"seq":{sequence},{dumps(to_wire(fragment))[1:]}'
            sequence += 1
    tally.repairs = parser.repairs
    if tally.errors:
        yield dumps({"id": stream.id, "seq": sequence, **_error_and_repairs(tally)})
    tally.rest(_rest(pieces))


def _chunks(work: Work, stream: Stream, tally: Tally) -> Iterator[str]:
    if stream.form != "snapshots":
        raise BadRecord("WRONG_FORM", f"chunks are made of snapshots, not of {stream.form}")
    made: list[str] = []
    try:
        for text in texts(stream, work.job):
            tally.piece(text)
            if text:
                tally.change()
                made.append(text)
    except ERRORS as error:
        tally.errors.append(error.to_dict())
    yield dumps({"id": stream.id, "chunks": made, **_error_and_repairs(tally)})


def _calls(work: Work, stream: Stream, tally: Tally) -> Iterator[str]:
    if stream.form != "events":
        raise BadRecord("WRONG_FORM", f"calls are read from events, not from {stream.form}")
    calls = work.calls()
    for event in stream.pieces:
        tally.pieces += 1
        for update in calls.read(calls.reader.feed(event)):
            tally.characters += len(update.function_args or "")
            tally.change()
    calls.flush()
    rows = [_call(call) for call in calls.calls]
    if not rows:
        need_events(stream)
    tally.errors = [{**row["error"], "tool": row.get("name")} for row in rows if "error" in row]
    tally.repairs = calls.repairs
    yield dumps({"id": stream.id, "calls": rows})


def _call(call: ToolCall) -> dict[str, Any]:
    names = ("id", "index", "message_id", "name", "status", "args", "error")
    shown = {name: getattr(call, name) for name in names}
    if call.status in ("truncated", "streaming") and call.error is None:
        shown["error"] = Truncated("the arguments stopped early").to_dict()
    if call.status != "complete":
        shown["raw"] = call.raw
    return {name: value for name, value in shown.items() if value not in (None, "")}


def _error_and_repairs(tally: Tally) -> dict[str, Any]:
    """The fields of a row for error and repairs."""
    shown: dict[str, Any] = {}
    if tally.errors:
        shown["error"] = tally.errors[0]
    if tally.repairs:
        shown["repairs"] = [[repair.rule, repair.offset] for repair in tally.repairs]
    return shown


ROWS: Final[dict[str, Callable[[Work, Stream, Tally], Iterator[str]]]] = {
    "calls": _calls,
    "check": _check,
    "chunks": _chunks,
    "fragments": _fragments,
    "updates": _updates,
    "values": _values,
}
