"""`updates` over any source; with `every`, what is held back and for how long."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prefixes import texts

import jsonrill.driver
from jsonrill import PartialStream, Update, updates
from jsonrill.partial_stream import Mode
from support import by, examples, pieces
from support.streams import check_law, collect, finals, run, short, sources

TEXT = '[{"name": "abcdef", "n": 12}, {"name": "x"}]'


@sources
def test_updates_yields_what_a_partial_stream_returns(source: Any) -> None:
    for mode in ("BATCH", "ONE-BY-ONE", "REALTIME"):
        all_updates, error = collect(updates(source(by(3, TEXT)), mode, send="both"))
        assert error is None and all_updates == run(by(3, TEXT), mode, send="both")


@pytest.mark.parametrize("every", [None, 5])
@sources
def test_nothing_is_raised_for_bad_text(source: Any, every: float | None) -> None:
    for text in ("", "[1, x", '{"a": "x'):
        all_updates, error = collect(updates(source(by(2, text)), "REALTIME", every=every))
        assert error is None and all_updates[-1].status == "ERROR"


class Watched:
    """A source that records how far it was read and whether it was closed."""

    def __init__(self, parts: list[str], fails: bool = False) -> None:
        self.parts, self.fails = parts, fails
        self.read = 0
        self.closed = 0

    def __iter__(self) -> Iterator[str]:
        for part in self.parts:
            self.read += 1
            yield part
        if self.fails:
            raise OSError("the line is dead")

    def close(self) -> None:
        self.closed += 1


@pytest.mark.parametrize("every", [None, 5])
def test_after_an_error_of_the_stream_the_source_is_closed_and_not_read_on(every: Any) -> None:
    source = Watched(["[1, ", "x", ", 2]", "..."])
    all_updates = list(updates(source, "ONE-BY-ONE", every=every))
    assert [update.status for update in all_updates] == ["COMPLETED", "ERROR"]
    assert (source.read, source.closed) == (2, 1)


def stream_of(source: Any, mode: Mode, **options: Any) -> Any:
    return updates(source, mode, **options)


class Slow:
    """An async source whose pieces come when the test says so."""

    def __init__(self) -> None:
        self.queue: asyncio.Queue[Any] = asyncio.Queue()
        self.closed = False
        self.tasks: set[Any] = set()

    async def __aiter__(self) -> AsyncIterator[str]:
        self.tasks.add(asyncio.current_task())
        try:
            while (piece := await self.queue.get()) is not None:
                if isinstance(piece, BaseException):
                    raise piece
                self.tasks.add(asyncio.current_task())
                yield piece
        finally:
            self.tasks.add(asyncio.current_task())
            self.closed = True

    def put(self, *parts: Any) -> None:
        for part in parts:
            self.queue.put_nowait(part)


def test_a_source_that_stalls_does_not_keep_what_is_held() -> None:
    async def main() -> None:
        source = Slow()
        async with aclosing(stream_of(source, "REALTIME", every=0.05, send="both")) as stream:
            source.put('{"a": "x', "y", "z")
            first = await anext(stream)
            assert first.data == {"a": "x"}
            second = await asyncio.wait_for(anext(stream), 60)  # nothing more comes meanwhile
            assert second.data == {"a": "xyz"}
            assert second.delta == [["append", "/a", "yz"]]
            source.put('"', "}", None)
            rest = [update async for update in stream]
            assert short(rest) == [(0, "COMPLETED", {"a": "xyz"})]
        assert source.closed and len(source.tasks) == 1

    asyncio.run(main())


def test_leaving_closes_a_source_that_is_waited_for() -> None:
    async def main() -> None:
        source = Slow()
        source.put('{"a": "x', "y")
        async with aclosing(stream_of(source, "REALTIME", every=60)) as stream:
            assert (await anext(stream)).data == {"a": "x"}
        assert source.closed and len(source.tasks) == 1

        source = Slow()
        source.put('{"a": "x', "y")
        stream = updates(source, "REALTIME", every=60)
        await anext(stream)
        waiting = asyncio.ensure_future(anext(stream))
        await asyncio.sleep(0.01)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        assert source.closed

    asyncio.run(main())


@pytest.mark.parametrize("error", [OSError("dead"), asyncio.CancelledError(), TimeoutError()])
def test_a_source_that_fails_loses_nothing_that_was_held(error: BaseException) -> None:
    async def main() -> None:
        source = Slow()
        source.put('{"a": "x', "y", error)
        all_updates: list[Update] = []
        with pytest.raises(type(error)):
            async for update in updates(source, "REALTIME", every=60):
                all_updates.append(update)
        assert [update.data for update in all_updates] == [{"a": "x"}, {"a": "xy"}]
        assert source.closed

    asyncio.run(main())


def test_a_sync_source_that_fails_loses_nothing_that_was_held() -> None:
    source = Watched(['{"a": "x', "y"], fails=True)
    all_updates: list[Update] = []
    with pytest.raises(OSError, match="dead"):
        for update in updates(source, "REALTIME", every=60):
            all_updates.append(update)
    assert [update.data for update in all_updates] == [{"a": "x"}, {"a": "xy"}]


def test_an_error_of_closing_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    class Stubborn:
        async def __aiter__(self) -> AsyncIterator[str]:
            yield "[x"
            yield "y"

        def aclose(self) -> None:
            raise OSError("cannot")

    async def main() -> list[Update]:
        return [update async for update in updates(Stubborn(), "REALTIME", every=1)]

    assert asyncio.run(main())[-1].status == "ERROR"
    assert "could not be closed" in caplog.text and "cannot" in caplog.text


class Clock:
    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 100.0
        monkeypatch.setattr(jsonrill.driver, "monotonic", lambda: self.now)

    def source(self, *steps: tuple[float, str]) -> Iterator[str]:
        for wait, piece in steps:
            self.now += wait
            yield piece


def test_held_back_by_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch)
    steps = [(0, '{"a": "x'), (1, "1"), (1, "2"), (1, "3"), (1, "4"), (0, "5"), (9, " "), (0, '"')]
    timed = [
        (clock.now - 100, update.data["a"], update.delta)
        for update in updates(clock.source(*steps, (0, "}")), "REALTIME", every=3, send="both")
    ]
    assert timed == [
        (0, "x", [["set", "", {"a": "x"}]]),
        (3, "x123", [["append", "/a", "123"]]),
        (13, "x12345 ", [["append", "/a", "45 "]]),
        (13, "x12345 ", []),
    ]


def test_only_partials_are_held_and_an_end_includes_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = Clock(monkeypatch)
    steps = [(0.0, piece) for piece in ('[{"a": "x', "y", 'z"}, {"b": 1', "2", "3}, 4, [5", "?")]
    all_updates = list(updates(clock.source(*steps), "REALTIME", every=3, send="both"))
    assert short(all_updates) == [
        (0, "PARTIAL", {"a": "x"}),
        (0, "COMPLETED", {"a": "xyz"}),
        (1, "COMPLETED", {"b": 123}),
        (2, "COMPLETED", 4),
        (3, "ERROR", []),
    ]
    check_law(all_updates)


@examples(100)
@given(text=st.one_of(texts(), texts().map(lambda text: text[: len(text) // 2])), data=st.data())
def test_coalesced_updates_keep_the_law(text: str, data: st.DataObject) -> None:
    parts = data.draw(pieces(text))
    waits = data.draw(st.lists(st.integers(0, 2), min_size=len(parts), max_size=len(parts)))
    with pytest.MonkeyPatch.context() as monkeypatch:
        clock = Clock(monkeypatch)
        source = clock.source(*zip(map(float, waits), parts, strict=True))
        all_updates = list(updates(source, "REALTIME", every=3, send="both", early_literals=True))
    check_law(all_updates)
    expected = run(parts, "REALTIME", early_literals=True)
    data_only = [{k: v for k, v in end.items() if k != "delta"} for end in finals(all_updates)]
    assert repr(data_only) == repr(finals(expected))
    sent = iter([update.data for update in expected])
    assert all(update.data in sent for update in all_updates), "not a selection of what there was"


def test_every_is_a_number_of_seconds() -> None:
    for every in (0, -1, float("nan"), float("inf")):
        with pytest.raises(ValueError):
            updates("{}", "REALTIME", every=every)
    for wrong in ("1", True, [1]):
        with pytest.raises(TypeError):
            updates("{}", "REALTIME", every=wrong)  # type: ignore[call-overload]


def test_a_doomed_generation_is_stopped_at_once() -> None:
    written: list[str] = []

    def model() -> Iterator[str]:
        for part in by(2, '{"size": "large", "note": "' + "x" * 1000 + '"}'):
            written.append(part)
            yield part

    schema = {"properties": {"size": {"type": "integer"}}}
    for update in updates(model(), "REALTIME", schema=schema):
        if update.status == "ERROR":
            break
    assert "".join(written) == '{"size": "'
    assert PartialStream("REALTIME", schema=schema).feed('{"size": "')[0].status == "ERROR"
