"""How late events arrive under load: this server, a bare ASGI loop and sse-starlette in one run.

The same readers over loopback, the same bytes per event and as many events offered to each. Every
event carries the time at which it was made; a reader looks at the last one of what it receives.
Memory is what the server's process gains for each reader. Run:

    python bench/bench_load.py --readers 300 --rate 200
"""

from __future__ import annotations

import argparse
import asyncio
import json
import socket
import sys
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench.bench_server import start, versions

STREAMS = 3
PADDING = "x" * 40


def event_text() -> str:
    return f"@{time.monotonic():.6f}@{PADDING}"


async def bare(scope: Any, receive: Any, send: Any) -> None:
    """A timer and `send`, nothing else."""
    if scope["type"] != "http":
        return
    headers = [(b"content-type", b"text/event-stream")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    async for text in paced(_rate_of(scope)):
        block = f"id: 1000\ndata: {json.dumps(text)}\n\n".encode()
        await send({"type": "http.response.body", "body": block, "more_body": True})


async def sse_starlette(scope: Any, receive: Any, send: Any) -> None:
    from sse_starlette import EventSourceResponse

    async def events() -> AsyncIterator[dict[str, str]]:
        async for text in paced(_rate_of(scope)):
            yield {"id": "1000", "data": json.dumps(text)}

    if scope["type"] == "http":
        await EventSourceResponse(events())(scope, receive, send)


def _rate_of(scope: Any) -> float:
    return float(scope["query_string"].split(b"=")[1])


async def paced(rate: float) -> AsyncIterator[str]:
    """A text at a steady rate; one that is late has the time at which it was due."""
    loop = asyncio.get_running_loop()
    due = loop.time()
    while True:
        due += 1 / rate
        await asyncio.sleep(max(0.0, due - loop.time()))
        yield f"@{due:.6f}@{PADDING}"


class Reader(asyncio.Protocol):
    """Counts events and notes how late the last of each piece is, with as little work as can be."""

    events = 0
    late: list[float] = []

    def __init__(self, request: bytes) -> None:
        self._request = request

    def connection_made(self, transport: Any) -> None:
        transport.write(self._request)

    def data_received(self, data: bytes) -> None:
        Reader.events += data.count(b"\ndata: ")
        *_, stamp, _ = (b"", b"", *data.rsplit(b"@", 2))
        if len(stamp) > 6 and stamp.replace(b".", b"").isdigit():
            Reader.late.append(time.monotonic() - float(stamp))


class Figures(NamedTuple):
    """Events a second, seconds of delay, bytes of memory for each reader."""

    rate: float
    p50: float
    p99: float
    memory: float

    def __str__(self) -> str:
        return (
            f"{self.rate:8.0f} events/s   p50 {self.p50 * 1000:7.1f} ms   p99"
            f" {self.p99 * 1000:7.1f} ms   {self.memory / 1024:6.0f} KiB a reader"
        )


async def connect(url: str, path: str, count: int) -> list[asyncio.Transport]:
    host, port = url.removeprefix("http://").split(":")
    request = f"GET {path} HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n".encode()
    loop = asyncio.get_running_loop()
    return [
        (await loop.create_connection(lambda: Reader(request), host, int(port)))[0]
        for _ in range(count)
    ]


def memory_of(process: int) -> int:
    text = Path(f"/proc/{process}/status").read_text()
    return int(text.split("VmRSS:")[1].split()[0]) * 1024


async def measured(
    process: int, connecting: Callable[[], Any], readers: int, seconds: float
) -> Figures:
    """The figures of one server: connect, wait a second, then measure."""
    before = memory_of(process)
    links = await connecting()
    await asyncio.sleep(1.0)
    Reader.late.clear()
    events, begun = Reader.events, time.monotonic()
    await asyncio.sleep(seconds)
    rate = (Reader.events - events) / (time.monotonic() - begun)
    memory = (memory_of(process) - before) / readers
    late = sorted(Reader.late)
    for link in links:
        link.abort()
    if not late:
        raise RuntimeError("no event arrived")
    return Figures(rate, late[len(late) // 2], late[len(late) * 99 // 100], memory)


async def ours(url: str, process: int, options: argparse.Namespace) -> Figures:
    import httpx2

    publishing: list[asyncio.Task[None]] = []
    async with httpx2.AsyncClient(base_url=url, trust_env=False, timeout=30) as http:

        async def connecting() -> list[asyncio.Transport]:
            links: list[asyncio.Transport] = []
            for _ in range(STREAMS):
                path = (await http.post("/v1/streams")).json()["urls"]["stream"]
                query = f"{path}/events?format=chunks"
                links += await connect(url, query, options.readers // STREAMS)
                publishing.append(asyncio.create_task(_publish(http, path, options.rate)))
            return links

        try:
            return await measured(process, connecting, options.readers, options.seconds)
        finally:
            for task in publishing:
                task.cancel()
            await asyncio.gather(*publishing, return_exceptions=True)


async def _publish(http: Any, path: str, rate: float) -> None:
    async def body() -> AsyncIterator[bytes]:
        yield b'"["\n'
        async for text in paced(rate):
            yield json.dumps(json.dumps(text) + ",").encode() + b"\n"

    await http.post(
        f"{path}/chunks", content=body(), headers={"content-type": "application/x-ndjson"}
    )


async def compare(options: argparse.Namespace) -> dict[str, Figures]:
    found: dict[str, Figures] = {}
    for name in ("jsonrill", "bare", "sse-starlette"):
        serve = ("-m", "jsonrill", "serve", "--port", "0", "--no-access-log")
        process, url = start(*(serve if name == "jsonrill" else (__file__, "--serve", name)))
        try:
            if name == "jsonrill":
                found[name] = await ours(url, process.pid, options)
            else:
                path = f"/?rate={options.rate}"
                found[name] = await measured(
                    process.pid,
                    lambda url=url, path=path: connect(url, path, options.readers),  # type: ignore[misc]
                    options.readers,
                    options.seconds,
                )
        finally:
            process.kill()
            process.wait()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--readers", type=int, default=300)
    parser.add_argument("--rate", type=float, default=200.0, help="events a second per reader")
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--serve", default="", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if not options.serve:
        print(f"{options.readers} readers, {options.readers * options.rate:.0f} events/s offered")
        print(", ".join(f"{name} {number}" for name, number in versions().items()))
        for name, figures in asyncio.run(compare(options)).items():
            print(f"  {name:14} {figures}")
        return
    import uvicorn

    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen(1024)
    print(f"http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
    app = bare if options.serve == "bare" else sse_starlette
    server = uvicorn.Server(uvicorn.Config(app, log_level="critical", lifespan="off"))
    asyncio.run(server.serve(sockets=[listener]))


if __name__ == "__main__":
    main()
