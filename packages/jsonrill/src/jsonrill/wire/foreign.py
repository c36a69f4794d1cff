"""The foreign dialect `juf`: fragments of the public generator, whose payloads are source text."""

from __future__ import annotations

import json
from typing import Any, Literal, get_args

from ..errors import FragmentError
from .fragment import Fragment, Kind, checked

Dialect = Literal["jsonrill", "juf"]


def check_dialect(dialect: str) -> None:
    if dialect not in get_args(Dialect):
        raise ValueError(f"dialect is one of {get_args(Dialect)}, not {dialect!r}")


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
