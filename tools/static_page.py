"""Make the page without a server: `python tools/static_page.py` leaves it in dist/page/.

Any file server can serve the folder, at any path. The page reads what is pasted or dropped, and
replays the examples of the demo; what needs a server is not offered. Two other libraries are added
for the comparison of what each shows of a text that is cut off.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import page_bundle

from jsonrill_server.access.guard import CSP
from jsonrill_server.demo.models import models

ROOT: Final = Path(__file__).resolve().parent.parent
SOURCE: Final = ROOT / "tools" / "page"
PACKAGES: Final = ROOT / "build" / "page"
QUIET: Final = ("--silent", "--no-audit", "--no-fund", "--ignore-scripts")
RIVALS: Final = "web/rivals.js"
# Larger examples would be most of what is downloaded.
MOST: Final = 50_000


def policy() -> str:
    """The server's policy, without what only a header can say."""
    return "; ".join(part for part in CSP.split("; ") if not part.startswith("frame-ancestors"))


def examples() -> list[dict[str, Any]]:
    """The demo's models, each with all that it writes."""
    found = [(model, model.says()) for model in models().values()]
    return [
        {**model.to_json(), "options": model.options, "text": text}
        for model, text in found
        if len(text) <= MOST
    ]


def html(text: str) -> str:
    """The page as a document of its own: it knows that there is no server."""
    told = f'data-demo="off" data-server="off" data-rivals="{RIVALS}"'
    text = text.replace('data-demo="off"', told, 1)
    meta = f'<meta http-equiv="Content-Security-Policy" content="{policy()}" />'
    return text.replace("<head>\n", f"<head>\n    {meta}\n", 1)


def add_rivals(folder: Path, npm: str) -> None:
    """Bundle the other libraries into one module of the page."""
    PACKAGES.mkdir(parents=True, exist_ok=True)
    for file in SOURCE.iterdir():
        shutil.copy(file, PACKAGES)
    wanted = (SOURCE / "package.json").read_text("utf8")
    stamp = PACKAGES / "node_modules" / "stamp"
    if not stamp.is_file() or stamp.read_text("utf8") != wanted:
        subprocess.run([npm, "install", "--no-package-lock", *QUIET], cwd=PACKAGES, check=True)
        stamp.write_text(wanted, "utf8")
    command = [PACKAGES / "node_modules" / ".bin" / "esbuild", "rivals.mjs", "--bundle"]
    command += ["--format=esm", "--minify", "--log-level=warning", f"--outfile={folder / RIVALS}"]
    subprocess.run([*map(str, command)], cwd=PACKAGES, check=True)


def build(folder: Path, npm: str) -> list[Path]:
    """Write the page into `folder`, which is emptied before; returns its files."""
    shutil.rmtree(folder, ignore_errors=True)
    page_bundle.install(npm)
    page_bundle.bundle(folder / "web" / "page")
    index = folder / "web" / "page" / "index.html"
    (folder / "index.html").write_text(html(index.read_text("utf8")), "utf8", newline="\n")
    index.unlink()
    (folder / "examples.json").write_text(json.dumps({"models": examples()}), "utf8")
    add_rivals(folder, npm)
    return sorted(file for file in folder.rglob("*") if file.is_file())


def main() -> int:
    npm = shutil.which("npm")
    if npm is None:
        print("the page is bundled with node and npm, which are not installed", file=sys.stderr)
        return 1
    folder = ROOT / "dist" / "page"
    made = build(folder, npm)
    size = sum(file.stat().st_size for file in made)
    print(f"dist/page: {len(made)} files, {size:,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
