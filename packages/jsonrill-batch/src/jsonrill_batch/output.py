"""The folder of a run: a file of rows for each partition of the inputs, and `job.json`.

A file appears when it is complete. Then the counts of its rows appear in the folder `.done`, which
marks the partition as done.
"""

from __future__ import annotations

import gzip
import json
import os
import sys
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from glob import escape, glob
from itertools import islice
from pathlib import Path
from time import perf_counter
from typing import Any, Final
from uuid import uuid4

from jsonrill.jsontext import dumps

from .reader import Job, Reader, Row

ReadLine = Callable[[bytes], Row]

# The size of a partition, in bytes.
SIZE: Final = 64 * 2**20
# Columns of a Parquet file: fields of the error as they are, and the rest as JSON text.
_ERROR_FIELDS: Final = ("code", "message", "path", "rule")
_JSON: Final = ("value", "updates", "calls", "repairs", "usage")
_ROWS_PER_GROUP: Final = 10_000


class BatchError(Exception):
    """The run cannot start or cannot be finished."""


@dataclass(frozen=True)
class Partition:
    """The lines of a file that begin at `start` or later, and before `end`, in bytes.

    A compressed file is one partition. `version` is the file's size and modification time, to
    detect changes.
    """

    path: str
    start: int
    end: int
    version: tuple[int, int]

    @property
    def name(self) -> str:
        """The name of the output file without its suffix. Names sort in the order of the lines."""
        folder = zlib.crc32(os.path.dirname(self.path).encode())
        return f"{os.path.basename(self.path)}-{folder:08x}-{self.start:015}"

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """Yield the lines that are not blank, each with its offset."""
        opened: Any = gzip.open if self.path.endswith(".gz") else open
        with opened(self.path, "rb") as file:
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
    result = []
    for path in sorted({file for item in inputs for file in _files(str(item))}):
        status = os.stat(path)
        version = status.st_size, status.st_mtime_ns
        step = sys.maxsize if path.endswith(".gz") else size
        for start in range(0, status.st_size, step):
            result.append(Partition(path, start, start + step, version))
    return result


def _files(item: str) -> list[str]:
    pattern = os.path.join(escape(item), "**") if os.path.exists(item) else item
    paths = [item] if os.path.isfile(item) else glob(pattern, recursive=True)
    files = [os.path.abspath(path) for path in paths if os.path.isfile(path)]
    if not files:
        raise BatchError(f"{item}: no such file")
    return files


@dataclass(frozen=True)
class Output:
    """The folder that a run writes to, and what it writes."""

    folder: Path
    job: Job
    format: str

    def prepare(self) -> None:
        """Make the folder; refuse one that has other contents."""
        (self.folder / ".done").mkdir(parents=True, exist_ok=True)
        self.remove_temporary()
        job = json.dumps({"job": asdict(self.job), "format": self.format})
        file = self.folder / "job.json"
        if not file.exists():
            if any(path.name != ".done" for path in self.folder.iterdir()):
                raise BatchError(f"{self.folder} is not empty and not the output of a batch")
            with _temporary(file) as new:
                new.write_text(job, "utf8")
        elif file.read_text("utf8") != job:
            raise BatchError(f"{self.folder} has rows of another job: choose another folder")

    def remove_temporary(self) -> None:
        """Remove what dead workers left."""
        for file in self.folder.rglob(".*.tmp"):
            file.unlink(missing_ok=True)

    def counts(self, partition: Partition) -> Counter[str] | None:
        """Return the counts of a partition if it is done and its file has not changed."""
        mark, rows = self._mark_file(partition), self._rows_file(partition)
        if not (mark.exists() and rows.exists()):
            return None
        content = json.loads(mark.read_text("utf8"))
        is_same = content["version"] == [*partition.version, partition.end]
        return Counter(content["counts"]) if is_same else None

    def write(self, partition: Partition, read: ReadLine | None = None) -> Counter[str]:
        """Write the rows of a partition, and return their counts."""
        started = perf_counter()
        counts: Counter[str] = Counter()
        rows = _read_rows(partition, read or Reader(self.job).read)
        write = _write_parquet if self.format == "parquet" else _write_jsonl
        with _temporary(self._rows_file(partition)) as file:
            write(file, _count(rows, counts))
        counts["milliseconds"] = round((perf_counter() - started) * 1000)
        mark = {"version": [*partition.version, partition.end], "counts": counts}
        with _temporary(self._mark_file(partition)) as file:
            file.write_text(json.dumps(mark), "utf8")
        return counts

    def _rows_file(self, partition: Partition) -> Path:
        return self.folder / f"{partition.name}.{self.format}"

    def _mark_file(self, partition: Partition) -> Path:
        return self.folder / ".done" / f"{partition.name}.json"


def _read_rows(partition: Partition, read: ReadLine) -> Iterator[Row]:
    """Yield the rows of a partition, up to the point where its file is damaged."""
    offset = partition.start
    try:
        for offset, line in partition.lines():
            row = read(line)
            if row["id"] is None:
                row["id"] = f"{partition.path}@{offset}"
            yield row
    except (OSError, EOFError, zlib.error) as failure:
        error = {"code": "DAMAGED_FILE", "message": f"the file cannot be read: {failure}"}
        yield {"id": f"{partition.path}@{offset}", "status": "invalid", "error": error}


def _count(rows: Iterator[Row], counts: Counter[str]) -> Iterator[Row]:
    """Yield the rows and count them: by status, error, repair and token."""
    for row in rows:
        status = row["status"]
        counts["streams"] += 1
        counts[status] += 1
        if status == "invalid":
            counts[f"invalid: {row['error']['code']}"] += 1
        counts.update(f"repairs: {repair['rule']}" for repair in row.get("repairs", ()))
        for name, count in row.get("usage", {}).items():
            if type(count) is int:
                counts[f"tokens: {name}"] += count
        yield row


@contextmanager
def _temporary(path: Path) -> Iterator[Path]:
    """Yield the name of a temporary file, which is renamed to `path` once it is written."""
    file = path.with_name(f".{path.name}.{uuid4().hex}.tmp")
    try:
        yield file
        file.replace(path)
    finally:
        file.unlink(missing_ok=True)


def _write_jsonl(path: Path, rows: Iterator[Row]) -> None:
    with path.open("w", encoding="utf8", newline="\n") as file:
        file.writelines(f"{dumps(row)}\n" for row in rows)


def _write_parquet(path: Path, rows: Iterator[Row]) -> None:
    import pyarrow
    from pyarrow.parquet import ParquetWriter

    texts = [(name, pyarrow.string()) for name in ("id", "status", *_ERROR_FIELDS, *_JSON)]
    schema = pyarrow.schema([*texts, ("offset", pyarrow.int64())])
    with ParquetWriter(path, schema) as file:
        while group := [_columns(row) for row in islice(rows, _ROWS_PER_GROUP)]:
            file.write_table(pyarrow.Table.from_pylist(group, schema))


def _columns(row: Row) -> dict[str, Any]:
    """Return the columns of a row; other keys are not written."""
    texts = {name: dumps(row[name]) for name in _JSON if name in row}
    id = row["id"] if isinstance(row["id"], str) else dumps(row["id"])
    return {**row, **row.get("error", {}), **texts, "id": id}
