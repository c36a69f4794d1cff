"""OpenAI chat completion chunks."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from ...parse.grammar import dumps
from ...runs.options import StreamOptions, ViewOptions
from ...runs.records import End, Record
from ...runs.render import DONE, Dialect, one_line
from ...toolcalls import ToolCall, ToolCalls, ToolCallUpdate
from ...wire.fragment import CompactEncoder


class OpenAI(Dialect):
    """Chat completion chunks as they came, on request with fragments beside the arguments."""

    def __init__(self, stream: StreamOptions, view: ViewOptions) -> None:
        self._calls = ToolCalls("openai_chat", schemas=stream.schemas) if view.fragments else None
        self._compact = view.wire == "compact"
        # By identity: a call is kept with its encoder, so that no other takes its place.
        self._encoders: dict[int, tuple[ToolCall, CompactEncoder]] = {}

    def feed(self, records: Sequence[Record]) -> list[str]:
        bodies = [record.body for record in records if record.input == "events"]
        if self._calls is None:
            return [one_line(body) for body in bodies]
        return [self._with_fragments(self._calls, body) for body in bodies]

    def end(self, end: End) -> list[str]:
        if end.reason == "closed":
            return [DONE]
        error = {**end.error(), "type": "stream_error", "param": None}
        return [dumps({"error": error})]

    def _with_fragments(self, calls: ToolCalls, body: str) -> str:
        try:
            event = json.loads(body)
        except (ValueError, RecursionError):
            return one_line(body)
        if not isinstance(event, dict) or not isinstance(event.get("choices"), list):
            return one_line(body)
        for choice in event["choices"]:
            if isinstance(choice, dict) and isinstance(choice.get("delta"), dict):
                self._add_to(calls, event, choice)
        return dumps(event)

    def _add_to(self, calls: ToolCalls, event: dict[str, Any], choice: dict[str, Any]) -> None:
        """Each delta is read by itself, so that its fragments are known to be its own."""
        delta = choice["delta"]
        deltas = delta.get("tool_calls")
        for one in deltas if isinstance(deltas, list) else []:
            alone = {**choice, "delta": {"tool_calls": [one]}, "finish_reason": None}
            fragments = self._encoded(calls.feed({**event, "choices": [alone]}))
            if isinstance(one, dict) and fragments is not None:
                one["json_update_fragments"] = fragments
        rest = {key: value for key, value in delta.items() if key != "tool_calls"}
        ended = calls.feed({**event, "choices": [{**choice, "delta": rest}]})
        late = [update for update in ended if update.json_update_fragments]
        if late:
            more = [
                {
                    "index": update.index,
                    "function": {"arguments": ""},
                    "json_update_fragments": self._encoded([update]),
                }
                for update in late
            ]
            delta["tool_calls"] = [*(deltas if isinstance(deltas, list) else []), *more]

    def _encoded(self, updates: Iterable[ToolCallUpdate]) -> list[Any] | None:
        found: list[Any] | None = None
        for update in updates:
            encoder = None
            if self._compact:
                kept = self._encoders.setdefault(id(update.call), (update.call, CompactEncoder()))
                encoder = kept[1]
            wire = update.to_wire(encoder).get("json_update_fragments")
            if wire is not None:
                found = [*(found or []), *wire]
        return found
