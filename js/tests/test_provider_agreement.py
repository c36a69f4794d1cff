"""JavaScript and Python read the streams of providers alike: statements, calls, parts and text.

The cases are those of Python's own tests. `peer.js` does in node what is done here.
"""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import fields
from typing import Any
from zlib import crc32

import pytest
from hypothesis import given
from hypothesis import strategies as st

import jsonrill
from jsonrill import Part, Parts, ToolCalls
from jsonrill.paths import format_path
from jsonrill.providers import Reader
from jsonrill.providers.call_delta import CALL_DELTA_FIELDS
from jsonrill.providers.fields import ABSENT
from jsonrill.providers.statements import (
    Aggregate,
    Begin,
    Break,
    CallDelta,
    End,
    Finish,
    Keep,
    Reasoning,
    Result,
    Text,
    Usage,
)
from jsonrill.providers.statements import Part as ArgumentPart
from support import CASES
from support.breaking_models import unbroken_streams
from support.javascript import Ask, agree, examples, in_js_order
from support.json_texts import JUNK
from support.provider_streams import ANSWERS, BUILDERS, STREAMS, THREE, mutated, shuffled
from support.streams import collect

pytestmark = pytest.mark.filterwarnings("ignore::jsonrill.UnknownEvents")

# The providers that JavaScript knows.
PAGES = frozenset(
    "openai_chat anthropic openai_responses jsonrill parts gemini bedrock mistral ag_ui cohere"
    " vercel ollama".split()
)
KINDS = {
    Begin: "begin",
    Text: "text",
    Reasoning: "reasoning",
    CallDelta: "call",
    Result: "result",
    Aggregate: "aggregate",
    Usage: "usage",
    Finish: "finish",
    Break: "break",
}
# What a field has if it says nothing; a null is a value of `value` and `result` alone.
SILENT = {"choice": 0, "opens": True, "sure": True, "parts": []}


def record(statement: Any) -> dict[str, Any]:
    """A statement as JavaScript has it, without the fields that say nothing."""
    if isinstance(statement, ArgumentPart):
        names: Sequence[str] = statement._fields
    elif isinstance(statement, CallDelta):
        names = CALL_DELTA_FIELDS
    else:
        names = [it.name for it in fields(statement)]
    values = {}
    for name in names:
        value = getattr(statement, name)
        if isinstance(value, End):
            value = record(value)
        elif name in ("parts", "calls"):
            value = [record(it) for it in value]
        elif name == "contradiction" and value is not None:
            value = [[*value[0]], *value[1:]]
        values["isError" if name == "is_error" else name] = value
    kind = {"kind": KINDS[type(statement)]} if type(statement) in KINDS else {}
    return kind | {name: values[name] for name in sorted(values) if not silent(name, values[name])}


def silent(name: str, value: Any) -> bool:
    if name in ("value", "result", "preset"):
        return value is ABSENT
    return value is None or value is False or (name in SILENT and value == SILENT[name])


def cleaned(statement: dict[str, Any]) -> dict[str, Any]:
    """A record of JavaScript without the fields that say nothing."""
    values = dict(statement)
    if isinstance(values.get("block"), str):
        values["block"] = crc32(values["block"].encode())
    for name in ("parts", "calls"):
        if isinstance(values.get(name), list):
            values[name] = [cleaned(it) for it in values[name]]
    if isinstance(values.get("end"), dict):
        values["end"] = cleaned(values["end"])
    kind = {"kind": values.pop("kind")} if "kind" in values else {}
    return kind | {name: values[name] for name in sorted(values) if not silent(name, values[name])}


def as_numbers(value: Any) -> Any:
    """A value whose numbers JavaScript writes alike: there 1.0 is 1."""
    if isinstance(value, dict):
        return {key: as_numbers(it) for key, it in value.items()}
    if isinstance(value, list):
        return [as_numbers(it) for it in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def compare(ask: Ask, events: list[Any], choice: int = 0, provider: str = "auto") -> None:
    """Everything that both languages say of a stream, after each event and at its end."""
    events = as_numbers(json.loads(json.dumps(events)))
    compare_statements_and_parts(ask, events, choice, provider)
    compare_calls(ask, events, provider)


def compare_statements_and_parts(ask: Ask, events: list[Any], choice: int, provider: Any) -> None:
    answer = ask("provider", events=events, provider=provider, choice=choice)
    reader, parts = Reader(provider), Parts(provider, choice=choice)
    for event, step in zip(events, answer["steps"], strict=True):
        ours = [record(it) for it in reader.feed(event) if not isinstance(it, Keep)]
        theirs = [cleaned(it) for it in json.loads(step["statements"])]
        assert in_js_order(theirs) == in_js_order(ours)
        assert step["provider"] == reader.provider
        compare_parts(step["parts"], parts.feed(event))
    compare_parts(answer["last"], parts.flush())
    assert answer["error"] == parts.error
    assert agree(answer["usage"], parts.usage)


def compare_parts(theirs: list[Any], ours: list[Part]) -> None:
    assert len(theirs) == len(ours)
    for their_part, part in zip(theirs, ours, strict=True):
        call = part.call
        who = (None, None) if call is None else (call.id, call.status)
        names = ("kind", "index", "turn", "delta", "complete", "text", "error", "reason")
        values = [getattr(part, name) for name in names]
        assert in_js_order([their_part[it] for it in names]) == in_js_order([*values])
        assert (their_part["call"], their_part["status"]) == who
        assert agree(their_part["value"], part.value)
        assert agree(their_part["result"], part.result)
        assert part.kind == "result" or agree(their_part["json"], part.to_dict())


FIELDS = {
    "id": "id",
    "index": "index",
    "messageId": "message_id",
    "name": "name",
    "raw": "raw",
    "status": "status",
    "error": "error",
    "encoding": "encoding",
    "answered": "answered",
    "resultIsError": "result_is_error",
    "completeArgs": "complete_args",
    "hosted": "hosted",
}


def compare_calls(ask: Ask, events: list[Any], provider: Any, repair: bool = False) -> None:
    calls = ToolCalls(provider, keep=256, repair=repair)
    answers = ask("calls", events=events, keep=256, provider=provider, repair=repair)
    for number, shown in enumerate(answers):
        calls.feed(events[number]) if number < len(events) else calls.flush()
        assert len(shown) == len(calls.calls)
        for call, their_call in zip(calls.calls, shown, strict=True):
            theirs = {name: their_call[name] for name in FIELDS}
            ours = {name: getattr(call, mine) for name, mine in FIELDS.items()}
            assert in_js_order(theirs) == in_js_order(ours)
            path = call.open_path
            assert their_call["openPath"] == (None if path is None else format_path(path))
            assert agree(their_call["args"], call.args)
            assert agree(their_call["result"], call.result)
            assert their_call["repairs"] == [it._asdict() for it in call.repairs]


def page_of(events: list[Any]) -> str | None:
    reader = Reader()
    for event in events:
        reader.feed(event)
    return reader.provider


def parts_of(*turns: list[Any]) -> list[Any]:
    """The parts of these answers, each counted from 0, as a log keeps them."""
    return [part.to_dict() for turn in turns for part in jsonrill.parts(turn)]


SHARED = {name: it.events for name, it in ANSWERS.items() if page_of(it.events) in PAGES}
_SPOKEN = {name: it for name, it in SHARED.items() if ANSWERS[name].end not in ("error", None)}
SHARED |= {f"parts-{name}": parts_of(events) for name, events in _SPOKEN.items() if "-" not in name}
SHARED["parts-turns"] = parts_of(*[_SPOKEN[name] for name in sorted(_SPOKEN)[:6]])
SHARED |= unbroken_streams()
_CALLS = json.loads((CASES / "calls.json").read_text("utf8"))["cases"]
CALLS = [case for case in _CALLS if page_of(case["events"]) in PAGES]
BUILT = [name for name in BUILDERS if page_of(STREAMS[name]) in PAGES]


def test_the_cases_are_those_of_every_page() -> None:
    pages = {page_of(events) for events in SHARED.values()} | {page_of(STREAMS[it]) for it in BUILT}
    assert pages == PAGES


@pytest.mark.parametrize("name", SHARED)
def test_answers(ask: Ask, name: str) -> None:
    events = as_numbers(SHARED[name])
    compare(ask, events)
    compare(ask, [json.dumps(event) for event in events])
    for cut in range(len(events)):
        compare_calls(ask, events[:cut], "auto")


NEAR_JSON = (
    "{city: 'Rome', \"days\": 3,}",
    '```json\n{"city": "Rome", "days": [1, 2,]}\n```',
    '{"city": “Rome”, "ok": True, // yes\n"days": .5}',
    '{"city": "Rome" "days": 3',
    '{"city": "Rome"',
)


@pytest.mark.parametrize("text", NEAR_JSON)
def test_arguments_that_are_nearly_json(ask: Ask, text: str) -> None:
    for size in (1, 3, 100):
        cut = [text[at : at + size] for at in range(0, len(text), size)]
        deltas: list[Any] = [{"id": "a", "function": {"name": "f", "arguments": cut[0]}}]
        deltas += [{"function": {"arguments": piece}} for piece in cut[1:]]
        events = [{"tool_calls": [{"index": 0, **delta}]} for delta in deltas]
        chunks: list[Any] = [{"choices": [{"index": 0, "delta": delta}]} for delta in events]
        chunks.append({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]})
        compare_calls(ask, chunks, "auto", repair=True)


def test_another_choice(ask: Ask) -> None:
    for name in ("openai_chat-choices", "openai_chat-choices-in-one-event", "gemini-choices"):
        compare(ask, SHARED[name], choice=1)


@pytest.mark.parametrize("case", CALLS, ids=lambda case: case["name"])
def test_calls_of_odd_servers(ask: Ask, case: dict[str, Any]) -> None:
    for cut in range(len(case["events"]), 0, -1):
        compare_calls(ask, case["events"][:cut], "auto")


@pytest.mark.parametrize("name", BUILT)
def test_calls_that_are_interleaved(ask: Ask, name: str) -> None:
    for seed in range(3):
        compare(ask, BUILDERS[name](THREE, shuffled(THREE, seed)))


# JavaScript cannot tell 1.0 from 1, and has only Infinity of what is larger than a double.
PLAIN = JUNK.filter(lambda value: "." not in json.dumps(value))


@examples(300)
@given(
    name=st.sampled_from(sorted([*BUILT, *SHARED])),
    chance=st.randoms(use_true_random=False),
    junk=PLAIN,
)
def test_events_that_are_spoiled(ask: Ask, name: str, chance: random.Random, junk: Any) -> None:
    """Events changed, lost, doubled and exchanged say the same in both languages, or nothing."""
    events: list[Any] = []
    for event in [*(STREAMS.get(name) or SHARED[name])]:
        event = mutated(event, chance, junk) if chance.random() < 0.15 else event
        events += [event] * chance.choice([0, 1, 1, 1, 1, 1, 1, 2])
    if len(events) > 1 and chance.random() < 0.3:
        at = chance.randrange(len(events) - 1)
        events[at], events[at + 1] = events[at + 1], events[at]
    events = [it for it in events if page_of([it]) in PAGES | {None}]
    compare(ask, events)


# ---- the text of an answer, and of arguments ----


def stream(name: str, source: Any, *args: Any, **options: Any) -> tuple[list[Any], str | None]:
    items, error = collect(getattr(jsonrill, name)(source, *args, **options))
    return items, None if error is None else type(error).__name__


@pytest.mark.parametrize("name", SHARED)
def test_text_and_values(ask: Ask, name: str) -> None:
    events = json.loads(json.dumps(SHARED[name]))
    body = "".join(f"data: {json.dumps(event)}\n\n" for event in events)
    for source, sse in ((events, False), (body, True)):
        for options in ({}, {"tool": True}, {"tool": "search"}, {"choice": 1}):
            arguments = options | ({"sse": True} if sse else {})
            theirs = ask("stream", name="values", source=source, options=arguments)
            items, error = stream("values", source, **arguments)
            assert theirs["error"] == error
            assert len(theirs["items"]) == len(items)
            assert all(map(agree, theirs["items"], items))
        theirs = ask("stream", name="content", source=source, options={})
        assert (theirs["items"], theirs["error"]) == stream("content", source)


def test_fields_of_arguments(ask: Ask) -> None:
    for name in BUILT:
        events = json.loads(json.dumps(STREAMS[name]))
        options = {"tool": "get_weather"}
        theirs = ask("stream", name="text", source=events, fields=["city"], options=options)
        assert (theirs["items"], theirs["error"]) == stream("text", events, "city", **options)
        theirs = ask(
            "stream", name="select", source=events, fields=["q"], options={"tool": "search"}
        )
        items, error = stream("select", events, "q", tool="search")
        assert ([json.loads(it) for it in theirs["items"]], theirs["error"]) == (items, error)


DELTA = st.fixed_dictionaries(
    {},
    optional={
        "id": st.sampled_from(["a", "b"]),
        "index": st.sampled_from([0, 1]),
        "name": st.sampled_from(["f", "fg", "h"]),
        "arguments": st.sampled_from(["", "{}", '{"x": ', "1}", '{"y": 2}', {"z": 3}, 7]),
    },
)


@examples(200)
@given(deltas=st.lists(DELTA, max_size=6), reason=st.sampled_from(["tool_calls", "length", None]))
def test_calls_that_are_named_in_any_way(ask: Ask, deltas: list[Any], reason: str | None) -> None:
    """Ids, indices and names that come twice, late or never say the same in both languages."""
    events: list[Any] = []
    for chosen in deltas:
        function = {name: chosen[name] for name in ("name", "arguments") if name in chosen}
        call = {name: chosen[name] for name in ("id", "index") if name in chosen}
        delta = {"tool_calls": [{**call, "function": function}]}
        events.append({"id": "c", "choices": [{"index": 0, "delta": delta}]})
    events.append({"id": "c", "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
    compare_calls(ask, events, "auto")


@examples(200)
@given(data=st.data())
def test_items_that_are_named_in_any_way(ask: Ask, data: Any) -> None:
    pick: Any = lambda *choices: data.draw(st.sampled_from(choices))  # noqa: E731
    events: list[Any] = [{"type": "response.created", "response": {"id": "r"}}]
    for _ in range(data.draw(st.integers(0, 6))):
        index, alias = pick(0, 1, None), pick("i", "k", None)
        kind = pick("output_item.added", "output_item.done", "function_call_arguments.delta",
                    "function_call_arguments.done")  # fmt: skip
        event: Any = {"type": f"response.{kind}", "output_index": index, "item_id": alias}
        text = pick("", "{}", '{"x": ', "1}", '{"x": 1}')
        if kind.startswith("output_item"):
            item = {"type": "function_call", "id": alias, "call_id": pick("a", "b", None)}
            status = pick("completed", "incomplete", None)
            event["item"] = {**item, "name": pick("f", "g", None), "arguments": text}
            event["item"]["status"] = status
        else:
            event |= {"delta": text, "arguments": text, "name": pick("f", None)}
        events.append(event)
    events += [{"type": "response.completed", "response": {"id": "r"}}] * pick(0, 1)
    compare_calls(ask, events, "auto")
