"""The Durable Streams front: whose streams these are, what is refused, one log for all formats."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any
from unittest.mock import patch

import httpx2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jsonrill.eventstream import SSEDecoder
from jsonrill_server import Config, create_app
from jsonrill_server.runs import durable
from jsonrill_server.runs.durable import (
    BadRequest,
    DurableSettings,
    Page,
    cursor,
    data_event,
    offset,
    parse_offset,
    records_of,
    stream_id,
    with_cursor,
)
from jsonrill_server.store import Entry, MemoryStore, Store, Tail, open_store
from support import few, tries

JSON = {"content-type": "application/json"}
PLAIN = {"content-type": "text/plain"}
BYTES = {"content-type": "application/octet-stream"}
ANNE = {"authorization": "Bearer anne-0123456789abcd"}
BOB = {"authorization": "Bearer bob-0123456789abcdef"}
TOKENS = ("anne:anne-0123456789abcd", "bob:bob-0123456789abcdef")
PATH = "/v1/durable/chats/1"
NONE: Mapping[str, str] = {}
Http = httpx2.AsyncClient


@asynccontextmanager
async def served(store: Store | None = None, **settings: Any) -> AsyncIterator[Http]:
    app = create_app(Config(access_log=False, **settings), store=store)
    transport = httpx2.ASGITransport(app=app)
    try:
        async with Http(transport=transport, base_url="http://localhost", timeout=60) as http:
            yield http
    finally:
        await app.state.hub.close()


def run(work: Callable[[Http], Awaitable[Any]], **settings: Any) -> Any:
    async def main() -> Any:
        async with asyncio.timeout(60), served(**settings) as http:
            return await work(http)

    return asyncio.run(main())


async def made(
    http: Http, path: str = PATH, body: bytes = b"", headers: Mapping[str, str] = NONE
) -> httpx2.Response:
    answer = await http.put(path, content=body, headers={**JSON, **headers})
    assert answer.status_code == 201, answer.text
    return answer


def numbered(seq: int, epoch: int = 0, name: str = "a") -> dict[str, str]:
    return {"producer-id": name, "producer-epoch": str(epoch), "producer-seq": str(seq)}


# ---- access ----


def test_a_path_is_that_of_its_owner_alone() -> None:
    async def work(http: Http) -> None:
        assert (await http.put(PATH, headers=JSON)).status_code == 401
        await made(http, headers=ANNE)
        assert (await http.post(PATH, content="1", headers={**JSON, **ANNE})).status_code == 204
        for method in ("GET", "HEAD", "POST", "DELETE"):
            assert (await http.request(method, PATH)).status_code == 401
            answer = await http.request(method, PATH, headers={**JSON, **BOB}, content=b"2")
            assert answer.status_code == 404
        # Another owner has a stream of its own under the same path.
        await made(http, headers=BOB)
        assert (await http.get(PATH, headers=BOB)).json() == []
        assert (await http.get(PATH, headers=ANNE)).json() == [1]
        assert (await http.delete(PATH, headers=BOB)).status_code == 204
        assert (await http.get(PATH, headers=ANNE)).json() == [1]

    run(work, tokens=TOKENS)


def test_a_ticket_reads_by_id_and_does_nothing_else() -> None:
    async def work(http: Http) -> None:
        stream = (await made(http, body=b"[1,2]", headers=ANNE)).headers["jsonrill-stream"]
        ticket = (
            await http.post("/v1/tickets", json={"stream": stream}, headers={**JSON, **ANNE})
        ).json()["ticket"]
        url = f"/v1/streams/{stream}/durable"
        assert (await http.get(url)).status_code == 401
        answer = await http.get(url, params={"ticket": ticket})
        assert answer.json() == [1, 2] and answer.headers["set-cookie"]
        assert (await http.post(url, content="3", headers=JSON)).status_code == 401
        assert (await http.delete(url)).status_code == 401
        assert (await http.get(url, headers=BOB)).status_code == 404
        assert (await http.get(url, headers=ANNE)).json() == [1, 2]

    run(work, tokens=TOKENS)


def test_limits_and_quotas_are_those_of_all_streams() -> None:
    async def work(http: Http) -> None:
        await made(http, "/v1/durable/a")
        await made(http, "/v1/durable/b")
        third = await http.put("/v1/durable/c", headers=JSON)
        assert third.status_code == 429 and third.headers["retry-after"]
        # What is closed counts no longer.
        await http.post("/v1/durable/a", headers={"stream-closed": "true"})
        await made(http, "/v1/durable/c")
        long = json.dumps("x" * 3000)
        for body in (long, f"[1, {long}]"):
            answer = await http.post("/v1/durable/c", content=body, headers=JSON)
            assert answer.status_code == 413 and "2000" in answer.text
        assert (await http.get("/v1/durable/c")).json() == []
        big = await http.post("/v1/durable/c", content=f"[{'1,' * 5000}1]", headers=JSON)
        assert big.status_code == 413
        full = await http.post("/v1/durable/c", content=f"[{'1,' * 60}1]", headers=JSON)
        assert full.status_code == 413
        assert (await http.post("/v1/durable/c", content="1", headers=JSON)).status_code == 204
        # Readers that wait are counted.
        waiting = asyncio.create_task(http.get("/v1/durable/c?offset=now&live=long-poll"))
        await asyncio.sleep(0.1)
        for live in ("long-poll", "sse"):
            answer = await http.get(f"/v1/durable/c?offset=now&live={live}")
            assert answer.status_code == 429
        await http.post("/v1/durable/c", content="2", headers=JSON)
        answer = await waiting
        assert answer.json() == [2] and int(answer.headers["stream-cursor"]) > 0
        metrics = (await http.get("/metrics")).text
        assert "jsonrill_readers 0" in metrics

    limits = {"owner_streams": 2, "record_bytes": 2000, "body_bytes": 9000, "stream_entries": 50}
    run(work, readers_per_stream=1, **limits)


def test_a_browser_runs_nothing_of_a_stream() -> None:
    async def work(http: Http) -> None:
        page = b"<script src='/v1/durable/chats/2'></script>"
        answer = await http.put(PATH, content=page, headers={"content-type": "text/html"})
        answer = await http.get(PATH)
        assert answer.content == page
        assert answer.headers["content-security-policy"] == "sandbox; default-src 'none'"
        assert answer.headers["x-content-type-options"] == "nosniff"

    run(work)


def test_a_page_of_another_site_may_use_it_only_if_it_is_named() -> None:
    asked = {
        "origin": "https://app.example",
        "access-control-request-method": "PUT",
        "access-control-request-headers": "producer-id,stream-ttl,stream-seq,stream-closed",
    }

    async def named(http: Http) -> None:
        assert (await http.options(PATH, headers=asked)).status_code == 200
        answer = await http.put(PATH, headers={**JSON, "origin": "https://app.example"})
        exposed = answer.headers["access-control-expose-headers"]
        assert answer.status_code == 201 and "stream-next-offset" in exposed

    async def unnamed(http: Http) -> None:
        answer = await http.put(PATH, headers={**JSON, "origin": "https://app.example"})
        assert answer.status_code == 403

    run(named, origins=("https://app.example",))
    run(unnamed)


# ---- one log ----


def test_every_format_reads_what_a_client_of_this_protocol_wrote() -> None:
    async def work(http: Http) -> None:
        chunk = {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {}}]}
        stream = (await made(http)).headers["jsonrill-stream"]
        for text in ('{"a"', ": [1, 2]}"):
            chunk["choices"] = [{"index": 0, "delta": {"content": text}}]
            await http.post(PATH, content=json.dumps([chunk]), headers=JSON)
        await http.post(PATH, headers={"stream-closed": "true"})
        url = f"/v1/streams/{stream}"
        assert (await http.get(url)).json()["closed"]
        assert (await http.get(f"{url}/value")).json()["text"] == '{"a": [1, 2]}'
        updates = (await http.get(f"{url}/events", params={"format": "updates"})).text
        assert '"status":"COMPLETED","data":{"a":[1,2]}' in updates
        assert "CLOSE" in updates
        again = await http.put(PATH, headers={**JSON, "stream-closed": "true"})
        assert again.status_code == 200 and again.headers["jsonrill-stream"] == stream

        await http.put("/v1/durable/text", content=b'{"b": ', headers=PLAIN)
        await http.post("/v1/durable/text", content=b"true}", headers=PLAIN)
        stream = (await http.head("/v1/durable/text")).headers["jsonrill-stream"]
        value = (await http.get(f"/v1/streams/{stream}/value")).json()
        assert (value["value"], value["complete"]) == ({"b": True}, True)

    run(work)


def test_messages_that_are_no_events_break_no_format() -> None:
    messages = [1, "x", None, [1], {"type": 5}, {"choices": [[]]}, True, -0.5e3, {"": {"a": []}}]

    async def work(http: Http) -> None:
        answer = await made(
            http, body=json.dumps(messages).encode(), headers={"stream-closed": "true"}
        )
        stream = answer.headers["jsonrill-stream"]
        for format in ("updates", "fragments", "chunks", "calls", "raw", "openai"):
            answer = await http.get(f"/v1/streams/{stream}/events", params={"format": format})
            assert answer.status_code == 200 and "cannot be shown" not in answer.text, format
        for dialect in ("ai-sdk", "ag-ui"):
            assert (await http.post(f"/v1/streams/{stream}/{dialect}")).status_code == 200
        assert (await http.get(f"/v1/streams/{stream}/value")).status_code == 200

    run(work)


def test_bytes_that_are_no_text_are_an_error_of_the_other_formats() -> None:
    async def work(http: Http) -> None:
        answer = await http.put(PATH, content=b"[1, \xff\xfe]", headers=BYTES)
        stream = answer.headers["jsonrill-stream"]
        await http.post(PATH, headers={"stream-closed": "true"})
        assert (await http.get(PATH)).content == b"[1, \xff\xfe]"
        events = (await http.get(f"/v1/streams/{stream}/events")).text
        assert "INVALID_JSON" in events and "not UTF-8" in events and "COMPLETED" not in events
        value = (await http.get(f"/v1/streams/{stream}/value")).json()
        assert value["error"]["code"] == "INVALID_JSON" and not value["complete"]

    run(work)


def test_a_client_of_this_protocol_reads_any_stream() -> None:
    async def work(http: Http) -> None:
        urls = (await http.post("/v1/streams", json={"input": "snapshots"})).json()["urls"]
        url = f"{urls['stream']}/durable"
        lines = {"content-type": "application/x-ndjson"}
        await http.post(urls["chunks"], content='{"a": 1}\n{"a": 12}\n', headers=lines)
        answer = await http.get(url)
        assert answer.json() == [{"a": 1}, {"a": 12}]
        assert answer.headers["content-type"] == "application/json"
        # To append, it is not one of this protocol's.
        post = await http.post(url, content="1", headers=JSON)
        assert post.status_code == 405 and "chunks" in post.text and post.headers["allow"]
        await http.post(urls["close"])
        assert (await http.get(url)).headers["stream-closed"] == "true"
        text = (await http.post("/v1/streams")).json()["urls"]
        await http.post(text["chunks"], content="é", headers=PLAIN)
        answer = await http.get(f"{text['stream']}/durable")
        assert answer.text == "é" and answer.headers["content-type"].startswith("text/plain")

    run(work)


@pytest.mark.parametrize("live", [None, "long-poll", "sse"])
def test_an_end_with_an_error_does_not_look_like_a_good_one(live: str | None) -> None:
    async def work(http: Http) -> None:
        stream = (await made(http, body=b"[1]")).headers["jsonrill-stream"]
        await http.post(f"/v1/streams/{stream}/cancel")
        query = {"offset": "-1", **({"live": live} if live else {})}
        first = await http.get(PATH, params=query)
        assert first.status_code == 200 and "1" in first.text
        assert "stream-closed" not in first.headers and "streamClosed" not in first.text
        if live == "sse":
            after = json.loads(first.text.rpartition("data:")[2])["streamNextOffset"]
        else:
            after = first.headers["stream-next-offset"]
        second = await http.get(PATH, params={**query, "offset": after})
        assert second.status_code == 410 and second.json()["error"]["code"] == "CANCELLED"
        assert (await http.get(PATH, params={**query, "offset": "now"})).status_code == 410

    run(work)


# ---- offsets, numbers, times ----


def test_an_offset_of_another_log_is_refused() -> None:
    async def work(http: Http) -> None:
        old = (await made(http, body=b"[1,2]")).headers["stream-next-offset"]
        await http.delete(PATH)
        await made(http, body=b"[1,2]")
        for live in ("", "&live=sse", "&live=long-poll"):
            answer = await http.get(f"{PATH}?offset={old}{live}")
            assert answer.status_code == 410 and answer.json()["error"]["code"] == "LOG_LOST"
        beyond = offset(Tail(9, 5))
        assert (await http.get(f"{PATH}?offset={beyond}")).status_code == 410

    run(work)


def test_a_response_has_everything_up_to_a_size(monkeypatch: pytest.MonkeyPatch) -> None:
    async def work(http: Http) -> None:
        numbers = list(range(1200))
        await made(http, body=json.dumps(numbers).encode())
        answer = await http.get(PATH)
        assert answer.json() == numbers and answer.headers["stream-up-to-date"] == "true"
        monkeypatch.setattr("jsonrill_server.http.durable.PAGE_BYTES", 1000)
        answer = await http.get(PATH)
        assert answer.json() == numbers[:500] and "stream-up-to-date" not in answer.headers
        after = answer.headers["stream-next-offset"]
        assert (await http.get(f"{PATH}?offset={after}")).json() == numbers[500:1000]

    run(work)


def test_a_deleted_stream_ends_its_live_readers() -> None:
    async def work(http: Http) -> None:
        await made(http)
        reading = asyncio.create_task(http.get(f"{PATH}?offset=-1&live=sse"))
        polling = asyncio.create_task(http.get(f"{PATH}?offset=-1&live=long-poll"))
        await asyncio.sleep(0.1)
        await http.delete(PATH)
        assert "streamClosed" not in (await reading).text
        assert (await polling).status_code == 404

    run(work)


def test_idempotent_producers_survive_a_restart(tmp_path: Any) -> None:
    """What was accepted before is known afterwards, and what was not is taken then."""
    url = f"sqlite:///{tmp_path}/log.db"

    async def send(http: Http, seq: int, epoch: int = 0) -> int:
        headers = {**JSON, **numbered(seq, epoch)}
        return (await http.post(PATH, content=str(seq), headers=headers)).status_code

    async def main() -> None:
        async with served(open_store(url)) as http:
            await made(http)
            assert [await send(http, seq) for seq in (0, 1, 0, 3)] == [200, 200, 204, 409]
        async with served(open_store(url)) as http:
            assert [await send(http, seq) for seq in (1, 3, 2)] == [204, 409, 200]
            assert await send(http, 0, epoch=1) == 200
        async with served(open_store(url)) as http:
            assert [await send(http, 3), await send(http, 0, epoch=1)] == [403, 204]
            assert (await http.get(PATH)).json() == [0, 1, 2, 0]

    asyncio.run(main())


def test_a_request_that_is_refused_leaves_no_trace() -> None:
    async def work(http: Http) -> None:
        await made(http, headers={"stream-ttl": "60"})
        before = (await http.head(PATH)).headers
        for headers, body in [
            (JSON, "{"),
            (JSON, "[1,]"),
            (JSON, "[1] 2"),
            (JSON, "NaN"),
            (JSON, "[]"),
            (JSON, ""),
            (JSON, "\ufeff1"),
            (PLAIN, "1"),
            ({}, "1"),
            ({**JSON, "producer-id": "a"}, "1"),
            ({**JSON, **numbered(1)}, "1"),
            ({**JSON, **numbered(0, name="a" * 300)}, "1"),
            ({**JSON, "stream-closed": "maybe"}, "1"),
        ]:
            answer = await http.post(PATH, content=body, headers=headers)
            assert answer.status_code in (400, 409), (headers, body)
            assert answer.json()["error"]["message"]
        assert (await http.post(PATH, content=b'"\xff"', headers=JSON)).status_code == 400
        assert (await http.post(PATH, content="[" * 99_999, headers=JSON)).status_code == 400
        after = (await http.head(PATH)).headers
        assert after["stream-next-offset"] == before["stream-next-offset"]
        # The number that was refused is still free.
        good = await http.post(PATH, content="1", headers={**JSON, **numbered(0)})
        assert good.status_code == 200

    run(work)


@pytest.mark.parametrize(
    "headers",
    [
        {"stream-ttl": "1e3"},
        {"stream-ttl": "99999999999999999999999"},
        {"stream-ttl": ""},
        {"stream-expires-at": "tomorrow"},
        {"stream-expires-at": "2030-01-01"},
        {"stream-expires-at": "2030-13-01T00:00:00Z"},
        {"stream-expires-at": "2001-01-01T00:00:00Z"},
        {"stream-expires-at": "2030-01-01T00:00:00"},
        {"content-type": "text"},
        {"content-type": "text/plain/x"},
    ],
)
def test_wrong_settings_make_no_stream(headers: dict[str, str]) -> None:
    async def work(http: Http) -> None:
        answer = await http.put(PATH, headers={**JSON, **headers})
        assert answer.status_code == 400 and answer.json()["error"]["message"]
        assert (await http.head(PATH)).status_code == 404

    run(work)


def test_a_fork_is_refused_and_not_made_as_another_stream() -> None:
    async def work(http: Http) -> None:
        await made(http)
        for fork in ({"stream-forked-from": "/chats/1"}, {"stream-fork-offset": "0"}):
            headers = {**JSON, **fork}
            assert (await http.put("/v1/durable/f", headers=headers)).status_code == 501
        assert (await http.head("/v1/durable/f")).status_code == 404

    run(work)


def test_names_may_have_any_characters() -> None:
    paths = ["a", "a/b", "a%2Fc", "%C3%A9", "a%20b", "..%2F..", "a" * 1000, "%00", "a/"]

    async def work(http: Http) -> None:
        for number, path in enumerate(paths):
            answer = await made(http, f"/v1/durable/{path}", str(number).encode())
            assert answer.headers["location"].endswith(f"/v1/durable/{path}")
        for number, path in enumerate(paths):
            assert (await http.get(f"/v1/durable/{path}")).json() == [number]
        for wrong in ("", "a" * 1025):
            assert (await http.put(f"/v1/durable/{wrong}", headers=JSON)).status_code in (400, 404)

    run(work)


def test_a_time_to_live_of_nothing_is_over_at_once() -> None:
    async def work(http: Http) -> None:
        answer = await http.put(PATH, headers={**JSON, "stream-ttl": "0"})
        assert answer.status_code == 201
        await asyncio.sleep(0.02)
        assert (await http.get(PATH)).status_code == 404

    run(work)


def test_an_open_stream_has_no_producer_to_lose() -> None:
    """Readers of all formats wait as long as it lives; a lease ends nothing."""

    async def main() -> None:
        async with served(MemoryStore(), lease=0.05, keep_open=60.0) as http:
            stream = (await made(http)).headers["jsonrill-stream"]
            await http.post(PATH, content="1", headers=JSON)
            await asyncio.sleep(0.3)
            assert not (await http.get(f"/v1/streams/{stream}")).json()["closed"]
            assert (await http.post(PATH, content="2", headers=JSON)).status_code == 204

    asyncio.run(main())


# ---- pure parts ----

values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)
AS_JSON = DurableSettings("application/json; charset=utf-8")


def all_records(body: bytes, settings: DurableSettings, limit: int = 1 << 20) -> list[bytes]:
    return [record for part in records_of(body, settings, limit, 1000) for record in part]


@settings(max_examples=tries(100), deadline=None)
@given(values, st.sampled_from([None, 1, "\t"]), st.sampled_from([1, 2, 3, 7, 1 << 14]))
def test_messages_are_kept_as_they_are_written(value: Any, indent: Any, window: int) -> None:
    text = json.dumps(value, indent=indent)
    with patch.object(durable, "WINDOW", window):
        messages = [record[1:].decode() for record in all_records(text.encode(), AS_JSON)]
    assert [json.loads(message) for message in messages] == (
        value if isinstance(value, list) else [value]
    )
    assert all(message in text for message in messages)


def test_numbers_keep_all_their_digits() -> None:
    digits = "1" * 9000
    body = f"[{digits}, 0.1000000000000000055511151231257827, 1e999]".encode()
    assert all_records(body, AS_JSON) == [
        b"e" + part.strip() for part in body.strip(b"[]").split(b",")
    ]


@pytest.mark.parametrize("size", [10, 1000, 20_000, 40_000])
@pytest.mark.parametrize(
    "body",
    ["[tru, %s]", "[1 %s]", '["\\x", %s]', "[{%s]", "[%s", "%s 1", '["a\n", %s]', "[NaN, %s]"],
)
def test_what_is_not_json_is_called_so_at_any_size(body: str, size: int) -> None:
    text = body % ",".join(["[]"] * (size // 3))
    with pytest.raises(BadRequest):
        for _ in records_of(text.encode(), AS_JSON, 1 << 15, 1 << 15):
            pass


@pytest.mark.parametrize(
    ("body", "limit", "most", "read"),
    [
        ("[" + "{}," * 100_000 + "{}]", 1000, 5000, 5000),
        ('[1,"' + "x" * 100_000 + '"]', 1000, 5000, 0),
        ('"' + "x" * 1000 + '"', 1000, 5000, 0),
        ('[1,"' + "é" * 500 + '"]', 1000, 5000, 0),
    ],
)
def test_limits_are_kept_while_a_body_is_read(body: str, limit: int, most: int, read: int) -> None:
    """Not when all of it was read: `[{},{},…` of 16 MiB held up all other requests for 10 s."""
    parts = records_of(body.encode(), AS_JSON, limit, most)
    count = 0
    with pytest.raises(OverflowError):
        for part in parts:
            count += len(part)
    assert count == read


@settings(max_examples=tries(200), deadline=None)
@given(st.text(max_size=60), st.integers(4, 9))
def test_a_long_text_is_cut_between_characters(text: str, limit: int) -> None:
    records = all_records(
        text.encode("utf-8", "surrogatepass"), DurableSettings("text/plain"), limit
    )
    assert b"".join(record[1:] for record in records) == text.encode("utf-8", "surrogatepass")
    if text.isprintable():
        assert all(record[:1] == b"t" and len(record) <= limit + 1 for record in records)


@settings(max_examples=tries(200), deadline=None)
@given(st.lists(st.text(alphabet=st.sampled_from("ab: \n\r\x85\u2028é\x00")), min_size=1))
def test_a_text_arrives_in_an_event_as_it_was_but_for_line_ends(texts: list[str]) -> None:
    entries = [Entry(at, b"t" + text.encode()) for at, text in enumerate(texts, 1)]
    decoder = SSEDecoder()
    events = decoder.feed(data_event(entries, DurableSettings("text/plain")) + b"data: x\n\n")
    text = "".join(texts).replace("\r\n", "\n").replace("\r", "\n")
    assert [event.data for event in events] == [text, "x"] or not text


def test_offsets_sort_as_positions_do() -> None:
    tails = [Tail(at, at * 2654435761 % 2**32) for at in (0, 1, 9, 10, 99, 100, 10**15)]
    texts = [offset(tail) for tail in tails]
    assert texts == sorted(texts) and [parse_offset(text) for text in texts] == tails
    for wrong in (
        "",
        "1",
        "-2",
        texts[0] + "\n",
        texts[0].upper() + "x",
        "１" * 16 + "_" + "0" * 8,
    ):
        with pytest.raises(BadRequest):
            parse_offset(wrong)


def test_cursors_never_go_back() -> None:
    now = int(cursor(None))
    assert cursor("0") == cursor("x") == cursor("9" * 99) == str(now) or int(cursor("0")) == now + 1
    for theirs in (now, now + 5, 10**14):
        assert theirs < int(cursor(str(theirs))) <= theirs + 180
    assert now <= (time.time() - 1_728_432_000) / 20 < now + 2


def test_a_reader_with_a_later_cursor_keeps_it() -> None:
    """Only cursors of control events are replaced, not what looks like one in the data."""
    record = (
        b'e{"streamCursor":"1"}\nevent: control\ndata:{"streamNextOffset":"0","streamCursor":"1'
    )
    page = Page.of([Entry(1, record)], up_to_date=True)
    events = page.events(DurableSettings("text/plain"), cursor(None))
    assert with_cursor(events, None) == with_cursor(events, "5") == events
    later = int(cursor(None)) + 1000
    received = SSEDecoder().feed(with_cursor(events, str(later)))
    assert [event.type for event in received] == ["data", "control"]
    assert received[0].data.encode() == record[1:]
    assert int(json.loads(received[1].data)["streamCursor"]) > later


@few(1)
@pytest.mark.parametrize("url", ["memory:", "sqlite"])
def test_a_live_reader_keeps_its_stream_alive(url: str, tmp_path: Any) -> None:
    async def main() -> None:
        store = open_store(url if url == "memory:" else f"sqlite:///{tmp_path}/log.db")
        async with served(store) as http:
            await made(http, headers={"stream-ttl": "1"})
            reading = asyncio.create_task(http.get(f"{PATH}?offset=-1&live=sse"))
            await asyncio.sleep(2.5)
            answer = await http.post(PATH, content="1", headers={**JSON, "stream-closed": "true"})
            assert answer.status_code == 204
            assert "data:[1]" in (await reading).text and "streamClosed" in reading.result().text
            await asyncio.sleep(1.5)
            assert (await http.head(PATH)).status_code == 404

    asyncio.run(main())


def test_each_message_reaches_readers_that_come_and_go() -> None:
    """From any offset, live and not, in pages and one by one, each message comes once."""

    async def work(http: Http) -> None:
        await made(http)
        count = 1500

        async def write() -> None:
            number = 0
            while number < count:
                many = min(1 + number * 7 % 90, count - number)
                body = json.dumps(list(range(number, number + many)))
                await http.post(PATH, content=body, headers=JSON)
                number += many
                await asyncio.sleep(0)
            await http.post(PATH, headers={"stream-closed": "true"})

        async def read(live: str) -> list[int]:
            numbers: list[int] = []
            after, closed = "-1", False
            while not closed:
                query = {"offset": after, **({"live": live} if live else {})}
                answer = await http.get(PATH, params=query)
                if live == "sse":
                    events = SSEDecoder().feed(answer.content)
                    for event in events:
                        body = json.loads(event.data)
                        if event.type == "data":
                            numbers += body
                        else:
                            after, closed = body["streamNextOffset"], "streamClosed" in body
                else:
                    numbers += answer.json() if answer.status_code == 200 else []
                    after = answer.headers["stream-next-offset"]
                    closed = "stream-closed" in answer.headers
                    await asyncio.sleep(0)
            return numbers

        readers = [asyncio.create_task(read(live)) for live in ("", "long-poll", "sse", "sse")]
        await write()
        readers += [asyncio.create_task(read("sse"))]
        for reader in readers:
            assert await reader == list(range(count))

    run(work, max_connection=0.05, stream_entries=5000)


def test_ids_differ_by_owner_and_path() -> None:
    pairs = [("a", "b"), ("a", "c"), ("b", "b"), ("a\nb", ""), ("a", "b\n")]
    assert len({stream_id(*pair) for pair in pairs}) == len(pairs)


def test_each_protocol_appends_to_its_own_streams() -> None:
    """A lease of the other one would end a stream that has no producer to lose."""

    async def work(http: Http) -> None:
        stream = (await made(http)).headers["jsonrill-stream"]
        url = f"/v1/streams/{stream}"
        answer = await http.post(f"{url}/chunks", content='{"a":1}', headers=JSON)
        assert answer.status_code == 405 and "/v1/durable" in answer.text
        assert (await http.get(url)).json()["last"] == 0
        assert (await http.post(f"{url}/durable", content="1", headers=JSON)).status_code == 204
        assert (await http.post(f"{url}/close")).status_code == 200
        answer = await http.post(PATH, content="1", headers=JSON)
        assert answer.status_code == 409 and answer.headers["stream-closed"] == "true"

    run(work)


# ---- any request ----

HEADERS = st.dictionaries(
    st.sampled_from(
        [
            *("content-type", "stream-ttl", "stream-expires-at", "stream-closed", "stream-seq"),
            *("producer-id", "producer-epoch", "producer-seq", "if-none-match"),
            *("stream-forked-from", "stream-fork-offset", "stream-fork-sub-offset"),
        ]
    ),
    st.sampled_from(["application/json", "text/plain", "a/b; c=d", "true", "false", "0", "1", "2"])
    | st.text(st.characters(max_codepoint=255, exclude_categories=["Cc"]), max_size=9),
    max_size=5,
)
QUERY = st.dictionaries(
    st.sampled_from(["offset", "cursor", "ticket", "x"]),
    st.sampled_from(["-1", "now", "0", offset(Tail(1, 1)), offset(Tail(0, 0))])
    | st.text(max_size=5),
    max_size=3,
)
BODY = st.sampled_from([b"", b"1", b"[1,2]", b"[]", b"{", b"\xff", b'"x"', b"[[1]"]) | st.binary()
REQUEST = st.tuples(
    st.sampled_from(["PUT", "POST", "POST", "GET", "HEAD", "DELETE", "PATCH"]),
    st.sampled_from(["/v1/durable/a", "/v1/durable/b", "/v1/durable/"]),
    HEADERS,
    QUERY,
    BODY,
)


@settings(max_examples=tries(60), deadline=None)
@given(st.lists(REQUEST, max_size=12))
def test_no_request_is_an_error_of_the_server(requests: list[Any]) -> None:
    async def work(http: Http) -> None:
        texts: dict[str, bytes] = {}
        for method, path, headers, query, body in requests:
            raw = {name.encode(): value.encode("latin-1") for name, value in headers.items()}
            answer = await http.request(method, path, headers=raw, params=query, content=body)
            assert answer.status_code < 500 or answer.status_code == 501
            if answer.status_code >= 400 and method != "HEAD":
                assert answer.json()["error"]["message"]
            # What was read before is the beginning of what is read now.
            if method == "DELETE" and answer.status_code == 204:
                texts.pop(path, None)
            now = await http.get(path)
            if now.status_code == 200:
                text = now.content.strip(b"[]")
                assert text.startswith(texts.get(path, b""))
                texts[path] = text

    run(work)
