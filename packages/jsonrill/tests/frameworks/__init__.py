"""The real packages of others as sources: `make hard` installs them and runs these tests.

The files are named `source_*.py`, so that no other test run collects them.
"""

from __future__ import annotations

from collections.abc import AsyncIterable, Iterable
from typing import Any

from jsonrill import ToolCalls, content, values
from jsonrill.testing import Call, FakeAnswer

TEXT = '{"title": "Tide é ☂", "rows": [1, {"a": null}, "b"]}'
WEATHER = Call("weather", {"city": "São Paulo", "days": 3})
PING = Call("ping", {"n": 1})
SPOKEN = FakeAnswer(TEXT, pace=0)
CALLED = FakeAnswer(calls=[WEATHER, PING], pace=0)


def text_of(events: Iterable[Any]) -> str:
    return "".join(content(events))


def calls_of(events: Iterable[Any]) -> list[tuple[Any, Any, str]]:
    """The calls of a stream, read to its end: name, arguments and status."""
    calls = ToolCalls()
    for event in events:
        calls.feed(event)
    calls.flush()
    return [(call.name, call.args, call.status) for call in calls.calls]


def results_of(events: Iterable[Any]) -> dict[str | None, Any]:
    calls = ToolCalls()
    for event in events:
        calls.feed(event)
    return {call.name: call.result for call in calls.calls if call.answered}


BOTH = [(call.name, call.arguments, "complete") for call in (WEATHER, PING)]


async def gathered(events: AsyncIterable[Any]) -> list[Any]:
    return [event async for event in events]


def last_value(events: Iterable[Any]) -> Any:
    return [*values(events)][-1]
