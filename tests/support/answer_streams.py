"""Answers as each provider streams them: thoughts, text, and an end; and what they say.

The calls of a provider are built in `provider_streams.py`; here is everything else of it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from jsonrill import partial
from support import ROOT
from support.provider_streams import BUILDERS, TWO, in_a_row

Event = dict[str, Any]

TEXT = '{"title":"Tide \\u00e9 ☂","rows":[1,{"a":null},"b"],"ok":true}'
THOUGHT = '{"this is": not the answer'
# Of the cases: those that say something beside their calls, and those recorded without an end.
LOOKING = ("anthropic_fine_grained_truncated", "anthropic_messages")
ENDLESS = (
    *("ag_ui_chunks", "gemini_interactions_api", "gemini_vertex_partial_args"),
    *("gemini_whole_args", "mistral_conversations", "openai_responses"),
)
CASES = ROOT / "tests" / "cases" / "providers"


class Answer(NamedTuple):
    """A stream and what it says: `text` of choice 0, `calls` as (name, args, status), its end."""

    events: list[Event]
    text: str = ""
    calls: list[tuple[str, Any, str]] = []
    end: str | None = "complete"
    # How the event stream shows that nothing follows: "event", "[DONE]", or not at all.
    marks_end: str = ""


class Shape(NamedTuple):
    """How a provider writes an answer; `ends` are the events of each end."""

    begin: list[Event]
    thought: Callable[[str], Event] | None
    text: Callable[[str], Event]
    ends: dict[str, list[Event]]
    marks: str = ""


def _chunk(delta: Event, finish: str | None = None, index: int = 0) -> Event:
    choice = {"index": index, "delta": delta, "finish_reason": finish}
    return {"id": "c1", "object": "chat.completion.chunk", "choices": [choice]}


def _block(index: int, delta: Event) -> Event:
    return {"type": "content_block_delta", "index": index, "delta": delta}


def _candidate(parts: list[Event], finish: str | None = None, index: int = 0) -> Event:
    found: Event = {"index": index, "content": {"role": "model", "parts": parts}}
    found |= {} if finish is None else {"finishReason": finish}
    return {"candidates": [found], "responseId": "r1", "usageMetadata": {"totalTokenCount": 9}}


def _bedrock(index: int, delta: Event) -> Event:
    return {"contentBlockDelta": {"contentBlockIndex": index, "delta": delta}}


def _step(index: int, delta: Event) -> Event:
    return {"event_type": "step.delta", "index": index, "delta": delta}


def _interaction(status: str) -> Event:
    usage = {"total_tokens": 3}
    done = {"id": "i1", "status": status, "usage": usage}
    return {"event_type": "interaction.completed", "interaction": done}


def _response(kind: str, **more: Any) -> Event:
    return {"type": f"response.{kind}", "response": {"id": "resp_1", "output": [], **more}}


def _stopped(reason: str) -> list[Event]:
    delta = {"stop_reason": reason, "stop_sequence": None}
    counted = {"type": "message_delta", "delta": delta, "usage": {"output_tokens": 7}}
    return [counted, {"type": "message_stop"}]


def _cohere(index: int, content: Event) -> Event:
    return {"type": "content-delta", "index": index, "delta": {"message": {"content": content}}}


def _cohere_end(reason: str, **more: Any) -> Event:
    delta = {"finish_reason": reason, "usage": {"tokens": {"output_tokens": 3}}, **more}
    return {"type": "message-end", "delta": delta}


def _ollama(said: Event, reason: str | None = None) -> Event:
    event = {"model": "q", "created_at": "t", **said, "done": reason is not None}
    return event if reason is None else event | {"done_reason": reason, "eval_count": 3}


def _realtime(kind: str, **more: Any) -> Event:
    return {"type": kind, "event_id": "e", **more}


def _realtime_done(status: str, **more: Any) -> Event:
    response = {"id": "r", "status": status, "output": [], "usage": {"total_tokens": 3}, **more}
    return _realtime("response.done", response=response)


def _live(content: Event) -> Event:
    return {"serverContent": content, "usageMetadata": {"totalTokenCount": 3}}


def _chunk_of(said: Event) -> Event:
    return {"type": "AIMessageChunk", "id": "run-1", "content": "", **said}


def _langchain_event(kind: str, data: Event) -> Event:
    return {"event": kind, "run_id": "r1", "name": "model", "tags": [], "data": data}


def _graph(mode: str, data: Any) -> Event:
    return {"type": mode, "ns": [], "data": data}


def _graph_chunk(said: Event) -> Event:
    return _graph("messages", [_chunk_of(said), {"langgraph_checkpoint_ns": "n:1"}])


def _part(what: str, **more: Any) -> Event:
    return {"event_kind": f"part_{what}", "index": 0, **more}


def _raw(event: Event) -> Event:
    return {"type": "raw_response_event", "data": event}


def _stream_event(event: Event) -> Event:
    return {"type": "stream_event", "event": event, "parent_tool_use_id": None}


def _claude_result(subtype: str, **more: Any) -> Event:
    return {"type": "result", "subtype": subtype, "is_error": False, **more}


def _adk(parts: list[Event], **more: Any) -> Event:
    return {"invocationId": "i", "author": "agent", "content": {"parts": parts}, **more}


_ANSWER = {"type": "ai", "id": "run-1", "content": TEXT}
_FAILED = {"type": "overloaded_error", "message": "Overloaded"}

SHAPES: dict[str, Shape] = {
    "openai_chat": Shape(
        [_chunk({"role": "assistant", "content": ""})],
        lambda text: _chunk({"reasoning_content": text}),
        lambda text: _chunk({"content": text}),
        {
            "complete": [_chunk({}, "stop"), {"id": "c1", "choices": [], "usage": {"total": 3}}],
            "cut": [_chunk({}, "length")],
            "error": [{"error": {"message": "Overloaded", "code": 529}}],
        },
        "[DONE]",
    ),
    "mistral_chat": Shape(
        [_chunk({"role": "assistant", "content": ""})],
        lambda text: _chunk(
            {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": text}]}]}
        ),
        lambda text: _chunk({"content": [{"type": "text", "text": text}]}),
        {"complete": [_chunk({"content": ""}, "stop")], "cut": [_chunk({}, "model_length")]},
        "[DONE]",
    ),
    "mistral_conversations": Shape(
        [{"type": "conversation.response.started", "conversation_id": "c"}],
        lambda text: {
            "type": "message.output.delta",
            "content": {"type": "thinking", "thinking": [{"type": "text", "text": text}]},
        },
        lambda text: {"type": "message.output.delta", "output_index": 0, "content": text},
        {
            "complete": [{"type": "conversation.response.done", "usage": {"total_tokens": 2}}],
            "error": [{"type": "conversation.response.error", "message": "Overloaded", "code": 1}],
        },
        "event",
    ),
    "openai_responses": Shape(
        [_response("created"), _response("in_progress")],
        lambda text: {
            "type": "response.reasoning_summary_text.delta",
            "output_index": 0,
            "delta": text,
        },
        lambda text: {"type": "response.output_text.delta", "output_index": 1, "delta": text},
        {
            "complete": [_response("completed", usage={"total_tokens": 2})],
            "cut": [_response("incomplete", incomplete_details={"reason": "max_output_tokens"})],
            "error": [_response("failed", error={"code": "server_error", "message": "Overloaded"})],
        },
        "event",
    ),
    "anthropic": Shape(
        [
            {"type": "message_start", "message": {"id": "msg_1", "usage": {"input_tokens": 1}}},
            {"type": "ping"},
        ],
        lambda text: _block(0, {"type": "thinking_delta", "thinking": text}),
        lambda text: _block(1, {"type": "text_delta", "text": text}),
        {
            "complete": _stopped("end_turn"),
            "cut": _stopped("max_tokens"),
            "error": [{"type": "error", "error": _FAILED}],
        },
        "event",
    ),
    "bedrock": Shape(
        [{"messageStart": {"role": "assistant"}}],
        lambda text: _bedrock(0, {"reasoningContent": {"text": text}}),
        lambda text: _bedrock(1, {"text": text}),
        {
            "complete": [
                {"contentBlockStop": {"contentBlockIndex": 1}},
                {"messageStop": {"stopReason": "end_turn"}},
                {"metadata": {"usage": {"totalTokens": 2}}},
            ],
            "cut": [{"messageStop": {"stopReason": "max_tokens"}}],
            "error": [{"throttlingException": {"message": "Overloaded"}}],
        },
    ),
    "gemini": Shape(
        [],
        lambda text: _candidate([{"text": text, "thought": True}]),
        lambda text: _candidate([{"text": text}]),
        {
            "complete": [_candidate([{"text": ""}], "STOP")],
            "cut": [_candidate([], "MAX_TOKENS")],
            "error": [_candidate([], "MALFORMED_FUNCTION_CALL")],
        },
    ),
    "gemini_interactions": Shape(
        [{"event_type": "interaction.created", "interaction": {"id": "i1"}}],
        lambda text: _step(0, {"type": "thought_summary", "content": {"text": text}}),
        lambda text: _step(1, {"type": "text", "text": text}),
        {
            "complete": [_interaction("completed")],
            "cut": [_interaction("incomplete")],
            "error": [{"event_type": "error", "error": {"message": "Overloaded"}}],
        },
        "event",
    ),
    "vercel": Shape(
        [{"type": "start", "messageId": "m1"}, {"type": "text-start", "id": "t"}],
        lambda text: {"type": "reasoning-delta", "id": "r", "delta": text},
        lambda text: {"type": "text-delta", "id": "t", "delta": text},
        {
            "complete": [{"type": "text-end", "id": "t"}, {"type": "finish"}],
            "cut": [{"type": "finish", "finishReason": "length"}],
            "error": [{"type": "error", "errorText": "Overloaded"}, {"type": "finish"}],
        },
        "event",
    ),
    "ag_ui": Shape(
        [
            {"type": "RUN_STARTED", "threadId": "t", "runId": "r"},
            {"type": "TEXT_MESSAGE_START", "messageId": "m", "role": "assistant"},
        ],
        lambda text: {"type": "REASONING_MESSAGE_CONTENT", "messageId": "m", "delta": text},
        lambda text: {"type": "TEXT_MESSAGE_CONTENT", "messageId": "m", "delta": text},
        {
            "complete": [{"type": "RUN_FINISHED", "threadId": "t", "runId": "r"}],
            "error": [{"type": "RUN_ERROR", "message": "Overloaded"}],
        },
        "event",
    ),
    "cohere": Shape(
        [{"type": "message-start", "id": "m1", "delta": {"message": {"role": "assistant"}}}],
        lambda text: _cohere(0, {"thinking": text}),
        lambda text: _cohere(1, {"text": text}),
        {
            "complete": [_cohere_end("COMPLETE")],
            "cut": [_cohere_end("MAX_TOKENS")],
            "error": [_cohere_end("ERROR", error="Overloaded")],
        },
        "event",
    ),
    "ollama_chat": Shape(
        [],
        lambda text: _ollama({"message": {"role": "assistant", "content": "", "thinking": text}}),
        lambda text: _ollama({"message": {"role": "assistant", "content": text}}),
        {
            "complete": [_ollama({"message": {"content": ""}}, "stop")],
            "cut": [_ollama({"message": {"content": ""}}, "length")],
            "error": [{"error": "Overloaded"}],
        },
        "event",
    ),
    "ollama_generate": Shape(
        [],
        lambda text: _ollama({"response": "", "thinking": text}),
        lambda text: _ollama({"response": text}),
        {
            "complete": [_ollama({"response": ""}, "stop")],
            "cut": [_ollama({"response": ""}, "length")],
        },
        "event",
    ),
    "openai_realtime": Shape(
        [_realtime("session.created", session={}), _realtime("response.created", response={})],
        None,
        lambda text: _realtime("response.output_text.delta", output_index=0, delta=text),
        {
            "complete": [_realtime_done("completed")],
            "cut": [_realtime_done("incomplete")],
            "error": [_realtime_done("failed", status_details={"error": _FAILED})],
        },
    ),
    "gemini_live": Shape(
        [{"setupComplete": {}}],
        lambda text: _live({"modelTurn": {"parts": [{"text": text, "thought": True}]}}),
        lambda text: _live({"modelTurn": {"parts": [{"text": text}]}}),
        {
            "complete": [_live({"turnComplete": True})],
            "cut": [_live({"interrupted": True}), _live({"turnComplete": True})],
        },
    ),
    "langchain": Shape(
        [],
        lambda text: _chunk_of({"content": [{"type": "thinking", "thinking": text}]}),
        lambda text: _chunk_of({"content": text}),
        {
            "complete": [
                _chunk_of({"response_metadata": {"finish_reason": "stop"}}),
                _chunk_of({"usage_metadata": {"total_tokens": 3}, "chunk_position": "last"}),
                {"type": "ai", "id": "run-1", "content": TEXT},
            ],
            "cut": [_chunk_of({"response_metadata": {"stop_reason": "max_tokens"}})],
        },
    ),
    "langchain_events": Shape(
        [_langchain_event("on_chat_model_start", {"input": {}})],
        None,
        lambda text: _langchain_event(
            "on_chat_model_stream", {"chunk": _chunk_of({"content": text})}
        ),
        {
            "complete": [
                _langchain_event("on_parser_stream", {"chunk": {"title": "Tide"}}),
                _langchain_event(
                    "on_chat_model_stream", {"chunk": _chunk_of({"usage_metadata": {"total": 3}})}
                ),
                _langchain_event("on_chat_model_end", {"output": _chunk_of({"content": TEXT})}),
            ],
        },
    ),
    "langgraph": Shape(
        [_graph("values", {"messages": [{"type": "ai", "id": "old", "content": "Before"}]})],
        lambda text: _graph_chunk({"content": [{"type": "thinking", "thinking": text}]}),
        lambda text: _graph_chunk({"content": text}),
        {
            "complete": [
                _graph_chunk({"usage_metadata": {"total": 3}, "chunk_position": "last"}),
                _graph("updates", {"node": {"messages": [_ANSWER]}}),
                _graph("custom", {"anything": 1}),
                _graph("values", {"messages": [_ANSWER]}),
            ],
            "cut": [_graph_chunk({"response_metadata": {"finish_reason": "length"}})],
        },
    ),
    "llama_index": Shape(
        [],
        lambda text: {"type": "AgentStream", "delta": "", "thinking_delta": text},
        lambda text: {"type": "ChatResponse", "delta": text, "raw": {"unknown": True}},
        {
            "complete": [
                {"type": "ChatResponse", "delta": "", "raw": event}
                for event in [_chunk({}, "stop"), {"choices": [], "usage": {"total": 3}}]
            ],
            "cut": [{"type": "ChatResponse", "delta": "", "raw": _chunk({}, "length")}],
        },
    ),
    "pydantic_ai": Shape(
        [_part("start", part={"part_kind": "text", "content": ""})],
        lambda text: _part("delta", delta={"part_delta_kind": "thinking", "content_delta": text}),
        lambda text: _part("delta", delta={"part_delta_kind": "text", "content_delta": text}),
        {
            "complete": [
                _part("end", part={"part_kind": "text", "content": TEXT}),
                {"event_kind": "final_result", "tool_name": None, "tool_call_id": None},
                {"event_kind": "agent_run_result", "result": {"output": TEXT}},
            ],
        },
        "event",
    ),
    "openai_agents": Shape(
        [{"type": "agent_updated_stream_event"}, _raw(_response("created"))],
        lambda text: _raw(
            {"type": "response.reasoning_text.delta", "output_index": 0, "delta": text}
        ),
        lambda text: _raw({"type": "response.output_text.delta", "output_index": 1, "delta": text}),
        {
            "complete": [
                _raw(_response("completed", usage={"total_tokens": 2})),
                {
                    "type": "run_item_stream_event",
                    "name": "message_output_created",
                    "item": {
                        "type": "message_output_item",
                        "raw_item": {"type": "message", "content": [{"text": TEXT}]},
                    },
                },
            ],
            "cut": [_raw(_response("incomplete"))],
            "error": [_raw(_response("failed", error=_FAILED))],
        },
    ),
    "claude_code": Shape(
        [
            {"type": "system", "subtype": "init", "session_id": "s"},
            _stream_event({"type": "message_start", "message": {"id": "msg_1"}}),
        ],
        lambda text: _stream_event(_block(0, {"type": "thinking_delta", "thinking": text})),
        lambda text: _stream_event(_block(1, {"type": "text_delta", "text": text})),
        {
            "complete": [
                {"type": "assistant", "message": {"content": [{"type": "text", "text": TEXT}]}},
                *map(_stream_event, _stopped("end_turn")),
                _claude_result("success", result=TEXT, usage={"output_tokens": 7}),
            ],
            "cut": [
                *map(_stream_event, _stopped("max_tokens")),
                _claude_result("error_max_turns", is_error=True),
            ],
            "error": [_claude_result("error_during_execution", is_error=True, result="No.")],
        },
        "event",
    ),
    "google_adk": Shape(
        [{"invocationId": "i", "author": "user", "content": {"parts": [{"text": "hi"}]}}],
        lambda text: _adk([{"text": text, "thought": True}], partial=True),
        lambda text: _adk([{"text": text}], partial=True),
        {
            "complete": [_adk([{"text": TEXT}], finishReason="STOP", usageMetadata={"total": 9})],
            "cut": [_adk([{"text": TEXT[:23]}], finishReason="MAX_TOKENS")],
            "error": [_adk([], errorCode="500", errorMessage="Overloaded")],
        },
    ),
}


def said(name: str, end: str | None) -> Answer:
    """The answer of one provider with this end; one that is not complete stops in its middle."""
    shape = SHAPES[name]
    text = TEXT if end == "complete" else TEXT[:23]
    pieces = [text[at : at + 5] for at in range(0, len(text), 5)]
    events = [*shape.begin]
    if shape.thought is not None:
        events += [shape.thought(THOUGHT), shape.thought(", indeed")]
    events += [shape.text(piece) for piece in pieces]
    events += shape.ends[end] if end is not None else []
    # An error of chat completions is the last event, but nothing tells so.
    marks = "" if name == "openai_chat" and end == "error" else shape.marks
    return Answer(events, text, [], end, marks if end is not None else "")


def called(name: str) -> Answer:
    calls = [(made.name, json.loads(made.text), "complete") for made in TWO]
    text = "Hm" if name in ("anthropic", "claude_code") else ""
    return Answer(BUILDERS[name](TWO, in_a_row(TWO)), text, calls)


def of_file(file: Path) -> Answer:
    stream = json.loads(file.read_text("utf8"))
    calls = []
    for call in stream["expected_calls"]:
        args = call["args"] if "args" in call else partial(call["args_text"])
        calls.append((call["name"], args, call.get("state", "complete")))
    text = "Let me look." if file.stem in LOOKING else ""
    usual = "cut" if file.stem.endswith("truncated") else "complete"
    end = None if file.stem in ENDLESS else stream.get("expected_end", usual)
    return Answer(stream["events"], stream.get("expected_text", text), calls, end)


def choices() -> dict[str, Answer]:
    """Two alternatives at once, interleaved; one ends before the other."""
    other = '{"other": true}'
    chat = [_chunk({"content": TEXT[:9]}), _chunk({"content": other[:4]}, None, 1)]
    chat += [_chunk({"content": other[4:]}, "stop", 1), _chunk({"content": TEXT[9:]}, "stop")]
    both = {"id": "c1", "choices": [*chat[0]["choices"], *chat[1]["choices"]]}
    gemini = [_candidate([{"text": TEXT[:9]}]), _candidate([{"text": other}], "STOP", 1)]
    gemini += [_candidate([{"text": TEXT[9:]}], "STOP")]
    return {
        "openai_chat-choices": Answer(chat, TEXT),
        "openai_chat-choices-in-one-event": Answer([both, *chat[2:]], TEXT),
        "gemini-choices": Answer(gemini, TEXT),
    }


def failures() -> dict[str, Answer]:
    """Errors that come in other ways than the usual one of a provider."""
    failed = {"error": {"message": "Overloaded", "code": 529}}
    chat = [_chunk({"content": TEXT[:9]}), _chunk({"content": ""}, "error") | failed]
    blocked = {"promptFeedback": {"blockReason": "SAFETY"}, "responseId": "r1"}
    return {
        "openai_chat-error-with-choices": Answer(chat, TEXT[:9], [], "error"),
        "gemini-error-event": Answer(
            [_candidate([{"text": TEXT[:9]}]), failed], TEXT[:9], [], "error"
        ),
        "gemini-blocked": Answer([blocked], "", [], "error"),
    }


ANSWERS: dict[str, Answer] = {
    **{f"{name}-{end}": said(name, end) for name, shape in SHAPES.items() for end in shape.ends},
    **{f"{name}-broken-off": said(name, None) for name in SHAPES},
    **{f"{name}-calls": called(name) for name in BUILDERS},
    **{file.stem: of_file(file) for file in sorted(CASES.glob("*.json"))},
    **choices(),
    **failures(),
}
