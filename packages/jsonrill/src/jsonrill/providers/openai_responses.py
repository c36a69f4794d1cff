"""OpenAI Responses: items with an id of their own, deltas that name the item, numbered events.

Function calls, MCP calls (their id is the item's, their result comes with them) and custom tools
(free text). The complete arguments come twice more at the end, and are only compared with the
streamed ones. Some clients write the names of fields in camelCase.
"""

from __future__ import annotations

from typing import Any

from .common import as_usage, failed, finished
from .fields import ABSENT, as_id, as_index, as_object, as_text, either, items, typed
from .statements import Begin, CallDelta, End, Keep, Reasoning, Result, Statement, Text

REFUSAL = "response.refusal.delta"
TEXTS = ("response.output_text.delta", REFUSAL)
THOUGHTS = ("response.reasoning_text.delta", "response.reasoning_summary_text.delta")
# The items that are calls → the field that holds their arguments.
CALLS = {"function_call": "arguments", "mcp_call": "arguments", "custom_tool_call": "input"}
# The events about their arguments, without the `.delta` or `.done` at the end.
ARGUMENTS = {f"response.{kind}_{field}": field for kind, field in CALLS.items()}
BEGINS = ("response.created", "response.queued", "response.in_progress")
FINISHES = ("response.completed", "response.incomplete", "response.failed")

accepts = typed("response.")


class ResponsesReader:
    """Translates events; remembers the last `sequence_number` to skip events that come again."""

    def __init__(self) -> None:
        self._number = -1
        self._last: dict[str, Any] | None = None
        # Some servers write the same number on every event.
        self._is_trusted = True
        self._response: str | None = None
        self._items: set[str] = set()

    def __call__(self, event: dict[str, Any]) -> list[Statement]:
        kind, index = event.get("type"), _index(event)
        if kind == "error":  # never a repetition, whatever number it has
            return [failed(event.get("error") or event)]
        if not isinstance(kind, str) or self._is_repeated(kind, event):
            return []
        if kind in TEXTS or kind in THOUGHTS:
            text = as_text(event.get("delta"))
            if text is None:
                return []
            if kind in THOUGHTS:
                return [Reasoning(text, 0, index)]
            return [Text(text, 0, index, kind == REFUSAL)]
        if kind.startswith("response.output_item."):
            item = as_object(event.get("item"))
            return item_statements(item, index, done=kind.endswith(".done"))
        return _arguments(kind, event) or _lifecycle(kind, event)

    def _is_repeated(self, kind: str, event: dict[str, Any]) -> bool:
        number = as_index(either(event, "sequence_number", "sequenceNumber"))
        if number is None:
            return False
        if number == self._number and self._last != event:
            self._is_trusted = False
        response = as_id(as_object(event.get("response")).get("id"))
        held = as_object(event.get("item"))
        item = as_id(held.get("id")) or as_id(either(held, "call_id", "callId"))
        if number <= self._number and not self._is_another(kind, response, item):
            return self._is_trusted
        if response is not None and response != self._response:
            self._response = response
            self._items.clear()
        if item is not None:
            self._items.add(item)
        self._number, self._last = number, event
        return False

    def _is_another(self, kind: str, response: str | None, item: str | None) -> bool:
        """Return whether another response begins, whose events are numbered from 0 again."""
        if kind in BEGINS:
            return response is not None and response != self._response
        is_added = kind == "response.output_item.added"
        return is_added and item is not None and item not in self._items


def _index(event: dict[str, Any]) -> int | None:
    return as_index(either(event, "output_index", "outputIndex"))


def _arguments(kind: str, event: dict[str, Any]) -> list[Statement]:
    """Return the statement of a delta of a call's arguments, or of all of them once more."""
    stem, _, step = kind.rpartition(".")
    field = ARGUMENTS.get(stem)
    if field is None or step not in ("delta", "done"):
        return []
    alias, name = as_id(either(event, "item_id", "itemId")), as_text(event.get("name"))
    delta = CallDelta(None, _index(event), name, alias=alias, free=field == "input")
    if step == "delta":
        delta.text = as_text(event.get("delta"))
    elif text := as_text(event.get(field)):
        # Without text it may be an item that was cut off before its first argument.
        delta.end = End(text)
    return [delta]


def item_statements(item: dict[str, Any], index: int | None, *, done: bool) -> list[Statement]:
    """Return the statements of an output item that was added or is done."""
    kind = str(item.get("type"))
    field = CALLS.get(kind)
    kept: list[Statement] = [Keep(item, index)] if done and index is not None else []
    if field is None:
        return kept
    alias, text, is_mcp = as_id(item.get("id")), as_text(item.get(field)), kind == "mcp_call"
    # An MCP call has no other id than its item.
    id = as_id(either(item, "call_id", "callId")) or (alias if is_mcp else None)
    call = CallDelta(id, index, as_text(item.get("name")), alias=alias, hosted=is_mcp)
    call.free = field == "input"
    if not done:
        call.preset = text or ABSENT
        return [call]
    status = item.get("status")
    if text or status in ("completed", "incomplete"):
        call.end = End(text, incomplete=status == "incomplete", sure=True)
    output, error = item.get("output"), item.get("error")
    if is_mcp and (output is not None or error is not None):
        kept.append(Result(id, output if error is None else error, error is not None))
    return [call, *kept]


def _lifecycle(kind: str, event: dict[str, Any]) -> list[Statement]:
    response = as_object(event.get("response"))
    if kind in BEGINS:
        return [Begin(message)] if (message := as_id(response.get("id"))) else []
    if kind not in FINISHES:
        return []
    statements: list[Statement] = []
    for index, item in enumerate(items(response.get("output"))):
        statements += item_statements(item, index, done=True)
    details = as_object(either(response, "incomplete_details", "incompleteDetails"))
    finish = finished(details.get("reason") or kind.removeprefix("response."), last=True)
    if kind == "response.failed":
        finish = failed(response.get("error"))
    return [*statements, *as_usage(response.get("usage")), finish]
