"""Readers in one process, without HTTP: from any id, under any grouping, the rest and nothing else.

What was delivered before the cut and what comes after it must together be what an uncut reader
sees, up to what coalescing puts together: joined text, rebuilt value, last state of each entity.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsonrill.eventstream import SSEDecoder, SSEEvent
from jsonrill_server.runs.options import StreamOptions, ViewOptions
from jsonrill_server.runs.positions import START, Position, parse
from jsonrill_server.runs.reader import Reader
from jsonrill_server.runs.records import CLOSED, Record, to_bytes
from jsonrill_server.runs.render import rendering
from jsonrill_server.runs.view import View, Views
from jsonrill_server.store import MemoryStore, StoreUnavailable
from support import at_random

VALUES = [
    {"colors": [{"name": "red", "rgb": [255, 0, 0]}, {"name": "bl\u00fce \U0001f600"}], "n": 12.5},
    [{"a": "x" * 40, "b": None}, {"a": ""}, [True, False], "text", -1e10],
    "just a string, somewhat long",
]
VIEWS = [
    ViewOptions(mode="REALTIME"),
    ViewOptions(mode="REALTIME", send="delta"),
    ViewOptions(mode="PROGRESSIVE", send="both"),
    ViewOptions(mode="ALL-TOGETHER"),
    ViewOptions(format="fragments"),
    ViewOptions(format="text"),
    ViewOptions(format="raw"),
]


async def filled(text: str, seed: int, stream: StreamOptions) -> MemoryStore:
    store = MemoryStore()
    await store.acquire("s", "p", lease=60, meta=stream.to_bytes())
    pieces = [to_bytes(Record("text", piece)) for piece in at_random(text, seed)]
    await store.append("s", "p", pieces)
    return store


@asynccontextmanager
async def viewed(store: MemoryStore, options: ViewOptions) -> AsyncIterator[Views]:
    """The views of the stream, as a hub has them."""
    views: list[View] = []

    def make(position: Position, shared: bool) -> View:
        work = rendering(StreamOptions(), options)
        views.append(View(store, "s", work, position, shared=shared))
        return views[-1]

    yield Views(make, bool)
    for view in views:
        await view.close()


def reader_of(views: Views, options: ViewOptions, position: Position = START) -> Reader:
    return Reader(views, position, lambda: rendering(StreamOptions(), options))


async def read(
    store: MemoryStore, options: ViewOptions, position: Position, views: Views | None = None
) -> list[SSEEvent]:
    decoder = SSEDecoder()
    async with viewed(store, options) as own:
        reader = reader_of(views or own, options, position)
        return [event async for chunk in reader.chunks() for event in decoder.feed(chunk)]


@pytest.mark.parametrize("options", VIEWS, ids=str)
@pytest.mark.parametrize("value", VALUES, ids=["object", "array", "string"])
def test_from_every_id_exactly_the_rest(options: ViewOptions, value: Any) -> None:
    async def main() -> None:
        store = await filled(json.dumps(value, ensure_ascii=False), 1, StreamOptions())
        await store.finalize("s", CLOSED.to_bytes())
        whole = await read(store, options, START)
        for at, event in enumerate(whole[:-1]):
            assert await read(store, options, parse(event.id)) == whole[at + 1 :]
        status = await store.status("s")
        assert parse(whole[-1].id) == Position(status.last, mark=status.mark)

    asyncio.run(main())


def ring_of(monkeypatch: pytest.MonkeyPatch, frames: int) -> None:
    """Let rings hold this number of frames, and let each be rendered by itself."""
    monkeypatch.setattr("jsonrill_server.runs.view.FRAME_COST", 1 << 20)
    monkeypatch.setattr("jsonrill_server.runs.view.RING_BYTES", (frames << 20) + (1 << 19))
    monkeypatch.setattr("jsonrill_server.runs.view.STEP_BYTES", 1)


def test_a_slow_reader_loses_its_place_and_no_event(monkeypatch: pytest.MonkeyPatch) -> None:
    """Twice at the most: then it reads in a view of its own, which others do not use."""
    ring_of(monkeypatch, 10)
    options = ViewOptions(format="raw")

    async def main() -> None:
        store = MemoryStore()
        await store.acquire("s", "p", lease=60, meta=StreamOptions().to_bytes())
        async with viewed(store, options) as views:
            slow, quick = reader_of(views, options), reader_of(views, options)
            decoders = {slow: SSEDecoder(), quick: SSEDecoder()}
            seen: dict[Reader, list[SSEEvent]] = {slow: [], quick: []}
            chunks = {slow: slow.chunks(), quick: quick.chunks()}

            async def reads(reader: Reader) -> None:
                seen[reader] += decoders[reader].feed(await anext(chunks[reader]))

            for at in range(120):
                await store.append("s", "p", [to_bytes(Record("text", str(at)))])
                await reads(quick)
                while at % 30 == 0 and len(seen[slow]) < len(seen[quick]):
                    await reads(slow)
            assert slow.replays == 2 and quick.replays == 0
            assert [view.shared for view in views.all] == [True, False]
            assert len(views.all[0].ring) == 10 and len(views.all[1].ring) == 1
            await store.finalize("s", CLOSED.to_bytes())
            for reader in (slow, quick):
                async for chunk in chunks[reader]:
                    seen[reader] += decoders[reader].feed(chunk)
                texts = [json.loads(event.data) for event in seen[reader][:-1]]
                assert texts == [str(at) for at in range(120)]
                assert seen[reader][-1].type == "CLOSE"
            assert slow.replays == 2 and len(views.all) == 1

    asyncio.run(main())


def test_readers_of_a_second_view_go_over_to_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    ring_of(monkeypatch, 10)
    options = ViewOptions(format="raw")

    async def main() -> None:
        store = await filled(json.dumps([*range(40)]), 1, StreamOptions())
        last = (await store.status("s")).last
        async with viewed(store, options) as views:
            chunks = [reader_of(views, options, Position(last - 1)).chunks()]
            await anext(chunks[0])
            chunks += [reader_of(views, options).chunks() for _ in range(2)]
            for reading in chunks[1:]:
                await anext(reading)
            assert len(views.all) == 2 and views.all[1].readers == 2
            waiting = [asyncio.create_task(_all(reading)) for reading in chunks]
            while views.all[0].readers < 3:
                await asyncio.sleep(0)
            assert len(views.all) == 1
            await store.finalize("s", CLOSED.to_bytes())
            rest = [SSEDecoder().feed(await reading) for reading in waiting]
            assert len(rest[0]) == 1 and rest[1] == rest[2] and len(rest[1]) == last

    asyncio.run(main())


def test_nothing_is_rendered_before_a_reader_waits_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    ring_of(monkeypatch, 10)
    options = ViewOptions(format="raw")

    async def main() -> None:
        store = await filled(json.dumps([*range(40)]), 1, StreamOptions())
        async with viewed(store, options) as views:
            chunks = reader_of(views, options).chunks()
            await anext(chunks)
            await asyncio.sleep(0.01)
            assert views.all[0].next == 1
            await chunks.aclose()
            assert views.all[0].readers == 0

    asyncio.run(main())


def test_a_stream_that_vanishes_ends_for_its_readers() -> None:
    async def main() -> None:
        store = await filled("[1,2", 1, StreamOptions())
        options = ViewOptions()
        reading = asyncio.create_task(read(store, options, START))
        await asyncio.sleep(0.01)
        await store.delete("s")
        events = await reading
        assert json.loads(events[-2].data)["error"]["code"] == "GONE"
        assert events[-1].type == "CLOSE"

    asyncio.run(main())


@pytest.mark.parametrize("ahead", [False, True], ids=["at its end", "before its place"])
def test_a_view_that_gives_up_ends_its_readers(ahead: bool) -> None:
    options = ViewOptions(format="raw")

    async def main() -> None:
        store = await filled("[1,2", 1, StreamOptions())
        async with viewed(store, options) as views:
            position = Position((await store.status("s")).last) if ahead else START
            rest = asyncio.create_task(_all(reader_of(views, options, position).chunks()))
            await asyncio.sleep(0.05)
            assert not rest.done()
            views.all[0].fail(StoreUnavailable("no answer from 10.1.2.3"))
            async with asyncio.timeout(60):
                seen = SSEDecoder().feed(await rest)
            error = json.loads(seen[-2].data)["error"]
            assert error["code"] == "UNAVAILABLE" and "read on later" in error["message"]
            assert "10.1.2.3" not in error["message"]
            assert seen[-1].type == "CLOSE"
            # Who comes then gets another one.
            await store.finalize("s", CLOSED.to_bytes())
            assert len(await read(store, options, START, views)) >= 2

    asyncio.run(main())


async def _all(chunks: AsyncIterator[bytes]) -> bytes:
    return b"".join([chunk async for chunk in chunks])


@pytest.mark.parametrize("format", ["raw", "text"])
def test_a_reader_is_told_that_the_log_is_another(format: str) -> None:
    """From the ring of a view and from the log: its id was made from other records."""
    options = ViewOptions(format=format)

    async def main() -> None:
        old = await filled("[1,2,3]", 1, StreamOptions())
        await old.finalize("s", CLOSED.to_bytes())
        ids = [parse(event.id) for event in await read(old, options, START)]
        store = await filled("[1,2,4]", 1, StreamOptions())
        await store.finalize("s", CLOSED.to_bytes())
        async with viewed(store, options) as views:
            await read(store, options, START, views)
            for position in ids:
                for rings in (views, None):
                    events = await read(store, options, position, rings)
                    assert json.loads(events[-2].data)["error"]["code"] == "LOG_LOST"

    asyncio.run(main())


@pytest.mark.parametrize(
    "text",
    ["", "x", "-1", "1.", ".1", "1.2.0", "1.0.2", "1 ", "1\n", "9" * 20, "1-", "1-0", "1-0g"],
)
def test_what_is_no_id(text: str) -> None:
    with pytest.raises(ValueError):
        parse(text)


@given(
    st.integers(0, 10**14),
    st.none() | st.integers(0, 10**6),
    st.none() | st.integers(0, 2**32 - 1),
)
def test_ids_are_read_back(seq: int, sub: int | None, mark: int | None) -> None:
    position = Position(seq + 1, sub, mark)
    assert parse(str(position)) == position
