"""The folder of a run: a file of rows for each partition, and `job.json`.

A file appears when it is complete. Then the counts of its rows appear in the folder `.done`, which
marks the partition as done.
"""

from __future__ import annotations

import json
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from time import perf_counter
from typing import Any, Final
from uuid import uuid4

from jsonrill.jsontext import dumps

from .guard import GuardedReader
from .job import BatchError, Job
from .partition import Partition
from .reader import Reader, Row

# Columns of a Parquet file: facts of the error as they are, and the rest as JSON text.
_FACTS: Final = ("code", "message", "path", "rule")
_JSON: Final = ("value", "updates", "calls", "repairs", "usage")
_ROWS_PER_GROUP: Final = 10_000

_ENCODE: Final = json.JSONEncoder(
    ensure_ascii=False, check_circular=False, allow_nan=False, separators=(",", ":")
).encode


@dataclass(frozen=True)
class Output:
    """The folder that a run writes to, and what it writes."""

    folder: Path
    job: Job
    format: str

    def prepare(self) -> None:
        """Make the folder, and refuse one that has something else."""
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
        """Return the counts of a partition that is done and whose file has not changed."""
        mark, rows = self._mark(partition), self._rows(partition)
        if not (mark.exists() and rows.exists()):
            return None
        content = json.loads(mark.read_text("utf8"))
        is_same = content["version"] == [*partition.version, partition.end]
        return Counter(content["counts"]) if is_same else None

    def write(self, partition: Partition, guarded: bool = False) -> Counter[str]:
        """Write the rows of a partition, and return their counts.

        `guarded` reads the lines in a child process, because one of them may have killed a worker.
        """
        started = perf_counter()
        counts: Counter[str] = Counter()
        reader = GuardedReader(self.job) if guarded else Reader(self.job)
        write = _write_parquet if self.format == "parquet" else _write_jsonl
        with _temporary(self._rows(partition)) as file:
            write(file, _counted(_rows(partition, reader), counts))
        counts["milliseconds"] = round((perf_counter() - started) * 1000)
        mark = {"version": [*partition.version, partition.end], "counts": counts}
        with _temporary(self._mark(partition)) as file:
            file.write_text(json.dumps(mark), "utf8")
        return counts

    def _rows(self, partition: Partition) -> Path:
        return self.folder / f"{partition.name}.{self.format}"

    def _mark(self, partition: Partition) -> Path:
        return self.folder / ".done" / f"{partition.name}.json"


def _rows(partition: Partition, reader: Reader | GuardedReader) -> Iterator[Row]:
    """Yield the rows of a partition, up to the point where its file is damaged."""
    offset = partition.start
    try:
        for offset, line in partition.lines():
            row = reader.read(line)
            if row["id"] is None:
                row["id"] = f"{partition.path}@{offset}"
            yield row
    except (OSError, EOFError, zlib.error) as failure:
        error = {"code": "DAMAGED_FILE", "message": f"the file cannot be read: {failure}"}
        yield {"id": f"{partition.path}@{offset}", "status": "invalid", "error": error}


def _counted(rows: Iterator[Row], counts: Counter[str]) -> Iterator[Row]:
    """Yield the rows and count them: by status, error, repair and token."""
    for row in rows:
        status = row["status"]
        counts["streams"] += 1
        counts[status] += 1
        if status == "invalid":
            counts[f"invalid: {row['error']['code']}"] += 1
        if "repairs" in row:
            counts.update(f"repairs: {repair['rule']}" for repair in row["repairs"])
        for name, count in row["usage"].items() if "usage" in row else ():
            if type(count) is int:
                counts[f"tokens: {name}"] += count
        yield row


@contextmanager
def _temporary(path: Path) -> Iterator[Path]:
    """Return a name for a file that is renamed to `path` when it is written."""
    file = path.with_name(f".{path.name}.{uuid4().hex}.tmp")
    try:
        yield file
        file.replace(path)
    finally:
        file.unlink(missing_ok=True)


def _write_jsonl(path: Path, rows: Iterator[Row]) -> None:
    # A lone surrogate has no UTF-8 form; its backslash form is a JSON escape.
    with path.open("w", encoding="utf8", errors="backslashreplace", newline="\n") as file:
        for row in rows:
            try:
                text = _ENCODE(row)
            except (ValueError, RecursionError):  # infinity, which 1e400 is, or too deep
                text = dumps(row)
            file.write(text + "\n")


def _write_parquet(path: Path, rows: Iterator[Row]) -> None:
    import pyarrow
    from pyarrow.parquet import ParquetWriter

    texts = [(name, pyarrow.string()) for name in ("id", "status", *_FACTS, *_JSON)]
    schema = pyarrow.schema([*texts, ("offset", pyarrow.int64())])
    with ParquetWriter(path, schema) as file:
        while group := [_columns(row) for row in islice(rows, _ROWS_PER_GROUP)]:
            file.write_table(pyarrow.Table.from_pylist(group, schema))


def _columns(row: Row) -> dict[str, Any]:
    error = row.get("error", {})
    columns = {name: error.get(name) for name in (*_FACTS, "offset")}
    columns |= {name: dumps(row[name]) for name in _JSON if name in row}
    id = row["id"]
    return {**columns, "id": id if isinstance(id, str) else dumps(id), "status": row["status"]}
