"""Answers as each provider streams them, and what they say: the cases that JavaScript reads too.

The calls of a provider are also built, in `provider_streams.py`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

from jsonrill import partial
from support import CASES

Event = dict[str, Any]

# Of the recorded cases: those that say something beside their calls, and those without an end.
LOOKING = ("anthropic_fine_grained_truncated", "anthropic_messages")
ENDLESS = (
    *("ag_ui_chunks", "gemini_interactions_api", "gemini_vertex_partial_args"),
    *("gemini_whole_args", "mistral_conversations", "openai_responses"),
)


class Answer(NamedTuple):
    """A stream and what it says: `text` of choice 0, `calls` as (name, args, status), its end."""

    events: list[Event]
    text: str = ""
    calls: list[tuple[str, Any, str]] = []
    end: str | None = "complete"
    # How the event stream shows that nothing follows: "event", "[DONE]", or not at all.
    marks_end: str = ""


def of_case(case: dict[str, Any]) -> Answer:
    calls = [(name, args, status) for name, args, status in case["calls"]]
    return Answer(case["events"], case["text"], calls, case["end"], case["marks_end"])


def of_file(file: Path) -> Answer:
    stream = json.loads(file.read_text("utf8"))
    calls = []
    for call in stream["expected_calls"]:
        args = call["args"] if "args" in call else partial(call["args_text"])
        calls.append((call["name"], args, call.get("state", "complete")))
    text = "Let me look." if file.stem in LOOKING else ""
    usual = "length" if file.stem.endswith("truncated") else "calls"
    end = None if file.stem in ENDLESS else stream.get("expected_end", usual)
    return Answer(stream["events"], stream.get("expected_text", text), calls, end)


_CASES = json.loads((CASES / "answers.json").read_text("utf8"))["cases"]
ANSWERS: dict[str, Answer] = {
    **{case["name"]: of_case(case) for case in _CASES},
    **{file.stem: of_file(file) for file in sorted((CASES / "providers").glob("*.json"))},
}
