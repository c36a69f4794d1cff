"""An answer in a format that cannot resume ends complete or visibly failed, never in between.

And a request that a limit refuses never reaches the upstream.
"""

from __future__ import annotations

import asyncio
import signal
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2
import openai
import pytest

from jsonrill.testing import FakeAnswer, Script, Step, Upstream
from support import SLACK, few, hard
from support.processes import Server

ASK: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
WORDS = "".join(f"{number} " for number in range(100))
DIALECTS = ["openai", "ai-sdk", "ag-ui"]
# How each format says that the stream has failed, and how it says that it is complete.
FAILED = {"openai": '"error":', "ai-sdk": '"type":"error"', "ag-ui": "RUN_ERROR"}
COMPLETE = {"openai": "[DONE]", "ai-sdk": '"type":"finish"', "ag-ui": "RUN_FINISHED"}


@contextmanager
def relaying(
    folder: Path, *replies: Any, **settings: Any
) -> Iterator[tuple[Server, Upstream, openai.OpenAI]]:
    with Upstream(*replies) as upstream:
        settings = {"upstream": f"{upstream.url}/v1", "grace": 1, **settings}
        with Server(folder, **settings) as server:
            with openai.OpenAI(base_url=f"{server.url}/v1", api_key="x", max_retries=0) as client:
                yield server, upstream, client


def text_of(stream: Any) -> Iterator[str]:
    for chunk in stream:
        yield chunk.choices[0].delta.content or ""


def test_an_answer_goes_on_after_sigterm_until_it_is_complete(tmp_path: Path) -> None:
    with relaying(tmp_path, FakeAnswer(WORDS, pace=0.02), grace=10 * SLACK) as (server, _, client):
        texts = text_of(client.chat.completions.create(stream=True, **ASK))
        text = next(texts) + next(texts)
        assert server.process is not None
        server.process.send_signal(signal.SIGTERM)
        assert text + "".join(texts) == WORDS
        assert server.process.wait(10 * SLACK) in (0, -signal.SIGTERM)


@hard
def test_an_answer_that_takes_too_long_after_sigterm_fails_visibly(tmp_path: Path) -> None:
    with relaying(tmp_path, FakeAnswer(WORDS * 100), grace=3) as (server, upstream, client):
        texts = text_of(client.chat.completions.create(stream=True, **ASK))
        next(texts)
        assert server.process is not None
        server.process.send_signal(signal.SIGTERM)
        with pytest.raises(openai.APIError) as caught:
            for _ in texts:
                pass
        assert caught.value.code == "STOPPED"
        server.process.wait(10 * SLACK)
        assert upstream.exchanges[0].left.wait(60)


@hard
def test_an_answer_that_lasts_longer_than_a_connection_may_fails_visibly(tmp_path: Path) -> None:
    with relaying(tmp_path, FakeAnswer(WORDS * 100), max_connection=1) as (_, _, client):
        with pytest.raises(openai.APIError) as caught:
            for _ in client.chat.completions.create(stream=True, **ASK):
                pass
        assert caught.value.code == "LIMIT_EXCEEDED"


@hard
@pytest.mark.parametrize("full", ["total_bytes", "stream_entries"])
def test_an_answer_for_which_there_is_no_room_fails_visibly(tmp_path: Path, full: str) -> None:
    settings = {full: 50 if full == "stream_entries" else 20_000}
    with relaying(tmp_path, FakeAnswer(WORDS * 10, pace=0), **settings) as (_, _, client):
        with pytest.raises(openai.APIError) as caught:
            for _ in client.chat.completions.create(stream=True, **ASK):
                pass
        assert caught.value.code == "LIMIT_EXCEEDED"


@few(1)
@pytest.mark.parametrize("cut", ["max_connection", "sigterm", "revoked"])
def test_readers_of_every_dialect_are_told_that_the_connection_ends(
    tmp_path: Path, cut: str
) -> None:
    """The stream goes on, so what ends is the connection alone."""
    tokens = tmp_path / "tokens"
    tokens.write_text("me:0123456789abcdef\nother:0123456789abcdeX")
    settings = {"max_connection": 1} if cut == "max_connection" else {"grace": 3}
    headers = {"authorization": "Bearer 0123456789abcdef"}

    async def main(server: Server) -> dict[str, str]:
        async with httpx2.AsyncClient(
            base_url=server.url, headers=headers, trust_env=False, timeout=60
        ) as http:
            stream = (await http.post("/v1/streams", json={"input": "events"})).json()["id"]
            event = '{"choices":[{"index":0,"delta":{"content":"Hel"}}]}'
            lines = {"content-type": "application/x-ndjson"}
            await http.post(f"/v1/streams/{stream}/chunks", content=event, headers=lines)

            async def read(name: str) -> str:
                url = {"openai": "events?format=openai"}.get(name, name)
                async with http.stream("GET", f"/v1/streams/{stream}/{url}") as answer:
                    return "".join([text async for text in answer.aiter_text()])

            reading = {name: asyncio.create_task(read(name)) for name in DIALECTS}
            await asyncio.sleep(0.5)
            if cut == "sigterm":
                assert server.process is not None
                server.process.send_signal(signal.SIGTERM)
            elif cut == "revoked":
                tokens.write_text("other:0123456789abcdeX")
            async with asyncio.timeout(60):
                return {name: await task for name, task in reading.items()}

    with Server(tmp_path, tokens_file=tokens, **settings) as server:
        for name, text in asyncio.run(main(server)).items():
            assert "Hel" in text, name
            assert FAILED[name] in text, name
            assert COMPLETE[name] not in text, name


def test_readers_that_can_resume_are_not_told_of_an_error(tmp_path: Path) -> None:
    with Server(tmp_path, max_connection=1) as server:
        with httpx2.Client(base_url=server.url, trust_env=False, timeout=60) as http:
            stream = http.post("/v1/streams", json={}).json()["id"]
            plain = {"content-type": "text/plain"}
            http.post(f"/v1/streams/{stream}/chunks", content='{"a": 1,', headers=plain)
            text = http.get(f"/v1/streams/{stream}/events").text
    assert "id: 1" in text and "ERROR" not in text and "CLOSE" not in text


@hard
def test_more_relays_than_a_pool_has_connections_work_at_once(tmp_path: Path) -> None:
    """Each has its answer only when all have been asked."""
    count = 110
    gate = threading.Event()
    [*steps] = FakeAnswer("Hello", pace=0).script("/v1/chat/completions", {"stream": True}).steps
    waiting: list[Step] = [steps[0], gate, *steps[1:]]

    async def main(server: Server, upstream: Upstream) -> None:
        async with openai.AsyncOpenAI(
            base_url=f"{server.url}/v1", api_key="x", max_retries=0, timeout=60 * SLACK
        ) as client:

            async def ask() -> str:
                stream = await client.chat.completions.create(stream=True, **ASK)
                return "".join([it.choices[0].delta.content or "" async for it in stream])

            tasks = [asyncio.create_task(ask()) for _ in range(count)]
            until = time.monotonic() + 50 * SLACK
            while len(upstream.exchanges) < count and time.monotonic() < until:
                await asyncio.sleep(0.02)
            assert len(upstream.exchanges) == count
            gate.set()
            assert await asyncio.gather(*tasks) == ["Hello"] * count

    settings = {"owner_streams": 1000, "upstream_first": 60 * SLACK}
    with relaying(tmp_path, Script(waiting), **settings) as (server, upstream, _):
        asyncio.run(main(server, upstream))


@hard
@pytest.mark.parametrize(
    "limit, status",
    [
        ({"owner_streams": 2}, 429),
        ({"readers": 2}, 429),
        ({"body_bytes": 10}, 413),
        ({"total_bytes": 100}, 429),
    ],
    ids=str,
)
def test_a_limit_refuses_a_relay_before_the_upstream_is_called(
    tmp_path: Path, limit: dict[str, int], status: int
) -> None:
    with relaying(tmp_path, FakeAnswer(WORDS * 100), **limit) as (server, upstream, client):
        allowed = 2 if 2 in limit.values() else 0
        streams = [client.chat.completions.create(stream=True, **ASK) for _ in range(allowed)]
        for _ in range(3):
            with pytest.raises(openai.APIStatusError) as caught:
                client.chat.completions.create(stream=True, **ASK)
            assert caught.value.status_code == status
        assert len(upstream.exchanges) == allowed
        for stream in streams:
            stream.close()


@few(1)
@pytest.mark.parametrize("format", ["updates", "ai-sdk"])
def test_a_conversion_that_is_cut_ends_with_an_error(tmp_path: Path, format: str) -> None:
    """Nothing of it is stored, so that no format can resume. The body is never complete."""
    with Server(tmp_path, max_connection=1) as server:
        address = urlsplit(server.url)
        with socket.create_connection((address.hostname, address.port), 20) as link:
            head = f"POST /v1/convert?format={format} HTTP/1.1\r\nHost: {address.netloc}\r\n"
            head += "Content-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n"
            link.sendall(head.encode() + b"5\r\n[1,2,\r\n")
            text = b""
            while b"LIMIT_EXCEEDED" not in text and (data := link.recv(65536)):
                text += data
    assert b"LIMIT_EXCEEDED" in text
