"""Every short text over a few characters, and what `json.loads` alone says of its beginnings.

`python -m support.every_text LENGTH` prints how many there are, and a digest of all that the parser
says of them: the same for every engine.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from hashlib import sha256
from itertools import product
from typing import Any

from jsonrill import Document, JsonrillError
from support.beginnings import known
from support.documents import is_prefix, outcome, same

STRICT = '{}[]:,"\\10-.e'
SLOPPY = "{}[]:,\"'1-a "
# One of these, and then the brackets that are missing, completes what can be completed.
ENDS = ("", "0", '"', '""', ":0", '":0', '"":0')


def is_beginning(text: str) -> bool:
    """Is there a JSON text that begins so?"""
    brackets = _end(text)[0]
    return any(_is_json(text + end + brackets) for end in ENDS)


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def _end(text: str) -> tuple[str, bool]:
    """The closing brackets that the text lacks, and whether it ends in a string."""
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


def _shown(text: str) -> list[Any]:
    """What a beginning shows: strings grow, a number comes when its end is seen."""
    in_string = _end(text)[1]
    return known(text if in_string else re.sub(r"[-.0-9e]+\Z", "", text))


def strict_texts(length: int) -> Iterator[tuple[str, bool]]:
    """Texts up to this length, the shortest first, and whether each begins a JSON text.

    Of one that does not, no longer one is given.
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
    """The text whole, and in every other way."""
    for cuts in product((False, True), repeat=len(text) - 1):
        pieces = [text[0]]
        for char, cut in zip(text[1:], cuts, strict=True):
            pieces += [char] if cut else []
            pieces[-1] += "" if cut else char
        yield pieces


def read(text: str, most_cuttings: int, **options: bool) -> str:
    """What the parser says of a text, the same in every cutting; those of long ones are two."""
    whole = outcome([text], **options)
    for pieces in cuttings(text) if len(text) <= most_cuttings else [list(text)]:
        assert outcome(pieces, **options) == whole, pieces
    return repr(whole)


def check_strict(text: str, good: bool) -> None:
    """The verdict, its place, and the value are what `json.loads` says."""
    document = Document()
    try:
        for char in text:
            document.feed(char)
        assert good, text
        assert same([document.value] if document.started else [], _shown(text)), text
        document.flush()
        assert same(document.value, json.loads(text)), text
    except JsonrillError as error:
        assert not _is_json(text), text
        assert error.offset == len(text) - (not good), text


def check_sloppy(text: str) -> None:
    """Nothing that was shown is taken back."""
    document, shown = Document(repair=True), []
    try:
        for char in text:
            document.feed(char)
            shown += [document.value] if document.started else []
        document.flush()
        shown += [document.value] if document.started else []
    except JsonrillError:
        pass
    for before, after in zip(shown, shown[1:], strict=False):
        assert is_prefix(before, after), (text, shown)


def digest(length: int, most_cuttings: int, sloppy: int) -> tuple[int, str]:
    """Check every text; how many there were, and a digest of what was said of them."""
    said, count = sha256(), 0
    for text, good in strict_texts(length):
        check_strict(text, good)
        said.update(read(text, most_cuttings).encode())
        count += 1
    for text in sloppy_texts(sloppy):
        check_sloppy(text)
        said.update(read(text, sloppy, repair=True).encode())
        count += 1
    return count, said.hexdigest()


if __name__ == "__main__":
    print(*digest(*map(int, sys.argv[1:])))
