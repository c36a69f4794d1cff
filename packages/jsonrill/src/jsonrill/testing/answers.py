"""What a fake model answers, and how each provider's protocol says it.

A protocol is one class below: the events of a stream, and the body of a response that is not
streamed. Shapes are as small as the providers' own clients accept.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal
from urllib.parse import urlsplit

from ..eventstream import DONE
from ..jsontext import dumps
from .script import EVENT_STREAM, Cut, Script, Step, Token, framed

Ending = Literal["complete", "length", "error", "cut", "reset", "stall"]
Event = dict[str, Any]
# An event, and whether it carries a token.
TokenEvent = tuple[Event, bool]
# Characters of a token.
SIZE: Final = 4
# How a body breaks off.
BREAKS: Final[dict[str, Step]] = {"reset": Cut.RESET, "cut": Cut.CLOSE, "stall": float("inf")}


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

    def script(self, target: str, body: Any) -> Script:
        """Return the response to a request with this target and JSON body."""
        request = body if isinstance(body, dict) else {}
        protocol = self._protocol(target, request)
        if protocol is None:
            message = f"{urlsplit(target).path} ends with none of {' '.join(PROTOCOLS)}"
            return Script.json({"error": {"message": message, "type": "not_found"}}, 404)
        if self.status != 200:
            return Script.json(protocol.error_body(self.status), self.status, self.headers)
        if request.get("stream") is True:
            return Script([*self._steps(protocol)], 200, {**EVENT_STREAM, **self.headers})
        if self.ending == "error":
            return Script.json(protocol.error_body(500), 500, self.headers)
        script = Script.json(protocol.whole(), 200, self.headers)
        [data] = script.steps
        steps: list[Step] = [protocol.count * self.pace]
        if isinstance(data, bytes) and self.ending in BREAKS:
            return replace(script, steps=[*steps, data[: len(data) // 2], BREAKS[self.ending]])
        return replace(script, steps=[*steps, data])

    def events(self, target: str) -> list[Event]:
        """Return the events, decoded, as a provider streams them from this path."""
        protocol = self._protocol(target, {})
        if protocol is None:
            raise ValueError(f"{target} ends with none of {' '.join(PROTOCOLS)}")
        return [event for event, _ in self._sent(protocol)]

    def _protocol(self, target: str, request: Mapping[str, Any]) -> Protocol | None:
        path = urlsplit(target).path
        made = next((it for ending, it in PROTOCOLS.items() if path.endswith(ending)), None)
        is_short = self.ending == "length"
        return None if made is None else made(self._shortened() if is_short else self, request)

    def _shortened(self) -> FakeAnswer:
        """Return the answer with its first `after` tokens only."""
        if self.after is None:
            return self
        left = self.after * SIZE
        texts = []
        for text in (self.reasoning, self.text, *(call.text for call in self.calls)):
            texts.append(text[:left])
            left = max(0, left - len(tokens(text)) * SIZE)
        reasoning, text, *arguments = texts
        calls = [replace(it, arguments=kept) for it, kept in zip(self.calls, arguments) if kept]  # noqa: B905
        return replace(self, reasoning=reasoning, text=text, calls=calls)

    def _sent(self, protocol: Protocol) -> Iterator[TokenEvent]:
        """Yield the events until the answer breaks off, and the event of an error."""
        is_broken = self.ending not in ("complete", "length")
        left = protocol.count if self.after is None else self.after
        for event, is_token in protocol.events():
            if is_broken and left <= 0 and (is_token or self.after is None):
                break
            left -= is_token
            yield event, is_token
        if self.ending == "error":
            yield protocol.error_event(), False

    def _steps(self, protocol: Protocol) -> Iterator[Step]:
        for event, is_token in self._sent(protocol):
            if is_token and self.pace:
                yield self.pace
            yield (Token if is_token else bytes)(framed(event))
        if self.ending == "cut":
            return  # the stream just ends
        if self.ending in BREAKS:
            yield BREAKS[self.ending]
        elif protocol.has_done and self.ending != "error":
            yield framed(DONE)


def tokens(text: str) -> list[str]:
    """Return the text in pieces of `SIZE` characters."""
    return [text[at : at + SIZE] for at in range(0, len(text), SIZE)]


class Protocol:
    """How one provider says an answer."""

    # Whether the last event is [DONE].
    has_done = False

    def __init__(self, answer: FakeAnswer, request: Mapping[str, Any]) -> None:
        self.answer = answer
        self.request = request
        self.is_cut = answer.ending == "length"
        self.model = request.get("model") or "fake"
        texts = (answer.reasoning, answer.text, *(call.text for call in answer.calls))
        self.count = sum(len(tokens(text)) for text in texts)
        numbered = enumerate(answer.calls, 1)
        self.calls = [replace(call, id=call.id or f"call_{at}") for at, call in numbered]

    def events(self) -> Iterator[TokenEvent]:
        """Yield the events of the stream."""
        raise NotImplementedError

    def whole(self) -> Event:
        """Return the body of a response that is not streamed."""
        raise NotImplementedError

    def error_event(self) -> Event:
        """Return the event of an error in the middle of a stream."""
        return self.error_body(500)

    def error_body(self, status: int) -> Event:
        """Return the body of a response with an error status."""
        kind = "invalid_request_error" if status < 500 else "server_error"
        kind = "rate_limit_error" if status == 429 else kind
        error = {"message": self.answer.message, "type": kind, "param": self.answer.param}
        return {"error": {**error, "code": None if kind.startswith("invalid") else kind}}


class Chat(Protocol):
    """OpenAI chat completions, with the reasoning that compatible servers send."""

    has_done = True

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
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return {**self._head("chat.completion.chunk"), "choices": [choice]}

    def _head(self, kind: str) -> Event:
        id = f"chatcmpl-{self.answer.id}"
        return {"id": id, "object": kind, "created": 1, "model": self.model}

    def _finish(self) -> str:
        return "length" if self.is_cut else "tool_calls" if self.calls else "stop"

    def _usage(self) -> Event:
        counts = {"prompt_tokens": 1, "completion_tokens": self.count}
        return {**counts, "total_tokens": 1 + self.count}

    def whole(self) -> Event:
        message: Event = {"role": "assistant", "content": self.answer.text or None}
        if self.answer.reasoning:
            message["reasoning_content"] = self.answer.reasoning
        if self.calls:
            message["tool_calls"] = [_chat_call(call) for call in self.calls]
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": self._finish()}
        return {**self._head("chat.completion"), "choices": [choice], "usage": self._usage()}


def _chat_call(call: Call) -> Event:
    function = {"name": call.name, "arguments": call.text}
    return {"id": call.id, "type": "function", "function": function}


class Responses(Protocol):
    """OpenAI's Responses API."""

    def events(self) -> Iterator[TokenEvent]:
        for number, (event, is_token) in enumerate(self._events()):
            yield {**event, "sequence_number": number}, is_token

    def _events(self) -> Iterator[TokenEvent]:
        response = self._response("in_progress", [])
        yield {"type": "response.created", "response": response}, False
        yield {"type": "response.in_progress", "response": response}, False
        for index, item in enumerate(self._items()):
            place = {"output_index": index}
            yield {"type": "response.output_item.added", "item": _emptied(item), **place}, False
            yield from self._item(item, {"item_id": item["id"], **place})
            yield {"type": "response.output_item.done", "item": item, **place}, False
        status = self._status()
        yield {"type": f"response.{status}", "response": self.whole()}, False

    def _item(self, item: Event, place: Event) -> Iterator[TokenEvent]:
        match item:
            case {"type": "function_call", "arguments": text, "name": name}:
                kind, last = "function_call_arguments", {"arguments": text, "name": name}
            case {"type": "reasoning", "summary": [{"text": text} as part]}:
                kind, last = "reasoning_summary_text", {"text": text}
                place = {**place, "summary_index": 0}
                added = {"type": "response.reasoning_summary_part.added", "part": part}
                yield {**added, **place}, False
            case {"content": [{"text": text} as part]}:
                kind, last = "output_text", {"text": text, "logprobs": []}
                place = {**place, "content_index": 0}
                added = {"type": "response.content_part.added", "part": {**part, "text": ""}}
                yield {**added, **place}, False
        for token in tokens(text):
            delta = {"type": f"response.{kind}.delta", "delta": token, **place}
            yield ({**delta, "logprobs": []} if kind == "output_text" else delta), True
        yield {"type": f"response.{kind}.done", **last, **place}, False
        if kind == "output_text":
            yield {"type": "response.content_part.done", "part": part, **place}, False

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

    def _response(self, status: str, output: list[Event]) -> Event:
        response = {"id": f"resp_{self.answer.id}", "object": "response", "created_at": 1}
        options = {"parallel_tool_calls": True, "tool_choice": "auto", "tools": [], "metadata": {}}
        limits = {"temperature": 1.0, "top_p": 1.0, "instructions": None, "error": None}
        about = {"model": self.model, "status": status, "output": output}
        details = {"reason": "max_output_tokens"} if status == "incomplete" else None
        ended = {"incomplete_details": details, "usage": None}
        return {**response, **options, **limits, **about, **ended}

    def whole(self) -> Event:
        usage: Event = {"input_tokens": 1, "output_tokens": self.count}
        reasoning = {"reasoning_tokens": len(tokens(self.answer.reasoning))}
        details = {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": reasoning}
        usage |= {"total_tokens": self.count + 1, **details}
        return {**self._response(self._status(), self._items()), "usage": usage}

    def error_event(self) -> Event:
        error = {"type": "error", "code": "server_error", "message": self.answer.message}
        return {**error, "param": None, "sequence_number": 0}


def _emptied(item: Event) -> Event:
    """Return an item as it is announced, before anything of it has arrived."""
    empty: Event = {"arguments": "", "summary": [], "content": [], "status": "in_progress"}
    return {key: empty.get(key, value) for key, value in item.items()}


# Status → the type of Anthropic's error.
_ANTHROPIC_ERRORS: Final = {
    400: "invalid_request_error",
    401: "authentication_error",
    429: "rate_limit_error",
    529: "overloaded_error",
}


# Type of a block → the type of its deltas, their field, and what is empty at the start.
_BLOCKS: Final[dict[str, tuple[str, str, Event]]] = {
    "thinking": ("thinking_delta", "thinking", {"thinking": "", "signature": ""}),
    "text": ("text_delta", "text", {"text": ""}),
    "tool_use": ("input_json_delta", "partial_json", {"input": {}}),
}


class Messages(Protocol):
    """Anthropic's Messages API."""

    def events(self) -> Iterator[TokenEvent]:
        yield {"type": "message_start", "message": self._message([], None, 1)}, False
        for index, (block, text) in enumerate(self._blocks()):
            place = {"index": index}
            kind, key, start = _BLOCKS[block["type"]]
            yield (
                {"type": "content_block_start", "content_block": {**block, **start}, **place},
                False,
            )
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

    def _message(self, content: list[Event], stop: str | None, count: int) -> Event:
        message = {"id": f"msg_{self.answer.id}", "type": "message", "role": "assistant"}
        ended = {"stop_reason": stop, "stop_sequence": None}
        usage = {"input_tokens": 1, "output_tokens": count}
        return {**message, "model": self.model, "content": content, **ended, "usage": usage}

    def whole(self) -> Event:
        return self._message([block for block, _ in self._blocks()], self._stop(), self.count)

    def error_event(self) -> Event:
        return self.error_body(529)

    def error_body(self, status: int) -> Event:
        error = {"type": _ANTHROPIC_ERRORS.get(status, "api_error"), "message": self.answer.message}
        return {"type": "error", "error": error, "request_id": "req_1"}


# How the path of a request ends → the protocol.
PROTOCOLS: Final[dict[str, type[Protocol]]] = {
    "/chat/completions": Chat,
    "/responses": Responses,
    "/messages": Messages,
}
