"""The tutorial, word for word, from an empty folder and an empty HOME: five minutes to a page.

The package comes as it would from an index, as a wheel that is made before the clock starts.
"""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
from pathlib import Path

from support import ROOT, SLACK
from support.tutorial import script

# What a build reads.
PARTS = ("src", "setup.py", "pyproject.toml", "README.md", "LICENSE", "MANIFEST.in")
SETTINGS = Path("~/.config/pip/pip.conf").expanduser()


def wheel(folder: Path) -> Path:
    """A folder with the wheel of this clone."""
    there = folder / "clone"
    there.mkdir()
    for name in PARTS:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, there / name)
    pip = [sys.executable, "-m", "pip", "-q", "wheel", "--no-deps", "-w", str(folder / "wheels")]
    # Compiling takes minutes, and makes no difference to the steps.
    subprocess.run([*pip, str(there)], check=True, env={**os.environ, "JSONRILL_PURE": "1"})
    return folder / "wheels"


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
    links = f"{wheel(tmp_path)} {kept.get('PIP_FIND_LINKS', '')}"
    env = {**kept, "HOME": str(home), "PIP_FIND_LINKS": links}
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
