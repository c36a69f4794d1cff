"""The writer of JSON: its text reads back, and values that JSON cannot express are refused."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest

from jsonrill.jsontext import dumps, quoted, write


@pytest.mark.parametrize("value", [float("nan"), [float("inf"), float("nan")], [Decimal("nan")]])
def test_nan_is_refused(value: Any) -> None:
    with pytest.raises((ValueError, TypeError), match="JSON"):
        dumps(value)


def test_a_value_that_holds_itself_is_refused() -> None:
    circle: list[object] = []
    circle.append({"deeper": circle})
    for value in (circle, [Decimal(1), circle]):
        with pytest.raises(ValueError, match="contains itself"):
            dumps(value)


def test_a_value_that_comes_twice_is_written_twice() -> None:
    twice = {"a": [Decimal("1.50")]}
    assert dumps([twice, twice]) == '[{"a":[1.50]},{"a":[1.50]}]'


def test_the_iterative_writer_writes_what_the_standard_library_does() -> None:
    value: Any = {"a": [1, 2.5, True, None, "é", [], {}], "": {"x": ((), ("y",))}, "é": "\n"}
    fast = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    assert write(value, json.dumps) == fast == dumps(value)


def test_keys_that_are_not_strings_become_strings() -> None:
    value: dict[Any, Any] = {0: "a", True: "b", None: "c", 2.5: "d"}
    assert dumps(value | {"e": Decimal(1)}) == dumps(value)[:-1] + ',"e":1}'


def test_depth_has_no_bound() -> None:
    deep: Any = []
    for _ in range(50_000):
        deep = [deep]
    assert dumps(deep) == "[" * 50_001 + "]" * 50_001
    with pytest.raises(RecursionError):
        dumps(deep, strict=True)


def test_infinity_reads_back_as_infinity() -> None:
    assert json.loads(dumps([float("inf"), float("-inf")])) == [float("inf"), float("-inf")]


def test_lone_surrogates_are_escapes() -> None:
    assert quoted("é\ud83d") == '"é\\ud83d"'
    assert dumps({"\ud83d": ["\udc00", Decimal(1)]}) == '{"\\ud83d":["\\udc00",1]}'


def test_what_has_no_json_form_is_a_type_error() -> None:
    for value in (b"bytes", object(), [Decimal(1), b"bytes"]):
        with pytest.raises(TypeError):
            dumps(value)
