"""Events that differ from the one before in their text alone are read as if all of them were."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest

from jsonrill import tool_calls, values
from jsonrill.providers import Reader
from jsonrill.providers.statements import Text

TEXTS = [
    "a",
    "ab",
    'say "hi"',
    "back\\slash",
    "\\",
    "\n\t",
    "é",
    "日本",
    "😀",
    "\ud83d",
    "",
    " ",
    "null",
]
TEXTS += ["1", "}]", '"}', "content", "<any other text>", "\u2028", "\x7f", "call_1"]


def chunk(delta: Any, **fields: Any) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": None}
    return {"id": "c1", "object": "chat.completion.chunk", "choices": [choice], **fields}


def openai(chance: Random) -> dict[str, Any]:
    text = chance.choice(TEXTS)
    function: dict[str, Any] = {"arguments": text}
    call: dict[str, Any] = {"index": chance.randrange(2), "function": function}
    kinds = [chunk({"content": text})] * 6 + [chunk({"tool_calls": [call]})] * 6
    kinds += [chunk({"content": text, "note": text}), chunk({"reasoning_content": text})]
    kinds += [chunk({"content": text}, obfuscation=chance.choice(TEXTS)), chunk({"refusal": text})]
    kinds += [chunk({"content": text}, id=chance.choice(("c1", "c2"))), chunk({"role": text})]
    kinds += [chunk({"tool_calls": [{**call, "id": text}]}), chunk({text: "a"})]
    kinds += [chunk({"tool_calls": [{**call, "function": {**function, "name": text}}]})]
    kinds += [chunk({"content": None}, usage={"total_tokens": 3}), {"error": {"message": text}}]
    return chance.choice(kinds)


def anthropic(chance: Random) -> dict[str, Any]:
    text = chance.choice(TEXTS)
    kinds = [{"type": "text_delta", "text": text}] * 4
    kinds += [{"type": "input_json_delta", "partial_json": text}] * 4
    kinds += [{"type": "thinking_delta", "thinking": text}, {"type": text}]
    delta = chance.choice(kinds)
    return {"type": "content_block_delta", "index": chance.randrange(2), "delta": delta}


@pytest.mark.parametrize("make", [openai, anthropic])
@pytest.mark.parametrize("ensure_ascii", [True, False])
def test_repeated_events_say_what_they_say_alone(make: Any, ensure_ascii: bool) -> None:
    chance = Random(7)
    for _ in range(300):
        as_text, as_dicts = Reader(), Reader()
        event = make(chance)
        for _ in range(30):
            if chance.random() < 0.3:
                event = make(chance)
            else:
                event = replaced(event, chance.choice(TEXTS))
            text = json.dumps(event, ensure_ascii=ensure_ascii)
            assert [*as_text.feed(text)] == [*as_dicts.feed(json.loads(text))]


def replaced(value: Any, text: str) -> Any:
    """The event with another text in its innermost place."""
    if isinstance(value, dict):
        key = next(
            (key for key in ("choices", "delta", "tool_calls", "function") if key in value), None
        )
        if key is not None:
            return {**value, key: replaced(value[key], text)}
        names = ("content", "arguments", "text", "partial_json", "refusal")
        return {key: text if key in names else item for key, item in value.items()}
    return [replaced(item, text) for item in value] if isinstance(value, list) else value


@pytest.mark.parametrize(
    "event", ['{"choices":[{"delta":{"content":"a\tb"}}]}', '{"choices":[{"delta":{"content":"a"']
)
def test_what_is_no_json_after_such_events_says_nothing(event: str) -> None:
    reader = Reader()
    for word in ("one", "two", "three"):
        (text,) = reader.feed(
            json.dumps({"choices": [{"delta": {"content": word}}]}, separators=(",", ":"))
        )
        assert text == Text(word)
    assert [*reader.feed(event)] == []


def test_streams_of_such_events_are_read_through_the_functions() -> None:
    text = json.dumps({"a": ["\\n", "日本", '"', 1.5], "b": "x" * 50})
    cut = [text[at : at + 3] for at in range(0, len(text), 3)]
    answers = [chunk({"content": piece}) for piece in cut]
    function = {"id": "t", "index": 0, "function": {"name": "f", "arguments": ""}}
    calls = [chunk({"tool_calls": [function]})]
    calls += [chunk({"tool_calls": [{"index": 0, "function": {"arguments": it}}]}) for it in cut]
    end = {"id": "c1", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}

    def sent(events: list[dict[str, Any]]) -> list[bytes]:
        return [f"data: {json.dumps(event)}\n\n".encode() for event in [*events, end]]

    *_, value = values(sent(answers), sse=True)
    *_, update = tool_calls(sent(calls))
    assert value == update.call.args == json.loads(text)
