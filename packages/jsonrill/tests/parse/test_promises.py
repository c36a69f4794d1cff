"""One property for each promise in docs/promises.md that the parser and its documents make.

P5, P6 and P11 are tested with the chunker, P7 with deltas, P8 in the cost tests, P10 in the server,
P12 with the wire.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsonrill import (
    Document,
    Fragment,
    InvalidJSON,
    JsonrillError,
    LimitExceeded,
    Limits,
    Parser,
    Truncated,
)
from jsonrill.jsontext import dumps
from support import cuttings, examples, pieces
from support.documents import (
    GRAMMAR,
    READERS,
    damaged_texts,
    is_prefix,
    loads,
    merge_strings,
    outcome,
    same,
    texts,
    tokens,
    values,
)

any_text = st.one_of(
    texts(), damaged_texts(), st.text(st.sampled_from(GRAMMAR), max_size=12), st.text(max_size=6)
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
    expected = outcome([text])
    for cut in [*cuttings(text), data.draw(pieces(text))]:
        assert outcome(cut) == expected


@examples(100)
@given(any_text, small, st.data())
def test_p1_holds_under_limits(text: str, limits: Limits, data: Any) -> None:
    expected = outcome([text], limits=limits)
    for cut in [*cuttings(text), data.draw(pieces(text))]:
        assert outcome(cut, limits=limits) == expected


@examples(100)
@given(any_text, st.binary(max_size=2), st.data())
def test_p1_holds_for_bytes(source: str, noise: bytes, data: Any) -> None:
    text = source.encode("utf-8", "replace")
    at = data.draw(st.integers(0, len(text)))
    broken = text[:at] + noise + text[at:]
    for whole in (text, b"\xef\xbb\xbf" + text, broken):
        expected = outcome([whole])
        for cut in [*cuttings(whole), data.draw(pieces(whole))]:
            assert outcome(cut) == expected


@examples(100)
@given(any_text, small, st.data())
def test_p1_holds_for_documents(text: str, limits: Limits, data: Any) -> None:
    for options in ({}, {"limits": limits}):
        endings = [
            final_state(cut, **options) for cut in [*cuttings(text), data.draw(pieces(text))]
        ]
        assert all(other == endings[0] for other in endings)


def final_state(cut: list[Any], **options: Any) -> tuple[str, str]:
    """Return the value and the error that a document ends with."""
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


@pytest.mark.parametrize("make", READERS)
@examples(40)
@given(st.data())
def test_p2_every_value_shown_is_a_prefix_of_the_last(make: Any, data: Any) -> None:
    value = data.draw(values)
    text = "".join(data.draw(tokens(value)))
    for cut in ([*text], data.draw(pieces(text))):
        reader, before = make(), None
        for piece in cut:
            reader.feed(piece)
            if reader.started:
                assert is_prefix(reader.value, value)
                assert before is None or is_prefix(before[0], reader.value)
                before = [reader.value]
        reader.flush()
        assert same(reader.value, value)


@examples(100)
@given(st.text(st.sampled_from('é\U0001f600\ud83d\ude00\n"\\a')).filter(json.dumps), st.data())
def test_p2_no_half_of_an_escape_or_a_character_appears(text: str, data: Any) -> None:
    final = json.loads(json.dumps(text))  # adjoining halves are a pair
    sources: list[Any] = [json.dumps(text)]
    if not any("\ud800" <= char <= "\udfff" for char in text):
        sources.append(json.dumps(text, ensure_ascii=False).encode())
    for source in sources:
        parser, received = Parser(), ""
        for piece in data.draw(pieces(source)):
            new = "".join(fragment.text or "" for fragment in parser.feed(piece))
            received += new
            assert final.startswith(received)
        assert received == final


# ---- P3: the results agree with json.loads ----


@examples(200)
@given(any_text, st.data())
def test_p3_rebuilder_and_document_agree_with_json_loads(text: str, data: Any) -> None:
    try:
        expected, valid = loads(text), True
    except ValueError:
        expected, valid = None, False
    cut = data.draw(pieces(text))
    for make in READERS:
        reader = make()
        try:
            for piece in cut:
                reader.feed(piece)
            reader.flush()
        except InvalidJSON:
            assert not valid
        else:
            assert valid and reader.complete
            assert same(reader.value, expected)


@examples(100)
@given(damaged_texts())
def test_p3_a_cut_text_is_truncated_and_a_wrong_one_invalid(text: str) -> None:
    # Truncated: more text could have completed the document. InvalidJSON: no text could.
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
    """Encode as the bytes of JSON text and decode again."""
    return json.loads(dumps(items).encode("utf-8").decode("utf-8"))


@examples(80)
@given(texts(), st.data())
def test_p4_fragments_survive_the_wire(text: str, data: Any) -> None:
    parser = Parser()
    parsed: list[Fragment] = []
    full: list[Fragment] = []
    for piece in [*data.draw(pieces(text)), None]:
        fragments = parser.flush() if piece is None else parser.feed(piece)
        parsed += fragments
        full += [Fragment.from_dict(wire) for wire in through([f.to_dict() for f in fragments])]
    assert full == parsed
    expected = [fields._replace(offset=0) for fields in merge_strings(parsed)]
    assert merge_strings(full) == expected


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
    """Check that an error has a position, and that it can be printed and encoded."""
    assert isinstance(error, JsonrillError)
    length = sum(len(piece) for piece in cut)
    assert error.offset is not None and 0 <= error.offset <= length
    assert error.line is not None and error.column is not None
    assert 1 <= error.line <= length + 1 and 1 <= error.column <= length + 1
    assert f"at character {error.offset}, in root" in str(error)
    str(error).encode()
