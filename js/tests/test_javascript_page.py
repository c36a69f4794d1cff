"""docs/javascript.md: its JavaScript runs in node, against a real server."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import httpx2
import pytest

from support import ROOT, need_command
from support.markdown import Block, read
from support.processes import Server

LIBRARY = (ROOT / "js" / "src").as_uri()
RECIPE = [
    '{"title": "Ginger t',
    'ea", "minutes": 12, "steps": [{"text": "Peel"}',
    ', {"text": "Boil", "optional": true}]}',
]
# A chat completion with a thought, an answer in JSON and a call.
CHAT = [
    {"reasoning_content": "Tea, then."},
    {"content": '{"title": "Gin'},
    {"content": 'ger tea"}'},
    {"tool_calls": [{"index": 0, "id": "a", "function": {"name": "timer", "arguments": '{"min'}}]},
    {"tool_calls": [{"index": 0, "function": {"arguments": 'utes": 12}'}}]},
    None,
]
TEXTS = ('{"name": "Zo', 'ë", "tags": [1, ', "2]}", "\n")
# In a browser addresses are relative to the page.
BEFORE = """
const id = {id};
const recipe = async function* () {{
  for (const piece of {recipe}) yield new TextEncoder().encode(piece);
}};
const headers = {{ "content-type": "text/event-stream" }};
const chat = async function* () {{
  for (const delta of {chat}) {{
    const finish_reason = delta === null ? "tool_calls" : null;
    const choices = [{{ index: 0, delta: delta ?? {{}}, finish_reason }}];
    yield new TextEncoder().encode(`data: ${{JSON.stringify({{ id: "c", choices }})}}\n\n`);
  }}
}};
for (const name of ["Request", "fetch"]) {{
  const real = globalThis[name];
  const here = (url, init) => [new URL(url, {url}), init];
  globalThis[name] = function (url, init) {{
    if (url === "/recipe") return new Response(recipe());
    if (url === "/chat") return new Response(chat(), {{ headers }});
    return new.target ? new real(...here(url, init)) : real(...here(url, init));
  }};
}}
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> object:
    with Server(tmp_path_factory.mktemp("browser")) as server:
        yield server


def published(server: Server) -> str:
    with httpx2.Client(base_url=server.url, trust_env=False, timeout=60) as http:
        stream = http.post("/v1/streams", json={}).json()["id"]
        for text in TEXTS:
            plain = {"content-type": "text/plain"}
            http.post(f"/v1/streams/{stream}/events", content=text, headers=plain)
        http.post(f"/v1/streams/{stream}/close")
    return str(stream)


def printed_by(blocks: list[Block]) -> list[tuple[Block, str]]:
    """Return the ```js blocks, each with the ```text block that follows it."""
    pairs = zip(blocks, [*blocks[1:], Block("", "", 0, None)], strict=True)
    return [
        (block, after.text if after.language == "text" else "")
        for block, after in pairs
        if block.language == "js" and block.skip is None
    ]


def test_the_modules_do_what_the_page_says(server: Server, tmp_path: Path) -> None:
    shown = printed_by(read((ROOT / "docs" / "javascript.md").read_text("utf8")).blocks)
    assert len(shown) >= 6
    mark = "---- the next block"
    constants = {"id": published(server), "url": server.url, "recipe": RECIPE, "chat": CHAT}
    parts = [BEFORE.format(**{name: json.dumps(value) for name, value in constants.items()})]
    for block, _ in shown:
        parts += [block.text, f"console.log({mark!r});"]
    module = tmp_path / "page.mjs"
    text = "\n".join(parts).replace('"/web/lib/', f'"{LIBRARY}/')
    text = text.replace('"jsonrill"', f'"{LIBRARY}/index.js"')
    module.write_text(text, "utf8")
    done = subprocess.run(
        [need_command("node"), module], capture_output=True, text=True, timeout=60, encoding="utf8"
    )
    assert done.returncode == 0, done.stderr
    # Event ids end with a checksum of the log, which differs from stream to stream.
    printed = re.sub(r"(?<=[0-9])-[0-9a-f]{8}\b", "-…", done.stdout)
    assert printed.split(f"{mark}\n")[:-1] == [text for _, text in shown]
