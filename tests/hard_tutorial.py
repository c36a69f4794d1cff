"""The tutorial, word for word, from an empty folder and an empty HOME: five minutes to a page.

The packages are installed from a clone, as the first page says.
"""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
from pathlib import Path

from support import ROOT, SLACK
from support.markdown import script

# What the packages are built from.
PARTS = ("packages", "js", "page", "tools", "README.md", "LICENSE")
SETTINGS = Path("~/.config/pip/pip.conf").expanduser()


def clone(folder: Path) -> None:
    """What a fresh clone has of the packages."""
    folder.mkdir()
    built = shutil.ignore_patterns("*.egg-info", "__pycache__", "node_modules")
    for name in PARTS:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, symlinks=True, ignore=built)
        else:
            shutil.copy(ROOT / name, folder / name)
    for left in folder.glob("packages/*/build"):
        shutil.rmtree(left)


def test_from_an_empty_folder_to_a_page_in_five_minutes(tmp_path: Path) -> None:
    for port in (8377, 8000, 8001):
        with socket.socket() as probe:
            assert probe.connect_ex(("127.0.0.1", port)), f"something listens on port {port}"
    home = tmp_path / "home"
    home.mkdir()
    # Of this machine the path, and where pip finds packages.
    kept = {name: it for name, it in os.environ.items() if re.match("PIP_|PATH$|LANG$", name)}
    if SETTINGS.exists():
        kept.setdefault("PIP_CONFIG_FILE", str(SETTINGS))
    clone(home / "jsonrill")
    env = {**kept, "HOME": str(home)}
    folder = tmp_path / "empty"
    folder.mkdir()
    done = subprocess.run(
        ["bash", "-c", script()], cwd=folder, env=env, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    times = (folder / "times.txt").read_text()
    print(times)
    taken = re.search(r"browser\.md: (\d+) s", times)
    assert taken and int(taken[1]) < 300 * SLACK
