"""Server-sent events: what browsers make of bytes, under every cutting, and what we write."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsonrill import LimitExceeded, values
from jsonrill.eventstream import (
    HEARTBEAT,
    SSEDecoder,
    SSEEvent,
    encode_event,
    ends_stream,
    is_done,
    is_event_stream,
    is_lines,
)
from support import ROOT, by, cases, cuttings, examples, pieces
from support.costs import assert_flat

CASES = json.loads((ROOT / "cases" / "sse.json").read_text("utf8"))["cases"]


def decode(parts: list[Any], **options: Any) -> list[SSEEvent]:
    decoder = SSEDecoder(**options)
    events = [event for part in parts for event in decoder.feed(part)]
    return events + decoder.flush()


def every_cutting(raw: bytes, events: list[tuple[str, str, str]]) -> None:
    for parts in [*cuttings(raw), *([raw[:at], raw[at:]] for at in range(len(raw)))]:
        assert decode(parts) == events, parts


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_case(case: dict[str, Any]) -> None:
    raw = base64.b64decode(case["base64"]) if "base64" in case else case["text"].encode()
    every_cutting(raw, [(kind, data, last) for kind, data, last in case["events"]])


def test_vectors_of_a_browser() -> None:
    for case in cases("sse_browser.json")["cases"]:
        events = [(kind, data, last) for kind, data, last in case["events"]]
        every_cutting(base64.b64decode(case["bytes_base64"]), events)


def test_text_is_read_too() -> None:
    assert decode(["\ufeffda", "ta: é\r", "\n\r", "\n"]) == [("message", "é", "")]
    assert decode([bytearray(b"data: a\n\n"), memoryview(b"data: b\n\n")]) == [
        ("message", "a", ""), ("message", "b", ""),
    ]  # fmt: skip
    with pytest.raises(TypeError):
        SSEDecoder().feed(3)  # type: ignore[arg-type]


def test_an_event_comes_with_its_blank_line_and_not_later() -> None:
    decoder = SSEDecoder()
    assert decoder.feed(b"data: a\r") == []
    assert decoder.feed(b"\r") == [("message", "a", "")]
    assert decoder.feed(b"\ndata: b\r\n") == []
    assert decoder.feed(b"\r") == [("message", "b", "")]
    assert decoder.feed(b"\n") == []


def test_the_position_after_a_lost_connection() -> None:
    decoder = SSEDecoder()
    assert (decoder.last_event_id, decoder.retry) == ("", None)
    decoder.feed(b"id: 7\nretry: 300\n")
    assert (decoder.last_event_id, decoder.retry) == ("", 300)
    decoder.feed(b"\n")
    assert decoder.last_event_id == "7"
    for value in ("1_000", "-5", "", "1.5", "٣", "9" * 20, "9" * 5000):
        decoder.feed(f"retry: {value}\n\n")
        assert decoder.retry == 300
    decoder.feed("retry: 0\n\n")
    assert decoder.retry == 0


def test_a_line_and_an_event_are_bounded() -> None:
    for raw in (b"data: aaaaaaaaaaa", b": aaaaaaaaaaaaaaaa", b"data: aaaa\ndata: bbbb\n"):
        for parts in cuttings(raw):
            with pytest.raises(LimitExceeded) as caught:
                decode(parts, limit=15)
            assert caught.value.limit == "event"
    assert len(decode([b"data: aaaa\n\n: comment\n" * 50], limit=15)) == 50
    assert decode([b"event: aaaa\nid: aaaaaaa\n" * 50 + b"data: a\n\n"], limit=15)


def test_events_before_a_line_that_is_too_long_are_not_lost() -> None:
    decoder = SSEDecoder(limit=15)
    assert decoder.feed(b"data: a\n\ndata: " + b"b" * 20) == [("message", "a", "")]
    with pytest.raises(LimitExceeded):
        decoder.feed(b"data: c\n\n")
    with pytest.raises(LimitExceeded):
        decoder.feed(b"data: c\n\n")


def test_a_long_line_in_tiny_pieces_is_linear() -> None:
    def start(size: int) -> Callable[[], object]:
        decoder = SSEDecoder()
        decoder.feed(b"data: ")
        for piece in by(1_000, b"x" * size):
            decoder.feed(piece)
        return lambda: decoder.feed(b"xxxx")

    assert_flat(start, large=1_000_000)


@examples(200)
@given(raw=st.binary(max_size=60), data=st.data())
def test_no_bytes_raise_and_no_cutting_matters(raw: bytes, data: st.DataObject) -> None:
    assert decode(data.draw(pieces(raw))) == decode([raw])


LINES = st.text(st.sampled_from(list("ab: \n\r\tdataiévent\ufeff\x00\u2028")), min_size=1)
NAMES = st.text(st.sampled_from(list("ab: \té\ufeff")), min_size=1)


@examples(200)
@given(data=LINES, name=st.none() | NAMES, id=st.none() | NAMES | st.integers(0), draw=st.data())
def test_what_is_written_is_read(data: str, name: Any, id: Any, draw: st.DataObject) -> None:
    raw = encode_event(data, event=name, id=id, retry=5)
    expected = data.replace("\r\n", "\n").replace("\r", "\n")
    assert decode(draw.draw(pieces(raw))) == [
        (name or "message", expected, "" if id is None else str(id))
    ]
    assert b"\r" not in raw and raw.count(b"\n\n") == 1


@pytest.mark.parametrize(
    "arguments, raw",
    [
        ({"data": "a"}, b"data: a\n\n"),
        ({"data": "a\nb\r\nc\rd"}, b"data: a\ndata: b\ndata: c\ndata: d\n\n"),
        ({"data": "\n"}, b"data: \ndata: \n\n"),
        ({"data": "é", "id": 3, "event": "x", "retry": 100},
         "id: 3\nevent: x\nretry: 100\ndata: é\n\n".encode()),
        ({"data": "a", "id": ""}, b"id: \ndata: a\n\n"),
    ],
)  # fmt: skip
def test_an_event_is_written(arguments: Any, raw: bytes) -> None:
    assert encode_event(**arguments) == raw


@pytest.mark.parametrize(
    "arguments",
    [
        {"data": ""},
        *({"data": "a", "id": f"x{char}"} for char in "\r\n\0"),
        *({"data": "a", "event": f"x{char}y"} for char in "\r\n\0"),
        {"data": "a", "retry": -1},
        {"data": "a", "retry": True},
        {"data": "a", "retry": "5"},
        {"data": "a\ud800"},
    ],
)
def test_fields_that_would_break_an_event_are_refused(arguments: Any) -> None:
    with pytest.raises(ValueError):
        encode_event(**arguments)


def test_a_heartbeat_is_not_an_event() -> None:
    assert HEARTBEAT == b": hb\n"
    raw = HEARTBEAT + b"id: 1\n" + HEARTBEAT + b"data: a\n\n" + HEARTBEAT + b"data: b\n\n"
    assert decode([raw]) == [("message", "a", "1"), ("message", "b", "1")]


@pytest.mark.parametrize("case", cases("media_types.json")["cases"], ids=lambda case: case["type"])
def test_media_types_of_events_and_lines(case: dict[str, Any]) -> None:
    assert is_event_stream(case["type"]) == (case["kind"] == "events")
    assert is_lines(case["type"]) == (case["kind"] == "lines")


@pytest.mark.parametrize("data", ["[DONE]", " [DONE]", "[DONE]\n", "[DONE] "])
def test_the_end_of_a_stream_is_not_an_event(data: str) -> None:
    assert is_done(data) and ends_stream(SSEEvent("message", data, ""))
    assert not is_done('["[DONE]"]') and not is_done("{}")
    events = ["data: " + json.dumps({"choices": [{"delta": {"content": "{}"}}]}), f"data: {data}"]
    assert [*values("\n\n".join([*events, ""]), sse=True)] == [{}]
