"""The table of docs/values.md, which says what is read of each provider, beside the code."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from typing import Any

from jsonrill.providers import PROVIDERS, Reader
from jsonrill.providers.statements import (
    CallDelta,
    Finish,
    Reasoning,
    Result,
    Statement,
    Text,
    Usage,
)
from support import ROOT

# The columns between the provider's name and JavaScript.
COLUMNS = ["text", "reasoning", "calls", "results", "usage", "finish reasons", "errors"]
KINDS = {
    Text: "text",
    Reasoning: "reasoning",
    CallDelta: "calls",
    Result: "results",
    Usage: "usage",
}
ROW = re.compile(r"^\| .*\(((?:`\w+`(?:, )?)+)\) \|(.*)\|$", re.MULTILINE)


def rows() -> dict[str, list[str]]:
    """The cells of each provider."""
    page = (ROOT / "docs" / "values.md").read_text("utf8")
    return {
        name: [cell.strip() for cell in cells.split("|")]
        for names, cells in ROW.findall(page)
        for name in re.findall(r"`(\w+)`", names)
    }


def column(statement: Statement) -> str | None:
    if isinstance(statement, Finish):
        return {None: None, "error": "errors"}.get(statement.reason, "finish reasons")
    return KINDS.get(type(statement))


# What the cases do not have.
MORE: list[list[Any]] = [
    [{"type": "RUN_FINISHED", "threadId": "t", "runId": "r", "result": {"finishReason": "length"}}],
    [{"type": "tool", "content": "Rain.", "tool_call_id": "a", "status": "success"}],
    [
        {
            "type": "ToolCallResult",
            "tool_id": "a",
            "tool_name": "f",
            "tool_output": {"content": "Rain."},
        }
    ],
    [
        {"kind": "reasoning", "index": 0, "delta": "Hm.", "complete": True},
        {"kind": "call", "index": 1, "call": {"id": "a", "name": "f"}, "delta": "{}"},
        {"kind": "result", "index": 2, "call": {"id": "a"}, "result": "Rain."},
        {"kind": "text", "index": 3, "delta": "It ra", "complete": False, "reason": "length"},
    ],
    [
        {"type": "system", "subtype": "init", "session_id": "s"},
        {
            "type": "user",
            "session_id": "s",
            "message": {
                "role": "user",
                "content": [{"type": "tool_result", "tool_use_id": "a", "content": "Rain."}],
            },
        },
    ],
]


def streams() -> list[list[Any]]:
    files = [*(ROOT / "cases" / "providers").glob("*.json")]
    cases = [json.loads(file.read_text("utf8")) for file in files]
    for name in ("answers", "parts", "calls"):
        cases += json.loads((ROOT / "cases" / f"{name}.json").read_text("utf8"))["cases"]
    return [*MORE, *(case["events"] for case in cases)]


def test_every_provider_has_a_row() -> None:
    assert set(rows()) == set(PROVIDERS) - {"jsonrill"}


def test_a_cell_says_if_a_case_has_anything_to_read() -> None:
    read: dict[str | None, set[str | None]] = defaultdict(set)
    for events in streams():
        reader = Reader()
        for event in events:
            statements = reader.feed(event)
            read[reader.provider].update(map(column, statements))
    wrong = [
        (name, kind, cell)
        for name, cells in rows().items()
        for kind, cell in zip(COLUMNS, cells, strict=False)
        if (kind in read[name] and cell == "–") or (kind not in read[name] and cell == "yes")
    ]
    assert wrong == []
