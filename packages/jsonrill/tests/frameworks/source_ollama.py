"""Ollama: its real client against a scripted upstream."""

from __future__ import annotations

import json
from typing import Any

from ollama import Client

from frameworks import BOTH, calls_of, last_value, text_of
from jsonrill.testing import Script, Upstream
from support.provider_streams import ANSWERS, Made, in_a_row, ollama

CALLS = [Made("", name, json.dumps(args)) for name, args, _ in BOTH]


def lines(events: list[Any]) -> Script:
    steps = [json.dumps(event).encode() + b"\n" for event in events]
    return Script(steps, 200, {"content-type": "application/x-ndjson"})


def test_generate() -> None:
    answer = ANSWERS["ollama_generate-complete"]
    with Upstream(lines(answer.events)) as upstream:
        events = [*Client(upstream.url).generate("any", "hi", stream=True)]
    assert text_of(events) == answer.text
    assert last_value(events) == json.loads(answer.text)


def test_chat() -> None:
    answer = ANSWERS["ollama_chat-complete"]
    events = [
        event | {"message": {"role": "assistant", **event["message"]}} for event in answer.events
    ]
    calls = ollama(CALLS, in_a_row(CALLS))
    with Upstream(lines(events), lines(calls)) as upstream:
        client = Client(upstream.url)
        assert text_of(client.chat("any", [], stream=True)) == answer.text
        assert calls_of(client.chat("any", [], stream=True)) == BOTH
