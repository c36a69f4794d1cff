"""Cancelling tasks reliably."""

from __future__ import annotations

import asyncio
from typing import Any


async def stop(*tasks: asyncio.Task[Any] | None) -> None:
    """Cancel tasks and wait until they have ended; what they raise is dropped.

    A cancellation can get lost: `asyncio.wait_for` of Python 3.11, which clients of Redis use,
    forgets one that comes together with a result. So it is repeated until the task has ended.
    """
    all_of_them = [task for task in tasks if task is not None]
    while left := {task for task in all_of_them if not task.done()}:
        for task in left:
            task.cancel()
        await asyncio.wait(left, timeout=0.2)
    for task in all_of_them:
        if not task.cancelled():
            task.exception()  # retrieved, so that asyncio does not log it
