"""`Runs` in one process or two: their logs, their readers and their ends."""

from __future__ import annotations

import asyncio
import json
import signal
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from dataclasses import dataclass
from datetime import date
from functools import wraps
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from jsonrill import parts
from jsonrill.eventstream import SSEDecoder
from jsonrill.testing import Call, FakeAnswer, Upstream
from jsonrill_server import Run, RunFailed, Runs
from jsonrill_server.log import Lost, State, cancel
from jsonrill_server.options import FORMATS, BadOption, Options
from jsonrill_server.read import Position
from jsonrill_server.records import end_of_error
from jsonrill_server.result import Meta
from jsonrill_server.runs import log_name
from support import SLACK

TEXT = '{"title": "Soup ☕", "items": [{"n": 1}, {"n": 2.5}], "done": true}'
PIECES = [TEXT[at : at + 5] for at in range(0, len(TEXT), 5)]
CHAT = "/v1/chat/completions"
EVENTS = FakeAnswer("Hello", calls=[Call("f", {"a": [1, 2]})]).events(CHAT)
SNAPSHOTS = [{"a": "x"}, {"a": "xy"}, {"a": "xyz", "b": [1]}]


def sync(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """Run a test that is a coroutine."""

    @wraps(test)
    def run(*args: Any, **named: Any) -> None:
        async def bounded() -> None:
            async with asyncio.timeout(20 * SLACK):
                await test(*args, **named)

        asyncio.run(bounded())

    return run


async def listed(runs: Runs, key: str, **options: Any) -> list[Any]:
    return [event.data async for event in runs.events(key, **options)]


async def until(condition: Callable[[], Any]) -> None:
    while not condition():
        await asyncio.sleep(0.01)


async def endless() -> AsyncIterator[str]:
    yield "[1,"
    await asyncio.sleep(1e6)


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/runs.db"


# ---- logs ----


class Point(BaseModel):
    x: float
    at: date


@dataclass
class Pair:
    a: int
    b: bytes


SOURCES: dict[str, tuple[Any, list[Any]]] = {
    "pieces of text": (["a", "b"], ["a", "b"]),
    "bytes, cut in a character": (["é".encode()[:1], "é".encode()[1:]], ["é"]),
    "dicts": ([{"a": 1}, {"b": None}], [{"a": 1}, {"b": None}]),
    "models": ([Point(x=1, at=date(2026, 5, 1))], [{"x": 1.0, "at": "2026-05-01"}]),
    "dataclasses": ([Pair(1, b"\xff")], [{"a": 1, "b": "_w=="}]),
    "not a number": ([{"x": float("nan")}], [{"x": None}]),
    "lone surrogates": (["\ud800", {"a": "\udc00"}], ["\ud800", {"a": "\udc00"}]),
    "parts": (lambda: parts(EVENTS), []),
}


@pytest.mark.parametrize("name", [*SOURCES])
@sync
async def test_every_element_is_one_event(name: str) -> None:
    source, expected = SOURCES[name]
    async with Runs() as runs:
        await runs.start("k", source)
        seen = await listed(runs, "k")
    if name == "parts":
        assert {part["kind"] for part in seen} == {"text", "call"}
    else:
        assert seen == expected


@sync
async def test_sources_may_be_functions_coroutines_and_threads() -> None:
    async def generator() -> AsyncIterator[str]:
        yield "x"

    def blocking() -> Iterator[str]:
        yield "x"

    async def coroutine() -> AsyncIterator[str]:
        return generator()

    async with Runs() as runs:
        for source in (generator, blocking, coroutine, generator(), blocking(), coroutine()):
            await runs.start("k", source)
            assert await listed(runs, "k") == ["x"]


@sync
async def test_a_response_that_is_an_error_is_the_end_of_the_run() -> None:
    import httpx2

    with Upstream(FakeAnswer(status=429, message="slow down")) as upstream:
        async with httpx2.AsyncClient() as http, Runs() as runs:
            ask = {"model": "m", "messages": [], "stream": True}
            await runs.start("k", lambda: _stream(http, f"{upstream.url}{CHAT}", ask))
            with pytest.raises(RunFailed, match="429") as failed:
                await listed(runs, "k", format="text")
    assert failed.value.code == "SOURCE_FAILED"


async def _stream(http: Any, url: str, ask: Any) -> Any:
    return await http.send(http.build_request("POST", url, json=ask), stream=True)


@pytest.mark.parametrize("wrong", [object(), 3, None])
@sync
async def test_an_unsupported_source_is_refused_at_once(wrong: Any) -> None:
    async with Runs() as runs:
        with pytest.raises(TypeError):
            await runs.start("k", wrong)
        assert not await runs.active("k")


@sync
async def test_events_that_are_not_json_are_logged_as_strings_and_snapshots_end_the_run() -> None:
    ended: list[Run] = []
    async with Runs(on_end=ended.append) as runs:
        await runs.start("k", ["data: ping\n\n", 'data: {"a": NaN}\n\n', "data: [\n\n"], sse=True)
        assert await listed(runs, "k") == ["ping", {"a": None}, "["]
        await until(lambda: ended)
        assert ended[0].events == ["ping", {"a": None}, "["]
        await runs.start("k", ['{"a": 1}', '{"a":'], input="snapshots")
        with pytest.raises(RunFailed) as failed:
            await listed(runs, "k")
    assert failed.value.code == "INVALID_JSON"


@sync
async def test_an_event_without_a_json_form_ends_the_run() -> None:
    async with Runs() as runs:
        await runs.start("k", [{"a": 1}, object()])
        with pytest.raises(RunFailed) as failed:
            await listed(runs, "k")
    assert failed.value.code == "SOURCE_FAILED"


# ---- formats and positions ----


def source_of(format: str) -> tuple[Any, dict[str, Any]]:
    if format in ("calls", "parts", "ai-sdk", "ag-ui"):
        return EVENTS, {}
    if format == "text":
        return SNAPSHOTS, {"input": "snapshots"}
    return PIECES, {}


@pytest.mark.parametrize("format", FORMATS)
@sync
async def test_a_reader_resumes_at_every_position_elsewhere(format: Any, url: str) -> None:
    """P10: on another replica, while the run goes on, and after a restart."""
    source, options = source_of(format)
    async with Runs(url) as here:
        await here.start("k", source, **options)
        async with Runs(url) as there:
            whole = [event async for event in there.events("k", format=format)]
            assert len({event.id for event in whole}) == len(whole) > 2
            for number, event in enumerate(whole):
                rest = [item async for item in there.events("k", format=format, after=event.id)]
                assert rest == whole[number + 1 :]
    async with Runs(url) as later:
        middle = whole[len(whole) // 2]
        rest = [item async for item in later.events("k", format=format, after=middle.id)]
        assert rest == whole[len(whole) // 2 + 1 :]


@sync
async def test_formats_show_the_same_document() -> None:
    async with Runs() as runs:
        await runs.start("k", PIECES, entity="items")
        assert "".join(await listed(runs, "k", format="text")) == TEXT
        updates = await listed(runs, "k", format="updates", mode="ONE-BY-ONE")
        assert [update["data"] for update in updates] == json.loads(TEXT)["items"]
        deltas = await listed(runs, "k", format="deltas")
        assert deltas[-1][-1] == ["end"]
        assert "".join(await listed(runs, "k")) == TEXT


@sync
async def test_snapshots_become_text_that_grows() -> None:
    async with Runs() as runs:
        await runs.start("k", SNAPSHOTS, input="snapshots")
        assert json.loads("".join(await listed(runs, "k", format="text"))) == SNAPSHOTS[-1]


@sync
async def test_events_of_no_provider_say_so_in_every_format_but_raw() -> None:
    async with Runs() as runs:
        await runs.start("k", [{"my": "event"}])
        assert await listed(runs, "k") == [{"my": "event"}]
        for format in ("calls", "parts", "text", "updates"):
            [error] = await listed(runs, "k", format=format)
            assert error["error"]["code"] == "UNKNOWN_SOURCE"


@sync
async def test_after_an_upgrade_of_a_rendering_a_reader_starts_again() -> None:
    async with Runs() as runs:
        await runs.start("k", PIECES)
        whole = [event async for event in runs.events("k")]
        position = Position.parse(whole[3].id)._replace(version=0)
        found = await runs.find(log_name("k"), position)
        assert found is not None
        options = Options({"format": "raw"})
        chunks = runs.replays.read(log_name("k"), found[0], position, options, 10)
        events = SSEDecoder().feed(b"".join([chunk async for chunk in chunks]))
    assert events[0].type == "RESTART"
    assert [event.id for event in events[1:-1]] == [event.id for event in whole]


@pytest.mark.parametrize("wrong", ["x", "1-2", "-1-1.1-1", "a-1-1.1", "é", "a-1-1.1-1\n"])
@sync
async def test_a_wrong_position_is_refused(wrong: str) -> None:
    async with Runs() as runs:
        await runs.start("k", PIECES)
        with pytest.raises(ValueError, match="the id of an event"):
            await listed(runs, "k", after=wrong)


@sync
async def test_a_position_of_a_replaced_run_is_lost() -> None:
    async with Runs() as runs:
        await runs.start("k", PIECES)
        first = [event async for event in runs.events("k")]
        await runs.start("k", PIECES)
        with pytest.raises(Lost):
            await listed(runs, "k", after=first[2].id)


@sync
async def test_readers_of_one_run_share_its_rendering(monkeypatch: pytest.MonkeyPatch) -> None:
    from jsonrill_server import formats

    calls = 0
    feed = formats.Updates.feed

    def counted(self: Any, record: Any) -> Any:
        nonlocal calls
        calls += 1
        return feed(self, record)

    monkeypatch.setattr(formats.Updates, "feed", counted)
    async with Runs() as runs:
        go = asyncio.Event()

        async def source() -> AsyncIterator[str]:
            for piece in PIECES:
                await go.wait()
                yield piece

        await runs.start("k", source)
        readers = [asyncio.create_task(listed(runs, "k", format="updates")) for _ in range(50)]
        await until(lambda: [it.readers for it in runs.replays._shared.values()] == [50])
        go.set()
        seen = await asyncio.gather(*readers)
    assert all(item == seen[0] for item in seen)
    assert calls == len(PIECES)


@sync
async def test_a_slow_reader_reads_the_log_at_its_own_pace() -> None:
    # The reader falls far behind the writer and still gets every event.
    pieces = ["x" * 100_000 for _ in range(40)]
    async with Runs() as runs:
        await runs.start("k", pieces)
        slow = runs.events("k", format="text")
        seen = [(await anext(slow)).data]
        fast = await listed(runs, "k", format="text")
        seen += [event.data async for event in slow]
    assert seen == fast and "".join(seen) == "".join(pieces)


@pytest.mark.parametrize("mode", ["REALTIME", "ALL-TOGETHER", "BATCH"])
@sync
async def test_a_large_replay_gives_way_to_other_work(mode: Any) -> None:
    document = json.dumps([{"n": number, "text": "x" * 50} for number in range(40_000)])
    turns = 0

    async def work() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    async with Runs() as runs:
        await runs.start("k", [document])
        await until(lambda: not runs.lifecycle.running)
        working = asyncio.create_task(work())
        await listed(runs, "k", format="updates", send="delta", mode=mode)
        working.cancel()
    assert turns > 100


# ---- keys ----


@sync
async def test_a_second_start_is_the_same_run(url: str) -> None:
    closed = []

    async def source() -> AsyncIterator[str]:
        try:
            yield "x"
        finally:
            closed.append(True)

    async with Runs(url) as here, Runs(url) as there:
        assert await here.start("k", endless)
        second = source()
        await anext(second)
        assert not await there.start("k", second)
        assert closed == [True]
        assert await there.active("k")
        assert await there.cancel("k")
        assert not await there.cancel("k")
        assert not await here.active("k")


@sync
async def test_an_ended_run_is_replaced_unless_replace_is_false() -> None:
    async with Runs() as runs:
        await runs.start("k", ["a"])
        assert await listed(runs, "k") == ["a"]
        assert not await runs.start("k", ["b"], replace=False)
        assert await listed(runs, "k") == ["a"]
        assert await runs.start("k", ["b"])
        assert await listed(runs, "k") == ["b"]


@pytest.mark.parametrize("key", ["a b", "ü/☃", "../x", "\ud800", "x" * 5000, "\r\n\0", "r/k"])
@sync
async def test_a_key_may_be_any_text(key: str, url: str) -> None:
    async with Runs(url) as runs:
        await runs.start(key, ["x"])
        assert await listed(runs, key) == ["x"]
        result = await runs.result(key)
        assert result is not None and result.key == key
        assert await runs.result(f"{key}?") is None


@pytest.mark.parametrize("key", ["", None, 3])
@sync
async def test_other_keys_are_refused(key: Any) -> None:
    async with Runs() as runs:
        with pytest.raises(TypeError):
            await runs.start(key, ["x"])


@sync
async def test_there_is_no_run_under_an_unused_key() -> None:
    async with Runs() as runs:
        assert not await runs.active("k") and not await runs.cancel("k")
        assert await runs.result("k") is None
        with pytest.raises(LookupError):
            await listed(runs, "k")


# ---- ends ----


class Refused(Exception):
    def __init__(self, **about: Any) -> None:
        vars(self).update(about)


ENDS = [
    (Refused(status_code=429), "RATE_LIMITED"),
    (Refused(status_code=401), "UNAUTHORIZED"),
    (Refused(status=404), "SOURCE_REFUSED"),
    (Refused(status_code=503), "SOURCE_FAILED"),
    (Refused(code="x", response=Refused(status_code=429)), "RATE_LIMITED"),
    (TimeoutError(), "SOURCE_TIMEOUT"),
    (ValueError("secret"), "SOURCE_FAILED"),
    (SystemExit(), "SOURCE_FAILED"),
]


@pytest.mark.parametrize(("error", "code"), ENDS, ids=lambda item: str(item)[:30])
@sync
async def test_an_exception_of_the_source_is_an_end_by_its_kind(error: Any, code: str) -> None:
    async def source() -> AsyncIterator[str]:
        yield "x"
        raise error

    ended: list[Run] = []
    async with Runs(on_end=ended.append) as runs:
        await runs.start("k", source)
        with pytest.raises(RunFailed) as failed:
            await listed(runs, "k")
        await until(lambda: ended)
    assert failed.value.code == code and "secret" not in str(failed.value)
    assert (ended[0].status, ended[0].text) == ("error", "x")


def test_the_cause_of_an_exception_counts() -> None:
    error = RuntimeError()
    error.__cause__ = Refused(status_code=429)
    assert end_of_error(error).code == "RATE_LIMITED"


@pytest.mark.parametrize(
    ("answer", "status"),
    [
        (FakeAnswer("Hello"), "complete"),
        (FakeAnswer("Hello", ending="length", after=1), "length"),
        (FakeAnswer("Hello", ending="cut", after=1), "lost"),
        (FakeAnswer("Hello", ending="error", after=1), "error"),
    ],
)
@sync
async def test_the_status_tells_how_the_provider_ended_the_answer(
    answer: FakeAnswer, status: str
) -> None:
    ended: list[Run] = []
    async with Runs(on_end=ended.append) as runs:
        await runs.start("k", answer.events(CHAT))
        await until(lambda: ended)
        result = await runs.result("k")
    assert result is not None
    assert result.status == ended[0].status == status
    if status == "complete":
        assert result.text == "Hello"
        assert result.messages() == [{"role": "assistant", "content": "Hello"}]
    if status == "error":
        assert result.error is not None and result.error["code"] == "PROVIDER_ERROR"


@sync
async def test_a_run_that_is_too_large_ends_with_an_error() -> None:
    small: list[dict[str, Any]] = [{"stream_bytes": 100}, {"stream_records": 10}]
    for bounds in small:
        async with Runs(**bounds) as runs:
            await runs.start("k", ["x" * 10] * 100)
            with pytest.raises(RunFailed) as failed:
                await listed(runs, "k")
        assert failed.value.code == "LIMIT_EXCEEDED"


@sync
async def test_cancel_in_another_process_stops_the_source(url: str) -> None:
    stopped = asyncio.Event()
    ended: list[Run] = []

    async def source() -> AsyncIterator[str]:
        try:
            while True:
                yield "x"
                await asyncio.sleep(0.01)
        finally:
            stopped.set()

    async with Runs(url, lease=3.0) as here, Runs(url) as there:
        await here.start("k", source, on_end=ended.append)
        assert await there.cancel("k")
        await stopped.wait()
        with pytest.raises(RunFailed) as failed:
            await listed(there, "k")
        await until(lambda: ended)
    assert failed.value.code == "CANCELLED" and ended[0].status == "stopped"


@sync
async def test_a_stop_ends_a_run_or_hands_it_over(url: str) -> None:
    async def count(run: Run) -> AsyncIterator[int]:
        for number in range(len(run.events), 10):
            yield number
            await asyncio.sleep(0.05)

    async with Runs(url, sources={"count": count}) as there:
        async with Runs(url, sources={"count": count}, grace=0.01) as here:
            await here.start("named", "count")
            await here.start("unnamed", endless)
            await asyncio.sleep(0.15)
        assert await listed(there, "named") == [*range(10)]
        with pytest.raises(RunFailed) as failed:
            await listed(there, "unnamed")
    assert failed.value.code == "PRODUCER_STOPPED"


@sync
async def test_a_run_without_a_name_ends_when_its_lease_is_over(
    url: str,
) -> None:
    ended: list[Run] = []
    async with Runs(url, lease=0.3) as here, Runs(url, lease=0.3, on_end=ended.append) as there:
        await here.start("k", endless, on_end=ended.append)
        await asyncio.sleep(0.1)
        here.lifecycle.running[log_name("k")].task.cancel()
        with pytest.raises(RunFailed) as failed:
            await listed(there, "k")
        await until(lambda: ended)
    assert failed.value.code == "PRODUCER_LOST" and ended[-1].status == "lost"


@sync
async def test_a_stop_signal_stops_every_runs_before_the_server() -> None:
    numbers: list[int] = []
    original = signal.signal(signal.SIGTERM, lambda number, frame: numbers.append(number))
    try:
        async with Runs() as first, Runs() as second:
            handler = signal.getsignal(signal.SIGTERM)
            async with Runs():
                assert signal.getsignal(signal.SIGTERM) is handler
            signal.raise_signal(signal.SIGTERM)
            assert first.is_stopping and second.is_stopping and numbers == [signal.SIGTERM]
    finally:
        signal.signal(signal.SIGTERM, original)


# ---- on_end ----


@sync
async def test_on_end_is_called_again_if_it_fails(url: str) -> None:
    calls: list[Run] = []

    def save(run: Run) -> None:
        calls.append(run)
        if len(calls) == 1:
            raise OSError("the database is away")

    async with Runs(url, lease=0.3, on_end=save) as runs:
        await runs.start("k", ["x"])
        await until(lambda: len(calls) == 2)
        await until(lambda: _state(runs, "k"))
    assert [run.text for run in calls] == ["x", "x"]


def _state(runs: Runs, key: str) -> bool:
    return not runs.lifecycle.running


@sync
async def test_on_end_is_left_to_another_process(url: str) -> None:
    """The first process dies between closing the log and the end of `on_end`."""
    saved: list[Run] = []
    dead = Runs(url, lease=0.6, on_end=lambda run: asyncio.sleep(1e6))
    await dead.open()
    await dead.start("k", ["x"])
    while (await dead.store.read(log_name("k"), 0))[0].state != State.ENDING:  # type: ignore[union-attr]
        await asyncio.sleep(0.01)
    running = [run.task for run in dead.lifecycle.running.values()]
    await cancel(dead.lifecycle._sweeping, *running)
    async with Runs(url, lease=0.6, on_end=saved.append) as runs:
        assert await runs.start("k", ["y"])  # it waits until the former run is saved
        await until(lambda: saved and saved[-1].text == "y")
    assert (saved[0].key, saved[0].status, saved[0].text) == ("k", "complete", "x")
    await dead.close()


@sync
async def test_a_lost_run_is_left_to_a_process_that_has_its_source(url: str) -> None:
    async def stall(run: Run) -> AsyncIterator[int]:
        yield 0
        await asyncio.sleep(1e6)

    async def count(run: Run) -> AsyncIterator[int]:
        for number in range(len(run.events), 3):
            yield number

    dead = Runs(url, lease=0.2, sources={"count": stall})
    await dead.open()
    await dead.start("k", "count")
    while not (await dead.store.read(log_name("k"), 0))[1]:
        await asyncio.sleep(0.01)
    running = [run.task for run in dead.lifecycle.running.values()]
    await cancel(dead.lifecycle._sweeping, *running)
    async with Runs(url, lease=0.2):
        await asyncio.sleep(0.8)  # several leases
        async with Runs(url, lease=0.2, sources={"count": count}) as able:
            assert await listed(able, "k") == [0, 1, 2]
    await dead.close()


@sync
async def test_a_new_run_does_not_replace_one_whose_on_end_is_running() -> None:
    order: list[str] = []

    async def save(run: Run) -> None:
        await asyncio.sleep(0.2)
        order.append(run.text)

    async with Runs(on_end=save) as runs:
        await runs.start("k", ["a"])
        await listed(runs, "k")
        assert await runs.start("k", ["b"])
        await until(lambda: len(order) == 2)
    assert order == ["a", "b"]


# ---- options ----


@sync
async def test_wrong_options_are_refused_before_anything_starts() -> None:
    async with Runs() as runs:
        for options in ({"entity": 3}, {"nope": 1}, {"schema": {"type": "nope"}}, {"mode": "X"}):
            with pytest.raises(BadOption):
                await runs.start("k", ["x"], **options)
        with pytest.raises(BadOption):
            await runs.response(None, "k", format="nope")  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="no source is registered"):
            await runs.start("k", "nope")
        with pytest.raises(TypeError):
            await runs.start("k", ["x"], args={"a": 1})
        assert not await runs.active("k")


def test_wrong_settings_are_refused() -> None:
    with pytest.raises(ValueError, match="lease"):
        Runs(lease=0)
    with pytest.raises(TypeError):
        Runs(on_end=3)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        Runs(nope=1)
    with pytest.raises(ValueError, match="a store is memory:"):
        Runs("nope:")


@pytest.mark.parametrize(
    "meta",
    ["", "{", "[]", "[1,2]", '["k", {"nope": 1}, null, {}, 10, false]', '["k", [], 3, 3, "x", 3]'],
)
@sync
async def test_damaged_options_in_the_store_are_left_out(meta: str) -> None:
    async with Runs() as runs:
        await runs.start("k", PIECES)
        assert "".join(await listed(runs, "k")) == TEXT
        log = runs.store._logs[log_name("k")]  # type: ignore[attr-defined]
        object.__setattr__(log.new, "meta", meta)
        updates = await listed(runs, "k", format="updates")
        assert updates[-1]["data"] == json.loads(TEXT)
        assert await runs.result("k") is not None


def test_options_of_a_later_version_are_left_out() -> None:
    assert Options.stored({"entity": "items"}).given == {"entity": "items"}
    assert Options.stored({"entity": "items", "colour": "red"}).given == {}
    assert Options.stored({"entity": "items", "mode": "LATER"}).given == {}
    assert Meta.parse(Meta("k", {"entity": "x"}).to_json()).options == {"entity": "x"}


def test_a_schema_has_a_bounded_size() -> None:
    with pytest.raises(BadOption, match="65536"):
        Options({"schema": {"enum": ["x" * 70_000]}})


def test_a_runs_belongs_to_one_event_loop() -> None:
    runs = Runs()
    asyncio.run(runs.open())
    with pytest.raises(RuntimeError, match="event loop"):
        asyncio.run(runs.open())
