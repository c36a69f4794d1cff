"""Helpers for the providers' modules: read fields of events, and make common statements.

An event may hold anything. A field of another type than expected counts as absent, so that an odd
event never raises.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .finish import finish_reason, worse_word
from .statements import Finish, Statement, Usage


def first(holder: Any, name: str, other: str = "") -> Any:
    """Return a field that has one of two names: many are in camelCase and in snake_case."""
    if not isinstance(holder, dict):
        return None
    value = holder.get(name)
    return holder.get(other) if value is None and other else value


def as_id(holder: Any, name: str, other: str = "") -> str | None:
    """Return an id, or None. The empty text and the "null" of some clients are not ids."""
    value = holder.get(name) if type(holder) is dict and not other else first(holder, name, other)
    return value if isinstance(value, str) and value and value != "null" else None


def as_index(holder: Any, name: str, other: str = "") -> int | None:
    """Return an index, or None. Protocol buffers may have made a float of it."""
    value = holder.get(name) if type(holder) is dict and not other else first(holder, name, other)
    if type(value) is int:
        return value
    return int(value) if isinstance(value, float) and value.is_integer() else None


def as_text(holder: Any, name: str, other: str = "") -> str | None:
    """Return a text that is not empty, or None."""
    value = holder.get(name) if type(holder) is dict and not other else first(holder, name, other)
    return value if isinstance(value, str) and value else None


def as_object(holder: Any, name: str, other: str = "") -> dict[str, Any]:
    """Return the value if it is an object, else an empty object."""
    value = holder.get(name) if type(holder) is dict and not other else first(holder, name, other)
    return value if isinstance(value, dict) else {}


def items(holder: Any, name: str, other: str = "") -> list[dict[str, Any]]:
    """Return the objects in a list; none if this is not a list."""
    value = holder.get(name) if type(holder) is dict and not other else first(holder, name, other)
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def typed(*prefixes: str) -> Callable[[dict[str, Any]], bool]:
    """Return a function that tells whether an event's `type` begins with one of these."""

    def accepts(event: dict[str, Any]) -> bool:
        kind = event.get("type")
        return isinstance(kind, str) and kind.startswith(prefixes)

    return accepts


def error_text(error: Any) -> str:
    """Return the message of an error, which is a text or an object with a `message`."""
    return as_text({"": error}, "") or as_text(error, "message") or "the provider reported an error"


def finished(
    word: Any,
    message: str | None = None,
    choice: int | None = None,
    *,
    native: Any = None,
    detail: str | None = None,
) -> Finish:
    """Return the statement for a provider's finish reason.

    `native` is the word of the provider behind a gateway, `detail` the provider's explanation.
    """
    word = worse_word(word, native)
    reason = finish_reason(word)
    spelled = str(getattr(word, "value", word))
    if reason == "error":
        detail = detail or spelled
    malformed = reason == "error" and spelled.lower().startswith("malformed")
    return Finish(message, choice, reason, detail, malformed, word == "pause_turn")


def failed(error: Any) -> Finish:
    """Return the statement of a provider's error: a text or an object with a `message`."""
    return Finish(reason="error", detail=error_text(error))


def usage(holder: Any, name: str, other: str = "") -> list[Statement]:
    """Return the statement of a field with token counts; none if it is not an object."""
    counts = first(holder, name, other)
    return [Usage(counts)] if isinstance(counts, dict) else []
