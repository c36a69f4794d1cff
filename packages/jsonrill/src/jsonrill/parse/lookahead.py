"""What the next characters are: the questions that the repair machine asks before it decides.

Each function looks at `text[pos:end]` and answers YES or NO, or WAIT if more text is needed. With
`final` no more text comes, or the window is full, and the answer is never WAIT: so an answer
depends on the text alone and never on how it was cut into pieces.
"""

from __future__ import annotations

import re
from typing import Final

from .grammar import NUMBER

WAIT: Final = -1
NO: Final = 0
YES: Final = 1
# Neither reading is safe: the text is refused.
UNCLEAR: Final = 2

# No more characters than this wait for a decision.
REACH: Final = 1000

CLOSERS: Final = {'"': '"', "'": "'", "“": "”", "‘": "’"}
ODD_SPACES: Final = "\u00a0\u202f\u3000\u200b\u200c\u200d\u2060\ufeff"
WORDS: Final = {
    "true": True,
    "false": False,
    **dict.fromkeys(("null", "none", "nan", "infinity", "-infinity", "undefined")),
}
WORD: Final = re.compile("|".join(WORDS), re.IGNORECASE | re.ASCII)
NAME: Final = re.compile(r"[\w$-]+")
TOKEN: Final = re.compile(r"[\w$.+-]+")
SPACES: Final = re.compile(rf"[ \t\r\n{ODD_SPACES}]*")
_QUOTED: Final = {
    quote: re.compile(rf"{quote}(?:[^{closer}\\\n]|\\.|\\\Z)*+({closer}?)", re.DOTALL)
    for quote, closer in CLOSERS.items()
}
# A bracket after one of these is a subscript, a template or an escape.
_SUBSCRIPT: Final = re.compile(r"[A-Za-z0-9_)\]\"'$.\\]")
# No quotation begins right after one of these.
_ENDS_WORDS: Final = ")]}.!?;%'\"’”…"
_BEGINS_VALUE: Final = "\"'“‘[{-0123456789"
_NO_STRING: Final = -2


def skip_spaces(text: str, pos: int, end: int) -> int:
    return SPACES.match(text, pos, end).end()  # type: ignore[union-attr]  # may be empty


def is_scalar(token: str) -> bool:
    return token.lower() in WORDS or NUMBER.fullmatch(token) is not None


def _string_end(text: str, pos: int, end: int) -> int:
    """Return the index after the string at `pos`, WAIT if it goes on, `_NO_STRING` if not one."""
    match = _QUOTED[text[pos]].match(text, pos, end)
    assert match is not None
    if match[1]:
        return match.end()
    return WAIT if match.end() == end else _NO_STRING


def comment_at(text: str, pos: int, end: int, final: bool) -> int:
    """Tell whether a comment begins at `pos`."""
    if text[pos] != "/":
        return YES if text[pos] == "#" else NO
    if pos + 1 == end:
        return NO if final else WAIT
    return YES if text[pos + 1] in "/*" else NO


def key_at(text: str, pos: int, end: int, final: bool) -> int:
    """Tell whether a key with its colon is at `pos`."""
    if text[pos] in CLOSERS:
        after = _string_end(text, pos, end)
    else:
        name = NAME.match(text, pos, end)
        after = _NO_STRING if name is None else name.end()
    if after == _NO_STRING:
        return NO
    colon = end if after == WAIT else skip_spaces(text, after, end)
    if colon == end:
        return NO if final else WAIT
    return YES if text[colon] == ":" else NO


def strings_at(text: str, pos: int, end: int, final: bool) -> int:
    """Tell whether strings are at `pos`, the last of them before a comma or the list's end."""
    while True:
        after = _string_end(text, pos, end)
        if after == _NO_STRING:
            return NO
        if after == WAIT:
            return UNCLEAR if final else WAIT
        pos = skip_spaces(text, after, end)
        if pos == end:
            return YES if final else WAIT
        if text[pos] not in CLOSERS or pos == after:
            return YES if text[pos] in ",]" else comment_at(text, pos, end, final)


def ends_key(text: str, quote: int, end: int, final: bool) -> int:
    """Tell whether the quote at `quote` ends a key."""
    colon = skip_spaces(text, quote + 1, end)
    if colon == end:
        return YES if final else WAIT
    return YES if text[colon] == ":" else comment_at(text, colon, end, final)


def ends_value(text: str, quote: int, end: int, final: bool, in_object: bool) -> int:
    """Tell whether the quote at `quote` ends a string value in an object or list."""
    pos = skip_spaces(text, quote + 1, end)
    if pos == end:
        return YES if final else WAIT
    char = text[pos]
    if char in ",}]":
        return YES
    if char == ":":
        return UNCLEAR  # a string that should have ended earlier, before this key
    if char in "/#":
        return comment_at(text, pos, end, final)
    if pos > quote + 1:
        if in_object:
            return key_at(text, pos, end, final)
        return strings_at(text, pos, end, final) if char in CLOSERS else NO
    if char != text[quote]:
        return UNCLEAR if char in CLOSERS else NO
    # `"He shouted "Stop!""`: the second of two quotes ends the string, or a comma is missing.
    pos = skip_spaces(text, pos + 1, end)
    if pos == end:
        return NO if final else WAIT
    return NO if text[pos] in ",}]" else UNCLEAR


def may_quote(text: str, quote: int, end: int, final: bool, previous: str) -> int:
    """Tell whether a quotation inside a string may begin with the quote at `quote`."""
    if previous.isalnum() or (previous and previous in _ENDS_WORDS):
        return NO
    if quote + 1 == end or text[quote + 1] in " \t\r\n[{" or text[quote + 1] in ODD_SPACES:
        return NO
    token = TOKEN.match(text, quote + 1, end)
    if token is None:
        return YES
    after = skip_spaces(text, token.end(), end)
    if after == end:
        return NO if final else WAIT
    # `["a"1,"b"]` and `{"a":"x"b:1}` lost a comma, `[""1""]` two.
    if text[after] == ":":
        value = skip_spaces(text, after + 1, end)
        word = TOKEN.match(text, value, end)
        if end in (value, word and word.end()):
            return NO if final else WAIT
        return NO if text[value] in _BEGINS_VALUE or (word and is_scalar(word[0])) else YES
    ends = ",]}" if previous == " " else ",]}\"'”’"
    return NO if text[after] in ends and is_scalar(token[0]) else YES


def value_begins(text: str, pos: int, end: int, final: bool, previous: str, is_second: bool) -> int:
    """Tell whether the bracket at `pos` begins the value, or a second one.

    `previous` is the character before it, "\\n" at the beginning of a line or fence.
    """
    in_line = previous != "\n"
    if in_line and text[pos] == "[" and _SUBSCRIPT.match(previous):
        return NO
    if in_line and previous in "$\\":
        return NO
    at_edge = NO if in_line or is_second else YES
    bracket = text[pos]
    pos = skip_spaces(text, pos + 1, end)
    while bracket == "[" and pos < end and text[pos] in "{[" and (not in_line or text[pos] == "{"):
        bracket = text[pos]
        pos = skip_spaces(text, pos + 1, end)
    if pos == end:
        return at_edge if final else WAIT
    char = text[pos]
    if char in CLOSERS:
        return YES
    if not in_line:
        if char == ("}" if bracket == "{" else "]"):
            return YES
        if char in "/#":
            return comment_at(text, pos, end, final)
    if bracket == "{":
        return key_at(text, pos, end, final)
    token = None if in_line else TOKEN.match(text, pos, end)
    if token is None:
        return NO
    after = skip_spaces(text, token.end(), end)
    if after == end:
        return at_edge if final else WAIT
    if not is_scalar(token[0]):
        return NO
    if text[after] in ",]" or text[after] in _BEGINS_VALUE:
        return YES
    return comment_at(text, after, end, final)
