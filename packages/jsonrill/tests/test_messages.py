"""The turn for the next request: what the client libraries accept, with all that providers need."""

from __future__ import annotations

import json
from typing import Any

import pytest
from provider_streams import BUILDERS, THREE, in_a_row
from pydantic import TypeAdapter

from jsonrill import run_tools
from jsonrill.testing import Call, FakeAnswer
from support import few

Event = dict[str, Any]


def tools() -> dict[str, Any]:
    def get_weather(city: str, days: int) -> dict[str, Any]:
        return {"city": city, "days": days}

    def search(q: str, tags: list[Any]) -> str:
        raise LookupError("nothing found")

    def ping() -> None:
        return None

    return {"get_weather": get_weather, "search": search, "ping": ping}


def turn(events: list[Event]) -> list[dict[str, Any]]:
    running = run_tools(events, tools())
    for _ in running:
        pass
    return running.messages()


def accepts(messages: list[dict[str, Any]], type_: Any) -> None:
    """Check that the client library's own parameter types accept these messages."""
    TypeAdapter(list[type_]).validate_python(messages, strict=False)
    json.dumps(messages)


def test_the_next_turn_for_openai_chat() -> None:
    types = pytest.importorskip("openai.types.chat")
    messages = turn(BUILDERS["openai_chat"](THREE, in_a_row(THREE)))
    accepts(messages, types.ChatCompletionMessageParam)
    assistant, *results = messages
    assert [call["id"] for call in assistant["tool_calls"]] == [expected.id for expected in THREE]
    assert [call["function"]["arguments"] for call in assistant["tool_calls"]] == [
        expected.text for expected in THREE
    ]
    assert [(item["tool_call_id"], item["content"]) for item in results] == [
        ("call_a", '{"city":"São Paulo","days":3}'),
        ("call_b", "LookupError: nothing found"),
        ("call_c", "null"),
    ]


def test_openai_responses_sends_reasoning_items_back() -> None:
    types = pytest.importorskip("openai.types.responses")
    reasoning = {
        "type": "reasoning",
        "id": "rs_1",
        "summary": [{"type": "summary_text", "text": "Hm."}],
        "encrypted_content": "opaque",
    }
    message: Event = {
        "type": "message",
        "id": "msg_1",
        "role": "assistant",
        "status": "completed",
        "content": [{"type": "output_text", "text": "Yes", "annotations": []}],
    }
    parsed = [{**message["content"][0], "parsed": None}]  # by the helper of OpenAI's client
    call = {
        "type": "function_call",
        "id": "fc_1",
        "call_id": "call_1",
        "name": "get_weather",
        "arguments": '{"city":"Rome","days":1}',
        "status": "completed",
    }
    web = {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": _SEARCH}
    done = "response.output_item.done"
    events: list[Event] = [
        {"type": "response.created", "response": {"id": "r"}},
        {"type": "response.reasoning_summary_text.delta", "output_index": 0, "delta": "Hm."},
        {"type": done, "output_index": 0, "item": reasoning},
        {"type": done, "output_index": 1, "item": web},
        {"type": "response.output_text.delta", "output_index": 2, "delta": "Yes"},
        {"type": done, "output_index": 2, "item": {**message, "parsed": None, "content": parsed}},
        {
            "type": "response.output_item.added",
            "output_index": 3,
            "item": {**call, "arguments": ""},
        },
        {"type": done, "output_index": 3, "item": call},
        {
            "type": "response.completed",
            "response": {"id": "r", "output": [reasoning, web, message, call]},
        },
    ]
    messages = turn(events)
    accepts(messages, types.ResponseInputItemParam)
    output = {
        "type": "function_call_output",
        "call_id": "call_1",
        "output": '{"city":"Rome","days":1}',
    }
    assert messages == [reasoning, web, message, call, output]


_SEARCH = {"type": "search", "query": "weather"}


def test_anthropic_sends_signatures_and_redacted_thoughts_back() -> None:
    types = pytest.importorskip("anthropic.types")
    delta, start, stop = "content_block_delta", "content_block_start", "content_block_stop"
    redacted = {"type": "redacted_thinking", "data": "opaque"}
    use = {"type": "tool_use", "id": "t", "name": "get_weather", "input": {}}
    server = {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}
    search_result = {
        "type": "web_search_tool_result",
        "tool_use_id": "s",
        "content": [
            {
                "type": "web_search_result",
                "url": "u",
                "title": "t",
                "encrypted_content": "e",
                "page_age": None,
            }
        ],
    }
    thinking = {"type": "thinking", "thinking": "", "signature": ""}
    text = {"type": "text", "text": ""}
    blocks: list[tuple[Event, list[Event]]] = [
        (
            thinking,
            [
                {"type": "thinking_delta", "thinking": "Let me "},
                {"type": "thinking_delta", "thinking": "see."},
                {"type": "signature_delta", "signature": "sig-1"},
            ],
        ),
        (redacted, []),
        (thinking, [{"type": "signature_delta", "signature": "sig-2"}]),
        (server, [{"type": "input_json_delta", "partial_json": '{"query":"x"}'}]),
        (search_result, []),
        (text, [{"type": "text_delta", "text": "I look."}]),
        (use, [{"type": "input_json_delta", "partial_json": '{"city":"Rome","days":1}'}]),
    ]
    events: list[Event] = [{"type": "message_start", "message": {"id": "m", "usage": {}}}]
    for index, (block, deltas) in enumerate(blocks):
        events.append({"type": start, "index": index, "content_block": block})
        events += [{"type": delta, "index": index, "delta": block_delta} for block_delta in deltas]
        events.append({"type": stop, "index": index})
    events += [
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {}},
        {"type": "message_stop"},
    ]
    messages = turn(events)
    accepts(messages, types.MessageParam)
    assert messages[0] == {
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "Let me see.", "signature": "sig-1"},
            redacted,
            {"type": "thinking", "thinking": "", "signature": "sig-2"},
            {**server, "input": {"query": "x"}},
            search_result,
            {"type": "text", "text": "I look."},
            {**use, "input": {"city": "Rome", "days": 1}},
        ],
    }
    (result,) = messages[1]["content"]
    assert (result["tool_use_id"], result["is_error"]) == ("t", False)


def test_gemini_sends_thought_signatures_back() -> None:
    types = pytest.importorskip("google.genai.types")

    def event(*parts: Event, finish: str | None = None) -> Event:
        candidate: Event = {"content": {"role": "model", "parts": [*parts]}}
        return {"candidates": [{**candidate, **({"finishReason": finish} if finish else {})}]}

    call = {"name": "get_weather", "args": {"city": "Rome", "days": 1}}
    events = [
        event({"text": "Hm", "thought": True}),
        event({"text": "Look"}),
        event({"text": "ing", "thoughtSignature": "c2ln"}),
        event({"functionCall": call, "thoughtSignature": "c2lnMg=="}),
        event({"functionCall": {**call, "id": "its-own"}}),
        event({"executableCode": {"code": "1 + 1", "language": "PYTHON"}}),
        event({"text": "", "thoughtSignature": "c2lnMw=="}, finish="STOP"),
    ]
    messages = turn(events)
    for message in messages:
        types.Content.model_validate_json(json.dumps(message))
    assert messages == [
        {
            "role": "model",
            "parts": [
                {"text": "Look"},
                {"text": "ing", "thoughtSignature": "c2ln"},
                {"functionCall": call, "thoughtSignature": "c2lnMg=="},
                {"functionCall": {**call, "id": "its-own"}},
                {"executableCode": {"code": "1 + 1", "language": "PYTHON"}},
                {"text": "", "thoughtSignature": "c2lnMw=="},
            ],
        },
        {
            "role": "user",
            "parts": [
                {"functionResponse": {"name": "get_weather", "response": {"output": call["args"]}}},
                {
                    "functionResponse": {
                        "name": "get_weather",
                        "id": "its-own",
                        "response": {"output": call["args"]},
                    }
                },
            ],
        },
    ]


@few(10)
@pytest.mark.parametrize("form", ["openai_chat", "openai_responses", "anthropic", "gemini"])
@pytest.mark.parametrize("provider", sorted(BUILDERS))
def test_cut_anywhere_every_call_has_its_result(provider: str, form: str) -> None:
    """Providers refuse a call without a result, and a result without a call."""
    events = BUILDERS[provider](THREE, in_a_row(THREE))
    for cut in range(len(events) + 1):
        running = run_tools(events[:cut], tools())
        for _ in running:
            pass
        text = json.dumps(running.messages(form))
        for call in running.calls:
            count = call.answered
            assert text.count(json.dumps(call.name)) >= count
            if form in ("openai_chat", "openai_responses", "anthropic"):
                assert text.count(json.dumps(call.id)) == 2 * count


@pytest.mark.parametrize("path", ["/chat/completions", "/responses", "/messages"])
def test_another_providers_form_has_nothing_of_the_one_that_was_read(path: str) -> None:
    openai = pytest.importorskip("openai.types")
    anthropic = pytest.importorskip("anthropic.types")
    gemini = pytest.importorskip("google.genai.types")
    calls = [Call("ping"), Call("search", {"q": "x", "tags": []}), Call("unknown", '{"a":}')]
    events = FakeAnswer("Look.", "Let me think.", calls).events(path)
    for cut in range(len(events) + 1):
        running = run_tools(events[:cut], tools())
        assert list(running) is not None
        accepts(running.messages("openai_chat"), openai.chat.ChatCompletionMessageParam)
        accepts(running.messages("openai_responses"), openai.responses.ResponseInputItemParam)
        accepts(running.messages("anthropic"), anthropic.MessageParam)
        for message in running.messages("gemini"):
            gemini.Content.model_validate_json(json.dumps(message))


def test_an_unknown_form_is_refused() -> None:
    running = run_tools([{"candidates": []}], {})
    for _ in running:
        pass
    assert running.messages() == []
    with pytest.raises(ValueError, match="openai_chat"):
        running.messages("bedrock")


def test_openai_responses_leaves_reasoning_out_with_the_call_that_it_led_to() -> None:
    """A stream that was cut off: the provider refuses reasoning without the item after it."""

    def added(index: int, item: dict[str, Any], kind: str = "added") -> dict[str, Any]:
        return {"type": f"response.output_item.{kind}", "output_index": index, "item": item}

    thought = {"type": "reasoning", "id": "rs_1", "summary": []}
    called = {"type": "function_call", "id": "fc_1", "call_id": "c", "name": "f", "arguments": ""}
    search = {"type": "web_search_call", "id": "ws_1", "status": "in_progress"}
    delta = {
        "type": "response.function_call_arguments.delta",
        "output_index": 1,
        "item_id": "fc_1",
        "delta": '{"a":',
    }
    for rest in ([], [added(1, search)]):
        running = run_tools([added(0, thought), added(0, thought, "done"), *rest], {"f": dict})
        assert list(running) is not None and running.messages() == []
    events = [added(0, thought), added(0, thought, "done"), added(1, called), delta]
    running = run_tools(events, {"f": dict})
    assert list(running)
    reasoning, call, result = running.messages()
    assert reasoning == thought and call["arguments"] == "{}" and '{"a":' in result["output"]


def test_anthropic_leaves_blank_texts_out() -> None:
    events = [
        {"type": "message_start", "message": {"id": "m"}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {
            "type": "content_block_delta",
            "index": 0,
            "delta": {"type": "text_delta", "text": "\n\n"},
        },
        {"type": "content_block_stop", "index": 0},
        {"type": "message_stop"},
    ]
    running = run_tools(events, {})
    assert "".join(part.delta for part in running) == "\n\n"
    assert running.messages() == []
