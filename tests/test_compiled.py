"""`jsonrill.compiled` tells the truth, and the compiled modules are those that setup.py names."""

from __future__ import annotations

import importlib
import os

import pytest

import jsonrill

HOT = (
    *("paths", "fragments", "sink", "standing", "whole", "machine", "prose", "repair", "machines"),
    *("parser", "rebuilder", "document"),
)


@pytest.mark.parametrize("name", HOT)
def test_all_hot_modules_are_of_one_kind(name: str) -> None:
    file = importlib.import_module(f"jsonrill.{name}").__file__
    assert file is not None
    assert file.endswith(".py") is not jsonrill.compiled


def test_the_compiled_run_is_a_compiled_run() -> None:
    """`make compiled` would be worthless if it silently fell back to Python."""
    wanted = "compiled" in os.environ.get("PYTHONPATH", "")
    assert jsonrill.compiled is wanted
