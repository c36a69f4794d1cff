"""The simulated models as an upstream of the server, without a network."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterable
from typing import Any, Final

import httpx2

from jsonrill.testing import Script
from jsonrill.testing.script import Step

from .answering import model_list, reply

# Pauses shorter than this are added up: a timer takes longer than that.
TICK: Final = 0.005


class SimulatedModels(httpx2.AsyncBaseTransport):
    """Answers requests to the APIs of OpenAI, Anthropic and Gemini, as a transport of httpx2."""

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        path, agent = request.url.path, request.headers.get("user-agent", "")
        script = response_to(request.method, path, await request.aread(), agent)
        return httpx2.Response(script.status, headers=dict(script.headers), stream=Steps(script))


def response_to(method: str, path: str, body: bytes, agent: str = "") -> Script:
    """The response to any request."""
    _, _, name = path.partition("/models")
    if method == "GET" and "/models" in path and ":" not in name:
        return _models(name.strip("/"))
    try:
        asked: Any = json.loads(body)
    except (ValueError, RecursionError):
        asked = None
    return reply(path, asked, agent)


def _models(name: str) -> Script:
    """The list of models, or one of them."""
    found = model_list()
    if not name:
        ends = {"first_id": found[0]["id"], "last_id": found[-1]["id"], "has_more": False}
        return Script.json({"object": "list", "data": found, **ends})
    for model in found:
        if model["id"] == name:
            return Script.json(model)
    message = f"The model '{name}' does not exist"
    error = {"message": message, "type": "not_found_error", "param": None}
    return Script.json({"type": "error", "error": {**error, "code": "model_not_found"}}, 404)


class Steps(httpx2.AsyncByteStream):
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
