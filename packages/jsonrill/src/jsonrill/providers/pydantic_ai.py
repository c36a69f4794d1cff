"""Pydantic AI: parts of a response that start, grow and end, and the tools that its agents run."""

from __future__ import annotations

from typing import Any

from ..paths import ABSENT
from .fields import as_id, as_index, as_object, as_text
from .statements import Begin, CallDelta, End, Finish, Reasoning, Result, Statement, Text

CALLS = ("tool-call", "builtin-tool-call", "native-tool-call")
RESULTS = ("tool-return", "builtin-tool-return", "native-tool-return", "retry-prompt")
TOOL_CALLS = ("function_tool_call", "output_tool_call", "builtin_tool_call")
TOOL_RESULTS = ("function_tool_result", "output_tool_result", "builtin_tool_result")
OTHERS = ("part_start", "part_delta", "part_end", "final_result", "agent_run_result")


def accepts(event: dict[str, Any]) -> bool:
    return event.get("event_kind") in (*OTHERS, *TOOL_CALLS, *TOOL_RESULTS)


class Translation:
    """Translates events; remembers the parts, to see that another response begins."""

    def __init__(self) -> None:
        self._parts: dict[int, str | None] = {}

    def __call__(self, event: dict[str, Any]) -> list[Statement]:
        index, delta = as_index(event, "index"), as_object(event, "delta")
        part = as_object(event, "part", "result")
        match event.get("event_kind"):
            case "part_start":
                return self._begin(index, as_id(part, "tool_call_id")) + _part(index, part)
            case "part_delta" if delta.get("part_delta_kind") == "tool_call":
                call = CallDelta(None, index, as_text(delta, "tool_name_delta"), opens=False)
                return [call.with_arguments(delta.get("args_delta") or None)]
            case "part_delta":
                return _text(delta.get("part_delta_kind"), as_text(delta, "content_delta"), index)
            case "part_end":
                ended = CallDelta(None, index, opens=False, end=_end(part))
                is_last = event.get("next_part_kind", "unknown") is None
                finish = [Finish()] if is_last else []
                return [ended, *finish] if part.get("part_kind") in CALLS else [*finish]
            case kind if kind in TOOL_CALLS:
                id, name = as_id(part, "tool_call_id"), as_text(part, "tool_name")
                # The response has ended: a name would open a known call a second time.
                name = None if id in self._parts.values() else name
                return [CallDelta(id, None, name, end=_end(part))]
            case kind if kind in TOOL_RESULTS:
                return [_result(part)]
            case "agent_run_result":
                return [Finish()]
        return []

    def _begin(self, index: int | None, call: str | None) -> list[Statement]:
        """Return a statement if another response begins, whose parts are counted from 0 again."""
        if index is None:
            return []
        is_again = index in self._parts and (call is None or self._parts[index] != call)
        begins = is_again or not self._parts
        if is_again:
            self._parts.clear()
        self._parts[index] = call
        return [Begin()] if begins else []


def _part(index: int | None, part: dict[str, Any]) -> list[Statement]:
    kind = part.get("part_kind")
    if kind in CALLS:
        call = CallDelta(as_id(part, "tool_call_id"), index, as_text(part, "tool_name"))
        call.hosted = kind != "tool-call"
        return [call.with_arguments(part.get("args") or None)]
    return [_result(part)] if kind in RESULTS else _text(kind, as_text(part, "content"), index)


def _text(kind: Any, text: str | None, index: int | None) -> list[Statement]:
    if kind not in ("text", "thinking") or text is None:
        return []
    return [Text(text, 0, index) if kind == "text" else Reasoning(text, 0, index)]


def _end(part: dict[str, Any]) -> End:
    args = part.get("args")
    if isinstance(args, str):
        return End(text=args)
    return End(value=args if isinstance(args, dict) else ABSENT)


def _result(part: dict[str, Any]) -> Result:
    is_retry = part.get("part_kind") == "retry-prompt"
    is_error = is_retry or part.get("outcome") in ("failed", "denied", "interrupted", "retried")
    return Result(as_id(part, "tool_call_id"), part.get("content"), is_error)
