"""The messages of the next request: the answer and the results, in the provider's form.

Providers refuse a call without its result, and reasoning without the text or call after it. So
these are sent only together.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any, Final

from .answer_parts import Entry, Parts, plain
from .jsontext import dumps
from .toolcalls import ToolCall

Message = dict[str, Any]

# Fields that the helpers of OpenAI's client add to items. Requests must not have them.
_PARSED: Final = ("parsed", "parsed_arguments")


def messages(parts: Parts, form: str | None = None) -> list[Any]:
    """Return the answer and the results as the next request to this provider sends them.

    `form` names another provider. Fields that only the original provider understands, such as
    signatures, are left out then.
    """
    provider = parts.reader.provider or "openai_chat"
    write = FORMS.get(form or provider)
    if write is None:
        known = ", ".join(FORMS)
        raise ValueError(
            f"no form of messages is known for {form or provider}; name one of {known}"
        )
    entries = parts.entries
    if FORMS.get(provider) is not write:
        entries = [replace(entry, original=None) for entry in entries if entry.kind != "original"]
    turns = groupby(entries, lambda entry: entry.turn)
    return [message for _, turn in turns for message in write([*_sendable_entries(turn)])]


def _sendable_entries(entries: Iterable[Entry]) -> Iterator[Entry]:
    """Yield the entries that providers accept in the next request."""
    thoughts: list[Entry] = []
    for entry in entries:
        if entry.kind == "reasoning" or (entry.original or {}).get("type") == "reasoning":
            thoughts.append(entry)
            continue
        if _is_sent(entry):
            yield from (*thoughts, entry)
        if entry.kind in ("text", "call", "original"):
            thoughts = []


def _is_sent(entry: Entry) -> bool:
    call = entry.call
    if call is not None:
        has_item = entry.original is not None and call.status == "complete"
        return has_item if call.hosted else call.answered
    # An empty text that only explains why the answer was cut is not sent.
    is_sent_text = entry.kind == "text" and not (entry.error and not entry.text)
    return entry.kind == "original" or is_sent_text


def sendable(result: Any) -> Any:
    """Return the result, with an iterator as a list; raise if JSON cannot represent it."""
    if isinstance(result, Iterator):
        result = list(result)
    _text_of(result).encode()
    return result


def chat(entries: Sequence[Entry]) -> list[Message]:
    """Return the turn for OpenAI chat: an assistant message, and one for each result."""
    text = "".join([entry.text for entry in entries if entry.kind == "text"])
    calls = _own_calls(entries)
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
    """Return the turn for OpenAI Responses: the original items, and one for each result."""
    items = [item for entry in entries if (item := _response_item(entry)) is not None]
    for call in _own_calls(entries):
        output = {"call_id": call.id, "output": _text_of(call.result)}
        items.append({"type": f"{_item_type(call)}_output", **output})
    return items


def _item_type(call: ToolCall) -> str:
    return "custom_tool_call" if call.encoding == "text" else "function_call"


def _response_item(entry: Entry) -> Message | None:
    """Return the item of a part, or make one if a text or a call has none."""
    call = entry.call
    data = _without_parsed(entry.original or {})
    if isinstance(parts := data.get("content"), list):
        data["content"] = [_without_parsed(part) for part in parts]
    if entry.kind == "text":
        # A message's original parts need the item's id and status; a new text item does not.
        return data or {"type": "message", "role": "assistant", "content": entry.text}
    if call is None or call.hosted:
        return data or None
    item = data or {"type": _item_type(call), "call_id": call.id, "name": call.name}
    return {**item, "input" if call.encoding == "text" else "arguments": _arguments_text(call)}


def _without_parsed(item: Message) -> Message:
    return {key: value for key, value in item.items() if key not in _PARSED}


def anthropic(entries: Sequence[Entry]) -> list[Message]:
    """Return the turn for Anthropic: the blocks, thoughts with signatures, then the results."""
    blocks = [block for entry in entries if (block := _block(entry)) is not None]
    return _turn("assistant", "content", blocks, map(_tool_result, _own_calls(entries)))


def _turn(
    role: str, field: str, answer: list[Message], results: Iterator[Message]
) -> list[Message]:
    """Return the model's message and, as the user's message, the results."""
    turn = [{"role": role, field: answer}, {"role": "user", field: [*results]}]
    return [message for message in turn if message[field]]


def _tool_result(call: ToolCall) -> Message:
    result = {"type": "tool_result", "tool_use_id": call.id, "content": _text_of(call.result)}
    return {**result, "is_error": call.result_is_error}


def _block(entry: Entry) -> Message | None:
    call, data = entry.call, entry.original
    if entry.kind == "text":
        # Anthropic refuses blank texts, although its answers contain them.
        return {"type": "text", "text": entry.text} if entry.text.strip() else None
    if call is None:
        # Anthropic refuses a thought without its signature.
        return {**data, "thinking": entry.text} if data and entry.kind == "reasoning" else data
    if call.hosted:
        return {**(data or {}), "input": call.args}
    return {"type": "tool_use", "id": call.id, "name": call.name, "input": _arguments(call)}


def gemini(entries: Sequence[Entry]) -> list[Message]:
    """Return the turn for Gemini: the parts with their signatures, then the responses."""
    parts = [part for entry in entries if (part := _gemini_part(entry)) is not None]
    return _turn("model", "parts", parts, map(_function_response, _own_calls(entries)))


def _gemini_part(entry: Entry) -> Message | None:
    data = entry.original or {}
    if entry.call is not None:
        identity = _gemini_identity(entry.call)
        return {"functionCall": {**identity, "args": _arguments(entry.call)}, **data}
    if entry.kind == "reasoning":
        return {"text": entry.text, "thought": True, **data} if data else None
    return data if entry.kind == "original" else {"text": entry.text, **data}


def _function_response(call: ToolCall) -> Message:
    response = {"error" if call.result_is_error else "output": plain(call.result)}
    return {"functionResponse": {**_gemini_identity(call), "response": response}}


def _gemini_identity(call: ToolCall) -> Message:
    """Return the name and the id of a call, if it is the provider's own."""
    return {"name": call.name, **({"id": call.id} if call.own_id else {})}


def _own_calls(entries: Sequence[Entry]) -> list[ToolCall]:
    """Return the calls of the user's tools."""
    calls = [entry.call for entry in entries if entry.call is not None]
    return [call for call in calls if not call.hosted]


def _text_of(result: Any) -> str:
    """Return a tool's result as text: a text unchanged, anything else as JSON."""
    return result if isinstance(result, str) else dumps(plain(result))


def _arguments(call: ToolCall) -> dict[str, Any]:
    """Return the arguments as an object, even if the call's schema refuses them.

    Providers accept only an object. If the arguments are something else, return an empty one: the
    call's error result quotes them.
    """
    value = call.args if call.has_all_args else _load(call.raw)
    return value if isinstance(value, dict) else {}


def _arguments_text(call: ToolCall) -> str:
    arguments = _arguments(call)
    is_exact = not call.repairs and _load(call.raw) == arguments
    return call.raw if is_exact or call.encoding == "text" else dumps(arguments)


def _load(text: str) -> Any:
    """Return the value of a text; None if it is not JSON."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


FORMS: Final[dict[str, Callable[[Sequence[Entry]], list[Message]]]] = {
    **dict.fromkeys(("openai_chat", "openai", "mistral", "parts"), chat),
    **dict.fromkeys(("openai_responses", "responses"), responses),
    "anthropic": anthropic,
    "gemini": gemini,
}
