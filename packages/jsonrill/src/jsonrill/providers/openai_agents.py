"""OpenAI Agents SDK: events of the Responses API in an envelope, and the items of a run.

What the events have streamed the items say again; of them only the results of tools are new. For
models behind chat completions the SDK makes events with one id for all items, which is no id.
"""

from __future__ import annotations

from typing import Any

from .fields import as_id, as_object, as_text, items, typed
from .openai_responses import ResponsesReader, item_statements
from .statements import Finish, Result, Statement, Text

NO_ID = "__fake_id__"

accepts = typed("raw_response_event", "run_item_stream_event", "agent_updated_stream_event")


class OpenAIAgents:
    """Translates events; remembers if the responses were streamed."""

    def __init__(self) -> None:
        self._responses = ResponsesReader()
        self._streamed = False

    def __call__(self, event: dict[str, Any]) -> list[Statement]:
        if event.get("type") == "raw_response_event":
            return self._raw(as_object(event.get("data")))
        item = as_object(event.get("item"))
        raw = as_object(item.get("raw_item"))
        if item.get("type") == "tool_call_output_item":
            return [Result(as_id(raw.get("call_id")), item.get("output", raw.get("output")))]
        if self._streamed:
            return []
        if raw.get("type") == "message":
            texts = [as_text(part.get("text")) for part in items(raw.get("content"))]
            return [Text(text) for text in texts if text]
        return item_statements(raw, None, done=True)

    def _raw(self, data: dict[str, Any]) -> list[Statement]:
        self._streamed = True
        if data.get("type") == "response.created":
            # Each response counts its events from 0.
            self._responses = ResponsesReader()
        statements = self._responses(_without_fake_ids(data))
        for one in statements:
            if isinstance(one, Finish):
                one.last = False
        return statements


def _without_fake_ids(data: dict[str, Any]) -> dict[str, Any]:
    cleaned = {key: value for key, value in data.items() if value != NO_ID}
    for key in ("item", "response"):
        if isinstance(held := cleaned.get(key), dict) and held.get("id") == NO_ID:
            cleaned[key] = {**held, "id": None}
    response = cleaned.get("response")
    if isinstance(response, dict) and isinstance(response.get("output"), list):
        output = [
            {**item, "id": None} if item.get("id") == NO_ID else item
            for item in items(response["output"])
        ]
        cleaned["response"] = {**response, "output": output}
    return cleaned
