"""Modes: for each name, for keys inside an entity, and the options that a mode does not use."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from jsonrill import PartialStream
from jsonrill.partial_stream import Mode
from jsonrill.paths import lookup, matches, parse_pattern
from support import examples, pieces
from support.documents import values
from support.streams import MODES, check_law, run

FILE = '{"filename": "a.txt", "size": 12, "content": "Hello"}'


def shown(text: str, mode: Mode = "REALTIME", size: int = 1, **options: Any) -> list[Any]:
    cut = [text[at : at + size] for at in range(0, len(text), size)]
    return [update.data for update in run(cut, mode, **options)]


# ---- only_complete ----


def test_a_filename_comes_when_it_is_complete_and_the_content_as_it_grows() -> None:
    assert shown(FILE, size=16, only_complete=("filename",)) == [
        {"filename": "a.txt", "size": 12},
        {"filename": "a.txt", "size": 12, "content": "He"},
        {"filename": "a.txt", "size": 12, "content": "Hello"},
    ]
    names = [data.get("filename") for data in shown(FILE, only_complete="filename")]
    assert set(names) == {"a.txt"}
    contents = [data.get("content") for data in shown(FILE, only_complete="filename")]
    assert ["H", "He", "Hel"] == contents[-6:-3]


@pytest.mark.parametrize("mode", ["PROGRESSIVE", "REALTIME"])
def test_numbers_literals_and_containers_are_held_back_too(mode: Mode) -> None:
    text = '{"n": 12, "ok": true, "tags": ["a", {"b": "c"}], "t": "xyz"}'
    flags: dict[str, Any] = {"early_literals": True} if mode == "REALTIME" else {}
    for data in shown(text, mode, only_complete=["n", "ok", "tags"], **flags):
        assert data.get("n") in (None, 12) and data.get("ok") in (None, True)
        assert data.get("tags") in (None, ["a", {"b": "c"}])
    assert {"n": 12, "ok": True} in shown(text, mode, only_complete=["tags"])


def test_patterns_are_those_of_paths_within_the_entity() -> None:
    text = '[{"steps": [{"at": "nine", "do": "eat"}], "a-b": {"x": "one", "y": "two"}}]'
    for data in shown(text, only_complete=["steps[*].at", '["a-b"].x', "root.z"]):
        assert all(step.get("at") in (None, "nine") for step in data.get("steps", []))
    assert {"steps": [{"at": "nine", "do": "e"}]} in shown(text, only_complete="steps[*].at")
    assert {"steps": [{"at": "nine", "do": "eat"}], "a-b": {}} not in shown(
        text, only_complete="a-b"
    )
    wild = shown('{"a": "xy", "b": {"c": "zz"}}', only_complete="*")
    assert wild[:2] == [{"a": "xy"}, {"a": "xy", "b": {"c": "zz"}}]
    assert shown('["ab", "cd"]', only_complete="root") == ["ab", "cd"]
    assert shown('{"a": "xy"}', only_complete="root") == [{"a": "xy"}]


def test_the_open_path_is_the_container_of_a_held_back_value() -> None:
    stream = PartialStream(only_complete="name")
    [update] = stream.feed('{"size": 1, "name": "a.t')
    assert update.data == {"size": 1}
    assert update.open_path == () and not update.is_complete("name")
    [update] = stream.feed('xt", ')
    assert update.is_complete("name") and update.completed == [("name",)]


def test_an_error_has_no_incomplete_values() -> None:
    for mode in ("PROGRESSIVE", "REALTIME"):
        *_, last = run(['{"size": 1, "name": "a.t'], mode, only_complete="name")
        assert last.status == "ERROR" and last.data == {"size": 1}


def test_a_key_that_comes_twice_keeps_its_value_until_the_new_one_is_complete() -> None:
    emitted = run(['{"a": "x", "a": "y', 'z"', ', "b": "', 'c"}'], "REALTIME", only_complete="a",
                send="both")  # fmt: skip
    assert [update.data for update in emitted] == [
        {"a": "x"}, {"a": "yz"}, {"a": "yz", "b": ""}, {"a": "yz", "b": "c"},
    ]  # fmt: skip
    check_law(emitted)


class File(BaseModel):
    name: str
    content: str = ""


def test_a_partial_model_has_no_more_than_the_data() -> None:
    pieces = ['{"content": "x", "name": "a.t', "xt", '"']
    for mode, options in (("PROGRESSIVE", {}), ("REALTIME", {"only_complete": "name"})):
        stream = PartialStream(mode, schema=File, **options)  # type: ignore[arg-type]
        emitted = [update for piece in pieces for update in stream.feed(piece)]
        assert [update.model and update.model.name for update in emitted] == [None, "a.txt"]
        assert [update.data.get("name") for update in emitted] == [None, "a.txt"]


@pytest.mark.parametrize("value", [5, b"a", [5], {"a": "b"}, [""], "", "a..b", ".a", None])
def test_invalid_patterns_are_refused(value: Any) -> None:
    with pytest.raises((TypeError, ValueError), match="only_complete|path|empty"):
        PartialStream(only_complete=value)


PATTERNS = ["a", "b", "*", "[*]", "a.b", "a[*]", "*.*", "[*].a", "root"]


def held(value: Any, patterns: list[str]) -> Iterator[tuple[Any, ...]]:
    """Yield the paths in a value that one of the patterns matches."""
    read = [parse_pattern(pattern) for pattern in patterns]
    todo: list[tuple[Any, ...]] = [()]
    while todo:
        path = todo.pop()
        if any(matches(pattern, path) for pattern in read):
            yield path
        inner = lookup(value, path)[1]
        steps = (
            inner if isinstance(inner, dict) else range(len(inner) if type(inner) is list else 0)
        )
        todo += [(*path, step) for step in steps]


@pytest.mark.parametrize("mode", ["PROGRESSIVE", "REALTIME"])
@examples(100)
@given(value=values, patterns=st.lists(st.sampled_from(PATTERNS), min_size=1), data=st.data())
def test_a_held_back_value_is_complete_or_absent(
    mode: Mode, value: Any, patterns: list[str], data: st.DataObject
) -> None:
    cut = data.draw(pieces(json.dumps([value])))
    emitted = run(cut, mode, only_complete=patterns, send="both")
    check_law(emitted, exact=False)
    assert emitted[-1].status == "COMPLETED" and emitted[-1].data == value
    for update in emitted:
        for path in held(update.data, patterns):
            assert lookup(update.data, path) == lookup(value, path) and update.is_complete(path)


# ---- zero values ----

TYPES = {
    "properties": {
        "s": {"type": "string"}, "n": {"type": "integer"}, "b": {"type": "boolean"},
        "a": {"type": "array", "items": {"type": "string"}}, "o": {"type": "object"},
    }
}  # fmt: skip
TYPED = '{"s": "tu", "n": -12, "b": true, "a": ["uv"], "o": {"p": 1}}'


def test_zero_values_in_progressive_stay_until_the_value_is_complete() -> None:
    emitted = run(list(TYPED), "PROGRESSIVE", schema=TYPES, zero_values=True, send="both")
    check_law(emitted)
    assert [json.dumps(update.data) for update in emitted[:7]] == [
        '{"s": ""}',
        '{"s": "tu"}',
        '{"s": "tu", "n": 0}',
        '{"s": "tu", "n": -12}',
        '{"s": "tu", "n": -12, "b": false}',
        '{"s": "tu", "n": -12, "b": true}',
        '{"s": "tu", "n": -12, "b": true, "a": []}',
    ]


@pytest.mark.parametrize("mode", ["PROGRESSIVE", "REALTIME"])
@given(data=st.data())
def test_zero_values_do_not_depend_on_the_cutting(mode: Mode, data: st.DataObject) -> None:
    """A piece shows the same as the same text in single characters."""
    options: dict[str, Any] = {"schema": TYPES, "zero_values": True}
    known: dict[int, Any] = {0: None}
    stream = PartialStream(mode, **options)
    for at, character in enumerate(TYPED):
        known[at + 1] = next((item.data for item in stream.feed(character)), known[at])
    stream, at, last = PartialStream(mode, **options), 0, None
    for piece in data.draw(pieces(TYPED)):
        at += len(piece)
        last = next((item.data for item in stream.feed(piece)), last)
        assert last == known[at]


def test_a_field_that_must_be_complete_has_no_zero() -> None:
    for data in shown(TYPED, schema=TYPES, zero_values=True, only_complete=["s", "n"]):
        assert data.get("s") in (None, "tu") and data.get("n") in (None, -12)


# ---- options that a mode does not use ----


def test_an_option_that_no_mode_uses_is_refused() -> None:
    values: dict[str, Any] = {"partial_numbers": False, "early_literals": True,
                              "zero_values": True, "only_complete": "a"}  # fmt: skip
    for name, value in values.items():
        used = MODES[4:] if name in ("partial_numbers", "early_literals") else MODES[3:]
        for mode in MODES:
            if mode in used:
                PartialStream(mode, schema={}, **{name: value})
                continue
            with pytest.raises(ValueError, match=f"^{name} is for the mode.*, not for {mode}$"):
                PartialStream(mode, schema={}, **{name: value})
