"""The browser in which pages are tested."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, sync_playwright

from support import need_command

FLAGS = ("--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking")


@contextmanager
def launched(*flags: str) -> Iterator[Browser]:
    """Yield Chromium's headless shell, which takes half the processor time, or else Chromium."""
    command = shutil.which("chromium-headless-shell") or need_command("chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=command, args=[*FLAGS, *flags])
        yield browser
        browser.close()
