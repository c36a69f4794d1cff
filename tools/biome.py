"""`make check` and `make format`: Biome formats and lints JavaScript, as ruff does Python.

`python tools/biome.py check` says what is wrong, `format` changes it. Biome comes from npm, in one
version, into .venv. Without npm, nothing is looked at; that is a failure only if CI=true.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

import system_parts

ROOT: Final = Path(__file__).resolve().parent.parent
VERSION: Final = "2.6.7"
FOLDER: Final = ROOT / ".venv" / f"biome-{VERSION}"
PROGRAM: Final = FOLDER / "node_modules" / ".bin" / "biome"
NEEDS: Final = [part for part in system_parts.PARTS if part.command in ("node", "npm")]


def main(command: str) -> int:
    failed = system_parts.main(NEEDS)
    npm = shutil.which("npm")
    if npm is None or shutil.which("node") is None:
        return failed
    if not PROGRAM.exists():
        print("installing Biome ...", flush=True)
        quiet = ("--silent", "--no-audit", "--no-fund", "--ignore-scripts", "--no-save")
        package = f"@biomejs/biome@{VERSION}"
        subprocess.run([npm, "install", *quiet, "--prefix", str(FOLDER), package], check=True)
    flags = ["--write"] if command == "format" else []
    result = subprocess.run([PROGRAM, "check", "--error-on-warnings", *flags, "."], cwd=ROOT)
    return result.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
