"""Text → a value that grows: the machine with the tree of `rebuilder.py` as its sink."""

from __future__ import annotations

from typing import Any, Final

from ..errors import InvalidJSON, LimitExceeded, Limits
from ..options import Duplicates, ParseFloat, Rules
from ..parse.create import machine
from ..parse.machine import plain_end
from ..parse.sink import Repair
from ..parse.states import PLAIN, READY
from ..paths import Path
from .rebuilder import Growing, Tree

# As in `machine.py`.
_COMPILED: Final = not __file__.endswith(".py")


class Document(Growing):
    """Parser and Rebuilder in one, for those who only want the value.

    Strings are there from their opening quote and only grow; numbers and literals are whole or
    absent. What was good before an error stays in `value`.
    """

    __slots__ = ("_machine",)

    def __init__(
        self,
        *,
        repair: Rules = False,
        many: bool = False,
        duplicates: Duplicates = "last",
        parse_float: ParseFloat = float,
        limits: Limits | None = None,
    ) -> None:
        # What `Growing` does, without the way there: tiny documents are made often.
        self._tree = Tree()
        self.live = None
        self._machine = machine(self._tree, repair, many, duplicates, parse_float, limits)

    def feed(self, data: str | bytes) -> bool:
        """Read one piece of text. Did the value change?"""
        machine, tree = self._machine, self._tree
        # Most pieces of an answer are plain text inside a string. They are told from others as in
        # `Machine.feed`, and added to a member as in `Tree.text`, without calling either.
        if (
            machine._entry == PLAIN
            and type(data) is str
            and (piece := data)
            and (
                plain_end(piece, 0) == len(piece)
                if _COMPILED
                else '"' not in piece and "\\" not in piece and piece.isprintable()
            )
            and (end := machine._offset + len(piece)) <= machine._stop
            and not tree.finished
        ):
            machine._offset = end
            members = tree._members
            if members is None:
                self.live = None  # a string at the root is extended in place, too
                tree.text(piece)
                self.live = tree.root
                return True
            key = tree._key
            text = tree._text
            tree._text = members[key] = ""
            text += piece
            tree._text = members[key] = text
            tree.changed = tree.stale = True
            return True
        tree.changed = False
        if tree.finished:
            tree.finished = None
        self.live = None
        try:
            if machine._entry <= READY and not machine._many and type(data) is str:
                machine._run(data)
            else:
                machine.read(data)
        finally:
            self.live = tree.root
        return tree.changed

    def flush(self) -> bool:
        """The text has ended. Did the value change? `Truncated` if it stopped early."""
        tree = self._tree
        tree.changed = False
        tree.finished = None
        try:
            self._machine.flush()
        finally:
            self.live = tree.root
        return tree.changed

    @property
    def changed(self) -> bool:
        """Did the last `feed` or `flush` change the value? (Also when it raised.)"""
        return self._tree.changed

    @property
    def finished(self) -> list[Any]:
        """With `many`: values that the last `feed` changed and then left for the next document."""
        return self._tree.finished or []

    @property
    def document(self) -> int:
        """With `many`: the number of the document being read, from 0."""
        return self._machine.document

    @property
    def errors(self) -> list[InvalidJSON | LimitExceeded]:
        """With `many`: what ended documents early, in order."""
        return self._machine.errors

    @property
    def repairs(self) -> list[Repair]:
        """With `repair`: what was put right, in order."""
        return self._machine.repairs

    @property
    def pending(self) -> tuple[Path, str] | None:
        """Path and text of the number or literal that is being read, else None."""
        return self._machine.pending
