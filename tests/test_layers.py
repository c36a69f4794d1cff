"""The tree is the architecture: imports point up the page, and the core does no I/O.

The page is the data path, read from the top. A module may use what stands above it, and a part
that was taken out of it and stands just below it (`PARTS_OF`). What only a type checker reads
(`if TYPE_CHECKING:`) is free.
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

from support import ROOT

SOURCE = ROOT / "src" / "jsonrill"

PAGE = (
    *(
        "paths",
        "errors",
        "fragments",
        "grammar",
        "states",
        "sink",
        "standing",
        "whole",
        "machine",
        "rules",
        "ahead",
        "prose",
        "repair",
        "machines",
        "parser",
        "rebuilder",
    ),
    "document",
    *("chunker", "partial", "entities", "schema", "delta", "sse", "toolcalls", "providers"),
    *("streams", "__init__", "recordings", "store", "server", "batch", "cli", "__main__"),
)
CORE = PAGE[: PAGE.index("__init__")]
PARTS_OF = {
    "partial": {"entities", "schema", "delta"},
    "toolcalls": {"providers"},
}
ONLY_FOR = {
    "ahead": {"prose", "repair"},
    "prose": {"repair"},
    "repair": {"machines"},
    "machines": {"parser", "document", "partial"},
}
# Extras that a core module may ask for, but only inside a function: importing it needs none.
EXTRAS = {"schema": {"pydantic", "pydantic_core", "jsonschema_rs"}}
NO_IO = set(
    "asyncio concurrent http io logging multiprocessing os pathlib select selectors shutil signal"
    " socket socketserver sqlite3 ssl subprocess tempfile threading time urllib".split()
)
# Its `every=` looks at the clock, and waits for an async source; nothing else of the core knows
# that time passes.
MAY_DO_IO = {"streams": {"asyncio", "time"}}
ASYNC = (ast.AsyncFunctionDef, ast.AsyncFor, ast.AsyncWith, ast.Await)


class Import(NamedTuple):
    """What one import asks for: a place on the page, or a top-level module of somebody else."""

    name: str
    ours: bool
    in_function: bool


def place_of(file: Path) -> str:
    """The page names a package once, whatever files it has."""
    return file.relative_to(SOURCE).with_suffix("").parts[0]


@cache
def files() -> dict[str, list[Path]]:
    found: dict[str, list[Path]] = {}
    for file in sorted(SOURCE.rglob("*.py")):
        found.setdefault(place_of(file), []).append(file)
    return found


@cache
def parsed(file: Path) -> ast.Module:
    return ast.parse(file.read_text("utf8"), str(file))


def asked_for(node: ast.Import | ast.ImportFrom, package: str) -> Iterator[tuple[str, bool]]:
    """The place or top-level module that each name of one import statement comes from."""
    if isinstance(node, ast.Import):
        names = [alias.name for alias in node.names]
    else:
        base = resolve_name("." * node.level + (node.module or ""), package)
        names = [f"{base}.{alias.name}" for alias in node.names]
    for name in names:
        top, _, rest = name.partition(".")
        if top == "jsonrill":
            place = rest.partition(".")[0]
            yield (place if place in files() else "__init__"), True
        else:
            yield top, False


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


def imports(place: str) -> set[Import]:
    found = set()
    for file in files().get(place, []):
        package = ".".join(("jsonrill", *file.relative_to(SOURCE).parent.parts))
        found |= imports_in(parsed(file), package)
    return found


def ours(place: str) -> set[str]:
    return {found.name for found in imports(place) if found.ours} - {place}


def test_every_module_has_a_place_on_the_page() -> None:
    assert set(files()) <= set(PAGE)


@pytest.mark.parametrize("place", PAGE)
def test_imports_point_up_the_page(place: str) -> None:
    above = set(PAGE[: PAGE.index(place)])
    assert ours(place) <= above | PARTS_OF.get(place, set())


@pytest.mark.parametrize("edge", ["store", "server", "batch"])
def test_an_edge_stands_on_the_core_and_what_it_is_built_of(edge: str) -> None:
    below = {"server": {"recordings", "store"}}.get(edge, set())
    assert ours(edge) <= {*CORE, "__init__"} | below


@pytest.mark.parametrize("part", ONLY_FOR)
def test_a_part_is_used_by_its_module_alone(part: str) -> None:
    assert {place for place in files() if part in ours(place)} <= ONLY_FOR[part]


def test_no_import_goes_in_a_circle() -> None:
    TopologicalSorter({place: ours(place) for place in files()}).prepare()


@pytest.mark.parametrize("place", CORE)
def test_the_core_imports_the_standard_library_alone(place: str) -> None:
    theirs = {found for found in imports(place) if not found.ours}
    extras = {found for found in theirs if found.name in EXTRAS.get(place, ())}
    assert {found.name for found in theirs - extras} <= sys.stdlib_module_names
    assert all(found.in_function for found in extras), "an extra may only be asked for when used"


@pytest.mark.parametrize("place", CORE)
def test_the_core_does_no_io(place: str) -> None:
    theirs = {found.name for found in imports(place) if not found.ours}
    assert not theirs & NO_IO - MAY_DO_IO.get(place, set())
    for file in files().get(place, []):
        for node, _ in walk(parsed(file)):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                assert node.func.id not in {"open", "print", "input"}, f"line {node.lineno}"


@pytest.mark.parametrize("place", sorted(set(CORE) - {"streams"}))
def test_only_streams_knows_sync_from_async(place: str) -> None:
    for file in files().get(place, []):
        for node, _ in walk(parsed(file)):
            assert not isinstance(node, ASYNC), f"{file.name}, line {getattr(node, 'lineno', '?')}"


def test_importing_jsonrill_needs_no_extra_and_loads_no_edge() -> None:
    script = (
        "import sys; before = set(sys.modules); sys.path.insert(0, sys.argv[1]); import jsonrill\n"
        "print(*sorted(set(sys.modules) - before))"
    )
    # -S: a Python without installed packages.
    command = [sys.executable, "-I", "-S", "-c", script, str(SOURCE.parent)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    loaded = {name for name in result.stdout.split() if name.startswith("jsonrill.")}
    assert {name.split(".")[1] for name in loaded} <= set(CORE)
    assert not {"asyncio", "socket", "subprocess", "threading"} & set(result.stdout.split())


@pytest.mark.parametrize(
    "code, expected",
    [
        ("import socket.x", {("socket", False, False)}),
        ("from .errors import A", {("errors", True, False)}),
        ("from . import errors", {("errors", True, False)}),
        ("from . import Parser", {("__init__", True, False)}),
        ("import jsonrill.paths", {("paths", True, False)}),
        ("from jsonrill import paths, Parser", {("paths", True, False), ("__init__", True, False)}),
        ("def f():\n if 1:\n  import pydantic", {("pydantic", False, True)}),
        ("class C:\n import pydantic", {("pydantic", False, False)}),
        ("if TYPE_CHECKING:\n from .errors import A", set()),
        ("try:\n import orjson\nexcept ImportError: pass", {("orjson", False, False)}),
    ],
)
def test_imports_are_seen_wherever_they_stand(code: str, expected: set[object]) -> None:
    assert imports_in(ast.parse(code), "jsonrill") == expected


def test_imports_from_inside_a_package_are_seen() -> None:
    code = ast.parse("from ..errors import A\nfrom .other import B\nfrom . import other")
    names = {found.name for found in imports_in(code, "jsonrill.paths")}
    assert names == {"errors", "paths"}
