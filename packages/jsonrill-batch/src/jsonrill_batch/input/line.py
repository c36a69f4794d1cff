"""One line of a log with its position."""

from __future__ import annotations

from typing import NamedTuple

from ..errors import BadRecord


class Line(NamedTuple):
    """One line with its position: `number` counts from 1, `offset` is in bytes, `size` includes
    the line end. `name` is the id of a stream without an id, the same in every run. With a
    `fault` the line could not be read, and `text` is the start of it."""

    text: bytes | str
    number: int
    offset: int | None = None
    size: int = 0
    file: str | None = None
    name: str | None = None
    fault: BadRecord | None = None

    @property
    def label(self) -> str:
        """The id of a stream without one."""
        return self.name or f"line {self.number}"


def too_long(size: int, max_line: int) -> BadRecord:
    return BadRecord("TOO_LONG", f"the line has {size} bytes; at most {max_line} are allowed")
