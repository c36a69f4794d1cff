"""Write JSON as compact text that every reader accepts. No other module quotes or escapes JSON.

A lone surrogate (half of a UTF-16 pair) has no UTF-8 form, so it is always written as an escape.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from json.encoder import encode_basestring
from math import isfinite, isinf
from typing import Any, Final

SURROGATE: Final = re.compile(r"[\ud800-\udfff]")
_ENCODER: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)
# Its C part, if there is one. `json.dumps` creates both for each call, which takes longer than
# writing most events. A value that contains itself is a RecursionError.
_MAKE_ENCODER: Final[Any] = json.encoder.c_make_encoder  # type: ignore[attr-defined]
_C_ENCODER: Final[Callable[[Any, int], Sequence[str]] | None] = _MAKE_ENCODER and _MAKE_ENCODER(
    None, _ENCODER.default, encode_basestring, None, ":", ",", False, False, False
)


def dumps(value: Any, *, strict: bool = False, finite: bool = False) -> str:
    """Return a value as compact JSON: no NaN, no bare surrogate.

    With `strict`, a `Decimal` is a TypeError and a value that is too deep for other readers a
    RecursionError. With `finite`, NaN and infinity are null, as JavaScript and pydantic write them.
    """
    try:
        text = _ENCODER.encode(value) if _C_ENCODER is None else "".join(_C_ENCODER(value, 0))
    except (TypeError, ValueError, RecursionError) as error:
        if strict and not isinstance(error, ValueError):
            raise
        return write(value, _finite if finite else _scalar)
    return text if text.isascii() else escape_surrogates(text)


def quoted(text: str) -> str:
    """Return text as a JSON string, with its quotes."""
    literal: str = encode_basestring(text)
    # No surrogate is printable.
    return literal if literal.isascii() or literal.isprintable() else escape_surrogates(literal)


def escape_surrogates(text: str) -> str:
    """Return JSON text with each surrogate written as an escape such as `\\ud83d`."""
    return SURROGATE.sub(lambda match: f"\\u{ord(match.group()):04x}", text)


def json_types_of(value: Any) -> Any:
    """Return a mapping, a model or a dataclass as a dict, or what the model dumps."""
    if isinstance(value, Mapping):
        return dict(value)
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json")
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in fields(value)}
    kind = type(value).__name__
    raise TypeError(f"{value!r:.80} ({kind}) is not a JSON value, a model or a dataclass")


def write(value: Any, scalar: Callable[[Any], str], *, sort_keys: bool = False) -> str:
    """Return a value as compact JSON, at any depth; `scalar` writes numbers and literals.

    `spine` maps the id of each open container to the remaining items of the container around it. A
    container that is found again while it is open contains itself.
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
                raise ValueError("a value that contains itself has no JSON form")
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
    """Return the text of a number or literal; infinity as 1e999, which is read as infinity."""
    from decimal import Decimal  # slow to import

    if isinstance(value, Decimal) and value.is_finite():
        return str(value)
    if isinstance(value, float) and isinf(value):
        return "1e999" if value > 0 else "-1e999"
    return json.dumps(value, allow_nan=False)


def _finite(value: Any) -> str:
    """Return the text of a number or literal, with null for NaN and infinity."""
    from decimal import Decimal

    if isinstance(value, Decimal):
        return str(value) if value.is_finite() else "null"
    return "null" if isinstance(value, float) and not isfinite(value) else _scalar(value)
