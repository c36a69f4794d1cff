"""The client of the server: publishes each record once, reads each event once, whatever breaks."""

from __future__ import annotations

import asyncio
import json
import random
import signal
import threading
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import httpx2
import openai
import pytest
from pydantic import BaseModel

import jsonrill
from jsonrill import InvalidJSON, InvalidSchema, Rebuilder, Truncated, Update
from jsonrill.testing import Call, FakeAnswer, Upstream
from jsonrill_server.client import (
    AsyncClient,
    Client,
    ClientError,
    Conflict,
    Refused,
    StreamCancelled,
    StreamFailed,
    StreamNotFound,
    Unauthorized,
    Unavailable,
)
from jsonrill_server.client.tries import Response, Tries
from support import SLACK, few, hard
from support.processes import Server
from support.proxies import CuttingProxy

TRIP = {"city": "Zürich", "days": [{"title": f"Day {n} 🚢", "hours": n / 2} for n in range(12)]}
TEXT = json.dumps(TRIP, ensure_ascii=False)
PIECES = [TEXT[at : at + 7] for at in range(0, len(TEXT), 7)]
ASK: list[Any] = [{"role": "user", "content": "hi"}]


class Day(BaseModel):
    title: str
    hours: float


class Trip(BaseModel):
    city: str
    days: list[Day]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    settings = {"owner_streams": 10_000, "heartbeat": 0.5}
    with Server(tmp_path_factory.mktemp("client"), **settings) as running:
        yield running


@pytest.fixture(scope="module")
def client(server: Server) -> Iterator[Client]:
    with Client(server.url, timeout=60, retry_for=20) as opened:
        yield opened


def published(client: Client, source: Any = None, **options: Any) -> str:
    stream = client.create(**options)
    client.publish(stream, PIECES if source is None else source, close=True)
    return stream


# ---- publish ----


def test_what_is_published_is_what_is_read(client: Client) -> None:
    stream = client.create()
    assert client.publish(stream, PIECES[0]) == 1
    assert client.publish(stream, iter(PIECES[1:])) == len(PIECES)
    before = client.status(stream)
    assert (before.id, before.input, before.last, before.closed) == (
        stream,
        "text",
        len(PIECES),
        False,
    )
    assert client.close(stream).closed and client.close(stream).closed
    assert "".join(client.read(stream, "chunks")) == TEXT
    assert client.value(stream) == TRIP
    assert [*client.read(stream, "raw")] == PIECES


def test_a_provider_s_stream_is_published_as_text_or_as_events(client: Client) -> None:
    answer = FakeAnswer(TEXT, calls=[Call("plan", {"city": "Rome"})], pace=0)
    with Upstream(answer) as upstream:
        with openai.OpenAI(base_url=f"{upstream.url}/v1", api_key="none") as oai:

            def ask() -> Any:
                return oai.chat.completions.create(model="any", messages=ASK, stream=True)

            text = client.create()
            client.publish(text, ask(), close=True)
            arguments = client.create()
            client.publish(arguments, ask(), close=True, tool="plan")
            events = client.create(input="events")
            client.publish(events, ask(), close=True)
    assert client.value(text) == TRIP and client.value(arguments) == {"city": "Rome"}
    assert "".join(client.read(events, "chunks")) == TEXT
    *_, last = client.read(events, "calls")
    assert last.call.args == {"city": "Rome"} and last.call.status == "complete"
    again = jsonrill.tool_calls(client.read(events, "openai"))
    assert [update.call.args for update in again][-1] == {"city": "Rome"}


def test_snapshots_files_and_bytes_are_published(client: Client, tmp_path: Path) -> None:
    snapshots = [{"a": "He"}, {"b": [], "a": "Hello"}, {"b": [1, 2], "a": "Hello"}]
    stream = published(client, snapshots, input="snapshots")
    assert client.value(stream) == snapshots[-1]
    file = tmp_path / "trip.json"
    file.write_text(TEXT, "utf8")
    with open(file, "rb") as binary:
        assert client.value(published(client, binary)) == TRIP
    # A character may be cut in two.
    data = TEXT.encode()
    assert client.value(published(client, [data[at : at + 1] for at in range(len(data))])) == TRIP
    large = json.dumps(["x" * 300_000, "é" * 300_000], ensure_ascii=False)
    assert "".join(client.read(published(client, large), "chunks")) == large


def test_a_client_waits_twice_as_long_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(random, "uniform", lambda low, high: 1.0)
    tries = Tries("http://example.org", retry_for=60)
    waits = [tries.wait(Response(503)) for _ in range(8)]
    assert waits == pytest.approx([0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 5, 5])
    assert tries.wait(Response(503, headers={"retry-after": "7"})) == 7
    with pytest.raises(Unavailable):
        tries.wait(Response(503, headers={"retry-after": "61"}))
    tries.reset()  # something was achieved
    assert [tries.wait(Response(503)) for _ in range(2)] == pytest.approx([0, 0.1])


def test_many_small_pieces_go_into_few_requests(server: Server) -> None:
    with CuttingProxy(server.url, lambda: None) as proxy, Client(proxy.url) as client:
        stream = client.create()
        begun = time.monotonic()
        client.publish(stream, (str(number % 10) for number in range(5000)), close=True)
        assert time.monotonic() - begun < 5 * SLACK
        assert client.status(stream).last == 5001 and proxy.connections <= 2


def test_a_source_that_waits_is_seen_at_once(client: Client) -> None:
    stream, go = client.create(), threading.Event()

    def slow() -> Iterator[str]:
        yield "[1,"
        assert go.wait(20 * SLACK)
        yield "2]"

    publishing = threading.Thread(target=client.publish, args=(stream, slow()))
    publishing.start()
    seen = client.read(stream, "chunks")
    assert next(seen) == "[1,"
    go.set()
    assert next(seen) == "2]"
    publishing.join()
    client.close(stream)
    assert [*seen] == []


def test_a_source_that_is_silent_keeps_its_lease(client: Client) -> None:
    def silent() -> Iterator[str]:
        yield "[1,"
        time.sleep(5)
        yield "2]"

    stream = client.create(lease=2)
    reading = client.read(stream, "chunks")
    publishing = threading.Thread(target=client.publish, args=(stream, silent()))
    publishing.start()
    assert [next(reading), next(reading)] == ["[1,", "2]"]
    publishing.join()
    with pytest.raises(StreamFailed) as lost:
        next(reading)
    assert lost.value.code == "PRODUCER_LOST"


def test_a_source_that_fails_fails_the_stream(client: Client) -> None:
    def broken() -> Iterator[str]:
        yield '{"a": '
        raise RuntimeError("secret")

    stream = client.create()
    with pytest.raises(RuntimeError, match="secret"):
        client.publish(stream, broken(), close=True)
    reading = client.read(stream, "chunks")
    assert next(reading) == '{"a": '
    with pytest.raises(StreamFailed, match="the source failed") as failed:
        next(reading)
    assert failed.value.code == "SOURCE_FAILED"
    stream = client.create()
    with pytest.raises(RuntimeError):
        client.publish(stream, broken())
    assert not client.status(stream).closed


def test_a_stream_that_was_cancelled_stops_its_producer(client: Client) -> None:
    stream, closed = client.create(), []

    def endless() -> Iterator[str]:
        try:
            for number in range(1_000_000):
                if number == 5:
                    client.cancel(stream)
                yield "x"
        finally:
            closed.append(True)

    with pytest.raises(Conflict, match="create another one") as conflict:
        client.publish(stream, endless(), close=True)
    assert conflict.value.code == "CLOSED" and closed
    with pytest.raises(StreamCancelled):
        [*client.read(stream, "chunks")]


def test_two_threads_may_publish_to_one_stream(client: Client) -> None:
    stream = client.create()
    threads = [
        threading.Thread(target=client.publish, args=(stream, [f"{name}{n}," for n in range(50)]))
        for name in "ab"
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    client.close(stream)
    text = "".join(client.read(stream, "chunks"))
    assert sorted(text.split(",")[:-1]) == sorted(f"{name}{n}" for name in "ab" for n in range(50))


def test_a_client_that_was_restarted_shuts_out_its_predecessor(
    server: Server, client: Client
) -> None:
    """It goes on under the same name. One of another name is another producer."""
    stream = client.create()
    assert client.publish(stream, "[1,") == 1
    with Client(server.url) as other:
        assert other.publish(stream, "2,") == 2
    assert client.publish(stream, "3,") == 3
    with Client(server.url, producer=client.producer) as again:
        assert again.publish(stream, "4]") == 4
        with pytest.raises(Conflict, match="the same producer=") as stale:
            client.publish(stream, "5")
        assert stale.value.code == "STALE_EPOCH"
    assert client.value(stream) == [1, 2, 3, 4]


def test_what_is_published_after_a_failure_has_a_number_of_its_own(server: Server) -> None:
    """The request whose answer was lost is in the stream, and nothing passes for it."""

    class Loses(httpx2.HTTPTransport):
        lose = False

        def handle_request(self, request: httpx2.Request) -> httpx2.Response:
            response = super().handle_request(request)
            if self.lose and request.url.path.endswith("/chunks"):
                response.read()
                raise httpx2.ReadError("lost")
            return response

    transport = Loses()
    with Client(server.url, transport=transport, retry_for=0.1) as client:
        stream = client.create()
        client.publish(stream, "[1,")
        transport.lose = True
        with pytest.raises(Unavailable):
            client.publish(stream, "2,")
        transport.lose = False
        assert client.publish(stream, "3]") == 3
        assert client.value(stream) == [1, 2, 3]


@few(1)
@pytest.mark.parametrize("seed", range(3))
def test_each_record_is_stored_once_when_answers_are_lost(server: Server, seed: int) -> None:
    chance = random.Random(seed)
    cut = lambda: chance.choice([0, 0, 150, 1000, 2000])  # noqa: E731
    with CuttingProxy(server.url, cut) as proxy:
        with Client(proxy.url, retry_for=20 * SLACK) as client:
            stream = client.create()
            for at in range(0, len(PIECES), 10):
                client.publish(stream, PIECES[at : at + 10])
            client.close(stream)
    assert proxy.cuts > 5
    with Client(server.url) as client:
        assert [*client.read(stream, "raw")] == PIECES


# ---- read ----


def test_every_format_is_typed(client: Client) -> None:
    stream = published(client, entity="days")
    updates = [*client.read(stream, mode="ONE-BY-ONE")]
    assert all(type(update) is Update for update in updates)
    assert [update.data for update in updates] == TRIP["days"]
    assert {update.status for update in updates} == {"COMPLETED"}
    for wire in ("full", "compact"):
        rebuilder = Rebuilder()
        rebuilder.feed([*client.read(stream, "fragments", wire=wire)])  # type: ignore[call-overload]
        assert rebuilder.value == TRIP
    *partial, last = client.values(stream, Trip)
    assert last == Trip.model_validate(TRIP) and all(map(jsonrill.is_partial, partial))
    assert [*client.values(stream)][-1] == TRIP
    parts = [part["type"] for part in client.read(stream, "ai-sdk")]
    assert parts[0] == "start" and parts[-1] == "finish"
    assert [event["type"] for event in client.read(stream, "ag-ui")][-1] == "RUN_FINISHED"
    deltas = [*client.read(stream, send="delta", every=1)]
    assert deltas and all(update.delta is not None for update in deltas)


def test_errors_of_the_data_are_updates_or_are_raised(client: Client) -> None:
    broken = published(client, '[{"id": 1}, {"id": oops}]')
    statuses = [update.status for update in client.read(broken, mode="ONE-BY-ONE")]
    assert statuses == ["COMPLETED", "ERROR"]
    with pytest.raises(InvalidJSON) as invalid:
        [*client.read(broken, "fragments")]
    assert (invalid.value.offset, invalid.value.path) == (19, (1, "id"))
    with pytest.raises(InvalidJSON):
        [*client.values(broken)]
    delta = {"index": 0, "delta": {"content": '{"id": '}, "finish_reason": "length"}
    chunk = {"object": "chat.completion.chunk", "choices": [delta]}
    with pytest.raises(Truncated, match="token limit") as cut:
        [*client.read(published(client, [chunk], input="events"), "fragments")]
    assert cut.value.reason == "length"
    delta["finish_reason"] = None
    failure = {"error": {"message": "too busy", "type": "server_error"}}
    with pytest.raises(StreamFailed, match="too busy") as failed:
        [*client.values(published(client, [chunk, failure], input="events"))]
    assert failed.value.code == "PROVIDER_ERROR"
    with pytest.raises(InvalidSchema):
        [*client.values(published(client, '{"city": 5}'), Trip)]
    # Of many documents one is broken; the others are read before its error is raised.
    many = published(client, '{"a": 1}\n{"b": oops}\n{"c": 3}\n', many=True)
    values = []
    with pytest.raises(InvalidJSON):
        for value in client.values(many, many=True):
            values.append(value)
    assert values[-1] == {"c": 3}
    kinds = []
    with pytest.raises(InvalidJSON):
        for fragment in client.read(many, "fragments"):
            kinds.append(fragment.kind)
    assert kinds.count("JsonComplete") == 2


def test_a_reader_goes_on_from_an_id(client: Client) -> None:
    stream = published(client)
    assert "".join(client.read(stream, "chunks", after="3")) == "".join(PIECES[3:])


FORMATS = ["updates", "fragments", "chunks", "raw", "openai", "ai-sdk", "ag-ui"]


@pytest.mark.parametrize("format", FORMATS)
def test_a_reader_whose_connection_is_cut_misses_nothing_and_gets_nothing_twice(
    server: Server, client: Client, format: str
) -> None:
    stream = published(client, entity="days")
    whole = [shown(item) for item in client.read(stream, format)]
    # The headers of a response and one event pass; less would be no progress.
    chance, least = random.Random(5), 700 + max(len(json.dumps(item)) for item in whole)
    with CuttingProxy(server.url, lambda: least + chance.randrange(1000)) as proxy:
        with Client(proxy.url, retry_for=20 * SLACK) as cut:
            assert [shown(item) for item in cut.read(stream, format)] == whole
    assert proxy.cuts > 2


def shown(item: Any) -> Any:
    if isinstance(item, Update):
        return item.to_dict()
    return repr(item) if not isinstance(item, str | dict) else item


def test_calls_survive_cut_connections(server: Server, client: Client) -> None:
    with Upstream(FakeAnswer("", calls=[Call("plan", TRIP), Call("ping")], pace=0)) as upstream:
        with openai.OpenAI(base_url=f"{upstream.url}/v1", api_key="none") as oai:
            asked = oai.chat.completions.create(model="any", messages=ASK, stream=True)
            stream = published(client, asked, input="events")
    with CuttingProxy(server.url, lambda: 4_000) as proxy:
        with Client(proxy.url, retry_for=20 * SLACK) as cut:
            calls = {update.call.id: update.call for update in cut.read(stream, "calls")}
    assert [call.args for call in calls.values()] == [TRIP, {}]
    assert proxy.cuts > 2


@hard
def test_a_server_that_is_killed_and_restarted_is_waited_for(tmp_path: Path) -> None:
    """Producer and reader go on, with every record and every event once."""
    with Server(tmp_path, store=f"sqlite:///{tmp_path}/log.db", heartbeat=0.5) as server:
        with Client(server.url, retry_for=20 * SLACK, timeout=10) as client:
            stream, written = client.create(lease=60), threading.Event()
            pieces = [f"{number}," for number in range(400)]

            def slowly() -> Iterator[str]:
                for number, piece in enumerate(pieces):
                    if number == 100:
                        written.set()
                    time.sleep(0.01)
                    yield piece

            seen: list[str] = []
            reading = threading.Thread(target=lambda: seen.extend(client.read(stream, "raw")))
            publishing = threading.Thread(
                target=lambda: client.publish(stream, slowly(), close=True)
            )
            reading.start()
            publishing.start()
            for how in (signal.SIGKILL, signal.SIGTERM):
                assert written.wait(30 * SLACK)
                server.end(how)
                time.sleep(0.3)
                server.start()
            publishing.join(60 * SLACK)
            reading.join(60 * SLACK)
            assert seen == pieces and client.status(stream).last == len(pieces) + 1


# ---- errors ----


def test_errors_name_the_remedy(server: Server, client: Client) -> None:
    for ask in (client.status, client.close, client.delete, client.value, client.cancel):
        with pytest.raises(StreamNotFound, match="missing: .*belongs to another token"):
            ask("missing")  # type: ignore[operator]
    with pytest.raises(StreamNotFound):
        next(client.read("missing"))
    with pytest.raises(Refused, match="entty") as refused:
        client.create(entty="days")  # type: ignore[call-arg]
    assert refused.value.status == 422 and refused.value.to_dict()["code"] == "BAD_OPTION"
    stream = client.create()
    with pytest.raises(Refused, match="format"):
        next(client.read(stream, "sonnets"))
    with pytest.raises(Refused):
        next(client.read(stream, after="nonsense"))
    with pytest.raises(TypeError, match="named by its id"):
        client.read("")
    with pytest.raises(TypeError, match="tool is for a stream of text"):
        client.publish(client.create(input="events"), [{}], tool="x")
    client.fail(stream, "DOWN", "no model")
    with pytest.raises(StreamFailed, match="no model") as failed:
        next(client.read(stream))
    assert failed.value.code == "DOWN"
    with pytest.raises(Conflict, match="create another"):
        client.publish(stream, "x")
    client.delete(stream)
    with pytest.raises(ValueError, match="begins with http"):
        Client("localhost:8377")


@pytest.mark.parametrize("kind", [Client, AsyncClient])
@pytest.mark.parametrize(
    "wrong", ["from-a-file-0123\n", " 0123456789abcdef", "zürich-0123456789", "\x00"]
)
def test_a_token_that_no_header_can_have_is_refused_at_once(kind: Any, wrong: str) -> None:
    for name in ("token", "producer"):
        with pytest.raises(ValueError, match=rf"a {name} has no line end") as refused:
            kind("http://127.0.0.1:9", **{name: wrong})
        assert wrong not in str(refused.value)
    with pytest.raises(ValueError, match="begins with http"):
        kind(None)


def test_a_server_that_is_not_there_is_named() -> None:
    with Client("http://127.0.0.1:9", retry_for=0.3) as client:
        with pytest.raises(Unavailable, match=r"127.0.0.1:9 could not be reached.*retry_for="):
            client.create()
        with pytest.raises(Unavailable):
            next(client.read("x"))


def test_what_is_no_server_of_ours_is_refused() -> None:
    with Upstream(FakeAnswer("hello")) as upstream, Client(upstream.url) as client:
        with pytest.raises(ClientError, match="no answer of jsonrill's server") as refused:
            client.create()
        assert refused.value.status == 404


def test_a_server_that_is_too_busy_is_asked_again() -> None:
    asked: list[int] = []

    def handle(request: httpx2.Request) -> httpx2.Response:
        asked.append(1)
        if len(asked) < 3:
            headers = {"retry-after": "0"}
            return httpx2.Response(429, headers=headers, json={"error": {"code": "TOO_MANY"}})
        return httpx2.Response(201, json={"id": "s"})

    with Client("http://x.invalid", transport=httpx2.MockTransport(handle)) as client:
        assert client.create() == "s" and len(asked) == 3


def test_tokens(tmp_path: Path) -> None:
    token = "a-long-enough-token"
    with Server(tmp_path, tokens=f"anne:{token},bob:{token}-2") as server:
        with Client(server.url, token) as anne, Client(server.url, f"{token}-2") as bob:
            stream = published(anne)
            assert "".join(anne.read(stream, "chunks")) == TEXT
            with pytest.raises(StreamNotFound):
                next(bob.read(stream))
        with Client(server.url) as nobody, pytest.raises(Unauthorized, match="token="):
            nobody.create()


# ---- async ----


def test_the_async_client_does_the_same(server: Server) -> None:
    async def run() -> None:
        async with AsyncClient(server.url, timeout=60, retry_for=20) as client:
            stream = await client.create(entity="days")

            async def source() -> AsyncIterator[str]:
                for piece in PIECES:
                    await asyncio.sleep(0)
                    yield piece

            async def read() -> list[str]:
                return [piece async for piece in client.read(stream, "chunks")]

            reading = asyncio.create_task(read())
            assert await client.publish(stream, source(), close=True) == len(PIECES)
            assert "".join(await reading) == TEXT
            assert (await client.status(stream)).closed
            assert await client.value(stream) == TRIP
            last = [trip async for trip in client.values(stream, Trip)][-1]
            assert last == Trip.model_validate(TRIP)
            updates = [update async for update in client.read(stream, mode="ONE-BY-ONE")]
            assert [update.data for update in updates] == TRIP["days"]
            # A source that is not async does not block the event loop.
            other = await client.create()
            assert await client.publish(other, iter(PIECES), close=True) == len(PIECES)
            assert await client.value(other) == TRIP
            failed = await client.create()
            with pytest.raises(RuntimeError):
                await client.publish(failed, broken(), close=True)
            with pytest.raises(StreamFailed):
                [it async for it in client.read(failed, "chunks")]
            cancelled = await client.create()
            await client.cancel(cancelled)
            with pytest.raises(StreamCancelled):
                [it async for it in client.read(cancelled)]
            with pytest.raises(Conflict):
                await client.publish(cancelled, source())
            await client.delete(cancelled)
            with pytest.raises(StreamNotFound):
                await client.status(cancelled)

    async def broken() -> AsyncIterator[str]:
        yield "["
        raise RuntimeError

    asyncio.run(run())


def test_an_async_reader_and_publisher_survive_cuts(server: Server) -> None:
    chance = random.Random(7)

    async def run() -> None:
        with CuttingProxy(server.url, lambda: chance.choice([0, 900, 2500, 5000])) as proxy:
            async with AsyncClient(proxy.url, retry_for=20 * SLACK) as client:
                stream = await client.create()
                for at in range(0, len(PIECES), 20):
                    await client.publish(stream, PIECES[at : at + 20])
                await client.close(stream)
                assert [piece async for piece in client.read(stream, "raw")] == PIECES
            assert proxy.cuts > 1

    asyncio.run(run())


def test_a_publisher_that_is_cancelled_closes_its_source(server: Server) -> None:
    closed: list[bool] = []
    begun = asyncio.Event()

    async def endless() -> AsyncIterator[str]:
        try:
            while True:
                await asyncio.sleep(0.01)
                begun.set()
                yield "x"
        finally:
            closed.append(True)

    async def run() -> None:
        async with AsyncClient(server.url) as client:
            stream = await client.create()
            publishing = asyncio.create_task(client.publish(stream, endless()))
            await begun.wait()
            publishing.cancel()
            with pytest.raises(asyncio.CancelledError):
                await publishing
            assert closed and not (await client.status(stream)).closed

    asyncio.run(run())


def test_an_async_source_needs_the_async_client(client: Client) -> None:
    async def source() -> AsyncIterator[str]:
        yield ""

    with pytest.raises(TypeError, match="AsyncClient"):
        client.publish(client.create(), source())
