"""Fields of events, which may hold anything: each function gives what is expected, or nothing."""

from __future__ import annotations

from typing import Any, Final

# Where `None` could be meant: the provider said nothing here.
ABSENT: Final[Any] = type("Absent", (), {"__repr__": lambda self: "ABSENT"})()


def as_id(value: Any) -> str | None:
    """An id, if this is one: not empty, and not the "null" that some clients fill in."""
    return value if isinstance(value, str) and value and value != "null" else None


def as_index(value: Any) -> int | None:
    """An index, if this is one; protocol buffers may have made a float of it."""
    if type(value) is int:
        return value
    return int(value) if isinstance(value, float) and value.is_integer() else None


def as_text(value: Any) -> str | None:
    """A text, if this is one and not empty."""
    return value if isinstance(value, str) and value else None


def as_error(value: Any) -> str:
    """What the provider says about an error, which may be a text or an object with a message."""
    said = as_text(value) or as_text(as_object(value).get("message"))
    return said or "the provider reported an error"


def items(value: Any) -> list[dict[str, Any]]:
    """The objects in what should be a list of objects."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def as_object(value: Any) -> dict[str, Any]:
    """The object, or an empty one in place of anything else."""
    return value if isinstance(value, dict) else {}
