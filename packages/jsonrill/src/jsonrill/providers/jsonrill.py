"""jsonrill's own wire events, which `toolcalls/wire.py` and `continuing/` write.

`tools_call_update` (deltas with their fragments), `tool_result`, `tools_aggregate` (the final state
of a message). The fields of calls are in snake_case; camelCase is read, too. `answer` is one change
of an answer that several requests made: text, reasoning, a call, token counts, a break, or its end.

The public system that they come from sends them in an envelope, with their fields in `payload`, and
a later version sends `tool_call_update`, one call at a time, and `tool_call_result`.
"""

from __future__ import annotations

import re
from typing import Any, Final, cast

from ..errors import Problem
from .fields import ABSENT, as_dict, as_id, as_index, as_object, as_text, either, items
from .finish import REASONS
from .statements import (
    Aggregate,
    Begin,
    Break,
    CallDelta,
    End,
    Finish,
    Reasoning,
    Result,
    Statement,
    Text,
    as_usage,
)

UPDATES: Final = ("tools_call_update", "tool_call_update")
RESULTS: Final = ("tool_result", "tool_call_result")
ANSWER: Final = "answer"
# The reason of a break after which an answer begins again.
CONTRADICTION: Final = "contradiction"
KINDS: Final = (*UPDATES, *RESULTS, "tools_aggregate", ANSWER)
ENDED = ("complete", "error", "truncated")
# With each chunk the public server puts another time into the id of the message.
_TIME: Final = re.compile("-[0-9A-F]{15}(?=-)")


def accepts(event: dict[str, Any]) -> bool:
    return either(event, "kind", "$type") in KINDS


def translate(event: dict[str, Any]) -> list[Statement]:
    kind, payload = either(event, "kind", "$type"), as_dict(event.get("payload"))
    message = as_id(either(event, "messageId", "generation_id"))
    if payload is not None:
        event, message = payload, message and _TIME.sub("", message)
    if kind in UPDATES:
        one = event.get("toolCallUpdate", event if kind == "tool_call_update" else None)
        updates = items(event.get("tool_call_updates", [one]))
        return [_call(call, message) for call in updates]
    if kind in RESULTS:
        return [_result(event)]
    if kind == "tools_aggregate":
        calls = items(either(event, "tool_calls", "toolCalls"))
        results = items(either(event, "tool_results", "toolResults"))
        aggregate = Aggregate(message, [_call(call, message, final=True) for call in calls])
        return [aggregate, *map(_result, results)]
    return _answer(event) if kind == ANSWER else []


def _call(call: dict[str, Any], message: str | None, *, final: bool = False) -> CallDelta:
    """A delta with its fragments, or the final state of a call with its value."""
    fragments, error, status = map(call.get, ("json_update_fragments", "error", "status"))
    return CallDelta(
        as_id(either(call, "tool_call_id", "toolCallId")),
        as_index(call.get("index")),
        as_text(call.get("function_name")),
        as_text(call.get("function_args")),
        message,
        free=call.get("encoding") == "text",
        value=call.get("args", ABSENT) if final else ABSENT,
        received=True,
        fragments=fragments if isinstance(fragments, list) and not final else None,
        status=status if status in ENDED else None,
        error=cast(Problem, error) if isinstance(error, dict) else None,
    )


def _result(result: dict[str, Any]) -> Result:
    call = as_id(either(result, "tool_call_id", "toolCallId"))
    failed = either(result, "is_error", "isError") is True
    return Result(call, result.get("result"), failed)


def _answer(event: dict[str, Any]) -> list[Statement]:
    """One change of an answer."""
    choice = as_index(event.get("choice")) or 0
    statements: list[Statement] = [Begin()] if event.get("begins") is True else []
    if broke := as_object(event.get("break")):
        statements += _break(broke)
    if (text := as_text(event.get("text"))) is not None:
        statements.append(Text(text, choice))
    if (text := as_text(event.get("reasoning"))) is not None:
        statements.append(Reasoning(text, choice))
    if call := as_object(event.get("call")):
        statements.append(_growing(call, choice))
    if "result" in event or "error" in event:
        failed = event.get("error") is not None
        result = event.get("error" if failed else "result")
        statements.append(Result(as_id(event.get("id")), result, failed))
    statements += as_usage(event.get("usage"))
    if (reason := event.get("finish")) in REASONS:
        statements.append(Finish(None, None, reason, as_text(event.get("detail")), last=True))
    return statements


def _break(broke: dict[str, Any]) -> list[Statement]:
    """The answer broke off; after a contradiction what came before it has ended."""
    reason = as_text(broke.get("reason")) or "lost"
    if reason != CONTRADICTION:
        return [Break(reason)]
    path = broke.get("path")
    known = (tuple(path) if isinstance(path, list) else (), broke.get("written"), broke.get("now"))
    return [Finish(reason="lost", detail="another answer contradicts it"), Break(reason, known)]


def _growing(call: dict[str, Any], choice: int) -> CallDelta:
    """More of a call; with `complete` it has all of its arguments."""
    complete = call.get("complete") is True
    return CallDelta(
        as_id(call.get("id")),
        as_index(call.get("index")),
        as_text(call.get("name")),
        as_text(call.get("text")),
        choice=choice,
        free=call.get("encoding") == "text",
        hosted=call.get("hosted") is True,
        end=End(sure=True) if complete else None,
    )
