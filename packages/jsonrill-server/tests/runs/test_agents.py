"""Runs of an agent: parts of several turns in the log, in every format."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from contextlib import aclosing
from typing import Any

import pytest

from jsonrill import Part, parts, run_tools
from jsonrill.dialects import DIALECTS, to_ag_ui, to_ai_sdk
from jsonrill_server import Run, Runs
from support import SLACK

WRITERS: dict[str, Any] = {"ai-sdk": to_ai_sdk, "ag-ui": to_ag_ui}


def run(work: Callable[[Runs], Awaitable[None]], store: Any = "memory:", **settings: Any) -> None:
    async def main() -> None:
        async with asyncio.timeout(30 * SLACK), Runs(store, **settings) as runs:
            await work(runs)

    asyncio.run(main())


def chunk(finish: str | None = None, **delta: Any) -> dict[str, Any]:
    return {"id": "c", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def called(arguments: str, id: str = "a") -> dict[str, Any]:
    function = {"name": "weather", "arguments": arguments}
    return chunk(tool_calls=[{"index": 0, "id": id, "function": function}])


TURNS = [
    [chunk(content="Let me see."), called('{"city": "Rome"}'), chunk("tool_calls")],
    [chunk(content="It rains"), chunk(content=" in Rome."), chunk("stop")],
]


def weather(city: str) -> dict[str, Any]:
    return {"rain": True, "city": city}


def agent(turns: Iterable[Any] = TURNS) -> Iterator[Part]:
    for turn in turns:
        # One that is not run beside the stream: the order of its parts is always the same.
        yield from run_tools(turn, {"weather": weather}, when="call")


async def all_of(runs: Runs, key: str, **options: Any) -> list[Any]:
    return [event.data async for event in runs.read(key, **options)]


def test_the_log_of_an_agent_is_read_in_every_format(url: str) -> None:
    async def work(runs: Runs) -> None:
        ends: asyncio.Queue[Run] = asyncio.Queue()
        await runs.start("a", agent, on_end=ends.put)
        raw = await all_of(runs, "a")
        assert [*parts(raw)][-1].turn == 1
        for format, write in WRITERS.items():
            assert await all_of(runs, "a", format=format) == [*write(raw)]
        assert "".join(await all_of(runs, "a", format="chunks")) == "Let me see.It rains in Rome."
        results = [it for it in await all_of(runs, "a", format="calls") if "result" in it]
        assert [it["result"] for it in results] == [weather("Rome")]
        ended = await ends.get()
        assert (ended.status, ended.outcome) == ("complete", "complete")
        assert ended.text == "Let me see.It rains in Rome."
        roles = [message["role"] for message in ended.messages()]
        assert roles == ["assistant", "tool", "assistant"]
        assert [it.result for it in ended.calls] == [weather("Rome")]

    run(work, url)


def test_a_reader_resumes_in_the_middle_of_a_turn() -> None:
    async def slowly() -> AsyncIterator[Part]:
        for part in agent():
            yield part
            await asyncio.sleep(0.01)

    async def work(runs: Runs) -> None:
        await runs.start("a", slowly)
        whole = [event async for event in runs.read("a", format="ai-sdk")]
        for at in range(0, len(whole), 3):
            rest = await all_of(runs, "a", format="ai-sdk", after=whole[at].id)
            assert rest == [event.data for event in whole[at + 1 :]]
        assert sum("start-step" in str(event.data) for event in whole) == 2

    run(work)


@pytest.mark.parametrize("format", [*DIALECTS, "chunks", "calls", "updates", "fragments"])
def test_what_no_format_can_show_is_an_error_and_not_an_empty_answer(format: str) -> None:
    async def work(runs: Runs) -> None:
        await runs.start("a", [{"type": "progress", "done": 1}, {"type": "progress", "done": 2}])
        shown = json.dumps(await all_of(runs, "a", format=format))
        assert "UNKNOWN_SOURCE" in shown
        assert [it["done"] for it in await all_of(runs, "a")] == [1, 2]

    run(work)


@pytest.mark.parametrize("format", [*DIALECTS, "chunks", "calls"])
def test_events_of_the_program_beside_an_answer_harm_nothing(format: str) -> None:
    async def work(runs: Runs) -> None:
        await runs.start("a", [{"type": "progress", "done": 1}, *TURNS[1]])
        assert "UNKNOWN_SOURCE" not in json.dumps(await all_of(runs, "a", format=format))

    run(work)


# ---- another process goes on, by name ----


async def counting(run: Run, last: int, prefix: str = "") -> AsyncIterator[dict[str, Any]]:
    """Continues after what is logged."""
    for number in range(len(run.events), last):
        yield chunk(content=f"{prefix}{number} ")
        await asyncio.sleep(0)
    yield chunk("stop")


def test_another_replica_goes_on_with_a_run_by_its_name(shared: str) -> None:
    """The process is gone after three events; one that only reads it has the function."""

    async def breaking(run: Run, last: int, prefix: str) -> AsyncIterator[dict[str, Any]]:
        async for event in counting(run, 3, prefix):
            if event["choices"][0]["finish_reason"] is None:
                yield event
        await asyncio.sleep(3600)

    async def work() -> None:
        async with asyncio.timeout(60 * SLACK):
            first = Runs(shared, lease=0.5, resume={"count": breaking})
            await first.start("a", resume="count", args={"last": 6, "prefix": "n"})
            async with aclosing(first.read("a")) as events:
                async for event in events:
                    if "n2" in json.dumps(event.data):
                        break
            # It goes without a word: nothing renews the lease any more, and it continues nothing.
            first._hub.named.clear()
            for task in first._hub.running.values():
                task.cancel()
            await asyncio.sleep(0)
            async with Runs(shared, lease=0.5, resume={"count": counting}) as second:
                text = "".join(await all_of(second, "a", format="chunks"))
                assert text == "".join(f"n{number} " for number in range(6))
            await first.close()

    asyncio.run(work())


def test_a_run_continues_from_the_text_in_its_log() -> None:
    seen: list[tuple[str, str, str]] = []

    def more(run: Run, rest: str) -> Iterator[str]:
        seen.append((run.key, run.status, run.text))
        yield rest

    async def work(runs: Runs) -> None:
        assert await runs.start("a", ["It ", "rains."], resume="more", args={"rest": "!"})
        assert "".join(await all_of(runs, "a", format="chunks")) == "It rains."
        assert seen == []
        assert await runs.start("b", resume="more", args={"rest": "!"})
        assert await all_of(runs, "b", format="chunks") == ["!"]
        assert seen == [("b", "active", "")]

    run(work, resume={"more": more})


def test_wrong_names_and_arguments_are_refused_at_the_start() -> None:
    async def work(runs: Runs) -> None:
        with pytest.raises(ValueError, match="no function to resume 'other'; it has: count"):
            await runs.start("a", agent, resume="other")
        with pytest.raises(TypeError, match="args are those of a function"):
            await runs.start("a", agent, args={"last": 1})
        with pytest.raises(TypeError, match="stored as JSON"):
            await runs.start("a", agent, resume="count", args={"last": object()})
        assert not await runs.active("a")

    run(work, resume={"count": counting})
    with pytest.raises(TypeError, match="count is a function"):
        Runs("memory:", resume={"count": 3})  # type: ignore[dict-item]
