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
# What is measured, and the most bytes that it may have. Kilobytes are 1000 bytes.
MAX_SIZES: Final = {
    "jsonrill: values": 6_000,
    "jsonrill: Document": 5_000,
    "jsonrill: open": 12_250,
    "jsonrill: content": 11_250,
    "jsonrill: toolCalls": 20_300,
    "jsonrill: parts": 21_600,
    "jsonrill/receive: receive": 3_000,
    "jsonrill/react: useValue": 7_000,
    "jsonrill/react: useStream": 13_450,
    "jsonrill/react: useParts": 24_450,
}
ROW: Final = re.compile(r"^\| `\w+` \| `jsonrill.*?` \| [0-9.]+ kB \|$\n", re.MULTILINE)


def measured(folder: Path) -> dict[str, int]:
    """Return the sizes for a program in `folder`, which has the package and esbuild installed."""
    shutil.copy(SCRIPT, folder)
    command = ["node", SCRIPT.name, *MAX_SIZES]
    done = subprocess.run(command, cwd=folder, check=True, stdout=subprocess.PIPE, text=True)
    sizes: dict[str, int] = json.loads(done.stdout)
    return sizes


def rows(sizes: dict[str, int]) -> str:
    """Return the rows of the table."""
    pairs = [(*names.split(": "), size / 1000) for names, size in sizes.items()]
    return "".join(f"| `{name}` | `{entry}` | {size:.1f} kB |\n" for entry, name, size in pairs)


def written(page: str, sizes: dict[str, int]) -> str:
    """Return the page with these sizes in its table."""
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
    (folder / "node_modules" / "esbuild").symlink_to(TOOLS / "node_modules" / "esbuild")
    PAGE.write_text(written(PAGE.read_text("utf8"), measured(folder)), "utf8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
