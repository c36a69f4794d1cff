"""An application with runs of its own, for tests that kill it: `uvicorn support.run_app:app`.

`POST /runs/{key}` starts a run that counts, `GET /runs/{key}` reads it in any format. The settings
are in the environment: STORE, LEASE, and RESUME if other processes continue lost runs.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from jsonrill_server import Run, Runs, StoreUnavailable


def events(key: str, count: int) -> list[Any]:
    """Return the records of a run: pieces of text, or a provider's events in every third run."""
    number = int(key.rpartition("-")[2])
    if number % 3 == 2:
        return [_chunk(at, count) for at in range(count)]
    pieces = [json.dumps({"run": number, "at": at, "text": "é" * (at % 9)}) for at in range(count)]
    return [("[" if not at else ",") + item for at, item in enumerate(pieces[:-1])] + [
        f",{pieces[-1]}]"
    ]


def _chunk(at: int, count: int) -> dict[str, Any]:
    """Return a chunk of an OpenAI answer: text, then pieces of a call's arguments, then its end."""
    delta: dict[str, Any] = {"content": f"{at} "}
    if at == count // 2:
        function = {"name": "f", "arguments": "["}
        delta = {
            "tool_calls": [{"index": 0, "id": "call", "type": "function", "function": function}]
        }
    elif at > count // 2:
        text = f"{at}]" if at == count - 2 else f"{at},"
        delta = {"tool_calls": [{"index": 0, "function": {"arguments": text}}]}
    reason = "tool_calls" if at == count - 1 else None
    choice = {"index": 0, "delta": {} if reason else delta, "finish_reason": reason}
    return {"id": "x", "object": "chat.completion.chunk", "choices": [choice]}


async def paced(key: str, count: int, pause: float, first: int = 0) -> AsyncIterator[Any]:
    for event in events(key, count)[first:]:
        yield event
        await asyncio.sleep(pause)


def count(run: Run) -> AsyncIterator[Any]:
    """Return the records after those that are logged."""
    _, size, pause, _ = run.key.split("-")
    return paced(run.key, int(size), float(pause), len(run.events))


runs = Runs(
    os.environ.get("STORE", "memory:"),
    lease=float(os.environ.get("LEASE", "1")),
    sources={"count": count},
    grace=1,
    retry=200,
)


async def start(request: Request) -> Response:
    """Start a run whose key describes it: run-COUNT-PAUSE-NUMBER."""
    key = request.path_params["key"]
    _, size, pause, _ = key.split("-")
    source: Any = "count"
    if not os.environ.get("RESUME"):
        source = lambda: paced(key, int(size), float(pause))  # noqa: E731
    return JSONResponse({"started": await runs.start(key, source, replace=False)})


async def read(request: Request) -> Response:
    options: dict[str, Any] = {"send": "delta"} if "delta" in request.query_params else {}
    format: Any = request.query_params.get("format", "raw")
    response: Response = await runs.response(
        request, request.path_params["key"], format=format, replay=True, **options
    )
    return response


async def cancel(request: Request) -> Response:
    return JSONResponse({"cancelled": await runs.cancel(request.path_params["key"])})


# A page that keeps what it has read across reloads, as a chat page would.
PAGE = """<!doctype html><title>run</title><script>
const kept = JSON.parse(sessionStorage.kept ?? '{"after": "0", "seen": []}');
let ends = 0;
const url = location.pathname.replace("pages", "runs") + "?after=" + kept.after;
const source = new EventSource(url);
source.onmessage = ({ lastEventId, data }) => {
  kept.after = lastEventId;
  kept.seen.push(JSON.parse(data));
  sessionStorage.kept = JSON.stringify(kept);
};
source.addEventListener("CLOSE", () => { ends += 1; source.close(); });
</script>"""


async def page(request: Request) -> Response:
    return HTMLResponse(PAGE)


async def unavailable(request: Request, error: Exception) -> Response:
    """Report a store that is halted for longer than `Runs` waits."""
    return Response(str(error), 503)


@asynccontextmanager
async def lifespan(app: Starlette) -> AsyncIterator[None]:
    async with runs:
        yield


app = Starlette(
    routes=[
        Route("/runs/{key}", start, methods=["POST"]),
        Route("/runs/{key}", read),
        Route("/pages/{key}", page),
        Route("/runs/{key}/cancel", cancel, methods=["POST"]),
    ],
    exception_handlers={StoreUnavailable: unavailable},
    lifespan=lifespan,
)
