"""Texts that are JSON or almost: a hand-picked few, and whole families written out exhaustively.

A family is a part of the grammar with everything that may go wrong in it. Nothing here says which
of its texts are JSON: `json.loads` does.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from hypothesis import strategies as st

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


def structures() -> Iterator[str]:
    """Yield all sequences of up to four tokens, and up to three inside an object and an array."""
    tokens = ["[", "]", "{", "}", ",", ":", '"a"', "1"]
    for length in range(5):
        yield from map("".join, product(tokens, repeat=length))
    for length in range(4):
        for inner in map(" ".join, product(tokens, repeat=length)):
            yield from (f'{{"k":1,{inner}}}', f"[{inner},1]")


def numbers() -> Iterator[str]:
    """Yield numbers with each part right and wrong: sign, integer, fraction and exponent."""
    signs = ["", "-", "+", "--"]
    integers = ["0", "7", "10", "00", "07", ""]
    fractions = ["", ".5", ".50", ".", ".-1"]
    powers = ["", "e1", "E+01", "e-0", "e", "E+", "e1.5"]
    for number in map("".join, product(signs, integers, fractions, powers)):
        yield from (number, f"[{number},1]")


def strings() -> Iterator[str]:
    """Yield each character raw and after a backslash, and escapes with each digit replaced."""
    for char in map(chr, range(256)):
        yield from (f'"a{char}b"', f'"\\{char}"', f'{{"{char}":"\\{char}0041"}}')
    for at, char in product(range(4), '09afAFgG/:@`"\\ \n\u0660'):
        escape = "0041"[:at] + char + "0041"[at + 1 :]
        yield from (f'"\\u{escape}"', f'"\\ud83d\\u{escape}"', f'["\\u{escape[: at + 1]}"]')


def literals() -> Iterator[str]:
    """Yield the three words cut off, with an extra character, and with each character replaced."""
    for word, char in product(("true", "false", "null"), 'aTuEl0" ,'):
        for at in range(len(word) + 1):
            yield from (word[:at] + char + word[at:], f"[{word[:at]}{char}{word[at + 1 :]}]")
            yield word[:at]


def blanks() -> Iterator[str]:
    """Yield each Latin-1 character and other blanks before, after and between tokens."""
    for char in [*map(chr, range(256)), *"\u1680\u180e\u2003\u2028\u202f\u2060\u3000\ufeff"]:
        yield from (f"{char}[]", f"{{}}{char}", f"[1{char}]", f'{{"a"{char}:1}}', f"1{char}")


FAMILIES = {family.__name__: family for family in (structures, numbers, strings, literals, blanks)}


def broken_utf8() -> Iterator[bytes]:
    """Yield strings with UTF-8 of each length: right, cut off, too long, surrogates, too high."""
    firsts = [0x7F, 0x80, 0xC1, 0xC2, 0xDF, 0xE0, 0xE1, 0xED, 0xF0, 0xF1, 0xF4, 0xF5]
    others = [0x7F, 0x80, 0x8F, 0x90, 0xA0, 0xBF]
    for length in range(4):
        for first, *rest in product(firsts, *[others] * length):
            yield b'"' + bytes([first, *rest]) + b'"'


JUNK = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-3, 3), st.text(max_size=6)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=2),
        st.dictionaries(st.sampled_from(["id", "index", "x"]), inner, max_size=2),
    ),
    max_leaves=4,
)


ANYTHING = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-2, 13),
        st.text(max_size=4),
        st.sampled_from(["StartObject", "Key", "root", "root.a", "{", "}", '{"a":1}', "complete"]),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.sampled_from(
                "tool_call_id index function_name function_args json_update_fragments status"
                " error encoding args kind path textValue value".split()
            ),
            inner,
            max_size=4,
        ),
    ),
    max_leaves=10,
)
