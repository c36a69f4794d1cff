"""Imports go one way, and `import jsonrill` is light and offers what `__all__` names."""

from __future__ import annotations

import ast
import importlib
import json
import pkgutil
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from importlib.util import resolve_name
from pathlib import Path
from types import ModuleType

import pytest

import jsonrill
from support import SOURCES

MAY_IMPORT = {
    "jsonrill": {"jsonrill"},
    "jsonrill_server": {"jsonrill", "jsonrill_server"},
    "jsonrill_batch": {"jsonrill", "jsonrill_batch"},
}
FOLDERS = {name: source / name for name, source in zip(MAY_IMPORT, SOURCES, strict=True)}
# What reading plain text must not load.
LATER = (
    "asyncio",
    "socket",
    "subprocess",
    *(
        f"jsonrill.{name}"
        for name in ("schema", "providers", "toolcalls", "chunker", "parse.repair")
    ),
)
SCRIPT = """
import sys
sys.path.insert(0, sys.argv[1])
before = {*sys.modules}
import jsonrill
imported = {*sys.modules} - before
assert [*jsonrill.values(['{"a": [1, ', '2]}'])][-1] == {"a": [1, 2]}
read = {*sys.modules} - before
import json
print(json.dumps([sorted(imported), sorted(read)]))
"""


@cache
def files() -> dict[str, Path]:
    """Return every module: `jsonrill.parse.machine`, `jsonrill.parse.__init__`."""
    return {
        ".".join(file.relative_to(folder.parent).with_suffix("").parts): file
        for folder in FOLDERS.values()
        for file in sorted(folder.rglob("*.py"))
    }


def walk(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes that run; imports inside functions count, those for type checkers do not."""
    for child in ast.iter_child_nodes(node):
        if not (isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test)):
            yield child
            yield from walk(child)


def module_of(name: str) -> str:
    """Return the module that a dotted name is or is in; of other packages the top level."""
    parts = name.split(".")
    if parts[0] not in FOLDERS:
        return parts[0]
    for end in range(len(parts), 0, -1):
        for module in (".".join(parts[:end]), ".".join([*parts[:end], "__init__"])):
            if module in files():
                return module
    raise AssertionError(name)


@cache
def imports(module: str) -> set[str]:
    found = set()
    for node in walk(ast.parse(files()[module].read_text("utf8"))):
        if isinstance(node, ast.Import):
            found |= {module_of(alias.name) for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = "." * node.level + (node.module or "")
            base = resolve_name(base, module.rpartition(".")[0])
            found |= {module_of(f"{base}.{alias.name}") for alias in node.names}
    return found


@pytest.mark.parametrize("package", FOLDERS)
def test_a_package_imports_only_packages_below_it(package: str) -> None:
    modules = [module for module in files() if module.split(".")[0] == package]
    imported = {name.split(".")[0] for module in modules for name in imports(module)}
    assert imported & {*FOLDERS} <= MAY_IMPORT[package]


def test_the_modules_of_a_folder_do_not_import_each_other_in_a_cycle() -> None:
    for folder in {tuple(module.split(".")[:-1]) for module in files()}:
        depth, graph = len(folder), dict[str, set[str]]()
        for module in files():
            parts = module.split(".")
            if tuple(parts[:depth]) == folder and len(parts) > depth:
                graph.setdefault(parts[depth], set()).update(
                    imported.split(".")[depth]
                    for imported in imports(module)
                    if tuple(imported.split(".")[:depth]) == folder
                )
        for name, imported in graph.items():
            imported -= {name, "__init__"}
        TopologicalSorter(graph).prepare()


def test_importing_and_reading_text_load_little_and_nothing_of_others() -> None:
    # -S: a Python without installed packages.
    command = [sys.executable, "-I", "-S", "-c", SCRIPT, str(SOURCES[0])]
    imported, read = json.loads(subprocess.check_output(command))
    assert [name for name in imported if name.split(".")[0] == "jsonrill"] == ["jsonrill"]
    assert not {"ast", "dataclasses", "inspect", "json"} & set(imported)
    assert not [name for name in read if name.startswith(LATER)]
    assert {name.split(".")[0] for name in read} - sys.stdlib_module_names == {"jsonrill"}


def test_public_names_are_sorted_documented_and_not_replaced_by_modules() -> None:
    names = list(jsonrill.__all__)
    assert sorted(set(names)) == names
    for module in pkgutil.iter_modules(jsonrill.__path__):
        if module.name in names:
            importlib.import_module(f"jsonrill.{module.name}")
    for name in names:
        value = getattr(jsonrill, name)
        assert not isinstance(value, ModuleType)
        assert (getattr(value, "__doc__", None) or "").strip(), name
