"""The published JavaScript client against the front, while servers are killed and started again."""

from __future__ import annotations

import json
import subprocess
import time
from pathlib import Path
from typing import Any

import httpx2

from support import SLACK, hard, need_command
from support.databases import RedisServer
from support.processes import Server

COUNT = 700


def begin(npm: Path, url: str) -> subprocess.Popen[str]:
    command = [need_command("node"), "client.mjs", url, str(COUNT), "5"]
    return subprocess.Popen(
        command, cwd=npm, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def check(running: subprocess.Popen[str]) -> None:
    out, errors = running.communicate(timeout=120 * SLACK)
    assert running.returncode == 0, errors
    seen: dict[str, Any] = json.loads(out)
    numbers = list(range(COUNT))
    assert seen == {"errors": [], "live": [numbers, numbers], "again": numbers}


def length(url: str) -> int:
    try:
        return int(httpx2.head(url, trust_env=False).headers["stream-next-offset"][:16])
    except (httpx2.HTTPError, KeyError):
        return 0


@hard
def test_a_numbered_producer_and_readers_survive_restarts(npm: Path, tmp_path: Path) -> None:
    """Each message is read once and in order, although the server was killed three times."""
    store = f"sqlite:///{tmp_path}/log.db"
    with Server(tmp_path, store=store) as server:
        url = f"{server.url}/v1/durable/chat/1"
        running = begin(npm, url)
        for at in (60, 160, 260):
            until = time.monotonic() + 30 * SLACK
            while length(url) < at and running.poll() is None and time.monotonic() < until:
                time.sleep(0.05)
            server.kill()
            server.start()
        check(running)


@hard
def test_replicas_share_producers_and_readers(npm: Path, tmp_path: Path) -> None:
    """Three processes on one port take the requests as they come."""
    with RedisServer(tmp_path) as redis:
        with Server(tmp_path, store=redis.url, workers=3) as server:
            check(begin(npm, f"{server.url}/v1/durable/chat/2"))
