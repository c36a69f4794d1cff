"""What a fake model answers, and how each provider's protocol says it.

A protocol is one class below: the events of a stream, and the body of a response that is not
streamed. Shapes are as small as the providers' own clients accept.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal
from urllib.parse import urlsplit

from ..build.document import Document
from ..errors import InvalidJSON
from ..eventstream import DONE
from ..jsontext import dumps
from .script import EVENT_STREAM, Cut, Script, Step, Token, framed

Ending = Literal["complete", "length", "error", "cut", "reset", "stall"]
Event = dict[str, Any]
# An event, and whether it carries a token.
TokenEvent = tuple[Event, bool]
# Characters of a token.
SIZE: Final = 4
# Endings that a body has not by itself.
BREAKS: Final[dict[str, Step]] = {"reset": Cut.RESET, "stall": float("inf")}


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

    `pace` is the time before each token in seconds. Without it the buffers of the connection take
    the answer at once, and a count of tokens says nothing about the client.

    `ending` is `complete`; `length` (stopped at the limit of tokens); `error` (the provider's error
    event, or status 500 if the answer is not streamed); `cut` (the body ends in the middle),
    `reset` (the connection does) or `stall` (nothing more is sent). All but `complete` happen
    after `after` tokens. With another `status` than 200 the answer is the provider's error body,
    with this `message`, about this `param` of the request. `id` is the end of the answer's id.
    """

    text: str = ""
    reasoning: str = ""
    calls: Sequence[Call] = ()
    pace: float = 0.01
    ending: Ending = "complete"
    after: int | None = None
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    message: str = "Overloaded"
    param: str | None = None
    id: str = "1"

    def __post_init__(self) -> None:
        if self.after is not None and self.ending == "complete":
            raise ValueError("`after` is for an answer whose `ending` is not complete")

    def shortened(self) -> FakeAnswer:
        """The answer with its first `after` tokens only."""
        if self.after is None:
            return self
        left = self.after
        texts = []
        for text in (self.reasoning, self.text, *(call.text for call in self.calls)):
            texts.append(text[: left * SIZE])
            left = max(0, left - len(tokens(text)))
        reasoning, text, *arguments = texts
        calls = [
            replace(call, arguments=arguments_left)
            for call, arguments_left in zip(self.calls, arguments, strict=True)
            if arguments_left
        ]
        return replace(self, reasoning=reasoning, text=text, calls=calls, after=None)

    def script(self, target: str, body: Any, agent: str = "") -> Script:
        """The response to a request with this target and JSON body, sent by this user agent."""
        asked = body if isinstance(body, dict) else {}
        parts = urlsplit(target)
        protocol = _protocol(parts.path, agent)
        if protocol is None:
            message = f"{parts.path} ends with none of {' '.join(PROTOCOLS)}"
            return Script.json({"error": {"message": message, "type": "not_found"}}, 404)
        length = self.ending == "length"
        spoken = protocol(self.shortened() if length else self, asked, "length" if length else "")
        if self.status != 200:
            return Script.json(spoken.error_body(self.status), self.status, self.headers)
        if ":stream" in parts.path or asked.get("stream") is True:
            headers = {**EVENT_STREAM, **self.headers}
            return Script([*self._steps(spoken)], 200, headers)
        return self._at_once(spoken)

    def events(self, target: str) -> list[Event]:
        """The events of the complete answer, decoded, as a provider streams them from this path."""
        protocol = _protocol(urlsplit(target).path, "")
        if protocol is None:
            raise ValueError(f"{target} ends with none of {' '.join(PROTOCOLS)}")
        return [event for event, _ in protocol(self, {}, "").events()]

    def _steps(self, spoken: _Protocol) -> Iterator[Step]:
        sent = 0
        broken = self.ending not in ("complete", "length")
        for event, is_token in spoken.events():
            if broken and is_token and sent == self.after:
                break
            if is_token:
                sent += 1
                if self.pace:
                    yield self.pace
            yield (Token if is_token else bytes)(framed(event))
        else:
            if not broken and spoken.done:
                yield framed(DONE)
        if self.ending == "error":
            yield framed(spoken.error_event())
        elif self.ending in BREAKS:
            yield BREAKS[self.ending]

    def _at_once(self, spoken: _Protocol) -> Script:
        """The response that is not streamed; its tokens take their time, too."""
        if self.ending == "error":
            return Script.json(spoken.error_body(500), 500, self.headers)
        script = Script.json(spoken.whole(), 200, self.headers)
        [body] = script.steps
        assert isinstance(body, bytes)
        pause = spoken.count * self.pace
        if self.ending in ("complete", "length"):
            return replace(script, steps=[pause, body])
        steps: list[Step] = [pause, body[: len(body) // 2], BREAKS.get(self.ending, Cut.CLOSE)]
        return replace(script, steps=steps, framing="chunked")


def _value(text: str) -> Any:
    """Arguments as a value, as far as they are JSON."""
    document = Document()
    with suppress(InvalidJSON):
        document.feed(text)
    return document.value if isinstance(document.value, dict) else {}


def tokens(text: str) -> list[str]:
    """The text in pieces of `SIZE` characters."""
    return [text[at : at + SIZE] for at in range(0, len(text), SIZE)]


class _Protocol:
    """How one provider says an answer; `stopped` is "length" if it was stopped there."""

    # Whether the last event is [DONE].
    done = False

    def __init__(self, answer: FakeAnswer, asked: Mapping[str, Any], stopped: str) -> None:
        self.answer = answer
        self.asked = asked
        self.stopped = stopped
        self.model = asked.get("model") or "fake"
        texts = (answer.reasoning, answer.text, *(call.text for call in answer.calls))
        self.count = sum(len(tokens(text)) for text in texts)
        self.calls = [
            replace(call, id=call.id or f"call_{number}")
            for number, call in enumerate(answer.calls, 1)
        ]

    def events(self) -> Iterator[TokenEvent]:
        """The events of the stream."""
        raise NotImplementedError

    def whole(self) -> Event:
        """The body of a response that is not streamed."""
        raise NotImplementedError

    def error_event(self) -> Event:
        """The event of an error in the middle of a stream."""
        return self.error_body(500)

    def error_body(self, status: int) -> Event:
        """The body of a response with an error status."""
        kinds = {429: "rate_limit_error"}
        kind = kinds.get(status, "invalid_request_error" if status < 500 else "server_error")
        error = {"message": self.answer.message, "type": kind, "param": self.answer.param}
        return {"error": {**error, "code": kind if status == 429 or status >= 500 else None}}


class Chat(_Protocol):
    """OpenAI chat completions, with the reasoning that compatible servers send.

    Of several choices (`n`) each says the same.
    """

    done = True

    def events(self) -> Iterator[TokenEvent]:
        for event, is_token in self._events():
            yield event, is_token
            for choice in self._others(event["choices"]):
                yield {**event, "choices": [choice]}, False

    def _others(self, choices: list[Event]) -> list[Event]:
        """The choices after the first."""
        count = self.asked.get("n")
        indices = range(1, count if isinstance(count, int) else 1)
        return [{**choice, "index": index} for index in indices for choice in choices]

    def _events(self) -> Iterator[TokenEvent]:
        answer = self.answer
        yield self._chunk({"role": "assistant", "content": ""}), False
        yield from self._reasoning(answer.reasoning)
        for token in tokens(answer.text):
            yield self._chunk({"content": token}), True
        yield from self._calls()
        yield self._chunk({}, self._finish()), False
        if (self.asked.get("stream_options") or {}).get("include_usage"):
            yield {**self._chunk({}), "choices": [], "usage": self._usage()}, False

    def _reasoning(self, text: str) -> Iterator[TokenEvent]:
        for token in tokens(text):
            yield self._chunk({"reasoning_content": token}), True

    def _calls(self) -> Iterator[TokenEvent]:
        for index, call in enumerate(self.calls):
            function = {"name": call.name, "arguments": ""}
            begun = {"index": index, "id": call.id, "type": "function", "function": function}
            yield self._chunk({"tool_calls": [begun]}), False
            for token in tokens(call.text):
                delta = {"index": index, "function": {"arguments": token}}
                yield self._chunk({"tool_calls": [delta]}), True

    def _chunk(self, delta: Event, finish: str | None = None) -> Event:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return {**self._head("chat.completion.chunk"), "choices": [choice]}

    def _head(self, kind: str) -> Event:
        return {
            "id": f"chatcmpl-{self.answer.id}",
            "object": kind,
            "created": 1,
            "model": self.model,
        }

    def _finish(self) -> str:
        return self.stopped or ("tool_calls" if self.calls else "stop")

    def _usage(self) -> Event:
        counted = {"prompt_tokens": 1, "completion_tokens": self.count}
        return {**counted, "total_tokens": 1 + self.count}

    def whole(self) -> Event:
        message: Event = {"role": "assistant", "content": self.answer.text or None}
        if self.answer.reasoning:
            message["reasoning_content"] = self.answer.reasoning
        if self.calls:
            message["tool_calls"] = self._whole_calls()
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": self._finish()}
        choices = [choice, *self._others([choice])]
        return {**self._head("chat.completion"), "choices": choices, "usage": self._usage()}

    def _whole_calls(self) -> list[Event]:
        return [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": call.text},
            }
            for call in self.calls
        ]


class Mistral(Chat):
    """Mistral's chat completions: whole calls in one event, reasoning as parts of the content."""

    def _reasoning(self, text: str) -> Iterator[TokenEvent]:
        for token in tokens(text):
            yield self._chunk({"content": [self._thinking(token)]}), True

    def _calls(self) -> Iterator[TokenEvent]:
        if self.calls:
            calls = [{**call, "index": at} for at, call in enumerate(self._whole_calls())]
            yield self._chunk({"content": "", "tool_calls": calls}), True

    def whole(self) -> Event:
        body = super().whole()
        message = body["choices"][0]["message"]
        thought = message.pop("reasoning_content", "")
        message["content"] = message["content"] or ""
        if thought:
            text = {"type": "text", "text": message["content"]}
            message["content"] = [self._thinking(thought), text]
        return body

    def _thinking(self, text: str) -> Event:
        return {"type": "thinking", "thinking": [{"type": "text", "text": text}]}


class Responses(_Protocol):
    """OpenAI's Responses API."""

    def events(self) -> Iterator[TokenEvent]:
        for number, (event, is_token) in enumerate(self._unnumbered()):
            yield {**event, "sequence_number": number}, is_token

    def _unnumbered(self) -> Iterator[TokenEvent]:
        begun = self._response("in_progress", [])
        yield {"type": "response.created", "response": begun}, False
        yield {"type": "response.in_progress", "response": begun}, False
        items = self._items("completed")
        for index, item in enumerate(items):
            where = {"output_index": index}
            yield {"type": "response.output_item.added", "item": _emptied(item), **where}, False
            yield from self._item(item, {"item_id": item["id"], **where})
            yield {"type": "response.output_item.done", "item": item, **where}, False
        status = "incomplete" if self.stopped else "completed"
        yield {"type": f"response.{status}", "response": self._response(status, items)}, False

    def _item(self, item: Event, where: Event) -> Iterator[TokenEvent]:
        if item["type"] == "function_call":
            kind, text = "response.function_call_arguments", item["arguments"]
            for token in tokens(text):
                yield {"type": f"{kind}.delta", "delta": token, **where}, True
            yield {"type": f"{kind}.done", "arguments": text, "name": item["name"], **where}, False
            return
        if item["type"] == "reasoning":
            [part], kind, opened = item["summary"], "reasoning_summary_text", "reasoning_summary"
            where = {**where, "summary_index": 0}
        else:
            [part], kind, opened = item["content"], "output_text", "content"
            where = {**where, "content_index": 0}
        added = f"response.{opened}_part"
        logs: Event = {"logprobs": []} if item["type"] == "message" else {}
        yield {"type": f"{added}.added", "part": {**part, "text": ""}, **where}, False
        for token in tokens(part["text"]):
            yield {"type": f"response.{kind}.delta", "delta": token, **where, **logs}, True
        yield {"type": f"response.{kind}.done", "text": part["text"], **where, **logs}, False
        yield {"type": f"{added}.done", "part": part, **where}, False

    def _items(self, status: str) -> list[Event]:
        items: list[Event] = []
        if self.answer.reasoning:
            summary = [{"type": "summary_text", "text": self.answer.reasoning}]
            items.append({"type": "reasoning", "id": "rs_1", "summary": summary})
        if self.answer.text or not self.calls:
            part = {"type": "output_text", "text": self.answer.text, "annotations": []}
            message = {"type": "message", "id": "msg_1", "role": "assistant", "status": status}
            items.append({**message, "content": [part]})
        for number, call in enumerate(self.calls, 1):
            item = {"type": "function_call", "id": f"fc_{number}", "call_id": call.id}
            fields = {"name": call.name, "arguments": call.text, "status": status}
            items.append({**item, **fields})
        return items

    def _response(self, status: str, output: list[Event]) -> Event:
        usage = {"input_tokens": 1, "output_tokens": self.count, "total_tokens": self.count + 1}
        details = {"reason": "max_output_tokens"} if status == "incomplete" else None
        return {
            "id": f"resp_{self.answer.id}",
            "object": "response",
            "created_at": 1,
            "model": self.model,
            "status": status,
            "output": output,
            "error": None,
            "incomplete_details": details,
            "instructions": None,
            "metadata": {},
            "parallel_tool_calls": True,
            "temperature": 1.0,
            "tool_choice": "auto",
            "tools": [],
            "top_p": 1.0,
            "usage": None
            if status == "in_progress"
            else {
                **usage,
                "input_tokens_details": {"cached_tokens": 0},
                "output_tokens_details": {"reasoning_tokens": len(tokens(self.answer.reasoning))},
            },
        }

    def whole(self) -> Event:
        return self._response(
            "incomplete" if self.stopped else "completed", self._items("completed")
        )

    def error_event(self) -> Event:
        return {
            "type": "error",
            "code": "server_error",
            "message": self.answer.message,
            "param": None,
            "sequence_number": 0,
        }


def _emptied(item: Event) -> Event:
    """An item as it is announced, before anything of it has arrived."""
    empty: Event = {"arguments": "", "summary": [], "content": [], "status": "in_progress"}
    return {key: empty.get(key, value) for key, value in item.items()}


# Status → the type of Anthropic's error.
ANTHROPIC_ERRORS: Final = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    422: "invalid_request_error",
    429: "rate_limit_error",
    504: "timeout_error",
    529: "overloaded_error",
}


class Messages(_Protocol):
    """Anthropic's Messages API."""

    def events(self) -> Iterator[TokenEvent]:
        yield {"type": "message_start", "message": self._message([], None, 1)}, False
        yield {"type": "ping"}, False
        for index, block in enumerate(self._blocks()):
            where = {"index": index}
            begun, deltas = self._block(block)
            yield {"type": "content_block_start", "content_block": begun, **where}, False
            for delta, is_token in deltas:
                yield {"type": "content_block_delta", "delta": delta, **where}, is_token
            yield {"type": "content_block_stop", **where}, False
        delta = {"stop_reason": self._stop(), "stop_sequence": None}
        usage = {"output_tokens": self.count}
        yield {"type": "message_delta", "delta": delta, "usage": usage}, False
        yield {"type": "message_stop"}, False

    def _block(self, block: Event) -> tuple[Event, list[TokenEvent]]:
        """A block as it begins, and its deltas."""
        match block["type"]:
            case "thinking":
                kind, key, text = "thinking_delta", "thinking", block["thinking"]
                begun = {**block, "thinking": "", "signature": ""}
                last = [({"type": "signature_delta", "signature": block["signature"]}, False)]
            case "text":
                kind, key, text = "text_delta", "text", block["text"]
                begun, last = {**block, "text": ""}, []
            case _:
                kind, key, text = "input_json_delta", "partial_json", block["input"]
                begun, last = {**block, "input": {}}, []
        return begun, [({"type": kind, key: token}, True) for token in tokens(text)] + last

    def _blocks(self) -> list[Event]:
        """The blocks of the content; the input of tools as text."""
        blocks: list[Event] = []
        if self.answer.reasoning:
            thought = self.answer.reasoning
            blocks.append({"type": "thinking", "thinking": thought, "signature": "c2lnbmVk"})
        if self.answer.text:
            blocks.append({"type": "text", "text": self.answer.text})
        for call in self.calls:
            named = {"type": "tool_use", "id": call.id, "name": call.name}
            blocks.append({**named, "input": call.text})
        return blocks

    def _stop(self) -> str:
        if self.stopped:
            return "max_tokens"
        return "tool_use" if self.calls else "end_turn"

    def _message(self, content: list[Event], stop: str | None, count: int) -> Event:
        return {
            "id": f"msg_{self.answer.id}",
            "type": "message",
            "role": "assistant",
            "model": self.model,
            "content": content,
            "stop_reason": stop,
            "stop_sequence": None,
            "usage": {"input_tokens": 1, "output_tokens": count},
        }

    def whole(self) -> Event:
        content = [
            {**block, "input": _value(block["input"])} if "input" in block else block
            for block in self._blocks()
        ]
        return self._message(content, self._stop(), self.count)

    def error_event(self) -> Event:
        return self.error_body(529)

    def error_body(self, status: int) -> Event:
        error = {"type": ANTHROPIC_ERRORS.get(status, "api_error"), "message": self.answer.message}
        return {"type": "error", "error": error, "request_id": "req_1"}


class Gemini(_Protocol):
    """Gemini's generateContent; a call is one event, as the API sends it."""

    def events(self) -> Iterator[TokenEvent]:
        for token in tokens(self.answer.reasoning):
            yield self._response([{"text": token, "thought": True}]), True
        for token in tokens(self.answer.text):
            yield self._response([{"text": token}]), True
        for part in self._call_parts():
            yield self._response([part]), True
        yield self._response([{"text": ""}], self._finish()), False

    def _call_parts(self) -> list[Event]:
        return [
            {"functionCall": {"id": call.id, "name": call.name, "args": _value(call.text)}}
            for call in self.calls
        ]

    def _finish(self) -> str:
        return "MAX_TOKENS" if self.stopped else "STOP"

    def _response(self, parts: list[Event], finish: str | None = None) -> Event:
        candidate: Event = {"index": 0, "content": {"role": "model", "parts": parts}}
        if finish is not None:
            candidate["finishReason"] = finish
        usage = {"promptTokenCount": 1, "candidatesTokenCount": self.count}
        head = {"responseId": f"r{self.answer.id}", "modelVersion": self.model}
        return {**head, "candidates": [candidate], "usageMetadata": usage}

    def whole(self) -> Event:
        answer = self.answer
        parts: list[Event] = []
        if answer.reasoning:
            parts.append({"text": answer.reasoning, "thought": True})
        if answer.text:
            parts.append({"text": answer.text})
        return self._response([*parts, *self._call_parts()], self._finish())

    def error_body(self, status: int) -> Event:
        kinds = {400: "INVALID_ARGUMENT", 404: "NOT_FOUND", 429: "RESOURCE_EXHAUSTED"}
        kind = kinds.get(status, "UNAVAILABLE")
        return {"error": {"code": status, "message": self.answer.message, "status": kind}}


# How the path of a request ends → the protocol.
PROTOCOLS: Final[dict[str, type[_Protocol]]] = {
    "/chat/completions": Chat,
    "/responses": Responses,
    "/messages": Messages,
    ":generateContent": Gemini,
    ":streamGenerateContent": Gemini,
}


def _protocol(path: str, agent: str) -> type[_Protocol] | None:
    for ending, protocol in PROTOCOLS.items():
        if path.endswith(ending):
            # Mistral's client asks at the same path for events of another shape.
            return Mistral if protocol is Chat and "mistral" in agent else protocol
    return None
