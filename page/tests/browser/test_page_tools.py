"""The tools of the page: what is pasted, timing, what can be kept and shared, comparison."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from jsonrill.testing import FakeAnswer, Provider, Upstream
from support import hard
from support.processes import Server

from .shown import Shown

NEAR_JSON = 'Sure!\n```json\n{"title": "Storm", tags: [\'a\',], "size": 12,}\n```'
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
    return page.locator("#offers")


# ---- what is pasted ----


def test_near_json_is_repaired_with_one_click_and_the_places_are_marked(shown: Shown) -> None:
    page = shown.page
    shown.paste(NEAR_JSON)
    expect(bar(page).locator(".problem")).to_have_text(
        "Line 1, column 1: a value is expected, but there is 'S'."
    )
    bar(page).get_by_role("button", name="Repair 7 places").click()
    expect(bar(page).locator(".problem")).to_be_hidden()
    expect(bar(page).locator(".repaired > p")).to_contain_text("7 places were repaired")
    expect(page.locator("#raw mark.repair")).to_have_count(7)
    expect(page.locator("#view-tree .tree")).to_contain_text("Storm")
    bar(page).get_by_role("button", name="a key without quotes").click()
    expect(page.locator("#state")).to_have_text("Complete")


@hard
@pytest.mark.parametrize(
    ("text", "recognised"),
    [
        (STORM, "JSON text."),
        ('{"ts": 1, "msg": "a"}\n{"ts": 2, "msg": "ab"}\n', "several documents."),
        (f"[{chunk(content='{')}, {chunk(content='}')}]", "2 OpenAI chat events in a JSON array."),
        (
            "HTTP/1.1 200 OK\ncontent-type: text/event-stream\n\n"
            f"data: {chunk(content='{}')}\n\ndata: [DONE]\n\n",
            "1 OpenAI chat event as server-sent events after an HTTP head.",
        ),
        ('{"a": "x"}\n{"a": "xy"}\n{"a": "xyz"}', "3 snapshots."),
    ],
    ids=["text", "log", "array", "http", "snapshots"],
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
    for view in ("timing", "compare"):
        page.locator(f"#tab-{view}").click()
    page.wait_for_timeout(500)
    asked = [url for url in shown.requests if "/web/" not in url]
    assert [url for url in asked if not re.search(r"/v1/streams/[^/]+/events", url)] == []
    assert not any("swordfish" in url for url in shown.requests)


@hard
def test_how_a_text_is_read_can_be_changed(shown: Shown) -> None:
    page = shown.page
    shown.paste('{"size": "huge", "rest": [1]}\n')
    bar(page).get_by_role("button", name="Change how it is read").click()
    schema = '{"properties": {"size": {"enum": ["small"]}}, "required": ["title"]}'
    bar(page).get_by_label("JSON Schema").fill(schema)
    bar(page).get_by_label("Entity").click()  # leaves the field
    expect(bar(page).locator(".problem")).to_have_text("2 violations of the schema.")
    expect(bar(page).locator(".faults")).to_contain_text('size: one of "small" is wanted')
    expect(page.locator("#raw mark.error").first).to_be_visible()
    bar(page).get_by_label("JSON Schema").fill('{"type": "object"}')
    bar(page).get_by_label("Entity").click()
    expect(bar(page).locator(".valid")).to_have_text("The value is valid.")
    bar(page).get_by_label("Format").select_option("events")
    expect(bar(page).locator(".problem")).to_contain_text("no provider that is known")
    bar(page).get_by_role("button", name="Read as JSON text").click()
    expect(bar(page).locator(".problem")).to_be_hidden()


@hard
def test_a_response_of_a_har_file_is_chosen(shown: Shown) -> None:
    page = shown.page
    events = f"data: {chunk(content=STORM)}\n\n"
    entries = [
        {
            "startedDateTime": "2026-01-01T10:00:00Z",
            "time": 1500,
            "timings": {"send": 1, "wait": 399, "receive": 1100},
            "request": {"method": "POST", "url": f"https://x.test/{name}?key=hidden"},
            "response": {"status": 200, "content": {"text": text}},
        }
        for name, text in (("style", "{}"), ("chat", events))
    ]
    shown.paste(json.dumps({"log": {"entries": entries}}))
    expect(bar(page).locator(".recognised")).to_contain_text("in a HAR file")
    expect(page.locator("#figures")).to_contain_text("First token400 ms")
    bar(page).get_by_role("button", name="Change how it is read").click()
    choice = bar(page).get_by_label("Response of the HAR file")
    assert choice.locator("option").all_inner_texts() == [
        "POST x.test/style · 200",
        "POST x.test/chat · 200",
    ]
    choice.select_option("0")
    expect(bar(page).locator(".recognised")).to_contain_text("JSON text")


# ---- timing ----


@hard
def test_each_field_has_a_row_with_its_time(shown: Shown) -> None:
    page = shown.page
    shown.paste(timed(STORM))
    page.locator("#tab-timing").click()
    shown.to_end()
    rows = page.locator(".waterfall tbody tr")
    expect(rows.locator("th")).to_have_text(["root", "title", "tags", "[0]", "[1]", "size"])
    cells = rows.nth(5).locator("td").all_inner_texts()
    assert cells[:2] == ["450 ms", "0 ms"]
    expect(page.locator(".rates rect")).to_have_count(60)
    expect(page.locator("#figures")).to_contain_text("Speed")
    expect(page.locator("#figures")).not_to_contain_text("Reconnects")
    page.get_by_role("button", name="title", exact=True).click()
    expect(page.locator("#state")).to_contain_text("Paused at piece 3")


@hard
def test_a_live_stream_has_figures(shown: Shown) -> None:
    shown.speed(5)
    shown.page.locator("#model-list button").first.click()
    shown.page.locator("#tab-timing").click()
    expect(shown.page.locator("#figures")).to_contain_text(re.compile(r"First token\d+ ms"))
    shown.done()
    expect(shown.page.locator(".waterfall tbody tr").first).to_contain_text("root")
    assert shown.page.locator(".waterfall tbody tr.later").count() == 0


# ---- what is kept and shared ----


@hard
def test_reload_and_back_show_the_same_moment(shown: Shown) -> None:
    page = shown.page
    shown.paste(NEAR_JSON)
    bar(page).get_by_role("button", name=re.compile("Repair")).click()
    position = shown.back()
    page.locator("#tab-timing").click()
    expect(page).to_have_url(re.compile(r"#.*view=timing.*repair.*text="))
    expect(page).to_have_title("Pasted text – jsonrill")
    page.wait_for_timeout(500)
    page.reload()
    expect(page.locator("#position")).to_have_text(position)
    expect(page.locator("#tab-timing")).to_have_attribute("aria-selected", "true")
    expect(bar(page).locator(".repaired")).to_be_visible()
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
    page.locator(".menu > summary").click()
    page.get_by_role("button", name="Copy a link").click()
    expect(page.locator(".menu .told")).to_have_text("Copied the link.")
    url = page.evaluate("navigator.clipboard.readText()")
    other = page.context.new_page()
    other.goto(url)
    expect(other.locator("#position")).to_have_text(position)
    expect(other.locator("#view-tree .tree")).to_contain_text("Storm")
    other.close()


@hard
def test_a_stream_is_copied_as_a_program_and_exported_as_a_test(shown: Shown) -> None:
    page = shown.page
    shown.paste(STORM)
    page.locator(".menu > summary").click()
    page.get_by_role("button", name="Python", exact=True).click()
    expect(page.locator(".menu .told")).to_have_text("Copied.")
    assert "jsonrill.values(stream)" in page.evaluate("navigator.clipboard.readText()")
    with page.expect_download() as download:
        page.get_by_role("button", name="pytest").click()
    saved = download.value.path().read_text("utf8")
    assert download.value.suggested_filename == "test_stream.py"
    names: dict[str, Any] = {}
    exec(compile(saved, "saved", "exec"), names)
    names["test_the_value"]()


def test_an_address_that_anybody_wrote_is_harmless(page: Page, demo: Server) -> None:
    shown = Shown(page, demo.url)
    for hash in ("#text=%00&view=<b>", "#model=none", "#stream=../x&path=[", "#text=AAAA&piece=9"):
        shown.open(f"/{hash}")
        page.wait_for_timeout(200)
        page.goto("about:blank")
    bad = [one for one in shown.faults if "404" not in one]
    assert bad == []


# ---- comparison ----


@hard
def test_two_attempts_are_aligned_by_path(shown: Shown) -> None:
    page = shown.page
    shown.paste(STORM)
    page.locator("#tab-compare").click()
    page.get_by_role("button", name="Keep this attempt").click()
    shown.paste('{"title": "Calm", "tags": ["a"], "size": 12, "note": null}')
    expect(page.locator(".compare-head p")).to_have_text(
        "1 value differs, 1 only in the first, 1 only in the second, 4 are the same."
    )
    expect(page.locator(".compare tr.different")).to_contain_text('"Storm"')
    expect(page.locator(".compare tr.right")).to_contain_text("note")
    page.get_by_label("Only what differs").check()
    expect(page.locator(".compare tbody tr")).to_have_count(3)


# ---- the prompt ----


@hard
def test_a_model_of_the_server_is_asked(page: Page, tmp_path: Any) -> None:
    with (
        Upstream(Provider({"small": FakeAnswer(STORM, pace=0.01)})) as upstream,
        Server(tmp_path, upstream=f"{upstream.url}/v1") as server,
    ):
        shown = Shown(page, server.url)
        shown.open()
        page.get_by_text("Ask a model").click()
        page.get_by_label("Prompt").fill("A storm, as JSON.")
        page.get_by_role("button", name="Send").click()
        expect(page.locator("#view-tree .tree")).to_contain_text("Storm")
        expect(page.locator("#state")).to_have_text("Complete")
        expect(page.locator("#figures")).to_contain_text("First token")
        assert upstream.exchanges[-1].json["messages"][0]["content"] == "A storm, as JSON."
        assert shown.faults == []


# ---- strangers' text ----


def test_hostile_text_is_only_text_in_every_tool(shown: Shown) -> None:
    page = shown.page
    key = "<img src=x onerror=alert(1)>\u202e"
    text = json.dumps({key: ["</script>\u202e", {key: "\u0000"}], "b": 1}, ensure_ascii=False)
    shown.paste(f"'{key}' {text},")
    shown.to_end()
    for view in ("timing", "compare"):
        page.locator(f"#tab-{view}").click()
        page.wait_for_timeout(150)
    page.get_by_role("button", name="Keep this attempt").click()
    shown.paste(text)
    shown.to_end()
    expect(page.locator(".compare tbody tr").first).to_be_visible()
    page.get_by_role("button", name="Change how it is read").click()
    page.get_by_label("JSON Schema").fill(json.dumps({"required": [key], "pattern": "("}))
    page.get_by_label("Entity").fill(key)
    bar(page).get_by_label("Format").focus()
    page.wait_for_timeout(300)
    assert page.locator("main img").count() == 0
    shown_text = page.locator("main").evaluate("(main) => main.innerText")
    assert "\u202e" not in shown_text and "\u0000" not in shown_text
    titles = page.locator("[title]").evaluate_all("(all) => all.map((one) => one.title).join('')")
    assert "\u202e" not in titles
    assert "\u202e" not in page.title()
