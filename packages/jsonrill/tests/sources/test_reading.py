"""Files, pipes and responses: read in blocks as data arrives, never by lines."""

from __future__ import annotations

import asyncio
import gzip
import io
import json
import os
import subprocess
import sys
import threading
import tracemalloc
import urllib.request
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

import jsonrill
from jsonrill.errors import SourceFailed
from jsonrill.testing import FakeAnswer, Script, Upstream
from support.streams import collect

aiohttp = pytest.importorskip("aiohttp")
httpx = pytest.importorskip("httpx")
httpx2 = pytest.importorskip("httpx2")
requests = pytest.importorskip("requests")

TEXT = '{"title": "Storm é", "rows": [1, 2, 3]}'
VALUE = {"title": "Storm é", "rows": [1, 2, 3]}
JSON = {"content-type": "application/json"}
ANSWER = FakeAnswer(TEXT, pace=0)
CHAT = json.dumps({"model": "any", "messages": [], "stream": True}).encode()


# ---- open files ----


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "value.json"
    file.write_text(TEXT, "utf8")
    return file


@pytest.mark.parametrize(
    "opened",
    [
        lambda path: path.open("rb"),
        lambda path: path.open("rb", buffering=0),
        lambda path: path.open(encoding="utf8"),
        lambda path: io.StringIO(path.read_text("utf8")),
        lambda path: io.BytesIO(path.read_bytes()),
        lambda path: gzip.open(io.BytesIO(gzip.compress(path.read_bytes()))),
        lambda path: gzip.open(io.BytesIO(gzip.compress(path.read_bytes())), "rt", encoding="utf8"),
    ],
    ids=["binary", "raw", "text", "StringIO", "BytesIO", "gzip", "gzip text"],
)
def test_any_open_file_is_a_source(path: Path, opened: Callable[[Path], Any]) -> None:
    with opened(path) as file:
        assert list(jsonrill.values(file))[-1] == VALUE


def test_a_break_closes_a_file_and_the_end_leaves_it_open(path: Path) -> None:
    with path.open("rb") as file:
        list(jsonrill.values(file))
        assert not file.closed
    with path.open("rb") as file:
        for _ in jsonrill.fragments(file):
            break
        assert file.closed


def test_a_large_line_takes_no_memory(tmp_path: Path) -> None:
    """One line of 64 MB: read in blocks, not as a line."""
    file = tmp_path / "large.json"
    with file.open("wb") as out:
        out.write(b"[")
        for _ in range(1024):
            out.write(b'"' + b"x" * 65533 + b'",')
        out.write(b"1]")
    for mode in ("rb", "r"):
        tracemalloc.start()
        with file.open(mode) as opened:
            for _ in jsonrill.select(opened, "[*]"):
                pass
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 4 << 20


# ---- pipes ----

SLOW = """
import sys, threading
for piece in ('{"a": "x', 'y"', ', "b": 1}'):
    sys.stdout.write(piece)
    sys.stdout.flush()
    sys.stdin.readline()
"""


@pytest.mark.parametrize("text", [False, True])
@pytest.mark.parametrize("bufsize", [-1, 0])
def test_a_pipe_is_followed_live(text: bool, bufsize: int) -> None:
    """The program writes the next piece only after the value of the one before has arrived."""
    command = [sys.executable, "-c", SLOW]
    pipes: Any = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, **pipes, text=text, bufsize=bufsize) as process:
        assert process.stdin is not None and process.stdout is not None
        values = []
        for value in jsonrill.values(process.stdout):
            values.append(value)
            process.stdin.write("\n" if text else b"\n")  # type: ignore[arg-type]
            process.stdin.flush()
        process.stdin.close()
    assert values == [{"a": "x"}, {"a": "xy"}, {"a": "xy", "b": 1}]


def test_text_that_a_pipe_holds_back_is_not_lost() -> None:
    """After a line has been read, the file object keeps text that it does not show."""
    reading, writing = os.pipe()
    os.write(writing, b"header\n" + TEXT.encode())
    os.close(writing)
    with open(reading, encoding="utf8") as file:
        assert file.readline() == "header\n"
        assert list(jsonrill.values(file))[-1] == VALUE


def test_a_pipe_of_another_encoding() -> None:
    reading, writing = os.pipe()
    os.write(writing, TEXT.encode("latin-1"))
    os.close(writing)
    with open(reading, encoding="latin-1") as file:
        assert list(jsonrill.values(file))[-1] == VALUE


def test_the_stdout_of_an_async_process() -> None:
    async def main() -> list[Any]:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", SLOW), stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert process.stdin is not None and process.stdout is not None
        values = []
        async for value in jsonrill.values(process.stdout):
            values.append(value)
            process.stdin.write(b"\n")
            await process.stdin.drain()
        await process.wait()
        return values

    assert asyncio.run(main()) == [{"a": "x"}, {"a": "xy"}, {"a": "xy", "b": 1}]


# ---- responses ----


@asynccontextmanager
async def _async_httpx(url: str) -> AsyncIterator[Any]:
    async with httpx.AsyncClient() as client, client.stream("POST", url, content=CHAT) as response:
        yield response


@asynccontextmanager
async def _aiohttp(url: str) -> AsyncIterator[Any]:
    async with aiohttp.ClientSession() as session, session.post(url, data=CHAT) as response:
        yield response


CLIENTS: dict[str, Callable[[str], Any]] = {
    "urllib": lambda url: urllib.request.urlopen(urllib.request.Request(url, CHAT)),
    "requests": lambda url: requests.post(url, CHAT, stream=True),
    "httpx": lambda url: httpx.stream("POST", url, content=CHAT),
    "httpx2": lambda url: httpx2.stream("POST", url, content=CHAT),
    "async httpx": _async_httpx,
    "aiohttp": _aiohttp,
}
every_client = pytest.mark.parametrize("client", CLIENTS)


def read(client: str, url: str, use: Callable[[Any], Any]) -> tuple[list[Any], Any]:
    if client not in ("async httpx", "aiohttp"):
        try:
            with CLIENTS[client](url) as response:
                return collect(use(response))
        except urllib.request.HTTPError as error:
            return collect(use(error))

    async def run() -> tuple[list[Any], Any]:
        items: list[Any] = []
        try:
            async with CLIENTS[client](url) as response:
                async for item in use(response):
                    items.append(item)
        except Exception as error:
            return items, error
        return items, None

    return asyncio.run(run())


@every_client
def test_a_body_is_read_as_it_arrives(client: str) -> None:
    """The server sends the next piece only after the value of the one before was seen."""
    seen = [threading.Event() for _ in range(2)]

    def steps() -> Iterator[bytes]:
        yield b'{"a": "x'
        seen[0].wait(60)
        yield b'y"'
        seen[1].wait(60)
        yield b', "b": 1}'

    with Upstream(Script(steps(), headers=JSON)) as upstream:

        def use(response: Any) -> Any:
            def report(value: Any) -> Any:
                for event, known in zip(seen, ({"a": "x"}, {"a": "xy"}), strict=True):
                    if value == known:
                        event.set()
                return value

            async def each() -> AsyncIterator[Any]:
                async for value in jsonrill.values(response):
                    yield report(value)

            values = jsonrill.values(response)
            return each() if hasattr(values, "__anext__") else map(report, values)

        items, error = read(client, upstream.url, use)
    assert (items, error) == ([{"a": "x"}, {"a": "xy"}, {"a": "xy", "b": 1}], None)


@every_client
def test_an_event_stream_is_known_by_its_content_type(client: str) -> None:
    with Upstream(ANSWER) as upstream:
        url = f"{upstream.url}/v1/chat/completions"
        values, error = read(client, url, jsonrill.values)
        assert (values[-1], error) == (VALUE, None)
        assert "".join(read(client, url, jsonrill.content)[0]) == TEXT
        assert read(client, url, jsonrill.tool_calls) == ([], None)


@every_client
def test_lines_of_events_are_known_by_their_content_type(client: str) -> None:
    event = json.dumps({"choices": [{"index": 0, "delta": {"content": "[1]"}}]})
    headers = {"content-type": "application/x-ndjson"}
    with Upstream(Script([f"{event}\n".encode()], headers=headers)) as upstream:
        assert read(client, upstream.url, jsonrill.values) == ([[1]], None)
        many, _ = read(client, upstream.url, lambda item: jsonrill.values(item, many=True))
        assert many[-1] == json.loads(event)


@every_client
def test_a_status_that_is_an_error_is_raised_with_the_body(client: str) -> None:
    with Upstream(Script.json({"error": {"message": "no such key"}}, 401)) as upstream:
        for use in (jsonrill.values, jsonrill.content, jsonrill.tool_calls, jsonrill.updates):
            values, error = read(client, upstream.url, use)
            assert values == [] and type(error) is SourceFailed and error.status == 401
            assert "401" in str(error) and "no such key" in str(error)
    with Upstream(Script([], 503)) as upstream:
        _, error = read(client, upstream.url, jsonrill.values)
        assert type(error) is SourceFailed and "503" in str(error)


@every_client
def test_a_body_that_is_cut_off_is_the_clients_error(client: str) -> None:
    script = Script([b'{"a": "x"}'], headers=JSON, breaks=True)
    with Upstream(script) as upstream:
        values, error = read(client, upstream.url, jsonrill.values)
    assert values == [{"a": "x"}]
    assert error is not None and not isinstance(error, jsonrill.JsonrillError)


@every_client
def test_a_break_closes_the_connection(client: str) -> None:
    with Upstream(FakeAnswer('["' + "abc " * 500 + '"]')) as upstream:

        def first(response: Any) -> Any:
            values = jsonrill.values(response)

            def sync() -> Iterator[Any]:
                yield next(values)
                values.close()
                assert upstream.exchanges[0].left.wait(60)

            async def leave() -> AsyncIterator[Any]:
                yield await anext(values)
                await values.aclose()
                assert await asyncio.to_thread(upstream.exchanges[0].left.wait, 10)

            return leave() if hasattr(values, "__anext__") else sync()

        url = f"{upstream.url}/v1/chat/completions"
        assert read(client, url, first)[1] is None
        assert upstream.exchanges[0].sent < 250


def test_a_response_whose_body_has_been_read() -> None:
    with Upstream(Script([TEXT.encode()], headers=JSON)) as upstream:
        for response in (requests.get(upstream.url), httpx.get(upstream.url)):
            assert list(jsonrill.values(response))[-1] == VALUE
        bodies = gzip.compress(TEXT.encode())
    packed = Script([bodies], headers={**JSON, "content-encoding": "gzip"})
    with Upstream(packed) as upstream:
        with requests.get(upstream.url, stream=True) as response:
            assert list(jsonrill.values(response))[-1] == VALUE
        with httpx.stream("GET", upstream.url) as response:
            assert list(jsonrill.values(response))[-1] == VALUE


# ---- Bedrock ----


def test_a_response_of_bedrock_holds_its_stream() -> None:
    delta = {"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"text": "[1]"}}}

    class EventStream:
        closed = False

        def __iter__(self) -> Iterator[Any]:
            yield {"messageStart": {"role": "assistant"}}
            yield delta
            yield {"messageStop": {"stopReason": "end_turn"}}

        def close(self) -> None:
            self.closed = True

    stream = EventStream()
    response = {"ResponseMetadata": {"HTTPStatusCode": 200}, "stream": stream}
    assert list(jsonrill.values(response)) == [[1]]
    for _ in jsonrill.values(response):
        break
    assert stream.closed


# ---- what is not a source ----


@pytest.mark.parametrize(
    "wrong, remedy",
    [
        (None, "NoneType"),
        (Path("x.json"), "open the file"),
        (list, "call it"),
        (httpx.stream("GET", "http://localhost:9"), "`with ... as stream:`"),
    ],
)
@pytest.mark.parametrize(
    "function", [jsonrill.values, jsonrill.updates, jsonrill.content, jsonrill.tool_calls]
)
def test_an_unsupported_source_is_a_type_error_at_the_call(
    function: Any, wrong: Any, remedy: str
) -> None:
    with pytest.raises(TypeError) as caught:
        function(wrong)
    assert remedy in str(caught.value) and type(caught.value) is TypeError


def test_a_process_is_refused_and_its_stdout_is_a_source() -> None:
    with subprocess.Popen([sys.executable, "-c", ""], stdout=subprocess.PIPE) as process:
        with pytest.raises(TypeError, match="pass its stdout"):
            jsonrill.values(process)  # type: ignore[call-overload]


def test_none_in_a_list_of_deltas_is_no_text() -> None:
    deltas = [None, '{"a"', None, ": 1}", None]
    assert list(jsonrill.values(deltas))[-1] == {"a": 1}
    assert list(jsonrill.fragments(deltas)) == list(jsonrill.fragments('{"a": 1}'))
    assert list(jsonrill.send(deltas)) == list(jsonrill.send(deltas[1::2]))
    assert list(jsonrill.tool_calls(deltas[::4])) == []  # only None


def test_a_lone_surrogate_before_any_event_is_no_event() -> None:
    with pytest.raises(jsonrill.errors.UnknownSource):
        list(jsonrill.tool_calls(["\ud800"]))


def test_a_number_limit_of_zero_rejects_every_number() -> None:
    for repair in (False, True):
        with pytest.raises(jsonrill.LimitExceeded):
            jsonrill.loads(
                "12", {"type": "number"}, limits=jsonrill.Limits(number=0), repair=repair
            )
