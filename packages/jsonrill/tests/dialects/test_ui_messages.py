"""The messages of `useChat` come back as those of a provider's request."""

from __future__ import annotations

import json
import subprocess
from functools import cache
from typing import Any

import pytest
from pydantic import TypeAdapter

from jsonrill import agent, tool
from jsonrill.dialects import from_ai_sdk
from support import ROOT, few, need_command
from support.npm import installed

Message = dict[str, Any]
PROVIDERS: tuple[Any, ...] = ("openai", "responses", "anthropic", "gemini")

# What a person sees of a chat, and decides: the SDK's own class keeps the messages.
SCRIPT = """
import { Chat } from "@ai-sdk/react";
import { convertToModelMessages, validateUIMessages } from "ai";

const type = "tool-input-available";
const call = (toolCallId, toolName, input) => ({ type, toolCallId, toolName, input });
const answers = [
  [
    { type: "start", messageId: "m1" },
    { type: "start-step" },
    { type: "reasoning-start", id: "r" },
    { type: "reasoning-delta", id: "r", delta: "Hm." },
    { type: "reasoning-end", id: "r" },
    { type: "text-start", id: "t" },
    { type: "text-delta", id: "t", delta: "I look. " },
    { type: "text-end", id: "t" },
    call("c1", "weather", { city: "Rome" }),
    call("c2", "weather", { city: "Oslo" }),
    { type: "tool-output-available", toolCallId: "c1", output: { degrees: 31 } },
    { type: "tool-output-error", toolCallId: "c2", errorText: "no such place" },
    { type: "finish-step" },
    { type: "start-step" },
    { type: "data-note", data: { any: 1 } },
    call("c3", "book", { city: "Rome" }),
    call("c4", "book", { city: "Oslo" }),
    call("c5", "book", { city: "Lima" }),
    { type: "tool-approval-request", toolCallId: "c3", approvalId: "a3" },
    { type: "tool-approval-request", toolCallId: "c4", approvalId: "a4" },
    { type: "tool-approval-request", toolCallId: "c5", approvalId: "a5" },
    { type: "finish-step" },
    { type: "finish" },
  ],
];
const transport = {
  sendMessages: async () => ReadableStream.from(answers.shift()),
  reconnectToStream: async () => null,
};
const chat = new Chat({ transport });
const url = "data:image/png;base64,iVBORw0KGgo=";
await chat.sendMessage({
  parts: [
    { type: "text", text: "Where is it warmest?" },
    { type: "file", mediaType: "image/png", url },
  ],
});
await chat.addToolApprovalResponse({ id: "a3", approved: true });
await chat.addToolApprovalResponse({ id: "a4", approved: false, reason: "too far" });
await validateUIMessages({ messages: chat.messages });
const model = await convertToModelMessages(chat.messages);
console.log(JSON.stringify({ messages: chat.messages, model }));
"""


@cache
def chat() -> tuple[list[Message], list[Message]]:
    """The messages of a chat, and what the SDK itself makes of them for a model."""
    folder = installed(ROOT / "packages/jsonrill-server/tests/clients", "clients")
    command = [need_command("node"), "--input-type=module", "-e", SCRIPT]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    printed = json.loads(done.stdout)
    return printed["messages"], printed["model"]


@cache
def accepts(provider: str) -> TypeAdapter[Any]:
    """The client library's own type of messages."""
    match provider:
        case "openai":
            from openai.types.chat import ChatCompletionMessageParam as Message
        case "responses":
            from openai.types.responses import ResponseInputItemParam as Message
        case "anthropic":
            from anthropic.types import MessageParam as Message
        case _:
            from google.genai.types import Content as Message
    return TypeAdapter(list[Message])


@few(1)
@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_chat_of_the_sdk_is_a_valid_request(provider: Any) -> None:
    messages, model = chat()
    converted = from_ai_sdk(messages, provider)
    accepts(provider).validate_python(list(converted))
    text = json.dumps(converted)
    for told in ("Where is it warmest?", "iVBORw0KGgo=", "I look. ", "31", "no such place"):
        assert told in text
    assert "too far" in text
    assert "Hm." not in text and "any" not in text
    # Neither what was approved and has not run yet, nor what nobody has decided.
    for id in ("c3", "c5"):
        assert json.dumps(id) not in text
    assert converted.decisions == {"c3": True, "c4": "too far"}
    # The SDK's own conversion has the same answers, in the same order.
    assert [it["role"] for it in model] == ["user", "assistant", "tool", "assistant", "tool"]


def test_the_turns_are_those_of_the_sdk() -> None:
    messages, model = chat()
    user, first, *results, second, denied = from_ai_sdk(messages, "openai")
    calls = [part for part in model[1]["content"] if part["type"] == "tool-call"]
    assert [it["id"] for it in first["tool_calls"]] == [it["toolCallId"] for it in calls]
    assert [json.loads(it["function"]["arguments"]) for it in first["tool_calls"]] == [
        it["input"] for it in calls
    ]
    assert [it["tool_call_id"] for it in results] == ["c1", "c2"]
    assert [it["id"] for it in second["tool_calls"]] == ["c4"]
    assert denied["content"] == "a person refused the call: too far"
    assert user["content"][1]["image_url"]["url"].startswith("data:image/png")


def test_a_decision_continues_the_state_of_the_agent() -> None:
    @tool(approve=True)
    def book(city: str) -> str:
        return f"booked {city}"

    def event(finish: str, **delta: Any) -> Message:
        return {"id": "x", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}

    calls = [
        {"index": at, "id": id, "function": {"name": "book", "arguments": f'{{"city":"{city}"}}'}}
        for at, (id, city) in enumerate([("c3", "Rome"), ("c4", "Oslo")])
    ]
    before = agent(lambda _: [event("tool_calls", tool_calls=calls)], {"book": book})
    list(before)
    asked: list[Any] = []

    def ask(messages: list[Any]) -> list[Message]:
        asked.append(messages)
        return [event("stop", content="Bye")]

    decisions = from_ai_sdk(chat()[0], "openai").decisions
    again = agent(ask, {"book": book}, state=before.state(), decisions=decisions)
    list(again)
    assert again.outcome == "complete"
    contents = [it["content"] for it in asked[0][1:]]
    assert contents == ["booked Rome", "a person refused the call: too far"]


def written(*parts: Message, role: str = "user") -> Message:
    return {"id": "m", "role": role, "parts": list(parts)}


TEXT = {"type": "text", "text": "Hi"}


def test_system_messages() -> None:
    messages = [written(TEXT, role="system"), written(TEXT)]
    for provider in PROVIDERS:
        converted = from_ai_sdk(messages, provider)
        assert converted.system == "Hi"
        assert len(converted) == (2 if provider in ("openai", "responses") else 1)


@pytest.mark.parametrize("url", ["https://example.org/x", "data:application/pdf;base64,JVBERg=="])
@pytest.mark.parametrize("kind", ["image/png", "application/pdf"])
@pytest.mark.parametrize("provider", PROVIDERS)
def test_files(provider: Any, kind: str, url: str) -> None:
    messages = [written(TEXT, {"type": "file", "mediaType": kind, "url": url})]
    if provider == "openai" and kind != "image/png" and url.startswith("https:"):
        with pytest.raises(ValueError, match="application/pdf"):
            from_ai_sdk(messages, provider)
        return
    accepts(provider).validate_python(list(from_ai_sdk(messages, provider)))


@pytest.mark.parametrize(
    "state", ["input-streaming", "input-available", "approval-requested", "new"]
)
@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_call_without_a_result_is_left_out(provider: Any, state: str) -> None:
    part = {"type": "tool-f", "toolCallId": "c", "state": state, "input": {}}
    converted = from_ai_sdk([written(TEXT), written(TEXT, part, role="assistant")], provider)
    assert len(converted) == 2 and '"c"' not in json.dumps(converted)
    assert converted.decisions == {}


@pytest.mark.parametrize("provider", PROVIDERS)
def test_dynamic_tools_and_those_of_the_provider(provider: Any) -> None:
    done = {"state": "output-available", "input": {"a": 1}, "output": [1]}
    mine = {"type": "dynamic-tool", "toolName": "f", "toolCallId": "c", **done}
    theirs = {"type": "tool-web", "toolCallId": "w", "providerExecuted": True, **done}
    converted = from_ai_sdk([written(TEXT), written(mine, theirs, role="assistant")], provider)
    accepts(provider).validate_python(list(converted))
    text = json.dumps(converted)
    assert '"f"' in text and "web" not in text


@pytest.mark.parametrize(
    "messages",
    [
        ["hi"],
        [{"role": "user", "content": "hi"}],
        [{"role": "tool", "parts": []}],
        [written({"text": "x"})],
        [written({"type": "hologram"})],
        [written({"type": "file", "mediaType": "audio/wav", "url": "https://example.org/x"})],
    ],
)
def test_what_cannot_be_translated_is_refused(messages: Any) -> None:
    with pytest.raises(ValueError):
        from_ai_sdk(messages, "anthropic")


def test_an_unknown_provider_is_refused() -> None:
    with pytest.raises(ValueError, match="'responses'"):
        from_ai_sdk([], "bedrock")  # type: ignore[arg-type]
