"""The current value of a stream, read from its log: a document, or text and tool calls."""

from __future__ import annotations

import asyncio
from typing import Any, Final

from ..build.document import Document
from ..errors import InvalidJSON, LimitExceeded
from ..jsontext import dumps
from ..providers.statements import text_in
from ..store import Status, Store
from ..toolcalls import ToolCall, ToolCalls
from .options import StreamOptions
from .positions import Position
from .records import End, Record, from_entry
from .render import SourceFailed, TextSource

BESIDE: Final = 64 * 1024


async def value_of(store: Store, stream: str, status: Status) -> tuple[str, Position]:
    """Return the JSON body of the response and the position of its last record."""
    options = StreamOptions.from_bytes(status.meta)
    records: list[Record] = []
    end: End | None = None
    last, mark = 0, status.mark
    if status.last:
        async for batch in store.read(stream):
            for entry in batch:
                found = from_entry(entry)
                last, mark = entry.seq, entry.mark
                if isinstance(found, End):
                    end = found
                else:
                    records.append(found)
            if last >= status.last:
                break
    read = _of_events if options.input == "events" else _of_text
    # Long logs are read in a thread, so that they do not block the event loop.
    if status.size > BESIDE:
        body = await asyncio.to_thread(read, options, records, end)
    else:
        body = read(options, records, end)
    body["closed"] = end is not None
    if end is not None and end.reason != "closed":
        body["error"] = end.error()
    return dumps({**body, "last": last}), Position(last, mark=mark)


def _of_text(options: StreamOptions, records: list[Record], end: End | None) -> dict[str, Any]:
    source, document = TextSource(options), Document(**options.of("values"))
    error: dict[str, Any] | None = None
    try:
        document.feed(source.feed(records))
        if end is not None and end.reason == "closed":
            document.feed(source.flush())
            document.flush()
    except SourceFailed as failed:
        error = failed.error.to_dict()
    except (InvalidJSON, LimitExceeded) as bad:
        error = bad.to_dict()
    body: dict[str, Any] = {"value": document.live, "complete": document.complete}
    return body if error is None else {**body, "error": error}


def _of_events(options: StreamOptions, records: list[Record], end: End | None) -> dict[str, Any]:
    calls = ToolCalls(**options.of("calls"), keep=None)
    text = ""
    for record in records:
        said = calls.reader.feed(record.body)
        text += text_in(said)
        calls.read(said)
    if end is not None:
        calls.flush()
    return {"text": text, "calls": [_call(call) for call in calls.calls]}


def _call(call: ToolCall) -> dict[str, Any]:
    return {"id": call.id, "name": call.name, "args": call.args, "status": call.status}
