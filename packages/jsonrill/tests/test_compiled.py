"""`jsonrill.compiled` tells the truth, and the compiled modules are those that setup.py names."""

from __future__ import annotations

import ast
import importlib
import os

import pytest

import jsonrill
from support import ROOT


def hot() -> tuple[str, ...]:
    """Return the modules that setup.py compiles."""
    known: dict[str, tuple[str, ...]] = {}
    for node in ast.parse((ROOT / "packages/jsonrill/setup.py").read_text("utf8")).body:
        if isinstance(node, ast.Assign):
            name = ast.unparse(node.targets[0])
            if name == "HOT":
                known[name] = eval(ast.unparse(node.value), {}, known)
    return known["HOT"]


@pytest.mark.parametrize("name", hot())
def test_all_hot_modules_are_of_one_kind(name: str) -> None:
    file = importlib.import_module(f"jsonrill.{name}").__file__
    assert file is not None
    assert file.endswith(".py") is not jsonrill.compiled


def test_the_compiled_run_is_a_compiled_run() -> None:
    """The compiled run would be worthless if it silently fell back to Python."""
    wanted = "compiled" in os.environ.get("PYTHONPATH", "")
    assert jsonrill.compiled is wanted
