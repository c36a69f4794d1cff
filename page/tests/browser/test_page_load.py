"""The page under load: three thousand events a second, ten thousand values, and it still answers.

Times are asserted coarsely, for a page that is frozen, not for one on a busy machine; what was
measured is printed (`pytest -s`). TEST_HARDER=1 lets the flood last ten seconds instead of one.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from typing import Any

import httpx2
from playwright.sync_api import Page, expect

from jsonrill.demo.recordings import recorded
from jsonrill_server.demo.models import large
from support import HARDER, SLACK, hard
from support.processes import Server

from .shown import Shown

RATE = 3000
SECONDS = 10 if HARDER else 1
# A page that does not answer for so long is frozen.
FROZEN = 2500 * SLACK
WATCH = """() => {
    window.gaps = []; window.long = [];
    let last = performance.now();
    const tick = (now) => { gaps.push(now - last); last = now; requestAnimationFrame(tick); };
    requestAnimationFrame(tick);
    new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) long.push(entry.duration);
    }).observe({ entryTypes: ["longtask"] });
}"""


class Flood(threading.Thread):
    """One request whose body is sent at this rate: each line a record, and each an event."""

    def __init__(self, url: str, lines: list[str]) -> None:
        super().__init__()
        self.url = url
        self.lines = lines
        self.took = 0.0

    def run(self) -> None:
        headers = {"content-type": "application/x-ndjson"}
        with httpx2.Client(trust_env=False, timeout=60) as http:
            begun = time.monotonic()
            http.post(f"{self.url}/events", content=self.body(), headers=headers)
            self.took = time.monotonic() - begun
            http.post(f"{self.url}/close")

    def body(self) -> Iterator[bytes]:
        begun, sent = time.monotonic(), 0
        while sent < len(self.lines):
            due = min(len(self.lines), int((time.monotonic() - begun) * RATE) + 1)
            if due > sent:
                yield "".join(self.lines[sent:due]).encode()
                sent = due
            time.sleep(0.005)


def watched(page: Page) -> dict[str, Any]:
    figures: dict[str, Any] = page.evaluate(
        """() => ({
            frames: gaps.length, longest: Math.round(Math.max(...gaps)),
            tasks: long.length, task: Math.round(Math.max(0, ...long)),
        })"""
    )
    return figures


@hard
def test_three_thousand_events_a_second(shown: Shown, demo: Server) -> None:
    page = shown.page
    count = RATE * SECONDS
    elements = [f'{{"n":{at},"s":"wave {at}"}}' for at in range(count - 1)]
    lines = [json.dumps(("," if at else "[") + text) + "\n" for at, text in enumerate(elements)]
    lines.append('"]"\n')
    stream = httpx2.post(f"{demo.url}/v1/streams", json={}, trust_env=False).json()["id"]
    page.locator("#open-box summary").click()
    page.locator("#open-id").fill(stream)
    page.locator("#open-form .main").click()
    expect(page.locator("#dot")).to_have_attribute("data-state", "open")
    page.evaluate(WATCH)
    flood = Flood(f"{demo.url}/v1/streams/{stream}", lines)
    flood.start()
    # It answers in the midst of it.
    shown.panel.locator(".row").first.wait_for()
    page.locator("#log summary").click()
    expect(page.locator(".log-line").first).to_be_visible()
    shown.panel.locator(".tree > .item").focus()
    page.keyboard.press("Home")
    expect(shown.panel.locator(".path")).to_have_text("root")
    shown.done(120)
    flood.join()
    print(f"\n{count} events, sent in {flood.took:.1f} s: {watched(page)}")
    assert shown.figure("events").replace("\u202f", "") == str(count)
    assert shown.figure("duplicates") == "0" and shown.figure("gaps") == "0"
    assert watched(page)["longest"] < FROZEN and watched(page)["task"] < FROZEN
    expect(shown.panel.locator(".value.array").first).to_have_text(f"[{count - 1}]")
    shown.panel.locator(".row").first.click()
    shown.panel.locator(".copy-value").click()
    expect(page.locator("#live")).to_have_text("Copied the value")
    assert json.loads(shown.copied()) == json.loads("[" + ",".join(elements) + "]")


@hard
def test_ten_thousand_values_stay_smooth(shown: Shown) -> None:
    page = shown.page
    page.evaluate(WATCH)
    shown.speed(3)
    shown.slide("#piece", 5)
    shown.model("buoy")
    shown.done(60)
    streaming = watched(page)
    document = json.loads(large())
    measured = len(document["measurements"])
    assert shown.value("measurements") == f"[{measured}]"
    assert page.locator(".item").count() < 4000
    # However few frames there were: one is drawn in which the list grows.
    shown.slide("#scrub", shown.pieces() // 2)
    expect(shown.panel.locator(".growing, .caret-line").first).to_be_visible()
    shown.to_end()
    shown.done()
    # The end of the list was followed; the elements before it come when asked for.
    expect(shown.line(str(measured - 1))).to_have_count(1)
    more = shown.panel.locator(".more")
    assert more.inner_text().startswith("show 200 previous of")
    more.click()
    expect(shown.line(str(measured - 350))).to_have_count(1)
    query = shown.panel.locator(".query")
    query.fill(document["measurements"][-1]["at"])
    query.press("Enter")
    expect(shown.panel.locator(".path")).to_have_text(f"root.measurements[{measured - 1}].at")
    expect(shown.panel.locator(".current")).to_be_in_viewport()
    # Only a page of the list is there, around what was found; the one before comes when asked for.
    assert page.locator(".item").count() < 1500
    before = shown.panel.locator(".more").first
    assert before.inner_text().startswith("show 200 previous of")
    before.click()
    expect(shown.line("1000")).to_have_count(1)
    shown.panel.locator(".collapse").click()
    expect(shown.line("station")).to_have_count(1)
    shown.panel.locator(".expand").click()
    print(f"\nten thousand values: {streaming} while streaming, {watched(page)} in all")
    assert watched(page)["longest"] < FROZEN
    shown.panel.locator(".row").first.click()
    shown.panel.locator(".copy-value").click()
    expect(page.locator("#live")).to_have_text("Copied the value")
    assert json.loads(shown.copied()) == document


def test_a_hidden_tab_draws_nothing_and_catches_up(page: Page, demo: Server) -> None:
    # No frame comes while the tab is hidden; a headless browser never hides one by itself.
    page.add_init_script(
        """
        const real = window.requestAnimationFrame.bind(window);
        const waiting = [];
        window.asleep = false;
        window.requestAnimationFrame = (work) => asleep ? waiting.push(work) : real(work);
        window.wake = () => { asleep = false; waiting.splice(0).forEach(real); };
        """
    )
    shown = Shown(page, demo.url)
    shown.open()
    page.evaluate("() => { asleep = true; }")
    shown.speed(4)
    shown.model("voyage")
    shown.done(drawn=False)
    assert page.locator(".item").count() == 0 and shown.raw() == ""
    page.evaluate("wake()")
    shown.until_raw(recorded("voyage.txt"))
    expect(shown.panel.locator(".badge.completed")).to_have_count(5)
    shown.check()


@hard
def test_long_strings_are_folded(shown: Shown) -> None:
    text = "tide " * 2000
    shown.speed(5)
    shown.slide("#piece", 9)
    shown.paste(json.dumps({"long": text}))
    shown.done()
    assert len(shown.value("long")) < 300
    shown.panel.locator(".unfold").click()
    assert shown.value("long") == text.rstrip() or len(shown.value("long")) > 9000
    shown.line("long").click()
    shown.panel.locator(".copy-value").click()
    assert json.loads(shown.copied()) == text


@hard
def test_a_long_replay_can_be_dragged_through(shown: Shown) -> None:
    page = shown.page
    shown.speed(5)
    shown.slide("#piece", 5)
    shown.paste(large())
    shown.done(60)
    records = shown.pieces()
    page.evaluate(WATCH)
    for place in (*range(records, 0, -records // 12), *range(0, records, records // 7)):
        shown.slide("#scrub", place)
        page.wait_for_timeout(20)
    shown.slide("#scrub", records // 2)
    shown.until(lambda: len(shown.raw()) and page.locator("#position").inner_text())
    half = large()[: 32 * (records // 2)]
    shown.until(lambda: half.endswith(shown.raw()[-2000:]))
    print(f"\ndragged through {records} pieces: {watched(page)}")
    assert watched(page)["longest"] < FROZEN
