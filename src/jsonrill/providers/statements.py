"""Statements: what a provider's event says, in records that are the same for all providers.

A provider's page turns one decoded event into statements, and everything that wants to know what an
event says reads these. Which call a `CallDelta` is about is decided in `toolcalls/`, from
`message`, `choice`, `id`, `alias`, `index` and `name`: a page passes on what the event says and
remembers nothing that identity already knows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, assert_never

from .fields import ABSENT


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
class Text:
    """More of the answer's text. `block` tells several texts of one answer apart."""

    text: str
    choice: int = 0
    block: int | None = None


@dataclass(slots=True)
class Reasoning:
    """More of what the model thinks before it answers; it is not part of the answer's text."""

    text: str
    choice: int = 0
    block: int | None = None


@dataclass(slots=True)
class Usage:
    """The tokens that were counted, as the provider wrote them."""

    counts: dict[str, Any]


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
    # The provider says that the calls which are not complete are malformed.
    malformed: str | None = None
    # The provider's error, which ended the response.
    error: str | None = None
    # No event of this response follows.
    last: bool = False


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


Statement = Begin | Text | Reasoning | CallDelta | Result | Aggregate | Usage | Finish
Translate = Callable[[dict[str, Any]], Sequence[Statement]]
Outcome = Literal["complete", "cut", "error"]


def text_in(said: Iterable[Statement], choice: int = 0) -> str:
    """The text of one choice in these statements; "" if they have none."""
    return "".join([one.text for one in said if type(one) is Text and one.choice == choice])


def of_choice(said: Iterable[Statement], choice: int) -> list[Statement]:
    """The statements about this choice, and those about all of them."""
    return [one for one in said if getattr(one, "choice", None) in (None, choice)]


class Ending:
    """How the choices of an answer ended, as far as the provider said so."""

    __slots__ = ("_choices",)

    def __init__(self) -> None:
        # Every choice that was heard of.
        self._choices: dict[int, Outcome | None] = {}

    def feed(self, said: Iterable[Statement]) -> None:
        for statement in said:
            match statement:
                case Text() | Reasoning() | CallDelta():
                    self._choices.setdefault(statement.choice, None)
                case Begin():
                    self._choices.clear()
                case Finish():
                    self._finish(statement)
                case Aggregate(calls=calls):
                    cut = any(call.status == "truncated" for call in calls)
                    self._finish(Finish(cut=cut))
                case Result() | Usage():
                    pass
                case _:
                    assert_never(statement)

    @property
    def complete(self) -> bool:
        """True if there was an answer and all its choices have ended."""
        return bool(self._choices) and None not in self._choices.values()

    def of(self, choice: int = 0) -> Outcome | None:
        """How this choice ended; None if it has not."""
        return self._choices.get(choice)

    def _finish(self, finish: Finish) -> None:
        failed = finish.error is not None or finish.malformed is not None
        outcome: Outcome = "error" if failed else "cut" if finish.cut else "complete"
        ended = [*self._choices] or [0] if finish.choice is None else [finish.choice]
        for choice in ended:
            # Providers that say it twice give the reason in the first event.
            self._choices[choice] = self._choices.get(choice) or outcome


def as_usage(value: Any) -> list[Statement]:
    """The statement of a `usage`, if this is one."""
    return [Usage(value)] if isinstance(value, dict) else []
