"""Threads that each have their own objects, and share a schema: as it is with one thread.

With Python's lock these threads take turns; where Python has none (3.14t, 3.15t) they run at once.
"""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

import jsonrill
from support import few

THREADS = 8
ROUNDS = 20
DOCUMENT = {
    "title": "Storm “Ada” \u0001 \ud83d\ude00",
    "days": [{"n": n, "high": n / 3, "text": "x" * n, "ok": n % 2 == 0} for n in range(40)],
    "none": None,
}
TEXT = json.dumps(DOCUMENT)
PIECES = [TEXT[at : at + 7] for at in range(0, len(TEXT), 7)]


@pytest.fixture(autouse=True)
def quick_turns() -> Any:
    """Switch threads as often as possible, so that a shared object is seen half-built."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def values() -> Any:
    return [json.dumps(value) for value in jsonrill.values(iter(PIECES))]


def fragments() -> Any:
    rebuilder = jsonrill.Rebuilder()
    for fragment in jsonrill.fragments(iter(PIECES)):
        rebuilder.feed([fragment])
    return rebuilder.value


def updates() -> Any:
    return [update.to_json() for update in jsonrill.updates(iter(PIECES), entity="days[*]")]


def repaired() -> Any:
    text = "Here: {title: 'x', days: [1, 2,], “none”: None"
    return [json.dumps(item) for item in jsonrill.values(iter(text), repair=True)]


def chunks() -> Any:
    return "".join(jsonrill.chunks([{"a": 1}, {"b": [1], "a": 1}, {"a": 1, "b": [1, 2]}]))


@few(1)
@pytest.mark.parametrize("work", [values, fragments, updates, repaired, chunks])
def test_each_thread_with_objects_of_its_own(work: Callable[[], Any]) -> None:
    wanted = work()
    assert at_once(lambda: [work() for _ in range(ROUNDS)]) == [[wanted] * ROUNDS] * THREADS


def test_one_schema_for_all_threads() -> None:
    """Compiled once and first used by all at the same moment; half of them break it."""
    pytest.importorskip("jsonschema_rs")
    from jsonrill.schema import Schema

    day = {"type": "object", "properties": {"n": {"type": "integer", "maximum": 38}}}
    schema = {
        "type": "object",
        "properties": {"title": {"type": "string"}, "days": {"items": {"$ref": "#/$defs/day"}}},
        "$defs": {"day": day},
    }
    for _ in range(3):
        compiled = Schema(schema)

        def check(compiled: Any = compiled) -> tuple[str, int]:
            try:
                list(jsonrill.values(iter(PIECES), compiled))
            except jsonrill.InvalidSchema as error:
                return jsonrill.paths.format_path(error.path), error.offset
            raise AssertionError("39 is more than 38")

        assert set(at_once(check)) == {check()}


def at_once(work: Callable[[], Any]) -> list[Any]:
    """Return the result of each thread; all of them begin together."""
    gate = threading.Barrier(THREADS)

    def begin() -> Any:
        gate.wait()
        return work()

    with ThreadPoolExecutor(THREADS) as threads:
        return [item.result() for item in [threads.submit(begin) for _ in range(THREADS)]]
