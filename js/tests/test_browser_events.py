"""openEvents in a real browser: fetch against a server that behaves badly."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page

READ = """async (url) => {
    const { openEvents } = await import("/web/index.js");
    const ids = [];
    let reason = "", connections = 0;
    const onState = (state, detail) => {
        connections += state === "connecting" ? 1 : 0;
        reason = detail.reason ?? "";
    };
    try {
        const options = { retry: 5, maxDelay: 20, onState };
        for await (const { id } of openEvents(url, options)) ids.push(id);
    } catch (error) {
        reason = `${error.name} ${error.status}`;
    }
    return { ids, reason, connections };
}"""
ALL = [str(id) for id in range(1, 11)]
ENDS = {
    "close": "CLOSE",
    "nothing": "204",
    "again": "CLOSE",
    "errors": "CLOSE",
    "inside": "CLOSE",
}


@pytest.mark.parametrize("case", ENDS)
def test_every_event_once_and_in_order(page: Page, case: str) -> None:
    """The server may cut the connection before the first id: it is requested again anyway."""
    read = READ.replace("retry: 5,", "retry: 5, reconnect: true,")
    seen: dict[str, Any] = page.evaluate(read, f"/events?case={case}")
    assert seen["ids"] == ALL
    assert seen["reason"] == ENDS[case]
    assert seen["connections"] >= 3


def test_a_refusal_is_an_error(page: Page) -> None:
    seen = page.evaluate(READ, "/events?case=missing")
    assert (seen["ids"], seen["reason"]) == ([], "SourceFailed 404")


def test_a_stream_starts_after_an_id(page: Page) -> None:
    read = READ.replace("retry: 5,", 'retry: 5, after: "7",')
    seen = page.evaluate(read, "/events?case=close")
    assert (seen["ids"], seen["reason"]) == (["8", "9", "10"], "CLOSE")
