"""The relay, with an upstream of our own and OpenAI's own client, unmodified."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import openai
import pytest

from jsonrill import Rebuilder
from jsonrill.testing import Upstream
from jsonrill.wire.reader import WireReader
from support.processes import Server, all_events
from support.upstream import ARGUMENTS, an_upstream

ASK: dict[str, Any] = {"messages": [{"role": "user", "content": "hi"}]}


@pytest.fixture(scope="module")
def upstream() -> Iterator[Upstream]:
    with an_upstream() as running:
        yield running


@pytest.fixture(scope="module")
def relay(tmp_path_factory: pytest.TempPathFactory, upstream: Upstream) -> Iterator[Server]:
    settings = {"upstream_first": 2, "upstream_idle": 1, "heartbeat": 0.1, "owner_streams": 1000}
    folder = tmp_path_factory.mktemp("relay")
    url = f"{upstream.url}/v1"
    with Server(folder, upstream=url, upstream_key="the-key", **settings) as server:
        yield server


@pytest.fixture
def client(relay: Server) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=f"{relay.url}/v1", api_key="mine", max_retries=0) as sdk:
        yield sdk


def test_openai_reads_text(client: openai.OpenAI) -> None:
    stream = client.chat.completions.create(model="text", stream=True, **ASK)
    chunks = list(stream)
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks) == "Hello wörld"
    assert chunks[-1].choices[0].finish_reason == "stop"


def test_openai_reads_through_heartbeats(client: openai.OpenAI) -> None:
    chunks = list(client.chat.completions.create(model="slow", stream=True, **ASK))
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks) == "Hello wörld"


@pytest.mark.parametrize("wire", ["", "full", "compact"])
def test_openai_reads_calls_with_fragments_on_request(client: openai.OpenAI, wire: str) -> None:
    headers = {"Jsonrill-Fragments": wire} if wire else {}
    stream = client.chat.completions.create(
        model="calls", stream=True, extra_headers=headers, **ASK
    )
    text, rebuilder, reader = "", Rebuilder(), WireReader()
    for chunk in stream:
        for call in chunk.choices[0].delta.tool_calls or []:
            text += (call.function and call.function.arguments) or ""
            items = getattr(call, "json_update_fragments", None)
            assert wire or items is None
            rebuilder.feed([it for item in items or [] if (it := reader.read(item)) is not None])
    assert text == ARGUMENTS
    if wire:
        assert rebuilder.complete and rebuilder.value == json.loads(ARGUMENTS)


def test_openai_gets_a_whole_answer(client: openai.OpenAI, upstream: Upstream) -> None:
    answer = client.chat.completions.create(model="text", **ASK)
    assert answer.choices[0].message.content == "Hello wörld"
    seen = upstream.exchanges[-1].headers
    assert seen["authorization"] == "Bearer the-key"
    assert "mine" not in str(seen)


def test_openai_gets_the_upstreams_error(client: openai.OpenAI) -> None:
    for stream in (True, False):
        with pytest.raises(openai.RateLimitError) as caught:
            client.chat.completions.create(model="limited", stream=stream, **ASK)
        assert caught.value.response.headers["retry-after"] == "7"
        assert "Overloaded" in str(caught.value)


def test_openai_is_told_when_the_upstream_does_not_answer(
    client: openai.OpenAI, tmp_path: Path
) -> None:
    with pytest.raises(openai.InternalServerError) as caught:
        client.chat.completions.create(model="never", stream=True, **ASK)
    assert caught.value.status_code == 504
    with Server(tmp_path, upstream="http://127.0.0.1:9/v1") as server:
        with openai.OpenAI(base_url=f"{server.url}/v1", api_key="x", max_retries=0) as other:
            with pytest.raises(openai.InternalServerError) as caught:
                other.chat.completions.create(model="text", stream=True, **ASK)
            assert caught.value.status_code == 502


def test_generation_goes_on_without_readers_and_cancel_stops_it(
    relay: Server, upstream: Upstream
) -> None:
    ask = {"model": "endless", "stream": True, **ASK}
    with httpx2.Client(base_url=relay.url, trust_env=False, timeout=60) as http:
        with http.stream("POST", "/v1/chat/completions", json=ask) as answer:
            stream = answer.headers["jsonrill-stream"]
            next(answer.iter_bytes())
        exchange = upstream.exchanges[-1]
        before = exchange.tokens
        time.sleep(0.5)
        assert exchange.tokens > before
        assert http.post(f"/v1/streams/{stream}/cancel").json()["closed"] is True
        assert exchange.left.wait(60)
        events = asyncio.run(all_events(f"{relay.url}/v1/streams/{stream}/events?format=raw"))
        assert json.loads(events[-2].data)["error"]["code"] == "CANCELLED"


def test_what_was_relayed_can_be_read_again(relay: Server) -> None:
    ask = {"model": "calls", "stream": True, **ASK}
    with httpx2.Client(base_url=relay.url, trust_env=False, timeout=60) as http:
        answer = http.post("/v1/chat/completions", json=ask)
        stream = answer.headers["jsonrill-stream"]
        again = http.get(f"/v1/streams/{stream}/events?format=openai")
        assert [line for line in again.text.splitlines() if line.startswith("data")] == [
            line for line in answer.text.splitlines() if line.startswith("data")
        ]
        assert "CLOSE" not in again.text
        # Its clients send no ids back, but others that read the same events do.
        middle = again.text.split("id: ")[3].split("\n")[0]
        rest = http.get(f"/v1/streams/{stream}/events?format=openai&after={middle}").text
        assert (
            rest.removeprefix(": open\n")
            == again.text.partition(f"id: {middle}")[2].partition("\n\n")[2]
        )
        value = http.get(f"/v1/streams/{stream}/value").json()
        assert value["calls"][0]["args"] == json.loads(ARGUMENTS)


@pytest.mark.parametrize(
    "body, media, status",
    [
        (b"not json", "application/json", 400),
        (b"[]", "application/json", 400),
        (b"{}", "text/plain", 400),
        (b"{" * 100_000, "application/json", 400),
    ],
)
def test_a_bad_request_is_refused_here(relay: Server, body: bytes, media: str, status: int) -> None:
    answer = httpx2.post(
        f"{relay.url}/v1/chat/completions",
        content=body,
        headers={"content-type": media},
        trust_env=False,
    )
    assert answer.status_code == status
    assert answer.json()["error"]["type"] == "invalid_request_error"


def test_without_an_upstream_there_is_no_relay(tmp_path: Path) -> None:
    with Server(tmp_path) as server:
        answer = httpx2.post(f"{server.url}/v1/chat/completions", json=ASK, trust_env=False)
        assert answer.status_code == 404
