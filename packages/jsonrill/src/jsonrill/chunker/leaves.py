"""The string or number that is open at the very end of the written text, and the text of values.

Only what goes on as it was written can be added; what may still be rewritten is held back until
it is settled or the value closes. Text is compact, numbers are written as they came.
"""

from __future__ import annotations

from typing import Final

from ..jsontext import quoted, write
from ..paths import ABSENT
from .snapshot import Tree

_LITERALS: Final = {True: "true", False: "false", None: "null"}
_SMALL_E: Final = ord("e")
_LARGE_E: Final = ord("E")


def escaped(text: str) -> str:
    """`text`, escaped for a JSON string, without its quotes."""
    return quoted(text)[1:-1]


def whole(tree: Tree) -> str:
    """A complete value as JSON text."""
    if type(tree) is str:
        return quoted(tree)
    return write(tree, _scalar) if type(tree) is dict or type(tree) is list else _scalar(tree)


def _scalar(value: Tree) -> str:
    return str(value, "ascii") if type(value) is bytes else _LITERALS[value]


def waits(tree: Tree) -> bool:
    """True for a number that may be rewritten rather than extended.

    Sources show 3.0 before 30.34, 0 before -0.5, and change the exponent as digits come.
    """
    # Numbers in bytes, because Python looks for bytes in bytes by way of an exception.
    return type(tree) is bytes and (
        tree[-2:] == b".0" or tree == b"0" or tree == b"-0" or _SMALL_E in tree or _LARGE_E in tree
    )


def settled(text: str) -> int:
    """How much of a growing string will not change: all but a tail that stands for half a
    character (a replacement character, a lone surrogate)."""
    end = len(text)
    while end and (text[end - 1] == "\ufffd" or "\ud800" <= text[end - 1] <= "\udfff"):
        end -= 1
    return end


class Leaf:
    """An open scalar: `written` is its part in the text, `seen` all of it in the last snapshot.

    A string is a `str` here and a number is `bytes`.
    """

    __slots__ = ("frozen", "seen", "written")

    def __init__(self, empty: str | bytes) -> None:
        self.seen: Tree = empty
        self.written: Tree = empty
        self.frozen = False

    def fits(self, value: Tree) -> bool:
        """True if the value goes on from what is written."""
        return type(value) is type(self.written) and value.startswith(self.written)

    def freeze(self) -> None:
        """Keep what is written, whatever later snapshots show."""
        self.frozen = True

    def grow(self, value: Tree) -> str | None:
        """Write as much as is certain; None if the value does not go on from what is written."""
        raise NotImplementedError

    def stay(self) -> str:
        """The source has left the value as it is for another one: what was held back is certain."""
        return self._rest(self.seen)

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
        self.seen = value
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
        self.seen = value
        return ""

    def _rest(self, value: Tree) -> str:
        new = value[len(self.written) :]
        self.seen = self.written = value
        return str(new, "ascii")
