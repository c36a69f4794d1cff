"""Every provider's stream says the same through the library, the command line, batch and server."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from itertools import cycle, product
from pathlib import Path
from types import NoneType
from typing import Any

import pytest

from jsonrill import SourceFailed, ToolCalls, content, partial, tool_calls
from jsonrill.eventstream import SSEDecoder
from jsonrill.providers import PROVIDERS, Reader
from jsonrill.providers.statements import Ending, Finish, Text, Usage, text_in
from jsonrill_batch import Job, process_shard
from jsonrill_batch.input.lines import read_segment
from jsonrill_batch.plan import cut, find_files
from support import HARDER, few
from support.provider_streams import ANSWERS, Answer
from support.streams import collect

httpx2 = pytest.importorskip("httpx2")
testing = pytest.importorskip("typer.testing")

Calls = list[tuple[Any, Any, Any]]

# What may stand between the tokens of JSON, as upstreams write it; the first is the usual way.
SPACES: dict[str, dict[str, Any]] = {
    "usual": {},
    "tight": {"separators": (",", ":")},
    "odd": {"separators": ("\t ,  ", " :   ")},
}
# Each answer in one of these ways, or in all of them.
WAYS = [*product(ANSWERS, SPACES)] if HARDER else [*zip(ANSWERS, cycle(SPACES), strict=False)]
every_answer = pytest.mark.parametrize("name", ANSWERS)
every_way = pytest.mark.parametrize("name, spaces", WAYS)


def lines_of(answer: Answer, spaces: str) -> list[str]:
    return [json.dumps(event, **SPACES[spaces]) for event in answer.events]


def as_sse(answer: Answer, spaces: str = "usual") -> str:
    sent = "".join(f"data: {line}\n\n" for line in lines_of(answer, spaces))
    return sent + "data: [DONE]\n\n" if answer.marks_end == "[DONE]" else sent


def value_of(text: str) -> Any:
    """What is known of the answer's JSON; None if its text is not JSON, or there is none."""
    return partial(text) if text.startswith("{") else None


def fails(answer: Answer) -> bool:
    """True if the provider reports an error."""
    reader = Reader()
    statements = [one for event in answer.events for one in reader.feed(event)]
    return any(isinstance(one, Finish) and one.reason == "error" for one in statements)


def is_value(answer: Answer) -> bool:
    """True if the text is JSON, and not that of a refusal."""
    try:
        json.loads(answer.text)
    except ValueError:
        return False
    return answer.end != "refused"


# ---- the library ----


@every_answer
def test_the_library(name: str) -> None:
    answer = ANSWERS[name]
    for events in (answer.events, lines_of(answer, "usual"), [as_sse(answer).encode()]):
        texts, error = collect(content(events))
        assert "".join(texts) == answer.text
        assert type(error) is (SourceFailed if fails(answer) else NoneType)
    calls = ToolCalls()
    _, error = collect(tool_calls(answer.events, calls=calls))
    assert isinstance(error, SourceFailed | NoneType)
    assert error is not None or not fails(answer)
    assert [(call.name, call.args, call.status) for call in calls.calls] == answer.calls
    reader, ending = Reader(), Ending()
    for event in answer.events:
        ending.feed(reader.feed(event))
    assert ending.of() == answer.end
    assert ending.complete == (answer.end is not None)


@every_answer
def test_an_async_source(name: str) -> None:
    async def events() -> AsyncIterator[Any]:
        for event in ANSWERS[name].events:
            yield event

    texts, error = collect(content(events()))
    assert "".join(texts) == ANSWERS[name].text
    assert type(error) is (SourceFailed if fails(ANSWERS[name]) else NoneType)


@pytest.mark.parametrize("event", [{}, {"type": "error"}])
def test_an_answer_may_begin_with_an_error(event: dict[str, Any]) -> None:
    reader, ending = Reader(), Ending()
    ending.feed(reader.feed({**event, "error": {"message": "Overloaded"}}))
    assert ending.of() == "error" and reader.provider is None


def test_another_choice_and_a_provider_of_ones_own() -> None:
    assert "".join(content(ANSWERS["gemini-choices"].events, choice=1)) == '{"other": true}'
    mine = [{"say": "a"}, {"think": "x"}, {"say": "b"}]
    read = content(mine, provider=lambda event: [Text(event["say"])] if "say" in event else [])
    assert [*read] == ["a", "b"]


def test_every_page_has_its_answers() -> None:
    pages = {_page(answer) for answer in ANSWERS.values()}
    # Mistral's chat completions are recognised as OpenAI's; jsonrill's own events are calls alone.
    # Parts are made of the answers of others (dialects/test_composition.py).
    assert pages == PROVIDERS.keys() - {"jsonrill", "parts"}


def _page(answer: Answer) -> str | None:
    reader = Reader()
    for event in answer.events:
        reader.feed(event)
    return reader.provider


UNCOUNTED = ("vercel", "ag_ui", "mistral_chat", "pydantic_ai")
COMPLETE = [name.removesuffix("-complete") for name in ANSWERS if name.endswith("-complete")]


@pytest.mark.parametrize("name", [name for name in COMPLETE if name not in UNCOUNTED])
def test_usage_is_what_the_provider_counted(name: str) -> None:
    reader = Reader()
    statements = [one for event in ANSWERS[f"{name}-complete"].events for one in reader.feed(event)]
    assert any(isinstance(one, Usage) and one.counts for one in statements)


# ---- the command line ----


@few(4)
@every_way
def test_the_command_line(name: str, spaces: str, tmp_path: Path) -> None:
    answer = ANSWERS[name]
    log = tmp_path / "log.sse"
    log.write_text(as_sse(answer, spaces), "utf8")
    shown, exit_code = command("calls", log)
    last = {call["id"]: call for call in shown}
    calls = [(call["name"], call.get("args"), call["status"]) for call in last.values()]
    assert calls == answer.calls
    assert (exit_code == 0) == all(status == "complete" for *_, status in calls)
    value = value_of(answer.text)
    shown, exit_code = command("values", log)
    assert (shown[-1] if shown else None) == value
    assert (exit_code == 0) == is_value(answer)


def command(name: str, log: Path) -> tuple[list[Any], int]:
    from jsonrill.cli.app import app

    done = testing.CliRunner().invoke(app, [name, "--sse-in", str(log)])
    return [json.loads(line) for line in done.stdout.splitlines()], done.exit_code


# ---- batch ----


@every_way
def test_batch(name: str, spaces: str, tmp_path: Path) -> None:
    answer = ANSWERS[name]
    # Two recordings in one file, if it can be seen where the first one ends.
    times = 2 if answer.marks_end else 1
    log = tmp_path / "log.sse"
    log.write_text(as_sse(answer, spaces) * times, "utf8")
    rows, bad = batch("calls", log)
    assert not bad and len(rows) == times
    for row in rows:
        calls = [(call["name"], call["args"], call["status"]) for call in row["calls"]]
        assert calls == answer.calls
    rows, bad = batch("values", log)
    if answer.text:
        assert [row["value"] for row in rows] == [value_of(answer.text)] * times
        assert ["error" in row for row in rows] == [not is_value(answer)] * times
    elif answer.calls:
        assert not rows and [row["code"] for row in bad] == ["NO_TEXT"] * times
    else:
        assert [row["error"]["code"] for row in rows] == ["TRUNCATED"] * times


def batch(kind: str, log: Path) -> tuple[list[Any], list[Any]]:
    rows: list[str] = []
    bad: list[str] = []
    [shard] = cut(find_files([str(log)]), 10**9)
    read = [line for segment in shard.segments for _, line in read_segment(segment, 10**6, 100)]
    process_shard(read, Job(kind=kind), rows.append, bad.append)
    return [json.loads(row) for row in rows], [json.loads(row) for row in bad]


# ---- the server ----


def test_the_server() -> None:
    async def check(http: Any) -> None:
        for name, spaces in WAYS:
            answer = ANSWERS[name]
            value, formats = await published(http, as_sse(answer, spaces))
            assert value["text"] == answer.text, name
            calls = [(call["name"], call["args"], call["status"]) for call in value["calls"]]
            assert calls == answer.calls, name
            texts = [event for event in formats["chunks"] if isinstance(event, str)]
            assert "".join(texts) == answer.text, name
            assert (len(texts) < len(formats["chunks"])) == (answer.end == "error"), name
            assert ended(formats["calls"]) == answer.calls, name
            for dialect in ("ai-sdk", "ag-ui"):
                again = Reader()
                statements = [one for event in formats[dialect] for one in again.feed(event)]
                assert text_in(statements) == answer.text, name
            assert reason(formats["ai-sdk"]) in REASONS[answer.end], name
            failed = formats["ag-ui"][-1]["type"] == "RUN_ERROR"
            assert failed == (answer.end in ("error", None)), name

    serve(check)


REASONS = {
    "complete": ("stop", "tool-calls"),
    "calls": ("tool-calls",),
    "length": ("length",),
    "filtered": ("content-filter",),
    "refused": ("content-filter",),
    "lost": ("other",),
    "error": ("error",),
    None: ("error",),  # it broke off
}


def reason(events: list[Any]) -> str:
    [finish_reason] = [event["finishReason"] for event in events if event["type"] == "finish"]
    return str(finish_reason)


def ended(events: list[Any]) -> Calls:
    calls = ToolCalls()
    for event in events:
        calls.feed(event)
    return [(call.name, call.args, call.status) for call in calls.calls]


async def published(http: Any, body: str) -> tuple[Any, dict[str, list[Any]]]:
    created = (await http.post("/v1/streams", json={"input": "events"})).json()
    urls = created["urls"]
    sse = {"content-type": "text/event-stream"}
    assert (await http.post(urls["chunks"], content=body, headers=sse)).status_code == 200
    await http.post(urls["close"])
    formats = {}
    for name in ("chunks", "calls", "ai-sdk", "ag-ui"):
        answer = await http.get(urls["events"], params={"format": name})
        events = SSEDecoder().feed(answer.text)
        formats[name] = [json.loads(event.data) for event in events if event.data != "[DONE]"]
    return (await http.get(urls["value"])).json(), formats


def serve(check: Any) -> None:
    from jsonrill_server import Config, create_app

    async def main() -> None:
        app = create_app(Config(access_log=False, owner_streams=10**6))
        transport = httpx2.ASGITransport(app=app)
        async with httpx2.AsyncClient(transport=transport, base_url="http://localhost") as http:
            await check(http)
        await app.state.hub.close()

    asyncio.run(main())


@few(6)
@pytest.mark.parametrize("name", COMPLETE)
def test_a_log_may_end_without_its_last_blank_line(name: str, tmp_path: Path) -> None:
    answer = ANSWERS[f"{name}-complete"]
    log = tmp_path / "log.sse"
    log.write_text(as_sse(answer).removesuffix("\n\n"), "utf8")
    last = {call["id"]: call for call in command("calls", log)[0]}
    shown = [(call["name"], call.get("args"), call["status"]) for call in last.values()]
    assert shown == answer.calls
    values = command("values", log)[0]
    assert (values[-1] if values else None) == value_of(answer.text)
    [row], _ = batch("calls", log)
    assert [(call["name"], call["args"], call["status"]) for call in row["calls"]] == answer.calls

    async def check(http: Any) -> None:
        value, _ = await published(http, log.read_text("utf8"))
        assert value["text"] == answer.text
        calls = [(call["name"], call["args"], call["status"]) for call in value["calls"]]
        assert calls == answer.calls

    serve(check)


def test_an_event_that_was_cut_off(tmp_path: Path) -> None:
    """Logs and requests are read up to it; that the answer is complete was said before it."""
    answer = ANSWERS["openai_chat-complete"]
    log = tmp_path / "log.sse"
    log.write_text(as_sse(answer) + 'data: {"choices": [{"delta": {"con', "utf8")
    assert command("values", log)[1] == command("calls", log)[1] == 0

    async def check(http: Any) -> None:
        created = (await http.post("/v1/streams", json={"input": "events"})).json()
        sse = {"content-type": "text/event-stream"}
        reply = await http.post(created["urls"]["chunks"], content=log.read_bytes(), headers=sse)
        assert reply.status_code == 200

    serve(check)
