"""The fake provider, with the providers' own clients, unmodified."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from typing import Any

import anthropic
import httpx
import httpx2
import openai
import pytest
from google import genai
from google.genai import errors as google_errors
from mistralai.client import Mistral
from mistralai.client.errors import MistralError

from jsonrill.testing import Call, FakeAnswer, Script, Upstream

TEXT = "It rains in Zürich, and will until Sunday."
REASONING = "They ask about the weather, so I look."
CALLS = [Call("weather", {"city": "Zürich", "days": 3}), Call("ping")]
ALL = FakeAnswer(TEXT, REASONING, CALLS, pace=0)
MESSAGES: list[Any] = [{"role": "user", "content": "hello"}]
# What an answer is: reasoning, text, calls as (name, arguments), and how it ended.
Seen = tuple[str, str, list[tuple[str, Any]], str]
EXPECTED = (REASONING, TEXT, [("weather", {"city": "Zürich", "days": 3}), ("ping", {})])


def an_openai(url: str) -> openai.OpenAI:
    return openai.OpenAI(api_key="none", base_url=f"{url}/v1", max_retries=0)


def an_anthropic(url: str) -> anthropic.Anthropic:
    return anthropic.Anthropic(api_key="none", base_url=url, max_retries=0)


def of_chat(message: Any, finish: str) -> Seen:
    calls = [
        (it.function.name, json.loads(it.function.arguments)) for it in message.tool_calls or []
    ]
    return getattr(message, "reasoning_content", ""), message.content or "", calls, finish


def chat_stream(url: str) -> Seen:
    with an_openai(url) as client:
        with client.chat.completions.stream(model="m", messages=MESSAGES) as stream:
            reasoning = "".join(
                getattr(event.chunk.choices[0].delta, "reasoning_content", "")
                for event in stream
                if event.type == "chunk" and event.chunk.choices
            )
            choice = stream.get_final_completion().choices[0]
    return reasoning, *of_chat(choice.message, choice.finish_reason)[1:]


def chat(url: str) -> Seen:
    with an_openai(url) as client:
        choice = client.chat.completions.create(model="m", messages=MESSAGES).choices[0]
    return of_chat(choice.message, choice.finish_reason)


def of_response(response: Any) -> Seen:
    reasoning, calls = "", []
    for item in response.output:
        if item.type == "reasoning":
            reasoning = item.summary[0].text
        elif item.type == "function_call":
            calls.append((item.name, json.loads(item.arguments)))
    return reasoning, response.output_text, calls, response.status


def responses_stream(url: str) -> Seen:
    text = ""
    with an_openai(url) as client:
        with client.responses.stream(model="m", input="hello") as stream:
            for event in stream:
                if event.type == "response.output_text.delta":
                    text += event.delta
                if event.type == "response.incomplete":
                    return of_response(event.response)
            final = of_response(stream.get_final_response())
    assert text == final[1]
    return final


def responses(url: str) -> Seen:
    with an_openai(url) as client:
        return of_response(client.responses.create(model="m", input="hello"))


def of_message(message: Any) -> Seen:
    reasoning, text, calls = "", "", []
    for block in message.content:
        if block.type == "thinking":
            reasoning = block.thinking
            assert block.signature
        elif block.type == "text":
            text = block.text
        else:
            calls.append((block.name, block.input))
    return reasoning, text, calls, message.stop_reason


def messages_stream(url: str) -> Seen:
    with an_anthropic(url) as client:
        with client.messages.stream(model="m", max_tokens=9, messages=MESSAGES) as stream:
            return of_message(stream.get_final_message())


def messages(url: str) -> Seen:
    with an_anthropic(url) as client:
        return of_message(client.messages.create(model="m", max_tokens=9, messages=MESSAGES))


def of_candidates(answers: list[Any]) -> Seen:
    parts = [part for answer in answers for part in answer.candidates[0].content.parts]
    reasoning = "".join(part.text for part in parts if part.thought)
    text = "".join(part.text for part in parts if part.text and not part.thought)
    calls = [part.function_call for part in parts if part.function_call]
    finish = answers[-1].candidates[0].finish_reason.value
    return reasoning, text, [(call.name, call.args or {}) for call in calls], finish


def a_gemini(url: str) -> genai.Client:
    return genai.Client(api_key="none", http_options={"base_url": url})


def gemini_stream(url: str) -> Seen:
    with a_gemini(url) as client:
        return of_candidates([*client.models.generate_content_stream(model="m", contents="hi")])


def gemini(url: str) -> Seen:
    with a_gemini(url) as client:
        return of_candidates([client.models.generate_content(model="m", contents="hi")])


def of_mistral(message: Any) -> tuple[str, str]:
    if isinstance(message.content, str):
        return "", message.content
    texts = {"thinking": "", "text": ""}
    for part in message.content or []:
        texts[part.type] += part.thinking[0].text if part.type == "thinking" else part.text
    return texts["thinking"], texts["text"]


def mistral_stream(url: str) -> Seen:
    reasoning, text, calls = "", "", []
    with Mistral(api_key="none", server_url=url) as client:
        for event in client.chat.stream(model="m", messages=MESSAGES):
            choice = event.data.choices[0]
            thought, piece = of_mistral(choice.delta)
            reasoning, text = reasoning + thought, text + piece
            for call in choice.delta.tool_calls or []:
                calls.append((call.function.name, json.loads(str(call.function.arguments))))
    return reasoning, text, calls, str(choice.finish_reason)


def mistral(url: str) -> Seen:
    with Mistral(api_key="none", server_url=url) as client:
        choice = client.chat.complete(model="m", messages=MESSAGES).choices[0]
    calls = [
        (call.function.name, json.loads(str(call.function.arguments)))
        for call in choice.message.tool_calls or []
    ]
    return *of_mistral(choice.message), calls, str(choice.finish_reason)


Ask = Callable[[str], Seen]
# Streamed, at once, and the words for: calls were made, it was said, it was stopped at a length.
CLIENTS: dict[str, tuple[Ask, Ask, str, str, str]] = {
    "chat": (chat_stream, chat, "tool_calls", "stop", "length"),
    "responses": (responses_stream, responses, "completed", "completed", "incomplete"),
    "messages": (messages_stream, messages, "tool_use", "end_turn", "max_tokens"),
    "gemini": (gemini_stream, gemini, "STOP", "STOP", "MAX_TOKENS"),
    "mistral": (mistral_stream, mistral, "tool_calls", "stop", "length"),
}
ERRORS = (
    *(openai.APIError, anthropic.APIError, google_errors.APIError, MistralError),
    *(httpx.HTTPError, httpx2.HTTPError),
    # What the helper for Responses raises where an answer has no end.
    RuntimeError,
)


@pytest.mark.parametrize("name", CLIENTS)
def test_clients_read_reasoning_text_and_parallel_calls_streamed_or_not(name: str) -> None:
    streamed, at_once, called, *_ = CLIENTS[name]
    with Upstream(ALL) as upstream:
        assert streamed(upstream.url) == (*EXPECTED, called)
        assert at_once(upstream.url) == (*EXPECTED, called)


@pytest.mark.parametrize("name", CLIENTS)
def test_clients_read_a_text_alone(name: str) -> None:
    streamed, at_once, _, finish, _ = CLIENTS[name]
    with Upstream(FakeAnswer(TEXT, pace=0)) as upstream:
        assert streamed(upstream.url) == ("", TEXT, [], finish)
        assert at_once(upstream.url) == ("", TEXT, [], finish)


@pytest.mark.parametrize("name", CLIENTS)
def test_an_answer_may_be_stopped_at_a_number_of_tokens(name: str) -> None:
    streamed, at_once, *_, stopped = CLIENTS[name]
    if name == "chat":  # its helper raises for this end
        streamed = at_once
    with Upstream(FakeAnswer(TEXT, pace=0, ending="length", after=3)) as upstream:
        assert streamed(upstream.url) == ("", TEXT[:12], [], stopped)
        assert at_once(upstream.url) == ("", TEXT[:12], [], stopped)


def test_arguments_may_be_stopped_in_their_middle() -> None:
    answer = FakeAnswer("", calls=CALLS, pace=0, ending="length", after=3)
    with Upstream(answer) as upstream, an_openai(upstream.url) as client:
        got: Any = client.chat.completions.create(model="m", messages=MESSAGES).choices[0].message
        assert [call.function.arguments for call in got.tool_calls or []] == [CALLS[0].text[:12]]
        assert messages(upstream.url)[2] == [("weather", {"city": "Zür"})]


@pytest.mark.parametrize("name", CLIENTS)
@pytest.mark.parametrize("ending", ["error", "reset"])
def test_clients_fail_in_the_middle(name: str, ending: Any) -> None:
    streamed, at_once, *_ = CLIENTS[name]
    with Upstream(FakeAnswer(TEXT, pace=0.001, ending=ending, after=3)) as upstream:
        with pytest.raises(ERRORS):
            streamed(upstream.url)
        assert upstream.exchanges[0].tokens == 3
        with pytest.raises(ERRORS):
            at_once(upstream.url)


@pytest.mark.parametrize("name", CLIENTS)
def test_clients_get_an_error_status_with_its_body_and_headers(name: str) -> None:
    for ask in CLIENTS[name][:2]:
        with Upstream(FakeAnswer(status=400, headers={"retry-after": "7"})) as upstream:
            with pytest.raises(ERRORS) as caught:
                ask(upstream.url)
            assert "Overloaded" in str(caught.value)


def test_a_token_is_one_event_at_the_pace_and_is_counted() -> None:
    with Upstream(FakeAnswer(TEXT, pace=0.02)) as upstream, an_openai(upstream.url) as client:
        begun = time.monotonic()
        stream = client.chat.completions.create(model="m", messages=MESSAGES, stream=True)
        texts = [chunk.choices[0].delta.content for chunk in stream]
        assert time.monotonic() - begun >= 0.02 * upstream.tokens
    tokens = [text for text in texts if text]
    assert upstream.tokens == len(tokens) == -(-len(TEXT) // 4) and "".join(tokens) == TEXT
    assert not upstream.exchanges[0].left.is_set()


@pytest.mark.parametrize("asynchronous", [False, True])
def test_the_upstream_notices_when_the_client_leaves(asynchronous: bool) -> None:
    answer = FakeAnswer("word " * 2000)
    with Upstream(answer) as upstream:
        if asynchronous:
            asyncio.run(leave(upstream.url))
        else:
            with an_openai(upstream.url) as client:
                with client.chat.completions.create(
                    model="m", messages=MESSAGES, stream=True
                ) as stream:
                    next(iter(stream))
        [exchange] = upstream.exchanges
        assert exchange.left.wait(60) and exchange.ended.wait(60)
        assert exchange.tokens < 500


async def leave(url: str) -> None:
    async with openai.AsyncOpenAI(api_key="none", base_url=f"{url}/v1") as client:
        stream = await client.chat.completions.create(model="m", messages=MESSAGES, stream=True)
        async for _ in stream:
            break
        await stream.close()


def test_an_answer_that_stalls_sends_its_tokens_and_nothing_more() -> None:
    with Upstream(FakeAnswer(TEXT, pace=0, ending="stall", after=2)) as upstream:
        with openai.OpenAI(
            api_key="none", base_url=f"{upstream.url}/v1", max_retries=0, timeout=0.5
        ) as client:
            stream = client.chat.completions.create(model="m", messages=MESSAGES, stream=True)
            with pytest.raises(Exception, match="timed out"):
                list(stream)
        assert upstream.exchanges[0].left.wait(60) and upstream.tokens == 2


def test_each_request_gets_its_reply_and_all_later_ones_the_last() -> None:
    limited = FakeAnswer(status=429, headers={"retry-after": "0"})
    with Upstream(limited, ALL, FakeAnswer("other", pace=0)) as upstream:
        with openai.OpenAI(api_key="none", base_url=f"{upstream.url}/v1") as client:
            ask = lambda: client.chat.completions.create(model="m", messages=MESSAGES)  # noqa: E731
            assert ask().choices[0].message.content == TEXT
            assert [ask().choices[0].message.content for _ in range(2)] == ["other"] * 2
    assert len(upstream.exchanges) == 4


def test_a_function_chooses_the_reply_by_the_request() -> None:
    with Upstream(
        lambda exchange: FakeAnswer(f"I am {exchange.json['model']}", pace=0)
    ) as upstream:
        assert chat(upstream.url)[1] == "I am m"
        assert upstream.exchanges[0].headers["authorization"] == "Bearer none"


def test_a_function_that_fails_fails_the_test() -> None:
    with pytest.raises(KeyError, match="nothing"):
        with Upstream(lambda exchange: exchange.json["nothing"]) as upstream:
            with pytest.raises(openai.InternalServerError):
                chat(upstream.url)


def test_a_path_that_no_provider_has_is_told() -> None:
    with Upstream(ALL) as upstream:
        with openai.OpenAI(api_key="none", base_url=f"{upstream.url}/v1") as client:
            with pytest.raises(openai.NotFoundError, match="/chat/completions"):
                client.embeddings.create(model="m", input="hello")


def test_usage_is_sent_when_it_is_asked_for() -> None:
    with Upstream(ALL) as upstream, an_openai(upstream.url) as client:
        stream = client.chat.completions.create(
            model="m", messages=MESSAGES, stream=True, stream_options={"include_usage": True}
        )
        last = [*stream][-1]
        assert last.usage and last.usage.completion_tokens == upstream.tokens


def test_after_is_for_other_endings() -> None:
    with pytest.raises(ValueError, match="ending"):
        FakeAnswer(TEXT, after=3)


def test_an_upstream_needs_a_reply() -> None:
    with pytest.raises(TypeError, match="Script"):
        Upstream()


def test_events_of_ones_own_are_framed() -> None:
    with Upstream(Script.events([{"type": "ping"}, "text"], done=True)) as upstream:
        got = httpx2.post(upstream.url, json={}, trust_env=False)
        assert got.text == 'event: ping\ndata: {"type":"ping"}\n\ndata: text\n\ndata: [DONE]\n\n'
        assert got.headers["content-type"] == "text/event-stream"


@pytest.mark.parametrize(
    "path",
    [
        "/v1/chat/completions",
        "/v1/responses",
        "/v1/messages",
        "/v1/m:streamGenerateContent?alt=sse",
    ],
)
def test_the_events_without_a_server_are_those_of_the_stream(path: str) -> None:
    steps = ALL.script(path, {"stream": True}).steps
    data = [step.partition(b"data: ")[2] for step in steps if isinstance(step, bytes)]
    sent = [json.loads(it) for it in data if it.strip() != b"[DONE]"]
    assert len(sent) > 10
    assert ALL.events(path) == sent


def test_events_of_a_path_that_no_provider_has() -> None:
    with pytest.raises(ValueError, match="/v1/nothing ends with none of /chat/completions"):
        ALL.events("/v1/nothing")
