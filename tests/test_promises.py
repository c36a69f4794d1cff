"""The promises of docs/promises.md that the core makes, one property each and named after it.

P5, P6 (chunker), P7 (deltas) and P10 (server) have their tests beside their parts.
"""

from __future__ import annotations

import gc
import json
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from documents import (
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
from growing import WAYS
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
from support import by, cuttings, examples, pieces, seconds

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


@examples(300)
@given(any_text, st.data())
def test_p1_any_cutting_gives_the_same_fragments_and_errors(text: str, data: Any) -> None:
    want = outcome([text])
    for cut in [*cuttings(text), data.draw(pieces(text))]:
        assert outcome(cut) == want


@examples(200)
@given(any_text, small, st.sampled_from(["last", "error"]), st.data())
def test_p1_holds_under_limits_and_without_duplicates(
    text: str, limits: Limits, duplicates: str, data: Any
) -> None:
    options = {"limits": limits, "duplicates": duplicates}
    want = outcome([text], **options)
    for cut in [*cuttings(text), data.draw(pieces(text))]:
        assert outcome(cut, **options) == want


@examples(200)
@given(any_text, st.binary(max_size=2), st.data())
def test_p1_holds_for_bytes(source: str, noise: bytes, data: Any) -> None:
    text = source.encode("utf-8", "replace")
    at = data.draw(st.integers(0, len(text)))
    broken = text[:at] + noise + text[at:]
    for whole in (text, b"\xef\xbb\xbf" + text, broken):
        want = outcome([whole])
        for cut in [*cuttings(whole), data.draw(pieces(whole))]:
            assert outcome(cut) == want


@examples(200)
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


@examples(400)
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


@examples(200)
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


@examples(150)
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


def is_linear(work: Callable[[int], Callable[[], object]], size: int, bound: float = 4.5) -> None:
    """Four times the size takes at most `bound` times as long; a busy machine gets three tries.

    Where nothing else is promised the bound is 8: what is quadratic takes sixteen times as long.
    """
    ratios = []
    small, large = work(size), work(4 * size)
    for _ in range(3):
        with no_collector():
            ratios.append(seconds(large, best_of=2) / seconds(small, best_of=3))
        if ratios[-1] <= bound:
            return
    pytest.fail(f"four times the size took {min(ratios):.1f} times as long")


@contextmanager
def no_collector() -> Iterator[None]:
    """Python's garbage collector looks at all that lives again and again: not our doing."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def parse(cut: list[str], **options: Any) -> None:
    parser = Parser(**options)
    for piece in cut:
        parser.feed(piece)
    parser.flush()


def look_live(cut: list[str], **options: Any) -> None:
    document = Document(**options)
    for piece in cut:
        document.feed(piece)
        document.live  # noqa: B018
    document.flush()


def no_look(cut: list[str], **options: Any) -> None:
    document = Document(**options)
    for piece in cut:
        document.feed(piece)
    document.flush()


def rebuild(cut: list[str], **options: Any) -> None:
    parser, encoder, rebuilder = Parser(**options), CompactEncoder(), Rebuilder()
    for piece in cut:
        rebuilder.feed(encoder.feed(parser.feed(piece)))
        rebuilder.live  # noqa: B018
    rebuilder.feed(encoder.feed(parser.flush()))
    assert rebuilder.complete


CONSUMERS = [parse, look_live, rebuild]


@pytest.mark.parametrize("consume", [*CONSUMERS, no_look])
@pytest.mark.parametrize("kind", ['{"k": "|"}', '["|"]'])
def test_p8_a_long_string_in_tiny_pieces_is_linear(consume: Any, kind: str) -> None:
    """0.2 MB against 0.8 MB, in pieces of four characters."""

    def work(size: int) -> Callable[[], object]:
        cut = by(4, kind.replace("|", "abcdefgh" * (size // 8)))
        return lambda: consume(cut)

    is_linear(work, 200_000)


@pytest.mark.parametrize("consume", CONSUMERS)
@pytest.mark.parametrize("text", ["abcd", "ab\\u00e9", "日本\\n", "😀é"])
def test_p8_so_is_a_string_at_the_root_of_any_characters(consume: Any, text: str) -> None:
    def work(size: int) -> Callable[[], object]:
        cut = by(4, f'"{text * (size // len(text))}"')
        return lambda: consume(cut)

    is_linear(work, 20_000, bound=8)


ROOMY = Limits(depth=10**6, number=10**7)


@pytest.mark.parametrize("consume", CONSUMERS)
@pytest.mark.parametrize("size", [1, 4])
def test_p8_a_long_number_in_tiny_pieces_is_linear(consume: Any, size: int) -> None:
    def work(digits: int) -> Callable[[], object]:
        cut = by(size, "[0." + "7" * digits + "]")
        return lambda: consume(cut, limits=ROOMY, parse_float=len)

    is_linear(work, 10_000 if consume is rebuild else 100_000, bound=8)


@pytest.mark.parametrize("consume", CONSUMERS)
@pytest.mark.parametrize("size", [1, 4])
@pytest.mark.parametrize("text", ["a", "é\\n"])
def test_p8_a_long_key_in_tiny_pieces_is_linear(consume: Any, size: int, text: str) -> None:
    def work(length: int) -> Callable[[], object]:
        cut = by(size, '{"' + text * (length // len(text)) + '": 1}')
        return lambda: consume(cut, limits=ROOMY)

    is_linear(work, 100_000, bound=8)


@pytest.mark.parametrize("consume", CONSUMERS)
@pytest.mark.parametrize("size", [3, 1000, 10**9])
def test_p8_many_small_items_are_linear(consume: Any, size: int) -> None:
    def work(count: int) -> Callable[[], object]:
        cut = by(size, json.dumps([{"id": n, "s": "a\n", "ok": True} for n in range(count)]))
        return lambda: consume(cut)

    is_linear(work, 500 if size == 3 else 1000, bound=8)


@pytest.mark.parametrize("consume", [parse, no_look])
@pytest.mark.parametrize(
    "unit",
    ["\\ud83d", "\\ud83dx", "\\ude00", "\\ud83d\\ude00", "\\\\", "\x7f", "é\u2028", "\\u0000"],
)
def test_p8_strange_strings_are_linear(consume: Any, unit: str) -> None:
    def work(count: int) -> Callable[[], object]:
        text = f'["{unit * count}"]'
        return lambda: consume([text])

    is_linear(work, 20_000, bound=8)


@pytest.mark.parametrize("consume", CONSUMERS)
def test_p8_white_space_and_empty_pieces_are_linear(consume: Any) -> None:
    def work(count: int) -> Callable[[], object]:
        cut = ["[", *(" \n", "") * count, "1]"]
        return lambda: consume(cut)

    is_linear(work, 5_000, bound=8)


@pytest.mark.parametrize("consume", CONSUMERS)
@pytest.mark.parametrize("size", [2, 10**9])
def test_p8_deep_nesting_is_linear(consume: Any, size: int) -> None:
    def work(depth: int) -> Callable[[], object]:
        cut = by(size, '[{"a":' * depth + "1" + "}]" * depth)
        return lambda: consume(cut, limits=ROOMY)

    is_linear(work, 2_000, bound=8)


def test_p8_a_limit_far_inside_is_not_sought_at_every_level() -> None:
    """Levels around a text that passes a limit: each must not read all of it again."""

    def work(levels: int) -> Callable[[], object]:
        limits = Limits(depth=levels + 5)
        body = ["x" * 20] * 10_000
        text = "[" * levels + json.dumps(body)[:-1] + "," + "[" * 9 + "]" * 9 + "]" * levels

        def consume() -> None:
            with pytest.raises(LimitExceeded):
                Document(limits=limits).feed(text)

        return consume

    is_linear(work, 40, bound=2.5)


@pytest.mark.parametrize("consume", CONSUMERS)
@pytest.mark.parametrize("size", [7, 10**9])
def test_p8_a_hundred_thousand_levels_parse(consume: Any, size: int) -> None:
    text = '[{"k":' * 50_000 + "1" + "}]" * 50_000
    consume(by(size, text), limits=ROOMY)


def test_p8_a_hundred_thousand_levels_can_be_walked_and_dropped() -> None:
    text = "[" * 100_000 + "]" * 100_000
    *_, value = values_of(text, limits=ROOMY)
    depth = 0
    while value:
        (value,) = value
        depth += 1
    assert depth == 99_999
    parser = Parser(limits=ROOMY)
    fragments = parser.feed(text)
    assert fragments[99_999].path == (0,) * 99_999
    assert len(fragments) == 200_001


def test_p8_a_fragment_costs_the_same_at_any_depth() -> None:
    def work(depth: int) -> Callable[[], object]:
        text = "[" * depth + ",".join(["1"] * 5_000) + "]" * depth
        return lambda: parse([text], limits=ROOMY)

    is_linear(work, 200, bound=2.5)


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
@pytest.mark.parametrize("size", [1, 4, 50])
def test_p8_an_open_string_is_held_once(make: Any, size: int) -> None:
    """Dripped, with the fragments dropped and nobody looking."""
    length = 100_000
    with measured() as held:
        stage = make()
        stage.feed('{"k": "')
        for number in range(length // size):
            stage.feed(f"{number % 10}" * size)
        assert held() < 1.2 * length + OVERHEAD


@pytest.mark.parametrize("size", [1, 4])
def test_p8_an_open_key_is_held_once(size: int) -> None:
    length = 100_000
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
        for number in range(20_000):
            parser.feed(f'{{"key {number}": "some text that is soon')
            parser.feed(f' forgotten", "n": [{number}, null]}}, ')
        assert held() < OVERHEAD


def test_p8_the_parser_holds_a_few_hundred_bytes_a_level() -> None:
    depth = 20_000
    with measured() as held:
        parser = Parser(limits=ROOMY)
        for _ in range(depth):
            parser.feed('[{"key":')
        assert held() < 2 * depth * 400


@pytest.mark.parametrize("size", [4, 20, 10**9])
def test_p8_a_document_is_as_small_as_the_value(size: int) -> None:
    value = [{"id": n, "name": f"name {n}", "tags": ["a", "b"], "x": n / 7} for n in range(4_000)]
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


@examples(300)
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
