"""Where the caret stands: on what grows, wherever that is, in Updates and in snapshots."""

from __future__ import annotations

import json
from typing import Any

import pytest
from playwright.sync_api import expect

from jsonrill.demo.recordings import recorded
from support import hard

from .shown import Shown

CARET = """(panel) => [...panel.querySelectorAll(".growing .key")].map((key) => key.textContent)
    .concat([...panel.querySelectorAll(".caret-line")].map((line) =>
        "in " + (line.parentElement.closest("li").querySelector(".key")?.textContent ?? "root")))"""


def caret(shown: Shown) -> list[str]:
    """The keys of the lines with a caret, and of the containers that have one at their end."""
    shown.drawn()
    keys: list[str] = shown.panel.evaluate(CARET)
    return keys


def carets(shown: Shown, moments: int) -> list[list[str]]:
    keys = []
    for moment in range(1, moments + 1):
        shown.slide("#scrub", moment)
        keys.append(caret(shown))
    return keys


def lines(*snapshots: Any) -> str:
    return "\n".join(json.dumps(snapshot) for snapshot in snapshots)


@hard
@pytest.mark.parametrize("width", [390, 1280])
def test_what_grows_at_a_chosen_moment_is_in_sight(shown: Shown, width: int) -> None:
    shown.page.set_viewport_size({"width": width, "height": 760})
    shown.paste(recorded("voyage.txt"))
    shown.done()
    pieces = shown.pieces()
    # Back and forth; what is between two moments is higher than was estimated.
    for tenths in (8, 5, 2, 9, 3):
        shown.slide("#scrub", pieces * tenths // 10)
        shown.drawn()
        growing = shown.panel.locator(".growing, .caret-line").first
        expect(growing).to_be_in_viewport(ratio=0.9)
        expect(shown.page.locator("#play")).to_be_in_viewport()


@hard
def test_pasted_snapshots_end_well(shown: Shown) -> None:
    shown.paste(lines({"a": "he"}, {"a": "hell"}, {"a": "hello", "b": [1]}))
    shown.to_end()
    shown.done()
    assert shown.state() == "Complete"
    assert shown.value("a") == "hello"
    expect(shown.page.locator(".problem:visible, mark.error")).to_have_count(0)
    assert caret(shown) == []


# What is pasted, and where the caret is at each moment.
SNAPSHOTS: list[tuple[list[Any], list[list[str]]]] = [
    # The caret is on what the next snapshot changes: a grows, although b comes after it.
    ([{"a": "h", "b": "x"}, {"a": "he", "b": "x"}, {"a": "hel", "b": "x"}], [["a"], ["a"], []]),
    ([{"a": "h"}, {"a": "he", "b": "x"}, {"a": "hel", "b": "x"}], [["a"], ["a"], []]),
    # Members that are new: their container grows.
    ([{"a": {"x": 1}}, {"a": {"x": 1, "y": 2}}, {"a": {"x": 1, "y": 3}}], [["in a"], ["y"], []]),
    ([[["p"], ["q"]], [["p", "r"], ["q"]], [["p", "r"], ["q", "s"]]], [["in 0"], ["in 1"], []]),
    # Snapshots that are equal tell nothing: the caret stays.
    ([{"a": "h", "b": 1}, {"a": "h", "b": 1}, {"a": "hi", "b": 1}], [["a"], ["a"], []]),
]


@hard
def test_the_caret_of_pasted_snapshots_is_on_what_grows(shown: Shown) -> None:
    for snapshots, expected in SNAPSHOTS:
        shown.paste(lines(*snapshots), "snapshots")
        shown.to_end()
        assert carets(shown, len(snapshots)) == expected, snapshots
