"""The page with simulated models: every format, disconnecting, restarts of the server."""

from __future__ import annotations

import json
import re
import threading
import time
from pathlib import Path
from typing import Any

import httpx2
import pytest
from playwright.sync_api import Page, expect

from jsonrill_server.demo.models import models
from support import few, hard, numbered
from support.processes import Server

from .shown import TWO_FRAMES, Shown

MODES = ("REALTIME", "PROGRESSIVE", "ONE-BY-ONE", "ALL-TOGETHER", "BATCH")


def said(name: str) -> str:
    return models()[name].says()


def test_a_model_is_chosen_and_streams(shown: Shown) -> None:
    expect(shown.page.locator("#invite")).to_be_visible()
    expect(shown.page.locator("#player")).to_be_hidden()
    shown.speed(1)
    shown.model("recipe")
    expect(shown.page.locator("#pane-1 .growing, #pane-1 .caret-line").first).to_be_visible()
    expect(shown.page.locator("#raw .cursor")).to_be_visible()
    expect(shown.page.locator("#dot")).to_have_attribute("data-state", "open")
    shown.done()
    assert shown.raw() == said("recipe")
    assert shown.value("title") == "Lentil soup with roasted carrots"
    assert shown.value("kcal") == "412" and shown.value("vegetarian") == "true"
    assert shown.line("2").last.inner_text().endswith("Serve with the carrots on top.")
    expect(shown.page.locator(".growing, .caret-line")).to_have_count(0)
    expect(shown.page.locator("#raw .cursor")).to_be_hidden()
    assert shown.figure("gaps") == "0"


@hard
def test_what_is_new_flashes_unless_motion_is_unwanted(shown: Shown) -> None:
    flashes = "document.getAnimations().filter((it) => !(it instanceof CSSAnimation)).length"
    shown.model("recipe")
    shown.until(lambda: shown.page.evaluate(flashes) > 0)
    shown.page.emulate_media(reduced_motion="reduce")
    shown.until(lambda: shown.page.evaluate("document.getAnimations().length") == 0)
    shown.line("serves").wait_for()
    assert shown.page.evaluate("document.getAnimations().length") == 0


def test_every_view_of_values_ends_in_the_same_document(shown: Shown) -> None:
    shown.speed(5)
    for view in ("tree", "updates"):
        shown.model("recipe")
        shown.view(view)
        shown.done()
        shown.until(lambda: shown.line("rating").count())
        for key, path in (("notes", "root.notes"), ("2", "root.steps[2]"), ("unit", "")):
            shown.line(key).last.click()
            shown.panel.locator(".copy-value").click()
            expect(shown.panel.locator(".path")).to_have_text(re.compile(f"^{re.escape(path)}"))
        document = json.loads(said("recipe"))
        shown.line("notes").click()
        shown.panel.locator(".copy-value").click()
        assert json.loads(shown.copied()) == document["notes"]
        shown.line("ingredients").click()
        shown.panel.locator(".copy-value").click()
        assert json.loads(shown.copied()) == document["ingredients"]


def test_five_modes_of_the_same_stream(shown: Shown) -> None:
    shown.speed(5)
    shown.model("voyage")
    shown.done()
    counts = {}
    for mode in MODES:
        shown.choose("mode", mode)
        shown.until(lambda: shown.panel.locator(".badge.completed").count())
        shown.page.evaluate(TWO_FRAMES)
        counts[mode] = int(shown.panel.locator(".count").inner_text().split()[0])
    assert counts["REALTIME"] > counts["PROGRESSIVE"] > counts["ONE-BY-ONE"] == 5
    assert counts["ALL-TOGETHER"] == 5 and counts["BATCH"] == 1


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


@hard
def test_chunks_are_told_apart(shown: Shown) -> None:
    shown.speed(5)
    shown.model("ferry")
    shown.page.locator("#raw-pieces").click()
    shown.done()
    pieces = shown.page.locator("#raw .piece")
    # What the other panes have shown may still be on its way to this one.
    shown.until(lambda: _is_json("".join(pieces.all_text_contents())))
    assert pieces.count() > 10
    assert json.loads("".join(pieces.all_text_contents())) == json.loads(
        said("ferry").splitlines()[-1]
    )


def test_tool_calls_grow_in_cards(shown: Shown) -> None:
    shown.model("harbour")
    shown.speed(5)
    cards = shown.page.locator(".call")
    expect(cards).to_have_count(2)
    expect(cards.first).to_have_attribute("data-status", "streaming")
    shown.page.locator("#restart").click()
    shown.done()
    expect(cards.locator("h3")).to_have_text(["get_tides", "book_berth"])
    expect(cards.locator("header .badge")).to_have_text(["complete", "complete"])
    for key, value in (("harbour", "Old mole"), ("name", "Kittiwake")):
        expect(shown.line(key).first.locator(".value")).to_have_text(value)
    assert "04:12" in cards.first.locator(".result").inner_text()
    assert "Berth C14 is yours" in cards.last.locator(".result").inner_text()
    cards.last.locator("summary").click()
    assert json.loads(cards.last.locator(".text").inner_text())["boat"]["draught"] == 1.6


@hard
def test_a_broken_call_shows_its_text_and_leaves_the_other_alone(shown: Shown) -> None:
    shown.speed(5)
    shown.model("stumble")
    shown.done()
    cards = shown.page.locator(".call")
    expect(cards.locator("header .badge")).to_have_text(["complete", "error"])
    broken = cards.last
    told = broken.locator(".problem").inner_text()
    assert told == "Line 1, column 49 in root.urgent: a value is expected, but there is 'y'."
    assert broken.locator("mark").inner_text() == "y"
    assert '"urgent": y' in broken.locator(".text").inner_text()
    assert "Double the lines tonight" in broken.locator(".text").inner_text()
    assert shown.state() == "Invalid arguments of send_note"


@few(1)
@pytest.mark.parametrize(
    "name, mark, before, state",
    [
        ("invalid", "p", '"state": ', "Invalid at character"),
        ("booking", '"', '"transfer": ', "Not valid against the schema"),
    ],
)
def test_an_error_is_marked_at_its_character(
    shown: Shown, name: str, mark: str, before: str, state: str
) -> None:
    shown.speed(4)
    shown.model(name)
    shown.done()
    fault = shown.page.locator("#raw mark.error")
    assert fault.inner_text() == mark
    text_before = fault.evaluate(
        """(mark) => {
            const range = new Range();
            range.setStart(document.querySelector("#raw"), 0);
            range.setEndBefore(mark);
            return range.toString();
        }"""
    )
    assert text_before.endswith(before) and said(name).startswith(text_before + mark)
    assert shown.state().startswith(state)
    assert shown.panel.locator(".badge.error").count() == 1
    assert shown.raw() == said(name)


@hard
def test_it_is_cut_and_taken_up_again(shown: Shown) -> None:
    shown.model("recipe")
    shown.line("serves").wait_for()
    shown.page.locator("#disconnect").click()
    expect(shown.page.locator("#resume")).to_be_enabled()
    expect(shown.page.locator("#state")).to_have_text(re.compile(r"Disconnected after event \d+"))
    shown.drawn()
    last = shown.figure("last id")
    time.sleep(0.6)
    # The stream goes on without the page.
    assert shown.figure("last id") == last
    shown.page.locator("#resume").click()
    shown.done()
    assert shown.raw() == said("recipe")
    assert shown.figure("reconnects") == "1" and shown.figure("duplicates") == "0"
    assert shown.value("rating") == "4.5"
    assert shown.figure("gaps") == "0"


@hard
def test_updates_of_another_mode_and_moment(shown: Shown) -> None:
    shown.speed(5)
    shown.model("recipe")
    shown.view("updates")
    shown.done()
    shown.choose("mode", "PROGRESSIVE")
    shown.line("rating").wait_for()
    shown.slide("#scrub", 3)
    expect(shown.line("serves")).to_have_count(0)
    shown.to_end()
    shown.line("rating").wait_for()
    # A text that was pasted is read by the page alone.
    shown.paste("[1]")
    expect(shown.page.locator("#tab-updates")).to_be_hidden()


@hard
def test_the_user_steps_back_while_it_streams(shown: Shown) -> None:
    shown.model("recipe")
    shown.line("serves").wait_for()
    assert shown.page.locator("#speed").is_disabled()
    expect(shown.page.locator("#speed-reason")).to_contain_text("A live stream has its own speed")
    shown.slide("#scrub", 3)
    shown.until_raw(said("recipe")[:12])
    expect(shown.page.locator("#state")).to_have_text("Paused at piece 3; the stream goes on")
    expect(shown.line("serves")).to_have_count(0)
    # It is played faster than it came, catches up, and follows again.
    shown.speed(5)
    shown.page.locator("#play").click()
    expect(shown.page.locator("#state")).to_have_text("Streaming")
    shown.done()
    assert shown.raw() == said("recipe") and shown.value("rating") == "4.5"


@hard
def test_the_marks_lead_to_their_moments(shown: Shown) -> None:
    shown.speed(5)
    shown.model("stumble")
    shown.done()
    marks = shown.page.locator("#marks button")
    assert marks.evaluate_all("(all) => all.map((it) => it.className)") == [
        "mark-error",
        "mark-call",
        "mark-call",
    ]
    shown.page.locator(".mark-call").first.click()
    expect(shown.page.locator(".call")).to_have_count(1)
    shown.page.locator(".mark-error").click()
    expect(shown.page.locator(".call .problem:visible")).to_have_count(1)
    shown.page.locator("#previous-piece").click()
    expect(shown.page.locator(".call .problem:visible")).to_have_count(0)


@hard
def test_a_model_is_stopped(shown: Shown) -> None:
    shown.model("recipe")
    shown.line("serves").wait_for()
    shown.page.locator("#stop").click()
    shown.done()
    assert shown.state() == "Stopped"
    expect(shown.page.locator("#dot")).to_have_attribute("data-state", "off")
    assert shown.page.locator("#raw mark").count() == 0
    assert said("recipe").startswith(shown.raw()) and shown.raw() != said("recipe")


def test_the_events_are_listed(shown: Shown) -> None:
    shown.speed(5)
    shown.slide("#piece", 4)
    shown.model("recipe")
    shown.page.locator("#log summary").click()
    shown.done()
    lines = shown.page.locator(".log-line")
    # The log is drawn a few times per second, so its end may come after the others'.
    shown.until(lambda: lines.count() > 30 and str(lines.count()) == shown.figure("events"))
    assert lines.first.locator(".data").inner_text().startswith('"{')
    number, _, checksum = lines.last.locator(".id").inner_text().partition("-")
    assert number.isdigit() and len(checksum) == 8
    assert lines.last.locator(".at").inner_text().endswith(" s")
    assert lines.last.locator(".since").inner_text().startswith("+")
    # A line leads to its moment, and the filter to the lines.
    lines.nth(7).click()
    shown.until_raw(said("recipe")[: 16 * 8])
    shown.slide("#scrub", int(shown.figure("events")))
    shown.page.locator("#log-filter").fill("carrots")
    shown.until(lambda: 0 < lines.count() < 8)
    assert all("carrots" in text for text in lines.all_inner_texts())


class Producer(threading.Thread):
    """Posts pieces, numbered, again and again until each was taken: as one that will not lose."""

    def __init__(self, server: Server, stream: str, pieces: list[str]) -> None:
        super().__init__()
        self.server = server
        self.stream = stream
        self.pieces = pieces

    def run(self) -> None:
        with httpx2.Client(base_url=self.server.url, trust_env=False, timeout=60) as self.http:
            for number, piece in enumerate(self.pieces):
                headers = {"content-type": "text/plain", **numbered(number)}
                self.insist("events", content=piece, headers=headers)
                time.sleep(0.02)
            self.insist("close")

    def insist(self, what: str, **more: Any) -> None:
        while True:
            try:
                url = f"/v1/streams/{self.stream}/{what}"
                if self.http.post(url, **more).status_code == 200:
                    return
            except httpx2.HTTPError:
                pass
            time.sleep(0.05)


@hard
@pytest.mark.parametrize("producer, how", [("a publisher", "kill"), ("a model", "end")])
def test_a_stream_survives_a_restart_of_the_server(
    tmp_path: Path, page: Page, producer: str, how: str
) -> None:
    store = f"sqlite:///{tmp_path}/log.db"
    with Server(tmp_path, demo=True, store=store, retry=100) as server:
        shown = Shown(page, server.url)
        shown.open()
        text = said("voyage")
        if producer == "a model":
            shown.slide("#piece", 3)
            shown.model("voyage")
            posting = None
        else:
            stream = httpx2.post(f"{server.url}/v1/streams", json={}, trust_env=False).json()["id"]
            pieces = [text[at : at + 8] for at in range(0, len(text), 8)]
            posting = Producer(server, stream, pieces)
            posting.start()
            page.locator("#open-box summary").click()
            page.locator("#open-id").fill(stream)
            page.locator("#open-form .main").click()
        shown.until(lambda: len(shown.raw()) > 80)
        getattr(server, how)()
        server.start()
        shown.done(60)
        if posting is not None:
            posting.join()
        assert shown.raw() == text
        assert int(shown.figure("reconnects")) >= 1
        assert shown.figure("duplicates") == shown.figure("gaps") == "0"
        shown.view("tree")
        shown.until(lambda: shown.line("4").count())
        assert shown.value("voyage") == "Along the quiet coast"
