"""Each row of the tables in docs/origins.md has a check."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final

import pytest

from jsonrill import (
    Chunker,
    Document,
    Fragment,
    InvalidJSON,
    Parser,
    PartialStream,
    Rebuilder,
    ToolCalls,
    apply_delta,
    chunks,
    fragments,
    sse,
    tool_calls,
    updates,
)
from jsonrill.errors import FragmentError, RevisionError, StreamClosed
from jsonrill.paths import format_path
from jsonrill.toolcalls import ToolCallEvents
from support import ROOT

TABLES: Final = re.split(
    r"^## ", (ROOT / "docs" / "origins.md").read_text("utf8"), flags=re.MULTILINE
)
COLOURS = ['{"colors": [{"name": "R', 'ed"}, {"name": "Blue", "n": 1', "2}]}"]


def rows(title: str) -> list[str]:
    """Return the first cells of the table under a title."""
    [table] = [text for text in TABLES if text.startswith(title)]
    cells = re.findall(r"^\| (.+?) \|", table, re.MULTILINE)
    return [cell for cell in cells if cell not in ("there", "---")]


def chunk(text: str, **more: Any) -> dict[str, Any]:
    call = {"index": 0, "function": {"name": "f", "arguments": text}, **more}
    return {"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]}


STREAM = [
    {"choices": [{"index": 0, "delta": {"content": COLOURS[0]}}]},
    {"choices": [{"index": 0, "delta": {"content": "".join(COLOURS[1:])}}]},
]
CALLS = [
    chunk('{"a":', id="c1") | {"id": "m"},
    chunk("1}") | {"id": "m"},
]


def collect_updates(mode: Any, **options: Any) -> list[tuple[str, Any]]:
    return [(item.status, item.data) for item in updates(COLOURS, mode, entity="colors", **options)]


RED, BLUE = {"name": "Red"}, {"name": "Blue", "n": 12}


def refuses(error: type[Exception], call: Callable[[], Any]) -> bool:
    with pytest.raises(error):
        call()
    return True


def feed_chunker(*snapshots: Any, **options: Any) -> Chunker:
    chunker = Chunker(**options)
    for snapshot in snapshots:
        chunker.feed(snapshot)
    return chunker


CHUNKER: Final[dict[str, Callable[[], bool]]] = {
    "`JsonStreamChunker`": lambda: (
        list(chunks([["a"], ["ab"]])) == ['["a', "b", '"]']
        and "".join(chunks([{"a.b[0]": "x"}])) == '{"a.b[0]":"x"}'
    ),
    "`Process(snapshot)`": lambda: (
        refuses(InvalidJSON, lambda: Chunker().feed("{")) and Chunker().feed('{"a": "x"}') != ""
    ),
    "`GetEmittedString()`": lambda: feed_chunker({"a": "x"}, verify=True).flush() == '"}',
    "`Reset()`": lambda: not hasattr(Chunker, "reset"),
    "`Flush()`": lambda: (
        feed_chunker({"a": "x", "b": "y"}).flush() == '"a":"x","b":"y"}'
        and refuses(StreamClosed, lambda: [(item := Chunker()).flush(), item.feed({})])
    ),
    "a value that did not change is complete": lambda: (
        feed_chunker({"a": "He"}, {"a": "He"}).feed({"a": "Hello"}) == "llo"
    ),
    "a value that shrinks or changes": lambda: (
        refuses(RevisionError, lambda: feed_chunker({"a": "xy"}, {"a": "x"}))
        and len(feed_chunker({"a": "xy"}, {"a": "x"}, on_revision="keep").revisions) == 1
    ),
    "the rules Sibling, Parent-Level, Unchanged and Pending": lambda: all(
        name in (ROOT / "docs" / "chunker.md").read_text("utf8")
        for name in ("Sibling", "Parent-Level", "Unchanged", "Pending")
    ),
    "pending values": lambda: (
        feed_chunker({"a": "x", "b": "y"}).held == {("a",): "x", ("b",): "y"}
        and feed_chunker({"a": "x"}).open_path == ("a",)
    ),
    "two or more pending values change: a warning, all are complete": lambda: (
        feed_chunker({"b": "", "a": ""}, {"b": "h", "a": "z"}).open_path == ()
        and feed_chunker({"b": "", "a": ""}, {"b": "h", "a": "z"}).feed({"b": "he", "a": "z"})
        == '"a":"z","b":"he'
    ),
    "numbers and booleans at once": lambda: (
        Chunker().feed({"b": True, "s": "x", "n": 3}) == '{"b":true,"n":3'
        and Chunker(numbers="final").feed({"n": 3, "s": "x"}) == '{"n":3,"s":"x'
    ),
    "`null` before the first value": lambda: (
        Chunker().feed("null") == "" and Chunker(null="placeholder").feed({"a": None}) == "{"
    ),
}

PARTIAL_STREAM: Final[dict[str, Callable[[], bool]]] = {
    "`OpenAiHandler(mode).process(stream)`": lambda: (
        [item.data for item in updates(STREAM, "ONE-BY-ONE", entity="colors")] == [RED, BLUE]
    ),
    "`StreamParser.parse(chunk)`": lambda: (
        len(PartialStream("ONE-BY-ONE", entity="colors").feed("".join(COLOURS))) == 2
    ),
    "`StreamMode.Batch`": lambda: collect_updates("BATCH") == [("COMPLETED", [RED, BLUE])],
    "`StreamMode.NoStream`": lambda: (
        collect_updates("ALL-TOGETHER") == [("COMPLETED", RED), ("COMPLETED", BLUE)]
    ),
    "`StreamMode.StreamObject`": lambda: (
        collect_updates("ONE-BY-ONE") == [("COMPLETED", RED), ("COMPLETED", BLUE)]
    ),
    "`StreamMode.StreamObjectKeyValue`": lambda: (
        collect_updates("PROGRESSIVE")[1:] == [("PARTIAL", {"name": "Blue"}), ("COMPLETED", BLUE)]
    ),
    "`StreamMode.StreamObjectKeyValueTokens`": lambda: (
        collect_updates("REALTIME")[0] == ("PARTIAL", {"name": "R"})
        and collect_updates("REALTIME")[2] == ("PARTIAL", {"name": "Blue", "n": 1})
    ),
    "one mode for a stream": lambda: (
        collect_updates({"colors": "BATCH"}) == collect_updates("BATCH")
    ),
    '"different modes for some keys" of an entity (in the spec, not in the library)': lambda: (
        collect_updates("REALTIME", only_complete=("name",))[0] == ("COMPLETED", RED)
    ),
    "`Entity(name, zod)`, `genParse`, `genParseArray`": lambda: (
        [item.status for item in updates(COLOURS, entity="colors", schema={"required": ["n"]})][-1]
        == "COMPLETED"
    ),
    "`null` for an invalid entity": lambda: (
        [
            (item.status, item.error["code"])
            for item in updates(COLOURS, "BATCH", entity="colors", schema={"required": ["n"]})
            if item.error
        ]
        == [("ERROR", "INVALID_SCHEMA")]
    ),
    "status `FAILED`": lambda: (
        [item.error["code"] for item in updates('{"a": x}') if item.error] == ["INVALID_JSON"]
    ),
    "zero values of the type": lambda: (
        PartialStream(
            "PROGRESSIVE", zero_values=True, schema={"properties": {"a": {"type": "string"}}}
        )
        .feed('{"a":')[0]
        .data
        == {"a": ""}
        and refuses(ValueError, lambda: PartialStream("BATCH", zero_values=True, schema={}))
    ),
    "`true` at its first letter": lambda: (
        PartialStream(early_literals=True).feed('{"a": t')[0].data == {"a": True}
    ),
    "`delta`": lambda: (
        apply_delta(RED, [["append", "/name", "dish"]]) == {"name": "Reddish"}
        and all(item.delta is not None for item in updates(COLOURS, send="delta"))
    ),
    "`event: CLOSE`": lambda: b"".join(sse(updates("[1]"))).endswith(
        b"event: CLOSE\ndata: [DONE]\n\n"
    ),
}


def rebuild(text: str) -> Rebuilder:
    rebuilder = Rebuilder()
    rebuilder.feed(list(fragments(text)))
    return rebuilder


def read_calls(*events: dict[str, Any]) -> ToolCalls:
    calls = ToolCalls()
    for event in events:
        calls.feed(event)
    return calls


def wire_events() -> list[dict[str, Any]]:
    sender = ToolCallEvents()
    return [wire for event in CALLS for wire in sender.feed(event)] + sender.flush()


UPDATE = {"tool_call_id": "c1", "index": 0, "function_args": '{"a":1}'}
KINDS = ("StartObject", "Key", "CompleteNumber", "EndObject", "JsonComplete")

FRAGMENTS: Final[dict[str, Callable[[], bool]]] = {
    "`JsonFragmentToStructuredUpdateGenerator`": lambda: (
        refuses(InvalidJSON, lambda: Parser().feed("{x")) and len(list(fragments('{"a":1}'))) == 5
    ),
    "`AddFragment(text)`": lambda: [item.kind for item in Parser().feed("{")] == ["StartObject"],
    "`IsComplete`, `CurrentJson`": lambda: (
        list(fragments("[]"))[-1].kind == "JsonComplete" and Document().value is None
    ),
    "`Reset()`, `Clear()`": lambda: not hasattr(Parser, "reset"),
    "`StartObject` … `JsonComplete`": lambda: (
        tuple(item.kind for item in fragments('{"a":1}')) == KINDS
    ),
    "paths such as `root.a[1]`": lambda: (
        format_path(("a", 1)) == "root.a[1]" and format_path(("a.b",)) == 'root["a.b"]'
    ),
    "`JsonFragmentKind`": lambda: next(iter(fragments("{}"))).kind == "StartObject",
    "`JsonFragmentUpdate` (`path`, `kind`, `textValue`, `value`)": lambda: (
        list(fragments('{"a":[1]}'))[3] == Fragment("CompleteNumber", ("a", 0), "1", 1)
    ),
    "`JsonFragmentRebuilder`": lambda: rebuild('{"a": 1}').value == {"a": 1},
    "`apply(updates)`, `getValue()`": lambda: rebuild("[1]").value == [1],
    "`isComplete()`": lambda: (
        rebuild("[1]").is_complete()
        and rebuild("[1]").is_complete((0,))
        and not Document().is_complete()
        and next(iter(updates("[1]", entity="root"))).is_complete()
        and not read_calls(CALLS[0]).calls[0].is_complete()
        and read_calls(*CALLS).calls[0].is_complete()
    ),
    "`lockForResult()`": lambda: refuses(
        FragmentError, lambda: rebuild("[1]").feed([{"path": "root", "kind": "StartArray"}])
    ),
    "`JsonFragmentUpdateMiddleware`": lambda: (
        [item.function_args for item in tool_calls(CALLS)][:2] == ['{"a":', "1}"]
    ),
    "`tools_call_update`, `json_update_fragments`": lambda: (
        wire_events()[0]["kind"] == "tools_call_update"
        and "json_update_fragments" in wire_events()[0]["tool_call_updates"][0]
    ),
    "`payload.toolCallUpdate`; `tool_call_update`, `tool_call_result`": lambda: (
        read_calls({"kind": "tools_call_update", "payload": {"toolCallUpdate": UPDATE}})
        .calls[0]
        .args
        == {"a": 1}
        and read_calls(
            {"$type": "tool_call_update", **UPDATE},
            {"$type": "tool_call_result", "tool_call_id": "c1", "result": "ok"},
        )
        .calls[0]
        .result
        == "ok"
    ),
    "`ToolsCallAggregateRenderer`": lambda: read_calls(CALLS[0]).calls[0].status == "streaming",
    "`ToolsAggregateMessageHandler`": lambda: (
        [(item.args, item.status, item.error) for item in read_calls(*wire_events()).calls]
        == [({"a": 1}, "complete", None)]
    ),
    "`tools_aggregate`, `tool_result`": lambda: wire_events()[-1]["kind"] == "tools_aggregate",
    "`ToolsCallUpdateStreamEvent`; `toolCallPairs`": lambda: (
        read_calls(*CALLS, {"kind": "tool_result", "tool_call_id": "c1", "result": "ok"})
        .calls[0]
        .result
        == "ok"
    ),
}


@pytest.mark.parametrize(
    "title, checks",
    [
        ("JSON Stream Chunker", CHUNKER),
        ("Partial Stream Spec", PARTIAL_STREAM),
        ("JSON fragments", FRAGMENTS),
    ],
)
def test_every_row_holds(title: str, checks: dict[str, Callable[[], bool]]) -> None:
    assert rows(title) == list(checks)
    assert [row for row, holds in checks.items() if not holds()] == []
