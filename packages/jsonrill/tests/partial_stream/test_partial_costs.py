"""Updates take linear time, and few bytes on the wire."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from jsonrill import Limits, PartialStream, Update, sse
from jsonrill.partial_stream import Mode
from support import by, few, hard
from support.costs import assert_flat, assert_linear
from support.streams import MODES, run

# Deep, wide, one long string, many strings, one growing number after the other.
SHAPES: dict[str, Callable[[int], str]] = {
    "string": lambda n: json.dumps({"a": "x" * n}),
    "escapes": lambda n: json.dumps({"a": "é\n" * (n // 8)}),
    "elements": lambda n: json.dumps({"a": list(range(n // 6))}),
    "members": lambda n: json.dumps({f"k{i}": "v" for i in range(n // 12)}),
    "entities": lambda n: json.dumps([{"a": [1, "x"]}] * (n // 20)),
    "keys twice": lambda n: "{" + '"a": [1], ' * (n // 10) + '"b": 1}',
    "outside": lambda n: json.dumps({"x": [[1, {"colors": "y"}]] * (n // 22), "colors": [1]}),
}


def feed_in_steps(mode: Mode, shape: str, **options: Any) -> Any:
    """Return a stream of this shape for `assert_flat`; each step feeds four more characters."""

    def start(size: int) -> Callable[[], list[Update]]:
        stream, text = PartialStream(mode, **options), SHAPES[shape](size * 3 // 2 + 3_000)
        stream.feed(text[:100])
        for piece in by(40, text[100:size]):
            stream.feed(piece)
        rest = iter(by(4, text[size:]))
        return lambda: stream.feed(next(rest))

    return start


@few(10)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("mode", MODES)
def test_p8_time_is_linear(mode: Mode, shape: str) -> None:
    options: dict[str, Any] = {"entity": "colors"} if shape == "outside" else {}
    assert_flat(feed_in_steps(mode, shape, **options), large=60_000)


@few(5)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("mode", ["PROGRESSIVE", "REALTIME"])
def test_p8_time_is_linear_when_all_deltas_are_read(mode: Mode, shape: str) -> None:
    def start(size: int) -> Callable[[], object]:
        step = feed_in_steps(mode, shape, send="delta")(size)
        return lambda: [update.to_dict() for update in step()]

    assert_flat(start, large=60_000)


@pytest.mark.parametrize("mode", MODES)
def test_p8_the_end_is_linear(mode: Mode) -> None:
    """In every mode and shape, including the last feed and the end of the stream."""
    for make in SHAPES.values():
        assert_linear(partial(run_all, mode, make), 2_000, bound=9)


def run_all(mode: Mode, make: Callable[[int], str], size: int) -> Callable[[], object]:
    return partial(run, by(400, make(size)), mode)


@hard
def test_depth_costs_nothing_if_only_deltas_are_sent() -> None:
    def start(size: int) -> Callable[[], object]:
        stream = PartialStream("REALTIME", send="delta", limits=Limits(depth=10**6))
        stream.feed("[" * size + '"')
        return lambda: stream.feed("x")

    assert_flat(start, small=100, large=10_000)


def test_p8_finished_entities_are_not_kept_by_the_stream() -> None:
    stream = PartialStream("REALTIME")
    stream.feed("[")
    tracemalloc.start()
    for _ in range(20):
        stream.feed('{"a": "' + "x" * 10_000 + '"}, ')
    used = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert used < 50_000


def test_a_long_string_on_the_wire() -> None:
    text = json.dumps({"text": "x" * 20_000})
    events = sse(run(by(4, text), "REALTIME", send="delta"))
    assert sum(map(len, events)) < 30 * len(text)
