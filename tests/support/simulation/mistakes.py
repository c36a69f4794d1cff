"""Mistakes in the code of runs, each of which breaks a promise that the checker must see."""

from __future__ import annotations

import asyncio
import inspect
import textwrap
from collections.abc import Callable
from typing import Any, Final
from unittest import mock

from jsonrill_server.runs import producer
from jsonrill_server.runs.hub import Hub
from jsonrill_server.runs.producer import _Writer
from jsonrill_server.runs.takeover import RunHub
from jsonrill_server.store import heads
from jsonrill_server.store.signals import Signals


async def _write_without_an_answer(self: Any, records: Any) -> None:
    """Takes what was sent for written."""
    claim = self._claim
    turn, claim._turn = claim._turn, claim._turn._replace(seq=claim._turn.seq + 1)
    more = {"turn": turn, "lease": claim.lease}
    writing = claim.hub.append(claim.stream, claim.producer, records, **more)
    task = asyncio.ensure_future(writing)
    task.add_done_callback(lambda task: task.cancelled() or task.exception())
    if self._keep is not None:
        self._keep += records


async def _renew_late(self: Any, stream: str, producer: str, lease: float, *_: Any) -> None:
    while True:
        await asyncio.sleep(3 * lease)
        await self.store.acquire(stream, producer, lease=lease)


def _no_fence() -> Any:
    """A store that takes what a producer writes whose lease and epoch are over."""

    def check_turn(turn: Any, last: Any, *more: Any) -> None:
        if turn.epoch >= last[0]:
            right(turn, last, *more)

    right = heads.check_turn
    return mock.patch.multiple(heads, check_free=lambda *_: None, check_turn=check_turn)


async def _forget_it(self: Any, stream: str, status: Any) -> None:
    """Leaves a stream without a producer as it is."""


def _nobody(self: Any, stream: str) -> None:
    """Wakes nobody."""


def _rewritten(holder: Any, name: str, right: str, wrong: str) -> Any:
    """A patch of a function of a class or module, in which some text is another."""
    function = getattr(holder, name)
    source = textwrap.dedent(inspect.getsource(function))
    assert source.count(right) == 1, f"{name} has changed, and this mistake with it"
    names: dict[str, Any] = {}
    exec(
        "from __future__ import annotations\n" + source.replace(right, wrong),
        vars(inspect.getmodule(function)),
        names,
    )
    return mock.patch.object(holder, name, names[name])


MISTAKES: Final[dict[str, Callable[[], Any]]] = {
    "the fence of a store": _no_fence,
    "a lease renewed late": lambda: mock.patch.object(Hub, "_renew", _renew_late),
    "a write that nobody waits for": lambda: mock.patch.object(
        _Writer, "_append", _write_without_an_answer
    ),
    "a notice that wakes nobody": lambda: mock.patch.object(Signals, "wake", _nobody),
    "a lost producer that nobody ends": lambda: mock.patch.object(Hub, "end_lost", _forget_it),
    # These were in the code until a schedule broke a promise.
    "an end that was not taken": lambda: _rewritten(
        producer,
        "_close_log",
        "except StoreUnavailable:",
        "except StoreUnavailable:\n            return end",
    ),
    "a run that cannot be read is called cancelled": lambda: _rewritten(
        RunHub, "_closed_elsewhere", "return kept, None\n    return kept", "pass\n    return kept"
    ),
}
