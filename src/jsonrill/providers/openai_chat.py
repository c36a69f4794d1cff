"""OpenAI chat completions, and the many servers that speak like it: `choices[].delta`.

A call is named by its index, its id comes once, and nothing ends it but the `finish_reason`. Also
here: the older `function_call` (neither id nor index) and custom tools (free text).
"""

from __future__ import annotations

from typing import Any

from .deltas import CallDelta, Finish, Statement, a_text, an_id, an_index, items

# Reasons to stop at which the last call may have lost its end.
CUT = frozenset(("length", "content_filter", "error", "model_length"))


def accepts(event: dict[str, Any]) -> bool:
    return isinstance(event.get("choices"), list)


def translate(event: dict[str, Any]) -> list[Statement]:
    message = an_id(event.get("id"))
    said: list[Statement] = []
    for choice in items(event.get("choices")):
        number = an_index(choice.get("index")) or 0
        delta = choice.get("delta")
        if isinstance(delta, dict):
            for call in items(delta.get("tool_calls")):
                said.append(_call(call, message, number))
            if isinstance(function := delta.get("function_call"), dict):
                said.append(_call({"function": function}, message, number))
        if reason := a_text(choice.get("finish_reason")):
            said.append(Finish(message, number, cut=reason in CUT))
    return said


def _call(call: dict[str, Any], message: str | None, choice: int) -> CallDelta:
    id, index = an_id(call.get("id")), an_index(call.get("index"))
    function, custom = call.get("function"), call.get("custom")
    if isinstance(custom, dict):
        name, text = a_text(custom.get("name")), a_text(custom.get("input"))
        return CallDelta(id, index, name, text, message, choice, free=True)
    if not isinstance(function, dict):
        return CallDelta(id, index, None, None, message, choice)
    name, text = a_text(function.get("name")), function.get("arguments")
    if isinstance(text, (dict, list)):
        return CallDelta(id, index, name, None, message, choice, value=text)
    return CallDelta(id, index, name, a_text(text), message, choice)
