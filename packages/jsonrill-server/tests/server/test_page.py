"""The page's files and the demo's models over HTTP: what is there, for whom, and what is not."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import httpx2
import pytest

from jsonrill_server import Config
from jsonrill_server.demo.models import models
from jsonrill_server.runs.options import StreamOptions, ViewOptions
from jsonrill_server.runs.records import CLOSED
from jsonrill_server.runs.render import rendering
from support import HARDER, ROOT, hard
from support.apps import asked
from support.processes import Server, all_events

NAMES = list(models())
LIBRARY, PAGE = ROOT / "js" / "src", ROOT / "page"


def quiet(**settings: Any) -> Config:
    return Config(access_log=False, **settings)


def test_the_page_is_there_with_a_policy_and_a_tag() -> None:
    answer = asked("GET", "/")
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert answer.headers["cache-control"] == "no-cache"
    policy = answer.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; script-src 'self';")
    assert policy.endswith("require-trusted-types-for 'script'; trusted-types 'none'")
    again = asked("GET", "/", headers={"if-none-match": answer.headers["etag"]})
    assert again.status_code == 304 and not again.content


def test_the_page_knows_whether_there_are_models() -> None:
    assert 'data-demo="off"' in asked("GET", "/").text
    assert 'data-demo="on"' in asked("GET", "/", quiet(demo=True)).text


def test_every_module_is_served_as_what_it_is() -> None:
    kinds = {
        ".css": "text/css",
        ".js": "text/javascript",
        ".svg": "image/svg+xml",
    }
    pages = (*PAGE.glob("*.*"), *(PAGE / "tools").glob("*.*"))
    files = [file for file in (*LIBRARY.rglob("*.*"), *pages) if file.suffix in kinds]
    assert len(files) > 100
    for file in files[:: 1 if HARDER else 9]:
        answer = asked("GET", f"/web/{file.relative_to(ROOT).as_posix()}")
        assert answer.status_code == 200 and answer.content == file.read_bytes(), file.name
        assert answer.headers["content-type"].startswith(kinds[file.suffix])


@pytest.mark.parametrize(
    "path",
    [
        "/web/",
        "/web/lib/package.json",
        "/web/none.js",
        "/web/page/..%2f..%2f__init__.py",
        "/web/page/%2e%2e/%2e%2e/%2e%2e/errors.py",
        "/web",
    ],
)
def test_nothing_else_is_served(path: str) -> None:
    assert asked("GET", path).status_code == 404


def test_the_page_can_be_left_out() -> None:
    assert asked("GET", "/", quiet(page=False)).status_code == 404
    assert asked("GET", "/web/page/tree-view.js", quiet(page=False)).status_code == 404


def test_models_are_there_only_in_a_demo() -> None:
    assert asked("GET", "/demo/models").status_code == 404
    assert asked("POST", "/demo/streams", json={"model": "recipe"}).status_code == 404
    listed = asked("GET", "/demo/models", quiet(demo=True)).json()["models"]
    assert [model["name"] for model in listed] == NAMES


def test_models_are_for_those_with_a_token() -> None:
    config = quiet(demo=True, tokens=("me:secret-of-16-char",))
    assert asked("GET", "/", config).status_code == 200
    assert asked("GET", "/demo/models", config).status_code == 401
    assert asked("POST", "/demo/streams", config, json={"model": "recipe"}).status_code == 401
    token = {"authorization": "Bearer secret-of-16-char"}
    assert asked("GET", "/demo/models", config, headers=token).status_code == 200


@pytest.mark.parametrize(
    "order",
    [
        {},
        {"model": "none"},
        {"model": ["recipe"]},
        {"model": "recipe", "pace": 0},
        {"model": "recipe", "pace": True},
        {"model": "recipe", "pace": 1e9},
        {"model": "recipe", "piece": 0},
        {"model": "recipe", "piece": 1.5},
        {"model": "recipe", "more": 1},
        ["recipe"],
    ],
)
def test_a_bad_order_is_refused(order: Any) -> None:
    assert asked("POST", "/demo/streams", quiet(demo=True), json=order).status_code == 422


@pytest.mark.parametrize("name", NAMES)
def test_a_model_says_the_same_each_time_and_its_stream_can_be_made(name: str) -> None:
    model = models()[name]
    records = model.records(4)
    assert records == models()[name].records(4) and len(records) > 10
    options = StreamOptions.from_json(model.stream_options())
    for format in ("updates", "calls"):
        work = rendering(options, ViewOptions(format=format))  # type: ignore[arg-type]
        work.feed(records)
        work.end(CLOSED)


def errors_of(name: str) -> list[str]:
    model = models()[name]
    options = StreamOptions.from_json(model.stream_options())
    format = "calls" if model.input == "events" else "updates"
    work = rendering(options, ViewOptions(format=format))  # type: ignore[arg-type]
    events = [work.feed([record]) for record in model.records(400)]
    texts = [text for some in [*events, work.end(CLOSED)] for text in some]
    return [text for text in texts if '"error"' in text]


def test_the_models_end_as_their_titles_say() -> None:
    assert {name: bool(errors_of(name)) for name in NAMES} == {
        **dict.fromkeys(NAMES, False),
        **dict.fromkeys(("stumble", "invalid", "booking"), True),
    }
    assert "INVALID_SCHEMA" in errors_of("booking")[0]
    assert "INVALID_JSON" in errors_of("invalid")[0]


def test_the_large_model_has_ten_thousand_values() -> None:
    def count(value: Any) -> int:
        inside = value.values() if isinstance(value, dict) else value
        return 1 + (sum(map(count, inside)) if isinstance(value, dict | list) else 0)

    assert count(json.loads(models()["buoy"].says())) > 10_000


def start(server: Server, **order: Any) -> str:
    answer = httpx2.post(f"{server.url}/demo/streams", json=order, trust_env=False)
    assert answer.status_code == 201, answer.text
    return server.url + str(answer.json()["urls"]["events"])


def test_a_generation_is_an_ordinary_stream(tmp_path: Path) -> None:
    with Server(tmp_path, demo=True) as server:
        url = start(server, model="recipe", pace=50, piece=16)
        events = asyncio.run(all_events(f"{url}?format=raw"))
        texts = [json.loads(event.data) for event in events[:-1]]
        assert events[-1].type == "CLOSE"
        assert {len(text) for text in texts[:-1]} == {16}
        assert "".join(texts) == models()["recipe"].says()


@hard
def test_a_generation_goes_on_after_a_restart(tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path}/log.db"
    with Server(tmp_path, demo=True, store=store) as server:
        url = start(server, model="voyage", pace=2)
        stream = url.removesuffix("/events")
        while httpx2.get(stream, trust_env=False).json()["last"] < 20:
            pass
        server.end()
        server.start()
        half = httpx2.get(stream, trust_env=False).json()
        assert not half["closed"] and half["last"] < len(models()["voyage"].records())
        server.kill()
        server.start()
        events = asyncio.run(all_events(f"{url}?format=raw"))
        assert "".join(json.loads(event.data) for event in events[:-1]) == models()["voyage"].says()


def test_a_generation_stops_when_it_is_cancelled(tmp_path: Path) -> None:
    with Server(tmp_path, demo=True) as server:
        url = start(server, model="recipe", pace=1)
        assert httpx2.post(url.removesuffix("events") + "cancel", trust_env=False).json()["closed"]
        events = asyncio.run(all_events(url))
        assert [event.type for event in events][-1] == "CLOSE"
        assert "CANCELLED" in events[-2].data
        assert "Traceback" not in server.log()
