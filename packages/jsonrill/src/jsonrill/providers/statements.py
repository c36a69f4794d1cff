"""Statements: the content of a provider's event, in records that are the same for all providers.

A provider's module turns one decoded event into statements; everything else reads statements. The
module passes on what the event says. It keeps no track of calls: `toolcalls/identity.py` decides
which call a `CallDelta` is about.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from ..errors import Problem
from ..paths import ABSENT
from .finish import Reason, is_complete


class ValueAt(NamedTuple):
    """A value at a JSONPath; `more`: the rest of a string follows.

    Without a value it is the end of a string, or an empty container.
    """

    path: str
    value: Any = ABSENT
    more: bool = False


@dataclass(slots=True)
class End:
    """The arguments of a call have ended.

    `text` or `value` are the complete arguments once more, to compare with the streamed ones.
    `incomplete`: the provider says that they are not complete. `sure`: a call without arguments is
    complete; otherwise the end of its response decides, because the same event ends a call that was
    cut off before its first argument. `error` is the provider's error message.
    """

    text: str | None = None
    value: Any = ABSENT
    incomplete: bool = False
    sure: bool = False
    error: str | None = None


@dataclass(slots=True)
class CallDelta:
    """A change of one call.

    `text` is new argument text; instead of it there may be a `value`, the complete arguments, or
    `parts`, values at paths. `message` names the response (None: the current one), `choice` its
    choice, and `alias` is another id under which later events name this call. With `opens=False`
    the delta only continues a call. `free`: the text is free text, not JSON. `hosted`: the provider
    runs the tool. `unread`: the event has content that was not read, so the call is not one without
    arguments. `preset` are complete arguments stated at the start, which count if nothing else
    comes. `received`: it is one of jsonrill's wire events, with `fragments` (None: none were sent),
    `status` and `error`.
    """

    id: str | None = None
    index: int | None = None
    name: str | None = None
    text: str | None = None
    message: str | None = None
    choice: int = 0
    alias: str | None = None
    opens: bool = True
    free: bool = False
    hosted: bool = False
    unread: bool = False
    value: Any = ABSENT
    parts: Sequence[ValueAt] = ()
    preset: Any = ABSENT
    end: End | None = None
    received: bool = False
    fragments: list[Any] | None = None
    status: str | None = None
    error: Problem | None = None

    def with_arguments(self, arguments: Any) -> CallDelta:
        """Set the arguments, which some providers send as text and some as a value."""
        if isinstance(arguments, str):
            self.text = arguments or None
        elif isinstance(arguments, dict):
            self.value = arguments
        return self


@dataclass(slots=True)
class Text:
    """More of the answer's text; `block` is the number of the text, if an answer has several.

    `refusal`: the model says why it does not answer. `ends`: the text is complete; otherwise
    another part or the end of the answer says so.
    """

    text: str
    choice: int = 0
    block: int | None = None
    refusal: bool = False
    ends: bool = False


@dataclass(slots=True)
class Reasoning:
    """More of the model's reasoning, which is not part of the answer's text."""

    text: str
    choice: int = 0
    block: int | None = None
    ends: bool = False


@dataclass(slots=True)
class Keep:
    """Data that the next request must send back unchanged, such as the signature of a thought.

    It belongs to the text, thought or call of the same `block` (None: the last one). If there is
    none, it is an item of its own.
    """

    data: dict[str, Any]
    block: int | None = None
    choice: int = 0


@dataclass(slots=True)
class Usage:
    """The token counts, with the provider's names."""

    counts: dict[str, Any]


@dataclass(slots=True)
class Begin:
    """A response begins; the one before it has ended."""

    message: str | None = None


@dataclass(slots=True)
class Finish:
    """A response has ended: the named one, or (both None) everything that is open.

    Without a `reason` it is complete, unless another event says otherwise; `detail` is the
    provider's explanation. `malformed`: calls that are not complete are malformed. `paused`: the
    model continues if it is sent what it has said so far.
    """

    message: str | None = None
    choice: int | None = None
    reason: Reason | None = None
    detail: str | None = None
    malformed: bool = False
    paused: bool = False

    @property
    def is_cut(self) -> bool:
        """True if the model had not finished."""
        return self.reason is not None and not is_complete(self.reason)


@dataclass(slots=True)
class Result:
    """The result of a tool call."""

    id: str | None
    result: Any = None
    is_error: bool = False


@dataclass(slots=True)
class Aggregate(Finish):
    """The end of a response with the final state of its calls, which replaces what was streamed."""

    calls: Sequence[CallDelta] = ()


Statement = Begin | Text | Reasoning | Keep | CallDelta | Result | Aggregate | Usage | Finish
Translate = Callable[[dict[str, Any]], Sequence[Any]]


def text_in(statements: Iterable[Statement], choice: int = 0) -> str:
    """Return the text of one choice in these statements."""
    return "".join(
        [item.text for item in statements if type(item) is Text and item.choice == choice]
    )


def of_choice(statements: Iterable[Statement], choice: int) -> list[Statement]:
    """Return the statements about this choice and about all choices."""
    return [item for item in statements if getattr(item, "choice", None) in (None, choice)]
