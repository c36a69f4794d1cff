"""A provider for tests: a server on loopback that answers like OpenAI or Anthropic.

`Upstream` is the server. It sends a `FakeAnswer` (this text, reasoning and these `Call`s, in the
protocol of the request) or a `Script` (these bytes and pauses). For each request there is an
`Exchange`: the request, how much was sent, and whether the client left. Without a server,
`FakeAnswer.events` are the events of a provider.

Each protocol is one class below: the events of a stream, and the body of a response that is not
streamed. Shapes are as small as the providers' own clients accept.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from selectors import EVENT_READ, BaseSelector, DefaultSelector
from typing import Any, Final, Literal, Self
from urllib.parse import urlsplit

from .eventstream import DONE, encode_event
from .jsontext import dumps

__all__ = ["Call", "Exchange", "FakeAnswer", "Script", "Step", "Upstream", "tokens"]

Event = dict[str, Any]
# Characters of a token.
SIZE: Final = 4
EVENT_STREAM: Final = {"content-type": "text/event-stream"}
JSON: Final = {"content-type": "application/json"}


# ---- responses ----


# Bytes are sent, and a number is a pause in seconds.
Step = bytes | float


@dataclass(frozen=True, slots=True)
class Script:
    """A response: its status and headers, and the steps in which its body is sent, in chunks.

    With `breaks` the connection is closed after the last step, before the body has ended.
    """

    steps: Iterable[Step] = ()
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=lambda: EVENT_STREAM)
    breaks: bool = False

    @classmethod
    def events(cls, events: Iterable[Any]) -> Script:
        """Return an event stream of these dicts; a text, such as `[DONE]`, is sent as it is."""
        return cls([framed(event) for event in events])

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
class Block:
    """A part of an answer, which consists of tokens; of a call, the text of its arguments.

    An answer that breaks off does so at the end of its last block, which `is_open`.
    """

    kind: Literal["reasoning", "text", "call"]
    text: str
    name: str = ""
    id: str = ""
    is_open: bool = False


@dataclass(frozen=True, slots=True)
class FakeAnswer:
    """What the model answers: reasoning, then text, then tool calls, one token per event.

    `pace` is the time before each event in seconds. `after` is the number of tokens (None: all).
    `ending` is what comes after them: `complete`; `length` (stopped at the limit of tokens);
    `error` (the provider's error event, or status 500 if the answer is not streamed); `cut` (the
    body ends without the provider's end) or `break` (the connection does). With another `status`
    than 200 the answer is the provider's error body, with this `message`, about this `param` of the
    request. `id` is the end of the answer's id.
    """

    text: str = ""
    reasoning: str = ""
    calls: Sequence[Call] = ()
    pace: float = 0.01
    ending: Literal["complete", "length", "error", "cut", "break"] = "complete"
    after: int | None = None
    status: int = 200
    message: str = "Overloaded"
    param: str | None = None
    id: str = "1"

    @property
    def has_end(self) -> bool:
        """True if the provider ends the answer."""
        return self.ending in ("complete", "length")

    def script(self, target: str, body: Any) -> Script:
        """Return the response to a request with this target and JSON body."""
        request = body if isinstance(body, dict) else {}
        try:
            protocol = self._protocol(target, request)
        except ValueError as error:
            return Script.json({"error": {"message": str(error), "type": "not_found"}}, 404)
        is_stream = request.get("stream") is True
        status = 500 if self.ending == "error" and not is_stream else self.status
        if status != 200:
            return Script.json(protocol.error(status), status)
        if not is_stream:
            data = dumps(protocol.body()).encode()
            sent = data if self.has_end else data[: len(data) // 2]
            return Script([protocol.count * self.pace, sent], 200, JSON, breaks=not self.has_end)
        done = [DONE] if self.has_end and isinstance(protocol, Chat) else []
        events = [*self.events(target, request), *done]
        paced = [step for event in events for step in (self.pace, framed(event))]
        return Script(paced, breaks=self.ending == "break")

    def events(self, target: str, request: Mapping[str, Any] = {}) -> list[Event]:
        """Return the events, decoded, as a provider streams them from this path."""
        protocol = self._protocol(target, request)
        error = [protocol.error_event()] if self.ending == "error" else []
        return [*protocol.events(), *error]

    def blocks(self) -> list[Block]:
        """Return the parts of the answer that are not empty, up to the last token."""
        calls = [
            Block("call", call.text, call.name, call.id or f"call_{number}")
            for number, call in enumerate(self.calls, 1)
        ]
        left = sys.maxsize if self.after is None else self.after
        blocks: list[Block] = []
        for block in (Block("reasoning", self.reasoning), Block("text", self.text), *calls):
            if left > 0 and (block.text or block.kind == "call"):
                blocks.append(replace(block, text="".join(tokens(block.text)[:left])))
            left -= len(tokens(block.text))
        if blocks and not self.has_end:
            blocks[-1] = replace(blocks[-1], is_open=True)
        return blocks

    def _protocol(self, target: str, request: Mapping[str, Any]) -> Protocol:
        path = urlsplit(target).path
        for ending, protocol in PROTOCOLS.items():
            if path.endswith(ending):
                return protocol(self, request)
        raise ValueError(f"{path} ends with none of {' '.join(PROTOCOLS)}")


def tokens(text: str) -> list[str]:
    """Return the text in pieces of `SIZE` characters."""
    return [text[at : at + SIZE] for at in range(0, len(text), SIZE)]


# ---- protocols ----


class BaseProtocol:
    """An answer in the protocol of a provider. Subclasses return its events and its body."""

    def __init__(self, answer: FakeAnswer, request: Mapping[str, Any]) -> None:
        self.answer = answer
        self.request = request
        self.is_cut = answer.ending == "length"
        self.model = request.get("model") or "fake"
        self.blocks = answer.blocks()
        self.calls = [block for block in self.blocks if block.kind == "call"]
        self.count = sum(len(tokens(block.text)) for block in self.blocks)

    def error_event(self) -> Event:
        """Return the event of an error in the middle of a stream."""
        return self.error(500)

    def error(self, status: int) -> Event:
        """Return the body of a response with an error status."""
        kind = "invalid_request_error" if status < 500 else "server_error"
        error = {"message": self.answer.message, "type": kind, "param": self.answer.param}
        return {"error": {**error, "code": None}}


class Chat(BaseProtocol):
    """OpenAI chat completions, with the reasoning that compatible servers send."""

    def events(self) -> Iterator[Event]:
        yield self._chunk({"role": "assistant", "content": ""})
        for block in self.blocks:
            if block.kind != "call":
                for token in tokens(block.text):
                    yield self._chunk({_FIELDS[block.kind]: token})
                continue
            index = self.calls.index(block)
            yield self._chunk({"tool_calls": [{"index": index, **_chat_call(block, "")}]})
            for token in tokens(block.text):
                delta = {"index": index, "function": {"arguments": token}}
                yield self._chunk({"tool_calls": [delta]})
        if self.answer.has_end:
            yield self._chunk({}, self._finish())
            if (self.request.get("stream_options") or {}).get("include_usage"):
                yield {**self._chunk({}), "choices": [], "usage": self._usage()}

    def _chunk(self, delta: Event, finish: str | None = None) -> Event:
        return self._response("chat.completion.chunk", {"delta": delta}, finish)

    def _response(self, kind: str, content: Event, finish: str | None) -> Event:
        common = {"id": f"chatcmpl-{self.answer.id}", "object": kind, "created": 1}
        choice = {"index": 0, **content, "logprobs": None, "finish_reason": finish}
        return {**common, "model": self.model, "choices": [choice]}

    def _finish(self) -> str:
        return "length" if self.is_cut else "tool_calls" if self.calls else "stop"

    def _usage(self) -> Event:
        counts = {"prompt_tokens": 1, "completion_tokens": self.count}
        return {**counts, "total_tokens": 1 + self.count}

    def body(self) -> Event:
        texts = {_FIELDS[block.kind]: block.text for block in self.blocks if block.kind != "call"}
        message: Event = {"role": "assistant", "content": None, **texts}
        if self.calls:
            message["tool_calls"] = [_chat_call(block, block.text) for block in self.calls]
        response = self._response("chat.completion", {"message": message}, self._finish())
        return {**response, "usage": self._usage()}


_FIELDS: Final = {"reasoning": "reasoning_content", "text": "content"}


def _chat_call(call: Block, arguments: str) -> Event:
    function = {"name": call.name, "arguments": arguments}
    return {"id": call.id, "type": "function", "function": function}


class Responses(BaseProtocol):
    """OpenAI's Responses API."""

    def events(self) -> Iterator[Event]:
        for number, event in enumerate(self._events()):
            yield {**event, "sequence_number": number}

    def _events(self) -> Iterator[Event]:
        body = {**self.body(), "status": "in_progress", "output": [], "usage": None}
        yield {"type": "response.created", "response": body}
        for index, block in enumerate(self.blocks):
            item = _item(block)
            place = {"output_index": index}
            yield {"type": "response.output_item.added", "item": _emptied(item), **place}
            yield from self._deltas(block, {"item_id": item["id"], **place})
            if block.is_open:
                return
            yield {"type": "response.output_item.done", "item": item, **place}
        if self.answer.has_end:
            yield {"type": f"response.{self._status()}", "response": self.body()}

    def _deltas(self, block: Block, place: Event) -> Iterator[Event]:
        kind, last = "function_call_arguments", {"arguments": block.text, "name": block.name}
        part: Event
        if block.kind == "reasoning":
            kind, last = "reasoning_summary_text", {"text": block.text}
            place = {**place, "summary_index": 0}
            part = {"type": "summary_text", "text": ""}
            yield {"type": "response.reasoning_summary_part.added", **place, "part": part}
        elif block.kind == "text":
            kind, last = "output_text", {"text": block.text}
            place = {**place, "content_index": 0, "logprobs": []}
            part = {"type": "output_text", "text": "", "annotations": []}
            yield {"type": "response.content_part.added", **place, "part": part}
        for token in tokens(block.text):
            yield {"type": f"response.{kind}.delta", "delta": token, **place}
        if not block.is_open:
            yield {"type": f"response.{kind}.done", **last, **place}

    def _status(self) -> str:
        return "incomplete" if self.is_cut else "completed"

    def body(self) -> Event:
        response = {"id": f"resp_{self.answer.id}", "object": "response", "created_at": 1}
        output = [_item(block) for block in self.blocks]
        common = {"model": self.model, "status": self._status(), "output": output, "tools": []}
        options = {"parallel_tool_calls": True, "tool_choice": "auto", "error": None}
        details = {"reason": "max_output_tokens"} if self.is_cut else None
        counts = {"input_tokens": 1, "output_tokens": self.count, "total_tokens": self.count + 1}
        return {**response, **common, **options, "incomplete_details": details, "usage": counts}

    def error_event(self) -> Event:
        error = {"type": "error", "code": "server_error", "message": self.answer.message}
        return {**error, "param": None, "sequence_number": 0}


def _item(block: Block) -> Event:
    """Return a complete output item."""
    if block.kind == "reasoning":
        summary = [{"type": "summary_text", "text": block.text}]
        return {"type": "reasoning", "id": "rs_1", "summary": summary}
    if block.kind == "text":
        part = {"type": "output_text", "text": block.text, "annotations": []}
        message = {"type": "message", "id": "msg_1", "role": "assistant", "content": [part]}
        return {**message, "status": "completed"}
    item = {"type": "function_call", "id": f"fc_{block.id}", "call_id": block.id}
    return {**item, "name": block.name, "arguments": block.text, "status": "completed"}


def _emptied(item: Event) -> Event:
    """Return an item as the first event announces it, without content."""
    empty: Event = {"arguments": "", "summary": [], "content": [], "status": "in_progress"}
    return {key: empty.get(key, value) for key, value in item.items()}


class Messages(BaseProtocol):
    """Anthropic's Messages API."""

    def events(self) -> Iterator[Event]:
        body = {**self.body(), "content": [], "stop_reason": None}
        yield {"type": "message_start", "message": body}
        for index, block in enumerate(self.blocks):
            place = {"index": index}
            kind, key, start = _DELTAS[block.kind]
            empty = {**_content(block), **start}
            yield {"type": "content_block_start", "content_block": empty, **place}
            deltas = [{"type": kind, key: token} for token in tokens(block.text)]
            if block.kind == "reasoning" and not block.is_open:
                deltas.append({"type": "signature_delta", "signature": _SIGNATURE})
            for delta in deltas:
                yield {"type": "content_block_delta", "delta": delta, **place}
            if not block.is_open:
                yield {"type": "content_block_stop", **place}
        if self.answer.has_end:
            ended = {"stop_reason": self._stop(), "stop_sequence": None}
            usage = {"output_tokens": self.count}
            yield {"type": "message_delta", "delta": ended, "usage": usage}
            yield {"type": "message_stop"}

    def _stop(self) -> str:
        return "max_tokens" if self.is_cut else "tool_use" if self.calls else "end_turn"

    def body(self) -> Event:
        message = {"id": f"msg_{self.answer.id}", "type": "message", "role": "assistant"}
        common = {"model": self.model, "content": [_content(block) for block in self.blocks]}
        ended = {"stop_reason": self._stop(), "stop_sequence": None}
        usage = {"input_tokens": 1, "output_tokens": self.count}
        return {**message, **common, **ended, "usage": usage}

    def error(self, status: int) -> Event:
        kind = "invalid_request_error" if status < 500 else "api_error"
        error = {"type": kind, "message": self.answer.message}
        return {"type": "error", "error": error, "request_id": "req_1"}


_SIGNATURE: Final = "c2lnbmVk"
# Kind of a block → the type of its deltas, their field, and its empty fields at the start.
_DELTAS: Final[dict[str, tuple[str, str, Event]]] = {
    "reasoning": ("thinking_delta", "thinking", {"thinking": "", "signature": ""}),
    "text": ("text_delta", "text", {"text": ""}),
    "call": ("input_json_delta", "partial_json", {"input": {}}),
}


def _content(block: Block) -> Event:
    """Return a block of a message's content."""
    if block.kind == "reasoning":
        return {"type": "thinking", "thinking": block.text, "signature": _SIGNATURE}
    if block.kind == "text":
        return {"type": "text", "text": block.text}
    value = _value(block.text)
    return {"type": "tool_use", "id": block.id, "name": block.name, "input": value or {}}


def _value(text: str | bytes) -> Any:
    """Return the value of a JSON text; None if it is not JSON."""
    try:
        return json.loads(text)
    except ValueError:
        return None


Protocol = Chat | Responses | Messages
# How the path of a request ends → the protocol.
PROTOCOLS: Final[dict[str, type[Protocol]]] = {
    "/chat/completions": Chat,
    "/responses": Responses,
    "/messages": Messages,
}


# ---- the server ----


@dataclass(slots=True, eq=False)
class Exchange:
    """One request and how much of the response was sent. Other threads may look at any time.

    The names of `headers` are in lower case. `sent` counts the pieces of the body that were sent:
    of a stream, its events. `left` is set when the client closed the connection before the response
    had ended, `ended` when nothing more will be sent, for whatever reason.
    """

    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes
    sent: int = 0
    left: threading.Event = field(default_factory=threading.Event)
    ended: threading.Event = field(default_factory=threading.Event)

    @property
    def json(self) -> Any:
        """The JSON of the request's body; None if it is not JSON."""
        return _value(self.body)


Reply = Script | FakeAnswer | Callable[[Exchange], Script | FakeAnswer]


class Upstream(ThreadingHTTPServer):
    """A server on a free port of loopback, as a context manager.

    The first request gets the first reply, the second the second, and all that follow the last one.
    A reply is a `Script`, a `FakeAnswer`, or a function that takes the `Exchange` and returns one.
    """

    daemon_threads = True
    request_queue_size = 1024

    def __init__(self, *replies: Reply) -> None:
        if not replies:
            raise TypeError("Upstream needs a reply: a Script, a FakeAnswer, or a function")
        self.exchanges: list[Exchange] = []
        self.closing = threading.Event()
        self._errors: list[Exception] = []
        self._replies = replies
        self._lock = threading.Lock()
        super().__init__(("127.0.0.1", 0), _Handler)
        # The base URL; clients of OpenAI need `…/v1`.
        self.url = f"http://127.0.0.1:{self.server_address[1]}"

    def __enter__(self) -> Self:
        self._serving = threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True)
        self._serving.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop listening, end open responses, and raise the exception of a reply function."""
        self.closing.set()
        self.shutdown()
        self._serving.join()
        self.server_close()
        if self._errors:
            raise self._errors[0]

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore clients that disconnected: that is not a failure of the server."""

    def reply_to(self, exchange: Exchange) -> Script:
        """Record the exchange and return the script of its response."""
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


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Upstream

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        headers = {name.lower(): value for name, value in self.headers.items()}
        exchange = Exchange(self.command, self.path, headers, body)
        try:
            self._send(exchange, self.server.reply_to(exchange))
        except OSError:
            if not self.server.closing.is_set():
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
                self._wait(selector, 0 if isinstance(step, bytes) else step)
                if isinstance(step, bytes) and step:
                    # Count before sending: a client that has it must see it in the count.
                    exchange.sent += 1
                    self.wfile.write(b"%x\r\n%b\r\n" % (len(step), step))
        if not script.breaks:
            self.wfile.write(b"0\r\n\r\n")

    def _wait(self, selector: BaseSelector, seconds: float) -> None:
        """Wait; raise an OSError if the client leaves, or the server closes."""
        until = time.monotonic() + seconds
        while not self.server.closing.is_set():
            left = until - time.monotonic()
            if selector.select(min(max(left, 0), 0.05)):
                break  # the client has disconnected: each connection has one request
            if left <= 0:
                return
        raise ConnectionAbortedError

    def log_message(self, format: str, *args: Any) -> None:
        """Print nothing about requests."""
