"""The application inside another one, and the event stream response in a route of one's own."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Iterator
from typing import Any, ClassVar

import httpx2
import pytest
from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route

from jsonrill import updates
from jsonrill.eventstream import SSEDecoder
from jsonrill_server import Config, EventStreamResponse, Runs, create_app
from jsonrill_server.event_stream_response import ByteStreamResponse
from jsonrill_server.problems import problem_of
from jsonrill_server.runs import render
from jsonrill_server.runs.options import StreamOptions, ViewOptions
from jsonrill_server.store import StoreFull
from support import SLACK


def run_app(app: Any, work: Any) -> Any:
    async def main() -> Any:
        transport = httpx2.ASGITransport(app=app)
        async with asyncio.timeout(20 * SLACK):
            async with httpx2.AsyncClient(transport=transport, base_url="http://localhost") as http:
                return await work(http)

    return asyncio.run(main())


def test_mounted_it_works_without_its_lifespan() -> None:
    inner = create_app(Config(access_log=False))
    app = Starlette(routes=[Mount("/rill", inner)])

    async def work(http: httpx2.AsyncClient) -> None:
        stream = (await http.post("/rill/v1/streams", json={})).json()
        assert stream["urls"]["events"].startswith("/rill/v1/streams/")
        await http.post(
            stream["urls"]["events"], content="[1]", headers={"content-type": "text/plain"}
        )
        await http.post(stream["urls"]["close"])
        text = (await http.get(stream["urls"]["events"])).text
        events = SSEDecoder().feed(text)
        assert json.loads(events[0].data)["data"] == 1 and events[-1].type == "CLOSE"
        document = (await http.get("/rill/openapi.json")).json()
        assert document["servers"] == [{"url": "/rill"}]
        await inner.state.hub.close()

    run_app(app, work)


@pytest.fixture
def rendered(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The formats of the renderings that were made."""
    formats: list[str] = []
    make = render._rendering

    def counted(stream: StreamOptions, view: ViewOptions) -> render.Rendering:
        formats.append(view.format)
        return make(stream, view)

    monkeypatch.setattr(render, "_rendering", counted)
    return formats


def test_a_stream_is_created_without_a_rendering_and_read_with_one(rendered: list[str]) -> None:
    async def work(http: httpx2.AsyncClient) -> None:
        for wrong in ({"zero_values": True}, {"schemas": {"f": {"type": "no type"}}}):
            assert (await http.post("/v1/streams", json=wrong)).status_code == 422
        urls = (await http.post("/v1/streams", json={"schema": {"type": "array"}})).json()["urls"]
        plain = {"content-type": "text/plain"}
        await http.post(urls["events"], content="[1]", headers=plain)
        await http.post(urls["close"])
        assert not rendered
        for _ in range(3):
            assert "CLOSE" in (await http.get(urls["events"])).text
        assert rendered == ["updates"]

    run_app(create_app(Config(access_log=False)), work)


def test_a_run_is_started_without_a_rendering_and_read_with_one(rendered: list[str]) -> None:
    async def main() -> None:
        async with Runs("memory:") as runs:
            for wrong in ({"zero_values": True}, {"schemas": {"f": {"type": "no type"}}}):
                with pytest.raises(ValueError, match="zero_values|no type"):
                    await runs.start("wrong", ["[1]"], **wrong)  # type: ignore[arg-type]
            await runs.start("run", ["[1]"], schema={"type": "array"})
            assert not rendered
            both = [[event async for event in runs.read("run")] for _ in range(2)]
            assert both[0] and both[0] == both[1]
            assert rendered == ["raw"]

    asyncio.run(main())


def test_every_route_is_in_the_document() -> None:
    from jsonrill_server.app import ROUTES
    from jsonrill_server.http.openapi import document

    described = {
        (method.upper(), path)
        for path, methods in document()["paths"].items()
        for method in methods
        if method != "parameters"
    }
    routed = {
        (method, path.replace(":path}", "}"))
        for methods, path, _ in ROUTES
        for method in methods.split(",")
    }
    assert described == routed - {("GET", "/openapi.json")}


def test_a_route_of_ones_own() -> None:
    async def tokens() -> AsyncIterator[str]:
        for token in ('[{"a"', ':"b', '"}]'):
            yield token

    async def route(request: Request) -> Response:
        return EventStreamResponse(updates(tokens(), "REALTIME"))

    async def work(http: httpx2.AsyncClient) -> str:
        return (await http.get("/mine")).text

    text = run_app(Starlette(routes=[Route("/mine", route)]), work)
    events = SSEDecoder().feed(text)
    assert [json.loads(event.data)["data"] for event in events[:-1]] == [{"a": "b"}, {"a": "b"}]
    assert events[-1].type == "CLOSE"


class Client:
    """An ASGI server's side of one request, to leave or stall at will."""

    def __init__(self) -> None:
        self.sent: list[dict[str, Any]] = []
        self.left = asyncio.Event()
        self.stalled = False

    async def receive(self) -> dict[str, Any]:
        await self.left.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Any) -> None:
        self.sent.append(message)
        if self.stalled and message.get("body"):
            await asyncio.Event().wait()

    async def ask(self, response: ByteStreamResponse, method: str = "GET") -> None:
        async with asyncio.timeout(10 * SLACK):
            await response({"type": "http", "method": method}, self.receive, self.send)

    @property
    def body(self) -> bytes:
        return b"".join(message.get("body", b"") for message in self.sent)


class Source:
    def __init__(self, *items: Any, forever: bool = False) -> None:
        self.items = items
        self.forever = forever
        self.closed = 0

    async def __aiter__(self) -> AsyncIterator[Any]:
        for item in self.items:
            yield item
        if self.forever:
            await asyncio.Event().wait()

    async def aclose(self) -> None:
        self.closed += 1


def test_a_client_that_leaves_closes_the_source() -> None:
    async def main() -> None:
        client, source = Client(), Source(b"data: 1\n\n", forever=True)
        asking = asyncio.create_task(client.ask(EventStreamResponse(source)))
        await asyncio.sleep(0.05)
        client.left.set()
        await asking
        assert source.closed == 1
        assert client.body == b": open\ndata: 1\n\n"

    asyncio.run(main())


def test_one_that_left_before_the_first_byte_too() -> None:
    async def main() -> None:
        client, source = Client(), Source(forever=True)
        client.left.set()
        await client.ask(EventStreamResponse(source))
        assert source.closed == 1

    asyncio.run(main())


def test_a_source_without_a_pause_starves_nobody() -> None:
    async def main() -> None:
        class Endless:
            async def __aiter__(self) -> AsyncIterator[bytes]:
                while True:
                    yield b"data: 1\n\n"
                    await asyncio.sleep(0)

        client = Client()
        asking = asyncio.create_task(client.ask(EventStreamResponse(Endless())))
        await asyncio.sleep(0.05)
        client.left.set()
        await asking

    asyncio.run(main())


def test_a_stalled_client_is_cut_off() -> None:
    async def main() -> None:
        client, source = Client(), Source(b"data: 1\n\n", forever=True)
        client.stalled = True
        response = EventStreamResponse(source, send_timeout=0.2, heartbeat=10)
        await client.ask(response)
        assert response.cut and source.closed == 1

    asyncio.run(main())


def test_heartbeats_retry_and_lifetime() -> None:
    async def main() -> bytes:
        client = Client()
        source = Source(b"id: 1\ndata: 1\n\n", forever=True)
        response = EventStreamResponse(source, heartbeat=0.1, retry=500, max_seconds=0.5)
        await client.ask(response)
        return client.body

    body = asyncio.run(main())
    opening, retry, rest = body.split(b"\n", 2)
    assert opening == b": open" and rest.startswith(b"id: 1\ndata: 1\n\n: hb\n")
    # Give or take a quarter, so that not all come back at once.
    name, _, wait = retry.partition(b": ")
    assert name == b"retry" and 375 <= int(wait) <= 625
    assert b"CLOSE" not in body


def test_head_sends_headers_alone() -> None:
    async def main() -> None:
        client, source = Client(), Source(b"data: 1\n\n")
        await client.ask(EventStreamResponse(source), "HEAD")
        assert client.body == b"" and source.closed == 1

    asyncio.run(main())


def test_an_error_of_the_source_is_an_event_and_logged(caplog: pytest.LogCaptureFixture) -> None:
    class Bad:
        async def __aiter__(self) -> AsyncIterator[Any]:
            yield {"n": 1}
            raise ZeroDivisionError("secret")

    async def main() -> bytes:
        client = Client()
        await client.ask(EventStreamResponse(Bad()))
        return client.body

    body = asyncio.run(main())
    first, error, last = SSEDecoder().feed(body)
    assert json.loads(first.data) == {"n": 1} and last.type == "CLOSE"
    assert json.loads(error.data) == {
        "status": "ERROR",
        "error": {"code": "SOURCE_FAILED", "message": "the source failed"},
    }
    assert "secret" in caplog.text and b"secret" not in body


def test_bytes_that_fail_are_not_hidden_from_the_servers_own_routes() -> None:
    class Bad:
        async def __aiter__(self) -> AsyncIterator[bytes]:
            yield b"data: 1\n\n"
            raise ZeroDivisionError

    async def main() -> None:
        with pytest.raises(ZeroDivisionError):
            await Client().ask(ByteStreamResponse(Bad()))

    asyncio.run(main())


def test_status_headers_and_background_are_those_of_starlette() -> None:
    done: list[str] = []

    async def route(request: Request) -> Response:
        response = EventStreamResponse(
            updates(["[1]"]), 203, {"X-Kind": "a", "Cache-Control": "private"},
            background=BackgroundTask(done.append, "done"),
        )  # fmt: skip
        response.set_cookie("k", "v")
        return response

    async def work(http: httpx2.AsyncClient) -> httpx2.Response:
        return await http.get("/mine")

    got = run_app(Starlette(routes=[Route("/mine", route)]), work)
    assert got.status_code == 203 and got.headers["x-kind"] == "a"
    assert got.headers["cache-control"] == "private" and got.cookies["k"] == "v"
    assert got.headers["content-type"] == "text/event-stream; charset=utf-8"
    assert done == ["done"]


def test_a_source_that_blocks_is_read_in_threads_and_closed_when_the_client_leaves() -> None:
    seen: list[str] = []

    def blocking() -> Iterator[str]:
        try:
            for piece in ["[1, "] + ["2, "] * 1000:
                seen.append(piece)
                time.sleep(0.01)
                yield piece
        finally:
            seen.append("closed")

    async def main() -> None:
        client = Client()
        asking = asyncio.create_task(client.ask(EventStreamResponse(updates(blocking()))))
        while len(client.sent) < 4:
            await asyncio.sleep(0.01)
        client.left.set()
        await asking
        assert seen[-1] == "closed" and len(seen) < 500

    asyncio.run(main())


def test_a_source_that_was_never_read_is_closed_all_the_same() -> None:
    async def main() -> None:
        for source in (Closing(), updates(Closing.made(), every=1)):
            await Client().ask(EventStreamResponse(source), "HEAD")
        assert [one.closed for one in Closing.all] == [1, 1]

    asyncio.run(main())


class Closing:
    """Tokens that come slowly, and that count how often they are closed."""

    all: ClassVar[list[Closing]] = []

    def __init__(self) -> None:
        self.closed = 0
        self.all.append(self)

    @classmethod
    def made(cls) -> Closing:
        return cls()

    async def __aiter__(self) -> AsyncIterator[str]:
        await asyncio.sleep(60)
        yield "[]"

    async def aclose(self) -> None:
        self.closed += 1


@pytest.mark.parametrize(
    "bound, status",
    [
        *((bound, 413) for bound in ("stream_bytes", "stream_entries")),
        *((bound, 429) for bound in ("owner_streams", "memory", "disk")),
    ],
)
def test_a_store_that_is_full_is_not_a_request_that_is_too_large(bound: str, status: int) -> None:
    request = Request({"type": "http"})
    problem = problem_of(request, StoreFull(bound, "full"))
    assert problem is not None and problem.status == status
