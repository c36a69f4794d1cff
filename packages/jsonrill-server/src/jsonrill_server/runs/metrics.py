"""Metrics of the server, in Prometheus's text format. No label contains an id or a name."""

from __future__ import annotations

import asyncio
from bisect import bisect_left
from typing import Final

_HELP: Final = {
    "requests_total": ("counter", "Requests answered, by route, method and status."),
    "request_seconds": ("histogram", "Time until answers ended, by route."),
    "publish_send_seconds": (
        "histogram",
        "Time from an append here until readers here were sent it.",
    ),
    "loop_lag_seconds": ("histogram", "How late the event loop ran what was due."),
    "streams_created_total": ("counter", "Streams made."),
    "streams_ended_total": ("counter", "Streams ended here, by how."),
    "records_total": ("counter", "Records appended."),
    "record_bytes_total": ("counter", "Bytes of records appended."),
    "sent_bytes_total": ("counter", "Bytes of events sent to readers."),
    "replays_total": ("counter", "Times a reader read a log from its beginning."),
    "readers_cut_total": ("counter", "Readers cut off because they took nothing."),
    "lost_producers_total": ("counter", "Streams ended because their producer was lost."),
    "store_errors_total": (
        "counter",
        "Failed calls of the store, by the task that made them.",
    ),
    "readers": ("gauge", "Readers now."),
    "views": ("gauge", "Renderings of streams that are followed now."),
}
# Upper bounds of the classes of a histogram, in seconds.
_BOUNDS: Final = (
    *(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5),
    *(1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0, 3600.0),
)
# Those that have labels show nothing before the first one is known.
_LABELLED: Final = frozenset(
    ("requests_total", "request_seconds", "streams_ended_total", "store_errors_total")
)
LAG_EVERY: Final = 0.25

Labels = tuple[tuple[str, str], ...]


def _key(name: str, labels: dict[str, str]) -> tuple[str, Labels]:
    return name, tuple(sorted(labels.items())) if labels else ()


class _Histogram:
    __slots__ = ("counts", "sum")

    def __init__(self) -> None:
        self.counts = [0] * (len(_BOUNDS) + 1)
        self.sum = 0.0


class Metrics:
    """Counters, gauges and histograms, by name and labels."""

    def __init__(self) -> None:
        self._values: dict[tuple[str, Labels], float] = {}
        self._histograms: dict[tuple[str, Labels], _Histogram] = {}
        for name, (kind, _) in _HELP.items():
            if name in _LABELLED:
                continue
            if kind == "histogram":
                self._histograms[name, ()] = _Histogram()
            else:
                self._values[name, ()] = 0

    def add(self, name: str, amount: float = 1, **labels: str) -> None:
        key = _key(name, labels)
        self._values[key] = self._values.get(key, 0) + amount

    def get(self, name: str, **labels: str) -> float:
        return self._values.get(_key(name, labels), 0)

    def observe(self, name: str, seconds: float, **labels: str) -> None:
        """Add a duration to its bucket of a histogram."""
        key = _key(name, labels)
        histogram = self._histograms.get(key)
        if histogram is None:
            histogram = self._histograms[key] = _Histogram()
        histogram.counts[bisect_left(_BOUNDS, seconds)] += 1
        histogram.sum += seconds

    async def watch_loop(self) -> None:
        """Observe how late the event loop is, until cancelled."""
        loop = asyncio.get_running_loop()
        while True:
            due = loop.time() + LAG_EVERY
            await asyncio.sleep(LAG_EVERY)
            self.observe("loop_lag_seconds", max(0.0, loop.time() - due))

    def to_text(self) -> str:
        lines = []
        for name, (kind, help) in _HELP.items():
            lines += [f"# HELP jsonrill_{name} {help}", f"# TYPE jsonrill_{name} {kind}"]
            for (own, labels), value in sorted(self._values.items()):
                if own == name:
                    lines.append(_line(name, labels, value))
            for (own, labels), histogram in sorted(self._histograms.items(), key=lambda it: it[0]):
                if own == name:
                    lines += _lines_of(name, labels, histogram)
        return "\n".join(lines) + "\n"


def _lines_of(name: str, labels: Labels, histogram: _Histogram) -> list[str]:
    lines, total = [], 0
    for bound, count in zip((*map(str, _BOUNDS), "+Inf"), histogram.counts, strict=True):
        total += count
        lines.append(_line(f"{name}_bucket", (*labels, ("le", bound)), total))
    return [
        *lines,
        _line(f"{name}_sum", labels, round(histogram.sum, 6)),
        _line(f"{name}_count", labels, total),
    ]


def _line(name: str, labels: Labels, value: float) -> str:
    inside = ",".join(f'{key}="{text}"' for key, text in labels)
    # All digits: a rounded counter would seem not to grow.
    shown = int(value) if value == int(value) else value
    return f"jsonrill_{name}{f'{{{inside}}}' if inside else ''} {shown}"
