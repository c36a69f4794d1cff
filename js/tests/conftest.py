"""Open the modules of `js/src` in a real browser."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page

from support import ROOT, need_command
from support.browser import launched


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    command = [need_command("node"), str(ROOT / "js" / "tests" / "site.js")]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as site:
        assert site.stdin is not None and site.stdout is not None
        url = site.stdout.readline().strip()
        with launched() as browser:
            page = browser.new_page()
            page.goto(url)
            yield page
        site.stdin.close()
