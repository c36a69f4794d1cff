"""Reads recorded tool-call streams and counts those whose calls are right: whole, and cut anywhere.

    python tools/recorded_calls.py FOLDER

The folder has `calls.jsonl`: in each line `events`, and in `calls` the `raw` text or the `args` of
every call at the end (null: nobody knows). Cut after any event, a call that is complete must
have the arguments of its end, and the text of any other must be a beginning of them. Exits with 1
if a stream is wrong.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from jsonrill import ToolCall, ToolCalls


def read(events: list[Any]) -> list[ToolCall]:
    calls = ToolCalls(keep=None)
    for event in events:
        calls.feed(event)
    calls.flush()
    return calls.calls


def are_right(calls: list[ToolCall], expected: list[dict[str, Any]]) -> bool:
    return len(calls) == len(expected) and all(map(is_right, calls, expected))


def is_right(call: ToolCall, expected: dict[str, Any]) -> bool:
    if call.name != expected["name"] or call.status not in ("complete", "truncated"):
        return False
    if call.status == "truncated":
        return bool(call.raw == expected["raw"] != "{}")
    if expected.get("raw") is not None:
        return call.raw == expected["raw"] or call.args == json.loads(expected["raw"] or "{}")
    return expected.get("args") is None or bool(call.args == expected["args"])


def is_prefix(cut: ToolCall, final: ToolCall) -> bool:
    """True if a call of a stream that was cut off says nothing that its end does not."""
    if cut.status == "complete":
        return bool(cut.args == final.args)
    return cut.raw == "{}" or final.raw.startswith(cut.raw)


def check(stream: dict[str, Any]) -> str | None:
    """What is wrong with a stream; None if nothing is."""
    events, expected = stream["events"], stream["calls"]
    calls = read(events)
    if expected is not None and not are_right(calls, expected):
        return f"expected {expected}, found {calls}"
    for at in range(len(events)):
        for cut, final in zip(read(events[:at]), calls, strict=False):
            if not is_prefix(cut, final):
                return f"cut after {at} events: {cut}, at the end {final}"
    return None


def main(folder: Path) -> int:
    streams = [json.loads(line) for line in (folder / "calls.jsonl").open(encoding="utf8")]
    wrong = 0
    cuts = sum(len(stream["events"]) for stream in streams)
    for number, stream in enumerate(streams):
        if (problem := check(stream)) is not None:
            wrong += 1
            named = {key: value for key, value in stream.items() if key not in ("events", "calls")}
            print(f"{number} {named}: {problem}")
    right = f"{len(streams) - wrong} of {len(streams)}"
    print(f"{right} streams right, whole and cut after every event ({cuts} cuts)")
    return 1 if wrong else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(Path(sys.argv[1])))
