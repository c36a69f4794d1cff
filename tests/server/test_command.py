"""`jsonrill serve`: its help, its settings, its start and end as a process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from dataclasses import fields

import httpx2

from jsonrill.server import Config
from support.processes import SOURCE

COMMAND = [sys.executable, "-m", "jsonrill", "serve"]
ENVIRON = {**os.environ, "PYTHONPATH": str(SOURCE)}


def test_help_explains_every_setting() -> None:
    done = subprocess.run(
        [*COMMAND, "--help"], env=ENVIRON, capture_output=True, text=True, timeout=30
    )
    assert done.returncode == 0 and done.stderr == ""
    for setting in fields(Config):
        assert f"--{setting.name.replace('_', '-')}" in done.stdout
    assert "Example: jsonrill serve" in done.stdout


def test_it_starts_answers_and_ends_quietly() -> None:
    environ = {**ENVIRON, "JSONRILL_PORT": "0", "JSONRILL_HEARTBEAT": "3"}
    with subprocess.Popen(
        COMMAND, env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        url = process.stdout.readline().split()[-1]
        assert httpx2.get(f"{url}/healthz", trust_env=False).json() == {"status": "ok"}
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=20)
    assert process.returncode in (0, -signal.SIGINT, 130)
    assert "Traceback" not in said
