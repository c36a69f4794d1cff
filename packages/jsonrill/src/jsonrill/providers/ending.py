"""How the choices of an answer end, and what a caller's `Answer` learns of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from ..answer import Answer
from ..errors import CUTS, CutShort
from .finish import Reason, is_complete
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


class Ending:
    """Tracks how the choices of an answer end.

    `asks_again`: the caller lets a model go on that pauses because the provider's own tools take
    long, so that such an answer is not cut.
    """

    __slots__ = ("_asks_again", "_calling", "_details", "_reasons", "_refusals", "paused")

    def __init__(self, *, asks_again: bool = False) -> None:
        self._asks_again = asks_again
        self._begin()

    def _begin(self) -> None:
        # The reason of each choice that has begun; None: not ended.
        self._reasons: dict[int, Reason | None] = {}
        # The refusal of a choice, the choices that wait for tools, and the provider's explanation.
        self._refusals: dict[int, str] = {}
        self._calling: set[int] = set()
        self._details: dict[int, str] = {}
        self.paused = False

    def feed(self, statements: Iterable[Statement]) -> None:
        for statement in statements:
            match statement:
                case Text() | Reasoning() | CallDelta():
                    self._grow(statement)
                case Begin():
                    self._begin()
                case Result():
                    self._calling.clear()
                case Finish():
                    self._finish(statement)
                case Aggregate(_, calls):
                    is_cut = any(call.status == "truncated" for call in calls)
                    self._finish(Finish(reason="lost" if is_cut else None))

    @property
    def complete(self) -> bool:
        """True if there was an answer and all its choices have ended."""
        return bool(self._reasons) and None not in self._reasons.values()

    def of(self, choice: int = 0) -> Reason | None:
        """Return how this choice ended; None if it has not."""
        reason = self._reasons.get(choice)
        if reason != "complete":
            return reason
        # Not every provider has a word for these.
        if choice in self._refusals:
            return "refused"
        return "calls" if choice in self._calling else reason

    def failure(self, choice: int = 0) -> str | None:
        """Return the provider's error with which this choice ended; None if it did not."""
        if self.of(choice) != "error":
            return None
        return self._details.get(choice) or "the provider reported an error"

    def cut(self, choice: int = 0, *, ends: bool = True) -> CutShort | None:
        """Return how this choice was cut, once its stream has ended; None if it was not.

        `ends`: the stream's format has an event for the end, without which it is lost.
        """
        reason = self.of(choice)
        if reason == "refused" or (reason is None and choice in self._refusals):
            return CutShort("refused", self._refusals.get(choice) or self._details.get(choice))
        if reason is None:
            return CutShort("lost") if ends else None
        return CutShort(reason, self._details.get(choice)) if reason in CUTS else None

    def _grow(self, statement: Text | Reasoning | CallDelta) -> None:
        choice, is_call = statement.choice, isinstance(statement, CallDelta)
        if self._reasons.get(choice) is not None and (statement.text or not is_call):
            # An agent's next response, which no event begins.
            self._refusals.pop(choice, None)
            self._calling.discard(choice)
            self._details.pop(choice, None)
            self._reasons[choice] = None
        self._reasons.setdefault(choice, None)
        if isinstance(statement, Text) and statement.refusal:
            self._refusals[choice] = (self._refusals.get(choice, "") + statement.text)[:_QUOTED]
        elif isinstance(statement, CallDelta) and statement.name and not statement.hosted:
            self._calling.add(choice)

    def _finish(self, finish: Finish) -> None:
        ended = [*self._reasons] or [0] if finish.choice is None else [finish.choice]
        if finish.paused and self._asks_again and not self._calling:
            self.paused, finish = True, Finish(reason="calls")
        for choice in ended:
            known = self._reasons.get(choice)
            # Some end it twice, and give the reason once; an answer that was cut stays cut.
            if known is None or (is_complete(known) and finish.reason is not None):
                self._reasons[choice] = finish.reason or "complete"
                if finish.detail is not None:
                    self._details[choice] = finish.detail


class Watch:
    """Fills in a caller's `Answer`: the text, the end, the token counts."""

    __slots__ = ("_answer", "_choice", "_counts", "_ending")

    def __init__(self, answer: Answer, choice: int = 0) -> None:
        answer.begin()
        self._answer = answer
        self._choice = choice
        self._counts: dict[str, Any] = {}
        self._ending = Ending()

    def read(self, statements: Sequence[Statement]) -> None:
        """Take in the statements of an event."""
        if text := text_in(statements, self._choice):
            self._answer.add(text)
        self._ending.feed(statements)
        self._answer.finish = self._ending.of(self._choice)
        for statement in statements:
            if isinstance(statement, Usage):
                self._counts.update(statement.counts)

    def end(self, *, ends: bool) -> None:
        """Note that the stream has been read to its end; `ends` as for `Ending.cut`."""
        cut = self._ending.cut(self._choice, ends=ends)
        # The last counts of a lost stream have not come.
        if cut is None or self._answer.finish is not None:
            self._answer.usage = self._counts or None
        if cut is not None:
            self._answer.finish = cut.reason
