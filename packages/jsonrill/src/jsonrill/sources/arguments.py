"""The arguments of tool calls in a provider's events, as the text of one document after another."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from ..errors import CutShort, InvalidJSON, SourceFailed
from ..options import Rules
from ..parse.grammar import SEPARATOR
from ..providers.statements import Ending, Statement, of_choice
from ..toolcalls import ToolCalls
from ..toolcalls.lifecycle import LiveCall

# Errors that the reader of the text finds by itself.
_IN_THE_TEXT: Final = ("INVALID_JSON", "TRUNCATED", "LIMIT_EXCEEDED")


@dataclass(slots=True)
class _Waiting:
    """A call, and its argument text that has not been handed on."""

    call: LiveCall
    texts: list[str] = field(default_factory=list)
    size: int = 0
    failed: bool = False

    def add(self, text: str) -> None:
        """Add text. After an error in it the rest is left out: it must not look like a document."""
        if self.failed:
            return
        error = self.call.error
        if error is not None and error["code"] in _IN_THE_TEXT:
            self.failed = True
            text = text[: max(error.get("offset", self.size + len(text)) + 1 - self.size, 0)]
        self.size += len(text)
        self.texts.append(text)


class ArgumentText:
    """Reads events and returns the argument text of the calls of one tool, or (True) of any.

    Calls come one after another, each but the first after a record separator (RFC 7464). Of calls
    that are interleaved the later one waits until the arguments of the earlier one are complete.
    """

    def __init__(
        self,
        tool: str | bool,
        *,
        choice: int = 0,
        repair: Rules = False,
        first: bool = False,
    ) -> None:
        self._tool = tool
        self._choice = choice
        self._first = first
        self._calls = ToolCalls(repair=repair)
        self._ending = Ending()
        self._queue: dict[int, _Waiting] = {}
        # Calls that were handed on, by number, and the numbers of those that are not wanted.
        self._passed: dict[int, _Waiting] = {}
        self._unwanted: set[int] = set()
        self._begun: _Waiting | None = None
        self._count = 0
        # True once all that is wanted has arrived.
        self.done = False
        # The names of the calls that are not wanted.
        self._others: list[str] = []

    @property
    def missing(self) -> str | None:
        """Why there are no arguments; None if there are some."""
        if self._count:
            return None
        if self._tool is True:
            return "the answer has no tool calls: leave out tool= to read its text"
        others = f", but of {', '.join(dict.fromkeys(self._others))}" if self._others else ""
        return f"the answer has no call of {self._tool}{others}"

    def pieces(self, statements: Sequence[Statement]) -> Iterator[str]:
        """The argument text that statements add."""
        statements = of_choice(statements, self._choice)
        self._ending.feed(statements)
        for update in self._calls.read(statements):
            number = update.call.number
            # More text after complete arguments is an error, which `flush` reports.
            if number in self._passed or number in self._unwanted:
                continue
            waiting = self._queue.setdefault(number, _Waiting(update.call))
            # A `{}` may be replaced; if it is not, it is handed on when the call is closed.
            if update.function_args and not update.call.is_placeholder:
                waiting.add(update.function_args)
        return self._emit() if self._queue else iter(())

    def cut(self, *, ends: bool) -> CutShort | None:
        """How the calls were cut, once their stream has ended; None if they are complete."""
        if self._count and all(it.call.status == "complete" for it in self._passed.values()):
            return None
        return self._ending.cut(self._choice, ends=ends)

    def flush(self) -> Iterator[str]:
        """What waited for calls that have not ended; an error that the text does not show."""
        self._calls.flush()
        yield from self._emit(last=True)
        for waiting in self._passed.values():
            # Those that failed in their text are reported by the reader of the text.
            if waiting.call.error is not None and not waiting.failed:
                raise _failure(waiting.call)

    def _emit(self, last: bool = False) -> Iterator[str]:
        while self._queue and not self.done:
            number, waiting = next(iter(self._queue.items()))
            call = waiting.call
            closed = last or call.status != "streaming"
            if not (waiting.texts or closed):
                return
            if self._tool is not True and call.name != self._tool:
                del self._queue[number]
                self._unwanted.add(number)
                self._others.append(call.name or "?")
                continue
            if self._begun is not waiting:
                self._begun = waiting
                self._count += 1
                if self._count > 1:
                    yield SEPARATOR
            texts, waiting.texts = waiting.texts, []
            yield from texts
            if closed:
                if not waiting.size and call.status == "complete":
                    yield "{}"
            elif not (self._next_begun() and call.args_ended):
                return
            self._passed[number] = self._queue.pop(number)
            self.done = self._first

    def _next_begun(self) -> bool:
        """True if a call behind the first one in the queue has text and may be wanted."""
        behind = list(self._queue.values())[1:]
        return any(it.texts and self._tool in (True, it.call.name) for it in behind)


def _failure(call: LiveCall) -> InvalidJSON | SourceFailed:
    error: Mapping[str, Any] = call.error or {}
    if error.get("code") in _IN_THE_TEXT:
        place: dict[str, Any] = {it: error.get(it) for it in ("offset", "line", "column")}
        return InvalidJSON(error["message"], **place)
    return SourceFailed(f"the call {call.id} of {call.name}: {error.get('message')}")
