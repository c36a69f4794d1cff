"""LlamaIndex: responses of `stream_chat` and `stream_complete`, and the events of its agents.

Each has the new text in `delta` and, in `raw`, the event of the provider. If that is known it says
everything; if not, the calls are those of the agent's own events.
"""

from __future__ import annotations

from typing import Any

from . import anthropic, gemini, openai_chat, openai_responses
from .fields import as_id, as_object, as_text, items
from .statements import CallDelta, End, Finish, Reasoning, Result, Statement, Text, Translate

TYPES = (
    *("ChatResponse", "CompletionResponse", "AgentStream", "AgentOutput", "AgentInput"),
    *("ToolCall", "ToolCallResult", "AgentSetup", "StopEvent", "AgentStreamStructuredOutput"),
)


def accepts(event: dict[str, Any]) -> bool:
    kind = event.get("type")
    if isinstance(kind, str):
        return kind in TYPES
    blocks = as_object(event.get("message")).get("blocks")
    return "delta" in event and ("current_agent_name" in event or isinstance(blocks, list))


class LlamaIndex:
    """Translates events; has a translation of the provider's events in them."""

    def __init__(self) -> None:
        self._pages: list[tuple[Any, Translate]] = [
            (openai_chat.accepts, openai_chat.ChatReader()),
            (openai_responses.accepts, openai_responses.ResponsesReader()),
            (anthropic.accepts, anthropic.translate),
            (gemini.accepts, gemini.translate),
        ]
        # The ids of calls that have come.
        self._known: set[str] = set()
        self._has_text = False

    def __call__(self, event: dict[str, Any]) -> list[Statement]:
        id = as_id(event.get("tool_id"))
        if id is not None:
            return self._tool(id, event)
        if "delta" not in event:
            calls = items(event.get("tool_calls"))
            return [one for call in calls for one in self._tool(as_id(call.get("tool_id")), call)]
        raw = event.get("raw")
        if isinstance(raw, dict):
            for accepts, translate in self._pages:
                if accepts(raw):
                    return [*map(self._noted, translate(raw))]
        statements: list[Statement] = []
        if thought := as_text(event.get("thinking_delta")):
            statements.append(Reasoning(thought))
        if text := as_text(event.get("delta")):
            statements.append(Text(text))
        return statements

    def _noted(self, statement: Statement) -> Statement:
        if isinstance(statement, CallDelta) and statement.id is not None:
            self._known.add(statement.id)
        if isinstance(statement, Finish):
            statement.last = False
        return statement

    def _tool(self, id: str | None, event: dict[str, Any]) -> list[Statement]:
        statements: list[Statement] = []
        if id not in self._known and id is not None:
            self._known.add(id)
            end = End(value=as_object(event.get("tool_kwargs")))
            statements.append(CallDelta(id, None, as_text(event.get("tool_name")), end=end))
        if isinstance(output := event.get("tool_output"), dict):
            content = as_text(output.get("content")) or output.get("raw_output")
            if content is None:
                blocks = items(output.get("blocks"))
                content = "".join([as_text(block.get("text")) or "" for block in blocks])
            statements.append(Result(id, content, output.get("is_error") is True))
        return statements
