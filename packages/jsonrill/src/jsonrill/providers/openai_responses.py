"""OpenAI Responses: items with an id of their own, deltas that name the item, numbered events.

Function calls, MCP calls (their id is the item's, their result comes with them) and custom tools
(free text). The full arguments come twice more at the end, and are only compared with the streamed.
Some clients write the names of fields in camelCase.
"""

from __future__ import annotations

from typing import Any

from .fields import ABSENT, as_id, as_index, as_object, as_text, either, items, typed
from .statements import (
    Begin,
    CallDelta,
    End,
    Keep,
    Reasoning,
    Result,
    Statement,
    Text,
    as_usage,
    failed,
    finished,
)

REFUSAL = "response.refusal.delta"
TEXTS: dict[str, type[Text | Reasoning]] = {
    "response.output_text.delta": Text,
    REFUSAL: Text,
    "response.reasoning_text.delta": Reasoning,
    "response.reasoning_summary_text.delta": Reasoning,
}
# The items that are calls → the field that holds their arguments.
CALLS = {
    "function_call": "arguments",
    "mcp_call": "arguments",
    "custom_tool_call": "input",
}
# The events about their arguments, without the `.delta` or `.done` at the end.
ARGUMENTS = {f"response.{kind}_{field}": field for kind, field in CALLS.items()}
BEGINS = ("response.created", "response.queued", "response.in_progress")
FINISHES = ("response.completed", "response.incomplete", "response.failed")

_is_response = typed("response.")


def accepts(event: dict[str, Any]) -> bool:
    # With an `event_id` it is of the Realtime API.
    return _is_response(event) and "event_id" not in event


class ResponsesReader:
    """Translates events; remembers the last `sequence_number` to skip events that come again."""

    def __init__(self) -> None:
        self._number = -1
        self._last: dict[str, Any] | None = None
        # Some servers write the same number on every event.
        self._trusted = True
        self._response: str | None = None
        self._items: set[str] = set()

    def __call__(self, event: dict[str, Any]) -> list[Statement]:
        kind = event.get("type")
        if kind == "error":  # never a repetition, whatever number it has
            return [failed(event.get("error") or event)]
        if not isinstance(kind, str) or self._is_repeated(kind, event):
            return []
        if kind in TEXTS:
            text, index = as_text(event.get("delta")), _index(event)
            if kind == REFUSAL:
                return [Text(text, 0, index, True)] if text else []
            return [TEXTS[kind](text, 0, index)] if text else []
        if kind.startswith("response.output_item."):
            item = as_object(event.get("item"))
            return item_statements(item, _index(event), done=kind.endswith(".done"))
        if kind.startswith("response."):
            return argument_statements(kind, event) or _lifecycle(kind, event)
        return []

    def _is_repeated(self, kind: str, event: dict[str, Any]) -> bool:
        number = as_index(either(event, "sequence_number", "sequenceNumber"))
        if number is None:
            return False
        if number == self._number and self._last != event:
            self._trusted = False
        response = as_id(as_object(event.get("response")).get("id"))
        item = _key(as_object(event.get("item")))
        if number <= self._number and not self._is_another(kind, response, item):
            return self._trusted
        if response is not None and response != self._response:
            self._response = response
            self._items.clear()
        if item is not None:
            self._items.add(item)
        self._number, self._last = number, event
        return False

    def _is_another(self, kind: str, response: str | None, item: str | None) -> bool:
        """True if another response begins, whose events are numbered from 0 again."""
        if kind in BEGINS:
            return response is not None and response != self._response
        added = kind == "response.output_item.added"
        return added and item is not None and item not in self._items


def _key(item: dict[str, Any]) -> str | None:
    return as_id(item.get("id")) or as_id(either(item, "call_id", "callId"))


def _index(event: dict[str, Any]) -> int | None:
    return as_index(either(event, "output_index", "outputIndex"))


def argument_statements(kind: str, event: dict[str, Any]) -> list[Statement]:
    """The statement of an event about a call's arguments: a delta, or all of them once more."""
    stem, _, what = kind.rpartition(".")
    field = ARGUMENTS.get(stem)
    if field is None or what not in ("delta", "done"):
        return []
    delta = CallDelta(
        alias=as_id(either(event, "item_id", "itemId")),
        index=_index(event),
        name=as_text(event.get("name")),
        free=field == "input",
    )
    if what == "delta":
        delta.text = as_text(event.get("delta"))
    else:
        text = event.get(field)
        # An item that was cut off before its first argument ends in the same way.
        delta.end = End(text=text) if as_text(text) else None
    return [delta]


def item_statements(item: dict[str, Any], index: int | None, *, done: bool) -> list[Statement]:
    kind = item.get("type")
    field = CALLS.get(kind) if isinstance(kind, str) else None
    kept: list[Statement] = [Keep(item, index)] if done and index is not None else []
    if field is None:
        return kept
    alias, text = as_id(item.get("id")), item.get(field)
    call = CallDelta(
        # An MCP call has no id but its item's.
        id=as_id(either(item, "call_id", "callId")) or (alias if kind == "mcp_call" else None),
        index=index,
        name=as_text(item.get("name")),
        alias=alias,
        free=field == "input",
        hosted=kind == "mcp_call",
    )
    if not done:
        call.preset = as_text(text) or ABSENT
        return [call]
    status = item.get("status")
    if as_text(text) or status in ("completed", "incomplete"):
        call.end = End(as_text(text), incomplete=status == "incomplete", sure=True)
    return [call, *kept, *_mcp_result(call.id, item)]


def _mcp_result(call: str | None, item: dict[str, Any]) -> list[Statement]:
    output, error = item.get("output"), item.get("error")
    if item.get("type") != "mcp_call" or (output is None and error is None):
        return []
    return [Result(call, output if error is None else error, error is not None)]


def _lifecycle(kind: str, event: dict[str, Any]) -> list[Statement]:
    response = as_object(event.get("response"))
    if kind in BEGINS:
        return [Begin(message)] if (message := as_id(response.get("id"))) else []
    if kind not in FINISHES:
        return []
    statements: list[Statement] = []
    for index, item in enumerate(items(response.get("output"))):
        statements += item_statements(item, index, done=True)
    why = as_object(either(response, "incomplete_details", "incompleteDetails")).get("reason")
    finish = finished(why or kind.removeprefix("response."), last=True)
    if kind == "response.failed":
        finish = failed(response.get("error"))
    return [*statements, *as_usage(response.get("usage")), finish]
