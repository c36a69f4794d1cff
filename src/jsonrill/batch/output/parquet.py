"""Rows as Parquet: the columns that every job has, and the row itself as JSON text.

A query engine filters by the columns and reads the rest out of `row` with its JSON functions.
"""

from __future__ import annotations

import json
from types import TracebackType
from typing import IO, Any, Final

from ..errors import BatchError

# Rows, and characters of them, that are kept until they are written together.
_MOST: Final = 10_000
_LARGEST: Final = 16 * 2**20


def need_pyarrow() -> Any:
    """pyarrow, or what to do without it."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ModuleNotFoundError as missing:
        raise BatchError("Parquet needs an extra: pip install 'jsonrill[batch]'") from missing
    return pyarrow


class Rows:
    """`write` takes a row as JSON text; they are in the file when the block has ended."""

    def __init__(self, file: IO[bytes]) -> None:
        arrow = need_pyarrow()
        text, whole = arrow.string(), arrow.int64()
        self._schema = arrow.schema(
            [
                ("id", text),
                ("seq", whole),
                ("error_code", text),
                ("error_message", text),
                ("error_offset", whole),
                ("row", text),
            ]
        )
        self._arrow = arrow
        self._writer = arrow.parquet.ParquetWriter(file, self._schema, compression="zstd")
        self._kept: list[tuple[Any, ...]] = []
        self._size = 0

    def write(self, text: str) -> None:
        row = json.loads(text)
        error = row.get("error") or {}
        columns = (row.get("seq"), error.get("code"), error.get("message"), error.get("offset"))
        self._kept.append(
            (_text(str(row["id"])), *columns[:2], _text(columns[2]), columns[3], text)
        )
        self._size += len(text)
        if len(self._kept) >= _MOST or self._size >= _LARGEST:
            self._flush()

    def _flush(self) -> None:
        arrays = [
            self._arrow.array(column, type=kind.type)
            for column, kind in zip(zip(*self._kept, strict=True), self._schema, strict=True)
        ]
        self._writer.write_table(self._arrow.Table.from_arrays(arrays, schema=self._schema))
        self._kept, self._size = [], 0

    def __enter__(self) -> Rows:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        where: TracebackType | None,
    ) -> None:
        if kind is None and self._kept:
            self._flush()
        self._writer.close()


def _text(text: str | None) -> str | None:
    """Half a surrogate pair is no text for Parquet."""
    return None if text is None else text.encode("utf-8", "replace").decode()
