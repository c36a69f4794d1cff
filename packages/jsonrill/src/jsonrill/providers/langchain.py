"""LangChain: messages that a model streams, and the events of `astream_events`.

The chunks of a message carry text and calls. The complete message that may follow them says the
same again, so it counts only if none of it was streamed. In `astream_events` chains and parsers
pass on what their model said: only the model's own events count.
"""

from __future__ import annotations

from typing import Any

from . import openai_chat
from .common import as_usage, finished
from .fields import as_id, as_index, as_object, as_text, items
from .objects import as_data
from .statements import CallDelta, End, Finish, Reasoning, Result, Statement, Text

CHUNK, MESSAGE, RESULT = "AIMessageChunk", ("ai", "AIMessage"), ("tool", "ToolMessage")
HUMAN = ("human", "HumanMessage")
# The fields in which providers say why they stopped.
REASONS = ("finish_reason", "stop_reason", "stopReason", "done_reason", "status")
# Ids that LangChain makes where the provider sent none with a chunk.
RUNS = ("run-", "lc_run-")


def accepts(event: dict[str, Any]) -> bool:
    if is_message(event) and event.get("type") not in HUMAN:
        return True
    return str(event.get("event")).startswith("on_") and "run_id" in event


def is_message(message: Any) -> bool:
    """Return whether this is a message of LangChain, an object or a dict."""
    if not isinstance(message, dict):
        names = ("type", "content", "tool_call_id")
        message = {name: getattr(message, name, None) for name in names}
    kind = message.get("type")
    if kind in RESULT:
        return bool(message.get("tool_call_id"))
    return message.get("content") is not None and kind in (CHUNK, *MESSAGE, *HUMAN)


class LangChainReader:
    """Translates messages and events; remembers which messages were streamed."""

    def __init__(self) -> None:
        self._streamed: set[str | None] = set()
        # The current message of each task that streams one.
        self._messages: dict[str | None, str | None] = {}
        self._call = 0

    @property
    def has_streamed(self) -> bool:
        """True if a message has been read."""
        return bool(self._streamed)

    def __call__(self, event: dict[str, Any]) -> list[Statement]:
        if "event" not in event:
            return self.read(event)
        data, run = as_object(event.get("data")), as_id(event.get("run_id"))
        match event["event"]:
            case "on_chat_model_stream":
                return self.read(as_data(data.get("chunk")), run)
            case "on_llm_stream":
                chunk = as_data(data.get("chunk"))
                text = as_text(chunk) or as_text(as_object(chunk).get("text"))
                return [Text(text)] if text else []
            case "on_chat_model_end":
                statements = self.read(as_data(data.get("output")), run, is_last=True)
                return [*statements, Finish(run)]
            case "on_tool_end":
                return self.read(as_data(data.get("output")), run)
        return []

    def read(
        self, data: Any, scope: str | None = None, task: str | None = None, is_last: bool = False
    ) -> list[Statement]:
        """Return the statements of a message.

        `scope` names the response, where it is known; `task` the one that streams it, if several do
        at once.
        """
        message = as_object(data)
        kind, id = message.get("type"), as_id(message.get("id"))
        if kind in RESULT:
            is_error = message.get("status") == "error"
            return [Result(as_id(message.get("tool_call_id")), message.get("content"), is_error)]
        if kind != CHUNK and kind not in MESSAGE:
            return []
        if kind != CHUNK or is_last:
            if {id, scope} & (self._streamed - {None}):
                return []
            self._streamed.add(id)
            return self._complete(message, scope or id)
        self._streamed |= {id, scope}
        if scope is None:
            scope = self._messages[task] = _same(id, self._messages.get(task))
        calls: list[Statement] = [
            CallDelta(
                as_id(chunk.get("id")),
                as_index(chunk.get("index")),
                as_text(chunk.get("name")),
                as_text(chunk.get("args")),
                scope,
            )
            for chunk in items(message.get("tool_call_chunks"))
        ]
        return _content(message) + calls + _end(message, scope)

    def skip(self, message: dict[str, Any]) -> None:
        """Note that this message is not part of the answer."""
        self._streamed.add(as_id(message.get("id")))

    def _complete(self, message: dict[str, Any], scope: str | None) -> list[Statement]:
        statements = _content(message)
        for call in items(message.get("tool_calls")):
            self._call += 1
            id, name = as_id(call.get("id")) or f"call-{self._call}", as_text(call.get("name"))
            end = End(value=as_object(call.get("args")))
            statements.append(CallDelta(id, None, name, message=scope, end=end))
        ends = _end(message, scope)
        has_finish = any(isinstance(it, Finish) for it in ends)
        return statements + ends + ([] if has_finish else [Finish(scope)])


def _same(id: str | None, known: str | None) -> str | None:
    """Return the message of a chunk with this id, after one of the known message.

    A chunk may have the id of the run instead of the provider's, or the other way round.
    """
    if id is None or known is None or id == known:
        return id or known
    return known if id.startswith(RUNS) != known.startswith(RUNS) else id


def _content(message: dict[str, Any]) -> list[Statement]:
    thought = as_text(as_object(message.get("additional_kwargs")).get("reasoning_content"))
    statements: list[Statement] = [Reasoning(thought)] if thought else []
    content = message.get("content")
    for block in [content] if isinstance(content, str) else items(content):
        match block:
            case {"type": "reasoning", "reasoning": str(thought)} if thought:
                statements.append(Reasoning(thought))
            case {"type": "reasoning", "summary": list(summary)}:
                statements += openai_chat.thoughts(summary, 0)
            case {"type": "thinking"} | {"type": "text"} | str():
                statements += openai_chat.content(block, 0)
    return statements


def _end(message: dict[str, Any], scope: str | None) -> list[Statement]:
    about = as_object(message.get("response_metadata"))
    reason = next((word for key in REASONS if (word := as_text(about.get(key)))), None)
    if reason == "incomplete":
        reason = as_text(as_object(about.get("incomplete_details")).get("reason")) or reason
    has_ended = message.get("chunk_position") == "last" or reason not in (None, "in_progress")
    usage = as_usage(message.get("usage_metadata"))
    return [*usage, finished(reason, scope)] if has_ended else usage
