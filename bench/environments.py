"""Where things run: interpreters that `make` sets up, and how a child process is started in one."""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

from .contestants import ROOT
from .sections import Effort
from .shapes import FAMILY, PIECE, SHAPES, text_of

DEV: Final = "dev"  # where jsonrill's own extras are
NODE: Final = ROOT / "bench" / "node"


def interpreter(name: str) -> str | None:
    """The Python of an environment; that of the rivals may be the one that runs now."""
    path = ROOT / ".venv" / ("" if name == DEV else name) / "bin" / "python"
    if path.exists():
        return str(path)
    return sys.executable if name == "rivals" else None


def measured(section: str, environment: str, effort: Effort) -> dict[str, Any] | None:
    """Run a section in its environment; None where that is missing."""
    python = interpreter(environment)
    if python is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "results.json"
        words = ["-m", "bench.worker", section, str(file), str(effort.budget), str(effort.cap)]
        places = os.pathsep.join((str(ROOT), *map(str, ROOT.glob("packages/*/src"))))
        variables = {**os.environ, "PYTHONPATH": places, "PYTHONHASHSEED": "0"}
        subprocess.run([python, *words], env=variables, check=True)
        return _read(file.read_text("utf8"))


def measured_in_node(effort: Effort) -> dict[str, Any] | None:
    """The rivals in JavaScript on the same texts; None where they are not installed."""
    node = shutil.which("node")
    if node is None or not (NODE / "node_modules").exists():
        return None
    texts = {name: {"text": text_of(name), "family": name in FAMILY} for name in SHAPES}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "texts.json"
        file.write_text(json.dumps({"size": PIECE, "texts": texts}), "utf8")
        words = [str(NODE / "stream.mjs"), str(file), str(effort.budget), str(effort.cap)]
        done = subprocess.run([node, *words], stdout=subprocess.PIPE, text=True, check=True)
    return _read(done.stdout)


def _read(text: str) -> dict[str, Any]:
    results: dict[str, Any] = json.loads(text)
    return results


def machine() -> dict[str, Any]:
    """What the figures depend on, without saying whose machine it is."""
    return {
        "cores": os.cpu_count(),
        "system": platform.system(),
        "architecture": platform.machine(),
        "python": f"{platform.python_implementation()} {platform.python_version()}",
    }
