"""The server as a process: its command, its signals, its connections."""

from __future__ import annotations

import asyncio
import json
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
import pytest
import typer
from typer.testing import CliRunner

from jsonrill_server import cli, process
from support import SLACK
from support.processes import SERVE, Events, Server

PLAIN = {"content-type": "text/plain"}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    settings = {"head_timeout": 0.5, "send_timeout": 1.0, "heartbeat": 0.3}
    with Server(tmp_path_factory.mktemp("serve"), **settings) as running:
        yield running


@pytest.fixture
def http(server: Server) -> Iterator[httpx2.Client]:
    with httpx2.Client(base_url=server.url, trust_env=False, timeout=60) as client:
        yield client


def connect(server: Server) -> socket.socket:
    url = urlsplit(server.url)
    assert url.hostname and url.port
    return socket.create_connection((url.hostname, url.port), 10 * SLACK)


def serve(*flags: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *SERVE, "serve", *flags]
    return subprocess.run(command, capture_output=True, text=True, timeout=30 * SLACK)


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--port", "x"], "port"),
        (["--tokens", "short"], "fewer than 16 characters"),
        (["--nope"], "--nope"),
    ],
)
def test_a_wrong_setting_is_one_line_on_stderr(
    flags: list[str], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "serve", lambda settings: pytest.fail("the server starts"))
    commands = typer.Typer()
    cli.add(commands)
    done = CliRunner().invoke(commands, flags, prog_name="jsonrill")
    assert (done.exit_code, message in done.stderr) == (2, True), done.stderr
    assert done.stderr.count("\n") <= 2


@pytest.mark.parametrize(
    ("flags", "code", "message"),
    [
        (["--store", "nope:"], 2, "a store is memory:"),
        (["--host", "0.0.0.0"], 2, "JSONRILL_TOKENS"),
        (["--store", "redis://me:secret@127.0.0.1:1/0"], 1, "cannot be used"),
        (["--store", "sqlite:////nope/x.db"], 1, "cannot be used"),
    ],
)
def test_a_server_that_cannot_start_says_why_in_one_line(
    flags: list[str], code: int, message: str
) -> None:
    done = serve(*flags)
    assert (done.returncode, message in done.stderr) == (code, True), done.stderr
    assert done.stderr.count("\n") <= 2 and "secret" not in done.stderr
    assert "Traceback" not in done.stderr


def test_a_port_that_is_in_use_is_named(server: Server) -> None:
    done = serve("--port", server.url.rpartition(":")[2])
    assert done.returncode == 2 and "choose another with --port" in done.stderr


def test_help_lists_every_setting() -> None:
    from jsonrill_server import Settings

    done = serve("--help")
    assert done.returncode == 0
    for name in Settings.model_fields:
        assert f"--{name.replace('_', '-')}"[:18] in done.stdout


def test_a_slow_head_is_cut_off(server: Server) -> None:
    """Slowloris: sending a header now and then does not keep a connection open."""
    with connect(server) as link:
        link.sendall(b"GET /livez HTTP/1.1\r\n")
        start = time.monotonic()
        while time.monotonic() - start < 5 * SLACK:
            try:
                link.sendall(b"x-a: b\r\n")
                link.settimeout(0.1)
                if link.recv(100) == b"":
                    break
            except TimeoutError:
                continue
            except OSError:
                break
        else:
            pytest.fail("the connection is still open")


def test_a_large_head_is_refused(server: Server) -> None:
    with connect(server) as link:
        link.sendall(b"GET /livez HTTP/1.1\r\nhost: localhost\r\n")
        try:
            for _ in range(2000):
                link.sendall(b"x-a: " + b"b" * 1000 + b"\r\n")
            answer = link.recv(100)
        except OSError:
            answer = b""
    assert answer in (b"",) or b" 400 " in answer


def test_a_stalled_reader_is_cut_off_and_nothing_is_logged(
    server: Server, http: httpx2.Client
) -> None:
    urls = http.post("/v1/streams").json()["urls"]
    body = json.dumps("x" * 100_000) + "\n"
    for _ in range(10):
        headers = {"content-type": "application/x-ndjson"}
        http.post(urls["events"], content=body * 8, headers=headers)

    async def stall() -> None:
        url = f"{server.url}{urls['events']}?format=text"
        async with Events(url, buffer=4096) as stalled:
            assert stalled.status == 200
            await until_readers(http, 1)
            await until_readers(http, 0)

    asyncio.run(stall())
    assert "ERROR" not in server.log()


async def until_readers(http: httpx2.Client, count: int) -> None:
    async with asyncio.timeout(10 * SLACK):
        while True:
            text = await asyncio.to_thread(lambda: http.get("/metrics").text)
            if f"jsonrill_readers {count}.0" in text:
                return
            await asyncio.sleep(0.05)


def test_a_large_body_does_not_hold_up_others(server: Server, http: httpx2.Client) -> None:
    """Many requests are answered while a body of 8 MB of lines is read, and its value written."""
    urls = http.post("/v1/streams", json={"input": "snapshots"}).json()["urls"]
    lines = "".join(json.dumps([{"n": at} for at in range(600)]) + "\n" for _ in range(1000))

    async def work() -> int:
        async with httpx2.AsyncClient(base_url=server.url, trust_env=False, timeout=60) as other:
            headers = {"content-type": "application/x-ndjson"}
            posting = asyncio.create_task(
                other.post(urls["events"], content=lines, headers=headers)
            )
            answered = 0
            while not posting.done():
                assert (await other.get("/livez")).status_code == 200
                answered += 1
            assert posting.result().status_code == 200, posting.result().text
            return answered

    assert asyncio.run(work()) > 5


def test_a_server_that_gets_a_stop_signal_lets_readers_resume(tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path}/x.db"

    async def read(server: Server, url: str) -> list[str]:
        ids = []
        async with Events(f"{server.url}{url}?format=text") as events:
            async for event in events:
                ids.append(event.id)
                server.send(signal.SIGTERM)
        return ids

    with Server(tmp_path, store=store) as server:
        with httpx2.Client(base_url=server.url, trust_env=False) as http:
            urls = http.post("/v1/streams").json()["urls"]
            http.post(urls["events"], content="[1,", headers=PLAIN)
        ids = asyncio.run(read(server, urls["events"]))
        assert server.end() == 0
        assert len(ids) == 1
        server.start()
        with httpx2.Client(base_url=server.url, trust_env=False) as http:
            http.post(urls["events"], content="2]", headers=PLAIN)
            http.post(urls["close"])
            rest = http.get(f"{urls['events']}?format=text", headers={"last-event-id": ids[-1]})
            assert 'data: "2]"' in rest.text and "CLOSE" in rest.text
