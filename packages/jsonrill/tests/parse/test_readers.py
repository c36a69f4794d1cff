"""The shape of leniency: a machine that holds small readers, alike in Python and JavaScript."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from jsonrill.parse import states
from jsonrill.parse.lenient import inside
from jsonrill.parse.sink import Sink
from support import ROOT

PYTHON = Path(inside.__file__).with_name("core.py").parent
JAVASCRIPT = ROOT / "js/src/parse/lenient"
READERS = ("prose", "comments", "tokens", "words", "strings", "quotes", "brackets", "ending")
MOST = 40


def python_methods(file: Path) -> dict[str, int]:
    tree = ast.parse(file.read_text("utf8"))
    return {
        node.name: sum(isinstance(one, ast.FunctionDef) for one in node.body)
        for node in tree.body
        if isinstance(node, ast.ClassDef)
    }


def javascript_methods(file: Path) -> dict[str, int]:
    classes = re.findall(
        r"^export class (\w+).*?\{\n(.*?)^\}\n", file.read_text("utf8"), re.M | re.S
    )
    return {name: len(re.findall(r"^  (?:get )?\w+\(", body, re.M)) for name, body in classes}


@pytest.mark.parametrize("file", sorted((*PYTHON.glob("*.py"), *JAVASCRIPT.glob("*.js"))), ids=str)
def test_no_class_has_more_than_forty_methods(file: Path) -> None:
    count = python_methods if file.suffix == ".py" else javascript_methods
    assert all(number <= MOST for number in count(file).values()), count(file)


@pytest.mark.parametrize("name", READERS)
def test_a_reader_has_the_same_name_in_both_languages(name: str) -> None:
    python, javascript = PYTHON / f"{name}.py", JAVASCRIPT / f"{name}.js"
    assert [*python_methods(python)][:1] == [*javascript_methods(javascript)][:1]


def test_every_state_that_json_does_not_have_has_its_reader() -> None:
    numbers = {
        value
        for name, value in vars(states).items()
        if isinstance(value, int) and name.isupper() and value >= states.LENIENT
    }
    assert numbers == set(inside.READERS)
    machine = inside.LenientMachine(Sink(), rules=True)
    for reader, method in inside.READERS.values():
        assert callable(getattr(getattr(machine, reader), method))
