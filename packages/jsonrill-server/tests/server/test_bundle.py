"""The page is delivered in few, small files, and its modules do the same in a bundle as alone."""

from __future__ import annotations

import gzip
import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from jsonrill_server.http import bundle
from jsonrill_server.http.bundle import bundles, page_files, without_comments
from jsonrill_server.http.pages import sources
from support import ROOT, need_command
from support.asgi import asked
from support.npm import installed

# Reads [[text, stripped], ...] and prints those whose tokens differ; white space is no token.
COMPARE = """
import ts from "typescript";
import { readFileSync } from "node:fs";
const tokens = (text) => {
  const file = ts.createSourceFile("x.js", text, ts.ScriptTarget.ES2022, true, ts.ScriptKind.JS);
  const found = [];
  const visit = (node) => {
    const { FirstJSDocNode, LastJSDocNode } = ts.SyntaxKind;
    const children = node
      .getChildren(file)
      .filter(({ kind }) => kind < FirstJSDocNode || kind > LastJSDocNode);
    const isToken = children.length === 0 && node.kind !== ts.SyntaxKind.SyntaxList;
    if (isToken) found.push(node.getText(file));
    children.forEach(visit);
  };
  visit(file);
  return JSON.stringify(found);
};
const pairs = JSON.parse(readFileSync(0, "utf8"));
const differ = pairs.filter(([, a, b]) => tokens(a) !== tokens(b));
console.log(JSON.stringify(differ.map(([name]) => name)));
"""


def run(folder: Path, code: str, given: str = "") -> Any:
    """What a module prints, as JSON; it runs in `folder`."""
    file = folder / "try.mjs"
    file.write_text(code, "utf8")
    done = subprocess.run(
        [need_command("node"), file], input=given, capture_output=True, text=True, encoding="utf8"
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def written(folder: Path, made: dict[str, str]) -> Path:
    for name, text in {"package.json": '{"type": "module"}', **made}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf8")
    return folder


def test_what_is_left_out_is_comments() -> None:
    assert without_comments("a; // b\n  // c\n/* d\n e */\nf /* g */;\n") == "a; // b\nf /* g */;\n"
    assert without_comments('x = "/*";\n/** a */ b */\n') == 'x = "/*";\n/** a */ b */\n'
    folder = installed(ROOT / "tools" / "npm", "npm")
    pairs = [
        [name, text, without_comments(text)]
        for name, text in sources().items()
        if name.endswith(".js")
    ]
    assert len(pairs) > 80
    wrong = ["wrong", "const a = `\n// kept\n`;", without_comments("const a = `\n// kept\n`;")]
    assert run(folder, COMPARE, json.dumps([*pairs, wrong])) == ["wrong"]


def test_a_bundle_has_what_the_modules_have(tmp_path: Path) -> None:
    """Names, values across modules, and modules that are loaded later."""
    texts = sources()
    folder = written(tmp_path, {**bundles(texts, "js/src/index.js")})
    code = f"""
    import {{ m }} from "./js/src/index.js";
    import * as alone from {json.dumps((ROOT / "js" / "src" / "index.js").as_uri())};
    const together = m["js/src/index.js"];
    const document = new together.Document();
    document.feed('{{"a": [1, "x');
    const event = {{ choices: [{{ index: 0, delta: {{ content: "[1]" }} }}] }};
    const values = [];
    for await (const value of together.values([event])) values.push(value);
    const names = [together, alone].map((module) => Object.keys(module).sort());
    console.log(JSON.stringify({{ names, value: document.value, values: values.at(-1) }}));
    """
    told = run(folder, code)
    assert told["names"][0] == told["names"][1] and len(told["names"][0]) > 40
    assert told["value"] == {"a": [1, "x"]} and told["values"] == [1]
    assert any(name != "js/src/index.js" for name in bundles(texts, "js/src/index.js"))


def test_every_form_of_import_and_export_is_understood(tmp_path: Path) -> None:
    texts = {
        "page/a.js": """import * as b from "./b.js";
import "../lib/side.js";
import { x as y, z } from "./b.js";
import {
  w,
} from "./c.js";
export { z as zz, x } from "./b.js";
export const own = [b.x, y, z, w, globalThis.side];
export async function* later() { yield await import("../lib/late.js"); yield import("./b.js"); }
export async function all() {
  const found = [];
  for await (const { late, x } of later()) found.push(late ?? x);
  return [own, found];
}
""",
        "page/b.js": "export const x = 1;\nexport function z() {}\n",
        "page/c.js": 'import { x } from "./b.js";\nexport class w { static x = x; }\n',
        "lib/side.js": "globalThis.side = 5;\n",
        "lib/late.js": 'import { x } from "../page/b.js";\nimport { d } from "./d.js";\n'
        "export const late = x + d;\n",
        "lib/d.js": "export const d = 10;\n",
    }
    folder = written(tmp_path, bundles(texts, "page/a.js"))
    code = """import { m } from "./page/a.js";
    const { all, zz, x } = m["page/a.js"];
    console.log(JSON.stringify([...(await all()), typeof zz, x]));"""
    assert run(folder, code) == [[1, 1, None, None, 5], [11, 1], "function", 1]


@pytest.mark.parametrize(
    "text", ["export default 1;\n", 'export * from "./b.js";\n', 'import a from "b";\n']
)
def test_what_is_not_understood_is_refused(text: str) -> None:
    with pytest.raises((ValueError, KeyError)):
        bundles({"page/a.js": text, "page/b.js": ""}, "page/a.js")


def test_modules_that_import_each_other_are_refused() -> None:
    texts = {"page/a.js": 'import "./b.js";\n', "page/b.js": 'import "./a.js";\n'}
    with pytest.raises(ValueError, match=r"page/a\.js → page/b\.js → page/a\.js"):
        bundles(texts, "page/a.js")


def test_the_page_is_small_and_every_file_of_it_is_named_in_its_html() -> None:
    made = page_files(sources())
    html = made.pop(bundle.INDEX)
    named = set(re.findall(r'(?:src|href)="web/([^"]+)"', html))
    assert named <= set(made)
    first = [html, *(made[name] for name in named)]
    assert len(first) <= 6
    assert sum(len(gzip.compress(text.encode(), 9)) for text in first) < 95_000
    assert len(re.findall('rel="stylesheet"', html)) == 1


def test_a_change_changes_every_name() -> None:
    texts = sources()
    names = {*page_files(texts)}
    other = {**texts, "page/page.css": texts["page/page.css"] + "p {}\n"}
    assert names & {*page_files(other)} == {bundle.INDEX}
    assert names == {*page_files(dict(reversed(texts.items())))}


def test_hashed_files_are_kept_for_ever_and_compressed_if_wished() -> None:
    html = asked("GET", "/").text
    for path in re.findall(r'(?:src|href)="(web/[^"]+)"', html):
        plain = asked("GET", f"/{path}", headers={"accept-encoding": "br, gzip;q=0"})
        zipped = asked("GET", f"/{path}", headers={"accept-encoding": "br, gzip"})
        assert plain.headers["cache-control"] == "public, max-age=31536000, immutable"
        assert (
            "content-encoding" not in plain.headers and plain.headers["vary"] == "accept-encoding"
        )
        assert zipped.headers["content-encoding"] == "gzip" and zipped.content == plain.content
        assert zipped.headers["etag"] != plain.headers["etag"]
        if path.endswith(".js") and len(plain.content) > 1000:
            assert int(zipped.headers["content-length"]) < len(plain.content) / 3
        again = asked("GET", f"/{path}", headers={"if-none-match": plain.headers["etag"]})
        assert again.status_code in (200, 304)
    assert asked("GET", "/web/0000000000000000/page/page.js").status_code == 404
    assert asked("GET", "/web/page/page.js").headers["cache-control"] == "no-cache"
