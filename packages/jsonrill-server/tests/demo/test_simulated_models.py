"""`serve --demo` with the providers' own clients, unmodified: text, JSON by a schema, calls."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from datetime import date
from typing import Any

import anthropic
import httpx2
import openai
import pytest
from pydantic import BaseModel

import jsonrill
from jsonrill_server.demo.answering import answer
from jsonrill_server.demo.models import models
from jsonrill_server.demo.requests import Asked
from jsonrill_server.demo.scripts import response_to
from support.processes import Server


class Stop(BaseModel):
    name: str
    nights: int


class Trip(BaseModel):
    city: str
    start: date
    stops: list[Stop]


TRIP = Trip(
    city="Rome",
    start=date(2026, 5, 1),
    stops=[Stop(name="Lisbon", nights=3), Stop(name="Porto", nights=4)],
)
ASK: list[Any] = [{"role": "user", "content": "Plan a trip to Rome."}]
WEATHER: list[Any] = [{"role": "user", "content": "Compare the weather in Lima and Oslo."}]
PLACE = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
TIDES = {"type": "object", "properties": {"harbour": {"type": "string"}}, "required": ["harbour"]}
CHAT_TOOLS: Any = [
    {"type": "function", "function": {"name": name, "parameters": schema}}
    for name, schema in (("get_weather", PLACE), ("get_tides", TIDES))
]
RESPONSE_TOOLS: Any = [{"type": "function", **tool["function"]} for tool in CHAT_TOOLS]
MESSAGE_TOOLS: Any = [
    {"name": tool["function"]["name"], "input_schema": tool["function"]["parameters"]}
    for tool in CHAT_TOOLS
]
CALLED = [("get_weather", {"city": "Lima"}), ("get_weather", {"city": "Oslo"})]


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with Server(tmp_path_factory.mktemp("demo"), demo=True) as server:
        yield server.url


@pytest.fixture(scope="module")
def oai(url: str) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=f"{url}/v1", api_key="any", max_retries=0) as client:
        yield client


@pytest.fixture(scope="module")
def claude(url: str) -> Iterator[anthropic.Anthropic]:
    with anthropic.Anthropic(base_url=url, api_key="any", max_retries=0) as client:
        yield client


def weather(city: str) -> str:
    return f"rain in {city}"


def test_models_are_listed_for_both_clients(
    oai: openai.OpenAI, claude: anthropic.Anthropic
) -> None:
    names = [*models()]
    assert [model.id for model in oai.models.list()] == names
    assert [model.id for model in claude.models.list()] == names


def test_text_streamed_and_not(oai: openai.OpenAI, claude: anthropic.Anthropic) -> None:
    hello: list[Any] = [{"role": "user", "content": "hello"}]
    text = oai.chat.completions.create(model="any", messages=hello).choices[0].message.content
    assert text is not None and text.startswith("You said: hello.")
    stream = oai.chat.completions.create(model="any", messages=hello, stream=True)
    pieces = [*jsonrill.content(stream)]
    assert "".join(pieces) == text and len(pieces) > 10
    assert oai.responses.create(model="any", input="hello").output_text == text
    events = oai.responses.create(model="any", input="hello", stream=True)
    assert "".join(jsonrill.content(events)) == text
    message = claude.messages.create(model="any", max_tokens=999, messages=hello)
    assert [block.text for block in message.content if block.type == "text"] == [text]
    with claude.messages.stream(model="any", max_tokens=999, messages=hello) as live:
        assert "".join(live.text_stream) == text


def test_json_by_a_schema_with_the_helpers_of_openai(oai: openai.OpenAI) -> None:
    parsed = oai.chat.completions.parse(model="any", messages=ASK, response_format=Trip)
    assert parsed.choices[0].message.parsed == TRIP
    with oai.chat.completions.stream(model="any", messages=ASK, response_format=Trip) as stream:
        *partial, last = jsonrill.values(stream, Trip)
        assert last == TRIP and len(partial) > 5
        assert stream.get_final_completion().choices[0].message.parsed == TRIP
    assert oai.responses.parse(model="any", input=ASK, text_format=Trip).output_parsed == TRIP
    with oai.responses.stream(model="any", input=ASK, text_format=Trip) as responses:
        *_, last = jsonrill.values(responses, Trip)
        assert last == responses.get_final_response().output_parsed == TRIP


def test_json_by_a_schema_with_the_helpers_of_anthropic(claude: anthropic.Anthropic) -> None:
    asked: Any = {"model": "any", "max_tokens": 999, "messages": ASK}
    assert claude.messages.parse(**asked, output_format=Trip).parsed_output == TRIP
    with claude.messages.stream(**asked, output_format=Trip, thinking={"type": "adaptive"}) as live:
        *_, last = jsonrill.values(live, Trip)
        assert last == TRIP
        assert [block.type for block in live.get_final_message().content] == ["thinking", "text"]
    tool: Any = {"name": "plan", "input_schema": Trip.model_json_schema()}
    forced: Any = {"type": "tool", "name": "plan"}
    stream = claude.messages.create(**asked, tools=[tool], tool_choice=forced, stream=True)
    *_, last = jsonrill.values(stream, Trip, tool="plan")
    assert last == TRIP


def test_json_without_a_schema(oai: openai.OpenAI) -> None:
    form: Any = {"type": "json_object"}
    stream = oai.chat.completions.create(
        model="any", messages=ASK, response_format=form, stream=True
    )
    *_, last = jsonrill.values(stream)
    assert last["city"] == "Lisbon"


def chat_calls(oai: Any, claude: Any, **options: Any) -> Any:
    asked = {"model": "any", "messages": WEATHER, "tools": CHAT_TOOLS, **options}
    message = oai.chat.completions.create(**asked).choices[0].message
    whole = [
        (it.function.name, json.loads(it.function.arguments)) for it in message.tool_calls or []
    ]
    return whole, oai.chat.completions.create(**asked, stream=True)


def response_calls(oai: Any, claude: Any, **options: Any) -> Any:
    asked = {"model": "any", "input": WEATHER, "tools": RESPONSE_TOOLS, **options}
    output = oai.responses.create(**asked).output
    whole = [(it.name, json.loads(it.arguments)) for it in output if it.type == "function_call"]
    return whole, oai.responses.create(**asked, stream=True)


def message_calls(oai: Any, claude: Any, **options: Any) -> Any:
    asked = {"model": "any", "max_tokens": 999, "messages": WEATHER, "tools": MESSAGE_TOOLS}
    content = claude.messages.create(**asked, **options).content
    whole = [(it.name, it.input) for it in content if it.type == "tool_use"]
    return whole, claude.messages.create(**asked, **options, stream=True)


FORCED: dict[str, Any] = {
    "chat_calls": {"type": "function", "function": {"name": "get_tides"}},
    "response_calls": {"type": "function", "name": "get_tides"},
    "message_calls": {"type": "tool", "name": "get_tides"},
}
ANY: dict[str, Any] = {"message_calls": {"type": "any", "disable_parallel_tool_use": True}}
NONE: dict[str, Any] = {"message_calls": {"type": "none"}}


@pytest.mark.parametrize("ask", [chat_calls, response_calls, message_calls])
def test_tool_calls_are_those_of_the_prompt_or_of_the_choice(
    oai: openai.OpenAI, claude: anthropic.Anthropic, ask: Callable[..., Any]
) -> None:
    whole, stream = ask(oai, claude)
    assert whole == CALLED == streamed(stream)
    whole, stream = ask(oai, claude, tool_choice=FORCED[ask.__name__])
    assert whole == [("get_tides", {"harbour": "Lima"}), ("get_tides", {"harbour": "Oslo"})]
    assert streamed(stream) == whole
    one: Any = {} if ask is message_calls else {"parallel_tool_calls": False}
    whole, stream = ask(oai, claude, tool_choice=ANY.get(ask.__name__, "required"), **one)
    assert whole == CALLED[:1] == streamed(stream)
    whole, stream = ask(oai, claude, tool_choice=NONE.get(ask.__name__, "none"))
    assert whole == [] == streamed(stream)


def streamed(stream: Any) -> list[Any]:
    """The calls of a stream, each complete."""
    last: dict[Any, Any] = {}
    for update in jsonrill.tool_calls(stream):
        last[update.call.id] = update.call
    assert all(call.status == "complete" for call in last.values())
    return [(call.name, call.args) for call in last.values()]


def test_an_agent_takes_two_turns_in_each_api(
    oai: openai.OpenAI, claude: anthropic.Anthropic
) -> None:
    def chat(turn: list[Any]) -> Any:
        asked: Any = WEATHER + turn
        return oai.chat.completions.create(
            model="any", messages=asked, tools=CHAT_TOOLS, stream=True
        )

    def responses(turn: list[Any]) -> Any:
        asked: Any = WEATHER + turn
        return oai.responses.create(model="any", input=asked, tools=RESPONSE_TOOLS, stream=True)

    def messages(turn: list[Any]) -> Any:
        asked: Any = WEATHER + turn
        return claude.messages.create(
            model="any", max_tokens=999, messages=asked, tools=MESSAGE_TOOLS, stream=True
        )

    for ask in (chat, responses, messages):
        turn = jsonrill.run_tools(ask([]), {"get_weather": weather})
        assert [part.result for part in turn if part.kind == "result"] == [
            "rain in Lima",
            "rain in Oslo",
        ]
        text = "".join(jsonrill.content(ask(turn.messages())))
        assert "get_weather says rain in Lima; get_weather says rain in Oslo" in text


def test_a_limit_of_tokens_cuts_the_answer(oai: openai.OpenAI, claude: anthropic.Anthropic) -> None:
    chat = oai.chat.completions.create(model="any", messages=ASK, max_tokens=3)
    assert [choice.finish_reason for choice in chat.choices] == ["length"]
    assert chat.choices[0].message.content == "You said: Pl"
    details = oai.responses.create(model="any", input="x", max_output_tokens=3).incomplete_details
    assert details is not None and details.reason == "max_output_tokens"
    assert claude.messages.create(model="any", max_tokens=3, messages=ASK).stop_reason == (
        "max_tokens"
    )


@pytest.mark.parametrize("name", [*models()])
def test_a_model_of_the_demo_says_what_it_always_says(name: str) -> None:
    """Whatever is asked."""
    model = models()[name]
    reply = answer(Asked(name, tools={"get_weather": {}}, choice="required"))
    assert reply.pace == 1 / model.pace
    if model.input == "events":
        assert len(reply.calls) == 2
        assert all(f'"{call.name}"' in model.says() and call.text for call in reply.calls)
    else:
        lines = model.says().splitlines()
        assert reply.text == (lines[-1] if model.input == "snapshots" else model.says())


def test_a_model_of_the_demo_is_asked_by_its_name(oai: openai.OpenAI) -> None:
    for name, first in (("buoy", '{"st'), ("harbour", "I lo")):
        with oai.chat.completions.create(model=name, messages=ASK, stream=True) as stream:
            assert next(iter(jsonrill.content(stream))) == first


def test_async_clients(url: str) -> None:
    async def run() -> None:
        async with openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="any") as client:
            stream = await client.chat.completions.create(
                model="any",
                messages=WEATHER,
                tools=CHAT_TOOLS,
                stream=True,
            )
            turn = jsonrill.run_tools(stream, {"get_weather": weather})
            assert [part.result async for part in turn if part.kind == "result"] == [
                "rain in Lima",
                "rain in Oslo",
            ]
        async with anthropic.AsyncAnthropic(base_url=url, api_key="any") as claude:
            stream2 = await claude.messages.create(
                model="any", max_tokens=99, messages=ASK, stream=True
            )
            assert "".join([piece async for piece in jsonrill.content(stream2)])

    asyncio.run(run())


BAD: list[tuple[str, Any, str]] = [
    ("chat/completions", [], "the body must be a JSON object"),
    ("chat/completions", {"messages": ASK}, "Missing required parameter: 'model'"),
    ("chat/completions", {"model": "m"}, "Missing required parameter: 'messages'"),
    ("chat/completions", {"model": "m", "messages": []}, "Missing required parameter: 'messages'"),
    ("chat/completions", {"model": 5, "messages": ASK}, "Invalid type for 'model'"),
    ("chat/completions", {"model": "m", "messages": [5]}, "wrong type"),
    ("chat/completions", {"model": "m", "messages": [{"role": "wizard"}]}, "wizard is not a role"),
    ("chat/completions", {"model": "m", "messages": ASK, "n": 0}, "'n'"),
    ("chat/completions", {"model": "m", "messages": ASK, "max_tokens": 0}, "max_tokens"),
    ("chat/completions", {"model": "m", "messages": ASK, "tool_choice": "sing"}, "tool_choice"),
    ("chat/completions", {"model": "m", "messages": ASK, "tool_choice": "required"}, "tools"),
    (
        "chat/completions",
        {"model": "m", "messages": ASK, "tools": CHAT_TOOLS,
         "tool_choice": {"type": "function", "function": {"name": "sing"}}},
        "not among the tools: sing",
    ),
    (
        "chat/completions",
        {"model": "m", "messages": ASK, "response_format": {"type": "json_schema"}},
        "'schema'",
    ),
    (
        "chat/completions",
        {"model": "m", "messages": ASK,
         "response_format": {"type": "json_schema", "json_schema": {"schema": {"type": "dog"}}}},
        "the schema of the answer",
    ),
    (
        "chat/completions",
        {"model": "m", "messages": [*ASK, {"role": "assistant", "tool_calls": [
            {"id": "c", "function": {"name": "f", "arguments": "{}"}}]}]},
        "must be followed by their results: c",
    ),
    (
        "chat/completions",
        {"model": "m", "messages": [{"role": "tool", "tool_call_id": "c", "content": ""}]},
        "no tool call has the id c",
    ),
    ("responses", {"model": "m"}, "Missing required parameter: 'input'"),
    ("responses", {"model": "m", "input": "x", "text": {"format": {"type": "xml"}}}, "be xml"),
    (
        "responses",
        {"model": "m", "input": [{"type": "function_call_output", "call_id": "c", "output": ""}]},
        "no tool call has the id c",
    ),
    (
        "responses",
        {"model": "m", "input": [{"type": "function_call", "call_id": "c", "name": "f"}]},
        "must be followed by their results: c",
    ),
    ("messages", {"model": "m", "messages": ASK}, "'max_tokens'"),
    ("messages", {"model": "m", "max_tokens": 9, "messages": [{"role": "wizard"}]}, "not a role"),
    (
        "messages",
        {"model": "m", "max_tokens": 9, "messages": [
            {"role": "assistant", "content": [{"type": "tool_use", "id": "c", "name": "f"}]},
            *ASK]},
        "must be followed by their results: c",
    ),
]  # fmt: skip


@pytest.mark.parametrize("path, body, message", BAD)
def test_a_wrong_request_gets_the_error_of_its_api(
    url: str, path: str, body: Any, message: str
) -> None:
    response = httpx2.post(f"{url}/v1/{path}", json=body, trust_env=False)
    refusal = response.json()
    assert response.status_code == 400 and message in refusal["error"]["message"]
    assert refusal["error"]["type"] == "invalid_request_error"
    assert (refusal.get("type") == "error") == (path == "messages")


def test_bodies_that_are_no_requests(url: str) -> None:
    """Nothing that is sent is answered with a failure of the server."""
    for body in (b"", b"{", b"null", b"[" * 50_000, b'{"model": {}, "messages": {}}'):
        for path in ("chat/completions", "responses", "messages"):
            response = httpx2.post(f"{url}/v1/{path}", content=body, trust_env=False)
            assert response.status_code == 400, (path, body[:20], response.text)


REQUESTS: dict[str, Any] = {
    "/v1/chat/completions": {
        "model": "m",
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "In Rome"}]},
            {"role": "assistant", "content": None, "tool_calls": [
                {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}]},
            {"role": "tool", "tool_call_id": "c", "content": "r"},
        ],
        "tools": [{"type": "function", "function": {"name": "f", "parameters": PLACE}}],
        "tool_choice": {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": [
            {"type": "function", "function": {"name": "f"}}]}},
        "response_format": {"type": "json_schema", "json_schema": {"name": "n", "schema": PLACE}},
        "n": 1, "max_tokens": 5, "stream": True, "stream_options": {"include_usage": True},
    },
    "/v1/responses": {
        "model": "m",
        "input": [
            {"role": "user", "content": [{"type": "input_text", "text": "x"}]},
            {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "c", "output": "x"},
        ],
        "tools": [{"type": "function", "name": "f", "parameters": PLACE}],
        "tool_choice": {"type": "function", "name": "f"},
        "text": {"format": {"type": "json_schema", "name": "n", "schema": PLACE}},
        "reasoning": {"summary": "auto"}, "stream": True,
    },
    "/v1/messages": {
        "model": "m", "max_tokens": 9,
        "messages": [
            {"role": "user", "content": "x"},
            {"role": "assistant", "content": [
                {"type": "tool_use", "id": "t", "name": "f", "input": {}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": [
                {"type": "text", "text": "q"}]}]},
        ],
        "tools": [{"name": "f", "input_schema": PLACE}], "tool_choice": {"type": "any"},
        "output_config": {"format": {"type": "json_schema", "schema": PLACE}},
        "thinking": {"type": "enabled"},
    },
}  # fmt: skip
JUNK: list[Any] = [None, True, 0, -1, 1.5, "", "x", [], {}, [None], [[]], {"type": 5}, 10**30]


def places(value: Any) -> Iterator[tuple[Any, ...]]:
    """The path of every part."""
    yield ()
    if isinstance(value, dict | list):
        for key, part in value.items() if isinstance(value, dict) else enumerate(value):
            yield from ((key, *rest) for rest in places(part))


def replaced(value: Any, path: tuple[Any, ...], by: Any) -> Any:
    if not path:
        return by
    copy = value.copy()
    copy[path[0]] = replaced(value[path[0]], path[1:], by)
    return copy


@pytest.mark.parametrize("path", REQUESTS)
def test_any_part_of_a_request_may_be_wrong(path: str) -> None:
    """It is answered, or refused in the form of the API; nothing is raised."""
    for place in places(REQUESTS[path]):
        for junk in JUNK:
            body = replaced(REQUESTS[path], place, junk)
            script = response_to("POST", path, json.dumps(body).encode())
            assert script.status in (200, 400), (place, junk)
            assert [*script.steps]


def test_every_model_answers_in_every_api() -> None:
    """Also the one whose arguments are no JSON."""
    for name in models():
        for path, body in REQUESTS.items():
            for stream in (True, False):
                asked = {**body, "model": name, "stream": stream, "max_tokens": 99999}
                script = response_to("POST", path, json.dumps(asked).encode())
                assert script.status == 200 and [*script.steps]
