"""The tools of the page: pasted texts, the address and links."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from support import hard
from support.processes import Server

from .shown import Shown

STORM = '{"title": "Storm", "tags": ["a", "b"], "size": 12}'


def chunk(**delta: Any) -> str:
    choice = {"index": 0, "delta": delta}
    return json.dumps({"object": "chat.completion.chunk", "id": "c", "choices": [choice]})


def timed(text: str, size: int = 5, step: float = 0.05) -> str:
    """A chat stream as server-sent events, in lines with times."""
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    return "\n".join(
        f"{1 + step * at:.3f} data: {chunk(content=piece)}" for at, piece in enumerate(pieces)
    )


def bar(page: Page) -> Locator:
    return page.locator("#findings")


# ---- what is pasted ----


@hard
@pytest.mark.parametrize(
    ("text", "recognised"),
    [
        (STORM, "JSON text."),
        ('{"ts": 1, "msg": "a"}\n{"ts": 2, "msg": "ab"}\n', "several documents."),
        (f"[{chunk(content='{')}, {chunk(content='}')}]", "2 OpenAI chat events in a JSON array."),
        (
            f"data: {chunk(content='{}')}\n\ndata: [DONE]\n\n",
            "1 OpenAI chat event as server-sent events.",
        ),
        ('{"a": "x"}\n{"a": "xy"}\n{"a": "xyz"}', "3 snapshots."),
    ],
    ids=["text", "log", "array", "sse", "snapshots"],
)
def test_what_was_recognised_is_said(shown: Shown, text: str, recognised: str) -> None:
    shown.paste(text)
    expect(bar(shown.page).locator(".recognised")).to_have_text(f"Detected: {recognised}")
    expect(bar(shown.page).locator(".problem")).to_be_hidden()


@hard
def test_a_pasted_text_does_not_leave_the_browser(shown: Shown) -> None:
    page = shown.page
    shown.requests.clear()
    shown.paste(timed('{"secret": "swordfish"}'))
    shown.to_end()
    expect(page.locator("#raw")).to_contain_text("rdfis")
    page.locator("#tab-calls").click()
    page.wait_for_timeout(500)
    asked = [url for url in shown.requests if "/web/" not in url]
    assert [url for url in asked if not re.search(r"/v1/streams/[^/]+/events", url)] == []
    assert not any("swordfish" in url for url in shown.requests)


# ---- what is kept and shared ----


@hard
def test_reload_and_back_show_the_same_moment(shown: Shown) -> None:
    page = shown.page
    shown.paste(timed(STORM), "sse")
    position = shown.back()
    page.locator("#tab-calls").click()
    expect(page).to_have_url(re.compile(r"#.*format=sse.*view=calls.*text="))
    expect(page).to_have_title("Pasted text – jsonrill")
    page.wait_for_timeout(500)
    page.reload()
    expect(page.locator("#position")).to_have_text(position)
    expect(page.locator("#tab-calls")).to_have_attribute("aria-selected", "true")
    page.locator("[data-model]").nth(1).click()
    expect(page).to_have_url(re.compile("#model="))
    page.go_back()
    expect(page.locator("#title")).to_have_text("Pasted text")
    expect(page.locator("#position")).to_have_text(position)
    page.go_forward()
    expect(page.locator("#title")).not_to_have_text("Pasted text")


@hard
def test_a_link_opens_the_same_in_another_tab(shown: Shown) -> None:
    page = shown.page
    shown.paste(STORM)
    position = shown.back()
    page.get_by_role("button", name="Copy link").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    url = page.evaluate("navigator.clipboard.readText()")
    other = page.context.new_page()
    other.goto(url)
    expect(other.locator("#position")).to_have_text(position)
    expect(other.locator("#view-tree .tree")).to_contain_text("Storm")
    other.close()


def test_an_address_that_anybody_wrote_is_harmless(page: Page, demo: Server) -> None:
    shown = Shown(page, demo.url)
    for hash in ("#text=%00&view=<b>", "#model=none", "#stream=../x&path=[", "#text=AAAA&piece=9"):
        shown.open(f"/{hash}")
        page.wait_for_timeout(200)
        page.goto("about:blank")
    bad = [one for one in shown.faults if "404" not in one]
    assert bad == []


# ---- strangers' text ----


def test_hostile_text_is_only_text_in_every_tool(shown: Shown) -> None:
    page = shown.page
    key = "<img src=x onerror=alert(1)>\u202e"
    text = json.dumps({key: ["</script>\u202e", {key: "\u0000"}], "b": 1}, ensure_ascii=False)
    shown.paste(f"'{key}' {text},")
    shown.to_end()
    assert page.locator("main img").count() == 0
    shown_text = page.locator("main").evaluate("(main) => main.innerText")
    assert "\u202e" not in shown_text and "\u0000" not in shown_text
    titles = page.locator("[title]").evaluate_all("(all) => all.map((one) => one.title).join('')")
    assert "\u202e" not in titles
    assert "\u202e" not in page.title()
