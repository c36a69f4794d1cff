"""How many events a second one server process delivers, beside a bare ASGI loop that only sends.

Both answer the same readers over loopback, the same bytes per event and as many events offered;
they take turns in one run. The bare loop parses, stores and renders nothing: its rate is what the
ASGI server and the machine allow. Run: python bench/bench_server.py [--readers 300].
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import socket
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

SOURCES = os.pathsep.join(
    str(folder) for folder in Path(__file__).resolve().parent.parent.glob("packages/*/src")
)
# One event on the wire, about as long as an update of a small entity.
TEXT = "x" * 60


async def bare(scope: Any, receive: Any, send: Any) -> None:
    """The loop to compare with: a timer and `send`, nothing else."""
    if scope["type"] != "http":
        return
    rate = float(scope["query_string"].split(b"=")[1])
    headers = [(b"content-type", b"text/event-stream")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    block = b"id: 1000\ndata: " + json.dumps(TEXT + ",").encode() + b"\n\n"
    loop = asyncio.get_running_loop()
    due = loop.time()
    while True:
        due += 1 / rate
        await asyncio.sleep(max(0.0, due - loop.time()))
        await send({"type": "http.response.body", "body": block, "more_body": True})


def start(*command: str) -> tuple[subprocess.Popen[str], str]:
    process = subprocess.Popen(
        [sys.executable, *command],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={
            **os.environ,
            "PYTHONPATH": os.environ.get("PYTHONPATH", os.pathsep.join(map(str, SOURCES))),
        },
    )
    assert process.stdout is not None
    return process, process.stdout.readline().split()[-1]


class Readers(asyncio.Protocol):
    """Counts events by their `data:` lines, with as little work as possible."""

    events = 0

    def __init__(self, request: bytes) -> None:
        self._request = request

    def connection_made(self, transport: Any) -> None:
        transport.write(self._request)

    def data_received(self, data: bytes) -> None:
        Readers.events += data.count(b"\ndata: ")


async def connect(url: str, path: str, count: int) -> list[asyncio.Transport]:
    host, port = url.removeprefix("http://").split(":")
    request = f"GET {path} HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n".encode()
    loop = asyncio.get_running_loop()
    transports = []
    for _ in range(count):
        transport, _ = await loop.create_connection(lambda: Readers(request), host, int(port))
        transports.append(transport)
    return transports


async def rate_of(seconds: float) -> float:
    await asyncio.sleep(1.0)
    before, begun = Readers.events, time.monotonic()
    await asyncio.sleep(seconds)
    return (Readers.events - before) / (time.monotonic() - begun)


async def bare_rate(url: str, readers: int, rate: float, seconds: float) -> float:
    links = await connect(url, f"/?rate={rate}", readers)
    reached = await rate_of(seconds)
    for link in links:
        link.abort()
    return reached


async def our_rate(url: str, readers: int, rate: float, seconds: float, streams: int = 3) -> float:
    import httpx2

    async with httpx2.AsyncClient(base_url=url, trust_env=False, timeout=30) as http:
        paths, links = [], []
        for _ in range(streams):
            path = (await http.post("/v1/streams")).json()["urls"]["stream"]
            paths.append(path)
            links += await connect(url, f"{path}/events?format=chunks", readers // streams)
        publishing = [asyncio.create_task(_publish(http, path, rate)) for path in paths]
        reached = await rate_of(seconds)
        for task in publishing:
            task.cancel()
        await asyncio.gather(*publishing, return_exceptions=True)
        for link in links:
            link.abort()
        for path in paths:
            await http.delete(path)
    return reached


async def _publish(http: Any, path: str, rate: float) -> None:
    loop = asyncio.get_running_loop()
    due = loop.time()
    line = json.dumps(TEXT + ",") + "\n"
    headers = {"content-type": "application/x-ndjson"}
    first = json.dumps("[") + "\n"
    await http.post(f"{path}/chunks", content=first, headers=headers)

    async def body() -> Any:
        nonlocal due
        while True:
            due += 1 / rate
            await asyncio.sleep(max(0.0, due - loop.time()))
            yield line.encode()

    await http.post(f"{path}/chunks", content=body(), headers=headers)


async def compare(readers: int, rate: float, seconds: float, rounds: int) -> dict[str, list[float]]:
    """Events a second of each, round by round."""
    ours, our_url = start("-m", "jsonrill", "serve", "--port", "0", "--no-access-log")
    theirs, bare_url = start(__file__, "--bare")
    try:
        rates: dict[str, list[float]] = {"bare": [], "jsonrill": []}
        work: dict[str, Callable[[], Awaitable[float]]] = {
            "bare": lambda: bare_rate(bare_url, readers, rate, seconds),
            "jsonrill": lambda: our_rate(our_url, readers, rate, seconds),
        }
        for _ in range(rounds):
            for name, measure in work.items():
                rates[name].append(await measure())
    finally:
        for process in (ours, theirs):
            process.kill()
            process.wait()
    return rates


def versions() -> dict[str, str]:
    return {name: version(name) for name in ("uvicorn", "starlette", "uvloop", "httptools")}


def report(options: argparse.Namespace, by_name: dict[str, list[float]]) -> None:
    used = ", ".join(f"{name} {number}" for name, number in versions().items())
    print(f"Python {platform.python_version()}, {used}")
    offered = options.readers * options.rate
    print(f"{options.readers} readers, {offered:.0f} events/s offered, best of {options.rounds}")
    for name, rates in by_name.items():
        print(f"  {name:10} {max(rates):8.0f} events/s   all: {[round(rate) for rate in rates]}")
    print(f"  jsonrill / bare = {max(by_name['jsonrill']) / max(by_name['bare']):.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--readers", type=int, default=300)
    parser.add_argument("--rate", type=float, default=50.0, help="events a second per reader")
    parser.add_argument("--seconds", type=float, default=4.0)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--bare", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if not options.bare:
        wanted = (options.readers, options.rate, options.seconds, options.rounds)
        report(options, asyncio.run(compare(*wanted)))
        return
    import uvicorn

    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen(1024)
    print(f"http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
    server = uvicorn.Server(uvicorn.Config(bare, log_level="critical", lifespan="off"))
    asyncio.run(server.serve(sockets=[listener]))


if __name__ == "__main__":
    main()
