"""axe-core finds nothing to complain about, and every state is photographed.

The pictures go to build/screenshots; with SCREENSHOTS=1 they replace the documentation's.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest
from playwright.sync_api import expect

from support import ROOT, few
from support.npm import installed

from .view import PageView

# The experimental rule wants the texts of its children in the name of a tree item. As in WAI-ARIA's
# pattern, the name is its own line; the children are items with names of their own.
RUN: Final = """async () => {
    const rules = { "label-content-name-mismatch": { enabled: false } };
    const { violations } = await axe.run(document, { resultTypes: ["violations"], rules });
    return violations.map(({ id, nodes }) => `${id}: ${nodes.map((it) => it.html).slice(0, 3)}`);
}"""


class State(NamedTuple):
    """A state of the page; `picture` is its name in the documentation."""

    reach: Callable[[PageView], Any]
    width: int
    scheme: Any
    picture: str = ""


def recipe(view: PageView) -> None:
    view.example("recipe")
    view.seek(150)


def violation(view: PageView) -> None:
    view.example("schema")
    expect(view.page.locator("#diagnosis")).to_have_attribute("data-tone", "bad")


def modes(view: PageView) -> None:
    view.example("modes")
    expect(view.page.locator("#event-rows .badge.good").last).to_be_visible()
    view.seek(120)


def snapshots(view: PageView) -> None:
    view.example("snapshots")
    view.seek(24)
    expect(view.page.locator("#panel-chunks .newest")).to_be_visible()


def options(view: PageView) -> None:
    view.page.locator("#options summary").click()


def call(view: PageView) -> None:
    view.example("broken-call")


STATES: Final = {
    "start": State(lambda view: None, 1280, "light"),
    "start-phone": State(options, 390, "dark"),
    "recipe": State(recipe, 1280, "light", "light"),
    "recipe-phone": State(recipe, 390, "light"),
    "violation": State(violation, 1280, "light", "error"),
    "violation-700": State(violation, 700, "dark"),
    "modes": State(modes, 1280, "dark", "dark"),
    "modes-phone": State(modes, 390, "dark"),
    "call": State(call, 1280, "light", "tool-calls"),
    "call-phone": State(call, 390, "dark"),
    "snapshots": State(snapshots, 1280, "light", "replay"),
}


@pytest.fixture(scope="module")
def axe() -> str:
    folder = installed(ROOT / "tools" / "page", "page")
    return (folder / "node_modules" / "axe-core" / "axe.min.js").read_text("utf8")


@few(4)
@pytest.mark.parametrize("name", STATES)
def test_axe_finds_no_violation(view: PageView, axe: str, name: str) -> None:
    state, page = STATES[name], view.page
    page.set_viewport_size({"width": state.width, "height": 800})
    page.emulate_media(color_scheme=state.scheme)
    page.evaluate(axe)
    state.reach(view)
    assert page.evaluate(RUN) == []
    page.screenshot(path=folder_of("build/screenshots") / f"{name}.png")
    if state.picture and os.environ.get("SCREENSHOTS"):
        page.screenshot(path=ROOT / "docs" / "screenshots" / f"{state.picture}.png")


def folder_of(name: str) -> Path:
    folder = ROOT / name
    folder.mkdir(parents=True, exist_ok=True)
    return folder
