"""The library in a real browser: its streams, and events across lost connections."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import Page

TEXT = json.dumps({"title": "Tee 😀\n", "items": [{"n": n, "t": "x" * n} for n in range(40)]})

READ = """async (text) => {
    const { values, text: textOf, select } = await import("/web/index.js");
    const bytes = new TextEncoder().encode(text);
    let cancelled = 0;
    const stream = () => {
        let at = 0;
        return new ReadableStream({
            pull(controller) {
                if (at >= bytes.length) controller.close();
                else controller.enqueue(bytes.slice(at, (at += 7)));
            },
            cancel() { cancelled += 1; },
        });
    };
    let last, title = "", rows = [];
    for await (last of values(stream()));
    for await (const piece of textOf(new Response(stream()), "title")) title += piece;
    for await (const row of select(stream(), "items")) rows.push(row);
    for await (const value of values(stream())) break;
    const seen = new Set();
    for await (const value of values(stream(), { live: true })) seen.add(value);
    return { last, title, rows, cancelled, live: seen.size };
}"""
EVENTS = """async (url) => {
    const { openEvents } = await import("/web/index.js");
    const ids = [];
    let connections = 0;
    const onState = (state) => (connections += state === "connecting" ? 1 : 0);
    try {
        const options = { retry: 5, maxDelay: 20, reconnect: true, onState };
        for await (const { id } of openEvents(url, options)) ids.push(id);
    } catch (error) { return [`${error.name} ${error.status}`]; }
    return [ids, connections >= 3];
}"""


def test_streams_and_responses_are_read_in_a_browser(page: Page) -> None:
    final = json.loads(TEXT)
    seen = page.evaluate(READ, TEXT)
    assert seen["last"] == final
    assert seen["title"] == final["title"]
    assert seen["rows"] == final["items"]
    # By `text`, which has its field, and by the loop that is left.
    assert seen["cancelled"] == 2
    assert seen["live"] == 1


@pytest.mark.parametrize("case", ["close", "nothing", "again", "errors", "inside"])
def test_every_event_comes_once_and_in_order(page: Page, case: str) -> None:
    ids = [str(id) for id in range(1, 11)]
    assert page.evaluate(EVENTS, f"/events?case={case}") == [ids, True]


def test_a_refusal_is_an_error(page: Page) -> None:
    assert page.evaluate(EVENTS, "/events?case=missing") == ["SourceFailed 404"]
