"""The rules of lenient parsing: one table, each with its reason and an example.

What a rule does is in the readers: `inside.py` says which of them is asked for a character. A new
quote is an entry of `QUOTES` here and of `CLOSERS` in `strings.py`, and part of the patterns.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from ...options import allow, check


class Rule(NamedTuple):
    """One thing that models do: why, and an example with the JSON it is read as."""

    reason: str
    text: str
    json: str


RULES: Final[dict[str, Rule]] = {
    "leading-text": Rule("models explain before they answer", 'Sure: {"a": 1}', '{"a": 1}'),
    "trailing-text": Rule("and after", '{"a": 1} Hope it helps!', '{"a": 1}'),
    "fences": Rule("answers come as Markdown", '```json\n{"a": 1}\n```', '{"a": 1}'),
    "trailing-commas": Rule("most languages allow them", '{"a": [1, 2,],}', '{"a": [1, 2]}'),
    "missing-commas": Rule(
        "forgotten at line ends", '{"a": 1 "b": [1 2]}', '{"a": 1, "b": [1, 2]}'
    ),
    "brackets": Rule("one closing bracket forgotten, or too many", '{"a": [1, 2}', '{"a": [1, 2]}'),
    "ellipses": Rule("lists are abridged", '{"a": [1, 2, ...]}', '{"a": [1, 2]}'),
    "comments": Rule("explaining inside the answer", '{"a": 1 // one\n}', '{"a": 1}'),
    "single-quotes": Rule("Python and JavaScript habits", "{'a': 'it is'}", '{"a": "it is"}'),
    "curly-quotes": Rule("typographers' habits", "{“a”: “b”}", '{"a": "b"}'),
    "inner-quotes": Rule(
        "quotations are not escaped", '{"a": "the "b" here"}', r'{"a": "the \"b\" here"}'
    ),
    "bare-keys": Rule("JavaScript habits", "{a: 1}", '{"a": 1}'),
    "bare-values": Rule("only if it is named", '{"a": done, "b": 1}', '{"a": "done", "b": 1}'),
    "python-literals": Rule("Python habits", '{"a": True, "b": NULL}', '{"a": true, "b": null}'),
    "nan": Rule("JSON has no such values", '{"a": [NaN, undefined]}', '{"a": [null, null]}'),
    "numbers": Rule(
        "other ways to write them", '{"a": [+5, .5, 5., 1_000]}', '{"a": [5, 0.5, 5.0, 1000]}'
    ),
    "tuples": Rule("Python habits", '{"a": (1, 2)}', '{"a": [1, 2]}'),
    "odd-spaces": Rule("copied from web pages", '{"a":\u00a01}', '{"a": 1}'),
    "fullwidth": Rule("keyboards for Chinese", '{"a"：1，"b": 2}', '{"a": 1, "b": 2}'),
    "missing-quotes": Rule(
        "forgotten before a comma", '{"a": "one, "b": 2}', '{"a": "one", "b": 2}'
    ),
    "block-strings": Rule("Python and Markdown habits", '{"a": """b"""}', '{"a": "b"}'),
    "back-ticks": Rule("JavaScript habits", '{"a": `b`}', '{"a": "b"}'),
    "raw-newlines": Rule("text is pasted into strings", '{"a": "x\ny"}', '{"a": "x\\ny"}'),
    "bad-escapes": Rule(
        "paths and formulas are not escaped", r'{"a": "C:\Home"}', r'{"a": "C:\\Home"}'
    ),
    "markdown-escapes": Rule("answers come as Markdown", r'{"a\_b": "\#1"}', '{"a_b": "#1"}'),
    "by-schema": Rule("the schema tells which reading fits", '{"a": "1"}', '{"a": 1}'),
    "cut-off": Rule("the token limit was reached", '{"a": ["x", "y', '{"a": ["x", "y"]}'),
}

allow("repair", RULES)

# What `repair=True` turns on.
_USUAL: Final = frozenset(RULES.keys() - {"bare-values"})

# The rule by which a string may begin with this quote, which is not JSON's.
QUOTES: Final = {"'": "single-quotes", "“": "curly-quotes", "‘": "curly-quotes"}


def rule_names(rules: bool | Iterable[str]) -> frozenset[str]:
    """The rules that `repair=` turns on; `ValueError` for a name that is no rule."""
    if rules is True:
        return _USUAL
    check(repair=rules)
    if rules is False:
        return frozenset()
    names = frozenset([rules] if isinstance(rules, str) else rules)
    unknown = sorted(map(str, names - RULES.keys()))
    if unknown:
        raise ValueError(f"no such repair: {', '.join(unknown)}; there are {', '.join(RULES)}")
    return names
