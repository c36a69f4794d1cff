"""Against the real clients: unmodified `openai` and `anthropic` read a stream from the loopback.

What their streams hand out goes into `tool_calls` as it is, sync and async. The recipes of the docs
run as they stand there, with the clients of Google, Mistral and Amazon too.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest

from jsonrill import ToolCalls, tool_calls
from support import ROOT
from support.markdown import Block, read, run_script
from support.provider_streams import (
    BUILDERS,
    THREE,
    TWO,
    Event,
    anthropic,
    candidate,
    in_a_row,
    openai_chat,
    openai_responses,
    shuffled,
)

from .provider_server import Replay, amazon, serve

MESSAGES: list[Any] = [{"role": "user", "content": "hello"}]
Open = Callable[[Any], Any]


class Client:
    """How a client is made, and how each of its ways to stream is opened."""

    def __init__(self, name: str, events: list[Event], open: Open) -> None:
        self.name, self.events, self.open = name, events, open

    def sync(self, url: str) -> Any:
        return self._make("OpenAI" if self.name == "openai" else "Anthropic", url)

    def asynchronous(self, url: str) -> Any:
        return self._make("AsyncOpenAI" if self.name == "openai" else "AsyncAnthropic", url)

    def _make(self, kind: str, url: str) -> Any:
        module = pytest.importorskip(self.name)
        base = url + "/v1" if self.name == "openai" else url
        return getattr(module, kind)(api_key="none", base_url=base, max_retries=0)


def full_responses(events: list[Event]) -> list[Event]:
    """With the fields that the client's own types ask for."""
    whole = {"object": "response", "created_at": 1, "model": "m", "output": [], "tools": []}
    whole |= {"parallel_tool_calls": True, "tool_choice": "auto"}
    return [
        event | {"response": whole | event["response"]} if "response" in event else event
        for event in events
    ]


INTERLEAVED = shuffled(TWO, 7)
CLIENTS = {
    "openai chat": Client(
        "openai",
        openai_chat(TWO, INTERLEAVED),
        lambda client: client.chat.completions.create(model="m", messages=MESSAGES, stream=True),
    ),
    "openai responses": Client(
        "openai",
        full_responses(openai_responses(TWO, INTERLEAVED)),
        lambda client: client.responses.create(model="m", input="hello", stream=True),
    ),
    "anthropic": Client(
        "anthropic",
        anthropic(TWO, INTERLEAVED),
        lambda client: client.messages.create(
            model="m", max_tokens=9, messages=MESSAGES, stream=True
        ),
    ),
}


def check(calls: ToolCalls, grown: dict[str, list[str]]) -> None:
    """The calls are right, and were seen to grow."""
    by_name = {call.name: call for call in calls.calls}
    for expected in TWO:
        call = by_name[expected.name]
        assert (call.id, call.status, call.raw) == (expected.id, "complete", expected.text)
        assert call.args == json.loads(expected.text)
        texts = grown[expected.id]
        assert len(set(texts)) > 3
        assert all(expected.text.startswith(text) for text in texts)


@pytest.mark.parametrize("name", CLIENTS)
def test_sync_client(name: str) -> None:
    client = CLIENTS[name]
    calls, grown = ToolCalls(), dict[str, list[str]]()
    with serve(Replay(client.events)) as replay, client.sync(replay.url) as api:
        with client.open(api) as stream:
            for update in tool_calls(stream, calls=calls):
                grown.setdefault(update.tool_call_id, []).append(update.call.raw)
    check(calls, grown)


@pytest.mark.parametrize("name", CLIENTS)
def test_async_client(name: str) -> None:
    client = CLIENTS[name]
    calls, grown = ToolCalls(), dict[str, list[str]]()

    async def follow(url: str) -> None:
        async with client.asynchronous(url) as api, await client.open(api) as stream:
            async for update in tool_calls(stream, calls=calls):
                grown.setdefault(update.tool_call_id, []).append(update.call.raw)

    with serve(Replay(client.events)) as replay:
        asyncio.run(follow(replay.url))
    check(calls, grown)


@pytest.mark.parametrize("name", CLIENTS)
def test_arguments_show_before_the_rest_was_sent(name: str) -> None:
    client = CLIENTS[name]
    half = len(client.events) // 2
    replay = Replay(client.events, hold_at=half)
    with serve(replay), client.sync(replay.url) as api, client.open(api) as stream:
        for update in tool_calls(stream):
            if isinstance(update.call.args, dict) and update.call.args:
                break
        assert replay.sent <= half
        assert update.call.status == "streaming"


@pytest.mark.parametrize("name", CLIENTS)
def test_leaving_the_loop_closes_the_connection(name: str) -> None:
    client = CLIENTS[name]
    with serve(Replay(client.events)) as replay, client.sync(replay.url) as api:
        stream = client.open(api)
        updates: Any = tool_calls(stream)
        next(updates)
        updates.close()
        assert stream.response.is_closed


def test_the_helper_of_openai_says_done_too_early_and_tool_calls_does_not() -> None:
    """One interleaved stream: the helper ends call 0 when call 1 speaks, with half its JSON."""
    openai = pytest.importorskip("openai")
    events = openai_chat(TWO, [(0, '{"city":'), (1, '{"q":'), (0, "1}"), (1, "2}")])
    done: list[tuple[int, str]] = []
    with serve(Replay(events)) as replay:
        with openai.OpenAI(api_key="none", base_url=replay.url + "/v1", max_retries=0) as api:
            with api.chat.completions.stream(model="m", messages=MESSAGES) as stream:
                for event in stream:
                    if event.type == "tool_calls.function.arguments.done":
                        done.append((event.index, event.arguments))
            calls = ToolCalls()
            with api.chat.completions.stream(model="m", messages=MESSAGES) as stream:
                for _ in tool_calls(stream, calls=calls):
                    pass
    assert (0, '{"city":') in done, f"mended in openai {openai.__version__}: tell the docs"
    assert [(call.index, call.args) for call in calls.calls] == [(0, {"city": 1}), (1, {"q": 2})]


def test_the_helpers_events_are_read_like_the_streams() -> None:
    api = pytest.importorskip("anthropic")
    calls, grown = ToolCalls(), dict[str, list[str]]()
    with serve(Replay(anthropic(TWO, in_a_row(TWO)))) as replay:
        with api.Anthropic(api_key="none", base_url=replay.url, max_retries=0) as client:
            with client.messages.stream(model="m", max_tokens=9, messages=MESSAGES) as stream:
                for update in tool_calls(stream, calls=calls):
                    grown.setdefault(update.tool_call_id, []).append(update.call.raw)
    check(calls, grown)
    openai = pytest.importorskip("openai")
    calls, grown = ToolCalls(), {}
    events = full_responses(openai_responses(TWO, in_a_row(TWO)))
    with serve(Replay(events)) as replay:
        with openai.OpenAI(api_key="none", base_url=replay.url + "/v1", max_retries=0) as client:
            with client.responses.stream(model="m", input="hello") as stream:
                for update in tool_calls(stream, calls=calls):
                    grown.setdefault(update.tool_call_id, []).append(update.call.raw)
    check(calls, grown)


# ---- objects of clients, without their transport ----


def same_as_dicts(objects: Iterator[Any], events: list[Event]) -> None:
    read, expected = ToolCalls(), ToolCalls()
    for event in objects:
        read.feed(event)
    for event in events:
        expected.feed(event)
    assert read.calls == expected.calls
    assert read.calls


def test_objects_of_google() -> None:
    types = pytest.importorskip("google.genai.types")
    for name in ("gemini_whole", "gemini_partial"):
        events = BUILDERS[name](THREE, [])
        model = types.GenerateContentResponse
        same_as_dicts((model.model_validate(event) for event in events), events)
    null = [candidate({"functionCall": {"name": "f", "args": {"a": None}}}, "STOP")]
    same_as_dicts((model.model_validate(event) for event in null), null)


def test_objects_of_mistral() -> None:
    models = pytest.importorskip("mistralai.client.models")
    events = BUILDERS["mistral_chat"](TWO, [])
    objects = (models.CompletionEvent.model_validate({"data": event}) for event in events)
    same_as_dicts(objects, events)
    # Its client fills in an id and an index that the server never sent.
    whole = {"function": {"name": "f", "arguments": {"a": 1}}}
    choice = {"index": 0, "delta": {"tool_calls": [whole, whole]}, "finish_reason": "stop"}
    chunk = {"id": "m", "object": "chat.completion.chunk", "model": "m", "choices": [choice]}
    calls = ToolCalls("mistral")
    calls.feed(models.CompletionEvent.model_validate({"data": chunk}))
    assert [call.args for call in calls.calls] == [{"a": 1}, {"a": 1}]
    events = BUILDERS["mistral_conversations"](TWO, in_a_row(TWO))[1:-1]
    same_as_dicts((models.FunctionCallEvent.model_validate(event) for event in events), events)


def test_objects_of_ag_ui() -> None:
    core = pytest.importorskip("ag_ui.core")
    kinds = {"TOOL_CALL_START": core.ToolCallStartEvent, "TOOL_CALL_ARGS": core.ToolCallArgsEvent}
    kinds |= {"TOOL_CALL_END": core.ToolCallEndEvent, "RUN_STARTED": core.RunStartedEvent}
    kinds |= {"RUN_FINISHED": core.RunFinishedEvent}
    events = BUILDERS["ag_ui"](TWO, in_a_row(TWO))
    # Made by a server, such an object was never told its type: that is its class's.
    objects = (
        kinds[event["type"]](**{key: value for key, value in event.items() if key != "type"})
        for event in events
    )
    same_as_dicts(objects, events)


@dataclass
class Plain:
    """An object that holds others, as clients without pydantic have them."""

    type: str
    index: int
    delta: Any = None
    content_block: Any = None


class Old:
    def __init__(self, event: Event) -> None:
        self._event = event

    def to_dict(self) -> Event:
        return self._event


def test_a_growing_snapshot_beside_the_event_is_not_read() -> None:
    pydantic = pytest.importorskip("pydantic")

    class Delta(pydantic.BaseModel):  # type: ignore[misc, name-defined]
        type: str
        index: int
        delta: dict[str, str]
        snapshot: str

        @pydantic.field_serializer("snapshot")  # type: ignore[untyped-decorator]
        def refuse(self, snapshot: str) -> str:
            raise AssertionError("each event would cost more than the last")

    delta = {"type": "input_json_delta", "partial_json": "{}"}
    calls = ToolCalls()
    block = {"type": "tool_use", "id": "a", "name": "f", "input": {}}
    calls.feed({"type": "content_block_start", "index": 0, "content_block": block})
    calls.feed(Delta(type="content_block_delta", index=0, delta=delta, snapshot="…"))
    assert calls.calls[0].raw == "{}"


def test_objects_of_nobody_in_particular() -> None:
    events = anthropic(TWO, in_a_row(TWO))
    same_as_dicts((Old(event) for event in events), events)
    same_as_dicts((SimpleNamespace(**event) for event in events), events)

    def plain() -> Iterator[Any]:
        for event in events:
            if "index" in event:
                nested = {key: SimpleNamespace(**event[key]) for key in event.keys() - FLAT}
                yield Plain(event["type"], event["index"], **nested)
            else:
                yield event

    same_as_dicts(plain(), events)


FLAT = {"type", "index"}


# ---- what the docs show ----


def recipes() -> list[Any]:
    page = read((ROOT / "docs" / "tool-calls.md").read_text("utf8"))
    blocks = [block for block in page.blocks if block.skip and "loopback" in block.skip]
    return [pytest.param(block, id=block.text.split()[1]) for block in blocks]


# What a recipe imports → the events that its client is sent, and how they are framed.
ANSWERS: dict[str, Replay] = {
    "from openai import OpenAI": Replay(CLIENTS["openai chat"].events),
    "from openai import AsyncOpenAI": Replay(CLIENTS["openai responses"].events),
    "from anthropic import Anthropic": Replay(CLIENTS["anthropic"].events),
    "from google import genai": Replay(BUILDERS["gemini_partial"](TWO, INTERLEAVED)),
    "from mistralai.client import Mistral": Replay(BUILDERS["mistral_chat"](TWO, INTERLEAVED)),
    "import boto3": Replay(BUILDERS["bedrock"](TWO, INTERLEAVED), framed=amazon),
}


def point_clients_at(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for key, value in {
        "OPENAI_BASE_URL": url + "/v1",
        "ANTHROPIC_BASE_URL": url,
        "GOOGLE_GEMINI_BASE_URL": url,
        "AWS_ENDPOINT_URL": url,
        "AWS_DEFAULT_REGION": "eu-west-1",
        "AWS_EC2_METADATA_DISABLED": "true",
    }.items():
        monkeypatch.setenv(key, value)
    for key in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "MISTRAL_API_KEY"):
        monkeypatch.setenv(key, "none")
    for key in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(key, "none")
    mistral = sys.modules.get("mistralai.client.sdkconfiguration")
    if mistral is not None:  # it knows its servers by heart
        monkeypatch.setattr(mistral, "SERVERS", dict.fromkeys(mistral.SERVERS, url))


@pytest.mark.parametrize("block", recipes())
def test_recipes_of_the_docs_run(block: Block, monkeypatch: pytest.MonkeyPatch) -> None:
    """As they stand there: the clients are told by the environment whom to ask."""
    line = next(line for line in ANSWERS if f"{line}\n" in block.text)
    pytest.importorskip(line.split()[1])
    with serve(ANSWERS[line]) as replay:
        point_clients_at(replay.url, monkeypatch)
        names: dict[str, Any] = {"__name__": "__main__"}
        shown = run_script(block, "docs/tool-calls.md", names).splitlines()
        if "async" not in block.text and hasattr(names["client"], "close"):
            names["client"].close()
    assert f"{TWO[0].name} {json.loads(TWO[0].text)}" in shown
    assert any(line.startswith(f"{TWO[1].name} {{") for line in shown)
    whole = line == "from mistralai.client import Mistral"  # its calls come in one piece
    assert len(shown) >= 2 if whole else len(shown) > 8


def test_every_provider_with_a_client_in_python_has_a_recipe() -> None:
    assert len(recipes()) == len(ANSWERS)
