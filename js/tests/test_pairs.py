"""Each format of the server and what reads it, in Chromium: docs/javascript.md lists the pairs."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from playwright.sync_api import Page

from support import ROOT
from support.browser import launched
from support.npm import TOOLS, installed
from support.processes import Server

RECIPE = {"title": "Tee 😀", "steps": ["boil", "steep"]}
ARGUMENTS = {"minutes": 12}


def chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    return {"id": "c", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def call(text: str, **fields: Any) -> dict[str, Any]:
    return chunk({"tool_calls": [{"index": 0, "function": {"arguments": text, **fields}}]})


EVENTS = [
    chunk({"content": '{"title": "Te'}),
    chunk({"content": 'a"}'}),
    call("", name="timer"),
    call('{"min'),
    call('utes": 12}'),
    chunk({}, "tool_calls"),
]
PARTS = [["text", '{"title": "Tea"}'], ["call", ARGUMENTS]]
PAIRS: list[tuple[str, str, Any]] = [
    *[(format, "open", RECIPE) for format in ("updates", "fragments", "text", "deltas")],
    *[(format, "useStream", RECIPE) for format in ("updates", "fragments", "text")],
    ("deltas", "receive", RECIPE),
    ("deltas", "useValue", RECIPE),
    ("calls", "toolCalls", ["timer", ARGUMENTS, "complete"]),
    ("raw", "content", {"title": "Tea"}),
    *[(format, "parts", PARTS) for format in ("parts", "raw", "ai-sdk", "ag-ui")],
    ("ai-sdk", "useChat", [*PARTS[:1], ["dynamic-tool", ARGUMENTS]]),
    *[(format, "useParts", PARTS) for format in ("parts", "raw", "ai-sdk", "ag-ui")],
]
OF_EVENTS = ("calls", "raw", "parts", "ai-sdk", "ag-ui")
OF_VALUES = ("deltas", "updates", "fragments", "text")
MISTAKES = [
    *itertools.product(
        OF_EVENTS, ("open", "useValue", "useStream"), ("(openEvents(url)) or useParts(url)",)
    ),
    *itertools.product(OF_VALUES, ("useParts", "toolCalls"), ("open(url)",)),
]


@pytest.fixture(scope="module")
def http(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx2.Client]:
    with Server(tmp_path_factory.mktemp("pairs")) as server:
        with httpx2.Client(base_url=server.url, trust_env=False, timeout=60) as client:
            yield client


@pytest.fixture(scope="module")
def page(http: httpx2.Client, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """Yield a page of the server with the readers of pairs.js."""
    modules = installed(TOOLS, "npm") / "node_modules"
    bundle = tmp_path_factory.mktemp("bundle") / "pairs.js"
    command: list[str | Path] = [modules / ".bin" / "esbuild", ROOT / "js" / "tests" / "pairs.js"]
    flags = (
        "--bundle",
        "--minify",
        "--log-level=error",
        '--define:process.env.NODE_ENV="production"',
    )
    environment = {**os.environ, "NODE_PATH": str(modules)}
    subprocess.run([*command, *flags, f"--outfile={bundle}"], check=True, env=environment)
    with launched() as browser:
        opened = browser.new_context(bypass_csp=True).new_page()
        opened.goto(f"{str(http.base_url).rstrip('/')}/livez")
        opened.add_script_tag(path=bundle)
        yield opened


def read(page: Page, http: httpx2.Client, format: str, reader: str) -> Any:
    """Return what a reader shows of a stream that is published and closed while it reads."""
    text = json.dumps(RECIPE, ensure_ascii=False)
    pieces = [text[at : at + 5] for at in range(0, len(text), 5)]
    kind, records = ("events", EVENTS) if format in OF_EVENTS else ("text", pieces)
    path = f"/v1/streams/{http.post('/v1/streams', json={'input': kind}).json()['id']}"
    # The format ai-sdk answers 204 for a stream that has ended.
    with page.expect_response(lambda response: path in response.url):
        page.evaluate(f"void (window.seen = readers.{reader}('{path}/events?format={format}'))")
    body = "".join(json.dumps(record) + "\n" for record in records)
    headers = {"content-type": "application/x-ndjson"}
    http.post(f"{path}/events", content=body, headers=headers).raise_for_status()
    http.post(f"{path}/close").raise_for_status()
    return page.evaluate("window.seen")


@pytest.mark.parametrize(("format", "reader", "seen"), PAIRS)
def test_what_the_server_sends_is_read(
    page: Page, http: httpx2.Client, format: str, reader: str, seen: Any
) -> None:
    assert read(page, http, format, reader) == seen


@pytest.mark.parametrize(("format", "reader", "other"), MISTAKES)
def test_another_format_is_named_with_what_reads_it(
    page: Page, http: httpx2.Client, format: str, reader: str, other: str
) -> None:
    message = read(page, http, format, reader)
    assert message.startswith("UnknownSource: ")
    assert f"does not read the format {format}; " in message
    assert other in message
