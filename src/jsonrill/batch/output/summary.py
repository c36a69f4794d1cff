"""What a shard, or all of them, came to: counts and spreads, small whatever was counted.

A spread keeps how many measures fell into each of its steps, twenty for every power of ten, so that
the spreads of shards add up and a percentile is right within 12 %.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

STEPS: Final = 20


@dataclass
class Spread:
    """How measures are spread. `steps` counts them by the logarithm of their size."""

    count: int = 0
    zeros: int = 0
    least: float | None = None
    most: float | None = None
    steps: dict[int, int] = field(default_factory=dict)

    def add(self, measure: float) -> None:
        """One more measure, not negative."""
        self.count += 1
        self.least = measure if self.least is None else min(self.least, measure)
        self.most = measure if self.most is None else max(self.most, measure)
        if measure <= 0:
            self.zeros += 1
            return
        step = math.floor(math.log10(measure) * STEPS)
        self.steps[step] = self.steps.get(step, 0) + 1

    def merge(self, other: Spread) -> None:
        """All the measures of another."""
        self.count += other.count
        self.zeros += other.zeros
        self.least = _either(min, self.least, other.least)
        self.most = _either(max, self.most, other.most)
        _merge(self.steps, other.steps)

    def at(self, share: float) -> float | None:
        """The measure below which that share of them lies."""
        wanted, seen = math.ceil(share * self.count), self.zeros
        if self.count == 0 or self.most is None:
            return None
        if wanted <= seen:
            return 0.0
        for step in sorted(self.steps):
            seen += self.steps[step]
            if seen >= wanted:
                return min(self.most, self._end(step))
        return self.most

    def _end(self, step: int) -> float:
        """The largest measure of a step; of whole numbers the largest that can be in it."""
        if isinstance(self.most, int):
            return math.ceil(10 ** ((step + 1) / STEPS)) - 1
        return edge(step + 1)

    def bars(self) -> Iterator[tuple[float, float, int]]:
        """From, to, how many; without gaps, from the smallest to the largest.

        Steps in which no whole number lies are left out where all are whole.
        """
        if self.zeros:
            yield 0, 0, self.zeros
        if not self.steps:
            return
        for step in range(min(self.steps), max(self.steps) + 1):
            start, end = edge(step), self._end(step)
            if isinstance(self.most, int):
                start = math.ceil(10 ** (step / STEPS))
            if start <= end:
                yield start, end, self.steps.get(step, 0)

    def to_json(self) -> dict[str, Any]:
        steps = [[step, self.steps[step]] for step in sorted(self.steps)]
        return {
            "count": self.count,
            "zeros": self.zeros,
            "least": self.least,
            "most": self.most,
            "steps": steps,
        }

    @classmethod
    def from_json(cls, given: Mapping[str, Any]) -> Spread:
        return cls(**{**given, "steps": dict(given["steps"])})


def edge(step: int) -> float:
    """Where a step of a spread begins."""
    return float(f"{10 ** (step / STEPS):.3g}")


@dataclass
class Summary:
    """What came of some lines.

    `streams` were read and `ok` of them without an error; `errors` counts the others by code,
    `quarantined` the lines that were no streams. `characters` and `pieces` are those of the
    streams, `after_error` the characters that came after an error was certain. `first` and `last`
    are the spreads of how long the first value and the last change took: in `seconds` where
    streams have times, in `characters` and in `pieces`.
    """

    lines: int = 0
    bytes: int = 0
    streams: int = 0
    ok: int = 0
    rows: int = 0
    characters: int = 0
    pieces: int = 0
    after_error: int = 0
    errors: dict[str, int] = field(default_factory=dict)
    quarantined: dict[str, int] = field(default_factory=dict)
    repairs: dict[str, int] = field(default_factory=dict)
    first: dict[str, Spread] = field(default_factory=dict)
    last: dict[str, Spread] = field(default_factory=dict)

    @property
    def bad_lines(self) -> int:
        """How many lines are in the quarantine."""
        return sum(self.quarantined.values())

    def merge(self, other: Summary) -> None:
        """Count another's in."""
        for name in _COUNTS:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for name in _BY_CODE:
            _merge(getattr(self, name), getattr(other, name))
        for name in _SPREADS:
            mine = getattr(self, name)
            for unit, spread in getattr(other, name).items():
                mine.setdefault(unit, Spread()).merge(spread)

    def to_json(self) -> dict[str, Any]:
        """As JSON, keys in order."""
        shown: dict[str, Any] = {name: getattr(self, name) for name in _COUNTS}
        for name in _BY_CODE:
            shown[name] = dict(sorted(getattr(self, name).items()))
        for name in _SPREADS:
            spreads = sorted(getattr(self, name).items())
            shown[name] = {unit: spread.to_json() for unit, spread in spreads}
        return shown

    @classmethod
    def from_json(cls, given: Mapping[str, Any]) -> Summary:
        """The same summary again."""
        made = dict(given)
        for name in _SPREADS:
            made[name] = {unit: Spread.from_json(one) for unit, one in given[name].items()}
        return cls(**made)


_COUNTS: Final = (
    *("lines", "bytes", "streams", "ok", "rows"),
    *("characters", "pieces", "after_error"),
)
_BY_CODE: Final = ("errors", "quarantined", "repairs")
_SPREADS: Final = ("first", "last")


def _merge(mine: dict[Any, int], other: Mapping[Any, int]) -> None:
    for key, count in other.items():
        mine[key] = mine.get(key, 0) + count


def _either(
    choose: Callable[[float, float], float], one: float | None, other: float | None
) -> float | None:
    if one is None or other is None:
        return other if one is None else one
    return choose(one, other)
