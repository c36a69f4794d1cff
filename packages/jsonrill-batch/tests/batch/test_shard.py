"""Lines in, rows out: no line stops the others, and each is counted once."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonrill.options import JOBS

from jsonrill import PartialStream
from jsonrill_batch import Job, Line, Spread, Summary, process_shard
from support import examples

GOOD = '{"id": 1, "text": "[1, 2]"}'


def do(lines: Any, job: Job | None = None) -> tuple[list[Any], list[Any], Summary]:
    rows: list[str] = []
    bad: list[str] = []
    summary = process_shard(lines, job or Job(kind="values"), rows.append, bad.append)
    return [json.loads(row) for row in rows], [json.loads(row) for row in bad], summary


def test_a_bad_line_is_put_aside_with_its_place() -> None:
    lines = [GOOD.encode() + b"\n", b"\n", b'{"te\xff\n', GOOD.encode()]
    rows, bad, summary = do(lines)
    assert len(rows) == 2 and (summary.lines, summary.streams) == (4, 2)
    (record,) = bad
    assert (record["line"], record["offset"], record["size"]) == (3, len(lines[0]) + 1, 6)
    assert record["code"] == "NOT_UTF8"
    assert record["text"].encode("utf8", "surrogateescape") == b'{"te\xff'


def test_text_has_line_numbers_too() -> None:
    rows, bad, _ = do(iter([GOOD, "nonsense\r\n", '{"text": "1"}']))
    assert bad[0]["line"] == 2 and "offset" not in bad[0] and bad[0]["text"] == "nonsense"
    assert rows[-1]["id"] == "line 3"


def test_a_long_bad_line_is_kept_in_part() -> None:
    _, bad, _ = do(["x" * 1000], Job(kind="values", keep=10))
    assert bad[0]["text"] == "x" * 10 and bad[0]["cut"] is True


def test_the_first_line_has_its_place_too() -> None:
    _, bad, _ = do([b"nonsense\n"])
    assert bad[0]["offset"] == 0 and "cut" not in bad[0] and "rows" not in bad[0]


@pytest.mark.parametrize("line", [GOOD, GOOD.encode() + b"\n"])
def test_a_line_that_is_too_long_is_put_aside_whoever_reads_it(line: Any) -> None:
    rows, bad, _ = do([line, '{"text":"1"}'], Job(kind="values", max_line=12, keep=5))
    assert len(rows) == 1 and rows[0]["value"] == 1
    assert (bad[0]["code"], bad[0]["text"], bad[0]["cut"]) == ("TOO_LONG", GOOD[:5], True)


def test_what_was_made_of_a_line_is_not_called_cut() -> None:
    _, bad, _ = do([Line('{"events":["{}"]}', 1, 0, 500, "a.sse")])
    assert bad[0]["code"] == "NOT_A_STREAM" and "cut" not in bad[0]


def test_a_stage_that_breaks_loses_one_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    feed = PartialStream.feed

    def breaks(self: PartialStream, data: str | bytes) -> Any:
        if "boom" in str(data):
            raise RuntimeError("a bug")
        return feed(self, data)

    monkeypatch.setattr(PartialStream, "feed", breaks)
    broken = '{"chunks": ["[1, 2", ", boom]"]}'
    rows, bad, summary = do([GOOD, broken, GOOD], Job(kind="updates"))
    assert [row["data"] for row in rows] == [1, 2, 1, 1, 2]
    assert (bad[0]["code"], bad[0]["message"]) == ("FAILED", "RuntimeError: a bug")
    assert bad[0]["rows"] == 1 and summary.streams == 2


def test_what_the_writer_raises_is_not_the_streams_fault() -> None:
    def full(text: str) -> None:
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space"):
        process_shard([GOOD], Job(kind="values"), full)
    with pytest.raises(OSError, match="No space"):
        process_shard(["bad"], Job(kind="values"), quarantine=full)


def test_a_line_that_could_not_be_read_is_put_aside() -> None:
    from jsonrill_batch.errors import BadRecord

    line = Line(b"abc", 7, 100, 5000, "file", None, BadRecord("TOO_LONG", "too long"))
    _, bad, summary = do([line, Line(GOOD, 8)])
    assert bad[0] == {
        "file": "file",
        "line": 7,
        "offset": 100,
        "size": 5000,
        "code": "TOO_LONG",
        "message": "too long",
        "text": "abc",
        "cut": True,
    }
    assert summary.bytes == 5000 and summary.streams == 1


PIECES = st.lists(st.sampled_from(["{", "}", '"a', '":', "[1", ",", "]", "tru", "e", "\x00", "é"]))
RECORDS = st.one_of(
    st.binary(max_size=30),
    st.builds(lambda pieces: json.dumps({"chunks": pieces}).encode(), PIECES),
    st.builds(lambda pieces: json.dumps({"snapshots": pieces}).encode(), PIECES),
    st.builds(
        lambda values: json.dumps({"snapshots": values}).encode(),
        st.lists(st.dictionaries(st.sampled_from("ab"), st.text(max_size=3) | st.integers())),
    ),
    st.builds(
        lambda texts: json.dumps(
            {"events": [{"choices": [{"index": 0, "delta": {"content": text}}]} for text in texts]}
        ).encode(),
        PIECES,
    ),
)


@examples(100)
@given(st.lists(RECORDS, max_size=6), st.sampled_from(sorted(JOBS)), st.booleans())
def test_every_line_is_a_stream_or_put_aside(lines: list[bytes], kind: str, repair: bool) -> None:
    lines = [line.replace(b"\n", b"") for line in lines]
    job = Job(kind=kind, repair=repair and kind != "chunks")
    rows, bad, summary = do(lines, job)
    blank = sum(not line.strip() for line in lines)
    assert summary.lines == len(lines)
    assert summary.streams + len(bad) + blank == len(lines)
    assert summary.rows == len(rows)
    assert not any(record["code"] == "FAILED" for record in bad), bad
    assert summary.ok <= summary.streams
    assert Summary.from_json(json.loads(json.dumps(summary.to_json()))) == summary


@examples(50)
@given(st.lists(RECORDS, max_size=8), st.integers(0, 8))
def test_summaries_add_up(lines: list[bytes], where: int) -> None:
    lines = [line.replace(b"\n", b"") for line in lines]
    job = Job(kind="check")
    whole = process_shard(lines, job)
    parts = Summary()
    for part in (lines[:where], lines[where:]):
        parts.merge(process_shard(part, job))
    assert parts == whole


@examples(100)
@given(st.lists(st.integers(0, 10**6), min_size=1) | st.lists(st.floats(0, 1e6), min_size=1))
def test_percentiles_are_near(measures: list[float]) -> None:
    spread = Spread()
    for measure in measures:
        spread.add(measure)
    for share in (0.01, 0.5, 0.9, 1.0):
        rank = max(1, -(-share * len(measures) // 1))
        wanted = sorted(measures)[int(rank) - 1]
        percentile = spread.at(share)
        assert percentile is not None and wanted * 0.998 <= percentile <= wanted * 1.13 + 1e-300
    assert sum(count for _, _, count in spread.bars()) == len(measures)


def test_a_spread_of_nothing_has_no_percentile() -> None:
    assert Spread().at(0.5) is None and list(Spread().bars()) == []
