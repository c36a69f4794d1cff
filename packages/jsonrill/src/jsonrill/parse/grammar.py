"""RFC 8259 as patterns: what a token looks like, complete or cut off."""

from __future__ import annotations

import re
from typing import Final

# Section 6. Not \d, which in a str pattern matches every Unicode digit.
NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
NUMBER_RUN: Final = re.compile(r"[-+.0-9eE]*")
# What a number can begin with: the longest text that more digits could make a number.
NUMBER_START: Final = re.compile(
    r"-?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?(?:(?<=[0-9])[eE][+-]?[0-9]*)?)?"
)

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
