"""`sse`: the bytes of an event stream, which has the right end in every case."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing
from typing import Any, cast

import pytest

import jsonrill
from jsonrill import InvalidSchema, sse, updates
from jsonrill.eventstream import SSEDecoder
from support.streams import as_list, collect, sources

CLOSE = b"event: CLOSE\ndata: [DONE]\n\n"


def data_of(blocks: list[bytes]) -> list[Any]:
    """Return the data of the events, one in each block; the last one is CLOSE."""
    assert blocks[-1] == CLOSE
    events = SSEDecoder().feed(b"".join(blocks[:-1]))
    assert len(events) == len(blocks) - 1
    return [json.loads(event.data) for event in events]


def failed(code: str) -> dict[str, Any]:
    return {"status": "ERROR", "error": {"code": code, "message": "the source failed"}}


@sources
def test_updates_become_events_and_close(source: Any) -> None:
    blocks, error = collect(sse(updates(source(['{"a": "x', 'y"}']))))
    assert error is None
    assert [update["status"] for update in data_of(blocks)] == ["PARTIAL", "COMPLETED"]


@sources
def test_values_dicts_texts_and_bytes(source: Any) -> None:
    class Model:
        def model_dump_json(self) -> str:
            return '{"m":1}'

    items = [{"a": [1]}, [2], 3, None, "", '"text"', Model(), b"", b"data: 4\n\n"]
    blocks, _ = collect(sse(source(items)))
    assert data_of(blocks) == [{"a": [1]}, [2], 3, None, "text", {"m": 1}, 4]


@sources
def test_chunks_of_snapshots_of_which_some_are_empty(source: Any) -> None:
    chunker = jsonrill.Chunker()
    snapshots = [{"a": "x"}, {"a": "x"}, {"a": "xy"}]
    blocks, error = collect(sse(source(map(chunker.feed, snapshots))))
    assert error is None and b"".join(blocks) == b'data: {"a":"x\n\ndata: y\n\n' + CLOSE


@sources
def test_close_comes_once_if_the_source_has_it(source: Any) -> None:
    frames = [b'data: {"a":1}\n\n', CLOSE]
    assert collect(sse(source(frames))) == (frames, None)
    assert collect(sse(sse(source([{"a": 1}]))))[0] == frames


@sources
def test_retry_is_sent_with_the_first_event(source: Any) -> None:
    blocks, _ = collect(sse(source([1, 2]), retry=500))
    assert blocks == [b"retry: 500\ndata: 1\n\n", b"data: 2\n\n", CLOSE]


def failing(error: Exception) -> Iterator[Any]:
    yield {"n": 1}
    raise error


async def failing_async(error: Exception) -> AsyncIterator[Any]:
    for item in failing(error):
        yield item


@pytest.mark.parametrize("make", [failing, failing_async])
def test_an_exception_of_the_source_is_an_event_and_its_details_are_logged(
    make: Any, caplog: pytest.LogCaptureFixture
) -> None:
    blocks, error = collect(sse(make(ConnectionError("https://secret"))))
    assert error is None and data_of(blocks) == [{"n": 1}, failed("SOURCE_FAILED")]
    assert "https://secret" in caplog.text
    assert caplog.records[0].levelno == logging.ERROR and caplog.records[0].exc_info


@pytest.mark.parametrize("make", [failing, failing_async])
def test_bad_data_is_an_error_event_as_in_updates(
    make: Any, caplog: pytest.LogCaptureFixture
) -> None:
    violation = InvalidSchema("too long", rule="maxLength", offset=3, path=("a",))
    blocks, _ = collect(sse(make(violation)))
    assert data_of(blocks)[1] == {"status": "ERROR", "error": violation.to_dict()}
    assert not caplog.records


@sources
def test_a_text_that_stops_early_is_an_error_event(source: Any) -> None:
    blocks, _ = collect(sse(jsonrill.values(source(['{"a": 1']))))
    *_, last = data_of(blocks)
    assert last["error"]["code"] == "INVALID_JSON"


@sources
def test_what_cannot_be_written_as_json_is_a_failure(source: Any) -> None:
    blocks, error = collect(sse(source([{"a": object()}])))
    assert error is None and data_of(blocks) == [failed("SOURCE_FAILED")]


class Upstream:
    """A source that counts its pieces and says how it ended."""

    def __init__(self, fail: bool = False) -> None:
        self.read = 0
        self.closed = 0
        self.fail = fail

    def __iter__(self) -> Iterator[str]:
        for piece in ["[1"] + [", 2"] * 100:
            self.read += 1
            yield piece

    def close(self) -> None:
        self.closed += 1
        if self.fail:
            raise OSError("cannot be closed")


class AsyncUpstream(Upstream):
    async def __aiter__(self) -> AsyncIterator[str]:  # type: ignore[override]
        for piece in Upstream.__iter__(self):
            yield piece

    async def aclose(self) -> None:
        self.close()


@pytest.mark.parametrize("fail", [False, True])
def test_a_client_that_leaves_closes_the_source_and_nothing_is_raised(fail: bool) -> None:
    source = Upstream(fail)
    stream: Any = sse(updates(source))
    next(stream)
    stream.close()
    assert source.closed == 1 and source.read < 5


@pytest.mark.parametrize("fail", [False, True])
def test_an_async_client_that_leaves_or_is_cancelled(fail: bool) -> None:
    async def main() -> None:
        source = AsyncUpstream(fail)
        async with aclosing(cast(Any, sse(updates(source)))) as stream:
            await anext(stream)
        assert source.closed == 1 and source.read < 5

        cancelled = AsyncUpstream(fail)

        async def read() -> None:
            async for _ in cast(Any, sse(updates(cancelled))):
                await asyncio.sleep(0.001)

        task = asyncio.create_task(read())
        await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())


@pytest.mark.parametrize("wrong", ["text", b"bytes", {"a": 1}, 5, None])
def test_an_unsupported_source_is_a_type_error_at_the_call(wrong: Any) -> None:
    with pytest.raises(TypeError):
        sse(wrong)


def test_parts_become_events() -> None:
    chunk = {"choices": [{"index": 0, "delta": {"content": "Hi"}}]}
    done = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
    blocks = as_list(sse(jsonrill.parts([chunk, done])))
    assert data_of(blocks) == [
        {"kind": "text", "index": 0, "delta": "Hi", "complete": False},
        {"kind": "text", "index": 0, "delta": "", "complete": True},
    ]
