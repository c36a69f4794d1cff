"""AG-UI events. Updates are the run's state."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from ..answer_parts import Part
from ..jsontext import dumps
from ..partial_stream import Update
from ..paths import ABSENT
from ..providers.finish import is_complete
from ..toolcalls import ToolCall
from .dialect import Dialect, Event, Problem, Step, problem_of

_STEPS: Final[dict[Step, str]] = {"start": "START", "delta": "CONTENT", "end": "END"}


class AGUI(Dialect):
    """Writes the events that AG-UI clients read."""

    def __init__(
        self, *, state: Any = ABSENT, thread: str = "", run: str = "", **options: Any
    ) -> None:
        super().__init__(**options)
        self._initial = state
        # The calls that are not complete, with their problems.
        self._broken: dict[str, str] = {}
        self._run = {"threadId": thread or "thread", "runId": run or "run"}

    def _begin(self) -> Iterator[Event]:
        yield {"type": "RUN_STARTED", **self._run}
        if self._initial is not ABSENT:
            yield {"type": "STATE_SNAPSHOT", "snapshot": self._initial}

    def _text(self, id: str, part: Part, step: Step) -> Iterator[Event]:
        is_thought = part.kind == "reasoning"
        kind, role = ("REASONING", "reasoning") if is_thought else ("TEXT", "assistant")
        fields = {"start": {"role": role}, "delta": {"delta": part.delta}}.get(step, {})
        if is_thought and step == "start":
            yield {"type": "REASONING_START", "messageId": id}
        yield {"type": f"{kind}_MESSAGE_{_STEPS[step]}", "messageId": id, **fields}
        if is_thought and step == "end":
            yield {"type": "REASONING_END", "messageId": id}

    def _call_begins(self, id: str, call: ToolCall) -> Iterator[Event]:
        yield {"type": "TOOL_CALL_START", "toolCallId": id, "toolCallName": call.name or ""}

    def _call_text(self, id: str, text: str) -> Iterator[Event]:
        yield {"type": "TOOL_CALL_ARGS", "toolCallId": id, "delta": text}

    def _call_ends(self, id: str, part: Part) -> Iterator[Event]:
        """End a call only if it is complete: a client may run its tool then."""
        if part.complete:
            yield {"type": "TOOL_CALL_END", "toolCallId": id}
        else:
            self._broken[id] = problem_of(part)

    def _call_breaks(self, id: str, part: Part) -> Iterator[Event]:
        yield _result_of(id, f"result-{id}", problem_of(part))

    def _result(self, id: str, part: Part) -> Iterator[Event]:
        result = part.result if part.error is None else part.error
        if self._broken.pop(id, None) is not None:
            yield {"type": "TOOL_CALL_END", "toolCallId": id}
        content = result if isinstance(result, str) else dumps(result, finite=True)
        yield _result_of(id, f"result-{part.index}", content)

    def _update(self, update: Update) -> Iterator[Event]:
        if update.error is not None:
            yield from self._fail(update.error)
        elif update.data is not None:
            state = update.data if update.entity is None else {update.entity: update.data}
            yield {"type": "STATE_SNAPSHOT", "snapshot": state}

    def _failure(self, problem: Problem) -> Iterator[Event]:
        yield {"type": "RUN_ERROR", **problem}

    def _finish(self) -> Iterator[Event]:
        if self.has_failed:
            return
        # No call may be open when a run finishes. A client does not run one that has a result.
        for id, problem in self._broken.items():
            yield {"type": "TOOL_CALL_END", "toolCallId": id}
            yield _result_of(id, f"result-{id}", problem)
        outcome = self._parts.outcome
        # AG-UI has no field for an answer that is not complete, but one for what a run returns.
        is_cut = outcome is not None and not is_complete(outcome)
        result = {"result": {"finishReason": outcome}} if is_cut else {}
        yield {"type": "RUN_FINISHED", **self._run, **result}


def _result_of(call: str, message: str, content: str) -> Event:
    named = {"messageId": message, "toolCallId": call}
    return {"type": "TOOL_CALL_RESULT", **named, "content": content, "role": "tool"}
