"""client/events.js in a real browser: fetch and EventSource against a server that is not kind."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page

READ = """async ([open, url]) => {
    const module = await import("/web/client/events.js");
    const ids = [];
    const stream = module[open](url, { retry: 5, maxDelay: 20, onEvent: ({ id }) => ids.push(id) });
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
@pytest.mark.parametrize("opening", ["openEvents", "openEventSource"])
def test_every_event_once_and_in_order(page: Page, opening: str, case: str) -> None:
    """The server may cut the connection before the first id arrives: so it is told to reconnect."""
    read = READ.replace("retry: 5,", "retry: 5, reconnect: true,")
    seen: dict[str, Any] = page.evaluate(read, [opening, f"/events?case={case}&{opening}"])
    assert seen["ids"] == ALL
    assert seen["reason"] == ENDS[case]
    assert seen["reconnects"] >= 2
    assert seen["bytes"] > 0
    assert (seen["duplicates"] > 0) == (case == "again")


@pytest.mark.parametrize("opening", ["openEvents", "openEventSource"])
def test_a_refusal_is_told(page: Page, opening: str) -> None:
    """An EventSource does not tell the status, and asking for it would be a second request."""
    seen = page.evaluate(READ, [opening, "/events?case=missing"])
    status = "404" if opening == "openEvents" else "undefined"
    assert (seen["ids"], seen["reason"]) == ([], f"EventsError {status}")


def test_what_is_missing_in_the_middle_was_asked_for(page: Page) -> None:
    """Started after an id, nothing before it comes."""
    read = READ.replace("retry: 5,", 'retry: 5, after: "7",')
    for opening in ("openEvents", "openEventSource"):
        seen = page.evaluate(read, [opening, "/events?case=close"])
        assert (seen["ids"], seen["reason"]) == (["8", "9", "10"], "CLOSE")
