"""What updates cost: linear in the text, and small on the wire."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Callable
from typing import Any

import pytest

from jsonrill import Limits, PartialStream, SSEEncoder
from jsonrill.options import Mode
from support import by, within
from test_partial import MODES, run

# Deep, wide, one long string, many strings, one growing number after the other.
SHAPES: dict[str, Callable[[int], str]] = {
    "string": lambda n: json.dumps({"a": "x" * n}),
    "escapes": lambda n: json.dumps({"a": "é\n" * (n // 8)}),
    "elements": lambda n: json.dumps({"a": list(range(n // 6))}),
    "members": lambda n: json.dumps({f"k{at}": "v" for at in range(n // 12)}),
    "entities": lambda n: json.dumps([{"a": [1, "x"]}] * (n // 20)),
    "keys twice": lambda n: "{" + '"a": [1], ' * (n // 10) + '"b": 1}',
    "outside": lambda n: json.dumps({"x": [[1, {"colors": "y"}]] * (n // 22), "colors": [1]}),
}


def is_linear(work: Callable[[int], Any], size: int) -> bool:
    """Four times the text in well under the sixteenfold time that something quadratic takes."""
    return within(9, lambda: work(size), lambda: work(4 * size))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("mode", MODES)
def test_time_is_linear(mode: Mode, shape: str) -> None:
    options: dict[str, Any] = {"entity": "colors"} if shape == "outside" else {}
    assert is_linear(lambda size: run(by(4, SHAPES[shape](size)), mode, **options), 8_000)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("mode", ["PROGRESSIVE", "REALTIME"])
def test_time_is_linear_when_all_deltas_are_read(mode: Mode, shape: str) -> None:
    def work(size: int) -> None:
        for update in run(by(4, SHAPES[shape](size)), mode, send="delta"):
            update.to_dict()

    assert is_linear(work, 5_000)


def test_depth_costs_nothing_until_somebody_looks() -> None:
    def work(size: int) -> None:
        text = "[" * size + '"' + "x" * size
        run(by(1, text), "REALTIME", limits=Limits(depth=10**6))

    assert is_linear(work, 4_000)


def test_memory_is_linear_when_all_updates_are_kept() -> None:
    def kept(size: int) -> int:
        pieces = by(4, SHAPES["string"](size))
        tracemalloc.start()
        updates = run(pieces, "REALTIME")
        used = tracemalloc.get_traced_memory()[0]
        tracemalloc.stop()
        assert len(updates) > size / 4
        return used

    assert kept(200_000) < 2.5 * kept(100_000)


def test_finished_entities_are_not_kept_by_the_stream() -> None:
    stream = PartialStream("REALTIME")
    stream.feed("[")
    tracemalloc.start()
    for _ in range(20):
        stream.feed('{"a": "' + "x" * 10_000 + '"}, ')
    used = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert used < 50_000


def test_a_long_string_on_the_wire() -> None:
    text = json.dumps({"text": "x" * 85_000})
    encoder = SSEEncoder()
    sent = sum(len(encoder.feed(u)) for u in run(by(4, text), "REALTIME", send="delta"))
    assert sent + len(encoder.flush()) < 30 * len(text)


def test_a_key_that_comes_again_and_again_in_a_wide_object_is_linear() -> None:
    def work(size: int) -> None:
        wide = ", ".join(f'"k{at}": 1' for at in range(size))
        stream = PartialStream("REALTIME")
        stream.feed("{" + wide)
        for _ in range(size):
            stream.feed(', "a": 1')

    assert is_linear(work, 2_000)
