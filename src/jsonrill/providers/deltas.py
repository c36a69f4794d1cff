"""What a translation may say about an event: five kinds of statement, none of them a provider's.

A provider's page turns one decoded event into a list of these; `toolcalls.py` acts on them. Which
call a `CallDelta` is about is decided there, from `message`, `choice`, `id`, `alias`, `index` and
`name`: a page passes on what the event says and remembers nothing that identity already knows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

# Where `None` could be meant: the provider said nothing here.
ABSENT: Final[Any] = type("Absent", (), {"__repr__": lambda self: "ABSENT"})()


class Part(NamedTuple):
    """A value at a JSONPath; `more` of it follows. Without a value: an end, or a container."""

    path: str
    value: Any = ABSENT
    more: bool = False


@dataclass(slots=True)
class End:
    """The arguments of a call have ended, and what the provider says about that."""

    # The arguments once more, as text or as a value: held against those that were streamed.
    text: str | None = None
    value: Any = ABSENT
    # The provider says that they are not whole.
    cut: bool = False
    # False: a call cut off before its first character ends in the same way as one without any.
    sure: bool = True
    # The provider's own complaint.
    error: str | None = None


@dataclass(slots=True)
class CallDelta:
    """What one event says about one call."""

    id: str | None = None
    index: int | None = None
    name: str | None = None
    # New argument text, as it came.
    text: str | None = None
    # The response, and which of its alternatives; None: the one at hand.
    message: str | None = None
    choice: int = 0
    # Another name under which later events speak of this call.
    alias: str | None = None
    # False: this says nothing that could open a call.
    opens: bool = True
    # The text is not JSON but free text.
    free: bool = False
    # Instead of text: the whole arguments, or values at paths.
    value: Any = ABSENT
    parts: Sequence[Part] = ()
    # Whole arguments stated at the start; they count if nothing else comes.
    preset: Any = ABSENT
    end: End | None = None
    # From jsonrill's own wire events: fragments (None: not sent) instead of a parser's.
    received: bool = False
    fragments: list[Any] | None = None
    status: str | None = None
    error: dict[str, Any] | None = None


@dataclass(slots=True)
class Begin:
    """A response begins; what was open before it is over."""

    message: str | None = None


@dataclass(slots=True)
class Finish:
    """A response has ended: this one, or (both None) everything that is open."""

    message: str | None = None
    choice: int | None = None
    # It was stopped before the model was done.
    cut: bool = False
    # The provider says that what is not whole is malformed.
    error: str | None = None


@dataclass(slots=True)
class Result:
    """What a tool answered."""

    id: str | None
    result: Any = None
    is_error: bool = False


@dataclass(slots=True)
class Aggregate:
    """The final state of all calls of a message, in place of what was streamed."""

    message: str | None
    calls: list[CallDelta]


Statement = CallDelta | Begin | Finish | Result | Aggregate
Translate = Callable[[dict[str, Any]], Sequence[Statement]]


def an_id(value: Any) -> str | None:
    """An id, if this is one: not empty, and not the "null" that some clients fill in."""
    return value if isinstance(value, str) and value and value != "null" else None


def an_index(value: Any) -> int | None:
    """An index, if this is one; protocol buffers may have made a float of it."""
    if type(value) is int:
        return value
    return int(value) if isinstance(value, float) and value.is_integer() else None


def a_text(value: Any) -> str | None:
    """A text, if this is one and not empty."""
    return value if isinstance(value, str) and value else None


def items(value: Any) -> list[dict[str, Any]]:
    """The objects in what should be a list of objects."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def an_object(value: Any) -> dict[str, Any]:
    """The object, or an empty one in place of anything else."""
    return value if isinstance(value, dict) else {}
