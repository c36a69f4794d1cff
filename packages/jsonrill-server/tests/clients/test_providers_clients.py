"""The npm package reads the streams of SDKs from npm, unmodified, on loopback."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from jsonrill.testing import Call, FakeAnswer, Upstream
from support import ROOT, few, hard, need_command

# The clients for Python read the same in `make test`.
pytestmark = hard

LIBRARY = ROOT / "js" / "src" / "index.js"
CALLS = [
    Call("weather", {"city": "São Paulo ☂", "days": 3}),
    Call("search", {"q": 'a "b"\n', "tags": ["x", {"y": None}]}),
    Call("ping", {}),
]
ANSWER = FakeAnswer("Let me look: é ☂ 😀.", reasoning="Hm, which?", calls=CALLS, pace=0)


def ran(npm: Path, upstream: Upstream, *words: str) -> Any:
    command = [need_command("node"), "providers.mjs", upstream.url, LIBRARY.as_posix(), *words]
    done = subprocess.run(command, cwd=npm, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    # Reading the convenience properties of an event would make its client complain.
    assert done.stderr == ""
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def seen(npm: Path) -> Any:
    with Upstream(ANSWER) as upstream:
        return ran(npm, upstream, "read")


SDKS = (
    *("chat", "chatHelper", "responses", "responsesHelper", "anthropic", "anthropicHelper"),
    *("aiSdk", "aiSdkFull", "aiSdkUi", "fetch"),
)


def test_every_client_has_an_answer(seen: dict[str, Any]) -> None:
    assert tuple(seen) == SDKS


@pytest.mark.parametrize("sdk", SDKS)
def test_a_client_reads_text_reasoning_and_calls(seen: dict[str, Any], sdk: str) -> None:
    answer = seen[sdk]
    meant = [[call.name, call.arguments] for call in CALLS]
    assert answer["content"] == answer["parts"]["text"] == ANSWER.text
    # The AI SDK does not read the reasoning of chat completions.
    assert answer["parts"]["reasoning"] == ("" if sdk.startswith("aiSdk") else ANSWER.reasoning)
    assert answer["parts"]["calls"] == [[*call, "complete"] for call in meant]
    assert answer["calls"] == meant


def test_leaving_the_loop_closes_the_connection(npm: Path) -> None:
    """Otherwise a model would go on writing; only a few tokens of each answer were sent."""
    with Upstream(FakeAnswer(reasoning="word " * 2000, pace=0.005)) as upstream:
        left = ran(npm, upstream, "leave")
        assert set(left.values()) == {"reasoning"} and len(left) == len(upstream.exchanges)
        for exchange in upstream.exchanges:
            assert exchange.ended.wait(60) and exchange.left.is_set(), exchange.target
            assert exchange.sent < 1000


@few(1)
@pytest.mark.parametrize("ending", ["error", "length"])
def test_answers_that_end_early(npm: Path, ending: Any) -> None:
    """A call that was cut off is never complete; an error is thrown, the client's own or ours."""
    with Upstream(FakeAnswer(calls=CALLS[:1], ending=ending, after=3, pace=0)) as upstream:
        seen = ran(npm, upstream, "parts")
    for sdk, answer in seen.items():
        assert all(call[2] != "complete" for call in answer["calls"]), sdk
        assert ending == "length" or answer["error"] is not None, (sdk, answer)
