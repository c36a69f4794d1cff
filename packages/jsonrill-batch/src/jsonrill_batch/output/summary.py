"""The result of a shard, or of all: counts and distributions, small however much was counted.

A `Spread` is a histogram with twenty logarithmic steps for every power of ten, so that the spreads
of shards add up and a percentile is right within 12 %.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

STEPS: Final = 20
# Keys may be made up by a model: more fields than this are counted together.
FIELDS: Final = 1000
OTHERS: Final = "(other fields)"


@dataclass
class Spread:
    """The distribution of a measure; `steps` counts its values by their logarithm."""

    count: int = 0
    zeros: int = 0
    least: float | None = None
    most: float | None = None
    steps: dict[int, int] = field(default_factory=dict)

    def add(self, measure: float, times: int = 1) -> None:
        """Count a value, which is not negative, once or several times."""
        self.count += times
        if self.least is None or measure < self.least:
            self.least = measure
        if self.most is None or measure > self.most:
            self.most = measure
        if measure <= 0:
            self.zeros += times
        else:
            step = math.floor(math.log10(measure) * STEPS)
            self.steps[step] = self.steps.get(step, 0) + times

    def merge(self, other: Spread) -> None:
        """Add the values of another spread."""
        self.count += other.count
        self.zeros += other.zeros
        self.least = min(_known(self.least, other.least), default=None)
        self.most = max(_known(self.most, other.most), default=None)
        add_counts(self.steps, other.steps)

    def at(self, share: float) -> float | None:
        """The percentile: the value that a `share` of all values does not exceed."""
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
        """The largest value of a step; of integers, the largest one that falls into it."""
        if isinstance(self.most, int):
            return math.ceil(10 ** ((step + 1) / STEPS)) - 1
        return edge(step + 1)

    def bars(self) -> Iterator[tuple[float, float, int]]:
        """(from, to, count) of each step from the smallest value to the largest, empty ones too.

        If all values are integers, steps that contain none are left out.
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
        return {**vars(self), "steps": [list(step) for step in sorted(self.steps.items())]}

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> Spread:
        return cls(**{**fields, "steps": dict(fields["steps"])})


def edge(step: int) -> float:
    """The smallest value of a step, rounded to three digits."""
    return float(f"{10 ** (step / STEPS):.3g}")


@dataclass
class Summary:
    """The counts of a job on some lines.

    `streams` were read, `ok` of them without an error; `errors` counts the others by code,
    `quarantined` the lines that are no streams, `skipped` lines of an export that are about
    something else. `breaks` counts errors by field and rule: `{"root.days[*].title": {"type": 3}}`.
    `characters` and `pieces` are those of the
    streams, `after_error` the characters that came after an error was found. `first` and `last`
    are the distributions of how long the first value and the last change took: in `seconds` where
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
    skipped: dict[str, int] = field(default_factory=dict)
    breaks: dict[str, dict[str, int]] = field(default_factory=dict)
    first: dict[str, Spread] = field(default_factory=dict)
    last: dict[str, Spread] = field(default_factory=dict)

    @property
    def bad_lines(self) -> int:
        """The number of lines in quarantine."""
        return sum(self.quarantined.values())

    def merge(self, other: Summary) -> None:
        """Add the counts of another summary."""
        for name, theirs in vars(other).items():
            if name in _SPREADS:
                mine = getattr(self, name)
                for unit, spread in theirs.items():
                    mine.setdefault(unit, Spread()).merge(spread)
            elif name in _BY_CODE:
                add_counts(getattr(self, name), theirs)
            elif name == "breaks":
                for path, rules in theirs.items():
                    self.broke(path, rules)
            else:
                setattr(self, name, getattr(self, name) + theirs)

    def broke(self, path: str, rules: Mapping[str, int]) -> None:
        """Count errors of a field by rule; of very many fields, only the first ones apart."""
        if path not in self.breaks and len(self.breaks) >= FIELDS:
            path = OTHERS
        add_counts(self.breaks.setdefault(path, {}), rules)

    def worst(self, count: int) -> list[tuple[str, str, int]]:
        """(path, rule, count) of the fields and rules that break most often."""
        breaks = [
            (path, rule, times)
            for path, rules in self.breaks.items()
            for rule, times in rules.items()
        ]
        return sorted(breaks, key=lambda one: (-one[2], *one[:2]))[:count]

    def to_json(self) -> dict[str, Any]:
        """The summary as JSON, with its keys in order."""
        shown = vars(self).copy()
        shown["breaks"] = {
            path: dict(sorted(it.items())) for path, it in sorted(self.breaks.items())
        }
        for name in _BY_CODE:
            shown[name] = dict(sorted(shown[name].items()))
        for name in _SPREADS:
            shown[name] = {unit: it.to_json() for unit, it in sorted(shown[name].items())}
        return shown

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> Summary:
        """The summary that `to_json` wrote."""
        spreads = {
            name: {unit: Spread.from_json(one) for unit, one in fields[name].items()}
            for name in _SPREADS
        }
        return cls(**{**fields, **spreads})


_BY_CODE: Final = ("errors", "quarantined", "repairs", "skipped")
_SPREADS: Final = ("first", "last")


def add_counts(counts: dict[Any, int], more: Mapping[Any, int]) -> None:
    """Add the counts of `more` to `counts`."""
    for key, count in more.items():
        counts[key] = counts.get(key, 0) + count


def _known(*measures: float | None) -> list[float]:
    return [measure for measure in measures if measure is not None]
