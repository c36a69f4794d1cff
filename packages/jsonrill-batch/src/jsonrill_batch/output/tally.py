"""Measures one stream, and adds it to a summary."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from jsonrill.parse.sink import Repair

from ..input.record import Stream
from .summary import Spread, Summary, add_counts

# The number of pieces, and of characters, up to some point of a stream.
Place = tuple[int, int]
_INDEX: Final = re.compile(r"\[[0-9]+\]")
_LONGEST: Final = 200


@dataclass(slots=True)
class Tally:
    """The measures of one stream: pieces and characters so far, first value, last change."""

    stream: Stream
    pieces: int = 0
    characters: int = 0
    # Up to the first value and up to the last change.
    first: Place | None = None
    last: Place | None = None
    after_error: int = 0
    errors: list[Mapping[str, Any]] = field(default_factory=list)
    repairs: list[Repair] = field(default_factory=list)

    def piece(self, text: str) -> None:
        """Count one piece."""
        # The end of a stream may add text, too: it counts with the last piece.
        self.pieces = min(self.pieces + 1, len(self.stream.pieces))
        self.characters += len(text)
        if self.errors:
            self.after_error += len(text)

    def read(self, texts: list[str], first: int, last: int, until: int) -> None:
        """Count a stream that was read in one go.

        `first` and `last` are the pieces of the first value and the last change, `until` is the
        piece at which reading stopped.
        """
        most = len(self.stream.pieces)
        # Joined, because that is quicker than asking each for its length.
        self.characters = len("".join(texts))
        if first:
            self.first = min(first, most), len("".join(texts[:first]))
        if last:
            # The last change is near the end.
            self.last = min(last, most), self.characters - len("".join(texts[last:]))
        self.pieces = min(len(texts), most)
        if self.errors:
            self.after_error = len("".join(texts[until:]))

    def rest(self, texts: Iterator[str]) -> None:
        """Count the pieces that came after an error, if there was one."""
        for text in texts if self.errors else ():
            self.piece(text)

    def change(self, shows: bool = True) -> None:
        """Note that the last piece changed the result; `shows` if there is a value to see."""
        self.last = self.pieces, self.characters
        if shows and self.first is None:
            self.first = self.last

    def waited(self, place: Place) -> dict[str, float]:
        """How long it took to get to a place, by unit; seconds only if the stream has times."""
        pieces, characters = place
        waits: dict[str, float] = {"characters": characters, "pieces": pieces}
        seconds = self.stream.seconds(pieces - 1) if pieces else None
        return waits if seconds is None else {**waits, "seconds": seconds}

    def count(self, summary: Summary) -> None:
        """Add this stream to a summary."""
        summary.streams += 1
        summary.pieces += self.pieces
        summary.characters += self.characters
        summary.after_error += self.after_error
        summary.ok += not self.errors
        if self.errors:
            add_counts(summary.errors, dict.fromkeys((error["code"] for error in self.errors), 1))
            for error in self.errors:
                summary.broke(_field(error), {error.get("rule") or error["code"]: 1})
        if self.repairs:
            add_counts(summary.repairs, Counter(repair.rule for repair in self.repairs))
        for place, spreads in ((self.first, summary.first), (self.last, summary.last)):
            for unit, measure in self.waited(place).items() if place else ():
                if unit not in spreads:
                    spreads[unit] = Spread()
                spreads[unit].add(measure)


def _field(error: Mapping[str, Any]) -> str:
    """Where an error is, the same for every element of a list; of a tool call, with the tool."""
    path = _INDEX.sub("[*]", error.get("path") or "root")
    path = path if len(path) <= _LONGEST else f"{path[:_LONGEST]}…"
    return f"{error['tool']}: {path}" if error.get("tool") else path
