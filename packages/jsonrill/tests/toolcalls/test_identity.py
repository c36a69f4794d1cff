"""Which call an event is about: the rules one by one, then random mixtures of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsonrill import ToolCall
from jsonrill.providers.statements import CallDelta
from jsonrill.toolcalls.identity import Identity


@dataclass(eq=False)
class Call(ToolCall):
    """A call whose arguments a test completes, and which it ends."""

    is_done: bool = False

    @property
    def has_all_args(self) -> bool:
        return self.is_done

    @property
    def is_settled(self) -> bool:
        return not self.is_open


class Calls:
    """Calls in the order in which they were opened; each event returns a call's number."""

    def __init__(self) -> None:
        self.identity: Identity = Identity(self._make)
        self.made: list[Call] = []

    def _make(self, id: str, index: int | None, message_id: str) -> Call:
        self.made.append(Call(id, index, message_id))
        return self.made[-1]

    def find(self, **event: Any) -> int | None:
        call = self.identity.find(CallDelta(**event))
        if call is None:
            return None
        if event.get("name") is not None and call.name is None:
            call.name = event["name"]
        return call.number - 1

    def end(self, message: str | None = None, choice: int | None = None) -> None:
        for scope in self.identity.end_scopes(message, choice):
            for call in scope.calls.values():
                call.is_open = False


def run(*events: dict[str, Any]) -> list[int | None]:
    """Feed the events; a dict with a key in capitals is an instruction to the test."""
    calls = Calls()
    numbers: list[int | None] = []
    for event in events:
        match event:
            case {"COMPLETE": number}:
                calls.made[number].is_done = True
            case {"BEGUN": number}:
                calls.made[number].raw = "{"
            case {"CLOSE": number}:
                calls.made[number].is_open = False
            case {"END": message}:
                calls.end(message)
            case {"BEGIN": message}:
                calls.identity.begin(message)
            case {"FORGET": message}:
                calls.identity.forget(message)
            case _:
                numbers.append(calls.find(**event))
    return numbers


A0: dict[str, Any] = {"id": "a", "index": 0, "name": "f"}
B0: dict[str, Any] = {"id": "b", "index": 0, "name": "g"}
B1: dict[str, Any] = {"id": "b", "index": 1, "name": "g"}
AT0: dict[str, Any] = {"index": 0}
AT1: dict[str, Any] = {"index": 1}
BARE: dict[str, Any] = {}
F: dict[str, Any] = {"name": "f"}
G: dict[str, Any] = {"name": "g"}


@pytest.mark.parametrize(
    "events, expected",
    [
        pytest.param([A0, AT0, AT0], [0, 0, 0], id="an id comes once, then the index"),
        pytest.param([A0, B1, AT0, AT1, AT0], [0, 1, 0, 1, 0], id="interleaved by index"),
        pytest.param([B1, A0, AT1, AT0], [0, 1, 0, 1], id="out of order"),
        pytest.param([A0, B1, {"id": "a"}, {"id": "b"}], [0, 1, 0, 1], id="a known id wins"),
        pytest.param([A0, B1, {"id": "a", "index": 1}], [0, 1, 0], id="even at another's index"),
        pytest.param([A0, AT0, B0, AT0], [0, 0, 1, 1], id="a new id opens, its index taken"),
        pytest.param([A0, B0, {"id": "a"}, AT0], [0, 1, 0, 1], id="the index is the last opened's"),
        pytest.param([AT0, AT1, AT0, AT1], [0, 1, 0, 1], id="no id: an index not seen opens"),
        pytest.param([AT0, A0, AT0, {"id": "a"}], [0, 0, 0, 0], id="an id that comes later"),
        pytest.param([AT0, A0, B0, AT0], [0, 0, 1, 1], id="but only one"),
        pytest.param([AT0 | F, B0, AT0], [0, 1, 1], id="and not a call with another name"),
        pytest.param([AT0 | F, {"CLOSE": 0}, A0], [0, 1], id="and not after its end"),
        pytest.param([A0, {"id": "b", "index": 0}, AT0], [0, 0, 0], id="another id, no name"),
        pytest.param([A0, {"id": "b", "index": 0}, {"id": "b"}], [0, 0, 0], id="known from then"),
        pytest.param([{"id": "a", "index": 0}, {"id": "b", "index": 0}], [0, 1], id="no names"),
        pytest.param([AT0 | F, {"COMPLETE": 0}, A0], [0, 1], id="an id and a name after the args"),
        pytest.param([AT0 | F, {"COMPLETE": 0}, AT0 | F, AT0], [0, 1, 1], id="no ids: a name"),
        pytest.param([AT0 | F, {"COMPLETE": 0}, AT0], [0, 0], id="no ids, no name"),
        pytest.param([A0, {"COMPLETE": 0}, AT0 | F, AT0], [0, 0, 0], id="ids: the name again"),
        pytest.param([A0, {"COMPLETE": 0}, AT0 | G, AT0], [0, 1, 1], id="ids: another name"),
        pytest.param([AT0 | F, AT0 | G], [0, 0], id="the name in pieces"),
        pytest.param([AT0 | F, {"BEGUN": 0}, AT0 | G, AT0], [0, 1, 1], id="not after arguments"),
        pytest.param([AT0 | F, {"BEGUN": 0}, AT0 | F], [0, 0], id="the same name again"),
        pytest.param([F, BARE, BARE], [0, 0, 0], id="neither: the open call"),
        pytest.param([BARE, F, BARE], [0, 0, 0], id="neither, the name later"),
        pytest.param([F, F, BARE], [0, 0, 0], id="the name again is not a new call"),
        pytest.param([F, {"COMPLETE": 0}, F, BARE], [0, 1, 1], id="unless the open one has ended"),
        pytest.param([F, G, BARE], [0, 1, 1], id="another name is another call"),
        pytest.param([F, {"CLOSE": 0}, BARE], [0, None], id="nothing is open: a straggler"),
        pytest.param([F, {"CLOSE": 0}, F], [0, 1], id="nothing is open: a name opens"),
        pytest.param([A0, B1, BARE], [0, 1, 1], id="the open one is that spoken of last"),
        pytest.param([A0, B1, {"id": "a"}, BARE], [0, 1, 0, 0], id="however it was named"),
        pytest.param([A0, B1, {"CLOSE": 1}, BARE], [0, 1, 0], id="if that has ended, another"),
        pytest.param([{"id": "a"}, A0, AT0], [0, 0, 0], id="an index that comes later is linked"),
        pytest.param([{"id": "a", "alias": "i"}, {"alias": "i"}], [0, 0], id="an alias"),
        pytest.param([{"id": "a", "alias": "i"}, {"alias": "j"}], [0, 1], id="an unknown alias"),
        pytest.param([AT0, {"alias": "j", "index": 0}, {"alias": "j"}], [0, 0, 0], id="linked"),
        pytest.param([{"alias": "j"}, {"id": "a", "alias": "j"}], [0, 0], id="with an id later"),
        pytest.param([A0 | {"alias": "j"}, B1 | {"alias": "j"}], [0, 1], id="unless it has one"),
        pytest.param([{"id": "a", "opens": False}], [None], id="what cannot open"),
        pytest.param([AT0 | {"opens": False}, AT0], [None, 0], id="does not"),
    ],
)
def test_each_event_finds_or_opens_its_call(
    events: list[dict[str, Any]], expected: list[int | None]
) -> None:
    assert run(*events) == expected
    # The same in a named response, where events of another one come in between.
    mixed: list[dict[str, Any]] = []
    for event in events:
        is_event = not any(key.isupper() for key in event)
        mixed += [event | {"message": "m"}] if is_event else [event]
        mixed += [{"id": "other", "index": 0, "message": "n", "opens": False}] if is_event else []
    assert run(*mixed)[::2] == expected


@pytest.mark.parametrize(
    "events, expected",
    [
        pytest.param(
            [A0 | {"message": "m"}, A0 | {"message": "n"}, AT0 | {"message": "m"}],
            [0, 1, 0],
            id="responses keep their calls apart, also with one id",
        ),
        pytest.param(
            [A0, A0 | {"choice": 1}, AT0, AT0 | {"choice": 1}], [0, 1, 0, 1], id="so do choices"
        ),
        pytest.param(
            [A0 | {"message": "m"}, {"END": "m"}, AT0 | {"message": "m"}, A0 | {"message": "m"}],
            [0, 0, 0],
            id="late events of an ended response are still its calls'",
        ),
        pytest.param(
            [A0 | {"message": "m"}, {"END": "m"}, {"message": "m"}, B0 | {"message": "m"}],
            [0, None, 1],
            id="but a new id opens, as it does anywhere",
        ),
        pytest.param([A0, {"END": None}, AT0, B0, AT0], [0, 0, 1, 1], id="unnamed: a new id opens"),
        pytest.param([A0, {"END": None}, A0, AT0], [0, 1, 1], id="unnamed: the id used again"),
        pytest.param([A0, {"END": None}, {"id": "a"}], [0, 0], id="unnamed: a straggler"),
        pytest.param([F, {"END": None}, BARE, F, BARE], [0, None, 1, 1], id="unnamed, no ids"),
        pytest.param(
            [{"BEGIN": "m"}, A0, {"END": None}, A0, {"BEGIN": "n"}, A0, AT0],
            [0, 0, 1, 1],
            id="a response that begins takes what names none",
        ),
        pytest.param(
            [A0 | {"message": "m"}, B0 | {"message": "n"}, {"id": "a"}, {"id": "b"}, BARE],
            [0, 1, 0, 1, 1],
            id="an id finds its call in another open response",
        ),
        pytest.param([A0 | {"message": "m"}, {"FORGET": "m"}, AT0], [0, 1], id="forgotten"),
    ],
)
def test_calls_are_looked_for_in_their_response(
    events: list[dict[str, Any]], expected: list[int | None]
) -> None:
    assert run(*events) == expected


def test_ids_are_made_from_what_a_receiver_sees_too() -> None:
    calls = Calls()
    events: tuple[dict[str, Any], ...] = (
        {"name": "f"},
        {"index": 3},
        {"index": 0, "message": "m", "choice": 2},
    )
    for event in events:
        calls.find(**event)
    assert [call.id for call in calls.made] == ["message-1:#1", "message-1:3", "m:2:0"]
    assert [call.message_id for call in calls.made] == ["message-1", "message-1", "m:2"]
    assert not any(call.own_id for call in calls.made)


def test_an_id_that_comes_later_takes_the_place_of_the_made_one() -> None:
    calls = Calls()
    calls.find(index=0)
    first_id = calls.made[0].id
    assert not calls.identity.has_linked
    calls.find(index=0, id="a")
    assert calls.identity.has_linked
    assert (calls.made[0].id, calls.made[0].own_id) == ("a", True)
    # Both ids find it: a caller may have stored the first one.
    assert calls.identity.latest(first_id) is calls.identity.latest("a") is calls.made[0]


EVENTS = st.fixed_dictionaries(
    {},
    optional={
        "id": st.sampled_from("ab"),
        "index": st.integers(0, 1),
        "name": st.sampled_from("fg"),
        "alias": st.sampled_from("xy"),
        "message": st.sampled_from("mn"),
        "choice": st.integers(0, 1),
        "opens": st.booleans(),
    },
)


@given(st.lists(st.one_of(EVENTS, st.just({"END": None}), st.just({"COMPLETE": 0})), max_size=12))
def test_any_mixture_keeps_ids_to_their_calls(events: list[dict[str, Any]]) -> None:
    calls = Calls()
    for event in events:
        if "END" in event:
            calls.end()
        elif "COMPLETE" in event:
            for call in calls.made:
                call.is_done = True
        else:
            number = calls.find(**event)
            if number is None:
                continue
            call = calls.made[number]
            if "id" in event:
                assert event["id"] in call.ids or event.get("alias") in call.ids
            if "message" in event:
                choice = event.get("choice", 0)
                assert call.message_id == event["message"] + (f":{choice}" if choice else "")
    # Within a message no two calls share an id.
    named = [(call.message_id, call.id) for call in calls.made]
    assert len(set(named)) == len(named)
