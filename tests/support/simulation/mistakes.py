"""Mistakes in the code of runs, each of which breaks a promise that the checker must see."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Final
from unittest import mock

from jsonrill_server.runs.hub import Hub
from jsonrill_server.runs.producer import _Writer
from jsonrill_server.store import memory
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


def _no_fence(*_: Any) -> None:
    pass


async def _forget_it(self: Any, stream: str, status: Any) -> None:
    """Leaves a stream without a producer as it is."""


def _nobody(self: Any, stream: str) -> None:
    """Wakes nobody."""


MISTAKES: Final[dict[str, Callable[[], Any]]] = {
    "the fence of a lease": lambda: mock.patch.object(memory, "check_free", _no_fence),
    "a lease renewed late": lambda: mock.patch.object(Hub, "_renew", _renew_late),
    "a write that nobody waits for": lambda: mock.patch.object(
        _Writer, "_append", _write_without_an_answer
    ),
    "a lost producer that nobody ends": lambda: mock.patch.object(Hub, "end_lost", _forget_it),
    "a notice that wakes nobody": lambda: mock.patch.object(Signals, "wake", _nobody),
}
