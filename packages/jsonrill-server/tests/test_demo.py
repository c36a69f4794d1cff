"""The simulated model: the clients of OpenAI and Anthropic read its answers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import anthropic
import httpx2
import openai
import pytest
from jsonschema_rs import validator_for
from pydantic import BaseModel

from jsonrill_server.demo import NoExample, example
from support.processes import FAST_DEMO, Server

WEATHER = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer", "minimum": 1}},
    "required": ["city", "days"],
}
ASK = [{"role": "user", "content": "Compare the weather in Lima and Oslo."}]
TOOL = {"type": "function", "function": {"name": "get_weather", "parameters": WEATHER}}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with Server(tmp_path_factory.mktemp("demo"), program=FAST_DEMO, demo=True) as running:
        yield running


@pytest.fixture
def chat(server: Server) -> Iterator[Any]:
    client = openai.OpenAI(base_url=f"{server.url}/v1", api_key="any", max_retries=0)
    with client:
        yield client


@pytest.fixture
def claude(server: Server) -> Iterator[Any]:
    with anthropic.Anthropic(base_url=server.url, api_key="any", max_retries=0) as client:
        yield client


class Place(BaseModel):
    city: str
    population: int


def test_openai_chat_streams_text_json_and_calls(chat: Any) -> None:
    stream = chat.chat.completions.create(model="any", messages=ASK, stream=True)
    text = "".join(chunk.choices[0].delta.content or "" for chunk in stream)
    assert text.startswith("You said: Compare the weather")
    parsed = chat.chat.completions.parse(model="any", messages=ASK, response_format=Place)
    assert parsed.choices[0].message.parsed.city == "Lima"
    answer = chat.chat.completions.create(model="any", messages=ASK, tools=[TOOL])
    calls = answer.choices[0].message.tool_calls
    assert [json.loads(call.function.arguments)["city"] for call in calls] == ["Lima", "Oslo"]
    results = [{"role": "tool", "tool_call_id": call.id, "content": "rain"} for call in calls]
    history = [*ASK, answer.choices[0].message.model_dump(exclude_none=True), *results]
    final = chat.chat.completions.create(model="any", messages=history, tools=[TOOL])
    assert final.choices[0].message.content == "The tools say: rain; rain."


def test_openai_responses_streams_and_parses(chat: Any) -> None:
    stream = chat.responses.create(model="any", input="Hello", stream=True)
    events = [event.type for event in stream]
    assert events[0] == "response.created" and events[-1] == "response.completed"
    parsed = chat.responses.parse(model="any", input=ASK, text_format=Place)
    assert parsed.output_parsed.city == "Lima"
    tool = {"type": "function", "name": "get_weather", "parameters": WEATHER}
    answer = chat.responses.create(model="any", input=ASK, tools=[tool])
    assert [item.name for item in answer.output] == ["get_weather"] * 2


def test_anthropic_streams_text_thinking_and_calls(claude: Any) -> None:
    with claude.messages.stream(model="any", max_tokens=999, messages=ASK) as stream:
        assert stream.get_final_text().startswith("You said")
    tools = [{"name": "get_weather", "input_schema": WEATHER}]
    thinking = {"type": "enabled", "budget_tokens": 1024}
    answer = claude.messages.create(
        model="any", max_tokens=2000, messages=ASK, tools=tools, thinking=thinking
    )
    assert [block.type for block in answer.content] == ["thinking", "tool_use", "tool_use"]
    with pytest.raises(anthropic.BadRequestError):
        claude.messages.create(model="any", max_tokens=9, messages=[])


def test_limits_choices_and_models_are_respected(chat: Any) -> None:
    short = chat.chat.completions.create(model="any", messages=ASK, max_completion_tokens=2)
    assert short.choices[0].finish_reason == "length"
    none = chat.chat.completions.create(model="any", messages=ASK, tools=[TOOL], tool_choice="none")
    assert none.choices[0].message.tool_calls is None
    one = chat.chat.completions.create(
        model="any", messages=ASK, tools=[TOOL], parallel_tool_calls=False
    )
    assert len(one.choices[0].message.tool_calls) == 1
    assert [model.id for model in chat.models.list()] == ["simulated"]
    form = {"type": "json_object"}
    voyage = [{"role": "user", "content": "a voyage"}]
    answer = chat.chat.completions.create(model="any", messages=voyage, response_format=form)
    assert "days" in json.loads(answer.choices[0].message.content)


@pytest.mark.parametrize(
    "body",
    [b"", b"[", b"[]", b"{}", b'{"model": 3, "messages": 3}', b'{"model": "m", "messages": [3]}'],
)
def test_a_bad_request_is_refused_in_the_form_of_the_api(server: Server, body: bytes) -> None:
    for path in ("/v1/chat/completions", "/v1/responses", "/v1/messages"):
        answer = httpx2.post(f"{server.url}{path}", content=body, trust_env=False)
        assert answer.status_code == 400 and "message" in answer.json()["error"]


SCHEMAS: dict[str, Any] = {
    "names": {"type": "object", "properties": {"createdAt": {"type": "string", "format": "date"}}},
    "numbers": {"type": "number", "minimum": 3, "maximum": 4},
    "lists": {"type": "array", "items": {"enum": ["a", "b"]}, "minItems": 3},
    "references": {
        "$defs": {"n": {"type": "object", "properties": {"next": {"$ref": "#/$defs/n"}}}},
        "$ref": "#/$defs/n",
    },
    "unions": {"anyOf": [{"type": "null"}, {"type": "integer"}]},
    "trees": {
        "$defs": {
            "n": {
                "properties": {"below": {"type": "array", "items": {"$ref": "#/$defs/n"}}},
                "required": ["below"],
            }
        },
        "$ref": "#/$defs/n",
    },
    "short": {"type": "string", "maxLength": 3},
    "true": True,
}


@pytest.mark.parametrize("name", [*SCHEMAS])
def test_an_example_is_valid_for_its_schema(name: str) -> None:
    value = example(SCHEMAS[name], ["Rome"])
    assert validator_for(SCHEMAS[name]).is_valid(value)
    assert value == example(SCHEMAS[name], ["Rome"])


def test_a_list_in_an_example_has_three_elements() -> None:
    schema = {"type": "array", "items": {"type": "array", "items": {"type": "integer"}}}
    assert [len(inner) for inner in example(schema)] == [3, 3, 3]


def test_an_example_uses_the_names_of_the_prompt() -> None:
    schema = {"type": "object", "properties": {"city": {"type": "string"}}}
    assert example(schema, ["Rome"]) == {"city": "Rome"}


@pytest.mark.parametrize(
    "schema", [False, {"pattern": "^[0-9]{9}$"}, {"multipleOf": 7, "type": "integer"}, {"type": 3}]
)
def test_a_schema_that_cannot_be_met_has_no_example(schema: Any) -> None:
    with pytest.raises(NoExample):
        example(schema)
