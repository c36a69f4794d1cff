"""The page as a test uses it: what it clicks, types and reads."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from playwright.sync_api import Locator, Page, expect

from support import SLACK

WORDS = ("what", "where", "todo")
TWO_FRAMES = """() => new Promise((done) => {
    requestAnimationFrame(() => requestAnimationFrame(() => done()));
})"""


class PageView:
    """One open page. `faults` lists errors and warnings of the browser; it should stay empty."""

    def __init__(self, page: Page, url: str) -> None:
        self.page = page
        self.url = url
        self.faults: list[str] = []
        self.requests: list[str] = []
        page.on("console", lambda message: self._hear(message.type, message.text))
        page.on("pageerror", lambda error: self.faults.append(f"error: {error}"))
        page.on("request", lambda request: self.requests.append(request.url))

    def _hear(self, kind: str, text: str) -> None:
        if kind in ("error", "warning"):
            self.faults.append(f"{kind}: {text}")

    def open(self, address: str = "/") -> None:
        self.page.goto(self.url + address)
        expect(self.page.locator("#samples button")).to_have_count(10)

    def check(self) -> None:
        assert self.faults == []
        assert [url for url in self.requests if not url.startswith(self.url)] == []

    # ---- input ----

    def example(self, name: str) -> None:
        """Open an example; without motion, at its end."""
        self.page.locator(f"[data-sample={name}]").click()
        self.drawn()

    def paste(self, text: str, kind: str = "auto", schema: str = "") -> None:
        if not self.page.locator("#paste").is_visible():
            self.page.locator("#new").click()
        if kind != "auto" or schema:
            self.page.locator("#options").evaluate("(options) => { options.open = true; }")
            self.page.locator("#kind").select_option(kind)
            self.page.locator("#schema").fill(schema)
        self.page.locator("#paste").fill(text)
        self.page.get_by_role("button", name="Show what happened").click()
        expect(self.page.locator("#stage")).to_be_visible()
        self.drawn()

    def open_file(self, file: Path) -> None:
        self.page.locator("#file-input").set_input_files(file)
        expect(self.page.locator("#stage")).to_be_visible()
        self.drawn()

    def tab(self, name: str) -> None:
        self.page.locator(f"#tab-{name}").click()
        self.drawn()

    def seek(self, position: int) -> None:
        self.page.locator("#slider").evaluate(
            """(slider, value) => {
                slider.value = value;
                slider.dispatchEvent(new Event("input", { bubbles: true }));
            }""",
            position,
        )
        self.drawn()

    # ---- what it shows ----

    def length(self) -> int:
        return int(self.page.locator("#slider").get_attribute("max") or 0)

    def row(self, key: str) -> Locator:
        """Return the rows of the tree with this key."""
        key_of = self.page.get_by_text(key, exact=True).and_(self.page.locator(".key"))
        return self.page.locator("#tree .row", has=key_of)

    def tree(self) -> str:
        return self.page.locator("#tree").inner_text()

    def text(self) -> str:
        return self.page.locator("#panel-text .text").inner_text()

    def diagnosis(self) -> dict[str, str]:
        """Return the tone of the diagnosis, and what is wrong, where, and what to do."""
        parts = {name: self.page.locator(f"#{name}").inner_text() for name in WORDS}
        return {"tone": self.page.locator("#diagnosis").get_attribute("data-tone") or "", **parts}

    def drawn(self) -> None:
        """Wait until what has arrived is drawn."""
        self.page.evaluate(TWO_FRAMES)

    def until(self, check: Callable[[], Any], seconds: float = 10) -> Any:
        """Return the result of `check` once it is true."""
        end = time.monotonic() + seconds * SLACK
        while not (value := check()):
            assert time.monotonic() < end, f"{self.diagnosis()}; {self.faults}"
            self.page.wait_for_timeout(50)  # not sleep(): events are handled while it waits
        return value

    def copied(self) -> str:
        text: str = self.page.evaluate("navigator.clipboard.readText()")
        return text
