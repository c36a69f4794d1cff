"""Inputs → files → shards. The same inputs and size give the same shards with the same names.

Only sizes and first bytes are read here. Large plain files are cut into ranges, small files share
a shard, compressed files and event streams are not cut.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from glob import has_magic, iglob
from stat import S_ISREG
from typing import Any, Final, NamedTuple

from jsonrill.eventstream import looks_like_events

from .errors import InputError
from .files import is_remote, remote, remote_version, version_of
from .input.lines import Segment
from .output.folder import DONE, MANIFEST

INPUT_FORMATS: Final = ("auto", "jsonl", "sse")
LEAST: Final = 4 * 2**20
MOST: Final = 256 * 2**20
_GZIP: Final = b"\x1f\x8b"


class File(NamedTuple):
    """An input file: its absolute path or URL, the name for rows and messages, and its version."""

    path: str
    name: str
    size: int
    version: str
    input_format: str
    compression: str


@dataclass(frozen=True)
class Shard:
    """A part of the work with one output file: some files, or a range of one file."""

    index: int
    segments: tuple[Segment, ...]

    @property
    def name(self) -> str:
        return f"part-{self.index:05d}"

    @property
    def size(self) -> int:
        return sum(segment.end - segment.start for segment in self.segments)


def find_files(inputs: Iterable[str], input_format: str = "auto") -> list[File]:
    """The files that paths, folders, patterns and URLs name, each once, in order.

    One `InputError` names every input that cannot be found.
    """
    if input_format not in INPUT_FORMATS:
        raise ValueError(f"input_format is one of {', '.join(INPUT_FORMATS)}, not {input_format!r}")
    files: dict[str, File] = {}
    wrong: list[str] = []
    for place in inputs:
        try:
            for file in (
                _remote_files(place, input_format)
                if is_remote(place)
                else _files(place, input_format)
            ):
                files.setdefault(file.path, file)
        except InputError as error:
            wrong.append(str(error))
    if wrong:
        raise InputError("; ".join(wrong))
    if not files:
        raise InputError("there are no input files")
    return list(files.values())


def shard_size(files: Sequence[File]) -> int:
    """The bytes of a shard: about 128 shards, none too small for its files or too large to redo."""
    return min(MOST, max(LEAST, sum(file.size for file in files) // 128))


def cut(files: Iterable[File], size: int) -> list[Shard]:
    """Shards of about `size` bytes."""
    if size < 1:
        raise ValueError("the size of a shard is at least 1 byte")
    return [Shard(index, tuple(group)) for index, group in enumerate(_groups(files, size))]


def _groups(files: Iterable[File], size: int) -> Iterator[list[Segment]]:
    together: list[Segment] = []
    filled = 0
    for file in files:
        ranges = list(_ranges(file, size))
        if together and (len(ranges) > 1 or filled + file.size > size):
            yield together
            together, filled = [], 0
        if len(ranges) > 1:
            yield from ([part] for part in ranges)
            continue
        together += ranges
        filled += file.size
    if together:
        yield together


def _ranges(file: File, size: int) -> Iterator[Segment]:
    whole = bool(file.compression) or file.input_format != "jsonl"
    count = 1 if whole else max(1, round(file.size / size))
    edges = [file.size * number // count for number in range(count + 1)]
    for start, end in zip(edges, edges[1:], strict=False):
        yield Segment(*file[:4], start, end, file.input_format, file.compression)


def _files(place: str, input_format: str) -> Iterator[File]:
    if os.path.isdir(place):
        yield from _folder(place, input_format)
        return
    if has_magic(place) and not os.path.exists(place):
        paths = sorted(path for path in iglob(place, recursive=True) if os.path.isfile(path))
        if not paths:
            raise InputError(f"no file matches {place}")
        for path in paths:
            yield _file(path, input_format)
        return
    yield _file(place, input_format)


def _folder(folder: str, input_format: str) -> Iterator[File]:
    empty = True
    for place, folders, names in os.walk(folder):
        if place != folder and MANIFEST in names and DONE in folders:
            folders.clear()  # the output of an earlier run is no log
            continue
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(name for name in names if not name.startswith(".")):
            empty = False
            yield _file(os.path.join(place, name), input_format)
    if empty:
        raise InputError(f"{folder} has no files")


def _file(path: str, input_format: str) -> File:
    try:
        stat = os.stat(path)
        if not S_ISREG(stat.st_mode):
            raise InputError(
                f"{path} is not a regular file; save the output of a pipe to a file first"
            )
        with open(path, "rb") as file:
            beginning = file.read(256)
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from error
    where = os.path.abspath(path)
    return File(where, path, stat.st_size, version_of(stat), *_kind(path, beginning, input_format))


def _remote_files(place: str, input_format: str) -> Iterator[File]:
    store = remote(place)
    try:
        paths = sorted(store.glob(place)) if has_magic(place) else [place]
        if not paths:
            raise InputError(f"no file matches {place}")
        for path in paths:
            yield _remote_file(store, str(store.unstrip_protocol(path)), input_format)
    except InputError:
        raise
    except Exception as error:  # each driver has errors of its own
        raise InputError(f"{place}: {type(error).__name__}: {error}") from error


def _remote_file(store: Any, path: str, input_format: str) -> File:
    size = int(store.size(path))
    with store.open(path, "rb") as file:
        beginning = bytes(file.read(256))
    version = remote_version(store, path)
    return File(path, path, size, version, *_kind(path, beginning, input_format))


def _kind(path: str, beginning: bytes, input_format: str) -> tuple[str, str]:
    """Format and compression of a file, by its first bytes or else by its name."""
    if beginning.startswith(_GZIP) or path.lower().endswith(".gz"):
        return input_format, "gzip"
    if input_format != "auto":
        return input_format, ""
    return "sse" if looks_like_events(beginning) else "jsonl", ""
