"""`serve --demo` with the clients of OpenAI and Anthropic from npm, unmodified."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from support import hard, need_command
from support.processes import Server

# The clients for Python read the same in `make test`.
pytestmark = hard


def test_clients_from_npm_read_the_simulated_models(npm: Path, tmp_path: Path) -> None:
    with Server(tmp_path, demo=True) as server:
        command = [need_command("node"), "demo.mjs", server.url]
        done = subprocess.run(command, cwd=npm, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    calls = ['{"city":"Lima"}', '{"city":"Oslo"}']
    assert seen == {
        "models": ["simulated"] * 2,
        "chat": calls[0],
        "calls": calls,
        "response": calls[0],
        "items": calls,
        "blocks": [{"city": "Lima"}, {"city": "Oslo"}],
        "message": seen["message"],
        "errors": [[400, "BadRequestError"], [400, "BadRequestError"]],
    }
    assert seen["message"].startswith("You said: hello.")
