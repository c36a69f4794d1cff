"""LangChain and LangGraph: a real chat model against a fake upstream, and graphs in every mode."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage, ToolMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_openai import ChatOpenAI
from langgraph.graph import END, START, MessagesState, StateGraph

from frameworks import (
    BOTH,
    CALLED,
    SPOKEN,
    TEXT,
    calls_of,
    gathered,
    last_value,
    results_of,
    text_of,
)
from jsonrill.testing import FakeAnswer, Upstream


def model(upstream: Upstream, responses: bool = False) -> ChatOpenAI:
    return ChatOpenAI(
        model="any",
        base_url=f"{upstream.url}/v1",
        api_key="none",  # type: ignore[arg-type]
        use_responses_api=responses,
        stream_usage=True,
    )


@pytest.mark.parametrize("responses", [False, True])
def test_chunks_of_a_chat_model(responses: bool) -> None:
    with Upstream(SPOKEN) as upstream:
        chunks = [*model(upstream, responses).stream("hi")]
    assert text_of(chunks) == TEXT
    assert last_value(chunks) == json.loads(TEXT)
    assert text_of([(chunk, {"langgraph_node": "n"}) for chunk in chunks]) == TEXT
    assert text_of([chunk.model_dump(mode="json") for chunk in chunks]) == TEXT


@pytest.mark.parametrize("responses", [False, True])
def test_calls_of_a_chat_model(responses: bool) -> None:
    with Upstream(CALLED) as upstream:
        chunks = [*model(upstream, responses).stream("hi")]
    assert calls_of(chunks) == BOTH
    whole = chunks[0]
    for chunk in chunks[1:]:
        whole += chunk  # type: ignore[assignment]
    assert [(call["name"], call["args"]) for call in whole.tool_calls] == [it[:2] for it in BOTH]
    assert calls_of([AIMessage("", tool_calls=whole.tool_calls, id="m")]) == BOTH
    # The complete message after its chunks says nothing new.
    message = AIMessage("", tool_calls=whole.tool_calls, id=chunks[-1].id)
    assert calls_of([*chunks, message]) == BOTH


@pytest.mark.parametrize("responses", [False, True])
@pytest.mark.parametrize("answer", [SPOKEN, CALLED], ids=["text", "calls"])
def test_astream_events(answer: FakeAnswer, responses: bool) -> None:
    with Upstream(answer) as upstream:
        chain = ChatPromptTemplate.from_template("{q}") | model(upstream, responses)
        if answer is SPOKEN:
            chain |= StrOutputParser()  # type: ignore[assignment]
        events = asyncio.run(gathered(chain.astream_events({"q": "hi"}, version="v2")))
    assert text_of(events) == answer.text if answer.text else calls_of(events) == BOTH


def test_a_model_that_does_not_stream() -> None:
    message = AIMessage(TEXT, id="m1")
    assert text_of([message]) == TEXT
    fake = GenericFakeChatModel(messages=iter([message]))
    assert text_of(fake.stream("hi")) == TEXT


def agent(upstream: Upstream) -> Any:
    """A graph that asks, runs the calls, and asks again."""
    chat = model(upstream)

    def ask(state: MessagesState) -> dict[str, Any]:
        return {"messages": [chat.invoke(state["messages"])]}

    def run(state: MessagesState) -> dict[str, Any]:
        calls = state["messages"][-1].tool_calls  # type: ignore[union-attr]
        messages = [ToolMessage(f"did {call['name']}", tool_call_id=call["id"]) for call in calls]
        return {"messages": messages}

    graph = StateGraph(MessagesState)
    graph.add_node("ask", ask)
    graph.add_node("run", run)
    graph.add_node("again", ask)
    graph.add_edge(START, "ask")
    graph.add_edge("ask", "run")
    graph.add_edge("run", "again")
    graph.add_edge("again", END)
    return graph.compile()


MODES: list[dict[str, Any]] = [
    {"stream_mode": "messages"},
    {"stream_mode": "updates"},
    {"stream_mode": "values"},
    {"stream_mode": ["messages", "updates", "values", "custom", "debug"]},
    {"stream_mode": "messages", "subgraphs": True},
    {"stream_mode": ["updates", "messages"], "subgraphs": True},
    {"stream_mode": ["messages", "values"], "version": "v2"},
]


@pytest.mark.parametrize("how", MODES, ids=str)
def test_a_graph_in_every_mode(how: dict[str, Any]) -> None:
    asked = {"messages": [AIMessage("Before", id="old"), HumanMessage("hi")]}
    with Upstream(CALLED, SPOKEN) as upstream:
        events = [*agent(upstream).stream(asked, **how)]
    assert text_of(events) == TEXT
    assert calls_of(events) == BOTH
    assert results_of(events) == {"weather": "did weather", "ping": "did ping"}


def test_two_nodes_that_stream_at_once() -> None:
    with Upstream(CALLED) as upstream:
        chunks = [*model(upstream).stream("hi")]
    other = [chunk.model_copy(update={"id": "run-other"}) for chunk in chunks]
    about = [{"langgraph_checkpoint_ns": name} for name in ("a:1", "b:1")]

    def mixed() -> Iterator[Any]:
        for one, two in zip(chunks, other, strict=True):
            yield one, about[0]
            yield two, about[1]

    assert calls_of(mixed()) == [BOTH[0], BOTH[0], BOTH[1], BOTH[1]]


def test_thoughts_are_no_text() -> None:
    chunk = AIMessageChunk([{"type": "thinking", "thinking": "hm", "index": 0}], id="a")
    text = AIMessageChunk([{"type": "text", "text": "{}", "index": 1}], id="a")
    assert text_of([chunk, text]) == "{}"
