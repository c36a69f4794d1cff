"""Schemas by tool name: a call that cannot become valid fails at the character that proves it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsonrill import ToolCall, ToolCalls
from jsonrill.providers.statements import CallDelta, End, Finish, Statement
from jsonrill.toolcalls import ToolCallEvents
from support import pieces

pydantic = pytest.importorskip("pydantic")
pytest.importorskip("jsonschema_rs")


class Weather(pydantic.BaseModel):  # type: ignore[misc, name-defined]
    model_config = pydantic.ConfigDict(strict=True, extra="forbid")
    city: str
    days: int = 1


JSON_SCHEMA = {
    "type": "object",
    "properties": {
        "city": {"type": "string"},
        "days": {"type": "integer", "maximum": 9},
        "unit": {"enum": ["C", "F"]},
        "sure": {"type": "boolean"},
    },
    "required": ["city"],
    "additionalProperties": False,
}


def statements_of(event: dict[str, Any]) -> list[Statement]:
    return list(event["statements"])


def run(texts: list[str], schema: Any = JSON_SCHEMA, *, end: bool = True, **named: Any) -> ToolCall:
    calls = ToolCalls(statements_of, schemas={"get_weather": schema})
    calls.feed({"statements": [CallDelta("a", **({"name": "get_weather"} | named))]})
    for text in texts:
        calls.feed({"statements": [CallDelta("a", text=text or None)]})
    if end:
        calls.feed({"statements": [Finish()]})
    return calls.calls[0]


@pytest.mark.parametrize(
    "text, seen, rule",
    [
        ('{"city": 5}', '{"city": 5', "type"),
        ('{"city": "x", "place": 1}', '{"city": "x", "place"', "additionalProperties"),
        ('{"unit": "Kelvin"}', '{"unit": "K', "enum"),
        ('{"city": null}', '{"city": n', "type"),
        ('{"city": "x", "days": 10}', '{"city": "x", "days": 10}', "maximum"),
        ('{"days": 1}', '{"days": 1}', "required"),
        ("[]", "[", "type"),
    ],
)
def test_a_call_that_violates_its_schema_is_an_error_at_once(
    text: str, seen: str, rule: str
) -> None:
    calls = ToolCalls(statements_of, schemas={"get_weather": JSON_SCHEMA})
    calls.feed({"statements": [CallDelta("a", name="get_weather")]})
    for at, character in enumerate(text):
        updates = calls.feed({"statements": [CallDelta("a", text=character)]})
        assert (calls.calls[0].status == "error") == (at + 1 >= len(seen)), text[: at + 1]
        if at + 1 == len(seen):
            [update] = updates
            assert update.status == "error"
            assert update.error == calls.calls[0].error
    error = calls.calls[0].error
    assert error is not None
    assert error["code"] == "INVALID_SCHEMA"
    assert rule in error["message"]
    # The text continues to grow, so that it can be shown and logged.
    assert calls.calls[0].raw == text


def test_a_pydantic_model_gives_an_instance() -> None:
    call = run(['{"city": "Lima",', ' "days": 3}'], Weather)
    assert (call.status, call.model) == ("complete", Weather(city="Lima", days=3))
    doomed = run(['{"city": "Lima", "days": "3"}'], Weather)
    assert (doomed.status, doomed.model) == ("error", None)
    unfinished = run(['{"city": "Lima"'], Weather)
    assert (unfinished.status, unfinished.model) == ("truncated", None)


def test_no_arguments_are_validated_as_an_empty_object() -> None:
    call = run([])
    assert call.error is not None
    assert (call.status, call.error["code"]) == ("error", "INVALID_SCHEMA")
    assert run([], {"type": "object"}).status == "complete"


def test_whole_values_are_validated_too() -> None:
    calls = ToolCalls(statements_of, schemas={"get_weather": JSON_SCHEMA})
    stated = CallDelta("a", name="get_weather", end=End(value={"city": 5}))
    calls.feed({"statements": [stated]})
    assert calls.calls[0].status == "error"


def test_a_name_that_comes_late_is_not_too_late() -> None:
    for text in ('{"city": 5, "days"', '{"city": 5'):
        calls = ToolCalls(statements_of, schemas={"get_weather": JSON_SCHEMA})
        calls.feed({"statements": [CallDelta("a", text=text[:4])]})
        calls.feed({"statements": [CallDelta("a", text=text[4:])]})
        assert calls.calls[0].status == "streaming"
        [update] = calls.feed({"statements": [CallDelta("a", name="get_weather")]})
        assert (update.status, update.call.status) == ("error", "error")
    calls = ToolCalls(statements_of, schemas={"other": JSON_SCHEMA})
    calls.feed(
        {"statements": [CallDelta("a", text='{"city": 5}'), CallDelta("a", name="f"), Finish()]}
    )
    assert calls.calls[0].status == "complete"


@given(st.data())
def test_the_verdict_does_not_depend_on_the_cutting(data: st.DataObject) -> None:
    text = data.draw(
        st.sampled_from(
            [
                '{"city": tru!}',
                '{"city": nul, "days": 1}',
                '{"city": -!}',
                '{"city": 12x}',
                '{"sure": tru!}',
                '{"sure": 1!}',
                '{"unit": "Cel"}',
                '{"city": "x", "days": 1e',
                '{"city": "x"}',
                '{"city": "x"} !',
                '{"days": 1}',
                "tru!",
                "12",
                "",
            ]
        )
    )
    expected = run([text])
    cut = run(data.draw(pieces(text)))
    assert cut == expected


@pytest.mark.parametrize(
    "text", ['{"city": 5}', '{"city": "x"}', '{"days": 1}', "", "5", '{"city": "x"} !', "[tru!]"]
)
def test_a_receiver_without_schemas_learns_the_verdict(text: str) -> None:
    sender = ToolCallEvents(ToolCalls(statements_of, schemas={"get_weather": JSON_SCHEMA}))
    receiver = ToolCalls()
    statements: list[Statement] = [CallDelta("a", name="get_weather")]
    statements += [CallDelta("a", text=character) for character in text]
    for statement in (*statements, Finish()):
        for event in sender.feed({"statements": [statement]}):
            if event["kind"] != "tools_aggregate":
                receiver.feed(event)
        assert receiver.calls == sender.calls.calls


def test_json_names_the_place() -> None:
    call = run(['{"city": "x", "days": 99}'])
    assert call.error is not None
    assert call.error["offset"] == '{"city": "x", "days": 99}'.index("99")
    assert json.loads(json.dumps(call.error)) == call.error
