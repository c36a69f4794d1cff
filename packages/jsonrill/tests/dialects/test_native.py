"""A provider's events for its own client: numbers, ids, failures, and a response put together."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsonrill.dialects import NATIVE, Settings
from jsonrill.dialects.native import ResponseState, response_id, split_response_id
from jsonrill.testing import Call, FakeAnswer

ANSWER = FakeAnswer("Hello wörld", "Hm.", [Call("show", {"a": 1}), Call("other")], pace=0)
PROBLEM = {"code": "UPSTREAM_LOST", "message": "the upstream ended"}


def events(path: str) -> list[Any]:
    steps = ANSWER.script(path, {"stream": True}).steps
    frames = [step for step in steps if isinstance(step, bytes)]
    return [json.loads(it.partition(b"data: ")[2]) for it in frames]


RESPONSE = events("/v1/responses")
MESSAGE = events("/v1/messages")


def test_a_response_keeps_its_events_and_gets_the_id_of_its_run() -> None:
    stage = NATIVE["openai_responses"](Settings(run="run"))
    shown: list[Any] = [it for event in RESPONSE for it in stage.feed(event)]
    assert stage.flush() == []
    assert [it["sequence_number"] for it in shown] == [*range(len(RESPONSE))]
    for before, after in zip(RESPONSE, shown, strict=True):
        if "response" in before:
            assert after["response"] == {**before["response"], "id": "resp_1.run"}
        else:
            assert after == before


@pytest.mark.parametrize("count", range(len(RESPONSE) - 1))
def test_a_response_that_breaks_off_fails_in_its_next_event(count: int) -> None:
    stage = NATIVE["openai_responses"](Settings(run="run"))
    for event in RESPONSE[:count]:
        stage.feed(event)
    [failed] = stage.flush(PROBLEM)
    assert isinstance(failed, dict)
    assert failed["type"] == "response.failed" and failed["sequence_number"] == count
    assert failed["error"]["code"] == "UPSTREAM_LOST"
    assert failed["response"]["status"] == "failed"


@pytest.mark.parametrize("path, events", [("openai_responses", RESPONSE), ("anthropic", MESSAGE)])
def test_an_answer_that_has_its_end_gets_no_other(path: str, events: list[Any]) -> None:
    stage = NATIVE[path](Settings())
    for event in events:
        stage.feed(event)
    assert stage.flush() == []


def test_a_message_without_its_last_event_gets_it() -> None:
    stage = NATIVE["anthropic"](Settings())
    for event in MESSAGE[:-1]:
        stage.feed(event)
    assert stage.flush() == [{"type": "message_stop"}]


def test_an_error_of_the_provider_is_not_repeated() -> None:
    stage = NATIVE["anthropic"](Settings())
    stage.feed({"type": "error", "error": {"type": "overloaded_error", "message": "busy"}})
    assert stage.flush(PROBLEM) == []


def test_a_response_in_progress_is_put_together() -> None:
    """At each event what it has is the beginning of what it becomes; at its end it is the same."""
    state = ResponseState()
    final = RESPONSE[-1]["response"]["output"]
    for event in RESPONSE[:-1]:
        state.feed(event)
        for now, then in zip(state.value()["output"], final, strict=False):
            assert now["type"] == then["type"]
            for field in ("arguments", "name", "id"):
                assert then.get(field, "").startswith(now.get(field, ""))
            for part, whole in zip(now.get("content", []), then.get("content", []), strict=False):
                assert whole["text"].startswith(part["text"])
    assert state.value()["output"] == final
    state.feed(RESPONSE[-1])
    assert state.ended and state.value() == {**RESPONSE[-1]["response"], "background": False}


@given(id=st.text(), run=st.from_regex(r"[A-Za-z0-9_-]{1,64}", fullmatch=True))
def test_an_id_can_be_split_again(id: str, run: str) -> None:
    assert split_response_id(response_id(id, run)) == (id or "resp", run)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)
FIELDS = ["type", "response", "output_index", "item", "part", "delta", "content_index", "id"]
KINDS = sorted({event["type"] for event in [*RESPONSE, *MESSAGE]})
INDEX = st.integers(-2, 3)
ODD = st.dictionaries(
    st.sampled_from([*FIELDS, "sequence_number", "summary_index", "text", "error"]),
    st.sampled_from(KINDS) | INDEX | JSON | st.dictionaries(st.sampled_from(FIELDS), JSON),
)


@given(st.lists(ODD, max_size=12), st.sampled_from([*NATIVE]))
def test_no_event_is_too_odd(odd_events: list[Any], name: str) -> None:
    """Each event passes, and the end is one."""
    stage = NATIVE[name](Settings(run="run"))
    for event in odd_events:
        assert len(stage.feed(json.dumps(event))) == 1
    for last in stage.flush(PROBLEM):
        json.dumps(last)
    state = ResponseState()
    for event in odd_events:
        state.feed(event)
    json.dumps(state.value()), json.dumps(state.failed(PROBLEM))
