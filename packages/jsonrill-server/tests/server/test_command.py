"""`jsonrill serve`: its help, its settings, its start and end as a process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import httpx2
import pytest

from jsonrill_server import Config
from jsonrill_server.run import listening_socket
from support import PYTHONPATH, SLACK, few
from support.processes import SERVE, Server

COMMAND = [sys.executable, "-m", "jsonrill", "serve"]
ALONE = [sys.executable, *SERVE, "serve"]
ENVIRON = {**os.environ, "PYTHONPATH": PYTHONPATH}


def test_help_explains_every_setting() -> None:
    done = subprocess.run(
        [*COMMAND, "--help"], env=ENVIRON, capture_output=True, text=True, timeout=60
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
        _, errors = process.communicate(timeout=60)
    assert process.returncode in (0, -signal.SIGINT, 130)
    assert "Traceback" not in errors


def served(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*ALONE, "--port", "0", *arguments],
        env=ENVIRON,
        capture_output=True,
        text=True,
        timeout=20 * SLACK,
    )


@few(1)
@pytest.mark.parametrize(
    "store, message, workers",
    [
        ("sqlite:////no/such/folder/x.db", "No such file or directory", "2"),
        ("sqlite:////proc/x.db", "x.db", "1"),
        ("redis://user:secret@127.0.0.1:1/0", "127.0.0.1:1", "1"),
        ("postgresql://user:secret@127.0.0.1:1/x", "127.0.0.1:1", "1"),
    ],
)
def test_a_store_that_cannot_be_opened_is_one_line(store: str, message: str, workers: str) -> None:
    done = served("--store", store, "--workers", workers)
    assert (done.returncode, done.stdout) == (1, "")
    [line] = done.stderr.splitlines()
    assert "cannot be opened" in line and message in line and "secret" not in line


def test_a_file_that_is_no_database_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "x.db").write_text("no database " * 1000)
    done = served("--store", f"sqlite:///{tmp_path}/x.db")
    assert done.returncode == 1 and "cannot be opened" in done.stderr
    assert "Traceback" not in done.stderr


@few(1)
@pytest.mark.parametrize("store", ["mysql://x", "memory:x", "sqlite:x"])
def test_a_store_that_is_none_says_what_to_write(store: str) -> None:
    done = served("--store", store)
    assert done.returncode == 2 and "memory:" in done.stderr or "sqlite:///file" in done.stderr


@few(1)
@pytest.mark.parametrize("settings", [{}, {"workers": "2"}, {"store": "memory://"}])
def test_a_signal_to_terminate_is_a_good_end(tmp_path: Path, settings: dict[str, str]) -> None:
    stores = {"store": f"sqlite:///{tmp_path}/x.db"}
    with Server(tmp_path, **{**stores, **settings}) as server:
        with httpx2.stream("GET", f"{server.url}/livez", trust_env=False) as answer:
            assert answer.status_code == 200
        assert server.end(signal.SIGTERM) == 0
        assert "Traceback" not in server.log()


def test_a_busy_port_is_named() -> None:
    with listening_socket(Config(port=0)) as first:
        port = first.getsockname()[1]
        with pytest.raises(OSError, match=f"port {port} of .* is in use: .*--port"):
            listening_socket(Config(port=port))
