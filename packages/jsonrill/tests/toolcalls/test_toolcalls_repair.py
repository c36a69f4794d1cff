"""Tool calls whose arguments are nearly JSON: read, reported, and never complete if cut off."""

from __future__ import annotations

import json
from typing import Any

import pytest

from jsonrill import ToolCall, ToolCalls
from jsonrill.providers.statements import CallDelta, End, Finish, Statement
from jsonrill.toolcalls import ToolCallEvents
from support import ROOT, cuttings
from support.documents import same

CORPUS = json.loads((ROOT / "cases/repair.json").read_text("utf8"))["cases"]


def statements_of(event: dict[str, Any]) -> list[Statement]:
    return list(event["statements"])


def events(pieces: list[str], *, cut: bool = False) -> list[Any]:
    end: list[Statement] = (
        [Finish(reason="length")] if cut else [CallDelta("a", end=End()), Finish()]
    )
    texts = [{"statements": [CallDelta("a", text=piece)]} for piece in pieces if piece]
    return [{"statements": [CallDelta("a", name="f")]}, *texts, {"statements": end}]


def run(pieces: list[str], *, cut: bool = False, **options: Any) -> ToolCall:
    calls = ToolCalls(statements_of, **options)
    for event in events(pieces, cut=cut):
        calls.feed(event)
    return calls.calls[0]


@pytest.mark.parametrize("case", CORPUS, ids=lambda case: case["name"])
def test_arguments_are_read_as_they_were_meant(case: Any) -> None:
    rules = [rule for rule, _ in case.get("repairs", ())]
    for pieces in cuttings(case["text"]):
        call = run(list(pieces), repair=True)
        assert call.raw == case["text"]
        if "refused" in case or "cut-off" in rules:
            assert call.status != "complete"
            continue
        assert call.status == "complete" and same(call.args, case["value"])
        assert [[repair.rule, repair.offset] for repair in call.repairs] == case["repairs"]


def test_a_receiver_sees_the_same() -> None:
    for case in CORPUS:
        sender = ToolCallEvents(ToolCalls(statements_of, repair=True))
        receiver, late = ToolCalls(), ToolCalls()
        for event in events([case["text"][:7], case["text"][7:]]):
            for wire in sender.feed(event):
                wire = json.loads(json.dumps(wire))
                receiver.feed(wire)
                if wire["kind"] == "tools_aggregate":
                    late.feed(wire)
        for calls in (receiver, late):
            assert same(calls.calls[0].args, sender.calls.calls[0].args)
            assert calls.calls[0].status == sender.calls.calls[0].status


def test_a_call_that_was_cut_off_stays_truncated() -> None:
    for cut in (True, False):
        call = run(["{city: 'Os"], cut=cut, repair=True)
        assert (call.status, call.args) == ("truncated", {"city": "Os"})
    call = run(["{city: 'Oslo'"], repair={"keys", "quotes", "cut-off"})
    assert (call.status, call.args) == ("truncated", {"city": "Oslo"})


@pytest.mark.parametrize(
    "text, value",
    [
        ("12 things: {city: 'x'}", {"city": "x"}),
        ("so: {'city': 'x', 'days': -Infinity}", {"city": "x", "days": None}),
        ("null and {'city': 'x'}", {"city": "x"}),
        ("{'city': 'x', 'days': None}", {"city": "x", "days": None}),
        ('"so": {"city": "x"}', None),
    ],
)
def test_a_schema_raises_no_false_alarm(text: str, value: Any) -> None:
    pytest.importorskip("jsonschema_rs")
    schema = {
        "type": "object",
        "properties": {"city": {"type": "string"}, "days": {"type": "null"}},
        "required": ["city"],
    }
    for pieces in cuttings(text):
        call = run(list(pieces), repair=True, schemas={"f": schema})
        assert call.args == value if call.status == "complete" else value is None
