"""A reader that comes back where its view is new gets the rest of a stream of any size.

The rings of views are made small here, around the size of what each stream is rendered as: what
needs megabytes with real ones happens with a few records. `tests/hard/hard_kill.py` has real ones.
"""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import product
from typing import Any

import pytest

from jsonrill.eventstream import SSEDecoder, SSEEvent
from jsonrill_server.runs import hub as hub_module
from jsonrill_server.runs import view as view_module
from jsonrill_server.runs.hub import Hub
from jsonrill_server.runs.options import FORMATS, StreamOptions, ViewOptions
from jsonrill_server.runs.positions import START, Position, parse
from jsonrill_server.runs.records import Input, Record
from jsonrill_server.runs.settings import Settings
from jsonrill_server.runs.value import read_log
from jsonrill_server.store import LogLost, MemoryStore, Store, open_store
from support import HARDER, SLACK, TIMES, few

RECORDS = 40
LARGE = 1 << 30
HOWS = ("restart", "other replica", "dropped view")
TEXTS = ["[", *[json.dumps({"n": at, "text": "x" * (at % 7)}) + "," for at in range(RECORDS)], "0]"]


def _event(text: str) -> str:
    function = {"name": "f", "arguments": text}
    call = {"index": 0, "id": "c", "type": "function", "function": function}
    return json.dumps({"choices": [{"index": 0, "delta": {"content": "a", "tool_calls": [call]}}]})


EVENTS = [_event(text) for text in TEXTS]
TEXT_VIEWS = [
    *(ViewOptions(format=format) for format in FORMATS if format not in ("calls", "parts")),
    ViewOptions(send="delta"),
]
EVENT_VIEWS = [
    ViewOptions(format=format)
    for format in FORMATS
    if format not in ("updates", "fragments", "text", "deltas")
]
VIEWS = [("text", view) for view in TEXT_VIEWS] + [("events", view) for view in EVENT_VIEWS]


def shown(parameter: Any) -> str:
    if isinstance(parameter, str):
        return parameter
    return f"{parameter.format}-{parameter.send}"


class Places:
    """Hubs on one store, as processes are; each has views of its own."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._memory = MemoryStore() if url == "memory:" else None
        self.hubs: list[Hub] = []

    async def hub(self) -> Hub:
        kept: Any = open_store(self._url) if self._memory is None else _Kept(self._memory)
        hub = Hub(Settings(grace=0.0), kept)
        await hub.open()
        self.hubs.append(hub)
        return hub

    async def after(self, how: str, hub: Hub) -> Hub:
        """The hub that a reader comes back to, which has no view of its stream."""
        if how == "other replica":
            return await self.hub()
        if how == "restart":
            self.hubs.remove(hub)
            await hub.close()
            return await self.hub()
        async with asyncio.timeout(5 * SLACK):
            while hub.metrics.get("views"):
                await asyncio.sleep(0.001)
        return hub


class _Kept:
    """A store in memory that is there after a hub on it was closed."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def close(self) -> None:
        pass


@asynccontextmanager
async def places(url: str) -> AsyncIterator[Places]:
    processes = Places(url)
    try:
        yield processes
    finally:
        for hub in processes.hubs:
            await hub.close()


async def publish(hub: Hub, input: Input) -> str:
    stream = await hub.create("o", StreamOptions(input=input), "", 600)
    bodies = TEXTS if input == "text" else EVENTS
    await hub.append(stream, "", [Record(input, body) for body in bodies])
    return stream


async def read(hub: Hub, stream: str, view: ViewOptions, position: Position) -> list[SSEEvent]:
    """The events after a position, to the end of the response."""
    decoder, status = SSEDecoder(), await hub.status(stream)
    async with hub.reader(stream, status, view, position) as reader:
        return [event async for chunk in reader.chunks() for event in decoder.feed(chunk)]


def knows(events: list[SSEEvent]) -> list[str]:
    """What a client has learned."""
    return [f"{event.type} {event.data}" for event in events]


def rings(monkeypatch: pytest.MonkeyPatch, frames: int, size: int) -> None:
    """Let rings hold a number of frames, or bytes, and let each frame be a step."""
    cost, room = (0, size) if frames == LARGE else (LARGE, frames * LARGE + LARGE // 2)
    monkeypatch.setattr(view_module, "FRAME_COST", cost)
    monkeypatch.setattr(view_module, "RING_BYTES", room)
    monkeypatch.setattr(view_module, "STEP_BYTES", 1)


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Views are dropped at once."""
    monkeypatch.setattr(hub_module, "LINGER", 0.0)


def bounds(events: list[SSEEvent]) -> list[tuple[int, int]]:
    """Sizes of rings, in frames and bytes: around what a stream is rendered as, and far below."""
    count, size = len(events), sum([len(event.data) + len(event.id) + 14 for event in events])
    by_frames = [max(count + more, 1) for more in (-1, 0, 1, -count // 2)]
    by_size = [size * share // 16 for share in (1, 8, 15, 16, 17)]
    return [(3, LARGE), *((it, LARGE) for it in by_frames), *((LARGE, it) for it in by_size)]


def some_of(count: int) -> list[int]:
    """The first of so many, one in the middle, and the last three."""
    return sorted({at for at in (0, count // 2, count - 3, count - 2, count - 1) if at >= 0})


async def check_closed(
    url: str, input: Input, view: ViewOptions, patch: pytest.MonkeyPatch, share: float
) -> None:
    """Come back with the ids of events of a stream that has ended."""
    chance = random.Random(str(view))
    async with places(url) as processes:
        rings(patch, LARGE, LARGE)
        hub = await processes.hub()
        stream = await publish(hub, input)
        await hub.end(stream)
        whole = await read(hub, stream, view, START)
        has_id = [at for at, event in enumerate(whole[:-1]) if event.id]
        for ring, which, how in product(bounds(whole), some_of(len(has_id)), HOWS):
            if chance.random() < share:
                at = has_id[which]
                rings(patch, *ring)
                hub = await processes.after(how, hub)
                async with asyncio.timeout(3 * SLACK):
                    rest = await read(hub, stream, view, parse(whole[at].id))
                assert knows(rest) == knows(whole[at + 1 :]), (ring, at, how)


async def check_open(
    url: str, input: Input, view: ViewOptions, patch: pytest.MonkeyPatch, share: float
) -> None:
    """Come back after records of a stream that ends a moment later."""
    chance = random.Random(str(view))
    async with places(url) as processes:
        hub = await processes.hub()
        for ring, which, how in product([(3, LARGE), (20, LARGE), (LARGE, 500)], range(5), HOWS):
            if chance.random() >= share:
                continue
            stream = await publish(hub, input)
            entries = await anext(hub.store.read(stream))
            entry = entries[some_of(len(entries))[which]]
            rings(patch, *ring)
            hub = await processes.after(how, hub)
            position = Position(entry.seq, mark=entry.mark)
            reading = asyncio.create_task(read(hub, stream, view, position))
            await asyncio.sleep(0.002)
            await hub.end(stream)
            async with asyncio.timeout(3 * SLACK):
                rest = await reading
            rings(patch, LARGE, LARGE)
            hub = await processes.after("dropped view", hub)
            after = await read(hub, stream, view, position)
            assert knows(rest) == knows(after), (ring, entry.seq, how)


@few(12)
@pytest.mark.parametrize(("input", "view"), VIEWS, ids=shown)
@pytest.mark.parametrize("check", [check_closed, check_open])
def test_the_rest_in_every_format(
    check: Any, input: Input, view: ViewOptions, monkeypatch: pytest.MonkeyPatch
) -> None:
    asyncio.run(check("memory:", input, view, monkeypatch, 0.1 * TIMES))


@few(3)
@pytest.mark.parametrize("check", [check_closed, check_open])
def test_the_rest_on_every_store(check: Any, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for input, view in random.Random(url).sample(VIEWS, len(VIEWS) if HARDER else 6):
        asyncio.run(check(url, input, view, monkeypatch, 0.02 * TIMES))


def test_a_reader_of_records_as_they_are_begins_at_its_position() -> None:
    """And not with the first record, which takes 15 s for a million of them."""
    read_after: list[int] = []

    class Counting(MemoryStore):
        async def _find(self, stream: str, after: int, count: int) -> Any:
            if after >= 0 and count:  # not its head alone, or what it is about
                read_after.append(after)
            return await super()._find(stream, after, count)

    async def main() -> None:
        hub = Hub(Settings(), Counting())
        await hub.open()
        stream = await publish(hub, "text")
        await hub.end(stream)
        view, count = ViewOptions(format="raw"), len(TEXTS)
        for after in (count - 2, count // 2):  # the second is older than what the first left
            read_after.clear()
            assert len(await read(hub, stream, view, Position(after))) >= count - after
            assert min(read_after) == after - 1
        await hub.close()

    asyncio.run(main())


@pytest.mark.parametrize("last", [1, 2])
def test_a_log_that_lost_records_is_not_taken_for_a_whole_one(last: int) -> None:
    """Else who goes on with a run from its log writes a part of it again, or waits for ever."""

    async def scenario() -> None:
        store = MemoryStore()
        await store.acquire("s", "p", lease=10.0, meta=b"{}")
        await store.append("s", "p", [b"t1"] * (last - 1))
        async with asyncio.timeout(10 * SLACK):
            with pytest.raises(LogLost, match="lost records"):
                await read_log(store, "s", last)

    asyncio.run(scenario())
