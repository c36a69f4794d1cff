"""LlamaIndex: the classes that its models and agents stream."""

from __future__ import annotations

from typing import Any

from llama_index.core.agent.workflow import AgentOutput, AgentStream, ToolCall, ToolCallResult
from llama_index.core.base.llms.types import (
    ChatMessage,
    ChatResponse,
    CompletionResponse,
    MessageRole,
)
from llama_index.core.llms import MockLLM
from llama_index.core.llms.llm import ToolSelection
from llama_index.core.tools import ToolOutput
from openai import OpenAI

from frameworks import BOTH, CALLED, SPOKEN, TEXT, calls_of, results_of, text_of
from jsonrill.testing import FakeAnswer, Upstream


def chunks(answer: FakeAnswer) -> list[Any]:
    with Upstream(answer) as upstream:
        with OpenAI(base_url=f"{upstream.url}/v1", api_key="none") as client:
            return [
                *client.chat.completions.create(
                    model="any", messages=[{"role": "user", "content": "hi"}], stream=True
                )
            ]


def chat(answer: FakeAnswer, raw: bool = True) -> list[ChatResponse]:
    """What `stream_chat` of its OpenAI model yields."""
    responses, text = [], ""
    for chunk in chunks(answer):
        delta = chunk.choices[0].delta.content or "" if chunk.choices else ""
        text += delta
        message = ChatMessage(role=MessageRole.ASSISTANT, content=text)
        responses.append(ChatResponse(message=message, delta=delta, raw=chunk if raw else None))
    return responses


def test_chat() -> None:
    assert text_of(chat(SPOKEN)) == text_of(chat(SPOKEN, raw=False)) == TEXT
    assert calls_of(chat(CALLED)) == BOTH


def test_completion() -> None:
    assert text_of(MockLLM().stream_complete(TEXT)) == TEXT
    pieces = [
        CompletionResponse(text=TEXT[: at + 4], delta=TEXT[at : at + 4])
        for at in range(0, len(TEXT), 4)
    ]
    assert text_of(pieces) == TEXT


def test_an_agent() -> None:
    selected = [
        ToolSelection(tool_id=f"call_{name}", tool_name=name, tool_kwargs=args)
        for name, args, _ in BOTH
    ]
    events: list[Any] = []
    for raw in (True, False):
        for chunk in chunks(SPOKEN):
            delta = chunk.choices[0].delta.content or "" if chunk.choices else ""
            same: dict[str, Any] = {"response": "", "current_agent_name": "a", "tool_calls": []}
            events.append(AgentStream(delta=delta, raw=chunk.model_dump() if raw else None, **same))
    message = ChatMessage(role=MessageRole.ASSISTANT, content=TEXT)
    events.append(AgentOutput(response=message, current_agent_name="a", tool_calls=selected))
    for one in selected:
        same = one.model_dump()
        events.append(ToolCall(**same))
        output = ToolOutput(
            content="ok", tool_name=one.tool_name, raw_input={}, raw_output="ok", is_error=False
        )
        events.append(ToolCallResult(**same, tool_output=output, return_direct=False))
    assert text_of(events) == TEXT + TEXT
    assert calls_of(events) == BOTH
    assert results_of(events) == {name: "ok" for name, *_ in BOTH}
