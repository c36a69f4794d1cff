"""The helpers of the other tests: a helper that is wrong makes every test that uses it weak."""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support import ROOT, SOURCES, at, at_random, by_character, by_threes, cuttings, pieces, whole
from support.costs import is_flat, is_linear

TEXT = "añ\U0001f600{}12"


def test_each_cutting_cuts_as_its_name_says() -> None:
    assert whole(TEXT) == [TEXT]
    assert by_character("añ\U0001f600") == ["a", "ñ", "\U0001f600"]
    assert by_character("ñ".encode()) == [b"\xc3", b"\xb1"]
    assert by_threes("abcdefg") == ["abc", "def", "g"]
    assert at([1, 1, 3], "abcd") == ["a", "", "bc", "d"]
    assert at_random(TEXT * 9) == at_random(TEXT * 9) != at_random(TEXT * 9, seed=1)


@given(st.text(), st.binary())
def test_pieces_of_every_standard_cutting_join_to_the_text(text: str, data: bytes) -> None:
    assert ["".join(cut) for cut in cuttings(text)] == [text] * 4
    assert [b"".join(cut) for cut in cuttings(data)] == [data] * 4


@given(st.data())
def test_drawn_pieces_join_to_the_text(data: st.DataObject) -> None:
    assert "".join(data.draw(pieces(TEXT))) == TEXT


class Hoard:
    """Keeps all that it is fed, in one of several ways."""

    def __init__(self, way: str) -> None:
        self.way, self.text, self.pieces = way, "", list[str]()

    def feed(self, piece: str) -> None:
        if self.way == "copies":
            self.text = f"{self.text}{piece}"
            return
        self.pieces.append(piece)
        if self.way == "joins":
            self.text = "".join(self.pieces)
        elif self.way == "reads again":
            self.text += piece
            self.text.find("y")


def drip(way: str, size: int) -> Callable[[], object]:
    hoard = Hoard(way)
    for _ in range(size // 1_000):
        hoard.feed("x" * 1_000)
    return lambda: hoard.feed("abcd")


def test_flat_is_what_does_not_look_back() -> None:
    is_flat(partial(drip, "appends"), large=1_000_000)


@pytest.mark.parametrize("way", ["copies", "joins", "reads again"])
def test_what_looks_back_is_not_flat(way: str) -> None:
    with pytest.raises(pytest.fail.Exception, match="times as long"):
        is_flat(partial(drip, way), large=1_000_000, steps=5)


def test_linear_is_not_quadratic() -> None:
    is_linear(lambda size: lambda: sum(range(size)), 20_000)
    with pytest.raises(pytest.fail.Exception, match="times as long"):
        is_linear(lambda size: lambda: [sum(range(size)) for _ in range(size)], 300)


# What is not a part of a package, or is tested through several parts of it.
FOLDERS = {"batch", "server", "durable", "hard", "clients", "frameworks", "typing"}


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.parent.name)
def test_folders_of_tests_are_those_of_the_package(source: Path) -> None:
    def folders(where: Path) -> set[str]:
        return {path.parent.name for path in where.glob("*/*.py")}

    (package,) = (folder for folder in source.iterdir() if (folder / "__init__.py").is_file())
    assert folders(source.parent / "tests") <= folders(package) | FOLDERS


def test_no_test_imports_a_test() -> None:
    """What two tests need is in tests/support, or beside them under another name."""
    folders = [
        ROOT / "tests",
        *ROOT.glob("packages/*/tests"),
        ROOT / "js/tests",
        ROOT / "page/tests",
    ]
    for file in (path for folder in folders for path in folder.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text("utf8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom):
                names = [node.module or "", *(alias.name for alias in node.names if node.level)]
            for name in names:
                parts = name.split(".")
                assert not any(part.startswith(("test_", "hard_")) for part in parts), file
