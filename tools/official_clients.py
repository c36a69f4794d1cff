"""What the official clients accumulate of a recorded stream, for `recorded_streams.py`.

Each client makes its request, by its public interface, to a server in this process that answers
with the recording. A client that is not installed, or that refuses the stream, reads nothing.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread
from typing import Any

Events = list[dict[str, Any]]
# `text`, `reasoning` if the client has a place for it, and `calls`: a name with arguments, that
# are text or a value.
Accumulated = dict[str, Any]


class _Recording(BaseHTTPRequestHandler):
    """Answers every request with the recording."""

    body = b""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("content-length", 0)))
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        self.wfile.write(self.body)

    def log_message(self, *_: Any) -> None:
        pass


@cache
def _url() -> str:
    server = HTTPServer(("127.0.0.1", 0), _Recording)
    Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}"


def _serve(events: Events) -> None:
    def written(event: dict[str, Any]) -> str:
        name = f"event: {event['type']}\n" if "type" in event else ""
        return f"{name}data: {json.dumps(event)}\n\n"

    _Recording.body = "".join(map(written, events)).encode()


@cache
def _openai() -> Any:
    from openai import OpenAI

    return OpenAI(base_url=_url(), api_key="none", max_retries=0)


@cache
def _anthropic() -> Any:
    from anthropic import Anthropic

    return Anthropic(base_url=_url(), api_key="none", max_retries=0)


@cache
def _google() -> Any:
    from google.genai import Client

    return Client(api_key="none", http_options={"base_url": _url()})


def _chat(events: Events) -> Accumulated:
    from openai.lib.streaming.chat import ChatCompletionStreamState
    from openai.types.chat import ChatCompletionChunk

    # Not by a request: this state is public and takes the chunks one by one.
    state: Any = ChatCompletionStreamState()
    for event in events:
        state.handle_chunk(ChatCompletionChunk.model_validate(event))
    message = state.current_completion_snapshot.choices[0].message
    calls = [call.function for call in message.tool_calls or () if call.type != "custom"]
    return {"text": message.content or "", "calls": [[it.name, it.arguments] for it in calls]}


def _responses(events: Events) -> Accumulated:
    _serve(events)
    with _openai().responses.stream(model="any", input="any") as stream:
        response = stream.get_final_response()
    calls = [
        it for it in response.output if it.type in ("function_call", "mcp_call", "custom_tool_call")
    ]
    shown = [[it.name, it.input if it.type == "custom_tool_call" else it.arguments] for it in calls]
    return {"text": response.output_text, "calls": shown}


def _messages(events: Events) -> Accumulated:
    result: Accumulated = {"text": "", "reasoning": "", "calls": []}
    ask = {"model": "any", "max_tokens": 1, "messages": [{"role": "user", "content": "any"}]}
    # A recording may hold several messages, one after another; the client reads one.
    starts = [at for at, event in enumerate(events) if event["type"] == "message_start"]
    for start, end in zip(starts, [*starts[1:], len(events)], strict=True):
        _serve(events[start:end])
        with _anthropic().beta.messages.stream(**ask) as stream:
            message = stream.get_final_message()
        for block in message.content:
            result["text"] += block.text if block.type == "text" else ""
            result["reasoning"] += block.thinking if block.type == "thinking" else ""
            if block.type.endswith("tool_use"):
                result["calls"].append([block.name, block.input])
    return result


def _contents(events: Events) -> Accumulated:
    _serve(events)
    once = {"automatic_function_calling": {"disable": True}}
    chat = _google().chats.create(model="any", config=once)
    for _ in chat.send_message_stream("any"):
        pass
    parts = [part for content in chat.get_history()[1:] for part in content.parts or ()]
    calls = [part.function_call for part in parts if part.function_call]
    if not parts or not all(call.name for call in calls):
        raise ValueError(
            "events of another kind, or arguments in pieces, which a chat does not join"
        )
    return {
        "text": "".join(part.text or "" for part in parts if not part.thought),
        "reasoning": "".join(part.text or "" for part in parts if part.thought),
        "calls": [[call.name, call.args] for call in calls],
    }


CLIENTS: dict[str, Callable[[Events], Accumulated]] = {
    "openai_chat": _chat,
    "openai_responses": _responses,
    "anthropic": _messages,
    "gemini": _contents,
}


def accumulated(provider: str | None, events: Events) -> Accumulated | None:
    """What the provider's own client makes of the events; None if it does not take them."""
    if provider not in CLIENTS:
        return None
    try:
        return CLIENTS[provider](events)
    except Exception:  # not installed, or a stream that its types or its accumulation refuse
        return None


def agrees(theirs: Accumulated, ours: dict[str, Any]) -> bool:
    """True if text, reasoning and calls are those that jsonrill reads."""
    texts = [kind for kind in ("text", "reasoning") if kind in theirs]
    return all(theirs[kind] == ours[kind] for kind in texts) and (
        [_call(name, arguments) for name, arguments in theirs["calls"]]
        == [_call(name, raw) for name, raw, _ in ours["calls"]]
    )


def _call(name: str, arguments: Any) -> tuple[str, Any]:
    """The call with its arguments as a value; as text if they are not JSON."""
    if not arguments:
        return name, {}
    if isinstance(arguments, str):
        try:
            return name, json.loads(arguments)
        except ValueError:
            pass
    return name, arguments
