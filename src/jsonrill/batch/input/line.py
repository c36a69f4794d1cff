"""One line of a log, and where it stands."""

from __future__ import annotations

from typing import NamedTuple

from ..errors import BadRecord


class Line(NamedTuple):
    """One line and where it stands: `number` from 1, `offset` in bytes from 0; `size` in bytes
    with its end. `name` is the id of a stream that has none of its own, the same in every run.
    Where `fault` is, the line could not be read, and `text` is its beginning."""

    text: bytes | str
    number: int
    offset: int | None = None
    size: int = 0
    file: str | None = None
    name: str | None = None
    fault: BadRecord | None = None


def too_long(size: int, max_line: int) -> BadRecord:
    return BadRecord("TOO_LONG", f"{size} bytes in one line, and {max_line} are allowed")
