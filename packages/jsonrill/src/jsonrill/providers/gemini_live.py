"""Gemini Live: the messages of a session, with turns of the model and complete calls.

The transcription of a spoken answer is its text. A call that the server cancels (the user spoke)
has ended already, so that it stays complete.
"""

from __future__ import annotations

from typing import Any

from . import gemini
from .fields import as_object, as_text, either, items
from .statements import Begin, Finish, Statement, Text, as_usage, finished

MESSAGES = (
    *(("serverContent", "server_content"), ("toolCall", "tool_call")),
    *(("toolCallCancellation", "tool_call_cancellation"), ("setupComplete", "setup_complete")),
    ("sessionResumptionUpdate", "session_resumption_update"),
)


def accepts(event: dict[str, Any]) -> bool:
    return any(isinstance(either(event, *names), dict) for names in MESSAGES)


class GeminiLive:
    """Translates messages, which name no turn: what comes after the end of one begins one."""

    def __init__(self) -> None:
        self._is_open = False

    def __call__(self, event: dict[str, Any]) -> list[Statement]:
        statements = _statements(event)
        if any(isinstance(one, Finish) for one in statements):
            self._is_open = False
        elif not self._is_open:
            self._is_open = True
            statements.insert(0, Begin())
        return statements


def _statements(event: dict[str, Any]) -> list[Statement]:
    statements: list[Statement] = []
    content = as_object(either(event, "serverContent", "server_content"))
    turn = as_object(either(content, "modelTurn", "model_turn"))
    for part in items(turn.get("parts")):
        statements += gemini.part_statements(part, None, 0)
    spoken = as_object(either(content, "outputTranscription", "output_transcription"))
    if text := as_text(spoken.get("text")):
        statements.append(Text(text))
    calls = as_object(either(event, "toolCall", "tool_call"))
    for call in items(either(calls, "functionCalls", "function_calls")):
        statements += gemini.part_statements({"functionCall": call}, None, 0)
    statements += as_usage(either(event, "usageMetadata", "usage_metadata"))
    if content.get("interrupted") is True:
        statements.append(finished("interrupted"))
    elif either(content, "turnComplete", "turn_complete") is True:
        statements.append(Finish())
    return statements
