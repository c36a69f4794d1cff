"""The report of a run, as text and as JSON; `page.py` makes an HTML page of it.

The counts do not depend on the engine, the number of shards or interruptions; only the field `run`
is about the last run alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from .summary import Spread, Summary

UNITS: Final = ("seconds", "characters", "pieces")
_SHARES: Final = (("p50", 0.5), ("p90", 0.9), ("p99", 0.99))


@dataclass
class Report:
    """The summary of all shards that are done, and the shards that failed, with the reasons.

    `seconds`, `workers` and `resumed` (shards that an earlier run had done) are of the last run.
    """

    job: dict[str, Any]
    out: str
    summary: Summary
    files: int
    shards: int
    failed: dict[str, str] = field(default_factory=dict)
    seconds: float = 0.0
    engine: str = "local"
    workers: int = 0
    resumed: int = 0
    # The first lines in quarantine, without their text.
    samples: list[dict[str, Any]] = field(default_factory=list)
    # Of the last run alone, for its speed.
    streams_now: int = 0
    bytes_now: int = 0

    @property
    def ok(self) -> bool:
        """True if every shard is done, and every line was read and is valid."""
        return not (self.failed or self.summary.bad_lines or self.summary.errors)

    def to_json(self) -> dict[str, Any]:
        """The report as JSON."""
        return {
            "job": self.job,
            "files": self.files,
            "shards": self.shards,
            "failed": self.failed,
            "summary": self.summary.to_json(),
            "breaks": [
                {"path": path, "rule": rule, "count": count}
                for path, rule, count in self.summary.worst(50)
            ],
            "quarantine": self.samples,
            "waits": {
                name: {unit: _figures(spread) for unit, spread in spreads.items()}
                for name, spreads in (("first", self.summary.first), ("last", self.summary.last))
            },
            "run": {
                "engine": self.engine,
                "workers": self.workers,
                "seconds": round(self.seconds, 3),
                "resumed_shards": self.resumed,
                "streams_per_second": round(self.rate),
            },
        }

    @property
    def rate(self) -> float:
        """Streams per second in the last run."""
        return self.streams_now / self.seconds if self.seconds else 0.0

    def to_text(self) -> str:
        """The report as text, safe for a terminal."""
        return "\n".join(map(printable, self._lines())) + "\n"

    def _lines(self) -> Iterator[str]:
        total = self.summary
        files = counted(self.files, "file")
        yield f"{self.job['kind']}: {number(total.streams)} streams in {files}"
        rate = (
            f"{number(round(self.rate))} streams/s, {size(self.bytes_now / (self.seconds or 1))}/s"
        )
        yield f"  read        {size(total.bytes)} in {duration(self.seconds)} ({rate})"
        yield f"  rows        {number(total.rows)}"
        yield f"  ok          {number(total.ok)}{share(total.ok, total.streams)}"
        for code, count in by_count(total.errors):
            yield f"  {code:<20}{number(count)}{share(count, total.streams)}"
        for path, rule, count in total.worst(5):
            label = f"{number(count)}{share(count, total.streams)}"
            yield f"  breaks      {shortened(path)}, {rule}: {label}"
        if total.after_error:
            yield f"  characters after an error: {number(total.after_error)}"
        if total.repairs:
            repairs = ", ".join(
                f"{rule} {number(count)}" for rule, count in by_count(total.repairs)
            )
            yield f"  repairs     {repairs}"
        for title, spreads in (("first value", total.first), ("last change", total.last)):
            for unit in UNITS:
                if unit in spreads:
                    yield f"  {title} after {shown(spreads[unit], unit)}"
        for what, count in by_count(total.skipped):
            yield f"  skipped     {number(count)} {what}"
        for code, count in by_count(total.quarantined):
            yield f"  quarantined {number(count)} {code}"
        for bad in self.samples[:3]:
            yield f"    {where(bad)}: {bad['message']}"
        for name, why in self.failed.items():
            yield f"  FAILED      {name}: {why}"


def shortened(path: str, longest: int = 60) -> str:
    """The path, without its middle if it is long."""
    if len(path) <= longest:
        return path
    return f"{path[: longest // 3]}…{path[-(longest - longest // 3 - 1) :]}"


def printable(text: str) -> str:
    """The text with control characters escaped: names and messages come from logs."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else f"\\u{ord(char):04x}" for char in text)


def where(bad: dict[str, Any]) -> str:
    """File and number of a line in quarantine."""
    return f"{bad.get('file', '')} line {bad.get('line', '?')}"


def _figures(spread: Spread) -> dict[str, float | None]:
    figures = {name: spread.at(wanted) for name, wanted in _SHARES}
    return {"least": spread.least, **figures, "most": spread.most}


def shown(spread: Spread, unit: str) -> str:
    """The percentiles of a spread as text."""
    shares = [f"{name} {_short(spread.at(wanted))}" for name, wanted in _SHARES]
    return f"{unit}: {', '.join(shares)}, most {_short(spread.most)}"


def _short(figure: float | None) -> str:
    if figure is None:
        return "-"
    return number(round(figure)) if figure >= 1000 else f"{figure:.4g}"


def by_count(counts: dict[str, int]) -> list[tuple[str, int]]:
    """Codes and counts, the most frequent first."""
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


def number(count: int) -> str:
    return f"{count:,}".replace(",", " ")


def counted(count: int, thing: str) -> str:
    return f"{number(count)} {thing}{'' if count == 1 else 's'}"


def share(part: int, whole: int) -> str:
    if not whole:
        return ""
    return f" ({100 * part / whole:.1f} %)" if part * 2000 >= whole or not part else " (< 0.1 %)"


def size(count: float) -> str:
    for unit in ("bytes", "kB", "MB", "GB"):
        if count < 1000:
            return f"{count:.0f} {unit}" if unit == "bytes" else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} TB"


def duration(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"
