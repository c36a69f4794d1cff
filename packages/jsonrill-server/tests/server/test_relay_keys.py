"""A request that is repeated with the same Idempotency-Key gets the same run."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import anthropic
import httpx2
import openai
import pytest

from jsonrill.testing import Exchange, FakeAnswer, Upstream
from jsonrill_server import Config, create_app
from jsonrill_server.runs.hub import Hub
from jsonrill_server.runs.records import End
from support import SLACK, few, hard
from support.processes import Server

WORDS = "".join(f"{number:3} " for number in range(60))
PATHS = {"chat": "chat/completions", "messages": "messages", "responses": "responses"}
APIS = [*PATHS]
TOKENS = {"anne": "anne-0123456789abcdef", "bob": "bob-0123456789abcdef"}


class Replies:
    """Answers by the name of the model; "once refused" fails the first time."""

    def __init__(self) -> None:
        self.refused: set[str] = set()

    def __call__(self, exchange: Exchange) -> FakeAnswer:
        model = exchange.json["model"]
        if model.startswith("once refused") and model not in self.refused:
            self.refused.add(model)
            return FakeAnswer(status=500)
        if model == "broken":
            return FakeAnswer(WORDS, ending="reset", after=20, pace=0.002)
        return FakeAnswer(WORDS, pace=0.01)


@pytest.fixture(scope="module")
def upstream() -> Iterator[Upstream]:
    with Upstream(Replies()) as it:
        yield it


@pytest.fixture(scope="module")
def relay(tmp_path_factory: pytest.TempPathFactory, upstream: Upstream) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("relay")
    tokens = ",".join(f"{name}:{token}" for name, token in TOKENS.items())
    store = f"sqlite:///{folder}/relay.db"
    url = f"{upstream.url}/v1"
    with Server(folder, upstream=url, tokens=tokens, store=store, relay_lease=1) as it:
        yield it
        assert "Traceback" not in it.log()


@pytest.fixture
def key(request: pytest.FixtureRequest) -> str:
    """A key of this test alone."""
    return str(request.node.name)


def body_of(api: str, model: str, stream: bool, **more: Any) -> dict[str, Any]:
    messages: Any = [{"role": "user", "content": "hi"}]
    asked = {"input": messages} if api == "responses" else {"messages": messages}
    return {"model": model, **asked, "stream": stream, **more}


def ask(
    relay: Server, api: str, key: str, model: str = "m", *, stream: bool = True, **more: Any
) -> httpx2.Response:
    headers = {"authorization": f"Bearer {TOKENS[more.pop('owner', 'anne')]}"}
    headers |= {"idempotency-key": key} if key else {}
    body = body_of(api, model, stream, **more)
    url = f"{relay.url}/v1/{PATHS[api]}"
    return httpx2.post(url, json=body, headers=headers, timeout=30 * SLACK, trust_env=False)


def data_of(answer: httpx2.Response) -> list[str]:
    """The events of an answer, or its JSON."""
    assert answer.status_code == 200, answer.text
    if answer.headers["content-type"].startswith("application/json"):
        return [json.dumps(answer.json())]
    return [line for line in answer.text.splitlines() if line.startswith(("data", "event"))]


@few(1)
@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("api", APIS)
def test_a_repeated_request_gets_the_same_answer(
    relay: Server, upstream: Upstream, api: str, stream: bool, key: str
) -> None:
    before = len(upstream.exchanges)
    first = ask(relay, api, key, stream=stream)
    again = ask(relay, api, key, stream=stream)
    assert data_of(first) == data_of(again)
    assert first.headers["jsonrill-stream"] == again.headers["jsonrill-stream"]
    assert len(upstream.exchanges) == before + 1
    # Another key, and none, are other requests.
    other = [ask(relay, api, it, stream=stream) for it in (f"other {key}", "")]
    assert all(it.status_code == 200 for it in other)
    assert len(upstream.exchanges) == before + 3


@few(2)
@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("api", APIS)
def test_requests_at_once_get_one_answer(
    relay: Server, upstream: Upstream, api: str, stream: bool, key: str
) -> None:
    before = len(upstream.exchanges)
    with ThreadPoolExecutor(8) as threads:
        asking = [threads.submit(ask, relay, api, key, stream=stream) for _ in range(8)]
        answers = [data_of(it.result()) for it in asking]
    assert all(it == answers[0] for it in answers) and len(upstream.exchanges) == before + 1


@hard
@pytest.mark.parametrize("api, stream", [*zip(APIS, (True, False, True), strict=True)])
def test_the_store_knows_it_after_a_restart(
    relay: Server, upstream: Upstream, api: str, stream: bool, key: str
) -> None:
    before = len(upstream.exchanges)
    first = data_of(ask(relay, api, key, stream=stream))
    relay.kill()
    relay.start()
    assert data_of(ask(relay, api, key, stream=stream)) == first
    assert len(upstream.exchanges) == before + 1


@hard
@pytest.mark.parametrize("api", APIS)
def test_a_run_whose_relay_was_killed_fails_visibly_again(
    relay: Server, upstream: Upstream, api: str, key: str
) -> None:
    """It begins as it began; there is no second call that nobody asked for."""
    before = len(upstream.exchanges)
    headers = {"authorization": f"Bearer {TOKENS['anne']}", "idempotency-key": key}
    url = f"{relay.url}/v1/{PATHS[api]}"
    with httpx2.Client(trust_env=False, timeout=30 * SLACK) as http:
        with http.stream("POST", url, json=body_of(api, "m", True), headers=headers) as answer:
            seen = b""
            for data in answer.iter_bytes():
                seen += data
                if b"12" in seen:
                    break
    relay.kill()
    relay.start()
    again = ask(relay, api, key)
    assert "PRODUCER_LOST" in again.text and "error" in again.text
    lines = [it for it in seen.decode().split("\n\n")[:-1] if "data:" in it]
    assert all(it.removeprefix(": open\n") in again.text for it in lines)
    assert len(upstream.exchanges) == before + 1


@few(1)
@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("api", APIS)
def test_a_key_is_for_one_request(relay: Server, api: str, stream: bool, key: str) -> None:
    data_of(ask(relay, api, key, stream=stream))
    other = ask(relay, api, key, stream=stream, temperature=0.5)
    assert other.status_code == 422
    error = other.json()["error"]
    assert error["code"] == "idempotency_key_reused" and error["type"] == "invalid_request_error"
    elsewhere = ask(relay, "chat" if api == "messages" else "messages", key, stream=stream)
    assert elsewhere.status_code == 422
    data_of(ask(relay, api, key, stream=stream, owner="bob"))


def test_white_space_and_the_order_of_keys_do_not_make_another_request(
    relay: Server, key: str
) -> None:
    headers = {"authorization": f"Bearer {TOKENS['anne']}", "idempotency-key": key}
    headers["content-type"] = "application/json"
    url = f"{relay.url}/v1/chat/completions"
    for text in ('{"model":"m","messages":[]}', '{ "messages" : [],\n"model": "m" }'):
        answer = httpx2.post(url, content=text, headers=headers, trust_env=False, timeout=60)
        assert answer.status_code == 200


@few(2)
@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("api", APIS)
def test_a_request_that_was_refused_may_be_repeated(
    relay: Server, upstream: Upstream, api: str, stream: bool, key: str
) -> None:
    before = len(upstream.exchanges)
    model = f"once refused {api} {stream}"
    assert ask(relay, api, key, model, stream=stream).status_code == 500
    data_of(ask(relay, api, key, model, stream=stream))
    data_of(ask(relay, api, key, model, stream=stream))
    assert len(upstream.exchanges) == before + 2


@pytest.mark.parametrize("api", APIS)
def test_a_failure_is_repeated(relay: Server, upstream: Upstream, api: str, key: str) -> None:
    before = len(upstream.exchanges)
    first, again = ask(relay, api, key, "broken"), ask(relay, api, key, "broken")
    assert "UPSTREAM_LOST" in first.text and data_of(first) == data_of(again)
    assert len(upstream.exchanges) == before + 1


def test_a_key_that_is_too_long_is_refused(relay: Server, key: str) -> None:
    assert ask(relay, "chat", key * 257).status_code == 400


def test_the_clients_send_the_key(relay: Server, upstream: Upstream) -> None:
    before = len(upstream.exchanges)
    settings: dict[str, Any] = {"api_key": TOKENS["anne"], "max_retries": 0}
    headers = {"Idempotency-Key": "theirs"}
    messages: Any = [{"role": "user", "content": "hi"}]
    with openai.OpenAI(base_url=f"{relay.url}/v1", **settings) as client:
        for _ in range(2):
            chunks = client.chat.completions.create(
                model="m", messages=messages, stream=True, extra_headers=headers
            )
            assert "".join(it.choices[0].delta.content or "" for it in chunks) == WORDS
    headers = {"Idempotency-Key": "others"}
    with anthropic.Anthropic(base_url=relay.url, **settings) as other:
        for _ in range(2):
            with other.messages.stream(
                model="m", max_tokens=9, messages=messages, extra_headers=headers
            ) as stream:
                assert stream.get_final_text() == WORDS
    assert len(upstream.exchanges) == before + 2


@pytest.mark.parametrize("stream", [True, False])
def test_a_relay_that_was_halted_before_the_first_event_does_not_take_itself_for_lost(
    monkeypatch: pytest.MonkeyPatch, stream: bool
) -> None:
    """Its lease is over when the request is repeated; the repeated one gets the same answer."""
    monkeypatch.setattr(Hub, "_renew", lambda *arguments: asyncio.sleep(3600))
    answering = threading.Event()

    def slowly(exchange: Exchange) -> FakeAnswer:
        answering.wait(10 * SLACK)
        return FakeAnswer(WORDS, pace=0)

    async def work(upstream: Upstream) -> tuple[httpx2.Response, httpx2.Response]:
        app = create_app(Config(upstream=f"{upstream.url}/v1", relay_lease=0.05))
        transport = httpx2.ASGITransport(app=app)
        async with httpx2.AsyncClient(transport=transport, base_url="http://localhost") as http:
            asked: Any = {"json": body_of("chat", "m", stream), "headers": {"idempotency-key": "k"}}
            first = asyncio.create_task(http.post("/v1/chat/completions", **asked))
            while not upstream.exchanges:
                await asyncio.sleep(0.01)
            await asyncio.sleep(0.1)
            second = asyncio.create_task(http.post("/v1/chat/completions", **asked))
            await asyncio.sleep(0.2)
            answering.set()
            answers = await asyncio.gather(first, second)
        await app.state.hub.close()
        await app.state.upstreams.close()
        return answers

    with Upstream(slowly) as upstream:
        first, second = asyncio.run(work(upstream))
    assert first.text == second.text and "PRODUCER_LOST" not in first.text
    assert len(upstream.exchanges) == 1


def test_a_repeated_request_is_told_that_the_first_one_was_lost() -> None:
    """Another process found the run without a producer, and ended it."""
    answering = threading.Event()

    def slowly(exchange: Exchange) -> FakeAnswer:
        answering.wait(10 * SLACK)
        return FakeAnswer(WORDS, pace=0)

    async def work(upstream: Upstream) -> tuple[httpx2.Response, httpx2.Response]:
        app = create_app(Config(upstream=f"{upstream.url}/v1"))
        transport = httpx2.ASGITransport(app=app)
        async with httpx2.AsyncClient(transport=transport, base_url="http://localhost") as http:
            asked: Any = {"json": body_of("chat", "m", False), "headers": {"idempotency-key": "k"}}
            first = asyncio.create_task(http.post("/v1/chat/completions", **asked))
            while not upstream.exchanges:
                await asyncio.sleep(0.01)
            [stream] = app.state.hub.producing
            await app.state.hub.end(stream, End("error", "PRODUCER_LOST", "its process has gone"))
            second = await http.post("/v1/chat/completions", **asked)
            answering.set()
            answers = await first, second
        await app.state.hub.close()
        await app.state.upstreams.close()
        return answers

    with Upstream(slowly) as upstream:
        first, second = asyncio.run(work(upstream))
    # What was paid for is passed on, though it is not kept.
    assert first.status_code == 200 and WORDS in first.json()["choices"][0]["message"]["content"]
    assert second.status_code == 502 and second.json()["error"]["code"] == "PRODUCER_LOST"
    assert len(upstream.exchanges) == 1
