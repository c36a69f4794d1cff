"""Streams that went wrong, as they are pasted: of several providers, each in another way.

The tests of the page look at them, and so does whoever looks at its pictures.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple


class Broken(NamedTuple):
    """What is pasted; what the page then says, what its tree shows, and what is marked."""

    text: str
    state: str
    problem: str
    tree: dict[str, str] | None = None
    mark: str = ""


def sse(*events: dict[str, Any], done: bool = False) -> str:
    """The events as server-sent events, with names where they have a type."""
    lines = [
        (f"event: {event['type']}\n" if "type" in event else "") + f"data: {json.dumps(event)}\n\n"
        for event in events
    ]
    return "".join([*lines, *(["data: [DONE]\n\n"] if done else [])])


def chat(text: str, finish: str | None, **delta: Any) -> str:
    """OpenAI chat events of a text in small pieces."""
    pieces = [{"content": text[at : at + 6]} for at in range(0, len(text), 6)]
    choices = [{"index": 0, "delta": one} for one in (*pieces, *([delta] if delta else []))]
    ends = [{"index": 0, "delta": {}, "finish_reason": finish}] if finish else []
    events = [{"object": "chat.completion.chunk", "choices": [it]} for it in (*choices, *ends)]
    return sse(*events, done=finish is not None)


def anthropic(stop: str, *deltas: dict[str, Any], block: dict[str, Any]) -> str:
    message = {"id": "m", "type": "message", "role": "assistant", "content": []}
    return sse(
        {"type": "message_start", "message": message},
        {"type": "content_block_start", "index": 0, "content_block": block},
        *({"type": "content_block_delta", "index": 0, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": stop}, "usage": {"output_tokens": 64}},
        {"type": "message_stop"},
    )


def gemini(*texts: str, finish: str) -> str:
    parts: list[dict[str, Any]] = [
        {"content": {"role": "model", "parts": [{"text": text}]}} for text in texts
    ]
    last = {**parts.pop(), "finishReason": finish}
    return sse(*({"candidates": [{"index": 0, **part}]} for part in (*parts, last)))


RESPONSES = sse(
    {"type": "response.created", "response": {"id": "r", "status": "in_progress"}},
    {
        "type": "response.output_text.delta",
        "item_id": "i",
        "output_index": 0,
        "content_index": 0,
        "delta": '{"steps": ["boil", ',
    },
    {
        "type": "response.failed",
        "response": {
            "id": "r",
            "status": "failed",
            "error": {"code": "server_error", "message": "The model crashed."},
        },
    },
)
OVERLOADED = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
QUOTA = {"error": {"code": 429, "message": "Quota exceeded.", "status": "RESOURCE_EXHAUSTED"}}
TOOL = {"type": "tool_use", "id": "t", "name": "book_berth", "input": {}}
CUT_CALL = {"type": "input_json_delta", "partial_json": '{"boat": {"name": "Kit'}
CALL = {"index": 0, "id": "c", "type": "function"}
WRONG_CALL = {**CALL, "function": {"name": "get_weather", "arguments": "{'city': 'Oslo', days: 3}"}}

BROKEN = {
    "openai-length": Broken(
        chat('{"title": "Sto', "length"),
        "Cut off (length)",
        "The model stopped at its token limit. Line 1, column 15 in root.title: the text ends here,"
        " but the end of the string is missing.",
        {"title": "Sto"},
        mark="end of text",
    ),
    "openai-invalid": Broken(
        chat('{"a": 1, "b": oops}', "stop"),
        "Invalid at character 15",
        "Line 1, column 15 in root.b: a value is expected, but there is 'o'.",
        {"a": "1"},
        mark="o",
    ),
    "openai-fenced": Broken(
        chat('```json\n{"title": "Storm"}\n```', "stop"),
        "Invalid at character 1",
        "Line 1, column 1: a value is expected, but there is a back-tick.",
        {},
        mark="`",
    ),
    "openai-words": Broken(
        chat('Here is the JSON:\n\n{"title": "Storm"}\n\nAnything else?', "stop"),
        "Invalid at character 1",
        "Line 1, column 1: a value is expected, but there is 'H'.",
        {},
        mark="H",
    ),
    "openai-refusal": Broken(
        chat("", "stop", refusal="I cannot help with that."),
        "Refused",
        "The model refused to answer: I cannot help with that.",
    ),
    "openai-call": Broken(
        chat("", "tool_calls", tool_calls=[WRONG_CALL]),
        "Invalid arguments of get_weather",
        "Line 1, column 2: a key or '}' is expected, but there is a single quote.",
    ),
    "responses-failed": Broken(
        RESPONSES,
        "Failed at the provider",
        "The provider reported an error: The model crashed.",
        {"0": "boil"},
        mark="end of text",
    ),
    "anthropic-overloaded": Broken(
        sse(OVERLOADED),
        "Failed at the provider",
        "The provider reported an error: Overloaded.",
    ),
    "anthropic-call": Broken(
        anthropic("max_tokens", CUT_CALL, block=TOOL),
        "Cut off (length)",
        "The model stopped at its token limit.",
    ),
    "gemini-safety": Broken(
        gemini('{"name": "Anna", ', '"bio": "Born', finish="SAFETY"),
        "Cut off (content filter)",
        "A content filter stopped the answer. Line 1, column 30 in root.bio: the text ends here,"
        " but the end of the string is missing.",
        {"name": "Anna", "bio": "Born"},
        mark="end of text",
    ),
    "gemini-quota": Broken(
        json.dumps(QUOTA, indent=2),
        "Failed at the provider",
        "The provider reported an error: Quota exceeded.",
    ),
    "openai-lost": Broken(
        chat('{"city": "Rome", "days": [{"n"', None),
        "Cut off (no end)",
        "The stream ended before the answer did. Line 1, column 31 in root.days[0].n: the text ends"
        " here, but ':' is missing.",
        {"city": "Rome"},
        mark="end of text",
    ),
}
