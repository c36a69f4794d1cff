"""Clients of others, unmodified, against a real server: ai, @ag-ui/client, curl."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from jsonrill.eventstream import SSEDecoder
from jsonrill.testing import Call, FakeAnswer
from support import hard, need_command
from support.processes import Server

PLAIN = {"content-type": "text/plain"}
LINES = {"content-type": "application/x-ndjson"}
ARGUMENTS = '{"city": "Zürich", "days": 3, "units": ["c", "f"]}'
ANSWERS = (
    FakeAnswer("Hello wörld", pace=0),
    FakeAnswer(calls=[Call("get_weather", ARGUMENTS, "call_1")], pace=0),
)
TEXT = '{"colors":[{"name":"red","__proto__":1},{"name":"blue"}],"ok":true}'


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("clients")
    with Server(folder, heartbeat=0.2) as it:
        yield it


@pytest.fixture
def http(server: Server) -> Iterator[httpx2.Client]:
    with httpx2.Client(base_url=server.url, trust_env=False, timeout=60) as client:
        yield client


def node(npm: Path, script: str, *arguments: str) -> Any:
    command = [need_command("node"), script, *arguments]
    done = subprocess.run(command, cwd=npm, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def events_of(answer: FakeAnswer) -> list[str]:
    """The data of the events of an answer, without [DONE]."""
    steps = answer.script("/v1/chat/completions", {"stream": True}).steps
    body = b"".join(step for step in steps if isinstance(step, bytes))
    return [event.data for event in SSEDecoder().feed(body)][:-1]


def published(http: httpx2.Client, *, closed: bool = True, **options: Any) -> str:
    stream = http.post("/v1/streams", json=options).json()["id"]
    url = f"/v1/streams/{stream}/events"
    if options.get("input") == "events":
        http.post(
            url,
            content="\n".join([*events_of(ANSWERS[0])[:-1], *events_of(ANSWERS[1])]),
            headers=LINES,
        )
    else:
        for at in range(0, len(TEXT), 8):
            http.post(url, content=TEXT[at : at + 8], headers=PLAIN)
    if closed:
        http.post(f"/v1/streams/{stream}/close")
    return f"{str(http.base_url).rstrip('/')}/v1/streams/{stream}"


def metric(http: httpx2.Client, name: str) -> float:
    lines = http.get("/metrics").text.splitlines()
    return float(next(line.split()[1] for line in lines if line.startswith(f"jsonrill_{name} ")))


def test_ai_sdk_reads_events_of_a_provider(npm: Path, http: httpx2.Client) -> None:
    finished = published(http, input="events")
    seen = node(npm, "ai-sdk.mjs", f"{finished}/ai-sdk", f"{finished}/ai-sdk")
    parts = {part["type"]: part for part in seen["first"]["parts"]}
    assert parts["text"]["text"] == "Hello wörld"
    tool = parts["dynamic-tool"]
    assert tool["input"] == json.loads(ARGUMENTS) and tool["state"] == "input-available"
    assert seen["first"]["errors"] == []
    assert seen["nothing"] is None and seen["resumed"] is None


def test_ai_sdk_reads_entities_and_resumes(npm: Path, http: httpx2.Client) -> None:
    url = published(http, entity="colors", closed=False)
    finished = published(http)

    command = [need_command("node"), "ai-sdk.mjs", f"{url}/ai-sdk", f"{finished}/ai-sdk"]
    with subprocess.Popen(command, cwd=npm, stdout=subprocess.PIPE, text=True) as process:
        until = time.monotonic() + 30
        while metric(http, "readers") < 2 and time.monotonic() < until:
            time.sleep(0.05)
        http.post(f"{url}/close")
        out, _ = process.communicate(timeout=60)
    seen = json.loads(out)
    colors = [
        part["data"]["data"] for part in seen["first"]["parts"] if part["type"] == "data-colors"
    ]
    # An event that holds __proto__ as a key would be refused as a whole by this client.
    assert colors == [{"name": "red"}, {"name": "blue"}]
    assert seen["first"]["errors"] == [] and seen["nothing"] is None
    assert seen["resumed"]["parts"] == seen["first"]["parts"]


def test_ag_ui_reads_calls_state_and_errors(npm: Path, http: httpx2.Client) -> None:
    calls = published(http, input="events")
    state = published(http)
    failed = http.post("/v1/streams", json={}).json()["id"]
    failure = {"status": "error", "code": "DOWN", "message": "no model"}
    http.post(f"/v1/streams/{failed}/close", json=failure)
    urls = [calls, state, calls.replace(calls.rpartition("/")[2], failed)]
    first, second, third = node(npm, "ag-ui.mjs", *(f"{url}/ag-ui" for url in urls))
    message = first["messages"][0]
    assert message["content"] == "Hello wörld" and first["error"] is None
    tool_calls = [call for reply in first["messages"] for call in reply.get("toolCalls", [])]
    assert json.loads(tool_calls[0]["function"]["arguments"]) == json.loads(ARGUMENTS)
    assert second["state"] == json.loads(TEXT) and second["error"] is None
    assert {"RUN_STARTED", "STATE_SNAPSHOT", "RUN_FINISHED"} <= set(second["events"])
    assert "RUN_ERROR" in third["events"]


@hard
@pytest.mark.parametrize("cut", ["max_connection", "sigterm"])
def test_ai_sdk_and_ag_ui_are_told_that_the_connection_ends(
    npm: Path, tmp_path: Path, cut: str
) -> None:
    """The stream is still open: a clean end would look like a complete answer."""
    settings = {"max_connection": 2} if cut == "max_connection" else {"grace": 3}
    with Server(tmp_path, **settings) as server:
        with httpx2.Client(base_url=server.url, trust_env=False, timeout=60) as http:
            url = published(http, input="events", closed=False)
            commands = [
                ["ai-sdk.mjs", f"{url}/ai-sdk"],
                ["ag-ui.mjs", f"{url}/ag-ui"],
            ]
            started = [
                subprocess.Popen(
                    [need_command("node"), *command], cwd=npm, stdout=subprocess.PIPE, text=True
                )
                for command in commands
            ]
            until = time.monotonic() + 30
            while cut == "sigterm" and metric(http, "readers") < 3 and time.monotonic() < until:
                time.sleep(0.05)
        if cut == "sigterm":
            assert server.process is not None
            server.process.send_signal(signal.SIGTERM)
        code = "STOPPED" if cut == "sigterm" else "LIMIT_EXCEEDED"
        ai_sdk, ag_ui = [json.loads(process.communicate(timeout=60)[0]) for process in started]
    assert any(code in error for error in ai_sdk["first"]["errors"]), ai_sdk
    assert "RUN_ERROR" in ag_ui[0]["events"] and "RUN_FINISHED" not in ag_ui[0]["events"]


def curl(*arguments: str) -> str:
    command = [need_command("curl"), "-sS", "-N", "--max-time", "15", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout


def test_curl_publishes_and_resumes(server: Server, tmp_path: Path) -> None:
    file = tmp_path / "in.json"
    file.write_text(TEXT)
    stream = json.loads(curl("-X", "POST", f"{server.url}/v1/streams"))
    base = f"{server.url}/v1/streams/{stream['id']}"
    curl("-T", str(file), "-X", "POST", "-H", "content-type: text/plain", f"{base}/events")
    curl("-X", "POST", f"{base}/close")
    assert '"complete":true' in curl(f"{base}/value")
    whole = curl(f"{base}/events?format=text")
    assert curl("-H", "Last-Event-ID: 1", f"{base}/events?format=text").count("id: ") == (
        whole.count("id: ") - 1
    )
    assert (
        curl("-o", "/dev/null", "-w", "%{http_code}", "-H", "Last-Event-ID: 2", f"{base}/events")
        == "204"
    )
