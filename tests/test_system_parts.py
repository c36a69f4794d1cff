"""What `make test` does about programs that pip cannot bring, played through on a toy machine."""

from __future__ import annotations

import importlib
import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from support import ROOT


@pytest.fixture
def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("parts", ROOT / "tools" / "system_parts.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder on PATH; `apt-get install … X` creates the program X in it."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.delenv("CI", raising=False)
    return folder


def add_apt(folder: Path, *, works: bool) -> None:
    apt = folder / "apt-get"
    line = f': > "{folder}/gizmo"; /bin/chmod +x "{folder}/gizmo"' if works else "exit 100"
    apt.write_text(f'#!/bin/sh\ncase "$*" in *install*gizmo-package) {line};; esac\n')
    apt.chmod(0o755)


def run(tool: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, root: bool) -> int:
    monkeypatch.setattr("os.geteuid", lambda: 0 if root else 1000)
    part = tool.Part("gizmo", "gizmo-package", ("tests/gizmo",))
    code: int = tool.main([part], tmp_path)
    return code


def test_a_part_that_no_test_needs_is_not_asked_for(tool, programs, tmp_path, monkeypatch, capsys):
    add_apt(programs, works=True)
    assert run(tool, tmp_path, monkeypatch, root=True) == 0
    assert not (programs / "gizmo").exists()
    assert capsys.readouterr() == ("", "")


def test_root_with_apt_gets_the_missing_part(tool, programs, tmp_path, monkeypatch, capsys):
    (tmp_path / "tests" / "gizmo").mkdir(parents=True)
    add_apt(programs, works=True)
    monkeypatch.setenv("CI", "true")
    assert run(tool, tmp_path, monkeypatch, root=True) == 0
    assert (programs / "gizmo").exists()
    assert capsys.readouterr() == ("installing gizmo-package ...\n", "")


@pytest.mark.parametrize("root, apt", [(False, True), (True, False), (True, None)])
@pytest.mark.parametrize("ci", [False, True])
def test_what_stays_missing_is_named_and_fails_only_in_ci(
    tool, programs, tmp_path, monkeypatch, capsys, root, apt, ci
):
    (tmp_path / "tests" / "gizmo").mkdir(parents=True)
    if apt is not None:
        add_apt(programs, works=apt)
    if ci:
        monkeypatch.setenv("CI", "true")
    assert run(tool, tmp_path, monkeypatch, root=root) == int(ci)
    assert not (programs / "gizmo").exists()
    assert "LEFT OUT: what needs gizmo (tests/gizmo)" in capsys.readouterr().err


@pytest.mark.parametrize("ci", [False, True])
def test_javascript_is_not_looked_at_without_npm(programs, monkeypatch, capsys, ci):
    if ci:
        monkeypatch.setenv("CI", "true")
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    assert importlib.import_module("biome").main("check") == int(ci)
    assert "LEFT OUT: what needs npm (" in capsys.readouterr().err
