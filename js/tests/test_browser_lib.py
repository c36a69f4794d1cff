"""The library in a real browser: the parser on shared cases, sources of the browser, open()."""

from __future__ import annotations

import json
from typing import Any

from playwright.sync_api import Page

from support import ROOT

CASES = json.loads((ROOT / "cases" / "fragments.json").read_text("utf8"))["cases"]
TEXT = json.dumps({"title": "Tee 😀\n", "items": [{"n": n, "t": "x" * n} for n in range(40)]})

FEED = """async (cases) => {
    const { Parser, Document } = await import("/web/index.js");
    return cases.map(({ feeds }) => {
        const parser = new Parser(), document = new Document();
        const wire = [...feeds.map((feed) => parser.feed(feed)), parser.flush()];
        for (const feed of feeds) document.feed(feed);
        document.flush();
        const same = JSON.stringify(document.value) === JSON.stringify(JSON.parse(feeds.join("")));
        return { wire: JSON.parse(JSON.stringify(wire)), same };
    });
}"""
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
OPEN = """async (url) => {
    const { open } = await import("/web/index.js");
    try {
        for await (const { value } of open(url, { retry: 5, maxDelay: 20 })) return value;
    } catch (error) { return `${error.name} ${error.status}`; }
}"""


ANSWER = """async (events) => {
    const { content, parts, values } = await import("/web/index.js");
    const body = events.map((event) => `data: ${JSON.stringify(event)}\\n\\n`).join("");
    const headers = { "content-type": "text/event-stream" };
    let last, text = "";
    for await (last of values(content(new Response(body, { headers }))));
    for await (const part of parts(new Response(body, { headers }))) {
        if (part.kind === "text") text += part.delta;
    }
    return { last, text };
}"""


def test_the_parser_says_what_is_pinned(page: Page) -> None:
    answers: list[dict[str, Any]] = page.evaluate(FEED, CASES)
    for case, answer in zip(CASES, answers, strict=True):
        assert answer["wire"] == case["wire"], case["name"]
        assert answer["same"], case["name"]


def test_streams_and_responses(page: Page) -> None:
    final = json.loads(TEXT)
    seen = page.evaluate(READ, TEXT)
    assert seen["last"] == final
    assert seen["title"] == final["title"]
    assert seen["rows"] == final["items"]
    # By `text`, which has its field, and by the loop that is left.
    assert seen["cancelled"] == 2
    assert seen["live"] == 1


def test_open_throws_a_refusal(page: Page) -> None:
    assert page.evaluate(OPEN, "/events?case=missing") == "SourceFailed 404"


def test_the_answer_of_a_provider(page: Page) -> None:
    cases = json.loads((ROOT / "cases" / "answers.json").read_text("utf8"))["cases"]
    for name in ("openai_chat", "anthropic", "gemini"):
        [case] = [case for case in cases if case["name"] == f"{name}-complete"]
        answer = page.evaluate(ANSWER, case["events"])
        assert answer == {"last": json.loads(case["text"]), "text": case["text"]}
