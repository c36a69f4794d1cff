"""What tests need from npm, installed once into a folder of build/ that `make clean` removes."""

from __future__ import annotations

import fcntl
import shutil
import subprocess
from pathlib import Path

import pytest

from support import IN_CI, ROOT, need_command

QUIET = ("--silent", "--no-audit", "--no-fund", "--ignore-scripts")


def installed(source: Path, name: str) -> Path:
    """build/<name>, with the scripts and the packages of `source`.

    Without node or npm's registry: skip, but fail in CI. Versions are those of package-lock.json;
    where there is none, those that package.json pins.
    """
    need_command("node")
    npm = need_command("npm")
    folder = ROOT / "build" / name
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # several workers of pytest, one installation
        packages = sorted(source.glob("package*.json"))
        for file in [*source.glob("*.mjs"), *packages]:
            shutil.copy(file, folder)
        stamp = folder / "node_modules" / "stamp"
        wanted = "".join(file.read_text("utf8") for file in packages)
        if not stamp.exists() or stamp.read_text("utf8") != wanted:
            locked = (source / "package-lock.json").exists()
            command = ["ci"] if locked else ["install", "--no-package-lock"]
            done = subprocess.run(
                [npm, *command, *QUIET], cwd=folder, capture_output=True, text=True, timeout=300
            )
            if done.returncode:
                said = f"npm {command[0]} failed: {done.stderr[-500:]}"
                (pytest.fail if IN_CI else pytest.skip)(said)
            stamp.write_text(wanted, "utf8")
    return folder
