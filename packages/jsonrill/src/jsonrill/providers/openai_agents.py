"""OpenAI Agents SDK: events of the Responses API in an envelope, and the items of a run.

The items repeat what the events have streamed; only the results of tools are new. For models behind
chat completions the SDK makes events with one id for all items, which is not an id.
"""

from __future__ import annotations

from typing import Any

from . import openai_responses
from .fields import as_id, as_object, typed
from .statements import Result, Statement

FAKE_ID = "__fake_id__"

accepts = typed("raw_response_event", "run_item_stream_event", "agent_updated_stream_event")


class Translation:
    """Translates events; remembers whether the responses were streamed."""

    def __init__(self) -> None:
        self._translate = openai_responses.Translation()
        self._has_streamed = False

    def __call__(self, event: dict[str, Any]) -> list[Statement]:
        if event.get("type") == "raw_response_event":
            self._has_streamed = True
            return self._translate(_without_fake_ids(as_object(event, "data")))
        item = as_object(event, "item")
        raw = as_object(item, "raw_item")
        if item.get("type") == "tool_call_output_item":
            return [Result(as_id(raw, "call_id"), item.get("output", raw.get("output")))]
        if self._has_streamed:
            return []
        return openai_responses.item_statements(raw, None, done=True)


def _without_fake_ids(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_fake_ids(item) for key, item in value.items() if item != FAKE_ID}
    return [_without_fake_ids(item) for item in value] if isinstance(value, list) else value
