"""`Runs`: start, attach, read, cancel, end and take over, with every store."""

from __future__ import annotations

import asyncio
import dataclasses
import enum
import json
import math
import re
import sys
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from io import BytesIO
from typing import Any
from uuid import UUID

import httpx2
import pydantic
import pytest

import jsonrill
from jsonrill_server import Run, RunFailed, Runs
from jsonrill_server.runs import records
from jsonrill_server.runs.api import RunSettings
from jsonrill_server.runs.failures import FAILED
from jsonrill_server.runs.options import BadOption
from jsonrill_server.runs.producer import HOLD
from jsonrill_server.runs.records import UNWRITTEN, End
from jsonrill_server.runs.settings import ConfigError, Settings
from jsonrill_server.runs.value import read_log
from jsonrill_server.store import MemoryStore, StoreUnavailable, UnknownStream
from support import SLACK, few
from support.simulation import SimulatedLoop, in_simulated_time


def run(work: Callable[[Runs], Awaitable[None]], store: Any = "memory:", **settings: Any) -> None:
    async def main() -> None:
        async with asyncio.timeout(15 * SLACK), Runs(store, **settings) as runs:
            await work(runs)

    asyncio.run(main())


def chunk(text: str, finish: str | None = None) -> dict[str, Any]:
    delta = {"content": text} if text else {}
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {"id": "x", "object": "chat.completion.chunk", "choices": [choice]}


async def answer(count: int = 5, pause: float = 0.0) -> AsyncIterator[dict[str, Any]]:
    for at in range(count):
        yield chunk(f"{at} ")
        await asyncio.sleep(pause)
    yield chunk("", "stop")


async def all_of(runs: Runs, key: str, **options: Any) -> list[Any]:
    return [event.data async for event in runs.read(key, **options)]


async def ended(runs: Runs, key: str) -> None:
    while await runs.active(key):
        await asyncio.sleep(0.01)


class Ends(list[Run]):
    """Collects what `on_end` is called with."""

    async def __call__(self, run: Run) -> None:
        self.append(run)

    async def one(self) -> Run:
        while not self:
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.05)
        [run] = self
        return run


EXPECTED = [chunk("0 "), chunk("1 "), chunk("2 "), chunk("3 "), chunk("4 "), chunk("", "stop")]


def test_a_run_goes_on_without_a_reader_and_is_read_from_anywhere(url: str) -> None:
    async def work(runs: Runs) -> None:
        ends = Ends()
        assert await runs.start("chat/1 é", answer(pause=0.01), on_end=ends)
        assert await runs.active("chat/1 é")
        run = await ends.one()
        assert (run.key, run.status, run.error) == ("chat/1 é", "complete", None)
        assert run.events == EXPECTED and run.text == "0 1 2 3 4 "
        assert run.messages() == [{"role": "assistant", "content": "0 1 2 3 4 "}]
        assert not await runs.active("chat/1 é")
        events = [event async for event in runs.read("chat/1 é")]
        assert [event.data for event in events] == EXPECTED
        for at, event in enumerate(events):
            rest = [it.data async for it in runs.read("chat/1 é", after=event.id)]
            assert rest == EXPECTED[at + 1 :]

    run(work, url)


def test_a_key_that_is_in_use_is_attached_to_and_not_started_twice(url: str) -> None:
    async def work(runs: Runs) -> None:
        gate = asyncio.Event()
        called: list[int] = []
        closed: list[int] = []

        def make(number: int) -> Callable[[], AsyncIterator[str]]:
            async def stream() -> AsyncIterator[str]:
                called.append(number)
                yield f"[{number}"
                await gate.wait()
                yield "]"

            return stream

        class Stream:
            """One that an SDK has opened already."""

            def __aiter__(self) -> AsyncIterator[str]:
                raise AssertionError("it is not read")

            async def close(self) -> None:
                closed.append(1)

        started = await asyncio.gather(*[runs.start("k", make(at)) for at in range(10)])
        assert started.count(True) == 1
        assert not await runs.start("k", Stream()) and closed == [1]
        never = answer()
        assert not await runs.start("k", anext(never))
        gate.set()
        await ended(runs, "k")
        assert called == [started.index(True)]
        assert await all_of(runs, "k") == [f"[{started.index(True)}", "]"]

    run(work, url)


def test_a_key_is_used_again_after_its_run_has_ended(url: str) -> None:
    async def work(runs: Runs) -> None:
        await runs.start("k", ["a", "b"])
        await ended(runs, "k")
        [first, _] = [event.id async for event in runs.read("k")]
        assert not await runs.start("k", ["never"], replace=False)
        assert await all_of(runs, "k") == ["a", "b"]
        assert await runs.start("k", ["c", "d", "e"])
        assert await all_of(runs, "k") == ["c", "d", "e"]
        # An id of the run before is not one of this run.
        with pytest.raises(RunFailed) as failed:
            await all_of(runs, "k", after=first)
        assert failed.value.code == "LOG_LOST"

    run(work, url)


def test_each_of_many_runs_under_one_key_is_told_once(url: str) -> None:
    async def work(runs: Runs) -> None:
        ends = Ends()
        for at in range(5):
            assert await runs.start("k", [str(at), "!"], on_end=ends)
            await ended(runs, "k")
        while len(ends) < 5:
            await asyncio.sleep(0.01)
        assert [(it.text, it.status) for it in ends] == [(f"{at}!", "complete") for at in range(5)]

    run(work, url)


def test_a_run_that_is_cancelled_at_once_closes_its_source() -> None:
    closed: list[int] = []

    class Stream:
        async def __aiter__(self) -> AsyncIterator[str]:
            await asyncio.sleep(10)
            yield "never"

        async def aclose(self) -> None:
            closed.append(1)

    async def work(runs: Runs) -> None:
        ends = Ends()
        await runs.start("k", Stream(), on_end=ends)
        assert await runs.cancel("k")
        assert (await ends.one()).status == "stopped" and closed == [1]

    run(work)


def test_one_who_still_reads_the_former_run_gets_it_or_an_error_and_never_a_mixture(
    url: str,
) -> None:
    async def work(runs: Runs) -> None:
        await runs.start("k", [*"abcd"])
        await ended(runs, "k")
        slow = runs.read("k")
        assert (await anext(slow)).data == "a"
        await runs.start("k", [*"wxyz"])
        assert await all_of(runs, "k") == [*"wxyz"]
        seen = ["a"]
        try:
            async for event in slow:
                seen.append(event.data)
        except RunFailed as error:
            assert error.code == "LOG_LOST"
            seen.pop()
        assert seen == [*"abcd"][: len(seen)]

    run(work, url)


def test_a_cancelled_run_closes_its_source_and_ends_once(url: str) -> None:
    async def work(runs: Runs) -> None:
        ends, closed = Ends(), asyncio.Event()

        async def endless() -> AsyncIterator[dict[str, Any]]:
            try:
                while True:
                    yield chunk("x")
                    await asyncio.sleep(0.01)
            finally:
                closed.set()

        await runs.start("k", endless, on_end=ends)
        await asyncio.sleep(0.1)
        assert [await runs.cancel("k"), await runs.cancel("k")] == [True, False]
        async with asyncio.timeout(1 * SLACK):
            await closed.wait()
        run = await ends.one()
        assert (run.status, run.error and run.error["code"]) == ("stopped", "CANCELLED")
        assert run.text == "x" * len(run.events)
        with pytest.raises(RunFailed, match="cancelled"):
            await all_of(runs, "k", format="ai-sdk")

    run(work, url)


def test_who_stops_waits_for_runs_that_end_in_time() -> None:
    async def slow() -> AsyncIterator[str]:
        yield "[1"
        await asyncio.sleep(4)
        yield "]"

    async def work(_: SimulatedLoop) -> None:
        for grace, status in ((5.0, "complete"), (3.0, "error")):
            ends, runs = Ends(), Runs(grace=grace)
            await runs.start("k", slow, on_end=ends)
            await runs.close()
            assert [run.status for run in ends] == [status]

    in_simulated_time(work)


def test_another_replica_attaches_reads_and_cancels(shared: str) -> None:
    async def work(runs: Runs) -> None:
        async with Runs(shared, lease=1.0) as other:
            ends = Ends()
            await runs.start("k", answer(pause=0.02), on_end=ends)
            assert not await other.start("k", answer)
            assert await all_of(other, "k") == EXPECTED
            assert (await ends.one()).status == "complete"
            ends.clear()
            await runs.start("k", answer(10_000, 0.05), on_end=ends)
            assert await other.active("k") and await other.cancel("k")
            async with asyncio.timeout(3 * SLACK):
                assert (await ends.one()).status == "stopped"
            assert not await runs.active("k")

    run(work, shared, lease=1.0)


@few(5)
@pytest.mark.parametrize("elsewhere", [False, True])
def test_a_key_can_be_used_again_as_soon_as_its_run_is_cancelled(url: str, elsewhere: bool) -> None:
    """The producer of the cancelled run, which learns of it later, leaves the new one alone."""
    if elsewhere and url == "memory:":
        return  # one process has it

    async def work(runs: Runs) -> None:
        async with Runs(url, lease=1.0) as another:
            other = another if elsewhere else runs
            for at in range(4):
                await runs.start("k", answer(10_000, 0.01))
                await asyncio.sleep(0.05 * at)
                assert await other.cancel("k")
                assert await other.start("k", answer(pause=0.1))
                assert await all_of(other, "k") == EXPECTED
                await ended(runs, "k")
                assert await all_of(runs, "k") == EXPECTED

    run(work, url, lease=1.0)


def test_runs_that_are_closed_say_so(url: str) -> None:
    async def work(runs: Runs) -> None:
        await runs.start("k", ["x"])
        await runs.close()
        opened = BytesIO(b"x")
        for late in (runs.start("k", opened), runs.active("k"), all_of(runs, "k")):
            with pytest.raises(StoreUnavailable, match="closed: make another one"):
                await late
        assert opened.closed

    run(work, url)


def test_a_source_that_raises_ends_the_run_and_says_nothing_secret(url: str) -> None:
    async def work(runs: Runs) -> None:
        ends = Ends()

        async def stream() -> AsyncIterator[str]:
            yield '{"a": 1'
            raise OSError("the password is x")

        await runs.start("k", stream, on_end=ends)
        run = await ends.one()
        assert (run.status, run.text) == ("error", '{"a": 1')
        assert run.error == {"code": "SOURCE_FAILED", "message": FAILED.message}
        with pytest.raises(RunFailed) as failed:
            await all_of(runs, "k")
        assert failed.value.code == "SOURCE_FAILED"

    run(work, url)


class Slow(MemoryStore):
    """Answers late that a lease was taken."""

    late = 0.0

    async def acquire(self, stream: str, producer: str, **how: Any) -> Any:
        status = await super().acquire(stream, producer, **how)
        await asyncio.sleep(self.late)
        return status


def test_a_start_that_is_cancelled_leaves_its_key_free() -> None:
    async def work(_: SimulatedLoop) -> None:
        store = Slow()
        async with Runs(store) as runs:
            store.late = 1.0
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(runs.start("k", answer), 0.5)
            store.late = 0.0
            await asyncio.sleep(0.1)
            assert await runs.start("k", answer)
            assert await all_of(runs, "k") == EXPECTED

    in_simulated_time(work)


class GoesAway(MemoryStore):
    """Takes one more write when it is told to go, does not confirm it, and is away then."""

    goes = away = False

    async def write(self, stream: str, producer: str, records: Any, **how: Any) -> Any:
        if self.away:
            raise StoreUnavailable("no answer from 10.1.2.3")
        tail = await super().write(stream, producer, records, **how)
        if self.goes:
            self.away = True
            raise StoreUnavailable("no answer from 10.1.2.3")
        return tail


def test_a_run_that_the_store_takes_no_more_of_ends_as_its_log_does() -> None:
    async def work(_: SimulatedLoop) -> None:
        store, ends = GoesAway(), Ends()

        async def source() -> AsyncIterator[str]:
            yield "a"
            store.goes = True
            yield "b"

        async with Runs(store) as runs:
            await runs.start("k", source, on_end=ends)
            await asyncio.sleep(HOLD + 10)
            assert not ends
            store.goes = store.away = False
            run = await ends.one()
            with pytest.raises(RunFailed) as failed:
                await all_of(runs, "k")
            logged = [record.body for record in (await read_log(store, "run:k", 3))[0]]
        assert (run.status, run.error) == ("error", UNWRITTEN.error())
        assert failed.value.code == "UNAVAILABLE" and "10.1.2.3" not in str(failed.value)
        assert run.events == logged == ["a", "b"]

    in_simulated_time(work)


@pytest.mark.parametrize("on_end", ["raises", "sync", "raises late"])
def test_an_on_end_that_raises_or_blocks_harms_nothing(on_end: str) -> None:
    seen: list[Any] = []

    def sync(run: Run) -> None:
        time.sleep(0.05)
        seen.append((run.text, threading.current_thread() is threading.main_thread()))

    def raises(run: Run) -> None:
        seen.append(None)
        raise ValueError

    async def raises_late(run: Run) -> None:
        raises(run)

    async def work(runs: Runs) -> None:
        functions: dict[str, Any] = {"sync": sync, "raises": raises, "raises late": raises_late}
        await runs.start("k", ["a"], on_end=functions[on_end])
        while not seen:
            await asyncio.sleep(0.01)
        assert await runs.start("k", ["b"])
        assert await all_of(runs, "k") == ["b"]

    run(work)
    assert seen == [("a", False)] if on_end == "sync" else [None]


def leaves() -> Any:
    """Ends the process, if it is let."""
    sys.exit("the source leaves")


async def leaves_in_the_loop() -> AsyncIterator[str]:
    yield "a"
    leaves()


async def leaves_when_closed() -> AsyncIterator[str]:
    try:
        yield "a"
    finally:
        leaves()


def leaves_in_a_thread() -> Iterator[str]:
    yield "a"
    leaves()


def interrupts() -> Iterator[str]:
    yield "a"
    raise KeyboardInterrupt


class StopsEarly(BaseException):
    pass


def stops_early() -> Iterator[str]:
    yield "a"
    raise StopsEarly


async def stops_early_in_the_loop() -> AsyncIterator[str]:
    yield "a"
    raise StopsEarly


async def exits() -> AsyncIterator[str]:
    yield "a"
    raise GeneratorExit


async def exits_when_called() -> None:
    raise GeneratorExit


@pytest.mark.parametrize(
    "source",
    [
        *(leaves, leaves_in_the_loop, leaves_when_closed, leaves_in_a_thread),
        *(interrupts, stops_early, stops_early_in_the_loop, lambda: next(iter(()))),
        *(exits, exits_when_called),
    ],
)
def test_a_source_that_would_end_the_process_ends_its_run_alone(source: Any) -> None:
    async def work(runs: Runs) -> None:
        ends = Ends()
        await runs.start("k", source, on_end=ends)
        assert (await ends.one()).error == {"code": "SOURCE_FAILED", "message": FAILED.message}

    run(work)


@pytest.mark.parametrize("is_async", [False, True])
def test_an_on_end_that_would_end_the_process_does_not(is_async: bool) -> None:
    async def late(run: Run) -> None:
        leaves()

    async def work(runs: Runs) -> None:
        await runs.start("k", ["a"], on_end=late if is_async else lambda run: leaves())
        await asyncio.sleep(0.1)
        assert await all_of(runs, "k") == ["a"]

    run(work)


# ---- what can be logged ----


class Progress(pydantic.BaseModel):
    kind: str = "progress"
    when: date
    done: int


@dataclasses.dataclass
class Step:
    name: str
    data: bytes = b""


def test_any_json_event_is_logged_as_it_is(url: str) -> None:
    events: list[Any] = [
        *({"type": "mine", "x": [1, None, "é\ud800"]}, {"nested": {"deep": [{}]}}),
        *([1, 2], 7, 1.5, True, None, "a piece of text"),
        Progress(when=date(2026, 1, 2), done=3),
        Step("s", b"\x00\xff"),
        {"bytes": b"\x01", "day": date(2026, 1, 2), "set": {1}},
        jsonrill.Update(1, "PARTIAL", data={"a": 1}),
    ]

    async def work(runs: Runs) -> None:
        await runs.start("k", iter(events))
        logged = await all_of(runs, "k")
        assert logged[:8] == events[:8]
        assert logged[8] == {"kind": "progress", "when": "2026-01-02", "done": 3}
        assert logged[9]["name"] == "s"
        assert logged[10] == {"bytes": "AQ==", "day": "2026-01-02", "set": [1]}
        assert logged[11]["data"] == {"a": 1}

    run(work, url)


class Measured(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(ser_json_inf_nan="constants")
    value: float


@dataclasses.dataclass
class Weighed:
    value: float


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_what_is_not_a_number_in_json_is_null(number: float) -> None:
    events: list[Any] = [
        {"value": number},
        {"value": Decimal(number)},
        {"value": number, "day": date(2026, 1, 2)},
        chunk("x") | {"value": number},
        Measured(value=number),
        Weighed(number),
        [{"deep": [number]}],
        number,
    ]

    async def work(runs: Runs) -> None:
        await runs.start("k", events)
        logged = await all_of(runs, "k")
        assert [it["value"] for it in logged[:6]] == [None] * 6
        assert logged[6:] == [[{"deep": [None]}], None]

    run(work)


def test_text_with_constants_that_json_lacks_is_logged_as_json() -> None:
    lines = [
        '{"a": NaN, "b": [-Infinity, 1.50], "c": "NaN"}',
        '{"title": "To Infinity", "n": 1e5}',
    ]

    async def work(runs: Runs) -> None:
        await runs.start("k", [f"data: {line}\n\n" for line in lines], sse=True)
        texts = [event async for event in runs.read("k")]
        assert texts[0].data == {"a": None, "b": [None, 1.5], "c": "NaN"}
        assert texts[1].data == {"title": "To Infinity", "n": 1e5}

    run(work)


class Color(enum.Enum):
    RED = "red"


class Plain:
    def __init__(self) -> None:
        self.size = 3


def test_nothing_in_an_event_of_ones_own_is_lost() -> None:
    """What is no JSON by itself is written in full, also inside a dict, a list or a dataclass."""
    inside = {
        "enum": Color.RED,
        "keys": {Color.RED: 1, 2: 3},
        "model": Progress(when=date(2026, 1, 2), done=3),
        "models": [Progress(when=date(2026, 1, 2), done=4)],
        "object": Plain(),
        "seconds": timedelta(seconds=90),
        "snapshot": Step("a", b"\x00\xff"),
        "times": (datetime(2026, 1, 2, 3, 4, tzinfo=UTC), memoryview(b"\x01")),
        "numbers": (frozenset({1}), Decimal("1.5"), UUID(int=7)),
    }

    async def work(runs: Runs) -> None:
        await runs.start("k", [inside])
        assert await all_of(runs, "k") == [
            {
                "enum": "red",
                "keys": {"red": 1, "2": 3},
                "model": {"kind": "progress", "when": "2026-01-02", "done": 3},
                "models": [{"kind": "progress", "when": "2026-01-02", "done": 4}],
                "object": {"size": 3},
                "seconds": "PT1M30S",
                "snapshot": {"name": "a", "data": "AP8="},
                "times": ["2026-01-02T03:04:00+00:00", "AQ=="],
                "numbers": [[1], 1.5, str(UUID(int=7))],
            }
        ]

    run(work)


@pytest.mark.parametrize("nested", [False, True], ids=["alone", "nested"])
@pytest.mark.parametrize(
    "kind",
    [object, ValueError, "class", "function"],
    ids=["object", "exception", "class", "function"],
)
def test_what_has_no_content_is_refused_not_logged_as_nothing(
    kind: Any, nested: bool, caplog: pytest.LogCaptureFixture
) -> None:
    item = {"class": Progress, "function": print}.get(kind) or kind()

    async def work(runs: Runs) -> None:
        await runs.start("k", [{"a": 1}, {"b": [item]} if nested else item, {"c": 1}])
        with pytest.raises(RunFailed) as failed:
            await all_of(runs, "k")
        assert failed.value.code == "SOURCE_FAILED"

    run(work)
    assert "yield a dict of what readers should see" in caplog.text


@pytest.mark.parametrize(
    "settings, message",
    [
        ({"on_end": 5}, "on_end is a function, not 5"),
        ({"resume": "again"}, "resume is a function, not 'again'"),
        ({"hartbeat": 5}, "unknown option: hartbeat; did you mean heartbeat?"),
        ({"store_url": "x"}, "unknown option: store_url"),
        ({"heartbeat": "1"}, "heartbeat cannot be '1'"),
        ({"readers": 1.5}, "readers cannot be 1.5"),
        ({"grace": None}, "grace cannot be None"),
        ({"readers": True}, "readers cannot be True"),
        ({"lease": "10"}, "lease and takeover are seconds"),
    ],
    ids=lambda it: it if isinstance(it, str) else next(iter(it)),
)
def test_a_wrong_setting_is_refused_at_once(settings: dict[str, Any], message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=re.escape(message)):
        Runs("memory:", **settings)


def test_a_wrong_argument_is_refused_at_once() -> None:
    async def work(runs: Runs) -> None:
        with pytest.raises(TypeError, match="on_end is a function, not 5"):
            await runs.start("k", [{}], on_end=5)  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="resume is a function, not 5"):
            await runs.start("k", [{}], resume=5)  # type: ignore[arg-type]
        assert not await runs.active("k")
        with pytest.raises(TypeError, match="a request is one of Starlette, FastAPI or Django"):
            runs.response({"type": "http"}, "k")
        await runs.start("k", [{}])
        with pytest.raises(BadOption, match="format is one of updates"):
            await all_of(runs, "k", format=None)

    run(work)


@pytest.mark.parametrize("how", ["raises", "waits", "is one"])
def test_a_source_in_which_something_was_cancelled_has_failed(how: str) -> None:
    """Else its readers would wait for the lease, and `on_end` would never be called."""

    async def cancelled() -> Any:
        raise asyncio.CancelledError

    async def stream() -> AsyncIterator[Any]:
        yield chunk("a")
        if how == "raises":
            raise asyncio.CancelledError
        await asyncio.create_task(cancelled())

    async def work(runs: Runs) -> None:
        ends = Ends()
        source = asyncio.create_task(cancelled()) if how == "is one" else stream
        await runs.start("k", source, on_end=ends.append)
        with pytest.raises(RunFailed) as failed:
            await all_of(runs, "k")
        assert failed.value.code == "SOURCE_FAILED"
        while not ends:
            await asyncio.sleep(0.01)
        assert [it.status for it in ends] == ["error"]

    run(work, lease=1000.0)


def test_sync_sources_do_not_hold_up_the_event_loop(url: str) -> None:
    gate = threading.Event()

    def stream() -> Iterator[dict[str, Any]]:
        assert threading.current_thread() is not threading.main_thread()
        yield chunk("a")
        gate.wait(20 * SLACK)
        yield chunk("b", "stop")

    async def work(runs: Runs) -> None:
        await runs.start("k", stream())
        begun = time.monotonic()
        reading = runs.read("k")
        assert (await anext(reading)).data == chunk("a")
        await asyncio.sleep(0.05)
        assert time.monotonic() - begun < 5 * SLACK
        gate.set()
        assert [event.data async for event in reading] == [chunk("b", "stop")]

    run(work, url)


def test_a_function_that_waits_for_a_request_does_not_hold_up_the_event_loop() -> None:
    gate = threading.Event()

    def create() -> list[dict[str, Any]]:
        assert gate.wait(20 * SLACK)
        return EXPECTED

    def needs_the_loop() -> AsyncIterator[dict[str, Any]]:
        asyncio.get_running_loop()
        return answer()

    async def work(runs: Runs) -> None:
        await runs.start("k", create)
        await asyncio.sleep(0.01)
        gate.set()
        assert await all_of(runs, "k") == EXPECTED
        await runs.start("l", needs_the_loop)
        assert await all_of(runs, "l") == EXPECTED

    run(work)


def test_a_stream_that_is_opened_after_a_cancellation_is_closed() -> None:
    closed = threading.Event()

    class Stream(list[str]):
        def close(self) -> None:
            closed.set()

    def create() -> Stream:
        time.sleep(0.3)
        return Stream(["a"])

    async def work(runs: Runs) -> None:
        await runs.start("k", create)
        await asyncio.sleep(0.05)
        assert await runs.cancel("k")
        assert await asyncio.to_thread(closed.wait, 5 * SLACK)

    run(work)


def test_a_sync_source_that_is_cancelled_is_closed() -> None:
    closed = threading.Event()

    class Stream:
        """As of an SDK: `close` breaks the connection, and with it what waits for it."""

        def __iter__(self) -> Iterator[str]:
            yield "a"
            closed.wait(20 * SLACK)
            raise OSError("the connection was closed")

        def close(self) -> None:
            closed.set()

    async def work(runs: Runs) -> None:
        await runs.start("k", Stream())
        await anext(runs.read("k"))
        assert await runs.cancel("k")
        await asyncio.to_thread(closed.wait, 5 * SLACK)

    run(work)
    assert closed.is_set()


def sse(*events: Any) -> bytes:
    return b"".join(f"data: {json.dumps(event)}\n\n".encode() for event in events)


SSE = {"content-type": "text/event-stream"}
OF_TEXT = ['{"a": ', "1}"]


@pytest.mark.parametrize(
    "source, expected",
    [
        ("{}", ["{}"]),
        (b"\xc3\xa9", ["é"]),
        ([b"\xc3", b"\xa9"], ["é"]),
        (BytesIO(b"[1, 2]"), ["[1, 2]"]),
        (iter(OF_TEXT), OF_TEXT),
        (httpx2.Response(200, content=sse(*EXPECTED), headers=SSE), EXPECTED),
        (EXPECTED, EXPECTED),
        (lambda: iter(OF_TEXT), OF_TEXT),
        ([], []),
    ],
)
def test_every_source_can_be_a_run(source: Any, expected: list[Any]) -> None:
    async def work(runs: Runs) -> None:
        await runs.start("k", source)
        items = await all_of(runs, "k")
        if all(isinstance(it, str) for it in expected):
            assert "".join(items) == "".join(expected)
        else:
            assert items == expected

    run(work)


def test_a_coroutine_that_returns_a_stream_is_awaited() -> None:
    async def create() -> AsyncIterator[dict[str, Any]]:
        await asyncio.sleep(0)
        return answer()

    async def work(runs: Runs) -> None:
        await runs.start("a", create())
        await runs.start("b", create)
        assert await all_of(runs, "a") == await all_of(runs, "b") == EXPECTED

    run(work)


def test_a_response_that_is_an_error_is_an_error_of_the_run() -> None:
    async def work(runs: Runs) -> None:
        await runs.start("k", httpx2.Response(429, json={"error": {"message": "slow down"}}))
        with pytest.raises(RunFailed, match="429"):
            await all_of(runs, "k")

    run(work)


@pytest.mark.parametrize("source", [7, object(), pydantic.BaseModel])
def test_a_function_that_returns_no_source_ends_the_run_with_an_error(source: Any) -> None:
    async def work(runs: Runs) -> None:
        await runs.start("k", lambda: source)
        with pytest.raises(RunFailed):
            await all_of(runs, "k")

    run(work)


@pytest.mark.parametrize("format", ["updates", "fragments", "text", "ai-sdk", "ag-ui"])
def test_the_json_of_text_and_of_events_is_read_in_every_format(format: str) -> None:
    text = '{"days": [{"title": "é", "n": 12}, {"title": "b"}]}'
    pieces = [text[at : at + 5] for at in range(0, len(text), 5)]

    async def work(runs: Runs) -> None:
        await runs.start("text", pieces, entity="days")
        await runs.start("events", [*map(chunk, pieces), chunk("", "stop")], entity="days")
        for key in ("text", "events"):
            events = [event async for event in runs.read(key, format=format)]
            assert events
            for event in events:
                after = [it async for it in runs.read(key, format=format, after=event.id)]
                assert after == events[events.index(event) + 1 :]
        if format in ("updates", "fragments", "text"):
            of_text = await all_of(runs, "text", format=format)
            assert of_text == await all_of(runs, "events", format=format)

    run(work)


# ---- what is wrong ----


def test_what_is_not_there_and_what_is_not_allowed(url: str) -> None:
    async def work(runs: Runs) -> None:
        assert not await runs.active("none") and not await runs.cancel("none")
        with pytest.raises(UnknownStream, match="'none'"):
            await all_of(runs, "none")
        await runs.start("k", ["a"])
        for after in ("x", "1.2.3.4", "-1", "99"):
            with pytest.raises(ValueError, match=r"event id|not that long"):
                await all_of(runs, "k", after=after)
        with pytest.raises(BadOption, match="format"):
            await all_of(runs, "k", format="xml")
        with pytest.raises(BadOption, match="did you mean mode"):
            await all_of(runs, "k", mdoe="BATCH")
        with pytest.raises(BadOption, match="did you mean repair"):
            await runs.start("k2", ["a"], repiar=True)  # type: ignore[call-arg]
        with pytest.raises(TypeError, match="model_json_schema"):
            await runs.start("k2", ["a"], schema=Progress)
        for key in ("", None, 7):
            with pytest.raises(TypeError, match="key"):
                await runs.start(key, ["a"])  # type: ignore[arg-type]
        assert not await runs.active("k2")

    run(work, url)


@pytest.mark.parametrize("store", ["mysql://x", "", "sqlite:file.db", "memory:x"])
def test_a_store_that_is_none(store: str) -> None:
    with pytest.raises(
        ValueError, match=r"a store is one of memory:|write the URL of such a store as"
    ):
        Runs(store)


@pytest.mark.parametrize("store", ["memory:", "memory", "memory://"])
def test_spellings_of_memory(store: str) -> None:
    async def work(runs: Runs) -> None:
        await runs.start("k", ["a"])
        assert await all_of(runs, "k") == ["a"]

    run(work, store)


def test_wrong_settings_are_refused() -> None:
    with pytest.raises(ConfigError):
        Runs(heartbeat=0)
    with pytest.raises(ValueError, match="lease"):
        Runs(lease=0)
    with pytest.raises(TypeError):
        Runs(hartbeat=3)  # type: ignore[call-arg]


def test_it_is_used_in_one_event_loop() -> None:
    runs = Runs()
    assert not asyncio.run(runs.active("k"))
    with pytest.raises(RuntimeError, match="event loop"):
        asyncio.run(runs.active("k"))


def test_settings_are_those_of_the_dataclass() -> None:
    settings = {field.name: field.type for field in dataclasses.fields(Settings)}
    assert {*RunSettings.__annotations__} == {*settings} - {"owner_streams"}
    for name, kind in RunSettings.__annotations__.items():
        assert settings[name] == getattr(kind, "__forward_arg__", kind)


# ---- processes that are gone ----


class Dead(Runs):
    """A process that is gone: it neither writes nor renews."""

    async def die(self) -> None:
        self._hub.store.on_error = lambda what, error: None
        for task in [*self._hub.running.values(), *self._hub._ending]:
            task.cancel()
            # Nothing that it does in its last moments reaches the store.
        self._hub.store = MemoryStore()


def test_a_lost_run_ends_with_an_error_and_is_told_to_the_one_that_closed_it() -> None:
    store = MemoryStore()
    ends = Ends()

    async def work(runs: Runs) -> None:
        dead = Dead(store, lease=0.5)
        await dead.start("k", answer(10_000, 0.01))
        await asyncio.sleep(0.1)
        await dead.die()
        gone = time.monotonic()
        with pytest.raises(RunFailed) as failed:
            await all_of(runs, "k")
        assert failed.value.code == "PRODUCER_LOST"
        assert time.monotonic() - gone < 5.5 * SLACK
        run = await ends.one()
        assert (run.key, run.status) == ("k", "error") and run.text.startswith("0 1 ")
        assert await runs.start("k", ["new"]) and await all_of(runs, "k") == ["new"]

    run(work, store, on_end=ends)


@pytest.mark.parametrize("how", ["start", "stand by", "reader"])
def test_a_lost_run_is_taken_over_and_goes_on_after_what_was_logged(how: str) -> None:
    store = MemoryStore()
    ends = Ends()

    async def numbers(first: int, pause: float = 0.0) -> AsyncIterator[int]:
        for at in range(first, 60):
            yield at
            await asyncio.sleep(pause)

    def resume(count: int) -> AsyncIterator[int]:
        return numbers(count)

    def resume_key(key: str, count: int) -> AsyncIterator[int]:
        assert key == "k"
        return numbers(count)

    async def work(runs: Runs) -> None:
        dead = Dead(store, lease=0.5)
        await dead.start("k", numbers(0, 0.02), resume=resume)
        await asyncio.sleep(0.2)
        if how == "stand by":
            assert not await runs.start("k", ["never"], resume=resume, on_end=ends)
        await dead.die()
        if how == "start":
            reading = asyncio.create_task(all_of(runs, "k"))
            await asyncio.sleep(2.0)  # its readers wait for one that takes it over
            assert not reading.done()
            assert await runs.start("k", ["never"], resume=resume, on_end=ends)
            assert await reading == [*range(60)]
        assert await all_of(runs, "k") == [*range(60)]
        if how != "reader":
            assert (await ends.one()).events == [*range(60)]

    run(work, store, lease=0.5, resume=resume_key if how == "reader" else None)


def test_who_stands_by_for_a_run_does_not_go_on_with_the_next_one_of_its_key() -> None:
    """Its `resume` is for the run that was there: the next one may be another answer."""
    store = MemoryStore()

    async def work(runs: Runs) -> None:
        first, second = Dead(store, lease=0.5), Dead(store, lease=0.5)
        await first.start("k", answer(10_000, 0.01), resume=lambda count: ["the first"])
        assert not await runs.start("k", ["never"], resume=lambda count: ["the first"])
        await asyncio.sleep(0.1)  # it has looked at the first
        await first.cancel("k")
        await second.start("k", answer(10_000, 0.01), resume=lambda count: ["the second"])
        await first.die()
        await second.die()
        with pytest.raises(RunFailed) as failed:
            await all_of(runs, "k")
        assert failed.value.code == "PRODUCER_LOST"

    run(work, store, takeover=1.5)


def test_a_run_that_no_process_takes_over_ends_after_a_while() -> None:
    store = MemoryStore()

    async def work(runs: Runs) -> None:
        dead = Dead(store, lease=0.3)
        await dead.start("k", answer(10_000, 0.01), resume=lambda count: [])
        await asyncio.sleep(0.1)
        await dead.die()
        with pytest.raises(RunFailed) as failed:
            await all_of(runs, "k")
        assert failed.value.code == "PRODUCER_LOST"

    run(work, store, takeover=1.5)


def test_a_resume_that_raises_ends_the_run() -> None:
    store = MemoryStore()

    def resume(count: int) -> Any:
        raise OSError

    async def work(runs: Runs) -> None:
        dead = Dead(store, lease=0.3)
        await dead.start("k", answer(10_000, 0.01), resume=resume)
        await asyncio.sleep(0.1)
        await dead.die()
        await asyncio.sleep(0.5)
        assert await runs.start("k", ["never"], resume=resume)
        with pytest.raises(RunFailed) as failed:
            await all_of(runs, "k")
        assert failed.value.code == "SOURCE_FAILED"

    run(work, store)


def test_each_reason_for_an_end_has_a_code_of_its_own() -> None:
    """Three of them were PRODUCER_LOST, and told apart by their messages."""
    ends = [it for it in vars(records).values() if isinstance(it, End)]
    assert len(ends) >= 6 and len({end.code for end in ends}) == len(ends)


def test_a_process_that_is_closed_tells_on_end_or_hands_its_runs_on(shared: str) -> None:
    ends, under_way = Ends(), asyncio.Event()

    async def numbers(first: int, pause: float = 0.0) -> AsyncIterator[int]:
        for at in range(first, 40):
            yield at
            await asyncio.sleep(pause)
            if at == 4:
                under_way.set()

    async def work(runs: Runs) -> None:
        async with Runs(shared, grace=0) as other:
            await other.start("a", numbers(0, 0.05), on_end=ends)
            await under_way.wait()
            under_way.clear()
            await other.start("b", numbers(0, 0.05), resume=numbers, on_end=ends)
            await under_way.wait()
        run = await ends.one()
        assert (run.key, run.status) == ("a", "error")
        assert run.error and run.error["code"] == "PRODUCER_STOPPED"
        assert 1 < len(run.events) < 40
        with pytest.raises(RunFailed) as failed:
            await all_of(runs, "a")
        assert failed.value.code == "PRODUCER_STOPPED"
        begun = time.monotonic()
        assert await runs.start("b", ["never"], resume=numbers)
        assert time.monotonic() - begun < 3 * SLACK  # well before its lease would have run out
        assert await all_of(runs, "b") == [*range(40)]

    run(work, shared)


class Halting:
    """A store in memory that a process cannot reach while it is halted; others can."""

    def __init__(self, store: MemoryStore) -> None:
        self.running = asyncio.Event()
        self.running.set()
        self._store = store

    def __getattr__(self, name: str) -> Any:
        call = getattr(self._store, name)
        if name not in ("acquire", "write", "status", "finalize"):
            return call

        async def later(*arguments: Any, **named: Any) -> Any:
            await self.running.wait()
            return await call(*arguments, **named)

        return later


@pytest.mark.parametrize(
    "meanwhile, of",
    [
        ("completed", "runs"),
        ("completed", "start"),
        ("replaced", "runs"),
        ("closed as lost", "runs"),
        ("cancelled", "start"),
    ],
)
def test_on_end_is_called_once_with_what_is_in_the_log_after_a_halt(
    meanwhile: str, of: str, caplog: pytest.LogCaptureFixture
) -> None:
    """The process that was halted for longer than its lease wakes when all is over."""
    store, ends = MemoryStore(), Ends()
    resumes = meanwhile in ("completed", "replaced")
    everywhere: Any = {"on_end": ends} if of == "runs" else {}
    here: Any = {} if of == "runs" else {"on_end": ends}

    async def numbers(first: int, pause: float = 0.0) -> AsyncIterator[int]:
        for at in range(first, 60):
            yield at
            await asyncio.sleep(pause)

    async def work(runs: Runs) -> None:
        halted = Runs(store, lease=0.3, **everywhere)
        gate: Any = Halting(store)
        halted._hub.store = gate
        resume: Any = numbers if resumes else None
        await halted.start("k", numbers(0, 0.02), resume=resume, **here)
        await asyncio.sleep(0.1)
        gate.running.clear()
        if meanwhile == "cancelled":
            assert await runs.cancel("k")
        else:
            await asyncio.sleep(0.5)
        expected = [*range(60)]
        if resumes:
            assert await runs.start("k", ["never"], resume=numbers, **here)
            assert await all_of(runs, "k") == expected
        else:
            await ended(runs, "k")
            with suppress(RunFailed):
                expected = []
                async for event in runs.read("k"):
                    expected.append(event.data)
            expected.pop()  # the error
        if meanwhile == "replaced":
            await ends.one()
            await runs.start("k", ["new"], on_end=lambda run: None)
        gate.running.set()
        await asyncio.sleep(0.5)
        last = await ends.one()
        statuses = {"cancelled": "stopped", "closed as lost": "error"}
        assert last.events == expected
        assert last.status == statuses.get(meanwhile, "complete")
        assert ("lost a run" in caplog.text) == resumes
        await halted.close()

    run(work, store, lease=0.3, **everywhere)


# ---- many ----


@few(2)
def test_many_small_runs_at_once(url: str) -> None:
    # On a busy machine calls wait longer for a store than users do.
    count = 50 if SLACK > 1 else 300

    async def one(runs: Runs, at: int) -> None:
        assert await runs.start(f"run-{at}", answer(3, 0.01))
        assert await all_of(runs, f"run-{at}") == [*EXPECTED[:3], EXPECTED[-1]]

    async def work(runs: Runs) -> None:
        runs._hub.store.retry_for *= SLACK
        await asyncio.gather(*[one(runs, at) for at in range(count)])
        assert not await runs.active(f"run-{count - 1}")

    run(work, url)


def test_what_is_wrong_is_said_at_the_call() -> None:
    with pytest.raises(TypeError, match="the store of runs is a URL, such as memory:"):
        Runs(5)  # type: ignore[arg-type]

    async def main() -> None:
        async with Runs("memory:") as runs:
            for nothing in (5, None, object(), pydantic.BaseModel):
                with pytest.raises(TypeError, match="a source is text, a provider's stream"):
                    await runs.start("chat", nothing)
            assert not await runs.active("chat")
            await runs.start("chat", ["x"])
            with pytest.raises(TypeError, match="after is the id of an event, a text, not 1"):
                async for _ in runs.read("chat", after=1):  # type: ignore[arg-type]
                    pass

    asyncio.run(main())
