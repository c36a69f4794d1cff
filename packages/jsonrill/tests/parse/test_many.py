"""Many documents in a row: by newlines, by nothing, by separators; good ones among bad ones."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import cycle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsonrill import (
    Document,
    InvalidJSON,
    LimitExceeded,
    Limits,
    Parser,
    Rebuilder,
    Truncated,
    fragments,
    updates,
    values,
)
from support import at_random, by, by_character, cuttings, examples, few, pieces
from support.costs import is_flat, is_linear
from support.documents import described, same, spoiled, texts
from support.near_json import report


def documents(cut: list[Any], **options: Any) -> tuple[dict[int, Any], list[str]]:
    """The value of each document that has begun, by its number; and the errors."""
    parser = Parser(many=True, **options)
    rebuilders: dict[int, Rebuilder] = {}
    for new_fragments in [*map(parser.feed, cut), parser.flush()]:
        for fragment in new_fragments:
            rebuilders.setdefault(fragment.document, Rebuilder()).feed([fragment])
    errors = [str(error) for error in parser.errors]
    return {number: one.value for number, one in rebuilders.items()}, errors


def cuttings_of(text: str) -> list[list[Any]]:
    """As text and as bytes."""
    return [*cuttings(text), *cuttings(text.encode())]


TEXTS: list[tuple[str, list[Any]]] = [
    ("", []),
    (" \n\t\r\n", []),
    ("1\n2\n3\n", [1, 2, 3]),
    ("1 2 3", [1, 2, 3]),
    ('{"a": 1}\n{"a": 2}\n', [{"a": 1}, {"a": 2}]),
    ('{"a": 1}{"a": 2}[][[]]', [{"a": 1}, {"a": 2}, [], [[]]]),
    ('{\n  "a": 1\n}\n{\n  "a": 2\n}', [{"a": 1}, {"a": 2}]),
    ('"a""b" "c"', ["a", "b", "c"]),
    ("truefalsenull", [True, False, None]),
    ('1"a"2[3]4', [1, "a", 2, [3], 4]),
    ("\x1e1\n\x1e2\n", [1, 2]),
    ('\x1e{"a": 1}\n\x1e{"a": 2}\n', [{"a": 1}, {"a": 2}]),
    ("\x1e\x1e\n\x1e[]\x1e\x1e{}\x1e", [[], {}]),
    ("[1]\r\n[2]\r\n", [[1], [2]]),
]


@pytest.mark.parametrize("repair", [False, True])
@pytest.mark.parametrize("text, expected", TEXTS)
def test_documents_in_a_row(text: str, expected: list[Any], repair: bool) -> None:
    for cut in cuttings_of(text):
        by_number, errors = documents(cut, repair=repair)
        assert same(by_number, dict(enumerate(expected)))
        assert not errors


LOST: list[tuple[str, dict[int, Any], list[str]]] = [
    (
        '{"a": 1}\n{"a": oops}\n{"a": 3}\n',
        {0: {"a": 1}, 1: {}, 2: {"a": 3}},
        ["expected a value but got 'o' at character 15, in root.a"],
    ),
    (
        "so\n1\n",
        {1: 1},
        ["expected a value but got 's' at character 0, in root"],
    ),
    (
        "[1, 2\n[3]\n",
        {0: [1, 2], 1: [3]},
        ["expected ',' or ']' but got '[' at character 6, in root"],
    ),
    (
        '{"a": "cut off\n{"a": 2}\n',
        {0: {"a": "cut off"}, 1: {"a": 2}},
        ["expected no control character in a string but got '\\n' at character 14, in root.a"],
    ),
    (
        '{"a"\n{"a": 2}\n',
        {0: {}, 1: {"a": 2}},
        ["expected ':' but got '{' at character 5, in root.a"],
    ),
    (
        "\x1e[1, 2\x1e[3]\x1e",
        {0: [1], 1: [3]},
        ["expected ',' or ']' but got '\\x1e' at character 6, in root[1]"],
    ),
    (
        '\x1e["a\x1e[3]',
        {0: ["a"], 1: [3]},
        ["expected no control character in a string but got '\\x1e' at character 4, in root[0]"],
    ),
    (
        "\x1enul\x1e[3]",
        {1: [3]},
        ["expected 'null' but got '\\x1e' at character 4, in root"],
    ),
    (
        "[1] ] [2]\n[3]\n",
        {0: [1], 2: [3]},
        ["expected a value but got ']' at character 4, in root"],
    ),
    (
        "nul\nul\n0",
        {2: 0},
        [
            "expected 'null' but got '\\n' at character 3, in root",
            "expected a value but got 'u' at character 4, in root",
        ],
    ),
    (
        "[1]\n[2",
        {0: [1], 1: []},
        ["expected ',' or ']' but the text ended at character 6, in root[0]"],
    ),
]


@pytest.mark.parametrize("text, expected, messages", LOST)
def test_an_error_ends_that_document_only(
    text: str, expected: dict[int, Any], messages: list[str]
) -> None:
    for cut in cuttings_of(text):
        by_number, errors = documents(cut)
        assert errors == messages
        assert same(by_number, expected)


def test_errors_say_what_and_where() -> None:
    parser = Parser(many=True)
    parser.feed('[1]\n{"a": [1, x\n[2')
    assert parser.document == 2
    parser.flush()
    assert [type(error) for error in parser.errors] == [InvalidJSON, Truncated]
    assert [(error.line, error.column) for error in parser.errors] == [(2, 11), (3, 3)]
    assert parser.errors[0].path == ("a", 1)


def test_bad_bytes_end_their_document_only() -> None:
    text = b'["\xff\xff\xfe"]\n[1]\n\xff[2]\n[3]\n["\xe2\x28"]\n[4]\n["\xe2'
    for cut in cuttings(text):
        by_number, errors = documents(cut)
        assert same(by_number, {0: [""], 1: [1], 3: [3], 4: [""], 5: [4], 6: [""]})
        assert errors == [
            "expected UTF-8 but got byte 0xff at character 2, in root[0]",
            "expected UTF-8 but got byte 0xff at character 12, in root",
            "expected UTF-8 but got byte 0xe2 at character 23, in root[0]",
            "expected the rest of a UTF-8 character but the text ended at character 34, in root[0]",
        ]


def test_thousands_of_bad_bytes_are_no_trouble() -> None:
    _, errors = documents([b"\xff\n" * 5_000 + b"[1]"])
    assert len(errors) == 5_000


# ---- limits ----


def test_limits_are_for_each_document() -> None:
    text = '[1, 2, 3]\n["abc", "def", "ghi"]\n[4, 5, 6]\n'
    for cut in cuttings(text):
        by_number, errors = documents(cut, limits=Limits(text=12))
        assert same(by_number, {0: [1, 2, 3], 1: ["abc", "def"], 2: [4, 5, 6]})
        assert errors[0].startswith("more than 12 (text) at character 22, in root[1]: pass limits=")


def test_many_small_documents_are_no_large_text() -> None:
    text = "[1, 2]\n" * 100 + " " * 100 + "[3]" + "x" * 100 + "\n[4]"
    for cut in cuttings(text):
        by_number, errors = documents(cut, limits=Limits(text=10))
        assert len(by_number) == 102 and by_number[100] == [3] and by_number[102] == [4]
        assert len(errors) == 1


@examples(60)
@given(
    st.lists(st.one_of(texts(), spoiled()), max_size=4),
    st.sampled_from(["\n", "", " ", "\x1e", "\n\x1e"]),
    st.builds(Limits, text=st.integers(1, 40), string=st.integers(0, 9), depth=st.integers(0, 3)),
    st.data(),
)
def test_limits_do_not_depend_on_the_cutting(
    parts: list[str], between: str, limits: Limits, data: Any
) -> None:
    text = between.join(parts)
    whole = report([text], many=True, limits=limits)
    assert report(by_character(text), many=True, limits=limits) == whole
    assert report(data.draw(pieces(text)), many=True, limits=limits) == whole


# ---- properties ----


@examples(80)
@given(st.lists(texts(), max_size=5), st.booleans(), st.booleans(), st.data())
def test_ndjson_is_read_line_by_line(
    parts: list[str], separated: bool, repair: bool, data: Any
) -> None:
    lines = [json.dumps(json.loads(part)) for part in parts]
    text = "".join(f"\x1e{line}\n" if separated else f"{line}\n" for line in lines)
    by_number, errors = documents(data.draw(pieces(text)), repair=repair)
    assert same(by_number, dict(enumerate(map(json.loads, lines))))
    assert not errors


@examples(80)
@given(st.lists(st.one_of(texts(), spoiled()), max_size=5), st.data())
def test_a_bad_line_does_not_lose_the_good_ones(parts: list[str], data: Any) -> None:
    """A line that is no JSON is between two that are; white space would join lines."""
    good = [json.dumps({"good": number}) for number in range(len(parts) + 1)]
    bad = ["] " + part.replace("\n", " ").replace("\r", " ").replace("\x1e", " ") for part in parts]
    lines = [line for pair in zip(good, [*bad, ""], strict=True) for line in pair]
    by_number, errors = documents(data.draw(pieces("\n".join(lines))))
    assert [value["good"] for value in by_number.values()] == list(range(len(good)))
    assert len(errors) == len(bad)


@examples(60)
@given(st.lists(spoiled(), max_size=3), st.data())
def test_document_shows_the_last_one(parts: list[str], data: Any) -> None:
    text = "\n".join(parts)
    document = Document(many=True)
    for piece in data.draw(pieces(text)):
        document.feed(piece)
    document.flush()
    whole = report([text], many=True)
    assert document.document == whole.document
    assert list(map(described, document.errors)) == whole.errors
    by_number, _ = documents([text])
    assert same(document.value, by_number.get(document.document))


# ---- many, and near-JSON ----

NEAR_JSON: list[tuple[str, dict[int, Any], list[tuple[str, int]]]] = [
    (
        "Here they are:\n{'a': 1}\n{'a': 2}\nEnjoy!",
        {0: {"a": 1}, 1: {"a": 2}},
        [("leading-text", 0), ("single-quotes", 0), ("single-quotes", 1), ("trailing-text", 1)],
    ),
    (
        '```jsonl\n{"a": 1}\n{"a": 2}\n```\n',
        {0: {"a": 1}, 1: {"a": 2}},
        [("fences", 0), ("fences", 1)],
    ),
    (
        '{"a": 1},\n{"a": 2},\n',
        {0: {"a": 1}, 1: {"a": 2}},
        [("trailing-text", 0), ("trailing-text", 1)],
    ),
    ("so\n42\n- 43\n44", {0: 42, 1: 44}, [("leading-text", 0), ("trailing-text", 0)]),
    ("1. [1, 2]\n2. [3, 4]", {0: [1, 2], 1: [3, 4]}, [("leading-text", 0), ("trailing-text", 0)]),
    ("[1,]\n[2,]\n[3", {0: [1], 1: [2], 2: []}, [("trailing-commas", 0), ("trailing-commas", 1)]),
    ("so // it\n[1] // is\n[2]", {0: [1], 1: [2]}, [("leading-text", 0), ("comments", 0)]),
    ("\x1eso\x1e[1]\x1eis\x1e[2]", {0: [1], 1: [2]}, [("leading-text", 0), ("trailing-text", 0)]),
    ("no JSON", {}, [("leading-text", 0)]),
]


@pytest.mark.parametrize("text, expected, repairs", NEAR_JSON)
def test_near_json_in_a_row(
    text: str, expected: dict[int, Any], repairs: list[tuple[str, int]]
) -> None:
    for cut in cuttings(text):
        by_number, errors = documents(cut, repair=True)
        assert same(by_number, expected)
        assert not errors
        noted = [(one.rule, one.document) for one in report(cut, repair=True, many=True).repairs]
        assert [one for one in noted if one[0] != "cut-off"] == repairs


def test_a_line_end_in_a_string_is_the_end_of_its_document_even_with_repair() -> None:
    text = '{"a": "cut off\n{"a": "x\ty"}\n'
    for cut in cuttings(text):
        by_number, errors = documents(cut, repair=True)
        assert same(by_number, {0: {"a": "cut off"}, 1: {"a": "x\ty"}})
        assert len(errors) == 1


# ---- the short ways, and time ----


def test_values_yields_each_and_raises_the_first_error_at_the_end() -> None:
    text = '{"a": 1}\n{"a": x}\n{"a": 3}\n'
    for cut in ([text], by(3, text), by_character(text), at_random(text)):
        seen = []
        with pytest.raises(InvalidJSON, match="got 'x' at character 15"):
            for value in values(cut, many=True):
                seen.append(value)
        assert [value for value in seen if value] == [{"a": 1}, {"a": 3}]


def test_fragments_have_their_document() -> None:
    numbers = [one.document for one in fragments("[1]\n2\n\x1e{}", many=True)]
    assert numbers == [0, 0, 0, 0, 1, 1, 2, 2, 2]


def test_updates_have_their_document_and_an_error_ends_one_only() -> None:
    text = '[{"a": 1}, {"a": 2}]\n[{"a": 3}, {"a": x}]\n[{"a": 5}]\n'
    for cut in cuttings(text):
        summaries = [
            (one.document, one.index, one.status, one.data)
            for one in updates(cut, "ONE-BY-ONE", many=True)
        ]
        assert summaries == [
            (0, 0, "COMPLETED", {"a": 1}),
            (0, 1, "COMPLETED", {"a": 2}),
            (1, 2, "COMPLETED", {"a": 3}),
            (1, 3, "ERROR", {}),
            (2, 4, "COMPLETED", {"a": 5}),
        ]


def test_one_document_only_unless_asked() -> None:
    with pytest.raises(InvalidJSON, match="expected the end of the text but got '2'"):
        list(values("1 2"))


def read_all(cut: list[Any], **options: Any) -> Callable[[], None]:
    def run() -> None:
        document = Document(many=True, **options)
        for piece in cut:
            document.feed(piece)
        document.flush()

    return run


LINES = ['{"a": 1}\n', "x\n", '["\n', "[] ", "\x1e1", '["a"b]\n']


@few(4)
@pytest.mark.parametrize("repair", [False, True])
@pytest.mark.parametrize("line", LINES)
def test_a_line_costs_the_same_after_many_others(line: str, repair: bool) -> None:
    def start(count: int) -> Callable[[], object]:
        document, pieces = Document(many=True, repair=repair), cycle(by(5, line * 5))
        for piece in by(50, line * count):
            document.feed(piece)
        return lambda: document.feed(next(pieces))

    is_flat(start, small=100, large=4_000)


@pytest.mark.parametrize("repair", [False, True])
@pytest.mark.parametrize("line", LINES)
def test_time_is_linear(line: str, repair: bool) -> None:
    is_linear(lambda count: read_all([line * count], repair=repair), 200)


@pytest.mark.parametrize("unit", [b"\xff", b"\xff\n", b"[1]\xff\n"])
def test_bad_bytes_are_linear(unit: bytes) -> None:
    is_linear(lambda count: read_all([unit * count]), 300)


def test_small_limits_are_linear() -> None:
    is_linear(lambda count: read_all(["[1, 2]\n" * count], limits=Limits(text=20)), 500)


def test_a_limit_over_and_over() -> None:
    by_number, errors = documents(["[1, 2, 3, 4]\n" * 3], limits=Limits(text=4))
    assert len(by_number) == len(errors) == 3
    with pytest.raises(LimitExceeded):
        list(values("[1, 2]", many=True, limits=Limits(depth=0)))


def test_repairs_are_limited_for_each_document() -> None:
    for cut in cuttings("[True,]\n" * 5):
        by_number, errors = documents(cut, repair=True, limits=Limits(repairs=2))
        assert same(by_number, dict.fromkeys(range(5), [True])) and not errors
        by_number, errors = documents(cut, repair=True, limits=Limits(repairs=1))
        assert len(errors) == 5


def test_prose_does_not_count_for_the_document_after_it() -> None:
    text = "so " * 300 + '["' + "a" * 600 + '"]\n'
    for cut in cuttings(text * 2):
        by_number, errors = documents(cut, repair=True, limits=Limits(text=1_100))
        assert same(by_number, dict.fromkeys(range(2), ["a" * 600])) and not errors


def test_a_bad_byte_between_documents_is_the_fault_of_the_next() -> None:
    for cut in cuttings(b"[0, 1]\nso \xff [2]\n[3]"):
        by_number, errors = documents(cut, repair=True)
        assert same(by_number, {0: [0, 1], 2: [3]})
        assert errors == ["expected UTF-8 but got byte 0xff at character 10, in root"]


def test_a_string_in_odd_quotes_is_a_document_too() -> None:
    text = "'" + "a" * 3_000 + "'\n'b'"
    for cut in cuttings(text):
        by_number, errors = documents(cut, repair=True, limits=Limits(text=2_000))
        assert same(by_number, {0: "a" * 1_999, 1: "b"})
        assert errors[0].startswith(
            "more than 2000 (text) at character 2000, in root: pass limits="
        )
