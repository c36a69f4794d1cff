"""The parts of real clients' streams are what their accumulators and plain answers say."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest

from jsonrill import Part, ToolCall, parts, run_tools
from jsonrill.testing import Call, Exchange, FakeAnswer, Upstream

anthropic = pytest.importorskip("anthropic")
genai = pytest.importorskip("google.genai")
mistral = pytest.importorskip("mistralai.client")
openai = pytest.importorskip("openai")

CALLS = [
    Call("weather", {"city": "São Paulo ☂", "days": 3}),
    Call("search", {"q": 'a "b"\n', "tags": ["x", {"y": None}]}),
    Call("ping", {}),
]
ANSWER = FakeAnswer("Let me look: é ☂ 😀.", reasoning="Hm, which?", calls=CALLS, pace=0)
ASKED: list[Any] = [{"role": "user", "content": "hello"}]
Joined = tuple[str, str, list[tuple[str | None, Any]]]


@pytest.fixture
def upstream() -> Iterator[Upstream]:
    with Upstream(ANSWER) as running:
        yield running


def joined(all_parts: list[Part]) -> Joined:
    """Text, reasoning and calls of an answer, each joined from its deltas."""

    def deltas(kind: str) -> str:
        return "".join(part.delta for part in all_parts if part.kind == kind)

    calls: dict[str, ToolCall] = {part.call.id: part.call for part in all_parts if part.call}
    assert all(call.status == "complete" for call in calls.values())
    return deltas("text"), deltas("reasoning"), [(it.name, it.args) for it in calls.values()]


def chat(client: Any) -> dict[str, Any]:
    return {"model": "any", "messages": ASKED}


def test_openai_chat(upstream: Upstream) -> None:
    with openai.OpenAI(base_url=f"{upstream.url}/v1", api_key="none") as client:
        asked = chat(client)
        streamed = joined([*parts(client.chat.completions.create(**asked, stream=True))])
        with client.chat.completions.stream(**asked) as stream:
            helper = [*parts(stream)]
            whole = stream.get_final_completion().choices[0].message
        plain = client.chat.completions.create(**asked).choices[0].message
    assert joined(helper) == streamed
    for message in (whole, plain):
        calls = [(it.function.name, json.loads(it.function.arguments)) for it in message.tool_calls]
        assert streamed[0] == message.content and streamed[2] == calls


def test_openai_responses(upstream: Upstream) -> None:
    with openai.OpenAI(base_url=f"{upstream.url}/v1", api_key="none") as client:
        asked: dict[str, Any] = {"model": "any", "input": ASKED}
        streamed = joined([*parts(client.responses.create(**asked, stream=True))])
        with client.responses.stream(**asked) as stream:
            helper = [*parts(stream)]
            whole = stream.get_final_response()
        plain = client.responses.create(**asked)
    assert joined(helper) == streamed
    for response in (whole, plain):
        items = [it for it in response.output if it.type == "function_call"]
        assert streamed[0] == response.output_text
        assert streamed[2] == [(it.name, json.loads(it.arguments)) for it in items]


def test_anthropic(upstream: Upstream) -> None:
    with anthropic.Anthropic(base_url=upstream.url, api_key="none") as client:
        asked = {**chat(client), "max_tokens": 9}
        streamed = joined([*parts(client.messages.create(**asked, stream=True))])
        with client.messages.stream(**asked) as stream:
            helper = [*parts(stream)]
            whole = stream.get_final_message()
        plain = client.messages.create(**asked)
    assert joined(helper) == streamed
    for message in (whole, plain):
        by_kind: dict[str, list[Any]] = {}
        for block in message.content:
            by_kind.setdefault(block.type, []).append(block)
        assert streamed == (
            "".join(block.text for block in by_kind["text"]),
            "".join(block.thinking for block in by_kind["thinking"]),
            [(block.name, block.input) for block in by_kind["tool_use"]],
        )


def test_gemini(upstream: Upstream) -> None:
    asked: dict[str, Any] = {"model": "any", "contents": "hello"}
    with genai.Client(api_key="none", http_options={"base_url": upstream.url}) as client:
        streamed = joined([*parts(client.models.generate_content_stream(**asked))])
        plain = client.models.generate_content(**asked).candidates[0].content.parts
    assert streamed == (
        "".join(part.text for part in plain if part.text and not part.thought),
        "".join(part.text for part in plain if part.thought),
        [
            (part.function_call.name, part.function_call.args)
            for part in plain
            if part.function_call
        ],
    )


def test_mistral(upstream: Upstream) -> None:
    with mistral.Mistral(api_key="none", server_url=upstream.url) as client:
        with client.chat.stream(**chat(client)) as stream:
            streamed = joined([*parts(stream)])
        message = client.chat.complete(**chat(client)).choices[0].message
    calls = [(it.function.name, it.function.arguments) for it in message.tool_calls]
    assert streamed[2] == [(name, json.loads(text)) for name, text in calls]
    text = message.content
    if not isinstance(text, str):
        text = "".join(chunk.text for chunk in text if chunk.type == "text")
    assert streamed[0] == text


def test_async_clients(upstream: Upstream) -> None:
    async def main() -> list[Joined]:
        answers = []
        async with openai.AsyncOpenAI(base_url=f"{upstream.url}/v1", api_key="none") as client:
            stream = await client.chat.completions.create(**chat(client), stream=True)
            answers.append(joined([part async for part in parts(stream)]))
        async with anthropic.AsyncAnthropic(base_url=upstream.url, api_key="none") as client:
            async with client.messages.stream(**chat(client), max_tokens=9) as stream:
                answers.append(joined([part async for part in parts(stream)]))
        return answers

    assert asyncio.run(main()) == [(ANSWER.text, ANSWER.reasoning, _MEANT)] * 2


_MEANT = [(call.name, call.arguments) for call in CALLS]


# ---- the next turn, sent to an upstream that refuses what providers refuse ----


def refused(exchange: Exchange) -> str | None:
    """Why a provider would refuse this request: calls and results that do not match, or a thought
    without its signature."""
    body = exchange.json
    if exchange.target.endswith("/chat/completions"):
        called = [c["id"] for m in body["messages"] for c in m.get("tool_calls") or ()]
        answered = [m["tool_call_id"] for m in body["messages"] if m["role"] == "tool"]
    elif exchange.target.endswith("/responses"):
        items = body["input"]
        called = [it["call_id"] for it in items if it.get("type") == "function_call"]
        answered = [it["call_id"] for it in items if it.get("type") == "function_call_output"]
        if any(it.get("type") == "reasoning" and not it.get("id") for it in items):
            return "reasoning without its item"
    elif exchange.target.endswith("/messages"):
        blocks = [
            b for m in body["messages"] if isinstance(m["content"], list) for b in m["content"]
        ]
        called = [b["id"] for b in blocks if b["type"] == "tool_use"]
        answered = [b["tool_use_id"] for b in blocks if b["type"] == "tool_result"]
        if any(b["type"] == "thinking" and not b.get("signature") for b in blocks):
            return "thinking without its signature"
    else:
        content_parts = [part for content in body["contents"] for part in content["parts"]]
        called = [p["functionCall"]["name"] for p in content_parts if "functionCall" in p]
        answered = [p["functionResponse"]["name"] for p in content_parts if "functionResponse" in p]
    if called != answered or not called:
        return f"called {called}, answered {answered}"
    return None


def second(exchange: Exchange) -> FakeAnswer:
    why = refused(exchange)
    return FakeAnswer("Done.", pace=0) if why is None else FakeAnswer(why, status=400)


def tools() -> dict[str, Any]:
    async def weather(city: str, days: int) -> dict[str, Any]:
        return {"city": city, "days": days}

    def search(q: str, tags: list[Any]) -> str:
        raise LookupError("nothing")

    return {"weather": weather, "search": search, "ping": lambda: None}


def finished(running: Any) -> list[Any]:
    for _ in running:
        pass
    turn = running.messages()
    assert turn
    return turn  # type: ignore[no-any-return]


def text_of(all_parts: Any) -> str:
    return "".join(part.delta for part in all_parts if part.kind == "text")


def test_the_next_turn_is_accepted() -> None:
    with Upstream(ANSWER, second) as upstream:
        with openai.OpenAI(base_url=f"{upstream.url}/v1", api_key="none") as client:
            asked = chat(client)
            stream = client.chat.completions.create(**asked, stream=True)
            turn = ASKED + finished(run_tools(stream, tools()))
            again = client.chat.completions.create(model="any", messages=turn, stream=True)
            assert text_of(parts(again)) == "Done."
    with Upstream(ANSWER, second) as upstream:
        with openai.OpenAI(base_url=f"{upstream.url}/v1", api_key="none") as client:
            stream = client.responses.create(model="any", input=ASKED, stream=True)
            turn = ASKED + finished(run_tools(stream, tools()))
            again = client.responses.create(model="any", input=turn, stream=True)
            assert text_of(parts(again)) == "Done."
    with Upstream(ANSWER, second) as upstream:
        with anthropic.Anthropic(base_url=upstream.url, api_key="none") as client:
            asked = {**chat(client), "max_tokens": 9}
            stream = client.messages.create(**asked, stream=True)
            turn = ASKED + finished(run_tools(stream, tools()))
            again = client.messages.create(model="any", max_tokens=9, messages=turn, stream=True)
            assert text_of(parts(again)) == "Done."
    with Upstream(ANSWER, second) as upstream:
        first = [{"role": "user", "parts": [{"text": "hello"}]}]
        with genai.Client(api_key="none", http_options={"base_url": upstream.url}) as client:
            stream = client.models.generate_content_stream(model="any", contents=first)
            turn = first + finished(run_tools(stream, tools()))
            again = client.models.generate_content_stream(model="any", contents=turn)
            assert text_of(parts(again)) == "Done."
