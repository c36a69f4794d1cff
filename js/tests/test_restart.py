"""A reader in JavaScript while its server is killed and started again: nothing is missing."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import httpx2
import pytest

from support import ROOT, by, hard, need_command, producer_headers
from support.processes import Server

DOCUMENT = {
    "title": "Überall 😀",
    "id": 9007199254740991,
    "__proto__": {"x": [1, 2.5, None, True]},
    "items": [{"n": n, "text": "ein langer Text " * 3} for n in range(20)],
}
TEXT = json.dumps(DOCUMENT, ensure_ascii=False)
PIECES = by(16, TEXT)


def publish(server: Server, url: str, numbers: range) -> None:
    for number in numbers:
        headers = {"content-type": "text/plain", **producer_headers(number)}
        answer = httpx2.post(
            f"{server.url}{url}/events", content=PIECES[number], headers=headers, trust_env=False
        )
        assert answer.status_code == 200, answer.text


@hard
@pytest.mark.parametrize(
    "query", ["format=fragments", "format=updates&send=delta", "format=deltas"]
)
def test_nothing_twice_and_nothing_missing(tmp_path: Path, query: str) -> None:
    node = need_command("node")
    with Server(tmp_path, store=f"sqlite:///{tmp_path}/log.db", retry=50) as server:
        stream = httpx2.post(f"{server.url}/v1/streams", json={}, trust_env=False).json()
        url = f"/v1/streams/{stream['id']}"
        script = ROOT / "js" / "tests" / "reader.js"
        address = f"{server.url}{url}/events?{query}"
        with subprocess.Popen(
            [node, script, address], stdout=subprocess.PIPE, text=True, encoding="utf8"
        ) as reader:
            assert reader.stdout is not None
            first, second = len(PIECES) // 3, 2 * len(PIECES) // 3
            publish(server, url, range(first))
            line = "begun\n"
            assert reader.stdout.readline() == line
            for numbers in (range(first, second), range(second, len(PIECES))):
                server.kill()
                server.start()
                publish(server, url, numbers)
            httpx2.post(f"{server.url}{url}/close", trust_env=False)
            seen = json.loads(reader.stdout.read().removeprefix(line))
        assert reader.returncode == 0
    assert json.loads(seen["value"]) == DOCUMENT
    assert seen["complete"] is True
    assert len(set(seen["ids"])) == len(seen["ids"])
    assert seen["connections"] >= 2
