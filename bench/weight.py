"""What jsonrill weighs: its wheels, compiling, importing, and the demo in a fresh clone."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import tempfile
from pathlib import Path
from time import perf_counter
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
LIBRARY: Final = ROOT / "packages" / "jsonrill"
PYTHON: Final = str(ROOT / ".venv" / "bin" / "python")
IMPORT: Final = """
import time
began = time.process_time()
import jsonrill
assert jsonrill.loads("[1]") == [1]
print((time.process_time() - began) * 1000)
"""


def weight() -> dict[str, float]:
    """Return the figures, in the units of their names."""
    figures = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, is_pure in (("pure", "1"), ("compiled", "0")):
            before = seconds_of_children()
            size = wheel_size(Path(folder, name), is_pure)
            figures[f"{name} wheel, KB"] = size / 1000
            if name == "compiled":
                figures["compiling, s of CPU"] = seconds_of_children() - before
        figures["import and first use, ms"] = import_milliseconds()
        figures["make demo in a fresh clone, s"] = demo_seconds(Path(folder, "clone"))
    return figures


def seconds_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def wheel_size(folder: Path, is_pure: str) -> int:
    """Build a wheel of a copy, because a build folder of the library would be used again."""
    copy = folder / "library"
    ignored = shutil.ignore_patterns("*.c", "*.so", "__pycache__", "*.egg-info", "tests")
    shutil.copytree(LIBRARY, copy, ignore=ignored)
    shutil.rmtree(copy / "build", ignore_errors=True)
    options = "-q --disable-pip-version-check wheel --no-deps --no-build-isolation -w"
    command = [PYTHON, "-m", "pip", *options.split(), str(folder), str(copy)]
    subprocess.run(command, env={**os.environ, "JSONRILL_PURE": is_pure}, check=True)
    (wheel,) = folder.glob("*.whl")
    return wheel.stat().st_size


def import_milliseconds() -> float:
    environment = {**os.environ, "PYTHONPATH": str(LIBRARY / "src")}
    command = [PYTHON, "-c", IMPORT]
    return min(float(subprocess.check_output(command, env=environment)) for _ in range(7))


def demo_seconds(clone: Path) -> float:
    subprocess.run(["git", "clone", "-q", ROOT, clone], check=True)
    start = perf_counter()
    subprocess.run(["make", "demo"], cwd=clone, check=True, stdout=subprocess.DEVNULL)
    return perf_counter() - start
