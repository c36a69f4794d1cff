"""OpenAI chat completions, and the many servers that speak like it: `choices[].delta`.

A call is named by its index, its id comes once, and nothing ends it but the `finish_reason`. Also
here: the older `function_call` (neither id nor index) and custom tools (free text).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .deltas import (
    CallDelta,
    Finish,
    Statement,
    a_text,
    an_id,
    an_index,
    an_object,
    items,
)

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
            for call in _calls(delta):
                call.message, call.choice = message, number
                said.append(call)
        if reason := a_text(choice.get("finish_reason")):
            said.append(Finish(message, number, cut=reason in CUT))
    return said


def _calls(delta: dict[str, Any]) -> Iterator[CallDelta]:
    for call in items(delta.get("tool_calls")):
        who = an_id(call.get("id")), an_index(call.get("index"))
        if isinstance(custom := call.get("custom"), dict):
            name, text = a_text(custom.get("name")), a_text(custom.get("input"))
            yield CallDelta(*who, name, text, free=True)
        else:
            yield _function(CallDelta(*who), an_object(call.get("function")))
    if isinstance(function := delta.get("function_call"), dict):
        yield _function(CallDelta(), function)


def _function(call: CallDelta, function: dict[str, Any]) -> CallDelta:
    call.name = a_text(function.get("name"))
    arguments = function.get("arguments")
    if isinstance(arguments, (dict, list)):
        call.value = arguments
    else:
        call.text = a_text(arguments)
    return call
