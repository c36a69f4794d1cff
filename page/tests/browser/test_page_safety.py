"""Untrusted text is only ever text; a token is asked for and kept in memory."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import httpx2
import pytest
from playwright.sync_api import Page, expect

from jsonrill_server.demo.models import models
from support import ROOT, hard
from support.processes import Server

from .shown import Shown


def everything(page: Page) -> list[str]:
    """The tags of all elements that are in the page."""
    tags: list[str] = page.evaluate(
        "[...new Set([...document.querySelectorAll('*')].map((it) => it.localName))]"
    )
    return tags


def test_hostile_strings_are_shown_as_text(shown: Shown) -> None:
    before = set(everything(shown.page))
    shown.speed(5)
    shown.model("hostile")
    shown.page.locator("#log summary").click()
    for view in ("tree", "updates", "pieces"):
        shown.model("hostile")
        if view == "pieces":
            shown.page.locator("#raw-pieces").click()
        else:
            shown.view(view)
        shown.done()
        check_hostile_strings(shown, view)
        assert set(everything(shown.page)) <= before | {
            "ul",
            "li",
            "mark",
            "b",
            "article",
            "h3",
            "h4",
        }


def check_hostile_strings(shown: Shown, view: str) -> None:
    page = shown.page
    body = page.locator("#raw") if view == "pieces" else shown.panel.locator(".body")
    text = shown.until(lambda: (text := body.inner_text()).count("isolated") and text)
    for markup in ("<img src=x onerror=", "</script><script>", "javascript:alert(1)"):
        assert markup in text.replace('\\"', '"')
    # Marks that reorder text are signs; nothing that reorders is left anywhere on the page.
    assert "invoice_‹U+202E›fdp.exe and ‹U+2067›isolated‹U+2069› text" in text
    whole = page.locator("body").inner_text()
    assert not re.search("[\u202a-\u202e\u2066-\u2069\u200e\u200f\u0000-\u0008\u001b\u2028]", whole)
    if view != "pieces":
        assert "‹U+001B›[31mred‹U+001B›[0m and a bell‹U+0007›" in text
        assert shown.line("polluted").count() == 2
        assert shown.value('""') == "an empty key"
    if view == "tree":
        assert "9007199254740993" in text and "12345678901234567890" in text
    assert page.title().endswith("jsonrill")
    assert page.evaluate("({}).polluted === undefined && [].polluted === undefined")


@hard
def test_what_is_copied_is_what_was_sent(shown: Shown) -> None:
    shown.speed(5)
    shown.model("hostile")
    shown.done()
    shown.line("bidi").click()
    shown.panel.locator(".copy-value").click()
    assert json.loads(shown.copied()) == "invoice_\u202efdp.exe and \u2067isolated\u2069 text"
    shown.line('"a.b[0]/~\\"c\\""').click()
    shown.panel.locator(".copy-path").click()
    assert shown.copied() == 'root["a.b[0]/~\\"c\\""]'
    shown.panel.locator(".copy-pointer").click()
    assert shown.copied() == '/a.b[0]~1~0"c"'


def test_hostile_calls_and_errors_are_text_too(shown: Shown) -> None:
    evil = "<img src=x onerror=alert(1)>\u202e"
    call = {"index": 0, "id": evil, "function": {"name": evil, "arguments": f'{{"a": "{evil}"'}}
    lines = [
        {"id": evil, "choices": [{"index": 0, "delta": {"tool_calls": [call]}}]},
        {"id": evil, "choices": [{"index": 0, "delta": {"content": evil}}]},
    ]
    shown.speed(5)
    shown.paste("\n".join(json.dumps(line) for line in lines))
    shown.done()
    card = shown.page.locator(".call")
    assert card.locator("h3").inner_text() == "<img src=x onerror=alert(1)>‹U+202E›"
    assert shown.page.locator("img").count() == 0
    shown.paste(f'{{"{evil}": oops')
    expect(shown.page.locator("#findings .problem")).to_contain_text("<img src=x")
    assert shown.page.locator("img").count() == 0


def test_the_policy_is_strict_and_nothing_breaks_it(shown: Shown) -> None:
    page = shown.page
    page.evaluate(
        """() => {
            window.violations = [];
            document.addEventListener("securitypolicyviolation",
                (event) => violations.push(event.violatedDirective));
        }"""
    )
    shown.speed(5)
    for model in models():
        if model != "buoy":
            shown.model(model)
            shown.done()
    assert page.evaluate("violations") == []
    # It is really there: markup cannot even be made from text by this page's own scripts.
    refused = page.evaluate(
        """() => {
            try { document.createElement("div").innerHTML = "<b>x</b>"; return "taken"; }
            catch (error) { return error.name; }
        }"""
    )
    assert refused == "TypeError"
    shown.until(lambda: page.evaluate("violations") != [])
    shown.faults.clear()


def test_the_sources_never_make_markup() -> None:
    forbidden = re.compile(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|new Function|"
        r"DOMParser|createContextualFragment|\.srcdoc|\son[a-z]+=|https?://(?!www\.w3\.org)"
    )
    for file in (*(ROOT / "js" / "src").rglob("*.*"), *(ROOT / "page").glob("*.*")):
        lines = [line for line in file.read_text("utf8").splitlines() if forbidden.search(line)]
        assert lines == [], file.name


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("guarded")
    with Server(
        folder, demo=True, tokens="me:the-token-of-mine,other:another-long-token"
    ) as server:
        yield server


def give(page: Page, token: str) -> None:
    expect(page.locator("#token")).to_be_visible()
    page.locator("#token-text").fill(token)
    page.locator("#token .main").click()


def test_a_token_is_asked_for_until_it_is_right(page: Page, guarded: Server) -> None:
    shown = Shown(page, guarded.url)
    page.goto(guarded.url)
    give(page, "wrong")
    expect(page.locator("#token-wrong")).to_be_visible()
    give(page, "the-token-of-mine")
    expect(page.locator("#model-list button").first).to_be_visible()
    shown.speed(5)
    shown.model("recipe")
    shown.done()
    assert shown.raw() == models()["recipe"].says()
    # It is in this page's memory alone: no address, no storage, no cookie has it.
    assert not [url for url in shown.requests if "the-token" in url]
    kept = page.evaluate("JSON.stringify([{ ...localStorage }, { ...sessionStorage }])")
    assert "the-token" not in kept + page.evaluate("document.cookie") + page.content()
    assert page.locator("#token-text").input_value() == ""
    page.reload()
    expect(page.locator("#token")).to_be_visible()


@hard
def test_without_a_token_nothing_is_told(page: Page, guarded: Server) -> None:
    stream = httpx2.post(
        f"{guarded.url}/v1/streams",
        json={},
        headers={"authorization": "Bearer another-long-token"},
        trust_env=False,
    ).json()["id"]
    page.goto(guarded.url)
    expect(page.locator("#token")).to_be_visible()
    page.locator("#token button[value=cancel]").click()
    expect(page.locator("#problem")).to_have_text(
        "The examples cannot be listed: a token is needed"
    )
    page.locator("#open-box summary").click()
    page.locator("#open-id").fill(stream)
    page.locator("#open-form .main").click()
    give(page, "the-token-of-mine")
    expect(page.locator("#state")).to_have_text("Failed: there is no such stream")
