"""The promises of docs/promises.md that the core makes, one property each and named after it.

P5, P6 (chunker), P7 (deltas) and P10 (server) have their tests beside their parts.
"""

from __future__ import annotations

import gc
import json
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import cycle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsonrill import (
    CompactEncoder,
    Document,
    Fragment,
    InvalidJSON,
    JsonrillError,
    LimitExceeded,
    Limits,
    Parser,
    Rebuilder,
    Truncated,
    WireReader,
    from_wire,
    to_wire,
)
from jsonrill import values as values_of
from jsonrill.parse.grammar import dumps
from support import by, cuttings, examples, pieces
from support.costs import is_flat, is_linear
from support.documents import (
    GRAMMAR,
    is_prefix,
    loads,
    merged,
    outcome,
    same,
    spoiled,
    texts,
    tokens,
    values,
)
from support.growing import WAYS

any_text = st.one_of(
    texts(), spoiled(), st.text(st.sampled_from(GRAMMAR), max_size=12), st.text(max_size=6)
)
small = st.builds(
    Limits,
    depth=st.integers(0, 4),
    text=st.integers(1, 40),
    string=st.integers(0, 12),
    number=st.integers(0, 6),
    keys=st.integers(0, 3),
)


# ---- P1: cutting does not matter ----


@examples(150)
@given(any_text, st.data())
def test_p1_any_cutting_gives_the_same_fragments_and_errors(text: str, data: Any) -> None:
    want = outcome([text])
    for cut in [*cuttings(text), data.draw(pieces(text))]:
        assert outcome(cut) == want


@examples(100)
@given(any_text, small, st.sampled_from(["last", "error"]), st.data())
def test_p1_holds_under_limits_and_without_duplicates(
    text: str, limits: Limits, duplicates: str, data: Any
) -> None:
    options = {"limits": limits, "duplicates": duplicates}
    want = outcome([text], **options)
    for cut in [*cuttings(text), data.draw(pieces(text))]:
        assert outcome(cut, **options) == want


@examples(100)
@given(any_text, st.binary(max_size=2), st.data())
def test_p1_holds_for_bytes(source: str, noise: bytes, data: Any) -> None:
    text = source.encode("utf-8", "replace")
    at = data.draw(st.integers(0, len(text)))
    broken = text[:at] + noise + text[at:]
    for whole in (text, b"\xef\xbb\xbf" + text, broken):
        want = outcome([whole])
        for cut in [*cuttings(whole), data.draw(pieces(whole))]:
            assert outcome(cut) == want


@examples(100)
@given(any_text, small, st.data())
def test_p1_holds_for_documents(text: str, limits: Limits, data: Any) -> None:
    for options in ({}, {"limits": limits}):
        found = [settled(cut, **options) for cut in [*cuttings(text), data.draw(pieces(text))]]
        assert all(other == found[0] for other in found)


def settled(cut: list[Any], **options: Any) -> tuple[str, str]:
    """The value and the error that a document ends with."""
    document, end = Document(**options), ""
    try:
        for piece in cut:
            document.feed(piece)
        document.flush()
    except (InvalidJSON, LimitExceeded) as error:
        place = (error.offset, error.line, error.column, error.path)
        end = f"{type(error).__name__} {error} {place}"
    return repr(document.value), end


# ---- P2: every intermediate value is a prefix of the final one ----


@pytest.mark.parametrize("make", WAYS)
@examples(40)
@given(st.data())
def test_p2_every_value_shown_is_a_prefix_of_the_last(make: Any, data: Any) -> None:
    value = data.draw(values)
    text = "".join(data.draw(tokens(value)))
    for cut in ([*text], data.draw(pieces(text))):
        grown, before = make(), None
        for piece in cut:
            grown.feed(piece)
            if grown.started:
                assert is_prefix(grown.value, value)
                assert before is None or is_prefix(before[0], grown.value)
                before = [grown.value]
        grown.flush()
        assert same(grown.value, value)


@examples(100)
@given(st.text(st.sampled_from('é\U0001f600\ud83d\ude00\n"\\a')).filter(json.dumps), st.data())
def test_p2_half_of_anything_is_never_shown(text: str, data: Any) -> None:
    """Not half an escape, not half a surrogate pair, not half a UTF-8 sequence."""
    final = json.loads(json.dumps(text))  # adjoining halves are a pair
    sources: list[Any] = [json.dumps(text)]
    if not any("\ud800" <= char <= "\udfff" for char in text):
        sources.append(json.dumps(text, ensure_ascii=False).encode())
    for source in sources:
        parser, came = Parser(), ""
        for piece in data.draw(pieces(source)):
            new = "".join(fragment.text or "" for fragment in parser.feed(piece))
            came += new
            assert final.startswith(came)
        assert came == final


# ---- P3: everybody agrees with json.loads ----


@examples(200)
@given(any_text, st.data())
def test_p3_rebuilder_and_document_agree_with_json_loads(text: str, data: Any) -> None:
    try:
        want, valid = loads(text), True
    except ValueError:
        want, valid = None, False
    cut = data.draw(pieces(text))
    for make in WAYS:
        grown = make()
        try:
            for piece in cut:
                grown.feed(piece)
            grown.flush()
        except InvalidJSON:
            assert not valid
        else:
            assert valid and grown.complete
            assert same(grown.value, want)


@examples(100)
@given(spoiled())
def test_p3_whole_or_cut_short_the_right_word_is_said(text: str) -> None:
    """Truncated means that more text could have helped, InvalidJSON that none could."""
    error = outcome([text]).error
    if error is not None and error[0] == "Truncated":
        assert Parser().feed(text) is not None
        assert error[3] == len(text)
    elif error is not None:
        with pytest.raises(InvalidJSON) as caught:
            Parser().feed(text + " more of it")
        assert type(caught.value) is not Truncated


# ---- P4: the wire round trip ----


def through(items: list[Any]) -> Any:
    """There and back as real JSON text, as bytes on a wire."""
    return json.loads(dumps(items).encode("utf-8").decode("utf-8"))


@examples(80)
@given(texts(), st.data())
def test_p4_fragments_survive_the_wire(text: str, data: Any) -> None:
    parser, encoder = Parser(), CompactEncoder()
    made: list[Fragment] = []
    full: list[Fragment] = []
    compact: list[Fragment | None] = []
    reader = WireReader()
    for piece in [*data.draw(pieces(text)), None]:
        fragments = parser.flush() if piece is None else parser.feed(piece)
        made += fragments
        full += [from_wire(wire) for wire in through([to_wire(f) for f in fragments])]
        compact += [reader.read(item) for item in through(encoder.feed(fragments))]
    assert full == made
    assert compact == made
    want = [fields._replace(offset=0) for fields in merged(made)]
    assert merged(full) == want
    assert merged(compact) == want  # type: ignore[arg-type]


# ---- P8: linear time and bounded memory ----


class Parse:
    """Feeds a parser and drops the fragments."""

    def __init__(self, **options: Any) -> None:
        self.stage: Any = Parser(**options)
        self.feed, self.flush = self.stage.feed, self.stage.flush


class NoLook(Parse):
    """Feeds a document at which nobody looks."""

    def __init__(self, **options: Any) -> None:
        self.stage = Document(**options)
        self.feed, self.flush = self.stage.feed, self.stage.flush


class LookLive:
    """Looks at a document after every piece."""

    def __init__(self, **options: Any) -> None:
        self.document = Document(**options)

    def feed(self, piece: str) -> None:
        self.document.feed(piece)
        self.document.live  # noqa: B018

    def flush(self) -> None:
        self.document.flush()


class Rebuild:
    """Sends fragments in the compact form, and looks at what is rebuilt after every piece."""

    def __init__(self, **options: Any) -> None:
        self.parser, self.encoder, self.rebuilder = Parser(**options), CompactEncoder(), Rebuilder()

    def feed(self, piece: str) -> None:
        self.rebuilder.feed(self.encoder.feed(self.parser.feed(piece)))
        self.rebuilder.live  # noqa: B018

    def flush(self) -> None:
        self.rebuilder.feed(self.encoder.feed(self.parser.flush()))
        assert self.rebuilder.complete


CONSUMERS = [Parse, LookLive, Rebuild]
ROOMY = Limits(depth=10**6, number=10**7, text=10**9)
LEAD = 1_000  # what comes before the measured steps comes in pieces of so many characters

LONG = 1_000_000  # to copy so much takes far longer than a step does


def consume(make: Any, cut: list[str], **options: Any) -> None:
    stage = make(**options)
    for piece in cut:
        stage.feed(piece)
    stage.flush()


def drips(make: Any, opening: str, lead: str, pieces: list[str], **options: Any) -> Any:
    """For `is_flat`: feeds `size` characters of `lead`, then one piece a step, over and over."""

    def start(size: int) -> Callable[[], object]:
        stage, turn = make(limits=ROOMY, **options), cycle(pieces)
        stage.feed(opening)
        for piece in by(LEAD, lead * (size // len(lead))):
            stage.feed(piece)
        return lambda: stage.feed(next(turn))

    return start


@pytest.mark.parametrize("make", [*CONSUMERS, NoLook])
@pytest.mark.parametrize("opening", ['{"k": "', '["', '"'])
@pytest.mark.parametrize("text", ["abcd", "ab\\u00e9", "日本\\n", "😀é"])
def test_p8_a_long_string_in_tiny_pieces_is_linear(make: Any, opening: str, text: str) -> None:
    is_flat(drips(make, opening, text, by(4, text)), large=LONG)


@pytest.mark.parametrize("make", CONSUMERS)
@pytest.mark.parametrize("size", [1, 4])
def test_p8_a_long_number_in_tiny_pieces_is_linear(make: Any, size: int) -> None:
    is_flat(drips(make, "[0.", "7", ["7" * size], parse_float=len), large=LONG)


@pytest.mark.parametrize("make", CONSUMERS)
def test_p8_the_end_of_a_long_number_is_linear(make: Any) -> None:
    def work(digits: int) -> Callable[[], object]:
        cut = by(10, "[0." + "7" * digits + "]")
        return lambda: consume(make, cut, limits=ROOMY, parse_float=len)

    is_linear(work, 5_000)


@pytest.mark.parametrize("make", CONSUMERS)
@pytest.mark.parametrize("size", [1, 4])
@pytest.mark.parametrize("text", ["a", "é\\n"])
def test_p8_a_long_key_in_tiny_pieces_is_linear(make: Any, size: int, text: str) -> None:
    is_flat(drips(make, '{"', text, by(size, text * 4)), large=LONG)


@pytest.mark.parametrize("make", CONSUMERS)
@pytest.mark.parametrize("size", [3, 10**9])
def test_p8_many_small_items_are_linear(make: Any, size: int) -> None:
    item = '{"id": 1, "s": "a\\n", "ok": true}, '
    is_flat(drips(make, "[", item, by(size, item)), large=50_000)


@pytest.mark.parametrize("make", CONSUMERS)
def test_p8_many_small_items_in_one_piece_are_linear(make: Any) -> None:
    def work(count: int) -> Callable[[], object]:
        text = json.dumps([{"id": n, "s": "a\n", "ok": True} for n in range(count)])
        return lambda: consume(make, [text])

    is_linear(work, 200)


@pytest.mark.parametrize("make", [Parse, NoLook])
@pytest.mark.parametrize(
    "unit",
    ["\\ud83d", "\\ud83dx", "\\ude00", "\\ud83d\\ude00", "\\\\", "\x7f", "é\u2028", "\\u0000"],
)
def test_p8_strange_strings_are_linear(make: Any, unit: str) -> None:
    def work(count: int) -> Callable[[], object]:
        text = f'["{unit * count}"]'
        return lambda: consume(make, [text])

    is_linear(work, 4_000)


@pytest.mark.parametrize("make", CONSUMERS)
def test_p8_white_space_and_empty_pieces_are_linear(make: Any) -> None:
    is_flat(drips(make, "[", " \n", [" \n", ""]), large=50_000)


@pytest.mark.parametrize("make", CONSUMERS)
def test_p8_opening_and_closing_cost_the_same_at_any_depth(make: Any) -> None:
    def opened(depth: int) -> Any:
        stage = make(limits=ROOMY)
        stage.feed('[{"a":' * depth)
        return stage

    def closing(depth: int) -> Callable[[], object]:
        stage = opened(depth + 300)
        stage.feed("1")
        return lambda: stage.feed("}]")

    def opening(depth: int) -> Callable[[], object]:
        stage = opened(depth)
        return lambda: stage.feed('[{"a":')

    for work in (opening, closing):
        is_flat(work, small=100, large=5_000)


@pytest.mark.parametrize("make", CONSUMERS)
def test_p8_deep_nesting_in_one_piece_is_linear(make: Any) -> None:
    def work(depth: int) -> Callable[[], object]:
        text = '[{"a":' * depth + "1" + "}]" * depth
        return lambda: consume(make, [text], limits=ROOMY)

    is_linear(work, 500)


def test_p8_a_limit_far_inside_is_not_sought_at_every_level() -> None:
    """Levels around a text that passes a limit: each must not read all of it again."""

    def work(levels: int) -> Callable[[], object]:
        limits = Limits(depth=levels + 5)
        body = ["x" * 20] * 4_000
        text = "[" * levels + json.dumps(body)[:-1] + "," + "[" * 9 + "]" * 9 + "]" * levels

        def run() -> None:
            with pytest.raises(LimitExceeded):
                Document(limits=limits).feed(text)

        return run

    is_linear(work, 40, bound=2.5)


@pytest.mark.parametrize("make", CONSUMERS)
@pytest.mark.parametrize("size", [7, 10**9])
def test_p8_ten_thousand_levels_parse(make: Any, size: int) -> None:
    text = '[{"k":' * 5_000 + "1" + "}]" * 5_000
    consume(make, by(size, text), limits=ROOMY)


def test_p8_twenty_thousand_levels_can_be_walked_and_dropped() -> None:
    text = "[" * 20_000 + "]" * 20_000
    *_, value = values_of(text, limits=ROOMY)
    depth = 0
    while value:
        (value,) = value
        depth += 1
    assert depth == 19_999
    parser = Parser(limits=ROOMY)
    fragments = parser.feed(text)
    assert fragments[19_999].path == (0,) * 19_999
    assert len(fragments) == 40_001


def test_p8_a_fragment_costs_the_same_at_any_depth() -> None:
    def work(depth: int) -> Callable[[], object]:
        stage = Parser(limits=ROOMY)
        stage.feed("[" * depth)
        return lambda: stage.feed("1,")

    is_flat(work, small=10, large=10_000)


@contextmanager
def measured() -> Iterator[Callable[[], int]]:
    """How many bytes more are held than at the start."""
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


OVERHEAD = 64 * 1024  # what any parser may hold, however short the text


@pytest.mark.parametrize("make", [Parser, Document])
@pytest.mark.parametrize("size", [1, 4])
def test_p8_an_open_string_is_held_once(make: Any, size: int) -> None:
    """Dripped, with the fragments dropped and nobody looking."""
    length = 20_000 * size
    with measured() as held:
        stage = make()
        stage.feed('{"k": "')
        for number in range(length // size):
            stage.feed(f"{number % 10}" * size)
        assert held() < 1.2 * length + OVERHEAD


@pytest.mark.parametrize("size", [1, 4])
def test_p8_an_open_key_is_held_once(size: int) -> None:
    length = 20_000 * size
    with measured() as held:
        parser = Parser()
        parser.feed('{"')
        for number in range(length // size):
            parser.feed(f"{number % 10}" * size)
        assert held() < 1.2 * length + OVERHEAD


def test_p8_what_is_finished_is_forgotten_by_the_parser() -> None:
    with measured() as held:
        parser = Parser(limits=Limits(text=10**9))
        parser.feed("[")
        for number in range(4_000):
            parser.feed(f'{{"key {number}": "some text that is soon')
            parser.feed(f' forgotten", "n": [{number}, null]}}, ')
        assert held() < OVERHEAD


def test_p8_the_parser_holds_a_few_hundred_bytes_a_level() -> None:
    depth = 5_000
    with measured() as held:
        parser = Parser(limits=ROOMY)
        for _ in range(depth):
            parser.feed('[{"key":')
        assert held() < 2 * depth * 400


@pytest.mark.parametrize("size", [4, 20, 10**9])
def test_p8_a_document_is_as_small_as_the_value(size: int) -> None:
    value = [{"id": n, "name": f"name {n}", "tags": ["a", "b"], "x": n / 7} for n in range(1_000)]
    cut = by(size, json.dumps(value))
    text = "".join(cut)
    with measured() as held:
        plain = json.loads(text)
        alone = held()
        del plain
    with measured() as held:
        document = Document()
        for piece in cut:
            document.feed(piece)
        document.flush()
        assert held() < 1.3 * alone


# ---- P9: nothing but the documented errors ----


@examples(120)
@given(st.lists(st.one_of(any_text, st.binary(max_size=6)), max_size=5), small, st.booleans())
def test_p9_nothing_but_the_documented_errors(cut: list[Any], limits: Limits, tight: bool) -> None:
    options: dict[str, Any] = {"limits": limits} if tight else {}
    for make in (Parser, Document):
        stage = make(**options)
        try:
            for piece in cut:
                stage.feed(piece)
            stage.flush()
        except (InvalidJSON, LimitExceeded) as error:
            check_error(error, cut)


def check_error(error: InvalidJSON | LimitExceeded, cut: list[Any]) -> None:
    """An error is whole: it can be placed, printed and sent."""
    assert isinstance(error, JsonrillError)
    length = sum(len(piece) for piece in cut)
    assert error.offset is not None and 0 <= error.offset <= length
    assert error.line is not None and error.column is not None
    assert 1 <= error.line <= length + 1 and 1 <= error.column <= length + 1
    assert f"at character {error.offset}, in root" in str(error)
    str(error).encode()
