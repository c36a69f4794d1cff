"""Text → a value that grows: the machine with a `ValueBuilder` as its sink."""

from __future__ import annotations

from typing import Any, Final

from ..errors import InvalidJSON, LimitExceeded, Limits
from ..options import Duplicates, OnRepair, ParseFloat, Rules
from ..parse.create import create_machine
from ..parse.machine import plain_end
from ..parse.sink import Repair
from ..parse.states import PLAIN, READY
from ..paths import Path
from .builder import GrowingValue, ValueBuilder

# As in `machine.py`.
_COMPILED: Final = not __file__.endswith(".py")


class Document(GrowingValue):
    """Parser and Rebuilder in one, for those who only want the value.

    Strings are there from their opening quote and only grow; numbers and literals are complete
    or absent. What was good before an error stays in `value`.
    """

    __slots__ = {"_machine": "", "many": "True if one document may follow another."}

    def __init__(
        self,
        *,
        repair: Rules = False,
        many: bool = False,
        duplicates: Duplicates = "last",
        parse_float: ParseFloat = float,
        limits: Limits | None = None,
        on_repair: OnRepair = None,
        prefix: str = "",
    ) -> None:
        self.many = many
        # What `GrowingValue` does, without the way there: tiny documents are made often.
        self._builder = ValueBuilder()
        self.live = None
        self._machine = create_machine(
            self._builder, repair, many, duplicates, parse_float, limits, on_repair, prefix
        )

    def feed(self, data: str | bytes) -> bool:
        """Read one piece of text; returns whether the value changed."""
        machine, builder = self._machine, self._builder
        # Most pieces of an answer are plain text inside a string. They are told from others as in
        # `Machine.feed`, and added to a member as in `ValueBuilder.text`, without calling either.
        if (
            machine._entry == PLAIN
            and type(data) is str
            and (piece := data)
            and (end := machine._offset + len(piece)) <= machine._stop
            and not builder.finished
            and (
                (
                    (
                        not _COMPILED
                        and machine._plain_at == machine._token
                        and piece.replace(" ", "").isalnum()
                    )
                    or machine._is_plain(piece)
                )
                if machine._wary
                else plain_end(piece, 0) == len(piece)
                if _COMPILED
                else '"' not in piece and "\\" not in piece and piece.isprintable()
            )
        ):
            machine._offset = end
            if machine._wary:
                machine._shown = piece
            members = builder._members
            if members is None:
                self.live = None  # a string at the root is extended in place, too
                builder.text(piece)
                self.live = builder.root
                return True
            key = builder._key
            text = builder._text
            builder._text = members[key] = ""
            text += piece
            builder._text = members[key] = text
            builder.changed = builder.stale = True
            return True
        builder.changed = False
        if builder.finished:
            builder.finished = None
        self.live = None
        try:
            if machine._entry <= READY and not machine._many and type(data) is str:
                machine._run(data)
            else:
                machine.read(data)
        finally:
            self.live = builder.root
        return builder.changed

    def flush(self) -> bool:
        """End the text; returns whether the value changed. `Truncated` if it stopped early."""
        builder = self._builder
        builder.changed = False
        builder.finished = None
        try:
            self._machine.flush()
        finally:
            self.live = builder.root
        return builder.changed

    @property
    def changed(self) -> bool:
        """True if the last `feed` or `flush` changed the value, also when it raised."""
        return self._builder.changed

    @property
    def finished(self) -> list[Any]:
        """With `many`: values that the last `feed` changed and then left for the next document."""
        return self._builder.finished or []

    @property
    def document(self) -> int:
        """With `many`: the number of the document being read, from 0."""
        return self._machine.document

    @property
    def errors(self) -> list[InvalidJSON | LimitExceeded]:
        """With `many`: the errors that ended documents early, in order."""
        return self._machine.errors

    @property
    def repairs(self) -> list[Repair]:
        """With `repair`: the repairs, in order."""
        return self._machine.repairs

    @property
    def pending(self) -> tuple[Path, str] | None:
        """Path and text of the number or literal that is being read, else None."""
        return self._machine.pending
