"""examples/agent-fastapi in a real browser: a person approves a call, after a reload and a kill."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Page, expect

from support import hard
from support.agent_example import EXAMPLE, SECONDS, Program, fake_model
from support.browser import launched
from support.npm import built_page


@hard
def test_a_person_decides(tmp_path: Path) -> None:
    expect.set_options(timeout=1000 * SECONDS)
    page_files = built_page(EXAMPLE, tmp_path / "web")
    with (
        fake_model() as model,
        Program(tmp_path, model.url, "openai", page_files) as program,
        launched() as browser,
    ):
        approve(browser.new_page(), program)
        refuse(browser.new_page(), program)


def ask(page: Page, program: Program) -> None:
    page.goto(program.url)
    page.get_by_role("button", name="Ask").click()
    expect(page.locator("main")).to_contain_text("May it?")
    expect(page.locator("main")).to_contain_text('book({"city":"Rome","nights":7})')


def approve(page: Page, program: Program) -> None:
    ask(page, program)
    page.reload()
    expect(page.locator("main")).to_contain_text("May it?")
    program.kill()
    program.start()
    assert program.bookings == []
    page.reload()
    page.get_by_role("button", name="Yes").click()
    expect(page.locator("main")).to_contain_text("booked Rome for 7 nights")
    expect(page.locator("main")).to_contain_text("Have a good trip.")
    expect(page.locator("output")).to_have_text("complete")
    assert program.bookings == ["call_3"]
    # Whoever opens it later sees what was asked, decided and done.
    before = page.locator("main").inner_text()
    page.reload()
    expect(page.locator("output")).to_have_text("complete")
    assert page.locator("main").inner_text() == before


def refuse(page: Page, program: Program) -> None:
    ask(page, program)
    page.get_by_role("button", name="No").click()
    expect(page.locator("main")).to_contain_text("a person refused the call")
    expect(page.locator("output")).to_have_text("complete")
    assert program.bookings == ["call_3"]
