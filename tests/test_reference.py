"""docs/reference.md is what tools/reference.py writes of the code as it is."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys

import pytest

import jsonrill
from support import ROOT

pytest.importorskip("typer")

# What Python itself has, type variables, and an alias of Callable.
FOREIGN = {
    "Any",
    "AsyncGenerator",
    "AsyncIterator",
    "Awaitable",
    "Callable",
    "F",
    "Function",
    "Generator",
    "Iterator",
    "None",
    "Self",
    "T",
}


def test_the_reference_is_not_stale() -> None:
    script = ROOT / "tools" / "reference.py"
    done = subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True)
    assert done.returncode == 0, f"run python tools/reference.py: {done.stderr}"


def test_every_class_that_a_function_returns_is_described() -> None:
    pages = [
        (ROOT / "docs" / name).read_text("utf8")
        for name in ("reference.md", "reference-modules.md")
    ]
    described = set(re.findall(r"^### `(\w+)`", "\n".join(pages), re.MULTILINE))
    for name in jsonrill.__all__:
        thing = getattr(jsonrill, name)
        if inspect.isfunction(thing):
            for kind in re.findall(rf"(?s)^def {name}\(.*?-> (.+?)$", pages[0], re.MULTILINE):
                ours = [it for it in re.findall(r"\w+", kind) if it[0].isupper()]
                missing = {it for it in ours if it not in described} - FOREIGN
                assert not missing, f"{name} returns {missing}"
