"""Recorded streams for the demos, written for this project: `recorded(name)` is the text of one.

Text of a model is `.txt`, snapshots and provider events are `.jsonl`. Nobody in them is real.
"""

from __future__ import annotations

from importlib.resources import files


def recorded(name: str) -> str:
    return (files(__package__) / name).read_text("utf8")
