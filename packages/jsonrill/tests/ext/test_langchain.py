"""The output parser in real chains: prompt | model | parser."""

from __future__ import annotations

import asyncio
import datetime
import json
from typing import Any

import pydantic
import pytest
from langchain_core.exceptions import OutputParserException
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langchain_core.output_parsers import JsonOutputParser as Theirs
from langchain_core.prompts import ChatPromptTemplate

import jsonrill
from jsonrill.ext.langchain import JsonOutputParser


class Trip(pydantic.BaseModel):
    city: str
    day: datetime.date
    stops: list[str] = []


TRIP = '{"city": "São Paulo", "day": "2024-05-01", "stops": ["a b", "c d"], "more": 1}'


def chain(text: str, parser: Any) -> Any:
    """A chain whose model says this text, word by word."""
    model = GenericFakeChatModel(messages=iter([AIMessage(text)] * 3))
    return ChatPromptTemplate.from_template("{q}") | model | parser


def test_the_last_value_is_that_of_langchain() -> None:
    for text in (TRIP, f"Here you are:\n```json\n{TRIP}\n```\nEnjoy.", "[1, [2]]"):
        asked = {"q": "hi"}
        expected = chain(text, Theirs()).invoke(asked)
        assert chain(text, JsonOutputParser()).invoke(asked) == expected
        assert [*chain(text, JsonOutputParser()).stream(asked)][-1] == expected


def test_values_grow_and_stay_as_they_were() -> None:
    shown = [*chain(TRIP, JsonOutputParser()).stream({"q": "hi"})]
    assert len(shown) > 5 and shown[0] == {}
    assert all(set(one) <= set(two) for one, two in zip(shown, shown[1:], strict=False))
    assert shown[-1] == json.loads(TRIP)
    assert {"city": "São"} in shown


def test_async() -> None:
    async def read() -> list[Any]:
        return [value async for value in chain(TRIP, JsonOutputParser()).astream({"q": "hi"})]

    assert asyncio.run(read()) == [*chain(TRIP, JsonOutputParser()).stream({"q": "hi"})]
    assert asyncio.run(chain(TRIP, JsonOutputParser()).ainvoke({"q": "hi"})) == json.loads(TRIP)


def test_a_source_of_text() -> None:
    assert [*JsonOutputParser().transform(iter(['{"a": ', "1}"]))][-1] == {"a": 1}


def test_differences() -> None:
    patches = [*chain(TRIP, JsonOutputParser(diff=True)).stream({"q": "hi"})]
    assert patches[0] == [{"op": "replace", "path": "", "value": {}}]
    assert sum(len(patch) for patch in patches) >= 8


def test_a_pydantic_object_validates_and_values_stay_plain() -> None:
    parser = JsonOutputParser(pydantic_object=Trip)
    shown = [*chain(TRIP, parser).stream({"q": "hi"})]
    assert shown[-1] == json.loads(TRIP) == chain(TRIP, parser).invoke({"q": "hi"})
    assert "day" in parser.get_format_instructions()
    seen: list[Any] = []
    with pytest.raises(OutputParserException, match="day"):
        for value in chain(TRIP.replace("2024-05-01", "tomorrow x y"), parser).stream({"q": "hi"}):
            seen.append(value)
    assert seen[-1]["city"] == "São Paulo" and "stops" not in seen[-1]


def test_typed() -> None:
    parser = JsonOutputParser(pydantic_object=Trip, typed=True)
    shown = [*chain(TRIP, parser).stream({"q": "hi"})]
    assert all(isinstance(one, Trip) for one in shown)
    assert jsonrill.is_partial(shown[0]) and not jsonrill.is_partial(shown[-1])
    assert shown[-1] == Trip.model_validate_json(TRIP) == chain(TRIP, parser).invoke({"q": "hi"})


def test_what_is_not_json_raises_their_exception() -> None:
    for text in ("no JSON at all", '{"a": @}'):
        with pytest.raises(OutputParserException) as raised:
            chain(text, JsonOutputParser()).invoke({"q": "hi"})
        assert raised.value.llm_output == text
        with pytest.raises(OutputParserException):
            [*chain(text, JsonOutputParser()).stream({"q": "hi"})]


def test_partial_results() -> None:
    from langchain_core.outputs import Generation

    parser = JsonOutputParser()
    assert parser.parse_result([Generation(text='{"a": "b')], partial=True) == {"a": "b"}
    assert parser.parse_result([Generation(text="{@")], partial=True) is None
    assert parser.parse('{"a": 1}') == {"a": 1}
