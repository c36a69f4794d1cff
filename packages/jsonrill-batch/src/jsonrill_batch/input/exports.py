"""Logs that others export: what of a line is the answer, and complete answers as events.

Recognised are the output of OpenAI's, Anthropic's and Gemini's batches, Helicone's requests and
Langfuse's observations; each holds an answer as a provider sends it without streaming. Such an
answer becomes the events of a stream that came in one go, so that every job reads it as it reads a
stream.
"""

from __future__ import annotations

import json
from typing import Any, Final, NamedTuple

from jsonrill.sources.complete import events_of, objects_at

from ..errors import BadRecord, Skipped


class Exported(NamedTuple):
    """What a line of an export holds: the id it goes by there, and the answer."""

    id: Any
    answer: Any


def exported(record: dict[str, Any]) -> Exported | None:
    """The answer in a line of an export; None for a line of anything else.

    `BadRecord` if the request failed, `Skipped` for a line that is about something else.
    """
    for read in _EXPORTS:
        stream = read(record)
        if stream is not None:
            return stream
    return None


def _openai(record: dict[str, Any]) -> Exported | None:
    if not {"custom_id", "response"} <= record.keys():
        return None
    response = record["response"]
    if not isinstance(response, dict):
        raise _failed(record.get("error"))
    body = _decoded(response.get("body"))
    status = response.get("status_code", 200)
    if not isinstance(status, int) or status >= 400 or body is None:
        raise _failed(body.get("error") if isinstance(body, dict) else record.get("error"))
    return Exported(record["custom_id"], _known(body))


def _anthropic(record: dict[str, Any]) -> Exported | None:
    result = record.get("result")
    if "custom_id" not in record or not isinstance(result, dict) or "type" not in result:
        return None
    if result["type"] != "succeeded":
        error = result.get("error")
        error = error.get("error", error) if isinstance(error, dict) else result["type"]
        raise _failed(error)
    return Exported(record["custom_id"], _known(result.get("message")))


def _gemini(record: dict[str, Any]) -> Exported | None:
    if "key" not in record or not {"response", "error"} & record.keys():
        return None
    if not isinstance(record.get("response"), dict):
        raise _failed(record.get("error"))
    return Exported(record["key"], _known(record["response"]))


def _helicone(record: dict[str, Any]) -> Exported | None:
    if not {"response_body", "signed_body_url"} & record.keys():
        return None
    if not {"request_id", "request_body"} & record.keys():
        return None
    body, status = _decoded(record.get("response_body")), record.get("response_status")
    if isinstance(status, int) and (status >= 400 or status < 0):
        raise _failed(body.get("error") if isinstance(body, dict) else f"status {status}")
    if body in (None, "", {}):
        raise BadRecord("NO_ANSWER", "there is no response body: export with --include-body")
    if isinstance(body, dict) and isinstance(body.get("error"), dict | str):
        raise _failed(body["error"])
    return Exported(record.get("request_id"), body if isinstance(body, str) else _known(body))


def _langfuse(record: dict[str, Any]) -> Exported | None:
    if "output" not in record or not {"trace_id", "traceId"} & record.keys():
        return None
    kind = record.get("type", "GENERATION")
    if kind != "GENERATION":
        raise Skipped(f"Langfuse: {str(kind).lower()}")
    if record["output"] in (None, ""):
        raise _failed(record.get("status_message") or record.get("statusMessage"))
    output = _decoded(record["output"])
    messages = output if isinstance(output, list) else []
    if messages and all(isinstance(it, dict) and "role" in it for it in messages):
        output = messages[-1]  # what the model added to the conversation
    return Exported(record.get("id"), output)


_EXPORTS: Final = (_openai, _anthropic, _gemini, _helicone, _langfuse)


def _known(body: Any) -> Any:
    """The answer of an API. What is no answer of a model is no value either: `BadRecord`."""
    if isinstance(body, dict) and body.get("status") in ("failed", "cancelled"):
        raise _failed(body.get("error") or body["status"])
    if isinstance(body, dict) and body.get("object") == "text_completion":
        texts = [choice.get("text") for choice in objects_at(body, "choices")]
        if texts and isinstance(texts[0], str):
            return texts[0]
    if events_of(body) is None:
        kind = body.get("object") if isinstance(body, dict) else None
        named = f" ({kind})" if isinstance(kind, str) else ""
        raise BadRecord("NO_ANSWER", f"the response{named} is no answer of a model")
    return body


def _failed(error: Any) -> BadRecord:
    if isinstance(error, dict):
        error = error.get("message") or error.get("code") or error.get("type")
    reason = f": {error}" if isinstance(error, str) and error else ""
    return BadRecord("NO_ANSWER", f"the request failed{reason}")


def _decoded(value: Any) -> Any:
    """The answer, or the messages, that a text is in JSON; all else as it is."""
    if not isinstance(value, str) or not value.lstrip().startswith(("{", "[")):
        return value
    try:
        decoded = json.loads(value)
    except (ValueError, RecursionError):
        return value
    last = decoded[-1] if isinstance(decoded, list) and decoded else decoded
    return decoded if events_of(last) is not None else value
