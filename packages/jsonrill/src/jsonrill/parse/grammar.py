"""RFC 8259 as patterns: what a token looks like, complete or cut off."""

from __future__ import annotations

import re
from typing import Final

# Section 6. Not \d, which in a str pattern matches every Unicode digit.
NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
# The same as an automaton. A state maps each character that may come next to the state after it.
# A number may end after any digit. Compiled, this takes a quarter of the time of two patterns.
NumberState = dict[str, "NumberState"]
_DIGITS: Final = "0123456789"
_EXPONENT: Final[NumberState] = {}
_EXPONENT.update(dict.fromkeys(_DIGITS, _EXPONENT))
_E: Final[NumberState] = {"+": _EXPONENT, "-": _EXPONENT, **_EXPONENT}
_FRACTION: Final[NumberState] = {"e": _E, "E": _E}
_FRACTION.update(dict.fromkeys(_DIGITS, _FRACTION))
_POINT: Final = dict.fromkeys(_DIGITS, _FRACTION)
_ZERO: Final[NumberState] = {".": _POINT, "e": _E, "E": _E}
_INTEGER: Final[NumberState] = {**_ZERO}
_INTEGER.update(dict.fromkeys(_DIGITS, _INTEGER))
_MINUS: Final[NumberState] = {**dict.fromkeys("123456789", _INTEGER), "0": _ZERO}
NUMBER_START: Final[NumberState] = {"-": _MINUS, **_MINUS}

LITERALS: Final[dict[str, tuple[str, bool | None]]] = {
    "t": ("true", True),
    "f": ("false", False),
    "n": ("null", None),
}

# Section 7. Plain characters of a string, by the quote that closes it; JSON has only one.
PLAIN: Final = {closer: re.compile(rf"[^{closer}\\\x00-\x1f]*") for closer in "\"'”’"}
# A complete run of a string: plain characters and escapes, a high surrogate only together with
# its low one or once what follows shows that it is alone, as json.loads accepts it.
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
LONE_HIGH: Final = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}")
ESCAPE_START: Final = re.compile(r"\\(?:u[0-9a-fA-F]{0,3}|(?=[^u]))")
