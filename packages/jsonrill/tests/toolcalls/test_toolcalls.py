"""The lifecycle of a call: how it grows, how it ends, and how long it is kept."""

from __future__ import annotations

import asyncio
import gc
import json
import tracemalloc
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from provider_streams import (
    BUILDERS,
    SEARCH,
    TWO,
    WEATHER,
    Event,
    Made,
    in_a_row,
    openai_chat,
    shuffled,
)

from jsonrill import Limits, Rebuilder, ToolCall, ToolCalls, tool_calls
from jsonrill.providers.statements import Begin, CallDelta, End, Finish, Result, Statement
from jsonrill.toolcalls import ToolCallUpdate
from jsonrill.toolcalls.calls import MAX_CALLS
from support import few, hard, pieces
from support.costs import assert_flat


def statements_of(event: dict[str, Any]) -> list[Statement]:
    """Read events that are the statements themselves."""
    return list(event["statements"])


class Reader:
    """Calls fed with statements, all of one response."""

    def __init__(self, **options: Any) -> None:
        self.calls = ToolCalls(statements_of, **options)

    def feed(self, *statements: Statement) -> list[ToolCallUpdate]:
        return self.calls.feed({"statements": statements})

    def text(self, *texts: str, id: str = "a") -> ToolCall:
        """Return the call after these pieces of its arguments."""
        for text in texts:
            self.feed(CallDelta(id, name="f", text=text, message="m"))
        call = self.calls.get(id)
        assert call is not None
        return call

    def finish(self, **how: Any) -> list[ToolCallUpdate]:
        return self.feed(Finish("m", 0, **how))


def test_a_call_grows_with_its_text() -> None:
    calls = ToolCalls()
    grown = []
    for event in openai_chat([WEATHER], in_a_row([WEATHER], 5)):
        for update in calls.feed(event):
            grown.append((update.call.raw, update.call.args, update.call.status))
    assert grown == [
        ("", None, "streaming"),
        ('{"cit', {}, "streaming"),
        ('{"city":"S', {"city": "S"}, "streaming"),
        ('{"city":"S\\u00e', {"city": "S"}, "streaming"),
        ('{"city":"S\\u00e3o Pa', {"city": "São Pa"}, "streaming"),
        ('{"city":"S\\u00e3o Paulo",', {"city": "São Paulo"}, "streaming"),
        ('{"city":"S\\u00e3o Paulo","days', {"city": "São Paulo"}, "streaming"),
        (WEATHER.text, {"city": "São Paulo", "days": 3}, "streaming"),
        (WEATHER.text, {"city": "São Paulo", "days": 3}, "complete"),
    ]


def test_an_argument_is_complete_before_the_call_is() -> None:
    calls = ToolCalls()
    events = openai_chat([WEATHER], in_a_row([WEATHER], 5))
    states = []
    for call in (update.call for event in events for update in calls.feed(event)):
        states.append((call.open_path, call.is_complete("city"), call.is_complete()))
    assert states[0] == (None, False, False)
    assert states[4] == (("city",), False, False)
    assert states[5] == ((), True, False)
    assert states[-1] == (None, True, True)


def test_an_update_has_the_changes_of_a_call() -> None:
    calls = ToolCalls()
    updates = [
        update
        for event in openai_chat([WEATHER], in_a_row([WEATHER], 5))
        for update in calls.feed(event)
    ]
    assert {(u.tool_call_id, u.index, u.message_id) for u in updates} == {
        ("call_a", 0, "chatcmpl-1")
    }
    assert [update.function_name for update in updates] == ["get_weather"] + [None] * 8
    assert "".join(update.function_args or "" for update in updates) == WEATHER.text
    assert [update.status for update in updates] == [None] * 8 + ["complete"]
    # No argument text: None. Some, but nothing new (a piece of a key): [].
    assert updates[0].json_update_fragments is None
    assert updates[-1].json_update_fragments is None
    assert updates[6].json_update_fragments == []
    rebuilder = Rebuilder()
    for update in updates:
        rebuilder.feed(update.json_update_fragments or [])
    assert rebuilder.complete
    assert rebuilder.value == calls.calls[0].args


def test_args_are_safe_to_keep_and_live_is_not() -> None:
    reader = Reader()
    call = reader.text('{"a": [1, "x')
    copy, live = call.args, call.live
    reader.text('y"], "b": {}}')
    assert copy == {"a": [1, "x"]}
    assert live is call.live
    assert call.args == {"a": [1, "xy"], "b": {}}


@pytest.mark.parametrize(
    "texts, how, status, args",
    [
        (['{"a":1}'], {}, "complete", {"a": 1}),
        (['{"a":1}'], {"reason": "length"}, "complete", {"a": 1}),
        (['{"a":1'], {}, "truncated", {}),
        (['{"a":"x'], {"reason": "length"}, "truncated", {"a": "x"}),
        (["12"], {}, "complete", 12),
        (["12"], {"reason": "length"}, "truncated", None),
        (["[1, 2"], {}, "truncated", [1]),
        (['"\\ud83d'], {}, "truncated", ""),
        ([""], {}, "complete", {}),
        (["  \n"], {}, "complete", {}),
        ([""], {"reason": "length"}, "truncated", None),
        (["null"], {}, "complete", None),
        (['{"a":1'], {"reason": "error", "detail": "bad", "malformed": True}, "error", {}),
        (
            ['{"a":1}'],
            {"reason": "error", "detail": "bad", "malformed": True},
            "complete",
            {"a": 1},
        ),
    ],
)
def test_how_a_call_ends(texts: list[str], how: dict[str, Any], status: str, args: Any) -> None:
    reader = Reader()
    call = reader.text(*texts)
    assert call.status == "streaming"
    [update] = reader.finish(**how)
    assert (call.status, call.args, call.raw) == (status, args, "".join(texts))
    assert (update.status, update.error) == (status, call.error)
    assert reader.finish(**how) == []


@pytest.mark.parametrize(
    "texts, status, args",
    [
        (['{"a":1}'], "complete", {"a": 1}),
        (['{"a":1'], "truncated", {}),
        ([""], "truncated", None),
        (["12"], "truncated", None),
    ],
)
def test_a_stream_that_only_stops(texts: list[str], status: str, args: Any) -> None:
    """Without an end from the provider only a complete JSON value completes a call."""
    reader = Reader()
    call = reader.text(*texts)
    [update] = reader.calls.flush()
    assert (call.status, call.args) == (status, args)
    assert update.status == status
    assert reader.calls.flush() == []


def test_a_call_ends_before_its_response() -> None:
    reader = Reader()
    call = reader.text('{"a":1}')
    [update] = reader.feed(CallDelta("a", message="m", opens=False, end=End()))
    assert (call.status, update.status, update.function_args) == ("complete", "complete", None)
    assert reader.feed(CallDelta("a", text="}", message="m")) == []
    assert reader.finish() == []
    assert (call.status, call.raw) == ("complete", '{"a":1}')


@pytest.mark.parametrize(
    "after, status, raw, updates",
    [
        pytest.param('{"a": 1}', "streaming", '{"a": 1}', 0, id="a repetition"),
        pytest.param(" \n", "streaming", '{"a": 1} \n', 1, id="white space"),
        pytest.param("}", "error", '{"a": 1}}', 1, id="anything else"),
        pytest.param('{"a":1}', "error", '{"a": 1}{"a":1}', 1, id="not quite a repetition"),
        pytest.param("\u00a0", "error", '{"a": 1}\u00a0', 1, id="not JSON white space"),
        pytest.param("", "streaming", '{"a": 1}', 0, id="nothing"),
    ],
)
def test_text_after_complete_arguments(after: str, status: str, raw: str, updates: int) -> None:
    reader = Reader()
    call = reader.text('{"a": ', "1}")
    assert len(reader.feed(CallDelta("a", text=after or None, message="m"))) == updates
    assert (call.status, call.raw, call.args) == (status, raw, {"a": 1})
    reader.finish()
    assert call.status == ("error" if status == "error" else "complete")
    if status == "error":
        assert call.error is not None
        assert (call.error["code"], call.error["offset"]) == ("INVALID_JSON", 8)


def test_arguments_that_are_not_json_are_kept_and_other_calls_go_on() -> None:
    reader = Reader()
    bad, good = reader.text('{"a": [1,'), reader.text('{"b"', id="b")
    [update] = reader.feed(CallDelta("a", text="2, !oops", message="m"))
    assert update.status == bad.status == "error"
    assert bad.error is update.error is not None
    assert bad.error == {
        "code": "INVALID_JSON",
        "message": "expected a value but got '!' at character 12, in root.a[2]",
        "offset": 12,
        "line": 1,
        "column": 13,
        "path": "root.a[2]",
    }
    # The fragments before the error were returned.
    assert [fragment.value for fragment in update.json_update_fragments or []] == [2]
    [update] = reader.feed(CallDelta("a", text=" and more", message="m"))
    assert (update.status, update.json_update_fragments) == (None, [])
    assert (bad.raw, bad.args) == ('{"a": [1,2, !oops and more', {"a": [1, 2]})
    reader.text(":2}", id="b")
    [update] = reader.finish()
    assert update.call is good
    assert (good.status, good.args) == ("complete", {"b": 2})
    reader.text("late")
    assert bad.raw.endswith("more")


def test_repeated_arguments_are_compared_with_the_streamed_ones() -> None:
    for end, status in (
        (End(text='{"a":1}'), "complete"),
        (End(text='{ "a": 1.0 }'), "complete"),
        (End(value={"a": 1}), "complete"),
        (End(value={"a": 1, "more": []}), "complete"),
        (End(text='{"a":1}}'), "error"),
        (End(text='{"a":1,"b":2}'), "error"),
        (End(text=""), "error"),
        (End(value={"a": True}), "error"),
        (End(value=[]), "error"),
    ):
        reader = Reader()
        call = reader.text('{"a":', "1}")
        reader.feed(CallDelta("a", message="m", end=end))
        assert (call.status, call.raw, call.args) == (status, '{"a":1}', {"a": 1}), end
        assert status == "complete" or (call.error and call.error["code"] == "ARGUMENTS_DIFFER")


def test_arguments_only_stated_at_the_end_or_at_the_start() -> None:
    for statement in (
        CallDelta("a", name="f", message="m", end=End(text='{"a":1}')),
        CallDelta("a", name="f", message="m", end=End(value={"a": 1})),
        CallDelta("a", name="f", message="m", preset={"a": 1}, end=End()),
        CallDelta("a", name="f", message="m", preset='{"a":1}', end=End()),
        CallDelta("a", name="f", message="m", value={"a": 1}),
    ):
        reader = Reader()
        [update] = reader.feed(statement)
        assert update.function_args == '{"a":1}'
        assert update.json_update_fragments
        reader.finish()
        [call] = reader.calls.calls
        assert (call.status, call.raw, call.args) == ("complete", '{"a":1}', {"a": 1})


def test_text_replaces_a_preset() -> None:
    reader = Reader()
    reader.feed(CallDelta("a", name="f", message="m", preset={"placeholder": 1}))
    call = reader.text('{"a":1}')
    reader.finish()
    assert (call.status, call.args) == ("complete", {"a": 1})
    reader.feed(CallDelta("b", name="f", message="m", preset={"b": 1}))
    [update] = reader.finish()
    assert (update.function_args, update.status) == ('{"b":1}', "complete")


def test_values_that_json_cannot_represent() -> None:
    for value in ({1, 2}, {"a": object()}, float("nan"), b""):
        reader = Reader()
        reader.feed(CallDelta("a", name="f", message="m", value=value))
        reader.finish()
        [call] = reader.calls.calls
        assert call.status == "error"


def test_arguments_may_be_free_text() -> None:
    reader = Reader()
    reader.feed(CallDelta("a", name="sql", message="m", free=True))
    [call] = reader.calls.calls
    assert (call.encoding, call.args) == ("text", "")
    for piece in ("SELECT ", '"x"'):
        [update] = reader.feed(CallDelta("a", text=piece, message="m"))
    assert call.args == call.raw == call.live == 'SELECT "x"'
    assert [fragment.kind for fragment in update.json_update_fragments or []] == ["PartialString"]
    reader.finish()
    assert (call.status, call.args) == ("complete", 'SELECT "x"')
    reader.feed(CallDelta("b", name="sql", text="SELECT", message="m", free=True))
    [update] = reader.finish(reason="length")
    assert (update.call.status, update.call.args) == ("truncated", "SELECT")


def test_a_late_result_is_attached_by_its_id() -> None:
    reader = Reader()
    call = reader.text("{}")
    reader.finish()
    [update] = reader.feed(Result("a", {"n": 1}))
    assert update.is_result
    assert update.call is call
    assert (call.result, call.result_is_error) == ({"n": 1}, False)
    reader.feed(Result("a", "no", is_error=True))
    assert (call.result, call.result_is_error) == ("no", True)
    assert reader.feed(Result("unknown", 1)) == []
    assert reader.feed(Result(None, 1)) == []


def test_a_result_proves_that_the_call_has_ended() -> None:
    reader = Reader()
    call = reader.text('{"a":1}')
    ended, answered = reader.feed(Result("a", 1))
    assert (ended.status, answered.is_result, call.status) == ("complete", True, "complete")


def test_a_response_that_is_announced_again_continues() -> None:
    reader = Reader()
    call = reader.text('{"a":')
    reader.feed(Begin("m"))
    assert reader.text("1}").args == {"a": 1}
    assert call.status == "streaming"
    [update] = reader.feed(Begin("n"))
    assert (update.call is call, call.status) == (True, "complete")


def test_calls_that_are_forgotten_are_gone() -> None:
    reader = Reader()
    reader.text("{}")
    reader.feed(CallDelta("b", name="g", text="{", message="n"))
    reader.calls.forget("m")
    assert [call.id for call in reader.calls.calls] == ["b"]
    assert reader.calls.get("a") is None
    reader.calls.forget("never seen")
    reader.finish()
    assert not reader.calls._done
    # The message is forgotten, so a replay opens new calls.
    assert reader.text("{}").raw == "{}"


def test_of_ended_responses_the_last_calls_are_kept() -> None:
    calls = ToolCalls(keep=3)
    for turn in range(5):
        for event in openai_chat(TWO, in_a_row(TWO, 99), f"m{turn}"):
            calls.feed(event)
    # The calls that the last event ended stay until the next event, even beyond `keep`.
    assert [call.message_id for call in calls.calls] == ["m2", "m3", "m3", "m4", "m4"]
    calls.feed({})
    assert [call.message_id for call in calls.calls] == ["m3", "m4", "m4"]
    everything = ToolCalls(keep=None)
    for turn in range(300):
        for event in openai_chat(TWO, in_a_row(TWO, 99), f"m{turn}"):
            everything.feed(event)
    assert len(everything.calls) == 600


def test_calls_beyond_the_limit_end_with_an_error_that_names_it() -> None:
    """A hundred thousand calls are open at once: the first ones complete."""
    calls = ToolCalls(keep=None)
    errors: list[Any] = []
    for text in ("{", "}"):
        for number in range(100_000):
            named = {"id": f"c{number}", "name": "f"} if text == "{" else {}
            updates = calls.read([CallDelta(index=number, text=text, message="m", **named)])  # type: ignore[arg-type]
            errors += [update.error for update in updates if update.error]
    calls.read([Finish("m")])
    assert len(calls.calls) == MAX_CALLS
    assert {call.status for call in calls.calls} == {"complete"}
    assert len(errors) == 100_000 - MAX_CALLS
    assert {(error["code"], error["limit"]) for error in errors} == {("LIMIT_EXCEEDED", "calls")}


TURNS = 10_000


@hard
@pytest.mark.parametrize("named", [True, False])
def test_thousands_of_turns_in_flat_memory(named: bool) -> None:
    calls = ToolCalls()
    sizes: list[int] = []
    tracemalloc.start()
    try:
        for turn in range(TURNS):
            message = f"m{turn}" if named else ""
            delta = {"index": 0, "id": f"c{turn}", "function": {"name": "f", "arguments": '{"a":'}}
            more = {"index": 0, "function": {"arguments": f"{turn}}}"}}
            # A few responses never end.
            finish = "tool_calls" if turn % 100 else None
            for call, reason in ((delta, None), (more, finish)):
                choice = {"index": 0, "delta": {"tool_calls": [call]}, "finish_reason": reason}
                calls.feed({"id": message, "choices": [choice]})
            if turn in (TURNS // 4, TURNS - 1):
                gc.collect()
                sizes.append(tracemalloc.get_traced_memory()[0])
    finally:
        tracemalloc.stop()
    assert calls.calls[-1].args == {"a": TURNS - 1}
    assert sizes[1] < sizes[0] * 1.5 + 40_000


def test_a_bound_on_arguments() -> None:
    reader = Reader(limits=Limits(text=20))
    call = reader.text('{"a":"', "x" * 10)
    assert call.status == "streaming"
    for _ in range(100):
        reader.text("x" * 10)
    assert call.error is not None
    assert call.error["code"] == "LIMIT_EXCEEDED"
    assert len(call.raw) <= 40
    reader.feed(CallDelta("t", name="sql", free=True, message="m"))
    for _ in range(100):
        text = reader.text("x" * 10, id="t")
    assert text.error and text.error["code"] == "LIMIT_EXCEEDED"
    assert text.raw == "x" * 20


@given(st.data())
def test_any_cutting_ends_in_the_same_call(data: st.DataObject) -> None:
    text = data.draw(
        st.one_of(
            st.sampled_from(
                [WEATHER.text, SEARCH.text, '{"a": tru!}', "[1 2]", "{}{}", "12 ", '"a']
            ),
            st.text(alphabet='{}[]",:truefalsn0123.-e \\u', max_size=12),
        )
    )
    whole, cut = Reader(), Reader()
    # A piece that equals the text so far counts as a repetition, and a first piece {} as a
    # placeholder: leave out these splits.
    expected = whole.text(text) if text else whole.text("")
    for piece in data.draw(pieces(text)):
        if cut.calls.calls and cut.calls.calls[0].raw in (piece, "{}"):
            return
        cut.text(piece)
    cut.text("")
    for reader in (whole, cut):
        reader.finish()
    assert cut.calls.calls == [expected]


# ---- streams ----


def test_tool_calls_of_any_source() -> None:
    events = openai_chat(TWO, shuffled(TWO, 1))
    calls = ToolCalls()
    updates = list(tool_calls(iter(events), calls=calls))
    assert [update.call.status for update in updates[-2:]] == ["complete", "complete"]
    assert {call.name for call in calls.calls} == {"get_weather", "search"}

    async def later() -> AsyncIterator[Event]:
        for event in events:
            await asyncio.sleep(0)
            yield event

    async def read() -> list[str | None]:
        return [update.function_args async for update in tool_calls(later())]

    assert asyncio.run(read()) == [update.function_args for update in updates]
    assert [u.function_args for u in tool_calls(map(json.dumps, events))] == [
        update.function_args for update in updates
    ]
    opened, cut = tool_calls(events[1], provider="openai_chat", keep=1)
    assert opened.function_name in ("get_weather", "search")
    assert cut.status == "truncated"


def test_tool_calls_are_flushed_at_the_end_of_the_source() -> None:
    events = openai_chat(TWO, in_a_row(TWO))
    assert [update.status for update in tool_calls(events[:4])][-1] == "truncated"
    calls = ToolCalls()

    def failing() -> Iterator[Event]:
        yield from events[:4]
        raise OSError("gone")

    with pytest.raises(OSError, match="gone"):
        list(tool_calls(failing(), calls=calls))
    assert calls.calls[0].status == "streaming"


def test_calls_and_options_do_not_go_together() -> None:
    with pytest.raises(TypeError, match="provider"):
        tool_calls([], calls=ToolCalls(), provider="anthropic")
    with pytest.raises(TypeError):
        tool_calls(7)  # type: ignore[call-overload]


def test_the_end_of_one_stream_is_not_that_of_another() -> None:
    calls = ToolCalls()
    long, short = (
        tool_calls(openai_chat([WEATHER], in_a_row([WEATHER], size), f"m{size}")[:-1], calls=calls)
        for size in (1, 30)
    )
    next(long)
    assert [update.status for update in short][-1] == "complete"
    assert [call.status for call in calls.calls] == ["streaming", "complete"]
    assert [update.status for update in long][-1] == "complete"
    assert list(tool_calls([], calls=calls)) == []


# ---- cost ----


def long_calls(size: int) -> tuple[list[Made], list[tuple[int, str]]]:
    """Return eight calls with arguments of this length, four at a time, in turns."""
    code = "x = 1\n" * (size // 7)
    text = json.dumps({"path": "a.py", "code": code, "lines": [1, 2, 3]})
    calls = [Made(f"c{number}", "write", text) for number in range(8)]
    script = [
        (number, text[at : at + 4]) for at in range(0, len(text), 4) for number in range(len(calls))
    ]
    return calls, script


@few(1)
@pytest.mark.parametrize("name", ["openai_chat", "openai_responses", "anthropic", "vercel"])
def test_eight_interleaved_calls_cost_the_same_at_any_size(name: str) -> None:
    def start(size: int) -> Callable[[], object]:
        events, calls = iter(BUILDERS[name](*long_calls(size + 2_000))), ToolCalls()

        def step() -> None:
            for update in calls.feed(next(events)):
                assert update.call.live is not None or not update.call.raw

        for _ in range(2 * size):
            step()
        return step

    assert_flat(start, small=100, large=4_000)
