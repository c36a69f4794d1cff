"""What a model wrote, out of a provider's event: the text of its answer, not of its tool calls.

For logs whose answer is the JSON. Where the answer comes as the arguments of one tool call, as
function calling makes models do, the text of that first call is taken.
"""

from __future__ import annotations

from typing import Any


def content(event: dict[str, Any]) -> str:
    """The new text in one event; "" when it has none."""
    match event:
        case {"choices": [{"delta": {"content": str(text)}}, *_]} if text:
            return text
        case {
            "choices": [
                {"delta": {"tool_calls": [{"function": {"arguments": str(text)}} as call, *_]}},
                *_,
            ]
        }:
            return text if not call.get("index") else ""
        case {"choices": [{"delta": {"function_call": {"arguments": str(text)}}}, *_]}:
            return text
        case {"type": "response.output_text.delta", "delta": str(text)}:
            return text
        case {"type": "response.function_call_arguments.delta", "delta": str(text)}:
            return text if not event.get("output_index") else ""
        case {"delta": {"type": "text_delta", "text": str(text)}}:
            return text
        case {"delta": {"type": "input_json_delta", "partial_json": str(text)}}:
            return text
        case {"candidates": [{"content": {"parts": list(parts)}}, *_]}:
            texts = [part.get("text") for part in parts if isinstance(part, dict)]
            return "".join(text for text in texts if isinstance(text, str))
        case {"contentBlockDelta": {"delta": {"text": str(text)}}}:
            return text
        case {"contentBlockDelta": {"delta": {"toolUse": {"input": str(text)}}}}:
            return text
        case {"type": "text-delta" | "TEXT_MESSAGE_CONTENT", "delta": str(text)}:
            return text
        case {"type": "tool-input-delta", "inputTextDelta": str(text)}:
            return text
    return ""
