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


def as_text(result: Any) -> str:
    """Return a tool's result as text: a text unchanged, anything else as JSON."""
    return result if isinstance(result, str) else dumps(plain(result))


def sendable(result: Any) -> Any:
    """Return the result, of an iterator the list of its items; raise if it is not JSON."""
    if isinstance(result, Iterator):
        result = list(result)
    as_text(result).encode()
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
    return [
        message,
        *({"role": "tool", "tool_call_id": it.id, "content": as_text(it.result)} for it in calls),
    ]


def _chat_call(call: ToolCall) -> Message:
    if call.encoding == "text":
        return {"id": call.id, "type": "custom", "custom": {"name": call.name, "input": call.raw}}
    function = {"name": call.name, "arguments": arguments_text(call)}
    return {"id": call.id, "type": "function", "function": function}


def responses(entries: Sequence[Entry]) -> list[Message]:
    """Return the turn for OpenAI Responses: the items as they came, and one for each result.

    Reasoning is refused without the item that it led to, so it is left out with that one.
    """
    items: list[Message] = []
    thoughts: list[Message] = []
    for entry in entries:
        call = entry.call
        if entry.kind == "result":
            continue
        item = _response_item(entry)
        hosted = call is not None and call.hosted and call.status == "complete"
        if call is not None and (item is None or not (hosted or _ran(entry))):
            thoughts = []
        elif item is not None:
            item = {key: value for key, value in item.items() if key not in _PARSED}
            thoughts.append(item)
            if item.get("type") != "reasoning":
                items += thoughts
                thoughts = []
    for call in _answered(entries):
        output = {"call_id": call.id, "output": as_text(call.result)}
        items.append({"type": f"{_kind(call)}_output", **output})
    return items


def _kind(call: ToolCall) -> str:
    return "custom_tool_call" if call.encoding == "text" else "function_call"


# What the helpers of the client library add to items; no request may have them.
_PARSED: Final = ("parsed", "parsed_arguments")


def _response_item(entry: Entry) -> Message | None:
    """Return the item of a part, also if its item never came.

    A thought cannot be sent without its item, nor can the call of a tool that the provider runs.
    """
    call, kept = entry.call, entry.kept
    if call is not None and not call.hosted:
        item = kept or {"type": _kind(call), "call_id": call.id, "name": call.name}
        return {**item, "input" if call.encoding == "text" else "arguments": arguments_text(call)}
    if kept is not None or call is not None:
        return kept
    if entry.kind != "text":
        return None
    # Parts of a message need the id and the status of their item; a text does not.
    return {"type": "message", "role": "assistant", "content": entry.text}


def anthropic(entries: Sequence[Entry]) -> list[Message]:
    """Return the turn for Anthropic: the blocks, thoughts with signatures, then the results."""
    blocks = [block for entry in entries if (block := _block(entry)) is not None]
    if not blocks:
        return []
    content: list[Message] = [
        {
            "type": "tool_result",
            "tool_use_id": call.id,
            "content": as_text(call.result),
            "is_error": call.result_is_error,
        }
        for call in _answered(entries)
    ]
    turn: list[Message] = [{"role": "assistant", "content": blocks}]
    return [*turn, {"role": "user", "content": content}] if content else turn


def _block(entry: Entry) -> Message | None:
    call = entry.call
    match entry.kind:
        case "text":
            # A blank text is refused, although answers have them.
            return {"type": "text", "text": entry.text} if entry.text.strip() else None
        case "reasoning":
            # Without its signature a thought is refused.
            return None if entry.kept is None else {**entry.kept, "thinking": entry.text}
        case "kept":
            return entry.kept
        case "call" if call is not None and call.hosted and call.status == "complete":
            return {**(entry.kept or {}), "input": call.args}
        case "call" if call is not None and _ran(entry):
            return {"type": "tool_use", "id": call.id, "name": call.name, "input": _object(call)}
        case _:
            return None


def gemini(entries: Sequence[Entry]) -> list[Message]:
    """Return the turn for Gemini: the parts with their signatures, then the responses."""
    parts = [part for entry in entries if (part := _gemini_part(entry)) is not None]
    if not parts:
        return []
    turn: list[Message] = [{"role": "model", "parts": parts}]
    if answers := [_function_response(call) for call in _answered(entries)]:
        turn.append({"role": "user", "parts": answers})
    return turn


def _gemini_part(entry: Entry) -> Message | None:
    kept = entry.kept or {}
    match entry.kind:
        case "text":
            return {"text": entry.text, **kept}
        case "reasoning":
            return {"text": entry.text, "thought": True, **kept} if kept else None
        case "kept":
            return {"text": "", **kept}
        case "call" if entry.call is not None and _ran(entry):
            call = entry.call
            sent: Message = {"name": call.name, "args": _object(call), **_given_id(call)}
            return {"functionCall": sent, **kept}
        case _:
            return None


def _function_response(call: ToolCall) -> Message:
    response = {"error" if call.result_is_error else "output": plain(call.result)}
    return {"functionResponse": {"name": call.name, **_given_id(call), "response": response}}


def _given_id(call: ToolCall) -> Message:
    """Return the id of a call, if it is the provider's own."""
    return {"id": call.id} if call.own_id else {}


def _answered(entries: Sequence[Entry]) -> list[ToolCall]:
    """Return the calls that the user's tools have answered."""
    return [entry.call for entry in entries if entry.call is not None and _ran(entry)]


def _ran(entry: Entry) -> bool:
    call = entry.call
    return entry.kind == "call" and call is not None and call.answered and not call.hosted


def arguments_text(call: ToolCall) -> str:
    """Return the arguments as the next request sends them.

    Providers refuse arguments that are not JSON: these become an empty object, and the error that
    is their result quotes them.
    """
    if call.encoding == "text":
        return call.raw
    if call.repairs or not call.raw.strip():
        return dumps(_object(call))
    return call.raw if _loaded(call.raw) is not None else dumps({})


def _object(call: ToolCall) -> dict[str, Any]:
    """Return the arguments as an object."""
    if call.has_all_args and isinstance(call.args, dict):
        return call.args
    return _loaded(call.raw) or {}


def _loaded(text: str) -> dict[str, Any] | None:
    """Return the object that a text is; None if it is not one."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


FORMS: Final[dict[str, Callable[[Sequence[Entry]], list[Message]]]] = {
    "openai_chat": chat,
    "openai": chat,
    "openai_responses": responses,
    "responses": responses,
    "anthropic": anthropic,
    "gemini": gemini,
    "mistral": chat,
}


def messages(provider: str | None, entries: Sequence[Entry]) -> list[Any]:
    """Return the messages of these turns in the form of this provider, by default of chat."""
    form = FORMS.get(provider or "openai_chat")
    if form is None:
        known = ", ".join(FORMS)
        raise ValueError(f"no form of messages is known for {provider}; name one of {known}")
    # An empty text that says why the answer was cut is not a part of the turn.
    shown = [it for it in entries if it.kind != "text" or it.text or it.error is None]
    turns = groupby(shown, lambda entry: entry.turn)
    return [message for _, turn in turns for message in form([*turn])]
