"""How long `import jsonrill` takes, and what a compiled wheel weighs that is made anew."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
from pathlib import Path

from support import ROOT
from support.costs import COMPILE_SECONDS, COMPILED_MB, IMPORT_MS

LIBRARY = ROOT / "packages" / "jsonrill"


def seconds_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


IMPORT = """
import time
began = time.process_time()
import jsonrill
print((time.process_time() - began) * 1000)
"""


def test_import_is_quick() -> None:
    """The least of several processes, in processor time: other programs do not count."""
    command = [sys.executable, "-c", IMPORT]
    best = min(float(subprocess.check_output(command)) for _ in range(5))
    print(f"import jsonrill: {best:.1f} ms")
    assert best <= IMPORT_MS


def test_the_compiled_wheel(tmp_path: Path) -> None:
    # Without the folder of earlier builds; `src/jsonrill/build` has the same name.
    not_copied = shutil.ignore_patterns("*.c", "*.so", "__pycache__", "*.egg-info")
    copy = tmp_path / "library"
    shutil.copytree(LIBRARY / "src", copy / "src", ignore=not_copied)
    for name in ("setup.py", "jsonrill_build.py", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(LIBRARY / name, copy)
    words = "-m pip -q --disable-pip-version-check wheel --no-deps --no-build-isolation -w".split()
    before = seconds_of_children()
    subprocess.run(
        [sys.executable, *words, tmp_path / "made", copy],
        env={**os.environ, "JSONRILL_PURE": "0"},
        check=True,
    )
    seconds = seconds_of_children() - before
    (wheel,) = (tmp_path / "made").glob("*.whl")
    size = wheel.stat().st_size / 1e6
    print(f"{wheel.name}: {size:.2f} MB, compiled in {seconds:.0f} s of processor time")
    assert "none-any" not in wheel.name, "it is not compiled"
    assert size <= COMPILED_MB
    assert seconds <= COMPILE_SECONDS
