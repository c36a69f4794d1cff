"""Bundle the page with esbuild: `bundle(folder)` writes it as few, small files with hashed names.

A clone serves the page's modules as they are; the wheel of the server (its setup.py) and the page
without a server (tools/static_page.py) have the bundle. tools/npm/package.json pins esbuild.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parent.parent
PAGE: Final = ROOT / "page"
TOOLS: Final = ROOT / "build" / "npm"
# Names below this folder hold a hash of their contents: what is there never changes.
HASHED: Final = "bundle"
ENTRIES: Final = ("page/page.js", "page/page.css")
FLAGS: Final = (
    *("--bundle", "--splitting", "--format=esm", "--minify", "--target=es2022"),
    *("--entry-names=[name]-[hash]", "--chunk-names=[name]-[hash]", "--log-level=warning"),
    *("--asset-names=[name]-[hash]", "--loader:.svg=file"),
)
QUIET: Final = ("--silent", "--no-audit", "--no-fund", "--ignore-scripts", "--no-package-lock")


def install(npm: str) -> None:
    """Install what tools/npm/package.json names into build/npm, if it is not there."""
    wanted = (ROOT / "tools" / "npm" / "package.json").read_text("utf8")
    stamp = TOOLS / "node_modules" / "stamp"
    if stamp.is_file() and stamp.read_text("utf8") == wanted:
        return
    TOOLS.mkdir(parents=True, exist_ok=True)
    (TOOLS / "package.json").write_text(wanted, "utf8")
    subprocess.run([npm, "install", *QUIET], cwd=TOOLS, check=True)
    stamp.write_text(wanted, "utf8")


def bundle(folder: Path) -> None:
    """Write the page into `folder`, which is to be served at `web/page`. esbuild is installed."""
    esbuild = TOOLS / "node_modules" / ".bin" / "esbuild"
    folder.mkdir(parents=True, exist_ok=True)
    report = folder / "meta.json"
    where = (f"--outdir={folder / HASHED}", f"--metafile={report}")
    subprocess.run([str(esbuild), *ENTRIES, *FLAGS, *where], cwd=ROOT, check=True)
    outputs: dict[str, Any] = json.loads(report.read_text("utf8"))["outputs"]
    report.unlink()
    names = {
        entry: f"page/{HASHED}/{Path(name).name}"
        for name, output in outputs.items()
        if (entry := output.get("entryPoint")) in ENTRIES
    }
    shutil.copy(PAGE / "samples.json", folder)
    html = (PAGE / "index.html").read_text("utf8")
    for name in sorted({*re.findall(r'"web/(page/[^"]+)"', html)} - {*names}):
        file = ROOT / name
        digest = hashlib.sha256(file.read_bytes()).hexdigest()[:8]
        names[name] = f"page/{HASHED}/{file.stem}-{digest}{file.suffix}"
        shutil.copy(file, folder / HASHED / Path(names[name]).name)
    for entry, name in names.items():
        html = html.replace(f'"web/{entry}"', f'"web/{name}"')
    html = html.replace("</head>", f"{preloads(outputs)}</head>", 1)
    (folder / "index.html").write_text(html, "utf8", newline="\n")


def preloads(outputs: dict[str, Any]) -> str:
    """Return links to all imports of the page's module, so that one round trip fetches them."""
    [start] = [name for name, output in outputs.items() if output.get("entryPoint") == ENTRIES[0]]
    names = [start]
    for name in names:
        imports = outputs[name]["imports"]
        wanted = [item["path"] for item in imports if item["kind"] == "import-statement"]
        names += [path for path in wanted if path not in names]
    chunks = [f"web/page/{HASHED}/{Path(name).name}" for name in names[1:]]
    return "".join(f'  <link rel="modulepreload" href="{name}" />\n  ' for name in chunks)
