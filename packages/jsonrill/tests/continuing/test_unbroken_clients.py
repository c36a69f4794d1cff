"""`unbroken` with the clients of providers, on connections that are cut."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import pytest

import jsonrill
from jsonrill.continuing import SoFar
from jsonrill.testing import Answer, Call, Upstream

anthropic = pytest.importorskip("anthropic")
genai = pytest.importorskip("google.genai")
openai = pytest.importorskip("openai")

pytestmark = pytest.mark.filterwarnings("ignore:Inheritance class AiohttpClientSession")
VALUE = {"city": "Zürich ☂", "days": [1, 2.5], "note": 'to the "sea" and back'}
TEXT = json.dumps(VALUE, ensure_ascii=False)


def chat(url: str, stack: ExitStack, so_far: SoFar | None) -> Any:
    client = stack.enter_context(openai.OpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0))
    messages = so_far.messages("A trip", "openai") if so_far else [{"role": "user", "content": "A"}]
    return client.chat.completions.create(model="any", messages=messages, stream=True)


def responses(url: str, stack: ExitStack, so_far: SoFar | None) -> Any:
    client = stack.enter_context(openai.OpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0))
    asked = so_far.messages("A trip", "responses") if so_far else "A trip"
    return client.responses.create(model="any", input=asked, stream=True)


def messages(url: str, stack: ExitStack, so_far: SoFar | None) -> Any:
    client = stack.enter_context(anthropic.Anthropic(base_url=url, api_key="none", max_retries=0))
    asked = so_far.messages("A", "anthropic") if so_far else [{"role": "user", "content": "A"}]
    return client.messages.create(model="any", messages=asked, max_tokens=99, stream=True)


def gemini(url: str, stack: ExitStack, so_far: SoFar | None) -> Any:
    client = stack.enter_context(genai.Client(api_key="none", http_options={"base_url": url}))
    asked = so_far.messages("A trip", "gemini") if so_far else "A trip"
    return client.models.generate_content_stream(model="any", contents=asked)


CLIENTS = [chat, responses, messages, gemini]
Asks = Callable[[str, ExitStack, SoFar | None], Any]


class CutOff:
    """A provider whose first answer is cut, and which then goes on after what has arrived."""

    def __init__(self, ending: Any, after: int) -> None:
        self.answers = [Answer(TEXT, pace=0, ending=ending, after=after)]
        self.reasons: list[str] = []

    def __call__(self, exchange: Any) -> Answer:
        return self.answers[-1]

    def goes_on(self, so_far: SoFar | None, *, strips: bool) -> None:
        if so_far is not None:
            known = so_far.text.rstrip() if strips else so_far.text
            self.answers.append(Answer(TEXT[len(known) :], pace=0))
            self.reasons.append(so_far.reason)


@pytest.mark.parametrize("ending", ["cut", "reset", "length"])
@pytest.mark.parametrize("asks", CLIENTS)
def test_a_text_goes_on(asks: Asks, ending: str) -> None:
    provider = CutOff(ending, 4)
    with Upstream(provider) as upstream, ExitStack() as stack:

        def ask(so_far: SoFar | None) -> Any:
            provider.goes_on(so_far, strips=asks is messages)
            return asks(upstream.url, stack, so_far)

        answer = jsonrill.Answer()
        *_, value = jsonrill.values(jsonrill.unbroken(ask, backoff=0), answer=answer)
    assert value == VALUE
    assert provider.reasons == answer.breaks == ["length" if ending == "length" else "lost"]


@pytest.mark.parametrize("asks", [chat, responses, messages])
def test_the_arguments_of_a_call_go_on(asks: Asks) -> None:
    call = Call("plan", VALUE)
    answers = [
        Answer(calls=[call], pace=0),
        Answer(calls=[call], pace=0, ending="reset", after=4),
    ]
    with Upstream(lambda exchange: answers.pop()) as upstream, ExitStack() as stack:
        source = jsonrill.unbroken(lambda so_far: asks(upstream.url, stack, so_far), backoff=0)
        calls = jsonrill.ToolCalls()
        [*jsonrill.tool_calls(source, calls=calls)]
    assert [(it.name, it.args, it.status) for it in calls.calls] == [("plan", VALUE, "complete")]


def test_an_async_client_and_another_provider_for_the_rest() -> None:
    provider = CutOff("reset", 4)

    async def main(url: str) -> Any:
        async with (
            openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0) as first,
            anthropic.AsyncAnthropic(base_url=url, api_key="none", max_retries=0) as second,
        ):

            async def ask(so_far: SoFar | None) -> Any:
                provider.goes_on(so_far, strips=True)
                if so_far is None:
                    return await first.responses.create(model="any", input="A", stream=True)
                asked = so_far.messages("A", "anthropic")
                return await second.messages.create(
                    model="any", messages=asked, max_tokens=99, stream=True
                )

            values = jsonrill.values(jsonrill.unbroken(ask, backoff=0))
            return [value async for value in values][-1]

    with Upstream(provider) as upstream:
        assert asyncio.run(main(upstream.url)) == VALUE
