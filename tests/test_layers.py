"""Imports go one way: no cycles, no package that imports its users, a library without requirements.

Imports inside functions count; imports under `if TYPE_CHECKING:` do not.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from importlib.util import resolve_name
from pathlib import Path
from typing import NamedTuple

import pytest

from support import SOURCES

MAY_IMPORT = {
    "jsonrill": {"jsonrill"},
    "jsonrill_server": {"jsonrill", "jsonrill_server"},
    "jsonrill_batch": {"jsonrill", "jsonrill_batch"},
}
FOLDERS = {name: source / name for name, source in zip(MAY_IMPORT, SOURCES, strict=True)}
# Parts of the library that need an extra when they are imported.
NEED_EXTRAS = {"cli", "demo", "ext", "terminal", "starlette"}


class Import(NamedTuple):
    """An import of a module: ours by its full name, another one by its top-level name."""

    name: str
    in_function: bool


@cache
def files() -> dict[str, Path]:
    """Return every module: `jsonrill.parse.machine`, `jsonrill.parse.__init__`."""
    return {
        ".".join(file.relative_to(folder.parent).with_suffix("").parts): file
        for folder in FOLDERS.values()
        for file in sorted(folder.rglob("*.py"))
    }


def walk(node: ast.AST, in_function: bool = False) -> Iterator[tuple[ast.AST, bool]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            continue
        yield child, in_function
        is_function = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef)
        yield from walk(child, in_function or is_function)


def module_of(name: str) -> str:
    """Return the module that a dotted name is or is in."""
    parts = name.split(".")
    if parts[0] not in FOLDERS:
        return parts[0]
    for end in range(len(parts), 0, -1):
        for module in (".".join(parts[:end]), ".".join([*parts[:end], "__init__"])):
            if module in files():
                return module
    raise AssertionError(name)


@cache
def imports(module: str) -> set[Import]:
    found = set()
    for node, in_function in walk(ast.parse(files()[module].read_text("utf8"))):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = "." * node.level + (node.module or "")
            base = resolve_name(base, module.rpartition(".")[0])
            names = [f"{base}.{alias.name}" for alias in node.names]
        found |= {Import(module_of(name), in_function) for name in names}
    return found


@pytest.mark.parametrize("package", FOLDERS)
def test_a_package_imports_only_packages_below_it(package: str) -> None:
    modules = [module for module in files() if module.split(".")[0] == package]
    imported = {name.split(".")[0] for module in modules for name, _ in imports(module)}
    assert imported & {*FOLDERS} <= MAY_IMPORT[package]


@pytest.mark.parametrize(
    "folder", sorted({tuple(module.split(".")[:-1]) for module in files()}), ids="/".join
)
def test_the_modules_of_a_folder_do_not_import_each_other_in_a_cycle(
    folder: tuple[str, ...],
) -> None:
    depth, graph = len(folder), dict[str, set[str]]()
    for module in files():
        parts = module.split(".")
        if tuple(parts[:depth]) == folder and len(parts) > depth:
            graph.setdefault(parts[depth], set()).update(
                imported.split(".")[depth]
                for imported, _ in imports(module)
                if tuple(imported.split(".")[:depth]) == folder
            )
    for name, imported in graph.items():
        imported -= {name, "__init__"}
    TopologicalSorter(graph).prepare()


@pytest.mark.parametrize("module", [name for name in files() if name.split(".")[0] == "jsonrill"])
def test_the_library_requires_an_extra_only_when_it_is_used(module: str) -> None:
    if module.split(".")[1] in NEED_EXTRAS:
        return
    names = {name for name, in_function in imports(module) if not in_function}
    others = {name for name in names if name.split(".")[0] not in FOLDERS}
    assert others <= sys.stdlib_module_names


def test_importing_jsonrill_loads_neither_extras_nor_slow_modules() -> None:
    script = (
        "import sys; before = set(sys.modules); sys.path.insert(0, sys.argv[1]); import jsonrill\n"
        "print(*sorted(set(sys.modules) - before))"
    )
    # -S: a Python without installed packages.
    command = [sys.executable, "-I", "-S", "-c", script, str(SOURCES[0])]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    slow = {"asyncio", "dataclasses", "inspect", "json", "socket", "subprocess", "threading"}
    assert not slow & set(result.stdout.split())
