"""What an event stream holds: the command line reads it as the library does, or has its error."""

from __future__ import annotations

import json
from typing import Any

import pytest

from jsonrill import JsonrillError, fragments, select, text, updates, values
from jsonrill.wire import to_wire

pytest.importorskip("typer")

from typer.testing import CliRunner

from jsonrill.cli.app import app

ANSWER = ['{"a": ["x', '", 2], ', '"b": 1}']


def chunk(index: int = 0, finish: str | None = None, **delta: Any) -> dict[str, Any]:
    choice = {"index": index, "delta": delta, "finish_reason": finish}
    return {"id": "1", "object": "chat.completion.chunk", "choices": [choice]}


def called(name: str, arguments: str, at: int = 0) -> dict[str, Any]:
    function = {"name": name, "arguments": arguments}
    return chunk(
        tool_calls=[{"index": at, "id": f"c{at}", "type": "function", "function": function}]
    )


STOP, CALLS = chunk(finish="stop"), chunk(finish="tool_calls")
TEXT = [*(chunk(content=piece) for piece in ANSWER), STOP]
CHOICES = [chunk(content="[1]"), chunk(1, content="[2]"), STOP, chunk(1, "stop")]
TWO_CALLS = [called("f", '{"b": 1}'), called("g", '{"b": 2}', 1), CALLS]
UNKNOWN = [{"type": "unheard-of", "text": "[1]"}, {"b": 1}]
FAILED = [TEXT[0], {"error": {"message": "overloaded", "type": "server_error"}}]
# The events of a stream and the options with which it is read.
CASES: list[tuple[list[Any], dict[str, Any]]] = [
    (TEXT, {}),
    (TEXT, {"provider": "openai-chat"}),
    (TEXT[:2], {}),
    ([*TEXT[:2], chunk(finish="length")], {}),
    ([chunk(content="I cannot help with that."), chunk(finish="content_filter")], {}),
    (CHOICES, {}),
    (CHOICES, {"choice": 1}),
    (CHOICES, {"choice": 2}),
    (TWO_CALLS, {}),
    (TWO_CALLS, {"tool": "g"}),
    (TWO_CALLS, {"tool": True}),
    (TWO_CALLS, {"tool": "h"}),
    (UNKNOWN, {}),
    (UNKNOWN * 20, {}),
    (FAILED, {}),
]


def sse(events: list[Any]) -> str:
    return "".join(f"data: {json.dumps(event)}\n\n" for event in events)


def in_library(read: Any, *arguments: Any, **options: Any) -> tuple[list[Any], str]:
    """What is yielded, and the error."""
    results: list[Any] = []
    try:
        results.extend(read(*arguments, **options))
    except JsonrillError as error:
        return results, str(error)
    return results, ""


def by_command(*arguments: str, stdin: str) -> tuple[list[Any], str]:
    done = CliRunner().invoke(app, list(arguments), input=stdin)
    assert done.exit_code == (1 if done.stderr else 0), (done.stderr, done.exception)
    shown = [json.loads(line) for line in done.stdout.splitlines()]
    return shown, done.stderr.removeprefix("jsonrill: ").partition(" at character")[0].rstrip("\n")


def flags_of(options: dict[str, Any]) -> list[str]:
    return [it for name, value in options.items() for it in (f"--{name}", str(value).lower())]


@pytest.mark.parametrize("events, options", CASES)
def test_commands_read_event_streams_as_the_library_does(
    events: list[Any], options: dict[str, Any]
) -> None:
    stream = sse(events)
    results, error = in_library(values, stream, sse=True, **options)
    shown, told = by_command("values", *flags_of(options), stdin=stream)
    # Without --each only the last value of each document is written.
    assert shown[-1:] == results[-1:] and bool(told) == bool(error)
    if "known provider" in error or "tool" in error or "choice" in error:
        assert told == error
    emitted = [it.to_dict() for it in updates(stream, sse=True, **options)] if not error else []
    if not error:
        assert by_command("updates", *flags_of(options), stdin=stream) == (emitted, "")
        wired = [to_wire(it) for it in fragments(stream, sse=True, **options)]
        assert by_command("fragments", *flags_of(options), stdin=stream) == (wired, "")


def test_lines_of_events_are_read_with_their_provider_or_tool() -> None:
    lines = "\n".join(map(json.dumps, TEXT))
    assert by_command("values", "--provider", "openai-chat", stdin=lines)[0] == [
        {"a": ["x", 2], "b": 1}
    ]
    lines = "\n".join(map(json.dumps, TWO_CALLS))
    assert by_command("values", "--tool", "true", stdin=lines)[0] == [{"b": 1}, {"b": 2}]
    assert by_command("select", "b", "--tool", "g", stdin=lines) == ([2], "")
    assert list(select(TWO_CALLS, "b", tool="g")) == [2]


def test_text_and_repair_read_the_first_call() -> None:
    events = [called("f", '{"s": "one"}'), called("f", '{"s": "two"}', 1), CALLS]
    assert list(text(events, "s", tool="f")) == ["one"]
    done = CliRunner().invoke(app, ["text", "s", "--tool", "f"], input=sse(events))
    assert (done.exit_code, done.stdout) == (0, "one\n")
    assert by_command("repair", "--tool", "f", stdin=sse(events)) == ([{"s": "one"}], "")


ENDS = {
    "done": sse(TEXT) + "data: [DONE]\n\n",
    "without a blank line": sse(TEXT).rstrip("\n"),
    "half an event": sse(TEXT) + 'data: {"id": "1", "cho',
    "our own end": sse(TEXT) + "event: CLOSE\ndata: {}\n\n",
}


@pytest.mark.parametrize("stream", ENDS.values(), ids=ENDS)
def test_fronts_agree_on_the_end_of_an_event_stream(stream: str) -> None:
    pytest.importorskip("starlette")
    from starlette.testclient import TestClient

    from jsonrill_server import create_app

    expected = list(values(stream, sse=True))[-1]
    assert expected == {"a": ["x", 2], "b": 1}
    assert by_command("values", stdin=stream) == ([expected], "")
    headers = {"content-type": "text/event-stream"}
    with TestClient(create_app(), base_url="http://localhost") as client:
        at = '/v1/convert?format=updates&mode=ONE-BY-ONE&options={"input":"events"}'
        answer = client.post(at, content=stream, headers=headers)
    data = [line[6:] for line in answer.text.splitlines() if line.startswith("data: {")]
    assert [json.loads(it) for it in data] == [
        {"index": 0, "status": "COMPLETED", "data": expected}
    ]
