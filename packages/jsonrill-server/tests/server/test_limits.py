"""Limits of connections: descriptors do not run out, and a full server says that it is alive."""

from __future__ import annotations

import asyncio
import os
import socket
import time
from collections.abc import Iterator
from contextlib import AsyncExitStack, ExitStack, contextmanager
from pathlib import Path

import httpx2
import pytest

from support import SLACK, few, hard
from support.processes import SERVE, Events, Server

PLAIN = {"content-type": "text/plain"}


def limited(soft: int, hard: int) -> tuple[str, str]:
    """`jsonrill` in a process that may open so many files."""
    limits = f"import resource as r; r.setrlimit(r.RLIMIT_NOFILE, ({soft}, {hard}))"
    return "-c", f"{limits}; {SERVE[1]}"


def processor_seconds(server: Server) -> float:
    assert server.process is not None
    stat = Path(f"/proc/{server.process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(stat[11]) + int(stat[12])) / os.sysconf("SC_CLK_TCK")


def assert_quiet(server: Server) -> None:
    """It neither spins nor fills the log."""
    before, log = processor_seconds(server), len(server.log())
    time.sleep(1)
    assert processor_seconds(server) - before < 0.5 and len(server.log()) - log < 100_000


def raw(server: Server, data: bytes = b"") -> socket.socket:
    address = server.url.removeprefix("http://").split(":")
    link = socket.create_connection((address[0], int(address[1])), timeout=60)
    link.sendall(data)
    return link


def receive(link: socket.socket, text: bytes) -> None:
    """Wait for this text."""
    link.settimeout(20 * SLACK)
    received = b""
    while text not in received:
        received += (data := link.recv(4096))
        assert data, received


def status_of(server: Server, path: str) -> int:
    return httpx2.get(f"{server.url}{path}", trust_env=False, timeout=20 * SLACK).status_code


def test_readers_are_refused_before_descriptors_run_out(tmp_path: Path) -> None:
    settings = {"readers": 2000, "readers_per_stream": 2000, "program": limited(300, 300)}
    with Server(tmp_path, **settings) as server:
        assert "readers is 2000, but the limit of open files allows 225" in server.log()

        async def main() -> list[int]:
            statuses = []
            async with (
                httpx2.AsyncClient(base_url=server.url, trust_env=False) as http,
                AsyncExitStack() as stack,
            ):
                stream = (await http.post("/v1/streams", json={})).json()["id"]
                for _ in range(240):
                    reader = Events(f"{server.url}/v1/streams/{stream}/events")
                    statuses.append((await stack.enter_async_context(reader)).status)
                path = f"/v1/streams/{stream}/events"
                answer = await http.post(path, content="1", headers=PLAIN)
                assert answer.status_code == 200
                assert status_of(server, "/livez") == 200
                await asyncio.to_thread(assert_quiet, server)
            return statuses

        assert asyncio.run(main()) == [200] * 225 + [429] * 15


@hard
def test_connections_that_are_too_many_are_closed_and_cost_nothing(tmp_path: Path) -> None:
    with Server(tmp_path, program=limited(300, 300)) as server, ExitStack() as stack:
        for _ in range(400):
            stack.enter_context(raw(server))
        assert_quiet(server)
        stack.close()
        assert status_of(server, "/livez") == 200


def test_the_limit_of_open_files_is_raised_where_that_is_allowed(tmp_path: Path) -> None:
    with Server(tmp_path, readers=400, program=limited(128, 4096)) as server:
        assert "limit of open files" not in server.log()
        assert server.process is not None
        limits = Path(f"/proc/{server.process.pid}/limits").read_text()
        [line] = [line for line in limits.splitlines() if line.startswith("Max open files")]
        assert int(line.split()[3]) > 600


def wait_for_room(server: Server) -> None:
    while status_of(server, "/readyz") != 200:
        time.sleep(0.1)  # connections of another test are being closed


@contextmanager
def full(server: Server, beginning: bytes) -> Iterator[list[socket.socket]]:
    """As many connections as the server has, each of which has sent this."""
    wait_for_room(server)
    with ExitStack() as stack:
        yield [stack.enter_context(raw(server, beginning)) for _ in range(5)]


UNFINISHED = b"GET / HTTP/1.1\r\nHost: localhost\r\n"
SLOW_BODY = (
    b"POST /v1/streams HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    b"Content-Length: 1000\r\n\r\n{"
)


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("small")
    with Server(folder, concurrency=5, tokens="anne:0123456789abcdef") as server:
        yield server


@few(1)
@pytest.mark.parametrize("beginning", [b"", UNFINISHED, SLOW_BODY])
def test_a_full_server_is_alive(small: Server, beginning: bytes) -> None:
    # Of slow bodies the last ones were refused, and closed; all of them, if we are slow as well.
    until, ready = time.monotonic() + 20 * SLACK, 200
    while ready == 200:
        assert time.monotonic() < until
        with full(small, beginning), raw(small), raw(small), raw(small):
            ready = status_of(small, "/readyz")
            assert status_of(small, "/livez") == status_of(small, "/livez?x=1") == 200
    assert ready == 503


def test_a_body_that_goes_on_after_its_answer_does_not_keep_the_connection(small: Server) -> None:
    wait_for_room(small)
    with raw(small, SLOW_BODY) as link:
        receive(link, b"401 Unauthorized")
        link.settimeout(0.5)
        begun, is_open = time.monotonic(), True
        while is_open:
            assert time.monotonic() - begun < 8 * SLACK
            try:
                link.sendall(b" ")
                is_open = link.recv(4096) != b""
            except TimeoutError:
                continue  # nothing came, and it is open
            except OSError:
                is_open = False


def test_a_body_that_is_complete_soon_keeps_the_connection(small: Server) -> None:
    wait_for_room(small)
    with raw(small, SLOW_BODY) as link:
        receive(link, b"401 Unauthorized")
        link.sendall(b" " * 999)
        link.sendall(b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n")
        receive(link, b"200 OK")
