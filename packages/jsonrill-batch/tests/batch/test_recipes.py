"""The recipes of docs/batch.md for other engines, run as they stand there, where those are."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from support import ROOT
from support.markdown import read

from . import logs


def recipe(word: str) -> str:
    blocks = read((ROOT / "docs" / "batch.md").read_text("utf8")).blocks
    (text,) = [block.text for block in blocks if f"import {word}" in block.text]
    return text


@pytest.mark.parametrize(
    "module, word, output, has_rows",
    [
        ("ray", "ray", "400 {'TRUNCATED': ", "a.jsonl"),
        ("pyspark", "SparkSession", "38", "part-00000"),
    ],
)
def test_a_recipe_runs(tmp_path: Path, module: str, word: str, output: str, has_rows: str) -> None:
    assert "process_shard" in recipe(word)
    if find_spec(module) is None:
        pytest.skip(f"needs {module}, which is only for those who have it")
    (tmp_path / "logs").mkdir()
    logs.sample(tmp_path / "logs" / "a.jsonl", 200)
    logs.sample(tmp_path / "logs" / "b.jsonl", 200, seed=1)
    ran = subprocess.run(
        [sys.executable, "-c", recipe(word)],
        cwd=tmp_path,
        env={**logs.ENV, "RAY_AUTH_MODE": "disabled", "PYSPARK_PYTHON": sys.executable},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.strip().startswith(output), ran.stdout
    assert has_rows in os.listdir(tmp_path / "checked")
