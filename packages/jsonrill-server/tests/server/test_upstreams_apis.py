"""The behaviours of upstreams that speak Responses and Messages, each with the right end.

One table for both: the name of the model is the behaviour. The clients are OpenAI's and
Anthropic's own, unmodified.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import anthropic
import openai
import pytest

from jsonrill.testing import Call, Cut, Exchange, FakeAnswer, Script, Step, Upstream
from support import few
from support.processes import Server

TEXT = "Hello wörld, it rains."
APIS = ("responses", "messages")
EVENTS = {"content-type": "text/event-stream"}
JSON = {"content-type": "application/json"}


def pieces(api: str, answer: FakeAnswer | None = None) -> list[bytes]:
    """The events of a complete answer, each as bytes."""
    answer = answer or FakeAnswer(TEXT, pace=0, calls=[Call("show", {"a": [1, {"b": "ü"}]})])
    steps = answer.script(f"/v1/{api}", {"stream": True}).steps
    return [step for step in steps if isinstance(step, bytes)]


def written(data: bytes, *, name: bool = True, kind: bool = True, **how: Any) -> bytes:
    """The events with their JSON written in another way, and without their name or their type."""
    rewritten = b""
    for event in data.decode().split("\n\n")[:-1]:
        value = json.loads(event.partition("data: ")[2])
        head = f"event: {value['type']}\n" if name else ""
        if not kind:
            del value["type"]
        text = json.dumps(value, **how).replace("\n", "\ndata: ")
        rewritten += f"{head}data: {text}\n\n".encode()
    return rewritten


def numbered(data: bytes, number: Any) -> bytes:
    """The events of a response, each with this number, or with none."""
    rewritten = b""
    for event in data.decode().split("\n\n")[:-1]:
        value = json.loads(event.partition("data: ")[2])
        value.pop("sequence_number", None)
        value |= {} if number is None else {"sequence_number": number}
        rewritten += f"event: {value['type']}\ndata: {json.dumps(value)}\n\n".encode()
    return rewritten


ERRORS: dict[str, Any] = {
    "responses": {"type": "error", "code": "busy", "message": "Overloaded", "param": None},
    "messages": {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
}


def framed(value: Any) -> bytes:
    return f"event: {value.get('type', 'error')}\ndata: {json.dumps(value)}\n\n".encode()


def complete(api: str) -> dict[str, Script]:
    """Answers that are complete, in whatever way they are written."""
    parts = pieces(api)
    body = b"".join(parts)
    last = parts[-1]
    waiting: list[Step] = [b": wait\n", 0.4]
    scripts = {
        "plain": Script([body]),
        "byte by byte": Script([body[at : at + 1] for at in range(len(body))]),
        "CRLF": Script([body.replace(b"\n", b"\r\n")]),
        "CR": Script([body.replace(b"\n", b"\r")]),
        "BOM": Script([b"\xef\xbb\xbf" + body]),
        "white space in the JSON": Script([written(body, separators=(" ,\t", " :  "))]),
        "data in several lines": Script([written(body, indent=1)]),
        "no space after data:": Script([body.replace(b"data: ", b"data:")]),
        "other fields": Script([body.replace(b"data:", b"id: 7\nretry: 9\nfoo\ndata:")]),
        "comments": Script([b": hi\n\n" + body.replace(b"\n\n", b"\n\n: keep alive\n\n")]),
        "comments longer than the silence allowed": Script(
            [body[: -len(last)], *waiting * 4, last]
        ),
        "empty events": Script([b"data:\n\ndata: \n\n" + body]),
        "no names": Script([written(body, name=False)]),
        "names alone": Script([written(body, kind=False)]),
        "last event without a blank line": Script([body.rstrip(b"\n")]),
        "[DONE] at the end": Script([body + b"data: [DONE]\n\n"]),
        "complete, then silence": Script([body, float("inf")]),
        "complete, then a reset": Script([body, 0.2, Cut.RESET]),
        "complete, then anything": Script([body + b"data: {oops\n\n"]),
        "another media type": Script([body], 200, {"content-type": "text/plain"}),
        "media type with a charset": Script(
            [body], 200, {"content-type": "Text/Event-Stream; charset=utf-8"}
        ),
        "with a length": Script([body], 200, EVENTS, "length"),
        "closed at the end": Script([body], 200, EVENTS, "close"),
        "unknown events": Script([framed({"type": "response.new_thing", "x": 1}) + body]),
    }
    if api == "responses":
        scripts["no numbers"] = Script([numbered(body, None)])
        scripts["the same number everywhere"] = Script([numbered(body, 0)])
        scripts["numbers that are none"] = Script([numbered(body, "x")])
    else:
        scripts["ping"] = Script([framed({"type": "ping"}) + body])
        scripts["no message_stop"] = Script([body[: -len(last)]])
    return scripts


def failing(api: str) -> dict[str, tuple[Script, str]]:
    """Answers that begin and break off, with the code that says so."""
    parts = pieces(api)
    begun, error = b"".join(parts[:7]), framed(ERRORS[api])
    return {
        "empty body": (Script([]), "UPSTREAM_LOST"),
        "comments alone": (Script([b": hi\n\n"]), "UPSTREAM_LOST"),
        "ended too early": (Script([begun]), "UPSTREAM_LOST"),
        "ended inside an event": (Script([begun + parts[7][:-9]]), "UPSTREAM_LOST"),
        "[DONE] too early": (Script([begun + b"data: [DONE]\n\n"]), "UPSTREAM_LOST"),
        "closed inside the body": (Script([begun, Cut.CLOSE]), "UPSTREAM_LOST"),
        "reset inside the body": (Script([begun, 0.2, Cut.RESET]), "UPSTREAM_LOST"),
        "silence": (Script([begun, float("inf")]), "UPSTREAM_TIMEOUT"),
        "silence before the first event": (Script([float("inf")]), "UPSTREAM_TIMEOUT"),
        "error event": (Script([begun + error]), "UPSTREAM_ERROR"),
        "error event first": (Script([error]), "UPSTREAM_ERROR"),
        "JSON error as event stream": (
            Script([json.dumps({"error": {"message": "Overloaded"}}).encode()]),
            "UPSTREAM_ERROR",
        ),
        "an event that is not JSON": (Script([begun + b"data: oops\n\n"]), "UPSTREAM_ERROR"),
        "an event that is no object": (Script([begun + b"data: 1\n\n"]), "UPSTREAM_ERROR"),
        "endless line": (Script([begun + b"data: ", *[b"x" * 65_536] * 40]), "LIMIT_EXCEEDED"),
    }


BUSY = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
# There is no stream: the client gets this status, and this text.
REFUSED: dict[str, tuple[Script, int, str]] = {
    "400": (Script.json(BUSY, 400), 400, "Overloaded"),
    "429": (Script.json(BUSY, 429, {"retry-after": "7"}), 429, "Overloaded"),
    "529": (Script.json(BUSY, 529), 529, "Overloaded"),
    "error with status 200": (Script.json(BUSY), 502, "Overloaded"),
    "not streamed": (Script.json({"output": []}), 502, "asked for a stream"),
    "a page": (Script([b"<html>"], 200, {"content-type": "text/html"}), 502, "not a JSON object"),
    "redirect": (Script([], 307, {"location": "http://x/"}, "length"), 502, "redirects"),
    "reset at once": (Script([Cut.RESET], framing="raw"), 502, "could not be reached"),
    "no answer": (Script([float("inf")], framing="raw"), 504, "did not answer"),
    "body of an error cut": (Script([b'{"err', Cut.CLOSE], 500, JSON), 502, "broke"),
}


def reply(exchange: Exchange) -> Script:
    api, name = exchange.target.rpartition("/")[2], exchange.json["model"]
    if name in REFUSED:
        return REFUSED[name][0]
    failed = failing(api)
    return failed[name][0] if name in failed else complete(api)[name]


@pytest.fixture(scope="module")
def relay(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    settings = {"upstream_first": 2, "upstream_idle": 1, "heartbeat": 0.3, "owner_streams": 1000}
    with Upstream(reply) as upstream:
        folder = tmp_path_factory.mktemp("relay")
        with Server(folder, upstream=f"{upstream.url}/v1", **settings) as server:
            yield server
            assert "Traceback" not in server.log()


@pytest.fixture(scope="module")
def clients(relay: Server) -> Iterator[dict[str, Any]]:
    settings: dict[str, Any] = {"api_key": "mine", "max_retries": 0, "timeout": 20}
    with openai.OpenAI(base_url=f"{relay.url}/v1", **settings) as one:
        with anthropic.Anthropic(base_url=relay.url, **settings) as other:
            yield {"responses": one, "messages": other}


def asked(clients: dict[str, Any], api: str, name: str) -> Any:
    if api == "responses":
        return clients[api].responses.create(model=name, input="hi", stream=True)
    messages = [{"role": "user", "content": "hi"}]
    return clients[api].messages.create(model=name, max_tokens=9, messages=messages, stream=True)


@few(13)
@pytest.mark.parametrize("api, name", [(api, name) for api in APIS for name in complete(api)])
def test_a_complete_answer_is_relayed(clients: dict[str, Any], api: str, name: str) -> None:
    events = [*asked(clients, api, name)]
    if api == "responses":
        assert [event.sequence_number for event in events] == [*range(len(events))]
        texts = [event.delta for event in events if event.type == "response.output_text.delta"]
        assert events[-1].response.output[1].arguments == '{"a":[1,{"b":"ü"}]}'
        assert len({event.response.id for event in events if hasattr(event, "response")}) == 1
    else:
        deltas = [event.delta for event in events if event.type == "content_block_delta"]
        texts = [delta.text for delta in deltas if delta.type == "text_delta"]
        assert events[-1].type == "message_stop"
    assert "".join(texts) == TEXT


@pytest.mark.parametrize("api, name", [(api, name) for api in APIS for name in failing(api)])
def test_an_answer_that_breaks_off_fails_visibly(
    clients: dict[str, Any], api: str, name: str
) -> None:
    code = failing(api)[name][1]
    with pytest.raises((openai.APIError, anthropic.APIError)) as caught:
        for _ in asked(clients, api, name):
            pass
    error: Any = caught.value
    if api == "responses":
        assert error.code == code
    elif "error event" in name:
        assert "overloaded_error" in str(error)
    else:
        assert error.body["error"]["code"] == code


@few(8)
@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("name", REFUSED)
def test_without_an_answer_there_is_a_status(
    clients: dict[str, Any], relay: Server, api: str, name: str
) -> None:
    _, status, text = REFUSED[name]
    with pytest.raises((openai.APIStatusError, anthropic.APIStatusError)) as caught:
        asked(clients, api, name)
    error: Any = caught.value
    assert error.status_code == status and text in str(error)
    body = json.loads(error.response.text)
    if api == "messages" and status >= 500 and name != "529":
        assert body["type"] == "error" and body["error"]["type"] in ("api_error", "timeout_error")
    if name == "429":
        assert error.response.headers["retry-after"] == "7"
