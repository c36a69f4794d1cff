"""docs/wire.md: its transports run as written, and its sizes hold."""

from __future__ import annotations

import asyncio
import json
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from time import sleep
from typing import Any

import httpx
import pytest
from playwright.sync_api import Route
from wire_series import all_series

from jsonrill import receive
from support import ROOT, SLACK
from support.browser import launched
from support.markdown import compiled, read
from support.processes import free_port

PAGE = ROOT / "docs" / "wire.md"
TRIP = {"city": "Oslo", "days": [{"title": "Harbour"}, {"title": "Hills"}]}


BLOCKS = read(PAGE.read_text("utf8")).blocks


def block(beginning: str) -> str:
    """Return the block that begins so, or that is the file of this name."""
    [text] = [
        item.text for item in BLOCKS if item.file == beginning or item.text.startswith(beginning)
    ]
    return text


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder, port = tmp_path_factory.mktemp("site"), free_port()
    (folder / "app.py").write_text(block("app.py") + block("@app.websocket"), "utf8")
    command = [
        sys.executable,
        "-m",
        "uvicorn",
        "app:app",
        "--port",
        str(port),
        "--log-level",
        "error",
    ]
    with subprocess.Popen(command, cwd=folder) as server:
        try:
            wait_for(port)
            yield f"127.0.0.1:{port}"
        finally:
            server.terminate()


def wait_for(port: int) -> None:
    for _ in range(200 * SLACK):
        try:
            return socket.create_connection(("127.0.0.1", port)).close()
        except ConnectionRefusedError:
            sleep(0.05)
    raise TimeoutError("the app did not start")


HTML = """<!doctype html>
<script type="importmap">{"imports": {"jsonrill/receive": "/lib/receive.js"}}</script>
<script type="module">%s</script>"""


def test_events_to_a_browser(site: str) -> None:
    program = block("import { receive }")
    with launched() as browser:
        page = browser.new_page()
        page.route(f"http://{site}/", lambda route: route.fulfill(body=HTML % program))
        page.route(f"http://{site}/lib/**", fulfill_from_library)
        lines: list[str] = []
        page.on("console", lambda message: lines.append(message.text))
        with page.expect_console_message(lambda message: "Hills" in message.text):
            page.goto(f"http://{site}/")
    assert json.loads(lines[-1]) == TRIP and json.loads(lines[0]) == {"city": "Os"}


def fulfill_from_library(route: Route) -> None:
    name = route.request.url.partition("/lib/")[2]
    route.fulfill(path=ROOT / "js" / "src" / name, content_type="text/javascript")


def test_events_to_python(site: str) -> None:
    with httpx.stream("GET", f"http://{site}/trip") as response:
        *_, last = receive(response)
    assert last == TRIP


def test_messages_over_a_web_socket(site: str, capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, Any] = {}
    exec(compiled(block("import asyncio"), "docs/wire.md", 0), names)
    asyncio.run(names["main"](f"ws://{site}/progress"))
    assert capsys.readouterr().out.splitlines()[-1] == "{'done': 3, 'of': 3, 'log': 'xxx'}"


def test_messages_between_two_processes(tmp_path: Path) -> None:
    for name in ("worker.py", "reader.py"):
        (tmp_path / name).write_text(block(name), "utf8")
    command = [sys.executable, "reader.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=True, text=True)
    assert done.stdout.splitlines() == [str({"log": "line " * n}) for n in (1, 2, 3)]


# The most bytes for each byte of the final value, numbered and not.
BOUNDS = {
    "prose, 4 characters": (5.1, 3.6),
    "prose, 64 characters": (1.3, 1.3),
    "structured answer, 64 characters": (1.7, 1.7),
    "short values, 64 characters": (2.1, 2.1),
    "document edited in the middle": (3.0, 3.0),
}


def test_sizes_hold_and_are_those_of_the_page() -> None:
    page = PAGE.read_text("utf8")
    for series in all_series():
        numbered, short = (series.wire_bytes(flag) / series.size for flag in (True, False))
        assert f"| {numbered:.2f} | {short:.2f} |" in page, series.name
        bounds = BOUNDS.get(series.name, (10, 10))
        assert numbered <= bounds[0] and short <= bounds[1], series.name
