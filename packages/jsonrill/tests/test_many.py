"""`many=True`: one document after another, each read as if it were alone."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import jsonrill
from jsonrill import InvalidJSON, Truncated, updates, values
from support import by, examples, pieces
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
    expected = next(wanted)
    for value in shown:
        if value == expected:
            expected = next(wanted, None)
    assert expected is None
    assert list(values([LINES.encode()], many=True)) == [{"a": 1}, {"a": [2]}, "x", True]


@pytest.mark.parametrize("size", [1, 2, 100])
def test_values_need_nothing_between_them(size: int) -> None:
    text = '{}[]{"a": 1}"b"2.5[]-3true'
    whole = [{}, [], {"a": 1}, "b", 2.5, [], -3, True]
    shown = values(by(size, text), many=True)
    assert all(any(same(value, expected) for value in shown) for expected in whole)
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
    assert [(item.index, item.data) for item in shown] == [(0, "a"), (1, "b"), (2, "d"), (3, 2)]


def test_an_error_is_an_update() -> None:
    shown = list(updates(["[1]\n[2", " 3]\n", "[4]"], "ONE-BY-ONE", many=True, entity="[*]"))
    assert [item.status for item in shown] == ["COMPLETED", "COMPLETED", "ERROR"]


def test_an_error_at_the_end_of_a_record_ends_all() -> None:
    shown = list(updates(["[1]\n\x1e[2 \n\x1e[3]"], "ONE-BY-ONE", many=True, entity="[*]"))
    assert [(item.status, item.data) for item in shown] == [
        ("COMPLETED", 1),
        ("COMPLETED", 2),
        ("ERROR", None),
    ]


def test_a_prefix_is_before_the_first_document() -> None:
    assert list(values(['"a": 1}\n{"b": 2}'], many=True, prefix="{")) == [{"a": 1}, {"b": 2}]


@pytest.mark.parametrize(
    ("pieces", "prefix", "shown"),
    [([' "}'], '{"a":"', [{"a": " "}]), (["\n[3]"], "[1]", [[1], [3]])],
)
def test_a_prefix_is_text_like_any_other(pieces: list[str], prefix: str, shown: list[Any]) -> None:
    assert list(values(pieces, many=True, prefix=prefix)) == shown


@pytest.mark.parametrize(
    ("text", "shown", "kind", "offset"),
    [
        (b"[1] \xff", [[1]], InvalidJSON, 0),
        (b'{"a": "x\xffy"}', [{"a": "x"}], InvalidJSON, 8),
        (b'["x\xe2\x82', [["x"]], Truncated, 3),
        (b"[1, \xe2\x82", [[1]], InvalidJSON, 4),
    ],
)
def test_bytes_that_are_not_utf_8_have_a_place(
    text: bytes, shown: list[Any], kind: type[InvalidJSON], offset: int
) -> None:
    for cut in ([text], [text[at : at + 1] for at in range(len(text))]):
        values_, error = collect(values(cut, many=True))
        assert values_[-1:] == shown
        assert type(error) is kind and error.offset == offset


def test_other_functions_read_one_document() -> None:
    for read in (jsonrill.fragments, jsonrill.loads, jsonrill.partial):
        with pytest.raises(TypeError, match="unknown option: many"):
            read("{}", many=True)  # type: ignore[call-arg, call-overload]


def test_none_in_a_list_of_deltas_is_no_text() -> None:
    assert list(values([None, '{"a"', None, ": 1}\n", None, "[2]", None], many=True))[-1] == [2]
