"""Readers who come back together are rendered for together, and each gets exactly the rest."""

from __future__ import annotations

import asyncio
import json
import random
from contextlib import AsyncExitStack
from typing import Any

import pytest

from jsonrill.eventstream import SSEDecoder
from jsonrill_server.runs import hub as hub_module
from jsonrill_server.runs.hub import Hub
from jsonrill_server.runs.options import StreamOptions, TooMany, ViewOptions
from jsonrill_server.runs.positions import Position
from jsonrill_server.runs.records import Record
from jsonrill_server.runs.settings import Settings
from jsonrill_server.runs.view import View
from jsonrill_server.store import MemoryStore
from support import SLACK, hard

RECORDS = 3000
VIEW = ViewOptions(format="text")


async def filled(hub: Hub) -> str:
    stream = await hub.create("o", StreamOptions(), "", 600)
    await hub.append(stream, "", [Record("text", f"{at} ") for at in range(RECORDS)])
    return stream


async def read(hub: Hub, stream: str, position: int, pause: float = 0.0) -> tuple[list[int], int]:
    """The numbers that a reader gets until the last one, and how often it read the log alone."""
    decoder, numbers = SSEDecoder(), []
    status = await hub.status(stream)
    async with hub.reader(stream, status, VIEW, Position(position)) as reader:
        async for chunk in reader.chunks():
            numbers += [
                int(json.loads(event.data)) for event in decoder.feed(chunk) if event.data[0] == '"'
            ]
            await asyncio.sleep(pause)
            pause = 0.0
            if numbers and numbers[-1] == RECORDS - 1:
                break
        return numbers, reader.replays


@pytest.fixture
def views(monkeypatch: pytest.MonkeyPatch) -> list[View]:
    """The views that were made."""
    counted: list[View] = []

    class Counted(View):
        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **options)
            counted.append(self)

    monkeypatch.setattr(hub_module, "View", Counted)
    return counted


@hard
@pytest.mark.parametrize("closed", [False, True], ids=["open", "closed"])
def test_readers_who_come_together_share_few_renderings(closed: bool, views: list[View]) -> None:
    async def main() -> None:
        hub, chance = Hub(Settings(), MemoryStore()), random.Random(1)
        await hub.open()
        stream = await filled(hub)
        if closed:
            await hub.end(stream)
        positions = [chance.choice([0, chance.randrange(RECORDS - 1)]) for _ in range(60)]
        reading = []
        for position in positions:
            reading.append(asyncio.create_task(read(hub, stream, position)))
            await asyncio.sleep(0.001)
        async with asyncio.timeout(20 * SLACK):
            for position, task in zip(positions, reading, strict=True):
                assert await task == ([*range(position, RECORDS)], 0)
        assert len(views) <= 6
        await hub.close()

    asyncio.run(main())


def test_a_slow_reader_does_not_delay_the_others(views: list[View]) -> None:
    async def main() -> None:
        hub = Hub(Settings(), MemoryStore())
        await hub.open()
        stream = await filled(hub)
        slow = asyncio.create_task(read(hub, stream, 0, pause=4.0))
        await asyncio.sleep(0)
        async with asyncio.timeout(3 * SLACK):
            quick = await asyncio.gather(*(read(hub, stream, 0) for _ in range(5)))
        assert all(numbers == [*range(RECORDS)] for numbers, _ in quick)
        async with asyncio.timeout(30 * SLACK):
            assert (await slow)[0] == [*range(RECORDS)]
        await hub.close()

    asyncio.run(main())


def test_different_views_of_one_stream_are_bounded_by_its_size(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """40 readers of a stream of 4 MB, each in a way of its own, took 5.5 GB."""
    monkeypatch.setattr(hub_module, "VIEWS_BYTES", 40_000)
    monkeypatch.setattr(hub_module, "VIEW_BYTES", 1000)

    async def main() -> None:
        hub = Hub(Settings(), MemoryStore())
        await hub.open()
        stream = await filled(hub)  # of 16 kB
        status = await hub.status(stream)
        async with AsyncExitStack() as stack:

            async def reads(**options: Any) -> None:
                view = ViewOptions(format="text", **options)
                await stack.enter_async_context(hub.reader(stream, status, view, Position(0)))

            for _ in range(30):
                await reads()
            await reads(mode="BATCH")
            with pytest.raises(TooMany, match="too many different ways"):
                await reads(entity="x")
            assert hub.metrics.get("views") == 2 and hub.metrics.get("readers") == 31
        await reads_one(hub, stream, ViewOptions(format="raw"))
        await hub.close()

    async def reads_one(hub: Hub, stream: str, view: ViewOptions) -> None:
        """Those that nobody reads any more make room."""
        status = await hub.status(stream)
        async with hub.reader(stream, status, view, Position(0)) as reader:
            assert await anext(reader.chunks())
        assert hub.metrics.get("views") == 2

    asyncio.run(main())
