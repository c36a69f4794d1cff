"""`python -m bench [SECONDS]`: measure, then write docs/benchmarks.md and its chart.

Pure and compiled jsonrill are measured in two processes, each together with the rivals, so that
every ratio is between figures of one process.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from .page import CHART, PAGE, ROOT, Results, chart, goals, page
from .texts import SIZES, TEXTS, beginning, pieces
from .weight import PYTHON, weight

NODE = ROOT / "bench" / "node"
BUILDS = {
    "compiled": ROOT / ".venv" / "compiled",
    "pure": ROOT / "packages" / "jsonrill" / "src",
}


def measure(python: str, module: str, budget: float, *folders: Path) -> dict[str, Any]:
    """Run a module that writes its results to the file that is its first argument."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "results.json"
        path = os.pathsep.join(map(str, (*folders, ROOT)))
        environment = {**os.environ, "PYTHONHASHSEED": "0", "PYTHONPATH": path}
        command = [python, "-m", module, str(file), str(budget)]
        subprocess.run(command, env=environment, check=True, cwd=folder)
        results: dict[str, Any] = json.loads(file.read_text("utf8"))
        return results


def measure_javascript(budget: float) -> dict[str, Any]:
    """Return the figures of the npm package and its rivals, nothing if they are not installed."""
    node = shutil.which("node")
    if node is None or not (NODE / "node_modules").exists():
        return {}
    texts = {size: pieces(text) for size, text in TEXTS.items()}
    growth = {size: beginning(length, 16_000) for size, length in SIZES.items()}
    data = json.dumps({"texts": texts, "growth": growth})
    command = [node, str(NODE / "stream.mjs"), str(budget)]
    done = subprocess.run(command, input=data, stdout=subprocess.PIPE, text=True, check=True)
    results: dict[str, Any] = json.loads(done.stdout)
    return results


def main() -> None:
    budget = float(sys.argv[1]) if len(sys.argv) > 1 else 0.5
    results: Results = {}
    for name, build in BUILDS.items():
        print(name, flush=True)
        results[name] = measure(sys.executable, "bench.worker", budget, build)
        assert results[name]["compiled"] == (name == "compiled"), build
    print("javascript", flush=True)
    results["javascript"] = measure_javascript(budget)
    # Batch and server need the environment of the tests.
    results["system"] = measure(PYTHON, "bench.system", budget)
    print("weight", flush=True)
    results["weight"] = weight()
    PAGE.write_text(page(results), "utf8")
    CHART.write_text(chart(results), "utf8")
    print(goals(results))


if __name__ == "__main__":
    main()
