"""OpenAI chat completions, and the many servers that speak like it: `choices[].delta`.

Reasoning comes in a field of its own, or in chunks beside those of the text. A call is named by its
index, its id comes once, and nothing ends it but the `finish_reason`. Also here: the older
`function_call` (neither id nor index) and custom tools (free text).
"""

from __future__ import annotations

from typing import Any

from .fields import as_error, as_id, as_index, as_text, items
from .statements import CallDelta, Finish, Reasoning, Statement, Text, Usage

# Reasons to stop at which the last call may have lost its end.
CUT = frozenset(("length", "content_filter", "error", "model_length"))


def accepts(event: dict[str, Any]) -> bool:
    return isinstance(event.get("choices"), list)


def translate(event: dict[str, Any]) -> list[Statement]:
    message = as_id(event.get("id"))
    said: list[Statement] = []
    for choice in items(event.get("choices")):
        number = as_index(choice.get("index")) or 0
        delta = choice.get("delta")
        if isinstance(delta, dict):
            if thought := delta.get("reasoning_content") or delta.get("reasoning"):
                said += thoughts(thought, number)
            if text := delta.get("content"):
                said += content(text, number)
            for call in items(delta.get("tool_calls")):
                said.append(_call(call, message, number))
            if isinstance(function := delta.get("function_call"), dict):
                said.append(_call({"function": function}, message, number))
        if reason := as_text(choice.get("finish_reason")):
            said.append(Finish(message, number, cut=reason in CUT))
    if isinstance(usage := event.get("usage"), dict):
        said.append(Usage(usage))
    if error := event.get("error"):
        said.append(Finish(cut=True, error=as_error(error)))
    return said


def content(said: Any, choice: int, block: int | None = None) -> list[Statement]:
    """The statements of a `content`: a text, a chunk of text or thoughts, or a list of chunks."""
    if isinstance(said, list):
        return [found for chunk in items(said) for found in content(chunk, choice, block)]
    if isinstance(said, dict):
        if said.get("type") == "thinking":
            return thoughts(said.get("thinking"), choice, block)
        said = said.get("text") if said.get("type") == "text" else None
    return [Text(text, choice, block)] if (text := as_text(said)) else []


def thoughts(said: Any, choice: int, block: int | None = None) -> list[Statement]:
    """The statements of what the model thinks: a text, or a list of chunks of text."""
    texts = [said] if isinstance(said, str) else [chunk.get("text") for chunk in items(said)]
    return [Reasoning(text, choice, block) for one in texts if (text := as_text(one))]


def _call(call: dict[str, Any], message: str | None, choice: int) -> CallDelta:
    id, index = as_id(call.get("id")), as_index(call.get("index"))
    function, custom = call.get("function"), call.get("custom")
    if isinstance(custom, dict):
        name, text = as_text(custom.get("name")), as_text(custom.get("input"))
        return CallDelta(id, index, name, text, message, choice, free=True)
    if not isinstance(function, dict):
        return CallDelta(id, index, None, None, message, choice)
    name, text = as_text(function.get("name")), function.get("arguments")
    if isinstance(text, (dict, list)):
        return CallDelta(id, index, name, None, message, choice, value=text)
    return CallDelta(id, index, name, as_text(text), message, choice)
