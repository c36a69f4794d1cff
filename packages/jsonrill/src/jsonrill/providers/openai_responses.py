"""OpenAI Responses: items with an id of their own, deltas that name the item.

Function calls, MCP calls (their id is the item's, their result comes with them) and custom tools
(free text). The complete texts and arguments are repeated by later events. Texts are used only if
none was streamed; arguments are compared with the streamed ones. Some clients write the names of
fields in camelCase.
"""

from __future__ import annotations

from typing import Any

from ..paths import ABSENT
from .fields import as_id, as_index, as_object, as_text, failed, finished, items, typed, usage
from .statements import Begin, CallDelta, End, Keep, Reasoning, Result, Statement, Text

REFUSAL = "response.refusal.delta"
TEXTS = ("response.output_text.delta", REFUSAL)
THOUGHTS = ("response.reasoning_text.delta", "response.reasoning_summary_text.delta")
# A summary of the reasoning begins; an empty line comes between two of them.
SUMMARY = "response.reasoning_summary_part.added"
# The items that are calls → the field that holds their arguments.
CALLS = {"function_call": "arguments", "mcp_call": "arguments", "custom_tool_call": "input"}
# The events about their arguments, without the `.delta` or `.done` at the end.
ARGUMENTS = {f"response.{kind}_{field}": field for kind, field in CALLS.items()}
BEGINS = ("response.created", "response.queued", "response.in_progress")
FINISHES = ("response.completed", "response.incomplete", "response.failed")

accepts = typed("response.")


class Translation:
    """Translates events; remembers which texts were streamed: their items repeat them."""

    def __init__(self) -> None:
        self._blocks: set[int | None] = set()

    def __call__(self, event: dict[str, Any]) -> list[Statement]:
        if event.get("type") == "response.created":
            self._blocks.clear()
        statements: list[Statement] = []
        for statement in translate(event):
            if isinstance(statement, Text):
                if statement.ends and statement.block in self._blocks:
                    continue
                self._blocks.add(statement.block)
            statements.append(statement)
        return statements


def translate(event: dict[str, Any]) -> list[Statement]:
    kind, index = str(event.get("type")), as_index(event, "output_index", "outputIndex")
    text = as_text(event, "delta")
    if kind == "error":
        return [failed(event.get("error") or event)]
    if kind in TEXTS:
        return [Text(text, 0, index, kind == REFUSAL)] if text else []
    if kind in THOUGHTS:
        return [Reasoning(text, 0, index)] if text else []
    if kind == SUMMARY and as_index(event, "summary_index", "summaryIndex"):
        return [Reasoning("\n\n", 0, index)]
    if kind.startswith("response.output_item."):
        return item_statements(as_object(event, "item"), index, done=kind.endswith(".done"))
    return _arguments(kind, index, event) or _lifecycle(kind, as_object(event, "response"))


def _arguments(kind: str, index: int | None, event: dict[str, Any]) -> list[Statement]:
    """Return the statement of new argument text, or of the complete arguments at the end."""
    stem, _, step = kind.rpartition(".")
    field = ARGUMENTS.get(stem)
    if field is None or step not in ("delta", "done"):
        return []
    # Some servers name the call instead of its item.
    id, alias = as_id(event, "call_id", "callId"), as_id(event, "item_id", "itemId")
    delta = CallDelta(id, index, as_text(event, "name"), alias=alias, free=field == "input")
    if step == "delta":
        delta.text = as_text(event, "delta")
    elif text := as_text(event, field):
        # Without text it may be an item that was cut off before its first argument.
        delta.end = End(text)
    return [delta]


def item_statements(item: dict[str, Any], index: int | None, *, done: bool) -> list[Statement]:
    """Return the statements of an output item that was added or is done."""
    kind = str(item.get("type"))
    field = CALLS.get(kind)
    kept: list[Statement] = [Keep(item, index)] if done and index is not None else []
    if field is None:
        texts = [as_text(part, "text") or "" for part in items(item, "content")]
        is_text = done and kind == "message" and any(texts)
        return [Text("".join(texts), 0, index, ends=True), *kept] if is_text else kept
    alias, text, is_mcp = as_id(item, "id"), as_text(item, field), kind == "mcp_call"
    # An MCP call has no other id than its item.
    id = as_id(item, "call_id", "callId") or (alias if is_mcp else None)
    call = CallDelta(id, index, as_text(item, "name"), alias=alias, hosted=is_mcp)
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


def _lifecycle(kind: str, response: dict[str, Any]) -> list[Statement]:
    if kind in BEGINS:
        return [Begin(message)] if (message := as_id(response, "id")) else []
    if kind not in FINISHES:
        return []
    statements: list[Statement] = []
    for index, item in enumerate(items(response, "output")):
        statements += item_statements(item, index, done=True)
    details = as_object(response, "incomplete_details", "incompleteDetails")
    finish = finished(details.get("reason") or kind.removeprefix("response."))
    if kind == "response.failed":
        finish = failed(response.get("error"))
    return [*statements, *usage(response, "usage"), finish]
