"""RFC 8259 as patterns and tables, and the one way in which jsonrill writes JSON.

Reading: what a token looks like, whole or cut off. Writing: `dumps`, compact, never invalid.
No state is kept here; the machine that uses these lives in `machine.py`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from json.decoder import scanstring  # type: ignore[attr-defined]  # not in typeshed
from math import isinf
from typing import Any, Final

# Section 2: exactly these four. str.isspace() would also accept U+00A0.
SPACE: Final = re.compile(r"[ \t\n\r]*")

# RFC 7464: what may stand before each of many documents; and what ends a line or record.
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

# Section 7. A run of a string that is whole: plain characters and escapes, a high surrogate only
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
LONE_HIGH: Final = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}")
GOOD_ESCAPE: Final = re.compile(r"\\(?:u[0-9a-fA-F]{0,3}|(?=[^u]))")

# How "surrogateescape" decodes a byte that is not UTF-8.
UNDECODABLE: Final = re.compile(r"[\udc80-\udcff]")

_LONE_SURROGATE: Final = re.compile(r"[\ud800-\udfff]")


def unescape(run: str) -> str:
    """The decoded text of a whole run of a string, at the speed of the standard library."""
    text: str = scanstring(run + '"', 0, True)[0]
    return text


def dumps(value: Any, *, strict: bool = False) -> str:
    """`value` as compact JSON that any reader takes: no NaN, no bare lone surrogate.

    With `strict`, decimals are a TypeError and what is too deep for others a RecursionError.
    """
    try:
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        if strict and not isinstance(error, ValueError):
            raise
        text = "".join(_written(value))
    if text.isascii():
        return text
    return _LONE_SURROGATE.sub(lambda lone: f"\\u{ord(lone.group()):04x}", text)


def _written(value: Any) -> Iterator[str]:
    """`value` piece by piece, where the standard library refuses: at any depth, with decimals,
    and with numbers like 1e400, which read as infinity, so that they read as infinity again."""
    # Containers being written, by identity: their items, and what ends them.
    spine: dict[int, tuple[Iterator[tuple[str, Any]], str]] = {0: (iter([("", value)]), "")}
    comma = ""
    while spine:
        items, end = spine[next(reversed(spine))]
        key, item = next(items, ("", _NO_MORE))
        if item is _NO_MORE:
            spine.popitem()
            yield end
            comma = ","
            continue
        yield comma + key
        comma = ","
        if id(item) in spine:
            raise ValueError("a value that holds itself has no JSON form")
        if isinstance(item, dict):
            yield "{"
            spine[id(item)] = (((f"{_scalar(k)}:", v) for k, v in item.items()), "}")
            comma = ""
        elif isinstance(item, (list, tuple)):
            yield "["
            spine[id(item)] = ((("", v) for v in item), "]")
            comma = ""
        else:
            yield _scalar(item)


_NO_MORE: Final = object()


def _scalar(value: Any) -> str:
    from decimal import Decimal  # seldom wanted, and slow to import

    if isinstance(value, Decimal) and value.is_finite():
        return str(value)
    if isinstance(value, float) and isinf(value):
        return "1e999" if value > 0 else "-1e999"
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
