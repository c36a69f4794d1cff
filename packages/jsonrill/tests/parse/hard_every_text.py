"""Every text up to length 6, up to 5 in every cutting, and near-JSON up to 4: by both engines."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from support import PYTHONPATH, ROOT


def digest(*places: str) -> str:
    path = os.pathsep.join([*places, str(ROOT / "tests"), PYTHONPATH])
    command = [sys.executable, "-m", "support.prefixes", "6", "5", "4"]
    environ = {**os.environ, "PYTHONPATH": path}
    return subprocess.run(command, env=environ, check=True, capture_output=True, text=True).stdout


def test_both_engines_say_the_same_of_every_text() -> None:
    compiled = ROOT / ".venv" / "compiled"
    if not compiled.exists():
        pytest.skip("needs make compiled")
    pure = digest()
    print(pure)
    assert digest(str(compiled)) == pure
