"""An agent that waits and goes on elsewhere, with the providers' own clients."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import pytest

from jsonrill import agent, tool, tool_specs
from jsonrill.testing import Call, FakeAnswer, Upstream
from support import few

Ask = Callable[[list[Any]], Any]
Connect = Callable[[str], AbstractContextManager[Ask]]


@tool(approve=True)
def book(city: str) -> str:
    return f"booked {city}"


def weather(city: str) -> str:
    return f"sun in {city}"


TOOLS = {"book": book, "weather": weather}


@contextmanager
def openai_chat(url: str) -> Iterator[Ask]:
    from openai import OpenAI

    with OpenAI(base_url=f"{url}/v1", api_key="none") as client:
        yield lambda messages: client.chat.completions.create(
            model="any", messages=messages, tools=tool_specs(TOOLS, "openai"), stream=True
        )


@contextmanager
def openai_responses(url: str) -> Iterator[Ask]:
    from openai import OpenAI

    with OpenAI(base_url=f"{url}/v1", api_key="none") as client:
        yield lambda messages: client.responses.create(
            model="any", input=messages, tools=tool_specs(TOOLS, "responses"), stream=True
        )


@contextmanager
def anthropic(url: str) -> Iterator[Ask]:
    from anthropic import Anthropic

    with Anthropic(base_url=url, api_key="none") as client:
        yield lambda messages: client.messages.create(
            model="any",
            max_tokens=100,
            messages=messages,
            tools=tool_specs(TOOLS, "anthropic"),
            stream=True,
        )


@contextmanager
def gemini(url: str) -> Iterator[Ask]:
    from google import genai

    with genai.Client(api_key="none", http_options={"base_url": url}) as client:
        yield lambda messages: client.models.generate_content_stream(
            model="any", contents=messages, config={"tools": tool_specs(TOOLS, "gemini")}
        )


@few(1)
@pytest.mark.parametrize("connect", [openai_chat, openai_responses, anthropic, gemini])
def test_a_state_goes_on_with_another_client(connect: Connect) -> None:
    calls = [Call("weather", {"city": "Rome"}, "w1"), Call("book", {"city": "Rome"}, "b1")]
    first, last = FakeAnswer("Look. ", "Hm.", calls, pace=0), FakeAnswer("Bye.", pace=0, id="2")
    user: dict[str, Any] = {"role": "user", "content": "Hello"}
    if connect is gemini:
        user = {"role": "user", "parts": [{"text": "Hello"}]}
    with Upstream(first, last) as upstream:
        with connect(upstream.url) as ask:
            waiting = agent(ask, TOOLS, messages=[user])
            list(waiting)
        state = json.loads(json.dumps(waiting.state()))
        with connect(upstream.url) as ask:
            again = agent(ask, TOOLS, state=state, decisions={"b1": True})
            list(again)
        asked = json.dumps(upstream.exchanges[-1].json)
    assert (waiting.outcome, again.outcome, again.text) == ("waiting", "complete", "Bye.")
    for text in ("Look. ", "sun in Rome", "booked Rome"):
        assert asked.count(text) == 1


def test_signatures_of_gemini_are_plain_json() -> None:
    """Its client has bytes there."""
    from google.genai.types import Content, GenerateContentResponse

    call = {"functionCall": {"name": "book", "args": {"city": "Rome"}}, "thoughtSignature": "c2ln"}
    content = {"role": "model", "parts": [call]}
    event = {"candidates": [{"content": content, "finishReason": "STOP"}]}
    running = agent(lambda _: [GenerateContentResponse.model_validate(event)], TOOLS)
    list(running)
    state = json.loads(json.dumps(running.state()))
    asked: list[Any] = []

    def ask(messages: list[Any]) -> list[Any]:
        asked.append(messages)
        part = {"content": {"role": "model", "parts": [{"text": "Bye"}]}, "finishReason": "STOP"}
        return [GenerateContentResponse.model_validate({"candidates": [part]})]

    [waiting] = running.waiting
    list(agent(ask, TOOLS, state=state, decisions={waiting.id: True}))
    [part] = Content.model_validate(asked[0][0]).parts or []
    assert part.thought_signature == b"sig"
