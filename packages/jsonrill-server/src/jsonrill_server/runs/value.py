"""The current value of a stream, read from its log: a document, or text and tool calls."""

from __future__ import annotations

from typing import Any

from jsonrill.document import Document
from jsonrill.errors import InvalidJSON, LimitExceeded, Problem
from jsonrill.jsontext import dumps_in_parts
from jsonrill.providers.ending import Ending
from jsonrill.providers.statements import text_in
from jsonrill.toolcalls import ToolCall, ToolCalls

from ..store import Entry, LogLost, Status, Store
from .options import StreamOptions
from .positions import Position
from .records import End, Record, from_entry
from .render import EVENT, SourceFailed, TextSource, parts, usable
from .steps import SMALL, beside


async def value_of(store: Store, stream: str, status: Status) -> tuple[bytes, Position]:
    """Return the JSON body of the response and the position of its last record."""
    options = StreamOptions.from_bytes(status.meta)
    entries = await _entries(store, stream, status.last)
    last, mark = (entries[-1].seq, entries[-1].mark) if entries else (0, status.mark)
    # Long logs, and schemas that may be heavy, are read in a thread, not in the event loop.
    if status.size > SMALL or len(status.meta) > SMALL:
        body = await beside(_body, options, entries)
    else:
        body = _body(options, entries)
    return body, Position(last, mark=mark)


async def read_log(store: Store, stream: str, last: int) -> tuple[list[Record], End | None]:
    """The records of a log up to the last one, or further, and how it ended."""
    return _split(await _entries(store, stream, last))


async def _entries(store: Store, stream: str, last: int) -> list[Entry]:
    """Those up to the last one, or further. LogLost if they are not there any more: a
    producer that goes on with a run from its log must have all of it."""
    entries: list[Entry] = []
    after, mark = 0, None
    while after < last and not (entries and entries[-1].final):
        more = (await store.peek(stream, after, mark)).entries
        if not more:
            raise LogLost("the store lost records of this stream")
        entries += more
        after, mark = more[-1].seq, more[-1].mark
    return entries


def _split(entries: list[Entry]) -> tuple[list[Record], End | None]:
    records: list[Record] = []
    end: End | None = None
    for element in map(from_entry, entries):
        if isinstance(element, End):
            end = element
        else:
            records.append(element)
    return records, end


def _body(options: StreamOptions, entries: list[Entry]) -> bytes:
    records, end = _split(entries)
    read = _of_events if options.input == "events" else _of_text
    try:
        body = read(options, records, end)
    except (TypeError, ValueError):
        body = read(usable(options), records, end)
    body["closed"] = end is not None
    if end is not None and end.reason != "closed":
        body["error"] = end.error()
    return dumps_in_parts({**body, "last": entries[-1].seq if entries else 0}).encode()


def _of_text(options: StreamOptions, records: list[Record], end: End | None) -> dict[str, Any]:
    source, document = TextSource(options), Document(**options.of("document"))
    error: Problem | None = None
    try:
        for record in records:
            for part in parts(source.feed([record]), EVENT):
                document.feed(part)
        if end is not None and end.reason == "closed":
            document.feed(source.flush())
            document.flush(source.cut)
    except SourceFailed as failed:
        error = failed.error.to_dict()
    except (InvalidJSON, LimitExceeded) as bad:
        error = bad.to_dict()
    body: dict[str, Any] = {"value": document.live, "complete": document.complete}
    return body if error is None else {**body, "error": error}


def _of_events(options: StreamOptions, records: list[Record], end: End | None) -> dict[str, Any]:
    calls = ToolCalls(**options.of("calls"), keep=None)
    texts: list[str] = []
    ending = Ending()
    for record in records:
        statements = calls.reader.feed(record.body)
        texts.append(text_in(statements))
        ending.feed(statements)
        calls.read(statements)
    if end is not None:
        calls.flush()
    outcome = ending.of()
    if outcome is None and end is not None and end.reason == "closed" and calls.reader.ends:
        outcome = "lost"
    shown = [_call(call) for call in calls.calls]
    return {"text": "".join(texts), "calls": shown, "outcome": outcome}


def _call(call: ToolCall) -> dict[str, Any]:
    return {"id": call.id, "name": call.name, "args": call.args, "status": call.status}
