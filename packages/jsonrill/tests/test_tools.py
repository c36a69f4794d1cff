"""Tools start early, run concurrently, and never with arguments that are not the call's."""

from __future__ import annotations

import asyncio
import functools
import json
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Annotated, Any, Literal

import pytest
from provider_streams import ANSWERS, BUILDERS, THREE, call_stream, in_a_row, shuffled
from pydantic import BaseModel, Field

from jsonrill import Part, run_tools
from jsonrill.errors import SourceFailed
from support import SLACK, few

Event = dict[str, Any]


def chunk(finish: str | None = None, **delta: Any) -> Event:
    return {"id": "c", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def call(index: int, name: str, text: str) -> Event:
    function = {"name": name, "arguments": text}
    return chunk(tool_calls=[{"index": index, "id": f"call-{index}", "function": function}])


def more_arguments(index: int, text: str) -> Event:
    return chunk(tool_calls=[{"index": index, "function": {"arguments": text}}])


END = chunk("tool_calls")


async def sent(events: list[Event]) -> AsyncIterator[Event]:
    for event in events:
        await asyncio.sleep(0)
        yield event


def run(events: list[Event], tools: Any, **options: Any) -> tuple[list[Part], Any]:
    """Return the parts of a sync run, and the run; check that an async run gives the same."""
    running = run_tools(events, tools, **options)
    sync_parts = list(running)

    async def main() -> tuple[list[Part], Any]:
        reading = run_tools(sent(events), tools, **options)
        return [part async for part in reading], reading

    parts, reading = asyncio.run(main())
    assert reading.messages() == running.messages()
    assert outcomes(parts) == outcomes(sync_parts)
    return sync_parts, running


def outcomes(parts: list[Part]) -> dict[str, Any]:
    """Return the result or the error of each call."""
    return {
        part.call.id: part.result if part.error is None else f"! {part.error}"
        for part in parts
        if part.kind == "result" and part.call is not None
    }


def test_async_and_sync_functions() -> None:
    async def weather(city: str) -> str:
        await asyncio.sleep(0)
        return f"sun in {city}"

    def add(a: int, b: int = 2) -> int:
        return a + b

    events = [call(0, "weather", '{"city":"Rome"}'), call(1, "add", '{"a":1}'), END]
    parts, running = run(events, {"weather": weather, "add": add})
    assert outcomes(parts) == {"call-0": "sun in Rome", "call-1": 3}
    assert [call.result for call in running.calls] == ["sun in Rome", 3]
    assert running.outcome == "calls"


def test_a_thread_starts_while_a_sync_source_still_streams() -> None:
    began = threading.Event()

    def events() -> Iterator[Event]:
        yield call(0, "slow", '{"n":1}')
        assert began.wait(5 * SLACK)
        yield END

    def slow(n: int) -> int:
        began.set()
        return n

    assert outcomes(list(run_tools(events(), {"slow": slow}))) == {"call-0": 1}


def test_with_when_call_a_tool_waits_for_the_provider() -> None:
    started: list[int] = []
    running = run_tools(
        [call(0, "t", '{"n":1}'), END], {"t": lambda n: started.append(n)}, when="call"
    )
    first = next(running)
    assert first.complete and not started
    assert list(running)[-1].kind == "result"


def test_a_result_comes_before_the_answer_has_ended() -> None:
    async def main() -> list[str]:
        events = [call(0, "t", '{"n":1}'), *[chunk(content="x")] * 50, END]
        return [part.kind async for part in run_tools(sent(events), {"t": _async_none})]

    kinds = asyncio.run(main())
    assert kinds.index("result") < len(kinds) - 10


async def _async_none(n: int) -> None:
    return None


# ---- what must never run ----


def test_a_violation_never_runs_and_is_reported_to_the_model() -> None:
    def weather(city: Annotated[str, Field(min_length=2)], unit: Literal["C", "F"] = "C") -> str:
        raise AssertionError("the tool ran")

    for text in (
        '{"city":"Rome","unit":"K"}',
        '{"city":"R"}',
        '{"town":"Rome"}',
        "{}",
        '{"city":1}',
        "[1]",
    ):
        parts, running = run([call(0, "weather", text), END], {"weather": weather})
        assert outcomes(parts)["call-0"].startswith("! ")
        if text != "[1]":
            assert running.messages()[1]["content"]


def test_broken_arguments_never_run_and_are_reported_to_the_model() -> None:
    parts, running = run([call(0, "t", '{"n":1,}'), END], {"t": _async_none})
    error = outcomes(parts)["call-0"].removeprefix("! ")
    assert error.endswith('; the arguments were: {"n":1,}')
    assert running.calls[0].status == "error"
    request, answer = running.messages()
    # Arguments that are not JSON are refused by providers.
    assert request["tool_calls"][0]["function"] == {"name": "t", "arguments": "{}"}
    assert answer == {"role": "tool", "tool_call_id": "call-0", "content": error}
    assert not running.done


def test_a_call_that_was_cut_off_never_runs() -> None:
    for events in ([call(0, "t", '{"n":1')], [call(0, "t", '{"n":1'), chunk("length")]):
        parts, running = run(events, {"t": _async_none})
        [(_, error)] = outcomes(parts).items()
        assert "cut off" in error and '{"n":1' in error
        assert running.done and running.messages()[0]["tool_calls"][0]["id"] == "call-0"


def test_a_tool_that_the_provider_runs_is_not_run() -> None:
    use = {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"q": "x"}}
    events: list[Event] = [
        {"type": "content_block_start", "index": 0, "content_block": use},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_stop"},
    ]
    parts, _ = run(events, {})
    assert outcomes(parts) == {}


def test_empty_arguments_wait_for_the_end_of_the_call() -> None:
    """`{}` may be a placeholder, and the real arguments follow."""
    received: list[dict[str, int]] = []

    def t(**named: int) -> None:
        received.append(named)

    list(run_tools([call(0, "t", "{}"), more_arguments(0, '{"n":1}'), END], {"t": t}))
    assert received == [{"n": 1}]
    received.clear()
    running = run_tools([call(0, "t", "{}"), chunk(content="x"), chunk(content="y"), END], {"t": t})
    assert not next(running).complete and not received
    assert [part.kind for part in running].count("result") == 1
    assert received == [{}]


def test_a_call_that_goes_wrong_after_its_start_is_reported() -> None:
    item = {"type": "function_call", "id": "f", "call_id": "k", "name": "t", "arguments": ""}
    delta = {"type": "response.function_call_arguments.delta", "item_id": "f", "output_index": 0}
    done = {"type": "response.function_call_arguments.done", "item_id": "f", "output_index": 0}
    events: list[Event] = [
        {"type": "response.output_item.added", "output_index": 0, "item": item},
        {**delta, "delta": '{"n":1}'},
        {**done, "arguments": '{"n":2}'},
    ]
    parts, running = run(events, {"t": _async_none})
    assert "started, and then went wrong" in outcomes(parts)["k"]
    assert running.calls[0].status == "error"


def test_a_call_that_goes_wrong_while_it_waits_for_its_turn_never_runs() -> None:
    def item(index: int, key: str, text: str) -> list[Event]:
        start = {"type": "function_call", "call_id": key, "name": key, "arguments": ""}
        where = {"item_id": key, "output_index": index}
        kind = "response.function_call_arguments"
        return [
            {"type": "response.output_item.added", "item": {**start, "id": key}, **where},
            {"type": f"{kind}.delta", "delta": '{"n":1}', **where},
            {"type": f"{kind}.done", "arguments": text, **where},
        ]

    runs: list[tuple[str, Any]] = []

    async def slow(n: int) -> None:
        await asyncio.sleep(0.05)

    tools = {"slow": slow, "other": recorder("other", runs)}
    events = [*item(0, "slow", '{"n":1}'), *item(1, "other", '{"n":2}')]
    parts, _ = run(events, tools, concurrency=1)
    assert not runs and outcomes(parts)["slow"] is None
    assert "started" not in outcomes(parts)["other"]


def recorder(name: str, runs: list[tuple[str, Any]]) -> Callable[..., None]:
    """Return a tool that takes anything and records it."""

    def tool(*texts: Any, **args: Any) -> None:
        runs.append((name, texts[0] if texts else args))

    return tool


@few(10)
@pytest.mark.parametrize("provider", sorted(BUILDERS))
@pytest.mark.parametrize("seed", range(2))
def test_cut_anywhere_no_tool_gets_anything_but_its_arguments(provider: str, seed: int) -> None:
    script = shuffled(THREE, seed) if seed else in_a_row(THREE)
    events = BUILDERS[provider](THREE, script)
    expected = {call.name: json.loads(call.text) for call in THREE}
    for cut in range(len(events) + 1):
        runs: list[tuple[str, Any]] = []
        running = run_tools(events[:cut], {name: recorder(name, runs) for name in expected})
        for _ in running:
            pass
        names = [name for name, _ in runs]
        assert len({*names}) == len(names)
        assert all(args == expected[name] for name, args in runs)
        if cut == len(events):
            assert sorted(names) == sorted(expected)


@pytest.mark.parametrize("name", ANSWERS)
def test_of_every_kind_of_answer_exactly_the_complete_calls_run(name: str) -> None:
    answer = ANSWERS[name]
    runs: list[Any] = []

    tools = {called: recorder(called, runs) for called, _, _ in answer.calls if called}
    running = run_tools(answer.events, tools)
    try:
        for _ in running:
            pass
    except SourceFailed:
        assert answer.end == "error"
    own = [call for call in running.calls if call.status == "complete" and not call.hosted]
    assert len(runs) == len([call for call in own if isinstance(call.args, dict | str)])


# ---- how they run ----


def test_an_exception_is_an_error_result() -> None:
    def fails() -> None:
        raise LookupError("no such city")

    async def fails_too() -> None:
        raise KeyError

    events = [call(0, "a", "{}"), call(1, "b", "{}"), END]
    parts, running = run(events, {"a": fails, "b": fails_too})
    assert outcomes(parts) == {"call-0": "! LookupError: no such city", "call-1": "! KeyError"}
    assert [call.result_is_error for call in running.calls] == [True, True]


def test_a_model_as_a_result_is_an_object_in_the_messages() -> None:
    class Place(BaseModel):
        city: str

    _, running = run([call(0, "find", "{}"), END], {"find": lambda: Place(city="Rome")})
    assert json.loads(running.messages()[-1]["content"]) == {"city": "Rome"}


class Odd:
    """No JSON, and no pydantic type."""


@pytest.mark.parametrize("result", [Odd(), b"\xff", float("nan"), "\ud800", ValueError, {1: Odd()}])
@pytest.mark.parametrize("provider", ["openai_chat", "openai_responses", "anthropic"])
def test_a_result_that_no_message_can_carry_is_an_error_result(provider: str, result: Any) -> None:
    running = run_tools(call_stream(provider, [("f", {})]), {"f": lambda: result})
    (error,) = [part.error for part in running if part.kind == "result"]
    assert error is not None and "JSON cannot represent" in error
    json.dumps(running.messages(), allow_nan=False, ensure_ascii=False).encode()


def test_a_tool_that_exits_or_is_cancelled_is_an_error_result() -> None:
    """Neither ends the program nor leaves the loop waiting for a result."""

    def leave() -> None:
        sys.exit(3)

    async def cancelled() -> None:
        raise asyncio.CancelledError

    async def asynchronously(events: list[Any]) -> list[str | None]:
        running = run_tools(sent(events), tools)
        return [part.error async for part in running if part.kind == "result"]

    tools = {"leave": leave, "cancelled": cancelled}
    events = call_stream("openai_chat", [("leave", {}), ("cancelled", {})])
    errors = [part.error for part in run_tools(events, tools) if part.kind == "result"]
    for run_errors in (errors, asyncio.run(asynchronously(events))):
        assert sorted(str(error) for error in run_errors) == ["CancelledError", "SystemExit: 3"]


def test_a_time_limit() -> None:
    async def never() -> None:
        await asyncio.sleep(60)

    def sleeps() -> None:
        time.sleep(1)

    events = [call(0, "a", "{}"), call(1, "b", "{}"), END]
    parts, _ = run(events, {"a": never, "b": sleeps}, timeout=0.05)
    assert all("within 0.05 seconds" in error for error in outcomes(parts).values())
    assert len(outcomes(parts)) == 2


def test_bounded_concurrency() -> None:
    running_now, most = 0, 0

    async def tool() -> None:
        nonlocal running_now, most
        running_now += 1
        most = max(most, running_now)
        await asyncio.sleep(0.01)
        running_now -= 1

    def in_a_thread() -> None:
        nonlocal running_now, most
        running_now += 1
        most = max(most, running_now)
        time.sleep(0.01)
        running_now -= 1

    events = [*(call(at, "t", "{}") for at in range(9)), END]
    for function in (tool, in_a_thread):
        most = running_now = 0
        parts, _ = run(events, {"t": function}, concurrency=3)
        assert len(outcomes(parts)) == 9 and 1 < most <= 3


def test_leaving_the_loop_cancels_and_closes() -> None:
    cancelled, closed = [], []

    async def never(n: int) -> None:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            cancelled.append(True)
            raise

    async def events() -> AsyncIterator[Event]:
        try:
            yield call(0, "t", '{"n": 1}')
            while True:
                await asyncio.sleep(0.001)
                yield chunk(content="x")
        finally:
            closed.append(True)

    async def main() -> None:
        running = run_tools(events(), {"t": never})
        seen = 0
        async for part in running:
            seen += part.kind == "text"
            if seen > 5:
                break
        await running.aclose()
        assert len(asyncio.all_tasks()) == 1

    asyncio.run(main())
    assert cancelled and closed


def test_the_error_of_a_source_is_raised_after_the_started_calls() -> None:
    def events() -> Iterator[Event]:
        yield call(0, "t", '{"n":1}')
        yield call(1, "t", '{"n":')
        raise ConnectionError("lost")

    async def async_events() -> AsyncIterator[Event]:
        for event in events():
            yield event

    parts: list[Part] = []
    running = run_tools(events(), {"t": _async_none})
    with pytest.raises(ConnectionError):
        parts.extend(running)
    assert running.calls[0].answered and running.calls[1].status == "truncated"

    async def main() -> None:
        running = run_tools(async_events(), {"t": _async_none})
        with pytest.raises(ConnectionError):
            async for _ in running:
                pass
        assert running.calls[0].answered and running.calls[1].status == "truncated"

    asyncio.run(main())


# ---- signatures ----


class Trip(BaseModel):
    city: str
    days: int = 1


def test_arguments_are_converted_as_the_signature_says() -> None:
    def plan(trip: Trip, tags: list[str], /, factor: float = 1, *, note: str | None = None) -> Any:
        return [type(trip).__name__, trip.days, tags, factor, note]

    text = '{"trip":{"city":"Rome","days":"3"},"tags":["a"],"factor":2}'
    parts, _ = run([call(0, "plan", text), END], {"plan": plan})
    assert outcomes(parts) == {"call-0": ["Trip", 3, ["a"], 2.0, None]}


def test_a_schema_overrides_the_signature() -> None:
    def tool(**args: Any) -> Any:
        return args

    schema = {"type": "object", "properties": {"n": {"type": "integer", "maximum": 3}}}
    events = [call(0, "t", '{"n":3}'), call(1, "t", '{"n":4}'), END]
    parts, _ = run(events, {"t": tool}, schemas={"t": schema})
    assert outcomes(parts)["call-0"] == {"n": 3} and outcomes(parts)["call-1"].startswith("! ")
    parts, _ = run([call(0, "t", '{"city":"Rome"}'), END], {"t": tool}, schemas={"t": Trip})
    assert outcomes(parts) == {"call-0": {"city": "Rome"}}


def test_methods_partials_and_callables() -> None:
    class Weather:
        def now(self, city: str) -> str:
            return city

        async def __call__(self, city: str) -> str:
            return city.upper()

    def joined(first: str, city: str) -> str:
        return first + city

    tools = {
        "method": Weather().now,
        "callable": Weather(),
        "partial": functools.partial(joined, "in "),
    }
    events = [call(at, name, '{"city":"Rome"}') for at, name in enumerate(tools)]
    parts, _ = run([*events, END], tools)
    assert outcomes(parts) == {"call-0": "Rome", "call-1": "ROME", "call-2": "in Rome"}


def test_tools_may_be_a_list_of_functions() -> None:
    def weather(city: str) -> str:
        return city

    parts, _ = run([call(0, "weather", '{"city":"Rome"}'), END], [weather])
    assert outcomes(parts) == {"call-0": "Rome"}


def test_a_tool_that_takes_free_text() -> None:
    custom = {"index": 0, "id": "k", "type": "custom", "custom": {"name": "code", "input": "x=1"}}
    parts, running = run([chunk(tool_calls=[custom]), END], {"code": lambda text: len(text)})
    assert outcomes(parts) == {"k": 3}
    assert running.messages()[0]["tool_calls"][0]["custom"] == {"name": "code", "input": "x=1"}


def test_wrong_use_is_refused() -> None:
    for wrong, error in (
        ({"tools": [1]}, TypeError),
        ({"tools": {"t": 1}}, TypeError),
        ({"tools": {}, "when": "now"}, ValueError),
        ({"tools": {}, "concurrency": 0}, ValueError),
        ({"tools": {}, "timeout": 0}, ValueError),
        ({"tools": {}, "repiar": True}, TypeError),
    ):
        with pytest.raises(error):
            run_tools([], **wrong)  # type: ignore[call-overload]
