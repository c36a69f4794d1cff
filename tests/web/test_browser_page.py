"""docs/browser.md: its JavaScript runs in node, as one module, against a real server."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import httpx2
import pytest

from support import ROOT, need_command
from support.pages import Block, read
from support.processes import Server

WEB = (ROOT / "src" / "jsonrill" / "web").as_uri()
BLOCKS = read((ROOT / "docs" / "browser.md").read_text("utf8")).blocks
TEXTS = ('{"name": "Zo', 'ë", "tags": [1, ', "2]}", "\n")
# In a browser addresses are relative to the page.
BEFORE = """
const id = {id};
for (const name of ["Request", "fetch"]) {{
  const real = globalThis[name];
  const here = (url, init) => [new URL(url, {url}), init];
  globalThis[name] = function (url, init) {{
    return new.target ? new real(...here(url, init)) : real(...here(url, init));
  }};
}}
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> object:
    with Server(tmp_path_factory.mktemp("browser")) as server:
        yield server


def published(server: Server) -> str:
    with httpx2.Client(base_url=server.url, trust_env=False, timeout=10) as http:
        stream = http.post("/v1/streams", json={}).json()["id"]
        for text in TEXTS:
            plain = {"content-type": "text/plain"}
            http.post(f"/v1/streams/{stream}/chunks", content=text, headers=plain)
        http.post(f"/v1/streams/{stream}/close")
    return str(stream)


def printed_by(blocks: list[Block]) -> list[tuple[Block, str]]:
    """The ```js blocks, each with the ```text block that follows it."""
    pairs = zip(blocks, [*blocks[1:], Block("", "", 0, None)], strict=True)
    return [
        (block, after.text if after.language == "text" else "")
        for block, after in pairs
        if block.language == "js" and block.skip is None
    ]


def test_the_modules_do_what_the_page_says(server: Server, tmp_path: Path) -> None:
    shown = printed_by(BLOCKS)
    assert len(shown) >= 6
    mark = "---- the next block"
    parts = [BEFORE.format(id=json.dumps(published(server)), url=json.dumps(server.url))]
    for block, _ in shown:
        parts += [block.text, f"console.log({mark!r});"]
    module = tmp_path / "page.mjs"
    module.write_text("\n".join(parts).replace('"/web/', f'"{WEB}/'), "utf8")
    done = subprocess.run(
        [need_command("node"), module], capture_output=True, text=True, timeout=60, encoding="utf8"
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split(f"{mark}\n")[:-1] == [text for _, text in shown]
