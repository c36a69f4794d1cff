"""A stream that went wrong: what is wrong, where, what was good before, and what to change."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import expect

from support import few, hard

from .broken_streams import BROKEN, Broken, chat
from .shown import Shown


@few(1)
@pytest.mark.parametrize("broken", BROKEN.values(), ids=BROKEN)
def test_a_broken_stream_says_what_is_wrong_and_shows_what_was_good(
    shown: Shown, broken: Broken
) -> None:
    page = shown.page
    shown.paste(broken.text)
    expect(page.locator("#state")).to_have_text(broken.state)
    expect(page.locator("#dot")).to_have_attribute("data-state", "failed")
    # Once, in one wording.
    expect(page.locator("main").get_by_text(broken.problem, exact=True)).to_have_count(1)
    expect(page.locator("#tab-tree")).to_be_visible(visible=broken.tree is not None)
    for key, value in (broken.tree or {}).items():
        expect(shown.line(key).locator(".value")).to_have_text(value)
    if broken.tree:
        assert shown.panel.locator(".badge").count() == 1
    expect(page.locator("#raw mark.error")).to_have_text([broken.mark] if broken.mark else [])
    expect(page.locator("#findings .advice")).to_be_visible()


# The texts of no provider; what is to be changed.
PLAIN = {
    '{"a": 1, "b": oops}': "Correct the text at the mark",
    '{"a": 1, "b": "oo': "copied before the end",
    "<!doctype html><title>502 Bad Gateway</title>": "error page of a proxy",
    "I am sorry.": "JSON without words",
}


def test_a_text_says_what_to_change(shown: Shown) -> None:
    for text, advice in PLAIN.items():
        shown.paste(text)
        expect(shown.page.locator("#dot")).to_have_attribute("data-state", "failed")
        expect(shown.page.locator("#findings .advice")).to_contain_text(advice)


@hard
@pytest.mark.parametrize(
    "text",
    [
        "Of course! JSON is a format for data, and people like it. " * 12,
        "Take care of the keys.\n" * 20 + '\n```json\n{"a": 1}\n```\n' + "That is all.\n" * 20,
    ],
    ids=["prose", "prose with some JSON"],
)
def test_an_answer_in_prose_is_not_an_error(shown: Shown, text: str) -> None:
    shown.paste(chat(text, "stop"))
    expect(shown.page.locator("#state")).to_have_text("Complete")
    expect(shown.page.locator("#tab-tree")).to_be_hidden()
    expect(shown.page.locator("#findings .problem")).to_be_hidden()


@hard
def test_the_text_and_the_events_of_a_provider_are_both_at_hand(shown: Shown) -> None:
    page = shown.page
    text = '{"title": "Storm", "size": 12}'
    shown.paste(chat(text, "stop"))
    shown.to_end()
    shown.until_raw(text)
    page.get_by_role("button", name="Events", exact=True).click()
    expect(page.locator("#raw .event").first).to_contain_text("chat.completion.chunk")
    page.get_by_role("button", name="Text", exact=True).click()
    page.get_by_role("button", name="Show pieces").click()
    expect(page.locator("#raw .piece")).to_have_text([text[at : at + 6] for at in range(0, 30, 6)])
    assert json.loads(shown.raw()) == json.loads(text)
