"""What is measured of one stream, and how it adds to a summary."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ...parse.sink import Repair
from ..input.record import Stream
from .summary import Spread, Summary


@dataclass(slots=True)
class Tally:
    """What is measured of one stream: pieces and characters so far, and where something came."""

    stream: Stream
    pieces: int = 0
    characters: int = 0
    # The piece, and the characters with it, of the first value and of the last change.
    first: tuple[int, int] | None = None
    last: tuple[int, int] | None = None
    after_error: int = 0
    errors: list[dict[str, Any]] = field(default_factory=list)
    repairs: list[Repair] = field(default_factory=list)

    def piece(self, text: str) -> None:
        """Another piece has come."""
        # The end of a stream may bring text, too: it counts with the last piece.
        self.pieces = min(self.pieces + 1, len(self.stream.pieces))
        self.characters += len(text)
        if self.errors:
            self.after_error += len(text)

    def read(self, texts: list[str], first: int, last: int, until: int) -> None:
        """All at once: what came, the pieces of the first value and the last change, and the one
        at which reading stopped."""
        most = len(self.stream.pieces)
        for name, count in (("first", first), ("last", last)):
            if count:
                setattr(self, name, (min(count, most), sum(map(len, texts[:count]))))
        self.pieces = min(len(texts), most)
        self.characters = sum(map(len, texts))
        if self.errors:
            self.after_error = sum(map(len, texts[until:]))

    def rest(self, texts: Iterator[str]) -> None:
        """What came after an error."""
        for text in texts if self.errors else ():
            self.piece(text)

    def change(self, shows: bool = True) -> None:
        """The last piece changed something, and there is something to show."""
        if shows and self.first is None:
            self.first = self._here()
        self.last = self._here()

    def _here(self) -> tuple[int, int]:
        return self.pieces, self.characters

    def waited(self, place: tuple[int, int]) -> dict[str, float]:
        """How long it took to get there, by each measure that is known."""
        pieces, characters = place
        found: dict[str, float] = {"characters": characters, "pieces": pieces}
        seconds = self.stream.seconds(pieces - 1) if pieces else None
        return found if seconds is None else {**found, "seconds": seconds}

    def count(self, summary: Summary) -> None:
        """Add this stream to the summary."""
        summary.streams += 1
        summary.pieces += self.pieces
        summary.characters += self.characters
        summary.after_error += self.after_error
        summary.ok += not self.errors
        for code in {error["code"] for error in self.errors}:
            summary.errors[code] = summary.errors.get(code, 0) + 1
        for repair in self.repairs:
            summary.repairs[repair.rule] = summary.repairs.get(repair.rule, 0) + 1
        for place, spreads in ((self.first, summary.first), (self.last, summary.last)):
            for unit, measure in self.waited(place).items() if place else ():
                spreads.setdefault(unit, Spread()).add(measure)
