"""The messages of the next request: the answer and the results, in the provider's form.

A call is sent only together with its result, because providers refuse one without the other.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import Any, Final

from .answer_parts import Entry, plain
from .jsontext import dumps
from .toolcalls import ToolCall

Message = dict[str, Any]

# What the helpers of OpenAI's client add to items; no request may have them.
_PARSED: Final = ("parsed", "parsed_arguments")


def messages(provider: str | None, entries: Sequence[Entry]) -> list[Any]:
    """Return the messages of these turns in the form of this provider, by default of chat."""
    form = FORMS.get(provider or "openai_chat")
    if form is None:
        known = ", ".join(FORMS)
        raise ValueError(f"no form of messages is known for {provider}; name one of {known}")
    # An empty text that says why the answer was cut is not a part of the turn.
    shown = [item for item in entries if item.kind != "text" or item.text or item.error is None]
    turns = groupby(shown, lambda entry: entry.turn)
    return [message for _, turn in turns for message in form([*turn])]


def sendable(result: Any) -> Any:
    """Return the result, of an iterator the list of its items; raise if it is not JSON."""
    if isinstance(result, Iterator):
        result = list(result)
    _text_of(result).encode()
    return result


def chat(entries: Sequence[Entry]) -> list[Message]:
    """Return the turn for OpenAI chat: an assistant message, and one for each result."""
    text = "".join([entry.text for entry in entries if entry.kind == "text"])
    calls = _answered(entries)
    if not text and not calls:
        return []
    message: Message = {"role": "assistant", "content": text or None}
    if calls:
        message["tool_calls"] = [_chat_call(call) for call in calls]
    results = [{"tool_call_id": call.id, "content": _text_of(call.result)} for call in calls]
    return [message, *({"role": "tool", **result} for result in results)]


def _chat_call(call: ToolCall) -> Message:
    if call.encoding == "text":
        return {"id": call.id, "type": "custom", "custom": {"name": call.name, "input": call.raw}}
    function = {"name": call.name, "arguments": _arguments_text(call)}
    return {"id": call.id, "type": "function", "function": function}


def responses(entries: Sequence[Entry]) -> list[Message]:
    """Return the turn for OpenAI Responses: the items as they came, and one for each result.

    Reasoning is refused without the item that it led to, so it is left out with that one.
    """
    items: list[Message] = []
    thoughts: list[Message] = []
    for entry in entries:
        item = _response_item(entry)
        if item is not None:
            thoughts.append({key: value for key, value in item.items() if key not in _PARSED})
            if item.get("type") != "reasoning":
                items += thoughts
                thoughts = []
        elif entry.kind == "call":
            thoughts = []
    for call in _answered(entries):
        output = {"call_id": call.id, "output": _text_of(call.result)}
        items.append({"type": f"{_item_type(call)}_output", **output})
    return items


def _item_type(call: ToolCall) -> str:
    return "custom_tool_call" if call.encoding == "text" else "function_call"


def _response_item(entry: Entry) -> Message | None:
    """Return the item of a part; make one for a text or a call whose item is missing."""
    call = entry.call
    if call is None:
        # Parts of a message need the id and the status of their item; a text does not.
        message = {"type": "message", "role": "assistant", "content": entry.text}
        return entry.kept or (message if entry.kind == "text" else None)
    if call.hosted:
        return entry.kept if call.status == "complete" else None
    if not _ran(entry):
        return None
    item = entry.kept or {"type": _item_type(call), "call_id": call.id, "name": call.name}
    return {**item, "input" if call.encoding == "text" else "arguments": _arguments_text(call)}


def anthropic(entries: Sequence[Entry]) -> list[Message]:
    """Return the turn for Anthropic: the blocks, thoughts with signatures, then the results."""
    blocks = [block for entry in entries if (block := _block(entry)) is not None]
    return _turn("assistant", "content", blocks, map(_tool_result, _answered(entries)))


def _turn(
    role: str, field: str, answer: list[Message], results: Iterator[Message]
) -> list[Message]:
    """Return the model's message and, as the user's message, the results."""
    if not answer:
        return []
    found = [*results]
    return [{"role": role, field: answer}, *([{"role": "user", field: found}] if found else ())]


def _tool_result(call: ToolCall) -> Message:
    result = {"type": "tool_result", "tool_use_id": call.id, "content": _text_of(call.result)}
    return {**result, "is_error": call.result_is_error}


def _block(entry: Entry) -> Message | None:
    call, kept = entry.call, entry.kept
    match entry.kind:
        case "text":
            # A blank text is refused, although answers have them.
            return {"type": "text", "text": entry.text} if entry.text.strip() else None
        case "reasoning":
            # Without its signature a thought is refused.
            return None if kept is None else {**kept, "thinking": entry.text}
        case "call" if call is not None and call.hosted and call.status == "complete":
            return {**(kept or {}), "input": call.args}
        case "call" if call is not None and _ran(entry):
            use = {"type": "tool_use", "id": call.id, "name": call.name}
            return {**use, "input": _arguments(call)}
    return kept if entry.kind == "kept" else None


def gemini(entries: Sequence[Entry]) -> list[Message]:
    """Return the turn for Gemini: the parts with their signatures, then the responses."""
    parts = [part for entry in entries if (part := _gemini_part(entry)) is not None]
    return _turn("model", "parts", parts, map(_function_response, _answered(entries)))


def _gemini_part(entry: Entry) -> Message | None:
    kept = entry.kept or {}
    match entry.kind:
        case "text" | "kept":
            return {"text": entry.text, **kept}
        case "reasoning" if kept:
            return {"text": entry.text, "thought": True, **kept}
        case "call" if entry.call is not None and _ran(entry):
            named = _gemini_name(entry.call)
            return {"functionCall": {**named, "args": _arguments(entry.call)}, **kept}
    return None


def _function_response(call: ToolCall) -> Message:
    response = {"error" if call.result_is_error else "output": plain(call.result)}
    return {"functionResponse": {**_gemini_name(call), "response": response}}


def _gemini_name(call: ToolCall) -> Message:
    """Return the name and the id of a call, if it is the provider's own."""
    return {"name": call.name, **({"id": call.id} if call.own_id else {})}


def _answered(entries: Sequence[Entry]) -> list[ToolCall]:
    """Return the calls that the user's tools have answered."""
    return [entry.call for entry in entries if entry.call is not None and _ran(entry)]


def _ran(entry: Entry) -> bool:
    return entry.call is not None and entry.call.answered and not entry.call.hosted


def _text_of(result: Any) -> str:
    """Return a tool's result as text: a text unchanged, anything else as JSON."""
    return result if isinstance(result, str) else dumps(plain(result))


def _arguments(call: ToolCall) -> dict[str, Any]:
    """Return the arguments as an object, also of a call whose schema refuses them.

    Providers refuse anything but an object. It is empty if the arguments are not one: the error
    that is their result quotes them.
    """
    value = call.args if call.has_all_args else _loaded(call.raw)
    return value if isinstance(value, dict) else {}


def _arguments_text(call: ToolCall) -> str:
    arguments = _arguments(call)
    is_exact = not call.repairs and _loaded(call.raw) == arguments
    return call.raw if is_exact or call.encoding == "text" else dumps(arguments)


def _loaded(text: str) -> Any:
    """Return the value of a text; None if it is not JSON."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


FORMS: Final[dict[str, Callable[[Sequence[Entry]], list[Message]]]] = {
    "openai_chat": chat,
    "openai": chat,
    "openai_responses": responses,
    "responses": responses,
    "anthropic": anthropic,
    "gemini": gemini,
    "mistral": chat,
}
