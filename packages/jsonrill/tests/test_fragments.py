"""Fragments and their wire forms; `cases/fragments.json` pins them for other languages."""

from __future__ import annotations

import copy
import json
import pickle
from decimal import Decimal
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsonrill import Fragment, Parser, Rebuilder
from jsonrill.errors import FragmentError
from jsonrill.fragment import Kind
from jsonrill.jsontext import dumps
from support import ROOT, examples
from support.documents import FragmentFields, merge_strings, same

CASES = json.loads((ROOT / "cases" / "fragments.json").read_text("utf8"))["cases"]
NAMES = [case["name"] for case in CASES]
KINDS = get_args(Kind)


def fragments_of(text: str, **options: Any) -> list[Fragment]:
    parser = Parser(**options)
    return parser.feed(text) + parser.flush()


def per_feed(case: dict[str, Any]) -> list[list[Fragment]]:
    parser = Parser()
    return [*(parser.feed(piece) for piece in case["feeds"]), parser.flush()]


def without_offsets(fragments: list[Fragment]) -> list[FragmentFields]:
    """Return the fields as the wire form has them, with adjoining PartialStrings joined."""
    return [fields._replace(offset=0) for fields in merge_strings(fragments)]


# ---- the pinned cases ----


def test_together_the_cases_show_every_kind() -> None:
    shown = {item["kind"] for case in CASES for feed in case["wire"] for item in feed}
    assert shown == set(KINDS)


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_the_full_form_of_each_feed(case: dict[str, Any]) -> None:
    wire = [[fragment.to_dict() for fragment in feed] for feed in per_feed(case)]
    assert same(wire, case["wire"])


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_the_wire_form_is_read_back(case: dict[str, Any]) -> None:
    rebuilder = Rebuilder()
    for sent, parsed in zip(case["wire"], per_feed(case), strict=True):
        read = [Fragment.from_dict(item) for item in sent]
        assert merge_strings(read) == without_offsets(parsed)
        rebuilder.feed(sent)
    assert same(rebuilder.value, case["value"])
    assert rebuilder.complete


# ---- fragments as objects ----


def test_fragments_compare_by_content_and_not_by_offset() -> None:
    one = Fragment("Key", ("a", 0), None, "k", 5)
    assert one == Fragment("Key", ("a", 0), None, "k", 99)
    assert one != Fragment("Key", ("a", 1), None, "k", 5)
    assert one != Fragment("Key", ("a", 0), None, "x", 5)
    assert one != Fragment("StartArray", ("a", 0), None, "k", 5)
    assert Fragment("PartialString", (), "a") != Fragment("PartialString", (), "b")
    assert one != "Key"


def test_the_repr_of_a_fragment_has_its_content() -> None:
    text = repr(fragments_of('{"a b": [1.50]}')[3])
    assert "CompleteNumber" in text and 'root["a b"][0]' in text and "'1.50'" in text


def test_a_fragment_can_be_copied_and_pickled() -> None:
    for fragment in fragments_of('{"a": [1, "x", null]}'):
        for other in (copy.deepcopy(fragment), pickle.loads(pickle.dumps(fragment))):
            assert other == fragment
            assert other.offset == fragment.offset


# ---- the full form ----


@pytest.mark.parametrize(
    "fragment, wire",
    [
        (Fragment("StartObject"), {"path": "root", "kind": "StartObject"}),
        (
            Fragment("PartialString", ("a",), ""),
            {"path": "root.a", "kind": "PartialString", "textValue": ""},
        ),
        (
            Fragment("CompleteBoolean", (0,), None, False),
            {"path": "root[0]", "kind": "CompleteBoolean", "value": False},
        ),
        (
            Fragment("CompleteNumber", (), "0", 0),
            {"path": "root", "kind": "CompleteNumber", "textValue": "0", "value": 0},
        ),
        (Fragment("Key", (), None, ""), {"path": "root", "kind": "Key", "value": ""}),
        (
            Fragment("CompleteNumber", (), None, 2**64 + 1),
            {"path": "root", "kind": "CompleteNumber", "textValue": "18446744073709551617"},
        ),
    ],
)
def test_fields_are_absent_only_when_there_is_nothing(fragment: Fragment, wire: Any) -> None:
    encoded = fragment.to_dict()
    assert same(encoded, wire)
    assert list(encoded)[:2] == ["path", "kind"]
    assert Fragment.from_dict(encoded).value == fragment.value


@pytest.mark.parametrize(
    "text, survives",
    [
        ("0", True),
        ("-0", True),
        ("9007199254740992", True),
        ("9007199254740993", False),
        ("-9007199254740993", False),
        ("9007199254740994", True),
        ("18446744073709551616", True),
        ("123456789012345678901234567890", False),
        ("1" + "0" * 300, False),
        ("0.1", True),
        ("1e308", True),
        ("1e309", False),
        ("-1e400", False),
        ("5e-324", True),
        ("1e-400", True),
    ],
)
def test_a_number_that_no_double_holds_is_sent_as_text_alone(text: str, survives: bool) -> None:
    fragment = fragments_of(text)[0]
    wire = fragment.to_dict()
    assert wire["textValue"] == text
    assert ("value" in wire) is survives
    if survives:
        assert float(json.dumps(wire["value"])) == fragment.value
    read = Fragment.from_dict(json.loads(dumps(wire)))
    assert same(read.value, fragment.value) and read.text == text


def test_a_number_larger_than_doubles_is_read_from_its_text() -> None:
    large = 10**400
    wire = {"path": "root", "kind": "CompleteNumber", "textValue": str(large), "value": large}
    assert Fragment.from_dict(wire).value == large
    with pytest.raises(FragmentError):
        Fragment.from_dict(wire | {"value": -large})


def test_a_number_of_another_type_is_sent_as_text() -> None:
    fragment = fragments_of("1.10", parse_float=Decimal)[0]
    assert fragment.to_dict() == {"path": "root", "kind": "CompleteNumber", "textValue": "1.10"}
    rebuilder = Rebuilder()
    rebuilder.feed([fragment])
    assert same(rebuilder.value, Decimal("1.10"))


def test_lone_surrogates_are_escaped_in_what_is_sent() -> None:
    for text in ('["\\ud83d", "\\ude00x"]', '{"\\ud83d": {"\\ude00": 1}}'):
        fragments = fragments_of(text)
        sent = [dumps(fragment.to_dict()) for fragment in fragments]
        for line in sent:
            line.encode("utf-8")
        back = [Fragment.from_dict(json.loads(line)) for line in sent]
        assert merge_strings(back) == without_offsets(fragments)


GOOD: dict[str, Any] = {"path": "root", "kind": "CompleteNumber", "textValue": "1", "value": 1}
MALFORMED: list[Any] = [
    None,
    [GOOD],
    {},
    {**GOOD, "kind": None},
    {**GOOD, "kind": "Number"},
    {**GOOD, "kind": "COMPLETENUMBER"},
    {**GOOD, "path": None},
    {**GOOD, "path": "/a/b"},
    {**GOOD, "path": "root[*]"},
    {**GOOD, "path": "root[" + "1" * 5000 + "]"},
    {**GOOD, "textValue": 1},
    {**GOOD, "textValue": "01"},
    {**GOOD, "textValue": " 1"},
    {**GOOD, "textValue": '"1"'},
    {**GOOD, "textValue": "NaN"},
    {**GOOD, "textValue": "١"},
    {**GOOD, "textValue": "1" * 5000},
    {**GOOD, "value": 2},
    {**GOOD, "value": "2"},
    {**GOOD, "value": True},
    {**GOOD, "value": float("nan")},
    {"path": "root", "kind": "CompleteNumber"},
    {"path": "root", "kind": "CompleteNumber", "value": "1"},
    {"path": "root", "kind": "CompleteNumber", "value": float("inf")},
    {"path": "root", "kind": "Key"},
    {"path": "root", "kind": "Key", "value": 1},
    {"path": "root", "kind": "PartialString"},
    {"path": "root", "kind": "PartialString", "textValue": ["a"]},
    {"path": "root", "kind": "CompleteString", "value": 5},
    {"path": "root", "kind": "CompleteBoolean"},
    {"path": "root", "kind": "CompleteBoolean", "value": "true"},
]


@pytest.mark.parametrize("wire", MALFORMED)
def test_an_invalid_fragment_is_a_fragment_error(wire: Any) -> None:
    with pytest.raises(FragmentError):
        Fragment.from_dict(wire)


any_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=6,
)
kind_like = st.sampled_from([*KINDS, "startObject", "", "Key ", None, 4, [], {}]) | any_json
path_like = st.sampled_from(["root", "root.a", "root[0]", 'root["a"]', "", "a", None, 0]) | any_json
text_like = st.sampled_from(["", "1", "-0.5", '"a"', "true", "1e999", "NaN"]) | any_json
wire_like = st.fixed_dictionaries(
    {}, optional={"kind": kind_like, "path": path_like, "textValue": text_like, "value": text_like}
)
item_like = st.one_of(wire_like, st.text(max_size=3), any_json)


@examples(300)
@given(wire_like | any_json)
def test_malformed_objects_of_any_shape_raise_fragment_error_alone(wire: Any) -> None:
    try:
        fragment = Fragment.from_dict(wire)
    except FragmentError:
        return
    assert fragment.kind in KINDS
    json.loads(dumps(fragment.to_dict()))


@examples(300)
@given(st.lists(item_like, max_size=6))
def test_malformed_items_of_any_shape_raise_fragment_error_alone(items: Any) -> None:
    for start in ("", "[", '{"a":', '["x'):
        rebuilder = Rebuilder()
        try:
            rebuilder.feed(Parser().feed(start))
            rebuilder.feed(items)
        except FragmentError:
            pass
        json.dumps(rebuilder.value)
