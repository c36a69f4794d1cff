"""The page in a browser: paste a stream, see what broke, go back and forth, find a value."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import httpx2
import pytest
from playwright.sync_api import Page, expect

from support import ROOT
from support.processes import Server

from .view import PageView

SAMPLES = {
    sample["name"]: sample for sample in json.loads((ROOT / "page/samples.json").read_text("utf8"))
}
SCHEMA = '{"properties": {"size": {"enum": ["small", "large"]}}}'


def chat(text: str, finish: str | None = "stop") -> str:
    """Return OpenAI chat events of a text in small pieces."""
    deltas = [{"content": text[at : at + 6]} for at in range(0, len(text), 6)]
    choices: list[dict[str, Any]] = [{"index": 0, "delta": delta} for delta in deltas]
    if finish:
        choices.append({"index": 0, "delta": {}, "finish_reason": finish})
    events = [{"object": "chat.completion.chunk", "choices": [choice]} for choice in choices]
    return "".join(f"data: {json.dumps(event)}\n\n" for event in events)


BROKEN = {
    "text": ('{"a": 1, "b": oops}', "Invalid JSON", "root.b", "double quotes", "o"),
    "cut off": ('{"a": 1, "b": "oo', "Cut off", "root.b", "Request it again", "cut off"),
    "lines": ('{"a": 1}\n{"a": }\n{"a": 3}\n', "Invalid JSON", "root[1].a", "after the colon", "}"),
    "length": (
        chat('{"title": "Sto', "length"),
        "token limit",
        "root.title",
        "max_tokens",
        "cut off",
    ),
    "comma": (chat('{"a": [1, 2,]}'), "Invalid JSON", "root.a[2]", "Remove the comma", "]"),
}


@pytest.mark.parametrize(("text", "what", "path", "todo", "mark"), BROKEN.values(), ids=BROKEN)
def test_a_broken_stream_shows_what_is_wrong_where_and_what_to_do(
    view: PageView, text: str, what: str, path: str, todo: str, mark: str
) -> None:
    view.paste(text)
    found = view.diagnosis()
    assert found["tone"] == "bad" and what in found["what"] and todo in found["todo"]
    assert found["where"].endswith(path)
    expect(view.page.locator("#panel-text mark")).to_have_text(mark)
    expect(view.page.locator("#panel-text mark")).to_be_in_viewport()
    expect(view.page.locator("#tree .badge.bad")).to_have_count(1)
    expect(view.page.locator(".stop.bad")).to_have_count(1)


def test_the_server_finds_violations_and_shows_a_repaired_copy(view: PageView) -> None:
    for _ in range(3):
        view.paste('{"name": "x", "size": "huge", "rest": ""}', schema=SCHEMA)
        expect(view.page.locator("#what")).to_contain_text("Violates the schema")
        assert view.diagnosis()["where"] == "line 1, column 23, in root.size"
        expect(view.page.locator("#panel-text mark")).to_have_text('"huge"')
        expect(view.row("size")).to_contain_text("violates the schema")
        view.page.locator(".stop.bad").click()
        expect(view.page.locator("#position")).to_contain_text("6 of 11")
    view.paste(chat("Sure:\n```json\n[{'a': 1}]\n```"))
    expect(view.page.locator("#todo")).to_contain_text("Show repaired")
    view.page.locator("#show-repaired").click()
    expect(view.row("a")).to_have_text("a1")
    assert view.diagnosis()["tone"] == "good"
    view.page.go_back()
    expect(view.page.locator("#what")).to_contain_text("in a code fence")
    view.paste('{"a": 1] {')
    expect(view.page.locator("#published")).to_contain_text("private stream")
    view.page.wait_for_load_state("networkidle")
    expect(view.page.locator("#todo")).to_contain_text("Close the object with } first")
    expect(view.page.locator("#show-repaired")).to_be_hidden()


def test_a_view_says_whether_it_is_empty_now_or_always(view: PageView) -> None:
    def words(place: str) -> str:
        content = "(element) => getComputedStyle(element, '::before').content"
        return str(view.page.locator(place).evaluate(content))

    view.paste("<!doctype html><title>502</title>")
    assert words("#tree") == '"There is nothing to show here: the message above says why."'
    view.paste('{"error": {"message": "Incorrect key"}}')
    assert words("#panel-calls") == '"There is nothing to show here: the message above says why."'
    view.paste('{"a": 1}')
    view.seek(0)
    assert words("#tree") == '"Nothing at this moment."'


def test_an_event_of_several_lines_is_published(view: PageView) -> None:
    view.paste(json.dumps({"error": {"message": "Incorrect key"}}, indent=2))
    expect(view.page.locator("#what")).to_contain_text("Incorrect key")
    expect(view.page.locator("#published")).to_contain_text("deleted after an hour")


def test_what_the_server_cannot_render_stays_in_the_browser(view: PageView) -> None:
    expect(view.page.locator("#privacy")).to_contain_text("deleted after an hour")
    view.paste('{"n": 1, "value": {}}\n[2, ["set", "/a", 1]]')
    expect(view.page.locator("#published")).to_have_text("only in this browser")
    assert not [url for url in view.requests if "/v1/" in url]


def test_events_that_only_the_server_knows_are_an_answer(view: PageView) -> None:
    messages = [
        {"model": "m", "message": {"role": "assistant", "content": text}, "done": False}
        for text in ('{"title": ', '"Sto')
    ]
    end = {"model": "m", "message": {"content": ""}, "done": True, "done_reason": "length"}
    view.paste("\n".join(json.dumps(message) for message in [*messages, end]))
    expect(view.page.locator("#what")).to_contain_text("token limit")
    assert view.diagnosis()["where"] == "line 1, column 15, in root.title"
    expect(view.page.locator("#published")).to_contain_text("private stream")
    view.page.reload()
    expect(view.page.locator("#what")).to_contain_text("token limit")
    expect(view.row("title")).to_contain_text("Sto")
    view.paste('{"a": 1}\n{"b": 2}')
    expect(view.page.locator("#published")).to_contain_text("not events of a known provider")
    assert view.diagnosis()["what"] == "Complete, valid JSON"


def test_every_moment_is_the_same_forwards_and_backwards(view: PageView) -> None:
    view.page.emulate_media(reduced_motion="no-preference")
    view.example("recipe")
    expect(view.page.locator("#tree .row.open").first).to_be_visible()
    expect(view.page.locator("#panel-text .cursor")).to_be_visible()
    view.until(lambda: view.page.locator("#play").inner_text() == "Play")
    assert view.text() == SAMPLES["recipe"]["text"]
    expect(view.page.locator("#tree .row.open")).to_have_count(0)
    last = view.length()
    moments = range(0, last, 23)
    forwards = {}
    for position in moments:
        view.seek(position)
        forwards[position] = view.text(), view.tree()
    for position in reversed(moments):
        view.seek(position + 1)
        view.page.locator("#back").click()
        view.drawn()
        assert (view.text(), view.tree()) == forwards[position]
    assert len(set(forwards.values())) == len(moments)


def test_calls_are_cards_with_structured_and_raw_arguments(view: PageView) -> None:
    view.example("broken-call")
    good, wrong = view.page.locator("article").all()
    expect(good).to_contain_text("search_places")
    expect(good.locator(".badge").first).to_have_text("complete")
    expect(good.get_by_role("treeitem").filter(has_text="limit")).to_have_text("limit5")
    good.get_by_text("Raw arguments").click()
    assert json.loads(good.locator(".raw pre").inner_text())["limit"] == 5
    expect(wrong.locator(".badge").first).to_have_text("not JSON")
    expect(wrong.locator("mark")).to_have_text("y")
    expect(wrong.get_by_role("treeitem").filter(has_text="urgent")).to_contain_text("not JSON")
    assert "send_note" in view.diagnosis()["what"]
    expect(view.page.locator("#panel-text .line.marked")).to_be_in_viewport()
    view.seek(20)
    expect(view.page.locator("article .badge").first).to_have_text("streaming")
    events = [{"type": "tool-input-delta", "toolCallId": "c", "inputTextDelta": '"just a'}]
    start = {"type": "tool-input-start", "toolCallId": "c", "toolName": "say"}
    view.paste("\n".join(json.dumps(event) for event in [start, *events]))
    expect(view.page.locator("article .raw pre")).to_contain_text('"just a')
    expect(view.page.locator("article .badge").first).to_have_text("cut off")


def test_one_table_shows_the_events_in_every_format(view: PageView) -> None:
    view.example("modes")
    rows, choice = view.page.locator("#event-rows tr"), view.page.locator("#event-format")
    counts = {}
    for mode in ("PROGRESSIVE", "ONE-BY-ONE", "ALL-TOGETHER", "BATCH"):
        choice.select_option(f"updates/{mode}")
        expect(rows.last.locator(".badge")).to_have_text("COMPLETED")
        view.drawn()
        counts[mode] = rows.count()
    assert counts["PROGRESSIVE"] > counts["ONE-BY-ONE"] == counts["ALL-TOGETHER"] == 5
    assert counts["BATCH"] == 1
    choice.select_option("updates/PROGRESSIVE")
    expect(rows.first.locator(".op.set")).to_be_visible()
    rows.nth(3).click()
    position = rows.nth(3).locator("td").first.inner_text()
    expect(view.page.locator("#position")).to_contain_text(f"{position} of 263")
    expect(rows).to_have_count(4)
    choice.select_option("deltas")
    expect(rows.first.locator(".badge")).to_have_text("snapshot")
    choice.select_option("received")
    view.page.locator("#event-filter").fill("voy")
    expect(rows).to_have_count(1)


def test_snapshots_become_text_and_messages_become_a_state(view: PageView) -> None:
    view.example("snapshots")
    chunks = view.page.locator("#panel-chunks")
    last = json.loads(SAMPLES["snapshots"]["items"][-1])
    view.until(lambda: chunks.inner_text().endswith("}"))
    assert json.loads(chunks.inner_text()) == last
    expect(view.page.locator("#panel-text .line").first).to_contain_text('{"headline": "Ferr"}')
    view.seek(3)
    expect(chunks).to_have_text('{"headline":"Ferry returns after th')
    view.example("wire")
    expect(view.row("cost")).to_have_text("cost412.5")
    view.seek(4)
    expect(view.row("note")).to_have_text("noteTwo direct f")
    expect(view.page.locator("#tree .row.new")).to_have_count(1)


def test_a_value_is_found_selected_and_copied(view: PageView) -> None:
    page = view.page
    view.example("large")
    page.keyboard.press("/")
    page.keyboard.type("day 364")
    expect(page.locator("#found")).to_contain_text("1 of ")
    expect(page.locator("#path")).to_have_text("root.measurements[1248].at")
    expect(page.locator("#tree [aria-selected=true]")).to_be_in_viewport()
    expect(page.locator("#panel-text .selected").first).to_be_in_viewport()
    page.locator("#copy-value").click()
    assert view.copied() == '"day 364, 0:00"'
    page.locator("#tree").focus()
    for key in ("Home", "ArrowDown", "ArrowDown"):
        page.keyboard.press(key)
    for key, index in (("ArrowDown", 0), ("End", 99), ("ArrowDown", 100), ("ArrowUp", 99)):
        page.keyboard.press(key)
        expect(page.locator("#path")).to_have_text(f"root.measurements[{index}]")
    view.example("recipe")
    page.locator("#tree").focus()
    for key in ("Home", "ArrowDown", "ArrowDown", "ArrowUp"):
        page.keyboard.press(key)
    expect(page.locator("#path")).to_have_text("root.title")
    page.keyboard.press("End")
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#path")).to_have_text("root.notes")
    page.keyboard.press("ArrowLeft")
    expect(view.row("rating")).to_have_count(0)
    page.keyboard.press("ArrowRight")
    expect(view.row("rating")).to_have_count(1)
    page.locator("#copy-path").click()
    assert view.copied() == "root.notes"
    page.locator("#panel-text").get_by_text('"three days in the fridge"').click()
    expect(page.locator("#path")).to_have_text("root.notes.keeps")


def test_hostile_strings_are_only_text(view: PageView) -> None:
    view.example("hostile")
    for text in (view.tree(), view.text()):
        assert "</script><script>" in text and "javascript:alert(1)" in text
        assert "invoice_‹U+202E›fdp.exe and ‹U+2067›isolated‹U+2069› text" in text
        assert "12345678901234567890" in text
    view.tab("events")
    assert not re.search(
        "[\u202a-\u202e\u2066-\u2069\u200b]", view.page.locator("body").inner_text()
    )
    assert "owned" not in view.page.title()
    assert view.page.locator("img, script:not([src])").count() == 0
    # Right-to-left letters do not move what is around them.
    view.tab("tree")
    key = view.page.locator("#panel-text .key", has_text="right to left").bounding_box()
    value = view.page.locator("#panel-text .string", has_text="stand among").bounding_box()
    assert key and value and key["x"] < value["x"]


def test_a_live_stream_is_followed_across_a_disconnection(view: PageView, server: Server) -> None:
    headers = {"content-type": "text/plain"}
    with httpx2.Client(base_url=server.url, headers=headers, trust_env=False) as client:
        stream = client.post("/v1/streams", content="").json()["id"]
        events = f"/v1/streams/{stream}/events"
        client.post(events, content='{"a": "b')
        view.page.goto(f"{server.url}/#stream={stream}")
        view.page.reload()
        expect(view.row("a")).to_have_text("ab")
        assert view.diagnosis()["tone"] == "busy"
        view.page.locator("#disconnect").click()
        expect(view.page.locator("#what")).to_contain_text("Disconnected")
        client.post(events, content='c"')
        view.page.locator("#disconnect").click()
        expect(view.row("a")).to_have_text("abc")
        client.post(events, content="}")
        client.post(f"/v1/streams/{stream}/close")
    expect(view.page.locator("#what")).to_have_text("Complete, valid JSON")
    expect(view.page.locator("#published")).to_have_text("closed")
    assert view.text() == '{"a": "bc"}'


def test_a_stream_that_was_stopped_says_so(view: PageView, server: Server) -> None:
    headers = {"content-type": "text/plain"}
    with httpx2.Client(base_url=server.url, headers=headers, trust_env=False) as client:
        stream = client.post("/v1/streams", content="").json()["id"]
        client.post(f"/v1/streams/{stream}/events", content='{"a": "b')
        client.post(f"/v1/streams/{stream}/cancel")
    view.page.goto(f"{server.url}/#stream={stream}")
    view.page.reload()
    expect(view.page.locator("#what")).to_contain_text("The stream ended early")
    assert view.diagnosis()["where"] == "after 1 piece"
    expect(view.page.locator("#todo")).to_contain_text("Start it again")


def test_a_token_is_requested_and_kept_in_memory_only(page: Page, tmp_path: Path) -> None:
    with Server(tmp_path, tokens="me:the-token-of-mine") as server:
        view = PageView(page, server.url)
        view.open()
        view.paste("{'a': 1}")
        for token in ("wrong", "the-token-of-mine"):
            page.locator("#token-text").fill(token)
            page.get_by_role("button", name="Continue").click()
        expect(page.locator("#todo")).to_contain_text("Show repaired")
        kept = page.evaluate(
            "JSON.stringify({ ...localStorage, ...sessionStorage }) + document.cookie"
        )
        assert "the-token" not in kept + page.content() + "".join(view.requests)


def test_the_layout_fits_every_screen(view: PageView) -> None:
    page = view.page
    view.example("schema")
    expect(page.locator("#diagnosis")).to_have_attribute("data-tone", "bad")
    panes = page.locator("#panel-tree").bounding_box()
    assert panes and panes["height"] >= 0.6 * 800
    for width, tabs in ((700, 2), (390, 3), (320, 3)):
        page.set_viewport_size({"width": width, "height": 800})
        for name in ("schema", "broken-call", "modes"):
            view.example(name)
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            assert page.evaluate("scrollY") == 0
        expect(page.locator("#tabs").get_by_role("tab").locator("visible=true")).to_have_count(tabs)
        assert page.locator("#panel-text").is_visible() is (width >= 700)
        change = page.locator("#event-rows .change").last.bounding_box()
        assert change and change["width"] >= 250
    view.tab("text")
    expect(page.locator("#panel-text")).to_be_visible()


@pytest.mark.parametrize("text", ["<!doctype html><title>502</title>", BROKEN["comma"][0]])
def test_on_a_phone_the_text_with_the_mark_is_opened(view: PageView, text: str) -> None:
    page = view.page
    page.set_viewport_size({"width": 390, "height": 800})
    view.paste(text)
    marked = page.locator("#panel-text mark")
    expect(marked).to_be_in_viewport()
    expect(page.locator("#published")).to_contain_text("private stream")
    page.reload()
    expect(marked).to_be_in_viewport()
    view.tab("events")
    expect(marked).to_be_hidden()
    page.locator("#show-mark").click()
    expect(marked).to_be_in_viewport()
    page.set_viewport_size({"width": 800, "height": 800})
    expect(page.locator("#panel-tree")).to_be_visible()


def test_large_streams_are_shown_in_windows(view: PageView, tmp_path: Path) -> None:
    rows = [
        {"id": at, "name": f"name {at}", "text": "Lorem ipsum dolor " * 8} for at in range(28_000)
    ]
    (tmp_path / "large.json").write_text(json.dumps(rows))
    view.open_file(tmp_path / "large.json")
    assert view.diagnosis()["tone"] == "good"
    assert view.length() <= 5000
    assert view.page.locator("#tree .row").count() < 1000
    assert view.page.locator("#panel-text span").count() < 5000
    view.seek(view.length() // 2)
    expect(view.page.locator("#panel-text")).to_contain_text("characters before")
    view.page.locator("#new").click()
    (tmp_path / "events.jsonl").write_text(
        chat('["' + "word " * 36_000, None).replace("data: ", "")
    )
    view.open_file(tmp_path / "events.jsonl")
    assert view.length() > 30_000 and "Cut off" in view.diagnosis()["what"]
    view.tab("events")
    assert view.page.locator("#event-rows tr").count() == 100


def test_without_a_server_the_page_shows_text_tree_and_calls(page: Page, server: Server) -> None:
    view = PageView(page, server.url)
    html = (
        (ROOT / "page/index.html").read_text("utf8").replace("<html ", '<html data-server="off" ')
    )
    page.route(f"{server.url}/", lambda route: route.fulfill(body=html, content_type="text/html"))
    view.open()
    expect(page.locator("#privacy")).to_have_text("The text stays in your browser.")
    view.paste('{"a": [1, 2')
    expect(view.row("a")).to_be_visible()
    assert "Cut off" in view.diagnosis()["what"]
    view.example("calls")
    expect(page.locator("article")).to_have_count(3)
    view.tab("events")
    expect(page.locator("#event-format option[value='updates/BATCH']")).to_be_disabled()
    assert not [url for url in view.requests if "/v1/" in url]
    view.check()
