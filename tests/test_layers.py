"""The tree is the architecture: imports point up the map, and the core does no I/O.

The map is the docstring of each package. A part may import from the parts above it, function-level
imports included; inside a folder no imports go in a circle, and its subfolders do not either. The
library imports no other package, and the server and batch do not import each other. What only a
type checker reads (`if TYPE_CHECKING:`) is free.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from importlib.util import resolve_name
from pathlib import Path
from typing import NamedTuple

import pytest

import jsonrill
import jsonrill.schema
import jsonrill_batch
import jsonrill_server
from support import SOURCES

PACKAGES = (jsonrill, jsonrill_server, jsonrill_batch)
FOLDER = {
    package.__name__: source / package.__name__
    for package, source in zip(PACKAGES, SOURCES, strict=True)
}
# What a package may import of ours beside itself.
MAY_IMPORT = {
    "jsonrill": set[str](),
    "jsonrill_server": {"jsonrill"},
    "jsonrill_batch": {"jsonrill"},
}
MAPS = {
    package.__name__: (
        *re.findall(r"^    ([a-z_]+)(?:\.py|/) ", package.__doc__ or "", re.MULTILINE),
        *("__init__", "__main__"),
    )
    for package in PACKAGES
}
LIBRARY = MAPS["jsonrill"]
CORE = LIBRARY[: LIBRARY.index("ext")]
PARTS = [(package, part) for package in FOLDER for part in MAPS[package]]
# Extras that a core part may ask for, but only inside a function: importing it needs none.
EXTRAS = {
    "schema": {"pydantic", "pydantic_core", "jsonschema_rs"},
    "answers": {"pydantic_core"},
    "agents": {"pydantic", "typing_extensions"},
    "eventstream": {"pydantic_core"},
}
NO_IO = set(
    "asyncio concurrent http io logging multiprocessing os pathlib select selectors shutil signal"
    " socket socketserver sqlite3 ssl subprocess tempfile threading time urllib".split()
)
# Its `every=` looks at the clock, and waits for an async source; nothing else of the core knows
# that time passes. Running tools needs threads and an event loop. Sources are read by their own
# methods, but errors and types of files are known.
MAY_DO_IO = {
    # Lets other threads run while it writes a large value.
    "jsontext": {"time"},
    "opening": {"http", "io", "os"},
    "streams": {"asyncio", "logging", "time"},
    "agents": {"asyncio", "threading", "time"},
}
ASYNC = (ast.AsyncFunctionDef, ast.AsyncFor, ast.AsyncWith, ast.Await)


class Import(NamedTuple):
    """What one import asks for: a module of ours, or a top-level module of somebody else.

    A module of ours goes by its whole name: `jsonrill.parse.machine`.
    """

    name: str
    ours: bool
    in_function: bool


@cache
def files() -> dict[str, Path]:
    """Every module; `jsonrill.parse.machine`, and `jsonrill.parse.__init__` for a folder's own."""
    return {
        ".".join(file.relative_to(folder.parent).with_suffix("").parts): file
        for folder in FOLDER.values()
        for file in sorted(folder.rglob("*.py"))
    }


@cache
def parsed(file: Path) -> ast.Module:
    return ast.parse(file.read_text("utf8"), str(file))


def asked_for(node: ast.Import | ast.ImportFrom, package: str) -> Iterator[tuple[str, bool]]:
    """The module that each name of one import statement comes from."""
    if isinstance(node, ast.Import):
        names = [alias.name for alias in node.names]
    else:
        base = resolve_name("." * node.level + (node.module or ""), package)
        names = [f"{base}.{alias.name}" for alias in node.names]
    for name in names:
        top = name.split(".")[0]
        if top in FOLDER:
            yield _found(name.split(".")), True
        else:
            yield top, False


def _found(parts: list[str]) -> str:
    """The module that a dotted name is or is in."""
    for end in range(len(parts), -1, -1):
        for name in (".".join(parts[:end]), ".".join([*parts[:end], "__init__"])):
            if name in files():
                return name
    raise AssertionError(parts)


def walk(node: ast.AST, in_function: bool = False) -> Iterator[tuple[ast.AST, bool]]:
    """Everything that running the code may reach; not what is there for type checkers."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            continue
        yield child, in_function
        function = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef)
        yield from walk(child, in_function or function)


def imports_in(tree: ast.Module, package: str) -> set[Import]:
    return {
        Import(name, ours, in_function)
        for node, in_function in walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name, ours in asked_for(node, package)
    }


@cache
def imports(module: str) -> set[Import]:
    return imports_in(parsed(files()[module]), module.rpartition(".")[0])


def modules(part: str, package: str = "jsonrill") -> list[str]:
    """The modules of one part of a map."""
    return [module for module in files() if module.split(".")[:2] == [package, part]]


def part_imports(part: str, package: str = "jsonrill") -> set[Import]:
    return {asked for module in modules(part, package) for asked in imports(module)}


def children(folder: tuple[str, ...]) -> dict[str, set[str]]:
    """What each module or subfolder of a folder imports of the others in it."""
    depth, graph = len(folder), dict[str, set[str]]()
    for module in files():
        inside = module.split(".")
        if tuple(inside[:depth]) == folder and len(inside) > depth:
            needed = graph.setdefault(inside[depth], set())
            for other in imports(module):
                parts = other.name.split(".")
                if other.ours and tuple(parts[:depth]) == folder and len(parts) > depth:
                    needed.add(parts[depth])
            needed.discard(inside[depth])
    return graph


FOLDERS = sorted({tuple(module.split(".")[:-1]) for module in files()} - {()})


@pytest.mark.parametrize("package", FOLDER)
def test_the_map_is_the_tree(package: str) -> None:
    shown = {file.name for file in FOLDER[package].iterdir() if file.name[0] not in "_."}
    tree = {name.removesuffix(".py") for name in shown if not name.endswith((".pxd", ".typed"))}
    assert set(MAPS[package]) - {"__init__", "__main__"} == tree


@pytest.mark.parametrize("package", FOLDER)
def test_a_package_imports_only_the_packages_it_stands_on(package: str) -> None:
    asked = {
        name for part in MAPS[package] for name, ours, _ in part_imports(part, package) if ours
    }
    assert {name.split(".")[0] for name in asked} <= MAY_IMPORT[package] | {package}


def test_no_module_has_the_name_of_a_public_function() -> None:
    for package in (*PACKAGES, jsonrill.schema):
        folder = Path(str(package.__file__)).parent
        names = {file.name.removesuffix(".py") for file in folder.iterdir()}
        assert not names & set(package.__all__), package.__name__


@pytest.mark.parametrize("package, part", PARTS)
def test_imports_point_up_the_map(package: str, part: str) -> None:
    parts = MAPS[package]
    at = parts.index(part)
    names = [name.split(".") for name, ours, _ in part_imports(part, package) if ours]
    asked = {name[1] for name in names if name[0] == package} - {part}
    # The public names stand on the core alone, so that what follows the core may use them.
    may_use_names = package != "jsonrill" or at >= len(CORE)
    assert asked <= {*parts[:at]} | ({"__init__"} if may_use_names else set())


def test_the_public_names_stand_on_the_core() -> None:
    asked = {name.split(".")[1] for name, ours, _ in imports("jsonrill.__init__") if ours}
    assert asked <= set(CORE)


def test_only_the_application_imports_the_relay() -> None:
    asking = {
        part
        for part in MAPS["jsonrill_server"]
        for name, _, _ in part_imports(part, "jsonrill_server")
        if name.split(".")[:2] == ["jsonrill_server", "relay"]
    }
    assert asking - {"relay"} == {"app"}


@pytest.mark.parametrize("folder", FOLDERS, ids="/".join)
def test_no_import_inside_a_folder_goes_in_a_circle(folder: tuple[str, ...]) -> None:
    graph = children(folder)
    # The `__init__` of a folder shows what its modules made; none of them asks it back.
    TopologicalSorter(graph).prepare()


@pytest.mark.parametrize("part", CORE)
def test_the_core_imports_the_standard_library_alone(part: str) -> None:
    theirs = {imported for imported in part_imports(part) if not imported.ours}
    extras = {imported for imported in theirs if imported.name in EXTRAS.get(part, ())}
    assert {imported.name for imported in theirs - extras} <= sys.stdlib_module_names
    assert all(imported.in_function for imported in extras), (
        "an extra may only be asked for when used"
    )


@pytest.mark.parametrize("part", CORE)
def test_the_core_does_no_io(part: str) -> None:
    theirs = {imported.name for imported in part_imports(part) if not imported.ours}
    assert not theirs & NO_IO - MAY_DO_IO.get(part, set())
    for module in modules(part):
        for node, _ in walk(parsed(files()[module])):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                assert node.func.id not in {"open", "print", "input"}, f"line {node.lineno}"


@pytest.mark.parametrize("part", sorted(set(CORE) - {"opening", "streams", "agents", "dialects"}))
def test_only_streams_knows_sync_from_async(part: str) -> None:
    for module in modules(part):
        for node, _ in walk(parsed(files()[module])):
            assert not isinstance(node, ASYNC), f"{module}, line {getattr(node, 'lineno', '?')}"


def test_importing_jsonrill_needs_no_extra_and_loads_no_edge() -> None:
    script = (
        "import sys; before = set(sys.modules); sys.path.insert(0, sys.argv[1]); import jsonrill\n"
        "print(*sorted(set(sys.modules) - before))"
    )
    # -S: a Python without installed packages.
    command = [sys.executable, "-I", "-S", "-c", script, str(SOURCES[0])]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    loaded = {name for name in result.stdout.split() if name.startswith("jsonrill.")}
    assert {name.split(".")[1] for name in loaded} <= set(CORE)
    assert not {"asyncio", "socket", "subprocess", "threading"} & set(result.stdout.split())


@pytest.mark.parametrize(
    "code, expected",
    [
        ("import socket.x", {("socket", False, False)}),
        ("from .errors import A", {("jsonrill.errors", True, False)}),
        ("from . import errors", {("jsonrill.errors", True, False)}),
        ("from . import Parser", {("jsonrill.__init__", True, False)}),
        ("from .parse import machine", {("jsonrill.parse.machine", True, False)}),
        ("from .parse.machine import A", {("jsonrill.parse.machine", True, False)}),
        ("from .schema import A", {("jsonrill.schema.__init__", True, False)}),
        ("import jsonrill.paths", {("jsonrill.paths", True, False)}),
        (
            "from jsonrill import paths, Parser",
            {("jsonrill.paths", True, False), ("jsonrill.__init__", True, False)},
        ),
        ("def f():\n if 1:\n  import pydantic", {("pydantic", False, True)}),
        ("class C:\n import pydantic", {("pydantic", False, False)}),
        ("if TYPE_CHECKING:\n from .errors import A", set()),
        ("try:\n import orjson\nexcept ImportError: pass", {("orjson", False, False)}),
    ],
)
def test_imports_are_seen_wherever_they_stand(code: str, expected: set[object]) -> None:
    assert imports_in(ast.parse(code), "jsonrill") == expected


def test_imports_from_inside_a_package_are_seen() -> None:
    code = ast.parse("from ..errors import A\nfrom .machine import B\nfrom . import states")
    names = {imported.name for imported in imports_in(code, "jsonrill.parse")}
    assert names == {"jsonrill.errors", "jsonrill.parse.machine", "jsonrill.parse.states"}
