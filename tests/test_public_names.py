"""`import jsonrill` offers the names in `__all__`, each with a docstring, and one version."""

from __future__ import annotations

import importlib
import inspect
import json
import pkgutil
import re
import tomllib
from types import ModuleType

import pytest

import jsonrill
from support import PACKAGES, ROOT

NAMES = list(jsonrill.__all__)


def test_names_are_sorted_and_unique() -> None:
    assert sorted(set(NAMES)) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_not_replaced_by_a_module(name: str) -> None:
    for module in pkgutil.iter_modules(jsonrill.__path__):
        if module.name in NAMES:
            importlib.import_module(f"jsonrill.{module.name}")
    assert not isinstance(getattr(jsonrill, name), ModuleType)


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_documented(name: str) -> None:
    value = getattr(jsonrill, name)
    if inspect.isclass(value) or inspect.isroutine(value):
        assert value.__doc__ and value.__doc__.strip()
    else:
        # An alias or a constant has no docstring of its own: the package's docstring has it.
        assert re.search(rf"\b{name}\b", jsonrill.__doc__ or "")


def test_the_version_is_written_once() -> None:
    for package in PACKAGES:
        file = ROOT / "packages" / package / "pyproject.toml"
        assert "version" in tomllib.loads(file.read_text("utf8"))["project"]["dynamic"]
    assert "version" not in json.loads((ROOT / "js/package.json").read_text("utf8"))
