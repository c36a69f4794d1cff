"""A line of a log → a stream: the text of an answer, or a provider's events.

A line is one of these; the first that fits counts:

    {"id": …, "chunks": ["…", …]}                       pieces of text
    {"id": …, "events": [{…}, …]}                       a provider's events
    {"id": …, "text": "…"}                              the text, or an event stream as it came
    {"custom_id": …, "response": {"body": {…}}, …}      output of an OpenAI batch
    {"id": …, "call_type": …, "response": {…}, …}       a log of LiteLLM
    {"choices": […], …}                                 an answer that was not streamed
    anything else                                       the line is the text
"""

from __future__ import annotations

import json
from typing import Any, Final, NamedTuple

from .errors import BadLine, RequestFailed
from .job import Job

_DECODE: Final = json.JSONDecoder().decode


class Record(NamedTuple):
    """A stream: its id, and its text or its events. `is_sse`: the text is an event stream."""

    id: Any
    source: str | list[Any]
    is_sse: bool = False


def read_record(line: str | bytes, job: Job) -> Record:
    """Return the stream in a line."""
    try:
        text = line.decode() if isinstance(line, bytes) else line
    except UnicodeDecodeError as error:
        raise BadLine(f"the line is not UTF-8: {error.reason} at byte {error.start}") from None
    if job.field == ".":
        return _text_record(None, text.strip())
    try:
        record = _DECODE(text)
    except (ValueError, RecursionError) as error:
        if job.field is not None:
            raise BadLine(f"the line is not JSON: {error}") from None
        return _text_record(None, text.strip())
    if job.field is not None:
        id, source = _lookup(record, job.id_field), _lookup(record, job.field)
    elif type(record) is dict:
        id, source = _find(record, job)
    else:
        id = source = None
    if source is None:
        if job.field is not None:
            raise BadLine(f"the line has nothing at {job.field}")
        return _text_record(id, text.strip())
    return _record(id, source)


def _find(record: dict[str, Any], job: Job) -> tuple[Any, Any]:
    """Return the id and the stream of a line; None as the stream if the line has another form."""
    id = record.get("id") if job.id_field == "id" else _lookup(record, job.id_field)
    for field in ("chunks", "events", "text"):
        if field in record:
            if not isinstance(record[field], str if field == "text" else list):
                raise BadLine(f'"{field}" has the wrong type: {type(record[field]).__name__}')
            return id, record[field]
    if "custom_id" in record and "response" in record:
        response = record["response"] if isinstance(record["response"], dict) else {}
        if response.get("status_code", 200) >= 400 or not response.get("body"):
            raise _failure(record.get("error") or response.get("body"))
        return record["custom_id"], response["body"]
    if "call_type" in record and "response" in record:
        if record.get("status") == "failure" or not record["response"]:
            raise _failure(record.get("error_str"))
        return id or record.get("request_id"), record["response"]
    return (id, record) if _answer_events(record) else (None, None)


def _record(id: Any, source: Any) -> Record:
    if isinstance(source, str):
        return _text_record(id, source)
    if isinstance(source, dict):
        events = _answer_events(source)
        if events is None:
            raise BadLine(f"not an answer of a known provider: an object with {', '.join(source)}")
        return Record(id, events)
    if not isinstance(source, list):
        raise BadLine(f"a stream is a text, a list or an answer, not {type(source).__name__}")
    try:
        return _text_record(id, "".join(source))
    except TypeError:
        return Record(id, source)


def _text_record(id: Any, text: str) -> Record:
    return Record(id, text, text.startswith(("data:", "event:")))


def _answer_events(answer: dict[str, Any]) -> list[dict[str, Any]] | None:
    """Return the events of an answer that was not streamed; None if it is not an answer."""
    match answer:
        case {"choices": list()}:
            return [answer]
        case {"type": "message", "content": list()}:
            return [{"type": "message_start", "message": answer}, {"type": "message_stop"}]
        case {"object": "response", "output": list(output)}:
            texts = [
                {"type": "response.output_text.delta", "output_index": index, "delta": part["text"]}
                for index, item in enumerate(output)
                for part in item.get("content") or ()
                if part.get("type") == "output_text"
            ]
            end = {"type": f"response.{answer.get('status', 'completed')}", "response": answer}
            return [*texts, end]
    return None


def _failure(error: Any) -> RequestFailed:
    while isinstance(error, dict):
        error = error.get("error") or error.get("message")
    return RequestFailed(f"the request failed: {error}" if error else "the request has no answer")


def _lookup(record: Any, path: str) -> Any:
    for key in path.split("."):
        if isinstance(record, list) and key.isdecimal() and int(key) < len(record):
            record = record[int(key)]
        elif isinstance(record, dict):
            record = record.get(key)
        else:
            return None
    return record
