"""Ollama: its real client against a scripted upstream."""

from __future__ import annotations

import json
from typing import Any

from ollama import Client

from frameworks import BOTH, TEXT, calls_of, last_value, text_of
from jsonrill.testing import Script, Upstream
from support.answer_streams import SHAPES
from support.provider_streams import Made, in_a_row, ollama

MADE = [Made("", name, json.dumps(args)) for name, args, _ in BOTH]


def lines(events: list[Any]) -> Script:
    steps = [json.dumps(event).encode() + b"\n" for event in events]
    return Script(steps, 200, {"content-type": "application/x-ndjson"})


def said(name: str) -> list[Any]:
    shape = SHAPES[name]
    pieces = [shape.text(TEXT[at : at + 4]) for at in range(0, len(TEXT), 4)]
    assert shape.thought is not None
    return [shape.thought("hm"), *pieces, *shape.ends["complete"]]


def test_generate() -> None:
    with Upstream(lines(said("ollama_generate"))) as upstream:
        events = [*Client(upstream.url).generate("any", "hi", stream=True)]
    assert text_of(events) == TEXT
    assert last_value(events) == json.loads(TEXT)


def test_chat() -> None:
    shape = [
        event | {"message": {"role": "assistant", **event["message"]}}
        for event in said("ollama_chat")
    ]
    calls = ollama(MADE, in_a_row(MADE))
    with Upstream(lines(shape), lines(calls)) as upstream:
        client = Client(upstream.url)
        assert text_of(client.chat("any", [], stream=True)) == TEXT
        assert calls_of(client.chat("any", [], stream=True)) == BOTH
