"""What the documents of the originals state, checked for jsonrill; most is on the chunker.

cases/chunker.json has the walkthroughs of the documents; the promises are properties (P5, P6, P11).
docs/origins.md lists what differs from the original, and why.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from jsonrill import Chunker, Parser, Rebuilder, ToolCalls, chunks
from jsonrill.paths import format_path, parse_path

END = {"path": "root", "kind": "EndArray"}


def feed_all(*snapshots: Any, **options: Any) -> tuple[Chunker, list[str]]:
    chunker = Chunker(**options)
    return chunker, [chunker.feed(snapshot) for snapshot in snapshots]


# Each row: the statement, snapshots, and the chunks; `flush()` is not called.
STATEMENTS: list[tuple[str, list[Any], list[str]]] = [
    (
        "keys may change their order",
        [{"title": "A", "ok": True}, {"ok": True, "title": "AB"}],
        ['{"ok":true,"title":"A', "B"],
    ),
    (
        "a string grows, from an empty one on",
        [{"a": ""}, {"a": "Mount"}, {"a": "Mount Fuji"}],
        ['{"a":"', "Mount", " Fuji"],
    ),
    ("an array grows", [{"d": []}, {"d": [{}]}, {"d": [{"n": ""}]}], ['{"d":[', "{", '"n":"']),
    (
        "Sibling: the extension, the quote, the sibling",
        [{"name": "Mat"}, {"name": "Matthew", "age": "3"}],
        ['{"name":"Mat', 'thew","age":"3'],
    ),
    (
        "Parent-Level: days[1] completes days[0]",
        [{"days": [{"a": {"t": "x"}}]}, {"days": [{"a": {"t": "xy"}}, {"a": {}}]}],
        ['{"days":[{"a":{"t":"x', 'y"}},{"a":{'],
    ),
    (
        "Unchanged: the value before a sibling is complete",
        [{"name": "Matthew"}, {"name": "Matthew", "age": 32}],
        ['{"name":"Matthew', '","age":32'],
    ),
    (
        "Pending: two strings after a number, complete ones first",
        [{"c": 5}, {"c": 5, "a": "He", "b": "W"}, {"c": 5, "a": "He", "b": "Wo"}],
        ['{"c":5', "", ',"a":"He","b":"Wo'],
    ),
    (
        "Pending: a string and an array",
        [{"a": "x", "l": ["y"]}, {"a": "x", "l": ["y", "z"]}],
        ["{", '"a":"x","l":["y","z'],
    ),
    (
        "Pending: two objects",
        [{"o": {"x": "1"}, "p": {"y": "2"}}, {"o": {"x": "1"}, "p": {"y": "23"}}],
        ["{", '"o":{"x":"1"},"p":{"y":"23'],
    ),
    ("booleans and null are complete", [{"t": True, "n": None}], ['{"n":null,"t":true']),
    ("one new container: bracket, recurse", [{"a": {"b": {"c": "x"}}}], ['{"a":{"b":{"c":"x']),
    (
        "held values that are complete are sorted by path",
        [{"z": "1", "m": "2", "a": "3", "q": ""}, {"z": "1", "m": "2", "a": "3", "q": "n"}],
        ["{", '"a":"3","m":"2","z":"1","q":"n'],
    ),
    (
        "two held values change: the next snapshot decides, and nothing waits for long",
        [{"b": "", "a": ""}, {"b": "h", "a": "z"}, {"b": "he", "a": "z"}, {"b": "hel", "a": "z"}],
        ["{", "", '"a":"z","b":"he', "l"],
    ),
    (
        "two held values change twice: the first by path is opened",
        [{"b": "", "a": ""}, {"b": "h", "a": "z"}, {"b": "he", "a": "zz"}],
        ["{", "", '"a":"zz'],
    ),
    (
        "closing down to an outer path",
        [{"a": {"b": [{"c": "x"}]}}, {"a": {"b": [{"c": "x"}]}, "d": ""}],
        ['{"a":{"b":[{"c":"x', '"}]},"d":"'],
    ),
    (
        "a held container is active if any descendant changed",
        [{"a": "x", "b": {"c": {}}}, {"a": "x", "b": {"c": {"d": {}}}}],
        ["{", '"a":"x","b":{"c":{"d":{'],
    ),
    (
        "commas before all but the first",
        [[], [{}], [{}, {}], [{}, {}, "x"]],
        ["[", "{", "},{", '},"x'],
    ),
    (
        "any depth",
        [
            {"d": [{"a": [1, 2, {"n": ["He"]}]}]},
            {"d": [{"a": [1, 2, {"n": ["Hello"]}]}]},
        ],
        ['{"d":[{"a":[1,2,{"n":["He', "llo"],
    ),
    (
        "a string grows and a number is new: text, quote, comma, number",
        [{"a": "wor"}, {"a": "world", "c": 123}],
        ['{"a":"wor', 'ld","c":123'],
    ),
]


@pytest.mark.parametrize(
    "statement, snapshots, expected", STATEMENTS, ids=[row[0] for row in STATEMENTS]
)
def test_a_statement_of_the_originals_holds(
    statement: str, snapshots: list[Any], expected: list[str]
) -> None:
    chunker, texts = feed_all(*snapshots, verify=True)
    assert texts == expected
    assert json.loads("".join(texts) + chunker.flush()) == snapshots[-1]


def test_the_text_does_not_depend_on_the_key_order() -> None:
    snapshots = [
        {"b": "", "a": {}},
        {"b": "h", "a": {"y": 1, "x": "2"}},
        {"b": "he", "a": {"x": "2", "y": 1}},
    ]
    backwards = [dict(reversed(snapshot.items())) for snapshot in snapshots]
    assert list(chunks(snapshots)) == list(chunks(backwards))


def test_flush_writes_held_values_sorted_and_closes_in_reverse_order() -> None:
    chunker, texts = feed_all({"l": [{"b": "x", "a": "y"}]})
    assert [*texts, chunker.flush()] == ['{"l":[{', '"a":"y","b":"x"}]}']


def test_open_path_and_held_are_the_state() -> None:
    chunker, _ = feed_all({"days": [{"subtitle": "Day"}]})
    assert (chunker.open_path, chunker.held) == (("days", 0, "subtitle"), {})
    chunker.feed({"days": [{"subtitle": "Day 1", "activities": []}]})
    assert (chunker.open_path, chunker.held) == (("days", 0, "activities"), {})
    chunker.feed({"days": [{"subtitle": "Day 1", "activities": [{"title": "", "type": "Food"}]}]})
    assert chunker.open_path == ("days", 0, "activities", 0)
    assert list(chunker.held) == [(*chunker.open_path, "title"), (*chunker.open_path, "type")]


def test_paths_of_the_original_are_read() -> None:
    path = parse_path("days[0].activities[1].title")
    assert path == ("days", 0, "activities", 1, "title")
    assert format_path(path) == "root.days[0].activities[1].title"


def test_final_numbers_are_complete_at_once() -> None:
    snapshots = [{"b": "hello", "a": 1}, {"a": 1, "b": "hello world"}]
    assert feed_all(*snapshots, numbers="final")[1] == ['{"a":1,"b":"hello', " world"]


def test_chunks_of_a_stream_are_not_empty() -> None:
    snapshots = [
        {"name": "Mat"},
        {"name": "Mat"},
        {"name": "Matthew"},
        {"name": "Matthew", "age": 32},
    ]
    texts = list(chunks(snapshots))
    assert texts == ['{"name":"Mat', "thew", '","age":32', "}"]
    assert json.loads("".join(texts)) == {"name": "Matthew", "age": 32}


def test_json_complete_and_nothing_before_it_completes_a_rebuilder() -> None:
    for text in ('{"a": [1]}', "[]", '"x"', "null"):
        parser, rebuilder = Parser(), Rebuilder()
        for fragment in parser.feed(text):
            rebuilder.feed([fragment.to_dict()])
            is_last = fragment.kind == "JsonComplete"
            assert (rebuilder.is_complete(), rebuilder.complete) == (is_last, is_last)


def call_event(**fields: Any) -> dict[str, Any]:
    update = {"tool_call_id": "c", "index": 0, "function_name": "f", **fields}
    return {"kind": "tools_call_update", "messageId": "m", "tool_call_updates": [update]}


def chat_event(text: str) -> dict[str, Any]:
    call = {"index": 0, "id": "c", "function": {"name": "f", "arguments": text}}
    return {"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]}


@pytest.mark.parametrize(
    "events",
    [
        # An empty object may be a placeholder; the end of the root is not yet JsonComplete.
        [chat_event("{}"), chat_event('{"a": 1}')],
        [
            call_event(json_update_fragments=[{"path": "root", "kind": "StartArray"}, END]),
            call_event(json_update_fragments=[{"path": "root", "kind": "JsonComplete"}]),
        ],
    ],
)
def test_a_call_is_complete_with_all_its_arguments(events: list[dict[str, Any]]) -> None:
    calls = ToolCalls()
    for event, expected in zip(events, (False, True), strict=True):
        calls.feed(event)
        [call] = calls.calls
        assert (call.is_complete(), call.complete_args) == (expected, expected)
