"""A real Chromium for all tests of this folder, and a server with the page.

The page's policy forbids evaluating strings as code in the page, so locators and `until` poll.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from support import SLACK
from support.browser import launched
from support.processes import Server

from .view import PageView

expect.set_options(timeout=5_000 * SLACK)


# Not for the session: while it lives, no other test of the process can run an event loop.
@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    with launched() as browser:
        yield browser


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 1280, "height": 800}, reduced_motion="reduce")
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    yield context.new_page()
    context.close()


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with Server(tmp_path_factory.mktemp("server")) as server:
        yield server


@pytest.fixture
def view(page: Page, server: Server) -> Iterator[PageView]:
    """Yield the open page; an error or warning of the browser fails the test."""
    view = PageView(page, server.url)
    view.open()
    yield view
    view.check()
