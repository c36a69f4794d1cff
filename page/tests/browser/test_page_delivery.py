"""What the first visit fetches, what the next one does not, and the page without a server."""

from __future__ import annotations

import fnmatch
import functools
import http.server
import importlib.util
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from support import ROOT, hard, need_command
from support.processes import Server

from .shown import Shown

SCRIPT = ROOT / "tools" / "static_page.py"
SPEC = importlib.util.spec_from_file_location("static_page", SCRIPT)
assert SPEC is not None and SPEC.loader is not None
static_page: Any = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(static_page)


def fetched(page: Page, url: str) -> list[dict[str, Any]]:
    """Every request of a visit, with the bytes on the wire, headers included."""
    session = page.context.new_cdp_session(page)
    session.send("Network.enable")
    requests: dict[str, dict[str, Any]] = {}

    def received(event: dict[str, Any]) -> None:
        answer = event["response"]
        cached = answer.get("fromDiskCache") or answer.get("fromPrefetchCache", False)
        requests[event["requestId"]] = {"url": answer["url"], "cached": cached, "bytes": 0}

    def finished(event: dict[str, Any]) -> None:
        if event["requestId"] in requests:
            requests[event["requestId"]]["bytes"] = event["encodedDataLength"]

    session.on("Network.responseReceived", received)
    session.on("Network.loadingFinished", finished)
    page.goto(url)
    page.wait_for_load_state("networkidle")
    return [*requests.values()]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The server as a wheel installs it: with the bundle of the page."""
    folder = tmp_path_factory.mktemp("installed")
    package = folder / "jsonrill_server"
    shutil.copytree(ROOT / "packages/jsonrill-server/src/jsonrill_server", package)
    shutil.copytree(ROOT / "js" / "src", package / "web" / "js" / "src")
    static_page.page_bundle.install(need_command("npm"))
    static_page.page_bundle.bundle(package / "web" / "page")
    start = f"""import runpy, sys
sys.path.insert(0, {str(folder)!r})
runpy.run_module("jsonrill", run_name="__main__", alter_sys=True)"""
    with Server(folder, program=("-c", start), demo=True) as server:
        yield server


@hard
def test_the_first_visit_is_few_requests_and_few_bytes(browser: Browser, installed: Server) -> None:
    context = browser.new_context()
    page = context.new_page()
    first = [one for one in fetched(page, installed.url) if "/v1/" not in one["url"]]
    files = [one for one in first if "/demo/" not in one["url"]]
    assert sum(one["bytes"] for one in files) <= 100_000, first
    # Fetched at once: the html names every module.
    assert len(files) <= 16, first
    # The next visit asks for the page alone; the rest is in the cache of the browser.
    again = [one for one in fetched(page, installed.url) if "/web/" in one["url"]]
    assert all(one["cached"] or one["bytes"] == 0 for one in again), again
    context.close()


def test_no_module_is_asked_for_that_the_html_does_not_name(page: Page, installed: Server) -> None:
    shown = Shown(page, installed.url)
    shown.open()
    html = page.request.get(installed.url).text()
    scripts = [url for url in shown.requests if url.endswith(".js")]
    assert scripts and all(url.removeprefix(f"{installed.url}/") in html for url in scripts)


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *arguments: object) -> None:
        pass


@pytest.fixture(scope="module")
def static(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the static build, below a path, on a file server that knows nothing."""
    folder = tmp_path_factory.mktemp("static")
    static_page.build(folder / "some" / "where", shutil.which("npm"))
    handler = functools.partial(Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/some/where/"
        server.shutdown()


def test_the_static_page_has_the_policy_of_the_server(page: Page, static: str) -> None:
    shown = Shown(page, static)
    shown.open("")
    refused = page.evaluate(
        """() => {
            try { document.createElement("div").innerHTML = "<b>x</b>"; return "taken"; }
            catch (error) { return error.name; }
        }"""
    )
    assert refused == "TypeError"


def test_a_static_build_has_no_stale_files(tmp_path: Path) -> None:
    (tmp_path / "page").mkdir()
    (tmp_path / "page" / "old.js").write_text("")
    names = {file.name for file in static_page.build(tmp_path / "page", need_command("npm"))}
    assert {"index.html", "examples.json"} <= names
    for name in ("page-*.js", "page-*.css", "icon-*.svg"):
        assert len(fnmatch.filter(names, name)) == 1, names
    assert "old.js" not in names


def test_without_a_server_a_text_is_read(page: Page, static: str) -> None:
    shown = Shown(page, static)
    shown.open("")
    shown.paste('{"title": "Storm", "size": 12')
    expect(page.locator("#view-tree .tree")).to_contain_text("Storm")
    shown.check()
