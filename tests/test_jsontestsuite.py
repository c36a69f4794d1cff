"""Who is right about JSON: the files of JSONTestSuite, and texts of our own for a plain clone.

Every text comes as bytes, whole, byte by byte and by threes. Accepted means: with the value that
`json.loads` gives. Refused means: with InvalidJSON and nothing else.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from documents import loads, same
from jsonrill import Document, InvalidJSON, Limits, Parser, Rebuilder
from support import by, by_threes, shared_files, whole

FILES = shared_files("data/jsontestsuite/test_parsing")
ROOMY = Limits(depth=10**6, number=10**6)
DEEP = 1000  # beyond this, json.loads and == themselves would recurse too deep

ACCEPTED = [
    "[]", "{}", '""', "0", "-0", "1", "-1", "true", "false", "null", " [ ] ", "\t{\r\n}\n",
    "[1,2]", "[[[]]]", '{"a":1}', '{"":{}}', '{"a":{"b":[]}}', "[null,true,false]",
    "0.5", "-0.5", "1e1", "1E1", "1e+1", "1e-1", "1.5e10", "0e0", "0.0", "-0.0", "10", "1e400",
    "123456789012345678901234567890", '"a"', '"\\"\\\\\\/\\b\\f\\n\\r\\t"', '"\\u0041"',
    '"\\u00E9"', '"\\ud83d\\ude00"', '"\\ud800"', '"\\udc00"', '"\\ud800\\ud800"', '"\\u0000"',
    '"é日本😀"', '"\u2028\u2029"', '"\x7f\x80"', '"\ufeff"', '"\U0010ffff"', '"/"', '"[{,:]}"',
    '{"a":1,"a":2}', '{"a":1,"b":2,"a":3}', '{"é":"\\n"}', '[0,-0,0.0,-0.0]',
    '\r\n["a"\n,\t"b" ]  ', "[[],{},[{}],{\"a\":[]}]",
]  # fmt: skip
REFUSED = [
    "", " ", "\n", "[", "]", "{", "}", "[1", "[1,", "[1,]", "[,1]", "[1,,2]", "[1 2]", "[1:2]",
    '{"a"', '{"a":', '{"a":1', '{"a":1,', '{"a":1,}', "{,}", "{1:1}", "{a:1}", "{'a':1}",
    '{"a" 1}', '{"a"::1}', '{"a":1 "b":2}', '{"a":1]', "[1}", "[]]", "{}}", "[][]", "1 2", "1,",
    '"', '"a', '"\\"', '"\\', '"\\x"', '"\\u12"', '"\\u12G4"', '"\\U0041"', '"a\nb"', '"\x00"',
    "01", "-01", "00", "1.", ".1", "1.e1", "1e", "1e+", "1e1.5", "+1", "--1", "-", "0x1", "1_0",
    "1a", "Infinity", "-Infinity", "NaN", "-NaN", "tru", "truE", "True", "nul", "nulls", "fals e",
    "undefined", "'a'", "a", "/**/1", "1//", "#1", "\xa01", "\u20281", "\x0b1", "\x0c1",
    "١", "１", "[1] x", "{} #", '{"a":b}', '["a" "b"]', '["a",\n"b",]', "<null>", "[\u2060]",
]  # fmt: skip


def bytewise(data: bytes) -> list[bytes]:
    return by(1, data)


def parsed(pieces: list[bytes]) -> Any:
    """The value by both ways in, which must agree about everything."""
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
    assert nested(document.value) > DEEP or same(rebuilder.value, document.value)
    return document.value


def nested(value: Any) -> int:
    """How deep the first elements go."""
    depth = 0
    while value and isinstance(value, (list, dict)):
        value = value[0] if isinstance(value, list) else next(iter(value.values()))
        depth += 1
    return depth


cuttings = pytest.mark.parametrize("cut", [whole, bytewise, by_threes])


@cuttings
@pytest.mark.parametrize("text", ACCEPTED)
def test_a_text_that_is_json_is_accepted(text: str, cut: Any) -> None:
    assert same(parsed(cut(text.encode())), loads(text))


@cuttings
@pytest.mark.parametrize("text", REFUSED)
def test_a_text_that_is_not_json_is_refused(text: str, cut: Any) -> None:
    with pytest.raises(ValueError):
        loads(text)
    with pytest.raises(InvalidJSON):
        parsed(cut(text.encode()))


@cuttings
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_the_suite(file: Path, cut: Any) -> None:
    data = file.read_bytes()
    match file.name[0]:
        case "y":
            assert same(parsed(cut(data)), loads(data.decode()))
        case "n":
            with pytest.raises(InvalidJSON):
                parsed(cut(data))
        case _:
            try:
                value = parsed(cut(data))
            except InvalidJSON:
                return
            if nested(value) < DEEP:
                assert same(value, loads(data.decode("utf-8-sig")))


@pytest.mark.skipif(not FILES, reason="needs the shared data: jsontestsuite")
def test_the_suite_is_all_there() -> None:
    kinds = [file.name[0] for file in FILES]
    assert (len(kinds), kinds.count("y"), kinds.count("n"), kinds.count("i")) == (318, 95, 188, 35)


def test_lone_surrogates_and_bom_are_accepted_as_json_loads_does() -> None:
    """Where the suite leaves a choice (`i_`), ours is that of the standard library."""
    for text in ('"\\ud800"', '"\\ude00x"', '["\\ud83d\\ud83d"]', '{"\\udfaa": 0}', "[1e9999]"):
        assert same(parsed([text.encode()]), loads(text))
    assert parsed([b"\xef\xbb\xbf{}"]) == {}
    assert nested(parsed([b"[" * 500 + b"]" * 500])) == 499
