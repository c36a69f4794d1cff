"""The modules for the browser: their tests run in node, their types are checked."""

from __future__ import annotations

import json
import os
import re
import subprocess
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from support import ROOT, need_command
from support.npm import TOOLS, installed

HERE = Path(__file__).parent
MS = re.MULTILINE | re.DOTALL
LIBRARY, PAGE = ROOT / "js" / "src", ROOT / "page"
TESTS = sorted((*HERE.glob("*.test.js"), *(PAGE / "tests").glob("*.test.js")))
CHECKS = {
    **dict.fromkeys(("allowJs", "checkJs", "strict", "noEmit", "noUnusedLocals"), True),
    **dict.fromkeys(("noImplicitReturns", "noFallthroughCasesInSwitch"), True),
    "target": "es2022",
    "module": "nodenext",
    "lib": ["es2022", "dom", "dom.iterable", "dom.asynciterable"],
    "types": [],
}


def run(*command: str | Path, seconds: float = 300) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=seconds, encoding="utf8"
    )


@pytest.mark.parametrize("file", TESTS, ids=lambda file: file.name)
def test_in_node(file: Path) -> None:
    done = run(need_command("node"), "--test", "--test-reporter=spec", file)
    assert done.returncode == 0, f"\n{done.stdout}{done.stderr}"
    # A file whose tests are not found passes as one empty test.
    assert "tests 0" not in done.stdout


def test_a_test_that_fails_is_noticed(tmp_path: Path) -> None:
    file = tmp_path / "wrong.test.mjs"
    file.write_text('import { test } from "node:test"; test("x", () => { throw Error("found"); });')
    done = run(need_command("node"), "--test", "--test-reporter=spec", file)
    assert done.returncode != 0 and "found" in done.stdout


def test_the_library_stands_alone_and_its_imports_have_no_circle() -> None:
    """Neither the page nor a package is imported, but React by its hooks: it is the npm package."""
    library = sorted(LIBRARY.rglob("*.js"))
    graph = {}
    for file in library:
        names = re.findall(r'^(?:import|export) .*?from "(.*?)";', file.read_text("utf8"), MS)
        ours = [name for name in names if name.startswith(("./", "../"))]
        assert set(names) - set(ours) == ({"react"} if file.name == "react.js" else set())
        graph[file] = {(file.parent / name).resolve() for name in ours}
    order = [*TopologicalSorter(graph).static_order()]  # raises CycleError
    assert sorted(order) == library


def test_types_are_right_and_a_wrong_one_is_noticed(tmp_path: Path) -> None:
    modules = installed(TOOLS, "npm") / "node_modules"
    files = sorted((*LIBRARY.rglob("*.js"), *PAGE.glob("*.js"), *(PAGE / "tools").glob("*.js")))
    assert files
    wrong = tmp_path / "wrong.js"
    use = "new Rebuilder({dialect: 'xml'}).add(); /** @type {number} */ const n = 'x'; n;"
    module = os.path.relpath(LIBRARY / "build" / "rebuilder.js", tmp_path)
    wrong.write_text(f"import {{ Rebuilder }} from {module!r}; {use}")
    # The library has no packages; the one that its hooks import is among the tools.
    options = {
        **CHECKS,
        "paths": {"react": [os.fspath(modules / "@types" / "react" / "index.d.ts")]},
    }
    config = {"compilerOptions": options, "files": [*map(os.fspath, (*files, wrong))]}
    (tmp_path / "tsconfig.json").write_text(json.dumps(config))
    compiler = modules / "typescript" / "bin" / "tsc"
    done = run(need_command("node"), compiler, "--project", tmp_path)
    found = [line for line in done.stdout.splitlines() if "error TS" in line]
    assert all("wrong.js" in line for line in found), done.stdout
    for code in ("TS2322", "TS2554"):
        assert code in done.stdout, done.stdout
