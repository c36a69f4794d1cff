"""What tests click and read on the page."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from typing import Any

from playwright.sync_api import Locator, Page, expect

from support import SLACK

DONE = re.compile(
    "^(?:Complete|Stopped|Failed|Cut off|Invalid|Not valid|Refused|Too large)(?!.*goes on)"
)
TWO_FRAMES = """() => new Promise((done) => {
    requestAnimationFrame(() => requestAnimationFrame(() => done()));
})"""


class Shown:
    """One open page. `faults` lists errors and warnings of the browser: it should stay empty."""

    def __init__(self, page: Page, url: str) -> None:
        self.page = page
        self.url = url
        self.faults: list[str] = []
        self.requests: list[str] = []
        page.on("console", lambda message: self._told(message.type, message.text))
        page.on("pageerror", lambda error: self.faults.append(f"error: {error}"))
        page.on("request", lambda request: self.requests.append(request.url))

    def _told(self, kind: str, text: str) -> None:
        if kind in ("error", "warning"):
            self.faults.append(f"{kind}: {text}")

    def open(self, path: str = "/", plays: bool = False) -> None:
        """Open the page; with `plays` it starts the first example by itself."""
        if not plays:
            self.page.emulate_media(reduced_motion="reduce")
        self.page.goto(self.url + path)
        if self.page.locator("html").get_attribute("data-demo") == "on":
            expect(self.page.locator("#model-list button").first).to_be_visible()
        self.page.emulate_media(reduced_motion="no-preference")

    def check(self) -> None:
        assert self.faults == []
        assert [url for url in self.requests if not url.startswith(self.url)] == []

    # ---- input ----

    def model(self, name: str) -> None:
        self.page.locator(f"[data-model={name}]").click()

    def speed(self, power: int) -> None:
        self.slide("#speed", power)

    def slide(self, slider: str, value: int) -> None:
        """Set a slider as the end of a drag does: the value, `input`, `change`."""
        self.page.locator(slider).evaluate(
            """(slider, value) => {
                slider.value = value;
                for (const type of ["input", "change"]) {
                    slider.dispatchEvent(new Event(type, { bubbles: true }));
                }
            }""",
            value,
        )

    def view(self, name: str) -> None:
        self.page.locator(f"#tab-{name}").click()

    def choose(self, select: str, value: str) -> None:
        self.panel.locator(f"select.{select}").select_option(value)

    def paste(self, text: str, format: str = "auto") -> None:
        box = self.page.locator("#paste-box")
        if box.get_attribute("open") is None:
            box.locator("summary").click()
        self.page.locator("#paste").fill(text)
        self.page.locator("#paste-format").select_option(format)
        self.page.locator("#paste-form .main").click()

    def pieces(self) -> int:
        """The number of pieces, once there are some."""
        scrub = self.page.locator("#scrub")
        count: int = self.until(lambda: int(scrub.get_attribute("max") or 0))
        return count

    def to_end(self) -> None:
        """Show the last moment."""
        self.slide("#scrub", self.pieces())

    def back(self) -> str:
        """Show the end and go one piece back; the position that the page then says."""
        pieces = self.pieces()
        self.to_end()
        self.page.locator("#previous-piece").click()
        position = f"{pieces - 1} of {pieces}"
        expect(self.page.locator("#position")).to_have_text(position)
        return position

    # ---- what is shown ----

    @property
    def panel(self) -> Locator:
        """The view that is shown."""
        return self.page.locator("#panels > .panel:not([hidden])")

    def line(self, key: str) -> Locator:
        """The lines of this key."""
        quoted = re.compile(f"^{re.escape(key)}$")
        key_of = self.page.locator(".key", has_text=quoted)
        return self.panel.locator(".row", has=key_of)

    def value(self, key: str) -> str:
        return self.line(key).first.locator(".value").inner_text()

    def raw(self) -> str:
        """The raw text."""
        text: str = self.page.locator("#raw").evaluate(
            """(raw) => {
                const copy = raw.cloneNode(true);
                const notes = copy.querySelectorAll(".earlier, .later");
                for (const note of notes) note.remove();
                return copy.textContent;
            }"""
        )
        return text

    def until_raw(self, text: str) -> None:
        self.until(lambda: self.raw() == text)

    def figure(self, label: str) -> str:
        """A figure below the views; "0" if it is not there, because it is zero."""
        figures = self.page.locator("#pane-figures > span")
        texts = [text.replace("\n", " ") for text in figures.all_inner_texts()]
        by_label = {text.rpartition(" ")[0].lower(): text.rpartition(" ")[2] for text in texts}
        return by_label.get(label, "0")

    def done(self, seconds: float = 20, drawn: bool = True) -> None:
        """Wait until the stream is complete in all panes, and until it is drawn."""
        expect(self.page.locator("#state")).to_have_text(DONE, timeout=seconds * 1000 * SLACK)
        if drawn:
            expect(self.page.locator("#raw .cursor")).to_be_hidden(timeout=seconds * 1000 * SLACK)
            self.drawn()

    def drawn(self) -> None:
        """Wait until what has arrived is drawn."""
        self.page.evaluate(TWO_FRAMES)

    def state(self) -> str:
        return self.page.locator("#state").inner_text()

    def until(self, check: Callable[[], Any], seconds: float = 20) -> Any:
        """The result of `check` once it is true."""
        end = time.monotonic() + seconds * SLACK
        while not (value := check()):
            assert time.monotonic() < end, f"{self.state()}; {self.faults}"
            self.page.wait_for_timeout(50)  # not sleep(): events arrive only while it is asked
        return value

    def copied(self) -> str:
        text: str = self.page.evaluate("navigator.clipboard.readText()")
        return text
