"""AG-UI events."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from ...errors import InvalidJSON, LimitExceeded, stream_error
from ...paths import to_pointer
from ...runs.options import StreamOptions, ViewOptions
from ...runs.render import parser_options
from ...toolcalls import ToolCall
from ...wire.fragment import Fragment, to_wire
from ...wire.parser import Parser
from .talk import Talk

MESSAGE: Final = "message"


class AGUI(Talk):
    """JSON becomes the run's state, by patches of what is finished: each value is
    sent once. With `fragments` what grows is there too, as CUSTOM events."""

    def __init__(self, stream: StreamOptions, view: ViewOptions) -> None:
        super().__init__(stream, view)
        self._parser = Parser(**parser_options(stream))
        self._run = {"threadId": view.thread or "thread", "runId": view.run or "run"}

    def begin(self) -> Iterator[Any]:
        yield {"type": "RUN_STARTED", **self._run}

    def text_begins(self) -> Iterator[Any]:
        yield {"type": "TEXT_MESSAGE_START", "messageId": MESSAGE, "role": "assistant"}

    def text(self, text: str) -> Iterator[Any]:
        yield {"type": "TEXT_MESSAGE_CONTENT", "messageId": MESSAGE, "delta": text}

    def text_ends(self) -> Iterator[Any]:
        yield {"type": "TEXT_MESSAGE_END", "messageId": MESSAGE}

    def call_begins(self, id: str, name: str) -> Iterator[Any]:
        yield {"type": "TOOL_CALL_START", "toolCallId": id, "toolCallName": name}

    def call_text(self, id: str, text: str) -> Iterator[Any]:
        yield {"type": "TOOL_CALL_ARGS", "toolCallId": id, "delta": text}

    def call_ends(self, id: str, call: ToolCall) -> Iterator[Any]:
        yield {"type": "TOOL_CALL_END", "toolCallId": id}

    def piece(self, text: str) -> Iterator[Any]:
        if text and not self._failed:
            yield from self._read(lambda: self._parser.feed(text))

    def last_piece(self) -> Iterator[Any]:
        if not self._failed:
            yield from self._read(self._parser.flush)

    def _read(self, work: Callable[[], list[Fragment]]) -> Iterator[Any]:
        try:
            yield from self._state(work())
        except (InvalidJSON, LimitExceeded) as error:
            yield from self._state(error.fragments)
            yield from self._fail(stream_error(error))

    def _state(self, fragments: list[Fragment]) -> Iterator[Any]:
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
        if fragments and self._view.fragments:
            wire = [to_wire(fragment) for fragment in fragments]
            yield {"type": "CUSTOM", "name": "json_update_fragments", "value": wire}

    def failure(self, error: dict[str, Any]) -> Iterator[Any]:
        yield {"type": "RUN_ERROR", **error}

    def finish(self, failed: bool) -> Iterator[Any]:
        if not failed:
            yield {"type": "RUN_FINISHED", **self._run}


def _banned(path: Sequence[str | int]) -> bool:
    """Keys at which the client's JSON Patch refuses the whole patch."""
    return "__proto__" in path or ("constructor" in path and "prototype" in path)
