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

from jsonrill import JsonrillError

from .errors import BatchError, DamagedFile, WorkerKilled

SIZE: Final = 64 * 2**20
_BUFFER: Final = 2**20


@dataclass(frozen=True)
class Partition:
    """The lines of a file that begin at `start` or later, and before `end`, in bytes.

    `version` is the size and the time of the file, to see whether it was changed.
    """

    path: str
    start: int
    end: int
    version: tuple[int, int]

    @property
    def name(self) -> str:
        """The name of its output, without the suffix; it sorts in the order of the lines."""
        place = zlib.crc32(os.path.dirname(self.path).encode())
        return f"{os.path.basename(self.path)}-{place:08x}-{self.start:015}"

    @property
    def is_compressed(self) -> bool:
        return self.path.endswith(".gz")

    @property
    def size(self) -> int:
        """The size in bytes; of a compressed file, which is one partition, the compressed size."""
        return self.version[0] if self.is_compressed else self.end - self.start


def partitions(inputs: Iterable[str | Path], size: int = SIZE) -> list[Partition]:
    """Return the partitions of files, of the files in folders, and of the matches of patterns."""
    found = []
    for path in sorted({file for item in inputs for file in _files(str(item))}):
        status = os.stat(path)
        version = status.st_size, status.st_mtime_ns
        if path.endswith(".gz"):
            found.append(Partition(path, 0, 2**62, version))
        else:
            starts = range(0, status.st_size, size)
            found += [Partition(path, it, min(it + size, status.st_size), version) for it in starts]
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


class Lines:
    """Iterates the lines of a partition; `offset` is where the last one begins.

    In place of the lines at `deadly` offsets, and where the file is damaged, an error comes. Each
    offset is written to the file `marker` before its line is read, so that it can be found after
    the process died.
    """

    def __init__(
        self, partition: Partition, deadly: frozenset[int] = frozenset(), marker: str | None = None
    ) -> None:
        self._partition = partition
        self._deadly = deadly
        self._marker = marker
        self.offset = partition.start

    def __iter__(self) -> Iterator[bytes | JsonrillError]:
        marker = None if self._marker is None else os.open(self._marker, os.O_CREAT | os.O_WRONLY)
        try:
            for line in self._lines():
                if marker is not None:
                    os.pwrite(marker, b"%020d" % self.offset, 0)
                is_deadly = self.offset in self._deadly
                yield WorkerKilled("each worker that read this line died") if is_deadly else line
        except (OSError, EOFError, zlib.error) as error:
            yield DamagedFile(f"the file cannot be read: {error}")
        finally:
            if marker is not None:
                os.close(marker)

    def _lines(self) -> Iterator[bytes]:
        partition = self._partition
        with _open(partition) as file:
            position = partition.start
            if position:
                # The line that begins in the partition before belongs to it.
                file.seek(position - 1)
                position += len(file.readline()) - 1
            while position < partition.end and (line := file.readline()):
                self.offset = position
                position += len(line)
                yield line


def _open(partition: Partition) -> IO[bytes]:
    if partition.is_compressed:
        return cast(IO[bytes], gzip.open(partition.path))
    return open(partition.path, "rb", _BUFFER)
