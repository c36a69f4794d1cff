"""`unbroken` with the clients of providers, on connections that are cut."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from contextlib import ExitStack
from functools import cache
from typing import Any

import pytest
from pydantic import TypeAdapter

import jsonrill
from jsonrill.continuing import SoFar
from jsonrill.testing import Call, FakeAnswer, Upstream
from support.provider_streams import call_stream

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
        self.answers = [FakeAnswer(TEXT, pace=0, ending=ending, after=after)]
        self.reasons: list[str] = []

    def __call__(self, exchange: Any) -> FakeAnswer:
        return self.answers[-1]

    def goes_on(self, so_far: SoFar | None, *, strips: bool) -> None:
        if so_far is not None:
            known = so_far.text.rstrip() if strips else so_far.text
            self.answers.append(FakeAnswer(TEXT[len(known) :], pace=0))
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
        FakeAnswer(calls=[call], pace=0),
        FakeAnswer(calls=[call], pace=0, ending="reset", after=4),
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


# ---- the requests, by the types of the client libraries ----


@cache
def listed(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(list[kind])


def check_chat(messages: list[Any]) -> None:
    from openai.types.chat import ChatCompletionMessageParam

    listed(ChatCompletionMessageParam).validate_python(messages)


def check_responses(messages: list[Any]) -> None:
    from openai.types.responses import ResponseInputItemParam

    listed(ResponseInputItemParam).validate_python(messages)


def check_anthropic(messages: list[Any]) -> None:
    from anthropic.types import MessageParam

    listed(MessageParam).validate_python(messages)
    if messages[-1]["role"] == "assistant":  # what it goes on with
        assert messages[-1]["content"] == messages[-1]["content"].rstrip()


def check_gemini(messages: list[Any]) -> None:
    listed(genai.types.Content).validate_python(messages)


def check_mistral(messages: list[Any]) -> None:
    models = pytest.importorskip("mistralai.client.models")
    models.ChatCompletionStreamRequest.model_validate({"model": "any", "messages": messages})


@cache
def bedrock_request() -> Any:
    session = pytest.importorskip("botocore.session").get_session()
    return session.get_service_model("bedrock-runtime").operation_model("ConverseStream")


def check_bedrock(messages: list[Any]) -> None:
    shape = bedrock_request().input_shape
    from botocore.validate import ParamValidator  # type: ignore[import-untyped]

    report = ParamValidator().validate({"modelId": "any", "messages": messages}, shape)
    assert not report.has_errors(), report.generate_report()


CHECKS: dict[str, Callable[[list[Any]], None]] = {
    "openai": check_chat,
    "responses": check_responses,
    "anthropic": check_anthropic,
    "gemini": check_gemini,
    "mistral": check_mistral,
    "bedrock": check_bedrock,
}
SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "pace": {"enum": ["slow", "fast"]}},
    "required": ["city", "pace"],
}
CALL = call_stream("openai_chat", [Call("plan", VALUE), Call("plan", {"city": "Oslo"})], size=5)
BREAKS: dict[str, tuple[list[Any], dict[str, Any]]] = {
    "text that ends with a space": ([['{"city": "Zürich ']], {}),
    "nothing": ([[]], {}),
    "prose": ([[{"kind": "answer", "text": "It rains in "}]], {"repair": True}),
    "unclear": ([['{"city": "the '], ['the end"}']], {}),
    "unclear, with a schema": ([['{"city": "the '], ['the end", "pace": "slow"}']], SCHEMA),
    "violation": ([['{"city": "Rome", "pace": "leisurely"}']], SCHEMA),
    "a call": ([CALL[:4]], {"tool": "plan"}),
    "a call behind another": ([CALL[:-4]], {"tool": "plan"}),
}


class Asked(Exception):
    """The request that was to be written."""


@pytest.mark.parametrize("provider", CHECKS)
@pytest.mark.parametrize("name", BREAKS)
def test_the_request_for_the_rest_is_one_by_the_types_of_the_client(
    provider: str, name: str
) -> None:
    answers, options = BREAKS[name]
    streams = iter(answers)
    requests: list[list[Any]] = []

    def ask(so_far: SoFar | None) -> Any:
        stream = next(streams, None)
        if stream is None:
            assert so_far is not None
            for prefill in (True, False):
                requests.append(so_far.messages("A trip", provider, prefill=prefill))
            raise Asked
        return stream

    schema = options if options is SCHEMA else None
    wanted = {} if options is SCHEMA else options
    with pytest.raises(Asked):
        source = jsonrill.unbroken(ask, stall=None, backoff=0, attempts=5)
        [*jsonrill.values(source, schema, **wanted)]
    for messages in requests:
        CHECKS[provider](messages)
        assert json.loads(json.dumps(messages)) == messages
        assert "A trip" in json.dumps(messages[0])
