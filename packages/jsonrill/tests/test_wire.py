"""The wire for growing JSON: `Sender`, `Receiver`, and what travels between them."""

from __future__ import annotations

import asyncio
import copy
import json
import random
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

import jsonrill.driver
from jsonrill import (
    JsonrillError,
    Limits,
    PartialStream,
    Receiver,
    Sender,
    apply_delta,
    receive,
    send,
    sse,
    updates,
)
from jsonrill.deltas import difference
from jsonrill.errors import Gap, InvalidMessage, SourceFailed, StreamClosed
from jsonrill.paths import complete_paths, lookup, to_pointer
from jsonrill.sending import StateSender, TextSender
from support import by, cases, examples
from support.costs import assert_linear

FILES = ("conversations", "depth", "surrogates")
CONVERSATIONS = [case for name in FILES for case in cases(f"wire/{name}.json")]


def as_json(value: Any) -> str:
    """Return a text that is equal for values that are equal as JSON."""
    return json.dumps(value, sort_keys=True).replace("-0.0", "0.0")


def nested(levels: int) -> Any:
    value: Any = 0
    for _ in range(levels):
        value = [value]
    return value


def over_the_wire(message: Any) -> Any:
    return json.loads(json.dumps(message))


# ---- the cases that every language runs ----


@pytest.mark.parametrize("case", CONVERSATIONS, ids=[case["name"] for case in CONVERSATIONS])
def test_a_conversation_of_the_cases_gives_its_values_and_results(case: dict[str, Any]) -> None:
    receiver = Receiver()
    value = None
    for step in case["steps"]:
        before = receiver.n
        assert run_step(receiver, step["message"], before) == step.get("result", "ok")
        value = step.get("value", value)
        assert as_json(receiver.value) == as_json(value)
        if "result" in step:
            assert receiver.n == before
        for name in ("n", "ended", "error"):
            assert getattr(receiver, name) == step.get(name, getattr(receiver, name))
        assert all(map(receiver.is_complete, step.get("final", [])))
        assert not any(map(receiver.is_complete, step.get("open", [])))


def run_step(receiver: Receiver, message: Any, before: int) -> str:
    try:
        receiver.feed(message)
    except Gap:
        return "gap"
    except InvalidMessage:
        return "invalid"
    return "ignored" if type(message) is list and receiver.n == before else "ok"


@pytest.mark.parametrize("case", cases("wire/updates.json"), ids=lambda case: case["name"])
def test_deltas_of_updates(case: dict[str, Any]) -> None:
    stream = PartialStream("REALTIME", send="both")
    updates = [update for piece in case["pieces"] for update in stream.feed(piece)]
    assert [update.delta for update in updates] == case["deltas"]
    value = None
    for delta in case["deltas"]:
        value = apply_delta(value, delta)
    assert value == case["data"]


# ---- P12 ----

KEYS = st.sampled_from(["a", "b", "a/b", "~", "0", "", "__proto__", "\ud800", "é😀"])
STRINGS = st.sampled_from(["", "x", "é😀", "\ud83d", "\ude00", "a long text that is edited"])
SMALL = st.recursive(
    STRINGS | st.integers(-2, 2) | st.sampled_from([0.5, 1.0, True, False, None]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=10,
)

TEXTS = st.builds(json.dumps, SMALL, ensure_ascii=st.booleans(), indent=st.sampled_from([None, 1]))


@st.composite
def edit(draw: st.DrawFn, value: Any) -> Any:
    """Change something in a value, in place where that is possible."""
    kind = draw(st.integers(0, 5))
    if kind == 0 or not isinstance(value, (dict, list, str)):
        return draw(SMALL)
    if isinstance(value, str):
        at = draw(st.integers(0, len(value))) if kind == 1 else len(value)
        return value[:at] + draw(STRINGS) + value[at + draw(st.integers(0, 2)) :]
    if isinstance(value, dict):
        key = draw(st.sampled_from(sorted(value)) if value and kind > 2 else KEYS)
        if kind == 1:
            value.pop(key, None)
        else:
            value[key] = draw(edit(value[key])) if key in value else draw(SMALL)
    else:
        at = draw(st.integers(0, len(value)))
        if kind == 1:
            del value[at : at + 2]
        elif kind == 2 or at == len(value):
            value.insert(at, draw(SMALL))
        else:
            value[at] = draw(edit(value[at]))
    return value


@st.composite
def histories(draw: st.DrawFn) -> list[Any]:
    states = [draw(SMALL)]
    for _ in range(draw(st.integers(0, 6))):
        states.append(draw(edit(copy.deepcopy(states[-1]))))
    return states


def join_surrogates(value: Any) -> Any:
    """Join surrogate halves, as a JSON reader does."""
    return json.loads(json.dumps(value))


@examples(300)
@given(data=st.data(), frozen=st.booleans(), numbered=st.booleans())
def test_p12_a_receiver_at_n_has_the_value_of_the_sender_at_n(
    data: st.DataObject, frozen: bool, numbered: bool
) -> None:
    """Messages are lost, repeated, reordered and joined late; without numbers only joined late."""
    sender = Sender(numbered=numbered, frozen=frozen)
    receivers = [Receiver()]
    sent: dict[int, str] = {}
    messages: list[Any] = []
    for state in data.draw(histories()):
        message = sender.feed(state)
        if message is not None:
            messages.append(over_the_wire(message))
        snapshot = sender.snapshot()
        assert snapshot is not None
        sent[snapshot["n"]] = as_json(join_surrogates(state))
        if numbered:
            arriving = data.draw(st.lists(st.sampled_from(messages), max_size=3))
        else:
            arriving = [] if message is None else messages[-1:]
        for receiver in receivers:
            for message in arriving:
                try:
                    receiver.feed(message)
                except Gap:
                    receiver.feed(over_the_wire(snapshot))
                if receiver.n:
                    assert as_json(receiver.value) == sent[receiver.n]
        if data.draw(st.booleans()):
            receivers.append(Receiver())
            receivers[-1].feed(over_the_wire(snapshot))
            assert as_json(receivers[-1].value) == sent[receivers[-1].n]


@examples(150)
@given(text=TEXTS, data=st.data(), numbered=st.booleans())
def test_p12_text_arrives_whole_for_any_cutting(
    text: str, data: st.DataObject, numbered: bool
) -> None:
    """However a text is cut, its value arrives, and what is complete does not change any more."""
    sender, receivers = TextSender(numbered=numbered), [Receiver()]
    final: dict[str, str] = {}
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=8)))
    for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True):
        for message in sender.feed(text[start:end]):
            for receiver in receivers:
                receiver.feed(over_the_wire(message))
            check_final(receivers[0], final)
        if (snapshot := sender.sender.snapshot()) is not None:
            receivers.append(Receiver())
            receivers[-1].feed(over_the_wire(snapshot))
    rest = sender.flush()
    for receiver in receivers:
        for message in rest:
            receiver.feed(over_the_wire(message))
        assert as_json(receiver.value) == as_json(json.loads(text))
        assert receiver.ended and receiver.error is None
    check_final(receivers[0], final)


def check_final(receiver: Receiver, final: dict[str, str]) -> None:
    values = {to_pointer(path): path for path in complete_paths(receiver.value)}
    for pointer, path in values.items():
        if receiver.is_complete(pointer):
            value = as_json(lookup(receiver.value, path)[1])
            assert final.setdefault(pointer, value) == value
    assert final.keys() <= values.keys()


# ---- states ----


@examples(300)
@given(old=SMALL, new=SMALL)
def test_the_difference_of_any_two_values(old: Any, new: Any) -> None:
    before = copy.deepcopy(old)
    delta = over_the_wire(difference(old, new))
    assert as_json(apply_delta(join_surrogates(old), delta)) == as_json(join_surrogates(new))
    assert as_json(old) == as_json(before)
    assert difference(new, copy.deepcopy(new)) == []


LOOKALIKES = st.sampled_from([0, 1, 0.0, 1.0, False, True, "1", None])
ITEMS = LOOKALIKES | st.lists(LOOKALIKES, max_size=2) | st.fixed_dictionaries({"a": LOOKALIKES})


@examples(200)
@given(old=st.lists(ITEMS, min_size=30, max_size=40), data=st.data())
def test_the_difference_of_large_objects_and_lists(old: list[Any], data: st.DataObject) -> None:
    """Equal ends are cut off in another way than small values are compared."""
    new = copy.deepcopy(old)
    for at in data.draw(st.lists(st.integers(0, len(old) - 1), max_size=3)):
        new[at : at + data.draw(st.integers(0, 2))] = [data.draw(ITEMS)]
    keys = data.draw(st.permutations(range(len(new)))) if data.draw(st.booleans()) else range(99)
    members = {f"k{key}": value for key, value in zip(keys, new, strict=False)}
    for before, after in ((old, new), ({f"k{at}": item for at, item in enumerate(old)}, members)):
        delta = over_the_wire(difference(before, after))
        assert as_json(apply_delta(before, delta)) == as_json(after)


def test_growth_becomes_short_appends() -> None:
    sender = Sender()
    states = [{"steps": [{"title": title}]} for title in ("", "Book", "Book a", "Book a flight")]
    assert [sender.feed(state) for state in [*states, states[-1]]] == [
        {"n": 1, "value": {"steps": [{"title": ""}]}},
        [2, ["append", "/steps/0/title", "Book"]],
        [3, " a"],
        [4, " flight"],
        None,
    ]
    assert sender.end() == [5, ["end"]]
    with pytest.raises(StreamClosed):
        sender.feed({})


@pytest.mark.parametrize(
    ("old", "new", "delta"),
    [
        ([1, 2, 3], [1, 3], [["splice", "", 1, 1, []]]),
        ([1, 2], [1, 2, 3], [["set", "/2", 3]]),
        ([1], [1, 2, 3], [["splice", "", 1, 0, [2, 3]]]),
        ([1, 2, 3, 4, 5], [0, 1, 2, 4, 5], [["splice", "", 0, 0, [0]], ["splice", "", 3, 1, []]]),
        (
            [0, 0, 1, 1, 0, 1, 0, 0],
            [1, 0, 0, 1, 1, 0, 1, 0],
            [["splice", "", 0, 0, [1]], ["splice", "", 7, 1, []]],
        ),
        ([1, 2, 3, 4], [1, 5, 6.5, None], [["splice", "", 1, 3, [5, 6.5, None]]]),
        ([1, 2, "x"], [3, 4, "xy"], [["splice", "", 0, 3, [3, 4, "xy"]]]),
        ([{"a": "x"}, 1], [{"a": "xy"}, 1], [["append", "/0/a", "y"]]),
        ({"a": 1, "b": 2}, {"b": 2}, [["remove", "/a"]]),
        ({"a": 1, "b": 2}, {"c": 3}, [["set", "", {"c": 3}]]),
        ({"a": 1}, {"a": True}, [["set", "/a", True]]),
        ({"a": "text"}, {"a": ["text"]}, [["set", "/a", ["text"]]]),
        ("a short text", "a long text", [["set", "", "a long text"]]),
        (20 * "ab" + "c" + "d" * 20, 20 * "ab" + "d" * 20, [["splice", "", 40, 1, ""]]),
    ],
)
def test_a_small_change_is_a_small_operation(old: Any, new: Any, delta: list[Any]) -> None:
    assert difference(old, new) == delta


@pytest.mark.parametrize(
    ("item", "most"),
    [(lambda n: {"id": n}, 0.3), (lambda n: n, 0.5), (lambda n: f"line {n}", 0.4)],
    ids=["objects", "numbers", "strings"],
)
def test_a_list_edited_in_many_places_takes_less_space_than_a_new_one(
    item: Callable[[int], Any], most: float
) -> None:
    chance = random.Random(1)
    old = [item(n) for n in range(400)]
    new = old[3:] + [item(n) for n in range(1000, 1003)]
    for number in range(10):
        new.insert(chance.randrange(400), item(2000 + number))
        del new[chance.randrange(400)]
        new[chance.randrange(400)] = item(3000 + number)
    assert len(json.dumps(difference(old, new))) < most * len(json.dumps(new))


@pytest.mark.parametrize("choices", [[True, False], range(10), range(10_000)], ids=len)
def test_a_list_of_other_numbers_is_not_sent_in_many_operations(choices: Sequence[Any]) -> None:
    chance = random.Random(1)
    old, new = (chance.choices(choices, k=500) for _ in range(2))
    assert len(json.dumps(difference(old, new))) < 1.1 * len(json.dumps(new))


def test_a_state_may_be_changed_in_place_and_messages_share_nothing_with_it() -> None:
    state: dict[str, Any] = {"list": [], "text": ""}
    sender, receiver = Sender(), Receiver()
    for number in range(5):
        receiver.feed(sender.feed(state))
        assert receiver.value == state
        state["list"].append({"n": number})
        state["text"] += "x"
        assert receiver.value != state


class Kind(IntEnum):
    PLAN = 1


class Model(BaseModel):
    title: str = ""
    tags: tuple[str, ...] = ()


@dataclass
class Step:
    kind: Kind
    model: Model


@pytest.mark.parametrize("frozen", [False, True])
def test_dataclasses_and_models_are_objects(frozen: bool) -> None:
    sender, receiver = Sender(frozen=frozen), Receiver()
    for title in ("Os", "Oslo"):
        message = sender.feed([Step(Kind.PLAN, Model(title=title, tags=("a",)))])
        receiver.feed(message)
        assert receiver.value == [{"kind": 1, "model": {"title": title, "tags": ["a"]}}]
    assert message == [2, ["append", "/0/model/title", "lo"]]
    states: list[Any] = [Step(Kind.PLAN, Model(title="Oslo", tags=("a",)))]
    assert sender.feed(states) is None
    states = [Model(title="Bergen"), *states, {"models": [Model(title="Voss")]}]
    sender.feed(states)
    moved = [states[2], states[0], Step(Kind.PLAN, Model(title="Oslo", tags=("a",)))]
    last = {"models": [{"title": "Voss", "tags": []}]}
    assert sender.feed(moved) == [4, ["splice", "", 0, 0, [last]], ["splice", "", 3, 1, []]]


class Key(str):
    """Like a member of an enumeration, it is written in another way than it is printed."""

    def __str__(self) -> str:
        return "printed"


@pytest.mark.parametrize("frozen", [False, True])
def test_keys_may_be_of_a_subclass_of_str(frozen: bool) -> None:
    sender, receiver = Sender(frozen=frozen), Receiver()
    states: list[Any] = [{Key("city"): 1, "n": 1}, {Key("city"): 2, "n": 1}, {"n": 1}]
    for state in states:
        receiver.feed(sender.feed(state))
        assert receiver.value == json.loads(json.dumps(state))


def test_a_sender_shares_nothing_with_its_changes() -> None:
    sender = Sender()
    sender.feed({})
    change: Any = sender.feed({"list": [1]})
    change[1][2].append(2)
    assert sender.snapshot() == {"n": 2, "value": {"list": [1]}, "last": "/list"}


LOOP: list[Any] = []
LOOP.append(LOOP)


@pytest.mark.parametrize(
    "state",
    [float("nan"), {1: 2}, {"a": {1, 2}}, [object()], LOOP, {"a": [float("inf")]}, lambda: None],
    ids=lambda state: type(state).__name__,
)
def test_a_state_that_is_not_json_is_refused_and_nothing_changes(state: Any) -> None:
    sender = Sender()
    with pytest.raises((TypeError, ValueError)):
        sender.feed(state)
    assert sender.snapshot() is None
    sender.feed({"a": "x"})
    with pytest.raises((TypeError, ValueError)):
        sender.feed({"a": "xy", "b": state})
    with pytest.raises((TypeError, ValueError)):
        sender.feed({"a": ["xy", state, 1]})
    assert sender.feed({"a": "xyz"}) == [2, ["append", "/a", "yz"]]
    sender.feed([1, 2, 3])
    with pytest.raises((TypeError, ValueError)):
        sender.feed([4, state, 5])


def test_a_state_with_too_many_levels_is_refused() -> None:
    sender = Sender()
    sender.feed(nested(256))
    for levels in (257, 100_000):
        with pytest.raises(ValueError, match="levels"):
            sender.feed(nested(levels))
    assert sender.feed(nested(256)) is None


@pytest.mark.parametrize(
    ("state", "done", "following"),
    [
        ({"a": [{"b": 1}]}, "/a/0", {"a": [{"b": 2}]}),
        ({"a": [{"b": 1}]}, "/a/0", {"a": []}),
        ({"a": [{"b": 1}]}, "/a/0", {"a": [0, {"b": 1}]}),
        ({"a": "x"}, "/a", {"a": "xy"}),
        ({"a": "x", "b": 1}, "/a", {"b": 1}),
        ({"a": "x"}, "/a", []),
        ([1], "", [1, 2]),
    ],
)
def test_a_state_that_changes_or_moves_something_done_is_refused(
    state: Any, done: str, following: Any
) -> None:
    sender, receiver = Sender(), Receiver()
    receiver.feed(sender.feed(state, done=[done]))
    assert receiver.is_complete(done)
    with pytest.raises(ValueError, match="is done"):
        sender.feed(following)
    assert sender.feed(state) is None


def test_siblings_of_done_values_may_change() -> None:
    sender, receiver = Sender(), Receiver()
    receiver.feed(sender.feed({"steps": ["a", "b"], "n": 1}))
    receiver.feed(sender.feed({"steps": ["a", "b"], "n": 1}, done=["/steps/0"]))
    receiver.feed(sender.feed({"steps": ["a", "c", "d"], "n": 2}, done=["/steps/0", "/steps/1"]))
    assert receiver.value == {"steps": ["a", "c", "d"], "n": 2}
    assert [receiver.is_complete(f"/steps/{at}") for at in range(4)] == [True, True, False, False]
    wrong: Any
    for wrong in ("/steps/7", "steps", 1):
        with pytest.raises(InvalidMessage):
            sender.feed({"steps": ["a", "c", "d"], "n": 3}, done=["/n", wrong])
    assert sender.feed({"steps": ["a", "c", "d"], "n": 2}) is None


def test_a_stream_may_end_with_an_error() -> None:
    error = {"code": "TIMEOUT", "message": "no answer"}
    assert Sender().end(error) == {"n": 1, "value": None, "error": error}
    sender, receiver = Sender(), Receiver()
    receiver.feed(sender.feed([1]))
    receiver.feed(sender.end(InvalidMessage("what")))
    assert receiver.error == {"code": "INVALID_MESSAGE", "message": "what"}
    assert receiver.ended and not receiver.is_complete("")
    with pytest.raises(ValueError, match="code and a message"):
        Sender().end({"code": "TIMEOUT"})


# ---- receiving ----


def test_values_are_never_changed_in_place_and_share_equal_parts() -> None:
    receiver = Receiver()
    receiver.feed({"n": 1, "value": {"a": {"t": "x"}, "b": [{}]}})
    first = receiver.value
    receiver.feed([2, ["append", "/a/t", "y"]])
    receiver.feed([3, "z"])
    second = receiver.value
    assert (first["a"], second["a"]) == ({"t": "x"}, {"t": "xyz"})
    assert first["b"] is second["b"]


@examples(300)
@given(message=SMALL | st.lists(SMALL, max_size=3).map(lambda items: [2, *items]), data=st.data())
def test_hostile_messages_change_nothing_or_are_applied(message: Any, data: st.DataObject) -> None:
    names = st.sampled_from(["set", "append", "splice", "remove", "done", "end", "error", "x"])
    if data.draw(st.booleans()):
        pointers = st.sampled_from(["", "/a", "/a/0", "/b", "/~2", "x"])
        operation = st.tuples(names, pointers, SMALL, SMALL, SMALL)
        sizes = st.integers(1, 5)
        message = [2, *data.draw(st.lists(st.builds(cut, operation, sizes), max_size=3))]
    receiver = Receiver()
    receiver.feed({"n": 1, "value": {"a": ["x", {}], "b": "y"}})
    try:
        receiver.feed(message)
    except (InvalidMessage, Gap):
        assert (receiver.n, receiver.value) == (1, {"a": ["x", {}], "b": "y"})
    as_json(receiver.value)


def cut(items: tuple[Any, ...], size: int) -> list[Any]:
    return list(items[:size])


@pytest.mark.parametrize("large", [nested(10_000), [0] * 100_000], ids=["deep", "long"])
def test_p9_wrong_messages_of_any_size_are_refused_in_a_few_words(large: Any) -> None:
    receiver = Receiver()
    receiver.feed({"n": 1, "value": "text"})
    operations: list[Any] = [
        [],
        ["append", ""],
        ["splice", "", 0, 0],
        ["done"],
        ["error"],
        ["unknown", ""],
    ]
    messages: list[Any] = [[2, [*operation, large]] for operation in operations]
    for message in [*messages, [2, large], {"n": 1, "value": 1, "last": large}]:
        with pytest.raises(InvalidMessage) as caught:
            receiver.feed(message)
        assert len(str(caught.value)) < 200


def test_a_receiver_has_limits() -> None:
    receiver = Receiver(limits=Limits(depth=3, string=5))
    refused: list[Any] = [[[[[]]]], "123456", {"a": ["123456"]}, float("nan")]
    for value in refused:
        with pytest.raises(InvalidMessage):
            receiver.feed({"n": 1, "value": value})
    receiver.feed({"n": 1, "value": {"a": [["1"]]}})
    for operation in (
        ["set", "/a/0/0", []],
        ["splice", "/a/0", 0, 0, [[]]],
        ["set", "/a/0/0/0", 1],
    ):
        with pytest.raises(InvalidMessage):
            receiver.feed([2, operation])
    receiver.feed([2, ["append", "/a/0/0", "234"]])
    receiver.feed([3, "5"])
    with pytest.raises(InvalidMessage):
        receiver.feed([4, "6"])
    assert receiver.value == {"a": [["12345"]]}


# ---- stages ----


def test_text_that_is_not_json_ends_in_an_error_message() -> None:
    sender = TextSender()
    assert sender.feed('{"a": "x') == [{"n": 1, "value": {"a": "x"}, "ordered": True}]
    bad: Any = sender.feed('y" 1')
    [[n, append, [name, error]]] = bad
    assert append == ["append", "/a", "y"] and (n, name) == (2, "error")
    assert (error["code"], error["offset"]) == ("INVALID_JSON", 11)
    assert sender.ended and sender.feed("more") == sender.flush() == []
    empty: Any = TextSender().flush()
    assert empty[0]["error"]["code"] == "TRUNCATED"


@examples(100)
@given(text=TEXTS, data=st.data(), numbered=st.booleans())
def test_messages_may_be_merged(text: str, data: st.DataObject, numbered: bool) -> None:
    sender = TextSender(numbered=numbered)
    held: Any = None
    sent = []
    for piece in [*(text[at : at + 3] for at in range(0, len(text), 3)), None]:
        for message in sender.flush() if piece is None else sender.feed(piece):
            held = message if held is None else sender.sender.merge(held, message)
        if held is not None and (piece is None or data.draw(st.booleans())):
            sent.append(over_the_wire(held))
            held = None
    assert as_json([*receive(sent)][-1]) == as_json(json.loads(text))


@pytest.mark.parametrize("stream", [send, partial(updates, send="delta")])
def test_p8_many_items_are_merged_in_linear_time(stream: Any) -> None:
    def read(size: int) -> Any:
        pieces = by(3, json.dumps([7] * size))
        return lambda: list(stream(pieces, every=60))

    assert_linear(read, 5_000)


def test_the_end_follows_messages_that_were_held(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr(jsonrill.driver, "monotonic", lambda: now)

    def source() -> Iterator[str]:
        nonlocal now
        yield from ('{"a": "x', "y")
        now += 1  # the held message is due when the next piece arrives
        yield 'z" 1'

    messages: list[Any] = list(send(source(), every=0.5))
    assert [message[0] for message in messages[1:]] == [2]
    with pytest.raises(SourceFailed, match="INVALID_JSON"):
        list(receive(messages))


def test_states_may_be_merged() -> None:
    sender, receiver = StateSender(), Receiver()
    [first] = sender.feed({"t": ""})
    [second] = sender.feed({"t": "a"})
    receiver.feed(sender.sender.merge(first, second))
    [third] = sender.feed({"t": "ab"})
    [fourth] = sender.feed({"t": "abc", "u": 1})
    assert (merged := sender.sender.merge(third, fourth)) == [3, "bc", ["set", "/u", 1]]
    receiver.feed(merged)
    [last] = sender.stop(OSError("secret"))
    assert last == [4, ["error", {"code": "SOURCE_FAILED", "message": "the source failed"}]]
    receiver.feed(last)
    assert receiver.value == {"t": "abc", "u": 1}


def test_text_that_was_not_decoded_is_named_as_the_mistake() -> None:
    with pytest.raises(Gap, match="JSON text must be decoded"):
        list(receive(json.dumps(message) for message in send(PIECES)))


LINES = b'{"n":1,"value":"a"}\n\n[2,["append","","b"]]\n[3,["end"]]'
EVENTS = (
    b': hb\n\nid: 1\ndata: {"n":1,"value":"a"}\n\ndata:[2,["append","","b"]]\r\n\r\n'
    b'data: [3,["end"]]\n\nevent: CLOSE\ndata: [DONE]\n\n'
)


@pytest.mark.parametrize("data", [LINES, EVENTS, b"\xef\xbb\xbf" + EVENTS])
@pytest.mark.parametrize("size", [1, 7, 1000])
def test_bytes_are_lines_or_events(data: bytes, size: int) -> None:
    pieces = [data[at : at + size] for at in range(0, len(data), size)]
    assert list(receive(pieces)) == ["a", "ab"]


@pytest.mark.parametrize(
    ("messages", "error"),
    [
        ([{"n": 1, "value": 1}], Gap),
        ([{"n": 1, "value": 1}, [3, ["end"]]], Gap),
        ([{"n": 1, "value": 1}, ["x"]], InvalidMessage),
        ([b'{"n":1,"value":1}\nnot JSON\n'], InvalidMessage),
        ([b'{"n":1,"value":1}\n[2,["set"'], Gap),
        ([{"n": 1, "value": 1, "error": {"code": "X", "message": "y"}}], SourceFailed),
    ],
)
def test_errors_of_receive_have_the_last_value(
    messages: list[Any], error: type[JsonrillError]
) -> None:
    values = []
    with pytest.raises(error) as caught:
        for value in receive(messages):
            values.append(value)
    assert values == [1] and caught.value.value == 1


# ---- send and receive ----

PIECES = ['{"city": "Os', 'lo", "days": [', '"Harbour"]}']
TRIP = {"city": "Oslo", "days": ["Harbour"]}


async def in_turn(items: list[Any], *, error: Exception | None = None) -> AsyncIterator[Any]:
    for item in items:
        yield item
    if error is not None:
        raise error


def test_a_text_is_sent_and_received() -> None:
    messages = list(send(PIECES))
    assert messages[0] == {"n": 1, "value": {"city": "Os"}, "ordered": True}
    assert messages[1] == [2, ["append", "/city", "lo"], ["set", "/days", []]]
    assert list(receive(messages))[-1] == TRIP
    assert list(receive(send(PIECES, numbered=False)))[-1] == TRIP


def test_async_sources_and_merged_messages() -> None:
    async def main() -> None:
        values = [value async for value in receive(send(in_turn(PIECES)))]
        assert values[-1] == TRIP
        few = [message async for message in send(in_turn(PIECES), every=60)]
        assert len(few) == 2 and list(receive(few))[-1] == TRIP
        states: Any = [{"n": 1}, {"n": 1}, {"n": 2}]
        sent = [message async for message in send(in_turn(states), states=True)]
        assert sent == [{"n": 1, "value": {"n": 1}}, [2, ["set", "/n", 2]], [3, ["end"]]]

    asyncio.run(main())


def test_a_source_that_fails_is_reported_to_both_ends() -> None:
    async def main() -> list[Any]:
        messages = []
        with pytest.raises(OSError, match="secret"):
            async for message in send(in_turn(PIECES[:1], error=OSError("secret"))):
                messages.append(message)
        return messages

    messages = asyncio.run(main())
    assert "secret" not in json.dumps(messages)
    with pytest.raises(SourceFailed, match="SOURCE_FAILED"):
        list(receive(messages))


def test_leaving_the_loop_closes_the_source() -> None:
    def source() -> Iterator[str]:
        try:
            yield from PIECES
        finally:
            closed.append(True)

    closed: list[bool] = []
    messages = send(source())
    next(messages)
    messages.close()
    assert closed


def test_events_carry_the_messages() -> None:
    data = b"".join(sse(send(PIECES)))
    assert data.startswith(b'data: {"n":1,"value":{"city":"Os"},"ordered":true}\n\ndata: [2,')
    assert list(receive([data]))[-1] == TRIP
