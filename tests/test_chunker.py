"""The rules of the chunker, case by case: snapshots in, the exact chunks out, `flush()` last."""

from __future__ import annotations

import copy
import enum
import gc
import json
from collections import UserDict, namedtuple
from typing import Any

import pytest

from chunker_streams import load, same
from jsonrill import InvalidJSON, LimitExceeded, RevisionError, StreamClosed
from jsonrill.chunker import Chunker
from support import need_shared, seconds

# name: snapshots, chunks[, options]
CASES: dict[str, tuple[Any, ...]] = {
    # What is compared, and with what (rule 1).
    "keys are keys, whatever is in them": (
        [
            '{"a.b":"x"}',
            '{"a":{"b":"y"},"a.b":"x"}',
            '{"a.b":"x","":"e","a":{"b":"yz"}}',
            '{"a.b":"x","":"e!","a":{"b":"yz"},"a[0]":true}',
        ],
        ['{"a.b":"x', '","a":{"b":"y', 'z"},"":"e', '!","a[0]":true', "}"],
    ),
    "a root string": (['"He"', '"Hello"'], ['"He', "llo", '"']),
    "a root number": (["1", "12", "12.5"], ["1", "2", ".5", ""]),
    "a root number that may be rewritten": (["0", "0.5"], ["", "0.5", ""]),
    "a root literal": (["true", "true"], ["true", "", ""]),
    "a root array": (["[]", '["a"]', '["a",["b"]]'], ["[", '"a', '",["b', '"]]']),
    "an empty root": (["{}"], ["{", "}"]),
    # One value is open, and stays so while nothing must be written (rules 2 and 3).
    "a repeat with other key order": (
        ['{"a":true,"b":"x"}', '{"b":"x","a":true}', '{"b":"xy","a":true}'],
        ['{"a":true,"b":"x', "", "y", '"}'],
    ),
    "a container stays open": (
        ['{"a":{}}', '{"a":{}}', '{"a":{"b":"x"}}'],
        ['{"a":{', "", '"b":"x', '"}}'],
    ),
    "a member of an ancestor closes": (
        ['{"a":{"b":["x"]}}', '{"a":{"b":["xy"]},"c":"z"}'],
        ['{"a":{"b":["x', 'y"]},"c":"z', '"}'],
    ),
    "a held value that grows closes the one that stands still": (
        ['{"a":"","b":""}', '{"a":"x","b":""}', '{"a":"x","b":"y"}'],
        ["{", '"a":"x', '","b":"y', '"}'],
    ),
    "what comes back did not stand still": (
        ['{"a":"","b":""}', '{"a":"x","b":""}', "{}", '{"a":"x","b":"y"}', '{"a":"x","b":"yy"}'],
        ["{", '"a":"x', "", "", '","b":"yy', '"}'],
    ),
    "two that grow at once": (
        ['{"a":"","b":""}', '{"a":"x","b":"y"}', '{"a":"xx","b":"yy"}', '{"a":"xx","b":"yyy"}'],
        ["{", '"a":"x', "x", '","b":"yyy', '"}'],
    ),
    # New members of an object (rule 4).
    "literals first, at once": (
        ['{"s":"He"}', '{"s":"Hello","ok":true}', '{"z":null,"t":"x","ok":true,"s":"Hello"}'],
        ['{"s":"He', 'llo","ok":true', ',"z":null,"t":"x', '"}'],
    ),
    "a number, then what came with it": (
        ['{"s":"He","n":3}', '{"s":"He","n":34}', '{"s":"He","n":34,"t":"x"}'],
        ['{"n":3', "4", ',"s":"He","t":"x', '"}'],
    ),
    "a number with two growables": (
        ['{"s":"He","n":3,"t":[]}', '{"s":"He","n":3,"t":["x"]}'],
        ['{"n":3', ',"s":"He","t":["x', '"]}'],
    ),
    "a number that vanishes for a moment": (
        ['{"n":3}', '{"n":30}', "{}", '{"n":30.34}'],
        ['{"n":3', "0", "", ".34", "}"],
    ),
    "3.0 before 30.34": (
        ['{"n":3.0}', '{"n":30.0}', '{"n":30.3}', '{"n":30.34}'],
        ["{", "", '"n":30.3', "4", "}"],
    ),
    "0 before 0.5": (['{"n":0}', "{}", '{"n":0.5}'], ["{", "", '"n":0.5', "}"]),
    "-0 before -0.5": (['{"n":-0}', '{"n":-0.5}'], ["{", '"n":-0.5', "}"]),
    "exponents change": (
        ['{"n":1e5}', '{"n":1E-5}', '{"n":1E-5,"s":"x"}'],
        ["{", "", '"n":1E-5,"s":"x', '"}'],
    ),
    "a whole number that gets a fraction .0 waits with it": (
        ['{"n":3}', '{"n":3.0}', '{"n":3.05}', '{"n":3.05,"t":"x"}'],
        ['{"n":3', "", ".05", ',"t":"x', '"}'],
    ),
    "a number that waits holds what came with it": (
        ['{"n":1.0,"s":"x"}', '{"n":1.0,"s":"xy"}'],
        ["{", '"n":1.0,"s":"xy', '"}'],
    ),
    # What the next snapshot tells about held values (rule 5).
    "changed, and something new follows": (
        ['{"a":"x","b":""}', '{"c":"new","b":"full","a":"x"}'],
        ["{", '"a":"x","b":"full","c":"new', '"}'],
    ),
    "changed, and several new ones follow": (
        [
            '{"a":"x","b":""}',
            '{"a":"x","b":"y","c":"1","d":"2"}',
            '{"a":"x","b":"y","c":"1","d":"23"}',
        ],
        ["{", '"a":"x","b":"y', '","c":"1","d":"23', '"}'],
    ),
    "several changed: the first in key order": (
        ['{"a":"","b":"","c":""}', '{"c":"z","b":"","a":"x"}', '{"a":"xx","b":"","c":"zz"}'],
        ["{", '"c":"z', "z", '","a":"xx","b":""}'],
    ),
    "several changed and one new": (
        ['{"a":"","b":""}', '{"a":"x","b":"y","c":"z"}', '{"a":"x","b":"y","c":"zz"}'],
        ["{", '"a":"x', '","b":"y","c":"zz', '"}'],
    ),
    "empty is not complete": (
        [
            '{"a":"","b":[],"c":{"d":""},"n":0,"m":0.0}',
            '{"a":"","b":[],"c":{"d":""},"n":0,"m":0.0,"e":"x"}',
        ],
        ["{", '"e":"x', '","a":"","b":[],"c":{"d":""},"n":0,"m":0.0}'],
    ),
    "what changed inside a held value is what grows": (
        ['{"a":"x","b":{"p":"1","q":["2"]}}', '{"a":"x","b":{"p":"1","q":["23"]}}'],
        ["{", '"a":"x","b":{"p":"1","q":["23', '"]}}'],
    ),
    "what changed inside a held array is what grows": (
        ['{"a":"x","b":[1,{"p":"1","q":"2"}]}', '{"a":"x","b":[1,{"p":"1","q":"23"}]}'],
        ["{", '"a":"x","b":[1,{"p":"1","q":"23', '"}]}'],
    ),
    "a nested skeleton": (
        [
            '{"o":{"p":"","q":""},"r":""}',
            '{"o":{"p":"x","q":""},"r":""}',
            '{"o":{"p":"x","q":"y"},"r":""}',
            '{"o":{"p":"x","q":"y"},"r":"z"}',
        ],
        ["{", '"o":{"p":"x', '","q":"y', '"},"r":"z', '"}'],
    ),
    "a held value that is a literal now": (
        ['{"a":"","b":""}', '{"a":true,"b":""}'],
        ["{", '"a":true', ',"b":""}'],
    ),
    # eager (rule 6).
    "eager: a growable with text first": (
        ['{"n":12,"a":"","b":"yes","c":"no"}', '{"a":"A","b":"yes","n":12,"c":"no"}'],
        ['{"b":"yes', '","n":12,"c":"no","a":"A', '"}'],
        {"eager": True},
    ),
    "eager: then a number": (
        ['{"a":"","n":12}', '{"a":"x","n":12}'],
        ['{"n":12', ',"a":"x', '"}'],
        {"eager": True},
    ),
    "eager: empty ones only alone": (
        ['{"a":"","b":[]}', '{"a":"","b":["x"]}'],
        ["{", '"b":["x', '"],"a":""}'],
        {"eager": True},
    ),
    "eager: an empty one alone": (['{"a":""}'], ['{"a":"', '"}'], {"eager": True}),
    "eager: a number that may be rewritten is not opened": (
        ['{"n":1.0,"m":2.0}', '{"n":1.0,"m":2.5}'],
        ["{", '"n":1.0,"m":2.5', "}"],
        {"eager": True},
    ),
    # Arrays (rule 7).
    "several elements at once": (
        ['{"a":[]}', '{"a":["x",{"y":"z"},[1,2],"w"]}'],
        ['{"a":[', '"x",{"y":"z"},[1,2],"w', '"]}'],
    ),
    "a last number that may be rewritten waits": (
        ["[1.0]", "[1.0,2]", "[1.0,25,3.0]"],
        ["[", "1.0,2", "5", ",3.0]"],
    ),
    "an array's last number vanishes for a moment": (
        ["[1,3]", "[1]", "[1,3.5]"],
        ["[1,3", "", ".5", "]"],
    ),
    "an array that shrinks and comes back, twice": (
        ['["a"]', '["a",1.0]', "[]", '["a"]', "[]", '["ab"]'],
        ['["a', "", "", "", "", "b", '"]'],
    ),
    "an element that comes back is new": (
        [
            '{"a":"z","b":[[],{"p":"x","q":"y"}]}',
            '{"a":"z","b":[[]]}',
            '{"a":"z","b":[[],{"p":"x","q":"y"}]}',
        ],
        ["{", '"a":"z","b":[[', "],{", '"p":"x","q":"y"}]}'],
    ),
    "elements are opened too": (
        ["[[]]", '[[{"a":[]}]]', '[[{"a":["x"]}],"y"]'],
        ["[[", '{"a":[', '"x"]}],"y', '"]'],
    ),
    # A held value is never lost (rule 8).
    "held until the parent closes": (
        ['[{"a":"x","b":"y"}]', '[{"a":"x","b":"y"},"z"]'],
        ["[{", '"a":"x","b":"y"},"z', '"]'],
    ),
    "held until the end": (['{"a":"x","b":"y"}'], ["{", '"a":"x","b":"y"}']),
    "no longer there, never written": (['{"a":"x","b":"y"}', '{"a":"xx"}'], ["{", '"a":"xx', '"}']),
    # Nulls (rule 10).
    "a null root is held": (["null", "null", '{"a":"x"}'], ["", "", '{"a":"x', '"}']),
    "a null root to the end": (["null"], ["", "null"]),
    "null is a value": (['{"a":null}', '{"a":null,"b":"x"}'], ['{"a":null', ',"b":"x', '"}']),
    "placeholder: null is not yet": (
        [
            '{"a":null,"b":null}',
            '{"a":3.0,"b":null}',
            '{"a":30.0,"b":null}',
            '{"a":null,"b":null}',
            '{"a":30.3,"b":null}',
            '{"a":30.3,"b":""}',
            '{"a":30.3,"b":"x"}',
        ],
        ["{", "", "", "", '"a":30.3', ',"b":"', "x", '"}'],
        {"null": "placeholder"},
    ),
    "placeholder: written when the parent closes": (
        ['{"a":{"p":"x","q":null},"b":null}', '{"a":{"p":"x","q":null},"b":"y"}'],
        ['{"a":{"p":"x', '","q":null},"b":"y', '"}'],
        {"null": "placeholder"},
    ),
    "placeholder: an object of nulls is not yet": (
        [
            '{"a":null,"o":{"p":null,"q":{"r":null}}}',
            '{"a":"x","o":{"p":null,"q":{"r":null}}}',
            '{"a":"x","o":{"p":"y","q":{"r":null}}}',
        ],
        ["{", '"a":"x', '","o":{"p":"y', '","q":{"r":null}}}'],
        {"null": "placeholder"},
    ),
    "placeholder: an empty array among nulls is not begun": (
        [
            '{"a":null,"b":[],"c":null}',
            '{"a":"x","b":[],"c":null}',
            '{"a":"x","b":[],"c":{"d":[],"e":null}}',
            '{"a":"x","b":["y"],"c":{"d":[],"e":null}}',
        ],
        ["{", '"a":"x', '","c":{', '"d":[],"e":null},"b":["y', '"]}'],
        {"null": "placeholder"},
    ),
    "placeholder: nulls at the end of an array": (
        ["[null,null]", '["a",null]', '["a",null,"b"]', '["a",null,"b",null]'],
        ["[", '"a', '",null,"b', "", '",null]'],
        {"null": "placeholder"},
    ),
    "placeholder: the root may be null for a while": (
        ['{"a":"x"}', "null", '{"a":"xy"}'],
        ['{"a":"x', "", "y", '"}'],
        {"null": "placeholder"},
    ),
    "placeholder: an open value may be null for a while": (
        ['{"a":"x"}', '{"a":null}', '{"a":"xy"}'],
        ['{"a":"x', "", "y", '"}'],
        {"null": "placeholder"},
    ),
    # patience (rules 3 and 5).
    "patience: side by side, one step each": (
        [
            '{"a":"","b":""}',
            '{"a":"x","b":""}',
            '{"a":"x","b":"y"}',
            '{"a":"xx","b":"y"}',
            '{"a":"xx","b":"yy"}',
            '{"a":"xx","b":"yyy"}',
        ],
        ["{", '"a":"x', "", "x", "", '","b":"yyy', '"}'],
        {"patience": 2},
    ),
    "patience: both there from the start": (
        ['{"a":"x","b":"y"}', '{"a":"xx","b":"y"}', '{"a":"xx","b":"yy"}', '{"a":"xxx","b":"yy"}'],
        ["{", '"a":"xx', "", "x", '","b":"yy"}'],
        {"patience": 2},
    ),
    "patience: a repeat does not count": (
        [
            '{"a":"x","b":""}',
            '{"a":"xx","b":""}',
            '{"a":"xx","b":"y"}',
            '{"a":"xx","b":"y"}',
            '{"a":"xx","b":"yy"}',
        ],
        ["{", '"a":"xx', "", "", '","b":"yy', '"}'],
        {"patience": 2},
    ),
    "patience: growth starts the count again": (
        [
            '{"a":"","b":""}',
            '{"a":"x","b":""}',
            '{"a":"x","b":"y"}',
            '{"a":"xx","b":"yy"}',
            '{"a":"xx","b":"yyy"}',
        ],
        ["{", '"a":"x', "", "x", "", '","b":"yyy"}'],
        {"patience": 2},
    ),
    "patience: a change of what is held starts its count again": (
        [
            '{"a":"x","b":"y"}',
            '{"a":"x","b":"yy"}',
            '{"a":"xx","b":"yyy"}',
            '{"a":"xx","b":"yyy","c":"z"}',
        ],
        ["{", '"b":"yy', "y", '","c":"z', '","a":"xx"}'],
        {"patience": 2},
    ),
    "patience: what stood still long enough is complete": (
        [
            '{"a":"x","b":"y"}',
            '{"a":"x","b":"yy"}',
            '{"a":"x","b":"yyy"}',
            '{"a":"x","b":"yyy","c":"z"}',
        ],
        ["{", '"b":"yy', "y", '","a":"x","c":"z', '"}'],
        {"patience": 2},
    ),
    # Text (rule 11).
    "numbers keep their text": (
        ["[1.0,1E5,-0,12345678901234567890,0.10,1]"],
        ["[1.0,1E5,-0,12345678901234567890,0.10,1", "]"],
    ),
    "escapes": (
        ['{"a\\"b":"q\\" \\\\ \\/ \\u0001\\b\\f\\n\\r\\t \\u00e9\\u2028"}'],
        ['{"a\\"b":"q\\" \\\\ / \\u0001\\b\\f\\n\\r\\t é\u2028', '"}'],
    ),
    "half a character at the end waits": (
        ['"a\ufffd"', '"aé"', '"aé\ufffd\ufffd"', '"aé\ufffd\ufffdb"', '"aé\ufffd\ufffdb\ufffd"'],
        ['"a', "é", "", "\ufffd\ufffdb", "", '\ufffd"'],
    ),
    "half a surrogate pair waits": (
        ['"a\\ud83d"', '"a\\ud83d\\ude00"', '"a\\ud83d\\ude00\\ude00"'],
        ['"a', "😀", "", '\\ude00"'],
    ),
    "a lone surrogate is escaped": (['"\\ud83d!"'], ['"\\ud83d!', '"']),
    "white space around it": ([' {"a" : "x"}\n', '\t{"a":\n"xy"} '], ['{"a":"x', "y", '"}']),
    "duplicate keys: the last one": (['{"a":"x","a":"y"}'], ['{"a":"y', '"}']),
}


def run(snapshots: list[Any], **options: Any) -> list[str]:
    chunker = Chunker(verify=True, **options)
    return [*map(chunker.feed, snapshots), chunker.flush()]


@pytest.mark.parametrize("name", CASES)
def test_case(name: str) -> None:
    snapshots, chunks, *options = CASES[name]
    assert run(snapshots, **(options[0] if options else {})) == chunks
    assert same(load("".join(chunks)), load(snapshots[-1]))


@pytest.mark.parametrize("name", CASES)
def test_case_as_bytes_and_with_another_loads(name: str) -> None:
    snapshots, chunks, *options = CASES[name]
    chosen = options[0] if options else {}
    assert run([text.encode() for text in snapshots], **chosen) == chunks
    plain = run([json.dumps(json.loads(text)) for text in snapshots], **chosen)
    assert run(snapshots, loads=json.loads, **chosen) == plain
    assert run([Dumps(json.loads(text)) for text in snapshots], **chosen) == plain


def test_walkthrough() -> None:
    cases = json.loads(need_shared("data/chunker/walkthrough.json").read_text("utf8"))["cases"]
    assert len(cases) >= 15
    for case in cases:
        assert run(case["snapshots"]) == case["chunks"], case["name"]


# ---- revisions (rule 9) ----

REVISIONS: dict[str, tuple[list[str], Any, Any, Any]] = {
    # snapshots, of which the last one contradicts; path, written, now
    "rewritten": (['{"a":"Hello"}', '{"a":"Goodbye"}'], ("a",), "Hello", "Goodbye"),
    "shortened": (['{"a":"Hello"}', '{"a":"He"}'], ("a",), "Hello", "He"),
    "resumed": (['{"a":"x"}', '{"a":"x","b":"y"}', '{"a":"xx","b":"y"}'], ("a",), "x", "xx"),
    "null became a value": (['{"a":null}', '{"a":"x"}'], ("a",), None, "x"),
    "a value became null": (['{"a":"x"}', '{"a":null}'], ("a",), "x", None),
    "1 is not true": (["[1,2]", "[true,2]"], (0,), 1, True),
    "true is not 1": (["[true]", "[1]"], (0,), True, 1),
    "0 is not false": (["[0,2]", "[false,2]"], (0,), 0, False),
    "false is not 0": (['{"a":false}', '{"a":0}'], ("a",), False, 0),
    "1 is not 1.0": (["[1,2]", "[1.0,2]"], (0,), 1, 1.0),
    "1.0 is not 1": (["[1.0,2]", "[1,2]"], (0,), 1.0, 1),
    '1 is not "1"': (["[1,2]", '["1",2]'], (0,), 1, "1"),
    "1e5 is not 100000.0": (["[1e5,2]", "[100000.0,2]"], (0,), 1e5, 1e5),
    "a string became an object": (['{"a":"x"}', '{"a":{}}'], ("a",), "x", {}),
    "an object became an array": (['{"a":{"b":"x"}}', '{"a":["x"]}'], ("a",), {"b": "x"}, ["x"]),
    "the root changed its type": (['{"a":"x"}', "[]"], (), {"a": "x"}, []),
    "a root literal changed": (["true", "false"], (), True, False),
    "an open number shrank": (['{"a":12}', '{"a":1}'], ("a",), 12, 1),
    "a closed number grew": (
        ['{"a":1,"b":"x"}', '{"a":1,"b":"xy"}', '{"a":12,"b":"xy"}'],
        ("a",),
        1,
        12,
    ),
    "a closed array grew": (
        ['{"a":[1]}', '{"a":[1],"b":"x"}', '{"a":[1,2],"b":"x"}'],
        ("a",),
        [1],
        [1, 2],
    ),
    "a closed object grew": (
        ['[{"a":1}]', '[{"a":1},{}]', '[{"a":1,"b":2},{}]'],
        (0,),
        {"a": 1},
        {"a": 1, "b": 2},
    ),
    "deep in what is closed": (
        [
            '{"a":{"b":[1,{"c":"x"}]}}',
            '{"a":{"b":[1,{"c":"x"}]},"d":"y"}',
            '{"a":{"b":[1,{"c":"z"}]},"d":"y"}',
        ],
        ("a", "b", 1, "c"),
        "x",
        "z",
    ),
    "a half character turned out whole, and other": (
        ['"ab\ufffd"', '"ab\ufffdc"', '"abéc"'],
        (),
        "ab\ufffdc",
        "abéc",
    ),
}


@pytest.mark.parametrize("name", REVISIONS)
def test_a_revision_is_refused_and_leaves_no_trace(name: str) -> None:
    (*before, last), path, written, now = REVISIONS[name]
    chunker = Chunker()
    text = "".join(map(chunker.feed, before))
    with pytest.raises(RevisionError) as raised:
        chunker.feed(last)
    error = raised.value
    assert (error.path, error.written, error.now) == (path, written, now)
    assert (type(error.written), type(error.now)) == (type(written), type(now))
    assert same(load(text + chunker.flush()), load(before[-1]))
    assert chunker.revisions == []


@pytest.mark.parametrize("name", REVISIONS)
def test_a_revision_is_kept_out_and_noted_once(name: str) -> None:
    (*before, last), path, written, now = REVISIONS[name]
    chunker = Chunker(on_revision="keep", verify=True)
    text = "".join(map(chunker.feed, before))
    assert chunker.feed(last) == chunker.feed(last) == ""
    assert [(it.path, it.written, it.now) for it in chunker.revisions] == [(path, written, now)]
    assert same(load(text + chunker.flush()), load(before[-1]))


def test_what_is_kept_stays_and_all_else_goes_on() -> None:
    chunker = Chunker(on_revision="keep", verify=True)
    snapshots = [
        '{"a":"Hello"}',
        '{"a":"Bye"}',
        '{"a":"Hello!","b":{"c":"x"}}',
        '{"a":"Bye","b":{"c":"xy","d":[1]},"e":true}',
        '{"a":"Bye","b":{"c":"other","d":[1]},"e":true,"f":"z"}',
    ]
    text = "".join([*map(chunker.feed, snapshots), chunker.flush()])
    assert json.loads(text) == {"a": "Hello", "b": {"c": "xy", "d": [1]}, "e": True, "f": "z"}
    assert [it.path for it in chunker.revisions] == [("a",), ("b", "c")]


@pytest.mark.parametrize("before, after", [('"Hello"', '"Hello!"'), ("1", "12"), ("[]", "[1]")])
def test_what_is_kept_does_not_grow_again(before: str, after: str) -> None:
    chunker = Chunker(on_revision="keep", verify=True)
    texts = [f'{{"a":{value}}}' for value in (before, '"other"', after)]
    assert "".join(map(chunker.feed, texts)) + chunker.flush() == texts[0]
    assert [it.path for it in chunker.revisions] == [("a",)]


def test_what_is_below_a_noted_path_is_not_noted() -> None:
    chunker = Chunker(on_revision="keep", verify=True)
    texts = ['[{"a":1},2]', '[{"a":7,"b":3},2]', '[{"a":8,"b":3,"c":4},2,5]']
    assert json.loads("".join(map(chunker.feed, texts)) + chunker.flush()) == [{"a": 1}, 2, 5]
    assert [it.path for it in chunker.revisions] == [(0,)]


def test_a_kept_container_ignores_everything_below_it() -> None:
    chunker = Chunker(on_revision="keep", verify=True)
    chunks = map(
        chunker.feed, ['{"a":{"b":"x"}}', '{"a":1}', '{"a":{"b":"xyz","c":[]}}', '{"a":2,"d":"e"}']
    )
    assert json.loads("".join(chunks) + chunker.flush()) == {"a": {"b": "x"}, "d": "e"}
    assert [it.path for it in chunker.revisions] == [("a",)]


@pytest.mark.parametrize(
    "snapshots, path",
    [
        (['{"a":"x"}', "{}"], ("a",)),
        (['{"a":"x","b":true}', '{"a":"x"}'], ("b",)),
        (['{"a":[1,2,3]}', '{"a":[1,2]}'], ("a", 2)),
        (['{"a":[1,2,3]}', '{"a":[1]}'], ("a", 1)),
        (
            [
                '{"a":{"b":"x","c":true}}',
                '{"a":{"b":"x","c":true},"d":"y"}',
                '{"a":{"b":"x"},"d":"y"}',
            ],
            ("a", "c"),
        ),
    ],
)
def test_what_is_missing_at_the_end_is_a_revision_once(snapshots: list[str], path: Any) -> None:
    chunker = Chunker()
    text = "".join(map(chunker.feed, snapshots))
    with pytest.raises(RevisionError) as raised:
        chunker.flush()
    assert raised.value.path == path
    assert raised.value.now is None
    assert same(load(text + chunker.flush()), load(snapshots[-2]))
    assert chunker.flush() == ""
    kept = Chunker(on_revision="keep", verify=True)
    assert "".join(map(kept.feed, snapshots)) + kept.flush()
    assert kept.revisions[0].path == path


def test_what_was_missing_may_come_back_after_the_end_was_refused() -> None:
    chunker = Chunker(verify=True)
    text = "".join(map(chunker.feed, ['{"n":3,"ok":true}', '{"ok":true}']))
    with pytest.raises(RevisionError):
        chunker.flush()
    assert json.loads(text + chunker.feed('{"n":3.5,"ok":true}') + chunker.flush()) == {
        "n": 3.5,
        "ok": True,
    }


def test_what_is_still_missing_is_refused_again() -> None:
    chunker = Chunker()
    for snapshot in ('{"a":"x","ok":true}', '{"ok":true}'):
        chunker.feed(snapshot)
    for more in ('{"ok":true,"b":"y"}', '{"ok":true,"b":"yz"}'):
        with pytest.raises(RevisionError):
            chunker.flush()
        chunker.feed(more)
    with pytest.raises(RevisionError):
        chunker.flush()


def test_a_placeholder_that_comes_too_late_is_a_revision_at_the_end() -> None:
    chunker = Chunker(null="placeholder")
    snapshots = ['{"a":{"b":"x"}}', '{"a":{"b":"x"},"c":"y"}', '{"a":{"b":"x","d":null},"c":"y"}']
    text = "".join(map(chunker.feed, snapshots))
    with pytest.raises(RevisionError) as raised:
        chunker.flush()
    assert raised.value.path == ("a",)
    assert text + chunker.flush() == '{"a":{"b":"x"},"c":"y"}'


def test_missing_for_a_while_in_what_is_closed() -> None:
    snapshots = [
        '{"a":{"b":[1,2]},"c":""}',
        '{"a":{"b":[1,2]},"c":"x"}',
        '{"a":{"b":[1]},"c":"xy"}',
        '{"c":"xyz"}',
    ]
    assert (
        "".join(run([*snapshots, '{"a":{"b":[1,2]},"c":"xyz!"}'])) == '{"a":{"b":[1,2]},"c":"xyz!"}'
    )


def test_what_closes_while_something_in_it_is_missing_keeps_it() -> None:
    chunks = run(
        [
            '{"a":{"b":true,"c":"x"}}',
            '{"a":{"c":"xy"},"d":"z"}',
            '{"a":{"b":true,"c":"xy"},"d":"z"}',
        ]
    )
    assert chunks == ['{"a":{"b":true,"c":"x', 'y"},"d":"z', "", '"}']


@pytest.mark.parametrize(
    "snapshots, options, hints",
    [
        (['{"a":null}', '{"a":1}'], {}, ['null="placeholder"', 'on_revision="keep"', "root.a"]),
        (['{"a":"x"}', '{"a":null}'], {}, ['null="placeholder"', "'x'", "None"]),
        (['{"a b":"x"}', '{"a b":"y"}'], {}, ["patience=2", 'root["a b"]']),
        (['{"a":"x"}', '{"a":"y"}'], {"patience": 3}, ["patience=4"]),
    ],
)
def test_the_error_tells_what_to_try(snapshots: list[str], options: Any, hints: list[str]) -> None:
    chunker = Chunker(**options)
    chunker.feed(snapshots[0])
    with pytest.raises(RevisionError) as raised:
        chunker.feed(snapshots[1])
    for hint in hints:
        assert hint in str(raised.value)


def test_an_error_stays_short_whatever_was_written() -> None:
    chunker = Chunker()
    chunker.feed(json.dumps([["x" * 10_000] * 100, 1]))
    with pytest.raises(RevisionError) as raised:
        chunker.feed(json.dumps([["y" * 10_000] * 100, 1]))
    assert len(str(raised.value)) < 500


# ---- snapshots of every kind (rule 11) ----


class Color(enum.StrEnum):
    RED = "red"


class Level(enum.IntEnum):
    HIGH = 3


class Celsius(float):
    pass


class Dumps:
    """As a pydantic model looks from outside."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def model_dump(self, *, mode: str) -> Any:
        assert mode == "json"
        return self.value


Point = namedtuple("Point", "x y")


@pytest.mark.parametrize(
    "snapshot, text",
    [
        ({"a": [1, 1.5, True, None, "x"]}, '{"a":[1,1.5,true,null,"x"]}'),
        ((1, (2, 3)), "[1,[2,3]]"),
        ([Celsius(21.5)], "[21.5]"),
        ({"p": Point(1, 2)}, '{"p":[1,2]}'),
        (UserDict({"a": UserDict({"b": 1})}), '{"a":{"b":1}}'),
        ({"c": Color.RED, "l": Level.HIGH, Color.RED: 1}, '{"c":"red","l":3,"red":1}'),
        (
            {"m": 1e16, "n": -0.0, "o": 10**30},
            '{"m":1e+16,"n":-0.0,"o":1000000000000000000000000000000}',
        ),
        (Dumps({"a": Dumps([1])}), '{"a":[1]}'),
        ([Dumps("not text")], '["not text"]'),
        (Dumps("[1]"), '"[1]"'),
        (Dumps(None), "null"),
        (bytearray(b'{"a":1}'), '{"a":1}'),
        (b"\xef\xbb\xbf[1]", "[1]"),
        ({"\ud83d\ude00": "\ud83d\ude00\ud83d"}, '{"😀":"😀\\ud83d"}'),
        ('{"\ud83d\ude00":"\ud83d\\ude00\\\\\ud83d"}', '{"😀":"😀\\\\\\ud83d"}'),
    ],
)
def test_snapshots_of_every_kind(snapshot: Any, text: str) -> None:
    assert json.loads("".join(run([snapshot]))) == json.loads(text)
    assert len("".join(run([snapshot]))) == len(text)


def test_pydantic_models() -> None:
    pytest.importorskip("pydantic")
    from pydantic import BaseModel

    class Item(BaseModel):
        name: str
        size: float | None = None

    snapshots = [Item(name="a"), Item(name="ab"), Item(name="ab", size=1.5)]
    assert run(snapshots, null="placeholder") == ['{"name":"a', "b", '","size":1.5', "}"]
    assert run([[Item(name="a")]]) == ['[{"size":null,"name":"a', '"}]']


def test_what_the_source_hands_over_is_not_kept() -> None:
    value: dict[str, Any] = {"a": {"b": ["x"]}}
    chunker = Chunker(verify=True)
    text = chunker.feed(value)
    value["a"]["b"][0] += "!"
    text += chunker.feed(value)
    value["a"]["b"].append({"c": "y"})
    text += chunker.feed(value)
    value["a"]["b"][1]["c"] += "?"
    text += chunker.feed(value)
    before = copy.deepcopy(value)
    value.clear()
    assert json.loads(text + chunker.flush()) == before


def test_what_is_handed_over_is_not_changed() -> None:
    value = {"a": [1, {"b": "x"}], "c": None}
    before = copy.deepcopy(value)
    run([value, value])
    assert value == before


@pytest.mark.parametrize(
    "snapshot, error",
    [
        ("", InvalidJSON),
        ("  ", InvalidJSON),
        ("{", InvalidJSON),
        ('{"a":1} x', InvalidJSON),
        ('{"a":1}{"a":2}', InvalidJSON),
        ("\ufeff{}", InvalidJSON),
        ("NaN", InvalidJSON),
        ('{"a":-Infinity}', InvalidJSON),
        (b"\xff", InvalidJSON),
        (b'"\xc3"', InvalidJSON),
        ({"a": float("nan")}, InvalidJSON),
        ([float("inf")], InvalidJSON),
        ("[" * 100_000, LimitExceeded),
        ("[" * 100_000 + "]" * 100_000, LimitExceeded),
        ('{"a":' * 100_000 + "1" + "}" * 100_000, LimitExceeded),
        ([10**5000], LimitExceeded),
        (1, TypeError),
        (None, TypeError),
        ({"a"}, TypeError),
        ({1: "x"}, TypeError),
        ({"a": [{None: 1}]}, TypeError),
        ({"a": object()}, TypeError),
        ({"a": b"x"}, TypeError),
    ],
)
def test_what_is_no_snapshot_changes_nothing(snapshot: Any, error: type[Exception]) -> None:
    chunker = Chunker(verify=True)
    text = chunker.feed('{"a":"x","b":[1,2]}') + chunker.feed('{"a":"x","b":[1,2,3]}')
    with pytest.raises(error):
        chunker.feed(snapshot)
    text += chunker.feed('{"a":"x","b":[1,2,34],"c":"y"}') + chunker.flush()
    assert json.loads(text) == {"a": "x", "b": [1, 2, 34], "c": "y"}


def test_a_circle_is_too_deep() -> None:
    circle: list[Any] = []
    circle.append(circle)
    with pytest.raises(LimitExceeded) as raised:
        Chunker().feed(circle)
    assert raised.value.limit == "depth"


def test_an_error_says_where() -> None:
    with pytest.raises(InvalidJSON) as raised:
        Chunker().feed('{"a":\n  tru}')
    assert (raised.value.offset, raised.value.line, raised.value.column) == (8, 2, 3)


def test_an_error_of_loads_is_invalid_json() -> None:
    def loads(text: str) -> Any:
        raise KeyError(text)

    with pytest.raises(InvalidJSON) as raised:
        Chunker(loads=loads).feed("{}")
    assert isinstance(raised.value.__cause__, KeyError)


def test_too_deep_for_loads() -> None:
    def loads(text: str) -> Any:
        return loads(text)

    with pytest.raises(LimitExceeded):
        Chunker(loads=loads).feed("{}")


@pytest.mark.parametrize("depth", [10, 100, 300])
def test_deep_snapshots(depth: int) -> None:
    text = ['{"a":[' * depth + f'"{word}"' + "]}" * depth for word in ("x", "xy", "xyz")]
    assert "".join(run(text)) == text[-1]


def test_a_revision_of_something_deep() -> None:
    chunker = Chunker()
    deep = "[" * 600 + "]" * 600
    chunker.feed(f"[{deep},1]")
    with pytest.raises(RevisionError) as raised:
        chunker.feed("[2,1]")
    assert raised.value.path == (0,)
    assert len(str(raised.value)) < 500


def test_a_proof_that_cannot_be_read_back(monkeypatch: pytest.MonkeyPatch) -> None:
    chunker = Chunker(verify=True)
    chunker.feed("[]")

    def too_deep(text: str) -> Any:
        return too_deep(text)

    monkeypatch.setattr("jsonrill.chunker.chunker.decode", too_deep)
    with pytest.raises(LimitExceeded):
        chunker.flush()


def test_numbers_of_any_length() -> None:
    digits = "9" * 10_000
    assert run([f"[{digits}]", f"[{digits}0]"]) == [f"[{digits}", "0", "]"]
    chunker = Chunker()
    chunker.feed(f"[{digits},1]")
    with pytest.raises(RevisionError) as raised:
        chunker.feed("[1,1]")
    assert raised.value.written == digits


# ---- the stage ----


def test_nothing_fed_nothing_written() -> None:
    chunker = Chunker(verify=True)
    assert chunker.flush() == ""
    with pytest.raises(StreamClosed):
        chunker.feed("{}")


def test_after_the_end() -> None:
    chunker = Chunker()
    chunker.feed("{}")
    assert chunker.flush() == "}"
    assert chunker.flush() == ""
    with pytest.raises(StreamClosed):
        chunker.feed("{}")


@pytest.mark.parametrize(
    "options", [{"null": "none"}, {"on_revision": "ignore"}, {"patience": 0}, {"patience": -1}]
)
def test_options_are_checked(options: Any) -> None:
    with pytest.raises(ValueError):
        Chunker(**options)


def test_verify_proves_or_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    chunker = Chunker(verify=True)
    chunker.feed('{"a":"x"}')
    chunker._chunks[0] = '{"a":"y'
    with pytest.raises(RevisionError) as raised:
        chunker.flush()
    assert (raised.value.path, raised.value.written, raised.value.now) == (("a",), "y", "x")


# ---- cost (rule 12) ----


def growing(value: Any) -> list[str]:
    """A large document that does not change, and a string that grows beside it."""
    return [json.dumps({"big": value, "tip": "x" * step}) for step in range(12)]


@pytest.mark.parametrize(
    "document",
    [
        lambda size: {f"key{i}": "value" for i in range(size)},
        lambda size: [{"a": i, "b": ["x"]} for i in range(size)],
        lambda size: {f"key{i}": {"a": ""} for i in range(size)},
        lambda size: [i + 0.5 for i in range(size)],
        lambda size: "long text " * size,
    ],
    ids=["wide object", "long array", "skeleton", "numbers", "long string"],
)
@pytest.mark.parametrize("eager", [False, True])
def test_cost_is_linear_in_the_size_of_a_snapshot(document: Any, eager: bool) -> None:
    def cost(size: int) -> float:
        """In units of plain decoding, whose own cost per byte grows with what is in memory."""
        texts = growing(document(size))
        work = seconds(lambda: run(texts, eager=eager), best_of=5)
        return work / seconds(lambda: [*map(json.loads, texts)], best_of=5)

    gc.disable()
    try:
        cost(300)
        assert cost(2400) < 4 * cost(300)  # quadratic would be 8 times
    finally:
        gc.enable()
