"""docs/reference.md is what tools/reference.py writes of the code as it is."""

from __future__ import annotations

import subprocess
import sys

import pytest

from support import ROOT

pytest.importorskip("typer")


def test_the_reference_is_not_stale() -> None:
    script = ROOT / "tools" / "reference.py"
    done = subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True)
    assert done.returncode == 0, f"run python tools/reference.py: {done.stderr}"
