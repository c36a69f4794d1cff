"""The unmodified clients of the providers as the sources of runs: what is logged says the same."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import pytest

from jsonrill import parts
from jsonrill.testing import Call, FakeAnswer, Upstream
from jsonrill_server import Run, Runs
from support import SLACK
from support.provider_streams import STREAMS

openai = pytest.importorskip("openai")
anthropic = pytest.importorskip("anthropic")

pytestmark = pytest.mark.filterwarnings("ignore:Inheritance class AiohttpClientSession")
ANSWER = FakeAnswer(
    "It rains in Zürich.",
    reasoning="Hm.",
    calls=[Call("weather", {"city": "Zürich", "days": [1, 2]}), Call("other", {})],
)
ASK: Any = [{"role": "user", "content": "hello"}]


def chat(url: str, stack: ExitStack) -> Any:
    client = stack.enter_context(openai.OpenAI(base_url=f"{url}/v1", api_key="none"))
    return client.chat.completions.create(model="any", messages=ASK, stream=True)


def chat_helper(url: str, stack: ExitStack) -> Any:
    client = stack.enter_context(openai.OpenAI(base_url=f"{url}/v1", api_key="none"))
    return stack.enter_context(client.chat.completions.stream(model="any", messages=ASK))


async def chat_async(url: str, stack: ExitStack) -> Any:
    async with openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="none") as client:
        stream = await client.chat.completions.create(model="any", messages=ASK, stream=True)
        async for event in stream:
            yield event


def responses(url: str, stack: ExitStack) -> Any:
    client = stack.enter_context(openai.OpenAI(base_url=f"{url}/v1", api_key="none"))
    return client.responses.create(model="any", input="hello", stream=True)


def messages(url: str, stack: ExitStack) -> Any:
    client = stack.enter_context(anthropic.Anthropic(base_url=url, api_key="none"))
    return client.messages.create(model="any", messages=ASK, max_tokens=99, stream=True)


def messages_helper(url: str, stack: ExitStack) -> Any:
    client = stack.enter_context(anthropic.Anthropic(base_url=url, api_key="none"))
    return stack.enter_context(client.messages.stream(model="any", messages=ASK, max_tokens=99))


STREAMED: list[Callable[[str, ExitStack], Any]] = [
    *(chat, chat_helper, chat_async, responses, messages, messages_helper)
]


def logged(source: Callable[[], Any]) -> Run:
    async def main() -> Run:
        ended: asyncio.Future[Run] = asyncio.get_running_loop().create_future()

        async def on_end(run: Run) -> None:
            ended.set_result(run)

        async with asyncio.timeout(20 * SLACK), Runs() as runs:
            await runs.start("k", source, on_end=on_end)
            return await ended

    return asyncio.run(main())


@pytest.mark.parametrize("streamed", STREAMED)
def test_the_streams_of_clients_are_logged_as_what_they_say(streamed: Any) -> None:
    with Upstream(ANSWER) as upstream, ExitStack() as stack:
        run = logged(lambda: streamed(upstream.url, stack))
    assert (run.status, run.error) == ("complete", None)
    assert run.text == ANSWER.text
    assert [(call.name, call.args) for call in run.calls] == [
        ("weather", {"city": "Zürich", "days": [1, 2]}),
        ("other", {}),
    ]
    assert run.messages()


@pytest.mark.parametrize("name", STREAMS)
def test_events_of_every_provider_are_read_from_the_log_as_from_the_stream(name: str) -> None:
    events = STREAMS[name]
    run = logged(lambda: iter(events))
    assert run.events == events

    def shown(source: Any) -> list[Any]:
        return [(part.kind, part.index, part.delta, part.complete) for part in parts(source)]

    assert shown(run.events) == shown(events)
