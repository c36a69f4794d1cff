"""AG-UI events."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from ..errors import InvalidJSON, LimitExceeded, stream_error
from ..paths import to_pointer
from ..toolcalls import ToolCall
from ..wire.fragment import Fragment
from ..wire.full import to_wire
from ..wire.parser import Parser
from .chat import ChatDialect
from .dialect import Event, Problem, Settings

MESSAGE: Final = "message"


class AGUI(ChatDialect):
    """JSON becomes the run's state, patched when a value is complete, so each is sent once.

    With `fragments`, values that grow are sent, too, as fragments in CUSTOM events.
    """

    TEXT_BEGINS = {"type": "TEXT_MESSAGE_START", "messageId": MESSAGE, "role": "assistant"}
    TEXT_ENDS = {"type": "TEXT_MESSAGE_END", "messageId": MESSAGE}

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self._parser = Parser(**settings.parser)
        self._fragments = settings.fragments
        self._run = {"threadId": settings.thread or "thread", "runId": settings.run or "run"}

    def _begin(self) -> Iterator[Event]:
        yield {"type": "RUN_STARTED", **self._run}

    def _text(self, text: str) -> Iterator[Event]:
        yield {"type": "TEXT_MESSAGE_CONTENT", "messageId": MESSAGE, "delta": text}

    def _call_begins(self, id: str, name: str) -> Iterator[Event]:
        yield {"type": "TOOL_CALL_START", "toolCallId": id, "toolCallName": name}

    def _call_text(self, id: str, text: str) -> Iterator[Event]:
        yield {"type": "TOOL_CALL_ARGS", "toolCallId": id, "delta": text}

    def _call_ends(self, id: str, call: ToolCall) -> Iterator[Event]:
        yield {"type": "TOOL_CALL_END", "toolCallId": id}

    def _json(self, text: str | None, more: bool) -> Iterator[Event]:
        parser = self._parser
        try:
            yield from self._state(parser.flush() if text is None else parser.feed(text))
        except (InvalidJSON, LimitExceeded) as error:
            yield from self._state(error.fragments)
            yield from self._fail(stream_error(error))

    def _state(self, fragments: list[Fragment]) -> Iterator[Event]:
        patch: list[dict[str, Any]] = []
        for fragment in fragments:
            if fragment.kind in ("StartObject", "StartArray"):
                value: Any = {} if fragment.kind == "StartObject" else []
            elif fragment.kind.startswith("Complete"):
                value = fragment.value
            else:
                continue
            if not fragment.path:
                yield {"type": "STATE_SNAPSHOT", "snapshot": value}
            elif not _banned(fragment.path):
                patch.append({"op": "add", "path": to_pointer(fragment.path), "value": value})
        if patch:
            yield {"type": "STATE_DELTA", "delta": patch}
        if fragments and self._fragments:
            wire = [to_wire(fragment) for fragment in fragments]
            yield {"type": "CUSTOM", "name": "json_update_fragments", "value": wire}

    def _failure(self, problem: Problem) -> Iterator[Event]:
        yield {"type": "RUN_ERROR", **problem}

    def _finish(self) -> Iterator[Event]:
        if not self.failed:
            yield {"type": "RUN_FINISHED", **self._run}


def _banned(path: Sequence[str | int]) -> bool:
    """True for a path at which the client's JSON Patch refuses the whole patch."""
    return "__proto__" in path or ("constructor" in path and "prototype" in path)
