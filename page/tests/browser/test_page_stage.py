"""Arrival, text and tree together, following, small screens, print."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from jsonrill_server.demo.models import models
from support import hard
from support.processes import Server

from .shown import Shown

LONG = json.dumps(
    {"list": [{"id": at, "name": f"wave {at}"} for at in range(400)], "end": "🌊\u202e"}
)
# The characters that a highlight marks.
MARKED = "(name) => [...(CSS.highlights.get(name) ?? [])].map(String).join('')"


@pytest.fixture
def arrived(page: Page, demo: Server) -> Iterator[Shown]:
    seen = Shown(page, demo.url)
    seen.open(plays=True)
    yield seen
    seen.check()


def pasted(shown: Shown, text: str) -> None:
    """Paste with Ctrl+V, somewhere on the page."""
    shown.page.evaluate("(text) => navigator.clipboard.writeText(text)", text)
    shown.page.locator("#stage").focus()
    shown.page.keyboard.press("Control+v")


def test_the_first_example_plays_by_itself_under_a_sentence(arrived: Shown) -> None:
    page = arrived.page
    expect(page.locator("#lead-text")).to_contain_text("JSON as a model writes it")
    expect(page.locator("#invite")).to_contain_text("Paste or drop your own stream")
    expect(page.locator("[data-model=recipe]")).to_have_attribute("aria-pressed", "true")
    arrived.line("serves").wait_for()
    panes = page.locator("#panes").bounding_box()
    assert panes is not None and panes["height"] >= 0.6 * 800
    assert page.locator("#version").inner_text()
    assert page.request.get(f"{arrived.url}/{page.locator('#api-link').get_attribute('href')}").ok
    # What the user chooses is all that is left.
    arrived.speed(5)
    arrived.model("harbour")
    arrived.done()
    expect(page.locator("#lead")).to_be_hidden()


@hard
def test_with_reduced_motion_and_without_examples_nothing_plays(
    page: Page, demo: Server, tmp_path: Any
) -> None:
    shown = Shown(page, demo.url)
    shown.open()
    page.wait_for_timeout(300)
    for part in ("#player", "#panes", "#strip", "#log"):
        assert page.locator(part).is_hidden(), part
    with Server(tmp_path) as server:
        page.goto(server.url)
        expect(page.locator("#lead-text")).to_contain_text("Paste what a model sent you")
        expect(page.locator("#paste")).to_be_visible()
        assert page.locator("#player").is_hidden()


@hard
def test_a_text_is_pasted_anywhere(shown: Shown) -> None:
    shown.speed(5)
    pasted(shown, '{"mine": [1, 2]}')
    shown.done()
    assert shown.value("mine") == "[2]"


def test_text_and_tree_belong_together(shown: Shown) -> None:
    page = shown.page
    shown.speed(5)
    shown.slide("#piece", 6)
    shown.model("recipe")
    shown.done()
    shown.line("kcal").hover()
    assert page.evaluate(MARKED, "hovered") == '"kcal": 412'
    shown.line("nutrition").click()
    marked = page.evaluate(MARKED, "selected")
    assert marked.startswith('"nutrition": {') and marked.endswith('"salt": 1.2}')
    key = page.locator("#raw .t-key", has_text='"serves"')
    key.hover()
    expect(shown.panel.locator(".linked > .row > .key")).to_have_text("serves")
    key.click()
    expect(shown.panel.locator(".path")).to_have_text("root.serves")
    colours = page.locator("#raw").evaluate(
        "(raw) => [...new Set([...raw.querySelectorAll('span')].map((it) => it.className))]"
    )
    assert {"t-key", "t-string", "t-number", "t-word"} <= {*colours}


@hard
def test_what_is_copied_from_the_raw_text_is_the_raw_text(shown: Shown) -> None:
    page = shown.page
    shown.speed(5)
    shown.slide("#piece", 9)
    shown.paste(LONG, "text")
    shown.done()
    while page.locator("#raw .earlier").count():
        page.locator("#raw .earlier").click()
    assert page.locator("#raw .block").count() > 5
    page.locator("#raw").evaluate("(raw) => getSelection().selectAllChildren(raw)")
    page.keyboard.press("Control+c")
    assert shown.copied() == LONG
    # The lines of a tree are copied as JSON.
    page.locator("#scrub").focus()
    shown.panel.locator(".collapse").click()
    page.evaluate("getSelection().selectAllChildren(document.querySelector('#view-tree .tree'))")
    page.keyboard.press("Control+c")
    assert json.loads(shown.copied()) == json.loads(LONG)


@hard
def test_the_end_of_a_list_is_followed_until_the_user_scrolls_back(shown: Shown) -> None:
    page = shown.page
    shown.slide("#piece", 4)
    shown.paste(LONG, "text")
    pieces = shown.pieces()
    shown.slide("#scrub", pieces * 3 // 4)
    shown.line("290").wait_for()
    assert shown.line("3").count() == 0
    follow = shown.panel.locator(".follow")
    expect(follow).to_be_hidden()
    shown.panel.locator(".body").hover()

    def back() -> bool:
        page.mouse.wheel(0, -4000)
        return follow.is_visible()

    shown.until(back)
    follow.click()
    expect(follow).to_be_hidden()
    shown.slide("#scrub", pieces)
    shown.done()
    expect(shown.line("399")).to_have_count(1)
    # A closed value shows how it begins.
    shown.panel.locator(".collapse").click()
    expect(shown.line("list").locator(".preview")).to_contain_text("{…}, {…}")


@hard
def test_one_step_back_in_fifty_thousand_pieces(shown: Shown) -> None:
    page = shown.page
    text = json.dumps([{"n": at, "s": "w" * 12} for at in range(7350)])
    shown.paste(text, "text")
    page.locator("#play").click()
    last = shown.pieces()
    assert last > 49_000
    shown.slide("#scrub", last)
    shown.done()
    for _ in range(3):
        page.locator("#previous-piece").click()
    state = f"Paused at piece {last - 3:,}".replace(",", "\u202f")
    expect(page.locator("#state")).to_have_text(state)

    def steps_back() -> bool:
        count = int(page.locator("#raw-figures b").inner_text().replace("\u202f", ""))
        return count < len(text) and shown.raw()[-40:] == text[count - 40 : count]

    shown.until(steps_back)


@hard
@pytest.mark.parametrize("size", [(390, 844), (640, 400)], ids=["phone", "zoomed"])
def test_what_grows_is_in_sight_on_a_small_screen(shown: Shown, size: tuple[int, int]) -> None:
    page = shown.page
    page.set_viewport_size({"width": size[0], "height": size[1]})
    shown.model("recipe")
    shown.line("kcal").wait_for()
    page.locator("#play").click()
    for _ in range(10):
        caret = shown.panel.locator(".growing, .caret-line").first
        expect(caret).to_be_in_viewport()
        expect(page.locator("#play")).to_be_in_viewport()
        page.locator("#next-piece").click()
    expect(page.locator("#raw")).to_be_hidden()
    shown.view("raw")
    expect(page.locator("#raw .cursor")).to_be_in_viewport()
    shown.view("tree")
    expect(page.locator("#raw")).to_be_hidden()


@hard
def test_the_page_can_be_printed(shown: Shown) -> None:
    shown.speed(5)
    shown.model("recipe")
    shown.done()
    shown.page.emulate_media(media="print")
    assert shown.page.locator("#player").is_hidden() and shown.page.locator(".sources").is_hidden()
    height = shown.panel.locator(".body").evaluate("(it) => [it.scrollHeight, it.clientHeight]")
    assert height[0] <= height[1] + 1
    shown.page.emulate_media(media="screen")


@hard
def test_the_theme_is_there_before_anything_is_painted(page: Page, demo: Server) -> None:
    page.goto(demo.url)
    page.evaluate("localStorage.setItem('jsonrill-theme', 'dark')")
    page.route("**/page.js", lambda route: route.abort())
    page.goto(demo.url)
    assert page.locator("html").get_attribute("data-theme") == "dark"
    page.evaluate("localStorage.clear()")


@hard
def test_a_recording_says_what_the_model_wrote(shown: Shown) -> None:
    shown.speed(5)
    shown.model("hostile")
    shown.done()
    page = shown.page
    page.locator("#raw").evaluate("(raw) => getSelection().selectAllChildren(raw)")
    page.keyboard.press("Control+c")
    assert shown.copied() == models()["hostile"].says()
