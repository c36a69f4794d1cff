"""The simulated models of the demo: what each says, cut into pieces, the same every time.

A model is a recording and the options of its stream. What it says is a function of the model and
the size of its pieces alone: a generation that was broken off goes on from any record.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from ..options import Input
from ..runs.records import Record
from .recordings import recorded

# Pieces a second, about as models write.
PACE = 40.0
PIECE = 4


@dataclass(frozen=True, slots=True)
class Model:
    """`about` is for people; `suits` is the format that shows it best."""

    name: str
    title: str
    about: str
    says: Callable[[], str]
    input: Input = "text"
    suits: str = "fragments"
    pace: float = PACE
    options: dict[str, Any] = field(default_factory=dict)

    def records(self, piece: int = PIECE) -> list[Record]:
        """All that it says. Snapshots and events are as they are; text is cut."""
        said = self.says()
        if self.input == "text":
            return [Record("text", said[at : at + piece]) for at in range(0, len(said), piece)]
        return [Record(self.input, line) for line in said.splitlines()]

    def stream_options(self) -> dict[str, Any]:
        return {"input": self.input, **self.options}

    def to_json(self) -> dict[str, Any]:
        fields = {"name": self.name, "title": self.title, "about": self.about}
        return {**fields, "input": self.input, "suits": self.suits, "pace": self.pace}


def _recording(name: str) -> Callable[[], str]:
    return lambda: recorded(name)


def _schema(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(recorded(name))
    return found


def large() -> str:
    """Ten thousand values and a little more, as a catalogue of 1 250 measurements."""
    return json.dumps({"station": "buoy 17", "measurements": [*_measurements(1250)]})


def _measurements(count: int) -> Iterator[dict[str, Any]]:
    for at in range(count):
        hour, wave = divmod(at * 7, 24), (at * 37 % 400) / 100
        yield {
            "at": f"day {hour[0]}, {hour[1]:02}:00",
            "wave": wave,
            "wind": {"from": ("north", "east", "south", "west")[at % 4], "knots": at * 13 % 41},
            "calm": wave < 0.5,
            "sensors": [at % 7],
        }


def models() -> dict[str, Model]:
    """The models by name, in the order in which they are shown."""
    all_of_them = (
        Model(
            "recipe",
            "A plain object",
            "Nested values, token by token",
            _recording("recipe.txt"),
        ),
        Model(
            "voyage",
            "Entities",
            "A voyage, each day an entity",
            _recording("voyage.txt"),
            suits="updates",
            options={"entity": "days"},
        ),
        Model(
            "harbour",
            "Two tool calls",
            "Interleaved, with their results",
            _recording("harbour.jsonl"),
            input="events",
            suits="calls",
            pace=14.0,
        ),
        Model(
            "stumble",
            "A broken tool call",
            "One stumbles, the other goes on",
            _recording("stumble.jsonl"),
            input="events",
            suits="calls",
            pace=14.0,
        ),
        Model(
            "invalid",
            "Broken JSON",
            "An unquoted word in the middle",
            _recording("invalid.txt"),
            suits="updates",
        ),
        Model(
            "booking",
            "A schema violation",
            "Seen at its first character",
            _recording("booking.txt"),
            suits="updates",
            options={"schema": _schema("booking.schema.json")},
        ),
        Model(
            "ferry",
            "Snapshots",
            "Shuffled keys, back into text",
            _recording("ferry.jsonl"),
            input="snapshots",
            pace=6.0,
        ),
        Model(
            "hostile",
            "Hostile strings",
            "Markup, escapes, bidi marks",
            _recording("hostile.txt"),
        ),
        Model(
            "buoy",
            "Ten thousand values",
            "A large document, fast",
            large,
            pace=1000.0,
        ),
    )
    return {model.name: model for model in all_of_them}
