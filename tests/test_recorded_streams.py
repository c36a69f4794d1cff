"""The tool that compares readers: every form of recordings, and those of the repository."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from urllib.request import Request, urlopen

import pytest

from jsonrill.testing import Call, FakeAnswer, Upstream
from support import ROOT

sys.path.insert(0, str(ROOT / "tools"))
from official_clients import CLIENTS, agrees
from recorded_streams import events_in, main, read, recordings

EVENTS = [
    {"id": "c1", "choices": [{"index": 0, "delta": {"content": "Hi"}}]},
    {"id": "c1", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
]
SSE = "".join(f"data: {json.dumps(event)}\n\n" for event in EVENTS) + "data: [DONE]\n\n"
LINES = "".join(json.dumps(event) + "\n" for event in EVENTS)
HAR = {"log": {"entries": [{"response": {"content": {"text": SSE}}}]}}
CASSETTE = {"interactions": [{"response": {"body": {"string": SSE}}}]}
FORMS = {
    "a.sse": SSE,
    "a.chunks.txt": LINES,
    "a.jsonl": LINES,
    "many.jsonl": json.dumps({"id": "x", "events": EVENTS}),
    "a.har": json.dumps(HAR),
    "a.yaml": json.dumps(CASSETTE),  # JSON is YAML
    "a.json": json.dumps({"events": EVENTS}),
}


@pytest.mark.parametrize("name", FORMS)
def test_every_form_of_recordings_is_read(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(FORMS[name], "utf8")
    assert [events for _, events in recordings(tmp_path)] == [EVENTS]


def test_the_recordings_of_the_repository_are_read_alike(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(ROOT / "cases" / "providers") == 0, capsys.readouterr().out


# Where each official client asks.
PATHS = {
    "openai_chat": "/v1/chat/completions",
    "openai_responses": "/v1/responses",
    "anthropic": "/v1/messages",
    "gemini": "/v1beta/models/any:streamGenerateContent?alt=sse",
}


@pytest.mark.parametrize("provider", CLIENTS)
def test_the_official_client_agrees(provider: str) -> None:
    answer = FakeAnswer("Rain.", calls=[Call("weather", {"city": "Oslo"}), Call("now", {})], pace=0)
    ask = {"model": "any", "stream": True, "messages": [], "input": "any", "contents": []}
    with Upstream(answer) as upstream:
        request = Request(upstream.url + PATHS[provider], json.dumps(ask).encode())
        with urlopen(request) as response:
            events = events_in(response.read().decode())
    theirs, ours = CLIENTS[provider](events), read(events)
    assert len(theirs["calls"]) == 2
    assert agrees(theirs, ours)
    assert not agrees(theirs, {**ours, "text": "x"})
    assert not agrees(theirs, {**ours, "calls": ours["calls"][::-1]})
