"""Mistral: chat completions, mostly with whole calls in one chunk, and conversations.

Text comes as a string or as chunks of text and of thoughts, in chat completions as a list of them.
Its client fills in the id "null" and the index 0 where the server sent none, so that an index 0
without an id says nothing. Its client for JavaScript writes the names of fields in camelCase.
"""

from __future__ import annotations

from typing import Any

from . import openai_chat
from .common import as_usage, failed
from .fields import as_id, as_index, as_text, either, typed
from .statements import Begin, CallDelta, Finish, Statement

# Its chat completions look like OpenAI's, and are recognised as such.
accepts = typed("function.call.", "conversation.response.", "message.output.", "tool.execution.")


def translate(event: dict[str, Any]) -> list[Statement]:
    index = as_index(either(event, "output_index", "outputIndex"))
    match event:
        case {"choices": _}:
            statements = openai_chat.translate(event, as_id(event.get("id")))
            return [_distrust(one) for one in statements]
        case {"type": "function.call.delta"}:
            arguments = event.get("arguments")
            call = CallDelta(
                id=as_id(either(event, "tool_call_id", "toolCallId")),
                index=index,
                name=as_text(event.get("name")),
                text=as_text(arguments),
            )
            if isinstance(arguments, dict):
                call.value = arguments
            return [call]
        case {"type": "message.output.delta", "content": content}:
            return openai_chat.content(content, 0, index)
        case {"type": "conversation.response.started"}:
            return [Begin()]
        case {"type": "conversation.response.done"}:
            return [*as_usage(event.get("usage")), Finish(last=True)]
        case {"type": "conversation.response.error"}:
            return [failed(event)]
        case _:
            return []


def _distrust(statement: Statement) -> Statement:
    if isinstance(statement, CallDelta) and statement.id is None and statement.index == 0:
        statement.index = None
    return statement
