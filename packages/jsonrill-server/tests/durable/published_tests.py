"""The published tests of Durable Streams servers, run against a server of ours."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

from support import SLACK, need_command
from support.processes import Server

LONG_POLL = 1.5


def outcomes(npm: Path, folder: Path, **settings: Any) -> dict[str, list[str]]:
    """Run the suite, but for forks, and return the names of its tests by outcome."""
    # Between two requests of a busy client there may be more than the usual seconds.
    settings = {"owner_streams": 100_000, "long_poll": LONG_POLL, "keep_alive": 60, **settings}
    result = folder / "result.json"
    with Server(folder, origins="https://example.com", **settings) as server:
        done = subprocess.run(
            [
                *(need_command("node"), "node_modules/vitest/vitest.mjs", "run", "--dir", "."),
                *("--testNamePattern", "^(?!Fork - )", "suite.test.mjs"),
                *("--reporter", "json", "--outputFile", str(result)),
                *("--testTimeout", str(int(20_000 * SLACK)), "--no-file-parallelism"),
            ],
            cwd=npm,
            capture_output=True,
            text=True,
            timeout=300 * SLACK,
            env={
                **os.environ,
                "DURABLE_URL": f"{server.url}/v1/durable",
                "LONG_POLL_MS": str(int(LONG_POLL * 1000)),
            },
        )
    assert result.exists(), done.stdout + done.stderr
    by_outcome: dict[str, list[str]] = {}
    for file in json.loads(result.read_text("utf8"))["testResults"]:
        for test in file["assertionResults"]:
            message = "".join(test.get("failureMessages") or [])[:500]
            name = test["fullName"] + (f": {message}" if message else "")
            by_outcome.setdefault(test["status"], []).append(name)
    return by_outcome


def check(by_outcome: dict[str, list[str]]) -> None:
    """All 250 tests pass that are not about forks or subscriptions, an extension of its own."""
    assert not by_outcome.get("failed"), "\n".join(by_outcome["failed"])
    assert len(by_outcome["passed"]) == 250
    left_out = [name for name in by_outcome["skipped"] if not name.startswith("Fork - ")]
    assert all(name.startswith("Reserved subscription APIs") for name in left_out)
