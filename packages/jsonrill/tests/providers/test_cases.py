"""Text and reasoning of odd servers: the cases that JavaScript reads, too."""

from __future__ import annotations

import json
from typing import Any

import pytest

from jsonrill import Parts, content
from jsonrill.errors import UnknownSource
from support import ROOT

CASES = json.loads((ROOT / "cases" / "parts.json").read_text("utf8"))["cases"]
NOT_READ = json.loads((ROOT / "cases" / "not_read.json").read_text("utf8"))["cases"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case["name"]))
@pytest.mark.parametrize("as_text", [False, True])
def test_the_parts_and_the_end_are_right(case: dict[str, Any], as_text: bool) -> None:
    reading = Parts()
    shown: dict[int, list[str]] = {}
    completed = 0
    for event in case["events"]:
        for part in reading.feed(json.dumps(event) if as_text else event):
            shown.setdefault(part.index, [part.kind, ""])[1] += part.delta
            completed += part.complete
    reading.flush()
    assert [*shown.values()] == case["parts"]
    assert completed == len(case["parts"]) - (case["end"] not in ("complete", "calls"))
    assert reading.outcome == case["end"]


@pytest.mark.parametrize("case", NOT_READ, ids=lambda case: str(case["name"]))
def test_a_format_that_is_not_read_is_refused(case: dict[str, Any]) -> None:
    with pytest.raises(UnknownSource, match="known provider"):
        list(content(case["events"]))
