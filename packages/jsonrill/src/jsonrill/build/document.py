"""Text → a value that grows: the machine with a `ValueBuilder` as its sink."""

from __future__ import annotations

from typing import Any, Final, Unpack

from ..errors import CutShort, InvalidJSON, LimitExceeded
from ..options import ParseOptions
from ..parse.characters import plain_end
from ..parse.create import create_machine
from ..parse.sink import BRIEF, Repair
from ..parse.states import PLAIN, READY
from ..paths import Path
from .builder import LIVE, GrowingValue, ValueBuilder

# As in `machine.py`.
_COMPILED: Final = not __file__.endswith(".py")
_CHANGES: Final[Any] = object()


class GrowingDocument(GrowingValue):
    """All of a `Document` but its attribute `live`.

    Of a class that is compiled an attribute is read by a call; of one that is not it is a slot,
    which Python reads in a third of the time. So the class that people use is a Python class.
    """

    __slots__ = {
        "_machine": "",
        "_root": "",
        "live": "",
        "many": "True if one document may follow another.",
    }

    def __init__(self, **options: Unpack[ParseOptions]) -> None:
        self.many = options.get("many", False)
        # What `GrowingValue` does, without the way there: tiny documents are made often.
        self._builder = ValueBuilder()
        self.live: Any = None
        # The root as `live` has it; `_CHANGES` if it is no container, and may be another next time.
        self._root: Any = None
        self._machine = create_machine(self._builder, options)

    def feed(self, data: str | bytes) -> bool:
        """Read one piece of text; returns whether the value changed."""
        machine, builder = self._machine, self._builder
        # Most pieces of an answer are plain text inside a string. They are told from others as in
        # `Machine.feed`, and added to a member as in `ValueBuilder.text`, without calling either.
        if (
            machine._entry == PLAIN
            and type(data) is str
            and (piece := data)
            and (end := machine._offset + (size := len(piece))) <= machine._stop
            and (
                plain_end(piece, 0) == size
                if _COMPILED
                else '"' not in piece and "\\" not in piece and piece.isprintable()
            )
        ):
            machine._offset = end
            if builder._members is None:
                self.live = None  # a string at the root is extended in place, too
                builder.text(piece)
                self.live = builder.root
                return True
            text = builder._text
            if _COMPILED and len(text) <= BRIEF:
                text = text + piece
            else:
                builder._text = builder._members[builder._key] = ""
                text += piece
            builder._text = builder._members[builder._key] = text
            builder.changed = builder.stale = True
            return True
        builder.changed = False
        builder.finished = None
        if self._root is _CHANGES:
            self.live = None  # a string has no other owner while it is extended
        try:
            machine.feed(data)
            if builder.finished and machine._entry == PLAIN:
                machine._entry = READY  # so that the next piece comes here, and forgets them
        finally:
            if builder.root is not self._root:
                self._show()
        return builder.changed

    def flush(self, cut: CutShort | None = None) -> bool:
        """End the text; returns whether the value changed. `Truncated` if it stopped early.

        With `cut` the answer goes on behind the text, as the provider says: nothing is repaired.
        """
        builder = self._builder
        builder.changed = False
        builder.finished = None
        try:
            self._machine.flush(cut)
        finally:
            self._show()
        return builder.changed

    def _show(self) -> None:
        """Let `live` be the root."""
        root = self.live = self._builder.root
        self._root = root if type(root) is dict or type(root) is list else _CHANGES

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


class Document(GrowingDocument):
    """Parser and Rebuilder in one, for those who only want the value.

    Strings are there from their opening quote and only grow; numbers and literals are complete
    or absent. What was good before an error stays in `value`.
    """

    __slots__ = {"live": LIVE}
