"""`Answer`: the text, the end and the token counts of an answer, from every function."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable
from typing import Any

import pytest

import jsonrill
from jsonrill import Answer
from support import cases
from support.streams import collect

CASES: list[dict[str, Any]] = cases("answers.json")["cases"]
COMPLETE = [case for case in CASES if case["name"].endswith("-complete")]
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "values": jsonrill.values,
    "values with a schema": lambda source, **how: jsonrill.values(source, {}, **how),
    "fields": lambda source, **how: jsonrill.fields(source, {}, **how),
    "fragments": jsonrill.fragments,
    "updates": jsonrill.updates,
    "updates at a pace": lambda source, **how: jsonrill.updates(source, every=0.01, **how),
    "select": lambda source, **how: jsonrill.select(source, "title", **how),
    "content": jsonrill.content,
    "parts": jsonrill.parts,
    "tool_calls": jsonrill.tool_calls,
    "run_tools": lambda source, **how: jsonrill.run_tools(source, {}, **how),
}


async def later(events: Iterable[Any]) -> AsyncIterator[Any]:
    for event in events:
        yield event


def facts(answer: Answer) -> tuple[Any, ...]:
    return answer.finish, answer.usage, answer.text


@pytest.mark.parametrize("case", CASES, ids=lambda item: item["name"])
def test_the_end_and_the_counts_of_each_provider(case: dict[str, Any]) -> None:
    expected = (case["end"] or "lost", case.get("usage"), case["text"])
    for read in (jsonrill.content, jsonrill.parts, jsonrill.tool_calls, jsonrill.values):
        answer = Answer()
        collect(read(case["events"], answer=answer))
        assert facts(answer) == expected, read


@pytest.mark.parametrize("function", FUNCTIONS)
def test_every_function_fills_in_the_answer_sync_and_async(function: str) -> None:
    for case in COMPLETE:
        expected = (case["end"], case.get("usage"), case["text"])
        for source in (iter(case["events"]), later(case["events"])):
            answer = Answer()
            _, error = collect(FUNCTIONS[function](source, answer=answer))
            assert error is None and facts(answer) == expected


def test_arguments_of_a_tool() -> None:
    [case] = [item for item in CASES if item["name"] == "anthropic-calls"]
    name = case["calls"][0][0]
    answer = Answer()
    collect(jsonrill.values(case["events"], tool=name, answer=answer))
    assert facts(answer) == ("calls", case["usage"], case["text"])


def test_the_text_grows_while_reading_and_the_counts_come_at_the_end() -> None:
    [case] = [item for item in CASES if item["name"] == "anthropic-complete"]
    answer = Answer()
    seen = []
    for _ in jsonrill.values(iter(case["events"]), answer=answer):
        seen.append(facts(answer))
    assert seen[0][0] is None and case["text"].startswith(seen[0][2])
    assert all(usage is None for _, usage, _ in seen)
    assert answer.usage == case["usage"]


def test_a_loop_that_is_left_early_has_no_counts() -> None:
    for case in COMPLETE:
        answer = Answer()
        for _ in jsonrill.values(iter(case["events"]), answer=answer):
            break
        assert answer.usage is None and answer.finish is None
        assert case["text"].startswith(answer.text)


@pytest.mark.parametrize(
    ("pieces", "whole"),
    [(['{"a": ', None, "1}"], '{"a": 1}'), ([b'{"a": "\xe2\x82', b'\xac"}'], '{"a": "€"}')],
)
def test_plain_text_has_only_its_text(pieces: list[Any], whole: str) -> None:
    for source in (pieces, later(pieces)):
        answer = Answer()
        collect(jsonrill.values(source, answer=answer))
        assert facts(answer) == (None, None, whole)


def test_an_answer_is_reset_by_a_second_stream() -> None:
    answer = Answer()
    for text in ("[1]", "[2]"):
        collect(jsonrill.values(text, answer=answer))
        assert answer.text == text
    for case in COMPLETE[:2]:
        collect(jsonrill.parts(case["events"], answer=answer))
        assert answer.text == case["text"]
    assert repr(answer).startswith("Answer(finish='complete', usage={")
