"""The parser by tables: the fragments of each text, and the error of each refused one."""

from __future__ import annotations

import array
import copy
import pickle
import sys
from decimal import Decimal
from typing import Any, cast

import pytest

from jsonrill import (
    Document,
    Fragment,
    InvalidJSON,
    LimitExceeded,
    Limits,
    Parser,
    Truncated,
)
from jsonrill.errors import StreamClosed
from support import by, by_character, cuttings
from support.documents import error_fields, loads, merge_strings, outcome


def parse(text: str | bytes, **options: Any) -> list[Fragment]:
    parser = Parser(**options)
    return parser.feed(text) + parser.flush()


def refusal(pieces: Any, **options: Any) -> InvalidJSON | LimitExceeded:
    """Return the error that these pieces end in."""
    parser = Parser(**options)
    with pytest.raises((InvalidJSON, LimitExceeded)) as caught:
        for piece in pieces:
            parser.feed(piece)
        parser.flush()
    return cast("InvalidJSON | LimitExceeded", caught.value)


# ---- fragments ----


def test_each_fragment_comes_with_the_character_that_makes_it_certain() -> None:
    parser = Parser()
    text = '{"ab": "x\\n", "c": [1, true]}'
    came = [[fragment.kind for fragment in parser.feed(char)] for char in text]
    assert [(char, kinds) for char, kinds in zip(text, came, strict=True) if kinds] == [
        ("{", ["StartObject"]),
        ('"', ["Key"]),
        ('"', ["StartString"]),
        ("x", ["PartialString"]),
        ("n", ["PartialString"]),
        ('"', ["CompleteString"]),
        ('"', ["Key"]),
        ("[", ["StartArray"]),
        (",", ["CompleteNumber"]),
        ("e", ["CompleteBoolean"]),
        ("]", ["EndArray"]),
        ("}", ["EndObject", "JsonComplete"]),
    ]
    assert parser.flush() == []


def test_an_offset_is_where_the_token_began() -> None:
    text = ' {"k" : [12, "abc", tru'
    parser = Parser()
    fragments = parser.feed(text) + parser.feed("e ] } ")
    assert [(fragment.kind, fragment.offset) for fragment in fragments] == [
        ("StartObject", 1),
        ("Key", 2),
        ("StartArray", 8),
        ("CompleteNumber", 9),
        ("StartString", 13),
        ("PartialString", 13),
        ("CompleteString", 13),
        ("CompleteBoolean", 20),
        ("EndArray", 25),
        ("EndObject", 27),
        ("JsonComplete", 28),
    ]


# ---- refusals ----

# text, offset, line, column, path, what was expected, what came instead
REFUSED: list[tuple[str, int, int, int, tuple[str | int, ...], str, str]] = [
    ("}", 0, 1, 1, (), "a value", "'}'"),
    ("NaN", 0, 1, 1, (), "a value", "'N'"),
    ("-Infinity", 1, 1, 2, (), "a digit", "'I'"),
    ("\ufeff1", 0, 1, 1, (), "a value", "'\\ufeff'"),
    ("\r\n\r\n x", 5, 3, 2, (), "a value", "'x'"),
    ("trux", 3, 1, 4, (), "'true'", "'x'"),
    ("fals ", 4, 1, 5, (), "'false'", "' '"),
    ("[tru]", 4, 1, 5, (0,), "'true'", "']'"),
    ("-", 1, 1, 2, (), "a digit", ""),
    ("1.e1", 2, 1, 3, (), "a digit", "'e'"),
    ("1e+-", 3, 1, 4, (), "a digit", "'-'"),
    ("[-]", 2, 1, 3, (0,), "a digit", "']'"),
    ("1 2", 2, 1, 3, (), "the end of the text", "'2'"),
    ("{]", 1, 1, 2, (), "a key or '}'", "']'"),
    ("{a", 1, 1, 2, (), "a key or '}'", "'a'"),
    ('{"a"1', 4, 1, 5, ("a",), "':'", "'1'"),
    ('{"a":}', 5, 1, 6, ("a",), "a value", "'}'"),
    ('{"a":1]', 6, 1, 7, (), "',' or '}'", "']'"),
    ('{"a":1,}', 7, 1, 8, (), "a key", "'}'"),
    ('{"a":1,2', 7, 1, 8, (), "a key", "'2'"),
    ("[}", 1, 1, 2, (0,), "a value or ']'", "'}'"),
    ("[1 2", 3, 1, 4, (), "',' or ']'", "'2'"),
    ("[1:2", 2, 1, 3, (0,), "',' or ']'", "':'"),
    ("[1,]", 3, 1, 4, (1,), "a value", "']'"),
    ('{"a":[{"b":[0,x', 14, 1, 15, ("a", 0, "b", 1), "a value", "'x'"),
    ('{"a.b": [x', 9, 1, 10, ("a.b", 0), "a value or ']'", "'x'"),
    ('{\n  "a": [\n    1,\n    x', 22, 4, 5, ("a", 1), "a value", "'x'"),
    ('"a\nb"', 2, 1, 3, (), "no control character in a string", "'\\n'"),
    ('["a", "\x1f', 7, 1, 8, (1,), "no control character in a string", "'\\x1f'"),
    ('{"a\t', 3, 1, 4, (), "no control character in a string", "'\\t'"),
    ('"\\x', 2, 1, 3, (), "an escape", "'x'"),
    ('"\\é', 2, 1, 3, (), "an escape", "'é'"),
    ('"\\u12"', 5, 1, 6, (), "a hexadecimal digit", "'\"'"),
    ('"\\u+123', 3, 1, 4, (), "a hexadecimal digit", "'+'"),
    ('"\\ud83d\\x', 8, 1, 9, (), "an escape", "'x'"),
    ('"\\ud83d\\ud', 10, 1, 11, (), "the end of the string", ""),
    ('"\\ud83d\\udeg', 11, 1, 12, (), "a hexadecimal digit", "'g'"),
    ('{"\\q', 3, 1, 4, (), "an escape", "'q'"),
    ("", 0, 1, 1, (), "a value", ""),
    (" \n", 2, 2, 1, (), "a value", ""),
    ("tr", 2, 1, 3, (), "'true'", ""),
    ("[", 1, 1, 2, (0,), "a value or ']'", ""),
    ("[1", 2, 1, 3, (0,), "',' or ']'", ""),
    ("[1,", 3, 1, 4, (1,), "a value", ""),
    ("{", 1, 1, 2, (), "a key or '}'", ""),
    ('{"a', 3, 1, 4, (), "the end of the key", ""),
    ('{"a"', 4, 1, 5, ("a",), "':'", ""),
    ('{"a":', 5, 1, 6, ("a",), "a value", ""),
    ('{"a":1', 6, 1, 7, ("a",), "',' or '}'", ""),
    ('{"a":1,', 7, 1, 8, (), "a key", ""),
    ('"a', 2, 1, 3, (), "the end of the string", ""),
    ('"a\\', 3, 1, 4, (), "the end of the string", ""),
    ('["a\\u00', 7, 1, 8, (0,), "the end of the string", ""),
]


@pytest.mark.parametrize("row", REFUSED, ids=[repr(row[0]) for row in REFUSED])
def test_a_refusal_says_where_and_what(row: Any) -> None:
    text, offset, line, column, path, expected, got = row
    with pytest.raises(ValueError):
        loads(text)
    for pieces in cuttings(text):
        error = refusal(pieces)
        assert type(error) is (InvalidJSON if got else Truncated)
        place = (error.offset, error.line, error.column, error.path)
        assert place == (offset, line, column, path)
        assert error.expected == expected  # type: ignore[union-attr]
        came = f"but got {got}" if got else "but the text ended"
        assert str(error).startswith(f"expected {expected} {came} at character {offset}, in root")


def test_a_message_names_the_path() -> None:
    assert str(refusal(['{"a": {"b c": [0, 1x'])) == (
        """expected ',' or ']' but got 'x' at character 19, in root.a["b c"][1]"""
    )


# What may follow a valid beginning, so that json.loads can say whether it is one.
TAILS = ["", "0", '"', '":0', ":0", '"":0', "rue", "ue", "e", "alse", "lse", "se", "ull", "ll", "l"]
TAILS += ['\\"', '\\":0'] + [f"{'0' * n}{tail}" for n in (1, 2, 3, 4) for tail in ('"', '":0')]


def closers(text: str) -> str:
    """Return the brackets that close a valid beginning, the innermost first."""
    brackets, in_string, escape = "", False, False
    for char in text:
        if escape:
            escape = False
        elif in_string:
            escape, in_string = char == "\\", char != '"'
        elif char == '"':
            in_string = True
        elif char in "{[":
            brackets = ("}" if char == "{" else "]") + brackets
        elif char in "}]":
            brackets = brackets[1:]
    return brackets


def can_be_continued(text: str) -> bool:
    for tail in TAILS:
        try:
            loads(text + tail + closers(text))
        except ValueError:
            continue
        return True
    return False


def test_a_text_is_refused_at_the_first_character_after_which_nothing_can_save_it() -> None:
    """All texts over an alphabet of one character of each kind, as far as they can be valid."""
    beginnings = [""]
    for _ in range(6):
        longer = []
        for text in beginnings:
            for char in '{}[],:"\\u0-.e+tn \nx':
                parser = Parser()
                parser.feed(text)
                try:
                    parser.feed(char)
                    refused = False
                except InvalidJSON as error:
                    refused = True
                    assert error.offset == len(text)
                assert refused is not can_be_continued(text + char), text + char
                if not refused:
                    longer.append(text + char)
        # A sample that keeps every kind: exhaustive to the third character.
        beginnings = longer if len(longer) < 1000 else longer[:: len(longer) // 200]


def test_the_fragments_before_an_error_are_not_lost() -> None:
    parser = Parser()
    assert len(parser.feed('{"a": ')) == 2
    with pytest.raises(InvalidJSON) as caught:
        parser.feed('[1, "xy", tru]')
    kinds = [fragment.kind for fragment in caught.value.fragments]
    assert kinds == ["StartArray", "CompleteNumber", "StartString", "PartialString"] + [
        "CompleteString"
    ]


def test_an_error_can_be_copied_and_pickled() -> None:
    for error in (refusal(['{"a": [1, x']), refusal(["[[1"], limits=Limits(depth=1))):
        for other in (copy.copy(error), pickle.loads(pickle.dumps(error))):
            assert type(other) is type(error)
            assert error_fields(other) == error_fields(error)
            assert other.fragments == error.fragments


# ---- limits ----


def any_cutting(text: str) -> list[list[Any]]:
    return [*cuttings(text), *cuttings(text.encode())]


LIMITS: list[tuple[str, Limits, str, int]] = [
    ("depth", Limits(depth=0), "[]", 0),
    ("depth", Limits(depth=2), '[[1], {"a": [', 12),
    ("text", Limits(text=5), '"aaaaaaaaaaaa"', 5),
    ("text", Limits(text=3), "true", 3),
    ("text", Limits(text=6), '"\\ud83d\\ude00"', 6),
    ("string", Limits(string=0), '"a"', 1),
    ("string", Limits(string=3), '["abc", "abcd"]', 12),
    ("string", Limits(string=3), '{"abc": 1, "abcd": 1}', 15),
    ("string", Limits(string=5), '"abcd\\n"', 6),
    ("string", Limits(string=9), '"\\ud83d\\ude00"', 10),
    ("number", Limits(number=3), "1234", 3),
    ("number", Limits(number=3), "[123, -12, -123]", 14),
    ("keys", Limits(keys=0), '{"a": 1}', 3),
    ("keys", Limits(keys=2), '{"a": {"b": 1, "c": 2}, "d": 3, "e": 4}', 34),
]


@pytest.mark.parametrize("limit, limits, text, offset", LIMITS)
def test_an_error_names_the_limit_and_where_it_was_passed(
    limit: str, limits: Limits, text: str, offset: int
) -> None:
    outcomes = [outcome(pieces, limits=limits) for pieces in any_cutting(text)]
    assert all(other == outcomes[0] for other in outcomes)
    error = refusal([text], limits=limits)
    assert isinstance(error, LimitExceeded)
    assert (error.limit, error.offset) == (limit, offset)
    assert str(error).startswith(f"more than {getattr(limits, limit)} ")
    assert f"({limit}) at character {offset}, in root" in str(error)


@pytest.mark.parametrize("limit, limits, text, offset", LIMITS)
def test_nothing_before_a_limit_is_lost(limit: str, limits: Limits, text: str, offset: int) -> None:
    before = Parser().feed(text[:offset])
    assert outcome([text], limits=limits).fragments == merge_strings(before)


@pytest.mark.parametrize(
    "limits, text",
    [
        (Limits(depth=3), '[[[1], {"a": 1}], {"b": {}}]'),
        (Limits(text=10), "[1, 2, 3]\n"),
        (Limits(text=6), '"aaaa"'),
        (Limits(text=4), "true"),
        (Limits(text=3), "123"),
        (Limits(string=4), '{"abcd": "abcd", "efgh": ["\\n\\n", "", "é\xa0日x"]}'),
        (Limits(string=6), '"\\ud800"'),
        (Limits(string=6), '{"\\udbff": "\\u00e9"}'),
        (
            Limits(string=12),
            '["\\ud83d\\ude00", "\\ud800\\ud800", "\\ud83d\\u0041", "\\ud83d\\n...."]',
        ),
        (Limits(string=7), '["\\ud83da", "a\\ud83d"]'),
        (Limits(string=8), '["\\ud83d\\n"]'),
        (Limits(number=5), "[12345, -1234, 1.5e3, 0.001, 1, -0, 123.4]"),
        (Limits(number=3), "123"),
        (Limits(keys=2), '[{"a": 1, "b": 2}, {"a": {"b": 1, "c": 1}, "d": 2}]'),
    ],
)
def test_a_text_at_its_limit_is_accepted(limits: Limits, text: str) -> None:
    for pieces in any_cutting(text):
        assert outcome(pieces, limits=limits).error is None


def test_the_default_limits_are_those_of_the_documentation() -> None:
    assert Limits() == Limits(depth=256, text=64 * 2**20, string=16 * 2**20, number=400)
    assert Limits().keys == 100_000
    parse("[" * 256 + "]" * 256)
    assert refusal(["[" * 257]).limit == "depth"  # type: ignore[union-attr]
    parse("1" * 400)
    assert refusal(["1" * 401]).limit == "number"  # type: ignore[union-attr]
    text = "{" + ",".join(f'"{n}":0' for n in range(100_001))
    assert refusal([text]).limit == "keys"  # type: ignore[union-attr]


def test_a_number_too_long_for_the_interpreter_is_over_a_limit_too() -> None:
    digits = sys.get_int_max_str_digits()
    text = f"[1, {'9' * (digits + 1)}]"
    limits = Limits(number=10**6)
    outcomes = [outcome(pieces, limits=limits) for pieces in (*cuttings(text), by(1000, text))]
    assert all(other == outcomes[0] for other in outcomes)
    assert outcomes[0].error is not None and outcomes[0].error[0] == "LimitExceeded"
    assert outcomes[0].error[2] == "number"
    assert [fragment.kind for fragment in outcomes[0].fragments] == ["StartArray", "CompleteNumber"]
    assert outcome([f"[{'9' * digits}]"], limits=limits).error is None


# ---- options ----


def test_a_key_twice_makes_two_keys() -> None:
    keys = [fragment.value for fragment in parse('{"a": 1, "a": 2}') if fragment.kind == "Key"]
    assert keys == ["a", "a"]


def test_parse_float_gets_the_source_text() -> None:
    fragments = parse("[1.10, 1E400, -0.0, 5]", parse_float=Decimal)
    values = [fragment.value for fragment in fragments if fragment.kind == "CompleteNumber"]
    assert values == [Decimal("1.10"), Decimal("1E400"), Decimal("-0.0"), 5]
    assert [type(value) for value in values] == [Decimal, Decimal, Decimal, int]
    assert parse("1.50", parse_float=str)[0].value == "1.50"


@pytest.mark.parametrize("long", ["", "x" * 100])
def test_a_number_that_parse_float_refuses_is_invalid(long: str) -> None:
    text = f'["{long}", 1.5,\n1e9999999999999999999, 2]'
    outcomes = [outcome(pieces, parse_float=Decimal) for pieces in cuttings(text)]
    assert all(other == outcomes[0] for other in outcomes)
    error = refusal([text], parse_float=Decimal)
    assert type(error) is InvalidJSON and "1e9999999999999999999" in str(error)
    assert (error.line, error.column, error.path) == (2, 22, (2,))
    for pieces in cuttings(text):
        document = Document(parse_float=Decimal)
        with pytest.raises(InvalidJSON):
            for piece in pieces:
                document.feed(piece)
        assert document.value == [long, Decimal("1.5")]


@pytest.mark.parametrize("huge", [sys.maxsize, 10**30])
@pytest.mark.parametrize("limit", ["depth", "text", "string", "number", "keys"])
def test_a_limit_may_be_beyond_all_bounds(limit: str, huge: int) -> None:
    text = '{"a": ["xyz", 123, 1.5]}'
    for pieces in any_cutting(text):
        assert outcome(pieces, limits=Limits(**{limit: huge})) == outcome([text])


@pytest.mark.parametrize("bad", [{"text": 0}, {"depth": -1}, {"number": -5}])
def test_limits_that_nothing_can_keep_are_a_value_error(bad: dict[str, int]) -> None:
    with pytest.raises(ValueError):
        Limits(**bad)


# ---- pending ----


@pytest.mark.parametrize(
    "text, pending",
    [
        (" ", None),
        ("1", ((), "1")),
        ("1.5e", ((), "1.5e")),
        ("12 ", None),
        ("t", ((), "t")),
        ("true", None),
        ("[1,", None),
        ("[1, nul", ((1,), "nul")),
        ('{"a": {"b.c": [0, {"d": -0.', (("a", "b.c", 1, "d"), "-0.")),
        ('{"a": tr', (("a",), "tr")),
        ('{"a', None),
        ('"a', None),
        ('["\\ud83d', None),
    ],
)
def test_pending_is_the_number_or_literal_being_read(text: str, pending: Any) -> None:
    for pieces in cuttings(text):
        parser = Parser()
        for piece in pieces:
            parser.feed(piece)
        assert (parser.pending and parser.pending[:2]) == pending


# ---- bytes ----

BYTES: list[tuple[bytes, int, str]] = [
    (b'"\xff"', 1, "0xff"),
    (b'"a\xc3"', 2, "0xc3"),
    (b'"\xed\xa0\x80"', 1, "0xed"),
    (b'"\xe2\x82x"', 1, "0xe2"),
    (b'["\xc3\xa9", \xff]', 6, "0xff"),
    (b'"\\ud83d\xff"', 7, "0xff"),
    (b"tru\xff", 3, "0xff"),
    (b"[12\xff", 3, "0xff"),
    (b"\xef\xbb\xbf\xff", 0, "0xff"),
    (b'{"a":1}\xff', 7, "0xff"),
]


@pytest.mark.parametrize("data, offset, byte", BYTES)
def test_bytes_that_are_not_utf_8_are_not_json(data: bytes, offset: int, byte: str) -> None:
    outcomes = [outcome(pieces) for pieces in cuttings(data)]
    assert all(other == outcomes[0] for other in outcomes)
    error = refusal([data])
    assert type(error) is InvalidJSON
    assert (error.offset, error.expected) == (offset, "UTF-8")
    assert f"but got byte {byte} at character {offset}" in str(error)


@pytest.mark.parametrize(
    "data", [b'"\xc3', b'"a\xe2\x82', b'{"\xf0\x9f\x98', b'"\\ud83d\xf0', b"\xef", b"\xef\xbb"]
)
def test_half_a_character_at_the_end_is_truncated(data: bytes) -> None:
    for pieces in cuttings(data):
        error = refusal(pieces)
        assert type(error) is Truncated
        with pytest.raises(UnicodeDecodeError) as caught:
            data.decode("utf-8-sig")
        assert error.offset == len(data[: caught.value.start].decode())


@pytest.mark.parametrize("data", [b"[\xc3", b"1\xc3", b"\xc3", b"{} \xe2\x82", b"tr\xc3"])
def test_half_a_character_where_none_may_stand_is_invalid(data: bytes) -> None:
    for pieces in cuttings(data):
        assert type(refusal(pieces)) is InvalidJSON


def test_no_half_of_a_character_is_ever_shown() -> None:
    parser = Parser()
    came = [
        [fragment.text for fragment in parser.feed(bytes([byte]))] for byte in '"é日😀'.encode()
    ]
    assert came == [[None], [], ["é"], [], [], ["日"], [], [], [], ["😀"]]


@pytest.mark.parametrize("text", ["{}", ' ["é"]', "12"])
def test_one_leading_bom_is_skipped_in_bytes_alone(text: str) -> None:
    with_bom = text.encode("utf-8-sig")
    for pieces in cuttings(with_bom):
        assert outcome(pieces) == outcome([text])
    for wrong in (b"\xef\xbb\xbf" + with_bom, b" " + with_bom, ("\ufeff" + text)):
        assert type(refusal([wrong])) is InvalidJSON


def test_anything_that_holds_bytes_or_text_will_do() -> None:
    class Text(str):
        pass

    data = b'{"a": 1}'
    pieces: list[Any] = [bytearray(data), memoryview(data), Text(data.decode())]
    for piece in pieces:
        assert parse(piece) == parse(data)
    assert all(type(fragment.text) in (str, type(None)) for fragment in parse(Text('"abc"')))


def test_text_and_bytes_may_be_mixed_between_characters() -> None:
    pieces: list[str | bytes] = ["[", b'"\xc3\xa9', "é", b"", "", b'"', "]"]
    assert outcome(pieces) == outcome(['["éé"]'])


def test_text_in_the_middle_of_a_utf_8_character_is_invalid() -> None:
    error = refusal([b'"\xc3', "a"])
    assert type(error) is InvalidJSON
    assert error.offset == 1


# ---- use and misuse ----


@pytest.mark.parametrize("data", [None, 1, ["[", "]"], object(), {"a": 1}, array.array("B", b"1")])
def test_another_type_is_a_type_error_and_changes_nothing(data: Any) -> None:
    parser = Parser()
    parser.feed("[1")
    with pytest.raises(TypeError, match=r"str or bytes.*" + type(data).__name__):
        parser.feed(data)
    assert [fragment.kind for fragment in parser.feed("]")] == [
        "CompleteNumber",
        "EndArray",
        "JsonComplete",
    ]


def test_nothing_can_be_fed_after_the_end() -> None:
    parser = Parser()
    parser.feed("[]")
    parser.flush()
    for data in (" ", "", b"", "x"):
        with pytest.raises(StreamClosed):
            parser.feed(data)
    assert parser.flush() == []


@pytest.mark.parametrize("text", ["[x", "{}{", '"\x00', "[[", "tru!"])
def test_nothing_can_be_fed_after_an_error(text: str) -> None:
    parser = Parser(limits=Limits(depth=1))
    with pytest.raises((InvalidJSON, LimitExceeded)):
        parser.feed(text)
    with pytest.raises(StreamClosed):
        parser.feed("]")
    assert parser.flush() == []
    assert parser.flush() == []


def test_white_space_may_follow_the_end_of_the_value() -> None:
    parser = Parser()
    assert parser.feed("[]")[-1].kind == "JsonComplete"
    assert parser.feed(" \n\t\r") == []
    assert parser.flush() == []


def test_a_number_at_the_root_ends_with_the_text() -> None:
    parser = Parser()
    assert parser.feed("1") + parser.feed("2") == []
    assert parser.flush() == [Fragment("CompleteNumber", (), "12", 12), Fragment("JsonComplete")]
    assert parser.flush() == []


def test_an_empty_piece_changes_nothing() -> None:
    text = '{"a\\n": ["\\u00e9", 12, true]}'
    pieces = [piece for char in by_character(text) for piece in ("", char, b"")]
    assert outcome(pieces) == outcome([text])


# ---- held back until whole ----


@pytest.mark.parametrize(
    "text, shown",
    [
        (r'"\n', ["", "", "\n"]),
        (r'"\u00e9', [""] * 6 + ["é"]),
        (r'"\ud83d\ude00', [""] * 12 + ["\U0001f600"]),
        (r'"\ud83d"', [""] * 7 + ["\ud83d"]),
        (r'"\ud83dx', [""] * 7 + ["\ud83dx"]),
        (r'"\ud83d\n', [""] * 8 + ["\ud83d\n"]),
        (r'"\ud83d\u0041', [""] * 9 + ["\ud83d", "", "", "A"]),
        (r'"\ud83d\ud83d\ude00', [""] * 10 + ["\ud83d"] + [""] * 7 + ["\U0001f600"]),
        (r'"\ude00', [""] * 6 + ["\ude00"]),
        (r'"\ude00\ud83d"', [""] * 6 + ["\ude00"] + [""] * 6 + ["\ud83d"]),
        (r'"a\\u', ["", "a", "", "\\", "u"]),
    ],
)
def test_half_an_escape_is_never_shown(text: str, shown: list[str]) -> None:
    parser = Parser()
    came = ["".join(fragment.text or "" for fragment in parser.feed(char)) for char in text]
    assert came == shown
