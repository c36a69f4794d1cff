"""The rules of a tool are declared with it, and hold."""

from __future__ import annotations

import asyncio
import json
import sys
import threading
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from datetime import date
from functools import partial
from typing import Annotated, Any, Literal, NotRequired, Optional, TypedDict

import pytest

from jsonrill import ToolContext, agent, run_tools, tool, tool_specs
from support import SLACK

Event = dict[str, Any]


def chunk(finish: str | None = None, **delta: Any) -> Event:
    return {"id": "c", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def call(index: int, name: str, text: str) -> Event:
    function = {"name": name, "arguments": text}
    return chunk(tool_calls=[{"index": index, "id": f"call-{index}", "function": function}])


END = chunk("tool_calls")


def results(parts: Any) -> dict[str, Any]:
    return {
        part.call.id: part.result if part.error is None else f"! {part.error}"
        for part in parts
        if part.kind == "result"
    }


async def sent(events: list[Event]) -> AsyncIterator[Event]:
    for event in events:
        await asyncio.sleep(0)
        yield event


def test_a_tool_is_called_as_the_function_itself() -> None:
    @tool
    def add(a: int, b: int) -> int:
        """Add."""
        return a + b

    assert add(1, b=2) == 3
    assert add.__doc__ == "Add."


@pytest.mark.parametrize(
    "rules", [{"when": "call"}, {"effects": True}, {"approve": lambda _: False}]
)
def test_a_tool_that_waits_for_its_call_starts_beside_one_that_does_not(rules: Any) -> None:
    started: list[str] = []
    early = threading.Event()

    def now(n: int) -> None:
        started.append("now")
        early.set()

    @tool(**rules)
    def later(n: int) -> None:
        started.append("later")

    def events() -> Iterator[Event]:
        yield call(0, "later", '{"n":1}')
        yield call(1, "now", '{"n":1}')
        assert early.wait(5 * SLACK)
        assert started == ["now"]
        yield END

    assert results(run_tools(events(), {"now": now, "later": later})).keys() == {"call-0", "call-1"}
    assert started == ["now", "later"]


ANTHROPIC: list[Event] = [
    {"type": "message_start", "message": {"id": "m"}},
    {
        "type": "content_block_start",
        "index": 0,
        "content_block": {"type": "tool_use", "id": "t", "name": "pay", "input": {}},
    },
    {
        "type": "content_block_delta",
        "index": 0,
        "delta": {"type": "input_json_delta", "partial_json": '{"sum":1}'},
    },
    {"type": "content_block_stop", "index": 0},
]


@pytest.mark.parametrize("reason", ["refusal", "max_tokens", "pause_turn", None])
@pytest.mark.parametrize("rules", [{"effects": True}, {"approve": True}])
def test_in_an_answer_that_was_cut_no_tool_with_effects_runs(reason: Any, rules: Any) -> None:
    """The provider has closed the call, and then it turned out that the answer was cut."""

    @tool(**rules)
    def pay(sum: int) -> None:
        raise AssertionError("it ran")

    end = [{"type": "message_delta", "delta": {"stop_reason": reason}}, {"type": "message_stop"}]
    running = agent(lambda _: [*ANTHROPIC, *(end if reason else [])], {"pay": pay})
    assert results(running) == {} and running.waiting == []
    assert running.outcome == {"refusal": "refused", "max_tokens": "length"}.get(reason, "lost")


def test_a_tool_that_the_provider_runs_does_not_keep_the_loop_going() -> None:
    use = {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"q": "x"}}
    events: list[Event] = [
        {"type": "content_block_start", "index": 0, "content_block": use},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}},
        {"type": "message_stop"},
    ]
    turn = run_tools(events, {})
    list(turn)
    assert turn.calls == [] and turn.done
    asked: list[Any] = []

    def ask(messages: list[Any]) -> list[Event]:
        asked.append(messages)
        return events

    running = agent(ask, {})
    list(running)
    assert running.outcome == "complete" and len(asked) == 1


def test_done_is_false_while_the_model_waits_for_results() -> None:
    turn = run_tools([call(0, "t", '{"n":1}'), END], {"t": lambda n: n})
    list(turn)
    assert not turn.done and turn.calls
    turn = run_tools([call(0, "t", '{"n":1}'), chunk("length")], {"t": lambda n: n})
    list(turn)
    assert turn.done and turn.outcome == "length"


@pytest.mark.parametrize("is_async", [False, True])
def test_concurrency_of_one_tool(is_async: bool) -> None:
    most: dict[str, int] = {"one": 0, "many": 0}
    active: list[str] = []
    lock = threading.Lock()

    def work(name: str, n: int) -> int:
        with lock:
            active.append(name)
            most[name] = max(most[name], active.count(name))
        time.sleep(0.02)
        with lock:
            active.remove(name)
        return n

    tools = {
        "one": tool(concurrency=1)(lambda n: work("one", n)),
        "many": lambda n: work("many", n),
    }
    events = [call(at, "one" if at % 2 else "many", f'{{"n":{at}}}') for at in range(8)]
    if is_async:

        async def main() -> dict[str, Any]:
            return results([part async for part in run_tools(sent([*events, END]), tools)])

        ran = asyncio.run(main())
    else:
        ran = results(run_tools([*events, END], tools))
    assert ran == {f"call-{at}": at for at in range(8)}
    assert most["one"] == 1


@pytest.mark.parametrize("is_async", [False, True])
def test_a_tool_has_a_time_of_its_own_and_is_told_when_it_is_over(is_async: bool) -> None:
    told = threading.Event()

    @tool(timeout=0.05)
    def slow(n: int, context: ToolContext) -> None:
        if context.wait(20 * SLACK):
            told.set()

    events = [call(0, "slow", '{"n":1}'), call(1, "quick", "{}"), END]
    tools: Any = {"slow": slow, "quick": lambda: 1}
    if is_async:

        async def main() -> dict[str, Any]:
            source = sent(events)
            return results([part async for part in run_tools(source, tools, timeout=60)])

        ran = asyncio.run(main())
    else:
        ran = results(run_tools(events, tools, timeout=60))
    assert ran == {"call-0": "! the tool has not returned within 0.05 seconds", "call-1": 1}
    assert told.wait(5 * SLACK)


def test_a_tool_knows_its_call() -> None:
    def who(context: ToolContext, n: int = 1) -> str:
        return f"{context.call_id} {context.name} {n} {context.cancelled}"

    async def later(n: int, *, about: ToolContext) -> str:
        return f"{about.call_id} {about.name} {n}"

    events = [call(0, "who", "{}"), call(1, "later", '{"n":2}'), END]
    ran = results(run_tools(events, {"who": who, "later": later}))
    assert ran == {"call-0": "call-0 who 1 False", "call-1": "call-1 later 2"}
    # The model neither sees it nor can send it.
    [spec] = tool_specs({"who": who}, "anthropic")
    assert list(spec["input_schema"]["properties"]) == ["n"]
    ran = results(run_tools([call(0, "who", '{"context":1}'), END], {"who": who}))
    assert ran["call-0"].startswith("! ")


def test_leaving_the_loop_tells_the_tools() -> None:
    told, began = threading.Event(), threading.Event()

    def slow(context: ToolContext) -> None:
        began.set()
        if context.wait(20 * SLACK):
            told.set()

    def events() -> Iterator[Event]:
        yield call(0, "slow", "{}")
        yield call(1, "other", '{"n":1}')
        assert began.wait(5 * SLACK)
        yield END

    running = agent(lambda _: events(), {"slow": slow, "other": lambda n: n})
    for _ in running:
        if began.is_set():
            break
    running.close()
    assert told.wait(5 * SLACK)


def test_a_cancelled_loop_cancels_its_tools() -> None:
    told, began, waited = threading.Event(), threading.Event(), threading.Event()
    cancelled: list[str] = []

    def slow(context: ToolContext) -> None:
        began.set()
        if context.wait(20 * SLACK):
            told.set()

    async def waits() -> None:
        waited.set()
        try:
            await asyncio.sleep(20 * SLACK)
        except asyncio.CancelledError:
            cancelled.append("waits")
            raise

    async def main() -> None:
        async def ask(messages: list[Any]) -> AsyncIterator[Event]:
            return sent([call(0, "slow", "{}"), call(1, "waits", "{}"), END])

        async def loop() -> None:
            async for _ in agent(ask, {"slow": slow, "waits": waits}):
                pass

        task = asyncio.create_task(loop())
        while not (began.is_set() and waited.is_set()):
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert told.wait(5 * SLACK) and cancelled == ["waits"]


def test_a_person_decides_by_the_arguments() -> None:
    asked: list[Any] = []

    def dear(args: dict[str, Any]) -> bool:
        asked.append(args)
        return bool(args["sum"] > 100)

    @tool(approve=dear)
    def pay(sum: int) -> str:
        return f"paid {sum}"

    events = [call(0, "pay", '{"sum":5}'), call(1, "pay", '{"sum":500}'), END]
    running = agent(lambda _: events, {"pay": pay})
    assert results(running) == {"call-0": "paid 5"}
    assert [it.id for it in running.waiting] == ["call-1"]
    assert asked == [{"sum": 5}, {"sum": 500}]


def test_what_cannot_be_decided_does_not_run() -> None:
    @tool(approve=lambda args: args["nothing"])
    def pay(sum: int) -> str:
        raise AssertionError("it ran")

    turn = run_tools([call(0, "pay", '{"sum":5}'), END], {"pay": pay})
    assert results(turn) == {"call-0": "! 'nothing'"} and turn.waiting == []


async def _decides(args: Any) -> bool:
    return True


@pytest.mark.parametrize(
    "rules",
    [
        {"when": "now"},
        {"when": "args", "effects": True},
        {"when": "args", "approve": True},
        {"approve": "yes"},
        {"approve": _decides},
        {"timeout": 0},
        {"concurrency": 0},
        {"nothing": 1},
    ],
)
def test_wrong_rules_are_refused(rules: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        tool(**rules)(print)


def test_a_generator_is_its_list_and_whatever_is_raised_an_error() -> None:
    def many(n: int) -> Iterator[int]:
        yield from range(n)

    def ends() -> None:
        sys.exit(3)

    async def fails() -> None:
        raise LookupError("nothing")

    events = [call(0, "many", '{"n":3}'), call(1, "ends", "{}"), call(2, "fails", "{}"), END]
    tools = {"many": many, "ends": ends, "fails": fails}
    expected = {
        "call-0": [0, 1, 2],
        "call-1": "! SystemExit: 3",
        "call-2": "! LookupError: nothing",
    }
    turns = [events, [chunk("stop", content="Bye")]]
    running = agent(lambda _: turns.pop(0), tools)
    assert results(running) == expected and running.text == "Bye"


# ---- annotations, with and without pydantic ----


class Place(TypedDict):
    city: str
    zip: NotRequired[int]


@dataclass
class Stay:
    nights: int
    place: Place
    notes: list[str] | None = None


def simple_tool(  # type: ignore[no-untyped-def]
    a: str,
    b: int,
    c: float = 0.5,
    d: bool = False,
    e: list[int] | None = None,
    f: dict[str, float] | None = None,
    g: Literal["x", "y", 3] = "x",
    h: Optional[Place] = None,  # noqa: UP045
    i: Stay | None = None,
    j: Annotated[str, "a note"] = "",
    k: Any = None,
    untyped=None,
) -> str:
    """A tool with simple annotations."""
    return "ran"


FITS = [
    "{}",
    '{"c": 3, "d": true, "e": [1, 2], "f": {"x": 1.5}, "g": 3}',
    '{"e": null, "h": {"city": "Rome"}, "k": [{}], "untyped": {"a": [1]}}',
    '{"i": {"nights": 2, "place": {"city": "Rome", "zip": 5}, "notes": ["x"]}}',
]
MISFITS = [
    '{"a": 1}',
    '{"b": "no"}',
    '{"b": 1.5}',
    '{"b": null}',
    '{"c": "x"}',
    '{"d": "perhaps"}',
    '{"e": [1, "x"]}',
    '{"e": {}}',
    '{"f": {"x": "y"}}',
    '{"g": "z"}',
    '{"h": {}}',
    '{"h": {"city": 5}}',
    '{"i": {"nights": "x", "place": {"city": "Rome"}}}',
    '{"i": {"nights": 1}}',
    '{"j": 5}',
    '{"more": 5}',
]


def merged(text: str) -> str:
    """These arguments and those that have to be there."""
    return json.dumps({"a": "x", "b": 1, **json.loads(text)})


@pytest.fixture(params=[True, False], ids=["pydantic", "without"])
def pydantic(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Any:
    if not request.param:
        for name in ("pydantic", "pydantic_core"):
            monkeypatch.setitem(sys.modules, name, None)
    return request.param


def ran(text: str, function: Any = simple_tool) -> Any:
    return results(run_tools([call(0, "f", text), END], {"f": function}))["call-0"]


@pytest.mark.parametrize("text", FITS)
def test_arguments_that_fit_run(text: str, pydantic: bool) -> None:
    assert ran(merged(text)) == "ran"


@pytest.mark.parametrize("text", MISFITS)
def test_arguments_that_misfit_never_run(text: str, pydantic: bool) -> None:
    assert ran(merged(text)).startswith("! ")


@pytest.mark.parametrize("text", ["{}", '{"a": "x"}', '{"b": 1}', "[1]", '"x"', "5"])
def test_arguments_that_are_missing_never_run(text: str, pydantic: bool) -> None:
    assert ran(text).startswith("! ")


def test_a_dataclass_is_made_without_pydantic_too(pydantic: bool) -> None:
    def f(stay: Stay, /, n: int = 1) -> Any:
        return [type(stay).__name__, stay.nights, n]

    text = '{"stay": {"nights": 2.0, "place": {"city": "Rome"}}, "n": 3.0}'
    assert ran(text, f) == ["Stay", 2, 3]


def test_other_annotations_are_refused_at_the_start(pydantic: bool) -> None:
    def f(day: date) -> str:
        return day.isoformat()

    if pydantic:
        assert ran('{"day": "2026-01-02"}', f) == "2026-01-02"
        assert ran('{"day": "x"}', f).startswith("! ")
        return
    for start in (
        lambda: run_tools([END], {"f": f}),
        lambda: agent(lambda _: [END], {"f": f}),
        lambda: tool_specs({"f": f}, "openai"),
    ):
        with pytest.raises(TypeError, match=r"'f' need pydantic .*: install jsonrill\[pydantic\]"):
            start()


def test_annotations_that_cannot_be_read_are_refused() -> None:
    def f(day: Nothing) -> str:  # type: ignore[name-defined]  # noqa: F821
        raise AssertionError("it ran")

    with pytest.raises(TypeError, match="'f' cannot be read"):
        run_tools([END], {"f": f})


def test_what_it_returns_needs_no_type_that_is_known() -> None:
    def f(n: int) -> Nothing:  # type: ignore[name-defined]  # noqa: F821
        return n

    assert ran('{"n": 1}', f) == 1
    assert ran('{"n": "x"}', f).startswith("! ")


def test_a_type_that_json_cannot_give_is_refused() -> None:
    def f(lock: threading.Event) -> str:
        raise AssertionError("it ran")

    with pytest.raises(TypeError, match="'f' .* JSON cannot give"):
        run_tools([END], {"f": f})


class Counter:
    def __init__(self, n: int) -> None:
        self.n = n

    def __call__(self, n: int) -> int:
        return self.n + n

    def add(self, n: int) -> int:
        return self.n - n


@pytest.mark.parametrize(
    "function", [Counter(1), Counter(1).add, partial(Counter.add, Counter(1)), tool(Counter(1))]
)
def test_whatever_is_called_is_checked(function: Any, pydantic: bool) -> None:
    assert ran('{"n": 1}', function) in (0, 2)
    for text in ('{"n": "x"}', "{}", '{"n": 1, "m": 2}'):
        assert ran(text, function).startswith("! ")


def test_a_function_without_annotations_takes_any_json(pydantic: bool) -> None:
    assert ran('{"n": [1, {"a": null}]}', lambda n, m=2: [n, m]) == [[1, {"a": None}], 2]
    assert ran('{"m": 1}', lambda n, m=2: n).startswith("! ")
    assert ran('{"n": 1, "more": 1}', lambda n: n).startswith("! ")
    assert ran('{"n": 1, "more": 1}', lambda n, **rest: [n, rest]) == [1, {"more": 1}]
