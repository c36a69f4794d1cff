"""The functions over any source, sync and async: lazy, closing it, and never hiding an error."""

from __future__ import annotations

import asyncio
import gc
import json
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import aclosing
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsonrill import (
    Document,
    InvalidJSON,
    LimitExceeded,
    Limits,
    Parser,
    Truncated,
    fragments,
    partial,
)
from jsonrill import text as text_of
from jsonrill import values as values_of
from support import cuttings, pieces
from support.documents import is_prefix, merge_strings, same, texts, tokens, values
from support.streams import as_list, collect, sources, until

Source = Callable[[Iterable[Any]], Any]


# ---- what comes ----


@sources
def test_values_yields_after_each_piece_that_changed_the_value(source: Source) -> None:
    text = ['{"a', '": ', '"x', "", 'y"', ', "b": 1', "2", "}", " "]
    expected = [{}, {"a": "x"}, {"a": "xy"}, {"a": "xy", "b": 12}]
    assert collect(values_of(source(text))) == (expected, None)


@sources
def test_text_yields_the_new_text_of_one_string(source: Source) -> None:
    text = ['{"q": "no", "answer": "He', "llo \\ud83d", "\\ude00", '!", "answer2": "no"}']
    assert collect(text_of(source(text), "answer")) == (["He", "llo ", "\U0001f600", "!"], None)


@sources
def test_an_empty_source_is_truncated(source: Source) -> None:
    for stream in (values_of(source([])), fragments(source([])), text_of(source([]), "a")):
        items, error = collect(stream)
        assert items == [] and type(error) is Truncated


def test_live_values_are_one_object() -> None:
    text = ['{"a": ["x', 'y", {', '"b": 1', "}]}"]
    kept = list(values_of(text))
    assert kept == [{"a": ["x"]}, {"a": ["xy", {}]}, {"a": ["xy", {"b": 1}]}]
    assert len({id(value) for value in kept}) == 3
    live = list(values_of(text, live=True))
    assert len({id(value) for value in live}) == 1
    assert live[0] == {"a": ["xy", {"b": 1}]}
    assert collect(values_of(text, live=True))[0] == kept


def test_options_are_passed_on() -> None:
    assert list(values_of(["[1.1", "]"], parse_float=Decimal))[-1] == [Decimal("1.1")]
    assert type(collect(fragments("[[", limits=Limits(depth=1)))[1]) is LimitExceeded
    with pytest.raises(TypeError):
        values_of("", no_such_option=1)  # type: ignore[call-overload]


@given(st.data())
def test_the_kept_values_end_in_the_value_of_the_text(data: st.DataObject) -> None:
    value = data.draw(values)
    text = "".join(data.draw(tokens(value)))
    all_values = list(values_of(data.draw(pieces(text))))
    assert same(all_values[-1], value)
    assert all(is_prefix(part, value) for part in all_values)
    assert all(not same(one, other) for one, other in zip(all_values, all_values[1:], strict=False))


@given(texts(), st.data())
def test_fragments_are_the_parsers(text: str, data: st.DataObject) -> None:
    parser = Parser()
    want = merge_strings(parser.feed(text) + parser.flush())
    assert merge_strings(fragments(data.draw(pieces(text)))) == want


# ---- texts of one field ----


@pytest.mark.parametrize("field", ["steps[0].title", "root.steps[0].title", ("steps", 0, "title")])
def test_a_field_is_a_path(field: Any) -> None:
    text = '{"title": "no", "steps": [{"title": "yes", "x": {"title": "no"}}, {"title": "no"}]}'
    for cut in cuttings(text):
        assert "".join(text_of(cut, field)) == "yes"


@given(st.data())
def test_the_texts_joined_are_the_field(data: st.DataObject) -> None:
    field = data.draw(st.text())
    value = {"n": data.draw(values), "a": {"b": [0, field]}, "z": "tail"}
    text = "".join(data.draw(tokens(value)))
    texts = list(text_of(data.draw(pieces(text)), "a.b[1]"))
    assert "".join(texts) == field
    assert "" not in texts


# ---- lazy ----


def test_a_piece_is_read_when_the_next_value_is_requested() -> None:
    read = []

    def source() -> Iterator[str]:
        for piece in ["[", "1,", "2]"]:
            read.append(piece)
            yield piece

    async def async_source() -> AsyncIterator[str]:
        for piece in source():
            yield piece

    stream = values_of(source())
    assert read == [] and next(stream) == [] and read == ["["]
    assert list(stream) == [[1], [1, 2]]

    async def main() -> None:
        stream = values_of(async_source())
        assert await anext(stream) == [] and read == ["["]

    read.clear()
    asyncio.run(main())


# ---- leaving early ----


class Closable:
    """An iterable that is not a generator, like the response of an HTTP client."""

    def __init__(self, items: Iterable[Any]) -> None:
        self.items = list(items)
        self.closed = 0

    def __iter__(self) -> Iterator[Any]:
        return iter(self.items)

    def close(self) -> None:
        self.closed += 1


class AsyncClosable(Closable):
    async def __aiter__(self) -> AsyncIterator[Any]:
        for item in self.items:
            yield item

    async def aclose(self) -> None:
        await asyncio.sleep(0)
        self.closed += 1

    close = None  # type: ignore[assignment]


class AsyncWithClose(AsyncClosable):
    """As the streams of some SDKs: `close()` is a coroutine."""

    aclose = None  # type: ignore[assignment]

    async def close(self) -> None:  # type: ignore[override]
        await asyncio.sleep(0)
        self.closed += 1


STREAMS: list[Callable[[Any], Any]] = [
    values_of,
    fragments,
    lambda source: text_of(source, "[0]"),
]
TEXT = ['["a', "b", 'c"', "]"]


@pytest.mark.parametrize("stream", STREAMS)
def test_a_break_closes_a_source_with_a_close_method(stream: Any) -> None:
    source = Closable(TEXT)
    for _ in stream(source):
        break
    assert source.closed == 1

    def generator() -> Iterator[str]:
        try:
            yield from TEXT
        finally:
            closed.append(True)

    closed: list[bool] = []
    gc.disable()  # the last reference closes it
    try:
        for _ in stream(generator()):
            break
    finally:
        gc.enable()
    assert closed == [True]


@pytest.mark.parametrize("stream", STREAMS)
@pytest.mark.parametrize("make", [AsyncClosable, AsyncWithClose])
def test_a_break_closes_async_sources(stream: Any, make: Any) -> None:
    async def main() -> None:
        source = make(TEXT)
        async for _ in stream(source):
            break
        await until(lambda: source.closed)
        assert source.closed == 1
        other = make(TEXT)
        async with aclosing(stream(other)) as opened:
            await anext(opened)
        assert other.closed == 1

    asyncio.run(main())


def test_bad_text_closes_the_source_too() -> None:
    source = Closable(["[1, ", "x", "never read"])
    assert type(collect(values_of(source))[1]) is InvalidJSON
    assert source.closed == 1
    other = AsyncClosable(["[1, ", "x", "never read"])
    assert type(collect(values_of(other))[1]) is InvalidJSON
    assert other.closed == 1


def test_a_source_read_to_its_end_is_left_alone() -> None:
    source = Closable(TEXT)
    assert len(list(values_of(source))) == 3
    assert source.closed == 0


# ---- errors ----


@pytest.mark.parametrize("stream", STREAMS)
@pytest.mark.parametrize("kind", ["sync", "async"])
def test_the_error_of_a_source_passes_and_nothing_is_flushed(stream: Any, kind: str) -> None:
    def failing() -> Iterator[str]:
        yield '["ab'
        raise ConnectionError("gone")

    async def failing_async() -> AsyncIterator[str]:
        for piece in failing():
            yield piece

    items, error = collect(stream(failing() if kind == "sync" else failing_async()))
    assert type(error) is ConnectionError and error.args == ("gone",)
    assert error.__cause__ is None and error.__context__ is None
    assert len(items) > 0


@sources
def test_a_root_number_is_not_shown_when_its_source_fails(source: Source) -> None:
    def failing() -> Iterator[str]:
        yield "12"
        raise ConnectionError

    all_values, error = collect(
        values_of(source(failing()) if source is not as_list else failing())
    )
    assert (all_values, type(error)) == ([], ConnectionError)


@sources
def test_the_last_good_value_comes_before_the_error(source: Source) -> None:
    text = ["[1, ", "2, 3, x", "]"]
    items, error = collect(values_of(source(text)))
    assert (items, type(error)) == ([[1], [1, 2, 3]], InvalidJSON)
    items, error = collect(fragments(source(text)))
    assert [fragment.value for fragment in items] == [None, 1, 2, 3]
    assert type(error) is InvalidJSON
    items, error = collect(text_of(source(['["a', "bc\x00", "d"]), "[0]"))
    assert (items, type(error)) == (["a", "bc"], InvalidJSON)


@sources
def test_the_value_of_a_truncated_text_comes_before_the_error(source: Source) -> None:
    all_values, error = collect(values_of(source(['{"a": [1, 2', '5, "x'])))
    assert (all_values[-1], type(error)) == ({"a": [1, 25, "x"]}, Truncated)


@pytest.mark.parametrize("stream", STREAMS)
def test_a_piece_that_is_not_text_is_a_type_error(stream: Any) -> None:
    source = Closable(["[", 5, "]"])
    assert type(collect(stream(source))[1]) is TypeError
    assert source.closed == 1


# ---- one cut-off text ----


@pytest.mark.parametrize(
    "text, value",
    [
        ("", None),
        ("12", 12),
        ("1.", None),
        ('"ab\\ud83d', "ab"),
        ('{"a": "', {"a": ""}),
        ('{"a": {"b": [tr', {"a": {"b": []}}),
        ('{"a": 1}', {"a": 1}),
        (b'["\xc3\xa9\xe2\x82', ["é"]),
        (b"\xef\xbb", None),
        (b"\xef\xbb\xbf[1]", [1]),
    ],
)
def test_partial_returns_the_value_of_a_cut_text(text: str | bytes, value: Any) -> None:
    assert same(partial(text), value)


@pytest.mark.parametrize("text", ["x", "[1 2", '{"a" 1', "{}{", '"\x00', "tru ", b"\xff", b"[\xc3"])
def test_partial_refuses_a_text_that_cannot_become_json(text: str | bytes) -> None:
    with pytest.raises(InvalidJSON) as caught:
        partial(text)
    assert type(caught.value) is InvalidJSON


@given(texts(), st.data())
def test_partial_of_any_prefix_equals_the_value_of_a_document(
    text: str, data: st.DataObject
) -> None:
    document = Document()
    beginning = text[: data.draw(st.integers(0, len(text) - 1))]
    document.feed(beginning)
    numeric = bool(beginning.strip()) and beginning.strip()[0] in "-0123456789"
    if not numeric:  # a number at the root counts as ended
        assert same(partial(beginning), document.value)
    assert same(partial(text), json.loads(text))
