"""JSON text of a tree: compact, numbers as they came."""

from __future__ import annotations

from typing import Final

from ..jsontext import quoted, write
from .snapshot import Tree

_LITERALS: Final = {True: "true", False: "false", None: "null"}


def escaped(text: str) -> str:
    """`text`, escaped for a JSON string, without its quotes."""
    return quoted(text)[1:-1]


def whole(tree: Tree) -> str:
    """A complete value as JSON text."""
    return quoted(tree) if type(tree) is str else write(tree, _scalar)


def _scalar(value: Tree) -> str:
    return str(value, "ascii") if type(value) is bytes else _LITERALS[value]


def settled(text: str) -> int:
    """How much of a growing string will not change: all but a tail that stands for half a
    character (a replacement character, a lone surrogate)."""
    end = len(text)
    while end and (text[end - 1] == "\ufffd" or "\ud800" <= text[end - 1] <= "\udfff"):
        end -= 1
    return end
