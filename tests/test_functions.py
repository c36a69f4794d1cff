"""No function is too long to be read at once, unless its docstring says why; ruff counts branches.

And no class gets the name of another one in its package: who searches for it finds one.
"""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

import pytest

from support import ROOT, SOURCES

Function = ast.FunctionDef | ast.AsyncFunctionDef
FILES = [path for source in SOURCES for path in sorted(source.rglob("*.py"))]
NAMES = {path: path.relative_to(ROOT).as_posix() for path in FILES}
# Without its docstring, which gives the reason for more behind this word.
MOST_LINES, REASON = 60, "Its length:"


def lines(function: Function) -> int:
    """The lines of a function, without its docstring."""
    first, *rest = function.body
    is_text = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    documented = (first.end_lineno or 0) - first.lineno + 1 if is_text and rest else 0
    return (function.end_lineno or 0) - function.lineno + 1 - documented


@pytest.mark.parametrize("path", FILES, ids=NAMES.__getitem__)
def test_a_function_can_be_read_at_once(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text("utf8"))):
        if isinstance(node, Function) and REASON not in (ast.get_docstring(node) or ""):
            assert lines(node) <= MOST_LINES, f"{NAMES[path]}:{node.lineno} {node.name}"


def test_no_class_gets_the_name_of_another_one_in_its_package() -> None:
    same = set()
    for source in SOURCES:
        trees = [ast.parse(path.read_text("utf8")) for path in sorted(source.rglob("*.py"))]
        classes = [node for tree in trees for node in tree.body if isinstance(node, ast.ClassDef)]
        counted = Counter(node.name for node in classes)
        same |= {name for name, count in counted.items() if count > 1}
    assert not same
