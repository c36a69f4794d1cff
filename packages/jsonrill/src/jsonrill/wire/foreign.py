"""The foreign dialect `juf`: fragments of the public generator, whose payloads are source text."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final, Literal, get_args

from ..errors import FragmentError
from .fragment import Fragment, Kind, checked

Dialect = Literal["jsonrill", "juf"]

_WITH_TEXT: Final = ("PartialString", "CompleteNumber")


def check_dialect(dialect: str) -> None:
    if dialect not in get_args(Dialect):
        raise ValueError(f"dialect is one of {get_args(Dialect)}, not {dialect!r}")


def is_juf(items: Any) -> bool:
    """True for fragments of the public generator: its kinds may be in camelCase, and it sends
    source text (`textValue`) with every kind; jsonrill does so with two."""
    return isinstance(items, list) and any(map(_is_juf, items))


def _is_juf(item: Any) -> bool:
    kind = item.get("kind") if isinstance(item, Mapping) else None
    if not isinstance(kind, str):
        return False
    return kind[:1].islower() or ("textValue" in item and kind not in _WITH_TEXT)


def from_juf(kind: Kind, text: Any) -> Fragment:
    """The public generator's dialect: payloads are source text, quoted and escaped.

    It lets raw control characters in strings pass, so they are read.
    """
    if kind in ("Key", "CompleteString", "CompleteNumber", "CompleteBoolean"):
        try:
            value = json.loads(text, strict=False)
        except (TypeError, ValueError, RecursionError) as error:
            raise FragmentError(f"the source text of a {kind} is not {text!r}") from error
        return checked(kind, (), text if kind == "CompleteNumber" else None, value)
    return checked(kind, (), text if kind == "PartialString" else None, None)
