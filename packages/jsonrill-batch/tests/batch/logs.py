"""Logs to work on, runs as processes of their own, and what they leave."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from support import ROOT, SLACK
from support.commands import BASE, ENV, call

sys.path.insert(0, str(ROOT / "tools"))

from sample_streams import lines

COMMAND = [*BASE, "batch"]


def sample(path: Path, count: int, seed: int = 0) -> Path:
    """A log of so many streams."""
    with open(path, "w", encoding="utf8") as file:
        file.writelines(lines(count, seed))
    return path


def log(path: Path, *records: Any) -> Path:
    """A log of these, one a line; text and bytes as they are."""
    with open(path, "wb") as file:
        for record in records:
            raw = record if isinstance(record, bytes) else str(record).encode()
            line = raw if isinstance(record, (str, bytes)) else json.dumps(record).encode()
            file.write(line + b"\n")
    return path


def results(out: Path) -> dict[str, bytes]:
    """What must be the same however a run went: rows and quarantine."""
    names = [*out.glob("rows/part-*"), *out.glob("quarantine.jsonl")]
    return {file.name: file.read_bytes() for file in names}


def rows(out: Path) -> list[Any]:
    parts = sorted(out.glob("rows/part-*.jsonl"))
    return [json.loads(line) for part in parts for line in part.read_bytes().splitlines()]


def quarantine(out: Path) -> list[Any]:
    file = out / "quarantine.jsonl"
    return [json.loads(line) for line in file.read_bytes().splitlines()] if file.exists() else []


def batch(*args: object) -> subprocess.CompletedProcess[str]:
    """The command, to its end; with workers it is a process of its own."""
    words = [*map(str, args)]
    if "--workers" in words and "0" not in words:
        return subprocess.run(
            [*COMMAND, *words], capture_output=True, text=True, env=ENV, timeout=120
        )
    ran = call("batch", *words)
    return subprocess.CompletedProcess(
        words, ran.returncode, ran.stdout.decode(), ran.stderr.decode()
    )


def start(*args: object) -> subprocess.Popen[str]:
    """The command, going on."""
    return subprocess.Popen(
        [*COMMAND, *map(str, args)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=ENV,
    )


def done(out: Path) -> int:
    """How many shards are."""
    return len(list((out / "done").glob("*.json")))


def wait_for(true: Callable[[], Any], seconds: float = 60) -> Any:
    """What it gives when it gives something."""
    end = time.monotonic() + seconds * SLACK
    while time.monotonic() < end:
        if value := true():
            return value
        time.sleep(0.01)
    raise AssertionError("it took too long")


def children(parent: int) -> list[int]:
    """The processes that this one started."""
    try:
        tasks = Path(f"/proc/{parent}/task").iterdir()
        return [int(pid) for task in tasks for pid in (task / "children").read_text().split()]
    except OSError:
        return []


def descendants(parent: int) -> Iterator[int]:
    for child in children(parent):
        yield child
        yield from descendants(child)


def name_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")
    except OSError:
        return ""


def is_alive(pid: int) -> bool:
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False


def kill(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)
