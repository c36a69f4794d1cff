"""The recipes of docs/batch.md for other tools run as they are there, where the tools are."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from jsonrill_batch import Job
from jsonrill_batch.output import Output, partitions
from support import ROOT, hard
from support.markdown import read

from . import logs

BLOCKS = read((ROOT / "docs" / "batch.md").read_text("utf8")).blocks
COUNTS = "[('complete', 192), ('cut', 6), ('invalid', 2)]"


def run(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    env = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "PYSPARK_PYTHON": sys.executable}
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True)


@pytest.mark.parametrize(
    "module, output",
    [("ray", COUNTS), ("pyspark", COUNTS), ("duckdb", "('TRUNCATED', "), ("polars", COUNTS)],
)
def test_a_recipe_runs(tmp_path: Path, module: str, output: str) -> None:
    [script] = [it.text for it in BLOCKS if re.search(rf"(import|from) {module}\b", it.text)]
    if find_spec(module) is None:
        pytest.skip(f"needs {module}")
    (tmp_path / "logs").mkdir()
    log = logs.write_log(tmp_path / "logs" / "a.jsonl", 200)
    folder = Output(tmp_path / "checked", Job("check"), "jsonl")
    folder.prepare()
    folder.write(partitions([log])[0])
    done = run(tmp_path, sys.executable, "-c", script)
    assert done.returncode == 0, done.stderr
    assert output in done.stdout


@hard
def test_the_first_commands_run(tmp_path: Path) -> None:
    commands = next(it.text for it in BLOCKS if it.language == "console").splitlines()
    script = "\n".join(it.removeprefix("$ ") for it in commands if not it.startswith("$ pip"))
    python = shlex.quote(sys.executable)
    script = script.replace("python tools", f"{python} {ROOT}/tools").replace("1000", "50")
    done = run(tmp_path, "bash", "-c", script.replace("\njsonrill ", f"\n{python} -m jsonrill "))
    rows = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    assert rows and "complete" not in {row["status"] for row in rows}, done.stderr
