"""LangGraph: what `stream` yields in its modes, alone, with the mode, or with the subgraph too.

`messages` streams the chunks of messages, `updates` and `values` bring complete ones. A message
that comes several ways counts once; those in the first `values` are the input. Other modes say
nothing about the answer.
"""

from __future__ import annotations

from typing import Any

from .fields import as_id, as_object
from .langchain import LangChain, is_message
from .objects import ITEMS, as_data
from .statements import Statement

MODES = ("messages", "updates", "values", "custom", "debug", "tasks", "checkpoints")


def accepts(event: dict[str, Any]) -> bool:
    return _part(event) is not None


class LangGraph:
    """Translates what a graph streams; remembers the messages of its input."""

    def __init__(self) -> None:
        self._chain = LangChain()
        self._has_values = False

    def __call__(self, event: dict[str, Any]) -> list[Statement]:
        mode, data = _part(event) or ("", None)
        statements: list[Statement] = []
        match mode:
            case "messages":
                message, about = as_data(data)
                task = as_id(as_object(about).get("langgraph_checkpoint_ns"))
                statements += self._chain.read(as_object(message), task=task)
            case "updates":
                for update in as_object(data).values():
                    for message in _messages(update):
                        statements += self._chain.read(as_object(as_data(message)))
            case "values":
                is_input = not self._has_values and not self._chain.has_streamed
                self._has_values = True
                for message in map(as_object, map(as_data, _messages(data))):
                    if is_input:
                        self._chain.knows(message)
                    else:
                        statements += self._chain.read(message)
        return statements


def _part(event: dict[str, Any]) -> tuple[str, Any] | None:
    """The mode and the data of what a graph yields; None if it is something else."""
    if ITEMS in event and len(event) == 1:
        return _of_items(event[ITEMS])
    if event.get("type") in MODES and "ns" in event:
        return _checked(event["type"], event.get("data"))
    return _of_data(event)


def _of_items(items: Any) -> tuple[str, Any] | None:
    match items:
        case [message, dict()] if is_message(message):
            return "messages", items
        case [str(mode), data] | [list(), str(mode), data] if mode in MODES:
            return _checked(mode, data)
        case [list(), [message, dict()] as data] if is_message(message):
            return "messages", data
        case [list(), dict(data)]:
            return _of_data(data)
        case _:
            return None


def _of_data(data: dict[str, Any]) -> tuple[str, Any] | None:
    if any(map(is_message, _messages(data))):
        return "values", data
    if any(is_message(one) for update in data.values() for one in _messages(update)):
        return "updates", data
    return None


def _checked(mode: str, data: Any) -> tuple[str, Any] | None:
    """The mode and its data, if that has the form of this mode."""
    if mode == "messages":
        pair = isinstance(data, (list, tuple)) and len(data) == 2 and is_message(data[0])
        return (mode, data) if pair else None
    return (mode, data) if isinstance(data, dict) or mode not in ("updates", "values") else None


def _messages(state: Any) -> list[Any]:
    messages = state.get("messages") if isinstance(state, dict) else None
    return messages if isinstance(messages, list) else [] if messages is None else [messages]
