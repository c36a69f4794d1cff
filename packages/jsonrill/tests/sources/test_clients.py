"""The unmodified clients of the providers as sources, on loopback: sync, async, raw and helpers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterator
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager
from typing import Any

import pytest

import jsonrill
from jsonrill.testing import Call, FakeAnswer, Upstream
from support import few
from support.streams import collect

openai = pytest.importorskip("openai")
anthropic = pytest.importorskip("anthropic")
genai = pytest.importorskip("google.genai")

# google-genai's own, when it is first used with aiohttp.
pytestmark = pytest.mark.filterwarnings("ignore:Inheritance class AiohttpClientSession")

TEXT = '{"title": "Storm \\u00e9", "tags": ["weather", "north"], "score": 7.5}'
VALUE = {"title": "Storm é", "tags": ["weather", "north"], "score": 7.5}
CALLS = [Call("weather", {"city": "Zürich"}), Call("other", {}), Call("weather", {"city": "Oslo"})]
ASK: Any = [{"role": "user", "content": "hello"}]
CHAT: Any = {"model": "any", "messages": ASK}
INPUT: Any = {"model": "any", "input": "hello"}
MESSAGES: Any = {"model": "any", "messages": ASK, "max_tokens": 99}
CONTENTS: Any = {"model": "any", "contents": "hello"}


def _openai(url: str) -> Any:
    return openai.OpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0)


def _anthropic(url: str) -> Any:
    return anthropic.Anthropic(base_url=url, api_key="none", max_retries=0)


def _genai(url: str) -> Any:
    return genai.Client(api_key="none", http_options={"base_url": url})


# Each opens a stream at an upstream; leaving the context closes the client.
@contextmanager
def chat(url: str) -> Iterator[Any]:
    with _openai(url) as client:
        yield client.chat.completions.create(**CHAT, stream=True)


@contextmanager
def chat_helper(url: str) -> Iterator[Any]:
    with _openai(url) as client, client.chat.completions.stream(**CHAT) as stream:
        yield stream


@contextmanager
def chat_raw_response(url: str) -> Iterator[Any]:
    with _openai(url) as client:
        create = client.chat.completions.with_streaming_response.create
        with create(**CHAT, stream=True) as response:
            yield response


@contextmanager
def chat_legacy_response(url: str) -> Iterator[Any]:
    with _openai(url) as client:
        yield client.chat.completions.with_raw_response.create(**CHAT, stream=True)


@contextmanager
def responses(url: str) -> Iterator[Any]:
    with _openai(url) as client:
        yield client.responses.create(**INPUT, stream=True)


@contextmanager
def responses_helper(url: str) -> Iterator[Any]:
    with _openai(url) as client, client.responses.stream(**INPUT) as stream:
        yield stream


@contextmanager
def messages(url: str) -> Iterator[Any]:
    with _anthropic(url) as client:
        yield client.messages.create(**MESSAGES, stream=True)


@contextmanager
def messages_helper(url: str) -> Iterator[Any]:
    with _anthropic(url) as client, client.messages.stream(**MESSAGES) as stream:
        yield stream


@asynccontextmanager
async def async_chat(url: str) -> AsyncIterator[Any]:
    async with openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0) as client:
        yield await client.chat.completions.create(**CHAT, stream=True)


@asynccontextmanager
async def async_chat_helper(url: str) -> AsyncIterator[Any]:
    async with openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0) as client:
        async with client.chat.completions.stream(**CHAT) as stream:
            yield stream


@asynccontextmanager
async def async_responses(url: str) -> AsyncIterator[Any]:
    async with openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0) as client:
        yield await client.responses.create(**INPUT, stream=True)


@asynccontextmanager
async def async_responses_helper(url: str) -> AsyncIterator[Any]:
    async with openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0) as client:
        async with client.responses.stream(**INPUT) as stream:
            yield stream


@asynccontextmanager
async def async_messages(url: str) -> AsyncIterator[Any]:
    async with anthropic.AsyncAnthropic(base_url=url, api_key="none", max_retries=0) as client:
        yield await client.messages.create(**MESSAGES, stream=True)


@asynccontextmanager
async def async_messages_helper(url: str) -> AsyncIterator[Any]:
    async with anthropic.AsyncAnthropic(base_url=url, api_key="none", max_retries=0) as client:
        async with client.messages.stream(**MESSAGES) as stream:
            yield stream


CLIENTS: list[Any] = [
    *(chat, chat_helper, chat_raw_response, chat_legacy_response, responses, responses_helper),
    *(messages, messages_helper),
    *(async_chat, async_chat_helper, async_responses, async_responses_helper),
    *(async_messages, async_messages_helper),
]
every_client = pytest.mark.parametrize("client", CLIENTS, ids=lambda it: it.__name__)


def read(client: Any, upstream: Upstream, use: Callable[[Any], Any]) -> tuple[list[Any], Any]:
    """All that `use` yields of the client's stream, and the error that ended it."""
    if isinstance(client(upstream.url), AbstractContextManager):
        with client(upstream.url) as stream:
            return collect(use(stream))

    async def run() -> tuple[list[Any], Any]:
        items: list[Any] = []
        try:
            async with client(upstream.url) as stream:
                async for item in use(stream):
                    items.append(item)
        except Exception as error:
            return items, error
        return items, None

    return asyncio.run(run())


@few(6)
@every_client
def test_every_function_reads_the_answer(client: Any) -> None:
    with Upstream(FakeAnswer(TEXT, reasoning="{not this", pace=0)) as upstream:
        values, error = read(client, upstream, jsonrill.values)
        assert error is None and values[-1] == VALUE and len(values) > 8
        texts, error = read(client, upstream, jsonrill.content)
        assert (error, "".join(texts)) == (None, TEXT)
        updates, error = read(client, upstream, jsonrill.updates)
        assert (error, updates[-1].data) == (None, VALUE)
        fragments, error = read(client, upstream, jsonrill.fragments)
        assert (error, fragments[-1].kind) == (None, "JsonComplete")


@few(6)
@every_client
def test_every_function_reads_the_arguments_of_a_tool(client: Any) -> None:
    with Upstream(FakeAnswer("Looking.", calls=CALLS, pace=0)) as upstream:
        values, error = read(client, upstream, lambda it: jsonrill.values(it, tool="weather"))
        assert error is None
        assert values.index({"city": "Zürich"}) < len(values) - 1 and values[-1] == {"city": "Oslo"}
        values, error = read(client, upstream, lambda it: jsonrill.values(it, tool="other"))
        assert (values, error) == ([{}], None)
        calls, error = read(client, upstream, jsonrill.tool_calls)
        assert error is None
        names = [it.call.name for it in calls if it.status == "complete"]
        assert names == ["weather", "other", "weather"]


@few(6)
@every_client
def test_calls_without_text_are_not_silence(client: Any) -> None:
    with Upstream(FakeAnswer(calls=CALLS, pace=0)) as upstream:
        values, error = read(client, upstream, jsonrill.values)
        assert values == [] and type(error) is jsonrill.errors.UnknownSource
        assert "tool='weather'" in str(error)


@few(6)
@every_client
def test_a_break_closes_the_connection(client: Any) -> None:
    with Upstream(FakeAnswer('["' + "abc " * 500 + '"]')) as upstream:

        def first(stream: Any) -> Any:
            values = jsonrill.values(stream)

            def sync() -> Iterator[Any]:
                for value in values:
                    yield value
                    break
                values.close()
                assert upstream.exchanges[0].left.wait(60)

            async def leave() -> AsyncIterator[Any]:
                async for value in values:
                    yield value
                    break
                await values.aclose()
                # Still inside of the client's own context, which would close it, too.
                assert await asyncio.to_thread(upstream.exchanges[0].left.wait, 10)

            return leave() if isinstance(values, AsyncIterable) else sync()

        items, error = read(client, upstream, first)
        assert (len(items), error) == (1, None)
        assert upstream.exchanges[0].left.wait(60)
        assert upstream.exchanges[0].tokens < 250


@few(6)
@every_client
def test_the_errors_of_a_client_pass_unchanged(client: Any) -> None:
    """A connection that breaks; an error that the provider reports is the client's, too."""
    with Upstream(FakeAnswer(TEXT, ending="reset", after=3, pace=0.02)) as upstream:
        values, error = read(client, upstream, jsonrill.values)
        assert error is not None and not isinstance(error, jsonrill.JsonrillError)
        assert values
    with Upstream(FakeAnswer(TEXT, ending="error", after=3, pace=0.02)) as upstream:
        values, error = read(client, upstream, jsonrill.values)
        assert error is not None and not isinstance(error, jsonrill.Truncated)


def test_the_text_stream_of_a_helper_is_text() -> None:
    with Upstream(FakeAnswer(TEXT, pace=0)) as upstream:
        with messages_helper(upstream.url) as stream:
            assert list(jsonrill.values(stream.text_stream))[-1] == VALUE


# A manager of the SDK has a coroutine, which it awaits when it is entered.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_managers_and_coroutines_are_refused_with_the_remedy() -> None:
    url = "http://localhost:9"
    with _openai(url) as client, _anthropic(url) as other:
        _check_managers(client, other, url)


def _check_managers(client: Any, other: Any, url: str) -> None:
    managers = [
        client.chat.completions.stream(**CHAT),
        client.responses.stream(**INPUT),
        client.chat.completions.with_streaming_response.create(**CHAT, stream=True),
        other.messages.stream(**MESSAGES),
    ]
    asynchronous = openai.AsyncOpenAI(base_url=url, api_key="none")
    async_managers = [
        asynchronous.chat.completions.stream(**CHAT),
        anthropic.AsyncAnthropic(base_url=url, api_key="none").messages.stream(**MESSAGES),
    ]
    for manager in managers:
        with pytest.raises(TypeError, match="`with .* as stream:`"):
            jsonrill.values(manager)
    for manager in async_managers:
        with pytest.raises(TypeError, match="`async with .* as stream:`"):
            jsonrill.updates(manager)
    for function in (jsonrill.values, jsonrill.tool_calls, jsonrill.content):
        coroutine = asynchronous.chat.completions.create(**CHAT, stream=True)
        with pytest.raises(TypeError, match="await"):
            function(coroutine)
