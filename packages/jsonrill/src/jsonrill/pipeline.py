"""The contract of stages, and two stages in a row. No I/O: `driver.py` runs a stage over a source.

A stage has `feed(x)` and `flush(cut)`, which return items. A stage that fails returns what it had,
with the exception in `error`; the driver yields the items and raises it. What reads the elements of
a source (`EventReader`, `TextReader`) is a stage, too, and `Pipe` puts it before another one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final

from .errors import CutShort, InvalidJSON, InvalidSchema, LimitExceeded

if TYPE_CHECKING:
    from .sources.opening import Opened

# What reading a text may raise.
BAD_TEXT: Final = (InvalidJSON, InvalidSchema, LimitExceeded)


class Stage:
    """Turns what it is fed into items. This one passes it on.

    `ended`: it needs no more. `error`: what ended it, to raise after its last items. `cut`: of a
    stage that reads a provider's events, how the answer was cut, once it is flushed.
    """

    error: Exception | None = None
    ended = False
    cut: CutShort | None = None

    def open(self, source: Opened) -> None:
        """Take what is known about the source before its first element."""

    def feed(self, piece: Any) -> Iterable[Any]:
        return (piece,)

    def flush(self, cut: CutShort | None = None) -> Iterable[Any]:
        """End the input; `cut` says how the provider cut the answer."""
        return ()

    def fail(self, error: Exception) -> None:
        self.error, self.ended = error, True

    def explain(self, error: Exception) -> Exception:
        """Return an error of a later stage with a better message."""
        return error

    def rescue(self, error: Exception) -> Iterable[Any]:
        """Return the last items after an exception of the source or of a stage, or raise it."""
        raise error


class Reading(Stage):
    """A stage around an object whose `feed` and `flush` read text and may raise.

    Subclasses make items of what these return; after an error that is None.
    """

    def __init__(self, reader: Any) -> None:
        self._reader = reader

    def feed(self, piece: Any) -> Sequence[Any]:
        try:
            found = self._reader.feed(piece)
        except BAD_TEXT as error:
            self.fail(error)
            found = None
        return self._items(found)

    def flush(self, cut: CutShort | None = None) -> Sequence[Any]:
        try:
            found = self._reader.flush(cut)
        except BAD_TEXT as error:
            self.fail(error)
            found = None
        return self._items(found)

    def _items(self, found: Any) -> Sequence[Any]:
        raise NotImplementedError


class Pipe(Stage):
    """Feeds what one stage returns to the next one."""

    def __init__(self, first: Stage, second: Stage) -> None:
        self._first, self._second = first, second

    def open(self, source: Opened) -> None:
        self._first.open(source)

    @property
    def ended(self) -> bool:  # type: ignore[override]
        return self._first.ended or self._second.ended

    @property
    def error(self) -> Exception | None:  # type: ignore[override]
        return self._second.error

    def feed(self, piece: Any) -> Iterable[Any]:
        pieces = self._first.feed(piece)
        if type(pieces) is tuple and len(pieces) == 1 and not self._first.ended:
            # One piece of text, as most sources yield: `values` takes a tenth less time.
            return self._second.feed(pieces[0])
        return self._pass(pieces)

    def flush(self, cut: CutShort | None = None) -> Iterable[Any]:
        return self._pass(self._first.flush(cut), is_last=True)

    def rescue(self, error: Exception) -> Iterable[Any]:
        return self._second.rescue(self._first.explain(error))

    def _pass(self, pieces: Iterable[Any], is_last: bool = False) -> Iterable[Any]:
        first, second = self._first, self._second
        for piece in pieces:
            yield from second.feed(piece)
            if second.ended:
                break
        else:
            if is_last or first.ended:
                yield from second.flush(first.cut)
