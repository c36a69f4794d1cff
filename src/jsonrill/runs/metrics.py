"""Numbers about the server, in Prometheus's text form. No label ever holds an id or a name."""

from __future__ import annotations

from typing import Final

_HELP: Final = {
    "requests_total": ("counter", "Requests answered, by route, method and status."),
    "request_seconds_total": ("counter", "Time until answers ended, by route."),
    "streams_created_total": ("counter", "Streams made."),
    "records_total": ("counter", "Records appended."),
    "record_bytes_total": ("counter", "Bytes of records appended."),
    "sent_bytes_total": ("counter", "Bytes of events sent to readers."),
    "replays_total": ("counter", "Times a reader read a log from its beginning."),
    "readers_cut_total": ("counter", "Readers cut off because they took nothing."),
    "lost_producers_total": ("counter", "Streams ended because their producer was lost."),
    "upstream_errors_total": ("counter", "Answers of the upstream that were errors, or none."),
    "readers": ("gauge", "Readers now."),
    "views": ("gauge", "Renderings of streams that are followed now."),
    "relays": ("gauge", "Relayed generations that run now."),
}


class Metrics:
    """Counters and gauges, by name and labels."""

    def __init__(self) -> None:
        self._values: dict[tuple[str, tuple[tuple[str, str], ...]], float] = {
            (name, ()): 0 for name in _HELP if not name.startswith("request")
        }

    def add(self, name: str, amount: float = 1, **labels: str) -> None:
        key = (name, tuple(sorted(labels.items())))
        self._values[key] = self._values.get(key, 0) + amount

    def get(self, name: str, **labels: str) -> float:
        return self._values.get((name, tuple(sorted(labels.items()))), 0)

    def to_text(self) -> str:
        lines = []
        for name, (kind, help) in _HELP.items():
            lines += [f"# HELP jsonrill_{name} {help}", f"# TYPE jsonrill_{name} {kind}"]
            for (found, labels), value in sorted(self._values.items()):
                if found == name:
                    inside = ",".join(f'{key}="{text}"' for key, text in labels)
                    lines.append(f"jsonrill_{name}{f'{{{inside}}}' if inside else ''} {value:g}")
        return "\n".join(lines) + "\n"
