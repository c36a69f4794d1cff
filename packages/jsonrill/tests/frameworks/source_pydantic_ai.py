"""Pydantic AI: real runs of an agent against a fake upstream."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from openai import AsyncOpenAI
from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.models.test import TestModel
from pydantic_ai.providers.openai import OpenAIProvider

from frameworks import BOTH, CALLED, SPOKEN, TEXT, calls_of, gathered, results_of, text_of
from jsonrill.testing import Upstream


def agent(model: Any) -> Agent:
    assistant = Agent(model)

    @assistant.tool_plain
    def weather(city: str, days: int) -> str:
        return f"rain in {city}"

    @assistant.tool_plain
    def ping(n: int) -> str:
        return "pong"

    return assistant


async def run(upstream: Upstream, kind: Any) -> list[Any]:
    async with AsyncOpenAI(base_url=f"{upstream.url}/v1", api_key="none") as client:
        model = kind("any", provider=OpenAIProvider(openai_client=client))
        async with agent(model).run_stream_events("hi") as events:
            return await gathered(events)


@pytest.mark.parametrize("kind", [OpenAIChatModel, OpenAIResponsesModel])
def test_a_run_with_tools(kind: Any) -> None:
    with Upstream(CALLED, SPOKEN) as upstream:
        events = asyncio.run(run(upstream, kind))
    assert text_of(events) == TEXT
    assert calls_of(events) == BOTH
    assert results_of(events) == {"weather": "rain in São Paulo", "ping": "pong"}


def test_its_own_model_for_tests() -> None:
    async def main() -> list[Any]:
        async with agent(TestModel()).run_stream_events("hi") as events:
            return await gathered(events)

    events = asyncio.run(main())
    assert [name for name, *_ in calls_of(events)] == ["weather", "ping"]
    assert text_of(events) == '{"weather":"rain in a","ping":"pong"}'
