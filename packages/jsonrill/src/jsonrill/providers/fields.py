"""Reading fields of events, which may hold anything: each function returns the expected type.

A field of another type counts as absent, so that an odd event never raises.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..paths import ABSENT as ABSENT


def as_id(value: Any) -> str | None:
    """Return an id, or None. The empty text and the "null" of some clients are not ids."""
    return value if isinstance(value, str) and value and value != "null" else None


def as_index(value: Any) -> int | None:
    """Return an index, or None. Protocol buffers may have made a float of it."""
    if type(value) is int:
        return value
    return int(value) if isinstance(value, float) and value.is_integer() else None


def as_text(value: Any) -> str | None:
    """Return a text that is not empty, or None."""
    return value if isinstance(value, str) and value else None


def as_error(value: Any) -> str:
    """Return the message of an error, which is a text or an object with a `message`."""
    message = as_text(value) or as_text(as_object(value).get("message"))
    return message or "the provider reported an error"


def items(value: Any) -> list[dict[str, Any]]:
    """Return the objects in a list; none if this is not a list."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def as_object(value: Any) -> dict[str, Any]:
    """Return the object, or an empty one in place of anything else."""
    return value if isinstance(value, dict) else {}


def either(holder: dict[str, Any], name: str, other: str) -> Any:
    """Return the field of one of two names, for fields in camelCase and in snake_case."""
    value = holder.get(name)
    return holder.get(other) if value is None else value


def typed(*prefixes: str) -> Callable[[dict[str, Any]], bool]:
    """Return a function that tells whether an event's `type` begins with one of these."""

    def accepts(event: dict[str, Any]) -> bool:
        kind = event.get("type")
        return isinstance(kind, str) and kind.startswith(prefixes)

    return accepts
