"""An OpenAI-compatible server that does as the model's name says; a process of its own."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

ARGUMENTS = '{"city": "Zürich", "days": 3, "units": ["c", "f"]}'


def chunk(delta: dict[str, Any], finish: str | None = None) -> str:
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
    body = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    return json.dumps({**body, "choices": [choice]})


def called() -> list[str]:
    first = {"name": "get_weather", "arguments": ""}
    calls = [{"index": 0, "id": "call_1", "type": "function", "function": first}]
    chunks = [chunk({"role": "assistant", "content": None, "tool_calls": calls})]
    for at in range(0, len(ARGUMENTS), 5):
        piece = {"index": 0, "function": {"arguments": ARGUMENTS[at : at + 5]}}
        chunks.append(chunk({"tool_calls": [piece]}))
    return [*chunks, chunk({}, "tool_calls")]


NUMBERS = [f"{number} " for number in range(200)]


def said(model: str = "") -> list[str]:
    if model == "numbers":
        return [*(chunk({"content": text}) for text in NUMBERS), chunk({}, "stop")]
    texts = ["", "Hel", "lo ", "wörld"]
    return [*(chunk({"content": text}) for text in texts), chunk({}, "stop")]


async def lines(model: str) -> AsyncIterator[str]:
    for data in called() if model == "calls" else said(model):
        yield json.dumps(json.loads(data), separators=(" , ", "\t:  ")) if model == "odd" else data
        if model == "broken":
            raise ConnectionResetError
        if model == "silent":
            await asyncio.sleep(600)
        if model == "cut":
            return
        await asyncio.sleep({"slow": 0.3, "numbers": 0.03}.get(model, 0.002))
    if model == "two":
        other = json.loads(chunk({"content": "no"}))
        other["choices"][0]["index"] = 1
        yield json.dumps(other)
    if model not in ("odd", "undone", "two"):
        yield "[DONE]"


async def endless(counted: list[int]) -> AsyncIterator[str]:
    for number in range(100_000):
        counted[0] = number
        yield chunk({"content": str(number)})
        await asyncio.sleep(0.02)


def app() -> Any:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import JSONResponse, Response, StreamingResponse
    from starlette.routing import Route

    counted = [0]
    headers_seen: list[dict[str, str]] = [{}]

    async def chat(request: Request) -> Response:
        asked = await request.json()
        headers_seen[0] = dict(request.headers)
        model = asked.get("model", "")
        if model == "limited":
            error = {"message": "slow down", "type": "requests", "param": None, "code": "rate"}
            return JSONResponse({"error": error}, 429, {"retry-after": "7"})
        if model == "never":
            await asyncio.sleep(600)
        if not asked.get("stream"):
            message = {"role": "assistant", "content": "Hello wörld"}
            choice = {"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}
            body = {"id": "c", "object": "chat.completion", "created": 1, "model": "m"}
            return JSONResponse({**body, "choices": [choice]})
        source = endless(counted) if model == "endless" else lines(model)
        events = (f"data: {data}\n\n" async for data in source)
        return StreamingResponse(events, media_type="text/event-stream")

    async def seen(request: Request) -> Response:
        return JSONResponse({"counted": counted[0], "headers": headers_seen[0]})

    chats = Route("/v1/chat/completions", chat, methods=["POST"])
    return Starlette(routes=[chats, Route("/seen", seen)])


class Upstream:
    def __init__(self, folder: Path) -> None:
        self.log = folder / "upstream.log"

    def __enter__(self) -> Upstream:
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, __file__], stdout=subprocess.PIPE, stderr=log, text=True
            )
        assert self.process.stdout is not None
        self.base = self.process.stdout.readline().strip()
        self.url = f"{self.base}/v1"
        return self

    def __exit__(self, *_: Any) -> None:
        self.process.kill()
        self.process.wait(10)
        assert self.process.stdout is not None
        self.process.stdout.close()


if __name__ == "__main__":
    import socket

    import uvicorn

    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    print(f"http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
    server = uvicorn.Server(uvicorn.Config(app(), log_level="critical"))
    asyncio.run(server.serve(sockets=[listener]))
