"""Streams for the demos: `recorded(name)` returns the text of one.

Model text is `.txt`, snapshots and provider events are `.jsonl`. All people in them are fictional.
"""

from __future__ import annotations

from importlib.resources import files


def recorded(name: str) -> str:
    return (files(__package__) / name).read_text("utf8")
