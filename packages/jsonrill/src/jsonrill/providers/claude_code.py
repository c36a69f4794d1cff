"""Claude Agent SDK and Claude Code (`--output-format stream-json`): one run of an agent.

Anthropic's events in an envelope, if partial messages are asked for; complete messages of the
assistant, which then say the same again; results of tools in messages of the user; and a result at
the end, which repeats the last text. What subagents say to their agent is not part of the answer.
"""

from __future__ import annotations

from typing import Any

from . import anthropic
from .fields import as_id, as_object, as_text, items
from .statements import (
    CallDelta,
    End,
    Finish,
    Reasoning,
    Result,
    Statement,
    Text,
    as_usage,
    failed,
    finished,
)

# The class names of the SDK → the types of Claude Code.
TYPES = {
    "StreamEvent": "stream_event",
    "AssistantMessage": "assistant",
    "UserMessage": "user",
    "SystemMessage": "system",
    "ResultMessage": "result",
}


def accepts(event: dict[str, Any]) -> bool:
    kind = event.get("type")
    if isinstance(kind, str) and kind in TYPES:
        return True
    match kind:
        case "stream_event":
            return isinstance(event.get("event"), dict)
        case "assistant" | "user":
            return isinstance(event.get("message"), dict)
        case "system" | "result":
            return isinstance(event.get("subtype"), str)
        case _:
            return False


class ClaudeCode:
    """Translates messages; remembers if they were streamed, and if there was text."""

    def __init__(self) -> None:
        self._streamed = False
        self._has_text = False

    def __call__(self, event: dict[str, Any]) -> list[Statement]:
        kind = str(event.get("type"))
        if event.get("parent_tool_use_id") is not None:
            return []
        match TYPES.get(kind, kind):
            case "stream_event":
                self._streamed = True
                return self._noted(anthropic.translate(as_object(event.get("event"))))
            case "assistant":
                message = as_object(event.get("message", event))
                return [] if self._streamed else self._noted(_message(message))
            case "user":
                message = as_object(event.get("message", event))
                return [one for block in items(message.get("content")) for one in _result(block)]
            case "result":
                return self._end(event)
            case _:
                return []

    def _noted(self, statements: list[Statement]) -> list[Statement]:
        for one in statements:
            if isinstance(one, Text):
                self._has_text = True
            elif isinstance(one, CallDelta):
                one.hosted = True
            elif isinstance(one, Finish):
                one.last = False
        return statements

    def _end(self, event: dict[str, Any]) -> list[Statement]:
        text = as_text(event.get("result"))
        is_error = event.get("is_error") is True
        statements: list[Statement] = []
        if text and not (is_error or self._has_text):
            statements.append(Text(text))
        subtype = as_text(event.get("subtype"))
        end = finished(subtype, last=True)
        if is_error and not (end.is_cut and end.reason == "length"):
            end = failed(text or subtype)
        return [*statements, *as_usage(event.get("usage")), end]


def _message(message: dict[str, Any]) -> list[Statement]:
    id = as_id(message.get("id")) or as_id(message.get("message_id"))
    statements: list[Statement] = []
    for block in items(message.get("content")):
        match block:
            case {"text": str(text)} if text:
                statements.append(Text(text))
            case {"thinking": str(thought)} if thought:
                statements.append(Reasoning(thought))
            case {"id": call, "name": name, "input": value}:
                end = End(value=as_object(value))
                statements.append(CallDelta(as_id(call), None, as_text(name), message=id, end=end))
            case _:
                statements += _result(block)
    return statements


def _result(block: dict[str, Any]) -> list[Statement]:
    call = as_id(block.get("tool_use_id"))
    if call is None:
        return []
    return [Result(call, block.get("content"), block.get("is_error") is True)]
