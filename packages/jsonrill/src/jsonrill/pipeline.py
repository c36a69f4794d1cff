"""The contract of stages, and two stages in a row. No I/O: `driver.py` runs a stage over a source.

A stage has `feed(x)` and `flush(cut)`, which return items. A stage that fails returns the items
before the failure and keeps the exception in `error`; the driver yields the items and raises the
exception. The readers of a source (`EventReader`, `TextReader`) are stages, too; `Pipe` connects
one to the next stage.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from .errors import CutShort

if TYPE_CHECKING:
    from .sources.opening import Opened


class Stage:
    """Turns pieces of input into items. The base class returns each piece as it is.

    `ended`: it needs no more input. `failed`: because of an error. `error`: the exception to raise
    after its last items. `cut`: how the provider cut the answer, known after `flush`. `passes`: it
    returns all further pieces unchanged. `rest`: the stage to feed in its place from now on.
    """

    error: Exception | None = None
    ended = passes = failed = False
    cut: CutShort | None = None
    rest: Stage | None = None

    def open(self, source: Opened) -> None:
        """Read the facts about the source that are known before its first element."""

    def feed(self, piece: Any) -> Iterable[Any]:
        return (piece,)

    def flush(self, cut: CutShort | None = None) -> Iterable[Any]:
        """End the input; `cut` says how the provider cut the answer."""
        return ()

    def fail(self, error: Exception) -> None:
        self.error, self.ended, self.failed = error, True, True

    def rescue(self, error: Exception) -> Iterable[Any]:
        """Return the last items after an exception of the source or a stage, or raise it again."""
        raise error


class Pipe(Stage):
    """Feeds the items of one stage to the next one."""

    def __init__(self, first: Stage, second: Stage) -> None:
        self._first, self._second = first, second

    def open(self, source: Opened) -> None:
        self._first.open(source)

    def feed(self, piece: Any) -> Iterable[Any]:
        return self._pass(self._first.feed(piece))

    def flush(self, cut: CutShort | None = None) -> Iterable[Any]:
        return self._pass(self._first.flush(cut), is_last=True)

    def rescue(self, error: Exception) -> Iterable[Any]:
        return self._second.rescue(error)

    @property
    def error(self) -> Exception | None:  # type: ignore[override]
        return self._second.error

    @property
    def cut(self) -> CutShort | None:  # type: ignore[override]
        return self._second.cut

    def _pass(self, pieces: Iterable[Any], is_last: bool = False) -> Iterable[Any]:
        self._first = self._first.rest or self._first
        first, second = self._first, self._second
        for piece in pieces:
            yield from second.feed(piece)
            if second.ended:
                break
        else:
            if is_last or first.ended:
                yield from second.flush(first.cut)
        self.ended = first.ended or second.ended
        self.rest = second if first.passes else None
