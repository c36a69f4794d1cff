"""What a type checker says of programs that use jsonrill rightly, and wrongly."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from support import ROOT

pytest.importorskip("mypy")

PROGRAMS = ROOT / "tests" / "typing"
# With the types of src, whatever is installed.
ENV = {**os.environ, "MYPYPATH": str(ROOT / "src")}


def expected(file: Path) -> dict[int, str]:
    """The comment at the end of each line that has one."""
    lines = enumerate(file.read_text("utf8").splitlines(), start=1)
    return {number: line.split("  # ")[1] for number, line in lines if "  # " in line}


@cache
def said() -> list[tuple[str, int, str, str]]:
    """What mypy says, in one run: file, line, kind and message."""
    files = sorted(map(str, PROGRAMS.glob("*.py")))
    command = [sys.executable, "-m", "mypy", "--no-error-summary", *files]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env=ENV)
    assert done.returncode in (0, 1), done.stderr
    found = re.findall(r"^\S*?(\w+\.py):(\d+): (\w+): (.*)$", done.stdout, re.MULTILINE)
    return [(file, int(line), kind, message) for file, line, kind, message in found]


def test_right_programs_have_the_types_that_they_should() -> None:
    lines = [(line, kind, text) for file, line, kind, text in said() if file == "accepted.py"]
    assert [text for _, kind, text in lines if kind == "error"] == []
    shown = {line: re.sub(r"[\w.]+\.(?=\w)", "", text) for line, _, text in lines}
    revealed = {line: text.split('"')[1] for line, text in shown.items() if "Revealed" in text}
    assert revealed == expected(PROGRAMS / "accepted.py")


def test_wrong_programs_are_refused() -> None:
    codes: dict[int, str] = {}
    for file, line, kind, text in said():
        if file == "refused.py" and kind == "error":
            codes[line] = text.rpartition("[")[2].rstrip("]")
    assert codes == expected(PROGRAMS / "refused.py")
