"""What type checkers report for programs that use jsonrill correctly and wrongly."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from support import PYTHONPATH, ROOT, SOURCES, hard
from support.npm import installed

pytest.importorskip("mypy")

PROGRAMS = Path(__file__).parent / "typing"
# With the types of src, whatever is installed.
ENV = {**os.environ, "MYPYPATH": PYTHONPATH}


def expected(file: Path) -> dict[int, str]:
    """Return the comment at the end of each line that has one."""
    lines = enumerate(file.read_text("utf8").splitlines(), start=1)
    return {number: line.split("  # ")[1] for number, line in lines if "  # " in line}


def plain(kind: str) -> str:
    """Return a type without a generator's send and return types."""
    return re.sub(r"Generator\[(.*?)(?:, None)+\]$", r"Generator[\1]", kind)


@cache
def messages() -> list[tuple[str, int, str, str]]:
    """Return mypy's messages of one run: file, line, kind and message."""
    files = sorted(map(str, PROGRAMS.glob("*.py")))
    command = [sys.executable, "-m", "mypy", "--no-error-summary", *files]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env=ENV)
    assert done.returncode in (0, 1), done.stderr
    reports = re.findall(r"^\S*?(\w+\.py):(\d+): (\w+): (.*)$", done.stdout, re.MULTILINE)
    return [(file, int(line), kind, message) for file, line, kind, message in reports]


def test_right_programs_have_the_types_that_they_should() -> None:
    lines = [(line, kind, text) for file, line, kind, text in messages() if file == "accepted.py"]
    assert [text for _, kind, text in lines if kind == "error"] == []
    shown = {line: re.sub(r"[\w.]+\.(?=\w)", "", text) for line, _, text in lines}
    shown = {line: re.sub(r"TypedDict\((\w+), .*?\)", r"\1", text) for line, text in shown.items()}
    revealed = {
        line: plain(text.split('"')[1]) for line, text in shown.items() if "Revealed" in text
    }
    assert revealed == expected(PROGRAMS / "accepted.py")


def test_wrong_programs_are_refused() -> None:
    codes: dict[int, str] = {}
    for file, line, kind, text in messages():
        if file == "refused.py" and kind == "error":
            codes[line] = text.rpartition("[")[2].rstrip("]")
    assert codes == expected(PROGRAMS / "refused.py")


@cache
def pyright_messages() -> list[tuple[str, int, str, str]]:
    """Return pyright's messages of one run, as (file, line, kind, message)."""
    folder = installed(PROGRAMS, "pyright")
    settings = {
        "include": [os.path.relpath(PROGRAMS, folder)],
        "extraPaths": [os.path.relpath(source, folder) for source in SOURCES],
        "reportMissingModuleSource": False,
        "reportUnusedExpression": False,
    }
    project = folder / "pyrightconfig.json"
    project.write_text(json.dumps(settings), "utf8")
    script = folder / "node_modules" / "pyright" / "index.js"
    command = ["node", str(script), "--outputjson", "-p", str(project)]
    command += ["--pythonpath", sys.executable]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode in (0, 1), done.stderr
    return [
        (
            Path(item["file"]).name,
            item["range"]["start"]["line"] + 1,
            item["severity"],
            item["message"],
        )
        for item in json.loads(done.stdout)["generalDiagnostics"]
    ]


@hard
def test_pyright_reveals_the_same_types() -> None:
    lines = [item for item in pyright_messages() if item[0] == "accepted.py"]
    assert [item for item in lines if item[2] == "error"] == []
    # It writes the name of a path's type instead of the type, and Unknown for some Any.
    shown = {line: text.split(' is "')[1].rstrip('"') for _, line, kind, text in lines}
    revealed = {
        line: plain(kind.replace("Path", "tuple[str | int, ...]").replace("Unknown", "Any"))
        for line, kind in shown.items()
    }
    assert revealed == expected(PROGRAMS / "accepted.py")


@hard
def test_pyright_refuses_the_same_programs() -> None:
    lines = {
        line
        for file, line, kind, _ in pyright_messages()
        if (file, kind) == ("refused.py", "error")
    }
    assert lines == set(expected(PROGRAMS / "refused.py"))
