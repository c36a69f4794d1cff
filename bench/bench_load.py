"""How late events arrive under load: this server, bare ASGI loops and sse-starlette in one run.

A bare loop has a timer for each reader, so its events are spread over time; `fan-out` is one that
sends an event to all readers of a stream at the same moment, as a server of streams has to.

The same readers over loopback, the same bytes per event and as many events offered to each. Every
event carries the time at which it was made; a reader looks at the last one of what it receives.
Memory is what the server's process gains for each reader. Run:

    python bench/bench_load.py --readers 300 --rate 200
    python bench/bench_load.py --sweep      # 1, 30, 300 and 3 000 readers, streams, the relay

The relay's delay is what it adds to an upstream that stamps each event, beside the upstream itself.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
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
MANY_READERS = ("--readers", "10000", "--readers-per-stream", "10000")
PADDING = "x" * 40
SWEEP = (1, 30, 300, 3000)
RELAY_RATE, RELAY_READERS = 20.0, 5


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


class Broadcast:
    """One source for the readers of a stream: a timer, and a text that all of them send."""

    def __init__(self, rate: float) -> None:
        self.block = b""
        self.changed = asyncio.Event()
        self.task = asyncio.create_task(self._run(rate))

    async def _run(self, rate: float) -> None:
        async for text in paced(rate):
            self.block = f"id: 1000\ndata: {json.dumps(text)}\n\n".encode()
            self.changed.set()
            self.changed.clear()


_broadcasts: list[Broadcast] = []
_joined = itertools.count()


async def fan_out(scope: Any, receive: Any, send: Any) -> None:
    """A bare loop in which the readers of a stream are sent each event at the same moment."""
    if scope["type"] != "http":
        return
    if not _broadcasts:
        _broadcasts.extend(Broadcast(_rate_of(scope)) for _ in range(STREAMS))
    broadcast = _broadcasts[next(_joined) % STREAMS]
    headers = [(b"content-type", b"text/event-stream")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    while await broadcast.changed.wait():
        await send({"type": "http.response.body", "body": broadcast.block, "more_body": True})


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
    refused = 0
    late: list[float] = []

    def __init__(self, request: bytes) -> None:
        self._request = request

    def connection_made(self, transport: Any) -> None:
        transport.write(self._request)

    def data_received(self, data: bytes) -> None:
        Reader.refused += data.startswith((b"HTTP/1.1 4", b"HTTP/1.1 5"))
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


async def connect(url: str, path: str, count: int, body: str = "") -> list[asyncio.Transport]:
    host, port = url.removeprefix("http://").split(":")
    head = f"{'POST' if body else 'GET'} {path} HTTP/1.1\r\nHost: {host}:{port}\r\n"
    if body:
        head += f"content-type: application/json\r\ncontent-length: {len(body)}\r\n"
    request = f"{head}\r\n{body}".encode()
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
    """The figures of one server: connect, wait for the first event and 3 seconds, then measure."""
    before = memory_of(process)
    Reader.late.clear()
    links = await connecting()
    waited = 0
    while not Reader.late and waited < 30:
        await asyncio.sleep(1.0)
        waited += 1
    await asyncio.sleep(3.0)
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
    if Reader.refused:
        raise RuntimeError(f"{Reader.refused} readers were refused")
    return Figures(rate, late[len(late) // 2], late[len(late) * 99 // 100], memory)


async def ours(url: str, process: int, options: argparse.Namespace) -> Figures:
    import httpx2

    publishing: list[asyncio.Task[None]] = []
    async with httpx2.AsyncClient(base_url=url, trust_env=False, timeout=30) as http:

        async def connecting() -> list[asyncio.Transport]:
            links: list[asyncio.Transport] = []
            streams = min(STREAMS, options.readers)
            for number in range(streams):
                path = (await http.post("/v1/streams")).json()["urls"]["stream"]
                query = f"{path}/events?format=chunks"
                share = options.readers // streams + (number < options.readers % streams)
                links += await connect(url, query, share)
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
    figures: dict[str, Figures] = {}
    for name in ("jsonrill", "bare", "fan-out", "sse-starlette"):
        serve = ("-m", "jsonrill", "serve", "--port", "0", "--no-access-log", *MANY_READERS)
        process, url = start(*(serve if name == "jsonrill" else (__file__, "--serve", name)))
        try:
            if name == "jsonrill":
                figures[name] = await ours(url, process.pid, options)
            else:
                path = f"/?rate={options.rate}"
                figures[name] = await measured(
                    process.pid,
                    lambda url=url, path=path: connect(url, path, options.readers),  # type: ignore[misc]
                    options.readers,
                    options.seconds,
                )
        finally:
            process.kill()
            process.wait()
    return figures


async def sweep(options: argparse.Namespace) -> dict[str, Any]:
    """The figures for few and many readers, as many events a second offered to all together."""
    results: dict[str, Any] = {"offered": options.offered, "readers": {}}
    for readers in SWEEP:
        rate = min(options.offered / readers, 200.0)
        chosen = argparse.Namespace(readers=readers, rate=rate, seconds=options.seconds)
        figures = await compare(chosen)
        results["readers"][str(readers)] = {name: one._asdict() for name, one in figures.items()}
    results["stream"] = await memory_of_a_stream()
    results["relay"] = await relayed(options.seconds)
    return results


async def memory_of_a_stream(count: int = 500) -> float:
    """Bytes that the server gains for each stream that has a text of 2 KB and no reader."""
    import httpx2

    serve = ("-m", "jsonrill", "serve", "--port", "0", "--no-access-log")
    process, url = start(*serve, "--owner-streams", "10000")
    try:
        async with httpx2.AsyncClient(base_url=url, trust_env=False, timeout=30) as http:
            await _make_streams(http, 20)
            before = memory_of(process.pid)
            await _make_streams(http, count)
            return (memory_of(process.pid) - before) / count
    finally:
        process.kill()
        process.wait()


async def _make_streams(http: Any, count: int) -> None:
    text = json.dumps(json.dumps("x" * 2000)) + "\n"
    for _ in range(count):
        path = (await http.post("/v1/streams")).json()["urls"]["stream"]
        headers = {"content-type": "application/x-ndjson"}
        (await http.post(f"{path}/chunks", content=text, headers=headers)).raise_for_status()


async def upstream(scope: Any, receive: Any, send: Any) -> None:
    """A provider that stamps each of its chunks."""
    if scope["type"] != "http":
        return
    headers = [(b"content-type", b"text/event-stream")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    async for text in paced(RELAY_RATE):
        choice = {"index": 0, "delta": {"content": text}, "finish_reason": None}
        chunk = {"id": "c", "object": "chat.completion.chunk", "choices": [choice]}
        block = f"data: {json.dumps(chunk)}\n\n".encode()
        await send({"type": "http.response.body", "body": block, "more_body": True})


async def relayed(seconds: float) -> dict[str, Any]:
    """How late a chunk arrives from an upstream, and through the relay."""
    provider, at = start(__file__, "--serve", "upstream")
    relay, url = start(
        *("-m", "jsonrill", "serve", "--port", "0", "--no-access-log", "--upstream", f"{at}/v1")
    )
    body = json.dumps(
        {"model": "m", "stream": True, "messages": [{"role": "user", "content": "a"}]}
    )
    try:
        late = {}
        for name, where, process in (("upstream", at, provider), ("relay", url, relay)):

            async def connecting(where: str = where) -> list[asyncio.Transport]:
                return await connect(where, "/v1/chat/completions", RELAY_READERS, body)

            figures = await measured(process.pid, connecting, RELAY_READERS, seconds)
            late[name] = figures._asdict()
        return late
    finally:
        for process in (provider, relay):
            process.kill()
            process.wait()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--readers", type=int, default=300)
    parser.add_argument("--rate", type=float, default=200.0, help="events a second per reader")
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--sweep", action="store_true", help="few and many readers, as JSON")
    parser.add_argument("--offered", type=float, default=15_000.0, help="events a second in all")
    parser.add_argument("--serve", default="", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.sweep:
        print(json.dumps(asyncio.run(sweep(options)), indent=1))
        return
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
    apps = {"bare": bare, "fan-out": fan_out, "sse-starlette": sse_starlette, "upstream": upstream}
    app = apps[options.serve]
    server = uvicorn.Server(uvicorn.Config(app, log_level="critical", lifespan="off"))
    asyncio.run(server.serve(sockets=[listener]))


if __name__ == "__main__":
    main()
