"""Claude Agent SDK: messages as its own parser makes them, with and without partial messages."""

from __future__ import annotations

import json
from typing import Any

from claude_agent_sdk._internal.message_parser import parse_message

from frameworks import BOTH, TEXT, calls_of, results_of, text_of
from support.provider_streams import Made, anthropic, claude_code, in_a_row

CALLS = [Made(f"toolu_{name}", name, json.dumps(args)) for name, args, _ in BOTH]


def lines(partial: bool) -> list[dict[str, Any]]:
    """What Claude Code writes: two turns, with the results of the tools between them."""
    same = {"session_id": "s", "parent_tool_use_id": None, "uuid": "u"}
    sent = [line | same for line in claude_code(CALLS, in_a_row(CALLS))[1:-1]]
    for line in sent:
        if line["type"] == "assistant":
            line["message"] |= {"model": "m"}
    results = [{"type": "tool_result", "tool_use_id": call.id, "content": "ok"} for call in CALLS]
    sent.append({"type": "user", "message": {"role": "user", "content": results}} | same)
    block = {"type": "text", "text": TEXT}
    start = {
        "type": "content_block_start",
        "index": 0,
        "content_block": {"type": "text", "text": ""},
    }
    text = {
        "type": "content_block_delta",
        "index": 0,
        "delta": {"type": "text_delta", "text": TEXT},
    }
    events = [{"type": "message_start", "message": {"id": "msg_2"}}, start, text]
    events += anthropic([], [], "end_turn")[-2:]
    sent += [{"type": "stream_event", "event": event} | same for event in events]
    message = {"id": "msg_2", "role": "assistant", "model": "m", "content": [block]}
    sent.append({"type": "assistant", "message": message} | same)
    end = {"type": "result", "subtype": "success", "is_error": False, "result": TEXT}
    end |= {"duration_ms": 1, "duration_api_ms": 1, "num_turns": 2, "total_cost_usd": 0.0}
    end["usage"] = {"output_tokens": 9}
    sent.append(end | same)
    return sent if partial else [line for line in sent if line["type"] != "stream_event"]


def test_lines_and_objects_say_the_same() -> None:
    for partial in (True, False):
        written = lines(partial)
        parsed = [parse_message(line) for line in written]
        for events in (written, [json.dumps(line) for line in written], parsed):
            assert text_of(events) == "Hm" + TEXT
            assert calls_of(events) == BOTH
            assert results_of(events) == {name: "ok" for name, *_ in BOTH}


def test_the_result_alone() -> None:
    assert text_of([parse_message(lines(True)[-1])]) == TEXT
