"""OpenAI Agents SDK: real runs against a fake upstream, over Responses and over chat."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from agents import (
    Agent,
    OpenAIChatCompletionsModel,
    OpenAIResponsesModel,
    Runner,
    function_tool,
    set_tracing_disabled,
)
from openai import AsyncOpenAI

from frameworks import BOTH, CALLED, SPOKEN, TEXT, calls_of, gathered, results_of, text_of
from jsonrill.testing import Upstream

set_tracing_disabled(True)


@function_tool
def weather(city: str, days: int) -> str:
    return f"rain in {city}"


@function_tool
def ping(n: int) -> str:
    return "pong"


async def run(upstream: Upstream, kind: Any) -> list[Any]:
    async with AsyncOpenAI(base_url=f"{upstream.url}/v1", api_key="none") as client:
        agent = Agent(
            name="a", model=kind(model="any", openai_client=client), tools=[weather, ping]
        )
        return await gathered(Runner.run_streamed(agent, "hi").stream_events())


@pytest.mark.parametrize("kind", [OpenAIResponsesModel, OpenAIChatCompletionsModel])
def test_a_run_with_tools(kind: Any) -> None:
    with Upstream(CALLED, SPOKEN) as upstream:
        events = asyncio.run(run(upstream, kind))
    assert text_of(events) == TEXT
    assert calls_of(events) == BOTH
    assert results_of(events) == {"weather": "rain in São Paulo", "ping": "pong"}


def test_items_alone() -> None:
    with Upstream(CALLED, SPOKEN) as upstream:
        events = asyncio.run(run(upstream, OpenAIResponsesModel))
    items = [event for event in events if event.type == "run_item_stream_event"]
    assert text_of(items) == TEXT
    assert calls_of(items) == BOTH
