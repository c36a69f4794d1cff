"""The parts of an answer: in order, nothing lost, complete when they are."""

from __future__ import annotations

import asyncio
import copy
import json
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from provider_streams import ANSWERS, BUILDERS, THREE, in_a_row, shuffled

from jsonrill import Part, Parts, parts
from jsonrill.errors import SourceFailed
from support import ROOT, at


def chunk(finish: str | None = None, **delta: Any) -> dict[str, Any]:
    return {"id": "c", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def summary(all_parts: list[Part]) -> list[tuple[str, int, str, bool]]:
    return [(part.kind, part.index, part.delta, part.complete) for part in all_parts]


def call(index: int, text: str, **named: str) -> dict[str, Any]:
    function = {"arguments": text, **({"name": named["name"]} if "name" in named else {})}
    return {"index": index, "function": function, **({"id": named["id"]} if "id" in named else {})}


def test_the_parts_come_in_order_as_they_grow() -> None:
    events = [
        chunk(reasoning_content="Let me"),
        chunk(reasoning_content=" look."),
        chunk(tool_calls=[call(0, '{"city":', id="a", name="weather")]),
        chunk(tool_calls=[call(0, '"Rome"}')]),
        chunk(content="One "),
        chunk(content="moment."),
        chunk("stop"),
    ]
    assert summary(list(parts(events))) == [
        ("reasoning", 0, "Let me", False),
        ("reasoning", 0, " look.", False),
        ("reasoning", 0, "", True),
        ("call", 1, '{"city":', False),
        ("call", 1, '"Rome"}', True),
        ("text", 2, "One ", False),
        ("text", 2, "moment.", False),
        ("text", 2, "", True),
    ]


def test_each_part_keeps_the_text_it_had() -> None:
    all_parts = list(parts([chunk(content="a"), chunk(content="b"), chunk("stop")]))
    assert [(part.text, part.value) for part in all_parts] == [
        ("a", "a"),
        ("ab", "ab"),
        ("ab", "ab"),
    ]


def test_a_call_has_its_arguments() -> None:
    all_parts = list(parts([chunk(tool_calls=[call(0, '{"city":"Ro', id="a", name="weather")])]))
    assert all_parts[0].call is not None
    assert all_parts[0].text == '{"city":"Ro' and all_parts[0].value == {"city": "Ro"}
    assert all_parts[-1].call is all_parts[0].call and all_parts[0].call.status == "truncated"
    assert not any(part.complete for part in all_parts)


def test_a_part_keeps_its_state() -> None:
    events = [
        chunk(tool_calls=[call(0, '{"city":"Ro', id="a", name="weather")]),
        chunk(tool_calls=[call(0, 'me","n":[1,2')]),
        chunk(tool_calls=[call(0, "]}")]),
        chunk("tool_calls"),
    ]
    all_parts = list(parts(events))
    assert [part.value for part in all_parts] == [
        {"city": "Ro"},
        {"city": "Rome", "n": [1]},
        {"city": "Rome", "n": [1, 2]},
    ]
    assert [part.status for part in all_parts] == ["streaming"] * 3


RECORDED = [
    json.loads(file.read_text("utf8")) for file in sorted((ROOT / "cases/providers").glob("*.json"))
]
STREAMS: dict[str, list[Any]] = {
    **{name: answer.events for name, answer in ANSWERS.items()},
    **{case["id"]: case["events"] for case in RECORDED},
}


@pytest.mark.parametrize("name", STREAMS)
@given(data=st.data())
@settings(max_examples=15)
def test_each_part_is_complete_exactly_once_for_any_cutting(name: str, data: Any) -> None:
    sent = "".join(f"data: {json.dumps(event)}\n\n" for event in STREAMS[name])
    pieces = at(data.draw(st.lists(st.integers(0, len(sent)), max_size=20)), sent)
    all_parts: list[Part] = []
    with suppress(SourceFailed):
        for part in parts(pieces):
            all_parts.append(part)
    done = Counter(part.index for part in all_parts if part.complete)
    assert set(done.values()) <= {1}
    calls = {part.index: part.call for part in all_parts if part.kind == "call"}
    for index, made in calls.items():
        assert made is not None
        assert (index in done) == (made.status == "complete")
        args = [part.value for part in all_parts if part.index == index and part.complete]
        assert not args or args == [made.args]


def test_blocks_are_parts_of_their_own() -> None:
    def delta(index: int, text: str) -> dict[str, Any]:
        text_delta = {"type": "text_delta", "text": text}
        return {"type": "content_block_delta", "index": index, "delta": text_delta}

    all_parts = list(parts([delta(0, "a"), delta(1, "b"), {"type": "message_stop"}]))
    assert summary(all_parts) == [
        ("text", 0, "a", False),
        ("text", 0, "", True),
        ("text", 1, "b", False),
        ("text", 1, "", True),
    ]


def test_one_of_several_choices() -> None:
    both = {
        "id": "c",
        "choices": [{"index": n, "delta": {"content": text}} for n, text in enumerate("ab")],
    }
    assert [part.delta for part in parts([both])] == ["a", ""]
    assert [part.delta for part in parts([both], choice=1)] == ["b", ""]


def test_the_result_of_a_tool_that_the_provider_runs_is_a_part() -> None:
    use = {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": "x"}}
    result = {"type": "web_search_tool_result", "tool_use_id": "s", "content": [{"url": "u"}]}
    failed = {
        "type": "web_search_tool_result",
        "tool_use_id": "s",
        "content": {"type": "web_search_tool_result_error", "error_code": "too_many"},
    }
    for block, wanted in ((result, ([{"url": "u"}], None)), (failed, (None, "too_many"))):
        events = [
            {"type": "content_block_start", "index": 0, "content_block": use},
            {"type": "content_block_stop", "index": 0},
            {"type": "content_block_start", "index": 1, "content_block": block},
        ]
        last = [part for part in parts(copy.deepcopy(events)) if part.kind == "result"][-1]
        assert last.call.name == "web_search" and last.call.hosted  # type: ignore[union-attr]
        assert last.result == wanted[0]
        assert (last.error is None) if wanted[1] is None else wanted[1] in (last.error or "")


def test_an_error_of_the_provider_is_raised_at_the_end() -> None:
    events = [chunk(content="half"), {"error": {"message": "overloaded"}}]
    all_parts: list[Part] = []
    with pytest.raises(SourceFailed, match="overloaded"):
        all_parts.extend(parts(events))
    reading = Parts()
    fed = [part for event in events for part in reading.feed(event)] + reading.flush()
    assert (reading.outcome, reading.error, reading.text) == ("error", "overloaded", "half")
    assert [part.delta for part in fed] == ["half", ""]


@pytest.mark.parametrize("name", ANSWERS)
def test_joined_the_parts_are_the_answer(name: str) -> None:
    """For every provider, complete, cut off or failed: sync, async and without I/O."""
    answer = ANSWERS[name]
    reading = Parts()
    all_parts = [part for event in answer.events for part in reading.feed(event)] + reading.flush()
    assert "".join(part.delta for part in all_parts if part.kind == "text") == answer.text
    assert reading.text == answer.text
    assert reading.outcome == answer.end
    assert [(call.name, call.args, call.status) for call in reading.calls] == answer.calls
    for call in reading.calls:
        assert "".join(part.delta for part in all_parts if part.call is call) in (call.raw, "")
    first = {part.index: at for at, part in reversed([*enumerate(all_parts)])}
    assert sorted(first) == [*range(len(first))] == sorted(first, key=lambda index: first[index])

    async def events() -> AsyncIterator[Any]:
        for event in answer.events:
            yield event

    async def read() -> list[Part]:
        collected: list[Part] = []
        try:
            async for part in parts(events()):
                collected.append(part)
        except SourceFailed:
            assert answer.end == "error"
        return collected

    assert summary(asyncio.run(read())) == summary(all_parts)


@pytest.mark.parametrize("provider", BUILDERS)
@pytest.mark.parametrize("seed", range(3))
def test_interleaved_calls_keep_their_index(provider: str, seed: int) -> None:
    events = BUILDERS[provider](THREE, shuffled(THREE, seed) if seed else in_a_row(THREE))
    of_call: dict[str, set[int]] = {}
    for part in parts(events):
        if part.kind == "call" and part.call.name:  # type: ignore[union-attr]
            of_call.setdefault(part.call.id, set()).add(part.index)  # type: ignore[union-attr]
    assert len(of_call) == 3 and all(len(indices) == 1 for indices in of_call.values())


def test_wrong_use_is_refused() -> None:
    with pytest.raises(ValueError, match="choice"):
        Parts(choice=-1)
    with pytest.raises(TypeError, match="did you mean schemas"):
        parts([], schema={})  # type: ignore[call-overload]
