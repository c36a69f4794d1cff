"""`many=True`: one document after another, each read as if it were alone."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import jsonrill
from jsonrill import InvalidJSON, Truncated, updates, values
from support import examples, pieces
from support.documents import same, texts
from support.streams import collect

LINES = '{"a": 1}\n{"a": [2]}\n"x" true\n'


@examples(100)
@given(st.lists(texts(), max_size=4), st.data())
def test_each_document_has_its_value(documents: list[str], data: Any) -> None:
    separator = data.draw(st.sampled_from([" ", "\n", "\r\n\n", "\x1e", "\n\x1e"]))
    wrapped = [f'{{"all": [{text}]}}' for text in documents]
    cut = data.draw(pieces(separator.join(wrapped)))
    shown = updates(cut, "ONE-BY-ONE", many=True, entity="all")
    assert same([update.data for update in shown], [json.loads(text) for text in documents])


@pytest.mark.parametrize("size", [1, 3, 7, 100])
def test_values_grow_in_each_document(size: int) -> None:
    cut = [LINES[at : at + size] for at in range(0, len(LINES), size)]
    shown = list(values(cut, many=True))
    wanted = iter([{"a": 1}, {"a": [2]}, "x", True])
    want = next(wanted)
    for value in shown:
        if value == want:
            want = next(wanted, None)
    assert want is None
    assert list(values([LINES.encode()], many=True)) == [{"a": 1}, {"a": [2]}, "x", True]


def test_values_need_nothing_between_them() -> None:
    assert list(values('{}[]{"a": 1}', many=True)) == [{}, [], {"a": 1}]
    assert list(values("", many=True)) == list(values(" \n", many=True)) == []


def test_repair_reads_each_document() -> None:
    text = "```json\n{'a': 1,}\n```\nand\n```json\n{'b': 2}\n```"
    for cut in ([text], list(text)):
        assert list(values(cut, many=True, repair=True))[-1] == {"b": 2}


def test_the_first_error_ends_all() -> None:
    shown, error = collect(values('{"a": 1}\n{"b" 2}\n{"c": 3}', many=True))
    assert shown == [{"a": 1}, {}]
    assert type(error) is InvalidJSON and error.offset == 5
    assert type(collect(values('{"a": 1}\n{"b"', many=True))[1]) is Truncated
    assert type(collect(values([b'"\xff"'], many=True))[1]) is InvalidJSON


def test_entities_are_counted_over_all_documents() -> None:
    text = '{"c": ["a", "b"]}{"c": ["d"]} {"c": 2}'
    shown = list(updates(text, "ONE-BY-ONE", many=True, entity="c"))
    assert [(it.index, it.data) for it in shown] == [(0, "a"), (1, "b"), (2, "d"), (3, 2)]


def test_an_error_is_an_update() -> None:
    shown = list(updates(["[1]\n[2", " 3]\n", "[4]"], "ONE-BY-ONE", many=True, entity="[*]"))
    assert [it.status for it in shown] == ["COMPLETED", "COMPLETED", "ERROR"]


def test_a_prefix_is_before_the_first_document() -> None:
    assert list(values(['"a": 1}\n{"b": 2}'], many=True, prefix="{")) == [{"a": 1}, {"b": 2}]


def test_other_functions_read_one_document() -> None:
    for read in (jsonrill.fragments, jsonrill.loads, jsonrill.partial):
        with pytest.raises(TypeError, match="unknown option: many"):
            read("{}", many=True)  # type: ignore[call-arg, call-overload]
    with pytest.raises(ValueError, match="many is true or false"):
        values("{}", many="yes")  # type: ignore[call-overload]
