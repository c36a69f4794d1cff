"""Patterns with which the repairing machine looks ahead in the text.

`decide` answers YES or NO, UNCLEAR if neither reading is safe, or WAIT if more text is needed. It
sees at most `REACH` characters. The answer depends on them alone, never on how they were cut.
"""

from __future__ import annotations

import re
from typing import Final

from .grammar import NUMBER

WAIT: Final = -1
NO: Final = 0
YES: Final = 1
UNCLEAR: Final = 2
# The verdicts by group name. A group "cut_…" matches where the text ends before the decision.
_VERDICTS: Final = {"yes": YES, "no": NO, "unclear": UNCLEAR}

# At most this many characters wait for a decision.
REACH: Final = 1000

CLOSERS: Final = {'"': '"', "'": "'", "“": "”", "‘": "’"}
ODD_SPACES: Final = "\u00a0\u202f\u3000\u200b\u200c\u200d\u2060\ufeff"
SPACES: Final = " \t\r\n" + ODD_SPACES
WORDS: Final = {
    "true": True,
    "false": False,
    **dict.fromkeys(("null", "none", "nan", "infinity", "-infinity", "undefined")),
}
WORD: Final = re.compile("|".join(WORDS), re.IGNORECASE | re.ASCII)
NAME: Final = re.compile(r"[\w$-]++")

_S: Final = f"[{SPACES}]*+"
_QUOTE: Final = "[\"'“‘]"
_COMMENT: Final = r"(?:#|//|/\*)"
_NAME: Final = NAME.pattern
_TOKEN: Final = r"[\w$.+-]++"
# A number or literal that is a whole token.
_SCALAR: Final = rf"(?:(?ai:{WORD.pattern})|{NUMBER.pattern})(?![\w$.+-])"
# A string in any quotes, up to its closing quote; and with it.
_PARTS: Final = [
    (rf"{quote}(?:[^{closer}\\\n]|\\.|\\\Z)*+", closer) for quote, closer in CLOSERS.items()
]
_PART: Final = f"(?:{'|'.join(part for part, _ in _PARTS)})"
_STRING: Final = f"(?:{'|'.join(part + closer for part, closer in _PARTS)})"


def _compile(*alternatives: str) -> re.Pattern[str]:
    return re.compile("|".join(alternatives), re.DOTALL)


# After white space, a key with its colon.
KEY_FOLLOWS: Final = _compile(
    rf"{_S}(?:{_PART}|(?:{_STRING}|{_NAME}){_S})(?:(?P<yes>:)|(?P<cut_no>\Z))"
)
# After white space, strings with white space between them and then the next comma or bracket.
STRINGS_FOLLOW: Final = _compile(
    rf"{_S}(?:{_STRING}[{SPACES}]++)*+(?:{_PART}(?P<cut_unclear>\Z)|(?:{_STRING}{_S})?"
    rf"(?:(?P<yes>[,\]]|{_COMMENT})|(?P<cut_yes>\Z)|(?P<cut_no>/\Z)))"
)
# Text that shows that the quote before it ends a key, or a value. A colon is unclear: the value
# before it should have ended earlier.
KEY_ENDS: Final = _compile(rf"{_S}(?:(?P<yes>:|{_COMMENT})|(?P<cut_yes>\Z)|(?P<cut_no>/\Z))")
VALUE_ENDS: Final = _compile(
    rf"{_S}(?:(?P<yes>[,}}\]]|{_COMMENT})|(?P<unclear>:)|(?P<cut_yes>\Z)|(?P<cut_no>/\Z))"
)
# The second of two quotes. In `"He shouted "Stop!""` the first is text, else a comma is missing.
DOUBLED: Final = _compile(rf".{_S}(?:(?P<cut_no>\Z)|(?P<unclear>[^,}}\]]))")
# What follows a quote that ends a string if a comma is missing: `1` in `["a"1,"b"]`, `b` in
# `{"a":"x"b:1}`. Keyed by whether a space precedes the quote: if so, a quote after a scalar does
# not count, because it may end a quotation.
COMMA_LOST: Final = {
    is_spaced: _compile(
        rf"{_TOKEN}{_S}(?::{_S}(?:{_TOKEN})?)?(?P<cut_yes>\Z)",
        rf"(?P<yes>{_SCALAR}{_S}[,\]}}{ends}]|{_TOKEN}{_S}:{_S}(?:{_QUOTE}|[\[{{\-0-9]|{_SCALAR}))",
    )
    for is_spaced, ends in ((True, ""), (False, "\"'”’"))
}
# A number or literal that is the whole text.
ONLY_SCALAR: Final = _compile(rf"{_SCALAR}{_S}(?P<cut_yes>\Z)", rf"{_TOKEN}{_S}(?P<cut_no>\Z)")
# A bracket that begins the value: at the beginning of a line, and in a sentence.
VALUE_AT_LINE_START: Final = _compile(
    rf"(?P<yes>(?:\[{_S})*(?:\{{{_S}(?:{_QUOTE}|\}}|{_COMMENT}|{_NAME}{_S}:)"
    rf"|\[{_S}(?:{_QUOTE}|\]|{_COMMENT}|{_SCALAR}{_S}(?:[,\]\[{{\-0-9]|{_QUOTE}|{_COMMENT}))))",
    rf"(?:[\[{{]{_S})+(?:{_TOKEN}{_S})?/?(?P<cut_yes>\Z)",
)
VALUE_IN_SENTENCE: Final = _compile(
    rf"(?P<yes>(?:\[{_S})?\{{{_S}(?:{_QUOTE}|{_NAME}{_S}:)|\[{_S}{_QUOTE})",
    rf"(?:\[{_S})?(?:\{{{_S}(?:{_NAME}{_S})?)?(?P<cut_no>\Z)",
)


def decide(pattern: re.Pattern[str], text: str, pos: int, has_ended: bool) -> int:
    """Return the verdict of a pattern about the text at `pos`."""
    end = pos + REACH
    found = pattern.match(text, pos, end)
    if found is None:
        return NO
    group = found.lastgroup or ""
    if group.startswith("cut_") and len(text) < end and not has_ended:
        return WAIT
    return _VERDICTS[group.removeprefix("cut_")]
