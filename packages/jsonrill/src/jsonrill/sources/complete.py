"""Complete answers, which were not streamed: as the events of a stream that came in one go."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def events_of(answer: Any) -> list[Any] | None:
    """The events of a complete answer of a provider; None if it is no such answer."""
    if not isinstance(answer, dict):
        return None
    choices, content = objects_at(answer, "choices"), objects_at(answer, "content")
    if choices and all("message" in choice for choice in choices):
        return [{"choices": [*map(_chat_choice, choices)]}]
    if answer.get("object") == "response" and isinstance(answer.get("output"), list):
        return [*_responses_events(answer)]
    if answer.get("type") == "message" and isinstance(answer.get("content"), list):
        return [*_anthropic_events(content, answer.get("stop_reason"))]
    if objects_at(answer, "candidates"):
        return [answer]
    if answer.get("role") == "assistant" and ("content" in answer or "tool_calls" in answer):
        if any(block.get("type") == "tool_use" for block in content):
            return [*_anthropic_events(content, None)]
        return [{"choices": [_chat_choice({"message": answer})]}]
    return None


def refusal_of(answer: Any) -> str | None:
    """What a model said instead of an answer, as OpenAI's APIs report it; None if it answered."""
    if not isinstance(answer, dict):
        return None
    messages = [it["message"] for it in objects_at(answer, "choices")[:1] if "message" in it]
    for item in objects_at(answer, "output"):
        messages += objects_at(item, "content")
    objects = [it for it in messages if isinstance(it, dict)]
    if any(it.get("content") or it.get("text") for it in objects):
        return None
    refusals = [it["refusal"] for it in objects if isinstance(it.get("refusal"), str)]
    return "".join(refusals) or None


def objects_at(of: dict[str, Any], key: str) -> list[dict[str, Any]]:
    """The objects in a list; an empty one if there is no list of objects at this key."""
    value = of.get(key)
    good = isinstance(value, list) and all(isinstance(item, dict) for item in value)
    return value if good and isinstance(value, list) else []


def _chat_choice(choice: dict[str, Any]) -> dict[str, Any]:
    message = choice["message"] if isinstance(choice["message"], dict) else {}
    delta = {**message}
    if isinstance(message.get("content"), list):
        texts = [part.get("text") for part in objects_at(message, "content")]
        delta["content"] = "".join(text for text in texts if isinstance(text, str))
    calls = enumerate(objects_at(message, "tool_calls"))
    delta["tool_calls"] = [{"index": index, **call} for index, call in calls]
    end = choice.get("finish_reason") or "stop"
    return {"index": choice.get("index", 0), "delta": delta, "finish_reason": end}


def _responses_events(answer: dict[str, Any]) -> Iterator[Any]:
    for number, item in enumerate(objects_at(answer, "output")):
        for part in objects_at(item, "content") if item.get("type") == "message" else ():
            if isinstance(part.get("text"), str):
                event = {"output_index": number, "item_id": item.get("id"), "delta": part["text"]}
                yield {"type": "response.output_text.delta", "content_index": 0, **event}
        yield {"type": "response.output_item.done", "output_index": number, "item": item}
    status = answer.get("status")
    end = "incomplete" if status == "incomplete" else "completed"
    yield {"type": f"response.{end}", "response": answer}


def _anthropic_events(content: list[Any], reason: Any) -> Iterator[Any]:
    for number, block in enumerate(content):
        yield {"type": "content_block_start", "index": number, "content_block": block}
        yield {"type": "content_block_stop", "index": number}
    yield {"type": "message_delta", "delta": {"stop_reason": reason or "end_turn"}}
    yield {"type": "message_stop"}
