"""Responses of runs in applications, over real connections."""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from types import ModuleType
from typing import Any

import django
import fastapi
import httpx2
import pytest
from django.conf import settings
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.routing import Route

from jsonrill.eventstream import SSEDecoder
from jsonrill_server import Runs
from support import SLACK
from support.apps import served
from support.processes import Events, all_events

PIECES = ['{"title"', ': "Hel', 'lo", "n": [1', ", 2]", "}"]
GATE: list[asyncio.Event] = []


async def model() -> AsyncIterator[str]:
    """Write half of a document, and wait for the gate before the rest."""
    for number, piece in enumerate(PIECES):
        if number == 3:
            await GATE[0].wait()
        yield piece


def with_starlette(runs: Runs) -> tuple[Any, str]:
    async def ask(request: Request) -> Any:
        await runs.start(request.path_params["key"], model)
        return await runs.response(request, request.path_params["key"])

    async def again(request: Request) -> Any:
        format: Any = request.query_params.get("format", "raw")
        return await runs.response(request, request.path_params["key"], format=format)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with runs:
            yield

    routes = [Route("/{key}", ask, methods=["POST"]), Route("/{key}", again)]
    return Starlette(routes=routes, lifespan=lifespan), "on"


def with_fastapi(runs: Runs) -> tuple[Any, str]:
    app = fastapi.FastAPI()

    async def ask(key: str, request: Request) -> Any:
        await runs.start(key, model)
        response = await runs.response(request, key)
        response.headers["x-own"] = "1"
        return response

    async def again(key: str, request: Request) -> Any:
        response = await runs.response(request, key)
        response.set_cookie("seen", "1")
        return response

    app.post("/{key}", response_model=None)(ask)
    app.get("/{key}", response_model=None)(again)
    return app, "off"


if not settings.configured:
    settings.configure(
        DEBUG=False, ALLOWED_HOSTS=["*"], ROOT_URLCONF="runs_django_urls", SECRET_KEY="x" * 20
    )
    django.setup()


def with_django(runs: Runs) -> tuple[Any, str]:
    from django.core.asgi import get_asgi_application
    from django.urls import clear_url_caches, path

    async def view(request: Any, key: str) -> Any:
        if request.method == "POST":
            await runs.start(key, model)
        return await runs.response(request, key)

    urls = ModuleType("runs_django_urls")
    urls.urlpatterns = [path("<str:key>", view)]  # type: ignore[attr-defined]
    sys.modules[urls.__name__] = urls
    clear_url_caches()
    return get_asgi_application(), "off"


APPS = {"starlette": with_starlette, "fastapi": with_fastapi, "django": with_django}


def run(name: str, work: Callable[[Runs, str], Awaitable[None]], **limits: Any) -> None:
    async def main() -> None:
        GATE[:] = [asyncio.Event()]
        runs = Runs(**limits)
        app, lifespan = APPS[name](runs)
        async with asyncio.timeout(10 * SLACK), served(app, lifespan=lifespan) as url:
            await work(runs, url)
            await runs.close()

    asyncio.run(main())


@pytest.mark.parametrize("name", [*APPS])
def test_a_reader_leaves_and_another_one_resumes(name: str) -> None:
    async def work(runs: Runs, url: str) -> None:
        async with httpx2.AsyncClient(trust_env=False) as http:
            async with http.stream("POST", f"{url}/k") as response:
                assert response.headers["content-type"].startswith("text/event-stream")
                assert response.headers["x-accel-buffering"] == "no"
                decoder, seen = SSEDecoder(), []
                async for chunk in response.aiter_bytes():
                    seen += decoder.feed(chunk)
                    if len(seen) >= 3:
                        break
            GATE[0].set()
            whole = await all_events(f"{url}/k")
            rest = await all_events(f"{url}/k", last_event_id=seen[2].id)
            assert [event.id for event in whole][:3] == [event.id for event in seen]
            assert rest == whole[3:] and rest[-1].type == "CLOSE"
            answer = await http.get(f"{url}/k", headers={"last-event-id": rest[-1].id})
            assert answer.status_code == 204
            assert (await http.get(f"{url}/none")).status_code == 204
            answer = await http.get(f"{url}/k", headers={"last-event-id": "x"})
            assert answer.status_code == 400 and answer.json()["error"]["code"] == "POSITION"
            answer = await http.get(f"{url}/k?after=abc-1-1.0-1")
            assert answer.status_code == 410
            head = await http.head(f"{url}/k")
            assert head.status_code in (200, 405) and head.content == b""

    run(name, work)


@pytest.mark.parametrize("name", [*APPS])
def test_a_heartbeat_comes_in_a_silence(name: str) -> None:
    async def work(runs: Runs, url: str) -> None:
        await runs.start("k", model)
        async with Events(f"{url}/k") as events:
            received = b""
            async for chunk in events.chunks():
                received += chunk
                if received.count(b": hb\n") >= 2:
                    break
        assert received.startswith(b": open\nretry: ")
        GATE[0].set()

    run(name, work, heartbeat=0.05)


def test_readers_are_bounded() -> None:
    async def work(runs: Runs, url: str) -> None:
        await runs.start("k", model)
        async with Events(f"{url}/k") as first, Events(f"{url}/k") as second:
            assert (first.status, second.status) == (200, 429)
        while runs.readers:
            await asyncio.sleep(0.01)
        async with Events(f"{url}/k") as third:
            assert third.status == 200
        GATE[0].set()

    run("starlette", work, readers=1)


def test_a_client_that_leaves_ends_nothing(caplog: pytest.LogCaptureFixture) -> None:
    async def work(runs: Runs, url: str) -> None:
        await runs.start("k", model)
        for _ in range(20):
            async with Events(f"{url}/k"):
                pass
        while runs.readers or runs.replays._shared:
            await asyncio.sleep(0.01)
        assert await runs.active("k")
        GATE[0].set()
        assert len(await all_events(f"{url}/k")) == len(PIECES) + 1

    run("starlette", work)
    assert not [item for item in caplog.records if item.levelno >= logging.ERROR]


def test_a_reader_that_takes_nothing_is_cut_off_without_an_error_in_the_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def work(runs: Runs, url: str) -> None:
        await runs.start("k", ["x" * 100_000] * 100)
        async with Events(f"{url}/k?format=text", buffer=4096) as stalled:
            while runs.readers or runs.replays._shared:
                await asyncio.sleep(0.05)
            # When it reads on, its response ends without CLOSE, so that it resumes.
            last = b""
            async for chunk in stalled.chunks():
                last = chunk
            assert b"CLOSE" not in last

    run("starlette", work, send_timeout=0.3)
    assert not [item for item in caplog.records if item.levelno >= logging.ERROR]


def test_a_stop_ends_responses_and_tells_clients_that_do_not_resume() -> None:
    async def work(runs: Runs, url: str) -> None:
        await runs.start("k", model)
        formats = ("raw", "ai-sdk", "ag-ui")
        readers = [
            asyncio.create_task(all_events(f"{url}/k?format={format}")) for format in formats
        ]
        resuming = asyncio.create_task(all_events(f"{url}/k?format=ai-sdk&after=0"))
        while runs.readers < 4:
            await asyncio.sleep(0.01)
        runs.stop()
        raw, ai_sdk, ag_ui = await asyncio.gather(*readers)
        assert not [event for event in raw if event.type == "CLOSE"]
        assert "STOPPED" in ai_sdk[-2].data and ai_sdk[-1].data == "[DONE]"
        assert "RUN_ERROR" in ag_ui[-1].data
        assert "STOPPED" not in "".join(event.data for event in await resuming)
        GATE[0].set()

    run("starlette", work, grace=0.5)


def test_an_object_that_is_not_a_request_is_refused() -> None:
    with pytest.raises(TypeError, match="Starlette, FastAPI or Django"):
        asyncio.run(Runs().response(type("Request", (), {"method": "GET"})(), "k"))
    wsgi = type("Request", (), {"META": {}, "GET": {}, "method": "GET"})()
    with pytest.raises(TypeError, match="ASGI"):
        asyncio.run(Runs().response(wsgi, "k"))
