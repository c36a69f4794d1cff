"""Errors are shown where they belong, and nothing outdated stays on the page."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest
from playwright.sync_api import Page, expect

from jsonrill.demo.recordings import recorded
from support import hard
from support.processes import Server

from .shown import Shown

DROP = """([text, name]) => {
    const data = new DataTransfer();
    data.items.add(new File([text], name));
    for (const type of ["dragover", "drop"]) {
        document.body.dispatchEvent(
            new DragEvent(type, { dataTransfer: data, bubbles: true, cancelable: true }));
    }
}"""


@pytest.fixture
def http(demo: Server) -> Iterator[httpx2.Client]:
    with httpx2.Client(base_url=demo.url, trust_env=False) as client:
        yield client


def published(http: httpx2.Client, text: str, **options: Any) -> str:
    created: dict[str, Any] = http.post("/v1/streams", json=options).json()
    http.post(created["urls"]["events"], content=text, headers={"content-type": "text/plain"})
    http.post(created["urls"]["close"])
    stream: str = created["id"]
    return stream


def read(shown: Shown, stream: str) -> None:
    box = shown.page.locator("#open-box")
    if box.get_attribute("open") is None:
        box.locator("summary").click()
    shown.page.locator("#open-id").fill(stream)
    shown.page.locator("#open-form .main").click()


@hard
def test_calls_that_come_all_at_once_are_not_called_nothing(shown: Shown) -> None:
    shown.speed(5)
    shown.paste(recorded("harbour.jsonl"))
    shown.done()
    shown.slide("#scrub", 0)
    expect(shown.page.locator(".call")).to_have_count(0)
    shown.slide("#scrub", shown.pieces())
    expect(shown.page.locator(".call")).to_have_count(2)
    expect(shown.panel.locator(".blank")).to_have_count(0)


@hard
def test_a_key_that_comes_again_replaces_what_is_drawn(shown: Shown) -> None:
    shown.slide("#piece", 4)
    shown.paste('{"a":{"x":1},"a":{"y":2}, "b": 1}', "text")
    shown.done()
    shown.slide("#scrub", 1)
    shown.line("x").click()
    shown.page.keyboard.press("k")
    shown.done()
    expect(shown.line("y")).to_have_count(1)
    expect(shown.line("x")).to_have_count(0)
    # What was selected is gone: what was around it has the focus, and is reached by Tab again.
    focused = shown.page.evaluate("document.activeElement.getAttribute('role')")
    assert (
        focused == "treeitem" and shown.panel.locator('[role=treeitem][tabindex="0"]').count() == 1
    )
    expect(shown.panel.locator(".selection")).to_be_hidden()


@hard
def test_of_several_documents_the_broken_one_is_marked(shown: Shown) -> None:
    text = '{"a": 1}\n{"b": {"c": [1,, 2]}}\n{"d": 1}\noops\n[2'
    shown.speed(5)
    shown.paste(text, "many")
    shown.done()
    expect(shown.page.locator("#state")).to_have_text("Invalid at character 25")
    marks = shown.page.locator("#raw mark")
    assert marks.all_inner_texts() == [",", "o", "end of text"]
    assert shown.raw() == text + "end of text"
    assert shown.value("documents") == "[4]" and shown.value("d") == "1"
    badges = shown.panel.locator(".row", has=shown.page.locator(".badge"))
    assert badges.locator(".key").all_inner_texts() == ["c", "3"]


@hard
def test_two_faults_in_one_line(shown: Shown, http: httpx2.Client) -> None:
    text = '{"a": 12, "b": "🌊", "c": oops, "d": 1}'
    schema = {"type": "object", "properties": {"a": {"type": "string"}}}
    stream = published(http, text, schema=schema)
    read(shown, stream)
    shown.done()
    expect(shown.page.locator("#raw mark")).to_have_text(["1", "o"])
    assert shown.raw() == text


@hard
def test_a_message_that_speaks_of_another_place(shown: Shown, http: httpx2.Client) -> None:
    schema = {"type": "object", "required": ["k at character 2, in root"]}
    read(shown, published(http, '{"z": 1}', schema=schema))
    shown.done()
    expect(shown.page.locator("#findings .faults")).to_contain_text("k at character 2, in root")
    assert shown.page.locator("#raw mark").inner_text() == "{"
    shown.paste('{"x at character 1, in root": oops}', "text")
    expect(shown.page.locator("#raw mark")).to_have_text("o")


@hard
def test_what_a_publisher_says_of_its_failure_marks_nothing(
    shown: Shown, http: httpx2.Client
) -> None:
    stream: dict[str, Any] = http.post("/v1/streams", json={}).json()
    plain = {"content-type": "text/plain"}
    http.post(stream["urls"]["events"], content='{"a": [1, 2', headers=plain)
    said = "no tokens left at character 3, in root.a"
    failure = {"status": "error", "code": "FAILED", "message": said}
    for more in ({"offset": 3}, {"path": "root.a"}, {"line": 1}):
        assert (
            http.post(f"/v1/streams/{stream['id']}/close", json=failure | more).status_code == 422
        )
    assert http.post(f"/v1/streams/{stream['id']}/close", json=failure).is_success
    read(shown, stream["id"])
    shown.done()
    expect(shown.page.locator("#state")).to_have_text("Failed")
    assert shown.raw() == '{"a": [1, 2'
    assert shown.page.locator("#raw mark").count() == 0
    assert shown.panel.locator(".badge").count() == 0
    problem = shown.page.locator("#findings .problem")
    expect(problem).to_contain_text("No tokens left at character 3")


@hard
def test_of_arguments_and_result_one_value_is_selected(shown: Shown) -> None:
    shown.speed(5)
    shown.model("harbour")
    shown.done()
    card = shown.page.locator(".call").first
    card.locator(".arguments [role=treeitem]").nth(1).click()
    assert shown.panel.locator(".path").inner_text() == "root.harbour"
    card.locator(".result .row").first.click()
    assert shown.page.locator("[role=treeitem][aria-selected=true]").count() == 1
    assert shown.panel.locator(".path").inner_text() == "root"
    shown.page.keyboard.press("c")
    shown.until(lambda: "tide" in shown.copied() or "{" in shown.copied())


def test_what_failed_leaves_nothing_of_what_was_before(shown: Shown) -> None:
    shown.speed(5)
    shown.paste('{"before": 1}')
    shown.done()
    read(shown, "there-is-none\u202e")
    expect(shown.page.locator("#title")).to_have_text("Stream there-is-none‹U+202E›")
    expect(shown.page.locator("#state")).to_have_text("Failed: there is no such stream")
    assert shown.raw() == "" and shown.line("before").count() == 0
    assert shown.page.locator("#player").is_hidden()
    for action in ("#disconnect", "#resume", "#stop", "#restart"):
        assert shown.page.locator(action).is_disabled()
    shown.faults.clear()
    # The next one is not in its way.
    shown.paste('{"after": 1}')
    shown.done()
    assert shown.value("after") == "1"


@hard
def test_a_snapshot_that_is_no_json(shown: Shown) -> None:
    shown.paste('{"x": 1}\nnot JSON', "snapshots")
    problem = shown.page.locator("#findings .problem")
    expect(problem).to_have_text("Line 2 is not JSON and was left out.")


def test_what_is_pasted_never_leaves_the_browser(shown: Shown) -> None:
    before = len(shown.requests)
    shown.speed(5)
    for text in ('{"a": 1}', '{"a": 1}\n{"b": 2}', recorded("harbour.jsonl")):
        shown.paste(text)
        shown.done()
    assert [url for url in shown.requests[before:] if "/web/" not in url] == []


@hard
def test_names_of_files_are_strangers_text(shown: Shown) -> None:
    shown.speed(5)
    shown.page.evaluate(DROP, ['{"a": 1}', "a\u202egpj.<img src=x>.json"])
    expect(shown.page.locator("#title")).to_have_text("a‹U+202E›gpj.<img src=x>.json")
    shown.done()
    assert "\u202e" not in (shown.page.locator("body").text_content() or "")


@hard
def test_a_file_that_cannot_be_read(shown: Shown) -> None:
    shown.page.evaluate(
        "() => { Blob.prototype.text = () => Promise.reject(new Error('it is a folder')); }"
    )
    shown.page.evaluate(DROP, ["", "folder"])
    expect(shown.page.locator("#problem")).to_have_text("folder cannot be read: it is a folder")


@hard
def test_an_empty_file_is_nothing(shown: Shown) -> None:
    shown.page.evaluate(DROP, ["", "empty.json"])
    expect(shown.page.locator("#problem")).to_have_text("There is no text to replay.")


@hard
def test_long_keys_are_folded(shown: Shown) -> None:
    key = "k" * 60_000 + "🌊end"
    shown.slide("#piece", 10)
    shown.speed(5)
    shown.paste(json.dumps({key: {"n": 1}}, ensure_ascii=False), "text")
    shown.done()
    shown.line("n").click()
    place = shown.panel.locator(".path").inner_text()
    assert len(place) < 400 and place.endswith('🌊end"].n')
    assert shown.panel.locator(".copy-path").is_visible()
    shown.panel.locator(".copy-path").click()
    assert shown.copied() == f'root["{key}"].n'
    assert len(shown.panel.locator(".key").nth(1).inner_text()) < 400


@hard
def test_a_token_that_no_header_can_hold_is_asked_for_again(page: Page, tmp_path: Any) -> None:
    with Server(tmp_path, demo=True, tokens="me:the-token-of-mine") as server:
        page.goto(server.url)
        for token in ("the-token-of-mine\u200b”", "the-token-of-mine"):
            expect(page.locator("#token")).to_be_visible()
            page.locator("#token-text").fill(token)
            page.locator("#token .main").click()
        expect(page.locator("#model-list button").first).to_be_visible()


@hard
def test_copying_is_seen_and_needs_no_modern_clipboard(shown: Shown) -> None:
    shown.speed(5)
    shown.paste('{"a": "x\\r🌊", "b": 1}', "text")
    shown.done()
    shown.line("a").click()
    note = shown.panel.locator(".copied")
    shown.page.keyboard.press("c")
    expect(note).to_have_text("Copied the value")
    expect(note).to_have_text("Copy")
    # Over http from another machine there is none.
    shown.page.evaluate(
        """() => {
            window.kept = navigator.clipboard;
            Object.defineProperty(navigator, "clipboard", { value: undefined, configurable: true });
        }"""
    )
    shown.page.keyboard.press("p")
    expect(note).to_have_text("Copied the path")
    assert shown.page.evaluate("kept.readText()") == "root.a"
    shown.line("a").click()
    shown.page.keyboard.press("c")
    expect(note).to_have_text("Copied the value")
    assert json.loads(shown.page.evaluate("kept.readText()")) == "x\r🌊"
    # The line still has the focus; and a refusal is told.
    assert shown.page.evaluate("document.activeElement.getAttribute('role')") == "treeitem"
    shown.page.evaluate("() => { document.execCommand = () => false; }")
    shown.page.keyboard.press("p")
    expect(note).to_have_text("The browser did not allow copying")


@hard
def test_files_with_returns_stay_readable(shown: Shown) -> None:
    shown.speed(5)
    shown.page.evaluate(DROP, ['{\r\n  "a": 1,\r\n  "b": oops\r\n}', "windows.json"])
    expect(shown.page.locator("#raw mark")).to_have_text("o")
    shown.done()
    assert shown.raw() == '{␍\n  "a": 1,␍\n  "b": oops␍\n}'


@hard
def test_events_read_by_their_id_are_shown_as_calls(shown: Shown, http: httpx2.Client) -> None:
    stream = http.post("/demo/streams", json={"model": "harbour", "pace": 1000}).json()
    read(shown, stream["id"])
    shown.done()
    expect(shown.page.locator(".call")).to_have_count(2)
    # What was chosen by hand stays.
    shown.page.locator("#tab-raw").evaluate("(tab) => tab.click()")
    read(shown, stream["id"])
    shown.done()
    expect(shown.page.locator("#tab-raw")).to_have_attribute("aria-selected", "true")


@hard
def test_a_long_title_stays_in_its_place(shown: Shown) -> None:
    shown.speed(5)
    shown.page.evaluate(DROP, ['{"a": 1}', "n" * 200 + ".json"])
    shown.done()
    # The text's own box: an element may be narrower than what is written in it.
    right = shown.page.evaluate(
        """() => {
            const range = new Range();
            range.selectNodeContents(document.querySelector("#title"));
            return range.getBoundingClientRect().right;
        }"""
    )
    actions = shown.page.locator(".actions").bounding_box()
    assert actions is not None and right <= actions["x"]
