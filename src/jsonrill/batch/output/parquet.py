"""Writes rows as Parquet: the columns that every job has, and the row itself as JSON text.

A query engine filters by the columns and reads the rest out of `row` with its JSON functions.
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


def need_pyarrow() -> Any:
    """The pyarrow module; `BatchError` says how to install it."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ModuleNotFoundError as missing:
        raise BatchError("Parquet needs an extra: pip install 'jsonrill[batch]'") from missing
    return pyarrow


@contextmanager
def parquet_rows(file: IO[bytes]) -> Iterator[Callable[[str], None]]:
    """A function that writes a row of JSON text; the file is complete when the block ends."""
    arrow = need_pyarrow()
    schema = arrow.schema(
        [
            ("id", arrow.string()),
            ("seq", arrow.int64()),
            ("error_code", arrow.string()),
            ("error_message", arrow.string()),
            ("error_offset", arrow.int64()),
            ("row", arrow.string()),
        ]
    )
    kept: list[dict[str, Any]] = []
    size = 0

    def write(text: str) -> None:
        nonlocal size
        row = json.loads(text)
        columns = {"id": _text(str(row["id"])), "seq": row.get("seq"), "row": text}
        for name, value in (row.get("error") or {}).items():
            columns[f"error_{name}"] = _text(value) if isinstance(value, str) else value
        kept.append(columns)
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


def _text(text: str) -> str:
    """The text without lone surrogates, which Parquet refuses."""
    return text.encode("utf-8", "replace").decode()
