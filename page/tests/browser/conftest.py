"""A real Chromium for all tests of this folder, and the page of a server with simulated models.

The page's policy forbids evaluating strings, so that nothing here waits for a function in the page:
locators and `until` look again and again.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from support import SLACK
from support.browser import launched
from support.processes import Server

from .shown import Shown

expect.set_options(timeout=5_000 * SLACK)


# Not for the session: while it lives, no other test of the process can run an event loop.
@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    with launched() as browser:
        yield browser


@pytest.fixture(scope="module")
def context(browser: Browser) -> Iterator[BrowserContext]:
    """One context for all pages of a module, so that files are fetched once."""
    opened = browser.new_context(viewport={"width": 1280, "height": 800})
    opened.grant_permissions(["clipboard-read", "clipboard-write"])
    yield opened
    opened.close()


@pytest.fixture
def page(context: BrowserContext) -> Iterator[Page]:
    opened = context.new_page()
    yield opened
    opened.close()


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with Server(tmp_path_factory.mktemp("demo"), demo=True, retry=100) as server:
        yield server


@pytest.fixture
def shown(page: Page, demo: Server) -> Iterator[Shown]:
    """The open page; an error or warning of the browser fails the test."""
    seen = Shown(page, demo.url)
    seen.open()
    yield seen
    seen.check()
    page.evaluate("localStorage.clear()")
