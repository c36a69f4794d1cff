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
from contextlib import suppress
from typing import Any, Final, NamedTuple

from .job import Job, LineError

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
        raise LineError("BAD_LINE", f"not UTF-8: {error.reason} at byte {error.start}") from None
    try:
        decoded = None if job.field == "." else _DECODE(text)
    except (ValueError, RecursionError):
        decoded = None
    id = _lookup(decoded, job.id_field)
    if job.field is None or job.field == ".":
        id, source = _find(decoded, id)
        return _record(id, text.strip() if source is None else source)
    source = _lookup(decoded, job.field)
    if source is None:
        raise LineError("BAD_LINE", f"the line is not JSON with something at {job.field}")
    return _record(id, source)


def _find(line: Any, id: Any) -> tuple[Any, Any]:
    """Return the id and the stream of a line; None as the stream if the line has another form."""
    match line:
        case {"chunks": list(source)} | {"events": list(source)} | {"text": str(source)}:
            return id, source
        case {"chunks": _} | {"events": _} | {"text": _}:
            raise LineError("BAD_LINE", "chunks, events or text has the wrong type")
        case {"custom_id": custom_id, "response": {"body": dict(body)}}:
            if line["response"].get("status_code", 200) >= 400:
                raise _request_failed(body)
            return custom_id, body
        case {"call_type": _, "response": dict(response)} if line.get("status") != "failure":
            return id or line.get("request_id"), response
        case {"custom_id": _, "response": _} | {"call_type": _, "response": _}:
            raise _request_failed(line.get("error") or line.get("error_str"))
    is_answer = isinstance(line, dict) and _answer_events(line) is not None
    return (id, line) if is_answer else (None, None)


def _record(id: Any, source: Any) -> Record:
    if isinstance(source, list):
        with suppress(TypeError):  # events, which are not pieces of text
            source = "".join(source)
    if isinstance(source, str):
        return Record(id, source, source.startswith(("data:", "event:")))
    events = _answer_events(source) if isinstance(source, dict) else source
    if not isinstance(events, list):
        raise LineError("BAD_LINE", "a stream is a text, a list or a known provider's answer")
    return Record(id, events)


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


def _request_failed(error: Any) -> LineError:
    while isinstance(error, dict):
        error = error.get("error") or error.get("message")
    message = f"the request failed: {error}" if error else "the request has no answer"
    return LineError("REQUEST_FAILED", message)


def _lookup(value: Any, path: str) -> Any:
    for key in path.split("."):
        if isinstance(value, list) and key.isdecimal() and int(key) < len(value):
            value = value[int(key)]
        elif isinstance(value, dict):
            value = value.get(key)
        else:
            return None
    return value
