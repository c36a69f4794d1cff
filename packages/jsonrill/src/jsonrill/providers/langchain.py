"""LangChain and LangGraph: messages that a model streams, alone, in events or with a mode.

The chunks of a message carry text and calls. The complete message that may follow repeats them, so
it counts only if none of it was streamed. In `astream_events` chains and parsers repeat their
model's events: only the model's own events count. A graph yields messages alone,
with the mode, or with the subgraph too; only the mode `messages` streams chunks.
"""

from __future__ import annotations

from typing import Any

from . import openai_chat
from .fields import as_id, as_index, as_object, as_text, finished, items, usage
from .objects import ITEMS, as_data
from .statements import CallDelta, End, Finish, Reasoning, Result, Statement, Text

CHUNK, MESSAGE, RESULT = "AIMessageChunk", ("ai", "AIMessage"), ("tool", "ToolMessage")
# The fields in which providers say why they stopped.
REASONS = ("finish_reason", "stop_reason", "stopReason", "done_reason", "status")
# Ids that LangChain makes where the provider sent none with a chunk.
RUNS = ("run-", "lc_run-")
# What `stream` of a graph yields.
MODES = ("messages", "updates", "values", "custom", "debug", "tasks", "checkpoints")


def accepts(event: dict[str, Any]) -> bool:
    is_event = str(event.get("event")).startswith("on_") and "run_id" in event
    return is_event or is_message(event) or _mode(event) is not None


def _mode(event: dict[str, Any]) -> tuple[str, Any] | None:
    """Return the mode and the data of what a graph yields; None if it is something else."""
    match event.get(ITEMS):
        case [str(mode), data] | [list(), str(mode), data] if mode in MODES:
            return mode, data
        case [message, dict()] as data if is_message(message):
            return "messages", data
        case [list(), [message, dict()] as data] if is_message(message):
            return "messages", data
    if event.get("type") in MODES and "ns" in event:
        return event["type"], event.get("data")
    return None


def is_message(message: Any) -> bool:
    """Return whether this is a message of LangChain, an object or a dict."""
    if not isinstance(message, dict):
        names = ("type", "content", "tool_call_id")
        message = {name: getattr(message, name, None) for name in names}
    if message.get("type") in RESULT:
        return bool(message.get("tool_call_id"))
    return message.get("content") is not None and message.get("type") in (CHUNK, *MESSAGE)


class Translation:
    """Translates messages and events; remembers which messages were streamed."""

    def __init__(self) -> None:
        self._streamed: set[str] = set()
        # The current message of each task that streams one.
        self._messages: dict[str | None, str | None] = {}
        self._call = 0

    def __call__(self, event: dict[str, Any]) -> list[Statement]:
        match _mode(event):
            case "messages", [message, metadata]:
                task = as_id(metadata, "langgraph_checkpoint_ns")
                return self.read(as_data(message), task=task)
            case tuple():
                return []
        if "event" not in event:
            return self.read(event)
        data, run = as_object(event, "data"), as_id(event, "run_id")
        chunk, output = as_data(data.get("chunk")), as_data(data.get("output"))
        match event["event"]:
            case "on_chat_model_stream":
                return self.read(chunk, run)
            case "on_llm_stream":
                text = chunk if isinstance(chunk, str) else as_text(chunk, "text")
                return [Text(text)] if text else []
            case "on_chat_model_end":
                return [*self.read(output, run, is_last=True), Finish(run)]
            case "on_tool_end":
                return self.read(output, run)
        return []

    def read(
        self, message: Any, scope: str | None = None, task: str | None = None, is_last: bool = False
    ) -> list[Statement]:
        """Return the statements of a message.

        `scope` names the response, where it is known; `task` the one that streams it, if several do
        at once.
        """
        kind, id = as_text(message, "type"), as_id(message, "id")
        if kind in RESULT:
            is_error = message.get("status") == "error"
            return [Result(as_id(message, "tool_call_id"), message.get("content"), is_error)]
        names = {name for name in (id, scope) if name is not None}
        if kind in MESSAGE or (kind == CHUNK and is_last):
            was_streamed = not names.isdisjoint(self._streamed)
            self._streamed |= names
            return [] if was_streamed else self._complete(message, scope or id)
        if kind != CHUNK:
            return []
        self._streamed |= names
        if scope is None:
            scope = self._messages[task] = _same(id, self._messages.get(task))
        statements = _content(message)
        for chunk in items(message, "tool_call_chunks"):
            index, text = as_index(chunk, "index"), as_text(chunk, "args")
            name = as_text(chunk, "name")
            statements.append(CallDelta(as_id(chunk, "id"), index, name, text, scope))
        return statements + _end(message, scope)

    def _complete(self, message: dict[str, Any], scope: str | None) -> list[Statement]:
        statements = _content(message)
        for call in items(message, "tool_calls"):
            self._call += 1
            id, end = as_id(call, "id") or f"call-{self._call}", End(value=as_object(call, "args"))
            statements.append(CallDelta(id, None, as_text(call, "name"), message=scope, end=end))
        return [*statements, *_end(message, scope), Finish(scope)]


def _same(id: str | None, known: str | None) -> str | None:
    """Return the message of a chunk with this id, after one of the known message.

    A chunk may have the id of the run instead of the provider's, or the other way round.
    """
    if id is None or known is None or id == known:
        return id or known
    return known if id.startswith(RUNS) != known.startswith(RUNS) else id


def _content(message: dict[str, Any]) -> list[Statement]:
    thought = as_text(message.get("additional_kwargs"), "reasoning_content")
    statements: list[Statement] = [Reasoning(thought)] if thought else []
    content = message.get("content")
    for block in [content] if isinstance(content, str) else items(message, "content"):
        match block:
            case {"type": "reasoning", "reasoning": str(thought)} if thought:
                statements.append(Reasoning(thought))
            case {"type": "reasoning", "summary": list(summary)}:
                statements += openai_chat.thoughts(summary, 0)
            case _:
                statements += openai_chat.content(block, 0)
    return statements


def _end(message: dict[str, Any], scope: str | None) -> list[Statement]:
    metadata = as_object(message, "response_metadata")
    reason = next((word for key in REASONS if (word := as_text(metadata, key))), None)
    if reason == "incomplete":
        reason = as_text(metadata.get("incomplete_details"), "reason") or reason
    has_ended = message.get("chunk_position") == "last" or reason not in (None, "in_progress")
    counts = usage(message, "usage_metadata")
    return [*counts, finished(reason, scope)] if has_ended else counts
