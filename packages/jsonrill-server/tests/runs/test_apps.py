"""Runs in applications of one's own: FastAPI, Starlette and Django, with real connections."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import django
import fastapi
import httpx2
import pytest
from django.conf import settings
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.routing import Route

from jsonrill_server import Runs
from jsonrill_server.runs.options import FORMATS
from support import SLACK, few, hard
from support.apps import App, served
from support.processes import Events, all_events
from support.run_app import events as logged
from support.run_chaos import RunChaos
from support.stores import StoreServers

GATE: list[asyncio.Event] = []


async def model() -> AsyncIterator[str]:
    """Writes half of a document, and waits for the gate before the other half."""
    for piece in ('{"title"', ': "Hel', 'lo", "n": [1'):
        yield piece
    await GATE[0].wait()
    yield ", 2]"
    yield "}"


PIECES = ['{"title"', ': "Hel', 'lo", "n": [1', ", 2]", "}"]


def with_starlette(runs: Runs) -> tuple[Any, str]:
    async def ask(request: Request) -> Any:
        await runs.start(request.path_params["key"], model)
        return runs.response(request, request.path_params["key"])

    async def again(request: Request) -> Any:
        return runs.response(request, request.path_params["key"])

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with runs:
            yield

    routes = [Route("/{key}", ask, methods=["POST"]), Route("/{key}", again)]
    return Starlette(routes=routes, lifespan=lifespan), "on"


def with_fastapi(runs: Runs) -> tuple[Any, str]:
    app = fastapi.FastAPI()

    # The annotations of a function inside a function are no types when they are only texts.
    async def ask(key: str, request: Request) -> Any:
        await runs.start(key, model)
        return runs.response(request, key, headers={"x-own": "1"})

    async def again(key: str, request: Request) -> Any:
        response = runs.response(request, key)
        response.set_cookie("seen", "1")
        return response

    app.post("/{key}", response_model=None)(ask)
    app.get("/{key}", response_model=None)(again)
    return app, "off"


if not settings.configured:
    settings.configure(
        DEBUG=False, ALLOWED_HOSTS=["*"], ROOT_URLCONF="runs.django_urls", SECRET_KEY="x" * 20
    )
    django.setup()


def with_django(runs: Runs) -> tuple[Any, str]:
    import sys
    from types import ModuleType

    from django.core.asgi import get_asgi_application
    from django.urls import clear_url_caches, path

    async def view(request: Any, key: str) -> Any:
        if request.method == "POST":
            await runs.start(key, model)
            return await runs.response(request, key)
        return runs.response(request, key)

    urls = ModuleType("runs.django_urls")
    urls.urlpatterns = [path("<str:key>", view)]  # type: ignore[attr-defined]
    sys.modules[urls.__name__] = urls
    clear_url_caches()
    return get_asgi_application(), "off"


APPS = {"starlette": with_starlette, "fastapi": with_fastapi, "django": with_django}


def run(name: str, work: Callable[[Runs, str], Awaitable[None]], **settings: Any) -> None:
    async def main() -> None:
        GATE[:] = [asyncio.Event()]
        runs = Runs(**settings)
        app, lifespan = APPS[name](runs)
        async with asyncio.timeout(30 * SLACK), served(app, lifespan=lifespan) as url:
            await work(runs, url)
            await runs.close()

    asyncio.run(main())


async def some(events: Events, count: int) -> list[Any]:
    taken: list[Any] = []
    async for event in events:
        taken.append(event)
        if len(taken) == count:
            break
    return taken


@pytest.mark.parametrize("name", APPS)
def test_a_reader_that_leaves_and_comes_back_misses_nothing(name: str) -> None:
    async def work(runs: Runs, url: str) -> None:
        async with httpx2.AsyncClient(trust_env=False) as http:
            async with http.stream("POST", f"{url}/k") as response:
                assert response.status_code == 200
                assert response.headers["content-type"] == "text/event-stream; charset=utf-8"
                assert (await anext(response.aiter_bytes())).startswith(b": open\n")
            async with Events(f"{url}/k") as events:
                first = await some(events, 2)
            assert [json.loads(event.data) for event in first] == PIECES[:2]
            # A second POST, a double click, is the same run.
            async with http.stream("POST", f"{url}/k") as response:
                assert response.status_code == 200
            GATE[0].set()
            resume = {"last-event-id": first[-1].id}
            rest = await all_events(f"{url}/k", last_event_id=first[-1].id)
            assert [json.loads(event.data) for event in rest[:-1]] == PIECES[2:]
            assert (rest[-1].type, rest[-1].data) == ("CLOSE", "[DONE]")
            by_query = await all_events(f"{url}/k?after={first[-1].id}")
            assert by_query == rest
            done = await http.get(f"{url}/k", headers={"last-event-id": rest[-1].id})
            assert (done.status_code, done.content) == (204, b"")
            assert (await http.get(f"{url}/other")).status_code == 204
            gone = await http.get(f"{url}/other", headers=resume)
            assert (gone.status_code, gone.json()["error"]["code"]) == (410, "GONE")
            for after in ("x", "99"):
                wrong = await http.get(f"{url}/k?after={after}")
                assert (wrong.status_code, wrong.json()["error"]["code"]) == (400, "POSITION")
            if name == "fastapi":
                assert "seen=1" in (await http.get(f"{url}/k")).headers["set-cookie"]

    run(name, work)


@pytest.mark.parametrize("name", APPS)
def test_heartbeats_are_sent_and_readers_that_leave_are_noticed(name: str) -> None:
    async def work(runs: Runs, url: str) -> None:
        await runs.start("k", model)
        async with Events(f"{url}/k") as events:
            body = b""
            async for chunk in events.chunks():
                body += chunk
                if b": hb\n" in body:
                    break
            assert body.count(b"id: ") == 3
        while runs._hub.metrics.get("readers"):
            await asyncio.sleep(0.02)
        assert await runs.active("k")
        GATE[0].set()

    run(name, work, heartbeat=0.2)


@pytest.mark.parametrize("name", APPS)
def test_too_many_readers_are_refused_and_a_stop_ends_the_others(name: str) -> None:
    async def work(runs: Runs, url: str) -> None:
        await runs.start("k", model, resume=lambda count: [])
        async with Events(f"{url}/k") as events, httpx2.AsyncClient(trust_env=False) as http:
            await some(events, 1)
            refused = await http.get(f"{url}/k")
            assert (refused.status_code, refused.json()["error"]["code"]) == (429, "TOO_MANY")
            closing = asyncio.create_task(runs.close())
            # It resumes elsewhere: the response ends, without CLOSE.
            assert "CLOSE" not in [event.type async for event in events]
            await closing

    run(name, work, readers_per_stream=1, grace=0)


def test_a_client_of_others_that_asks_for_an_answer_that_has_ended_gets_none() -> None:
    """`useChat` asks with GET when a page is loaded, and shows what it has stored otherwise."""

    async def main() -> None:
        async with Runs() as runs:
            await runs.start("k", ['{"a": 1}'])
            while await runs.active("k"):
                await asyncio.sleep(0.01)

            async def view(request: Request) -> Any:
                replay = {"1": True, "0": False}.get(request.query_params.get("replay", ""))
                return runs.response(request, "k", format="ai-sdk", replay=replay)

            app = Starlette(routes=[Route("/", view, methods=["GET", "POST"])])
            transport = httpx2.ASGITransport(app=app)
            async with httpx2.AsyncClient(transport=transport, base_url="http://x") as http:
                assert (await http.get("/")).status_code == 204
                answer = await http.post("/")
                assert answer.headers["x-vercel-ai-ui-message-stream"] == "v1"
                assert answer.text.endswith("data: [DONE]\n\n")
                assert (await http.get("/?replay=1")).status_code == 200
                assert (await http.post("/?replay=0")).status_code == 204

    asyncio.run(main())


def test_an_unknown_format_is_refused_where_it_is_written() -> None:
    request = Request({"type": "http", "method": "GET", "headers": [], "query_string": b""})
    with pytest.raises(ValueError, match="format is one of updates"):
        Runs().response(request, "k", format="xml")


@few(2)
@pytest.mark.parametrize("why", ["max_connection", "stop"])
@pytest.mark.parametrize("name", APPS)
def test_a_response_ends_in_time_though_its_run_never_pauses(name: str, why: str) -> None:
    async def busy() -> AsyncIterator[str]:
        yield "["
        while True:
            yield "1,"
            await asyncio.sleep(0.001)

    async def work(runs: Runs, url: str) -> None:
        await runs.start("k", busy)
        begun = time.monotonic()
        async with Events(f"{url}/k") as events:
            async for _ in events:
                if why == "stop" and not runs._hub.stopping:
                    runs._hub.stop()
        assert time.monotonic() - begun < 4 * SLACK
        await runs.cancel("k")

    settings = {"max_connection": 1.0} if why == "max_connection" else {}
    run(name, work, grace=0.1, **settings)


def test_django_by_wsgi_is_refused() -> None:
    from django.test import RequestFactory

    with pytest.raises(TypeError, match="ASGI"):
        Runs().response(RequestFactory().get("/"), "k")


# ---- processes that die ----


KEY = "run-1000-0.02-{}"


@hard
def test_a_run_whose_process_is_killed_ends_with_an_error(tmp_path: Path, shared: str) -> None:
    async def work(apps: list[App]) -> None:
        key = KEY.format(0)
        async with asyncio.timeout(60 * SLACK), httpx2.AsyncClient(trust_env=False) as http:
            await http.post(f"{apps[0].url}/runs/{key}")
            async with Events(f"{apps[1].url}/runs/{key}") as events:
                received = await some(events, 10)
                await asyncio.to_thread(apps[0].kill)
                killed = time.monotonic()
                received += [event async for event in events]
            assert time.monotonic() - killed < (1 + 5) * SLACK
        data = [json.loads(event.data) for event in received[:-2]]
        assert data == logged(key, 1000)[: len(data)]
        assert json.loads(received[-2].data)["error"]["code"] == "PRODUCER_LOST"
        assert received[-1].type == "CLOSE"

    with App(tmp_path, shared) as one, App(tmp_path, shared) as two:
        asyncio.run(work([one, two]))


def test_an_application_that_is_told_to_stop_does_not_wait_for_its_readers(
    tmp_path: Path,
) -> None:
    async def work(app: App) -> None:
        async with asyncio.timeout(60 * SLACK), httpx2.AsyncClient(trust_env=False) as http:
            await http.post(f"{app.url}/runs/{KEY.format(0)}")
            async with Events(f"{app.url}/runs/{KEY.format(0)}") as events:
                await some(events, 3)
                begun = time.monotonic()
                ending = asyncio.create_task(asyncio.to_thread(app.end))
                rest = [event async for event in events]
                await ending
            # One second for the run (`grace`), and one until the response notices.
            assert time.monotonic() - begun < 4 * SLACK and rest
        assert "Traceback" not in app.log()

    with App(tmp_path, f"sqlite:///{tmp_path}/log.db") as app:
        asyncio.run(work(app))


@few(1)
def test_a_run_whose_process_is_killed_goes_on_elsewhere_exactly_once(
    tmp_path: Path, shared: str
) -> None:
    """With `Runs(resume=…)`: whoever reads the run takes it over, one process of them all."""

    async def work(apps: list[App]) -> None:
        keys = [f"run-120-0.02-{at}" for at in range(4)]
        async with asyncio.timeout(60 * SLACK), httpx2.AsyncClient(trust_env=False) as http:
            for key in keys:
                await http.post(f"{apps[0].url}/runs/{key}")
            reading = [
                asyncio.create_task(all_events(f"{app.url}/runs/{key}"))
                for key in keys
                for app in apps[1:]
            ]
            await asyncio.sleep(0.5)
            await asyncio.to_thread(apps[0].kill)
            for at, task in enumerate(reading):
                *received, close = await task
                assert close.type == "CLOSE"
                expected = logged(keys[at // 2], 120)
                assert [json.loads(event.data) for event in received] == expected

    settings = {"RESUME": "1"}
    with (
        App(tmp_path, shared, **settings) as one,
        App(tmp_path, shared, **settings) as two,
        App(tmp_path, shared, **settings) as three,
    ):
        asyncio.run(work([one, two, three]))


def test_every_format_is_one_that_resumes() -> None:
    async def main() -> None:
        async with Runs() as runs:
            for key in ("run-30-0-0", "run-30-0-2"):
                await runs.start(key, logged(key, 30))

                async def view(request: Request, key: str = key) -> Any:
                    format = request.query_params["format"]
                    return runs.response(request, key, format=format, replay=True)

                async with served(Starlette(routes=[Route("/", view)])) as url:
                    for format in FORMATS:
                        undisturbed = await all_events(f"{url}/?format={format}")
                        assert all(event.id for event in undisturbed), format
                        for event in (undisturbed[0], undisturbed[len(undisturbed) // 2])[
                            : len(undisturbed) - 1
                        ]:
                            after = await all_events(f"{url}/?format={format}&after={event.id}")
                            assert after == undisturbed[undisturbed.index(event) + 1 :], format

    asyncio.run(main())


@hard
def test_chaos_loses_nothing_in_any_format(tmp_path: Path, store_servers: StoreServers) -> None:
    """A few faults; `tests/hard/hard_runs.py` has many."""
    store = store_servers.url("redis", tmp_path)
    settings = {"RESUME": "1", "LEASE": "2"}
    with App(tmp_path, store, **settings) as one, App(tmp_path, store, **settings) as two:
        chaos = RunChaos([one, two], store_servers["redis"], count=3, size=50, faults=5)
        asyncio.run(chaos.run(240))
        assert "Traceback" not in one.log() + two.log()
