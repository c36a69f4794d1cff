"""The tool that compares readers: every form of recordings, and those of the repository."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from support import ROOT

sys.path.insert(0, str(ROOT / "tools"))
from recorded_streams import main, recordings

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
