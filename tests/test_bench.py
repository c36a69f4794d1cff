"""The benchmarks: that they judge and compute rightly. What they measure is not tested."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from time import process_time
from typing import Any
from xml.etree import ElementTree

import pytest
from bench import chart, chunking, prefixes, report, shapes, snapshot_streams, targets
from bench.contestants import NOTHING, Contestant, PureLive, Reparser
from bench.measure import SAMPLE, Timing, interleaved, race, trial

from support import ROOT


class Fixed(Reparser):
    """Shows for each prefix what it was told to; raises what is an exception."""

    name = "fixed"

    def __init__(self, shown: dict[str, Any]) -> None:
        self.shown = shown

    def parse(self, text: str) -> Any:
        value = self.shown.get(text, NOTHING)
        if isinstance(value, Exception):
            raise value
        return value


def correctness_of(
    text: str, shown: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> dict[str, Any]:
    monkeypatch.setattr(prefixes, "TEXTS", (text,))
    return prefixes.judge(Fixed(shown))


@pytest.mark.parametrize(
    "shown, fault",
    [
        ({"[1": ValueError()}, "raised"),
        ({"[": [], "[1": NOTHING, "[12": [12]}, "retracted"),
        ({"[1": [None], "[12": [None]}, "invented"),
        ({"[1": [1], "[12": [1]}, "false number"),
        ({"[12]": [12.0]}, "wrong at the end"),
    ],
)
def test_each_fault_is_seen(
    shown: dict[str, Any], fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    scores = correctness_of("[12]", {"[12]": [12], **shown}, monkeypatch)
    faults = ("raised", "retracted", "invented", "false number", "wrong at the end")
    assert [name for name in faults if scores[name]] == [fault]


def test_jsonrill_shows_nothing_false() -> None:
    scores = prefixes.judge(PureLive())
    assert scores["prefixes"] == sum(map(len, prefixes.TEXTS))
    counts = ("raised", "retracted", "invented", "false number", "wrong at the end")
    assert [scores[name] for name in counts] == [0] * 5
    assert (scores["open"], scores["accepted"], scores["refused"]) == (1.0, [], [])


@pytest.mark.parametrize("shape", shapes.SHAPES)
def test_shapes_are_json_and_always_the_same(shape: str) -> None:
    text = shapes.SHAPES[shape]()
    assert text == shapes.SHAPES[shape]()
    assert "".join(shapes.pieces(text)) == text
    json.loads(text)


def test_the_tool_call_has_58_bytes() -> None:
    assert len(shapes.TOOL.encode()) == 58


class Endless(Contestant):
    name = "endless"

    def steps(self, pieces: Iterable[str]) -> Iterator[Any]:
        for count, _ in enumerate(pieces):
            while count == 2:
                pass
            yield None


def test_what_takes_too_long_is_stopped_and_says_how_far_it_came() -> None:
    timing = trial(Endless().run, ["a", "b", "c", "d"], cap=0.05)
    assert timing.read == 0.75
    assert timing.as_json(4)["us"] is None


def test_what_fails_is_named() -> None:
    def fail(pieces: Iterable[str]) -> None:
        raise RecursionError

    timings = race({"fails": fail}, ["a"], budget=0.01, cap=1)
    assert timings["fails"].failed == "RecursionError"


def sleepless() -> None:
    """Work for longer than the shortest sample, so that nothing is repeated."""
    start = process_time()
    while process_time() - start < SAMPLE:
        pass


def test_all_take_turns() -> None:
    order: list[str] = []

    def noting(name: str) -> Callable[[], object]:
        def work() -> None:
            order.append(name)
            sleepless()

        return work

    works = {"a": noting("a"), "b": noting("b")}
    timings = interleaved(works, budget=0.0, least=3)
    assert [timings[name].samples for name in works] == [3, 3]
    assert "".join(order).endswith("ababab")


def test_the_cost_of_a_piece_is_that_of_the_whole_divided() -> None:
    assert Timing(0.002, 5).as_json(1000)["us"] == pytest.approx(2.0)


@pytest.mark.parametrize(
    "ours, size",
    [([1, 1, 1], 0.0), ([5, 5, 5], float("inf")), ([5, 1, 1], 20 ** (1 / 2) * 10**0.5)],
)
def test_the_crossing_is_found(ours: list[float], size: float) -> None:
    rows = {
        str(length): {targets.PURE: {"us": cost}, targets.JITER: {"us": 5**0.5}}
        for length, cost in zip((10, 20, 40), ours, strict=True)
    }
    assert targets.crossing({"crossover": {"rows": rows}}, targets.PURE) == pytest.approx(size)


def test_a_chart_is_xml_with_every_name_once() -> None:
    lines = [
        chart.Line("a < b", "ours", [(58, 0.2), (2_000, 0.3)]),
        chart.Line("rival", "rival", [(58, 1), (2_000, 90)]),
        chart.Line("left out", "rival", []),
    ]
    tree = ElementTree.fromstring(chart.svg("title", lines))
    texts = [element.text for element in tree.iter() if element.tag.endswith("text")]
    assert texts.count("a < b") == texts.count("rival") == 1 and "left out" not in texts


def test_the_page_is_what_the_results_say() -> None:
    results = json.loads((ROOT / "docs" / "benchmarks" / "results.json").read_text("utf8"))
    page = (ROOT / "docs" / "benchmarks.md").read_text("utf8")
    assert report.page(results) == page, "run `make bench ARGS=--render`"


def test_the_readme_says_what_the_results_say() -> None:
    results = json.loads((ROOT / "docs" / "benchmarks" / "results.json").read_text("utf8"))
    readme = " ".join((ROOT / "README.md").read_text("utf8").split())
    assert " ".join(report.headline(results["results"]).split()) in readme


SERVER = {"readers": 300, "versions": {"uvicorn": "1"}}


@pytest.mark.parametrize("ours, met", [(90.0, True), (89.0, False)])
def test_a_target_is_met_or_missed(ours: float, met: bool) -> None:
    results = {"server": {**SERVER, "rates": {"100": {"jsonrill": ours, "bare": 100.0}}}}
    assert [row.met for row in targets.targets(results)] == [met]
    assert (f"{ours:.0f} a second" in report.goals(results)) is not met


def test_the_chunkers_streams_come_out_whole() -> None:
    import jsonrill

    assert chunking.comes_out_whole(jsonrill, shapes.TOOL, 3, eager=False)
    lines = [
        '{"a": "x"}',
        '{"a": "x", "b": "", "c": "y", "d": "z"}',
        '{"a": "x", "c": "y", "d": "zz"}',
    ]
    assert chunking.withheld(jsonrill, lines, eager=False) == 1


def test_the_generated_snapshots_are_those_of_their_seeds() -> None:
    files = snapshot_streams.files()
    assert len(files) == snapshot_streams.STREAMS
    for seed, file in enumerate(files, 1):
        assert file.read_text("utf8").splitlines() == [*snapshot_streams.stream(seed)]


def test_the_documentation_has_their_figures() -> None:
    count = snapshot_streams.figures(snapshot_streams.files())
    page = " ".join((ROOT / "docs" / "chunker.md").read_text("utf8").split())
    for number, before in (
        ("snapshots", "`bench/snapshots`,"),
        ("default", "wait in"),
        ("eager", "`eager=True` in"),
    ):
        assert f"{before} {count[number]}" in page
        if number != "snapshots":
            share = 100 * count[number] / count["snapshots"]
            assert f"{before} {count[number]}, {share:.1f} %" in page


def test_little_is_withheld_of_the_recorded_snapshots() -> None:
    """They are not ours to hand on: they are read on a machine that has them."""
    if paths := chunking.recordings():
        count = snapshot_streams.figures(paths)
        assert count["default"] / count["snapshots"] <= 0.04
        assert count["eager"] / count["snapshots"] <= 0.002


@pytest.mark.parametrize(
    "shown, value, all_seen",
    [
        ({"a": "x"}, {"a": "x", "b": ""}, True),
        ({"a": "x"}, {"a": "xy"}, False),
        ([1], [1, 2], False),
        (None, {"a": []}, True),
    ],
)
def test_what_is_withheld_is_seen(shown: Any, value: Any, all_seen: bool) -> None:
    assert chunking.sees(shown, value) is all_seen
