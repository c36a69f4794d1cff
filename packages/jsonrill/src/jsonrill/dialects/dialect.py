"""The base of dialects: parts of an answer and updates in, events of a chat client out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Final, Literal

from ..answer_parts import Part, Parts
from ..errors import CutShort
from ..jsontext import dumps
from ..partial_stream import Update
from ..pipeline import Stage
from ..toolcalls import ToolCall

Event = dict[str, Any]
Step = Literal["start", "delta", "end"]
# An error: `code`, `message`, and its place if it has one.
Problem = Mapping[str, Any]
FAILED: Final = {"code": "SOURCE_FAILED", "message": "the source failed"}
BROKE_OFF: Final = {"code": "SOURCE_FAILED", "message": "the answer broke off before its end"}


class Dialect(Stage, ABC):
    """A stage that is fed a provider's events, parts or updates.

    Subclasses write the events. A call begins when its name is known; `id` names a part for the
    client. The free text of a tool that takes no JSON is sent as a JSON string.
    """

    # Headers that the clients ask for, and the data of the last event on the wire.
    headers: ClassVar[Mapping[str, str]] = {}
    done: ClassVar[str | None] = None

    def __init__(self, **options: Any) -> None:
        options.pop("keep", None)
        self._parts = Parts(**options)
        self._is_started = False
        self._turn = 0
        self.has_failed = False
        # The ids under which calls were sent, by the call's number: turns may share an id.
        # The calls that the client has to answer, that have ended, and that have failed.
        self._ids: dict[int, str] = {}
        self._unanswered: set[str] = set()
        self._ended: set[int] = set()
        self._failed: set[int] = set()
        # The texts that have begun, by the index of their part.
        self._texts: set[int] = set()

    def feed(self, piece: Any) -> list[Event]:
        """Return the client's events for a provider's event, a part or an update."""
        if isinstance(piece, Update):
            return [*self._opening(), *self._update(piece)]
        return [*self._opening(), *self._shown(self._parts.feed(piece))]

    def flush(self, cut: CutShort | None = None, *, problem: Problem | None = None) -> list[Event]:
        """Return the last events: they close what is open, then report the problem if there is one.

        An answer that broke off is a problem, too: the client would take it for complete.
        """
        is_lost = self._parts.reader.ends and self._parts.outcome is None
        if problem is None and is_lost and self._parts.entries:
            problem = BROKE_OFF
        events = [*self._opening(), *self._shown(self._parts.flush())]
        if problem is None and self._parts.error is not None:
            problem = {"code": "PROVIDER_ERROR", "message": self._parts.error}
        if problem is not None:
            events += self._fail(problem)
        return [*events, *self._finish()]

    def rescue(self, error: Exception) -> Iterator[Event]:
        yield from self.flush(problem=FAILED)
        raise error

    def _fail(self, problem: Problem) -> Iterator[Event]:
        """Report a failure of the stream, but only the first one."""
        if not self.has_failed:
            self.has_failed = True
            yield from self._failure(problem)

    def _opening(self) -> Iterator[Event]:
        if not self._is_started:
            self._is_started = True
            yield from self._begin()

    def _shown(self, parts: list[Part]) -> Iterator[Event]:
        for part in parts:
            if part.turn != self._turn:
                self._turn = part.turn
                self._unanswered.clear()
                yield from self._turn_begins()
            call = part.call
            if call is None:
                yield from self._show_text(part)
            elif part.kind == "result":
                id = self._ids.get(call.number, call.id)
                self._unanswered.discard(id)
                yield from self._result(id, part)
            elif call.number not in self._failed:  # the text of a failed call may go on
                yield from self._show_call(part, call)

    def _show_text(self, part: Part) -> Iterator[Event]:
        id = f"{part.kind}-{part.index}"
        if part.index not in self._texts:
            if part.error is not None and not part.text:
                return  # it only says why the answer was cut, which its end does, too
            self._texts.add(part.index)
            yield from self._text(id, part, "start")
        if part.delta:
            yield from self._text(id, part, "delta")
        if part.complete or (part.error is not None and not part.delta):
            yield from self._text(id, part, "end")

    def _show_call(self, part: Part, call: ToolCall) -> Iterator[Event]:
        has_failed = part.status in ("error", "truncated")
        text, id = part.delta, self._ids.get(call.number)
        begins = id is None
        if id is None:
            if call.name is None and not has_failed:
                return
            # The id that is known now is its id for this client.
            is_taken = call.id in self._ids.values()
            id = self._ids[call.number] = f"{call.id}-{part.index}" if is_taken else call.id
            text = part.text
            if not call.hosted:
                self._unanswered.add(id)
            yield from self._call_begins(id, call)
        if call.encoding == "text" and call.number not in self._ended:
            # Clients read JSON.
            text = '"' * begins + dumps(text)[1:-1] + '"' * part.complete
        if text and call.number not in self._ended:  # what comes after the arguments is white space
            yield from self._call_text(id, text)
        if has_failed:
            self._failed.add(call.number)
            fail = self._call_breaks if call.number in self._ended else self._call_ends
            yield from fail(id, part)
        elif part.complete:
            self._ended.add(call.number)
            yield from self._call_ends(id, part)

    def _turn_begins(self) -> Iterator[Event]:
        """Yield the events between two answers of a conversation."""
        yield from ()

    @abstractmethod
    def _begin(self) -> Iterator[Event]: ...
    @abstractmethod
    def _text(self, id: str, part: Part, step: Step) -> Iterator[Event]: ...
    @abstractmethod
    def _call_begins(self, id: str, call: ToolCall) -> Iterator[Event]: ...
    @abstractmethod
    def _call_text(self, id: str, text: str) -> Iterator[Event]: ...
    @abstractmethod
    def _call_ends(self, id: str, part: Part) -> Iterator[Event]: ...

    def _call_breaks(self, id: str, part: Part) -> Iterator[Event]:
        """Yield the events of a call that went wrong after its arguments were complete."""
        return self._call_ends(id, part)

    @abstractmethod
    def _result(self, id: str, part: Part) -> Iterator[Event]: ...
    @abstractmethod
    def _update(self, update: Update) -> Iterator[Event]: ...
    @abstractmethod
    def _failure(self, problem: Problem) -> Iterator[Event]: ...
    @abstractmethod
    def _finish(self) -> Iterator[Event]: ...


def problem_of(part: Part) -> str:
    """Return why the call of a part is not complete."""
    error = None if part.call is None else part.call.error
    return f"the call is {part.status}" if error is None else error["message"]
