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
# What is measured, and the most that its first chunk may have. Kilobytes are 1000 bytes.
MOST: Final = {
    "text: values": 9_000,
    "values": 9_300,
    "values, text": 11_000,
    "Document": 8_300,
    "states": 10_300,
    "updates": 16_900,
    "open": 15_800,
    "repair, values, text": 30_600,
    "content": 20_900,
    "toolCalls, parts": 33_100,
    "split, parts": 40_800,
    "observe: observeStream": 12_000,
    "react: useStream": 12_800,
    "react: useRun": 18_400,
    "react: useParts": 35_400,
    "react: useRunParts": 38_100,
}
ROW: Final = re.compile(
    r"^\| `.+` \| `jsonrill.*?` \| [0-9.]+ kB \| [0-9.]+ kB \|$\n", re.MULTILINE
)

Sizes = dict[str, dict[str, int]]


def measured(folder: Path) -> Sizes:
    """The sizes for a program in `folder`, in which the package is installed beside esbuild."""
    shutil.copy(SCRIPT, folder)
    command = ["node", SCRIPT.name, *MOST]
    done = subprocess.run(command, cwd=folder, check=True, stdout=subprocess.PIPE, text=True)
    sizes: Sizes = json.loads(done.stdout)
    return sizes


def rows(sizes: Sizes) -> str:
    """The rows of the table."""
    return "".join(row(names, **sizes[names]) for names in MOST)


def row(names: str, first: int, one: int) -> str:
    part, _, wanted = names.rpartition(": ")
    entry = f"`jsonrill/{part}`" if part else "`jsonrill`"
    also, _, rest = wanted.partition(", ")
    if also in ("repair", "split"):
        entry, wanted = f"`jsonrill` and `jsonrill/{also}`", rest
    words = ", ".join(f"`{word}`" for word in wanted.split(", "))
    return f"| {words} | {entry} | {first / 1000:.1f} kB | {one / 1000:.1f} kB |\n"


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
    (folder / "node_modules" / "esbuild").symlink_to(TOOLS / "node_modules" / "esbuild")
    PAGE.write_text(written(PAGE.read_text("utf8"), measured(folder)), "utf8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
