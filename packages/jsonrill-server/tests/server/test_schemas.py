"""Schemas of strangers: small to send, large to compile. Memory is bounded, others do not wait.

`tests/hard/hard_schemas.py` tries the largest of each kind, against a clock.
"""

from __future__ import annotations

import asyncio
import gc
import time
from contextlib import AsyncExitStack
from typing import Any

import pytest

from jsonrill_server.runs.hub import Hub
from jsonrill_server.runs.options import StreamOptions, ViewOptions
from jsonrill_server.runs.positions import START
from jsonrill_server.runs.records import CLOSED
from jsonrill_server.runs.render import check_options
from jsonrill_server.runs.schemas import Schemas
from jsonrill_server.runs.settings import Settings
from jsonrill_server.store.memory import MemoryStore
from support import hard
from support.hostile import (
    LONGEST,
    chain,
    nested,
    patterns,
    properties,
)
from support.processes import Server

# Each with whether it is refused.
HEAVY: dict[str, tuple[Any, bool]] = {
    "Unicode classes": (patterns(20, r"\p{L}{200}"), True),
    "Unicode classes in groups": (patterns(20, r"(?:(?:\p{L}|x){14}){14}"), True),
    "Unicode classes in lookahead": (patterns(1, r"(?=\p{L}{3})" * 2000), True),
    "repetitions": (patterns(50, r"((a{40}){40}){9}"), True),
    "a long pattern": ({"pattern": "ab?" * 300_000}, True),
    "patterns of keys": (
        {"patternProperties": {f"^p.*{at}$": {"type": "string"} for at in range(15_000)}},
        True,
    ),
    "alternatives": ({"anyOf": [{"const": at} for at in range(40_000)]}, True),
    "empty alternatives": ({"oneOf": [{}] * 200_000}, True),
    "a tree of alternatives": (nested(8, lambda inner: {"anyOf": [inner, inner]}), False),
    "conditions": (
        {"allOf": [{"if": {"const": at}, "then": {"minLength": at}} for at in range(300)]},
        False,
    ),
    "references": (chain(300), False),
    "too many references": (chain(10_000), True),
    "properties": (properties(1000), False),
    "too many properties": (properties(25_000), True),
    "values": ({"enum": [f"value-{at}" for at in range(10_000)]}, False),
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with Server(tmp_path_factory.mktemp("server")) as running:
        yield running


def test_a_heavy_schema_is_given_back_with_its_last_reader() -> None:
    """A view without readers is kept for a while; with such a schema others would be refused."""
    schemas = [{"enum": [f"{name}-{at}" for at in range(5000)]} for name in "ab"]

    async def main() -> None:
        async with AsyncExitStack() as stack:
            hub = Hub(Settings(), MemoryStore())
            await hub.open()
            stack.push_async_callback(hub.close)
            for schema in schemas:
                options = StreamOptions(schema=schema)
                stream = await hub.create("o", options, "p", 60)
                await hub.end(stream, CLOSED)
                status = await hub.status(stream)
                async with hub.reader(stream, status, ViewOptions(), START) as reader:
                    async for _ in reader.chunks():
                        assert len(hub.schemas._in_use) == 1
                del reader, options, status
                await asyncio.sleep(0.01)
                await asyncio.gather(*hub.tasks)
                gc.collect()
                assert not hub.schemas._in_use

    asyncio.run(main())


@hard
def test_the_event_loop_goes_on_while_a_large_schema_is_compiled(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """15 000 properties are accepted. In processor time, which a busy machine does not change."""
    monkeypatch.setattr("jsonrill_server.runs.schemas.LONGEST", 300)
    gc.collect()
    gc.freeze()  # what other tests have left is not the server's, and takes a collection seconds

    async def main() -> None:
        options = StreamOptions(schema=properties(15_000))
        checking = Schemas().compiling(options, lambda: check_options(options))
        work = asyncio.create_task(checking)
        longest, last = 0.0, time.process_time()
        while not work.done():
            await asyncio.sleep(0.001)
            now = time.process_time()
            longest, last = max(longest, now - last), now
        await work
        assert longest < LONGEST

    try:
        asyncio.run(main())
    finally:
        gc.unfreeze()


def test_others_have_their_turn_between_two_large_schemas() -> None:
    events: list[str] = []

    def read() -> StreamOptions:
        events.append("read")
        return StreamOptions()

    async def others() -> None:
        while events.count("read") < 4:
            events.append("other")
            await asyncio.sleep(0)

    async def main() -> None:
        schemas = Schemas()
        await asyncio.gather(*[schemas.in_turn(read) for _ in range(4)], others())

    asyncio.run(main())
    assert "read read" not in " ".join(events)
