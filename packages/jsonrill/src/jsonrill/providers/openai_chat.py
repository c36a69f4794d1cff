"""OpenAI chat completions, and the many servers that speak it: `choices[].delta`.

Reasoning comes in a field of its own, or in chunks of the content. A call is named by its index,
its id comes once, and only the `finish_reason` ends it. Also here: the older `function_call` (one,
without an id), custom tools (free text), and text completions (`choices[].text`). Some clients
write the names of fields in camelCase.

The `id` of a chunk names its response; some servers send another id with every chunk.
"""

from __future__ import annotations

from typing import Any, Final

from .fields import as_id, as_index, as_object, as_text, failed, finished, first, items, usage
from .statements import CallDelta, Finish, Reasoning, Statement, Text

# The most response ids that are remembered.
_MAX_RESPONSES: Final = 1000
# The fields that few deltas have; if there is none, they are not looked up.
_RARE_FIELDS: Final = frozenset(
    "reasoning_content reasoningContent reasoning reasoning_details reasoningDetails refusal"
    " toolCalls function_call functionCall".split()
)


def accepts(event: dict[str, Any]) -> bool:
    return isinstance(event.get("choices"), list)


class Translation:
    """Translates chunks; remembers to which response the chunks of an id belong.

    An id that has not come before begins a response, unless its chunk can only continue one. From
    then on all new ids belong to the current response, until it ends.
    """

    def __init__(self) -> None:
        self._responses: dict[str, str] = {}
        # The response of the last chunk; None after its end if ids are changing.
        self._message: str | None = None
        self._is_changing = False

    def __call__(self, event: dict[str, Any]) -> list[Statement]:
        id, was_changing = as_id(event, "id"), self._is_changing
        if id is not None and id not in self._responses:
            self._add(id, event)
        self._message = None if id is None else self._responses[id]
        statements = translate(event, self._message)
        for finish in statements if self._is_changing else ():
            if isinstance(finish, Finish):
                self._message = None
                if not was_changing:
                    # Earlier calls may have been assigned to other responses.
                    finish.message = finish.choice = None
        return statements

    def _add(self, id: str, event: dict[str, Any]) -> None:
        if len(self._responses) == _MAX_RESPONSES:
            self._responses.clear()
        known = self._message
        if known is not None:
            self._is_changing = self._is_changing or _continues(event)
        self._responses[id] = known if known is not None and self._is_changing else id


def _continues(event: dict[str, Any]) -> bool:
    """Return whether this chunk cannot begin a response, because it continues or ends one."""
    for choice in items(event, "choices"):
        delta = as_object(choice, "delta")
        if calls := items(delta, "tool_calls", "toolCalls"):
            return all(_is_later(call) for call in calls)
        keys = {key for key, value in delta.items() if value}
        return bool(first(choice, "finish_reason", "finishReason")) and keys <= {"role"}
    return False


def _is_later(call: dict[str, Any]) -> bool:
    starts_call = call.get("id") or as_object(call, "function").get("name")
    return not starts_call or bool(as_index(call, "index"))


def translate(event: dict[str, Any], message: str | None) -> list[Statement]:
    """Return the statements of a chunk of this response."""
    statements: list[Statement] = []
    error = event.get("error")
    for choice in items(event, "choices"):
        number = as_index(choice, "index") or 0
        if text := as_text(choice, "text"):
            statements.append(Text(text, number))
        # A server that does not stream answers with the message at once.
        delta = as_object(choice, "delta" if "delta" in choice else "message")
        statements += _delta(delta, message, number)
        reason = as_id(choice, "finish_reason", "finishReason")  # some servers write "null"
        if reason and not error:  # next to an error the `finish_reason` says less
            native = first(choice, "native_finish_reason", "nativeFinishReason")
            statements.append(finished(reason, message, number, native=native))
    if "usage" in event:
        statements += usage(event, "usage")
    return [*statements, failed(error)] if error else statements


def _delta(delta: dict[str, Any], message: str | None, choice: int) -> list[Statement]:
    # Looking up each rare field would take most of the time.
    has_rare_field = not _RARE_FIELDS.isdisjoint(delta)
    statements: list[Statement] = []
    if has_rare_field:
        # Several fields may repeat the same thought.
        thought = first(delta, "reasoning_content", "reasoningContent") or delta.get("reasoning")
        thought = thought or first(delta, "reasoning_details", "reasoningDetails")
        statements += thoughts(thought, choice)
    if value := delta.get("content"):
        statements += content(value, choice)
    calls = items(delta, "tool_calls")
    if has_rare_field:
        calls = calls or items(delta, "toolCalls")
        if refusal := as_text(delta, "refusal"):
            statements.append(Text(refusal, choice, refusal=True))
        if isinstance(function := first(delta, "function_call", "functionCall"), dict):
            calls.append({"function": function, "index": 0})
    for call in calls:
        statements.append(_call(call, message, choice))
    return statements


def content(value: Any, choice: int, block: int | None = None) -> list[Statement]:
    """Return the statements of a `content`: a text, a chunk of text or thoughts, or chunks."""
    match value:
        case str():
            return [Text(value, choice, block)] if value else []
        case list():
            chunks = [chunk for chunk in value if isinstance(chunk, dict)]
            return [statement for chunk in chunks for statement in content(chunk, choice, block)]
        case {"type": "thinking", "thinking": thought}:
            return thoughts(thought, choice, block)
        case {"type": "text", "text": str(text)}:
            return content(text, choice, block)
    return []


def thoughts(value: Any, choice: int, block: int | None = None) -> list[Statement]:
    """Return the statements of reasoning: a text, or a list of texts or summaries."""
    chunks = [{"text": value}] if isinstance(value, str) else value
    texts = [as_text(item, "text") or as_text(item, "summary") for item in items({"": chunks}, "")]
    return [Reasoning(text, choice, block) for text in texts if text]


def _call(call: dict[str, Any], message: str | None, choice: int) -> CallDelta:
    delta = CallDelta(as_id(call, "id"), as_index(call, "index"), message=message, choice=choice)
    match call:
        case {"function": dict(function)}:
            arguments = function.get("arguments")
            delta.name, delta.text = as_text(function, "name"), as_text(function, "arguments")
            if isinstance(arguments, (dict, list)):
                delta.value = arguments
            delta.unread = not isinstance(arguments, (str, dict, list)) and arguments is not None
        case {"custom": dict(custom)}:
            delta.name, delta.text = as_text(custom, "name"), as_text(custom, "input")
            delta.free = True
    return delta
