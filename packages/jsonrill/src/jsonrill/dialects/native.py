"""A provider's events for that provider's own client: OpenAI Responses and Anthropic Messages.

They pass as they came. What is added is what such a client needs of a server that is not the
provider: numbers without a gap, by which a client resumes, ids by which this server knows the
answer again, and a failure in the form that the client raises as an exception.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from ..providers import plain
from ..providers.fields import as_index, as_object, as_text, items
from ..providers.openai_responses import FINISHES
from .dialect import Dialect, Event, Problem, Settings

Json = dict[str, Any]
# Between the provider's id of a response and the name of the run that holds it.
MARK: Final = "."
# The fields of a response that clients require, for one that failed before its first event.
_EMPTY: Final[Json] = {
    "object": "response",
    "created_at": 0,
    "model": "",
    "output": [],
    "parallel_tool_calls": True,
    "tool_choice": "auto",
    "tools": [],
    "metadata": {},
    "incomplete_details": None,
    "instructions": None,
    "temperature": None,
    "top_p": None,
}
# The deltas that a response in progress is put together from → the field that they add to.
_DELTAS: Final = {
    "response.output_text.delta": "text",
    "response.refusal.delta": "refusal",
    "response.reasoning_text.delta": "text",
    "response.reasoning_summary_text.delta": "text",
    "response.function_call_arguments.delta": "arguments",
    "response.mcp_call_arguments.delta": "arguments",
    "response.custom_tool_call_input.delta": "input",
}


def response_id(id: str | None, run: str) -> str:
    """The id of a response that a run holds; the provider's own id is its beginning."""
    return f"{id or 'resp'}{MARK}{run}" if run else id or "resp"


def split_response_id(id: str) -> tuple[str, str]:
    """The provider's id and the name of the run; "" if the id names none."""
    own, mark, run = id.rpartition(MARK)
    return (own, run) if mark else (id, "")


class ResponseState:
    """A response as its events so far describe it."""

    def __init__(self, run: str = "", *, background: bool = False) -> None:
        self.run = run
        self._background = background
        # The provider's id, once it is known.
        self.id: str | None = None
        # Whether the provider has ended it.
        self.ended = False
        self._response: Json = dict(_EMPTY)
        self._output: dict[int, Json] = {}
        # The deltas of each text, by item, part and field; joined when the response is asked for.
        self._pieces: dict[tuple[int, str, int, str], list[str]] = {}

    def feed(self, event: Json) -> None:
        kind = event.get("type")
        if isinstance(response := event.get("response"), dict):
            self._response = {**self._response, **response}
            self.id = as_text(response.get("id")) or self.id
            if kind in FINISHES:
                self.ended = True
                self._output.clear()
        elif (index := as_index(event.get("output_index"))) is not None and isinstance(kind, str):
            self._grow(kind, event, index)

    def _grow(self, kind: str, event: Json, index: int) -> None:
        where = "summary" if "summary_index" in event else "content"
        if kind in ("response.output_item.added", "response.output_item.done"):
            self._output[index] = dict(as_object(event.get("item")))
            self._pieces = {at: texts for at, texts in self._pieces.items() if at[0] != index}
        elif kind.endswith("_part.added") and (item := self._output.get(index)) is not None:
            item[where] = [*items(item.get(where)), dict(as_object(event.get("part")))]
        elif (field := _DELTAS.get(kind)) is not None:
            part = as_index(event.get(f"{where}_index"))
            at = (index, where, -1 if part is None else part, field)
            self._pieces.setdefault(at, []).append(as_text(event.get("delta")) or "")

    def value(self, **fields: Any) -> Json:
        """The response object, with these fields changed."""
        for (index, where, part, field), texts in self._pieces.items():
            grown = self._output.get(index)
            if grown is not None and part >= 0:
                parts = grown.get(where)
                grown = parts[part] if isinstance(parts, list) and part < len(parts) else None
            if isinstance(grown, dict):
                grown[field] = "".join(texts)
        output = [self._output[index] for index in sorted(self._output)]
        response = {**self._response, **({"output": output} if output else {}), **fields}
        if response.get("background") is None:  # not every upstream says it
            response["background"] = self._background
        return {**response, "id": response_id(self.id, self.run)}

    def failed(self, problem: Problem) -> Json:
        """The response object after a failure, or after it was cancelled."""
        code, message = problem.get("code", ""), problem.get("message", "")
        if code == "CANCELLED":
            return self.value(status="cancelled")
        error = {"code": "server_error", "message": f"{message} ({code})"}
        return self.value(status="failed", error=error)


class NativeResponses(Dialect):
    """OpenAI Responses. Events are numbered from 0, whatever numbers the provider gave them."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self._state = ResponseState(settings.run)
        self._number = 0

    def feed(self, event: Any) -> list[Event]:
        fields = plain(event)
        if fields is None:
            return []
        self._state.feed(fields)
        shown = {**fields, "sequence_number": self._number}
        self._number += 1
        if isinstance(response := fields.get("response"), dict):
            id = response_id(as_text(response.get("id")), self._state.run)
            shown["response"] = {**response, "id": id}
        return [shown]

    def _fail(self, problem: Problem) -> Iterator[Event]:
        # What the provider has ended needs no other end.
        if not self._state.ended:
            yield from super()._fail(problem)

    def _failure(self, problem: Problem) -> Iterator[Event]:
        # With `error` beside it, OpenAI's clients raise it as an exception.
        response = self._state.failed(problem)
        number, error = {"sequence_number": self._number}, _openai_error(problem)
        yield {"type": "response.failed", **number, "response": response, "error": error}

    def interrupt(self, problem: Problem) -> list[Event]:
        """An error of the connection: the response itself goes on."""
        error = _openai_error(problem)
        return [{"type": "error", "sequence_number": 0, **error, "error": error}]

    def _finish(self) -> Iterator[Event]:
        yield from ()


class NativeMessages(Dialect):
    """Anthropic Messages."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self._stopped = False

    def feed(self, event: Any) -> list[Event]:
        fields = plain(event)
        if fields is None:
            return []
        self._stopped = self._stopped or fields.get("type") == "message_stop"
        self.failed = self.failed or fields.get("type") == "error"
        return [fields]

    def _failure(self, problem: Problem) -> Iterator[Event]:
        code, message = problem.get("code"), problem.get("message")
        yield {"type": "error", "error": {"type": "api_error", "message": message, "code": code}}

    def _finish(self) -> Iterator[Event]:
        # Some servers end with the reason to stop; clients wait for this event.
        if not self.failed and not self._stopped:
            yield {"type": "message_stop"}


def _openai_error(problem: Problem) -> Json:
    code, message = problem.get("code"), problem.get("message")
    return {"code": code, "message": message, "type": "stream_error", "param": None}


# By the name of the provider. Chat completions have a dialect that writes those of any provider.
NATIVE: Final[dict[str, type[Dialect]]] = {
    "openai_responses": NativeResponses,
    "anthropic": NativeMessages,
}
