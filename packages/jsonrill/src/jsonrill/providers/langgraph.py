"""LangGraph: what `stream` yields in its modes, alone, with the mode, or with the subgraph too.

`messages` streams the chunks of messages, `updates` and `values` bring complete ones. A message
that comes several ways counts once; those in the first `values` are the input. Other modes say
nothing about the answer.
"""

from __future__ import annotations

from typing import Any

from .fields import as_id, as_object
from .langchain import LangChainReader, is_message
from .objects import ITEMS, as_data
from .statements import Statement

MODES = ("messages", "updates", "values", "custom", "debug", "tasks", "checkpoints")


def accepts(event: dict[str, Any]) -> bool:
    return _mode(event) is not None


class LangGraphReader:
    """Translates what a graph streams; remembers the messages of its input."""

    def __init__(self) -> None:
        self._chain = LangChainReader()
        self._has_values = False

    def __call__(self, event: dict[str, Any]) -> list[Statement]:
        mode, data = _mode(event) or ("", None)
        if mode == "messages":
            message, about = as_data(data)
            return self._chain.read(
                message, task=as_id(as_object(about).get("langgraph_checkpoint_ns"))
            )
        states = {"updates": [*as_object(data).values()], "values": [data]}.get(mode, [])
        messages = [as_object(as_data(it)) for state in states for it in _messages(state)]
        is_input = mode == "values" and not self._has_values and not self._chain.has_streamed
        self._has_values = self._has_values or mode == "values"
        if is_input:
            for message in messages:
                self._chain.skip(message)
            return []
        return [statement for message in messages for statement in self._chain.read(message)]


def _mode(event: dict[str, Any]) -> tuple[str, Any] | None:
    """Return the mode and the data of what a graph yields; None if it is something else."""
    if event.get("type") in MODES and "ns" in event:
        return _checked(event["type"], event.get("data"))
    if ITEMS not in event or len(event) > 1:
        return _of_data(event)
    match event[ITEMS]:
        case [message, dict()] if is_message(message):
            return "messages", event[ITEMS]
        case [str(mode), data] | [list(), str(mode), data] if mode in MODES:
            return _checked(mode, data)
        case [list(), [message, dict()] as data] if is_message(message):
            return "messages", data
        case [list(), dict(data)]:
            return _of_data(data)
    return None


def _of_data(data: dict[str, Any]) -> tuple[str, Any] | None:
    if any(map(is_message, _messages(data))):
        return "values", data
    if any(is_message(it) for update in data.values() for it in _messages(update)):
        return "updates", data
    return None


def _checked(mode: str, data: Any) -> tuple[str, Any] | None:
    """Return the mode and its data, if the data has the form of this mode."""
    if mode == "messages":
        is_pair = isinstance(data, (list, tuple)) and len(data) == 2 and is_message(data[0])
        return (mode, data) if is_pair else None
    return (mode, data) if isinstance(data, dict) or mode not in ("updates", "values") else None


def _messages(state: Any) -> list[Any]:
    messages = as_object(state).get("messages")
    return messages if isinstance(messages, list) else [] if messages is None else [messages]
