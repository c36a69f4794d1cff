"""The counts of a run."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, fields
from typing import Any


@dataclass
class Summary:
    """How many streams are complete, cut, or invalid by code; and what else their rows say.

    `tokens` has the providers' names of the counts. `seconds` is the time that workers took.
    """

    streams: int = 0
    complete: int = 0
    cut: int = 0
    invalid: Counter[str] = field(default_factory=Counter)
    repairs: Counter[str] = field(default_factory=Counter)
    tokens: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0

    def add(self, row: dict[str, Any]) -> None:
        """Count a row."""
        self.streams += 1
        status = row["status"]
        if status == "complete":
            self.complete += 1
        elif status == "cut":
            self.cut += 1
        else:
            self.invalid[row["error"]["code"]] += 1
        if "repairs" in row:
            self.repairs.update(repair["rule"] for repair in row["repairs"])
        for name, count in row["usage"].items() if "usage" in row else ():
            if type(count) is int:
                self.tokens[name] += count

    def merge(self, other: Summary) -> None:
        """Add the counts of other rows."""
        for item in fields(self):
            setattr(self, item.name, getattr(self, item.name) + getattr(other, item.name))

    def to_dict(self) -> dict[str, Any]:
        """Return the counts for JSON."""
        return {**vars(self), "seconds": round(self.seconds, 3)}

    @classmethod
    def from_dict(cls, counts: dict[str, Any]) -> Summary:
        """Return the summary that `to_dict` wrote."""
        counters = {name: Counter(counts[name]) for name in ("invalid", "repairs", "tokens")}
        return cls(**{**counts, **counters})
