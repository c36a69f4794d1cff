"""Values at JSONPaths become text that only grows, or are refused without a change."""

from __future__ import annotations

import json

import pytest

from jsonrill.paths import ABSENT
from jsonrill.providers.statements import ValueAt
from jsonrill.providers.writer import Writer, read_path

END = object()


@pytest.mark.parametrize(
    "parts, pieces",
    [
        pytest.param(
            [ValueAt("$.a", 1), ValueAt("$.b", True), ValueAt("$.c", None), END],
            ['{"a":1', ',"b":true', ',"c":null', "}"],
            id="members",
        ),
        pytest.param(
            [
                ValueAt("$.a", "x", True),
                ValueAt("$.a", 'y"\n', True),
                ValueAt("$.a"),
                ValueAt("$.b", 1),
                END,
            ],
            ['{"a":"x', 'y\\"\\n', '"', ',"b":1', "}"],
            id="a string in pieces, with an end of its own",
        ),
        pytest.param(
            [ValueAt("$.a", "x", True), ValueAt("$.b", "y", True), END],
            ['{"a":"x', '","b":"y', '"}'],
            id="a string that ends because something follows",
        ),
        pytest.param(
            [ValueAt("$.a.b[0]", 1), ValueAt("$.a.b[1].c", 2), ValueAt("$.d", 3), END],
            ['{"a":{"b":[1', ',{"c":2', '}]},"d":3', "}"],
            id="containers open and close on the way",
        ),
        pytest.param(
            [
                ValueAt("$.a[0]", 1),
                ValueAt("$.a[]"),
                ValueAt("$.a[1]", 2),
                ValueAt("$.a[]"),
                ValueAt("$.a"),
                END,
            ],
            ['{"a":[1', "", ",2", "", "", "]}"],
            id="ends of what is there say nothing",
        ),
        pytest.param(
            [ValueAt("$.a[]"), ValueAt("$.b"), ValueAt("$.c[]"), ValueAt("$.c[0]", 1), END],
            ['{"a":[', '],"b":{', '},"c":[', "1", "]}"],
            id="empty containers, which may turn out not to be",
        ),
        pytest.param([ValueAt("$.a", ABSENT, True), END], ["", "{}"], id="nothing yet"),
        pytest.param([ValueAt("$"), END], ["{", "}"], id="an empty object at the root"),
        pytest.param(
            [ValueAt("$", "x", True), ValueAt("$", "y"), END], ['"x', 'y"', ""], id="a root"
        ),
        pytest.param([END], ["{}"], id="no part at all"),
        pytest.param(
            [ValueAt("$.a", 3.0), ValueAt("$.b", 0.5), ValueAt("$.c", 1e300), END],
            ['{"a":3', ',"b":0.5', ',"c":1e+300', "}"],
            id="doubles that are integers are written as such",
        ),
        pytest.param(
            [ValueAt("$.a", "\ud83d", True), ValueAt("$.a", "\ude00", False), END],
            ['{"a":"\\ud83d', '\\ude00"', "}"],
            id="half a pair in each piece",
        ),
    ],
)
def test_text_only_grows(parts: list[ValueAt], pieces: list[str]) -> None:
    writer = Writer()
    written = [writer.close() if part is END else writer.write(part) for part in parts]
    assert written == pieces
    json.loads("".join(written))


@pytest.mark.parametrize(
    "before, part",
    [
        ([ValueAt("$.a", 1)], ValueAt("$.a", 1)),
        ([ValueAt("$.a", "x")], ValueAt("$.a", "y", True)),
        ([ValueAt("$.a", "x", True)], ValueAt("$.a", 1)),
        ([ValueAt("$.a", "x", True)], ValueAt("$.b[1]", 1)),
        ([ValueAt("$.a.b", 1), ValueAt("$.c", "x", True)], ValueAt("$.a.d", 1)),
        ([ValueAt("$.a[0]", 1)], ValueAt("$.a[0]", 1)),
        ([ValueAt("$.a[0]", 1)], ValueAt("$.a[2]", 1)),
        ([ValueAt("$.a[0]", 1)], ValueAt("$[0]", 1)),
        ([ValueAt("$.a", 1)], ValueAt("$", 1)),
        ([ValueAt("$.a", 1)], ValueAt("$.*", 1)),
    ],
)
def test_what_cannot_be_appended_is_refused(before: list[ValueAt], part: ValueAt) -> None:
    writer = Writer()
    for known in before:
        writer.write(known)
    with pytest.raises(ValueError, match="root|JSONPath|string"):
        writer.write(part)


@pytest.mark.parametrize(
    "text, path",
    [
        ("$", ()),
        ("$.a.b", ("a", "b")),
        ("$.a[0][12]", ("a", 0, 12)),
        ("$['a b'].c", ("a b", "c")),
        ('$["a.b"]', ("a.b",)),
        ("$['it\\'s']['\\u00e9']['\\\\']", ("it's", "é", "\\")),
        ("$['say \"hi\" \\n']", ('say "hi" \n',)),
        ("$.größe", ("größe",)),
        ("a.b", None),
        ("$.a..b", None),
        ("$[*]", None),
        ("$[-1]", None),
        ("$.a b", None),
    ],
)
def test_paths(text: str, path: tuple[str | int, ...] | None) -> None:
    if path is None:
        with pytest.raises(ValueError, match="JSONPath"):
            read_path(text)
    else:
        assert read_path(text) == (path, False)
        assert read_path(text + "[]") == (path, True)
