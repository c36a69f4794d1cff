"""The fuzz targets run, and what they find is not lost. `make fuzz` gives them time."""

from __future__ import annotations

import importlib
import random
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from support import ROOT, tries

# The events of a provider are long.
EXECUTIONS = {"fuzz_calls": 100, "fuzz_schema": 150}
TARGETS = sorted(file.stem for file in (ROOT / "fuzz").glob("fuzz_*.py"))


@pytest.fixture(autouse=True)
def on_the_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT))


@pytest.fixture
def loop() -> Iterator[ModuleType]:
    yield importlib.import_module("fuzz.loop")


@pytest.mark.parametrize("name", TARGETS)
def test_a_target_holds_for_a_while(name: str) -> None:
    target = importlib.import_module(f"fuzz.{name}")
    assert target.TARGET
    for seed in range(tries(EXECUTIONS.get(name, 300))):
        target.run(random.Random(f"test {seed}"))


@pytest.mark.parametrize("name", TARGETS)
def test_seeds_are_written_and_run_as_files(
    name: str, loop: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a fuzzer that is guided by coverage begins with."""
    target = importlib.import_module(f"fuzz.{name}")
    monkeypatch.setattr(sys, "argv", ["fuzz", "--write", str(tmp_path)])
    assert loop.main({name: target}) == 0
    files = sorted((tmp_path / name).iterdir())
    words = (tmp_path / f"{name}.dict").read_text("utf8").splitlines()
    assert len(files) > 10 and len(words) == len(target.WORDS)
    assert all(re.fullmatch(r'"(?:[ !#-\[\]-~]|\\x[0-9a-f]{2})+"', word) for word in words)
    for file in files[:20]:
        data = file.read_bytes()
        for choices in (data[:16], bytes(range(9, 25)), b"\xff" * 16):
            loop.one_input(target)(choices + data[16:])
    monkeypatch.setattr(sys, "argv", ["fuzz", name, "--files", *map(str, files[:2])])
    assert loop.main({name: target}) == 0


def test_every_target_is_described(loop: ModuleType) -> None:
    page = (ROOT / "fuzz" / "README.md").read_text("utf8")
    assert {name.removeprefix("fuzz_") for name in TARGETS} == set(
        re.findall(r"^\| `(\w+)`", page, re.MULTILINE)
    )


def test_an_unknown_target_is_told(loop: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["fuzz", "nonsense"])
    with pytest.raises(SystemExit) as ended:
        loop.main({"parser": None})
    assert ended.value.code == 2


def failing(random: random.Random) -> None:
    if random.random() < 0.5:
        raise KeyError("found")


def test_a_finding_is_counted_once_and_told_with_its_seed(
    loop: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    target = SimpleNamespace(__name__="target", TARGET="never fails", run=failing)
    assert loop.fuzz(target, seconds=0.05, start="s") == 1
    printed = capsys.readouterr()
    assert "1 findings" in printed.out and "--seed s" in printed.out
    seed = printed.out.split("--seed ")[1].split()[0]
    with pytest.raises(KeyError):
        failing(random.Random(seed))


def test_no_finding_is_no_finding(loop: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    target = SimpleNamespace(__name__="target", TARGET="never fails", run=random.Random.random)
    assert loop.fuzz(target, seconds=0.01, start="") == 0
    assert "executions, 0 findings" in capsys.readouterr().out
