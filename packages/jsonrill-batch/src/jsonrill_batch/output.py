"""The rows of a partition → a file, which appears when it is complete."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from typing import Any, Final
from uuid import uuid4

from jsonrill.jsontext import dumps

from .job import Job
from .partition import Lines, Partition
from .reader import Row, rows
from .summary import Summary

# Files that are being written; readers of a folder ignore names that begin with a dot.
TEMPORARY: Final = ".*.tmp"
# Columns of a Parquet file: facts of the error as they are, and the rest as JSON text.
_FACTS: Final = ("code", "message", "path", "rule")
_JSON: Final = ("value", "updates", "calls", "repairs", "usage")
_ROWS_PER_GROUP: Final = 10_000

_ENCODE: Final = json.JSONEncoder(
    ensure_ascii=False, check_circular=False, allow_nan=False, separators=(",", ":")
).encode

Write = Callable[[Row], object]


def write_partition(
    partition: Partition,
    job: Job,
    output: str | None,
    deadly: frozenset[int] = frozenset(),
    marker: str | None = None,
) -> Summary:
    """Write the rows of a partition to a file, or without `output` only read them."""
    started = perf_counter()
    summary = Summary()
    lines = Lines(partition, deadly, marker)
    with _writer(output) as write:
        for row in rows(lines, job):
            if row["id"] is None:
                row["id"] = f"{partition.path}@{lines.offset}"
            summary.add(row)
            write(row)
    summary.seconds = perf_counter() - started
    return summary


@contextmanager
def temporary(path: Path) -> Iterator[Path]:
    """Return a name for a file that is renamed to `path` when it is written."""
    file = path.with_name(f".{path.name}.{uuid4().hex}.tmp")
    try:
        yield file
        with file.open("rb") as written:
            os.fsync(written.fileno())
        file.replace(path)
    finally:
        file.unlink(missing_ok=True)


@contextmanager
def _writer(output: str | None) -> Iterator[Write]:
    if output is None:
        yield lambda row: None
        return
    with temporary(Path(output)) as file:
        with _parquet(file) if output.endswith(".parquet") else _jsonl(file) as write:
            yield write


@contextmanager
def _jsonl(path: Path) -> Iterator[Write]:
    # A lone surrogate has no UTF-8 form; its backslash form is a JSON escape.
    with path.open("w", encoding="utf8", errors="backslashreplace", newline="\n") as file:
        write = file.write
        yield lambda row: write(_to_json(row) + "\n")


def _to_json(row: Row) -> str:
    try:
        return _ENCODE(row)
    except (ValueError, RecursionError):  # infinity, which 1e400 is, or too deep
        return dumps(row)


@contextmanager
def _parquet(path: Path) -> Iterator[Write]:
    import pyarrow
    from pyarrow.parquet import ParquetWriter

    texts = [(name, pyarrow.string()) for name in ("id", "status", *_FACTS, *_JSON)]
    schema = pyarrow.schema([*texts, ("offset", pyarrow.int64())])
    group: list[Row] = []
    with ParquetWriter(path, schema) as file:

        def flush() -> None:
            file.write_table(pyarrow.Table.from_pylist(group, schema))
            group.clear()

        def write(row: Row) -> None:
            group.append(_columns(row))
            if len(group) == _ROWS_PER_GROUP:
                flush()

        yield write
        flush()


def _columns(row: Row) -> dict[str, Any]:
    error = row.get("error", {})
    columns = {name: error.get(name) for name in (*_FACTS, "offset")}
    columns |= {name: dumps(row[name]) for name in _JSON if name in row}
    id = row["id"]
    return {**columns, "id": id if isinstance(id, str) else dumps(id), "status": row["status"]}
