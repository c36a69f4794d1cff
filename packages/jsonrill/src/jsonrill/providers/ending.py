"""How one choice of an answer ends, and the fields of the caller's `Answer` that depend on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from ..answer import Answer
from ..errors import CUTS, CutShort
from .finish import MEANINGS, Reason, is_complete
from .statements import Begin, CallDelta, Finish, Reasoning, Result, Statement, Text, Usage, text_in

# How many characters of a refusal are quoted.
_QUOTED: Final = 500


@dataclass(slots=True)
class Ending:
    """Follows one choice of an answer to its end, and fills in the caller's `Answer`.

    `failure` is the error that the provider has reported, `usage` the token counts. `asks_again`:
    the caller continues an answer that the model has `paused` because the provider's own tools take
    long, so it is not cut.
    """

    choice: int = 0
    answer: Answer | None = None
    asks_again: bool = False
    paused: bool = False
    failure: str | None = None
    usage: dict[str, Any] | None = None
    # Why the choice ended (None: it has not), and the provider's explanation.
    _reason: Reason | None = None
    _detail: str | None = None
    _refusal: str = ""
    _waits_for_tools: bool = False
    _has_begun: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.answer, Answer | None):
            raise ValueError(f"answer must be an Answer object, not {self.answer!r}")
        if self.answer is not None:
            self.answer.begin()

    def read(self, statements: Sequence[Statement]) -> None:
        """Read the statements of an event."""
        for statement in statements:
            match statement:
                case Text() | Reasoning() | CallDelta() if statement.choice == self.choice:
                    self._grow(statement)
                case Begin():
                    self._begin()
                case Result():
                    self._waits_for_tools = False
                case Usage(counts):
                    self.usage = {**(self.usage or {}), **counts}
                case Finish() if statement.choice in (None, self.choice):
                    self._finish(statement)
        if self.answer is not None:
            self.answer.finish = self.outcome
            if text := text_in(statements, self.choice):
                self.answer.add(text)

    @property
    def outcome(self) -> Reason | None:
        """How the choice ended; None if it has not."""
        if self._reason != "complete":
            return self._reason
        # Not every provider has a word for these.
        if self._refusal:
            return "refused"
        return "calls" if self._waits_for_tools else "complete"

    def cut(self, *, ends: bool = True) -> CutShort | None:
        """Return how the choice was cut, once its stream has ended; None if it was not.

        `ends`: the stream's format has an event for the end, without which it is lost.
        """
        reason = self.outcome
        if reason == "refused" or (reason is None and self._refusal):
            return CutShort("refused", self._refusal or self._detail)
        if reason is None:
            return CutShort("lost") if ends else None
        return CutShort(reason, self._detail) if reason in CUTS else None

    def end(self, *, ends: bool) -> CutShort | None:
        """End the stream: complete the `Answer`, and return how the choice was cut."""
        cut = self.cut(ends=ends)
        if self.answer is not None:
            # A lost stream lacks its last counts.
            if cut is None or self.answer.finish is not None:
                self.answer.usage = self.usage or None
            if cut is not None:
                self.answer.finish = cut.reason
        return cut

    def _begin(self) -> None:
        self._reason = self._detail = None
        self._refusal = ""
        self._waits_for_tools = self._has_begun = self.paused = False

    def _grow(self, statement: Text | Reasoning | CallDelta) -> None:
        is_call = isinstance(statement, CallDelta)
        if self._reason is not None and (statement.text or not is_call):
            self._begin()  # the next response of an agent, which has no event for its beginning
        self._has_begun = True
        if isinstance(statement, Text) and statement.refusal:
            self._refusal = (self._refusal + statement.text)[:_QUOTED]
        elif isinstance(statement, CallDelta) and statement.name and not statement.hosted:
            self._waits_for_tools = True

    def _finish(self, finish: Finish) -> None:
        if finish.reason == "error":
            self.failure = self.failure or finish.detail or MEANINGS["error"]
        if finish.paused and self.asks_again and not self._waits_for_tools:
            self.paused, finish = True, Finish(reason="calls")
        if finish.choice is None and self.choice and not self._has_begun:
            return  # an answer has one choice, unless events name others
        # Some providers end an answer twice and name the reason once. What was cut stays cut.
        if self._reason is None or (is_complete(self._reason) and finish.reason is not None):
            self._reason = finish.reason or "complete"
            self._detail = self._detail if finish.detail is None else finish.detail
