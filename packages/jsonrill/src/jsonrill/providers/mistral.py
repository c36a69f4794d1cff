"""Mistral: chat completions, mostly with whole calls in one chunk, and conversations.

Text comes as a string or as chunks of text and of thoughts, in chat completions as a list of them.
Its client fills in the id "null" and the index 0 where the server sent none, so that an index 0
without an id says nothing. Its client for JavaScript writes the names of fields in camelCase.
"""

from __future__ import annotations

from typing import Any

from . import openai_chat
from .fields import as_id, as_index, as_text, failed, typed, usage
from .statements import Begin, CallDelta, Finish, Statement

# Its chat completions look like OpenAI's, and are recognised as such.
accepts = typed("function.call.", "conversation.response.", "message.output.", "tool.execution.")


def translate(event: dict[str, Any]) -> list[Statement]:
    index = as_index(event, "output_index", "outputIndex")
    match event:
        case {"choices": _}:
            statements = openai_chat.translate(event, as_id(event, "id"))
            for call in statements:
                if isinstance(call, CallDelta) and call.id is None and call.index == 0:
                    call.index = None
            return statements
        case {"type": "function.call.delta"}:
            id, name = as_id(event, "tool_call_id", "toolCallId"), as_text(event, "name")
            return [CallDelta(id, index, name).bring(event.get("arguments"))]
        case {"type": "message.output.delta", "content": content}:
            return openai_chat.content(content, 0, index)
        case {"type": "conversation.response.started"}:
            return [Begin()]
        case {"type": "conversation.response.done"}:
            return [*usage(event, "usage"), Finish()]
        case {"type": "conversation.response.error"}:
            return [failed(event)]
    return []
