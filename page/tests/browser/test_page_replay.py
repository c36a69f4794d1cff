"""Replay of a pasted text: its format is detected, it is cut into pieces, played and scrubbed."""

from __future__ import annotations

import json
from typing import Any

import pytest
from playwright.sync_api import expect

from jsonrill.demo.recordings import recorded
from support import CASES, HARDER, hard

from .shown import Shown

TEXT = json.dumps({"list": [*range(40)], "text": "grows 🌊 " * 12, "end": True})


def at(shown: Shown) -> tuple[int, int]:
    here, _, there = shown.page.locator("#position").inner_text().replace("\u202f", "").split()
    return int(here), int(there)


@hard
def test_a_text_is_replayed_in_pieces(shown: Shown) -> None:
    shown.paste(TEXT)
    expect(shown.page.locator(".recognised")).to_have_text("Detected: JSON text.")
    expect(shown.page.locator("#player")).to_be_visible()
    shown.done()
    assert at(shown) == (len(TEXT) // 4 + 1, len(TEXT) // 4 + 1)
    assert shown.raw() == TEXT
    assert shown.value("list") == "[40]" and shown.value("end") == "true"


def test_the_scrubber_goes_anywhere(shown: Shown) -> None:
    shown.paste(TEXT)
    shown.line("list").wait_for()
    records = at(shown)[1]
    for place in (records, 10, records // 2, 3, records - 4, 0, records):
        shown.slide("#scrub", place)
        shown.until_raw(TEXT[: 4 * place])
        assert at(shown) == (place, records)
        expect(shown.line("end")).to_have_count(int(place == records))
    shown.slide("#scrub", 20)
    for button, place in (("#next-piece", 21), ("#next-piece", 22), ("#previous-piece", 21)):
        shown.page.locator(button).click()
        shown.until_raw(TEXT[: 4 * place])
    shown.speed(5)
    shown.page.locator("#play").click()
    shown.done()
    assert shown.raw() == TEXT


@hard
def test_it_is_paused_and_goes_on(shown: Shown) -> None:
    shown.paste(TEXT)
    shown.line("list").wait_for()
    shown.page.locator("#play").click()
    expect(shown.page.locator("#play")).to_have_text("Play")
    shown.drawn()
    paused = at(shown)
    shown.page.wait_for_timeout(300)
    assert at(shown) == paused
    shown.speed(5)
    shown.page.keyboard.press("k")
    shown.done()
    assert shown.raw() == TEXT


@hard
def test_other_pieces(shown: Shown) -> None:
    shown.speed(5)
    shown.paste(TEXT)
    shown.done()
    shown.slide("#piece", 0)
    shown.until(lambda: at(shown)[1] == len(TEXT))
    shown.done()
    shown.page.locator("#raw-pieces").click()
    shown.until(lambda: shown.page.locator("#raw .piece").count() == len(TEXT))


@hard
@pytest.mark.parametrize(
    "name, recognised, key, value",
    [
        ("ferry.jsonl", "9 snapshots.", "headline", "Ferry returns after the winter"),
        ("harbour.jsonl", "AG-UI events with tool calls", "harbour", "Old mole"),
        ("recipe.txt", "JSON text.", "serves", "4"),
    ],
)
def test_the_format_is_detected(
    shown: Shown, name: str, recognised: str, key: str, value: str
) -> None:
    shown.speed(5)
    shown.paste(recorded(name))
    expect(shown.page.locator(".recognised")).to_contain_text(recognised)
    shown.done()
    assert shown.value(key) == value


@hard
def test_several_documents(shown: Shown) -> None:
    shown.speed(5)
    shown.paste('{"a": 1}\n{"b": [2]}\n"three"\n')
    expect(shown.page.locator(".recognised")).to_have_text("Detected: several documents.")
    shown.done()
    assert shown.value("documents") == "[3]" and shown.value("b") == "[1]"
    shown.line("b").click()
    assert shown.panel.locator(".path").inner_text() == "root.b"


@hard
def test_a_providers_log_as_it_came(shown: Shown) -> None:
    events = "".join(f"data: {line}\n\n" for line in recorded("stumble.jsonl").splitlines())
    shown.speed(5)
    shown.paste(f"{events}data: [DONE]\n\n")
    expect(shown.page.locator(".recognised")).to_contain_text("as server-sent events")
    shown.done()
    assert shown.page.locator(".call h3").all_inner_texts() == ["search_places", "send_note"]


def test_streams_of_every_provider(shown: Shown) -> None:
    files = sorted((CASES / "providers").glob("*.json"))[:: 1 if HARDER else 4]
    shown.speed(5)
    read = 0
    for file in files:
        recording: dict[str, Any] = json.loads(file.read_text("utf8"))
        events = recording["events"]
        if not isinstance(events, list) or not all(isinstance(event, dict) for event in events):
            continue
        shown.paste("\n".join(json.dumps(event) for event in events), "events")
        expect(shown.page.locator("#title")).to_have_text("Pasted text")
        shown.done()
        calls = recording["expected_calls"]
        if shown.page.locator(".blank", has_text="was not recognised").count():
            continue
        read += 1
        expect(shown.page.locator(".call")).to_have_count(len(calls))
        names = shown.page.locator(".call h3").all_inner_texts()
        assert names == [call["name"] for call in calls], file.name
    assert read > len(files) / 2


@hard
def test_a_file_is_dropped(shown: Shown) -> None:
    shown.speed(5)
    shown.page.evaluate(
        """(text) => {
            const data = new DataTransfer();
            data.items.add(new File([text], "mine.json", { type: "application/json" }));
            for (const type of ["dragover", "drop"]) {
                document.body.dispatchEvent(
                    new DragEvent(type, { dataTransfer: data, bubbles: true, cancelable: true }));
            }
        }""",
        TEXT,
    )
    expect(shown.page.locator("#title")).to_have_text("mine.json")
    shown.done()
    assert shown.raw() == TEXT
    assert shown.page.locator("#drop").is_hidden()


@hard
def test_a_file_is_opened(shown: Shown) -> None:
    shown.speed(5)
    shown.page.locator("#paste-box summary").click()
    shown.page.locator("#paste-input").set_input_files(
        {"name": "chosen.json", "mimeType": "application/json", "buffer": TEXT.encode()}
    )
    shown.done()
    assert shown.page.locator("#title").inner_text() == "chosen.json"


@hard
@pytest.mark.parametrize(
    "text, offset", [('{"a": 1,, "b": 2}', 8), ("[1, 2", 5), ("[1] 2", 4), ('["🌊🌊", nil]', 8)]
)
def test_errors_stand_at_their_character(shown: Shown, text: str, offset: int) -> None:
    shown.speed(5)
    shown.paste(text, "text")
    shown.done()
    mark = shown.page.locator("#raw mark.error")
    expected = text[offset] if offset < len(text) else "end of text"
    assert mark.inner_text() == expected
    before = mark.evaluate(
        """(mark) => {
            const range = new Range();
            range.setStart(document.querySelector("#raw"), 0);
            range.setEndBefore(mark);
            return range.toString();
        }"""
    )
    assert before == text[:offset]
    # Before the error there is no mark; after it there is one again.
    shown.slide("#scrub", 0)
    expect(mark).to_have_count(0)
    shown.slide("#scrub", at(shown)[1])
    expect(mark).to_have_count(1)


@hard
def test_nothing_to_replay(shown: Shown) -> None:
    shown.paste("   ")
    expect(shown.page.locator("#problem")).to_have_text("There is no text to replay.")
