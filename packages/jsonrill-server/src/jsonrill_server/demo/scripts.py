"""The response of a simulated model to a request of a provider's client, as timed bytes."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any, Final

from jsonrill.testing import Script

from .answering import reply
from .models import models

# Pauses shorter than this are added up: a timer takes longer than that.
TICK: Final = 0.005


def response_to(method: str, path: str, body: bytes, agent: str = "") -> Script:
    """Return the response to any request."""
    if method == "GET" and path.endswith("/models"):
        shown = [
            {"id": model.name, "object": "model", "display_name": model.title}
            for model in models().values()
        ]
        return Script.json({"object": "list", "data": shown})
    try:
        asked: Any = json.loads(body)
    except (ValueError, RecursionError):
        asked = None
    return reply(path, asked, agent)


async def script_bytes(script: Script) -> AsyncIterator[bytes]:
    """Yield the bytes of a script, each when it is due."""
    clock = asyncio.get_running_loop().time
    due = clock()
    for step in script.steps:
        if isinstance(step, bytes):
            yield step
        elif isinstance(step, int | float):
            # Behind a reader that is slow, the model does not hurry to catch up.
            due = max(due, clock() - TICK) + step
            if due - clock() >= TICK:
                await asyncio.sleep(due - clock())
