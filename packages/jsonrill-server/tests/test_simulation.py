"""P10 in simulated time: every reader gets each event once, in order, and the true end.

A schedule is a number; `python -m simulation NUMBER` repeats it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from simulation import Stuck, Violation, simulate

from jsonrill_server import log, memory, produce, read
from jsonrill_server.result import read_run
from support import HARDER, hard

SCHEDULES = 400


@pytest.mark.parametrize("first", range(0, SCHEDULES, 20))
def test_p10_each_event_comes_once_in_order_and_then_an_end(first: int) -> None:
    for seed in range(first, first + 20):
        simulate(seed)


@hard
@pytest.mark.parametrize("first", range(0, 200_000 if HARDER else 0, 1000))
def test_p10_holds_in_200_000_schedules(first: int) -> None:
    for seed in range(first, first + 1000):
        simulate(seed)


def test_a_schedule_is_the_same_each_time() -> None:
    for seed in range(20):
        first, second = simulate(seed), simulate(seed)
        assert (first.now, first.steps) == (second.now, second.steps)


def _without_fencing(patch: pytest.MonkeyPatch) -> None:
    def follows(write: log.Write, head: Any) -> bool:
        epoch = head.epoch if head else 0
        return memory_follows(replace(write, head=replace(write.head, epoch=epoch)), head)

    memory_follows = memory.follows
    patch.setattr(memory, "follows", follows)


def _without_positions(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(read.Position, "check", lambda self, head, rows: None)


def _with_repeated_appends(patch: pytest.MonkeyPatch) -> None:
    def follows(write: log.Write, head: Any) -> bool:
        last = head.last if head else 0
        return memory_follows(replace(write, head=replace(write.head, last=last)), head)

    memory_follows = memory.follows
    patch.setattr(memory, "follows", follows)


def _without_on_end(patch: pytest.MonkeyPatch) -> None:
    async def settle(self: Any, writer: produce.Writer, on_end: Any) -> None:
        await writer.append(state=log.State.ENDED)
        run = await read_run(self.store, writer.key)
        if run is not None and on_end is not None:
            await on_end(run)

    patch.setattr(produce.Lifecycle, "_settle", settle)


@pytest.mark.parametrize(
    "mistake", [_without_fencing, _without_positions, _with_repeated_appends, _without_on_end]
)
def test_the_simulation_finds_mistakes(
    mistake: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    mistake(monkeypatch)
    with pytest.raises((Violation, Stuck)):
        for seed in range(3000):
            simulate(seed)
