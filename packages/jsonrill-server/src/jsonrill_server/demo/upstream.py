"""The simulated models as an upstream of the server, without a network."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterable
from typing import Any, Final

import httpx2

from jsonrill.testing import Script
from jsonrill.testing.script import Step

from .answering import reply
from .models import models

# Pauses shorter than this are added up: a timer takes longer than that.
TICK: Final = 0.005


class SimulatedModels(httpx2.AsyncBaseTransport):
    """Answers requests to the APIs of OpenAI, Anthropic and Gemini, as a transport of httpx2."""

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        path, agent = request.url.path, request.headers.get("user-agent", "")
        script = response_to(request.method, path, await request.aread(), agent)
        return httpx2.Response(
            script.status, headers=dict(script.headers), stream=ScriptStream(script)
        )


def response_to(method: str, path: str, body: bytes, agent: str = "") -> Script:
    """The response to any request."""
    if method == "GET" and path.endswith("/models"):
        shown = [{"id": model.name, "display_name": model.title} for model in models().values()]
        return Script.json({"data": shown})
    try:
        asked: Any = json.loads(body)
    except (ValueError, RecursionError):
        asked = None
    return reply(path, asked, agent)


class ScriptStream(httpx2.AsyncByteStream):
    """The bytes of a script, each when it is due."""

    def __init__(self, script: Script) -> None:
        self._steps: Iterable[Step] = script.steps

    async def __aiter__(self) -> AsyncIterator[bytes]:
        clock = asyncio.get_running_loop().time
        due = clock()
        for step in self._steps:
            if isinstance(step, bytes):
                yield step
            elif isinstance(step, int | float):
                # Behind a reader that is slow, the model does not hurry to catch up.
                due = max(due, clock() - TICK) + step
                if due - clock() >= TICK:
                    await asyncio.sleep(due - clock())
