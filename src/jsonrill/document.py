"""Text → a value that grows: the machine of `parser.py` with the tree of `rebuilder.py` as sink."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from .parser import Limits, Machine
from .paths import Path
from .rebuilder import Growing


class Document(Growing):
    """Parser and Rebuilder in one, for those who only want the value.

    Strings are there from their opening quote and only grow; numbers and literals are whole or
    absent. What was good before an error stays in `value`.
    """

    __slots__ = ("_machine",)

    def __init__(
        self,
        *,
        duplicates: Literal["last", "error"] = "last",
        parse_float: Callable[[str], Any] = float,
        limits: Limits | None = None,
    ) -> None:
        super().__init__()
        self._machine = Machine(
            self._tree, duplicates=duplicates, parse_float=parse_float, limits=limits
        )

    def feed(self, data: str | bytes) -> bool:
        """Read one piece of text. Did the value change?"""
        tree = self._tree
        tree.changed = False
        try:
            self._machine.feed(data)
        finally:
            if tree.changed:
                tree.stale = True
        return tree.changed

    @property
    def changed(self) -> bool:
        """Did the last `feed` or `flush` change the value? (Also when it raised.)"""
        return self._tree.changed

    def flush(self) -> bool:
        """The text has ended. Did the value change? `Truncated` if it stopped early."""
        tree = self._tree
        tree.changed = False
        self._machine.flush()
        if tree.changed:
            tree.stale = True
        return tree.changed

    @property
    def pending(self) -> tuple[Path, str] | None:
        """Path and text of the number or literal that is being read, else None."""
        return self._machine.pending
