"""A real browser's EventSource: it resumes by itself, and stops when there is nothing more."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import httpx2
from playwright.sync_api import Page

from support import SLACK, hard
from support.processes import Server

PLAIN = {"content-type": "text/plain"}
TOKEN = {"authorization": "Bearer the-token-of-mine"}
LISTEN = """(url) => {
    window.seen = []; window.ends = 0; window.errors = 0;
    window.source = new EventSource(url);
    source.onmessage = (event) => seen.push([event.lastEventId, JSON.parse(event.data)]);
    source.addEventListener("CLOSE", () => { ends += 1; });
    source.onerror = () => { errors += 1; };
}"""


def until(page: Page, condition: str, seconds: float = 20) -> Any:
    """The value of an expression once it is true; the page's policy forbids the usual way."""
    end = time.monotonic() + seconds * SLACK
    while not (value := page.evaluate(condition)):
        assert time.monotonic() < end, f"{condition}: {page.evaluate('[seen, ends, errors]')}"
        time.sleep(0.05)
    return value


def add(url: str, text: str, headers: dict[str, str]) -> None:
    answer = httpx2.post(
        f"{url}/chunks", content=text, headers={**PLAIN, **headers}, trust_env=False
    )
    assert answer.status_code == 200, answer.text


@hard
def test_it_goes_on_after_a_restart_and_stops_at_the_end(tmp_path: Path, page: Page) -> None:
    settings = {
        "store": f"sqlite:///{tmp_path}/log.db",
        "retry": 200,
        "tokens": "me:the-token-of-mine",
    }
    with Server(tmp_path, **settings) as server:
        stream = httpx2.post(f"{server.url}/v1/streams", headers=TOKEN, trust_env=False).json()[
            "id"
        ]
        url = f"{server.url}/v1/streams/{stream}"
        asked: dict[str, Any] = {"json": {"stream": stream}, "headers": TOKEN, "trust_env": False}
        ticket = httpx2.post(f"{server.url}/v1/tickets", **asked).json()["ticket"]
        page.goto(f"{server.url}/healthz")
        page.evaluate(LISTEN, f"{url}/events?format=chunks&ticket={ticket}")
        add(url, '[{"a":', TOKEN)
        until(page, "seen.length == 1")
        server.end()
        server.start()
        add(url, '"\u00e9\u2028"}', TOKEN)
        until(page, "seen.length == 2")
        assert page.evaluate("errors") >= 1
        server.kill()
        server.start()
        add(url, "]", TOKEN)
        httpx2.post(f"{url}/close", headers=TOKEN, trust_env=False)
        # The page does nothing at CLOSE: the browser asks once more and is told 204.
        until(page, "source.readyState == 2")
        # Behind the number of its record an id has a checksum of the log.
        seen = [[id.partition("-")[0], text] for id, text in page.evaluate("seen")]
        assert seen == [["1", '[{"a":'], ["2", '"\u00e9\u2028"}'], ["3", "]"]]
        assert json.loads("".join(text for _, text in seen)) == [{"a": "\u00e9\u2028"}]
        assert page.evaluate("ends") == 1


def test_errors_arrive_as_messages(tmp_path: Path, page: Page) -> None:
    with Server(tmp_path, retry=100) as server:
        stream = httpx2.post(f"{server.url}/v1/streams", trust_env=False).json()["id"]
        url = f"{server.url}/v1/streams/{stream}"
        page.goto(f"{server.url}/healthz")
        page.evaluate(LISTEN, f"{url}/events")
        add(url, "[1, oops", {})
        until(page, "seen.length == 2")
        httpx2.post(f"{url}/cancel", trust_env=False)
        until(page, "source.readyState == 2")
        statuses = [update["status"] for _, update in page.evaluate("seen")]
        assert statuses[:2] == ["COMPLETED", "ERROR"]
        assert page.evaluate("ends") == 1
