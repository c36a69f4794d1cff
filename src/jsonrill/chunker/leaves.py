"""The string or number that is open at the very end of the written text.

Only what goes on as it was written can be added; what may still be rewritten is held back until
it is settled or the value closes.
"""

from __future__ import annotations

from ..paths import ABSENT
from .compare import waits
from .snapshot import Tree
from .text import escaped, settled


class String:
    """An open string: `written` is the part that was, `seen` the whole as last shown."""

    __slots__ = ("frozen", "seen", "written")

    def __init__(self) -> None:
        self.seen = self.written = ""
        self.frozen = False

    def fits(self, value: Tree) -> bool:
        return type(value) is str and value.startswith(self.written)

    def freeze(self) -> None:
        self.frozen = True

    def grow(self, value: Tree) -> str | None:
        """Write on as far as the string is settled; None if it does not go on as written."""
        if type(value) is not str or not value.startswith(self.written):
            return None
        new = value[len(self.written) :]
        self.seen = self.written = value
        if new[-1:] < "\ud800":  # what may be half a character lies above
            return escaped(new)
        end = settled(new)
        self.written = value[: len(value) - len(new) + end]
        return escaped(new[:end])

    def finish(self, value: Tree) -> str:
        """Write all of it and close; nothing more when the snapshot does not have it."""
        if value is ABSENT:
            return '"'
        new = value[len(self.written) :]
        self.seen = self.written = value
        return escaped(new) + '"' if new else '"'


class Number:
    """An open number: digits may come as long as nothing was written after it."""

    __slots__ = ("frozen", "seen", "written")

    def __init__(self) -> None:
        self.seen: Tree = b""
        self.written: Tree = b""
        self.frozen = False

    def fits(self, value: Tree) -> bool:
        return type(value) is bytes and value[: len(self.written)] == self.written

    def freeze(self) -> None:
        self.frozen = True

    def grow(self, value: Tree) -> str | None:
        if not self.fits(value):
            return None
        self.seen = value
        return "" if waits(value) else self.finish(value)

    def finish(self, value: Tree) -> str:
        if value is ABSENT:
            return ""
        new = value[len(self.written) :]
        self.seen = self.written = value
        return str(new, "ascii")


Leaf = String | Number
