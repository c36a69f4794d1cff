"""Values at JSONPaths become text that only grows, or are refused."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsonrill.paths import ABSENT
from jsonrill.providers.statements import ValueAt
from jsonrill.providers.writer import Writer, read_path
from support.documents import values


def parts_of(value: Any, cut: int, path: str = "$") -> Iterator[ValueAt]:
    """Yield the parts of a value in document order; a string comes in two pieces."""
    match value:
        case {} if value:
            for key, item in value.items():
                yield from parts_of(item, cut, f"{path}[{json.dumps(key)}]")
        case [_, *_]:
            for index, item in enumerate(value):
                yield from parts_of(item, cut, f"{path}[{index}]")
        case {} | []:
            yield ValueAt(path if value == {} else f"{path}[]")
        case str():
            yield ValueAt(path, value[:cut], True)
            yield ValueAt(path, value[cut:])
        case _:
            yield ValueAt(path, value)


@given(values, st.integers(0, 5))
def test_the_text_of_all_parts_is_the_value(value: Any, cut: int) -> None:
    writer = Writer()
    text = "".join([writer.write(part) for part in parts_of(value, cut)]) + writer.close()
    assert json.loads(text) == value


def test_parts_are_written_as_text_that_only_grows() -> None:
    writer = Writer()
    parts = [
        (ValueAt("$.a", "x", True), '{"a":"x'),
        (ValueAt("$.a", 'y"\n', True), 'y\\"\\n'),
        (ValueAt("$.a"), '"'),
        (ValueAt("$.b", "y", True), ',"b":"y'),
        (ValueAt("$.c.d[0]", 3.0), '","c":{"d":[3'),
        (ValueAt("$.c.d[]"), ""),
        (ValueAt("$.e", ABSENT, True), ""),
        (ValueAt("$.f"), ']},"f":{'),
    ]
    assert [writer.write(part) for part, _ in parts] == [text for _, text in parts]
    assert writer.close() == "}}"
    assert Writer().close() == "{}"


@pytest.mark.parametrize(
    "before, part",
    [
        ([ValueAt("$.a", 1)], ValueAt("$.a", 1)),
        ([ValueAt("$.a", "x", True)], ValueAt("$.a", 1)),
        ([ValueAt("$.a", "x", True)], ValueAt("$.b[1]", 1)),
        ([ValueAt("$.a.b", 1), ValueAt("$.c", "x", True)], ValueAt("$.a.d", 1)),
        ([ValueAt("$.a[0]", 1)], ValueAt("$.a[2]", 1)),
        ([ValueAt("$.a[0]", 1)], ValueAt("$[0]", 1)),
        ([ValueAt("$.a", 1)], ValueAt("$", 1)),
        ([ValueAt("$.a", 1)], ValueAt("$.*", 1)),
    ],
)
def test_a_value_that_cannot_be_appended_is_refused(before: list[ValueAt], part: ValueAt) -> None:
    writer = Writer()
    for known in before:
        writer.write(known)
    with pytest.raises(ValueError, match="root|JSONPath|string"):
        writer.write(part)


@pytest.mark.parametrize(
    "text, path",
    [
        ("$", ()),
        ("$.a[0][12]", ("a", 0, 12)),
        ("$['it\\'s']['\\u00e9']['\\\\']", ("it's", "é", "\\")),
        ("$['say \"hi\" \\n']", ('say "hi" \n',)),
        ("$.größe", ("größe",)),
        ("a.b", None),
        ("$.a..b", None),
        ("$[-1]", None),
    ],
)
def test_a_json_path_is_read_or_refused(text: str, path: tuple[str | int, ...] | None) -> None:
    if path is None:
        with pytest.raises(ValueError, match="JSONPath"):
            read_path(text)
    else:
        assert read_path(text) == (path, False)
        assert read_path(text + "[]") == (path, True)
