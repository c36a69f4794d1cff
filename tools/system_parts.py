"""Programs that some tests need and pip cannot bring: what is missing is installed, or named.

Run by `make test`. A part counts once the tests that need it are there (`needed_by`), so that
nobody waits for a browser that no test opens. It is installed with apt by root on a machine that
has apt-get; otherwise it is named with what is left out, which is a failure only when CI=true.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent


class Part(NamedTuple):
    """A program: how it is called, which Debian package brings it, which tests need it."""

    command: str
    package: str
    needed_by: tuple[str, ...]


PARTS = (
    Part("chromium", "chromium", ("tests/browser", "tests/web")),
    Part("node", "nodejs", ("tests/browser", "tests/clients", "tests/web")),
    Part("npm", "npm", ("tests/browser", "tests/clients", "tests/web")),
    Part("redis-server", "redis-server", ("tests/server", "tests/store")),
)


def missing(parts: Iterable[Part], root: Path = ROOT) -> list[Part]:
    """The parts that tests under `root` need and this machine lacks."""
    return [
        part
        for part in parts
        if any((root / tests).exists() for tests in part.needed_by)
        and shutil.which(part.command) is None
    ]


def may_install() -> bool:
    return hasattr(os, "geteuid") and os.geteuid() == 0 and shutil.which("apt-get") is not None


def install(parts: Iterable[Part]) -> None:
    """Try; whether it worked is seen by looking for the programs again."""
    packages = [part.package for part in parts]
    print(f"installing {', '.join(packages)} ...", flush=True)
    for arguments in (["update"], ["install", "-y", "--no-install-recommends", *packages]):
        subprocess.run(
            ["apt-get", "-qq", *arguments],
            env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            check=False,
        )


def main(parts: Iterable[Part] = PARTS, root: Path = ROOT) -> int:
    lacking = missing(parts, root)
    if lacking and may_install():
        install(lacking)
        lacking = missing(lacking, root)
    for part in lacking:
        print(
            f"LEFT OUT: tests that need {part.command} (in {', '.join(part.needed_by)});"
            f" the Debian package is {part.package}",
            file=sys.stderr,
        )
    return int(bool(lacking) and os.environ.get("CI") == "true")


if __name__ == "__main__":
    sys.exit(main())
