"""The simulated models of the demo. Each writes the same text every time.

`recordings/models.json` lists them: a recording and the options of the stream. What a model writes
depends on the recording and the size of its pieces alone, so that a generation that was broken off
can go on from any record.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from jsonrill.demo.recordings import recorded

from ..runs.records import Input, Record

PIECE = 4


# Larger examples would be most of what a page downloads.
MOST: Final = 50_000


@dataclass(frozen=True, slots=True)
class Model:
    """A simulated model.

    `title` and `about` describe it for people, `suits` is the format that shows it best, and
    `pace` is in pieces a second: 40 is about what models write.
    """

    name: str
    title: str
    about: str
    recording: str = ""
    input: Input = "text"
    suits: str = "fragments"
    pace: float = 40.0
    options: dict[str, Any] = field(default_factory=dict)

    def says(self) -> str:
        """All that it writes: its recording, or the large document if it has none."""
        return recorded(self.recording) if self.recording else large()

    def records(self, piece: int = PIECE) -> list[Record]:
        """The records it publishes: a line is one snapshot or event, text is cut into pieces."""
        text = self.says()
        if self.input == "text":
            return [Record("text", text[at : at + piece]) for at in range(0, len(text), piece)]
        return [Record(self.input, line) for line in text.splitlines()]

    def stream_options(self) -> dict[str, Any]:
        """The options of the stream it writes to."""
        return {"input": self.input, **self.options}

    def to_json(self) -> dict[str, Any]:
        """What the list of models says about it."""
        shown = ("name", "title", "about", "input", "suits", "pace", "options")
        return {name: getattr(self, name) for name in shown}


def large() -> str:
    """A document of a little more than ten thousand values: a list of 1 250 measurements."""
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
    """The models by name, in the order in which the page shows them."""
    return {fields["name"]: Model(**fields) for fields in json.loads(recorded("models.json"))}


def examples() -> list[dict[str, Any]]:
    """The models, each with all that it writes, for a page that replays them by itself."""
    texts = [(model, model.says()) for model in models().values()]
    return [
        {**model.to_json(), "options": model.options, "text": text}
        for model, text in texts
        if len(text) <= MOST
    ]
