"""A stage that is copied or pickled goes on like the original, or refuses with a TypeError."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import pytest

from jsonrill import (
    Chunker,
    Document,
    Parser,
    PartialStream,
    Parts,
    Rebuilder,
    ToolCalls,
)
from jsonrill.eventstream import SSEDecoder
from jsonrill.toolcalls import ToolCallEvents

FIRST = '{"a": [1, "x'
REST = 'y"]}'
EVENTS = [
    {"choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, **call}]}}]}
    for call in (
        {"id": "c", "function": {"name": "f", "arguments": FIRST}},
        {"function": {"arguments": REST}},
    )
]
PARSER = Parser()
FRAGMENTS = (PARSER.feed(FIRST), PARSER.feed(REST))
SNAPSHOTS = ['{"a":"x"}', '{"a":"xy","b":[1]}']
# What is fed before the copy and after it, and the result to compare.
STAGES: dict[str, Any] = {
    "Document": (Document, FIRST, REST, lambda item, out: item.value),
    "Document repair": (lambda: Document(repair=True), FIRST, REST, lambda item, out: item.value),
    "Parser": (Parser, FIRST, REST, lambda item, out: out),
    "Rebuilder": (Rebuilder, *FRAGMENTS, lambda item, out: item.value),
    "PartialStream": (PartialStream, FIRST, REST, lambda item, out: [u.to_json() for u in out]),
    "Chunker": (Chunker, *SNAPSHOTS, lambda item, out: (out, item.flush())),
    "ToolCalls": (ToolCalls, *EVENTS, lambda item, out: [call.args for call in item.calls]),
    "ToolCallEvents": (ToolCallEvents, *EVENTS, lambda item, out: out),
    "Parts": (Parts, *EVENTS, lambda item, out: [part.delta for part in out]),
    "SSEDecoder": (SSEDecoder, "data: a\nda", "ta: b\n\n", lambda item, out: out),
}
COPIES: dict[str, Callable[[Any], Any]] = {
    "pickle": lambda stage: pickle.loads(pickle.dumps(stage)),
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
}


@pytest.mark.parametrize("how", COPIES)
@pytest.mark.parametrize("name", STAGES)
def test_a_copy_continues_or_is_refused(name: str, how: str) -> None:
    make, first, rest, shown = STAGES[name]
    plain = make()
    plain.feed(first)
    expected = shown(plain, plain.feed(rest))
    stage = make()
    stage.feed(first)
    try:
        copied = COPIES[how](stage)
    except TypeError as error:
        assert "copied" in str(error) or "pickle" in str(error)
    else:
        assert shown(copied, copied.feed(rest)) == expected
    assert shown(stage, stage.feed(rest)) == expected, "the copy has changed the original"
