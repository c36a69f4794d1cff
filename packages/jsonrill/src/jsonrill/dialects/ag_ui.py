"""AG-UI events. Updates are the run's state; `predict` patches it with the arguments of a tool."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..answer_parts import Part
from ..errors import InvalidJSON, LimitExceeded, StreamClosed
from ..fragment import Fragment, Parser
from ..jsontext import dumps
from ..partial_stream import Update
from ..paths import ABSENT, Path, parse_path, to_pointer
from ..providers.finish import is_complete
from ..toolcalls import ToolCall
from .dialect import Dialect, Event, Problem, problem_of


class AGUI(Dialect):
    """Writes the events that AG-UI clients read."""

    def __init__(
        self,
        *,
        state: Any = ABSENT,
        predict: Mapping[str, str] | None = None,
        thread: str = "",
        run: str = "",
        **options: Any,
    ) -> None:
        super().__init__(**options)
        self._initial = state
        self._predicted = {key: _argument(where) for key, where in (predict or {}).items()}
        # The patches of each call that predicts a field.
        self._predicting: dict[str, list[Prediction]] = {}
        # The calls that are not complete, with what is wrong.
        self._broken: dict[str, str] = {}
        self._run = {"threadId": thread or "thread", "runId": run or "run"}

    def _begin(self) -> Iterator[Event]:
        yield {"type": "RUN_STARTED", **self._run}
        if self._initial is not ABSENT or self._predicted:
            state = {} if self._initial is ABSENT else self._initial
            yield {"type": "STATE_SNAPSHOT", "snapshot": state}

    def _text_begins(self, id: str, is_thought: bool) -> Iterator[Event]:
        if is_thought:
            yield {"type": "REASONING_START", "messageId": id}
            yield {"type": "REASONING_MESSAGE_START", "messageId": id, "role": "reasoning"}
        else:
            yield {"type": "TEXT_MESSAGE_START", "messageId": id, "role": "assistant"}

    def _text_grows(self, id: str, is_thought: bool, delta: str) -> Iterator[Event]:
        kind = "REASONING_MESSAGE_CONTENT" if is_thought else "TEXT_MESSAGE_CONTENT"
        yield {"type": kind, "messageId": id, "delta": delta}

    def _text_ends(self, id: str, is_thought: bool) -> Iterator[Event]:
        if is_thought:
            yield {"type": "REASONING_MESSAGE_END", "messageId": id}
            yield {"type": "REASONING_END", "messageId": id}
        else:
            yield {"type": "TEXT_MESSAGE_END", "messageId": id}

    def _call_begins(self, id: str, call: ToolCall) -> Iterator[Event]:
        yield {"type": "TOOL_CALL_START", "toolCallId": id, "toolCallName": call.name or ""}
        self._predicting[id] = [
            Prediction(key, argument)
            for key, (tool, argument) in self._predicted.items()
            if tool == call.name and call.encoding == "json"
        ]

    def _call_text(self, id: str, text: str) -> Iterator[Event]:
        yield {"type": "TOOL_CALL_ARGS", "toolCallId": id, "delta": text}
        patch = [it for prediction in self._predicting[id] for it in prediction.feed(text)]
        if patch:
            yield {"type": "STATE_DELTA", "delta": patch}

    def _call_ends(self, id: str, part: Part) -> Iterator[Event]:
        """A client may run the tool of a call that ends, so only a complete one does."""
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
        content = result if isinstance(result, str) else dumps(result)
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


class Prediction:
    """The text of a call's arguments → JSON Patch operations for one field of the state.

    A string is sent again each time it has grown, because a patch cannot append to one.
    """

    def __init__(self, field: str, argument: Path) -> None:
        self._field = field
        self._argument = argument
        self._parser: Parser | None = Parser()
        self._text = ""

    def feed(self, text: str) -> list[dict[str, Any]]:
        """Return the operations for a piece of text; none after an error."""
        if self._parser is None:
            return []
        try:
            return self._patch(self._parser.feed(text))
        except (InvalidJSON, LimitExceeded, StreamClosed) as error:
            self._parser = None
            return self._patch(getattr(error, "fragments", []))

    def _patch(self, fragments: Sequence[Fragment]) -> list[dict[str, Any]]:
        patch: list[dict[str, Any]] = []
        growing: Path | None = None
        size = len(self._argument)
        for fragment in fragments:
            if fragment.path[:size] != self._argument:
                continue
            path = (self._field, *fragment.path[size:])
            match fragment.kind:
                case "StartObject" | "StartArray":
                    patch += _operation("add", path, {} if fragment.kind == "StartObject" else [])
                case "StartString":
                    self._text = ""
                    patch += _operation("add", path, "")
                case "PartialString":
                    self._text += fragment.text or ""
                    growing = path
                case "CompleteString":
                    growing = None
                    patch += _operation("replace", path, fragment.value)
                case "CompleteNumber" | "CompleteBoolean" | "CompleteNull":
                    patch += _operation("add", path, fragment.value)
        return patch if growing is None else patch + _operation("replace", growing, self._text)


def _operation(op: str, path: Path, value: Any) -> list[dict[str, Any]]:
    """Return an operation; none at a path for which the client refuses the whole patch."""
    if "__proto__" in path or ("constructor" in path and "prototype" in path):
        return []
    return [{"op": op, "path": to_pointer(path), "value": value}]


def _argument(where: str) -> tuple[str, Path]:
    """Return the tool's name and the path of its argument, from `write.text` or `write`."""
    tool, _, argument = where.partition(".")
    return tool, parse_path(argument) if argument else ()
