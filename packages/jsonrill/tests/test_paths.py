"""Paths: a tuple, a text, a JSON Pointer and a pattern say the same thing."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsonrill import Parser
from jsonrill.paths import (
    Path,
    format_path,
    from_pointer,
    lookup,
    matches,
    parse_path,
    parse_pattern,
    short_path,
    to_pointer,
)

TEXTS: list[tuple[Path, str]] = [
    ((), "root"),
    (("a",), "root.a"),
    (("users", 1, "name"), "root.users[1].name"),
    ((0, 10, 200), "root[0][10][200]"),
    (("root", 0), "root.root[0]"),
    (("a.b",), 'root["a.b"]'),
    (("a", "b"), "root.a.b"),
    (("",), 'root[""]'),
    (("0",), 'root["0"]'),
    (("a-b", "c"), 'root["a-b"].c'),
    (("*",), 'root["*"]'),
    (("a\n",), 'root["a\\n"]'),
    (('say "hi"',), 'root["say \\"hi\\""]'),
    (("]", '"]'), 'root["]"]["\\"]"]'),
    (("é", "日本"), 'root["é"]["日本"]'),
    (("\x00\x1f",), 'root["\\u0000\\u001f"]'),
    (("\ud800",), 'root["\\ud800"]'),
    (("__proto__", "constructor"), "root.__proto__.constructor"),
]

keys = st.one_of(
    st.text(max_size=5),
    st.text(alphabet='a_0.*[]"\\/~- \n', max_size=5),
    st.sampled_from(["", "root", "0", "-", "~1", "__proto__", "\ud800", "\udc00x"]),
)
paths = st.lists(st.one_of(keys, st.integers(0, 10**20)), max_size=6).map(tuple)


@pytest.mark.parametrize("path, text", TEXTS, ids=[text for _, text in TEXTS])
def test_a_path_is_a_text_and_back(path: Path, text: str) -> None:
    assert format_path(path) == text
    assert parse_path(text) == path
    assert [type(step) for step in parse_path(text)] == [type(step) for step in path]


@given(paths)
def test_text_and_path_are_one_to_one(path: Path) -> None:
    text = format_path(path)
    assert parse_path(text) == path
    assert format_path(parse_path(text)) == text
    text.encode()  # no lone surrogate: it can be sent


@pytest.mark.parametrize(
    "short, path",
    [
        ("a.b", ("a", "b")),
        ("rooted", ("rooted",)),
        ("[0].a", (0, "a")),
        ('["a.b"][1]', ("a.b", 1)),
        ("root", ()),
        ('root["a"]', ("a",)),
        ('root["\\u0061\\ud83d\\ude00"]', ("a\U0001f600",)),
    ],
)
def test_a_path_may_be_written_in_other_ways(short: str, path: Path) -> None:
    assert parse_path(short) == path


@pytest.mark.parametrize(
    "text",
    ["", ".", "root.", "a..b", "root[", "root[]", "root[-1]", "root[01]", "root[1.0]", "root[ 1]"]
    + ["root[١]", 'root["a]', "root['a']", 'root["a"b]', 'root["\n"]', 'root["\\u12"]', "a b", "é"]
    + ["a-b", "1a", "a[*]", "a.*", "root\n", "[" + "9" * 5000 + "]"],
)
def test_an_invalid_path_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError):
        parse_path(text)


@given(st.text(alphabet='root.ab[]0"\\*é \n', max_size=12))
def test_reading_a_path_never_fails_otherwise(text: str) -> None:
    try:
        path = parse_path(text)
    except ValueError:
        return
    assert parse_path(format_path(path)) == path


RFC_6901: dict[str, Any] = {
    "foo": ["bar", "baz"],
    "": 0,
    "a/b": 1,
    'k"l': 6,
    " ": 7,
    "m~n": 8,
}


@pytest.mark.parametrize(
    "pointer, path",
    [
        ("", ()),
        ("/foo", ("foo",)),
        ("/foo/0", ("foo", 0)),
        ("/", ("",)),
        ("/a~1b", ("a/b",)),
        ('/k"l', ('k"l',)),
        ("/ ", (" ",)),
        ("/m~0n", ("m~n",)),
    ],
)
def test_the_pointers_of_rfc_6901_section_5(pointer: str, path: Path) -> None:
    assert to_pointer(path) == pointer
    assert from_pointer(pointer, RFC_6901) == path
    assert lookup(RFC_6901, path)[0]


@pytest.mark.parametrize(
    "pointer, value, path",
    [
        ("/0", [5], (0,)),
        ("/0", {"0": 5}, ("0",)),
        ("/~01", {"~1": 5}, ("~1",)),
        ("/-", {"-": 5}, ("-",)),
        ("/-", [5], (1,)),
        ("/a/-", {"a": []}, ("a", 0)),
        ("/new", {}, ("new",)),
        ("/1", [5], (1,)),
        ("//", {"": {"": 1}}, ("", "")),
    ],
)
def test_a_token_is_an_index_only_in_an_array(pointer: str, value: Any, path: Path) -> None:
    parsed = from_pointer(pointer, value)
    assert parsed == path
    assert [type(step) for step in parsed] == [type(step) for step in path]


@pytest.mark.parametrize(
    "pointer, value",
    [
        ("a", {"a": 1}),
        ("/~", {"~": 1}),
        ("/~2", {"~2": 1}),
        ("/x", [1]),
        ("/01", [1, 2]),
        ("/-1", [1]),
        ("/١", [1, 2]),
        ("/", [1]),
        ("/0", "text"),
        ("/a/b", {"a": 1}),
        ("/5/b", [{}]),
        ("/" + "9" * 5000, [1]),
    ],
)
def test_a_pointer_that_leads_nowhere_is_a_value_error(pointer: str, value: Any) -> None:
    with pytest.raises(ValueError):
        from_pointer(pointer, value)


json_values = st.recursive(
    st.none() | st.integers(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4),
    max_leaves=12,
)


def all_paths(value: Any, path: Path = ()) -> list[Path]:
    items: list[tuple[str | int, Any]] = []
    if isinstance(value, dict):
        items = list(value.items())
    elif isinstance(value, list):
        items = list(enumerate(value))
    return [
        path,
        *(inner_path for key, item in items for inner_path in all_paths(item, (*path, key))),
    ]


@given(json_values)
def test_every_path_of_a_value_survives_its_pointer(value: Any) -> None:
    for path in all_paths(value):
        assert from_pointer(to_pointer(path), value) == path


@pytest.mark.parametrize("path", [("x",), (0,), ("a", "0"), ("a", 2), ("a", -1), ("a", 0, 0)])
def test_a_missing_path_is_not_found(path: Path) -> None:
    assert lookup({"a": [1, 2]}, path) == (False, None)


@pytest.mark.parametrize(
    "pattern, fits, fits_not",
    [
        ("root", [()], [("a",), (0,)]),
        ("a", [("a",)], [(), ("b",), ("a", "b"), (0,)]),
        (
            "days[*].title",
            [("days", 0, "title"), ("days", 12, "title")],
            [("days", "0", "title"), ("days", "title"), ("days", 0), ("days", 0, "title", 0)],
        ),
        ("a.*", [("a", "b"), ("a", ""), ("a", "0")], [("a",), ("a", 0), ("b", "b")]),
        ("[*]", [(0,), (7,)], [("0",), (), (0, 0)]),
        ("*", [("a",), ("",)], [(0,), ()]),
        ("root.*[*].*", [("a", 0, "b")], [("a", "b", "c"), (0, 0, "b")]),
        ("a[0]", [("a", 0)], [("a", 1), ("a", "0")]),
        ('["*"]', [("*",)], [("a",)]),
    ],
)
def test_a_pattern_fits_step_by_step(pattern: str, fits: list[Path], fits_not: list[Path]) -> None:
    parsed = parse_pattern(pattern)
    assert [path for path in fits if not matches(parsed, path)] == []
    assert [path for path in fits_not if matches(parsed, path)] == []


@given(json_values)
def test_the_paths_of_fragments_are_those_of_the_value(value: Any) -> None:
    paths = {
        fragment.path
        for fragment in Parser().feed(json.dumps(value) + " ")
        if fragment.kind not in ("Key", "EndObject", "EndArray", "JsonComplete")
    }
    assert paths == set(all_paths(value))


@pytest.mark.parametrize(
    ("text", "remedy"),
    [
        ("items.item.id", "`items[*].id`"),
        (".items[].id", "`items[*].id`"),
        ("items[].id", "`[*]`"),
        ("$.items", "leave out `$.`"),
        ("items.0.id", "`[0]`"),
        ("/items/0", "like `days[0].title`"),
    ],
)
def test_paths_of_other_tools_are_named(text: str, remedy: str) -> None:
    with pytest.raises(ValueError) as caught:
        parse_pattern(text)
    assert remedy in str(caught.value)


def test_a_key_may_be_called_item() -> None:
    for path in (("items", "item", "id"), ("order", "item")):
        assert parse_path(format_path(path)) == path
    assert parse_path("order.item.price") == ("order", "item", "price")
    assert parse_path('items["item"].id') == ("items", "item", "id")


def test_a_long_path_is_shortened_in_messages() -> None:
    assert short_path(("a", 1)) == "root.a[1]"
    shown = short_path((*"abc", *range(300), "z"))
    assert shown == "root.a.b.c[0][1][2]…[295][296][297][298][299].z"
