"""The conformance suite: every file is listed and described, and the runner finds what is wrong."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from support import ROOT
from support.commands import ENV

CASES = ROOT / "cases"
SUITE = json.loads((CASES / "suite.json").read_text("utf8"))
RUNNER = [sys.executable, str(ROOT / "tools" / "conformance.py")]


def test_the_suite_names_every_file_and_the_page_too() -> None:
    names = {file.name for file in CASES.glob("*.json")} - {"suite.json"} | {"providers/"}
    assert {entry["file"] for entry in SUITE["files"]} == names
    assert all(entry["pins"] and entry["for"] for entry in SUITE["files"])
    page = (ROOT / "docs" / "fragments.md").read_text("utf8")
    assert all(f"`{name}`" in page for name in names)
    assert f"suite {SUITE['version']}" in page


@pytest.mark.parametrize(
    "files", ["fragments,rebuilder,delta,walkthrough", "calls,sse,sse_browser"]
)
def test_jsonrill_passes_as_any_program_would(files: str) -> None:
    adapter = [sys.executable, str(ROOT / "tools" / "conformance_adapter.py")]
    done = subprocess.run(
        [*RUNNER, "--files", files, *adapter], capture_output=True, text=True, env=ENV, timeout=120
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(done.stdout.splitlines()) == 1 + len(files.split(","))


def test_wrong_and_missing_answers_are_told() -> None:
    """As from a program that takes true for 1 and gives up after a while."""
    script = "import sys\nfor line in list(sys.stdin)[:3]: print('true')"
    done = subprocess.run(
        [*RUNNER, "--files", "delta", sys.executable, "-c", script],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 1 and "delta: 0 of 19" in done.stdout
    assert done.stdout.count("right:") == 3
