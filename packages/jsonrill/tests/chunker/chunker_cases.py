"""The cases of the chunker: snapshots and the exact chunks, the last one from `flush()`."""

from __future__ import annotations

from typing import Any

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
