"""Pydantic AI: parts of a response that start, grow and end, and the tools that its agents run."""

from __future__ import annotations

from typing import Any

from .fields import ABSENT, as_id, as_index, as_object, as_text
from .statements import Begin, CallDelta, End, Finish, Reasoning, Result, Statement, Text

CALLS = ("tool-call", "builtin-tool-call", "native-tool-call")
RESULTS = ("tool-return", "builtin-tool-return", "native-tool-return", "retry-prompt")
EVENTS = (
    *("part_start", "part_delta", "part_end", "final_result", "agent_run_result"),
    *("function_tool_call", "function_tool_result", "output_tool_call", "output_tool_result"),
    *("builtin_tool_call", "builtin_tool_result"),
)


def accepts(event: dict[str, Any]) -> bool:
    return event.get("event_kind") in EVENTS


class PydanticAI:
    """Translates events; remembers the parts, to see that another response begins."""

    def __init__(self) -> None:
        self._parts: dict[int, str | None] = {}

    def __call__(self, event: dict[str, Any]) -> list[Statement]:
        index = as_index(event.get("index"))
        part = as_object(event.get("part") or event.get("result"))
        match event.get("event_kind"):
            case "part_start":
                return self._begin(index, as_id(part.get("tool_call_id"))) + _part(index, part)
            case "part_delta":
                return _delta(index, as_object(event.get("delta")))
            case "part_end" if part.get("part_kind") in CALLS:
                return [CallDelta(None, index, opens=False, end=_stated(part))]
            case "function_tool_call" | "output_tool_call" | "builtin_tool_call":
                id, name = as_id(part.get("tool_call_id")), as_text(part.get("tool_name"))
                return [CallDelta(id, None, name, end=_stated(part))]
            case "function_tool_result" | "output_tool_result" | "builtin_tool_result":
                return _result(part)
            case "agent_run_result":
                return [Finish(last=True)]
            case _:
                return []

    def _begin(self, index: int | None, call: str | None) -> list[Statement]:
        """A statement if another response begins, whose parts are counted from 0 again."""
        if index is None:
            return []
        again = index in self._parts and (call is None or self._parts[index] != call)
        begins = again or not self._parts
        if again:
            self._parts.clear()
        self._parts[index] = call
        return [Begin()] if begins else []


def _part(index: int | None, part: dict[str, Any]) -> list[Statement]:
    text = as_text(part.get("content"))
    match part.get("part_kind"):
        case "text":
            return [Text(text, 0, index)] if text else []
        case "thinking":
            return [Reasoning(text, 0, index)] if text else []
        case kind if kind in CALLS:
            args = part.get("args")
            call = CallDelta(as_id(part.get("tool_call_id")), index, as_text(part.get("tool_name")))
            call.text, call.hosted = as_text(args), kind != "tool-call"
            call.value = args if isinstance(args, dict) and args else ABSENT
            return [call]
        case kind if kind in RESULTS:
            return _result(part)
        case _:
            return []


def _delta(index: int | None, delta: dict[str, Any]) -> list[Statement]:
    text = as_text(delta.get("content_delta"))
    match delta.get("part_delta_kind"):
        case "text":
            return [Text(text, 0, index)] if text else []
        case "thinking":
            return [Reasoning(text, 0, index)] if text else []
        case "tool_call":
            args = delta.get("args_delta")
            call = CallDelta(None, index, as_text(delta.get("tool_name_delta")), as_text(args))
            call.value = args if isinstance(args, dict) else ABSENT
            call.opens = False
            return [call]
        case _:
            return []


def _stated(part: dict[str, Any]) -> End:
    args = part.get("args")
    if isinstance(args, str):
        return End(text=args)
    return End(value=args if isinstance(args, dict) else ABSENT)


def _result(part: dict[str, Any]) -> list[Statement]:
    failed = part.get("part_kind") == "retry-prompt" or part.get("outcome") in ("failed", "denied")
    return [Result(as_id(part.get("tool_call_id")), part.get("content"), failed)]
