"""OpenAI's and Anthropic's clients of npm, unmodified, against a relay that may be killed."""

from __future__ import annotations

import json
import signal
import subprocess
from pathlib import Path

import pytest

from support import SLACK, few, hard, need_command
from support.processes import Server
from support.upstream import MODELS, NUMBERS, an_upstream

# The clients for Python read the same in `make test`.
pytestmark = hard


def test_responses_messages_models_and_repeated_requests(npm: Path, tmp_path: Path) -> None:
    with an_upstream() as upstream, Server(tmp_path, upstream=f"{upstream.url}/v1") as server:
        command = [need_command("node"), "relay.mjs", server.url]
        done = subprocess.run(command, cwd=npm, capture_output=True, text=True, timeout=60 * SLACK)
        assert done.returncode == 0, done.stderr
        seen = json.loads(done.stdout)
        chats = [it for it in upstream.exchanges if it.target == "/v1/chat/completions"]
    for name in ("streamed", "whole", "retrieved", "message", "final"):
        assert seen[name] == "Hello wörld", name
    assert seen["numbers"] == [*range(len(seen["numbers"]))]
    assert seen["resumed"] == seen["numbers"][1:]
    assert seen["cancelled"] == "cancelled"
    assert seen["failures"]["responses"]["code"] == "UPSTREAM_LOST"
    assert seen["failures"]["messages"]["code"] == "UPSTREAM_LOST"
    assert seen["failures"]["limited"]["status"] == 429
    assert seen["failures"]["unknown"] == {"code": "not_found", "status": 404}
    assert seen["models"] == seen["others"] == [*MODELS]
    assert seen["repeated"] == ["Hello wörld"] * 2 and len(chats) == 1


@few(1)
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_openai_resumes_a_background_response_after_a_restart(
    npm: Path, tmp_path: Path, how: int
) -> None:
    settings = {"store": f"sqlite:///{tmp_path}/relay.db", "relay_lease": 1, "grace": 1}
    with an_upstream() as upstream:
        with Server(tmp_path, upstream=f"{upstream.url}/v1", **settings) as server:
            command = [need_command("node"), "resume.mjs", server.url]
            pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
            with subprocess.Popen(command, cwd=npm, text=True, **pipes) as process:  # type: ignore[call-overload]
                assert process.stdout.readline() == "reading\n"
                server.end(how)
                server.start()
                out, _ = process.communicate("restarted\n", timeout=60 * SLACK)
        posts = [it for it in upstream.exchanges if it.method == "POST"]
    events = json.loads(out)
    assert [it["sequence_number"] for it in events] == [*range(len(events))]
    text = [it["delta"] for it in events if it["type"] == "response.output_text.delta"]
    assert text == NUMBERS and events[-1]["type"] == "response.completed"
    assert len(posts) == 1
