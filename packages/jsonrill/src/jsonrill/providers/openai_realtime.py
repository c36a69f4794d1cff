"""OpenAI Realtime: the events of a session, in which responses have the items of the Responses API.

The transcript of spoken answers is their text. An error outside of a response ends nothing: the
session goes on.
"""

from __future__ import annotations

from typing import Any

from . import openai_responses
from .fields import as_id, as_index, as_object, as_text, items
from .statements import Begin, Statement, Text, as_usage, failed, finished

TEXTS = (
    *("response.output_text.delta", "response.text.delta"),
    *("response.output_audio_transcript.delta", "response.audio_transcript.delta"),
)
OWN = (
    *("session.", "conversation.item.", "input_audio_buffer.", "output_audio_buffer."),
    *("rate_limits.", "response.done", *TEXTS[1:]),
)


def accepts(event: dict[str, Any]) -> bool:
    kind = event.get("type")
    if not isinstance(kind, str) or "sequence_number" in event:
        return False
    if "event_id" in event:
        return kind.startswith(("response.", *OWN)) or kind == "error"
    return kind.startswith(OWN)


class Realtime:
    """Translates events; remembers if a response is in progress."""

    def __init__(self) -> None:
        self._is_open = False

    def __call__(self, event: dict[str, Any]) -> list[Statement]:
        kind, index = event.get("type"), as_index(event.get("output_index"))
        if not isinstance(kind, str):
            return []
        if kind in TEXTS:
            return [Text(text, 0, index)] if (text := as_text(event.get("delta"))) else []
        response = as_object(event.get("response"))
        if kind == "response.created":
            self._is_open = True
            return [Begin(as_id(response.get("id")))]
        if kind.startswith("response.output_item."):
            item = as_object(event.get("item"))
            return openai_responses.item_statements(item, index, done=kind.endswith(".done"))
        if kind == "response.done":
            self._is_open = False
            return _done(response)
        if kind == "error" and self._is_open:
            return [failed(event.get("error"), last=False)]
        return openai_responses.argument_statements(kind, event)


def _done(response: dict[str, Any]) -> list[Statement]:
    statements: list[Statement] = []
    for index, item in enumerate(items(response.get("output"))):
        statements += openai_responses.item_statements(item, index, done=True)
    details = as_object(response.get("status_details"))
    finish = finished(details.get("reason") or response.get("status"))
    if response.get("status") == "failed":
        finish = failed(details.get("error"), last=False)
    return [*statements, *as_usage(response.get("usage")), finish]
