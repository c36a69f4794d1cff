"""Reasoning between `<think>` tags at the beginning of a text is a part of its own."""

from __future__ import annotations

from typing import Any

import pytest

from jsonrill import Part, parts, run_tools
from support import cuttings


def chunks(pieces: list[str], finish: str | None = "stop") -> list[dict[str, Any]]:
    def chunk(delta: dict[str, Any], reason: str | None = None) -> dict[str, Any]:
        return {"id": "c", "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}

    return [*(chunk({"content": piece}) for piece in pieces), chunk({}, finish)]


def summary(all_parts: list[Part]) -> list[tuple[str, str]]:
    last = {part.index: part for part in all_parts}
    return [(part.kind, part.text) for part in last.values()]


@pytest.mark.parametrize(
    "text, expected",
    [
        ("<think>Rain?</think>\nYes.", [("reasoning", "Rain?"), ("text", "\nYes.")]),
        ("\n<thinking>a < b</thinking>c", [("reasoning", "a < b"), ("text", "c")]),
        ("<think></think>Yes.", [("text", "Yes.")]),
        ("<think>a</think>b<think>c</think>", [("reasoning", "a"), ("text", "b<think>c</think>")]),
        ("<think>cut", [("reasoning", "cut")]),
        ("<think>cut</thi", [("reasoning", "cut</thi")]),
        ("Use <think> tags.", [("text", "Use <think> tags.")]),
        ("<thin", [("text", "<thin")]),
        ("<b>Yes</b>", [("text", "<b>Yes</b>")]),
    ],
)
def test_a_text_is_divided_for_any_cutting(text: str, expected: list[tuple[str, str]]) -> None:
    for pieces in cuttings(text):
        assert summary([*parts(chunks(pieces))]) == expected


def test_reasoning_is_complete_when_its_tag_closes() -> None:
    seen = [*parts(chunks(["<think>a</think>b"]))]
    assert [(part.kind, part.delta, part.complete) for part in seen] == [
        ("reasoning", "a", False),
        ("reasoning", "", True),
        ("text", "b", False),
        ("text", "", True),
    ]


def test_the_next_request_gets_the_text_without_the_reasoning() -> None:
    running = run_tools(chunks(["<think>a</think>", "b"]), {})
    assert [part.kind for part in running][-1] == "text"
    assert running.text == "b"
    assert running.messages() == [{"role": "assistant", "content": "b"}]
