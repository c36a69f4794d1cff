"""The example app is built by Vite and driven in a real browser, with a simulated model."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, expect

from support import PYTHONPATH, ROOT, SLACK, hard
from support.browser import launched
from support.npm import built_page
from support.processes import free_port

EXAMPLE = ROOT / "examples" / "app"
PACE = 0.02
SECONDS = 20 * SLACK


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built_page(EXAMPLE, tmp_path_factory.mktemp("example"))


@contextmanager
def serving(
    page: Path, folder: Path, port: int, store: str, pace: float = PACE
) -> Iterator[subprocess.Popen[bytes]]:
    """Serve the example app until the end of the block."""
    settings = {"PORT": str(port), "PAGE": str(page), "PACE": str(pace), "STORE": store}
    environment = {**os.environ, **settings, "PYTHONPATH": PYTHONPATH}
    with open(folder / "log", "ab") as log:
        command = [sys.executable, str(EXAMPLE / "demo.py")]
        app = subprocess.Popen(command, cwd=EXAMPLE, env=environment, stdout=log, stderr=log)
    try:
        end = time.monotonic() + 2 * SECONDS
        while True:
            with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                break
            assert app.poll() is None and time.monotonic() < end, (folder / "log").read_text()
            time.sleep(0.05)
        yield app
    finally:
        app.terminate()
        app.wait(SECONDS)


@pytest.fixture(scope="module")
def url(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    port = free_port()
    with serving(built, tmp_path_factory.mktemp("app"), port, "memory:"):
        yield f"http://127.0.0.1:{port}/"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with launched("--disable-lcd-text") as browser:
        yield browser


@pytest.fixture
def page(browser: Browser, url: str) -> Iterator[Page]:
    """Yield the example's page; an error that the browser reports fails the test."""
    expect.set_options(timeout=1000 * SECONDS)
    context = browser.new_context(viewport={"width": 1000, "height": 620})
    opened = context.new_page()
    errors: list[str] = []

    def note(message: ConsoleMessage) -> None:
        if message.type == "error":
            errors.append(message.text)

    opened.on("console", note)
    opened.on("pageerror", lambda error: errors.append(str(error)))
    opened.goto(url)
    yield opened
    context.close()
    assert errors == []


def test_a_trip_grows_and_survives_a_reload(page: Page) -> None:
    output, days, cards = (page.locator(item) for item in ("output", ".day", ".card"))
    page.get_by_role("button", name="Plan").click()
    expect(output).to_have_text("streaming")
    expect(days.nth(1).locator("li")).not_to_have_count(0)
    # Half of the answer is there, and the form is disabled.
    assert days.count() < 4 and cards.count() == 0
    expect(page.get_by_role("button", name="Plan")).to_be_disabled()
    page.reload()
    # The page shows again what it had, and continues.
    expect(days.nth(1)).to_contain_text("Luzern")
    expect(page.locator("article")).to_have_attribute("aria-busy", "true")
    page.wait_for_function("document.querySelectorAll('.card')[1]?.innerText.includes('train')")
    expect(output).to_have_text("complete")
    expect(page.locator("article")).to_have_attribute("aria-busy", "false")
    text = page.locator("main").inner_text()
    assert text.count("Day ") == 4 and "The vineyards above the Rhine" in text
    assert "Mountains and lakes" in text
    expect(cards).to_have_count(3)
    expect(cards.first).to_contain_text("booked: hotel in Zürich on 2027-05-03")
    page.reload()
    # The page reads a run that has ended again.
    expect(output).to_have_text("complete")
    expect(page.locator("article")).to_have_attribute("aria-busy", "false")
    assert page.locator("main").inner_text() == text


@hard
def test_a_trip_is_stopped_and_another_begins(page: Page) -> None:
    output = page.locator("output")
    page.get_by_role("button", name="Plan").click()
    expect(page.locator("h1")).to_contain_text("Four")
    page.get_by_role("button", name="Stop").click()
    expect(output).to_have_text("stopped")
    # No error, and no caret behind the last word.
    expect(page.locator("[role=alert]")).to_have_count(0)
    expect(page.locator("article")).to_have_attribute("aria-busy", "false")
    page.get_by_role("button", name="Plan").click()
    expect(output).to_have_text("complete")
    expect(page.locator("[role=alert]")).to_have_count(0)
    expect(page.locator(".card")).to_have_count(3)


@hard
def test_a_server_that_is_killed(browser: Browser, built: Path, tmp_path: Path) -> None:
    """The page reports it, continues from the next server's log, and offers to try again."""
    expect.set_options(timeout=1000 * SECONDS)
    port, store = free_port(), f"sqlite:///{tmp_path}/trips.db"
    page = browser.new_page()
    with serving(built, tmp_path, port, store) as app:
        page.goto(f"http://127.0.0.1:{port}/")
        page.get_by_role("button", name="Plan").click()
        expect(page.locator(".day")).not_to_have_count(0)
        app.kill()
        expect(page.locator("output")).to_have_text("reconnecting")
    with serving(built, tmp_path, port, store):
        alert = page.locator("[role=alert]")
        expect(alert).to_have_count(1)
        expect(page.locator("article")).to_have_attribute("aria-busy", "false")
        expect(page.locator("h1")).to_contain_text("Four")
        alert.get_by_role("button", name="Try again").click()
        expect(page.locator("output")).to_have_text("complete")
        expect(alert).to_have_count(0)
    page.close()
