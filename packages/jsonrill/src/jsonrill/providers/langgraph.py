"""LangGraph: the messages that `stream` yields, alone, with the mode, or with the subgraph too.

The mode `messages` streams the chunks of messages. The other modes repeat complete messages, or say
nothing about the answer.
"""

from __future__ import annotations

from typing import Any

from . import langchain
from .fields import as_id
from .objects import ITEMS, as_data
from .statements import Statement

MODES = ("messages", "updates", "values", "custom", "debug", "tasks", "checkpoints")


def accepts(event: dict[str, Any]) -> bool:
    return _mode(event) is not None


class Translation:
    """Translates what a graph streams."""

    def __init__(self) -> None:
        self._chain = langchain.Translation()

    def __call__(self, event: dict[str, Any]) -> list[Statement]:
        match _mode(event):
            case "messages", [message, about]:
                task = as_id(about, "langgraph_checkpoint_ns")
                return self._chain.read(as_data(message), task=task)
        return []


def _mode(event: dict[str, Any]) -> tuple[str, Any] | None:
    """Return the mode and the data of what a graph yields; None if it is something else."""
    match event.get(ITEMS):
        case [str(mode), data] | [list(), str(mode), data] if mode in MODES:
            return mode, data
        case [message, dict()] as data if langchain.is_message(message):
            return "messages", data
        case [list(), [message, dict()] as data] if langchain.is_message(message):
            return "messages", data
    if event.get("type") in MODES and "ns" in event:
        return event["type"], event.get("data")
    return None
