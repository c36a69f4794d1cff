"""The string or number that is open at the very end of the written text.

Only what goes on as it was written can be added; what may still be rewritten is held back until
it is settled or the value closes.
"""

from __future__ import annotations

from ..paths import ABSENT
from .compare import waits
from .snapshot import Tree
from .text import escaped, settled


class Leaf:
    """An open scalar: `written` is its part in the text, `seen` all of it in the last snapshot.

    A string is a `str` here and a number is `bytes`.
    """

    __slots__ = ("_still", "frozen", "seen", "written")

    def __init__(self, empty: str | bytes) -> None:
        self.seen: Tree = empty
        self.written: Tree = empty
        self.frozen = False
        self._still = 0  # for how many snapshots in a row a value with more than is written is so

    def fits(self, value: Tree) -> bool:
        """True if the value goes on from what is written."""
        return type(value) is type(self.written) and value.startswith(self.written)

    def freeze(self) -> None:
        """Keep what is written, whatever later snapshots show."""
        self.frozen = True

    def grow(self, value: Tree) -> str | None:
        """Write as much as is certain; None if the value does not go on from what is written."""
        raise NotImplementedError

    def stay(self, patience: int) -> str:
        """The source has left the value as it is for another one: what was held back is certain."""
        self._still += 1
        return self._rest(self.seen) if self._still >= patience else ""

    def finish(self, value: Tree) -> str:
        """Write the rest and close; nothing more when the snapshot does not have it."""
        return "" if value is ABSENT else self._rest(value)

    def _rest(self, value: Tree) -> str:
        """All of the value that is not written."""
        raise NotImplementedError


class String(Leaf):
    """An open string."""

    __slots__ = ()

    def grow(self, value: Tree) -> str | None:
        if type(value) is not str or not value.startswith(self.written):
            return None
        new = value[len(self.written) :]
        if new[-1:] < "\ud800":  # what may be half a character lies above
            self.seen = self.written = value
            return escaped(new)
        if value != self.seen:
            self.seen, self._still = value, 0
        end = settled(new)
        self.written = value[: len(value) - len(new) + end]
        return escaped(new[:end])

    def finish(self, value: Tree) -> str:
        return Leaf.finish(self, value) + '"'

    def _rest(self, value: Tree) -> str:
        new = value[len(self.written) :]
        self.seen = self.written = value
        return escaped(new) if new else ""


class Number(Leaf):
    """An open number: digits may come as long as nothing was written after it."""

    __slots__ = ()

    def grow(self, value: Tree) -> str | None:
        if not self.fits(value):
            return None
        if not waits(value):
            return self._rest(value)
        if value != self.seen:
            self.seen, self._still = value, 0
        return ""

    def _rest(self, value: Tree) -> str:
        new = value[len(self.written) :]
        self.seen = self.written = value
        return str(new, "ascii")
