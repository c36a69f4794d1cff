"""Random JSON documents as text, and an independent word on what a beginning of one allows.

The oracle knows nothing of how jsonrill reads: it closes a beginning of a text, shorter and
shorter, until `json.loads` takes it.
"""

from __future__ import annotations

import json
import re
from typing import Any

from hypothesis import strategies as st

STRINGS = st.one_of(
    st.sampled_from(
        ["", "a", 'say "hi"', "if (x) { y[0] }", "C:\\", "a\nb", "é😀", "[1,", "}", ","]
    ),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=12),
)
NUMBERS = st.one_of(
    st.integers(-(10**20), 10**20),
    st.integers(-20, 20),
    st.floats(allow_nan=False, allow_infinity=False),
)
SCALARS = st.one_of(STRINGS, NUMBERS, st.booleans(), st.none())
KEYS = st.one_of(st.sampled_from(["a", "b", "name", "a/b", "~", "0", "", 'k"']), STRINGS)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(KEYS, inner, max_size=4)),
    max_leaves=12,
)
OBJECTS = st.dictionaries(KEYS, VALUES, max_size=5)
DOCUMENTS = st.one_of(VALUES, OBJECTS, st.lists(st.one_of(OBJECTS, VALUES), max_size=5))


@st.composite
def texts(draw: st.DrawFn, documents: st.SearchStrategy[Any] = DOCUMENTS) -> str:
    """The text of a document, compact or spread out, escaped or not."""
    value = draw(documents)
    indent = draw(st.sampled_from([None, 1]))
    separators = draw(st.sampled_from([(",", ":"), (", ", ": "), (" ,\t", " : ")]))
    return json.dumps(value, ensure_ascii=draw(st.booleans()), indent=indent, separators=separators)


def known(text: str, *, finished: bool = False) -> list[Any]:
    """What the beginning `text` of a document allows: `[value]`, or `[]` if nothing yet.

    With `finished`, without scalars that may still grow.
    """
    closers, in_string = _openings(text)
    for end in range(len(text), 0, -1):
        if finished and (in_string[end] or _in_number(text, end)):
            continue
        try:
            value = json.loads(text[:end] + ('"' if in_string[end] else "") + closers[end])
        except ValueError:
            continue
        if not _has_half_a_pair(value):
            return [value]
    return []


def _openings(text: str) -> tuple[list[str], list[bool]]:
    """For each end of the text: the brackets that are missing, and whether a string is open."""
    stack: list[str] = []
    closers, in_string = [""], [False]
    inside = escaped = False
    for char in text:
        if inside:
            if escaped:
                escaped = False
            elif char == "\\":
                escaped = True
            elif char == '"':
                inside = False
        elif char == '"':
            inside = True
        elif char in "[{":
            stack.append("]" if char == "[" else "}")
        elif char in "]}":
            stack.pop()
        closers.append("".join(reversed(stack)))
        in_string.append(inside)
    return closers, in_string


def _in_number(text: str, end: int) -> bool:
    """Does a number touch this end of the text, whose own end nothing shows yet?"""
    touches = re.search(r"[0-9][-+.0-9eE]*\Z", text[:end]) is not None
    return touches and text[end : end + 1] not in tuple(",]} \t\n\r")


def _has_half_a_pair(value: Any) -> bool:
    return re.search(r"[\ud800-\udfff]", json.dumps(value, ensure_ascii=False)) is not None


def is_prefix(part: Any, whole: Any, *, last: bool = True) -> bool:
    """Can `part` grow into `whole`? Only what is `last` in it may still grow."""
    if isinstance(part, str) and isinstance(whole, str):
        return whole.startswith(part) if last else whole == part
    if isinstance(part, dict) and isinstance(whole, dict):
        keys = list(part)
        return keys == list(whole)[: len(keys)] and all(
            is_prefix(part[key], whole[key], last=last and key == keys[-1]) for key in keys
        )
    if isinstance(part, list) and isinstance(whole, list):
        return len(part) <= len(whole) and all(
            is_prefix(part[at], whole[at], last=last and at == len(part) - 1)
            for at in range(len(part))
        )
    if last and _is_number(part) and _is_number(whole):
        return True
    return type(part) is type(whole) and bool(part == whole)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
