"""A provider for tests: a server on loopback that answers as OpenAI or Anthropic would.

`Upstream` is the server. It sends a `FakeAnswer` (this text, reasoning and these `Call`s, in the
protocol of the request) or a `Script` (these bytes, pauses and cuts). For each request there is an
`Exchange`: the request, how much was sent, and whether the client left. Without a server,
`FakeAnswer.events` are the events of a provider.

Each provider is one class below: the events of a stream, and the body of a response that is not
streamed. Shapes are as small as the providers' own clients accept.
"""

from __future__ import annotations

import json
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from selectors import EVENT_READ, BaseSelector, DefaultSelector
from typing import Any, Final, Literal
from urllib.parse import urlsplit

from .eventstream import DONE, encode_event
from .jsontext import dumps

__all__ = ["Call", "Cut", "Exchange", "FakeAnswer", "Script", "Step", "Upstream", "tokens"]

Event = dict[str, Any]
# An event, and whether it carries a token.
TokenEvent = tuple[Event, bool]
# Characters of a token.
SIZE: Final = 4
EVENT_STREAM: Final = {"content-type": "text/event-stream"}
JSON: Final = {"content-type": "application/json"}


# ---- what is sent ----


class Cut(Enum):
    """Ends a connection before the body has ended."""

    # The connection is reset: the client gets an error at once and may lose unread bytes.
    RESET = "reset"
    # The connection is closed: the body is too short.
    CLOSE = "close"


class Token(bytes):
    """Bytes that an exchange counts as one token."""


# Bytes are sent, and a number is a pause in seconds.
Step = bytes | float | Cut


@dataclass(frozen=True, slots=True)
class Script:
    """A response: its status and headers, and the steps in which its body is sent, in chunks."""

    steps: Iterable[Step] = ()
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=lambda: EVENT_STREAM)

    @classmethod
    def events(cls, events: Iterable[Any], *, pace: float = 0.0, done: bool = False) -> Script:
        """Return an event stream of these dicts, `pace` seconds apart, each counted as a token.

        With `done`, `[DONE]` is the last event.
        """
        steps: list[Step] = []
        for event in events:
            steps += [pace, Token(framed(event))]
        return cls([*steps, *([framed(DONE)] if done else [])])

    @classmethod
    def json(cls, value: Any, status: int = 200, headers: Mapping[str, str] = {}) -> Script:
        """Return a JSON body that is sent at once."""
        return cls([dumps(value).encode()], status, {**JSON, **headers})


def framed(event: Any) -> bytes:
    """Return the bytes of one event; its `type`, if it has one, is the event's name, too."""
    if isinstance(event, str):
        return encode_event(event)
    return encode_event(dumps(event), event=event.get("type"))


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call: the tool's name and its arguments, as a value or as JSON text."""

    name: str
    arguments: Any = field(default_factory=dict)
    id: str = ""

    @property
    def text(self) -> str:
        return self.arguments if isinstance(self.arguments, str) else dumps(self.arguments)


@dataclass(frozen=True, slots=True)
class FakeAnswer:
    """What the model answers: reasoning, then text, then tool calls, one token per event.

    `pace` is the time before each token in seconds. `ending` is `complete`; `length` (stopped at
    the limit of tokens); `error` (the provider's error event, or status 500 if the answer is not
    streamed); `cut` (the body ends without the provider's end), `reset` (the connection does) or
    `stall` (nothing more is sent). All but `complete` happen after `after` tokens (None: all). With
    another `status` than 200 the answer is the provider's error body, with this `message`, about
    this `param` of the request. `id` is the end of the answer's id.
    """

    text: str = ""
    reasoning: str = ""
    calls: Sequence[Call] = ()
    pace: float = 0.01
    ending: Literal["complete", "length", "error", "cut", "reset", "stall"] = "complete"
    after: int | None = None
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    message: str = "Overloaded"
    param: str | None = None
    id: str = "1"

    def __post_init__(self) -> None:
        if self.after is not None and self.ending == "complete":
            raise ValueError("`after` is for an answer whose `ending` is not complete")

    def script(self, target: str, body: Any) -> Script:
        """Return the response to a request with this target and JSON body."""
        request = body if isinstance(body, dict) else {}
        try:
            provider = self._provider(target, request)
        except ValueError as error:
            return Script.json({"error": {"message": str(error), "type": "not_found"}}, 404)
        if self.status != 200:
            return Script.json(provider.error(self.status), self.status, self.headers)
        if request.get("stream") is True:
            return Script([*self._steps(provider)], 200, {**EVENT_STREAM, **self.headers})
        if self.ending == "error":
            return Script.json(provider.error(500), 500, self.headers)
        data = dumps(provider.body()).encode()
        if self.ending in _BREAKS:
            data = data[: len(data) // 2]
        steps = [provider.count * self.pace, data, *_BREAKS.get(self.ending, ())]
        return Script(steps, 200, {**JSON, **self.headers})

    def events(self, target: str) -> list[Event]:
        """Return the events, decoded, as a provider streams them from this path."""
        return [event for event, _ in self._sent(self._provider(target, {}))]

    def _provider(self, target: str, request: Mapping[str, Any]) -> Provider:
        path = urlsplit(target).path
        for ending, provider in PROVIDERS.items():
            if path.endswith(ending):
                return provider(self._shortened(), request)
        raise ValueError(f"{path} ends with none of {' '.join(PROVIDERS)}")

    def _shortened(self) -> FakeAnswer:
        """Return the answer with its first `after` tokens only."""
        if self.after is None:
            return self
        left = self.after * SIZE
        texts = []
        for text in self.texts():
            texts.append(text[:left])
            left = max(0, left - len(tokens(text)) * SIZE)
        named = zip(self.calls, texts[2:], strict=True)
        calls = [replace(call, arguments=text) for call, text in named if text]
        return replace(self, reasoning=texts[0], text=texts[1], calls=calls)

    def texts(self) -> list[str]:
        """Return what consists of tokens: the reasoning, the text, the arguments of the calls."""
        return [self.reasoning, self.text, *(call.text for call in self.calls)]

    def _sent(self, provider: Provider) -> list[TokenEvent]:
        """Return the events, of an answer that breaks off those up to the last token."""
        events = [*provider.events()]
        if self.ending in ("complete", "length"):
            return events
        last = max([0, *(at for at, (_, is_token) in enumerate(events) if is_token)])
        error = [(provider.error_event(), False)] if self.ending == "error" else []
        return events[: last + 1] + error

    def _steps(self, provider: Provider) -> Iterator[Step]:
        for event, is_token in self._sent(provider):
            if is_token:
                yield self.pace
            yield (Token if is_token else bytes)(framed(event))
        if self.ending in ("reset", "stall"):
            yield from _BREAKS[self.ending]
        elif self.ending in ("complete", "length") and isinstance(provider, Chat):
            yield framed(DONE)


# How a body breaks off.
_BREAKS: Final[dict[str, list[Step]]] = {
    "reset": [Cut.RESET],
    "cut": [Cut.CLOSE],
    "stall": [float("inf")],
}


def tokens(text: str) -> list[str]:
    """Return the text in pieces of `SIZE` characters."""
    return [text[at : at + SIZE] for at in range(0, len(text), SIZE)]


# ---- how providers say it ----


class Answered:
    """What the answers of all providers have in common."""

    def __init__(self, answer: FakeAnswer, request: Mapping[str, Any]) -> None:
        self.answer = answer
        self.request = request
        self.is_cut = answer.ending == "length"
        self.model = request.get("model") or "fake"
        self.count = sum(len(tokens(text)) for text in answer.texts())
        numbered = enumerate(answer.calls, 1)
        self.calls = [replace(call, id=call.id or f"call_{at}") for at, call in numbered]

    def error_event(self) -> Event:
        """Return the event of an error in the middle of a stream."""
        return self.error(500)

    def error(self, status: int) -> Event:
        """Return the body of a response with an error status."""
        kind = "invalid_request_error" if status < 500 else "server_error"
        error = {"message": self.answer.message, "type": kind, "param": self.answer.param}
        return {"error": {**error, "code": None}}


class Chat(Answered):
    """OpenAI chat completions, with the reasoning that compatible servers send."""

    def events(self) -> Iterator[TokenEvent]:
        yield self._chunk({"role": "assistant", "content": ""}), False
        for token in tokens(self.answer.reasoning):
            yield self._chunk({"reasoning_content": token}), True
        for token in tokens(self.answer.text):
            yield self._chunk({"content": token}), True
        for index, call in enumerate(self.calls):
            start = {"index": index, **_chat_call(replace(call, arguments=""))}
            yield self._chunk({"tool_calls": [start]}), False
            for token in tokens(call.text):
                delta = {"index": index, "function": {"arguments": token}}
                yield self._chunk({"tool_calls": [delta]}), True
        yield self._chunk({}, self._finish()), False
        if (self.request.get("stream_options") or {}).get("include_usage"):
            yield {**self._chunk({}), "choices": [], "usage": self._usage()}, False

    def _chunk(self, delta: Event, finish: str | None = None) -> Event:
        return self._response("chat.completion.chunk", {"delta": delta}, finish)

    def _response(self, kind: str, content: Event, finish: str | None) -> Event:
        about = {"id": f"chatcmpl-{self.answer.id}", "object": kind, "created": 1}
        choice = {"index": 0, **content, "logprobs": None, "finish_reason": finish}
        return {**about, "model": self.model, "choices": [choice]}

    def _finish(self) -> str:
        return "length" if self.is_cut else "tool_calls" if self.calls else "stop"

    def _usage(self) -> Event:
        counts = {"prompt_tokens": 1, "completion_tokens": self.count}
        return {**counts, "total_tokens": 1 + self.count}

    def body(self) -> Event:
        message: Event = {"role": "assistant", "content": self.answer.text or None}
        if self.answer.reasoning:
            message["reasoning_content"] = self.answer.reasoning
        if self.calls:
            message["tool_calls"] = [_chat_call(call) for call in self.calls]
        response = self._response("chat.completion", {"message": message}, self._finish())
        return {**response, "usage": self._usage()}


def _chat_call(call: Call) -> Event:
    function = {"name": call.name, "arguments": call.text}
    return {"id": call.id, "type": "function", "function": function}


class Responses(Answered):
    """OpenAI's Responses API."""

    def events(self) -> Iterator[TokenEvent]:
        for number, (event, is_token) in enumerate(self._events()):
            yield {**event, "sequence_number": number}, is_token

    def _events(self) -> Iterator[TokenEvent]:
        body = {**self.body(), "status": "in_progress", "output": [], "usage": None}
        yield {"type": "response.created", "response": body}, False
        for index, item in enumerate(self._items()):
            place = {"output_index": index}
            yield {"type": "response.output_item.added", "item": _emptied(item), **place}, False
            yield from self._item(item, {"item_id": item["id"], **place})
            yield {"type": "response.output_item.done", "item": item, **place}, False
        yield {"type": f"response.{self._status()}", "response": self.body()}, False

    def _item(self, item: Event, place: Event) -> Iterator[TokenEvent]:
        match item:
            case {"arguments": text, "name": name}:
                kind, last = "function_call_arguments", {"arguments": text, "name": name}
            case {"summary": [{"text": text} as part]}:
                kind, last = "reasoning_summary_text", {"text": text}
                place = {**place, "summary_index": 0}
                added = {"type": "response.reasoning_summary_part.added", **place}
                yield {**added, "part": {**part, "text": ""}}, False
            case {"content": [{"text": text} as part]}:
                kind, last = "output_text", {"text": text}
                place = {**place, "content_index": 0, "logprobs": []}
                added = {"type": "response.content_part.added", **place}
                yield {**added, "part": {**part, "text": ""}}, False
        for token in tokens(text):
            yield {"type": f"response.{kind}.delta", "delta": token, **place}, True
        yield {"type": f"response.{kind}.done", **last, **place}, False

    def _items(self) -> list[Event]:
        items: list[Event] = []
        if self.answer.reasoning:
            summary = [{"type": "summary_text", "text": self.answer.reasoning}]
            items.append({"type": "reasoning", "id": "rs_1", "summary": summary})
        if self.answer.text:
            part = {"type": "output_text", "text": self.answer.text, "annotations": []}
            message = {"type": "message", "id": "msg_1", "role": "assistant", "content": [part]}
            items.append({**message, "status": "completed"})
        for call in self.calls:
            item = {"type": "function_call", "id": f"fc_{call.id}", "call_id": call.id}
            done = {"arguments": call.text, "status": "completed"}
            items.append({**item, "name": call.name, **done})
        return items

    def _status(self) -> str:
        return "incomplete" if self.is_cut else "completed"

    def body(self) -> Event:
        response = {"id": f"resp_{self.answer.id}", "object": "response", "created_at": 1}
        options = {"parallel_tool_calls": True, "tool_choice": "auto", "tools": [], "metadata": {}}
        limits = {"temperature": 1.0, "top_p": 1.0, "instructions": None, "error": None}
        about = {"model": self.model, "status": self._status(), "output": self._items()}
        details = {"reason": "max_output_tokens"} if self.is_cut else None
        counts = {"input_tokens": 1, "output_tokens": self.count, "total_tokens": self.count + 1}
        reasoning = {"reasoning_tokens": len(tokens(self.answer.reasoning))}
        kinds = {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": reasoning}
        ended = {"incomplete_details": details, "usage": {**counts, **kinds}}
        return {**response, **options, **limits, **about, **ended}

    def error_event(self) -> Event:
        error = {"type": "error", "code": "server_error", "message": self.answer.message}
        return {**error, "param": None, "sequence_number": 0}


def _emptied(item: Event) -> Event:
    """Return an item as it is announced, before anything of it has arrived."""
    empty: Event = {"arguments": "", "summary": [], "content": [], "status": "in_progress"}
    return {key: empty.get(key, value) for key, value in item.items()}


class Messages(Answered):
    """Anthropic's Messages API."""

    def events(self) -> Iterator[TokenEvent]:
        body = {**self.body(), "content": [], "stop_reason": None}
        yield {"type": "message_start", "message": body}, False
        for index, (block, text) in enumerate(self._blocks()):
            place = {"index": index}
            kind, key, start = _BLOCKS[block["type"]]
            empty = {**block, **start}
            yield {"type": "content_block_start", "content_block": empty, **place}, False
            for token in tokens(text):
                delta = {"type": kind, key: token}
                yield {"type": "content_block_delta", "delta": delta, **place}, True
            if key == "thinking":
                delta = {"type": "signature_delta", "signature": block["signature"]}
                yield {"type": "content_block_delta", "delta": delta, **place}, False
            yield {"type": "content_block_stop", **place}, False
        ended: Event = {"stop_reason": self._stop(), "stop_sequence": None}
        usage = {"output_tokens": self.count}
        yield {"type": "message_delta", "delta": ended, "usage": usage}, False
        yield {"type": "message_stop"}, False

    def _blocks(self) -> list[tuple[Event, str]]:
        """Return the blocks of the content, each with its text."""
        blocks: list[tuple[Event, str]] = []
        if thought := self.answer.reasoning:
            block = {"type": "thinking", "thinking": thought, "signature": "c2lnbmVk"}
            blocks.append((block, thought))
        if text := self.answer.text:
            blocks.append(({"type": "text", "text": text}, text))
        for call in self.calls:
            arguments = call.arguments if isinstance(call.arguments, dict) else {}
            tool = {"type": "tool_use", "id": call.id, "name": call.name, "input": arguments}
            blocks.append((tool, call.text))
        return blocks

    def _stop(self) -> str:
        return "max_tokens" if self.is_cut else "tool_use" if self.calls else "end_turn"

    def body(self) -> Event:
        message = {"id": f"msg_{self.answer.id}", "type": "message", "role": "assistant"}
        about = {"model": self.model, "content": [block for block, _ in self._blocks()]}
        ended = {"stop_reason": self._stop(), "stop_sequence": None}
        usage = {"input_tokens": 1, "output_tokens": self.count}
        return {**message, **about, **ended, "usage": usage}

    def error_event(self) -> Event:
        return self.error(529)

    def error(self, status: int) -> Event:
        kind = "overloaded_error" if status == 529 else "api_error"
        error = {"type": kind, "message": self.answer.message}
        return {"type": "error", "error": error, "request_id": "req_1"}


# Type of a block → the type of its deltas, their field, and what is empty at the start.
_BLOCKS: Final[dict[str, tuple[str, str, Event]]] = {
    "thinking": ("thinking_delta", "thinking", {"thinking": "", "signature": ""}),
    "text": ("text_delta", "text", {"text": ""}),
    "tool_use": ("input_json_delta", "partial_json", {"input": {}}),
}
Provider = Chat | Responses | Messages
# How the path of a request ends → the provider.
PROVIDERS: Final[dict[str, type[Provider]]] = {
    "/chat/completions": Chat,
    "/responses": Responses,
    "/messages": Messages,
}


# ---- the server ----


@dataclass(slots=True, eq=False)
class Exchange:
    """One request and how much of the response was sent. Other threads may look at any time.

    The names of `headers` are in lower case. `tokens` is how many were sent. `left` is set when the
    client closed the connection before the response had ended, `ended` when nothing more will be
    sent, for whatever reason.
    """

    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes
    tokens: int = 0
    left: threading.Event = field(default_factory=threading.Event)
    ended: threading.Event = field(default_factory=threading.Event)

    @property
    def json(self) -> Any:
        """The JSON of the request's body; None if it is not JSON."""
        try:
            return json.loads(self.body)
        except ValueError:
            return None


Reply = Script | FakeAnswer | Callable[[Exchange], Script | FakeAnswer]


class Upstream:
    """A server on a free port of loopback, as a context manager.

    The first request gets the first reply, the second the second, and all that follow the last one.
    A reply is a `Script`, a `FakeAnswer`, or a function that takes the `Exchange` and returns one.
    """

    def __init__(self, *replies: Reply) -> None:
        if not replies:
            raise TypeError("Upstream needs a reply: a Script, a FakeAnswer, or a function")
        self.exchanges: list[Exchange] = []
        self.closing = threading.Event()
        self._errors: list[Exception] = []
        self._replies = replies
        self._lock = threading.Lock()
        self._server = _Server(self)
        # The base URL; clients of OpenAI need `…/v1`.
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Upstream:
        serve = self._server.serve_forever
        self._thread = threading.Thread(target=serve, args=(0.01,), daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop listening, end what is still being sent, and raise what a reply function raised."""
        self.closing.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
        if self._errors:
            raise self._errors[0]

    @property
    def tokens(self) -> int:
        """How many tokens were sent, in all exchanges."""
        return sum(exchange.tokens for exchange in self.exchanges)

    def reply_to(self, exchange: Exchange) -> Script:
        """Note the exchange and return the script of its response."""
        with self._lock:
            number = len(self.exchanges)
            self.exchanges.append(exchange)
        reply = self._replies[min(number, len(self._replies) - 1)]
        if callable(reply):
            try:
                reply = reply(exchange)
            except Exception as error:
                self._errors.append(error)
                return Script.json({"error": {"message": f"the test failed: {error!r}"}}, 500)
        if isinstance(reply, FakeAnswer):
            reply = reply.script(exchange.target, exchange.json)
        return reply


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 1024

    def __init__(self, upstream: Upstream) -> None:
        self.upstream = upstream
        super().__init__(("127.0.0.1", 0), _Handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore clients that left: that is not a failure of the server."""


class _Left(Exception):
    """The client has closed the connection, or the server is closing."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server
    connection: socket.socket

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        headers = {name.lower(): value for name, value in self.headers.items()}
        exchange = Exchange(self.command, self.path, headers, body)
        try:
            self._send(exchange, self.server.upstream.reply_to(exchange))
        except (OSError, _Left):
            if not self.server.upstream.closing.is_set():
                exchange.left.set()
        finally:
            exchange.ended.set()

    do_GET = do_PUT = do_DELETE = do_HEAD = do_POST

    def _send(self, exchange: Exchange, script: Script) -> None:
        self.send_response(script.status)
        framing = {"transfer-encoding": "chunked", "connection": "close"}
        for name, value in {**script.headers, **framing}.items():
            self.send_header(name, value)
        self.end_headers()
        with DefaultSelector() as selector:
            selector.register(self.connection, EVENT_READ)
            for step in script.steps:
                if isinstance(step, Cut):
                    self._cut(step)
                    return
                self._wait(selector, 0 if isinstance(step, bytes) else step)
                if isinstance(step, bytes) and step:
                    # Counted before it is sent, so that a reader of it finds it counted.
                    exchange.tokens += isinstance(step, Token)
                    self.wfile.write(b"%x\r\n%b\r\n" % (len(step), step))
        self.wfile.write(b"0\r\n\r\n")

    def _cut(self, cut: Cut) -> None:
        if cut is Cut.RESET:
            # Closed without lingering, a connection is reset.
            linger = struct.pack("ii", 1, 0)
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            self.connection.close()

    def _wait(self, selector: BaseSelector, seconds: float) -> None:
        """Wait so long; raise _Left if the client leaves, or the server closes."""
        until = time.monotonic() + seconds
        while not self.server.upstream.closing.is_set():
            left = until - time.monotonic()
            if selector.select(min(max(left, 0), 0.05)):
                break  # the end of the connection: each has one request
            if left <= 0:
                return
        raise _Left

    def log_message(self, format: str, *args: Any) -> None:
        """Print nothing about requests."""
