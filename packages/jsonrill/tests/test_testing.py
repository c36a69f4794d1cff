"""The fake provider, read by the real clients of OpenAI and Anthropic."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from anthropic import Anthropic
from openai import APIStatusError, OpenAI

from jsonrill import Answer, parts, run_tools, tool_calls, values
from jsonrill.testing import Call, FakeAnswer, Script, Upstream
from support import SLACK

MESSAGES: Any = [{"role": "user", "content": "hello"}]
ANSWER = FakeAnswer(
    "It rains.", reasoning="Let me see.", calls=[Call("weather", {"city": "Zürich"})], pace=0
)
PATHS = ("/v1/chat/completions", "/v1/responses", "/v1/messages")


def streams(upstream: Upstream) -> Iterator[Any]:
    url = upstream.url
    with OpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0) as client:
        yield client.chat.completions.create(model="any", messages=MESSAGES, stream=True)
        yield client.responses.create(model="any", input="hello", stream=True)
    with Anthropic(base_url=url, api_key="none", max_retries=0) as client:
        yield client.messages.create(model="any", max_tokens=9, messages=MESSAGES, stream=True)


def test_every_client_reads_text_reasoning_calls_and_usage() -> None:
    with Upstream(ANSWER) as upstream:
        for stream in streams(upstream):
            answer = Answer()
            found = [part for part in parts(stream, answer=answer) if part.complete]
            assert [(part.kind, part.value) for part in found] == [
                ("reasoning", "Let me see."),
                ("text", "It rains."),
                ("call", {"city": "Zürich"}),
            ]
            assert answer.finish == "calls"


def test_answers_that_are_not_streamed() -> None:
    for answer, has_reasoning in ((ANSWER, True), (FakeAnswer("Yes."), False)):
        with Upstream(answer) as upstream:
            bodies = [httpx.post(upstream.url + path, json={}).json() for path in PATHS]
        message = bodies[0]["choices"][0]["message"]
        assert ("reasoning_content" in message, "tool_calls" in message) == (has_reasoning,) * 2
        assert ("reasoning" in {item["type"] for item in bodies[1]["output"]}) == has_reasoning
        assert ("thinking" in {block["type"] for block in bodies[2]["content"]}) == has_reasoning


def test_interleaved_calls_of_a_real_client() -> None:
    def delta(index: int, text: str, **more: Any) -> dict[str, Any]:
        call = {"index": index, "function": {"arguments": text, **more}, "id": f"c{index}"}
        return {"id": "m", "choices": [{"index": 0, "delta": {"tool_calls": [call]}}]}

    events = [delta(0, '{"a":', name="f"), delta(1, '{"b":', name="g"), delta(0, "1}")]
    events += [delta(1, "2}"), {"id": "m", "choices": [{"index": 0, "finish_reason": "stop"}]}]
    with Upstream(Script.events([*events, "[DONE]"])) as upstream:
        opened = streams(upstream)
        stream = next(opened)
        calls = {update.call.id: update.call.args for update in tool_calls(stream)}
    assert calls == {"c0": {"a": 1}, "c1": {"b": 2}}


@pytest.mark.parametrize("ending", ["length", "cut", "error"])
@pytest.mark.parametrize("path", PATHS)
def test_a_fake_answer_may_end_early(path: str, ending: Any) -> None:
    short = FakeAnswer("It rains.", ending=ending, after=1)
    answer = Answer()
    try:
        found = list(parts(short.events(path), answer=answer))
    except Exception as error:
        assert ending == "error" and "Overloaded" in str(error)
        return
    assert "".join([part.delta for part in found]) == "It r"
    assert answer.finish == {"length": "length", "cut": "lost"}[ending]
    assert not any(part.complete for part in found)


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("after", [None, 1, 9])
@pytest.mark.parametrize("text", ["", "Hi"])
def test_a_cut_after_the_last_token_has_no_finish_reason(path: str, after: Any, text: str) -> None:
    answer = Answer()
    list(parts(FakeAnswer(text, ending="cut", after=after).events(path), answer=answer))
    assert answer.finish == "lost"


def test_a_connection_that_breaks_is_an_error_of_the_client() -> None:
    with Upstream(FakeAnswer("It rains.", ending="break", after=1, pace=0)) as upstream:
        with pytest.raises(Exception, match="closed|Connection"):
            [list(parts(stream)) for stream in streams(upstream)]


def test_a_fake_answer_may_be_an_error_status() -> None:
    with Upstream(FakeAnswer(status=429)) as upstream:
        with pytest.raises(APIStatusError, match="Overloaded"):
            next(streams(upstream))


def test_leaving_the_loop_ends_the_generation() -> None:
    with Upstream(FakeAnswer(json.dumps({"a": "x" * 4000}), pace=0.01)) as upstream:
        opened = streams(upstream)
        for _ in values(next(opened)):
            break
        [exchange] = upstream.exchanges
        assert exchange.left.wait(5 * SLACK) and exchange.sent < 900


def test_an_upstream_answers_with_its_scripts_in_order() -> None:
    with Upstream(Script.json({"a": 1}), Script([b"ab", 0.01], breaks=True)) as upstream:
        assert httpx.get(upstream.url).json() == {"a": 1}
        with pytest.raises(httpx.HTTPError):
            httpx.post(upstream.url, json={"b": 2})
    assert [exchange.json for exchange in upstream.exchanges] == [None, {"b": 2}]


@pytest.mark.parametrize("path", PATHS)
def test_half_a_call_never_runs(path: str) -> None:
    received: list[str] = []
    events = ANSWER.events(path)
    for end in range(len(events) + 1):
        list(run_tools(events[:end], {"weather": lambda city: received.append(city)}))
    assert set(received) == {"Zürich"}
