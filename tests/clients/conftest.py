"""The npm packages of package.json, installed once into a folder that `make clean` removes."""

from __future__ import annotations

import fcntl
import shutil
import subprocess
from pathlib import Path

import pytest

from support import IN_CI, ROOT, need_command

HERE = Path(__file__).parent


@pytest.fixture(scope="session")
def npm() -> Path:
    """A folder with the scripts and what they import; without npm's registry: skip, fail in CI."""
    need_command("node")
    command = need_command("npm")
    folder = ROOT / "build" / "clients"
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # several workers of pytest, one installation
        for file in [*HERE.glob("*.mjs"), *HERE.glob("package*.json")]:
            shutil.copy(file, folder)
        stamp = folder / "node_modules" / "stamp"
        wanted = (HERE / "package-lock.json").read_text()
        if not stamp.exists() or stamp.read_text() != wanted:
            done = subprocess.run(
                [command, "ci", "--silent", "--no-audit", "--no-fund", "--ignore-scripts"],
                cwd=folder,
                capture_output=True,
                text=True,
                timeout=300,
            )
            if done.returncode:
                (pytest.fail if IN_CI else pytest.skip)(f"npm ci failed: {done.stderr[-500:]}")
            stamp.write_text(wanted)
    return folder
