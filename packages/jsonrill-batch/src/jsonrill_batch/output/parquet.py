"""Writes rows as Parquet: columns to filter and to group by, and the row itself as JSON text.

All parts of a run have the same columns, so that `pandas.read_parquet(folder)` and DuckDB read the
folder as one table. A query engine reads the rest out of `row` with its JSON functions. What a row
has is decided in `operations.py`; `columns_of` says which of it is a column.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO, Any, Final

from ..errors import BatchError

# Rows are written together once there are this many, or this many characters of them.
_MOST: Final = 10_000
_LARGEST: Final = 16 * 2**20

# The columns of every job: of the stream, and of its first error.
_STREAM: Final = {"id": "string", "ok": "bool_"}
_ERROR: Final = {
    "code": "string",
    "message": "string",
    "path": "string",
    "rule": "string",
    "offset": "int64",
    "line": "int64",
    "column": "int64",
}
# Sizes, and how long the first value and the last change took.
_SIZES: Final = {"characters": "int64", "pieces": "int64"}
_WAITS: Final = {
    f"{name}_{unit}": kind
    for name in ("first", "last")
    for unit, kind in (*_SIZES.items(), ("seconds", "float64"))
}


def columns_of(kind: str) -> dict[str, str]:
    """The columns of a job, with the names of their Arrow types."""
    columns = {**_STREAM}
    if kind in ("updates", "fragments"):
        columns["seq"] = "int64"
    columns |= _ERROR
    if kind == "check":
        columns |= {**_SIZES, **_WAITS}
    return {**columns, "row": "string"}


def need_pyarrow() -> Any:
    """The pyarrow module; `BatchError` says how to install it."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ModuleNotFoundError as missing:
        raise BatchError("Parquet needs an extra: pip install 'jsonrill[batch]'") from missing
    return pyarrow


@contextmanager
def parquet_rows(file: IO[bytes], kind: str) -> Iterator[Callable[[str], None]]:
    """A function that writes a row of JSON text; the file is complete when the block ends."""
    arrow = need_pyarrow()
    wanted = columns_of(kind)
    schema = arrow.schema([(name, getattr(arrow, type_)()) for name, type_ in wanted.items()])
    kept: list[dict[str, Any]] = []
    size = 0

    def write(text: str) -> None:
        nonlocal size
        kept.append(_columns(json.loads(text), wanted, text))
        size += len(text)
        if len(kept) >= _MOST or size >= _LARGEST:
            flush()

    def flush() -> None:
        nonlocal size
        writer.write_table(arrow.Table.from_pylist(kept, schema=schema))
        kept.clear()
        size = 0

    with arrow.parquet.ParquetWriter(file, schema, compression="zstd") as writer:
        yield write
        flush()


def _columns(row: dict[str, Any], wanted: dict[str, str], text: str) -> dict[str, Any]:
    """The columns of a row. Its error is its own, or that of the first call that has one."""
    errors = [row.get("error"), *(call.get("error") for call in row.get("calls", ()))]
    error: dict[str, Any] = next((one for one in errors if one), {})
    values = {**error, "id": str(row["id"]), "ok": not error, "seq": row.get("seq"), "row": text}
    if "characters" in wanted:
        values |= {name: row.get(name) for name in _SIZES}
        for name in ("first", "last"):
            values |= {f"{name}_{unit}": value for unit, value in row.get(name, {}).items()}
    return {
        name: _text(value) if isinstance(value, str) else value
        for name, value in values.items()
        if name in wanted
    }


def _text(text: str) -> str:
    """The text without lone surrogates, which Parquet refuses."""
    return text.encode("utf-8", "replace").decode()
