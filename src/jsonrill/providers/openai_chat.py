"""OpenAI chat completions, and the many servers that speak like it: `choices[].delta`.

Reasoning comes in a field of its own, or in chunks beside those of the text. A call is named by its
index, its id comes once, and nothing ends it but the `finish_reason`. Also here: the older
`function_call` (neither id nor index) and custom tools (free text).
"""

from __future__ import annotations

from typing import Any

from .fields import as_error, as_id, as_index, as_text, items
from .statements import CallDelta, Finish, Reasoning, Statement, Text, as_usage

# Reasons to stop at which the last call may have lost its end.
CUT = frozenset(("length", "content_filter", "error", "model_length"))


def accepts(event: dict[str, Any]) -> bool:
    return isinstance(event.get("choices"), list)


def translate(event: dict[str, Any]) -> list[Statement]:
    message = as_id(event.get("id"))
    said: list[Statement] = []
    error = event.get("error")
    for choice in items(event.get("choices")):
        number = as_index(choice.get("index")) or 0
        delta = choice.get("delta")
        if isinstance(delta, dict):
            if thought := delta.get("reasoning_content") or delta.get("reasoning"):
                said += thoughts(thought, number)
            if text := delta.get("content"):
                said += content(text, number)
            if calls := delta.get("tool_calls"):
                said += [_call(call, message, number) for call in items(calls)]
            if isinstance(function := delta.get("function_call"), dict):
                said.append(_call({"function": function}, message, number))
        # With an error comes a `finish_reason` that says less.
        if isinstance(reason := choice.get("finish_reason"), str) and reason and not error:
            said.append(Finish(message, number, cut=reason in CUT))
    if usage := event.get("usage"):
        said += as_usage(usage)
    if error:
        said.append(Finish(cut=True, error=as_error(error)))
    return said


def content(said: Any, choice: int, block: int | None = None) -> list[Statement]:
    """The statements of a `content`: a text, a chunk of text or thoughts, or a list of chunks."""
    if isinstance(said, str):
        return [Text(said, choice, block)] if said else []
    if isinstance(said, list):
        return [found for chunk in items(said) for found in content(chunk, choice, block)]
    match said:
        case {"type": "thinking", "thinking": thought}:
            return thoughts(thought, choice, block)
        case {"type": "text", "text": str(text)}:
            return content(text, choice, block)
        case _:
            return []


def thoughts(said: Any, choice: int, block: int | None = None) -> list[Statement]:
    """The statements of what the model thinks: a text, or a list of chunks of text."""
    texts = [said] if isinstance(said, str) else [chunk.get("text") for chunk in items(said)]
    return [Reasoning(text, choice, block) for one in texts if (text := as_text(one))]


def _call(call: dict[str, Any], message: str | None, choice: int) -> CallDelta:
    # Most deltas have nothing but an index and a piece of text: what is absent costs no call.
    id = as_id(id) if (id := call.get("id")) else None
    index = index if type(index := call.get("index")) is int else as_index(index)
    function = call.get("function")
    if isinstance(function, dict):
        name = as_text(name) if (name := function.get("name")) else None
        text = function.get("arguments")
        if isinstance(text, (dict, list)):
            return CallDelta(id, index, name, None, message, choice, value=text)
        return CallDelta(id, index, name, as_text(text), message, choice)
    if isinstance(custom := call.get("custom"), dict):
        name, text = as_text(custom.get("name")), as_text(custom.get("input"))
        return CallDelta(id, index, name, text, message, choice, free=True)
    return CallDelta(id, index, None, None, message, choice)
