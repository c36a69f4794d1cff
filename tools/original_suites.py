"""Fetch the test suites of the originals that `make test-compat` holds the drop-ins against.

`python tools/original_suites.py FOLDER` leaves the source distributions of FETCHED in FOLDER, which
git ignores; nothing of them is committed. NOT_HAD says which suites cannot be had in this way, and
why: there the drop-ins are compared with the packages themselves.
"""

from __future__ import annotations

import subprocess
import sys
import tarfile
from importlib.metadata import version
from pathlib import Path
from typing import Final

FETCHED: Final = ("ijson", "langchain-core")
NOT_HAD: Final = {
    "jiter": "its source distribution needs a compiler for Rust before pip hands it out",
    "pydantic_core": "as jiter",
    "partial-json-parser": "its source distribution has no tests",
    "json_repair": "its source distribution has no tests",
    "partial-json (npm)": "the package has no tests",
    "ai (npm)": "the package has no tests",
}


def fetch(name: str, folder: Path) -> Path:
    """The unpacked source distribution of the version that is installed."""
    target = folder / f"{name.replace('-', '_')}-{version(name)}"
    if not target.is_dir():
        pip = [sys.executable, "-m", "pip", "-qq", "--disable-pip-version-check", "download"]
        words = ["--no-deps", "--no-binary", ":all:", "-d", str(folder)]
        subprocess.run([*pip, *words, f"{name}=={version(name)}"], check=True)
        with tarfile.open(target.with_name(f"{target.name}.tar.gz")) as archive:
            archive.extractall(folder, filter="data")
    return target


def main() -> None:
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name in FETCHED:
        print(f"{name}: {fetch(name, folder).name}")
    for name, reason in NOT_HAD.items():
        print(f"{name}: no suite, {reason}")


if __name__ == "__main__":
    main()
