"""The base of dialects of chat clients, in which texts, thoughts, calls and JSON begin and end."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any

from ..answers import Part, Parts
from ..answers.parts import counts_first
from ..jsontext import dumps
from ..toolcalls import ToolCall
from ..toolcalls.lifecycle import LiveCall
from .dialect import Dialect, Event, Settings


class ChatDialect(Dialect):
    """Subclasses write the events. Only the first of several choices is shown.

    A call begins when its name is known. `id` names a part for the client. The free text of a tool
    that takes no JSON is sent as a JSON string.
    """

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        options = {name: value for name, value in settings.calls.items() if name != "keep"}
        self._parts = Parts(**options)
        self._started = False
        self._in_json = False
        self._turn = 0
        # The ids under which calls were sent: turns may give one to several calls.
        self._sent_ids: set[str] = set()
        # The calls that the client is left to answer, in the turn at hand.
        self._unanswered: dict[str, LiveCall] = {}
        # The texts that have begun, and the calls that have ended, by the index of their part.
        self._texts: set[int] = set()
        self._ended: set[int] = set()

    @property
    def recognised(self) -> bool:
        provider, failure = self._parts.reader.provider, self._parts.error
        return self._in_json or provider is not None or failure is not None

    @property
    def broke_off(self) -> bool:
        broken = "lost" if self._parts.reader.ends_with_source else None
        return bool(self._parts.entries) and self._parts.outcome == broken

    def feed(self, event: Any) -> list[Event]:
        events = [*self._opening()]
        # One statement at a time: what is shown of a call is what it is now.
        for statement in counts_first(self._parts.reader.feed(event)):
            for part in self._parts.read([statement]):
                events += self._shown(part)
        return events

    def feed_json(self, text: str, *, more: bool = False) -> list[Event]:
        self._in_json = True
        return [*self._opening(), *(self._json(text, more) if text and not self.failed else ())]

    def _opening(self) -> Iterator[Event]:
        if not self._started:
            self._started = True
            yield from self._begin()

    def _close(self, complete: bool) -> Iterator[Event]:
        yield from self._opening()
        for part in self._parts.flush():
            yield from self._shown(part)
        if self._in_json and complete and not self.failed:
            yield from self._json(None, False)
        if complete and self._parts.error is not None:
            yield from self._fail({"code": "PROVIDER_ERROR", "message": self._parts.error})

    def _shown(self, part: Part) -> Iterator[Event]:
        call = part.call
        if part.turn != self._turn:
            self._turn = part.turn
            self._unanswered.clear()
            yield from self._turn_begins()
        if not isinstance(call, LiveCall):
            yield from self._text(part)
        elif part.kind == "result":
            id = call.sent_id or call.id
            self._unanswered.pop(id, None)
            yield from self._result(id, part)
        else:
            yield from self._call(part, call)

    def _text(self, part: Part) -> Iterator[Event]:
        id = f"{part.kind}-{part.index}"
        thought = part.kind == "reasoning"
        if part.index not in self._texts and part.error is not None and not part.text:
            return  # it only says why the answer was cut, which its end does, too
        if part.index not in self._texts:
            self._texts.add(part.index)
            yield from self._text_begins(id, thought)
        if part.delta:
            yield from self._text_grows(id, thought, part.delta)
        if part.complete or (part.error is not None and not part.delta):
            yield from self._text_ends(id, thought)

    def _call(self, part: Part, call: LiveCall) -> Iterator[Event]:
        ended = call.status != "streaming"
        text, begins = part.delta, call.sent_id is None
        if part.index in self._ended:
            return
        if call.sent_id is None:
            if call.name is None and not ended:
                return
            # The id that is known now is its id for this client.
            taken = call.id in self._sent_ids
            call.sent_id, text = f"{call.id}-{part.index}" if taken else call.id, call.raw
            self._sent_ids.add(call.sent_id)
            if not call.hosted:
                self._unanswered[call.sent_id] = call
            yield from self._call_begins(call.sent_id, call)
        if call.encoding == "text":
            text = _quoted(text, begins, ends=call.status == "complete")
        if text:
            yield from self._call_text(call.sent_id, text)
        if ended:
            self._ended.add(part.index)
            yield from self._call_ends(call.sent_id, call)

    @abstractmethod
    def _begin(self) -> Iterator[Event]: ...

    def _turn_begins(self) -> Iterator[Event]:
        """The events between two answers of a conversation."""
        yield from ()

    @abstractmethod
    def _text_begins(self, id: str, thought: bool) -> Iterator[Event]: ...

    @abstractmethod
    def _text_grows(self, id: str, thought: bool, delta: str) -> Iterator[Event]: ...

    @abstractmethod
    def _text_ends(self, id: str, thought: bool) -> Iterator[Event]: ...

    @abstractmethod
    def _call_begins(self, id: str, call: ToolCall) -> Iterator[Event]: ...

    @abstractmethod
    def _call_text(self, id: str, text: str) -> Iterator[Event]: ...

    @abstractmethod
    def _call_ends(self, id: str, call: ToolCall) -> Iterator[Event]: ...

    @abstractmethod
    def _result(self, id: str, part: Part) -> Iterator[Event]: ...

    @abstractmethod
    def _json(self, text: str | None, more: bool) -> Iterator[Event]:
        """The events of a piece of JSON text (part of one, if `more` follows); None is its end."""


def _quoted(text: str, begins: bool, ends: bool) -> str:
    """A piece of free text as one of a JSON string: clients of these dialects read JSON."""
    return '"' * begins + dumps(text)[1:-1] + '"' * ends
