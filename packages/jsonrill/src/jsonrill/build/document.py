"""Text → a value that grows: a machine with a `ValueBuilder` as its sink."""

from __future__ import annotations

from typing import Unpack

from ..errors import CutShort
from ..parse.create import ParseOptions, create_machine
from ..parse.sink import Repair
from ..paths import Path
from .builder import GrowingValue, ValueBuilder


class Document(GrowingValue):
    """Parser and Rebuilder in one, for those who only want the value.

    Strings are there from their opening quote and only grow; numbers and literals are complete
    or absent. What was good before an error stays in `value`.
    """

    __slots__ = ("_machine",)

    def __init__(self, **options: Unpack[ParseOptions]) -> None:
        self._builder = ValueBuilder()
        self._machine = create_machine(self._builder, options)

    def feed(self, data: str | bytes) -> bool:
        """Read one piece of text; return whether the value changed."""
        self._builder.changed = False
        self._machine.feed(data)
        return self._builder.changed

    def flush(self, cut: CutShort | None = None) -> bool:
        """End the text; return whether the value changed. `Truncated` if it stopped early.

        With `cut`, the provider says that the answer stopped early: nothing is completed.
        """
        self._builder.changed = False
        self._machine.flush(cut)
        return self._builder.changed

    @property
    def changed(self) -> bool:
        """True if the last `feed` or `flush` changed the value, also when it raised."""
        return self._builder.changed

    @property
    def repairs(self) -> list[Repair]:
        """With `repair`: the repairs, in order."""
        return self._machine.repairs

    @property
    def pending(self) -> tuple[Path, str] | None:
        """Path and text of the number or literal that is being read, else None."""
        text = self._machine.pending_text
        return None if text is None else (self._machine.path, text)
