"""Google ADK: events of an agent's run, with the content that Gemini sends.

With streaming, `partial` events carry the pieces of a text, and an event that is not partial says
all of it again. Calls are complete; their results come in events, too.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from . import gemini
from .fields import as_id, as_object, as_text, either, items
from .finish import finish_reason
from .statements import (
    CallDelta,
    End,
    Reasoning,
    Result,
    Statement,
    Text,
    as_usage,
    failed,
    finished,
)


def accepts(event: dict[str, Any]) -> bool:
    named = isinstance(either(event, "invocationId", "invocation_id"), str)
    return named and isinstance(event.get("author"), str)


class GoogleADK:
    """Translates events; remembers what was streamed, by author."""

    def __init__(self) -> None:
        self._streamed: set[str] = set()

    def __call__(self, event: dict[str, Any]) -> list[Statement]:
        author = str(event.get("author"))
        if author == "user":
            return []
        partial, message = event.get("partial") is True, as_id(event.get("id"))
        statements: list[Statement] = []
        for part in items(as_object(event.get("content")).get("parts")):
            if isinstance(response := either(part, "functionResponse", "function_response"), dict):
                statements.append(Result(as_id(response.get("id")), response.get("response")))
                continue
            for one in gemini.part_statements(part, message, 0):
                if isinstance(one, Text | Reasoning):
                    if partial or author not in self._streamed:
                        statements.append(one)
                elif isinstance(one, CallDelta):
                    # Those of a partial event are said again.
                    statements += [] if partial else [_complete(one)]
        if partial and any(isinstance(one, Text | Reasoning) for one in statements):
            self._streamed.add(author)
        elif not partial:
            self._streamed.discard(author)
            statements += _end(event, message)
        return statements


def _complete(call: CallDelta) -> CallDelta:
    call.end = call.end or End()
    return call


def _end(event: dict[str, Any], message: str | None) -> list[Statement]:
    statements = as_usage(either(event, "usageMetadata", "usage_metadata"))
    error = as_text(either(event, "errorMessage", "error_message"))
    code = as_text(either(event, "errorCode", "error_code"))
    reason = either(event, "finishReason", "finish_reason")
    if event.get("interrupted") is True:
        reason = "interrupted"
    if error or code:
        # The code of an answer without content is Gemini's finish reason.
        known = next((it for it in (reason, code) if finish_reason(it) in _STOPPED), None)
        end = failed(error or code, last=False) if known is None else finished(known)
        statements.append(replace(end, message=message, detail=error or end.detail))
    elif reason is not None:
        statements.append(finished(reason, message))
    return statements


_STOPPED: Final = ("length", "filtered", "refused")
