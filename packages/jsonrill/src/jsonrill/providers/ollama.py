"""Ollama's own API: `/api/chat` and `/api/generate`, one JSON object a line.

Text and thoughts come in pieces, calls complete in one event, mostly without an id. (Its OpenAI
endpoint sends chat completions.)
"""

from __future__ import annotations

from typing import Any

from .fields import as_id, as_index, as_object, as_text, failed, finished, items
from .statements import Begin, CallDelta, End, Finish, Reasoning, Statement, Text, Usage

COUNTS = ("prompt_eval_count", "eval_count", "total_duration", "eval_duration")


def accepts(event: dict[str, Any]) -> bool:
    return isinstance(event.get("done"), bool) and (
        isinstance(event.get("message"), dict) or isinstance(event.get("response"), str)
    )


class Translation:
    """Translates events. They do not name responses, so the first event after an end begins one."""

    def __init__(self) -> None:
        self._is_open = False

    def __call__(self, event: dict[str, Any]) -> list[Statement]:
        statements = _statements(event)
        if not statements and not accepts(event):
            return statements  # an event of another provider
        if not self._is_open:
            statements.insert(0, Begin())
        self._is_open = not isinstance(statements[-1], Finish) if statements else True
        return statements


def _statements(event: dict[str, Any]) -> list[Statement]:
    if error := event.get("error"):
        return [failed(error)]
    statements: list[Statement] = []
    message = as_object(event, "message")
    if thought := as_text(message, "thinking") or as_text(event, "thinking"):
        statements.append(Reasoning(thought))
    if text := as_text(message, "content") or as_text(event, "response"):
        statements.append(Text(text))
    for call in items(message, "tool_calls"):
        function = as_object(call, "function")
        arguments = function.get("arguments")
        end = End(text=arguments) if isinstance(arguments, str) else End(value=arguments or {})
        id, index = as_id(call, "id"), as_index(function, "index")
        statements.append(CallDelta(id, index, as_text(function, "name"), end=end))
    if event.get("done") is True:
        if counts := {name: event[name] for name in COUNTS if event.get(name) is not None}:
            statements.append(Usage(counts))
        statements.append(finished(event.get("done_reason")))
    return statements
