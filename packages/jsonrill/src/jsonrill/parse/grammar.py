"""RFC 8259 as patterns and tables: what a token looks like, complete or cut off.

No state is kept here; the machine that uses these lives in `machine.py`.
"""

from __future__ import annotations

import re
from json.decoder import scanstring  # type: ignore[attr-defined]  # not in typeshed
from typing import Final

# Section 2: exactly these four. str.isspace() would also accept U+00A0.
SPACE: Final = re.compile(r"[ \t\n\r]*")

# RFC 7464: what may precede each of many documents; and what ends a line or record.
SEPARATOR: Final = "\x1e"
RECORD_END: Final = re.compile(r"[\n\x1e]")

# Section 6. Not \d, which in a str pattern matches every Unicode digit.
NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")

# Section 6 once more, as a table for numbers that arrive in pieces: state → character → state.
# From ZERO on a number may end, up to INTEGER it is one, from INTEGER on any digit may follow.
START, MINUS, POINT, EXPONENT_MARK, SIGN, ZERO, INTEGER, FRACTION, EXPONENT = range(9)
_DIGITS, _MARKS = "0123456789", dict.fromkeys("eE", EXPONENT_MARK)
_FIRST = {"0": ZERO, **dict.fromkeys("123456789", INTEGER)}
NUMBER_STEPS: Final[tuple[dict[str, int], ...]] = (
    {"-": MINUS, **_FIRST},
    _FIRST,
    dict.fromkeys(_DIGITS, FRACTION),
    {**dict.fromkeys("+-", SIGN), **dict.fromkeys(_DIGITS, EXPONENT)},
    dict.fromkeys(_DIGITS, EXPONENT),
    {".": POINT, **_MARKS},
    {".": POINT, **dict.fromkeys(_DIGITS, INTEGER), **_MARKS},
    {**dict.fromkeys(_DIGITS, FRACTION), **_MARKS},
    dict.fromkeys(_DIGITS, EXPONENT),
)

LITERALS: Final[dict[str, tuple[str, bool | None]]] = {
    "t": ("true", True),
    "f": ("false", False),
    "n": ("null", None),
}

# Section 7. A complete run of a string: plain characters and escapes, a high surrogate only
# together with its low one or once what follows shows that it stands alone, as json.loads accepts.
# Possessive, so that a long run keeps no way back.
STRING_RUN: Final = re.compile(
    r"(?:[^\"\\\x00-\x1f]++|\\[\"\\/bfnrt]|\\u(?![dD][89abAB])[0-9a-fA-F]{4}"
    r"|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    r"|\\u[dD][89abAB][0-9a-fA-F]{2}(?=[^\\]|\\[^u]|\\u[^dD]|\\u[dD][^c-fC-F]))*+"
)
# One whole escape.
ESCAPE: Final = re.compile(
    r"\\[\"\\/bfnrt]|\\u(?![dD][89abAB])[0-9a-fA-F]{4}"
    r"|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
)
# An escape that the end of the text cuts off, or a high surrogate whose low one may still come.
CUT_ESCAPE: Final = re.compile(
    r"\\(?:u[0-9a-fA-F]{0,3})?\Z"
    r"|\\u[dD][89abAB][0-9a-fA-F]{2}(?:\\(?:u(?:[dD](?:[c-fC-F][0-9a-fA-F]?)?)?)?)?\Z"
)
WHOLE_ESCAPE: Final = len(r"\u0000")
LONE_HIGH: Final = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}")
GOOD_ESCAPE: Final = re.compile(r"\\(?:u[0-9a-fA-F]{0,3}|(?=[^u]))")

# How "surrogateescape" decodes a byte that is not UTF-8.
UNDECODABLE: Final = re.compile(r"[\udc80-\udcff]")


def unescape(run: str) -> str:
    """The decoded text of a whole run of a string, at the speed of the standard library."""
    text: str = scanstring(run + '"', 0, True)[0]
    return text
