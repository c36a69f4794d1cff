"""Whatever an upstream does, a relayed answer is complete or fails visibly, with the right code.

One table: the name of the model is the behaviour. The client is OpenAI's own, unmodified.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from typing import Any

import httpx2
import openai
import pytest

from jsonrill.testing import Cut, Exchange, FakeAnswer, Script, Step, Upstream
from support import few
from support.processes import Server

TEXT = "Hello wörld, it rains."
STREAM = {"stream": True}
PATH = "/v1/chat/completions"
STEPS = [*FakeAnswer(TEXT, pace=0).script(PATH, STREAM).steps]
PIECES = [step for step in STEPS if isinstance(step, bytes)]
BODY = b"".join(PIECES)
CRLF = BODY.replace(b"\n", b"\r\n")
DONE = PIECES[-1]
# The events up to the one with the finish_reason, and that one.
OPEN, FINISH = b"".join(PIECES[:-2]), PIECES[-2]
EVENTS = {"content-type": "text/event-stream"}
JSON = {"content-type": "application/json"}
ERROR = {"error": {"message": "Overloaded", "type": "server_error", "code": "busy"}}
LARGE = "x" * 700_000


def typed(media_type: str) -> Script:
    return Script([BODY], 200, {"content-type": media_type})


def framed(value: Any, event: str = "") -> bytes:
    name = f"event: {event}\n" if event else ""
    return f"{name}data: {json.dumps(value)}\n\n".encode()


def spaced(data: bytes) -> bytes:
    """The events with other white space in their JSON."""
    events = data.decode().split("\n\n")[:-2]
    bodies = [json.loads(event.removeprefix("data: ")) for event in events]
    texts = [json.dumps(event, separators=(" ,\t", " :  ")) for event in bodies]
    return "".join(f"data: {text}\n\n" for text in texts).encode()


def in_lines(data: bytes) -> bytes:
    """The events with each line of their indented JSON in a data field of its own."""
    events = data.decode().split("\n\n")[:-2]
    bodies = [json.loads(event.removeprefix("data: ")) for event in events]
    texts = [json.dumps(event, indent=1).replace("\n", "\ndata: ") for event in bodies]
    return "".join(f"data: {text}\n\n" for text in texts).encode()


def chunk(delta: dict[str, Any], finish: str | None = None, index: int = 0) -> bytes:
    choice = {"index": index, "delta": delta, "finish_reason": finish}
    head = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    return framed({**head, "choices": [choice]})


def raw(head: bytes, *steps: Step) -> Script:
    return Script([head.replace(b"\n", b"\r\n") + b"\r\n", *steps], framing="raw")


def slowly(*steps: bytes, pause: float = 0.4) -> list[Step]:
    return [it for step in steps for it in (step, pause)]


AZURE = {"id": "", "object": "", "created": 0, "model": "", "choices": [], "filter": {}}
USAGE = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": []}
OTHER = chunk({"content": "no"}, None, 1)

# The answer is complete: its text is this one.
COMPLETE: dict[str, Script | tuple[Script, str]] = {
    "plain": Script([BODY]),
    "piece by piece": Script(PIECES),
    "byte by byte": Script([BODY[at : at + 1] for at in range(len(BODY))]),
    "CRLF": Script([CRLF]),
    "CRLF cut in its middle": Script([CRLF[: CRLF.index(b"\n")], 0.1, CRLF[CRLF.index(b"\n") :]]),
    "CR": Script([BODY.replace(b"\n", b"\r")]),
    "BOM": Script([b"\xef\xbb\xbf" + BODY]),
    "white space in the JSON": Script([spaced(BODY)]),
    "data in several lines": Script([in_lines(BODY)]),
    "no space after data:": Script([BODY.replace(b"data: ", b"data:")]),
    "other fields": Script([BODY.replace(b"data:", b"id: 7\nevent: chunk\nretry: 9\nfoo\ndata:")]),
    "comments": Script([b": processing\n\n" + BODY.replace(b"\n\n", b"\n\n: keep alive\n\n")]),
    "comments longer than the silence allowed": Script(
        [OPEN, *slowly(*[b": wait\n"] * 4), FINISH, DONE]
    ),
    "empty events": Script([b"data:\n\ndata: \n\n" + BODY]),
    "no [DONE]": Script([OPEN + FINISH]),
    "last event without a blank line": Script([OPEN + FINISH.rstrip(b"\n")]),
    "[DONE] without a line end": Script([OPEN + FINISH + DONE.rstrip(b"\n")]),
    "[DONE] and no finish_reason": Script([OPEN + DONE]),
    "[DONE], then anything": Script([BODY, b"data: {oops\n\n" + OPEN]),
    "[DONE], then silence": Script([BODY, float("inf")]),
    "[DONE], then a reset": Script([BODY, 0.2, Cut.RESET]),
    "complete, then a reset": Script([OPEN + FINISH, 0.2, Cut.RESET]),
    "complete, then silence": Script([OPEN + FINISH, float("inf")]),
    "usage after the end": Script([OPEN + FINISH + framed({**USAGE, "usage": {}}) + DONE]),
    "an event without choices first": Script([framed(AZURE) + BODY]),
    "media type in capitals": typed("Text/Event-Stream"),
    "media type with a charset": typed("text/event-stream;charset=UTF-8"),
    "media type with spaces": typed("text/event-stream ; charset=utf-8"),
    "another media type": typed("text/plain"),
    "no media type": Script([BODY], 200, {}),
    "compressed": Script([gzip.compress(BODY)], 200, {**EVENTS, "content-encoding": "gzip"}),
    "with a length": Script([BODY], 200, EVENTS, "length"),
    "closed at the end": Script([BODY], 200, EVENTS, "close"),
    "half-closed at the end": Script([BODY, Cut.HALF], 200, EVENTS, "close"),
    "HTTP/1.0": raw(b"HTTP/1.0 200 OK\nContent-Type: text/event-stream\n", BODY),
    "early hints": raw(
        b"HTTP/1.1 103 Early Hints\nLink: </a>\n\nHTTP/1.1 200 OK\n"
        b"Content-Type: text/event-stream\nConnection: close\n",
        BODY,
    ),
    "large event": (Script([chunk({"content": LARGE}, "stop") + DONE]), LARGE),
    "stopped at a length": (Script([chunk({"content": "Hel"}, "length") + DONE]), "Hel"),
    "two choices": Script([OPEN + OTHER + FINISH + chunk({}, "stop", 1)]),
}
# The stream begins, then fails with this code.
FAILS: dict[str, tuple[Script, str]] = {
    "empty body": (Script([]), "UPSTREAM_LOST"),
    "comments alone": (Script([b": hello\n\n"]), "UPSTREAM_LOST"),
    "[DONE] alone": (Script([DONE]), "UPSTREAM_LOST"),
    "ended too early": (Script([OPEN]), "UPSTREAM_LOST"),
    "ended inside an event": (Script([OPEN + FINISH[:40]]), "UPSTREAM_LOST"),
    "closed inside the body": (Script([OPEN, Cut.CLOSE]), "UPSTREAM_LOST"),
    "reset inside the body": (Script([OPEN, 0.2, Cut.RESET]), "UPSTREAM_LOST"),
    "half-closed inside the body": (Script([OPEN, Cut.HALF]), "UPSTREAM_LOST"),
    "shorter than its length": (
        Script([OPEN], 200, {**EVENTS, "content-length": "99999"}, "length"),
        "UPSTREAM_LOST",
    ),
    "broken chunk": (
        raw(
            b"HTTP/1.1 200 OK\nContent-Type: text/event-stream\nTransfer-Encoding: chunked\n",
            b"zz\r\n" + OPEN,
        ),
        "UPSTREAM_LOST",
    ),
    "one of two choices ended": (Script([OTHER + OPEN + FINISH]), "UPSTREAM_LOST"),
    "silence": (Script([OPEN, float("inf")]), "UPSTREAM_TIMEOUT"),
    "silence inside an event": (Script([OPEN + b"data: {", float("inf")]), "UPSTREAM_TIMEOUT"),
    "silence before the first event": (Script([float("inf")]), "UPSTREAM_TIMEOUT"),
    "error event": (Script([OPEN + framed(ERROR) + DONE]), "busy"),
    "error event first": (Script([framed(ERROR)]), "busy"),
    "error named by the event": (
        Script([OPEN + framed({"message": "Overloaded", "code": "busy"}, "error")]),
        "busy",
    ),
    "error beside the choices": (
        Script([OPEN + framed({**USAGE, **ERROR})]),
        "busy",
    ),
    "JSON error as event stream": (Script([json.dumps(ERROR).encode()]), "UPSTREAM_ERROR"),
    "an event that is not JSON": (Script([OPEN + b"data: oops\n\n" + FINISH]), "UPSTREAM_ERROR"),
    "an event that is no object": (Script([OPEN + b"data: 1\n\n" + FINISH]), "UPSTREAM_ERROR"),
    "huge event": (Script([OPEN + chunk({"content": LARGE * 2}, "stop")]), "LIMIT_EXCEEDED"),
    "endless line": (Script([OPEN + b"data: ", *[b"x" * 65_536] * 40]), "LIMIT_EXCEEDED"),
    "compressed, but not really": (
        Script([BODY], 200, {**EVENTS, "content-encoding": "gzip"}),
        "UPSTREAM_LOST",
    ),
}
# There is no stream: the client gets this status and code.
REFUSED: dict[str, tuple[Script, int, str]] = {
    "400": (Script.json(ERROR, 400), 400, "busy"),
    "401": (Script.json(ERROR, 401), 401, "busy"),
    "429": (Script.json(ERROR, 429, {"retry-after": "7"}), 429, "busy"),
    "500": (Script.json(ERROR, 500), 500, "busy"),
    "503 as event stream": (Script([framed(ERROR)], 503), 503, ""),
    "error with status 200": (Script.json(ERROR), 502, "upstream_error"),
    "error with status 200 and a code": (
        Script.json({"error": {"message": "Overloaded", "code": 429}}),
        429,
        "upstream_error",
    ),
    "error with status 200, slowly": (
        Script([b'{"error": ', 0.2, b'{"message": "Overloaded"}}'], 200, JSON),
        502,
        "upstream_error",
    ),
    "not streamed": (Script.json({"choices": [{"message": {}}]}), 502, "upstream_invalid"),
    "a page": (Script([b"<html>"], 200, {"content-type": "text/html"}), 502, "upstream_invalid"),
    "no content": (Script([], 204, {}, "length"), 502, "upstream_invalid"),
    "redirect": (
        Script([], 307, {"location": "http://localhost:9/"}, "length"),
        502,
        "upstream_redirected",
    ),
    "moved": (Script([], 301, {"location": "/v2"}, "length"), 502, "upstream_redirected"),
    "reset at once": (raw(b"", Cut.RESET), 502, "upstream_unreachable"),
    "no HTTP": (raw(b"SSH-2.0-OpenSSH\n"), 502, "upstream_unreachable"),
    "reset inside the head": (
        raw(b"HTTP/1.1 200 OK\nCont", Cut.CLOSE),
        502,
        "upstream_unreachable",
    ),
    "no answer": (Script([float("inf")], framing="raw"), 504, "upstream_timeout"),
    "body of an error cut": (Script([b'{"err', Cut.CLOSE], 500, JSON), 502, "upstream_lost"),
    "silence instead of a body": (Script([b"{", float("inf")], 200, JSON), 504, "upstream_timeout"),
}


def script_of(name: str) -> Script:
    for table in (COMPLETE, FAILS, REFUSED):
        if (entry := table.get(name)) is not None:  # type: ignore[attr-defined]
            return entry if isinstance(entry, Script) else entry[0]
    raise KeyError(name)


def reply(exchange: Exchange) -> Script:
    return script_of(exchange.json["model"])


@pytest.fixture(scope="module")
def relay(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    settings = {"upstream_first": 2, "upstream_idle": 1, "heartbeat": 0.3, "owner_streams": 1000}
    folder = tmp_path_factory.mktemp("relay")
    with Upstream(reply) as upstream:
        with Server(folder, upstream=f"{upstream.url}/v1", **settings) as server:
            yield server
            assert "Traceback" not in server.log()


@pytest.fixture
def client(relay: Server) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(
        base_url=f"{relay.url}/v1", api_key="mine", max_retries=0, timeout=60
    ) as sdk:
        yield sdk


def asked(client: openai.OpenAI, name: str) -> Any:
    choices = 2 if "two choices" in name else 1
    messages: Any = [{"role": "user", "content": "hi"}]
    return client.chat.completions.create(model=name, n=choices, stream=True, messages=messages)


def text_of(chunks: list[Any]) -> str:
    choices = [choice for chunk in chunks for choice in chunk.choices if choice.index == 0]
    return "".join(choice.delta.content or "" for choice in choices)


def test_the_table_has_enough_behaviours() -> None:
    assert len({*COMPLETE, *FAILS, *REFUSED}) == len(COMPLETE) + len(FAILS) + len(REFUSED) >= 30


@few(13)
@pytest.mark.parametrize("name", COMPLETE)
def test_a_complete_answer_is_relayed(client: openai.OpenAI, name: str) -> None:
    entry = COMPLETE[name]
    expected = TEXT if isinstance(entry, Script) else entry[1]
    assert text_of([*asked(client, name)]) == expected


@few(12)
@pytest.mark.parametrize("name", FAILS)
def test_an_answer_that_breaks_off_fails_visibly(client: openai.OpenAI, name: str) -> None:
    with pytest.raises(openai.APIError) as caught:
        for _ in asked(client, name):
            pass
    assert caught.value.code == FAILS[name][1]


@few(8)
@pytest.mark.parametrize("name", REFUSED)
def test_without_an_answer_there_is_a_status(client: openai.OpenAI, name: str) -> None:
    with pytest.raises(openai.APIStatusError) as caught:
        asked(client, name)
    _, status, code = REFUSED[name]
    assert (caught.value.status_code, caught.value.code or "") == (status, code)
    if name == "429":
        assert caught.value.response.headers["retry-after"] == "7"


def test_refused_streams_leave_nothing_behind(client: openai.OpenAI, relay: Server) -> None:
    """Their streams would count against the owner's quota until the lease has run out."""
    for name in ("500", "redirect", "no content", "reset at once"):
        with pytest.raises(openai.APIStatusError):
            asked(client, name)
    lines = httpx2.get(f"{relay.url}/metrics", trust_env=False).text.splitlines()
    assert "jsonrill_readers 0" in lines and "jsonrill_relays 0" in lines
