"""What the wheels hold: every file of a package, data included, and extras but no dependency."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from email.message import Message
from email.parser import Parser as HeaderParser
from pathlib import Path
from zipfile import ZipFile

import pytest

import jsonrill
from support import PACKAGES, ROOT, hard
from support.npm import TOOLS, installed

LIBRARY, SERVER, BATCH = (ROOT / "packages" / name for name in PACKAGES)
BUILT = {".c", ".so", ".pyd", ".pyc"}
NOT_COPIED = shutil.ignore_patterns(*(f"*{suffix}" for suffix in BUILT), "*.egg-info")
PURE_KB = 280


def build(package: Path, copy: Path, what: str, **environment: str) -> Path:
    """Build a package in a copy of the repository, so that building leaves nothing here."""
    folder = copy / package.relative_to(ROOT)
    subprocess.run(
        [sys.executable, "-c", f"from setuptools import build_meta as b; b.build_{what}('made')"],
        cwd=folder,
        env={**os.environ, "JSONRILL_PURE": "1", **environment},
        check=True,
        capture_output=True,
    )
    return max((folder / "made").iterdir(), key=os.path.getmtime)


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Copy what the wheels are built from."""
    folder = tmp_path_factory.mktemp("repository")
    for name in ("README.md", "LICENSE"):
        shutil.copy(ROOT / name, folder)
    for name in ("packages", "js/src", "page", "tools"):
        shutil.copytree(ROOT / name, folder / name, ignore=NOT_COPIED, symlinks=True)
    # The page is bundled with the tools that other tests use, too.
    (folder / "build").mkdir()
    (folder / "build" / "npm").symlink_to(installed(TOOLS, "npm"))
    return folder


@pytest.fixture(scope="module")
def wheel(copy: Path) -> ZipFile:
    return ZipFile(build(LIBRARY, copy, "wheel"))


@pytest.fixture(scope="module")
def server(copy: Path) -> ZipFile:
    return ZipFile(build(SERVER, copy, "wheel"))


def metadata_of(wheel: ZipFile) -> Message:
    name = next(name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
    return HeaderParser().parsestr(wheel.read(name).decode())


def test_the_wheel_of_the_library_is_small_and_has_all_files_but_types_for_the_compiler(
    wheel: ZipFile,
) -> None:
    source = LIBRARY / "src"
    files = {file for file in (source / "jsonrill").rglob("*") if file.is_file()}
    ours = {file.relative_to(source).as_posix() for file in files if file.suffix not in BUILT}
    types = {name for name in ours if name.endswith(".pxd")}
    names = set(wheel.namelist())
    assert types and "jsonrill/py.typed" in ours
    assert ours - types <= names and not types & names
    assert {Path(name).parts[0].split("-")[0] for name in names} == {"jsonrill"}
    assert Path(str(wheel.filename)).stat().st_size / 1e3 <= PURE_KB


def test_the_wheel_of_the_server_has_the_page_and_no_tests(server: ZipFile) -> None:
    web = {Path(name) for name in server.namelist() if name.startswith("jsonrill_server/web/")}
    for name in ("js/src/index.js", "page/page.js", "page/index.html", "page/page.css"):
        assert Path("jsonrill_server/web", name) in web
    assert {file.suffix for file in web} <= {".js", ".html", ".css", ".svg", ".json"}
    assert not any({"tests", "node_modules"} & {*file.parts} for file in web)


def test_each_package_needs_the_library_of_its_version(copy: Path, server: ZipFile) -> None:
    for wheel in (server, ZipFile(build(BATCH, copy, "wheel"))):
        needed = metadata_of(wheel).get_all("Requires-Dist") or []
        assert f"jsonrill[cli,jsonschema,pydantic]=={jsonrill.__version__}" in needed


def test_the_library_has_extras_but_no_dependency(wheel: ZipFile) -> None:
    metadata = metadata_of(wheel)
    needed = metadata.get_all("Requires-Dist") or []
    assert [line for line in needed if "extra ==" not in line] == []
    extras = metadata.get_all("Provides-Extra")
    assert sorted(extras or []) == [*("all", "batch", "cli", "jsonschema", "pydantic", "server")]


def test_the_text_for_an_index_has_no_pictures_and_no_links_into_the_repository(
    wheel: ZipFile,
) -> None:
    text = str(metadata_of(wheel).get_payload())
    assert "jsonrill.values(stream, Trip)" in text and "## Promises" in text
    assert "![" not in text and "](docs/" not in text and "<!--" not in text


def test_what_the_tools_and_extras_need_is_pinned() -> None:
    lines = (ROOT / "constraints.txt").read_text("utf8").splitlines()
    assert all(re.fullmatch(r"[a-z0-9-]+==[0-9][0-9a-z.]*", line) for line in lines)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf8"))
    groups = [*project["dependency-groups"].values()]
    for package in PACKAGES:
        file = ROOT / "packages" / package / "pyproject.toml"
        about = tomllib.loads(file.read_text("utf8"))["project"]
        assert "version" in about["dynamic"], "the version is written once, in the library"
        groups += about.get("optional-dependencies", {}).values()
    needed = {line for group in groups for line in group if isinstance(line, str)}
    names = {re.split(r"[^\w-]", line)[0] for line in needed} - {*PACKAGES}
    assert names <= {line.split("==")[0] for line in lines}


def test_a_source_distribution_needs_nothing_of_the_repository(copy: Path, tmp_path: Path) -> None:
    archive = build(LIBRARY, copy, "sdist")
    assert archive.name == f"jsonrill-{jsonrill.__version__}.tar.gz"
    shutil.unpack_archive(archive, tmp_path)
    folder = tmp_path / archive.name.removesuffix(".tar.gz")
    assert ZipFile(build(ROOT, folder, "wheel")).namelist()


@hard
def test_without_a_c_compiler_the_pure_version_is_built(copy: Path) -> None:
    wheel = build(LIBRARY, copy, "wheel", JSONRILL_PURE="0", CC="/bin/false")
    assert "none-any" in wheel.name
