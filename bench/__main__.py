"""`python -m bench [SECONDS]`: measure, then write docs/benchmarks.md.

Pure and compiled jsonrill are measured in two processes, each together with the rivals, so that
every ratio is between figures of one process.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from .texts import PIECE, TEXTS, pieces

ROOT: Final = Path(__file__).resolve().parent.parent
NODE: Final = ROOT / "bench" / "node"
BUILDS: Final = {
    "compiled": ROOT / ".venv" / "compiled",
    "pure Python": ROOT / "packages" / "jsonrill" / "src",
}
PACKAGES: Final = (
    *("ijson", "jiter", "json-repair", "jsonriver", "partial-json-parser", "pydantic-core"),
    *("streaming-json-parser", "streaming-json-parser-native"),
)
# Table, our row, the other row, column, the highest ratio that is acceptable, by build.
GOALS: Final = (
    ("values", "`Document.live`", "streaming-json-parser (Rust)", "20 KB", 0.6, None),
    ("values", "`Document.live`", "jiter", "2 KB", 1 / 2, 1 / 2),
    ("values", "`Document.live`", "jiter", "20 KB", 1 / 20, 1 / 20),
    ("values", "`Document.live`", "jiter", "100 KB", 1 / 100, 1 / 100),
    ("stages", "`values(pieces, repair=True)`", "`values(pieces)`", "20 KB", 1.5, 1.5),
    ("whole", "`loads`", "`json.loads`", "1 MB", 1.5, 1.5),
    ("whole", "`select` of a file", "ijson (C), items of a file", "1 MB", 1.5, None),
    ("snapshots", "`Chunker.feed`", "`json.loads`", "2 KB", 1.2, None),
    ("snapshots", "`Chunker.feed`", "`json.loads`", "20 KB", 1.2, None),
)


def measure(build: Path, budget: float) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "results.json"
        path = os.pathsep.join((str(build), str(ROOT)))
        variables = {**os.environ, "PYTHONPATH": path, "PYTHONHASHSEED": "0"}
        command = [sys.executable, "-m", "bench.worker", str(file), str(budget)]
        subprocess.run(command, env=variables, check=True, cwd=folder)
        results: dict[str, Any] = json.loads(file.read_text("utf8"))
        return results


def measure_javascript(budget: float) -> dict[str, Any] | None:
    """Return the figures of the npm package and its rivals, None where they are not installed."""
    node = shutil.which("node")
    if node is None or not (NODE / "node_modules").exists():
        return None
    texts = json.dumps({size: pieces(text) for size, text in TEXTS.items()})
    command = [node, str(NODE / "stream.mjs"), str(budget)]
    done = subprocess.run(command, input=texts, stdout=subprocess.PIPE, text=True, check=True)
    results: dict[str, Any] = json.loads(done.stdout)
    return results


def number(value: float | None) -> str:
    if value is None:
        return "stopped"
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [header, ["---", *["---:"] * (len(header) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def goals(results: dict[str, Any]) -> str:
    rows = []
    for name, ours, other, column, *limits in GOALS:
        for (build, figures), limit in zip(results.items(), limits, strict=True):
            pair = [figures[name].get(row, {}).get(column) for row in (ours, other)]
            if limit is None or None in pair:
                continue
            ratio = pair[0] / pair[1]
            verdict = "" if ratio <= limit else "**missed**"
            work = f"{ours}, {column}, {build}"
            rows.append((work, other, f"{ratio:.3g}×", f"≤ {limit:.3g}×", verdict))
    return table(("work", "compared with", "ratio", "goal", ""), rows)


def figures(results: dict[str, Any], name: str) -> str:
    """Return a table: our rows once for each build, the other rows of the compiled process."""
    compiled = results["compiled"][name]
    columns = list(next(iter(compiled.values())))
    rows = []
    for row, cells in compiled.items():
        builds = (
            results if "`" in row and "json.loads" not in row else {"compiled": results["compiled"]}
        )
        for build, measured in builds.items():
            label = f"{row}, {build}" if len(builds) > 1 else row
            cells = measured[name][row]
            rows.append([label, *(number(cells.get(column)) for column in columns)])
    return table(["", *columns], rows)


def page(results: dict[str, Any], javascript: dict[str, Any] | None) -> str:
    machine = (
        f"{os.cpu_count()} cores, {platform.system()}, {platform.machine()},"
        f" {platform.python_implementation()} {platform.python_version()}"
    )
    parts = [
        f"""# Benchmarks

`make bench` installs the rivals, measures and writes this page. The figures are processor time, the
best sample of candidates that take turns in one process; read the ratios. A text comes in pieces of
{PIECE} characters; what needs more than 4 s for one text is stopped. {machine}.""",
        "## Goals",
        goals(results),
        "## A value after each piece",
        "Microseconds per piece, by size of the document.",
        figures(results, "values"),
        "## The stages",
        "Microseconds per piece.",
        figures(results, "stages"),
        "## A complete text",
        "Milliseconds.",
        figures(results, "whole"),
        "## Snapshots to text",
        "Microseconds per snapshot.",
        figures(results, "snapshots"),
    ]
    if javascript is not None:
        rows = [
            [name, *(number(cells.get(size)) for size in TEXTS)]
            for name, cells in javascript["rows"].items()
        ]
        parts += ["## JavaScript", "Microseconds per piece, in node.", table(["", *TEXTS], rows)]
    versions = {name: version(name) for name in PACKAGES} | (javascript or {}).get("versions", {})
    parts += ["## Versions", ", ".join(f"{name} {number}" for name, number in versions.items())]
    return "\n\n".join(parts) + "\n"


def main() -> None:
    budget = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
    results = {}
    for name, build in BUILDS.items():
        print(name, flush=True)
        results[name] = measure(build, budget)
        assert results[name]["compiled"] == (name == "compiled"), build
    print("JavaScript", flush=True)
    javascript = measure_javascript(budget)
    (ROOT / "docs" / "benchmarks.md").write_text(page(results, javascript), "utf8")
    print(goals(results))


if __name__ == "__main__":
    main()
