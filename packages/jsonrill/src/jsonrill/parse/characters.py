"""Loops over the characters of a piece: compiled the quickest way through it, else the slowest."""

from __future__ import annotations

import re
from typing import Final

from .grammar import WHOLE_ESCAPE

_COMPILED: Final = not __file__.endswith(".py")
_PLAIN: Final = {closer: re.compile(rf"[^{closer}\\\x00-\x1f]*") for closer in "\"'”’"}


def plain_end(text: str, pos: int) -> int:
    """The index at which plain text ends: a quote, an escape, a control character or the end."""
    if pos == 0:
        # Compiled, a loop over all characters takes half the time of one over indices.
        for char in text:
            if char == '"' or char == "\\" or char < " ":
                return pos
            pos += 1
        return pos
    end = len(text)
    while pos < end:
        char = text[pos]
        if char == '"' or char == "\\" or char < " ":
            return pos
        pos += 1
    return end


def text_end(text: str, pos: int, closer: str) -> int:
    """Return where plain text of a string ends: at its quote, an escape, a control character."""
    if not _COMPILED:
        return _PLAIN[closer].match(text, pos).end()  # type: ignore[union-attr]  # may be empty
    end = len(text)
    while pos < end:
        char = text[pos]
        if char == closer or char == "\\" or char < " ":
            return pos
        pos += 1
    return end


def code_at(text: str, pos: int, end: int) -> int:
    """The code point of the escape at `pos`; -1 if it is none, cut off, or half of a pair."""
    if end - pos < 2 or text[pos] != "\\":
        return -1
    char = text[pos + 1]
    if char != "u":
        if char == "n":
            return 10
        if char == '"' or char == "\\" or char == "/":
            return ord(char)
        if char == "t" or char == "r":
            return 9 if char == "t" else 13
        return 8 if char == "b" else 12 if char == "f" else -1
    if end - pos < WHOLE_ESCAPE:
        return -1
    code = 0
    for at in range(pos + 2, pos + WHOLE_ESCAPE):
        digit = digit_of(ord(text[at]))
        if digit < 0:
            return -1
        code = code * 16 + digit
    return -1 if 0xD800 <= code < 0xE000 else code


def is_cut(text: str, pos: int, end: int) -> bool:
    """True if the text from `pos` to `end` is the beginning of an escape and no more."""
    if end - pos >= WHOLE_ESCAPE or text[pos] != "\\":
        return False
    if end - pos > 1 and text[pos + 1] != "u":
        return False
    for at in range(pos + 2, end):
        if digit_of(ord(text[at])) < 0:
            return False
    return True


def digit_of(char: int) -> int:
    if 48 <= char <= 57:
        return char - 48
    if 65 <= char <= 70:
        return char - 55
    return char - 87 if 97 <= char <= 102 else -1
