"""Prose, reasoning, JSON and calls in one text: nothing lost, in order, however it is cut."""

from __future__ import annotations

import functools
import json
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsonrill import Part, Parts, parts, run_tools
from jsonrill.answers.split import NAMES, Splitter
from support import cases, cuttings, few, pieces
from support.costs import is_flat

CASES: list[dict[str, Any]] = cases("split.json")
every_case = pytest.mark.parametrize("case", CASES, ids=lambda case: str(case["name"]))


def read(text: list[str], split: Any = True, repair: bool = False) -> list[Part]:
    return list(parts(text, split=split, repair=repair))


def summaries(seen: list[Part]) -> list[list[Any]]:
    """Kind and content of each part: the value of JSON, name, arguments and status of a call."""
    last = {part.index: part for part in seen}
    listed = []
    for part in last.values():
        if part.kind == "call" and part.call is not None:
            listed.append(["call", part.call.name, part.call.args, part.call.status])
        elif part.kind == "json":
            listed.append(["json", part.value])
        else:
            listed.append([part.kind, part.text])
    return listed


def options(case: dict[str, Any]) -> Any:
    return case.get("split", True), case.get("repair", False)


@every_case
def test_the_parts_of_a_text(case: dict[str, Any]) -> None:
    for cut in (*cuttings(case["text"]), [case["text"].encode()]):
        seen = read(cut, *options(case))  # type: ignore[arg-type]
        assert summaries(seen) == case["parts"], cut
        assert "".join(part.raw for part in seen) == case["text"]
        if "raw" in case:
            assert raws(seen) == case["raw"]


@every_case
def test_the_raw_text_of_each_part_does_not_depend_on_the_cutting(case: dict[str, Any]) -> None:
    whole, *others = (raws(read(cut, *options(case))) for cut in cuttings(case["text"]))
    assert all(other == whole for other in others)


def raws(seen: list[Part]) -> list[str]:
    shown: dict[int, str] = {}
    for part in seen:
        shown[part.index] = shown.get(part.index, "") + part.raw
    return [*shown.values()]


@few(10)
@every_case
def test_cut_in_every_place(case: dict[str, Any]) -> None:
    text = case["text"]
    for at in range(1, len(text)):
        assert summaries(read([text[:at], text[at:]], *options(case))) == case["parts"], at


@few(10)
@every_case
def test_what_has_come_is_shown_and_nothing_else_raised(case: dict[str, Any]) -> None:
    """Of every beginning of a text nothing is lost, and only complete calls are complete."""
    text = case["text"]
    for at in range(len(text)):
        seen = read([text[:at]], *options(case))
        assert "".join(part.raw for part in seen) == text[:at]
        whole = [
            part[1:3] for part in case["parts"] if part[0] == "call" and part[3] != "truncated"
        ]
        for part in summaries(seen):
            if part[0] == "call" and part[3] == "complete":
                assert part[1:3] in whole


@every_case
def test_several_texts_in_one_piece(case: dict[str, Any]) -> None:
    """One piece with several tags, which is where parsers made by hand fail."""
    if options(case) != (True, False) or case.get("open"):
        return
    twice = summaries(read([f"{case['text']}\nand\n{case['text']}\n"]))
    called = [part[1:3] for part in case["parts"] if part[0] == "call"]
    assert [part[1:3] for part in twice if part[0] == "call"] == called * 2


def test_the_split_text_of_a_provider() -> None:
    text = 'So.<tool_call>{"name":"f","arguments":{"a":1}}</tool_call>'
    events = [
        {"id": "c", "choices": [{"index": 0, "delta": {"content": piece}}]}
        for piece in (text[:20], text[20:])
    ]
    events.append({"id": "c", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    seen = list(parts(events, split=True))
    assert summaries(seen) == [["text", "So."], ["call", "f", {"a": 1}, "complete"]]
    assert summaries(list(parts(events))) == [["text", text]]
    running = run_tools(events, {"f": lambda a: a + 1}, split=True)
    assert [part.result for part in running if part.kind == "result"] == [2]
    assert running.messages()[0]["tool_calls"][0]["function"]["name"] == "f"


@pytest.mark.parametrize("form", ["events", "named", "bytes", "response", "lines"])
def test_the_events_of_a_provider_are_not_the_text(form: str) -> None:
    events = [
        {"id": "c", "choices": [{"index": 0, "delta": {"content": text}}]}
        for text in ("<think>a</thi", "nk>b")
    ]
    events.append({"id": "c", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    text = "".join(f"data: {json.dumps(event)}\n\n" for event in events) + "data: [DONE]\n\n"
    lines = "".join(json.dumps(event) + "\n" for event in events)

    def source() -> tuple[Any, dict[str, Any]]:
        if form == "events":
            return events, {}
        if form in ("response", "lines"):
            kind = "text/event-stream" if form == "response" else "application/x-ndjson"
            body = text if form == "response" else lines
            return httpx.Response(200, headers={"content-type": kind}, content=body), {}
        return [text] if form == "named" else text.encode(), {"provider": "openai_chat"}

    for read_with in (parts, functools.partial(run_tools, tools={})):
        stream, named = source()
        read: Any = read_with
        all_parts = [*read(stream, split=True, **named)]
        texts = [(part.kind, part.text) for part in all_parts if part.complete]
        assert texts == [("reasoning", "a"), ("text", "b")]


@pytest.mark.parametrize(
    "members",
    [
        '"arguments": {"a": 1}, "arguments": {"b": 2}',
        '"arguments": {}, "arguments": {"b": 2}',
        '"arguments": "{}", "parameters": {"b": 2}',
        '"arguments": {"a": "print("}")", "n": 1}',
        '"arguments": {"a": "s.split("]")"}',
    ],
)
@pytest.mark.parametrize("repair", [False, True])
def test_arguments_that_come_twice_or_end_too_early_are_an_error(
    members: str, repair: bool
) -> None:
    text = f'<tool_call>{{"name": "f", {members}}}</tool_call>'
    for cut in cuttings(text):
        calls = [part.call for part in parts(cut, split=True, repair=repair) if part.call]
        assert calls[-1].status in ("error", "truncated") and not calls[-1].complete_args


@pytest.mark.parametrize("repair", [False, True])
def test_the_closing_tag_is_no_part_of_the_arguments(repair: bool) -> None:
    text = '<tool_call>{"name": "f", "arguments": {"a": "x"}</tool_call>'
    for cut in cuttings(text):
        *_, last = parts(cut, split=True, repair=repair)
        assert last.text == '{"a": "x"}' and last.complete
        assert summaries([last]) == [["call", "f", {"a": "x"}, "complete"]]


def test_only_a_possible_beginning_is_held_back() -> None:
    reading = Parts(split=True)
    assert [part.raw for part in reading.feed_text("a <tool")] == ["a "]
    assert [part.raw for part in reading.feed_text("s and <b>")] == ["<tools and <b>"]
    assert [part.raw for part in reading.feed_text("<think")] == ["<think"]  # not in a new line
    assert [part.raw for part in reading.feed_text("\n<think")] == ["\n"]


def test_a_long_string_argument_comes_live() -> None:
    reading = Parts(split=True)
    reading.feed_text("<tool_call>\n<function=write>\n<parameter=content>\n")
    shown = [
        part.value for piece in ("Once ", "upon ", "a time") for part in reading.feed_text(piece)
    ]
    assert shown[-1] == {"content": "Once upon a time"}


def test_a_broken_json_block_says_so() -> None:
    seen = read(['```json\n{"a": nope}\n```'])
    assert seen[-1].error and not any(part.complete for part in seen)
    assert summaries(read(["```json\n{'a': 1,}\n```"], True))[0][0] == "json"
    repaired = list(parts(["```json\n{'a': 1,}\n```"], split=True, repair=True))
    assert repaired[-1].complete and repaired[-1].value == {"a": 1}


def test_the_id_of_a_call_does_not_depend_on_the_pieces() -> None:
    text = (
        "<|tool_calls_section_begin|><|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>"
        "{}<|tool_call_end|><|tool_calls_section_end|>"
    )
    for cut in cuttings(text):
        calls = [part.call for part in read(cut) if part.call is not None]
        assert {call.id for call in calls} == {"functions.f:0"}


def test_names_are_checked() -> None:
    with pytest.raises(ValueError, match="hermes"):
        Splitter({"hermess"})
    assert "pythonic" in NAMES
    assert summaries(read(["[f(a=1)]"])) == [["text", "[f(a=1)]"]]
    assert summaries(read(["[f(a=1)]"], "pythonic")) == [["call", "f", {"a": 1}, "complete"]]


TAGS = st.sampled_from(
    [part for case in CASES for part in (case["text"], case["text"][:9], case["text"][-9:])]
)


@given(st.lists(st.one_of(TAGS, st.text(max_size=5)), max_size=6).map("".join), st.data())
def test_any_text_in_any_cutting(text: str, data: Any) -> None:
    """The raw text of the parts is the text, and the cutting makes no difference."""
    cut = data.draw(pieces(text))
    for split in (True, set(NAMES)):
        seen, whole = read(cut, split), read([text], split)
        assert "".join(part.raw for part in seen) == text
        assert summaries(seen) == summaries(whole)
        for part in seen:
            json.dumps(part.value)


@few(3)
@pytest.mark.parametrize(
    "opening",
    [
        "",
        "<think>",
        '```json\n{"a": "',
        '<tool_call>{"name": "f", "arguments": {"a": "',
        '<tool_call>{"x": "',
        "<tool_call>\n<function=f>\n<parameter=a>\n{",
        "<tool_call>\n<function=f>\n<parameter=a>\nx",
        "<tool_call>f\n",
        "[TOOL_CALLS]",
        "<|tool_calls_section_begin|>",
    ],
)
@pytest.mark.parametrize("filler", ["x", "<", " ", "`", "\n", "]"])
def test_the_cost_of_a_piece_does_not_grow(opening: str, filler: str) -> None:
    def start(size: int) -> Any:
        splitter = Splitter(True)
        splitter.feed(opening)
        for _ in range(size):
            splitter.feed(filler * 4)
        return lambda: splitter.feed(filler * 4)

    is_flat(start, small=200, large=10_000)
