"""What the dialects of chat clients share: text, tool calls and JSON that begin and end."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any

from ...errors import stream_error
from ...parse.grammar import dumps
from ...runs.options import StreamOptions, ViewOptions
from ...runs.records import End, Record
from ...runs.render import DONE, Dialect, SourceFailed, TextSource
from ...toolcalls import ToolCall, ToolCalls, ToolCallUpdate
from ..content import content_of


class Talk(Dialect):
    """What the two dialects of chat clients share: text, tool calls and JSON become their events.

    Subclasses say how each thing is written. A call is begun when its name is known.
    """

    def __init__(self, stream: StreamOptions, view: ViewOptions) -> None:
        self._input = stream.input
        self._view = view
        self._source = TextSource(stream)
        self._calls = ToolCalls(stream.provider, schemas=stream.schemas)
        # By identity: the call is kept with what is known of it, so that no other takes its place.
        self._ids: dict[int, tuple[ToolCall, str]] = {}
        self._waiting: dict[int, list[str]] = {}
        self._started = False
        self._talking = False
        self._failed = False

    def feed(self, records: Sequence[Record]) -> list[str]:
        return [dumps(event) for event in self._events(records)]

    def end(self, end: End) -> list[str]:
        return [
            event if event is DONE else dumps(event)
            for event in (*self._opening(), *self._ending(end))
        ]

    def _opening(self) -> Iterator[Any]:
        if not self._started:
            self._started = True
            yield from self.begin()

    def _events(self, records: Sequence[Record]) -> Iterator[Any]:
        yield from self._opening()
        if self._input != "events":
            yield from self._json(records)
            return
        for record in records:
            if text := content_of(record.body):
                if not self._talking:
                    self._talking = True
                    yield from self.text_begins()
                yield from self.text(text)
            for update in self._calls.feed(record.body):
                yield from self._call(update)

    def _json(self, records: Sequence[Record]) -> Iterator[Any]:
        try:
            yield from self.piece(self._source.feed(records))
        except SourceFailed as failed:
            yield from self.piece(failed.text)
            yield from self._fail(stream_error(failed.error))

    def _ending(self, end: End) -> Iterator[Any]:
        if self._input == "events":
            for update in self._calls.flush():
                yield from self._call(update)
            if self._talking:
                yield from self.text_ends()
        elif end.reason == "closed" and not self._failed:
            try:
                yield from self.piece(self._source.flush())
                yield from self.last_piece()
            except SourceFailed as failed:
                yield from self._fail(stream_error(failed.error))
        if end.reason != "closed":
            yield from self._fail(end.error())
        yield from self.finish(self._failed)

    def _fail(self, error: dict[str, Any]) -> Iterator[Any]:
        if not self._failed:
            self._failed = True
            yield from self.failure(error)

    def _call(self, update: ToolCallUpdate) -> Iterator[Any]:
        call, key = update.call, id(update.call)
        ended = update.status is not None and update.status != "streaming"
        known = self._ids.get(key)
        waiting = self._waiting.setdefault(key, [])
        if update.function_args:
            waiting.append(update.function_args)
        if known is None:
            if call.name is None and not ended:
                return
            known = self._ids[key] = (call, call.id)
            yield from self.call_begins(call.id, call.name or "")
        for text in waiting:
            yield from self.call_text(known[1], text)
        waiting.clear()
        if ended:
            yield from self.call_ends(known[1], call)

    @abstractmethod
    def begin(self) -> Iterator[Any]: ...

    @abstractmethod
    def text_begins(self) -> Iterator[Any]: ...

    @abstractmethod
    def text(self, text: str) -> Iterator[Any]: ...

    @abstractmethod
    def text_ends(self) -> Iterator[Any]: ...

    @abstractmethod
    def call_begins(self, id: str, name: str) -> Iterator[Any]: ...

    @abstractmethod
    def call_text(self, id: str, text: str) -> Iterator[Any]: ...

    @abstractmethod
    def call_ends(self, id: str, call: ToolCall) -> Iterator[Any]: ...

    @abstractmethod
    def piece(self, text: str) -> Iterator[Any]: ...

    @abstractmethod
    def last_piece(self) -> Iterator[Any]: ...

    @abstractmethod
    def failure(self, error: dict[str, Any]) -> Iterator[Any]: ...

    @abstractmethod
    def finish(self, failed: bool) -> Iterator[Any]: ...
