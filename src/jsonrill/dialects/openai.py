"""OpenAI chat completion chunks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from ..eventstream import DONE
from ..providers import plain
from ..toolcalls import ToolCalls, ToolCallUpdate
from ..toolcalls.wire import encoder_of
from .dialect import Dialect, Event, Problem, Settings


class OpenAI(Dialect):
    """Passes chat completion chunks on, with `fragments` beside the arguments if asked for."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self._calls = ToolCalls(**{**settings.calls, "provider": "openai_chat"})
        self._fragments = settings.fragments
        self._compact = settings.compact

    def feed(self, event: Any) -> list[Event]:
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
        found: list[Any] | None = None
        for update in updates:
            encoder = encoder_of(update.call) if self._compact else None
            wire = update.to_wire(encoder).get("json_update_fragments")
            if wire is not None:
                found = [*(found or []), *wire]
        return found

    def _failure(self, problem: Problem) -> Iterator[Event]:
        yield {"error": {**problem, "type": "stream_error", "param": None}}

    def _finish(self) -> Iterator[Event]:
        if not self.failed:
            yield DONE
