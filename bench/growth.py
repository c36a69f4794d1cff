"""What one more piece costs after a beginning of 1 KB and of 10 MB."""

from __future__ import annotations

import gc
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from time import process_time
from typing import Any, Final

from pydantic import BaseModel

import jsonrill
from jsonrill.sending import TextSender

from .texts import SIZES, beginning, call_events, pieces

BLOCK: Final = 2**16
# The best segment counts; each has this many pieces.
SEGMENTS: Final = 8
LENGTH: Final = 500


class Report(BaseModel):
    title: str
    sections: list[dict[str, Any]]
    count: int


Read = Callable[[Iterable[Any]], Iterable[Any]]

TEXT: Final[dict[str, Read]] = {
    "`values`": jsonrill.values,
    "`values`, live": lambda source: jsonrill.values(source, live=True),
    "`values`, typed": lambda source: jsonrill.values(source, Report),
    "`values`, repair": lambda source: jsonrill.values(source, repair=True, live=True),
    "`updates`, deltas": lambda source: jsonrill.updates(source, send="delta"),
    "`fragments`": jsonrill.fragments,
    "`select`": lambda source: jsonrill.select(source, "sections[*]"),
    "`send`": jsonrill.send,
}


class Clock:
    """Passes a source on, and measures how long its reader takes for the items after `first`."""

    def __init__(self, first: Iterable[Any], rest: Sequence[Any]) -> None:
        self._first, self._rest = first, rest
        self.best = float("inf")

    def __iter__(self) -> Iterator[Any]:
        yield from self._first
        gc.collect()
        gc.disable()
        for start in range(0, len(self._rest) - LENGTH + 1, LENGTH):
            began = process_time()
            yield from self._rest[start : start + LENGTH]
            self.best = min(self.best, (process_time() - began) / LENGTH)
        gc.enable()


def cost(read: Read, first: Iterable[Any], rest: Sequence[Any]) -> float:
    """Return the microseconds of one item after the first ones."""
    clock = Clock(first, rest)
    with suppress(jsonrill.JsonrillError):  # the text is cut off
        deque(read(clock), maxlen=0)
    return clock.best * 1e6


def growth() -> dict[str, dict[str, float | None]]:
    names = [*TEXT, "`tool_calls`", "`receive`"]
    table: dict[str, dict[str, float | None]] = {name: {} for name in names}
    for size, length in SIZES.items():
        before, after = beginning(length, LENGTH * SEGMENTS * 4)
        first, rest = pieces(before, BLOCK), pieces(after)
        for name, read in TEXT.items():
            table[name][size] = cost(read, first, rest)
        events = [*call_events([*first, *rest])]
        table["`tool_calls`"][size] = cost(
            jsonrill.tool_calls, events[: -len(rest)], events[-len(rest) :]
        )
        sender = TextSender()
        messages = [
            [message for piece in part for message in sender.feed(piece)] for part in (first, rest)
        ]
        table["`receive`"][size] = cost(jsonrill.receive, *messages)
    return table
