"""Readers that are slow, stalled or gone: they are dropped or wait, and nobody else notices."""

from __future__ import annotations

import asyncio
import json
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import httpx2

from jsonrill_server import Config
from jsonrill_server.run import listening_socket
from support import SLACK, hard
from support.processes import Events, Server

PLAIN = {"content-type": "text/plain"}
RECORD = '"' + "x" * 4000 + '",'


def memory_of(server: Server) -> int:
    assert server.process is not None
    text = Path(f"/proc/{server.process.pid}/status").read_text()
    return int(text.split("VmRSS:")[1].split()[0]) * 1024


def metric(server: Server, name: str) -> float:
    text = httpx2.get(f"{server.url}/metrics", trust_env=False).text
    lines = [line for line in text.splitlines() if line.startswith(f"jsonrill_{name} ")]
    return float(lines[0].split()[1])


async def make(http: httpx2.AsyncClient) -> str:
    stream = str((await http.post("/v1/streams", json={})).json()["id"])
    await http.post(f"/v1/streams/{stream}/events", content="[", headers=PLAIN)
    return stream


async def fill(http: httpx2.AsyncClient, stream: str, records: int) -> None:
    for _ in range(records // 20):
        lines = "".join(json.dumps(RECORD) + "\n" for _ in range(20))
        headers = {"content-type": "application/x-ndjson"}
        answer = await http.post(f"/v1/streams/{stream}/events", content=lines, headers=headers)
        assert answer.status_code == 200, answer.text


async def until(server: Server, name: str, value: float, seconds: float) -> float:
    begun = time.monotonic()
    while await asyncio.to_thread(metric, server, name) != value:
        assert time.monotonic() - begun < seconds * SLACK, f"{name} is not {value}"
        await asyncio.sleep(0.1)
    return time.monotonic() - begun


@hard
def test_stalled_readers_are_cut_off_and_cost_little(tmp_path: Path) -> None:
    async def main(server: Server) -> None:
        async with httpx2.AsyncClient(base_url=server.url, timeout=60, trust_env=False) as http:
            stream, other = await make(http), await make(http)
            url = f"{server.url}/v1/streams/{stream}/events?format=text"
            stalled = [await Events(url, buffer=4096).__aenter__() for _ in range(20)]
            await until(server, "readers", 20, 5)
            before = memory_of(server)
            await fill(http, stream, 2400)  # 10 MB, and none of them reads it
            # Meanwhile another stream is as quick as ever.
            slowest = 0.0
            async with Events(f"{server.url}/v1/streams/{other}/events?format=text") as events:
                coming = aiter(events)
                await anext(coming)
                for _ in range(50):
                    begun = time.monotonic()
                    path = f"/v1/streams/{other}/events"
                    await http.post(path, content="1,", headers=PLAIN)
                    await anext(coming)
                    slowest = max(slowest, time.monotonic() - begun)
            assert slowest < 1.0 * SLACK
            # The log itself is 10 MB; twenty copies of it would be 200.
            assert memory_of(server) - before < 80 << 20
            await until(server, "readers", 0, 10)
            assert metric(server, "readers_cut_total") == 20
            for events in stalled:
                await events.__aexit__()

    with Server(tmp_path, send_timeout=2, heartbeat=1) as server:
        asyncio.run(main(server))


async def _count(events: Events) -> int:
    return len([event async for event in events])


@hard
def test_a_slow_reader_gets_everything(tmp_path: Path) -> None:
    async def main(server: Server) -> None:
        async with httpx2.AsyncClient(base_url=server.url, timeout=60, trust_env=False) as http:
            stream = await make(http)
            url = f"{server.url}/v1/streams/{stream}/events?format=text"
            async with Events(url, buffer=1 << 18) as events, Events(url) as others:
                coming = aiter(events)
                first = await anext(coming)
                quick = asyncio.create_task(_count(others))
                await fill(http, stream, 3900)  # more than the buffers of the connection hold
                await http.post(f"/v1/streams/{stream}/close")
                assert await quick == 3902
                received = [first]
                async for event in coming:
                    received.append(event)
                    if len(received) % 100 == 0:
                        await asyncio.sleep(0.02)
            texts = [json.loads(event.data) for event in received[:-1]]
            assert texts == ["[", *[RECORD] * 3900]
            # It lost its place; a second time if it came back to the others and fell behind again.
            await until(server, "readers", 0, 5)
            assert 1 <= metric(server, "replays_total") <= 2

    with Server(tmp_path) as server:
        asyncio.run(main(server))


def test_readers_that_leave_are_forgotten_and_the_stream_goes_on(tmp_path: Path) -> None:
    async def main(server: Server) -> None:
        async with httpx2.AsyncClient(base_url=server.url, timeout=60, trust_env=False) as http:
            stream = await make(http)
            url = f"{server.url}/v1/streams/{stream}/events"
            for _ in range(30):
                events = await Events(url).__aenter__()
                await events.__aexit__()
            assert await until(server, "readers", 0, 5) < 3
            assert not (await http.get(f"/v1/streams/{stream}")).json()["closed"]
            await fill(http, stream, 20)

    with Server(tmp_path) as server:
        asyncio.run(main(server))


@hard
def test_a_head_that_never_ends_is_not_waited_for(tmp_path: Path) -> None:
    beginning = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n"
    with Server(tmp_path, head_timeout=0.5) as server:
        address = server.url.removeprefix("http://").split(":")
        for before in (b"", b"GET", beginning, beginning + b"\r\n" + beginning):
            with socket.create_connection((address[0], int(address[1])), timeout=60) as client:
                client.sendall(before)
                answer = b"".join(iter(lambda: client.recv(4096), b""))
                assert answer.count(b"HTTP/1.1 ") == before.count(b"\r\n\r\n")
        with socket.create_connection((address[0], int(address[1])), timeout=60) as client:
            client.sendall(beginning + b"X-Long: " + b"x" * 200_000)
            assert client.recv(4096).startswith(b"HTTP/1.1 400 ")
        # Who reads, and who is slow with a body, has all the time in the world.
        with httpx2.Client(base_url=server.url, timeout=60, trust_env=False) as http:
            stream = http.post("/v1/streams", json={}).json()["id"]

            def slowly() -> Iterator[bytes]:
                yield b"[1"
                time.sleep(1)
                yield b",2]"

            posted = http.post(f"/v1/streams/{stream}/events", content=slowly(), headers=PLAIN)
            assert posted.status_code == 200
            http.post(f"/v1/streams/{stream}/close")
            assert http.get(f"/v1/streams/{stream}/value").json()["value"] == [1, 2]


def test_the_kernel_watches_over_clients_that_vanish() -> None:
    """Half-open connections cannot be made on loopback; what ends them can be looked at."""
    listener = listening_socket(Config(port=0, tcp_user_timeout=7))
    with listener, socket.create_connection(listener.getsockname()[:2]):
        accepted, _ = listener.accept()
        with accepted:
            timeout = accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT)
    assert timeout == 7000


def test_a_shutdown_lets_readers_go_without_an_end(tmp_path: Path) -> None:
    """They are to resume elsewhere: no CLOSE, and no ERROR."""

    async def main(server: Server) -> None:
        async with httpx2.AsyncClient(base_url=server.url, timeout=60, trust_env=False) as http:
            stream = await make(http)
            url = f"{server.url}/v1/streams/{stream}/events?format=text"
            async with asyncio.timeout(10 * SLACK), Events(url) as events:
                coming = aiter(events)
                assert json.loads((await anext(coming)).data) == "["
                begun = time.monotonic()
                ending = asyncio.create_task(asyncio.to_thread(server.end))
                assert [event async for event in coming] == []
                await ending
                assert time.monotonic() - begun < 5 * SLACK

    with Server(tmp_path, store=f"sqlite:///{tmp_path}/log.db") as server:
        asyncio.run(main(server))
        assert "Traceback" not in server.log()
