"""Make the npm package: `python tools/npm_package.py` leaves `jsonrill-VERSION.tgz` in dist/.

The modules of `js/src` go into it without their comments, which the type declarations keep: the
TypeScript compiler of tools/npm makes them from the JSDoc. With REPOSITORY, the address of the
repository that a release has, package.json names it; there is none to name before.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

from page_bundle import TOOLS, install

ROOT: Final = Path(__file__).resolve().parent.parent
LIBRARY: Final = ROOT / "js"
STAGE: Final = ROOT / "build" / "npm-package"
ENTRIES: Final = ("index", "react", "receive")
# What JSDoc says about types, which the declarations say, too.
NAME: Final = r"\{.*\}(?: \[?\w+\]?)?"
TYPES: Final = re.compile(rf"^ *(?:/\*\* @\w+ {NAME} \*/|\* @\w+ {NAME})\n", re.MULTILINE)
EMPTY: Final = re.compile(r"^ */\*\*\s+\*/\n", re.MULTILINE)
DECLARATIONS: Final = (
    *("--allowJs", "--declaration", "--emitDeclarationOnly"),
    *("--strict", "--target", "es2022", "--module", "nodenext"),
    *("--lib", "es2022,dom,dom.iterable,dom.asynciterable"),
)


def version() -> str:
    """Return the version of the Python package as npm writes it: 1.0.0.dev0 is 1.0.0-dev.0."""
    text = (ROOT / "packages/jsonrill/src/jsonrill/__init__.py").read_text("utf8")
    match = re.search(r'^__version__ = "(.+)"$', text, re.MULTILINE)
    assert match is not None
    return re.sub(r"\.?(dev|a|b|rc)(\d+)$", r"-\1.\2", match[1])


def description() -> str:
    """Return the library's package.json with its version, and in a release with its addresses."""
    package = json.loads((LIBRARY / "package.json").read_text("utf8"))
    if address := os.environ.get("REPOSITORY"):
        package["repository"] = {"type": "git", "url": f"git+{address}.git", "directory": "js"}
        package["homepage"] = f"{address}#readme"
        package["bugs"] = f"{address}/issues"
    return json.dumps({"name": package.pop("name"), "version": version(), **package}, indent=2)


def stage(folder: Path) -> None:
    """Put everything that is published into `folder`."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(LIBRARY / "src", folder / "src")
    shutil.copy(ROOT / "LICENSE", folder)
    (folder / "package.json").write_text(description(), "utf8")
    shutil.copy(LIBRARY / "README.md", folder)
    compiler = TOOLS / "node_modules" / "typescript" / "bin" / "tsc"
    staged = [*map(str, sorted(folder.rglob("*.js")))]
    command = ["node", str(compiler), *DECLARATIONS, "--outDir", str(folder / "src"), *staged]
    subprocess.run(command, check=True)
    prune(folder / "src")
    esbuild = TOOLS / "node_modules" / ".bin" / "esbuild"
    strip = ("--format=esm", "--target=es2022", "--log-level=error", "--allow-overwrite")
    subprocess.run([str(esbuild), *staged, *strip, f"--outdir={folder / 'src'}"], check=True)


def prune(source: Path) -> None:
    """Remove the declarations that no entry refers to, and what the others say twice."""
    todo = [source / f"{entry}.d.ts" for entry in ENTRIES]
    needed: set[Path] = set()
    while todo:
        file = todo.pop()
        if file in needed:
            continue
        needed.add(file)
        text = EMPTY.sub("", TYPES.sub("", file.read_text("utf8")))
        file.write_text(text, "utf8")
        names = re.findall(r'(?:from |import\()"(\..+?)\.js"', text)
        todo += [(file.parent / f"{name}.d.ts").resolve() for name in names]
    for file in {*source.rglob("*.d.ts")} - needed:
        file.unlink()


def pack(npm: str, folder: Path, into: Path) -> dict[str, Any]:
    """Make the tarball of a staged package; what npm says about it."""
    into.mkdir(parents=True, exist_ok=True)
    command = [npm, "pack", "--json", "--pack-destination", str(into)]
    done = subprocess.run(command, cwd=folder, check=True, stdout=subprocess.PIPE, text=True)
    packed: dict[str, Any] = json.loads(done.stdout)[0]
    return packed


def main() -> int:
    npm = shutil.which("npm")
    if npm is None or shutil.which("node") is None:
        print("the npm package is made with node and npm, which are not installed", file=sys.stderr)
        return 1
    install(npm)
    stage(STAGE)
    packed = pack(npm, STAGE, ROOT / "dist")
    print(f"dist/{packed['filename']}: {packed['entryCount']} files, {packed['size']} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
