"""A hostile record does not hold up the event loop (full-sized: `tests/hard/hard_lag.py`)."""

from __future__ import annotations

import asyncio
import json
import random
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from jsonrill.jsontext import dumps, dumps_in_parts
from jsonrill_server.runs import steps
from jsonrill_server.runs.hub import Hub
from jsonrill_server.runs.options import StreamOptions
from jsonrill_server.runs.records import Record
from jsonrill_server.runs.settings import Settings
from jsonrill_server.runs.steps import Steps
from jsonrill_server.runs.value import value_of
from jsonrill_server.store import MemoryStore
from support import SLACK, hard
from support.hostile import HOSTILE, LAG, lag_of

SIZE = 20_000


@hard
@pytest.mark.parametrize("name", HOSTILE)
def test_no_record_holds_up_the_loop(name: str) -> None:
    """In the slowest of its views, and for the value; each stalled the loop before."""
    options, records = HOSTILE[name].make(SIZE // 10 if name == "any of" else SIZE)

    async def main() -> None:
        for view in (*HOSTILE[name].worst, None):
            assert (await lag_of(options, records, view)).busy < LAG * SLACK

    asyncio.run(main())


@pytest.mark.parametrize("at_once", [1, 3, 500])
def test_a_value_written_in_parts_is_the_same_text(at_once: int, monkeypatch: Any) -> None:
    monkeypatch.setattr("jsonrill.jsontext._AT_ONCE", at_once)
    chance = random.Random(1)

    def value(depth: int) -> Any:
        if depth == 0:
            return chance.choice([1, -2.5, "é\ud83d", "", None, True, 1e400, {}, []])
        items = [value(chance.randrange(depth)) for _ in range(chance.randrange(12))]
        return items if chance.random() < 0.5 else {f'"{at}': item for at, item in enumerate(items)}

    for _ in range(200):
        some = value(5)
        assert dumps_in_parts(some) == dumps(some)
    deep: Any = 1
    for _ in range(1500):
        deep = [deep, {"a": 1}]
    assert dumps_in_parts(deep) == dumps(deep)


def test_other_threads_run_while_a_large_value_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compiled code hands Python's lock over where it is told to, and nowhere else."""
    pauses: list[float] = []
    monkeypatch.setattr("jsonrill.jsontext.sleep", pauses.append)
    values: list[Any] = [[{}] * 20_000, {str(at): [at] for at in range(20_000)}, [[1] * 200] * 200]
    values.append([{"a": at, "b": "text"} for at in range(20_000)])
    for value in values:
        pauses.clear()
        text = dumps(value)
        assert dumps_in_parts(value) == text
        assert 20 <= len(pauses) <= len(text) // 500


def test_other_threads_run_while_the_value_of_a_stream_is_written(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pauses: list[float] = []
    monkeypatch.setattr("jsonrill.jsontext.sleep", pauses.append)
    text = json.dumps([{}] * 20_000)

    async def main() -> None:
        hub = Hub(Settings(), MemoryStore())
        await hub.open()
        stream = await hub.create("o", StreamOptions(), "", 60)
        await hub.append(stream, "", [Record("text", text)])
        body, _ = await value_of(hub.store, stream, await hub.status(stream))
        assert json.loads(body)["value"] == [{}] * 20_000
        await hub.close()

    asyncio.run(main())
    assert len(pauses) >= 20


def test_what_is_quick_stays_on_the_loop_and_what_is_slow_does_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # So long that a busy machine does not make slow what is quick.
    monkeypatch.setattr(steps, "QUICK", 0.2)

    async def main() -> None:
        here, seen = threading.current_thread(), []

        def parts(count: int, seconds: float) -> Iterator[list[int]]:
            for at in range(count):
                seen.append(threading.current_thread() is here)
                time.sleep(seconds)
                yield [at]

        pace = Steps()
        for size, seconds, expected in (
            (10, 0, [True, True]),
            (steps.SMALL + 1, 0, [False, False]),
            (10, 2 * steps.QUICK, [True, False]),
            (10, 2 * steps.QUICK, [False, False]),  # it was slow before
            (10, 0, [False, False]),
            (10, 0, [True, True]),
        ):
            seen.clear()
            items = [item async for some in pace.of(parts(2, seconds), size) for item in some]
            assert items == [0, 1]
            assert seen == expected

    asyncio.run(main())


def test_a_rendering_that_is_cancelled_leaves_its_thread_to_others() -> None:
    async def main() -> None:
        started = threading.Event()

        def endless() -> Iterator[list[int]]:
            while True:
                started.set()
                time.sleep(0.001)
                yield [1]

        async def read() -> None:
            async for _ in Steps().of(endless(), steps.SMALL + 1):
                pass

        for _ in range(5):
            reading = asyncio.create_task(read())
            await asyncio.to_thread(started.wait)
            reading.cancel()
            with pytest.raises(asyncio.CancelledError):
                await reading
        async with asyncio.timeout(2 * SLACK):
            assert await steps.beside(lambda: 7) == 7

    asyncio.run(main())


def test_an_error_in_a_thread_is_raised_by_the_steps() -> None:
    def broken() -> Iterator[list[int]]:
        yield [1]
        raise KeyError("x")

    async def main() -> None:
        with pytest.raises(KeyError):
            async for _ in Steps().of(broken(), steps.SMALL + 1):
                pass

    asyncio.run(main())
