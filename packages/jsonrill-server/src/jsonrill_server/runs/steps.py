"""Advances a rendering without holding up the event loop.

What is quick stays on the loop: a record of a few characters takes microseconds, a thread a hundred
of them. What is large, or was slow the last time, is advanced in a thread, a step at a time, so
that other renderings have their turn and what is done so far can be sent. The thread shares
Python's lock with the loop and hands it over every few milliseconds; what it calls must do its work
in short calls (`dumps_in_parts`).
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from time import perf_counter
from typing import Any, Final, TypeVar

T = TypeVar("T")
R = TypeVar("R")
# Larger groups of records are not even begun on the loop (bytes).
SMALL: Final = 1024
# Seconds after which the loop passes the rest on to a thread, and a thread reports what it has.
QUICK: Final = 0.005
STEP: Final = 0.05
# Items after which a step ends.
ITEMS: Final = 256
# Two, so that one slow call does not hold up all others; with more, the loop waits longer.
_THREADS: Final = ThreadPoolExecutor(2, "jsonrill-render")


class Steps:
    """Drives the renderings of one view or reader, one at a time; remembers if they are slow."""

    __slots__ = ("_always", "slow")

    def __init__(self, always_slow: bool = False) -> None:
        self._always = always_slow
        self.slow = always_slow

    async def of(
        self,
        parts: Iterator[list[T]],
        size: int,
        cost: Callable[[list[T]], int] = len,
        most: int = ITEMS,
    ) -> AsyncIterator[list[T]]:
        """Yield the items of all parts, as many at a time as a step makes; `size` is in bytes.

        A step ends when its items cost `most`.

        If this is cancelled, the step that runs in a thread ends by itself and is forgotten.
        """
        items: list[T] = []
        took, done = 0.0, False
        if not self.slow and size <= SMALL:
            items, took, done = _advance(parts, QUICK, cost, most)
            if items:
                yield items
        while not done:
            items, spent, done = await beside(_advance, parts, STEP, cost, most)
            took += spent
            if items:
                yield items
        self.slow = self._always or took > QUICK


def _advance(
    parts: Iterator[list[T]], seconds: float, cost: Callable[[list[T]], int], most: int
) -> tuple[list[T], float, bool]:
    """Items of the next parts, the time that they took, and whether there is no other part."""
    begun = perf_counter()
    items: list[T] = []
    for part in parts:
        items += part
        most -= cost(part)
        took = perf_counter() - begun
        if took > seconds or most <= 0:
            return items, took, False
    return items, perf_counter() - begun, True


async def beside(work: Callable[..., R], *arguments: Any) -> R:
    """Return what a function returns; it runs in one of the threads of renderings."""
    return await asyncio.get_running_loop().run_in_executor(_THREADS, work, *arguments)
