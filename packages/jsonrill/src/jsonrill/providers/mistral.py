"""Mistral's conversations. Text comes as a string or as a chunk of text or of thoughts.

Its chat completions are read as those of OpenAI. Its client for JavaScript writes the names of
fields in camelCase.
"""

from __future__ import annotations

from typing import Any

from . import openai_chat
from .fields import as_id, as_index, as_text, failed, typed, usage
from .statements import Begin, CallDelta, Finish, Statement

accepts = typed("function.call.", "conversation.response.", "message.output.", "tool.execution.")


def translate(event: dict[str, Any]) -> list[Statement]:
    index = as_index(event, "output_index", "outputIndex")
    match event:
        case {"choices": _}:
            return openai_chat.translate(event, as_id(event, "id"))
        case {"type": "function.call.delta"}:
            id, name = as_id(event, "tool_call_id", "toolCallId"), as_text(event, "name")
            return [CallDelta(id, index, name).with_arguments(event.get("arguments"))]
        case {"type": "message.output.delta", "content": content}:
            return openai_chat.content(content, 0, index)
        case {"type": "conversation.response.started"}:
            return [Begin()]
        case {"type": "conversation.response.done"}:
            return [*usage(event, "usage"), Finish()]
        case {"type": "conversation.response.error"}:
            return [failed(event)]
    return []
