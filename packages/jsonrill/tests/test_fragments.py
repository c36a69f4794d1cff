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
from support.documents import merged, same, values

CASES = json.loads((ROOT / "cases" / "fragments.json").read_text("utf8"))["cases"]
NAMES = [case["name"] for case in CASES]
KINDS = get_args(Kind)


def fragments_of(text: str, **options: Any) -> list[Fragment]:
    parser = Parser(**options)
    return parser.feed(text) + parser.flush()


def per_feed(case: dict[str, Any]) -> list[list[Fragment]]:
    parser = Parser()
    return [*(parser.feed(piece) for piece in case["feeds"]), parser.flush()]


def joined(items: list[Any]) -> list[Any]:
    """Adjoining texts of one feed as one: into how many a feed is cut is nobody's business."""
    joined_items: list[Any] = []
    for item in items:
        if isinstance(item, str) and joined_items and isinstance(joined_items[-1], str):
            joined_items[-1] += item
        elif isinstance(item, dict) and item["kind"] == "PartialString" and joined_items:
            if joined_items[-1]["kind"] == "PartialString":
                item = {**item, "textValue": joined_items.pop()["textValue"] + item["textValue"]}
            joined_items.append(item)
        else:
            joined_items.append(item)
    return joined_items


# ---- the pinned cases ----


def test_each_case_has_a_name_of_its_own() -> None:
    assert len(set(NAMES)) == len(NAMES) > 20


def test_together_the_cases_show_every_kind() -> None:
    shown = {item["kind"] for case in CASES for feed in case["wire"] for item in feed}
    assert shown == set(KINDS)


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_the_full_form_of_each_feed(case: dict[str, Any]) -> None:
    wire = [joined([fragment.to_dict() for fragment in feed]) for feed in per_feed(case)]
    assert same(wire, case["wire"])


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_the_wire_form_is_read_back(case: dict[str, Any]) -> None:
    rebuilder = Rebuilder()
    for sent, parsed in zip(case["wire"], per_feed(case), strict=True):
        read = [Fragment.from_dict(item) for item in sent]
        assert merged(read) == [fields._replace(offset=0) for fields in merged(parsed)]  # type: ignore[arg-type]
        rebuilder.feed(sent)
    assert same(rebuilder.value, case["value"])
    assert rebuilder.complete


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_the_value_is_that_of_the_text(case: dict[str, Any]) -> None:
    assert same(case["value"], json.loads("".join(case["feeds"])))


# ---- fragments as objects ----


def test_the_twelve_kinds_in_the_order_of_their_codes() -> None:
    assert " ".join(KINDS) == (
        "StartObject EndObject StartArray EndArray Key StartString PartialString CompleteString"
        " CompleteNumber CompleteBoolean CompleteNull JsonComplete"
    )


def test_fragments_are_compared_by_what_they_say_and_not_by_their_offset() -> None:
    one = Fragment("Key", ("a", 0), None, "k", 5)
    assert one == Fragment("Key", ("a", 0), None, "k", 99)
    assert one != Fragment("Key", ("a", 1), None, "k", 5)
    assert one != Fragment("Key", ("a", 0), None, "x", 5)
    assert one != Fragment("StartArray", ("a", 0), None, "k", 5)
    assert Fragment("PartialString", (), "a") != Fragment("PartialString", (), "b")
    assert one != "Key"


def test_a_fragment_of_the_parser_equals_one_made_by_hand() -> None:
    assert fragments_of('{"a": ["x"]}')[3] == Fragment("StartString", ("a", 0))


def test_a_fragment_shows_what_it_says() -> None:
    text = repr(fragments_of('{"a b": [1.50]}')[3])
    assert "CompleteNumber" in text and 'root["a b"][0]' in text and "'1.50'" in text


def test_a_fragment_can_be_copied_and_pickled() -> None:
    for fragment in fragments_of('{"a": [1, "x", null]}'):
        for other in (copy.deepcopy(fragment), pickle.loads(pickle.dumps(fragment))):
            assert other == fragment
            assert other.offset == fragment.offset


def test_a_fragment_carries_nothing_but_its_fields() -> None:
    assert not hasattr(Fragment("Key"), "__dict__")


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


def test_a_number_larger_than_doubles_is_that_of_its_text() -> None:
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
        assert merged(back) == [fields._replace(offset=0) for fields in merged(fragments)]


GOOD: dict[str, Any] = {"path": "root", "kind": "CompleteNumber", "textValue": "1", "value": 1}
MALFORMED: list[Any] = [
    None,
    1,
    "text",
    [],
    [GOOD],
    {},
    {"kind": "Key"},
    {"path": "root"},
    {**GOOD, "kind": None},
    {**GOOD, "kind": ""},
    {**GOOD, "kind": "Number"},
    {**GOOD, "kind": 8},
    {**GOOD, "kind": ["CompleteNumber"]},
    {**GOOD, "kind": "COMPLETENUMBER"},
    {**GOOD, "path": None},
    {**GOOD, "path": 0},
    {**GOOD, "path": []},
    {**GOOD, "path": ""},
    {**GOOD, "path": "/a/b"},
    {**GOOD, "path": "root[*]"},
    {**GOOD, "path": "root["},
    {**GOOD, "path": "root[" + "1" * 5000 + "]"},
    {**GOOD, "textValue": 1},
    {**GOOD, "textValue": ""},
    {**GOOD, "textValue": "01"},
    {**GOOD, "textValue": "1x"},
    {**GOOD, "textValue": "+1"},
    {**GOOD, "textValue": " 1"},
    {**GOOD, "textValue": "1 "},
    {**GOOD, "textValue": "1\n"},
    {**GOOD, "textValue": "[1]"},
    {**GOOD, "textValue": "true"},
    {**GOOD, "textValue": '"1"'},
    {**GOOD, "textValue": "NaN"},
    {**GOOD, "textValue": "-Infinity"},
    {**GOOD, "textValue": "١"},
    {**GOOD, "textValue": "1" * 5000},
    {**GOOD, "value": 2},
    {**GOOD, "value": "2"},
    {**GOOD, "value": True},
    {**GOOD, "value": [1]},
    {**GOOD, "value": float("nan")},
    {"path": "root", "kind": "CompleteNumber"},
    {"path": "root", "kind": "CompleteNumber", "value": "1"},
    {"path": "root", "kind": "CompleteNumber", "value": True},
    {"path": "root", "kind": "CompleteNumber", "value": float("inf")},
    {"path": "root", "kind": "CompleteNumber", "value": {}},
    {"path": "root", "kind": "Key"},
    {"path": "root", "kind": "Key", "textValue": "a"},
    {"path": "root", "kind": "Key", "value": 1},
    {"path": "root", "kind": "PartialString"},
    {"path": "root", "kind": "PartialString", "value": "a"},
    {"path": "root", "kind": "PartialString", "textValue": ["a"]},
    {"path": "root", "kind": "CompleteString", "value": 5},
    {"path": "root", "kind": "CompleteBoolean"},
    {"path": "root", "kind": "CompleteBoolean", "value": 1},
    {"path": "root", "kind": "CompleteBoolean", "value": "true"},
]


@pytest.mark.parametrize("wire", MALFORMED)
def test_what_is_no_fragment_is_a_fragment_error(wire: Any) -> None:
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


@given(values, st.randoms())
def test_objects_and_their_wire_form_may_be_mixed(value: Any, chance: Any) -> None:
    rebuilder = Rebuilder()
    for fragment in fragments_of(json.dumps(value)):
        sent = json.loads(dumps(fragment.to_dict()))
        rebuilder.feed([chance.choice([fragment, sent])])
    assert rebuilder.complete
    assert same(rebuilder.value, value)
