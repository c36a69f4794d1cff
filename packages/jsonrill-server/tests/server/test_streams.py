"""Streams over HTTP: made, fed in every way, read in every format, ended in every way."""

from __future__ import annotations

import asyncio
import json
import time
from typing import Any

import httpx2
import pytest

from jsonrill.eventstream import SSEEvent
from jsonrill_server.runs.records import LOST
from support import SLACK, numbered
from support.processes import Events, Server, all_events

TEXT = '{"colors":[{"name":"red","n":1},{"name":"blue é","n":22}],"done":true}'
PLAIN = {"content-type": "text/plain"}


def make(client: httpx2.Client, **options: Any) -> str:
    answer = client.post("/v1/streams", json=options)
    assert answer.status_code == 201, answer.text
    assert answer.headers["location"] == answer.json()["urls"]["stream"]
    return str(answer.json()["id"])


def add(client: httpx2.Client, stream: str, body: str | bytes, **headers: str) -> httpx2.Response:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    url = f"/v1/streams/{stream}/events"
    return client.post(url, content=body, headers={**PLAIN, **named})


def finish(client: httpx2.Client, stream: str) -> None:
    assert client.post(f"/v1/streams/{stream}/close").json()["closed"] is True


def read(server: Server, stream: str, query: str = "", **headers: str) -> list[SSEEvent]:
    url = f"{server.url}/v1/streams/{stream}/events?{query}"
    return asyncio.run(all_events(url, **headers))


def published(client: httpx2.Client, text: str = TEXT, size: int = 7, **options: Any) -> str:
    stream = make(client, **options)
    for at in range(0, len(text), size):
        assert add(client, stream, text[at : at + size].encode()).status_code == 200
    finish(client, stream)
    return stream


def datas(events: list[SSEEvent]) -> list[Any]:
    assert (events[-1].type, events[-1].data) == ("CLOSE", "[DONE]")
    assert all(event.type == "message" and event.id for event in events[:-1])
    return [json.loads(event.data) for event in events[:-1]]


def test_a_stream_is_read_while_it_is_written(server: Server, client: httpx2.Client) -> None:
    stream = make(client, entity="colors")

    async def both() -> list[SSEEvent]:
        url = f"{server.url}/v1/streams/{stream}/events"
        async with Events(url) as events, httpx2.AsyncClient(base_url=server.url) as writer:
            assert events.answer["content-type"] == "text/event-stream; charset=utf-8"
            assert events.answer["cache-control"] == "no-store, no-transform"
            assert events.answer["x-accel-buffering"] == "no"
            assert "connection" not in events.answer
            received = []
            coming = aiter(events)
            for piece in ('{"colors":[{"name":"r', "ed"):
                url = f"/v1/streams/{stream}/events"
                await writer.post(url, content=piece, headers=PLAIN)
                received.append(await anext(coming))
            await writer.post(url, content='"}]}', headers=PLAIN)
            await writer.post(f"/v1/streams/{stream}/close")
            return [*received, *[event async for event in coming]]

    events = asyncio.run(both())
    assert [update["data"] for update in datas(events)] == [
        {"name": "r"},
        {"name": "red"},
        {"name": "red"},
    ]
    assert [update["status"] for update in datas(events)] == ["PARTIAL", "PARTIAL", "COMPLETED"]
    assert [event.id.partition("-")[0] for event in events] == ["1", "2", "3", "4"]


@pytest.mark.parametrize("mode", ["BATCH", "all_together", "one-by-one", "PROGRESSIVE", "REALTIME"])
def test_every_mode(server: Server, client: httpx2.Client, mode: str) -> None:
    stream = published(client, entity="colors")
    updates = datas(read(server, stream, f"mode={mode}"))
    last = updates[-1]
    if mode == "BATCH":
        assert last["data"] == json.loads(TEXT)["colors"]
    else:
        done = [update["data"] for update in updates if update["status"] == "COMPLETED"]
        assert done == json.loads(TEXT)["colors"]


def test_formats_agree(server: Server, client: httpx2.Client) -> None:
    from jsonrill import Rebuilder, Receiver

    stream = published(client)
    assert "".join(datas(read(server, stream, "format=text"))) == TEXT
    assert "".join(datas(read(server, stream, "format=raw"))) == TEXT
    rebuilder, receiver = Rebuilder(), Receiver()
    for batch in datas(read(server, stream, "format=fragments")):
        rebuilder.feed(batch)
    for message in datas(read(server, stream, "format=deltas")):
        receiver.feed(message)
    assert rebuilder.value == receiver.value == json.loads(TEXT)
    assert receiver.ended and receiver.error is None
    answer = client.get(f"/v1/streams/{stream}/value")
    assert answer.json()["value"] == json.loads(TEXT)
    assert answer.json()["complete"] is True
    again = client.get(
        f"/v1/streams/{stream}/value", headers={"if-none-match": answer.headers["etag"]}
    )
    assert again.status_code == 304


@pytest.mark.parametrize(
    "query",
    [
        "mode=REALTIME",
        "mode=REALTIME&send=delta",
        "mode=ALL-TOGETHER",
        "mode=BATCH",
        "format=fragments",
        "format=text",
        "format=raw",
    ],
)
def test_a_resume_at_every_event_goes_on_exactly(
    server: Server, client: httpx2.Client, query: str
) -> None:
    stream = published(client, size=17, entity="colors")
    whole = read(server, stream, query)
    assert len({event.id for event in whole}) == len(whole)
    for at, event in enumerate(whole[:-1]):
        assert read(server, stream, query, last_event_id=event.id) == whole[at + 1 :]
        assert read(server, stream, f"{query}&after={event.id}") == whole[at + 1 :]
    url = f"/v1/streams/{stream}/events?{query}"
    assert client.get(url, headers={"last-event-id": whole[-1].id}).status_code == 204


def test_snapshots_become_text(server: Server, client: httpx2.Client) -> None:
    stream = make(client, input="snapshots")
    snapshots = [{"a": "x"}, {"a": "xy"}, {"a": "xy", "b": [1]}, {"a": "xy", "b": [1, 2]}]
    body = "".join(json.dumps(snapshot) + "\n" for snapshot in snapshots)
    assert add(client, stream, body, content_type="application/x-ndjson").json() == {"last": 4}
    last = {"a": "xy", "b": [1, 2], "c": None}
    one = add(client, stream, json.dumps(last), content_type="application/json")
    assert one.json() == {"last": 5}
    finish(client, stream)
    text = "".join(datas(read(server, stream, "format=text")))
    assert json.loads(text) == last
    assert datas(read(server, stream))[-1]["data"] == json.loads(text)


def test_a_revision_is_an_error_of_the_stream(server: Server, client: httpx2.Client) -> None:
    stream = make(client, input="snapshots")
    add(client, stream, '{"a":"xyz"}\n{"a":"other"}\n', content_type="application/x-ndjson")
    finish(client, stream)
    last = datas(read(server, stream, "format=text"))[-1]
    assert (last["status"], last["error"]["code"]) == ("ERROR", "REVISION")


def chat(**delta: Any) -> dict[str, Any]:
    return {"id": "r", "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}


EVENTS = [
    chat(content="Let me "),
    chat(content="see."),
    chat(tool_calls=[{"index": 0, "id": "c1", "function": {"name": "f", "arguments": '{"a":'}}]),
    chat(tool_calls=[{"index": 0, "function": {"arguments": '"b"}'}}]),
    {"id": "r", "choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]},
]


@pytest.mark.parametrize("how", ["ndjson", "sse"])
def test_provider_events_become_calls(server: Server, client: httpx2.Client, how: str) -> None:
    stream = make(client, input="events")
    if how == "ndjson":
        body, media = "\n".join(map(json.dumps, EVENTS)), "application/x-ndjson"
    else:
        body = "".join(f"data: {json.dumps(event)}\n\n" for event in EVENTS) + "data: [DONE]\n\n"
        media = "text/event-stream"
    assert add(client, stream, body, content_type=media).json() == {"last": 5}
    finish(client, stream)
    events = datas(read(server, stream, "format=calls"))
    assert [event["kind"] for event in events][-1] == "tools_aggregate"
    parts = [part for event in events for part in event.get("tool_call_updates", [])]
    assert "".join(part.get("function_args", "") for part in parts) == '{"a":"b"}'
    value = client.get(f"/v1/streams/{stream}/value").json()
    assert value["text"] == "Let me see."
    call = {"id": "c1", "name": "f", "args": {"a": "b"}, "status": "complete"}
    assert value["calls"] == [call]
    assert "".join(datas(read(server, stream, "format=text"))) == "Let me see."


def test_a_streamed_body_is_published_as_it_arrives(server: Server, client: httpx2.Client) -> None:
    stream = make(client)

    async def both() -> list[SSEEvent]:
        url = f"{server.url}/v1/streams/{stream}"
        async with Events(f"{url}/events?format=text") as events:
            coming = aiter(events)
            seen = asyncio.Queue[SSEEvent]()

            async def body() -> Any:
                yield b'{"a":'
                seen.put_nowait(await anext(coming))
                yield '"é'.encode()[:2]
                yield '"é'.encode()[2:] + b'"}'

            async with httpx2.AsyncClient() as writer:
                answer = await writer.post(f"{url}/events", content=body(), headers=PLAIN)
                assert answer.status_code == 200
                await writer.post(f"{url}/close")
            return [await seen.get(), *[event async for event in coming]]

    async def bounded() -> list[SSEEvent]:
        async with asyncio.timeout(60):
            return await both()

    first, *rest = datas(asyncio.run(bounded()))
    assert first == '{"a":' and "".join(rest) == '"é"}'


def test_a_repeated_request_adds_nothing(server: Server, client: httpx2.Client) -> None:
    """A text too, in however many pieces it arrives, and after the stream has ended."""
    stream = make(client)

    def send(text: str, seq: int, content_type: str = "text/plain") -> httpx2.Response:
        headers = {"content-type": content_type, **numbered(seq)}
        return client.post(f"/v1/streams/{stream}/events", content=text, headers=headers)

    for _ in range(3):
        answer = send('"[1"\n",2"\n', 0, "application/x-ndjson")
        assert answer.json() == {"last": 2}
    gap = send("x", 5)
    assert (gap.status_code, gap.json()["error"]["code"]) == (409, "SEQUENCE_GAP")
    assert gap.headers["producer-expected-seq"] == "1"
    assert send("]", 1).json() == send("]", 1).json() == {"last": 3}
    finish(client, stream)
    assert send("]", 1).json() == {"last": 4}
    assert send("]", 2).status_code == 409
    assert "".join(datas(read(server, stream, "format=text"))) == "[1,2]"


def test_a_value_is_another_when_the_log_is(server: Server, client: httpx2.Client) -> None:
    """Two streams of the same length have different tags."""
    tags = {client.get(f"/v1/streams/{published(client)}/value").headers["etag"] for _ in range(3)}
    assert len(tags) == 3


def test_a_reader_of_another_log_is_told(server: Server, client: httpx2.Client) -> None:
    """Its id was made from records that this log does not have: LOG_LOST, whatever it asks for."""
    stream = published(client)
    other = published(client)
    for event in read(server, other, "format=raw"):
        events = read(server, stream, f"format=raw&after={event.id}")
        assert json.loads(events[-2].data)["error"]["code"] == "LOG_LOST"
        assert events[-1].type == "CLOSE"
    longer = read(server, stream, "format=raw&after=999-00000000")
    assert json.loads(longer[0].data)["error"]["code"] == "LOG_LOST"


def test_a_cancelled_stream_ends_with_an_error(server: Server, client: httpx2.Client) -> None:
    stream = make(client)
    add(client, stream, '{"a":1')
    assert client.post(f"/v1/streams/{stream}/cancel").json()["closed"] is True
    assert add(client, stream, "}").status_code == 409
    last = datas(read(server, stream))[-1]
    assert (last["status"], last["error"]["code"]) == ("ERROR", "CANCELLED")
    assert client.get(f"/v1/streams/{stream}/value").json()["error"]["code"] == "CANCELLED"


def test_a_failed_stream_tells_its_readers(server: Server, client: httpx2.Client) -> None:
    stream = make(client)
    failure = {"status": "error", "code": "MODEL_DOWN"}
    client.post(f"/v1/streams/{stream}/close", json={**failure, "message": "sorry"})
    assert datas(read(server, stream)) == [
        {"status": "ERROR", "error": {"code": "MODEL_DOWN", "message": "sorry"}}
    ]


def test_bad_json_is_an_update_and_the_end_still_comes(
    server: Server, client: httpx2.Client
) -> None:
    stream = published(client, "[1, nonsense]")
    updates = datas(read(server, stream))
    assert updates[0]["data"] == 1
    assert updates[-1]["error"]["code"] == "INVALID_JSON"
    fragments = datas(read(server, stream, "format=fragments"))
    assert fragments[-1]["error"]["code"] == "INVALID_JSON"


def test_a_lost_producer_ends_the_stream(server: Server, client: httpx2.Client) -> None:
    stream = make(client, lease=1)
    add(client, stream, '[{"a":1}')
    begun = time.monotonic()
    updates = datas(read(server, stream))
    assert updates[-1] == {
        "status": "ERROR",
        "error": {"code": "PRODUCER_LOST", "message": LOST.message},
    }
    assert time.monotonic() - begun < 6 * SLACK  # the lease, and at most two looks
    # One that nobody reads is found lost by whoever asks next.
    other = make(client, lease=1)
    time.sleep(1.2)
    assert client.get(f"/v1/streams/{other}").json()["closed"] is True


def test_silence_is_broken_by_a_heartbeat_of_one_line(
    server: Server, client: httpx2.Client
) -> None:
    stream = make(client)

    async def listen() -> bytes:
        url = f"{server.url}/v1/streams/{stream}/events"
        async with asyncio.timeout(60), Events(url) as events:
            async for _ in events.chunks():
                if b": hb\n" in events.raw:
                    break
            return events.raw

    raw = asyncio.run(listen())
    assert raw.startswith(b": open\n: hb\n")
    assert set(raw.splitlines()) == {b": open", b": hb"} and b"\n\n" not in raw


def test_a_deleted_stream_is_gone(client: httpx2.Client) -> None:
    stream = published(client)
    assert client.delete(f"/v1/streams/{stream}").status_code == 204
    for path in ("", "/events", "/value"):
        assert client.get(f"/v1/streams/{stream}{path}").status_code == 404


def test_a_head_request_starts_nothing(client: httpx2.Client) -> None:
    stream = make(client)
    answer = client.head(f"/v1/streams/{stream}/events")
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/event-stream")
