"""What a batch costs: little more than a loop, and no more memory for more input."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import jsonrill
from jsonrill_batch import Job, process_shard
from support import hard
from support.costs import below, seconds

from . import logs


def test_the_work_is_little_more_than_a_loop(tmp_path: Path) -> None:
    lines = logs.sample(tmp_path / "a.jsonl", 300).read_bytes().splitlines(keepends=True)

    def loop() -> None:
        """What one writes for a log that is all good."""
        for line in lines:
            record = json.loads(line)
            document = jsonrill.Document()
            error = None
            try:
                for chunk in record["chunks"]:
                    document.feed(chunk)
                document.flush()
            except jsonrill.JsonrillError as raised:
                error = str(raised)
            json.dumps({"id": record["id"], "value": document.live, "error": error})

    below(2, lambda: seconds(lambda: process_shard(lines, Job(kind="values"))) / seconds(loop))


# What a process counts of itself includes the one that started it; VmHWM does not.
MEASURE = """
import re, resource, sys
from jsonrill_batch import Job, run
run(Job(kind="values"), sys.argv[1:2], sys.argv[2], workers=1)
print(re.search("VmHWM:\\s+([0-9]+)", open("/proc/self/status").read()).group(1))
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


@hard
def test_memory_does_not_grow_with_the_input(tmp_path: Path) -> None:
    line = json.dumps({"id": 1, "chunks": ['{"a": "', "x" * 60_000, '"}']}).encode() + b"\n"
    most = []
    for count in (20, 1000):
        path = tmp_path / f"{count}.jsonl"
        path.write_bytes(line * count)
        ran = subprocess.run(
            [sys.executable, "-c", MEASURE, path, tmp_path / f"out{count}"],
            capture_output=True,
            text=True,
            env=logs.ENV,
            check=True,
        )
        most.append([int(size) for size in ran.stdout.split()])
    # In kB: sixty megabytes more were read, by one worker, in one run.
    assert all(large < small + 15_000 for small, large in zip(*most, strict=True)), most
