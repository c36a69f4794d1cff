"""Logs to read, clusters to read them on, and what kills their workers."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from typing import Any

import dask
import psutil
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
# Loaded by workers: the line above kills them.
PRELOAD = f"""
import os, signal
from jsonrill_batch import reader, record

def read(line, job):
    if line.strip() == {DEADLY.encode()!r}:
        os.kill(os.getpid(), signal.SIGKILL)
    return record.read_record(line, job)

reader.read_record = read
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
def deadly_lines(folder: Path) -> Iterator[None]:
    """Let the deadly line kill local workers, and let Dask give up after two deaths."""
    preload = folder / "preload.py"
    preload.write_text(PRELOAD, "utf8")
    names = {"worker.preload": [str(preload)], "scheduler.allowed-failures": 1}
    with dask.config.set({f"distributed.{name}": value for name, value in names.items()}):
        yield


@contextmanager
def random_kills(process: int, every: float) -> Iterator[list[int]]:
    """Kill a random worker below a process now and then; return the ids of the dead ones."""
    stopped, killed = Event(), []

    def kill() -> None:
        while not stopped.wait(random.uniform(0, 2 * every)):
            children = psutil.Process(process).children(recursive=True)
            workers = [it for it in children if "spawn_main" in " ".join(_command(it))]
            if workers:
                worker = random.choice(workers)
                worker.send_signal(signal.SIGKILL)
                killed.append(worker.pid)

    thread = Thread(target=kill)
    thread.start()
    try:
        yield killed
    finally:
        stopped.set()
        thread.join()


def _command(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:
        return []


@contextmanager
def loopback_cluster(workers: int) -> Iterator[tuple[str, int]]:
    """Start a scheduler and workers; return its address and the id of the workers' parent."""
    scheduler = _start(
        "scheduler", "--host", "127.0.0.1", "--port", "0", "--dashboard-address", "127.0.0.1:0"
    )
    processes = [scheduler]
    try:
        assert scheduler.stderr is not None
        address = ""
        while not address:
            if found := re.search(r"tcp://127\.0\.0\.1:\d+", scheduler.stderr.readline()):
                address = found[0]
        Thread(target=scheduler.stderr.read, daemon=True).start()
        options = ("--nworkers", str(workers), "--nthreads", "1", "--no-dashboard")
        processes.append(_start("worker", address, *options))
        assert processes[1].stderr is not None
        Thread(target=processes[1].stderr.read, daemon=True).start()
        yield address, processes[1].pid
    finally:
        for process in reversed(processes):
            process.terminate()
            process.communicate()


def _start(*command: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "distributed.cli.dask_" + command[0], *command[1:]],
        env=os.environ,
        stderr=subprocess.PIPE,
        text=True,
    )
