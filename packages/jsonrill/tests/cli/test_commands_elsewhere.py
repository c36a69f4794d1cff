"""Without their packages, the commands `serve` and `batch` say what to install.

A Python without site-packages but with the library and what the command line needs simulates an
environment in which only `jsonrill[cli]` is installed.
"""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from support import SOURCES, few

NEEDED = ("typer", "rich", "click", "shellingham", "typing_extensions", "markdown_it", "mdurl")
MORE = ("pygments", "annotated_doc", "pydantic", "pydantic_core", "annotated_types")


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the library and the packages of its extra `cli`: no entry points."""
    folder = tmp_path_factory.mktemp("alone")
    (folder / "jsonrill").symlink_to(SOURCES[0] / "jsonrill")
    for name in (*NEEDED, *MORE, "typing_inspection"):
        spec = find_spec(name)
        if spec is None or spec.origin is None:
            continue
        file = Path(spec.origin)
        source = file.parent if file.name == "__init__.py" else file
        (folder / source.name).symlink_to(source)
    return folder


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-S", "-m", "jsonrill", *words],
        env={**os.environ, "PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
        input="[1, 2",
    )


@few(2)
@pytest.mark.parametrize(
    "words, install",
    [
        (["serve", "--demo", "--port", "1"], 'pip install "jsonrill[server]"'),
        (["serve", "--help"], 'pip install "jsonrill[server]"'),
        (["batch", "check", "a.jsonl", "--out", "x"], 'pip install "jsonrill[batch]"'),
    ],
)
def test_a_missing_command_names_the_package_to_install(
    alone: Path, words: list[str], install: str
) -> None:
    done = run(alone, *words)
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr == f"jsonrill: {words[0]} is not installed: {install}\n"


@pytest.mark.parametrize(
    "words, message",
    [
        (["serve", "--demo"], 'serve is not installed: pip install "jsonrill[server]"'),
        ([], 'the command line is not installed: pip install "jsonrill[cli]"'),
    ],
)
def test_the_library_alone_names_the_extra_that_its_command_needs(
    words: list[str], message: str
) -> None:
    done = run(SOURCES[0], *words)
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr == f"jsonrill: {message}\n"


def test_the_other_commands_work_without_them(alone: Path) -> None:
    done = run(alone, "values")
    assert done.stdout == "[1]\n" and done.returncode == 1
    assert "serve" in run(alone, "--help").stdout
