"""AG-UI events."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ..answers import Part
from ..errors import InvalidJSON, LimitExceeded, StreamClosed, stream_error
from ..jsontext import dumps
from ..parse.sink import TextBuffer
from ..paths import ABSENT, Path, parse_path, to_pointer
from ..providers.finish import is_complete
from ..toolcalls import ToolCall
from ..wire.fragment import Fragment
from ..wire.full import to_wire
from ..wire.parser import Parser
from .chat import ChatDialect
from .dialect import Event, Problem, Settings


class AGUI(ChatDialect):
    """JSON becomes the run's state, patched when a value is complete, so each is sent once.

    With `fragments`, values that grow are sent, too, as fragments in CUSTOM events.
    """

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self._parser = Parser(**settings.parser)
        self._fragments = settings.fragments
        self._patches = Patches(live=False)
        self._initial = settings.state
        self._predicted = {key: _argument(where) for key, where in settings.predict.items()}
        # The patches of each call that predicts a field.
        self._predicting: dict[str, list[Patches]] = {}
        # The calls that ended and are not complete.
        self._broken: list[tuple[str, ToolCall]] = []
        self._run = {"threadId": settings.thread or "thread", "runId": settings.run or "run"}

    def _begin(self) -> Iterator[Event]:
        yield {"type": "RUN_STARTED", **self._run}
        if self._initial is not ABSENT or self._predicted:
            state = {} if self._initial is ABSENT else self._initial
            yield {"type": "STATE_SNAPSHOT", "snapshot": state}

    def _text_begins(self, id: str, thought: bool) -> Iterator[Event]:
        if thought:
            yield {"type": "REASONING_START", "messageId": id}
            yield {"type": "REASONING_MESSAGE_START", "messageId": id, "role": "reasoning"}
        else:
            yield {"type": "TEXT_MESSAGE_START", "messageId": id, "role": "assistant"}

    def _text_grows(self, id: str, thought: bool, delta: str) -> Iterator[Event]:
        kind = "REASONING_MESSAGE_CONTENT" if thought else "TEXT_MESSAGE_CONTENT"
        yield {"type": kind, "messageId": id, "delta": delta}

    def _text_ends(self, id: str, thought: bool) -> Iterator[Event]:
        if thought:
            yield {"type": "REASONING_MESSAGE_END", "messageId": id}
            yield {"type": "REASONING_END", "messageId": id}
        else:
            yield {"type": "TEXT_MESSAGE_END", "messageId": id}

    def _call_begins(self, id: str, call: ToolCall) -> Iterator[Event]:
        yield {"type": "TOOL_CALL_START", "toolCallId": id, "toolCallName": call.name or ""}
        self._predicting[id] = [
            Patches((key,), argument)
            for key, (tool, argument) in self._predicted.items()
            if tool == call.name and call.encoding == "json"
        ]

    def _call_text(self, id: str, text: str) -> Iterator[Event]:
        yield {"type": "TOOL_CALL_ARGS", "toolCallId": id, "delta": text}
        patch = [one for patches in self._predicting[id] for one in patches.feed(text)]
        if patch:
            yield {"type": "STATE_DELTA", "delta": patch}

    def _call_ends(self, id: str, call: ToolCall) -> Iterator[Event]:
        """A client may run the tool of a call that ends, so only a complete one does."""
        if call.status == "complete":
            yield {"type": "TOOL_CALL_END", "toolCallId": id}
        else:
            self._broken.append((id, call))

    def _result(self, id: str, part: Part) -> Iterator[Event]:
        result = part.result if part.error is None else part.error
        content = result if isinstance(result, str) else dumps(result)
        yield _result_of(id, f"result-{part.index}", content)

    def _json(self, text: str | None, more: bool) -> Iterator[Event]:
        parser = self._parser
        try:
            yield from self._state(parser.flush() if text is None else parser.feed(text))
        except (InvalidJSON, LimitExceeded) as error:
            yield from self._state(error.fragments)
            yield from self._fail(stream_error(error))

    def _state(self, fragments: list[Fragment]) -> Iterator[Event]:
        patch = self._patches.of(fragments)
        if patch and patch[0]["path"] == "":
            yield {"type": "STATE_SNAPSHOT", "snapshot": patch.pop(0)["value"]}
        if patch:
            yield {"type": "STATE_DELTA", "delta": patch}
        if fragments and self._fragments:
            wire = [to_wire(fragment) for fragment in fragments]
            yield {"type": "CUSTOM", "name": "json_update_fragments", "value": wire}

    def _failure(self, problem: Problem) -> Iterator[Event]:
        yield {"type": "RUN_ERROR", **problem}

    def _finish(self) -> Iterator[Event]:
        if not self.failed:
            # No call may be open when a run finishes. One with a result is not run any more.
            for id, call in self._broken:
                yield {"type": "TOOL_CALL_END", "toolCallId": id}
                why = call.error["message"] if call.error else f"the call is {call.status}"
                yield _result_of(id, f"result-{id}", why)
            outcome = self._parts.outcome
            # AG-UI has no field for an answer that is not complete, but one for what a run returns.
            cut = outcome is not None and not is_complete(outcome)
            result = {"result": {"finishReason": outcome}} if cut else {}
            yield {"type": "RUN_FINISHED", **self._run, **result}


def _result_of(call: str, message: str, content: str) -> Event:
    name = {"messageId": message, "toolCallId": call}
    return {"type": "TOOL_CALL_RESULT", **name, "content": content, "role": "tool"}


def _banned(path: Sequence[str | int]) -> bool:
    """True for a path at which the client's JSON Patch refuses the whole patch."""
    return "__proto__" in path or ("constructor" in path and "prototype" in path)


class Patches:
    """JSON text → JSON Patch operations for a state, at the path `at`.

    Of the text only what is at `argument` is taken. With `live`, a string is sent again each time
    it has grown, because a patch cannot append to one.
    """

    def __init__(self, at: Path = (), argument: Path = (), *, live: bool = True) -> None:
        self._at = at
        self._argument = argument
        self._live = live
        self._parser: Parser | None = Parser()
        self._text = TextBuffer()

    def feed(self, text: str) -> list[dict[str, Any]]:
        """The operations for a piece of text; none after an error, which the call reports."""
        if self._parser is None:
            return []
        try:
            return self.of(self._parser.feed(text))
        except (InvalidJSON, LimitExceeded, StreamClosed) as error:
            self._parser = None
            return self.of(getattr(error, "fragments", []))

    def of(self, fragments: list[Fragment]) -> list[dict[str, Any]]:
        """The operations for these fragments."""
        patch: list[dict[str, Any]] = []
        growing: Path | None = None
        size = len(self._argument)
        for fragment in fragments:
            if fragment.path[:size] != self._argument:
                continue
            path = (*self._at, *fragment.path[size:])
            match fragment.kind:
                case "StartObject":
                    value: Any = {}
                case "StartArray":
                    value = []
                case "CompleteString" | "CompleteNumber" | "CompleteBoolean" | "CompleteNull":
                    value, growing = fragment.value, None
                case "StartString" if self._live:
                    self._text, value = TextBuffer(), ""
                case "PartialString" if self._live:
                    self._text.add(fragment.text or "")
                    growing = path
                    continue
                case _:
                    continue
            # A string that is shown already is replaced; anything else is new.
            known = self._live and fragment.kind == "CompleteString"
            patch += _operation("replace" if known else "add", path, value)
        if growing is not None:
            patch += _operation("replace", growing, self._text.text())
        return patch


def _operation(op: str, path: Path, value: Any) -> list[dict[str, Any]]:
    if _banned(path):
        return []
    return [{"op": op, "path": to_pointer(path), "value": value}]


def _argument(where: str) -> tuple[str, Path]:
    """The tool's name and the path of its argument, from `write.text` or `write`."""
    tool, _, argument = where.partition(".")
    return tool, parse_path(argument) if argument else ()
