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
from support import PACKAGES, ROOT, hard
from support.costs import PURE_KB
from support.npm import TOOLS, installed

LIBRARY, SERVER, BATCH = (ROOT / "packages" / name for name in PACKAGES)
# Kinds of data that later parts of the library bring: each must find its way by itself.
DATA = ("demo/recordings/x.jsonl", "demo/recordings/x.sse")
BUILT = {".c", ".so", ".pyd", ".pyc"}
NOT_COPIED = shutil.ignore_patterns(*(f"*{suffix}" for suffix in BUILT), "*.egg-info")


PURE = {**os.environ, "JSONRILL_PURE": "1"}


def wheel_of(package: Path, parts: Path) -> ZipFile:
    """A wheel of a package in a copy of the repository, so that building leaves nothing here."""
    build = "from setuptools import build_meta; build_meta.build_wheel('.')"
    where = parts / package.relative_to(ROOT)
    subprocess.run(
        [sys.executable, "-c", build], cwd=where, check=True, capture_output=True, env=PURE
    )
    return ZipFile(next(where.glob("*.whl")))


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What of the repository the wheels are built from."""
    folder = tmp_path_factory.mktemp("repository")
    for name in ("README.md", "LICENSE"):
        shutil.copy(ROOT / name, folder)
    for name in ("packages", "js/src", "page", "tools"):
        shutil.copytree(ROOT / name, folder / name, ignore=NOT_COPIED, symlinks=True)
    # The page is bundled with the tools that other tests use, too.
    (folder / "build").mkdir()
    (folder / "build" / "npm").symlink_to(installed(TOOLS, "npm"))
    for name in DATA:
        (folder / "packages/jsonrill/src/jsonrill" / name).write_text("data")
    return folder


@pytest.fixture(scope="module")
def wheel(copy: Path) -> ZipFile:
    return wheel_of(LIBRARY, copy)


@pytest.fixture(scope="module")
def server(copy: Path) -> ZipFile:
    return wheel_of(SERVER, copy)


@hard
def test_without_a_c_compiler_the_pure_version_is_installed(tmp_path: Path) -> None:
    """One that fails, and none to be found: either way the same package, not compiled."""
    for name in ("setup.py", "jsonrill_build.py", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(LIBRARY / name, tmp_path)
    shutil.copytree(LIBRARY / "src", tmp_path / "src", ignore=NOT_COPIED)
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


def metadata_of(wheel: ZipFile) -> Message:
    name = next(name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
    return HeaderParser().parsestr(wheel.read(name).decode())


@pytest.fixture(scope="module")
def metadata(wheel: ZipFile) -> Message:
    return metadata_of(wheel)


def test_every_file_of_the_package_is_in_the_wheel(wheel: ZipFile) -> None:
    source = LIBRARY / "src"
    files = {file for file in (source / "jsonrill").rglob("*") if file.is_file()}
    ours = {file.relative_to(source).as_posix() for file in files if file.suffix not in BUILT}
    assert "jsonrill/py.typed" in ours
    types = {name for name in ours if name.endswith(".pxd")}
    assert ours - types | {f"jsonrill/{name}" for name in DATA} <= set(wheel.namelist())
    assert types and not types & set(wheel.namelist()), "types for the compiler are not installed"


def test_the_page_and_the_library_for_browsers_are_in_the_wheel_of_the_server(
    server: ZipFile,
) -> None:
    """Modules and what the page needs; no tests, no type declarations, no packages of others."""
    web = {Path(name) for name in server.namelist() if name.startswith("jsonrill_server/web/")}
    for name in ("js/src/index.js", "page/page.js", "page/index.html", "page/page.css"):
        assert Path("jsonrill_server/web", name) in web
    assert {file.suffix for file in web} == {".js", ".html", ".css", ".svg"}
    assert not any({"tests", "node_modules"} & {*file.parts} for file in web)


def test_each_package_needs_the_library_of_its_version(copy: Path, server: ZipFile) -> None:
    for wheel in (server, wheel_of(BATCH, copy)):
        needed = metadata_of(wheel).get_all("Requires-Dist") or []
        assert f"jsonrill[cli,jsonschema,pydantic]=={jsonrill.__version__}" in needed


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


def test_the_pure_wheel_is_small(wheel: ZipFile) -> None:
    size = Path(str(wheel.filename)).stat().st_size / 1e3
    print(f"pure wheel: {size:.0f} KB, {len(wheel.namelist())} files")
    assert size <= PURE_KB


def test_the_core_depends_on_nothing(metadata: Message) -> None:
    needed = metadata.get_all("Requires-Dist") or []
    assert [line for line in needed if "extra ==" not in line] == []


def test_the_extras_are_these(metadata: Message) -> None:
    extras = metadata.get_all("Provides-Extra")
    assert sorted(extras or []) == [*("all", "batch", "cli", "jsonschema", "pydantic", "server")]


def test_what_the_tools_and_extras_need_is_pinned() -> None:
    lines = (ROOT / "constraints.txt").read_text("utf8").splitlines()
    pins = dict(line.split("==") for line in lines)
    assert all(re.fullmatch(r"[a-z0-9-]+==[0-9][0-9a-z.]*", line) for line in lines)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf8"))
    own = [*project["dependency-groups"].values()]
    for package in PACKAGES:
        file = ROOT / "packages" / package / "pyproject.toml"
        about = tomllib.loads(file.read_text("utf8"))["project"]
        own += about.get("optional-dependencies", {}).values()
    needed = {line for lines in own for line in lines if isinstance(line, str)}
    names = {re.split(r"[^\w-]", line)[0] for line in needed} - {*PACKAGES}
    assert names <= set(pins)


def test_a_source_distribution_can_be_built_and_installed_from(copy: Path) -> None:
    """It needs nothing of the repository around it."""
    where = copy / "packages" / "jsonrill"
    build = "from setuptools import build_meta; build_meta.build_sdist('made')"
    subprocess.run(
        [sys.executable, "-c", build], cwd=where, check=True, capture_output=True, env=PURE
    )
    (archive,) = (where / "made").glob("*.tar.gz")
    assert archive.name == f"jsonrill-{jsonrill.__version__}.tar.gz"
    with tarfile.open(archive) as opened:
        names = {"/".join(Path(name).parts[1:]) for name in opened.getnames()}
    ours = {file.relative_to(where).as_posix() for file in (where / "src").rglob("*.p*")}
    assert {name for name in ours if name.endswith((".py", ".pxd"))} <= names
    assert {"README.md", "LICENSE", "setup.py", "jsonrill_build.py"} <= names
