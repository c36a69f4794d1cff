"""Install npm packages for tests, and pack our own, once in build/ (`make clean` removes it)."""

from __future__ import annotations

import fcntl
import hashlib
import importlib.util
import json
import shutil
import subprocess
import tarfile
from pathlib import Path
from typing import Any

import pytest

from support import IN_CI, LIBRARY, ROOT, need_command

SCRIPT = ROOT / "tools" / "npm_package.py"
TOOLS = ROOT / "tools" / "npm"


def tool(name: str) -> Any:
    """Import a script of tools/."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "tools" / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


npm_package: Any = tool("npm_package")
npm_sizes: Any = tool("npm_sizes")
QUIET = ("--silent", "--no-audit", "--no-fund", "--ignore-scripts")


def installed(source: Path, name: str) -> Path:
    """Return build/<name>, with the scripts and the packages of `source`.

    Without node or npm's registry: skip, but fail in CI. Versions come from package-lock.json, or
    from package.json if there is no lock file.
    """
    need_command("node")
    npm = need_command("npm")
    folder = ROOT / "build" / name
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # several workers of pytest, one installation
        packages = sorted(source.glob("package*.json"))
        for file in [*source.glob("*.mjs"), *packages]:
            shutil.copy(file, folder)
        stamp = folder / "node_modules" / "stamp"
        wanted = "".join(file.read_text("utf8") for file in packages)
        if not stamp.exists() or stamp.read_text("utf8") != wanted:
            locked = (source / "package-lock.json").exists()
            command = ["ci"] if locked else ["install", "--no-package-lock"]
            done = subprocess.run(
                [npm, *command, *QUIET], cwd=folder, capture_output=True, text=True, timeout=300
            )
            if done.returncode:
                message = f"npm {command[0]} failed: {done.stderr[-500:]}"
                (pytest.fail if IN_CI else pytest.skip)(message)
            stamp.write_text(wanted, "utf8")
    return folder


def packed() -> Path:
    """Return our package as it would be published; pack it again only if a file has changed."""
    installed(TOOLS, "npm")
    npm = need_command("npm")
    sources = [SCRIPT, LIBRARY / "__init__.py"]
    sources += [file for file in sorted(npm_package.LIBRARY.rglob("*")) if file.is_file()]
    digest = hashlib.sha256()
    for file in sources:
        digest.update(f"{file.relative_to(ROOT)}\0".encode() + file.read_bytes())
    folder = ROOT / "build" / "npm-packed" / digest.hexdigest()[:16]
    folder.parent.mkdir(parents=True, exist_ok=True)
    with open(folder.parent / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            making = folder.with_suffix(".new")
            shutil.rmtree(making, ignore_errors=True)
            npm_package.stage(making / "stage")
            npm_package.pack(npm, making / "stage", making)
            making.rename(folder)
    [tarball] = folder.glob("*.tgz")
    return tarball


def project(folder: Path, modules: Path) -> Path:
    """Install our package and those in `modules` in a program's folder."""
    ours = folder / "node_modules"
    ours.mkdir()
    for name in modules.iterdir():
        if name.is_dir() and not name.name.startswith("."):
            (ours / name.name).symlink_to(name)
    with tarfile.open(packed()) as archive:
        archive.extractall(ours, filter="data")
    (ours / "package").rename(ours / "jsonrill")
    return folder


def built_page(example: Path, folder: Path) -> Path:
    """Check the types of an example with React, and build its page with Vite in this folder."""
    made = shutil.ignore_patterns("node_modules", "dist")
    shutil.copytree(example / "web", folder, dirs_exist_ok=True, ignore=made)
    # The tools have the packages of the examples: nothing is installed twice.
    tools = json.loads((TOOLS / "package.json").read_text("utf8"))["devDependencies"]
    example_needs = json.loads((example / "web" / "package.json").read_text("utf8"))
    needed = {**example_needs["dependencies"], **example_needs["devDependencies"]}
    assert needed.items() <= tools.items()
    project(folder, installed(TOOLS, "npm") / "node_modules")
    for name in ("typescript/bin/tsc", "vite/bin/vite.js build"):
        script, *words = name.split()
        command = [need_command("node"), str(folder / "node_modules" / script), *words]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stdout + done.stderr
    return folder / "dist"
