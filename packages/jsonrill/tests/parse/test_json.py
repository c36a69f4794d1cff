"""What JSON is: `json.loads` decides, over texts of every part of the grammar.

Every text comes as bytes, whole, byte by byte and by threes. Accepted means: with the value that
`json.loads` gives. Refused means: with InvalidJSON and nothing else.
"""

from __future__ import annotations

from typing import Any

import pytest
from json_texts import ACCEPTED, FAMILIES, REFUSED, broken_utf8

from jsonrill import Document, InvalidJSON, Limits, Parser, Rebuilder
from support import by, by_threes, few, uncut
from support.documents import loads, same

ROOMY = Limits(depth=10**6, number=10**6)
WRONG = object()


def bytewise(data: bytes) -> list[bytes]:
    return by(1, data)


def parsed(pieces: list[bytes]) -> Any:
    """Return the value that both readers give; they must agree about everything."""
    parser, rebuilder, document = Parser(limits=ROOMY), Rebuilder(), Document(limits=ROOMY)
    errors = []
    try:
        for piece in pieces:
            rebuilder.feed(parser.feed(piece))
        rebuilder.feed(parser.flush())
    except InvalidJSON as error:
        errors.append(str(error))
    try:
        for piece in pieces:
            document.feed(piece)
        document.flush()
    except InvalidJSON as error:
        errors.append(str(error))
    if errors:
        assert len(errors) == 2 and errors[0] == errors[1]
        raise InvalidJSON(errors[0])
    assert rebuilder.complete and document.complete
    assert same(rebuilder.value, document.value)
    return document.value


cuttings = pytest.mark.parametrize("cut", [uncut, bytewise, by_threes])


@cuttings
def test_a_text_that_is_json_is_accepted(cut: Any) -> None:
    for text in ACCEPTED:
        assert same(parsed(cut(text.encode())), loads(text)), text


@cuttings
def test_a_text_that_is_not_json_is_refused(cut: Any) -> None:
    for text in REFUSED:
        with pytest.raises(ValueError):
            loads(text)
        with pytest.raises(InvalidJSON):
            parsed(cut(text.encode()))


def outcome(read: Any, *errors: type[Exception]) -> Any:
    """Return what `read` returns, or WRONG if it refuses."""
    try:
        return read()
    except errors:
        return WRONG


@few(6)
@cuttings
@pytest.mark.parametrize("family", FAMILIES)
def test_every_text_of_a_family_is_read_as_json_loads_reads_it(family: str, cut: Any) -> None:
    accepted = refused = 0
    for text in FAMILIES[family]():
        expected = outcome(lambda text=text: loads(text.removeprefix("\ufeff")), ValueError)
        got = outcome(lambda text=text: parsed(cut(text.encode())), InvalidJSON)
        assert got is expected or same(got, expected), text
        accepted, refused = accepted + (expected is not WRONG), refused + (expected is WRONG)
    assert accepted > 20 and refused > 40


@cuttings
def test_bytes_are_read_if_they_are_utf_8(cut: Any) -> None:
    accepted = refused = 0
    for data in broken_utf8():
        expected = outcome(lambda data=data: loads(data.decode()), ValueError)
        got = outcome(lambda data=data: parsed(cut(data)), InvalidJSON)
        assert got is expected or same(got, expected), data
        accepted, refused = accepted + (expected is not WRONG), refused + (expected is WRONG)
    assert accepted > 20 and refused > 1000


def test_other_encodings_are_refused() -> None:
    for encoding in ("utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-be"):
        with pytest.raises(InvalidJSON):
            parsed(['["é"]'.encode(encoding)])
    with pytest.raises(InvalidJSON):
        parsed(['["é"]'.encode("latin-1")])


def test_lone_surrogates_and_bom_are_accepted_as_json_loads_does() -> None:
    """Where the standard leaves a choice, the parser agrees with Python's json module."""
    for text in ('"\\ud800"', '"\\ude00x"', '["\\ud83d\\ud83d"]', '{"\\udfaa": 0}', "[1e9999]"):
        assert same(parsed([text.encode()]), loads(text))
    assert parsed([b"\xef\xbb\xbf{}"]) == {}
    assert parsed([b"\xef", b"\xbb\xbf[1]"]) == [1]


@pytest.mark.parametrize("opening, closing", [(b"[", b"]"), (b'{"a":', b"}"), (b'[{"":', b"}]")])
def test_open_brackets_are_refused_and_closed_ones_accepted_at_any_depth(
    opening: bytes, closing: bytes
) -> None:
    for depth in (200, 20_000):
        document = Document(limits=ROOMY)
        document.feed(opening * depth + b"1" + closing * depth)
        document.flush()
        assert document.complete
        half = Document(limits=ROOMY)
        half.feed(opening * depth)
        with pytest.raises(InvalidJSON):
            half.flush()
