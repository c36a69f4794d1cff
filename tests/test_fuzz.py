"""The fuzz targets run, and what they find is not lost. `make fuzz` gives them time."""

from __future__ import annotations

import importlib
import random
from collections.abc import Iterator
from types import ModuleType, SimpleNamespace

import pytest

from support import HARDER, ROOT

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
    for seed in range(300 * HARDER):
        target.run(random.Random(f"test {seed}"))


def failing(random: random.Random) -> None:
    if random.random() < 0.5:
        raise KeyError("found")


def test_a_finding_is_counted_once_and_told_with_its_seed(
    loop: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    target = SimpleNamespace(__name__="target", TARGET="never fails", run=failing)
    assert loop.fuzz(target, seconds=0.05, start="s") == 1
    said = capsys.readouterr()
    assert "1 findings" in said.out and "--seed s" in said.out
    seed = said.out.split("--seed ")[1].split()[0]
    with pytest.raises(KeyError):
        failing(random.Random(seed))


def test_no_finding_is_no_finding(loop: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    target = SimpleNamespace(__name__="target", TARGET="never fails", run=random.Random.random)
    assert loop.fuzz(target, seconds=0.01, start="") == 0
    assert "executions, 0 findings" in capsys.readouterr().out
