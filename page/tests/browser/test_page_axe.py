"""axe-core finds nothing to complain about: on arrival, half-way, with calls, with an error."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page

from support import ROOT, few, hard
from support.npm import installed
from support.processes import Server

from .shown import Shown

# The experimental rule wants the texts of its children in the name of a tree item. As in WAI-ARIA's
# pattern, the name is that of its own line; the children are items with names of their own.
RUN = """async () => {
    const rules = { "label-content-name-mismatch": { enabled: false } };
    const { violations } = await axe.run(document, { resultTypes: ["violations"], rules });
    return violations.map(({ id, nodes }) => `${id}: ${nodes.map((it) => it.html).slice(0, 3)}`);
}"""


@pytest.fixture(scope="module")
def axe() -> str:
    folder = installed(ROOT / "tools" / "page", "page")
    return (folder / "node_modules" / "axe-core" / "axe.min.js").read_text("utf8")


@pytest.fixture
def shown(page: Page, demo: Server, axe: str) -> Iterator[Shown]:
    seen = Shown(page, demo.url)
    seen.open()
    page.evaluate(axe)
    yield seen
    seen.check()


@few(1)
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_axe_finds_no_violation(shown: Shown, scheme: Any, width: int) -> None:
    page = shown.page
    page.set_viewport_size({"width": width, "height": 800})
    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    assert page.evaluate(RUN) == [], "arrival"
    shown.speed(2)
    shown.model("recipe")
    shown.line("serves").wait_for()
    page.locator("#previous-piece").click()
    assert page.evaluate(RUN) == [], "half-way"
    shown.speed(5)
    for model in ("stumble", "invalid"):
        shown.model(model)
        shown.done()
        assert page.evaluate(RUN) == [], model
    page.locator("#log summary").click()
    page.locator("#paste-box summary").click()
    page.locator("#help").click()
    assert page.evaluate(RUN) == [], "log, paste and shortcuts"


@hard
@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 390)])
def test_axe_finds_no_violation_in_pasted_texts(shown: Shown, scheme: Any, width: int) -> None:
    page = shown.page
    page.set_viewport_size({"width": width, "height": 800})
    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    shown.paste("Sure: {'title': 'Storm', size: 12,}")
    assert page.evaluate(RUN) == [], "an error"
    shown.paste('{"a": 1}\noops\n{"b": 1}\n[1,', "many")
    page.locator(".faults").wait_for()
    assert page.evaluate(RUN) == [], "several errors"


@hard
def test_axe_finds_what_is_wrong(shown: Shown) -> None:
    shown.page.evaluate("() => { document.querySelector('#help').textContent = ''; }")
    assert any(violation.startswith("button-name") for violation in shown.page.evaluate(RUN))
