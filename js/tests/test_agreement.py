"""The browser's modules and the Python ones say the same, on documents and on what is none.

One node process, `peer.js`, does in JavaScript what each property does in Python.
"""

from __future__ import annotations

import base64
import json
import random
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsonrill import (
    Fragment,
    FragmentError,
    Parser,
    PartialStream,
    Rebuilder,
    ToolCallEvents,
    ToolCalls,
)
from jsonrill.eventstream import SSEDecoder
from jsonrill.partial_stream.delta import apply_delta
from jsonrill.paths import format_path, from_pointer, parse_path, to_pointer
from jsonrill.wire import CompactEncoder, WireReader, to_wire
from support import pieces
from support.documents import keys, strings, texts, values
from support.javascript import Ask, agree, examples
from support.json_texts import ANYTHING, JUNK
from support.provider_streams import BUILDERS, STREAMS, THREE, mutated, shuffled

# Of any events that are tried here, few are a provider's.
pytestmark = pytest.mark.filterwarnings("ignore::jsonrill.UnknownEvents")

# ---- fragments ----


def fragments_of(cut: list[str]) -> list[Fragment]:
    parser = Parser()
    return [fragment for piece in cut for fragment in parser.feed(piece)] + parser.flush()


def steps(items: list[Any], dialect: Any = "jsonrill") -> Iterator[tuple[Any, ...]]:
    """What Python shows after each item, as the peer answers it."""
    rebuilder, reader = Rebuilder(dialect=dialect), WireReader(dialect)
    for item in items:
        wrong, seen = False, None
        try:
            rebuilder.feed([item])
            read = reader.read(item)
            seen = None if read is None else [read.kind, format_path(read.path)]
        except FragmentError:
            wrong = True
        path = rebuilder.open_path
        where = None if path is None else format_path(path)
        yield rebuilder.value, where, rebuilder.complete, wrong, seen


def compare(ask: Ask, items: list[Any], dialect: str = "jsonrill") -> None:
    # What JSON makes of the items is what both see.
    items = json.loads(json.dumps(items))
    answers = ask("rebuild", items=items, dialect=dialect)
    assert len(answers) == len(items)
    for (value, *rest), (shown, *others) in zip(steps(items, dialect), answers, strict=True):
        assert agree(shown, value)
        assert others == rest


@st.composite
def cut_texts(draw: st.DrawFn) -> list[str]:
    return draw(pieces(draw(texts())))


@examples(150)
@given(cut=cut_texts(), compact=st.booleans())
def test_values_after_every_fragment(ask: Ask, cut: list[str], compact: bool) -> None:
    fragments = fragments_of(cut)
    full = [to_wire(fragment) for fragment in fragments]
    compare(ask, CompactEncoder().feed(fragments) if compact else full)


def spoiled(items: list[Any], chance: random.Random, junk: Any) -> list[Any]:
    """Fragments left out, doubled, exchanged, or with something else in them."""
    items = json.loads(json.dumps(items))
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(items) + 1)
        other = items[chance.randrange(len(items))] if items else junk
        match chance.randint(0, 5):
            case 0 if at < len(items):
                del items[at]
            case 1:
                items.insert(at, other)
            case 2 if at + 1 < len(items):
                items[at], items[at + 1] = items[at + 1], items[at]
            case 3:
                items.insert(at, junk)
            case _ if at < len(items):
                items[at] = changed(items[at], chance, junk)
    return items


def changed(item: Any, chance: random.Random, junk: Any) -> Any:
    if isinstance(item, dict):
        name = chance.choice(["path", "kind", "textValue", "value"])
        odd = ["root", "root[0]", "root.a", 'root["a"]', "a", "root[", "", "1", "-0", "1e5", "01"]
        return item | {name: chance.choice([junk, *odd, "completeNull", "Key", 1, 2.5, True, None])}
    if isinstance(item, list):
        new = chance.choice([junk, 0, 7, 8, 11, "1", "x", None, "root", "root[0]"])
        return [*item, new] if chance.random() < 0.5 else [*item[:-1], new]
    return junk


# JavaScript cannot tell 1.0 from 1, and has only Infinity of what is larger than a double.
PLAIN = JUNK.filter(lambda value: "." not in json.dumps(value))


@examples(250)
@given(cut=cut_texts(), compact=st.booleans(), chance=st.randoms(use_true_random=False), junk=PLAIN)
def test_misfits_are_the_same(
    ask: Ask, cut: list[str], compact: bool, chance: random.Random, junk: Any
) -> None:
    fragments = fragments_of(cut)
    full = [to_wire(fragment) for fragment in fragments]
    items = CompactEncoder().feed(fragments) if compact else full
    compare(ask, spoiled(items, chance, junk))


def as_juf(fragment: Fragment, chance: random.Random) -> dict[str, Any]:
    """A fragment in the other dialect: source text, and paths that nobody should look at."""
    marks = {"StartObject": "{", "EndObject": "}", "StartArray": "[", "EndArray": "]"}
    kind = fragment.kind
    if kind in ("Key", "CompleteString"):
        source = json.dumps(fragment.value, ensure_ascii=chance.random() < 0.5)
        source = source.replace("\\n", "\n") if chance.random() < 0.3 else source
    elif kind == "CompleteBoolean":
        source = json.dumps(fragment.value)
    else:
        source = fragment.text or marks.get(kind, "x")
    path = chance.choice(["root", "root.wrong[7]", format_path(fragment.path)])
    name = kind if chance.random() < 0.5 else kind[0].lower() + kind[1:]
    wire: dict[str, Any] = {"path": path, "kind": name, "textValue": source}
    return wire | {"value": source} if chance.random() < 0.5 else wire


@examples(150)
@given(
    cut=cut_texts(),
    chance=st.randoms(use_true_random=False),
    junk=PLAIN,
    good=st.booleans(),
)
def test_the_dialect(
    ask: Ask, cut: list[str], chance: random.Random, junk: Any, good: bool
) -> None:
    items: list[Any] = []
    for fragment in fragments_of(cut):
        if chance.random() < 0.1:
            items.append({"path": "root", "kind": "JsonComplete", "textValue": "x"})
        items.append(as_juf(fragment, chance))
    compare(ask, items if good else spoiled(items, chance, junk), "juf")


# ---- tool calls ----


def call_of(call: dict[str, Any]) -> tuple[Any, ...]:
    state = (call["status"], call["error"], call["encoding"], call["answered"])
    who = (call["id"], call["index"], call["messageId"], call["name"])
    return (*who, call["raw"], *state, call["resultIsError"], call["completeArgs"])


def compare_calls(ask: Ask, events: list[Any], keep: int = 256) -> None:
    events = json.loads(json.dumps(events))
    calls = ToolCalls("jsonrill", keep=keep)
    answers = ask("calls", events=events, keep=keep, provider="jsonrill")
    for number, shown in enumerate(answers):
        calls.feed(events[number]) if number < len(events) else calls.flush()
        for call, their_call in zip(calls.calls, shown, strict=True):
            who = (call.id, call.index, call.message_id, call.name)
            state = (call.status, call.error, call.encoding, call.answered)
            ends = (call.result_is_error, call.complete_args)
            assert call_of(their_call) == (*who, call.raw, *state, *ends)
            assert agree(their_call["args"], call.args)
            assert agree(their_call["result"], call.result)


@pytest.mark.parametrize("compact", [False, True])
@pytest.mark.parametrize("name", BUILDERS)
def test_calls_of_every_provider(ask: Ask, name: str, compact: bool) -> None:
    for seed in range(2):
        sender = ToolCallEvents(compact=compact)
        events = [sent for event in BUILDERS[name](THREE, shuffled(THREE, seed))
                  for sent in sender.feed(event)]  # fmt: skip
        compare_calls(ask, events + sender.flush())


@examples(120)
@given(
    name=st.sampled_from(sorted(BUILDERS)),
    chance=st.randoms(use_true_random=False),
    junk=PLAIN,
)
def test_calls_that_are_spoiled(ask: Ask, name: str, chance: random.Random, junk: Any) -> None:
    """By the provider, and again on the wire: events lost, doubled, changed; fragments missing."""
    sender = ToolCallEvents(compact=chance.random() < 0.5)
    events: list[Any] = []
    for event in STREAMS[name]:
        event = mutated(event, chance, junk) if chance.random() < 0.05 else event
        for sent in sender.feed(event):
            sent = mutated(sent, chance, junk) if chance.random() < 0.1 else sent
            events += [sent] * chance.choice([0, 1, 1, 1, 1, 1, 2])
    for event in events:
        updates = event.get("tool_call_updates") if isinstance(event, dict) else None
        for update in updates if isinstance(updates, list) else []:
            if isinstance(update, dict) and chance.random() < 0.1:
                update.pop(chance.choice(["json_update_fragments", "tool_call_id", "index"]), None)
    compare_calls(ask, events + sender.flush(), keep=chance.choice([1, 256]))


WIRE_EVENTS = st.lists(
    st.fixed_dictionaries(
        {"kind": st.sampled_from(["tools_call_update", "tool_result", "tools_aggregate"])},
        optional={
            "messageId": st.sampled_from(["m", "n", ""]),
            "tool_call_updates": st.lists(ANYTHING, max_size=3),
            "tool_calls": st.lists(ANYTHING, max_size=3),
            "tool_results": st.lists(ANYTHING, max_size=2),
            "tool_call_id": ANYTHING,
            "result": ANYTHING,
        },
    ),
    max_size=5,
)
NAMED = st.fixed_dictionaries(
    {},
    optional={
        "tool_call_id": st.sampled_from(["a", "b", "null", ""]),
        "index": st.sampled_from([0, 1, None]),
        "function_name": st.sampled_from(["f", "g", "fg"]),
        "function_args": st.sampled_from(
            ["{", "}", "{}", '{"a":1}', "[1,2]", "12", " ", "tru", "x"]
        ),
        "json_update_fragments": st.sampled_from([[], [[0]], [[1], [11]], ["x"], [[0], [1], [11]]]),
        "status": st.sampled_from(["complete", "error", "truncated", "odd"]),
        "encoding": st.sampled_from(["text", "json"]),
        "args": st.sampled_from([None, {}, {"b": [1]}]),
    },
)
NAMED_EVENTS = st.lists(
    st.fixed_dictionaries(
        {
            "kind": st.sampled_from(["tools_call_update"] * 3 + ["tool_result", "tools_aggregate"]),
            "tool_call_updates": st.lists(NAMED, min_size=1, max_size=3),
            "tool_calls": st.lists(NAMED, max_size=3),
        },
        optional={
            "messageId": st.sampled_from(["m", "n"]),
            "tool_call_id": st.sampled_from(["a", "b", "m:0", "message-1:#1"]),
            "result": st.sampled_from([None, 1, "x"]),
            "is_error": st.booleans(),
        },
    ),
    max_size=8,
)


@examples(250)
@given(events=st.one_of(WIRE_EVENTS, NAMED_EVENTS, NAMED_EVENTS))
def test_calls_of_any_events(ask: Ask, events: list[Any]) -> None:
    compare_calls(ask, events)


# ---- deltas ----


@examples(120)
@given(cut=cut_texts(), flags=st.fixed_dictionaries({}, optional={
    "partial_numbers": st.booleans(), "early_literals": st.booleans(),
}), mode=st.sampled_from(["REALTIME", "PROGRESSIVE", "ONE-BY-ONE"]))  # fmt: skip
def test_deltas_of_updates(ask: Ask, cut: list[str], flags: dict[str, Any], mode: Any) -> None:
    stream = PartialStream(mode, send="both", **(flags if mode == "REALTIME" else {}))
    updates = [update for piece in cut for update in stream.feed(piece)] + stream.flush()
    for entity in {update.index for update in updates}:
        mine = [update for update in updates if update.index == entity]
        answers = ask("deltas", previous=None, deltas=[update.delta for update in mine])
        for update, answer in zip(mine, answers, strict=True):
            assert agree(answer["value"], update.data)


POINTERS = st.one_of(
    st.lists(st.sampled_from(["a", "0", "1", "-", "", "~1b", "~0", "__proto__", "01", "~", "b"]),
             max_size=3).map(lambda steps: "".join(f"/{step}" for step in steps)),
    st.sampled_from(["a", "/~2"]),
)  # fmt: skip
CHANGES = st.lists(
    st.fixed_dictionaries({
        "op": st.sampled_from(["add", "append", "replace", "add", "append", "replace", "remove"]),
        "path": POINTERS,
        "value": st.one_of(st.sampled_from(["x", 1, [], {}, {"a": ["t"]}, [[1]]]), values),
    }),
    max_size=4,
)  # fmt: skip


@examples(200)
@given(previous=st.one_of(values, st.just({"a": {"b": ["x"]}, "": [1, "s"]})), delta=CHANGES)
def test_any_delta(ask: Ask, previous: Any, delta: list[Any]) -> None:
    [answer] = ask("deltas", previous=previous, deltas=[delta])
    try:
        value = apply_delta(previous, delta)
    except ValueError:
        assert answer == {"error": "DeltaError"}
    else:
        assert agree(answer["value"], value)


# ---- events, paths, texts ----

LINES = st.lists(
    st.one_of(
        st.sampled_from([b"data: a", b"data", b"data:", b"id: 7", b"id", b"id: a\x00", b"event: x",
                         b"event:", b"retry: 5", b"retry: x", b": hb", b":", b"", b"", b"",
                         b"\xef\xbb\xbf", "data: é😀".encode(), b"data: \xff\xf0\x9f"]),
        st.binary(max_size=6),
    ).flatmap(lambda line: st.sampled_from([b"\n", b"\r", b"\r\n"]).map(lambda end: line + end)),
    max_size=12,
).map(b"".join)  # fmt: skip


@examples(200)
@given(raw=LINES, data=st.data())
def test_events_of_any_bytes(ask: Ask, raw: bytes, data: st.DataObject) -> None:
    cut = data.draw(pieces(raw))
    decoder = SSEDecoder()
    events = [[list(event) for event in decoder.feed(piece)] for piece in cut]
    answer = ask("events", pieces=[base64.b64encode(piece).decode() for piece in cut])
    assert answer == [events, decoder.last_event_id, decoder.retry]


@examples(100)
@given(path=st.lists(st.one_of(st.integers(0, 2**53 - 1), keys, strings), max_size=5))
def test_paths(ask: Ask, path: list[str | int]) -> None:
    text, pointer = format_path(tuple(path)), to_pointer(tuple(path))
    assert ask("path", path=path) == [text, pointer]
    assert ask("parsePath", path=text) == {"value": path}


@examples(200)
@given(
    text=st.one_of(
        st.text(st.sampled_from('root.[]"\\a0 1*é_'), max_size=8).map(lambda end: "root" + end),
        st.text(max_size=8),
    )
)
def test_texts_that_may_be_no_path(ask: Ask, text: str) -> None:
    try:
        path = list(parse_path(text))
    except ValueError:
        assert ask("parsePath", path=text) == {"error": "PathError"}
    else:
        assert ask("parsePath", path=text) == {"value": path}


@examples(100)
@given(pointer=POINTERS, value=values)
def test_pointers(ask: Ask, pointer: str, value: Any) -> None:
    try:
        path = list(from_pointer(pointer, value))
    except ValueError:
        assert ask("fromPointer", pointer=pointer, value=value) == {"error": "PathError"}
    else:
        assert ask("fromPointer", pointer=pointer, value=value) == {"value": path}


@examples(150)
@given(text=texts())
def test_texts(ask: Ask, text: str) -> None:
    assert agree(ask("parse", json=text)["value"], json.loads(text))
