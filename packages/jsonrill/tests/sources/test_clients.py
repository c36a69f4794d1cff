"""The unmodified clients of the providers as sources, on loopback: sync, async, raw and helpers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, ExitStack
from typing import Any

import pytest

import jsonrill
from jsonrill.testing import Call, FakeAnswer, Upstream
from support import few
from support.streams import collect

openai = pytest.importorskip("openai")
anthropic = pytest.importorskip("anthropic")

TEXT = '{"title": "Storm \\u00e9", "tags": ["weather", "north"], "score": 7.5}'
VALUE = {"title": "Storm é", "tags": ["weather", "north"], "score": 7.5}
CALLS = [Call("weather", {"city": "Zürich"}), Call("other", {}), Call("weather", {"city": "Oslo"})]
ASK: Any = [{"role": "user", "content": "hello"}]
CHAT: Any = {"model": "any", "messages": ASK}
INPUT: Any = {"model": "any", "input": "hello"}
MESSAGES: Any = {"model": "any", "messages": ASK, "max_tokens": 99}


def _openai(url: str) -> Any:
    return openai.OpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0)


def _anthropic(url: str) -> Any:
    return anthropic.Anthropic(base_url=url, api_key="none", max_retries=0)


def _async_openai(url: str) -> Any:
    return openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0)


def _async_anthropic(url: str) -> Any:
    return anthropic.AsyncAnthropic(base_url=url, api_key="none", max_retries=0)


# How each stream is opened: the client, and what its request returns. A helper is a context.
CLIENTS: dict[str, tuple[Callable[[str], Any], Callable[[Any], Any]]] = {
    "chat": (_openai, lambda item: item.chat.completions.create(**CHAT, stream=True)),
    "chat_helper": (_openai, lambda item: item.chat.completions.stream(**CHAT)),
    "chat_raw": (
        _openai,
        lambda item: item.chat.completions.with_streaming_response.create(**CHAT, stream=True),
    ),
    "chat_legacy": (
        _openai,
        lambda item: item.chat.completions.with_raw_response.create(**CHAT, stream=True),
    ),
    "responses": (_openai, lambda item: item.responses.create(**INPUT, stream=True)),
    "responses_helper": (_openai, lambda item: item.responses.stream(**INPUT)),
    "messages": (_anthropic, lambda item: item.messages.create(**MESSAGES, stream=True)),
    "messages_helper": (_anthropic, lambda item: item.messages.stream(**MESSAGES)),
    "async_chat": (_async_openai, lambda item: item.chat.completions.create(**CHAT, stream=True)),
    "async_chat_helper": (_async_openai, lambda item: item.chat.completions.stream(**CHAT)),
    "async_responses": (_async_openai, lambda item: item.responses.create(**INPUT, stream=True)),
    "async_responses_helper": (_async_openai, lambda item: item.responses.stream(**INPUT)),
    "async_messages": (
        _async_anthropic,
        lambda item: item.messages.create(**MESSAGES, stream=True),
    ),
    "async_messages_helper": (_async_anthropic, lambda item: item.messages.stream(**MESSAGES)),
}
every_client = pytest.mark.parametrize("client", CLIENTS)


def read(name: str, upstream: Upstream, use: Callable[[Any], Any]) -> tuple[list[Any], Any]:
    """Return everything that `use` yields of the client's stream, and the error that ended it."""
    make, request = CLIENTS[name]
    if not name.startswith("async_"):
        with ExitStack() as stack:
            stream = request(stack.enter_context(make(upstream.url)))
            is_context = name.endswith(("_helper", "_raw"))
            return collect(use(stack.enter_context(stream) if is_context else stream))

    async def run() -> tuple[list[Any], Any]:
        items: list[Any] = []
        try:
            async with AsyncExitStack() as stack:
                stream = request(await stack.enter_async_context(make(upstream.url)))
                is_context = name.endswith("_helper")
                stream = await (stack.enter_async_context(stream) if is_context else stream)
                async for item in use(stream):
                    items.append(item)
        except Exception as error:
            return items, error
        return items, None

    return asyncio.run(run())


@few(6)
@every_client
def test_every_function_reads_the_answer(client: str) -> None:
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
def test_every_function_reads_the_arguments_of_a_tool(client: str) -> None:
    with Upstream(FakeAnswer("Looking.", calls=CALLS, pace=0)) as upstream:
        values, error = read(client, upstream, lambda item: jsonrill.values(item, tool="weather"))
        assert error is None
        assert values.index({"city": "Zürich"}) < len(values) - 1 and values[-1] == {"city": "Oslo"}
        values, error = read(client, upstream, lambda item: jsonrill.values(item, tool="other"))
        assert (values, error) == ([{}], None)
        calls, error = read(client, upstream, jsonrill.tool_calls)
        assert error is None
        names = [item.call.name for item in calls if item.status == "complete"]
        assert names == ["weather", "other", "weather"]


@few(6)
@every_client
def test_calls_without_text_are_not_silence(client: str) -> None:
    with Upstream(FakeAnswer(calls=CALLS, pace=0)) as upstream:
        values, error = read(client, upstream, jsonrill.values)
        assert values == [] and type(error) is jsonrill.errors.UnknownSource
        assert "tool='weather'" in str(error)


@few(6)
@every_client
def test_a_break_closes_the_connection(client: str) -> None:
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
        assert upstream.exchanges[0].sent < 250


@few(6)
@every_client
def test_the_errors_of_a_client_pass_unchanged(client: str) -> None:
    """A connection that breaks; an error that the provider reports is the client's, too."""
    with Upstream(FakeAnswer(TEXT, ending="break", after=3, pace=0.02)) as upstream:
        values, error = read(client, upstream, jsonrill.values)
        assert error is not None and not isinstance(error, jsonrill.JsonrillError)
        assert values
    with Upstream(FakeAnswer(TEXT, ending="error", after=3, pace=0.02)) as upstream:
        values, error = read(client, upstream, jsonrill.values)
        assert error is not None and not isinstance(error, jsonrill.Truncated)


def test_the_text_stream_of_a_helper_is_text() -> None:
    with Upstream(FakeAnswer(TEXT, pace=0)) as upstream:
        with _anthropic(upstream.url) as client, client.messages.stream(**MESSAGES) as stream:
            assert list(jsonrill.values(stream.text_stream))[-1] == VALUE


# A manager of the SDK has a coroutine, which it awaits when it is entered.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("name", [item for item in CLIENTS if item.endswith(("_helper", "_raw"))])
def test_managers_are_refused_with_the_remedy(name: str) -> None:
    make, request = CLIENTS[name]
    word = "async with" if name.startswith("async_") else "with"
    with pytest.raises(TypeError, match=f"`{word} .* as stream:`"):
        jsonrill.values(request(make("http://localhost:9")))


def test_a_coroutine_is_refused_with_the_remedy() -> None:
    create = _async_openai("http://localhost:9").chat.completions.create
    for function in (jsonrill.values, jsonrill.tool_calls, jsonrill.content):
        with pytest.raises(TypeError, match="await"):
            function(create(**CHAT, stream=True))
