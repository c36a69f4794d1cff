"""The scripted upstream sends exactly its script: bytes, pauses, cuts, status and headers."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest

from jsonrill.testing import Cut, Script, Step, Token, Upstream
from support import SLACK


@contextmanager
def asked(script: Script) -> Iterator[tuple[socket.socket, Upstream]]:
    """A raw connection on which a request was sent."""
    with Upstream(script) as upstream:
        address = urlsplit(upstream.url)
        with socket.create_connection((address.hostname, address.port), 5) as link:
            link.sendall(
                b"POST /a?b HTTP/1.1\r\nHost: x\r\nX-Name: One\r\nContent-Length: 2\r\n\r\n{}"
            )
            yield link, upstream


def all_of(link: socket.socket) -> bytes:
    data = b""
    while piece := link.recv(65536):
        data += piece
    return data


@pytest.mark.parametrize(
    "framing, body",
    [("chunked", b"3\r\nabc\r\n1\r\nd\r\n"), ("length", b"abcd"), ("close", b"abcd")],
)
def test_the_bytes_are_those_of_the_script(framing: Any, body: bytes) -> None:
    script = Script([b"abc", b"", b"d", Cut.CLOSE], 418, {"X-Odd": "CaSe", "a": "b"}, framing)
    with asked(script) as (link, upstream):
        head, _, rest = all_of(link).partition(b"\r\n\r\n")
        assert rest == body and upstream.exchanges[0].sent == 4
    lines = head.split(b"\r\n")
    assert lines[0].startswith(b"HTTP/1.1 418") and b"x-odd: CaSe" in lines and b"a: b" in lines
    assert (b"content-length: 4" in lines) == (framing == "length")


def test_a_raw_script_is_the_whole_response() -> None:
    with asked(Script([b"HTTP/1.0 200 OK\r\n\r\nhi"], framing="raw")) as (link, _):
        assert all_of(link) == b"HTTP/1.0 200 OK\r\n\r\nhi"


def test_the_request_is_recorded() -> None:
    with asked(Script([b"x", Cut.CLOSE])) as (link, upstream):
        all_of(link)
        [exchange] = upstream.exchanges
        assert (exchange.method, exchange.target, exchange.json) == ("POST", "/a?b", {})
        assert exchange.headers["x-name"] == "One" and exchange.body == b"{}"
        assert exchange.ended.wait(60) and not exchange.left.is_set()


@pytest.mark.parametrize(
    "cut, error", [(Cut.RESET, httpx2.ReadError), (Cut.CLOSE, httpx2.RemoteProtocolError)]
)
def test_a_cut_is_an_error_of_the_client(cut: Cut, error: type[Exception]) -> None:
    with Upstream(Script([b"abc", 0.05, cut])) as upstream:
        with pytest.raises(error), httpx2.stream("POST", upstream.url, trust_env=False) as got:
            pieces = got.iter_bytes()
            assert next(pieces) == b"abc"
            next(pieces)


def test_a_body_may_be_shorter_than_its_length() -> None:
    with Upstream(Script([b"abc"], 200, {"content-length": "9"}, "length")) as upstream:
        with pytest.raises(httpx2.RemoteProtocolError):
            httpx2.post(upstream.url, trust_env=False)


def test_half_closed_the_connection_stays_until_the_client_leaves() -> None:
    with asked(Script([b"abc", Cut.HALF], framing="close")) as (link, upstream):
        assert all_of(link).endswith(b"abc")
        [exchange] = upstream.exchanges
        assert not exchange.ended.wait(0.1)
        link.close()
        assert exchange.ended.wait(60) and exchange.left.is_set()


def test_a_pause_lasts_and_ends_when_the_client_leaves() -> None:
    with asked(Script([b"a", 0.1, b"b", 600.0, b"c"], framing="close")) as (link, upstream):
        begun = time.monotonic()
        while not link.recv(1000).endswith(b"b"):
            pass
        assert time.monotonic() - begun >= 0.09
        link.close()
        [exchange] = upstream.exchanges
        assert exchange.left.wait(60) and exchange.sent == 2


def test_a_step_may_wait_for_the_test() -> None:
    gate = threading.Event()
    steps: list[Step] = [Token(b"a"), gate, Token(b"b")]
    with asked(Script(steps, framing="close")) as (link, upstream):
        while not link.recv(1000).endswith(b"a"):
            pass
        assert upstream.tokens == 1
        gate.set()
        assert all_of(link) == b"b" and upstream.tokens == 2


def test_leaving_the_block_ends_what_is_being_sent() -> None:
    with asked(Script([b"a", float("inf")])) as (link, _):
        link.recv(1)
        begun = time.monotonic()
    assert time.monotonic() - begun < 5 * SLACK


def test_a_client_that_does_not_read_holds_nobody_up() -> None:
    begun = time.monotonic()
    with asked(Script([b"x" * 50_000_000])) as (_, upstream):
        assert not upstream.exchanges or not upstream.exchanges[0].ended.wait(0.2)
    assert time.monotonic() - begun < 5 * SLACK


def test_connections_are_kept() -> None:
    with Upstream(Script([b"ab"])) as upstream, httpx2.Client(trust_env=False) as client:
        for framing in range(3):
            assert client.get(f"{upstream.url}/{framing}").content == b"ab"
        ports = {exchange.target for exchange in upstream.exchanges}
    assert ports == {"/0", "/1", "/2"}


def test_many_clients_are_answered_at_once() -> None:
    """None has its answer before the last of them has asked."""
    gate = threading.Event()
    with Upstream(Script([b"a", gate, b"b"], framing="close")) as upstream, ExitStack() as stack:
        address = urlsplit(upstream.url)
        links = []
        for _ in range(50):
            link = socket.create_connection((address.hostname, address.port), 60)
            links.append(stack.enter_context(link))
            link.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        until = time.monotonic() + 60
        while len(upstream.exchanges) < 50 and time.monotonic() < until:
            time.sleep(0.01)
        assert len(upstream.exchanges) == 50 and not any(
            it.ended.is_set() for it in upstream.exchanges
        )
        gate.set()
        assert all(all_of(link).endswith(b"ab") for link in links)
