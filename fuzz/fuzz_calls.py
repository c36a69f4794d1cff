"""Events of providers, lost, doubled, shuffled or spoiled: calls, parts and text, or one error.

`python -m fuzz calls --seconds 600`. The events are those of cases for every provider. A call
that is complete has arguments that are JSON; as objects and as text the events say the same.
"""

from __future__ import annotations

import copy
import json
import warnings
from random import Random
from typing import Any, Final

from fuzz.seeds import JSON_WORDS, mutated, provider_events, value
from jsonrill import JsonrillError, Parts, ToolCallEvents, ToolCalls
from jsonrill.sources.answer import AnswerText

TARGET: Final = "provider events, spoiled or not: calls that hold what they say, no other error"
BYTES: Final = False
WORDS: Final = JSON_WORDS
STATES: Final = ("streaming", "complete", "truncated", "error")


def seeds() -> tuple[str, ...]:
    return tuple(json.dumps(events) for events in provider_events())


def check(text: str, random: Random) -> None:
    """One list of events, as JSON text; anything else is not for this target."""
    try:
        events = json.loads(text)
    except (ValueError, RecursionError):
        return
    if isinstance(events, list):
        read(events, random)


def read(events: list[Any], random: Random) -> None:
    """Read the events by all that reads events."""
    repair = random.random() < 0.3
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        shown = [_calls(form, repair) for form in (events, [*map(json.dumps, events)])]
        # Texts are decoded by the reader; a JSON text that is a string is another event then.
        if not any(isinstance(event, str) for event in events):
            assert shown[0] == shown[1], "as objects and as text the events differ"
        for stage in (Parts(repair=repair), Parts(split=True)):
            try:
                for event in events:
                    list(stage.feed(event))
                list(stage.flush())
            except JsonrillError:
                pass
        answer = AnswerText()
        try:
            for event in events:
                assert isinstance(answer.feed(event), str)
        except JsonrillError:
            pass


def _calls(events: list[Any], repair: bool) -> Any:
    calls, messages = ToolCalls(repair=repair), ToolCalls(repair=repair)
    wire = ToolCallEvents(messages)
    try:
        for event in events:
            for update in calls.feed(event):
                assert update.call.status in STATES
            json.dumps(wire.feed(event))
        list(calls.flush())
        json.dumps(list(wire.flush()))
    except JsonrillError as error:
        return type(error).__name__
    for call in calls.calls:
        assert call.status in STATES and call.status != "streaming", call.status
        if call.status == "complete":
            assert call.name and call.complete_args, "complete, without a name or arguments"
        if call.complete_args and not repair and isinstance(call.raw, str) and call.raw:
            assert repr(json.loads(call.raw)) == repr(call.args), "args are not what came"
    return [(call.id, call.name, call.status, repr(call.args), call.raw) for call in calls.calls]


def run(random: Random) -> None:
    """One execution."""
    events = copy.deepcopy(random.choice(provider_events()))
    if random.random() < 0.1:
        events += copy.deepcopy(random.choice(provider_events()))
    for _ in range(random.choice([0, 1, 1, 2, 4])):
        _spoil(events, random)
    try:
        read(events, random)
    except Exception as error:
        error.add_note(f"the events were {json.dumps(events)}")
        raise


def _spoil(events: list[Any], random: Random) -> None:
    at = random.randrange(len(events)) if events else 0
    match random.randrange(6):
        case 0:
            events[at:] = []
        case 1:
            events[at : at + 1] = []
        case 2:
            events[at:at] = copy.deepcopy(events[at : at + random.randint(1, 3)])
        case 3 if events:
            other = random.randrange(len(events))
            events[at], events[other] = events[other], events[at]
        case 4 if events:
            events[at] = value(random)
        case _ if events:
            _spoil_inside(events[at], random)


def _spoil_inside(event: Any, random: Random) -> None:
    """Change one value somewhere in the event."""
    place = event
    while True:
        if not isinstance(place, dict | list) or not place:
            return
        keys: list[Any] = list(place) if isinstance(place, dict) else [*range(len(place))]
        key = random.choice(keys)
        inner = place[key]
        if isinstance(inner, dict | list) and inner and random.random() < 0.8:
            place = inner
            continue
        if isinstance(inner, str) and random.random() < 0.6:
            place[key] = mutated(random, inner, WORDS, ('{"a": 1}', inner))
        elif random.random() < 0.3:
            del place[key]
        else:
            place[key] = random.choice([inner, value(random), None, 0, 1, "", [], {}])
        return
