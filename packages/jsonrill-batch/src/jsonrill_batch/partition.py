"""Files → partitions → lines."""

from __future__ import annotations

import gzip
import os
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from glob import escape, glob
from pathlib import Path
from typing import IO, Final, cast

from .job import BatchError

SIZE: Final = 64 * 2**20
_BUFFER: Final = 2**20


@dataclass(frozen=True)
class Partition:
    """The lines of a file that begin at `start` or later, and before `end`, in bytes.

    A compressed file is one partition without `end`. `version` is the file's size and
    modification time, to detect changes.
    """

    path: str
    start: int
    end: float
    version: tuple[int, int]

    @property
    def name(self) -> str:
        """The name of the output file without its suffix. Names sort in the order of the lines."""
        folder = zlib.crc32(os.path.dirname(self.path).encode())
        return f"{os.path.basename(self.path)}-{folder:08x}-{self.start:015}"

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """Yield the lines that are not blank, each with its offset."""
        with _open(self.path) as file:
            position = self.start
            if position:
                # A line that begins in the previous partition belongs there: skip its rest.
                file.seek(position - 1)
                position += len(file.readline()) - 1
            while position < self.end and (line := file.readline()):
                if not line.isspace():
                    yield position, line
                position += len(line)


def partitions(inputs: Iterable[str | Path], size: int = SIZE) -> list[Partition]:
    """Return the partitions of files, of the files in folders, and of the matches of patterns."""
    found = []
    for path in sorted({file for item in inputs for file in _files(str(item))}):
        status = os.stat(path)
        version = status.st_size, status.st_mtime_ns
        step = float("inf") if path.endswith(".gz") else size
        starts = [0] if path.endswith(".gz") else range(0, status.st_size, size)
        found += [Partition(path, start, start + step, version) for start in starts]
    return found


def _files(item: str) -> list[str]:
    found = [item]
    if os.path.isdir(item):
        found = glob(os.path.join(escape(item), "**"), recursive=True)
    elif not os.path.exists(item):
        found = glob(item, recursive=True)
    files = [os.path.abspath(path) for path in found if os.path.isfile(path)]
    if not files:
        raise BatchError(f"{item}: no such file")
    return files


def _open(path: str) -> IO[bytes]:
    return cast(IO[bytes], gzip.open(path)) if path.endswith(".gz") else open(path, "rb", _BUFFER)
