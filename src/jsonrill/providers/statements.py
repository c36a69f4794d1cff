"""Statements: what a provider's event says, in records that are the same for all providers.

A provider's module turns one decoded event into statements; everything else reads statements.
`toolcalls/identity.py` decides which call a `CallDelta` is about, from `message`, `choice`, `id`,
`alias`, `index` and `name`. A module passes on what the event says and keeps no track of calls.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, assert_never

from .fields import ABSENT


class Part(NamedTuple):
    """A value at a JSONPath; `more`: the rest of a string follows. Without a value: the end of a
    string, or a container."""

    path: str
    value: Any = ABSENT
    more: bool = False


@dataclass(slots=True)
class End:
    """The arguments of a call have ended, and what the provider says about that."""

    # The arguments once more, as text or as a value, to compare with those that were streamed.
    text: str | None = None
    value: Any = ABSENT
    # True: the provider says that they are not complete.
    cut: bool = False
    # False: this event ends a call without arguments and one cut off before its first character.
    sure: bool = True
    # The provider's error message.
    error: str | None = None


@dataclass(slots=True)
class CallDelta:
    """What one event says about one call."""

    id: str | None = None
    index: int | None = None
    name: str | None = None
    # New argument text, as it came.
    text: str | None = None
    # The response (None: the current one), and which of its choices.
    message: str | None = None
    choice: int = 0
    # Another id under which later events name this call.
    alias: str | None = None
    # False: this cannot open a call.
    opens: bool = True
    # True: the text is free text, not JSON.
    free: bool = False
    # True: the provider runs this tool itself.
    hosted: bool = False
    # Instead of text: the complete arguments, or values at paths.
    value: Any = ABSENT
    parts: Sequence[Part] = ()
    # Complete arguments stated at the start; they count if nothing else comes.
    preset: Any = ABSENT
    end: End | None = None
    # Of jsonrill's own wire events: fragments that were sent (None: none), status and error.
    received: bool = False
    fragments: list[Any] | None = None
    status: str | None = None
    error: dict[str, Any] | None = None


@dataclass(slots=True)
class Text:
    """More of the answer's text. `block` is the number of the text, if an answer has several."""

    text: str
    choice: int = 0
    block: int | None = None


@dataclass(slots=True)
class Reasoning:
    """More of the model's reasoning, which is not part of the answer's text."""

    text: str
    choice: int = 0
    block: int | None = None


@dataclass(slots=True)
class Keep:
    """What the next request must send back as it came, such as the signature of a thought.

    It belongs to the text, thought or call of the same `block` (None: to the last one), or, if it
    is `alone` or there is none, stands for itself.
    """

    data: dict[str, Any]
    block: int | None = None
    choice: int = 0
    alone: bool = False


@dataclass(slots=True)
class Usage:
    """The token counts, as the provider wrote them."""

    counts: dict[str, Any]


@dataclass(slots=True)
class Begin:
    """A response begins; the one before it has ended."""

    message: str | None = None


@dataclass(slots=True)
class Finish:
    """A response has ended: this one, or (both None) everything that is open."""

    message: str | None = None
    choice: int | None = None
    # True: it was stopped before the model had finished.
    cut: bool = False
    # Why the calls that are not complete are malformed.
    malformed: str | None = None
    # The error message of the provider, which ended the response.
    error: str | None = None
    # True: no event of this response follows.
    last: bool = False


@dataclass(slots=True)
class Result:
    """The result of a tool call."""

    id: str | None
    result: Any = None
    is_error: bool = False


@dataclass(slots=True)
class Aggregate:
    """The final state of all calls of a message, which replaces what was streamed."""

    message: str | None
    calls: list[CallDelta]


Statement = Begin | Text | Reasoning | Keep | CallDelta | Result | Aggregate | Usage | Finish
Translate = Callable[[dict[str, Any]], Sequence[Statement]]
Outcome = Literal["complete", "cut", "error"]


def text_in(said: Iterable[Statement], choice: int = 0) -> str:
    """The text of one choice in these statements; "" if they have none."""
    return "".join([one.text for one in said if type(one) is Text and one.choice == choice])


def of_choice(said: Iterable[Statement], choice: int) -> list[Statement]:
    """The statements about this choice, and those about all of them."""
    return [one for one in said if getattr(one, "choice", None) in (None, choice)]


class Ending:
    """Keeps track of how the choices of an answer ended."""

    __slots__ = ("_choices",)

    def __init__(self) -> None:
        # All choices that have come; None: not ended.
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
                case Keep() | Result() | Usage():
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
            # Providers that end it twice give the reason in the first event.
            self._choices[choice] = self._choices.get(choice) or outcome


def as_usage(value: Any) -> list[Statement]:
    """The statement of a `usage` field; none if it is no object."""
    return [Usage(value)] if isinstance(value, dict) else []
