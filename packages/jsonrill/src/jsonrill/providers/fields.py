"""Reading fields of events, which may hold anything: each function returns the expected type.

A field of another type counts as absent, so that an odd event never raises.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..paths import ABSENT as ABSENT


def as_id(value: Any) -> str | None:
    """An id, or None. Not an id: the empty text, and the "null" that some clients fill in."""
    return value if isinstance(value, str) and value and value != "null" else None


def as_index(value: Any) -> int | None:
    """An index, or None. Protocol buffers may have made a float of it."""
    if type(value) is int:
        return value
    return int(value) if isinstance(value, float) and value.is_integer() else None


def as_text(value: Any) -> str | None:
    """A text that is not empty, or None."""
    return value if isinstance(value, str) and value else None


def as_error(value: Any) -> str:
    """The message of an error, which is a text or an object with a `message`."""
    message = as_text(value) or as_text(as_object(value).get("message"))
    return message or "the provider reported an error"


def items(value: Any) -> list[dict[str, Any]]:
    """The objects in a list; none if this is no list."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def as_dict(value: Any) -> dict[str, Any] | None:
    """The object as a plain dict, which compiled code reads fastest; None if it is none."""
    if type(value) is dict:
        return value
    return dict(value) if isinstance(value, dict) else None


def as_object(value: Any) -> dict[str, Any]:
    """The object, or an empty one in place of anything else."""
    return value if isinstance(value, dict) else {}


def either(holder: dict[str, Any], name: str, other: str) -> Any:
    """The field of one of two names, for fields that come in camelCase and in snake_case."""
    value = holder.get(name)
    return holder.get(other) if value is None else value


def typed(*prefixes: str) -> Callable[[dict[str, Any]], bool]:
    """A function that tells if the `type` of an event begins with one of these."""

    def accepts(event: dict[str, Any]) -> bool:
        kind = event.get("type")
        return isinstance(kind, str) and kind.startswith(prefixes)

    return accepts
