"""The plain text that a model says in a provider's event, beside its tool calls.

Only the shapes of the providers named here are known; any other event says nothing.
"""

from __future__ import annotations

import json
from typing import Any


def content_of(body: str) -> str:
    """The new text in one event, `""` if it has none."""
    try:
        event = json.loads(body)
    except (ValueError, RecursionError):
        return ""
    if not isinstance(event, dict):
        return ""
    if isinstance(choices := event.get("choices"), list):
        return "".join(_chat(choice) for choice in choices)
    kind = event.get("type")
    if kind == "content_block_delta":
        return _text(event.get("delta"), "text")
    if kind in ("response.output_text.delta", "text-delta", "TEXT_MESSAGE_CONTENT"):
        return _text(event, "delta")
    return ""


def _chat(choice: Any) -> str:
    """Of several choices only the first is the answer."""
    if not isinstance(choice, dict) or choice.get("index") not in (0, None):
        return ""
    return _text(choice.get("delta"), "content")


def _text(part: Any, name: str) -> str:
    found = part.get(name) if isinstance(part, dict) else None
    return found if isinstance(found, str) else ""
