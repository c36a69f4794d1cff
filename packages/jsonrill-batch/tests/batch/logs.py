"""Logs to read, and a line that kills its reader."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import dask
import pytest
from sample_streams import lines

from jsonrill_batch import Job, rows

SCHEMA = {
    "type": "object",
    "required": ["title", "days"],
    "properties": {
        "title": {"type": "string"},
        "days": {"type": "array", "items": {"properties": {"km": {"type": "number"}}}},
    },
}
DEADLY = '{"id": "deadly", "text": "{}"}'
# Loaded by each Python process: decoding the line above kills the process.
SITE = """
import json, os, signal

decode = json.JSONDecoder.decode

def deadly(self, text, *options):
    if '"deadly"' in text:
        os.kill(os.getpid(), signal.SIGKILL)
    return decode(self, text, *options)

json.JSONDecoder.decode = deadly
"""


def write_log(path: Path, count: int, seed: int = 0) -> Path:
    path.write_text("".join(lines(count, seed)), "utf8")
    return path


def expected_rows(files: list[Path], job: Job) -> list[Any]:
    """Return the rows of a plain loop, in the order of the outputs."""
    texts = [line for file in files for line in file.read_text("utf8").splitlines()]
    return [json.loads(json.dumps(row)) for row in rows(texts, job)]


def written_rows(out: Path) -> list[Any]:
    files = sorted(out.glob("*.jsonl"))
    return [json.loads(line) for file in files for line in file.read_text("utf8").splitlines()]


@contextmanager
def deadly_lines(folder: Path, patch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let the deadly line kill child processes, and let Dask give up after two deaths."""
    (folder / "sitecustomize.py").write_text(SITE, "utf8")
    patch.setenv("PYTHONPATH", str(folder), prepend=os.pathsep)
    with dask.config.set({"distributed.scheduler.allowed-failures": 1}):
        yield
