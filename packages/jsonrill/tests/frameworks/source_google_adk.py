"""Google ADK: real runs of an agent, with a model that answers from a list."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

import pytest
from google.adk.agents import LlmAgent
from google.adk.agents.run_config import RunConfig, StreamingMode
from google.adk.models import BaseLlm, LlmResponse
from google.adk.runners import InMemoryRunner
from google.genai import types

from frameworks import BOTH, TEXT, calls_of, gathered, results_of, text_of


def weather(city: str, days: int) -> str:
    """The weather."""
    return f"rain in {city}"


def ping(n: int) -> str:
    """A ping."""
    return "pong"


def content(*parts: types.Part) -> types.Content:
    return types.Content(role="model", parts=list(parts))


class Scripted(BaseLlm):
    """Calls both tools, then says the text: in pieces and as a whole, as Gemini does in ADK."""

    turn: int = 0

    async def generate_content_async(
        self, llm_request: Any, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        self.turn += 1
        if self.turn == 1:
            calls = [types.FunctionCall(name=name, args=args) for name, args, _ in BOTH]
            parts = [types.Part(function_call=call) for call in calls]
            yield LlmResponse(content=content(*parts), finish_reason=types.FinishReason.STOP)
            return
        if stream:
            for at in range(0, len(TEXT), 4):
                piece = types.Part(text=TEXT[at : at + 4])
                yield LlmResponse(content=content(piece), partial=True)
        yield LlmResponse(
            content=content(types.Part(text=TEXT)), finish_reason=types.FinishReason.STOP
        )


async def run(mode: StreamingMode) -> list[Any]:
    agent = LlmAgent(name="a", model=Scripted(model="any"), tools=[weather, ping])
    runner = InMemoryRunner(agent=agent, app_name="app")
    session = await runner.session_service.create_session(app_name="app", user_id="u")
    asked = types.Content(role="user", parts=[types.Part(text="hi")])
    return await gathered(
        runner.run_async(
            user_id="u",
            session_id=session.id,
            new_message=asked,
            run_config=RunConfig(streaming_mode=mode),
        )
    )


@pytest.mark.parametrize("mode", [StreamingMode.SSE, StreamingMode.NONE])
def test_a_run_with_tools(mode: StreamingMode) -> None:
    events = asyncio.run(run(mode))
    for read in (events, [event.model_dump_json(exclude_none=True) for event in events]):
        assert text_of(read) == TEXT
        assert calls_of(read) == BOTH
        assert results_of(read) == {
            "weather": {"result": "rain in São Paulo"},
            "ping": {"result": "pong"},
        }
