"""Runs that wait for a person: what the log of an agent says of that.

When an agent ends and calls of it still have to be approved, the last record says so, and the log
stays open, without a producer. A decision is a record behind it: who writes that has taken the
lease before, so that of two decisions one is first, and goes on with the run from its log.

    {"kind": "call", "index": 1, "status": "waiting", "call": {"id": "call_7", …}, …}
    {"kind": "waiting", "calls": ["call_7"]}
    {"kind": "decision", "call": "call_7", "decision": true}
    {"kind": "call", "index": 1, "status": "started", …}
    {"kind": "result", "index": 2, …}
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import aclosing
from typing import Any, Final

from jsonrill.jsontext import dumps

from .producer import Failed
from .records import WAITING, Record

# What has one of these in it may say something of a call that waits; the rest is not read.
_WORDS: Final = ('"waiting"', '"started"', '"result"', '"decision"')


class WaitingCalls:
    """Reads a log: which calls wait for a person, and what was decided."""

    def __init__(self, records: Iterable[Record] = ()) -> None:
        # Ids of calls that have to be approved and have no result.
        self.calls: dict[str, None] = {}
        # The decisions for them that are in the log.
        self.decisions: dict[str, Any] = {}
        # True if the last record says that the run waits.
        self.parked = False
        self.read(records)

    @property
    def undecided(self) -> list[str]:
        """Ids of the calls that a person may decide now."""
        return [id for id in self.calls if id not in self.decisions]

    def read(self, records: Iterable[Record]) -> None:
        """Take in more of the log."""
        for record in records:
            self.parked = False
            if record.input == "events" and any(word in record.body for word in _WORDS):
                event = json.loads(record.body)
                if isinstance(event, dict):
                    self._read(event)

    def _read(self, event: dict[str, Any]) -> None:
        match event:
            case {"kind": "call", "status": "waiting", "call": {"id": str(id)}}:
                self.calls[id] = None
            # A decision lets a call run once: one that was started is not decided any more.
            case {"kind": "call", "status": "started", "call": {"id": str(id)}} | {
                "kind": "result",
                "call": {"id": str(id)},
            }:
                self.calls.pop(id, None)
                self.decisions.pop(id, None)
            case {"kind": "decision", "call": str(id), "decision": decision}:
                self.decisions[id] = decision
            case {"kind": "waiting", "calls": list()}:
                # What the run was continued with and did not use may be decided again.
                self.decisions.clear()
                self.parked = True


def decision_record(call: str, decision: Any) -> Record:
    """The record of what a person says of a call; `TypeError` if it is not JSON."""
    return Record("events", dumps({"kind": "decision", "call": call, "decision": decision}))


async def until_it_waits(
    source: AsyncGenerator[list[Record]], before: Sequence[Record]
) -> AsyncGenerator[list[Record]]:
    """The records of a source that continues a log; the end is WAITING if calls wait then."""
    waiting = WaitingCalls(before)
    async with aclosing(source):
        async for records in source:
            waiting.read(records)
            yield records
    if waiting.calls:
        marker = {"kind": "waiting", "calls": [*waiting.calls]}
        yield [Record("events", dumps(marker))]
        raise Failed(WAITING)
