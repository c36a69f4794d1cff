"""Event ids: positions in the log of a stream, the same for every reader and every process.

`17` means that everything up to record 17 was delivered. One record may yield several events:
`17.2` is the third of them. After that comes the mark of record 17 in the store, `17-9f86d081`: a
log that has another record there, or had another before it, is not the one that was read. An id is
only ever made from these numbers.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

_ID: Final = re.compile(r"([0-9]{1,15})(?:\.([0-9]{1,9}))?(?:-([0-9a-f]{8}))?")


class Position(NamedTuple):
    """The last record that was delivered; if `sub` is not None, its last event that was."""

    seq: int
    sub: int | None = None
    mark: int | None = None

    @property
    def done(self) -> int:
        """The last record that was delivered completely."""
        return self.seq if self.sub is None else self.seq - 1

    def __str__(self) -> str:
        text = str(self.seq)
        if self.sub is not None:
            text += f".{self.sub}"
        return text if self.mark is None else f"{text}-{self.mark:08x}"

    def is_in(self, last: int, mark: int) -> bool:
        """Return True if a log that ends at `last` with this mark can be the one that was read."""
        return self.seq < last or (self.seq == last and self.mark in (None, mark))


START: Final = Position(0)


def parse(text: str) -> Position:
    """Parse an event id; ValueError if it is not one."""
    match = _ID.fullmatch(text)
    if match is None:
        raise ValueError("an event id is <record> or <record>.<event>")
    seq, sub, mark = match.groups()
    position = Position(
        int(seq), None if sub is None else int(sub), None if mark is None else int(mark, 16)
    )
    if position.done < 0:
        raise ValueError("an event id cannot begin before the first record")
    return position
