"""OpenAI chat completion chunks."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any, Final

from ..answers import Part
from ..eventstream import DONE
from ..jsontext import dumps
from ..providers import plain, recognise
from ..providers.finish import Reason
from ..toolcalls import ToolCall, ToolCalls, ToolCallUpdate
from ..toolcalls.wire import encoder_of
from .chat import ChatDialect
from .dialect import Dialect, Event, Problem, Settings

# Fields of chunks, of errors, and of what some servers send beside them.
_OF_CHUNKS: Final = frozenset(("choices", "error", "id", "object", "usage"))


class OpenAI(Dialect):
    """Passes chat completion chunks on, with `fragments` beside the arguments if asked for.

    Events of another provider, and JSON text, are written as such chunks.
    """

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        # The provider is not known yet (None), or its events pass (False), or are written anew.
        self._writer: ChatChunks | bool | None = None
        # True once an event has passed.
        self._passes = False
        self._settings = settings
        self._calls = ToolCalls(**{**settings.calls, "provider": "openai_chat"})
        self._fragments = settings.fragments
        self._compact = settings.compact

    def feed(self, event: Any) -> list[Event]:
        if self._writer is None and (provider := recognise(event)) is not None:
            self._writer = provider != "openai_chat" and ChatChunks(self._settings)
        if isinstance(self._writer, ChatChunks):
            return self._writer.feed(event)
        return self._passed(event)

    @property
    def recognised(self) -> bool:
        return self._writer is not None or self._passes

    def feed_json(self, text: str, *, more: bool = False) -> list[Event]:
        if not isinstance(self._writer, ChatChunks):
            self._writer = ChatChunks(self._settings)
        return self._writer.feed_json(text, more=more)

    def flush(self, problem: Problem | None = None) -> list[Event]:
        if isinstance(self._writer, ChatChunks):
            return self._writer.flush(problem)
        return super().flush(problem)

    def _passed(self, event: Any) -> list[Event]:
        if not _is_for_clients(event):
            return []
        self._passes = True
        if not self._fragments and isinstance(event, str | dict):
            return [event]
        chunk = plain(event)
        if chunk is None or not isinstance(chunk.get("choices"), list):
            return [event if isinstance(event, str | dict) else chunk or {}]
        choices = [self._with_fragments(chunk, choice) for choice in chunk["choices"]]
        if choices == chunk["choices"] and isinstance(event, str | dict):
            return [event]
        return [{**chunk, "choices": choices}]

    def _with_fragments(self, chunk: dict[str, Any], choice: Any) -> Any:
        """The choice with fragments; each delta is read by itself, to know which are its own."""
        delta = choice.get("delta") if isinstance(choice, dict) else None
        if not isinstance(delta, dict):
            return choice
        calls = delta.get("tool_calls")
        deltas = calls if isinstance(calls, list) else []
        shown = [self._call(chunk, choice, call) for call in deltas]
        rest = {key: value for key, value in delta.items() if key != "tool_calls"}
        for update in self._calls.feed({**chunk, "choices": [{**choice, "delta": rest}]}):
            if update.json_update_fragments:
                late = {"index": update.index, "function": {"arguments": ""}}
                shown.append({**late, "json_update_fragments": self._encoded([update])})
        return {**choice, "delta": {**delta, "tool_calls": shown}} if shown else choice

    def _call(self, chunk: dict[str, Any], choice: dict[str, Any], call: Any) -> Any:
        alone = {**choice, "delta": {"tool_calls": [call]}, "finish_reason": None}
        fragments = self._encoded(self._calls.feed({**chunk, "choices": [alone]}))
        if fragments is None or not isinstance(call, dict):
            return call
        return {**call, "json_update_fragments": fragments}

    def _encoded(self, updates: Iterable[ToolCallUpdate]) -> list[Any] | None:
        encoded: list[Any] | None = None
        for update in updates:
            encoder = encoder_of(update.call) if self._compact else None
            wire = update.to_wire(encoder).get("json_update_fragments")
            if wire is not None:
                encoded = [*(encoded or []), *wire]
        return encoded

    def _failure(self, problem: Problem) -> Iterator[Event]:
        yield _error(problem)

    def _finish(self) -> Iterator[Event]:
        if not self.failed:
            yield DONE


def _is_for_clients(event: Any) -> bool:
    """False for an event of a program's own, which a client of OpenAI could not read.

    Chunks are not decoded for that: they have choices. What servers add to a stream has a name
    that chunks have, too. What is no JSON passes, so that clients see that something is wrong.
    """
    if isinstance(event, str):
        if '"choices"' in event:
            return True
        try:
            event = json.loads(event)
        except (ValueError, RecursionError):
            return True
    fields = plain(event)
    return fields is not None and not _OF_CHUNKS.isdisjoint(fields)


# How chat completions say that an answer is not complete; they have no word for one that was lost.
_FINISHES: Final[dict[Reason | None, str]] = {
    "length": "length",
    "filtered": "content_filter",
    "refused": "content_filter",
    "lost": "length",
}


class ChatChunks(ChatDialect):
    """Writes chat completion chunks. Tools that the provider runs itself are left out.

    So are those that the program runs: of parts, calls are written when it is known that they are
    left to the client.
    """

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self._name = settings.run or "chatcmpl"
        self._indices: dict[str, int] = {}

    def _chunk(self, delta: dict[str, Any], finish: str | None = None) -> Event:
        return {
            "id": self._name,
            "object": "chat.completion.chunk",
            "created": 0,
            "model": "",
            "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
        }

    def _begin(self) -> Iterator[Event]:
        yield self._chunk({"role": "assistant", "content": ""})

    def feed(self, event: Any) -> list[Event]:
        return [] if self.failed else super().feed(event)

    def _text_begins(self, id: str, thought: bool) -> Iterator[Event]:
        yield from ()

    def _text_grows(self, id: str, thought: bool, delta: str) -> Iterator[Event]:
        yield self._chunk({"reasoning_content" if thought else "content": delta})

    def _text_ends(self, id: str, thought: bool) -> Iterator[Event]:
        yield from ()

    def _call_begins(self, id: str, call: ToolCall) -> Iterator[Event]:
        if not call.hosted and not self._parts.reader.ends_with_source:
            yield self._call_start(id, call)

    def _call_start(self, id: str, call: ToolCall, arguments: str = "") -> Event:
        self._indices[id] = len(self._indices)
        function = {"name": call.name or "", "arguments": arguments}
        return self._call_chunk(id, {"id": id, "type": "function", "function": function})

    def _call_text(self, id: str, text: str) -> Iterator[Event]:
        if id in self._indices:
            yield self._call_chunk(id, {"function": {"arguments": text}})

    def _call_chunk(self, id: str, call: dict[str, Any]) -> Event:
        return self._chunk({"tool_calls": [{"index": self._indices[id], **call}]})

    def _call_ends(self, id: str, call: ToolCall) -> Iterator[Event]:
        yield from ()

    def _result(self, id: str, part: Part) -> Iterator[Event]:
        yield from ()

    def _json(self, text: str | None, more: bool) -> Iterator[Event]:
        if text is not None:
            yield self._chunk({"content": text})

    def _close(self, complete: bool) -> Iterator[Event]:
        yield from () if self.failed else super()._close(complete)

    def _failure(self, problem: Problem) -> Iterator[Event]:
        yield _error(problem)

    def _finish(self) -> Iterator[Event]:
        if not self.failed:
            for id, call in self._unanswered.items():
                if id not in self._indices and call.status == "complete":
                    yield self._call_start(id, call, dumps(call.args))
            stopped = "tool_calls" if self._indices else "stop"
            yield self._chunk({}, _FINISHES.get(self._parts.outcome, stopped))
            yield DONE


def _error(problem: Problem) -> Event:
    return {"error": {**problem, "type": "stream_error", "param": None}}
