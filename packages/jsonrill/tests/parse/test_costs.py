"""P8 of docs/promises.md: linear time and bounded memory for any text and any cutting."""

from __future__ import annotations

import gc
import json
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import cycle
from typing import Any

import pytest

from jsonrill import Document, LimitExceeded, Limits, Parser, Rebuilder
from support import by, few, hard
from support.costs import assert_flat, assert_linear


class Parse:
    """Feeds a parser and drops the fragments."""

    def __init__(self, **options: Any) -> None:
        self.parser = Parser(**options)

    def feed(self, piece: str) -> None:
        self.parser.feed(piece)

    def flush(self) -> None:
        self.parser.flush()


class ReadLive:
    """Reads the value of a document after every piece."""

    def __init__(self, **options: Any) -> None:
        self.document = Document(**options)

    def feed(self, piece: str) -> None:
        self.document.feed(piece)
        self.document.live  # noqa: B018

    def flush(self) -> None:
        self.document.flush()


class Rebuild(Parse):
    """Sends fragments, and reads what is rebuilt after every piece."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.rebuilder = Rebuilder()

    def feed(self, piece: str) -> None:
        self.rebuilder.feed(self.parser.feed(piece))
        self.rebuilder.live  # noqa: B018


CONSUMERS = [Parse, Document, ReadLive, Rebuild]
ROOMY = Limits(depth=10**6, number=10**7, text=10**9)
LEAD = 1_000  # characters of each piece before the measured steps

LONG = 1_000_000  # copying this many characters takes far longer than a step


def consume(make: Any, cut: list[str], **options: Any) -> None:
    stage = make(**options)
    for piece in cut:
        stage.feed(piece)
    stage.flush()


def drips(make: Any, opening: str, lead: str, pieces: list[str], **options: Any) -> Any:
    """Return a `start` for `assert_flat`: `size` characters of `lead`, then a piece per step."""

    def start(size: int) -> Callable[[], object]:
        stage, turn = make(limits=ROOMY, **options), cycle(pieces)
        stage.feed(opening)
        for piece in by(LEAD, lead * (size // len(lead))):
            stage.feed(piece)
        return lambda: stage.feed(next(turn))

    return start


@few(5)
@pytest.mark.parametrize("make", CONSUMERS)
@pytest.mark.parametrize("opening", ['{"k": "', '["', '"'])
@pytest.mark.parametrize("text", ["abcd", "ab\\u00e9", "日本\\n", "😀é"])
def test_p8_a_long_string_in_tiny_pieces_is_linear(make: Any, opening: str, text: str) -> None:
    assert_flat(drips(make, opening, text, by(4, text)), large=LONG)


@few(2)
@pytest.mark.parametrize("make", CONSUMERS)
@pytest.mark.parametrize("size", [1, 4])
def test_p8_a_long_number_in_tiny_pieces_is_linear(make: Any, size: int) -> None:
    assert_flat(drips(make, "[0.", "7", ["7" * size], parse_float=len), large=LONG)


@few(3)
@pytest.mark.parametrize("make", CONSUMERS)
@pytest.mark.parametrize("size", [1, 4])
@pytest.mark.parametrize("text", ["a", "é\\n"])
def test_p8_a_long_key_in_tiny_pieces_is_linear(make: Any, size: int, text: str) -> None:
    assert_flat(drips(make, '{"', text, by(size, text * 4)), large=LONG)


@few(2)
@pytest.mark.parametrize("make", CONSUMERS)
@pytest.mark.parametrize("size", [3, 10**9])
def test_p8_many_small_items_are_linear(make: Any, size: int) -> None:
    item = '{"id": 1, "s": "a\\n", "ok": true}, '
    assert_flat(drips(make, "[", item, by(size, item)), large=50_000)


@few(3)
@pytest.mark.parametrize("make", [Parse, Document])
@pytest.mark.parametrize(
    "unit",
    ["\\ud83d", "\\ud83dx", "\\ude00", "\\ud83d\\ude00", "\\\\", "\x7f", "é\u2028", "\\u0000"],
)
def test_p8_strange_strings_are_linear(make: Any, unit: str) -> None:
    def work(count: int) -> Callable[[], object]:
        text = f'["{unit * count}"]'
        return lambda: consume(make, [text])

    assert_linear(work, 4_000)


@pytest.mark.parametrize("make", CONSUMERS)
def test_p8_white_space_and_empty_pieces_are_linear(make: Any) -> None:
    assert_flat(drips(make, "[", " \n", [" \n", ""]), large=50_000)


def test_p8_a_limit_far_inside_is_not_sought_at_every_level() -> None:
    """When a text exceeds a limit, the levels around it must not each read it again."""

    def work(levels: int) -> Callable[[], object]:
        limits = Limits(depth=levels + 5)
        body = ["x" * 20] * 4_000
        text = "[" * levels + json.dumps(body)[:-1] + "," + "[" * 9 + "]" * 9 + "]" * levels

        def run() -> None:
            with pytest.raises(LimitExceeded):
                Document(limits=limits).feed(text)

        return run

    assert_linear(work, 40, bound=2.5)


@few(3)
@pytest.mark.parametrize("make", CONSUMERS)
@pytest.mark.parametrize("size", [7, 10**9])
def test_p8_ten_thousand_levels_parse(make: Any, size: int) -> None:
    text = '[{"k":' * 5_000 + "1" + "}]" * 5_000
    consume(make, by(size, text), limits=ROOMY)


@contextmanager
def measured() -> Iterator[Callable[[], int]]:
    """Yield a function that returns how many more bytes are held than at the start."""
    gc.collect()
    tracemalloc.start()
    try:
        start = tracemalloc.get_traced_memory()[0]

        def held() -> int:
            gc.collect()
            return tracemalloc.get_traced_memory()[0] - start

        yield held
    finally:
        tracemalloc.stop()


OVERHEAD = 64 * 1024  # what a parser may hold for a text of any length


@hard
@pytest.mark.parametrize("make, opening", [(Parser, '["'), (Document, '["'), (Parser, '{"')])
@pytest.mark.parametrize("size", [1, 4])
def test_p8_an_open_string_or_key_is_held_once(make: Any, opening: str, size: int) -> None:
    length = 20_000 * size
    with measured() as held:
        stage = make()
        stage.feed(opening)
        for number in range(length // size):
            stage.feed(f"{number % 10}" * size)
        assert held() < 1.2 * length + OVERHEAD


@hard
def test_p8_the_parser_holds_a_few_hundred_bytes_a_level() -> None:
    depth = 5_000
    with measured() as held:
        parser = Parser(limits=ROOMY)
        for _ in range(depth):
            parser.feed('[{"key":')
        assert held() < 2 * depth * 400


@hard
@pytest.mark.parametrize("make", [Parse, Document])
@pytest.mark.parametrize("size", [4, 20, 10**9])
def test_p8_a_parser_or_document_is_as_small_as_the_value(make: Any, size: int) -> None:
    value = [{"id": n, "name": f"name {n}", "tags": ["a", "b"], "x": n / 7} for n in range(1_000)]
    cut = by(size, json.dumps(value))
    text = "".join(cut)
    with measured() as held:
        plain = json.loads(text)
        alone = held()
        del plain
    with measured() as held:
        stage = make()
        for piece in cut:
            stage.feed(piece)
        stage.flush()
        assert held() < 1.3 * alone
