"""The routes of the server: their requests, responses and access rules."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from functools import wraps
from pathlib import Path
from typing import Any

import httpx2
import pytest

from jsonrill.eventstream import SSEDecoder
from jsonrill.testing import Call, FakeAnswer
from jsonrill_server import Settings, create_app
from jsonrill_server.log import StoreError, StoreFull, StoreUnavailable, open_store
from jsonrill_server.options import FORMATS
from jsonrill_server.settings import parse_tokens
from support import SLACK

PLAIN = {"content-type": "text/plain"}
LINES = {"content-type": "application/x-ndjson"}
EVENTS = {"content-type": "text/event-stream"}
TEXT = '{"colors": [{"name": "red"}, {"name": "blue"}]}'
ANNE, BOB = "a" * 20, "b" * 20
AS_ANNE, AS_BOB = ({"authorization": f"Bearer {token}"} for token in (ANNE, BOB))
Http = httpx2.AsyncClient


@asynccontextmanager
async def client(store: Any = None, **settings: Any) -> AsyncIterator[Http]:
    app = create_app(Settings(**{"access_log": False, **settings}), store=store)
    transport = httpx2.ASGITransport(app=app, raise_app_exceptions=False)
    async with Http(transport=transport, base_url="http://localhost") as http:
        http.headers["host"] = "localhost"
        yield http
    await app.state.server.runs.close()


def served(**settings: Any) -> Callable[[Any], Callable[..., None]]:
    """Run a test with a client of an application of its own."""

    def decorate(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
        @wraps(test)
        def run(*args: Any, **named: Any) -> None:
            async def work() -> None:
                async with asyncio.timeout(10 * SLACK), client(**settings) as http:
                    await test(http, *args, **named)

            asyncio.run(work())

        import inspect

        parameters = [*inspect.signature(test).parameters.values()][1:]
        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        return run

    return decorate


async def created(http: Http, **options: Any) -> str:
    answer = await http.post("/v1/streams", json=options)
    assert answer.status_code == 201, answer.text
    return str(answer.json()["urls"]["stream"])


async def published(http: Http, *pieces: str, **options: Any) -> str:
    url = await created(http, **options)
    for piece in pieces or (TEXT[:20], TEXT[20:]):
        assert (await http.post(f"{url}/events", content=piece, headers=PLAIN)).status_code == 200
    assert (await http.post(f"{url}/close")).status_code == 200
    return url


async def events(http: Http, url: str, **query: str) -> list[Any]:
    answer = await http.get(f"{url}/events", params=query)
    assert answer.status_code == 200, answer.text
    return SSEDecoder().feed(answer.content)


def code_of(answer: httpx2.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]["code"]


# ---- publishing and reading ----


@served()
async def test_a_stream_is_created_written_closed_and_read(http: Http) -> None:
    answer = await http.post("/v1/streams", json={"entity": "colors"})
    assert (
        answer.status_code == 201 and answer.headers["location"] == answer.json()["urls"]["stream"]
    )
    assert [*answer.json()["urls"]] == ["stream", "events", "close", "cancel", "value"]
    url = answer.json()["urls"]["stream"]
    assert (await http.post(f"{url}/events", content=TEXT[:20], headers=PLAIN)).json() == {
        "last": 1
    }
    assert (await http.get(url)).json()["status"] == "active"
    await http.post(f"{url}/events", content=TEXT[20:], headers=PLAIN)
    status = (await http.post(f"{url}/close")).json()
    assert status == {
        "id": url.rpartition("/")[2],
        "status": "complete",
        "input": "text",
        "last": 3,
        "closed": True,
        "bytes": status["bytes"],
        "options": {"entity": "colors"},
    }
    seen = await events(http, url, mode="one_by_one")
    assert [json.loads(event.data)["data"] for event in seen[:-1]] == json.loads(TEXT)["colors"]
    assert (seen[-1].type, seen[-1].data) == ("CLOSE", "[DONE]")
    assert (await http.get(f"{url}/value")).json()["value"] == json.loads(TEXT)


@pytest.mark.parametrize("format", FORMATS)
@served()
async def test_a_reader_resumes_after_every_event_and_gets_204_after_the_last(
    http: Http, format: str
) -> None:
    url = await published(http)
    whole = await events(http, url, format=format, after="0")
    for number, event in enumerate(whole):
        headers = {"last-event-id": event.id}
        answer = await http.get(f"{url}/events?format={format}", headers=headers)
        if number == len(whole) - 1:
            assert answer.status_code == 204
        else:
            assert SSEDecoder().feed(answer.content) == whole[number + 1 :]


@served()
async def test_the_value_of_a_text_that_stops_early_has_its_error(http: Http) -> None:
    url = await created(http)
    await http.post(f"{url}/events", content='{"a": [1, 2', headers=PLAIN)
    assert "error" not in (await http.get(f"{url}/value")).json()
    await http.post(f"{url}/close")
    value = (await http.get(f"{url}/value")).json()
    assert (value["value"], value["complete"]) == ({"a": [1]}, False)
    assert (value["error"]["code"], value["error"]["reason"]) == ("INVALID_JSON", "ended")


@served()
async def test_every_media_type_is_read_by_its_input(http: Http) -> None:
    url = await created(http)
    await http.post(f"{url}/events", content='"[1"\n"]"\n\n', headers=LINES)
    assert (await http.get(f"{url}/value")).json()["value"] == [1]
    url = await created(http, input="snapshots")
    await http.post(f"{url}/events", content='{"a": "x"}\n{"a": "xy"}', headers=LINES)
    await http.post(f"{url}/events", json={"a": "xyz"})
    await http.post(f"{url}/close")
    assert (await http.get(f"{url}/value")).json()["value"] == {"a": "xyz"}
    url = await created(http, input="events")
    answer = FakeAnswer("Hi", calls=[Call("f", {"a": 1})])
    body = b"".join(
        step
        for step in answer.script("/v1/chat/completions", {"stream": True}).steps
        if isinstance(step, bytes)
    )
    await http.post(f"{url}/events", content=body, headers=EVENTS)
    await http.post(f"{url}/close")
    value = (await http.get(f"{url}/value")).json()
    assert (value["text"], value["calls"][0]["args"], value["status"]) == (
        "Hi",
        {"a": 1},
        "complete",
    )


@served()
async def test_an_answer_that_was_cut_is_not_complete(http: Http) -> None:
    url = await created(http, input="events")
    chunks = FakeAnswer("Hello", ending="length", after=1).events("/v1/chat/completions")
    await http.post(f"{url}/events", content="\n".join(map(json.dumps, chunks)), headers=LINES)
    assert (await http.post(f"{url}/close")).json()["status"] == "length"


@served()
async def test_put_creates_a_stream_once(http: Http) -> None:
    for status in (201, 200):
        answer = await http.put("/v1/streams/my.stream-1", json={"entity": "a"})
        assert (answer.status_code, answer.json()["id"]) == (status, "my.stream-1")
    answer = await http.put("/v1/streams/my.stream-1", json={"entity": "b"})
    assert code_of(answer) == (409, "EXISTS")


@pytest.mark.parametrize("id", [".x", "a b", "a%2Fb", "é", "x" * 65, "..%2F..", "%00", "a%0Ab"])
@served()
async def test_odd_ids_are_refused(http: Http, id: str) -> None:
    for method, path in (("PUT", ""), ("GET", ""), ("GET", "/events"), ("POST", "/close")):
        answer = await http.request(method, f"/v1/streams/{id}{path}")
        assert answer.status_code == 404


@served()
async def test_a_numbered_request_is_stored_once(http: Http) -> None:
    url = await created(http)

    async def post(seq: str, text: str) -> httpx2.Response:
        headers = {**PLAIN, "producer-seq": seq}
        return await http.post(f"{url}/events", content=text, headers=headers)

    assert (await post("0", "[1,")).json() == {"last": 1}
    assert (await post("0", "[1,")).json() == {"last": 1}
    assert (await post("1", "2]")).json() == {"last": 2}
    gap = await post("5", "x")
    assert code_of(gap) == (409, "SEQUENCE") and gap.headers["producer-seq"] == "2"
    assert code_of(await post("x", "x")) == (422, "BAD_OPTION")
    await http.post(f"{url}/close")
    assert (await http.get(f"{url}/value")).json()["value"] == [1, 2]


def test_a_numbered_request_that_is_repeated_at_once_is_stored_once(tmp_path: Path) -> None:
    async def work() -> None:
        async with client(store=open_store(f"sqlite:///{tmp_path}/x.db")) as http:
            url = await created(http)

            async def late(number: int) -> AsyncIterator[bytes]:
                await asyncio.sleep(0.005)
                yield b"%d " % number

            async def post(number: int) -> httpx2.Response:
                headers = {**PLAIN, "producer-seq": str(number)}
                return await http.post(f"{url}/events", content=late(number), headers=headers)

            for number in range(20):
                for answer in await asyncio.gather(*[post(number) for _ in range(4)]):
                    assert answer.json() == {"last": number + 1}
            await http.post(f"{url}/close")
            texts = [json.loads(it.data) for it in (await events(http, url, format="text"))[:-1]]
            assert texts == [f"{number} " for number in range(20)]

    asyncio.run(work())


@served()
async def test_requests_that_append_together_do_not_mix(http: Http) -> None:
    url = await created(http)

    async def write(name: str) -> None:
        for number in range(10):
            body = f'"{name}{number} "\n"{name}{number} "'
            await http.post(f"{url}/events", content=body, headers=LINES)

    await asyncio.gather(*[write(name) for name in "abc"])
    await http.post(f"{url}/close")
    words = "".join(json.loads(item.data) for item in (await events(http, url, format="text"))[:-1])
    for name in "abc":
        mine = [word for word in words.split() if word[0] == name]
        assert mine == [f"{name}{number}" for number in range(10) for _ in range(2)]


@served()
async def test_a_streamed_body_is_in_the_log_as_it_arrives(http: Http) -> None:
    url = await created(http)
    seen = asyncio.Event()

    async def body() -> AsyncIterator[bytes]:
        yield b"[1,"
        while (await http.get(url)).json()["last"] == 0:
            await asyncio.sleep(0.01)
        seen.set()
        yield b"2]"

    await http.post(f"{url}/events", content=body(), headers=PLAIN)
    assert seen.is_set() and (await http.get(f"{url}/value")).json()["value"] == [1, 2]


@served()
async def test_a_body_with_a_fault_leaves_no_trace(http: Http) -> None:
    url = await created(http)
    answer = await http.post(f"{url}/events", content='"good"\nbad', headers=LINES)
    assert code_of(answer) == (400, "INVALID_BODY") and "record 2" in answer.text
    assert (await http.get(url)).json()["last"] == 0


@served()
async def test_closing_with_an_error_and_cancelling_tell_readers(http: Http) -> None:
    url = await created(http)
    error = {"status": "error", "code": "DOWN", "message": "no model"}
    status = (await http.post(f"{url}/close", json=error)).json()
    assert (status["status"], status["error"]["code"]) == ("error", "DOWN")
    assert (await http.post(f"{url}/close")).json() == status
    [first, _] = await events(http, url)
    assert json.loads(first.data) == {
        "status": "ERROR",
        "error": {"code": "DOWN", "message": "no model"},
    }
    url = await created(http)
    assert (await http.post(f"{url}/cancel")).json()["status"] == "stopped"
    answer = await http.post(f"{url}/events", content="x", headers=PLAIN)
    assert code_of(answer) == (409, "CLOSED")
    assert (await http.delete(url)).status_code == 204
    assert (await http.get(url)).status_code == 404


@served()
async def test_a_deleted_stream_is_gone_for_its_readers(http: Http) -> None:
    url = await created(http)
    reading = asyncio.create_task(events(http, url))
    while "jsonrill_readers 1.0" not in (await http.get("/metrics")).text:
        await asyncio.sleep(0.01)
    await http.delete(url)
    [error, close] = await reading
    assert json.loads(error.data)["error"]["code"] == "GONE" and close.type == "CLOSE"


@served()
async def test_positions_that_are_wrong_or_lost(http: Http) -> None:
    url = await published(http)
    answer = await http.get(f"{url}/events", headers={"last-event-id": "seven"})
    assert code_of(answer) == (400, "POSITION")
    answer = await http.get(f"{url}/events?after=abc-1-1.0-1")
    assert code_of(answer) == (410, "LOG_LOST")
    last = (await events(http, url, after="0"))[-1].id
    answer = await http.get(f"{url}/events?after=0", headers={"last-event-id": last})
    assert answer.status_code == 204


@served()
async def test_a_schema_of_the_creator_is_checked_for_readers(http: Http) -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}}
    url = await published(http, '{"n": "x"}', schema=schema)
    error = json.loads((await events(http, url))[0].data)["error"]
    assert (error["code"], error["path"]) == ("INVALID_SCHEMA", "root.n")


# ---- refused requests ----

BAD_OPTIONS: list[tuple[Any, int]] = [
    ({"nope": 1}, 422),
    ({"entity": 3}, 422),
    ({"schema": {"type": "nope"}}, 422),
    ({"schema": {"enum": ["x" * 70_000]}}, 422),
    ({"lease": 0}, 422),
    ({"mode": "SOMETIMES"}, 422),
    ([], 422),
    ("x", 422),
]


@pytest.mark.parametrize(("options", "status"), BAD_OPTIONS)
@served()
async def test_wrong_options_are_refused(http: Http, options: Any, status: int) -> None:
    answer = await http.post("/v1/streams", json=options)
    assert code_of(answer) == (status, "BAD_OPTION")


@pytest.mark.parametrize(
    "query",
    ["format=nope", "mode=x", "send=all", "schema={}", "repair=1", "limits=1", "entity=[", "run=r"],
)
@served()
async def test_a_reader_chooses_only_among_the_formats(http: Http, query: str) -> None:
    url = await published(http)
    answer = await http.get(f"{url}/events?{query}")
    assert code_of(answer) == (422, "BAD_OPTION")


@pytest.mark.parametrize(
    "body",
    [
        rb'{"entity": "\ud800"}',
        rb'{"schema": {"title": "\udc00", "enum": ["\ud83d"]}}',
        rb'{"prefix": "\ud800", "\ud800": 1}',
        b'{"entity": "\xff"}',
        b"[" * 100_000,
    ],
)
@served()
async def test_lone_surrogates_and_bombs_in_options_are_never_500(http: Http, body: bytes) -> None:
    headers = {"content-type": "application/json"}
    answer = await http.put("/v1/streams/x", content=body, headers=headers)
    assert answer.status_code in (201, 400, 422)
    if answer.status_code == 201:
        assert (await http.get("/v1/streams/x")).status_code == 200
        answer = await http.post("/v1/streams/x/close", content=body, headers=headers)
        assert answer.status_code == 422
        await http.post("/v1/streams/x/close")
        assert (await http.get("/v1/streams/x/events")).status_code == 200


@served(body_bytes=5000, record_bytes=1000, stream_bytes=8000)
async def test_bodies_records_and_streams_are_bounded(http: Http) -> None:
    url = await created(http, input="snapshots")
    for content in (b"[" + b"1," * 600 + b"1]", b'"' + b"x" * 6000 + b'"'):
        answer = await http.post(f"{url}/events", content=content, headers=LINES)
        assert code_of(answer) == (413, "LIMIT_EXCEEDED")
    url = await created(http)
    assert (await http.post(f"{url}/events", content="x" * 4000, headers=PLAIN)).status_code == 200
    answer = await http.post(f"{url}/events", content="x" * 4900, headers=PLAIN)
    assert code_of(answer) == (413, "LIMIT_EXCEEDED")
    status = (await http.get(url)).json()
    assert status["error"]["code"] == "LIMIT_EXCEEDED"
    answer = await http.post("/v1/streams", content=b" " * 2_000_000)
    assert code_of(answer) == (413, "LIMIT_EXCEEDED")


@served()
async def test_media_types_that_do_not_fit_are_refused(http: Http) -> None:
    url = await created(http)
    for headers in ({"content-type": "image/png"}, EVENTS, {}):
        answer = await http.post(f"{url}/events", content=b"x", headers=headers)
        assert code_of(answer) == (415, "MEDIA_TYPE")
    answer = await http.post("/v1/streams", content=b"{}", headers=PLAIN)
    assert code_of(answer) == (422, "BAD_OPTION")


@served()
async def test_unknown_routes_and_methods(http: Http) -> None:
    assert code_of(await http.get("/v2/streams")) == (404, "NOT_FOUND")
    assert code_of(await http.patch("/v1/streams")) == (405, "METHOD")


@served()
async def test_nothing_of_a_request_gets_into_an_event_stream_as_it_is(http: Http) -> None:
    """SSE injection: line ends in text, entities, codes and ids."""
    evil = "x\n\nevent: CLOSE\ndata: [DONE]\n\n"
    url = await created(http)
    await http.post(f"{url}/events", content=json.dumps({"a": evil}), headers=PLAIN)
    await http.post(f"{url}/close", json={"status": "error", "code": "a\nb: c", "message": evil})
    for format in ("raw", "text", "updates", "fragments", "deltas"):
        answer = await http.get(f"{url}/events", params={"format": format, "entity": evil})
        if answer.status_code == 200:
            assert [event.type for event in SSEDecoder().feed(answer.content)].count("CLOSE") == 1
    url = await created(http, input="events")
    await http.post(
        f"{url}/events", content='{"a":\r\n1}', headers={"content-type": "application/json"}
    )
    await http.post(f"{url}/close")
    assert json.loads((await events(http, url, format="raw"))[0].data) == {"a": 1}


# ---- access ----


@served(tokens=f"anne:{ANNE},bob:{BOB}")
async def test_a_token_reaches_the_streams_of_its_owner_and_no_others(http: Http) -> None:
    answer = await http.put("/v1/streams/same", headers=AS_ANNE)
    assert answer.status_code == 201
    paths = [
        ("GET", ""),
        ("DELETE", ""),
        ("GET", "/events"),
        ("GET", "/value"),
        ("POST", "/events"),
        ("POST", "/close"),
        ("POST", "/cancel"),
    ]
    for method, path in paths:
        url = f"/v1/streams/same{path}"
        assert (await http.request(method, url)).status_code == 401
        assert (
            await http.request(method, url, headers={"authorization": "Bearer x"})
        ).status_code == 401
        assert (await http.request(method, url, headers={**AS_BOB, **PLAIN})).status_code == 404
    assert (await http.put("/v1/streams/same", headers=AS_BOB)).status_code == 201
    assert (await http.get("/v1/streams/same", headers={"x-api-key": ANNE})).status_code == 200
    for path in ("/metrics",):
        assert (await http.get(path)).status_code == 401
        assert (await http.get(path, headers=AS_BOB)).status_code == 200
    metrics = (await http.get("/metrics", headers=AS_BOB)).text
    (count,) = re.findall(r"^jsonrill_request_seconds_count ([0-9.]+)$", metrics, re.MULTILINE)
    assert float(count) > len(paths)
    for path in ("/livez", "/readyz", "/", "/web/page/page.css"):
        assert (await http.get(path)).status_code == 200


@served(tokens=f"anne:{ANNE},bob:{BOB}", owner_streams=2)
async def test_an_owner_cannot_evict_the_streams_of_others(http: Http) -> None:
    await http.put("/v1/streams/keep", headers=AS_BOB)
    await http.post("/v1/streams/keep/close", headers=AS_BOB)
    for number in range(5):
        await http.put(f"/v1/streams/s{number}", headers=AS_ANNE)
        await http.post(f"/v1/streams/s{number}/close", headers=AS_ANNE)
    assert (await http.get("/v1/streams/keep", headers=AS_BOB)).status_code == 200
    assert (await http.get("/v1/streams/s0", headers=AS_ANNE)).status_code == 404
    for number in range(2):
        assert (await http.put(f"/v1/streams/o{number}", headers=AS_ANNE)).status_code == 201
    answer = await http.put("/v1/streams/o2", headers=AS_ANNE)
    assert code_of(answer) == (429, "TOO_MANY") and answer.headers["retry-after"]


def test_tokens_may_be_in_a_secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "jsonrill_tokens").write_text(f"anne:{ANNE}\nbob:{BOB}\n")
    monkeypatch.setitem(Settings.model_config, "secrets_dir", tmp_path)
    assert parse_tokens(Settings().tokens) == {ANNE: "anne", BOB: "bob"}


@served(origins="https://app.example")
async def test_hosts_and_origins_are_checked(http: Http) -> None:
    async def post(**headers: str) -> int:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return (await http.post("/v1/streams", headers=named)).status_code

    assert await post() == 201
    assert await post(origin="http://localhost") == 201
    assert await post(origin="https://app.example") == 201
    assert await post(origin="https://evil.example") == 403
    assert await post(sec_fetch_site="cross-site") == 403
    assert await post(host="evil.example") == 421
    assert (await http.get("/", headers={"host": "evil.example"})).status_code == 421
    assert (await http.get("/readyz", headers={"host": "10.0.0.1:80"})).status_code == 200
    answer = await http.options(
        "/v1/streams",
        headers={"origin": "https://app.example", "access-control-request-method": "POST"},
    )
    assert answer.headers["access-control-allow-origin"] == "https://app.example"


@served(demo=True)
async def test_every_answer_has_strict_headers(http: Http) -> None:
    for path in ("/", "/livez", "/nope", "/v1/models", "/web/page/page.css"):
        answer = await http.get(path)
        policy = answer.headers["content-security-policy"]
        assert policy.startswith("default-src 'none'") and "unsafe" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
    assert 'data-version="1' in (await http.get("/")).text
    library = await http.get("/web/lib/index.js")
    again = await http.get("/web/lib/index.js", headers={"if-none-match": library.headers["etag"]})
    assert (library.status_code, again.status_code) == (200, 304)
    for path in ("/web/page/../server.py", "/web/page/%2e%2e/%2e%2e/pyproject.toml", "/web/"):
        assert (await http.get(path)).status_code == 404


# ---- the store fails ----


class BrokenStore:
    """A store whose calls fail after a while."""

    def __init__(self, error: StoreError) -> None:
        self.inner = open_store("memory:")
        self.error: StoreError | None = None
        self.later = error

    def __getattr__(self, name: str) -> Any:
        value = getattr(self.inner, name)
        if self.error is None or name in ("signals", "write_every", "close"):
            return value

        async def fail(*_: Any, **__: Any) -> Any:
            raise self.error or AssertionError

        return fail


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (StoreFull("the disk of the SQLite store is full"), "FULL"),
        (StoreUnavailable("away"), "UNAVAILABLE"),
    ],
)
def test_a_store_that_fails_is_503_and_not_ready(
    error: StoreError, code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jsonrill_server.server.HOLD", 0.1)

    async def work() -> None:
        store = BrokenStore(error)
        async with client(store) as http:
            url = await created(http)
            store.error = error
            assert code_of(await http.post("/v1/streams")) == (503, code)
            assert code_of(await http.get(url))[0] == 503
            assert code_of(await http.get("/readyz")) == (503, code)
            assert (await http.get("/livez")).status_code == 200
            store.error = None
            assert (await http.get("/readyz")).status_code == 200
            assert (await http.get(url)).status_code == 200

    asyncio.run(work())


def test_sqlite_reports_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jsonrill_server.server.HOLD", 0.1)

    async def work() -> None:
        store = open_store(f"sqlite:///{tmp_path}/x.db")
        async with client(store) as http:
            url = await created(http)
            await store._execute("PRAGMA max_page_count = 20")  # type: ignore[attr-defined]
            answer = await http.post(f"{url}/events", content="x" * 200_000, headers=PLAIN)
            assert code_of(answer) == (503, "FULL") and "full" in answer.text
            assert code_of(await http.get("/readyz")) == (503, "FULL")
            await store._execute("PRAGMA max_page_count = 100000")  # type: ignore[attr-defined]
            assert (await http.get("/readyz")).status_code == 200
            answer = await http.post(f"{url}/events", content="x" * 200_000, headers=PLAIN)
            assert answer.status_code == 200

    asyncio.run(work())


def test_a_store_that_cannot_be_opened_is_not_ready(tmp_path: Path) -> None:
    file = tmp_path / "x.db"
    file.mkdir()

    async def work() -> None:
        async with client(store=open_store(f"sqlite:///{file}")) as http:
            assert (await http.get("/readyz")).status_code == 503

    asyncio.run(work())


# ---- settings ----


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"port": 70000}, "less than or equal"),
        ({"tokens": "short"}, "fewer than 16"),
        ({"tokens": f"a b:{ANNE}"}, "may contain only"),
        ({"tokens": f"{ANNE},{ANNE}"}, "twice"),
        ({"heartbeat": 0}, "greater than 0"),
        ({"nope": 1}, "Extra inputs"),
    ],
)
def test_wrong_settings_are_refused(setting: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Settings(**setting)


def test_settings_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JSONRILL_HEARTBEAT", "3")
    monkeypatch.setenv("JSONRILL_TOKENS", f"anne:{ANNE}, {BOB}")
    settings = Settings()
    assert settings.heartbeat == 3.0
    assert parse_tokens(settings.tokens) == {ANNE: "anne", BOB: "user"}
    assert ANNE not in repr(settings)


def test_a_public_address_needs_a_token() -> None:
    with pytest.raises(ValueError, match="JSONRILL_TOKENS"):
        Settings(host="0.0.0.0").check_exposure()
    Settings(host="0.0.0.0", tokens=(ANNE,)).check_exposure()
    Settings(host="::1").check_exposure()
    Settings(host="0.0.0.0", insecure=True).check_exposure()


@served()
async def test_the_openapi_document_has_every_route(http: Http) -> None:
    document = (await http.get("/openapi.json")).json()
    assert {*document["paths"]} == {
        "/v1/streams",
        "/v1/streams/{id}",
        *(f"/v1/streams/{{id}}/{name}" for name in ("events", "close", "cancel", "value")),
        "/livez",
        "/readyz",
        "/metrics",
    }
