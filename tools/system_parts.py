"""Installs, or names, the programs that some tests and checks need and pip cannot install.

`make test` runs this, and `make check` for Biome. A program is needed if what uses it exists
(`needed_by`), so that nobody waits for a browser that no test opens. Root installs it with apt-get,
if there is one; otherwise its name and what is left out are printed, a failure only if CI=true.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from glob import glob
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent


class Part(NamedTuple):
    """A program: its command, its Debian package, and the tests and settings that need it.

    `places` is a pattern of folders in which it may be, if it is not on PATH. `instead` does as
    well, only slower.
    """

    command: str
    package: str
    needed_by: tuple[str, ...]
    places: str = ""
    instead: str = ""

    def is_here(self) -> bool:
        return bool(shutil.which(self.command) or glob(f"{self.places}/{self.command}"))


# Biome's settings too: it formats and lints JavaScript in `make check`.
ON_NODE = ("js/tests", "page/tests", "packages/jsonrill-server/tests/clients", "biome.jsonc")

PARTS = (
    Part(
        "chromium-headless-shell",
        "chromium-headless-shell",
        ("js/tests", "page/tests"),
        instead="chromium",
    ),
    Part("node", "nodejs", ON_NODE),
    Part("npm", "npm", ON_NODE),
    Part(
        "postgres",
        "postgresql",
        ("packages/jsonrill-server/tests",),
        places="/usr/lib/postgresql/*/bin",
    ),
    Part("redis-server", "redis-server", ("packages/jsonrill-server/tests",)),
)


def missing(parts: Iterable[Part], root: Path = ROOT) -> list[Part]:
    """Return the parts that tests under `root` need and this machine lacks."""
    return [
        part
        for part in parts
        if any((root / tests).exists() for tests in part.needed_by) and not part.is_here()
    ]


def may_install() -> bool:
    return hasattr(os, "geteuid") and os.geteuid() == 0 and shutil.which("apt-get") is not None


def install(parts: Iterable[Part]) -> None:
    """Try to install; the caller looks for the programs again to see whether it worked."""
    packages = [part.package for part in parts]
    print(f"installing {', '.join(packages)} ...", flush=True)
    # One by one: a package that is not to be had does not keep the others away.
    installs = [["install", "-y", "--no-install-recommends", package] for package in packages]
    for arguments in (["update"], *installs):
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
    lacking = [part for part in lacking if not shutil.which(part.instead)]
    for part in lacking:
        print(
            f"LEFT OUT: what needs {part.command} ({', '.join(part.needed_by)});"
            f" the Debian package is {part.package}",
            file=sys.stderr,
        )
    return int(bool(lacking) and os.environ.get("CI") == "true")


if __name__ == "__main__":
    sys.exit(main())
