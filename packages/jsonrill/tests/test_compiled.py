"""`jsonrill.compiled` tells the truth, and the compiled modules are those that setup.py names."""

from __future__ import annotations

import ast
import importlib
import os
from itertools import product

import pytest
from jsonrill.parse.characters import code_at, is_cut

import jsonrill
from jsonrill.parse.grammar import CUT_ESCAPE, ESCAPE, LONE_HIGH, unescape
from support import ROOT


def hot() -> tuple[str, ...]:
    """The modules that setup.py compiles."""
    known: dict[str, tuple[str, ...]] = {}
    for node in ast.parse((ROOT / "packages/jsonrill/setup.py").read_text("utf8")).body:
        if isinstance(node, ast.Assign):
            name = ast.unparse(node.targets[0])
            if name in ("PUBLIC", "PARTS", "PRIVATE", "HOT"):
                known[name] = eval(ast.unparse(node.value), {}, known)
    return known["HOT"]


@pytest.mark.parametrize("name", hot())
def test_all_hot_modules_are_of_one_kind(name: str) -> None:
    file = importlib.import_module(f"jsonrill.{name}").__file__
    assert file is not None
    assert file.endswith(".py") is not jsonrill.compiled


def test_the_compiled_run_is_a_compiled_run() -> None:
    """`make compiled` would be worthless if it silently fell back to Python."""
    wanted = "compiled" in os.environ.get("PYTHONPATH", "")
    assert jsonrill.compiled is wanted


def test_escapes_by_character_are_those_of_the_patterns() -> None:
    """What the compiled modules read character by character, pure Python reads by patterns."""
    digits = "0129afAFgG-_+ \\uD8"
    for tail in map("".join, product(digits, repeat=4)):
        text = f"\\u{tail}"
        alone = ESCAPE.fullmatch(text) is not None and not LONE_HIGH.match(text)
        low = alone and text[2:4].lower() in ("dc", "dd", "de", "df")
        assert code_at(text, 0, 6) == (int(tail, 16) if alone and not low else -1), text
        assert code_at(text, 0, 5) == -1
        assert is_cut(text, 0, 5) == (CUT_ESCAPE.match(text, 0, 5) is not None), text
        assert not is_cut(text, 0, 6)
    for text in ("\\", "\\u", "\\n", "\\x", "x", "u"):
        assert is_cut(text, 0, len(text)) == (CUT_ESCAPE.match(text) is not None), text
    for char in map(chr, range(128)):
        text = f"\\{char}"
        assert code_at(text, 0, 2) == (ord(unescape(text)) if ESCAPE.match(text) else -1), text
