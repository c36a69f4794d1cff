"""A child process: measures one section, or does one task that needs a process of its own.

`python -m bench.worker SECTION FILE BUDGET CAP` writes the results to FILE as JSON (not to
stdout, where rivals may print). `python -m bench.worker TASK CONTESTANT` reads a text and
prints how much memory it took.
"""

from __future__ import annotations

import json
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from . import contestants
from .sections import SECTIONS, TASKS, Effort, in_this_process


def installed() -> dict[str, str]:
    """The versions of all packages that a contestant of this environment comes from."""
    kinds = [kind for kind in vars(contestants).values() if hasattr(kind, "packages")]
    versions: dict[str, str] = {}
    for package in sorted({package for kind in kinds for package in kind.packages}):
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            continue
    return versions


def main(arguments: list[str]) -> None:
    name = arguments[0]
    if name in TASKS:
        print(in_this_process(getattr(contestants, arguments[1])(), name))
        return
    effort = Effort(float(arguments[2]), float(arguments[3]))
    results: dict[str, Any] = {"results": SECTIONS[name][1](effort), "versions": installed()}
    Path(arguments[1]).write_text(json.dumps(results), "utf8")


if __name__ == "__main__":
    main(sys.argv[1:])
