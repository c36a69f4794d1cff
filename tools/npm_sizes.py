"""Write the table of sizes in docs/javascript.md: `python tools/npm_sizes.py`, with node and npm.

js/tests/test_npm.py measures the same, and compares the page with it.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

from page_bundle import TOOLS, install

ROOT: Final = Path(__file__).resolve().parent.parent
PAGE: Final = ROOT / "docs" / "javascript.md"
SCRIPT: Final = ROOT / "tools" / "npm" / "sizes.mjs"
# What is measured, and the most that a page may load of it at once. Kilobytes are 1000 bytes.
MOST: Final = {
    "text: values": 9_200,
    "values": 9_200,
    "values, text": 11_500,
    "Document": 8_200,
    "states": 10_600,
    "open": 16_700,
    "content": 20_300,
    "toolCalls, parts": 32_000,
    "receive: receive": 3_000,
    "observe: observeStream": 12_000,
    "react: useStream": 12_600,
    "react: useRun": 20_800,
    "react: useParts": 34_300,
    "react: useRunParts": 37_200,
}
ROW: Final = re.compile(r"^\| `.+` \| `jsonrill.*?`(?: \| [0-9.]+ kB){3} \|$\n", re.MULTILINE)

Sizes = dict[str, dict[str, int]]


def measured(folder: Path) -> Sizes:
    """The sizes for a program in `folder`, where the package is installed beside the bundlers."""
    shutil.copy(SCRIPT, folder)
    command = ["node", SCRIPT.name, *MOST]
    done = subprocess.run(command, cwd=folder, check=True, stdout=subprocess.PIPE, text=True)
    sizes: Sizes = json.loads(done.stdout)
    return sizes


def rows(sizes: Sizes) -> str:
    """The rows of the table."""
    return "".join(row(names, **sizes[names]) for names in MOST)


def row(names: str, vite: int, esbuild: int, one: int) -> str:
    part, _, wanted = names.rpartition(": ")
    entry = f"`jsonrill/{part}`" if part else "`jsonrill`"
    words = ", ".join(f"`{word}`" for word in wanted.split(", "))
    cells = [words, entry, *(f"{size / 1000:.1f} kB" for size in (vite, esbuild, one))]
    return f"| {' | '.join(cells)} |\n"


def written(page: str, sizes: Sizes) -> str:
    """The page with these sizes in its table."""
    table = iter([rows(sizes)])
    return ROW.sub(lambda _: next(table, ""), page)


def main() -> int:
    npm = shutil.which("npm")
    if npm is None:
        print("sizes are measured with node and npm, which are not installed", file=sys.stderr)
        return 1
    install(npm)
    folder = ROOT / "build" / "npm-sizes"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(ROOT / "js", folder / "node_modules" / "jsonrill")
    (folder / "package.json").write_text('{"type": "module"}', "utf8")
    for bundler in ("esbuild", "vite"):
        (folder / "node_modules" / bundler).symlink_to(TOOLS / "node_modules" / bundler)
    PAGE.write_text(written(PAGE.read_text("utf8"), measured(folder)), "utf8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
