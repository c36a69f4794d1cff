"""The AI SDK's UI message stream, v1."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from ...parse.grammar import dumps
from ...partial_stream import PartialStream, Update
from ...runs.options import StreamOptions, ViewOptions
from ...runs.records import End, Record
from ...runs.render import DONE, update_options
from ...toolcalls import ToolCall
from .talk import Talk


class AISDK(Talk):
    """Entities are `data-*` parts, of which a later one with the same id takes the place."""

    def __init__(self, stream: StreamOptions, view: ViewOptions) -> None:
        super().__init__(stream, view)
        self._updates = PartialStream(view.mode, **update_options(stream, view))
        self._called = False

    def feed(self, records: Sequence[Record]) -> list[str]:
        return [_harmless(event) for event in super().feed(records)]

    def end(self, end: End) -> list[str]:
        return [_harmless(event) for event in super().end(end)]

    def begin(self) -> Iterator[Any]:
        yield {"type": "start"}
        yield {"type": "start-step"}

    def text_begins(self) -> Iterator[Any]:
        yield {"type": "text-start", "id": "text"}

    def text(self, text: str) -> Iterator[Any]:
        yield {"type": "text-delta", "id": "text", "delta": text}

    def text_ends(self) -> Iterator[Any]:
        yield {"type": "text-end", "id": "text"}

    def call_begins(self, id: str, name: str) -> Iterator[Any]:
        self._called = True
        yield {"type": "tool-input-start", "toolCallId": id, "toolName": name, "dynamic": True}

    def call_text(self, id: str, text: str) -> Iterator[Any]:
        yield {"type": "tool-input-delta", "toolCallId": id, "inputTextDelta": text}

    def call_ends(self, id: str, call: ToolCall) -> Iterator[Any]:
        event = {"toolCallId": id, "toolName": call.name or "", "input": call.args}
        if call.status == "complete":
            yield {"type": "tool-input-available", **event, "dynamic": True}
        else:
            text = (call.error or {}).get("message") or f"the call is {call.status}"
            yield {"type": "tool-input-error", **event, "dynamic": True, "errorText": text}

    def piece(self, text: str) -> Iterator[Any]:
        for update in self._updates.feed(text):
            yield from self._part(update)

    def last_piece(self) -> Iterator[Any]:
        for update in self._updates.flush():
            yield from self._part(update)

    def _part(self, update: Update) -> Iterator[Any]:
        entity = update.entity or "json"
        part = {"type": f"data-{entity}", "id": f"{entity}/{update.index}"}
        yield {**part, "data": update.to_dict()}

    def failure(self, error: dict[str, Any]) -> Iterator[Any]:
        if error["code"] == "CANCELLED":
            yield {"type": "abort", "reason": error["message"]}
        else:
            yield {"type": "error", "errorText": f"{error['code']}: {error['message']}"}

    def finish(self, failed: bool) -> Iterator[Any]:
        reason = "error" if failed else "tool-calls" if self._called else "stop"
        yield {"type": "finish-step"}
        yield {"type": "finish", "finishReason": reason}
        yield DONE


def _harmless(event: str) -> str:
    """An event without the keys for which the client's parser refuses all of it."""
    if '"__proto__":' in event or '"constructor":' in event:
        return dumps(_without_banned(json.loads(event)))
    return event


def _without_banned(value: Any) -> Any:
    if isinstance(value, list):
        return [_without_banned(item) for item in value]
    if isinstance(value, dict):
        return {
            key: _without_banned(item)
            for key, item in value.items()
            if key not in ("__proto__", "constructor")
        }
    return value
