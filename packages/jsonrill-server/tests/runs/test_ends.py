"""How a provider's answer ended, as the readers of each format are told."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from jsonrill_server import Run, Runs

PROMPT = {"id": "x", "object": "chat.completion.chunk"}


def chunk(finish: str | None = None, **delta: str) -> dict[str, Any]:
    return {**PROMPT, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


BEGUN = chunk(content='{"a": "b')
ANTHROPIC = {"type": "error", "error": {"type": "overloaded_error", "message": "too busy"}}
ENDS: dict[str, list[Any]] = {
    "complete": [BEGUN, chunk(content='"}'), chunk("stop")],
    "length": [BEGUN, chunk("length")],
    "filtered": [BEGUN, chunk("content_filter")],
    "refused": [chunk(refusal="no"), chunk("stop")],
    "lost": [BEGUN],
    "error": [BEGUN, {"error": {"message": "too busy", "type": "server_error"}}],
    "error at once": [ANTHROPIC],
}


async def read(events: list[Any], format: str) -> tuple[Any, Run]:
    """The last event that a reader of a run gets, and the run."""
    ended: asyncio.Future[Run] = asyncio.get_running_loop().create_future()

    async def on_end(run: Run) -> None:
        ended.set_result(run)

    async with Runs() as runs:
        await runs.start("k", events, on_end=on_end)
        read = [event.data async for event in runs.read("k", format=format)]
        return read[-1] if read else None, await ended


def last(end: str, format: str) -> Any:
    return asyncio.run(read(ENDS[end], format))[0]


@pytest.mark.parametrize("format", ["updates", "fragments", "text", "calls", "parts", "ag-ui"])
@pytest.mark.parametrize("end", ["error", "error at once"])
def test_an_error_of_the_provider_is_told_as_one(end: str, format: str) -> None:
    event = last(end, format)
    error = event if format == "ag-ui" else event["error"]
    assert (error["code"], error["message"]) == ("PROVIDER_ERROR", "too busy")


@pytest.mark.parametrize("end", ["error", "error at once", "lost", "length"])
def test_a_copy_by_deltas_is_told_that_it_is_not_complete(end: str) -> None:
    message = last(end, "deltas")
    # A stream that fails at once is a snapshot.
    error = message["error"] if isinstance(message, dict) else message[-1][1]
    assert error["code"] == ("PROVIDER_ERROR" if "error" in end else "TRUNCATED")


@pytest.mark.parametrize("end, reason", [("error", "error"), ("lost", "error")])
def test_an_answer_that_broke_off_is_not_complete_for_the_ai_sdk(end: str, reason: str) -> None:
    assert last(end, "ai-sdk") == {"type": "finish", "finishReason": reason}
    assert last("complete", "ai-sdk") == {"type": "finish", "finishReason": "stop"}


def test_an_answer_that_broke_off_is_not_a_finished_run_for_ag_ui() -> None:
    assert last("lost", "ag-ui")["type"] == "RUN_ERROR"
    assert last("complete", "ag-ui")["type"] == "RUN_FINISHED"


@pytest.mark.parametrize("format", ["updates", "fragments"])
@pytest.mark.parametrize("end", ["length", "filtered", "lost"])
def test_readers_of_json_are_told_why_it_was_cut(end: str, format: str) -> None:
    assert last(end, format)["error"]["reason"] == end


@pytest.mark.parametrize("end", ENDS)
def test_the_outcome_of_a_run_says_how_its_answer_ended(end: str) -> None:
    _, run = asyncio.run(read(ENDS[end], "raw"))
    assert run.outcome == end.split()[0]
