"""Answers that went on: after a break, and after a person's decision."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import expect

import jsonrill
from jsonrill.agents import state_of
from support import few, hard

from .broken_streams import sse
from .shown import Shown


def chunk(text: str, finish: str | None = None) -> dict[str, Any]:
    choice = {"index": 0, "delta": {"content": text}, "finish_reason": finish}
    return {"object": "chat.completion.chunk", "choices": [choice]}


def lost(text: str) -> Iterator[dict[str, Any]]:
    yield chunk(text)
    raise ConnectionResetError("the connection was reset")


def ask(so_far: Any) -> Iterator[dict[str, Any]]:
    if so_far is None:
        return lost('{"title": "Storm", ')
    if so_far.reason == "lost":
        return iter([chunk('"size": 12, "names": ["Ada"', "length")])
    return iter([chunk(', "Bo"]}', "stop")])


def test_the_breaks_of_an_answer_are_marked_where_they_were(shown: Shown) -> None:
    page = shown.page
    events = list(jsonrill.unbroken(ask, backoff=0))
    text = "".join(event.get("text", "") for event in events)
    words = ["connection lost here, continued", "token limit reached here, continued"]
    marks = page.locator("#raw mark.break")
    shown.paste(sse(*events))
    shown.done()
    expect(page.locator("#state")).to_have_text("Complete")
    expect(marks).to_have_text(words)
    assert marks.first.is_visible()
    assert shown.value("names") == "[2]"
    raw = shown.raw()
    for word, before in zip(words, breaks_in(events), strict=True):
        assert raw.partition(word)[0].replace(words[0], "") == before
    # What is copied is what the model wrote.
    page.locator("#raw").evaluate("(raw) => getSelection().selectAllChildren(raw)")
    page.keyboard.press("Control+c")
    assert json.loads(shown.copied()) == json.loads(text)
    # A break is there from the moment on at which it happened, before the answer goes on.
    first = next(at for at, event in enumerate(events) if "break" in event)
    shown.slide("#scrub", first)
    expect(marks).to_have_text([])
    shown.slide("#scrub", first + 1)
    expect(marks).to_have_text(["connection lost here, asked again"])
    shown.to_end()
    expect(marks).to_have_text(words)


@hard
def test_an_answer_that_contradicts_itself_shows_its_last_start(shown: Shown) -> None:
    def ask(so_far: Any) -> Iterator[dict[str, Any]]:
        if so_far is None:
            return lost('{"title": "Storm", "size": 1')
        return iter([chunk('{"title": "Calm", "size": 2, "names": ["Bo"]}', "stop")])

    events = list(jsonrill.unbroken(ask, backoff=0, on_contradiction="restart"))
    shown.paste(sse(*events))
    shown.done()
    expect(shown.page.locator("#state")).to_have_text("Complete")
    assert shown.value("title") == "Calm"
    assert shown.value("names") == "[1]"
    shown.page.get_by_role("button", name="Copy JSON").click()
    assert json.loads(shown.copied()) == {"title": "Calm", "size": 2, "names": ["Bo"]}


def breaks_in(events: list[Any]) -> Iterator[str]:
    """The text before each break."""
    text = ""
    for event in events:
        text += event.get("text", "")
        if "break" in event:
            yield text


@hard
def test_every_reason_of_a_break_is_said_in_words(shown: Shown) -> None:
    reasons = {
        "lost": "connection lost here",
        "stalled": "nothing more came here",
        "length": "token limit reached here",
        "ended": "ended too early here",
        "violation": "schema violated here",
        "unclear": "unclear what follows here",
        "other": "broke off here (other)",
    }
    events: list[dict[str, Any]] = [{"kind": "answer", "text": "[0"}]
    for attempt, reason in enumerate(reasons, 1):
        events.append({"kind": "answer", "break": {"reason": reason, "attempt": attempt}})
        # The first two come at the same place.
        events.append({"kind": "answer", "text": "" if attempt == 1 else f", {attempt}"})
    events += [{"kind": "answer", "text": "]"}, {"kind": "answer", "finish": "complete"}]
    shown.paste(sse(*events))
    shown.done()
    words = [f"{word}, continued" for word in reasons.values()]
    expect(shown.page.locator("#raw mark.break")).to_have_text(words)
    expect(shown.page.locator("#state")).to_have_text("Complete")


@hard
def test_a_break_after_which_nothing_came_is_not_called_continued(shown: Shown) -> None:
    shown.paste(
        sse(
            {"kind": "answer", "text": '{"title": "Sto'},
            {"kind": "answer", "break": {"reason": "lost", "attempt": 1}},
            {"kind": "answer", "break": {"reason": "stalled", "attempt": 2}},
            {"kind": "answer", "finish": "lost"},
        )
    )
    shown.done()
    marks = shown.page.locator("#raw mark.break")
    words = ["connection lost here, asked again", "nothing more came here, asked again"]
    expect(marks).to_have_text(words)
    expect(shown.page.locator("#state")).to_have_text("Cut off (no end)")


QUESTION = {"role": "user", "content": "Book Rome"}


@jsonrill.tool(approve=True)
def book(city: str) -> str:
    return f"booked {city}"


def wish(messages: list[Any]) -> Iterator[dict[str, Any]]:
    """The model: it wants to book, and is content with any result."""
    if len(messages) > 1:
        return iter([chunk("Well.", "stop")])
    function = {"name": "book", "arguments": '{"city": "Rome"}'}
    call = {"index": 0, "id": "call_7", "type": "function", "function": function}
    event = chunk("", "tool_calls")
    event["choices"][0]["delta"] = {"tool_calls": [call]}
    return iter([event])


@few(1)
@pytest.mark.parametrize(
    ("decision", "words"),
    [
        (True, "decided: yes"),
        (False, "decided: no"),
        ("too far away", "decided: no, too far away"),
        ({"city": "Oslo"}, 'decided: other arguments, {"city":"Oslo"}'),
    ],
    ids=["yes", "no", "reason", "arguments"],
)
def test_a_call_waits_for_a_person_who_decides(shown: Shown, decision: Any, words: str) -> None:
    tools = {"book": book}
    asked = jsonrill.agent(wish, tools, messages=[QUESTION])
    before = [part.to_dict() for part in asked]
    decisions = {"call_7": decision}
    told = {"kind": "decision", "call": "call_7", "decision": decision}
    goes_on = jsonrill.agent(wish, tools, state=asked.state(), decisions=decisions)
    events = [*before, told, *(part.to_dict() for part in goes_on)]
    note = shown.page.locator(".call .person")
    shown.paste(sse(*events))
    shown.done()
    shown.view("calls")
    expect(note).to_have_text(words)
    expect(note).to_be_visible()
    expect(shown.page.locator(".call .result")).to_be_visible()
    shown.slide("#scrub", len(before))
    expect(note).to_have_text("waits for a person")
    expect(shown.page.get_by_label("waits for a person")).to_be_visible()
    shown.slide("#scrub", len(before) + 1)
    expect(note).to_have_text(words)
    expect(shown.page.locator(".call .result")).to_be_hidden()


@hard
def test_a_tool_that_was_interrupted_says_so(shown: Shown) -> None:
    tools = {"book": lambda city: city}
    log = []
    with contextlib.closing(jsonrill.agent(wish, tools, messages=[QUESTION])) as killed:
        for part in killed:
            log.append(part.to_dict(state=True))
            if part.status == "started":
                break
    goes_on = jsonrill.agent(wish, tools, state=state_of(log, [QUESTION]))
    shown.paste(sse(*log, *(part.to_dict() for part in goes_on)))
    shown.done()
    shown.view("calls")
    note = shown.page.locator(".call .person")
    expect(note).to_have_text("interrupted")
    shown.slide("#scrub", len(log))
    expect(note).to_be_hidden()
