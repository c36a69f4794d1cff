"""OpenAI chat completions, and the many servers that speak like it: `choices[].delta`.

Reasoning comes in a field of its own, or in chunks beside those of the text. A call is named by its
index, its id comes once, and nothing ends it but the `finish_reason`. Also here: the older
`function_call` (one, without an id) and custom tools (free text). Some clients write the names of
fields in camelCase.

Text completions (`choices[].text`) are read, too.

The `id` of a chunk tells which response it belongs to; some servers send another with every chunk.
"""

from __future__ import annotations

from typing import Any, Final

from .call_delta import CallDelta
from .fields import as_dict, as_id, as_index, as_object, as_text, either, items
from .statements import Finish, Reasoning, Statement, Text, as_usage, failed, finished


def accepts(event: dict[str, Any]) -> bool:
    return isinstance(event.get("choices"), list)


# The most response ids that are remembered.
_MOST: Final = 1000


# Fields of a delta that most deltas do not have.
_SELDOM: Final = frozenset(
    (
        *("reasoning", "reasoning_content", "reasoningContent"),
        *("reasoning_details", "reasoningDetails", "refusal"),
        *("function_call", "functionCall", "toolCalls"),
    )
)


class ChatReader:
    """Translates chunks; remembers their ids, to see if they are those of responses.

    An id that has not come before begins a response, unless its chunk can only continue one. From
    then on such ids mean nothing, until one of them comes again.
    """

    def __init__(self) -> None:
        # The last id, and the response that its chunk belongs to.
        self._id: str | None = None
        self._message: str | None = None
        self._seen: set[str] = set()
        self._changing = False
        self._ended = False

    def __call__(self, event: dict[str, Any]) -> list[Statement]:
        id = event.get("id")
        knew = self._changing
        if id != self._id:
            self._message = self._response(as_id(id), event)
            self._id = id
        statements = translate(event, self._message)
        if self._changing:
            for one in statements:
                if type(one) is Finish:
                    self._ended = True
                    # Calls before this chunk may have been taken for those of other responses.
                    one.message, one.choice = (one.message, one.choice) if knew else (None, None)
        return statements

    def _response(self, id: str | None, event: dict[str, Any]) -> str | None:
        if id is None:
            return None
        if id in self._seen:
            self._changing = False
            return id
        if len(self._seen) == _MOST:
            self._seen.clear()
        self._seen.add(id)
        if self._message is None or self._ended:
            self._ended = False
            return id
        self._changing = self._changing or _continues(event)
        return self._message if self._changing else id


def _continues(event: dict[str, Any]) -> bool:
    """True for a chunk with which no response begins: more of a call, a later call, or an end."""
    for choice in items(event.get("choices")):
        delta = choice.get("delta")
        keys = {key for key, value in delta.items() if value} if isinstance(delta, dict) else set()
        calls = items(either(as_object(delta), "tool_calls", "toolCalls"))
        if calls:
            return all(_is_later(call) for call in calls)
        return bool(either(choice, "finish_reason", "finishReason")) and keys <= {"role"}
    return False


def _is_later(call: dict[str, Any]) -> bool:
    function = call.get("function")
    named = call.get("id") or (isinstance(function, dict) and function.get("name"))
    return not named or bool(as_index(call.get("index")))


def translate(event: dict[str, Any], message: str | None) -> list[Statement]:
    """The statements of a chunk of this response."""
    statements: list[Statement] = []
    error = event.get("error")
    choices = event.get("choices")
    for item in choices if isinstance(choices, list) else ():
        if (choice := as_dict(item)) is not None:
            _add_choice(choice, message, bool(error), statements)
    if usage := event.get("usage"):
        statements += as_usage(usage)
    if error:
        statements.append(failed(error, last=False))
    return statements


def _add_choice(
    choice: dict[str, Any], message: str | None, has_error: bool, statements: list[Statement]
) -> None:
    number = as_index(choice.get("index")) or 0
    delta = as_dict(choice.get("delta"))
    # Of the older completions, which vLLM and others have.
    if (text := choice.get("text")) and (text := as_text(text)):
        statements.append(Text(text, number))
    if delta is None and "delta" not in choice:
        # A server that does not stream answers with the message at once.
        delta = as_dict(choice.get("message"))
    if delta is not None:
        # What is absent from most deltas is asked for once, not field by field.
        is_plain = (len(delta) == 1 and "tool_calls" in delta) or _SELDOM.isdisjoint(delta)
        if not is_plain:
            statements += _reasoning(delta, number)
        if text := delta.get("content"):
            statements += content(text, number)
        if not is_plain and (refusal := as_text(delta.get("refusal"))):  # in place of an answer
            statements.append(Text(refusal, number, None, True))
        calls = delta.get("tool_calls") if is_plain else either(delta, "tool_calls", "toolCalls")
        for item in calls if isinstance(calls, list) else ():
            if (call := as_dict(item)) is not None:
                statements.append(_call(call, message, number))
        if not is_plain and isinstance(
            function := either(delta, "function_call", "functionCall"), dict
        ):
            statements.append(_call({"function": function, "index": 0}, message, number))
    reason = choice.get("finish_reason") or choice.get("finishReason")
    # With an error comes a `finish_reason` that says less.
    if reason and not has_error and (reason := as_text(reason)):
        native = either(choice, "native_finish_reason", "nativeFinishReason")
        statements.append(finished(reason, message, number, native=native))


def content(value: Any, choice: int, block: int | None = None) -> list[Statement]:
    """The statements of a `content`: a text, a chunk of text or thoughts, or a list of chunks."""
    if isinstance(value, str):
        return [Text(value, choice, block)] if value else []
    if isinstance(value, list):
        return [statement for chunk in items(value) for statement in content(chunk, choice, block)]
    # No `match`: not every version of the compiler reads it.
    if isinstance(value, dict):
        if value.get("type") == "thinking":
            return thoughts(value.get("thinking"), choice, block)
        if value.get("type") == "text" and isinstance(text := value.get("text"), str):
            return content(text, choice, block)
    return []


def _reasoning(delta: dict[str, Any], choice: int) -> list[Statement]:
    """The statements of what the model thinks, which several fields may say at once."""
    thought = either(delta, "reasoning_content", "reasoningContent") or delta.get("reasoning")
    if not thought:
        thought = either(delta, "reasoning_details", "reasoningDetails")
    return thoughts(thought, choice) if thought else []


def thoughts(value: Any, choice: int, block: int | None = None) -> list[Statement]:
    """The statements of what the model thinks: a text, or a list of texts or summaries."""
    texts = [value] if isinstance(value, str) else [_thought(chunk) for chunk in items(value)]
    return [Reasoning(text, choice, block) for one in texts if (text := as_text(one))]


def _thought(chunk: dict[str, Any]) -> Any:
    return chunk.get("text") or chunk.get("summary")


def _call(call: dict[str, Any], message: str | None, choice: int) -> CallDelta:
    # Most deltas have nothing but an index and a piece of text: what is absent costs no call.
    id = as_id(id) if (id := call.get("id")) else None
    index = as_index(call.get("index"))
    if (function := as_dict(call.get("function"))) is not None:
        name = as_text(name) if (name := function.get("name")) else None
        text = function.get("arguments")
        if isinstance(text, (dict, list)):
            return CallDelta(id, index, name, None, message, choice, value=text)
        if text is not None and not isinstance(text, str):
            return CallDelta(id, index, name, None, message, choice, unread=True)
        return CallDelta(id, index, name, as_text(text), message, choice)
    if isinstance(custom := call.get("custom"), dict):
        name, text = as_text(custom.get("name")), as_text(custom.get("input"))
        return CallDelta(id, index, name, text, message, choice, free=True)
    return CallDelta(id, index, None, None, message, choice)
