"""LiteLLM: its real client against a fake upstream, for three providers."""

from __future__ import annotations

import json
from typing import Any

import litellm
import pytest

from frameworks import BOTH, CALLED, SPOKEN, TEXT, calls_of, last_value, text_of
from jsonrill.testing import Upstream


def ask(upstream: Upstream, model: str) -> Any:
    where = upstream.url if model.startswith("anthropic") else f"{upstream.url}/v1"
    return litellm.completion(
        model=model,
        messages=[{"role": "user", "content": "hi"}],
        api_base=where,
        api_key="none",
        stream=True,
        tools=[
            {"type": "function", "function": {"name": "weather", "parameters": {"type": "object"}}}
        ],
    )


@pytest.mark.parametrize("model", ["openai/gpt-4o", "anthropic/claude-sonnet-4-5"])
def test_completion(model: str) -> None:
    with Upstream(SPOKEN, CALLED) as upstream:
        events = [*ask(upstream, model)]
        assert text_of(events) == TEXT
        assert last_value(events) == json.loads(TEXT)
        assert calls_of(ask(upstream, model)) == BOTH
