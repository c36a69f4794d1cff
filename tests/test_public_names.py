"""What `import jsonrill` promises: the names in `__all__`, no more, each explained."""

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

REFERENCE = ROOT / "docs" / "reference.md"
NAMES = list(jsonrill.__all__)


def is_public(name: str, value: object) -> bool:
    return not (name.startswith("_") or isinstance(value, ModuleType | type(annotations)))


def test_all_is_sorted_and_has_no_name_twice() -> None:
    assert sorted(set(NAMES)) == NAMES


def test_all_is_exact() -> None:
    assert {name for name, value in vars(jsonrill).items() if is_public(name, value)} <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_each_name_is_there_and_is_not_a_module(name: str) -> None:
    # `fragments` and `partial` are functions, and modules of the same name lie beside them: a
    # submodule that is imported late would take the name over.
    for module in pkgutil.iter_modules(jsonrill.__path__):
        if module.name in NAMES:
            importlib.import_module(f"jsonrill.{module.name}")
    assert not isinstance(getattr(jsonrill, name), ModuleType)


@pytest.mark.parametrize("name", NAMES)
def test_each_name_is_explained(name: str) -> None:
    value = getattr(jsonrill, name)
    if inspect.isclass(value) or inspect.isroutine(value):
        assert value.__doc__ and value.__doc__.strip(), "no docstring"
    else:
        # An alias or a constant has no docstring of its own: the map of the package has it.
        assert re.search(rf"\b{name}\b", jsonrill.__doc__ or ""), "not in the package's docstring"


@pytest.mark.skipif(not REFERENCE.exists(), reason="docs/reference.md is not written yet")
@pytest.mark.parametrize("name", NAMES)
def test_each_name_is_in_the_reference(name: str) -> None:
    assert re.search(rf"`{name}\b", REFERENCE.read_text("utf8"))


def test_the_version_is_written_once() -> None:
    """All packages take it from here; a file beside it with another one would be a second."""
    for package in PACKAGES:
        file = ROOT / "packages" / package / "pyproject.toml"
        assert "version" in tomllib.loads(file.read_text("utf8"))["project"]["dynamic"]
    project = tomllib.loads((ROOT / "packages/jsonrill/pyproject.toml").read_text("utf8"))
    assert project["tool"]["setuptools"]["dynamic"]["version"] == {"attr": "jsonrill.__version__"}
    library = json.loads((ROOT / "js/package.json").read_text("utf8"))
    assert "version" not in library
