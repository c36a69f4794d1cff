"""The parts of answers, as `Part.to_dict` writes them.

So a program's own stream of parts is a source again: of one turn or of many, with the results of
tools in between. A program that joins several loops numbers the parts of each from 0: a part that
cannot belong to the current turn, such as more of a text that is complete, begins another one.
"""

from __future__ import annotations

from typing import Any, Final

from ..errors import CUTS
from ..paths import ABSENT
from .fields import as_id, as_index, as_object, as_text, failed
from .statements import Begin, CallDelta, End, Finish, Reasoning, Result, Statement, Text

KINDS: Final = ("text", "reasoning", "call", "result")


def accepts(event: dict[str, Any]) -> bool:
    kind = event.get("kind")
    if kind not in KINDS or as_index(event, "index") is None:
        return False
    return isinstance(event.get("call"), dict) if kind in ("call", "result") else "delta" in event


class Translation:
    """Translates the parts of a conversation."""

    def __init__(self) -> None:
        self._turn = 0
        # The number that the sender gave the current turn.
        self._sent_turn: int | None = None
        # The kind, the call's id and whether it has ended, of each part of the current turn.
        self._seen: dict[int, tuple[str, str | None, bool]] = {}

    def __call__(self, event: dict[str, Any]) -> list[Statement]:
        kind, index = event.get("kind"), as_index(event, "index")
        if kind not in KINDS or index is None:
            # The end of an event stream of parts whose source failed.
            return [failed(event.get("error"))] if event.get("status") == "ERROR" else []
        call, delta = as_object(event, "call"), as_text(event, "delta")
        id, error, reason = as_id(call, "id"), event.get("error"), event.get("reason")
        if kind == "result":
            return [Result(id, event.get("result") if error is None else error, error is not None)]
        is_complete, end = event.get("complete") is True, _end(call)
        statements: list[Statement] = []
        if self._begins_turn(kind, index, id, event):
            self._turn += 1
            self._seen.clear()
            statements.append(Begin(f"turn-{self._turn}"))
        self._seen[index] = kind, id, is_complete or end is not None or reason in CUTS
        if kind == "call":
            # The alias finds the call of this part even if its id changes.
            more = CallDelta(id, index, as_text(call, "name"), delta, alias=f"part-{index}")
            more.message, more.end = f"turn-{self._turn}", end
            more.free, more.hosted = call.get("encoding") == "text", call.get("hosted") is True
            statements.append(more)
        elif delta is not None or is_complete:
            make = Reasoning if kind == "reasoning" else Text
            statements.append(make(delta or "", block=index, ends=is_complete))
        if reason in CUTS:
            # The error is the reason's meaning and, after it, the provider's explanation.
            detail = str(error or "").partition(f"{CUTS[reason]}: ")[2]
            statements.append(Finish(reason=reason, detail=detail or None))
        return statements

    def _begins_turn(self, kind: str, index: int, id: str | None, event: dict[str, Any]) -> bool:
        sent, self._sent_turn = self._sent_turn, as_index(event, "turn") or 0
        if sent is not None and self._sent_turn != sent:
            return True
        if index not in self._seen:
            return False
        known_kind, known_id, has_ended = self._seen[index]
        # An update of a call that has ended has no new arguments, unless the call is in error.
        has_more = event.get("delta") and as_object(event, "call").get("status") != "error"
        is_news = kind == "call" and known_id == id and not has_more
        return known_kind != kind or (has_ended and not is_news)


def _end(call: dict[str, Any]) -> End | None:
    match call.get("status"):
        case "complete":
            return End(value=call.get("args") or ABSENT, sure=True)
        case "truncated":
            return End(incomplete=True)
        case "error":
            return End(error=as_text(call.get("error"), "message") or "the call is in error")
    return None
