"""Statements: what a provider's event says, in records that are the same for all providers.

A provider's module turns one decoded event into statements; everything else reads statements.
`toolcalls/identity.py` decides which call a `CallDelta` is about, from `message`, `choice`, `id`,
`alias`, `index` and `name`. A module passes on what the event says and keeps no track of calls.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, assert_never

from ..answer import Answer
from ..errors import CUTS, CutShort
from .call_delta import CallDelta as CallDelta
from .fields import ABSENT, as_error
from .finish import Reason, finish_reason, is_complete, worse


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
    incomplete: bool = False
    # True: a call without arguments is complete. Else the end of its response decides, because the
    # same event ends a call that was cut off before their first character.
    sure: bool = False
    # The provider's error message.
    error: str | None = None


@dataclass(slots=True)
class Text:
    """More of the answer's text. `block` is the number of the text, if an answer has several.

    `refusal`: the model says why it does not answer. `ends`: the text is complete; else another
    part or the end of the answer says so.
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
    # Why, if the event says it: else it is complete, unless another event says something else.
    reason: Reason | None = None
    # What the provider says of that: the message of an error, for instance.
    detail: str | None = None
    # True: the calls that are not complete are malformed.
    malformed: bool = False
    # True: no event of this response follows.
    last: bool = False
    # True: the model goes on if it is sent what it has said so far.
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
class Aggregate:
    """The final state of all calls of a message, which replaces what was streamed."""

    message: str | None
    calls: list[CallDelta]


Statement = Begin | Text | Reasoning | Keep | CallDelta | Result | Aggregate | Usage | Finish
Translate = Callable[[dict[str, Any]], Sequence[Statement]]


def finished(
    word: Any,
    message: str | None = None,
    choice: int | None = None,
    *,
    native: Any = None,
    last: bool = False,
) -> Finish:
    """The statement of the provider's word for why a response has ended. `native` is the word of
    the provider behind it, where there are two."""
    word = worse(word, native)
    reason = finish_reason(word)
    detail = str(getattr(word, "value", word)) if reason == "error" else None
    malformed = detail is not None and detail.lower().startswith("malformed")
    return Finish(message, choice, reason, detail, malformed, last, word == "pause_turn")


def failed(error: Any, *, last: bool = True) -> Finish:
    """The statement of an error of the provider, which is a text or an object with a `message`."""
    return Finish(reason="error", detail=as_error(error), last=last)


def unread(index: int | None) -> list[Statement]:
    """The statement of a delta of an unknown type, for the call at this index, if there is one."""
    return [] if index is None else [CallDelta(None, index, opens=False, unread=True)]


def text_in(statements: Iterable[Statement], choice: int = 0) -> str:
    """The text of one choice in these statements; "" if they have none."""
    return "".join([one.text for one in statements if type(one) is Text and one.choice == choice])


def of_choice(statements: Iterable[Statement], choice: int) -> list[Statement]:
    """The statements about this choice, and those about all of them."""
    return [one for one in statements if getattr(one, "choice", None) in (None, choice)]


# How much of a refusal is quoted.
_QUOTED: Final = 500


class Ending:
    """Keeps track of how the choices of an answer ended.

    `asks_again`: an answer that pauses, because the provider's own tools take long, is not cut,
    since the caller lets the model go on. It waits for `calls`.
    """

    __slots__ = ("_asks_again", "_calling", "_choices", "_details", "_refusing", "paused")

    def __init__(self, *, asks_again: bool = False) -> None:
        self._asks_again = asks_again
        self._begin()

    def _begin(self) -> None:
        # All choices that have come; None: not ended.
        self._choices: dict[int, Reason | None] = {}
        # What the model says in those in which it refuses to answer; those that wait for results of
        # calls; and what the provider said of the end.
        self._refusing: dict[int, str] = {}
        self._calling: set[int] = set()
        self._details: dict[int, str] = {}
        self.paused = False

    def feed(self, statements: Iterable[Statement]) -> None:
        for statement in statements:
            # No `match`: not every version of the compiler reads it.
            if isinstance(statement, (Text, Reasoning, CallDelta)):
                self._grow(statement)
            elif isinstance(statement, Begin):
                self._begin()
            elif isinstance(statement, Result):
                self._calling.clear()
            elif isinstance(statement, Finish):
                self._finish(statement)
            elif isinstance(statement, Aggregate):
                cut = any(call.status == "truncated" for call in statement.calls)
                self._finish(Finish(reason="lost" if cut else None))
            elif not isinstance(statement, (Keep, Usage)):
                assert_never(statement)

    @property
    def complete(self) -> bool:
        """True if there was an answer and all its choices have ended."""
        return bool(self._choices) and None not in self._choices.values()

    def of(self, choice: int = 0) -> Reason | None:
        """How this choice ended; None if it has not."""
        reason = self._choices.get(choice)
        if reason != "complete":
            return reason
        # Not every provider has words of its own for these.
        if choice in self._refusing:
            return "refused"
        return "calls" if choice in self._calling else reason

    def failure(self, choice: int = 0) -> str | None:
        """The error of its provider with which this choice ended; None if it did not."""
        if self.of(choice) != "error":
            return None
        return self._details.get(choice) or "the provider reported an error"

    def cut(self, choice: int = 0, *, ends: bool = True) -> CutShort | None:
        """How this choice was cut, once its stream has ended; None if it was not.

        `ends`: the format of the stream has an event for the end, without which it is lost.
        """
        reason = self.of(choice)
        if reason == "refused" or (reason is None and choice in self._refusing):
            return CutShort("refused", self._refusing.get(choice) or self._details.get(choice))
        if reason is None:
            return CutShort("lost") if ends else None
        return CutShort(reason, self._details.get(choice)) if reason in CUTS else None

    def _grow(self, statement: Text | Reasoning | CallDelta) -> None:
        choice, call = statement.choice, isinstance(statement, CallDelta)
        if self._choices.get(choice) is not None and (statement.text or not call):
            # An agent's next response, which nothing else begins.
            self._refusing.pop(choice, None)
            self._calling.discard(choice)
            self._details.pop(choice, None)
            self._choices[choice] = None
        self._choices.setdefault(choice, None)
        if isinstance(statement, Text) and statement.refusal:
            self._refusing[choice] = (self._refusing.get(choice, "") + statement.text)[:_QUOTED]
        elif isinstance(statement, CallDelta) and statement.name and not statement.hosted:
            self._calling.add(choice)

    def _finish(self, finish: Finish) -> None:
        ended = [*self._choices] or [0] if finish.choice is None else [finish.choice]
        if finish.paused and self._asks_again and not self._calling:
            self.paused, finish = True, Finish(reason="calls")
        for choice in ended:
            known = self._choices.get(choice)
            # Some end it twice, and give the reason once; an answer that was cut stays so.
            if known is None or (is_complete(known) and finish.reason is not None):
                self._choices[choice] = finish.reason or "complete"
                if finish.detail is not None:
                    self._details[choice] = finish.detail


class Watch:
    """Fills in what a caller wants to know of an answer: its text, its end, its token counts."""

    __slots__ = ("_answer", "_choice", "_counts", "_ending")

    def __init__(self, answer: Answer, choice: int = 0) -> None:
        answer.begin()
        self._answer = answer
        self._choice = choice
        self._counts: dict[str, Any] = {}
        self._ending = Ending()

    def read(self, statements: Sequence[Statement]) -> None:
        """Take in the statements of an event."""
        text = text_in(statements, self._choice)
        if text:
            self._answer.add(text)
        self._ending.feed(statements)
        self._answer.finish = self._ending.of(self._choice)
        for one in statements:
            if isinstance(one, Usage):
                self._counts.update(one.counts)

    def end(self, *, ends: bool) -> None:
        """The stream has been read to its end; `ends` is that of `Ending.cut`."""
        cut = self._ending.cut(self._choice, ends=ends)
        # Of a stream that was lost on the way, the last counts have not come.
        if cut is None or self._answer.finish is not None:
            self._answer.usage = self._counts or None
        if cut is not None:
            self._answer.finish = cut.reason


def as_usage(value: Any) -> list[Statement]:
    """The statement of a `usage` field; none if it is no object."""
    return [Usage(value)] if isinstance(value, dict) else []
