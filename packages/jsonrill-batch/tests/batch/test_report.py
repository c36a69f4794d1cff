"""The report: the same counts as text, as JSON and as a page that loads and runs nothing."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from jsonrill_batch import Job, Report, Spread, Summary, run
from jsonrill_batch.output.page import page
from jsonrill_batch.output.report import duration, share, size

from .logs import log, sample

NASTY = '<script>alert("x")</script>&'


class Reader(HTMLParser):
    """What a browser would see."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.text = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        if tag not in ("meta", "rect", "line"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in ("rect", "line"):
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data + "\n"


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    good = sample(folder / "a.jsonl", 400)
    bad = log(folder / "b.jsonl", "nonsense", '{"x": 1}', '{"y": 1}')
    run(Job(kind="check", repair=True), [str(good), str(bad)], str(folder / "out"), workers=0)
    return folder / "out"


def test_json_and_text_tell_the_same(out: Path) -> None:
    told = json.loads((out / "report.json").read_text())
    text = (out / "report.txt").read_text()
    summary = told["summary"]
    assert summary["streams"] == 400 and summary["lines"] == 403
    assert summary["quarantined"] == {"NOT_A_STREAM": 2, "NOT_JSON": 1}
    assert "b.jsonl line 1: Expecting value" in text and len(told["quarantine"]) == 3
    assert "400 streams in 2 files" in text and "quarantined 2 NOT_A_STREAM" in text
    for unit in ("seconds", "characters", "pieces"):
        assert told["waits"]["first"][unit]["p50"] <= told["waits"]["last"][unit]["p99"]
        assert f"first value after {unit}:" in text
    assert told["waits"]["first"]["seconds"]["least"] >= 0.2  # what the samples wait at least
    assert summary["first"]["seconds"]["count"] == 200 and told["run"]["streams_per_second"] > 0
    for rule, count in summary["repairs"].items():
        assert f"{rule} {count}" in text


def test_the_page_is_complete_and_alone(out: Path) -> None:
    text = (out / "report.html").read_text()
    seen = Reader(text)
    assert not seen.open
    assert not seen.tags & {"script", "link", "img", "iframe", "object", "a"}
    assert not {name for name in seen.attributes if name.startswith("on")} | (
        seen.attributes & {"src", "href"}
    )
    assert not re.search(r"url\(|@import|https?:", text)
    assert "default-src 'none'" in text
    for phrase in (
        "b.jsonl line 1",
        "Expecting value",
        "400 streams",
        "NOT_A_STREAM",
        "Until the first value",
        "Repairs",
        "cut-off",
    ):
        assert phrase in seen.text


def report(summary: Summary, **more: object) -> Report:
    return Report({"kind": "check"}, "out", summary, 1, 2, **more)  # type: ignore[arg-type]


def test_whatever_a_log_says_is_escaped() -> None:
    summary = Summary(streams=2, errors={NASTY: 1}, quarantined={NASTY: 1}, repairs={NASTY: 1})
    bad = {"file": NASTY, "line": 1, "code": NASTY, "message": NASTY}
    text = page(report(summary, failed={NASTY: NASTY}, samples=[bad]))
    assert "<script" not in text and Reader(text).text.count("alert") == 8
    assert "script" not in Reader(text).tags


def test_nothing_of_a_log_reaches_the_terminal_or_breaks_the_files() -> None:
    bad = {"file": "\x1b[2J\udcff.jsonl", "line": 1, "code": "NOT_JSON", "message": "\x9b1m\n"}
    figures = report(Summary(streams=1, quarantined={"NOT_JSON": 1}), samples=[bad])
    assert r"\u001b[2J\udcff.jsonl line 1: \u009b1m\u000a" in figures.to_text()
    assert figures.to_text().encode() and page(figures).encode()
    bad["message"] = "\u202egpj.exe"  # which would be read from right to left
    assert r"\u001b[2J\udcff.jsonl" in page(figures) and r"\u202egpj" in page(figures)


def test_a_report_of_nothing_has_a_page_too() -> None:
    empty = report(Summary())
    assert not Reader(page(empty)).open and "0 streams" in empty.to_text()


@pytest.mark.parametrize(
    "most, shown", [(12345, "12 345"), (20000.4, "20 000"), (1.23456, "1.235")]
)
def test_large_figures_are_written_out(most: float, shown: str) -> None:
    spread = Spread()
    spread.add(most)
    figures = report(Summary(streams=1, first={"pieces": spread}))
    assert f"most {shown}\n" in figures.to_text() and f"most {shown} " in page(figures)


@pytest.mark.parametrize("measures", [[0], [0, 0, 5], [1, 2, 3, 10**9], [0.001, 1e-9]])
def test_bars_are_drawn_for_any_spread(measures: list[float]) -> None:
    spread = Spread()
    for measure in measures:
        spread.add(measure)
    text = page(report(Summary(streams=len(measures), first={"pieces": spread})))
    assert text.count('class="bar"') == len(list(spread.bars()))
    assert not Reader(text).open


def test_whole_numbers_have_whole_bars() -> None:
    spread = Spread()
    for measure in (1, 2, 3, 4, 12):
        spread.add(measure)
    starts = [start for start, _, _ in spread.bars()]
    assert starts == [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12]
    assert spread.at(0.2) == 1 and spread.at(0.6) == 3 and spread.at(1) == 12


@pytest.mark.parametrize(
    "figure, wanted",
    [
        (size(999), "999 bytes"),
        (size(1500), "1.5 kB"),
        (size(2.5e15), "2500.0 TB"),
        (duration(3.21), "3.2 s"),
        (duration(125), "2 min 5 s"),
        (duration(7300), "2 h 1 min"),
        (share(1, 4), " (25.0 %)"),
        (share(1, 10**6), " (< 0.1 %)"),
        (share(0, 5), " (0.0 %)"),
        (share(0, 0), ""),
    ],
)
def test_figures_are_short(figure: str, wanted: str) -> None:
    assert figure == wanted


def test_the_fields_and_rules_that_break_most_often_are_told(tmp_path: Path) -> None:
    pytest.importorskip("jsonschema_rs")
    nasty = "<i>\u001b" + "x" * 300
    item = {"properties": {"hex": {"type": "string"}, nasty: {"type": "null"}}}
    schema = {"properties": {"colors": {"items": item}}}
    texts = [json.dumps({"colors": [{"hex": "#1"}] * n + [{"hex": 5}]}) for n in range(7)]
    texts += [json.dumps({"colors": [{nasty: 1}]}), "[1, x"]
    path = log(tmp_path / "a.jsonl", *({"text": text} for text in texts))
    report = run(Job(kind="check", schema=schema), path, tmp_path / "out", workers=0)
    worst = json.loads((tmp_path / "out" / "report.json").read_text())["breaks"]
    assert worst[0] == {"path": "root.colors[*].hex", "rule": "type", "count": 7}
    assert {"path": "root[*]", "rule": "INVALID_JSON", "count": 1} in worst
    text = (tmp_path / "out" / "report.txt").read_text()
    assert "breaks      root.colors[*].hex, type: 7 (77.8 %)" in text and "\x1b" not in text
    seen = Reader((tmp_path / "out" / "report.html").read_text())
    assert "Which field and rule breaks most often" in seen.text and "i" not in seen.tags
    assert "root.colors[*].hex · type" in seen.text and "x" * 100 not in seen.text
    assert report.summary.worst(99)[0][2] == 7


def test_very_many_fields_are_counted_together() -> None:
    summary = Summary()
    for number in range(3000):
        summary.broke(f"root.k{number}", {"type": 1})
    assert len(summary.breaks) == 1001 and summary.breaks["(other fields)"] == {"type": 2000}
    assert summary.worst(1) == [("(other fields)", "type", 2000)]
