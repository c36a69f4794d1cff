"""One stream → its rows: a function for each kind of job, on top of the stages of jsonrill.

A row is JSON text. An error in a stream is no failure of the job: its rows have what was valid and
the error, and the tally counts it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, Final, get_args

from jsonrill.options import TABLE, Stage, of_stage
from jsonrill.wire.full import to_wire
from jsonrill.wire.parser import Parser

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
from jsonrill.partial_stream import PartialStream
from jsonrill.partial_stream.entities import Entities
from jsonrill.schema import Schema
from jsonrill.schema.document import SchemaDocument
from jsonrill.toolcalls import ToolCall, ToolCalls

from . import whole
from .errors import BadRecord
from .input.record import Stream, chunker, need_events, texts
from .job import DEFAULT_ID, Job, resolved
from .output.summary import Summary
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
        schema = resolved(options["schema"])
        if schema is not None:
            options["schema"] = self._compiled(schema)
        return options

    def _compiled(self, schema: Any) -> Any:
        """The compiled schema, or one for each name of an entity."""
        names = set(Entities(self.job.entity).names)
        if isinstance(schema, dict) and schema and schema.keys() <= names:
            return {name: self._schema(one) for name, one in schema.items()}
        return self._schema(schema)

    def _schema(self, schema: Any) -> Schema:
        return Schema(resolved(schema))

    def calls(self) -> ToolCalls:
        """What reads the calls of one stream."""
        # The `keep` of a job is another option: bytes of a line in quarantine.
        return ToolCalls(**{**self.options["calls"], "schemas": self.tools, "keep": None})

    def document(self) -> Document | SchemaDocument:
        """What reads the text of one stream."""
        if self.schema is None:
            return Document(**self._reading)
        return SchemaDocument(self.schema, live=True, **self._reading)

    def whole_lines(self, summary: Summary) -> whole.WholeLines | None:
        """What makes rows of whole lines, for a job that reads the value of lines as they are."""
        job = self.job
        if not self.at_once or job.kind not in whole.ROWS or job.field is not None:
            return None
        if job.id_field != DEFAULT_ID:
            return None
        return whole.WholeLines(job.kind, self.schema, summary)

    def rows(self, stream: Stream, tally: Tally) -> Iterator[str]:
        """The rows of one stream; the tally gets its measures, errors and repairs."""
        return self._rows(self, stream, tally)


# The errors that a stream may have.
ERRORS: Final = (RevisionError, InvalidJSON, LimitExceeded, InvalidSchema)


def _read(work: Work, stream: Stream, tally: Tally) -> Any:
    """Read the text of a stream to its end or its error, and measure it; returns its value."""
    if work.at_once:
        with suppress(*ERRORS, ValueError, ArithmeticError, RecursionError, StopIteration):
            return _in_one_go(work, stream, tally)
    document = _piece_by_piece(work, stream, tally)
    return document.live if document.started else None


def _in_one_go(work: Work, stream: Stream, tally: Tally) -> Any:
    """As `_read`, for a stream that is valid as a whole; `ValueError` or its error for others."""
    pieces = stream.pieces
    if stream.form not in ("chunks", "text"):
        pieces = [*texts(stream, work.job)]
    if stream.cut is not None:
        raise ValueError("the answer goes on behind its text")
    value, tally.characters, first, last = whole.read_at_once(pieces, work.schema)
    # The end of a stream may add text, too: it counts with the last piece.
    most = len(stream.pieces)
    tally.pieces = min(len(pieces), most)
    tally.first, tally.last = (min(first[0], most), first[1]), (min(last[0], most), last[1])
    return value


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
    row = {"id": stream.id, "value": _read(work, stream, tally)}
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
            fragments = parser.flush(stream.cut) if text is None else parser.feed(text)
        except ERRORS as error:
            tally.errors.append(error.to_dict())
            fragments, ended = getattr(error, "fragments", []), True
        for fragment in fragments:
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
    chunks: list[str] = []
    try:
        for text in texts(stream, work.job):
            tally.piece(text)
            if text:
                tally.change()
                chunks.append(text)
    except ERRORS as error:
        tally.errors.append(error.to_dict())
    yield dumps({"id": stream.id, "chunks": chunks, **_error_and_repairs(tally)})


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
