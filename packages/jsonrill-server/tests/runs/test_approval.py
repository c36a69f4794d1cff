"""Agents in runs: a person decides, a process is killed, and nothing is run twice."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from typing import Any

import pytest
from fastapi import FastAPI, Request
from fastapi.testclient import TestClient

from jsonrill import agent, parts, tool
from jsonrill_server import NotWaiting, Run, Runs
from jsonrill_server.store import MemoryStore, UnknownStream
from support import SLACK

Event = dict[str, Any]
QUESTION = [{"role": "user", "content": "Book Rome"}]


def chunk(finish: str | None = None, **delta: Any) -> Event:
    return {"id": "c", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def calling(*calls: tuple[str, str, str]) -> list[Event]:
    tool_calls = [
        {"index": at, "id": id, "function": {"name": name, "arguments": arguments}}
        for at, (id, name, arguments) in enumerate(calls)
    ]
    return [chunk(content="I try."), chunk(tool_calls=tool_calls), chunk("tool_calls")]


BOOK = ("b1", "book", '{"city": "Rome"}')
DONE = [chunk(content="Done."), chunk("stop")]


class Trips:
    """One process: an agent, and what its tools did."""

    def __init__(self, ran: list[str], *calls: tuple[str, str, str], threads: bool = False) -> None:
        self.ran = ran
        self.asked: list[list[Any]] = []
        self._calls = calls or (BOOK,)
        self._threads = threads
        # Set when a booking begins, which takes long then.
        self.began: asyncio.Event | None = None
        self.pay: Any = lambda sum: f"paid {sum}"

    def __call__(self, run: Run) -> Any:
        @tool(approve=True)
        async def book(city: str) -> str:
            self.ran.append(city)
            if self.began is not None:
                self.began.set()
                await asyncio.sleep(3600)
            return f"booked {city}"

        @tool(effects=True)
        def pay(sum: int) -> Any:
            return self.pay(sum)

        @tool(effects=True, idempotent=True)
        def note(text: str) -> Any:
            return self.pay(text)

        tools = {"book": book, "pay": pay, "note": note}
        ask: Any = self._ask if self._threads else self._ask_async
        return agent(ask, tools, messages=QUESTION, state=run.state, decisions=run.decisions)

    def _ask(self, messages: list[Any]) -> list[Event]:
        self.asked.append(messages)
        return calling(*self._calls) if len(messages) == 1 else DONE

    async def _ask_async(self, messages: list[Any]) -> AsyncIterator[Event]:
        async def events() -> AsyncIterator[Event]:
            for event in self._ask(messages):
                yield event

        return events()


def run(work: Callable[[AsyncExitStack], Awaitable[None]]) -> None:
    async def main() -> None:
        async with asyncio.timeout(60 * SLACK), AsyncExitStack() as stack:
            await work(stack)

    asyncio.run(main())


async def until(runs: Runs, key: str, kind: str, after: str = "") -> list[Any]:
    """The events of a run up to the first of this kind."""
    events = []
    async with aclosing(runs.read(key, after=after)) as reading:
        async for event in reading:
            events.append(event)
            if event.data.get("kind") == kind:
                return events
    raise AssertionError(f"the run ended without {kind}")


async def rest(runs: Runs, key: str, after: str = "", **options: Any) -> list[Any]:
    return [event.data async for event in runs.read(key, after=after, **options)]


def results(events: list[Any]) -> list[Any]:
    return [it["error"] or it["result"] for it in events if it.get("kind") == "result"]


@pytest.mark.parametrize("threads", [False, True])
def test_another_replica_goes_on_with_a_decision(shared: str, threads: bool) -> None:
    async def work(stack: AsyncExitStack) -> None:
        ran: list[str] = []
        ends: asyncio.Queue[Run] = asyncio.Queue()
        trips = [Trips(ran, threads=threads), Trips(ran, threads=threads)]
        first, second = [
            await stack.enter_async_context(Runs(shared, resume={"trip": it}, on_end=ends.put))
            for it in trips
        ]
        await first.start("a", resume="trip", args={})
        seen = await until(first, "a", "waiting")
        assert seen[-1].data == {"kind": "waiting", "calls": ["b1"]}
        assert not any("state" in it.data for it in seen)
        old = asyncio.create_task(rest(first, "a", seen[-1].id))
        assert await first.active("a") and await second.active("a") and ends.empty()
        await second.decide("a", "b1", True)
        after = await old
        assert after[0] == {"kind": "decision", "call": "b1", "decision": True}
        assert results(after) == ["booked Rome"] and ran == ["Rome"]
        whole = [*(it.data for it in seen), *after]
        for runs in (first, second):
            assert await rest(runs, "a") == whole
            assert (await rest(runs, "a", seen[1].id)) == whole[2:]
        assert [it.text for it in parts(whole) if it.kind == "text"][-1] == "Done."
        assert len(trips[0].asked) == len(trips[1].asked) == 1
        ended = await ends.get()
        assert (ended.status, ended.text, ended.waiting) == ("complete", "I try.Done.", [])

    run(work)


def test_of_two_decisions_one_is_taken(shared: str) -> None:
    async def work(stack: AsyncExitStack) -> None:
        for attempt in range(3):
            ran: list[str] = []
            every = [
                await stack.enter_async_context(Runs(shared, resume={"trip": Trips(ran)}))
                for _ in range(3)
            ]
            key = f"a{attempt}"
            await every[0].start(key, resume="trip")
            await until(every[0], key, "waiting")
            done = await asyncio.gather(
                *(runs.decide(key, "b1", True) for runs in every for _ in range(2)),
                return_exceptions=True,
            )
            assert done.count(None) == 1
            assert all(it is None or isinstance(it, NotWaiting) for it in done)
            assert results(await rest(every[1], key)) == ["booked Rome"] and ran == ["Rome"]

    run(work)


@pytest.mark.parametrize(
    ("decision", "result"),
    [
        (False, "a person refused the call"),
        ("too far", "a person refused the call: too far"),
        ({"city": "Oslo"}, "booked Oslo"),
    ],
)
def test_a_person_refuses_or_has_other_arguments(decision: Any, result: str) -> None:
    async def work(stack: AsyncExitStack) -> None:
        trips = Trips([])
        runs = await stack.enter_async_context(Runs(resume={"trip": trips}))
        await runs.start("a", resume="trip")
        await until(runs, "a", "waiting")
        await runs.decide("a", "b1", decision)
        assert results(await rest(runs, "a")) == [result]
        assert result in json.dumps(trips.asked[-1])

    run(work)


def test_what_cannot_be_decided_is_refused_and_the_run_waits_on() -> None:
    async def work(stack: AsyncExitStack) -> None:
        ran: list[str] = []
        store = MemoryStore()
        runs = await stack.enter_async_context(Runs(store, resume={"trip": Trips(ran)}))
        await runs.start("a", resume="trip")
        await until(runs, "a", "waiting")
        for wrong in ({"city": 5}, {"town": "Rome"}):
            with pytest.raises(ValueError, match="cannot run"):
                await runs.decide("a", "b1", wrong)
        for mistake in (None, 3, ["Rome"]):
            with pytest.raises(TypeError, match="a decision is"):
                await runs.decide("a", "b1", mistake)  # type: ignore[arg-type]
        with pytest.raises(NotWaiting, match="'b2'"):
            await runs.decide("a", "b2", True)
        with pytest.raises(UnknownStream):
            await runs.decide("b", "b1", True)
        with pytest.raises(ValueError, match="no function to continue"):
            await Runs(store).decide("a", "b1", True)
        await runs.decide("a", "b1", True)
        assert results(await rest(runs, "a")) == ["booked Rome"] and ran == ["Rome"]
        with pytest.raises(NotWaiting):
            await runs.decide("a", "b1", True)

    run(work)


def test_calls_are_decided_one_by_one_or_all_at_once() -> None:
    async def work(stack: AsyncExitStack) -> None:
        ran: list[str] = []
        second = ("b2", "book", '{"city": "Oslo"}')
        runs = await stack.enter_async_context(Runs(resume={"trip": Trips(ran, BOOK, second)}))
        for key in ("slowly", "at once"):
            await runs.start(key, resume="trip")
            seen = await until(runs, key, "waiting")
            assert seen[-1].data["calls"] == ["b1", "b2"]
            if key == "slowly":
                await runs.decide(key, "b2", True)
                more = await until(runs, key, "waiting", seen[-1].id)
                assert more[-1].data["calls"] == ["b1"]
                await runs.decide(key, "b1", True)
            else:
                await asyncio.gather(*(runs.decide(key, it, True) for it in ("b1", "b2")))
            assert sorted(results(await rest(runs, key))) == ["booked Oslo", "booked Rome"]
        assert sorted(ran) == ["Oslo", "Oslo", "Rome", "Rome"]

    run(work)


def test_a_run_that_waits_is_not_lost(shared: str) -> None:
    """Nobody has its lease; a process that cannot continue it does not end it either."""

    async def work(stack: AsyncExitStack) -> None:
        ran: list[str] = []
        trips = Trips(ran)
        settings: Any = {"lease": 0.2, "takeover": 0.0}
        async with Runs(shared, resume={"trip": trips}, **settings) as gone:
            await gone.start("a", resume="trip")
            seen = await until(gone, "a", "waiting")
        other = await stack.enter_async_context(Runs(shared, **settings))
        waiting = asyncio.create_task(rest(other, "a", seen[-1].id))
        later = await stack.enter_async_context(Runs(shared, resume={"trip": trips}, lease=0.2))
        for _ in range(3):
            await asyncio.sleep(0.3)
            assert await other.active("a") and not waiting.done()
            assert not await later.start("a", resume="trip")
        assert len(trips.asked) == 1
        await later.decide("a", "b1", True)
        assert results(await waiting) == ["booked Rome"] and ran == ["Rome"]

    run(work)


def test_a_run_that_waits_can_be_cancelled() -> None:
    async def work(stack: AsyncExitStack) -> None:
        runs = await stack.enter_async_context(Runs(resume={"trip": Trips([])}))
        await runs.start("a", resume="trip")
        await until(runs, "a", "waiting")
        assert await runs.cancel("a")
        with pytest.raises(NotWaiting):
            await runs.decide("a", "b1", True)

    run(work)


@pytest.mark.parametrize("threads", [False, True])
def test_a_start_is_in_the_log_before_the_tool_runs(url: str, threads: bool) -> None:
    async def work(stack: AsyncExitStack) -> None:
        trips = Trips([], ("p1", "pay", '{"sum": 3}'), threads=threads)
        runs = await stack.enter_async_context(Runs(url, resume={"trip": trips}))
        loop = asyncio.get_running_loop()

        def pay(sum: int) -> list[str]:
            async def logged() -> list[Any]:
                status = await runs._hub.store.status("run:a")
                peeked = await runs._hub.store.peek("run:a", status.last - 1)
                return [json.loads(it.data[1:]) for it in peeked.entries]

            [last] = asyncio.run_coroutine_threadsafe(logged(), loop).result(30 * SLACK)
            return [last["kind"], last["status"], last["call"]["id"]]

        trips.pay = pay
        await runs.start("a", resume="trip")
        assert results(await rest(runs, "a")) == [["call", "started", "p1"]]

    run(work)


@pytest.mark.parametrize(
    ("name", "arguments", "result"),
    [("pay", '{"sum": 3}', "interrupted"), ("note", '{"text": "x"}', "again x")],
)
def test_a_tool_whose_process_is_gone_is_run_again_only_if_it_may(
    shared: str, name: str, arguments: str, result: str
) -> None:
    async def work(stack: AsyncExitStack) -> None:
        started = asyncio.Event()

        async def forever(_: Any) -> None:
            started.set()
            await asyncio.sleep(3600)

        first, second = Trips([], ("p1", name, arguments)), Trips([], ("p1", name, arguments))
        first.pay, second.pay = forever, lambda it: f"again {it}"
        gone = await stack.enter_async_context(Runs(shared, lease=0.5, resume={"trip": first}))
        await gone.start("a", resume="trip")
        await started.wait()
        for task in gone._hub.running.values():
            task.cancel()  # it goes without a word
        runs = await stack.enter_async_context(Runs(shared, lease=0.5, resume={"trip": second}))
        assert results(await rest(runs, "a")) == [result]
        assert (len(first.asked), len(second.asked)) == (1, 1)

    run(work)


def test_a_decision_lets_a_call_run_once(shared: str) -> None:
    """The process is gone while the tool runs that a person had approved."""

    async def work(stack: AsyncExitStack) -> None:
        started = asyncio.Event()
        first, second = Trips([]), Trips([])
        first.began = started
        gone = await stack.enter_async_context(Runs(shared, lease=0.5, resume={"trip": first}))
        await gone.start("a", resume="trip")
        await until(gone, "a", "waiting")
        await gone.decide("a", "b1", True)
        await started.wait()
        for task in gone._hub.running.values():
            task.cancel()  # it goes without a word
        runs = await stack.enter_async_context(Runs(shared, lease=0.5, resume={"trip": second}))
        assert results(await rest(runs, "a")) == ["interrupted"]
        assert (first.ran, second.ran) == (["Rome"], [])

    run(work)


def test_a_post_decides(url: str) -> None:
    ran: list[str] = []
    runs = Runs(url, resume={"trip": Trips(ran)})

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        async with runs:
            yield

    app = FastAPI(lifespan=lifespan)

    @app.post("/{key}")
    async def start(key: str) -> bool:
        return await runs.start(key, resume="trip")

    @app.get("/{key}")
    def read(request: Request, key: str) -> Any:
        return runs.response(request, key)

    @app.post("/{key}/decide")
    def decide(request: Request, key: str) -> Any:
        return runs.decision(request, key)

    with TestClient(app) as client:
        assert client.post("/a").json() is True
        decision: Any = {"call": "b1", "decision": True}
        misfit = decision | {"decision": {"city": 5}}
        assert client.post("/b/decide", json=decision).status_code == 404
        for body in ("", "{", "[]", '"b1"', '{"call": "b1"}', '{"call": 1, "decision": true}'):
            assert client.post("/a/decide", content=body).status_code in (400, 422)
        while (refused := client.post("/a/decide", json=misfit)).status_code == 409:
            pass  # it has not come so far
        assert (refused.status_code, refused.json()["error"]["code"]) == (422, "DECISION")
        assert client.post("/a/decide", json=decision).status_code == 202
        again = client.post("/a/decide", json=decision)
        assert (again.status_code, again.json()["error"]["code"]) == (409, "NOT_WAITING")
        assert "booked Rome" in client.get("/a").text and ran == ["Rome"]


def test_the_end_of_a_run_that_is_cancelled_while_it_waits_is_told_once(shared: str) -> None:
    async def work(stack: AsyncExitStack) -> None:
        ends: asyncio.Queue[Run] = asyncio.Queue()
        first, second = [
            await stack.enter_async_context(Runs(shared, resume={"trip": it}, on_end=ends.put))
            for it in (Trips([]), Trips([]))
        ]
        await first.start("a", resume="trip", args={})
        await until(first, "a", "waiting")
        assert await second.cancel("a") and not await first.cancel("a")
        ended = await ends.get()
        assert (ended.key, ended.status, ended.text) == ("a", "stopped", "I try.")
        await stack.aclose()
        assert ends.empty()

    run(work)
