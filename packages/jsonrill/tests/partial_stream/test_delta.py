"""Deltas: the cases that other languages read too, and the change between any two values."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import example, given
from jsonrill.partial_stream.delta import difference

from jsonrill.deltas import apply_delta
from support import ROOT, examples
from support.prefixes import VALUES
from support.streams import check_law, run

CASES = json.loads((ROOT / "cases" / "delta.json").read_text("utf8"))


def name_of(case: Any) -> str:
    return str(case["name"])


@pytest.mark.parametrize("case", CASES["cases"], ids=name_of)
def test_cases(case: dict[str, Any]) -> None:
    before = copy.deepcopy(case)
    assert apply_delta(case["previous"], case["delta"]) == case["data"]
    assert case == before, "something was changed that is not ours"


@pytest.mark.parametrize("case", CASES["refused"], ids=name_of)
def test_refused(case: dict[str, Any]) -> None:
    before = copy.deepcopy(case)
    with pytest.raises(ValueError):
        apply_delta(case["previous"], case["delta"])
    assert case == before


@pytest.mark.parametrize("delta", [None, 3, "add", b"", [None], [[]], [{"op": [], "path": ""}]])
def test_what_is_no_delta_is_a_value_error(delta: Any) -> None:
    with pytest.raises(ValueError):
        apply_delta({}, delta)


@pytest.mark.parametrize("case", CASES["streams"], ids=name_of)
def test_streams(case: dict[str, Any]) -> None:
    updates = run(case["pieces"], "REALTIME", send="both")
    assert [update.delta for update in updates][: len(case["deltas"])] == case["deltas"]
    check_law(updates)
    assert apply_all(case["deltas"]) == case["data"]


def apply_all(deltas: list[Any]) -> Any:
    value = None
    for delta in deltas:
        value = apply_delta(value, delta)
    return value


def test_a_number_that_is_equal_but_written_otherwise_is_told_with_the_next_change() -> None:
    updates = run(['{"a": 1', ".0", ', "b": "x', '"}'], "REALTIME", send="both")
    assert [update.delta for update in updates] == [
        [{"op": "add", "path": "", "value": {"a": 1}}],
        [{"op": "replace", "path": "/a", "value": 1.0}, {"op": "add", "path": "/b", "value": "x"}],
        [],
    ]
    check_law(updates)


@examples(200)
@given(old=VALUES, new=VALUES)
@example(old=[0.0], new=[-0.0])
def test_the_difference_of_any_two_values(old: Any, new: Any) -> None:
    kept = copy.deepcopy(old)
    delta = json.loads(json.dumps(difference(old, new)))
    assert repr_sorted(apply_delta(old, delta)) == repr_sorted(new)
    assert old == kept
    assert difference(new, copy.deepcopy(new)) == []


def repr_sorted(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def test_the_difference_of_what_grew_is_small() -> None:
    old = {"a": "x", "b": [1, {"c": "y"}], "d": 1}
    new = {"a": "xz", "b": [1, {"c": "y", "e": 2}, 3], "d": 1.5}
    assert sorted(difference(old, new), key=lambda change: str(change["path"])) == [
        {"op": "append", "path": "/a", "value": "z"},
        {"op": "add", "path": "/b/1/e", "value": 2},
        {"op": "add", "path": "/b/2", "value": 3},
        {"op": "replace", "path": "/d", "value": 1.5},
    ]


def test_a_difference_deep_down() -> None:
    old: Any = []
    new: Any = [1]
    for _ in range(20_000):
        old, new = [old], [new]
    [change] = difference(old, new)
    assert (change["op"], change["value"], len(change["path"])) == ("add", 1, 2 * 20_001)


def test_what_comes_with_a_delta_is_not_written_into() -> None:
    delta: list[dict[str, Any]] = [
        {"op": "add", "path": "/a", "value": {"b": []}},
        {"op": "add", "path": "/a/b/0", "value": 1},
    ]
    kept = copy.deepcopy(delta)
    assert apply_delta({}, delta) == {"a": {"b": [1]}}
    assert apply_delta({}, iter(delta)) == {"a": {"b": [1]}}
    assert delta == kept
