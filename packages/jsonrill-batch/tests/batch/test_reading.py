"""Inputs → shards → lines: however files are cut, each line is read once, in order."""

from __future__ import annotations

import gzip
import json
import os
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsonrill_batch import InputError, Line
from jsonrill_batch.input.lines import read_segment
from jsonrill_batch.plan import LEAST, MOST, File, cut, find_files, shard_size
from support import examples

from .logs import log

MAX = 1000


def read(files: list[File], size: int, max_line: int = MAX) -> list[Line]:
    return [
        line
        for shard in cut(files, size)
        for segment in shard.segments
        for _, line in read_segment(segment, max_line, 100)
    ]


def texts(path: Path, size: int = 10**9, max_line: int = MAX) -> list[Any]:
    return [line.text for line in read(find_files([str(path)]), size, max_line)]


@examples(100)
@given(
    st.lists(st.binary(max_size=12).map(lambda line: line.replace(b"\n", b"").rstrip(b"\r"))),
    st.integers(1, 40),
    st.booleans(),
)
def test_ranges_own_each_line_once(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes], size: int, ends: bool
) -> None:
    path = tmp_path_factory.mktemp("ranges") / "a.jsonl"
    content = b"\n".join(lines) + (b"\n" if ends else b"")
    path.write_bytes(content)
    (file,) = find_files([str(path)], "jsonl")
    # The first bytes may be those of an archive by chance.
    read_lines = read([file._replace(compression="")], size)
    wanted = content.removesuffix(b"\n").split(b"\n") if content else []
    assert [line.text for line in read_lines] == [line.rstrip(b"\r") for line in wanted]
    for line in read_lines:
        assert isinstance(line.text, bytes) and line.offset is not None
        assert content[line.offset :].startswith(line.text)
    assert sum(line.size for line in read_lines) == len(content)


@pytest.mark.parametrize("size", [1, 7, 100, 3000, 10**6])
def test_a_line_that_is_too_long_is_skipped_whatever_the_ranges(tmp_path: Path, size: int) -> None:
    path = log(tmp_path / "a.jsonl", "first", "x" * 5000, "last")
    lines = read(find_files([str(path)]), size)
    assert [line.text for line in lines] == [b"first", b"x" * 100, b"last"]
    long = lines[1]
    assert long.fault is not None and long.fault.code == "TOO_LONG"
    assert (long.offset, long.size) == (6, 5001) and "5001 bytes" in str(long.fault)


def test_a_line_of_just_the_right_length_is_no_fault(tmp_path: Path) -> None:
    for end in (b"\n", b"\r\n", b""):
        path = tmp_path / "a.jsonl"
        path.write_bytes(b"x" * MAX + end)
        (line,) = read(find_files([str(path)], "jsonl"), 10**9)
        assert line.fault is None and line.size == MAX + len(end)


def compressed(path: Path, data: bytes) -> Path:
    # Two members, one after the other, as appending to a log makes.
    path.write_bytes(gzip.compress(data[:50]) + gzip.compress(data[50:]))
    return path


LINES = b"".join(b'{"text": "%d"}\n' % number for number in range(10_000))


def test_compressed_files_are_read_whole(tmp_path: Path) -> None:
    path = compressed(tmp_path / "a.jsonl.gz", LINES)
    assert b"\n".join(texts(path, size=100)) + b"\n" == LINES
    # By its first bytes, whatever its name.
    other = path.rename(tmp_path / "log")
    assert len(texts(other)) == 10_000


@pytest.mark.parametrize("damage", ["cut", "flipped", "garbage"])
def test_of_a_damaged_archive_the_beginning_counts(tmp_path: Path, damage: str) -> None:
    path = compressed(tmp_path / "a.jsonl.gz", LINES)
    data = bytearray(path.read_bytes())
    if damage == "cut":
        data = data[: len(data) // 2]
    elif damage == "flipped":
        data[len(data) // 2] ^= 0xFF
    else:
        data += b"garbage after the end"
    path.write_bytes(data)
    *good, last = read(find_files([str(path)]), 10**9)
    assert last.fault is not None and last.fault.code == "DAMAGED_FILE"
    assert "damaged after" in str(last.fault) and path.name in str(last.fault)
    if damage == "garbage":
        assert len(good) == 10_000
    # A flipped bit may spoil what follows it before it is noticed, never what was before.
    half = [line.text for line in good][: len(good) // 4]
    assert half == LINES.splitlines()[: len(half)]


def test_what_is_no_archive_says_so(tmp_path: Path) -> None:
    path = log(tmp_path / "a.jsonl.gz", "plain")
    (line,) = read(find_files([str(path)]), 10**9)
    assert line.fault is not None and "Not a gzipped file" in str(line.fault)


SSE = (
    'data: {"choices": [{"delta": {"content": "[1"}}]}\n\n'
    'data: {"choices": [{"delta": {"content": "]"}}]}\n\ndata: [DONE]\n\n'
    'event: message_start\ndata: {"type": "message_start"}\n\n'
    'event: message_stop\ndata: {"type": "message_stop"}\n\n'
    ': a comment\r\n\r\ndata: {"type": "response.completed"}\n\n'
    "data: {}"
)


@pytest.mark.parametrize("name", ["a.sse", "a.log", "a.sse.gz"])
def test_an_event_stream_becomes_a_line_for_each_stream(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    raw = SSE.encode()
    path.write_bytes(gzip.compress(raw) if name.endswith(".gz") else raw)
    lines = read(find_files([str(path)]), 10)
    counts = [len(json.loads(line.text)["events"]) for line in lines]
    assert counts == [2, 2, 1, 1]
    assert [line.name for line in lines] == [f"{path}#{number}" for number in (1, 2, 3, 4)]
    offsets = [line.offset for line in lines]
    assert offsets[:2] == [0, SSE.index("event: message_start")]
    assert sum(line.size for line in lines) == len(raw)


def test_an_event_that_is_too_long_ends_its_file(tmp_path: Path) -> None:
    path = tmp_path / "a.sse"
    path.write_text(SSE[: SSE.index("event")] + "data: " + "x" * 2 * MAX + "\n\n")
    good, bad = read(find_files([str(path)]), 10**9)
    assert good.fault is None and bad.fault is not None and bad.fault.code == "TOO_LONG"
    # Many events that are too long together only lose their stream.
    event = "data: " + "x" * (MAX // 2) + "\n\n"
    path.write_text(event * 3 + "data: [DONE]\n\ndata: 1\n\n")
    bad, good = read(find_files([str(path)]), 10**9)
    assert good.fault is None and bad.fault is not None and bad.fault.code == "TOO_LONG"


def test_files_are_found_by_name_pattern_and_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("b/2.jsonl", "b/1.jsonl", "b/.hidden", "b/c/3.jsonl", "a.jsonl", "x[1].jsonl"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        log(tmp_path / name, "{}")
    monkeypatch.chdir(tmp_path)
    assert [file.name for file in find_files(["b"])] == ["b/1.jsonl", "b/2.jsonl", "b/c/3.jsonl"]
    assert [file.name for file in find_files(["b/2.jsonl", "b/*.jsonl"])] == [
        "b/2.jsonl",
        "b/1.jsonl",
    ]
    assert [file.name for file in find_files(["**/*.jsonl"])][0] == "a.jsonl"
    assert [file.name for file in find_files(["x[1].jsonl"])] == ["x[1].jsonl"]
    assert find_files(["a.jsonl"])[0].path == str(tmp_path / "a.jsonl")


def test_all_that_is_missing_is_named_at_once(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    here = log(tmp_path / "here.jsonl", "{}")
    gone = [str(here), "gone.jsonl", "no*.jsonl", str(tmp_path / "empty")]
    with pytest.raises(InputError) as caught:
        find_files(gone)
    for name in ("gone.jsonl: No such file", "no*.jsonl", "has no files"):
        assert name in str(caught.value)
    with pytest.raises(InputError, match="no input files"):
        find_files([])


def test_addresses_are_read_with_fsspec(tmp_path: Path) -> None:
    pytest.importorskip("fsspec")
    path = log(tmp_path / "a.jsonl", *(f"line {number}" for number in range(100)))
    compressed(tmp_path / "b.jsonl.gz", LINES)
    (plain,) = find_files([f"file://{path}"])
    assert [line.text for line in read([plain], 50)] == path.read_bytes().splitlines()
    files = find_files([f"file://{tmp_path}/*"])
    assert [os.path.basename(file.path) for file in files] == ["a.jsonl", "b.jsonl.gz"]
    assert len(read(files, 10**9)) == 10_100
    with pytest.raises(InputError, match="gone"):
        find_files([f"file://{tmp_path}/gone"])
    with pytest.raises(InputError, match="nowhere"):
        find_files(["nowhere://x"])
    log(path, "changed")
    with pytest.raises(InputError, match="has changed"):
        read([plain], 50)


def test_a_file_that_changed_or_went_away_is_not_read(tmp_path: Path) -> None:
    path = log(tmp_path / "a.jsonl", "one")
    files = find_files([str(path)])
    log(path, "one", "two")
    with pytest.raises(InputError, match="has changed"):
        read(files, 10**9)
    path.unlink()
    with pytest.raises(InputError, match="No such file"):
        read(files, 10**9)


def fake(name: str, size: int, compression: str = "") -> File:
    return File(f"/{name}", name, size, "v", "jsonl", compression)


def test_shards_are_the_same_for_the_same_files() -> None:
    chance = random.Random(0)
    files = [fake(str(number), chance.randint(0, 3000)) for number in range(50)]
    assert cut(files, 1000) == cut(files, 1000)
    for shard in cut(files, 1000):
        ranged = any(part.end - part.start < part.size for part in shard.segments)
        assert len(shard.segments) == 1 if ranged else shard.size <= 1500
    covered = [segment for shard in cut(files, 1000) for segment in shard.segments]
    for file in files:
        edges = [(part.start, part.end) for part in covered if part.path == file.path]
        assert edges[0][0] == 0 and edges[-1][1] == file.size
        assert all(one[1] == other[0] for one, other in zip(edges, edges[1:], strict=False))


def test_compressed_files_and_events_are_not_cut() -> None:
    shards = cut([fake("a", 10**6, "gzip"), fake("b", 10**6)._replace(input_format="sse")], 1000)
    assert [len(shard.segments) for shard in shards] == [1, 1]
    assert [shard.name for shard in shards] == ["part-00000", "part-00001"]


@pytest.mark.parametrize(
    "total, size", [(0, LEAST), (10**6, LEAST), (10**10, 10**10 // 128), (10**13, MOST)]
)
def test_the_size_of_shards_follows_from_the_files(total: int, size: int) -> None:
    assert shard_size([fake("a", total // 2), fake("b", total - total // 2)]) == size
