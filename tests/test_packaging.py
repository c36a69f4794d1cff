"""What the wheel holds: every file of the package, data included, and extras but no dependency."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
from email.message import Message
from email.parser import Parser as HeaderParser
from pathlib import Path
from zipfile import ZipFile

import pytest

import jsonrill
from support import ROOT

# Kinds of data that later parts of the package bring: each must find its way by itself.
DATA = ("web/page/x.html", "web/lib/client.js", "demo/recordings/x.jsonl", "demo/recordings/x.sse")
MADE = {".c", ".so", ".pyd", ".pyc"}
# Megabytes of all that is not compiled, with room of 15 %; tests/test_compiled.py has the rest.
MOST = 3.4


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> ZipFile:
    """A wheel of a copy of the sources, so that building leaves nothing in the repository."""
    copy = tmp_path_factory.mktemp("source")
    for name in ("setup.py", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, copy)
    shutil.copytree(ROOT / "src" / "jsonrill", copy / "src" / "jsonrill")
    for name in DATA:
        file = copy / "src" / "jsonrill" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("data")
    build = "from setuptools import build_meta; build_meta.build_wheel('.')"
    pure = {**os.environ, "JSONRILL_PURE": "1"}
    command = [sys.executable, "-c", build]
    subprocess.run(command, cwd=copy, check=True, capture_output=True, env=pure)
    return ZipFile(next(copy.glob("*.whl")))


def test_without_a_c_compiler_the_pure_version_is_installed(tmp_path: Path) -> None:
    """One that fails, and none to be found: either way the same package, not compiled."""
    for name in ("setup.py", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, tmp_path)
    made = shutil.ignore_patterns(*(f"*{suffix}" for suffix in MADE))
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=made)
    nothing = tmp_path / "nothing"
    nothing.mkdir()
    install = "-m pip -q --disable-pip-version-check install --no-deps --no-build-isolation".split()
    for target, change in (("fails", {"CC": "/bin/false"}), ("none", {"PATH": str(nothing)})):
        environment = {**os.environ, "JSONRILL_PURE": "0", **change}
        command = [sys.executable, *install, "--target", target, "."]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True)
        assert done.returncode == 0, done.stderr.decode()
        script = "import jsonrill; print(jsonrill.compiled, jsonrill.partial('[1'))"
        shown = subprocess.run(
            [sys.executable, "-c", script],
            cwd=tmp_path / target,
            env={**os.environ, "PYTHONPATH": "."},
            capture_output=True,
        )
        assert shown.stdout.split() == [b"False", b"[]"], shown.stderr.decode()
        assert (tmp_path / target / "jsonrill").is_dir()


@pytest.fixture(scope="module")
def metadata(wheel: ZipFile) -> Message:
    name = next(name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
    return HeaderParser().parsestr(wheel.read(name).decode())


def test_every_file_of_the_package_is_in_the_wheel(wheel: ZipFile) -> None:
    source = ROOT / "src"
    files = {file for file in (source / "jsonrill").rglob("*") if file.is_file()}
    ours = {file.relative_to(source).as_posix() for file in files if file.suffix not in MADE}
    assert "jsonrill/py.typed" in ours
    types = {name for name in ours if name.endswith(".pxd")}
    assert ours - types | {f"jsonrill/{name}" for name in DATA} <= set(wheel.namelist())
    assert types and not types & set(wheel.namelist()), "types for the compiler are not installed"


def test_the_wheel_is_small(wheel: ZipFile) -> None:
    sizes = {file.filename: file.file_size for file in wheel.infolist()}
    large = sorted(sizes, key=lambda name: -sizes[name])[:5]
    assert sum(sizes.values()) < MOST * 1e6, f"the largest files: {', '.join(large)}"


def test_the_javascript_library_is_in_the_wheel_as_it_is(wheel: ZipFile) -> None:
    """Modules and package.json, no type declarations and no packages of others."""
    library = {Path(name) for name in wheel.namelist() if name.startswith("jsonrill/web/lib/")}
    assert {file.suffix for file in library if file.name != "package.json"} == {".js"}
    assert Path("jsonrill/web/lib/package.json") in library
    assert not any("node_modules" in file.parts for file in library)


def test_nothing_but_the_package_is_in_the_wheel(wheel: ZipFile) -> None:
    tops = {Path(name).parts[0].split("-")[0] for name in wheel.namelist()}
    assert tops == {"jsonrill"}


def test_the_text_for_an_index_has_no_pictures_and_no_links_into_the_repository(
    metadata: Message,
) -> None:
    text = str(metadata.get_payload())
    assert metadata["Description-Content-Type"] == "text/markdown"
    assert "jsonrill.values(stream, Trip)" in text and "## Promises" in text
    assert "![" not in text and "](docs/" not in text and "](tests/" not in text
    assert "<!--" not in text


def test_the_core_depends_on_nothing(metadata: Message) -> None:
    needed = metadata.get_all("Requires-Dist") or []
    assert [line for line in needed if "extra ==" not in line] == []


def test_the_extras_are_these(metadata: Message) -> None:
    extras = metadata.get_all("Provides-Extra")
    own = ["batch", "cli", "client", "postgres", "redis", "schema", "server"]
    assert sorted(extras or []) == sorted(["all", *own])


@pytest.mark.parametrize("sources", [False, True])
def test_what_the_tools_and_extras_need_is_pinned(sources: bool) -> None:
    file = ROOT / ("tests/frameworks/constraints.txt" if sources else "constraints.txt")
    lines = file.read_text("utf8").splitlines()
    pins = dict(line.split("==") for line in lines)
    assert all(re.fullmatch(r"[a-z0-9-]+==[0-9][0-9a-z.]*", line) for line in lines)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf8"))
    groups = project["dependency-groups"]
    apart = groups.pop("test-sources")
    own = [*groups.values(), *project["project"]["optional-dependencies"].values()]
    needed = {line for lines in ([apart] if sources else own) for line in lines}
    names = {re.split(r"[^\w-]", line)[0] for line in needed} - {"jsonrill"}
    assert names <= set(pins)


def test_a_source_distribution_has_all_that_a_clone_has(tmp_path: Path) -> None:
    """Its tests, tools and documentation work there as here."""
    made = (
        ".git",
        ".venv",
        "build",
        "dist",
        "node_modules",
        "__pycache__",
        "*.egg-info",
        ".*_cache",
    )
    more = (".hypothesis", ".coverage", "htmlcov", "*.so", "*.pyc")
    copy = tmp_path / "clone"
    shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(*made, *more), symlinks=True)
    ours = {file.relative_to(copy).as_posix() for file in copy.rglob("*") if file.is_file()}
    build = "from setuptools import build_meta; build_meta.build_sdist('made')"
    subprocess.run(
        [sys.executable, "-c", build],
        cwd=copy,
        check=True,
        capture_output=True,
        env={**os.environ, "JSONRILL_PURE": "1"},
    )
    (archive,) = (copy / "made").glob("*.tar.gz")
    with tarfile.open(archive) as opened:
        names = {"/".join(Path(name).parts[1:]) for name in opened.getnames()}
    assert ours - names == set()
    assert archive.name == f"jsonrill-{jsonrill.__version__}.tar.gz"
