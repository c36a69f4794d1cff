"""The base of dialects of chat clients, in which texts, tool calls and JSON begin and end."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar

from ..providers.statements import Ending, Finish, Text, of_choice
from ..toolcalls import ToolCall, ToolCalls, ToolCallUpdate
from .dialect import Dialect, Event, Settings


class ChatDialect(Dialect):
    """Subclasses write the events. Only the first of several choices is shown.

    A call begins when its name is known.
    """

    TEXT_BEGINS: ClassVar[Event]
    TEXT_ENDS: ClassVar[Event]

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self._calls = ToolCalls(**settings.calls)
        self._ending = Ending()
        self._error: str | None = None
        self._started = False
        self._in_text = False
        self._in_json = False

    def feed(self, event: Any) -> list[Event]:
        return [*self._opening(), *self._events(event)]

    def feed_json(self, text: str, *, more: bool = False) -> list[Event]:
        self._in_json = True
        return [*self._opening(), *(self._json(text, more) if text and not self.failed else ())]

    def _opening(self) -> Iterator[Event]:
        if not self._started:
            self._started = True
            yield from self._begin()

    def _events(self, event: Any) -> Iterator[Event]:
        said = of_choice(self._calls.reader.feed(event), 0)
        self._ending.feed(said)
        for statement in said:
            if isinstance(statement, Text):
                if not self._in_text:
                    self._in_text = True
                    yield self.TEXT_BEGINS
                yield from self._text(statement.text)
                continue
            if isinstance(statement, Finish):
                self._error = self._error or statement.error or statement.malformed
            for update in self._calls.read([statement]):
                yield from self._call(update)

    def _close(self, complete: bool) -> Iterator[Event]:
        yield from self._opening()
        for update in self._calls.flush():
            yield from self._call(update)
        if self._in_text:
            yield self.TEXT_ENDS
        if self._in_json and complete and not self.failed:
            yield from self._json(None, False)
        if complete and self._error is not None:
            yield from self._fail({"code": "PROVIDER_ERROR", "message": self._error})

    def _call(self, update: ToolCallUpdate) -> Iterator[Event]:
        call, text = update.call, update.function_args
        ended = update.status is not None and update.status != "streaming"
        if call.sent_id is None:
            if call.name is None and not ended:
                return
            # The id that is known now is its id for this client.
            call.sent_id, text = call.id, call.raw
            yield from self._call_begins(call.id, call.name or "")
        if text:
            yield from self._call_text(call.sent_id, text)
        if ended:
            yield from self._call_ends(call.sent_id, call)

    @abstractmethod
    def _begin(self) -> Iterator[Event]: ...

    @abstractmethod
    def _text(self, text: str) -> Iterator[Event]: ...

    @abstractmethod
    def _call_begins(self, id: str, name: str) -> Iterator[Event]: ...

    @abstractmethod
    def _call_text(self, id: str, text: str) -> Iterator[Event]: ...

    @abstractmethod
    def _call_ends(self, id: str, call: ToolCall) -> Iterator[Event]: ...

    @abstractmethod
    def _json(self, text: str | None, more: bool) -> Iterator[Event]:
        """The events of a piece of JSON text (part of one, if `more` follows); None is its end."""
