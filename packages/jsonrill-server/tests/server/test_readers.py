"""Readers in one process, without HTTP: from any id, under any grouping, the rest and nothing else.

What was delivered before the cut and what comes after it must together be what an uncut reader
sees, up to what coalescing puts together: joined text, rebuilt value, last state of each entity.
"""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsonrill.eventstream import SSEDecoder, SSEEvent
from jsonrill.partial_stream.delta import apply_delta
from jsonrill_server.runs.options import StreamOptions, ViewOptions
from jsonrill_server.runs.positions import START, Position, parse
from jsonrill_server.runs.reader import Reader
from jsonrill_server.runs.records import CLOSED, Record, to_bytes
from jsonrill_server.runs.render import rendering
from jsonrill_server.runs.view import View, Views
from jsonrill_server.store import MemoryStore, StoreUnavailable
from support import at_random, examples

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
    ViewOptions(format="fragments", wire="compact"),
    ViewOptions(format="chunks"),
    ViewOptions(format="raw"),
]


async def filled(text: str, seed: int, stream: StreamOptions) -> MemoryStore:
    store = MemoryStore()
    await store.acquire("s", "p", lease=60, meta=stream.to_bytes())
    pieces = [to_bytes(Record("text", piece)) for piece in at_random(text, seed)]
    await store.append("s", "p", pieces)
    return store


async def read(
    store: MemoryStore, options: ViewOptions, position: Position, view: View | None = None
) -> list[SSEEvent]:
    stream = StreamOptions()
    views = None if view is None else Views(lambda position: view, START)
    reader = Reader(store, "s", options, position, lambda: rendering(stream, options), views)
    decoder = SSEDecoder()
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


def outcome(options: ViewOptions, events: list[SSEEvent]) -> Any:
    """What a client knows at the end: does not depend on what was put together."""
    found = [json.loads(event.data) for event in events if event.type != "CLOSE"]
    if options.format == "chunks":
        return "".join(found)
    if options.format == "fragments":
        from jsonrill import Rebuilder
        from jsonrill.wire.reader import WireReader

        rebuilder, reader = Rebuilder(), WireReader()
        for batch in found:
            rebuilder.feed([it for item in batch if (it := reader.read(item)) is not None])
        return rebuilder.value, rebuilder.complete
    state: dict[Any, Any] = {}
    for update in found:
        key = (update.get("entity"), update.get("index"))
        if "delta" in update:
            state[key] = apply_delta(state.get(key), update["delta"])
            if "data" in update:
                assert state[key] == update["data"]
        else:
            state[key] = update["data"]
    return state


@examples(40)
@given(
    value=st.sampled_from(VALUES),
    options=st.sampled_from([view for view in VIEWS if view.format != "raw"]),
    size=st.integers(1, 60),
    seed=st.integers(0, 10**6),
    batch=st.sampled_from([1, 2, 5, 500]),
)
def test_coalesced_and_cut_anywhere(
    value: Any, options: ViewOptions, size: int, seed: int, batch: int
) -> None:
    together = replace(options, size=size)
    chance = random.Random(seed)
    # Somewhere else other records are put together.
    elsewhere = replace(options, size=chance.choice([0, 5, 500]))

    async def main() -> None:
        store = await filled(json.dumps(value), seed, StreamOptions())
        view = View(store, "s", rendering(StreamOptions(), together), together, lambda: None, 5.0)
        await asyncio.sleep(0)
        live = asyncio.create_task(read(store, together, START, view))
        await asyncio.sleep(0.001)
        await store.finalize("s", CLOSED.to_bytes())
        here, there = await live, await read(store, elsewhere, START)
        uncut = outcome(options, await read(store, options, START))
        assert outcome(options, here) == outcome(options, there) == uncut
        for before, after, ring in ((here, elsewhere, None), (there, together, view)):
            cut = chance.randrange(len(before))
            position = parse(before[cut].id)
            rest = await read(store, after, position, ring) if cut < len(before) - 1 else []
            assert outcome(options, [*before[: cut + 1], *rest]) == uncut
        await view.close()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("jsonrill_server.store.logs.BATCH", batch)
        asyncio.run(main())


def test_a_reader_that_falls_behind_reads_the_log(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jsonrill_server.runs.view.RING_FRAMES", 10)  # 80 for one that falls behind
    options = ViewOptions(format="raw")

    async def main() -> None:
        store = MemoryStore()
        await store.acquire("s", "p", lease=60, meta=StreamOptions().to_bytes())
        view = View(store, "s", rendering(StreamOptions(), options), options, lambda: None, 5.0)
        make = lambda: rendering(StreamOptions(), options)  # noqa: E731
        reader = Reader(store, "s", options, START, make, Views(lambda position: view, START))
        decoder, seen = SSEDecoder(), []
        chunks = reader.chunks()
        await store.append("s", "p", [to_bytes(Record("text", "0"))])
        seen += decoder.feed(await anext(chunks))
        for at in range(1, 200):
            await store.append("s", "p", [to_bytes(Record("text", str(at)))])
            await asyncio.sleep(0)
        await asyncio.sleep(0.01)
        assert len(view.ring) == 80
        await store.finalize("s", CLOSED.to_bytes())
        async for chunk in chunks:
            seen += decoder.feed(chunk)
        assert [json.loads(event.data) for event in seen[:-1]] == [str(at) for at in range(200)]
        assert seen[-1].type == "CLOSE"
        assert reader.replays == 1
        await view.close()

    asyncio.run(main())


def test_a_stream_that_vanishes_ends_for_its_readers() -> None:
    async def main() -> None:
        store = await filled("[1,2", 1, StreamOptions())
        options = ViewOptions()
        view = View(store, "s", rendering(StreamOptions(), options), options, lambda: None, 5.0)
        reading = asyncio.create_task(read(store, options, START, view))
        await asyncio.sleep(0.01)
        await store.delete("s")
        events = await reading
        assert json.loads(events[-2].data)["error"]["code"] == "GONE"
        assert events[-1].type == "CLOSE"
        await view.close()

    asyncio.run(main())


@pytest.mark.parametrize("behind", [False, True], ids=["in the view", "beside it"])
def test_a_view_that_gives_up_ends_its_readers(
    behind: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those that follow it, and those that fell behind and read the log by themselves."""
    monkeypatch.setattr("jsonrill_server.runs.view.RING_FRAMES", 1 if behind else 1000)
    options = ViewOptions(format="raw")

    async def main() -> None:
        store = await filled("[1,2", 1, StreamOptions())
        view = View(store, "s", rendering(StreamOptions(), options), options, lambda: None, 5.0)
        await asyncio.sleep(0.01)
        make = lambda: rendering(StreamOptions(), options)  # noqa: E731
        reader = Reader(store, "s", options, START, make, Views(lambda position: view, START))
        if behind:
            monkeypatch.setattr(view, "place_after", lambda position: None)
            monkeypatch.setattr(view, "has", lambda position: True)
        decoder = SSEDecoder()
        chunks = reader.chunks()
        seen = decoder.feed(await anext(chunks))
        rest = asyncio.create_task(_all(chunks))
        await asyncio.sleep(0.05)
        assert not rest.done()
        view.fail(StoreUnavailable("away"))
        async with asyncio.timeout(1):
            seen += decoder.feed(await rest)
        assert json.loads(seen[-2].data)["error"]["code"] == "UNAVAILABLE"
        assert seen[-1].type == "CLOSE"
        await view.close()

    asyncio.run(main())


async def _all(chunks: AsyncIterator[bytes]) -> bytes:
    return b"".join([chunk async for chunk in chunks])


@pytest.mark.parametrize("format", ["raw", "chunks"])
def test_a_reader_is_told_that_the_log_is_another(format: str) -> None:
    """From the ring of a view and from the log: its id was made from other records."""
    options = ViewOptions(format=format)

    async def main() -> None:
        old = await filled("[1,2,3]", 1, StreamOptions())
        await old.finalize("s", CLOSED.to_bytes())
        ids = [parse(event.id) for event in await read(old, options, START)]
        store = await filled("[1,2,4]", 1, StreamOptions())
        view = View(store, "s", rendering(StreamOptions(), options), options, lambda: None, 5.0)
        await asyncio.sleep(0.01)
        await store.finalize("s", CLOSED.to_bytes())
        for position in ids:
            for ring in (view, None):
                events = await read(store, options, position, ring)
                assert json.loads(events[-2].data)["error"]["code"] == "LOG_LOST"
        await view.close()

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
    st.integers(1, 10**6),
    st.none() | st.integers(0, 2**32 - 1),
)
def test_ids_are_read_back(seq: int, sub: int | None, count: int, mark: int | None) -> None:
    position = Position(seq + count, sub, 1 if sub is None else count, mark)
    assert parse(str(position)) == position
