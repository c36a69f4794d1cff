"""The end of a stream: a cut answer is never reported as complete."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import pytest
from pydantic import BaseModel, Field

import jsonrill
from jsonrill import (
    Document,
    InvalidJSON,
    Parser,
    PartialStream,
    Truncated,
    feedback,
    fields,
    fragments,
    partial,
    select,
    text,
    updates,
    values,
)
from jsonrill.errors import CUTS, CutShort, SourceFailed
from jsonrill.providers.finish import is_complete
from support import cases
from support.streams import collect

CASES: list[dict[str, Any]] = cases("finish_reasons.json")["cases"]
# In the others the text is not the beginning of JSON.
ENDS = [
    pytest.param(
        [*case["before"], *json.loads(json.dumps(case["end"]).replace("$WORD", word))],
        reason,
        id=f"{case['name']}-{word}",
    )
    for case in CASES
    if case["before"] and "refusal" not in case["name"]
    for word, reason in case["words"].items()
]
# How each function reads the text `{"title": "Ti`.
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "values": values,
    "values with a schema": lambda source, **how: values(source, {"type": "object"}, **how),
    "fields": lambda source, **how: fields(source, {"type": "object"}, **how),
    "fragments": fragments,
    "select": lambda source, **how: select(source, "title", **how),
    "text": lambda source, **how: text(source, "title", **how),
}


@pytest.mark.parametrize(("events", "reason"), ENDS)
def test_no_function_repairs_a_cut_answer(events: list[Any], reason: Any) -> None:
    for read in FUNCTIONS.values():
        for repair in (False, True):
            _, error = collect(read(iter(events), repair=repair))
            if reason == "error":
                assert isinstance(error, SourceFailed)
            elif not is_complete(reason):
                assert isinstance(error, Truncated) and error.reason == reason
                assert str(error).startswith(CUTS[reason])
                assert error.text == '{"title": "Ti' and error.value == {"title": "Ti"}
            elif repair:
                assert error is None
            else:
                assert isinstance(error, Truncated) and error.reason == "ended"


@pytest.mark.parametrize(("events", "reason"), ENDS)
def test_updates_say_why_an_answer_is_not_complete(events: list[Any], reason: Any) -> None:
    all_updates, error = collect(updates(iter(events), repair=True))
    if reason == "error":
        assert isinstance(error, SourceFailed)
        return
    assert error is None and all_updates[-1].data == {"title": "Ti"}
    if is_complete(reason):
        assert all_updates[-1].status == "COMPLETED"
    else:
        assert (all_updates[-1].status, all_updates[-1].error["reason"]) == ("ERROR", reason)


@pytest.mark.parametrize(
    "case", [item for item in CASES if item["before"]], ids=lambda item: item["name"]
)
def test_a_stream_without_its_end_is_lost(case: dict[str, Any]) -> None:
    reason = "refused" if "refusal" in case["name"] else "lost"
    for repair in (False, True):
        _, error = collect(values(iter(case["before"]), repair=repair))
        assert isinstance(error, Truncated) and error.reason == reason


def chunk(content: str, reason: str | None = None, **more: Any) -> dict[str, Any]:
    delta = {"content": content} if content else more
    return {"id": "c", "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}


def answer(*pieces: str, reason: str | None = "stop") -> list[Any]:
    return [*map(chunk, pieces), *([] if reason is None else [chunk("", reason)])]


def failure(source: Any, **options: Any) -> Any:
    _, error = collect(values(source, **options))
    return error


# ---- complete values ----


@pytest.mark.parametrize("reason", ["length", "content_filter", None])
def test_a_complete_value_is_complete_however_the_answer_ended(reason: str | None) -> None:
    assert [*values(answer('{"a": 1}', "  \n", reason=reason))][-1] == {"a": 1}


def test_of_many_documents_more_might_have_come() -> None:
    all_values, error = collect(values(answer("{}\n[1]\n", reason="length"), many=True))
    assert all_values == [{}, [1]] and isinstance(error, Truncated) and error.reason == "length"
    assert [*values(answer("{}\n[1]\n"), many=True)] == [{}, [1]]


def test_done_is_an_end_too() -> None:
    """Some servers send no finish reason, but `[DONE]`."""
    event = json.dumps(chunk('[1, "x'))
    body = f"data: {event}\n\n"
    assert [*values(body + "data: [DONE]\n\n", sse=True, repair=True)][-1] == [1, "x"]
    assert failure(body, sse=True, repair=True).reason == "lost"


# ---- tools ----


def call_events(args: str, reason: str | None) -> list[Any]:
    call = {"index": 0, "id": "k", "function": {"name": "save", "arguments": args}}
    return [chunk("", tool_calls=[call]), *([] if reason is None else [chunk("", reason)])]


@pytest.mark.parametrize("reason", ["length", "content_filter", None])
def test_a_call_that_was_cut(reason: str | None) -> None:
    for repair in (False, True):
        error = failure(call_events('{"a": ["x', reason), tool="save", repair=repair)
        assert isinstance(error, Truncated)
        assert error.reason == {"length": "length", None: "lost"}.get(reason, "filtered")
    # One that is complete is complete.
    assert [*values(call_events('{"a": 1}', reason), tool="save")] == [{"a": 1}]


def test_a_call_that_did_not_come_before_the_answer_was_cut() -> None:
    functions: list[Any] = [*FUNCTIONS.values(), jsonrill.loads]
    for read in functions:
        with pytest.raises(Truncated) as caught:
            list(read(call_events('{"a": 1}', "length"), tool="other"))
        assert caught.value.reason == "length"


# ---- refusals and prose ----


SORRY = ("I'm sorry, but ", "I can't help with that.")


def test_a_refusal_of_the_model() -> None:
    refusal = [chunk("", refusal=piece) for piece in SORRY]
    for end in ([chunk("", "stop")], []):
        for repair in (False, True):
            error = failure([*refusal, *end], repair=repair)
            assert isinstance(error, Truncated) and error.reason == "refused"
            assert (
                str(error) == "the model refused to answer: I'm sorry, but I can't help with that."
            )


@pytest.mark.parametrize("repair", [False, True])
def test_prose_is_not_json(repair: bool) -> None:
    for source in ("".join(SORRY), answer(*SORRY)):
        error = failure(source, repair=repair)
        assert type(error) is InvalidJSON and error.text == "".join(SORRY)
        assert str(error).startswith("the answer is text, not JSON: \"I'm sorry, but I can't help")
        assert ("repair=True" in str(error)) != repair


@pytest.mark.parametrize("repair", [False, True])
@pytest.mark.parametrize(
    ("word", "reason"), [("length", "length"), ("refusal", "refused"), (None, "lost")]
)
def test_of_prose_that_was_cut_the_reason_counts(
    repair: bool, word: str | None, reason: str
) -> None:
    error = failure(answer(*SORRY, reason=word), repair=repair)
    assert isinstance(error, Truncated) and error.reason == reason
    assert "I'm sorry" in str(error)


def test_long_prose_stops_the_source_early() -> None:
    read = []

    def source() -> Any:
        for event in answer(*["Once upon a time. "] * 100):
            read.append(event)
            yield event

    assert type(failure(source())) is InvalidJSON
    assert len(read) < 10


def test_loads_reads_a_text_that_is_complete() -> None:
    assert jsonrill.loads("{'a': [1,], b: 'x'} Done.", repair=True) == {"a": [1], "b": "x"}
    assert jsonrill.loads("12") == jsonrill.loads(b"12", repair=True) == 12
    assert jsonrill.loads('{"a": ["x', repair=True) == {"a": ["x"]}
    with pytest.raises(Truncated) as caught:
        jsonrill.loads('{"a": ["x')
    assert caught.value.value == {"a": ["x"]} and caught.value.text == '{"a": ["x'
    with pytest.raises(InvalidJSON, match="the answer is text, not JSON: 'I am sorry'"):
        jsonrill.loads("I am sorry", repair=True)
    with pytest.raises(InvalidJSON, match="repair=True"):
        jsonrill.loads("```json\n{}\n```")


@dataclass
class Trip:
    city: str
    days: int


def test_loads_and_partial_with_a_type() -> None:
    trip = jsonrill.loads("{'city': 'Rome', 'days': '3'}", Trip, repair=True)
    assert trip == Trip("Rome", 3) and not jsonrill.schema.is_partial(trip)
    early = partial('{"city": "Ro', Trip)
    assert isinstance(early, Trip) and jsonrill.schema.is_partial(early) and early.city == "Ro"
    assert partial('{"city": "Rome", "days": 3}', Trip) == Trip("Rome", 3)
    for read in (jsonrill.loads, partial):
        with pytest.raises(jsonrill.InvalidSchema) as caught:
            read('{"city": "Rome", "days": "many"}', Trip)
        assert caught.value.text == '{"city": "Rome", "days": "many"}'
        assert isinstance(caught.value.value, Trip) and caught.value.path == ("days",)


# ---- stages ----


def test_flush_reports_why_the_answer_was_cut() -> None:
    cut = CutShort("filtered")
    for stage in (Document(repair=True), Parser(repair=True)):
        stage.feed('{"a": "x')
        with pytest.raises(Truncated, match="a content filter stopped the answer") as caught:
            stage.flush(cut)
        assert caught.value.reason == "filtered"
    stream = PartialStream(repair=True)
    stream.feed('{"a": "x')
    [update] = stream.flush(CutShort("length"))
    assert update.error is not None and update.error["reason"] == "length"


# ---- what to tell the model ----


class Plan(BaseModel, extra="forbid"):
    pace: Literal["slow", "fast"]
    days: int = Field(ge=1, le=10)


@pytest.mark.parametrize(
    ("body", "allowed"),
    [
        ('{"pace": "leisurely"}', 'no allowed value begins with "l": allowed are "fast", "slow"'),
        ('{"pace": "fas"}', "Input should be 'slow' or 'fast', not \"fas\""),
        ('{"pace": "slow", "days": 11}', "less than or equal to 10"),
        ('{"pace": "slow", "nights": 2}', 'allowed are "pace", "days"'),
    ],
)
def test_an_error_has_the_allowed_values_and_the_last_good_value(body: str, allowed: str) -> None:
    for source in (body, [*body], answer(*body)):
        _, error = collect(values(source, Plan))
        assert isinstance(error, jsonrill.InvalidSchema) and isinstance(error.value, Plan)
        assert error.text and body.startswith(error.text)
        said = feedback(error)
        assert allowed in said and "Answer again" in said
        good = body[: error.offset]
        assert len(good) < 2 or good in said


def test_feedback_leaves_out_hints_for_the_program() -> None:
    for source in ("Sure! {}", "```json\n{}\n```", "[" * 300):
        error = failure(source)
        assert error is not None
        assert "repair=True" not in feedback(error) and "limits=" not in feedback(error)


def test_every_error_of_data_has_the_text_and_the_value() -> None:
    text = '{"a": [1, 2], "b": x}'
    for prefix in ("", text[:6]):
        body = text.removeprefix(prefix)
        for name, read in FUNCTIONS.items():
            _, error = collect(read(body, prefix=prefix))
            assert isinstance(error, InvalidJSON), name
            assert (error.text, error.value) == (body, {"a": [1, 2]}), name
    _, error = collect(select('{"a": 1}', "b"))
    assert isinstance(error, jsonrill.errors.FieldNotFound) and error.text == '{"a": 1}'


# ---- silences ----


def test_none_among_the_pieces_is_skipped() -> None:
    assert [*values([None, '{"a"', None, ": 1}", None])][-1] == {"a": 1}
    assert [*jsonrill.text([None, '{"a": "', None, 'x"}'], "a")] == ["x"]


# ---- one field ----


def test_text_stops_when_its_field_is_complete() -> None:
    read: list[str] = []
    closed: list[bool] = []
    body = ['{"title": "A ', 'day", "rest": [', "1, 2", "not JSON at all"]

    def source() -> Any:
        try:
            for piece in body:
                read.append(piece)
                yield piece
        finally:
            closed.append(True)

    texts, error = collect(text(source(), "title"))
    assert "".join(texts) == "A day" and error is None
    assert read == body[:2] and closed
