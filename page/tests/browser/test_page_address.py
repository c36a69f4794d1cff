"""The address is the stream; times; a server that is away; what one copies and looks for."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path

from playwright.sync_api import Page, expect

from support import SLACK, hard
from support.processes import Server

from .broken_streams import WRONG_CALL, chat
from .shown import Shown


def started(shown: Shown) -> list[str]:
    """The requests that start a generation."""
    return [url for url in shown.requests if url.endswith("demo/streams")]


@hard
def test_a_reload_resumes_the_example_and_back_returns_to_it(page: Page, demo: Server) -> None:
    shown = Shown(page, demo.url)
    shown.open(plays=True)
    expect(page).to_have_url(re.compile("#model=.*&stream="))
    shown.done()
    title = page.locator("#title").inner_text()
    page.reload()
    expect(page.locator("#title")).to_have_text(title)
    shown.done()
    shown.paste('{"a": [1')
    expect(page.locator("#state")).to_have_text("Cut off after character 8")
    page.go_back()
    expect(page.locator("#title")).to_have_text(title)
    shown.done()
    page.go_forward()
    expect(page.locator("#state")).to_have_text("Cut off after character 8")
    assert len(started(shown)) == 1
    shown.check()


@hard
def test_a_paste_is_shown_at_its_end_and_plays_in_a_few_seconds(shown: Shown) -> None:
    text = json.dumps([{"n": number, "text": "x" * 20} for number in range(5000)])
    shown.paste(text)
    count = shown.pieces()
    expect(shown.page.locator("#state")).to_have_text("Complete")
    assert shown.page.locator("#scrub").input_value() == str(count)
    begin = time.monotonic()
    shown.page.locator("#play").click()
    expect(shown.page.locator("#state")).to_have_text("Playing")
    shown.done()
    assert time.monotonic() - begin < 10 * SLACK


@hard
def test_times_that_were_not_measured_are_not_shown(shown: Shown) -> None:
    shown.paste(chat("", "tool_calls", tool_calls=[WRONG_CALL]))
    expect(shown.page.locator(".call .time")).to_be_empty()


@hard
def test_the_end_of_the_bar_follows_the_live_stream_again(shown: Shown) -> None:
    shown.model("recipe")
    shown.line("serves").wait_for()
    shown.slide("#scrub", 2)
    expect(shown.page.locator("#state")).to_have_text(re.compile("Paused at piece 2"))
    shown.page.locator("#scrub").evaluate(
        "(bar) => { bar.value = bar.max; bar.dispatchEvent(new Event('input')); }"
    )
    expect(shown.page.locator("#state")).to_have_text(re.compile("Streaming|Complete"))
    shown.done()


@hard
def test_the_page_says_what_happened_to_the_server(page: Page, tmp_path: Path) -> None:
    with Server(tmp_path, demo=True) as server:
        shown = Shown(page, server.url)
        shown.open()
        shown.speed(-2)
        shown.model("recipe")
        shown.line("serves").wait_for()
        server.kill()
        expect(page.locator("#state")).to_have_text(re.compile(r"^Connection lost .* next try"))
        expect(page.get_by_role("button", name="Try now")).to_be_visible()
        server.start()
        # It tries by itself, too.
        gone = "Failed: the server was restarted; its streams were in memory"
        expect(page.locator("#state")).to_have_text(gone)


def test_the_value_of_an_answer_is_copied(shown: Shown) -> None:
    shown.paste(chat('{"title": "Storm"}', "stop"))
    expect(shown.page.locator("#state")).to_have_text("Complete")
    shown.page.get_by_role("button", name="Copy JSON").click()
    shown.until(lambda: shown.copied() == '{\n  "title": "Storm"\n}')


@hard
def test_keys_that_come_twice_are_shown(shown: Shown) -> None:
    shown.paste(chat('{"a": 1, "a": 2}', "stop"))
    expect(shown.line("a").locator(".badge")).to_have_text("duplicate")
    expect(shown.page.locator("#findings")).to_contain_text("1 key comes more than once")


def test_streams_that_were_opened_are_listed(shown: Shown) -> None:
    shown.speed(5)
    shown.model("recipe")
    shown.done()
    shown.paste("[1]")
    expect(shown.page.locator("#title")).to_have_text("Pasted text")
    shown.page.locator("#open-box summary").click()
    shown.page.locator("#recent button").first.click()
    expect(shown.page.locator("#title")).to_have_text("Watch a recipe arrive")
    shown.done()


@hard
def test_the_position_is_not_a_live_region(shown: Shown) -> None:
    assert shown.page.locator(".player output, .player [aria-live]").count() == 0
