"""Test every short text and random documents, with `json.loads` as the oracle for prefixes.

The oracle does not depend on jsonrill. It closes shorter and shorter prefixes of a text until
`json.loads` accepts one. `python -m prefixes LENGTH` prints the number of short texts and a digest
of the parser's results, which is the same for every engine.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from hashlib import sha256
from itertools import product
from typing import Any

from hypothesis import strategies as st

from jsonrill import Document, JsonrillError
from support.documents import is_prefix, outcome, same

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
    """Draw the text of a document, compact or spread out, escaped or not."""
    value = draw(documents)
    indent = draw(st.sampled_from([None, 1]))
    separators = draw(st.sampled_from([(",", ":"), (", ", ": "), (" ,\t", " : ")]))
    return json.dumps(value, ensure_ascii=draw(st.booleans()), indent=indent, separators=separators)


def prefix_value(text: str, *, finished: bool = False) -> list[Any]:
    """Return `[value]` if the prefix `text` of a document has a value, else `[]`.

    With `finished`, leave out scalars that may still grow.
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
    """Return, for each end of the text, the missing brackets and whether a string is open."""
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
    """Return whether the text ends in a number that may continue."""
    touches = re.search(r"[0-9][-+.0-9eE]*\Z", text[:end]) is not None
    return touches and text[end : end + 1] not in tuple(",]} \t\n\r")


def _has_half_a_pair(value: Any) -> bool:
    return re.search(r"[\ud800-\udfff]", json.dumps(value, ensure_ascii=False)) is not None


STRICT = '{}[]:,"\\10-.e'
SLOPPY = "{}[]:,\"'1-a "
# Every valid prefix becomes JSON with one of these and the missing brackets.
ENDS = ("", "0", '"', '""', ":0", '":0', '"":0')


def is_beginning(text: str) -> bool:
    """Return whether a JSON text begins with this text."""
    brackets = _end(text)[0]
    return any(_is_json(text + end + brackets) for end in ENDS)


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def _end(text: str) -> tuple[str, bool]:
    """Return the missing closing brackets, and whether the text ends in a string."""
    missing, in_string, at = "", False, 0
    while at < len(text):
        char = text[at]
        if in_string:
            at += char == "\\"
            in_string = char != '"'
        elif char in "[{":
            missing = "]}"["[{".index(char)] + missing
        elif char in "]}":
            missing = missing[1:]
        else:
            in_string = char == '"'
        at += 1
    return missing, in_string


def _expected_value(text: str) -> list[Any]:
    """Return the value of a prefix: strings grow, and a number appears when it has ended."""
    in_string = _end(text)[1]
    return prefix_value(text if in_string else re.sub(r"[-.0-9e]+\Z", "", text))


def strict_texts(length: int) -> Iterator[tuple[str, bool]]:
    """Yield texts up to this length, shortest first, and whether each begins a JSON text.

    Do not extend a text that does not begin one.
    """
    beginnings = [""]
    for _ in range(length):
        longer = [
            (text + char, is_beginning(text + char)) for text in beginnings for char in STRICT
        ]
        yield from longer
        beginnings = [text for text, good in longer if good]


def sloppy_texts(length: int) -> Iterator[str]:
    for size in range(1, length + 1):
        yield from map("".join, product(SLOPPY, repeat=size))


def cuttings(text: str) -> Iterator[list[str]]:
    """Yield every way to cut the text, the uncut text included."""
    for cuts in product((False, True), repeat=len(text) - 1):
        pieces = [text[0]]
        for char, cut in zip(text[1:], cuts, strict=True):
            pieces += [char] if cut else []
            pieces[-1] += "" if cut else char
        yield pieces


def read(text: str, most_cuttings: int, **options: bool) -> str:
    """Return the parser's outcome and check that every cutting has it; cut long texts twice."""
    whole = outcome([text], **options)
    for pieces in cuttings(text) if len(text) <= most_cuttings else [list(text)]:
        assert outcome(pieces, **options) == whole, pieces
    return repr(whole)


def check_strict(text: str, good: bool) -> None:
    """Check that the result, the error's position and the value agree with `json.loads`."""
    document = Document()
    try:
        for char in text:
            document.feed(char)
        assert good, text
        assert same([document.value] if document.started else [], _expected_value(text)), text
        document.flush()
        assert same(document.value, json.loads(text)), text
    except JsonrillError as error:
        assert not _is_json(text), text
        assert error.offset == len(text) - (not good), text


def check_sloppy(text: str) -> None:
    """Check that each value is a prefix of the next one."""
    document, snapshots = Document(repair=True), []
    try:
        for char in text:
            document.feed(char)
            snapshots += [document.value] if document.started else []
        document.flush()
        snapshots += [document.value] if document.started else []
    except JsonrillError:
        pass
    for before, after in zip(snapshots, snapshots[1:], strict=False):
        assert is_prefix(before, after), (text, snapshots)


def digest(length: int, most_cuttings: int, sloppy: int) -> tuple[int, str]:
    """Check every text. Return their number and a digest of the parser's results."""
    hasher, count = sha256(), 0
    for text, good in strict_texts(length):
        check_strict(text, good)
        hasher.update(read(text, most_cuttings).encode())
        count += 1
    for text in sloppy_texts(sloppy):
        check_sloppy(text)
        hasher.update(read(text, sloppy, repair=True).encode())
        count += 1
    return count, hasher.hexdigest()


if __name__ == "__main__":
    print(*digest(*map(int, sys.argv[1:])))
