"""What the page exports for Python, run: the test cases pass, and fail for another stream."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from support import need_command

SCRIPT = Path(__file__).parent / "exported.js"
# As many as there are in the script; the test below compares.
COUNT = 7


@pytest.fixture(scope="module")
def exported() -> list[dict[str, Any]]:
    command = [need_command("node"), str(SCRIPT)]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf8", check=True)
    found: list[dict[str, Any]] = json.loads(done.stdout)
    assert len(found) == COUNT
    return found


def run(code: str) -> None:
    names: dict[str, Any] = {}
    exec(compile(code, "exported", "exec"), names)
    tests = [value for name, value in names.items() if name.startswith("test_")]
    assert len(tests) == 1
    tests[0]()


@pytest.mark.parametrize("number", range(COUNT))
def test_an_exported_test_passes_and_fails_for_another_stream(
    exported: list[dict[str, Any]], number: int
) -> None:
    code = exported[number]["test"]
    run(code)
    other = re.sub(r"PIECES = \[.*?\n\]", 'PIECES = ["[]"]', code, flags=re.DOTALL)
    assert other != code
    with pytest.raises((Exception, pytest.fail.Exception)):
        run(other)


@pytest.mark.parametrize("number", range(COUNT))
def test_a_program_runs(
    exported: list[dict[str, Any]], number: int, capsys: pytest.CaptureFixture[str]
) -> None:
    code = compile(exported[number]["program"], "program", "exec")
    if exported[number]["fails"]:
        with pytest.raises(Exception, match="expected"):
            exec(code, {})
    else:
        exec(code, {})
    assert capsys.readouterr().out or exported[number]["fails"]
