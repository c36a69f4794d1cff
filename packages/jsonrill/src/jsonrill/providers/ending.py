"""How the choices of an answer end, and what a caller's `Answer` learns of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ..answer import Answer
from ..errors import CUTS, CutShort
from .finish import MEANINGS, Reason, is_complete
from .statements import (
    Aggregate,
    Begin,
    CallDelta,
    Finish,
    Reasoning,
    Result,
    Statement,
    Text,
    Usage,
    text_in,
)

# How many characters of a refusal are quoted.
_QUOTED: Final = 500


@dataclass(slots=True)
class _Choice:
    """A choice of an answer: why it ended (None: it has not), and the provider's explanation."""

    reason: Reason | None = None
    detail: str | None = None
    refusal: str = ""
    waits_for_tools: bool = False


class Ending:
    """Tracks how the choices of an answer end.

    `asks_again`: the caller lets a model go on that pauses because the provider's own tools take
    long, so that such an answer is not cut.
    """

    __slots__ = ("_asks_again", "_choices", "paused")

    def __init__(self, *, asks_again: bool = False) -> None:
        self._asks_again = asks_again
        self._choices: dict[int, _Choice] = {}
        self.paused = False

    def feed(self, statements: Iterable[Statement]) -> None:
        for statement in statements:
            match statement:
                case Text() | Reasoning() | CallDelta():
                    self._grow(statement)
                case Begin():
                    self._choices = {}
                    self.paused = False
                case Result():
                    for choice in self._choices.values():
                        choice.waits_for_tools = False
                case Finish():
                    self._finish(statement)
                case Aggregate(_, calls):
                    is_cut = any(call.status == "truncated" for call in calls)
                    self._finish(Finish(reason="lost" if is_cut else None))

    def of(self, choice: int = 0) -> Reason | None:
        """Return how this choice ended; None if it has not."""
        known = self._choices.get(choice) or _Choice()
        if known.reason != "complete":
            return known.reason
        # Not every provider has a word for these.
        if known.refusal:
            return "refused"
        return "calls" if known.waits_for_tools else "complete"

    def failure(self, choice: int = 0) -> str | None:
        """Return the provider's error with which this choice ended; None if it did not."""
        if self.of(choice) != "error":
            return None
        return self._choices[choice].detail or MEANINGS["error"]

    def cut(self, choice: int = 0, *, ends: bool = True) -> CutShort | None:
        """Return how this choice was cut, once its stream has ended; None if it was not.

        `ends`: the stream's format has an event for the end, without which it is lost.
        """
        reason, known = self.of(choice), self._choices.get(choice) or _Choice()
        if reason == "refused" or (reason is None and known.refusal):
            return CutShort("refused", known.refusal or known.detail)
        if reason is None:
            return CutShort("lost") if ends else None
        return CutShort(reason, known.detail) if reason in CUTS else None

    def _grow(self, statement: Text | Reasoning | CallDelta) -> None:
        known = self._choices.setdefault(statement.choice, _Choice())
        is_call = isinstance(statement, CallDelta)
        if known.reason is not None and (statement.text or not is_call):
            # An agent's next response, which no event begins.
            known = self._choices[statement.choice] = _Choice()
        if isinstance(statement, Text) and statement.refusal:
            known.refusal = (known.refusal + statement.text)[:_QUOTED]
        elif isinstance(statement, CallDelta) and statement.name and not statement.hosted:
            known.waits_for_tools = True

    def _finish(self, finish: Finish) -> None:
        numbers = [*self._choices] or [0] if finish.choice is None else [finish.choice]
        choices = [self._choices.setdefault(number, _Choice()) for number in numbers]
        waits = any(choice.waits_for_tools for choice in self._choices.values())
        if finish.paused and self._asks_again and not waits:
            self.paused, finish = True, Finish(reason="calls")
        for choice in choices:
            # Some end it twice, and give the reason once; an answer that was cut stays cut.
            if choice.reason is None or (is_complete(choice.reason) and finish.reason is not None):
                choice.reason = finish.reason or "complete"
                choice.detail = choice.detail if finish.detail is None else finish.detail


class Watch:
    """Follows an answer to its end, and fills in the caller's `Answer` if there is one.

    `failure` is the error that the provider has reported.
    """

    __slots__ = ("_answer", "_choice", "_counts", "_ending", "failure")

    def __init__(self, answer: Answer | None, choice: int = 0) -> None:
        if answer is not None:
            answer.begin()
        self._answer = answer
        self._choice = choice
        self._counts: dict[str, Any] = {}
        self._ending = Ending()
        self.failure: str | None = None

    def read(self, statements: Sequence[Statement]) -> None:
        """Take in the statements of an event."""
        self._ending.feed(statements)
        for statement in statements:
            if isinstance(statement, Usage):
                self._counts.update(statement.counts)
            elif isinstance(statement, Finish) and statement.reason == "error":
                if statement.choice in (None, self._choice):
                    self.failure = self.failure or statement.detail or MEANINGS["error"]
        if self._answer is not None:
            self._answer.finish = self._ending.of(self._choice)
            if text := text_in(statements, self._choice):
                self._answer.add(text)

    def end(self, *, ends: bool) -> CutShort | None:
        """Return how the answer was cut, at the end of its stream; `ends` as for `Ending.cut`."""
        cut = self._ending.cut(self._choice, ends=ends)
        if self._answer is not None:
            # The last counts of a lost stream have not come.
            if cut is None or self._answer.finish is not None:
                self._answer.usage = self._counts or None
            if cut is not None:
                self._answer.finish = cut.reason
        return cut
