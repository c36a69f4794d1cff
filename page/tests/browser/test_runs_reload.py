"""A page that shows an application's run is reloaded, and the application is killed."""

from __future__ import annotations

import json
import time
from pathlib import Path

import httpx2
from playwright.sync_api import Page

from support import SLACK, hard
from support.apps import App
from support.run_app import events


@hard
def test_a_reload_and_a_kill_lose_nothing_and_repeat_nothing(tmp_path: Path, page: Page) -> None:
    key = "run-150-0.03-0"

    def seen() -> list[str]:
        kept = page.evaluate("sessionStorage.kept")
        return json.loads(kept)["seen"] if kept else []

    def until(count: int) -> None:
        end = time.monotonic() + 20 * SLACK
        while len(seen()) < count:
            assert time.monotonic() < end, len(seen())
            time.sleep(0.05)

    settings = {"RESUME": "1", "LEASE": "1"}
    with App(tmp_path, f"sqlite:///{tmp_path}/log.db", **settings) as app:
        httpx2.post(f"{app.url}/runs/{key}", trust_env=False)
        page.goto(f"{app.url}/pages/{key}")
        for count in (20, 40, 60):
            until(count)
            page.reload()
        until(80)
        app.kill()
        app.start()
        until(150)
        assert seen() == events(key, 150)
        end = time.monotonic() + 20 * SLACK
        while not page.evaluate("ends"):
            assert time.monotonic() < end
            time.sleep(0.05)
        page.reload()  # everything was read: 204, and the browser asks no more
        while page.evaluate("source.readyState") != 2:
            assert time.monotonic() < end
            time.sleep(0.05)
        assert len(seen()) == 150
