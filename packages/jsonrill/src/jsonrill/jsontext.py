"""Writing JSON: compact text that every reader takes. No other module quotes or escapes JSON.

A lone surrogate (half of a UTF-16 pair) has no UTF-8 form, so it is always written as an escape.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from json.encoder import encode_basestring
from math import isfinite, isinf
from time import sleep
from typing import Any, Final

SURROGATE: Final = re.compile(r"[\ud800-\udfff]")
_ENCODER: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)
# Its inner part in C, where there is one. `json.dumps` makes both anew for each call, which takes
# longer than writing most events does. What holds itself is found by its depth.
_MAKE: Final[Any] = json.encoder.c_make_encoder  # type: ignore[attr-defined]
_IN_C: Final[Callable[[Any, int], Sequence[str]] | None] = _MAKE and _MAKE(
    None, _ENCODER.default, encode_basestring, None, ":", ",", False, False, False
)
# Items of a container that are written by one call in `dumps_in_parts`.
_AT_ONCE: Final = 500
# Characters that are written before another thread has its turn; a part counts for some itself.
_BETWEEN: Final = 2048
_PER_PART: Final = 16


def dumps(value: Any, *, strict: bool = False, finite: bool = False) -> str:
    """`value` as compact JSON: no NaN, no bare surrogate.

    With `strict`, a `Decimal` is a TypeError and what is too deep for others a RecursionError. With
    `finite`, NaN and infinity are null, as JavaScript and pydantic write them.
    """
    if type(value) is list and len(value) == 1 and type(value[0]) is str:
        return f"[{quoted(value[0])}]"  # most events of a stream are this
    try:
        text = _ENCODER.encode(value) if _IN_C is None else "".join(_IN_C(value, 0))
    except (TypeError, ValueError, RecursionError) as error:
        if strict and not isinstance(error, ValueError):
            raise
        return write(value, _finite if finite else _scalar)
    return text if text.isascii() else escape_surrogates(text)


def without_constants(text: str) -> str:
    """JSON text in which NaN and Infinity, which some writers use though JSON lacks them, are null.

    Any other text is returned as it is.
    """
    if "NaN" not in text and "Infinity" not in text:
        return text
    constants: list[str] = []
    try:
        value = json.loads(text, parse_constant=constants.append, parse_float=_decimal)
    except (ValueError, RecursionError):
        return text
    return dumps(value) if constants else text


def dumps_in_parts(value: Any) -> str:
    """`dumps(value)`, in short calls of the C encoder, so that other threads can run in between.

    One call holds Python's lock to its end, a quarter of a second for 15 MB; and this function,
    when it is compiled, would never hand it over by itself. Takes two to six times as long.
    """
    out: list[str] = []
    written = 0
    spine: list[Iterator[Any]] = [iter((dumps(value),)) if _is_small(value) else _parts(value)]
    while spine:
        for part in spine[-1]:
            if isinstance(part, str):
                out.append(part)
                # Not after each part: those of a list of objects are a few characters.
                written += len(part) + _PER_PART
                if written > _BETWEEN:
                    written = 0
                    sleep(0)
            else:
                spine.append(_parts(part))
                break
        else:
            spine.pop()
    return "".join(out)


def _parts(value: Any) -> Iterator[Any]:
    """The text of a container in pieces; a large container inside it as it is."""
    in_object = isinstance(value, dict)
    yield "{" if in_object else "["
    items = iter(value.items() if in_object else value)
    comma = ""
    while some := list(islice(items, _AT_ONCE)):
        together: Any = dict(some) if in_object else some
        if _is_small(together):
            yield comma + dumps(together)[1:-1]
        else:
            for item in some:
                if in_object:
                    key, item = item
                    yield comma + dumps({key: None})[1:-5]
                elif comma:
                    yield comma
                yield dumps(item) if _is_small(item) else item
                comma = ","
        comma = ","
    yield "}" if in_object else "]"


def _is_small(value: Any) -> bool:
    """True if the value has few parts, at any depth."""
    left = 2 * _AT_ONCE
    waiting = [value]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            value = value.values()
        elif not isinstance(value, (list, tuple)):
            continue
        left -= len(value)
        if left < 0:
            return False
        waiting.extend(value)
    return True


def quoted(text: str) -> str:
    """`text` as a JSON string, with its quotes. No surrogate is printable."""
    written: str = encode_basestring(text)
    return written if written.isascii() or written.isprintable() else escape_surrogates(written)


def escape_surrogates(text: str) -> str:
    """JSON text in which each surrogate is an escape such as `\\ud83d`."""
    return SURROGATE.sub(lambda match: f"\\u{ord(match.group()):04x}", text)


def write(value: Any, scalar: Callable[[Any], str], *, sort_keys: bool = False) -> str:
    """`value` as compact JSON, at any depth; `scalar` writes what is no string and no container.

    There is no recursion. `spine` has an entry for each open container, under its identity: the
    items that the container around it still has. A container that is met while it is open holds
    itself, which is a ValueError.
    """
    out: list[str] = []
    spine: dict[int, tuple[Iterator[Any], bool]] = {}
    items: Iterator[Any] = iter((value,))
    in_object, comma = False, ""
    while True:
        for item in items:
            if in_object:
                key, item = item
                out.append(f"{comma}{quoted(key if isinstance(key, str) else scalar(key))}:")
            else:
                out.append(comma)
            comma = ","
            if isinstance(item, str):
                out.append(quoted(item))
            elif not isinstance(item, (dict, list, tuple)):
                out.append(scalar(item))
            elif id(item) in spine:
                raise ValueError("a value that holds itself has no JSON form")
            else:
                spine[id(item)] = items, in_object
                in_object, comma = isinstance(item, dict), ""
                out.append("{" if in_object else "[")
                if isinstance(item, dict):
                    items = iter(sorted(item.items()) if sort_keys else item.items())
                else:
                    items = iter(item)
                break
        else:
            if not spine:
                return "".join(out)
            out.append("}" if in_object else "]")
            items, in_object = spine.popitem()[1]
            comma = ","


def _scalar(value: Any) -> str:
    """A number or literal; infinity, which 1e400 is read as, so that it is read as infinity."""
    from decimal import Decimal  # seldom wanted, and slow to import

    if isinstance(value, Decimal) and value.is_finite():
        return str(value)
    if isinstance(value, float) and isinf(value):
        return "1e999" if value > 0 else "-1e999"
    return json.dumps(value, allow_nan=False)


def _finite(value: Any) -> str:
    """The same, with null for what JSON has no number for."""
    from decimal import Decimal

    if isinstance(value, Decimal):
        return str(value) if value.is_finite() else "null"
    return "null" if isinstance(value, float) and not isfinite(value) else _scalar(value)


def _decimal(text: str) -> Any:
    from decimal import Decimal

    return Decimal(text)
