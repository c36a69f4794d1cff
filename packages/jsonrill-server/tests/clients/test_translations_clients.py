"""The clients of others, unmodified, on what `to_ai_sdk` and the others make of any provider."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from jsonrill import Part, agent, content, run_tools, sse, tool
from jsonrill.dialects import to_ag_ui, to_ai_sdk
from jsonrill.testing import Call, Exchange, FakeAnswer, Script, Upstream
from support import few, hard, need_command

ARGUMENTS = {"city": "São Paulo ☂", "days": [1, {"a": None}]}
ANSWER = FakeAnswer(
    "Let me look.", reasoning="Hm, which?", calls=[Call("weather", ARGUMENTS, "call_1")], pace=0
)
OBJECT = FakeAnswer('{"title": "Storm", "n": 3}', pace=0)


def streamed(provider: str, answer: FakeAnswer) -> list[Any]:
    """The events of a provider's real client."""
    with Upstream(answer) as upstream:
        if provider == "openai":
            from openai import OpenAI

            with OpenAI(base_url=f"{upstream.url}/v1", api_key="none") as client:
                asked: list[Any] = [{"role": "user", "content": "hi"}]
                return [*client.chat.completions.create(model="m", messages=asked, stream=True)]
        if provider == "anthropic":
            from anthropic import Anthropic

            with Anthropic(base_url=upstream.url, api_key="none") as messages:
                prompt: list[Any] = [{"role": "user", "content": "hi"}]
                return [
                    *messages.messages.create(model="m", max_tokens=9, messages=prompt, stream=True)
                ]
        from google import genai

        with genai.Client(api_key="none", http_options={"base_url": upstream.url}) as gemini:
            return [*gemini.models.generate_content_stream(model="m", contents="hi")]


def seen_by_clients(npm: Path, events: Callable[[], Any], values: Any) -> dict[str, Any]:
    """What the clients of others make of events, and a client of text of values."""
    stream = {"content-type": "text/event-stream"}

    def reply(exchange: Exchange) -> Script:
        match exchange.target.rpartition("/")[2]:
            case "ai-sdk":
                headers = {**stream, "x-vercel-ai-ui-message-stream": "v1"}
                return Script([*sse(to_ai_sdk(events()))], headers=headers)
            case "ag-ui":
                predicted = to_ag_ui(events(), state={"kept": 1}, predict={"city": "weather.city"})
                return Script([*sse(predicted)], headers=stream)
            case _:
                return Script([piece.encode() for piece in content(values)])

    with Upstream(reply) as upstream:
        command = [need_command("node"), "translations.mjs", upstream.url]
        done = subprocess.run(command, cwd=npm, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    seen: dict[str, Any] = json.loads(done.stdout)
    return seen


@few(1)
@pytest.mark.parametrize("provider", ["openai", "anthropic", "gemini"])
def test_the_clients_of_others_read_any_provider(npm: Path, provider: str) -> None:
    events, values = streamed(provider, ANSWER), streamed(provider, OBJECT)
    seen = seen_by_clients(npm, lambda: events, values)

    message = seen["aiSdk"]["message"]
    assert seen["aiSdk"]["errors"] == []
    parts = {part["type"]: part for part in message["parts"]}
    assert parts["text"]["text"] == ANSWER.text and parts["reasoning"]["text"] == ANSWER.reasoning
    assert parts["dynamic-tool"]["input"] == ARGUMENTS

    by_role = {one["role"]: one for one in seen["agUi"]["messages"]}
    texts = [one["content"] for one in seen["agUi"]["messages"] if one.get("content")]
    assert ANSWER.text in texts and "assistant" in by_role
    called = [call for one in seen["agUi"]["messages"] for call in one.get("toolCalls", [])]
    assert [json.loads(call["function"]["arguments"]) for call in called] == [ARGUMENTS]
    assert seen["agUi"]["state"] == {"kept": 1, "city": ARGUMENTS["city"]}
    assert seen["agUi"]["seen"][-1] == "RUN_FINISHED"

    assert seen["object"]["error"] is None
    assert seen["object"]["states"][-1] == {"title": "Storm", "n": 3}


def test_the_clients_of_others_read_the_parts_of_an_agent(npm: Path) -> None:
    """Each gets what it would get of a server that runs its agents itself."""
    turns = [streamed("anthropic", ANSWER), streamed("anthropic", FakeAnswer("It rains.", pace=0))]

    def turn_by_turn() -> Iterator[Part]:
        for turn in turns:
            tools = {"weather": lambda city, days: {"rain": city}}
            yield from run_tools(turn, tools, when="call")

    seen = seen_by_clients(npm, turn_by_turn, streamed("openai", OBJECT))

    message = seen["aiSdk"]["message"]
    assert seen["aiSdk"]["errors"] == []
    assert [part["type"] for part in message["parts"]] == [
        "step-start",
        "reasoning",
        "text",
        "dynamic-tool",
        "step-start",
        "text",
    ]
    called = message["parts"][3]
    assert (called["state"], called["input"]) == ("output-available", ARGUMENTS)
    assert called["output"] == {"rain": ARGUMENTS["city"]}
    # What the client sends to a model next: the call, its result, then the answer.
    sent = [(it["role"], [part["type"] for part in it["content"]]) for it in seen["aiSdk"]["sent"]]
    assert [role for role, _ in sent] == ["assistant", "tool", "assistant"]
    assert sent[0][1][-1] == "tool-call" and sent[1][1] == ["tool-result"]

    messages = seen["agUi"]["messages"]
    assert [one["role"] for one in messages if one["role"] != "reasoning"].count("tool") == 1
    assert messages[-1]["content"] == "It rains." and seen["agUi"]["seen"][-1] == "RUN_FINISHED"


@hard
def test_the_clients_of_others_see_a_call_that_waits_for_a_person(npm: Path) -> None:
    """None of them takes it for a call that it should run itself."""
    answer = streamed("anthropic", ANSWER)
    approved = tool(approve=True)(lambda city, days: "sun")

    def waiting() -> Iterator[Part]:
        messages = [{"role": "user", "content": "hi"}]
        return agent(lambda _: answer, {"weather": approved}, messages=messages)

    seen = seen_by_clients(npm, waiting, streamed("openai", OBJECT))

    message = seen["aiSdk"]["message"]
    assert seen["aiSdk"]["errors"] == []
    asked = message["parts"][-1]
    assert (asked["state"], asked["input"]) == ("approval-requested", ARGUMENTS)
    assert asked["approval"] == {"id": asked["toolCallId"]}

    [interrupt] = seen["agUi"]["outcome"]["interrupts"]
    called = [call["id"] for one in seen["agUi"]["messages"] for call in one.get("toolCalls", [])]
    assert seen["agUi"]["outcome"]["type"] == "interrupt"
    assert [one["id"] for one in seen["agUi"]["pending"]] == [interrupt["id"]]
    assert called == [interrupt["toolCallId"]] == [asked["toolCallId"]]
