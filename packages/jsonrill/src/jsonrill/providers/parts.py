"""The parts of answers, as `parts()` and `run_tools()` yield them and JSON keeps them.

So what a program has made of a provider's stream is a source again: of one turn or of many, with
the results of tools in between. A program that joins several loops numbers the parts of each from
0: a part that cannot belong to the turn at hand, such as more of a text that is complete, begins
another one.
"""

from __future__ import annotations

from typing import Any, Final, cast

from ..errors import CUTS
from .fields import ABSENT, as_id, as_index, as_object, as_text
from .finish import Reason
from .statements import (
    Begin,
    CallDelta,
    End,
    Finish,
    Reasoning,
    Result,
    Statement,
    Text,
    failed,
)

KINDS: Final = ("text", "reasoning", "call", "result")


def accepts(event: dict[str, Any]) -> bool:
    kind = event.get("kind")
    if kind not in KINDS or as_index(event.get("index")) is None:
        return False
    return isinstance(event.get("call"), dict) if kind in ("call", "result") else "delta" in event


class PartEvents:
    """Translates the parts of a conversation."""

    def __init__(self) -> None:
        self._turn = 0
        # The number that the sender gave the turn at hand.
        self._sent_turn: int | None = None
        # Of the turn at hand, by the index of a part: its kind, its call's id, and if it has ended.
        self._seen: dict[int, tuple[str, str | None, bool]] = {}

    def __call__(self, event: dict[str, Any]) -> list[Statement]:
        kind, index = event.get("kind"), as_index(event.get("index"))
        if kind not in KINDS or index is None:
            # The end of an event stream of parts whose source failed.
            return [failed(event.get("error"))] if event.get("status") == "ERROR" else []
        call = as_object(event.get("call"))
        if kind == "result":
            return [_result(as_id(call.get("id")), event)]
        statements: list[Statement] = []
        if self._begins_turn(kind, index, as_id(call.get("id")), event):
            self._turn += 1
            self._seen.clear()
            statements.append(Begin(f"turn-{self._turn}"))
        self._seen[index] = kind, as_id(call.get("id")), _has_ended(kind, call, event)
        delta = as_text(event.get("delta"))
        if kind == "call":
            statements.append(self._call(index, call, delta))
        elif delta is not None or event.get("complete") is True:
            make = Reasoning if kind == "reasoning" else Text
            statements.append(make(delta or "", block=index, ends=event.get("complete") is True))
        if (reason := as_text(event.get("reason"))) in CUTS:
            detail = _detail(event, CUTS[reason])
            statements.append(Finish(reason=cast(Reason, reason), detail=detail))
        return statements

    def _begins_turn(self, kind: str, index: int, id: str | None, event: dict[str, Any]) -> bool:
        sent, self._sent_turn = self._sent_turn, as_index(event.get("turn")) or 0
        if sent is not None and self._sent_turn != sent:
            return True
        known = self._seen.get(index)
        if known is None:
            return False
        its_kind, its_id, ended = known
        # News of a call that has ended, such as an error, bring no more of its arguments.
        news = kind == "call" and its_id == id and as_text(event.get("delta")) is None
        return its_kind != kind or (ended and not news)

    def _call(self, index: int, call: dict[str, Any], delta: str | None) -> CallDelta:
        end = None
        status, error = call.get("status"), call.get("error")
        if status == "complete":
            # Without arguments there is no text to compare them with.
            end = End(sure=True, value=call.get("args") or ABSENT)
        elif status == "truncated":
            end = End(incomplete=True)
        elif status == "error":
            end = End(error=as_text(as_object(error).get("message")) or "the call is in error")
        return CallDelta(
            as_id(call.get("id")),
            index,
            as_text(call.get("name")),
            delta,
            f"turn-{self._turn}",
            # Whatever becomes of its id, it is the call of this part.
            alias=f"part-{index}",
            free=call.get("encoding") == "text",
            hosted=call.get("hosted") is True,
            end=end,
        )


def _has_ended(kind: str, call: dict[str, Any], event: dict[str, Any]) -> bool:
    if kind == "call":
        return call.get("status") not in ("streaming", None)
    return event.get("complete") is True or as_text(event.get("reason")) in CUTS


def _detail(event: dict[str, Any], meaning: str) -> str | None:
    """What the provider said of the end, which the error has behind what the reason means."""
    message = as_text(event.get("error")) or ""
    return message.removeprefix(f"{meaning}: ") if message.startswith(f"{meaning}: ") else None


def _result(id: str | None, event: dict[str, Any]) -> Result:
    error = event.get("error")
    return Result(id, event.get("result") if error is None else error, error is not None)
