"""client/events.js in a real browser: fetch against a server that is not kind."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page

READ = """async (url) => {
    const { openEvents } = await import("/web/client/events.js");
    const ids = [];
    const stream = openEvents(url, { retry: 5, maxDelay: 20, onEvent: ({ id }) => ids.push(id) });
    const reason = await stream.done.catch((error) => `${error.name} ${error.status}`);
    const { duplicates, reconnects, bytes } = stream;
    return { ids, reason, duplicates, reconnects, bytes };
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
    """The server may cut the connection before the first id arrives: so it is told to reconnect."""
    read = READ.replace("retry: 5,", "retry: 5, reconnect: true,")
    seen: dict[str, Any] = page.evaluate(read, f"/events?case={case}")
    assert seen["ids"] == ALL
    assert seen["reason"] == ENDS[case]
    assert seen["reconnects"] >= 2
    assert seen["bytes"] > 0
    assert (seen["duplicates"] > 0) == (case == "again")


def test_a_refusal_is_told(page: Page) -> None:
    seen = page.evaluate(READ, "/events?case=missing")
    assert (seen["ids"], seen["reason"]) == ([], "EventsError 404")


def test_a_stream_starts_after_an_id(page: Page) -> None:
    read = READ.replace("retry: 5,", 'retry: 5, after: "7",')
    seen = page.evaluate(read, "/events?case=close")
    assert (seen["ids"], seen["reason"]) == (["8", "9", "10"], "CLOSE")
