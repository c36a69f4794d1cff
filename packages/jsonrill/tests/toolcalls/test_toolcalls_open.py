"""Which of a call's arguments are complete, while they grow and after they were cut off."""

from __future__ import annotations

from jsonrill import ToolCall, ToolCallEvents, ToolCalls
from jsonrill.providers.statements import CallDelta


def by_hand(event: dict[str, list[CallDelta]]) -> list[CallDelta]:
    return event["say"]


def call_of(*texts: str, end: str | None = None) -> ToolCall:
    calls = ToolCalls(by_hand)
    calls.feed({"say": [CallDelta("a", name="f")]})
    for text in texts:
        calls.feed({"say": [CallDelta("a", text=text)]})
    if end is not None:
        calls.flush()
    return calls.calls[0]


def test_the_value_that_grows_and_those_that_are_complete() -> None:
    call = call_of()
    assert (call.open_path, call.is_complete(())) == (None, False)
    call = call_of('{"city": "Oslo", "stops": [{"n": 1}, {"name": "Ber')
    assert call.open_path == ("stops", 1, "name")
    assert call.is_complete("city") and call.is_complete("stops[0]")
    assert not any(map(call.is_complete, ["stops", "stops[1].name", "days"]))
    assert not call.is_complete(())
    call = call_of('{"city": "Oslo"', "}")
    assert call.open_path is None and call.is_complete("city") and call.is_complete(())


def test_what_was_cut_off_is_not_complete() -> None:
    call = call_of('{"city": "Oslo", "to": "Ber', end="")
    assert call.status == "truncated"
    assert call.is_complete("city") and not call.is_complete("to") and not call.is_complete(())
    call = call_of('{"city": "Oslo", "to": "x" ?')
    assert call.status == "error"
    assert call.is_complete("to") and not call.is_complete(())


def test_the_receiver_of_wire_events_says_the_same() -> None:
    sender, receiver = ToolCallEvents(ToolCalls(by_hand)), ToolCalls("jsonrill")
    for delta in (CallDelta("a", name="f"), CallDelta("a", text='{"a": "x", "b": ["y')):
        for event in sender.feed({"say": [delta]}):
            receiver.feed(event)
    [call] = receiver.calls
    assert (call.open_path, call.is_complete("a"), call.is_complete("b")) == (("b", 0), True, False)
