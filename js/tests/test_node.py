"""The modules for the browser: their tests run in node."""

from __future__ import annotations

import json
import re
import subprocess
from graphlib import TopologicalSorter
from pathlib import Path

from support import ROOT, need_command

HERE = Path(__file__).parent
MS = re.MULTILINE | re.DOTALL
LIBRARY, PAGE = ROOT / "js" / "src", ROOT / "page"
TESTS = sorted((*HERE.glob("*.test.js"), *(PAGE / "tests").glob("*.test.js")))


def run(*command: str | Path, seconds: float = 900) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=seconds, encoding="utf8"
    )


def in_node(*files: Path) -> subprocess.CompletedProcess[str]:
    """Run the tests of these files in one process."""
    program = "".join(f"await import({json.dumps(file.as_uri())});" for file in files)
    return run(need_command("node"), "--test-reporter=spec", "--input-type=module", "-e", program)


def test_the_tests_in_javascript_pass_in_node() -> None:
    done = in_node(*TESTS)
    assert done.returncode == 0, f"\n{done.stdout}{done.stderr}"
    assert "pass 0" not in done.stdout


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
