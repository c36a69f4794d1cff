"""Near-JSON to test with: values written the way models write them, and what was done to them.

`sloppy` knows what its text means and which rules it takes to read it; `broken` and `garbage` know
nothing of the kind. `report` is all that a parser has to say about a text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from random import Random
from typing import Any, NamedTuple

from hypothesis import strategies as st

from jsonrill import Document, InvalidJSON, LimitExceeded, Parser
from jsonrill.parse.lenient.rules import RULES
from support.documents import described

WORDS = [
    "a",
    "he",
    "said",
    "yes",
    "C:\\Home",
    "\\d",
    "it's",
    '"so"',
    "x\ny",
    "é",
    "😀",
    "[1]",
    "//",
]
KEYS = ["a", "b", "key", "two words", "$x", "é", "", "0", "-"]

strings = st.lists(st.sampled_from(WORDS), max_size=4).map(" ".join)
scalars = st.one_of(
    st.none(), st.booleans(), st.integers(-99, 99), st.sampled_from([0.5, -1e30, 12.25]), strings
)
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4)
    ),
    max_leaves=10,
)


class Sloppy(NamedTuple):
    """A text, what it means, and the rules that it takes to read it so."""

    text: str
    value: Any
    rules: frozenset[str]


class Writer:
    """Writes a value in one of the many ways in which models write."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.used: set[str] = set()
        # Whether the last container had a comma before its bracket.
        self.trailing = False
        # Whether a backslash of the string that is being written may stay as it is.
        self.may_leave_backslash = False

    def does(self, rule: str, chance: float = 0.15) -> bool:
        if self.random.random() >= chance:
            return False
        self.used.add(rule)
        return True

    def document(self, value: Any) -> str:
        if isinstance(value, str):
            return self.quoted(value)
        text = self.value(value, root=True)
        if not isinstance(value, dict):
            return text
        if self.does("fences", 0.2):
            text = f"```json\n{text}\n```"
        if self.does("leading-text", 0.3):
            # Empty braces in a line of prose must be announced: those of `f() {}` are no value.
            leads = [lead for lead in LEADS if value or lead.rstrip(" ")[-1] in ":\n"]
            text = self.random.choice(leads) + text
        if self.does("trailing-text", 0.2):
            text += "\nHope [this] helps, {you}!"
        return text

    def value(self, value: Any, may_stay_open: bool = False, root: bool = False) -> str:
        if isinstance(value, dict):
            members = [f"{self.key(key)}:{self.blank()}" for key in value]
            return self.container("{}", members, list(value.values()), may_stay_open, root)
        if isinstance(value, list):
            return self.container("[]", [""] * len(value), value, may_stay_open, root)
        if isinstance(value, str):
            return self.quoted(value, inner=True)
        if value is None and self.does("nan"):
            return self.random.choice(["NaN", "Infinity", "-Infinity", "undefined"])
        if (value is None or isinstance(value, bool)) and self.does("python-literals"):
            return repr(value)
        return json.dumps(value)

    def container(
        self, brackets: str, keys: list[str], items: list[Any], may: bool, root: bool
    ) -> str:
        text, stays_open = brackets[0] + self.gap(), False
        for number, (key, item) in enumerate(zip(keys, items, strict=True)):
            if number:
                kinds = {isinstance(one, (dict, list)) for one in items[number - 1 : number + 1]}
                empty = items[number - 1] in ([], {}) or not str(items[number - 1]).strip()
                alike = brackets == "{}" or (len(kinds) == 1 and not empty)
                alike = alike and not self.trailing
                text += self.comma(number, brackets == "{}", alike) + self.gap()
            last = number == len(items) - 1
            # An unclosed container is seen by the bracket of the other kind right after it, if
            # nothing else follows.
            other = root and isinstance(item, list if brackets == "{}" else dict)
            other = other and not (brackets == "[]" and isinstance(items[0], list))  # as below
            written = self.value(item, may_stay_open=last and other)
            stays_open = last and other and not written.endswith(("]", "}"))
            text += key + written + self.gap()
        after_comma, self.trailing = self.trailing, False
        if items and not stays_open:
            if self.does("trailing-commas"):
                text += ","
                self.trailing = True
            elif self.does("ellipses", 0.1):
                text += ", ..." + self.blank()
            # Of `[[` one may have come twice, behind `,]` a bracket may be in the wrong place, and
            # of two alike the other may be missing: the end of such a list is not left out.
            elif (
                may
                and not after_comma
                and not (brackets == "[]" and isinstance(items[0], list))
                and not isinstance(items[-1], list if brackets == "[]" else dict)
                and items != [""]  # the quotes may belong around the bracket
                and self.does("brackets")
            ):
                return text + " "
        return text + brackets[1]

    def comma(self, number: int, in_object: bool, alike: bool) -> str:
        # The first thing in a list shows that it is one, so there no comma is forgotten; nor where
        # a bracket may be in the wrong place.
        if number > 1 and alike and self.does("missing-commas"):
            return "\n"
        # In a list a value may be missing between two commas.
        return ",," if in_object and self.does("trailing-commas", 0.05) else ","

    def gap(self) -> str:
        if self.does("comments", 0.05):
            return self.random.choice([" // one\n", " /* [two] */ ", ' # "three"\n', " /***/"])
        return self.blank()

    def blank(self) -> str:
        return self.random.choice(["", "", " ", "\n  "])

    def key(self, key: str) -> str:
        if re.fullmatch(r"[\w$][\w$-]*", key) and self.does("bare-keys"):
            return key
        return self.quoted(key)

    def quoted(self, text: str, inner: bool = False) -> str:
        opens, closes = '"', '"'
        if self.does("single-quotes", 0.1):
            opens = closes = "'"
        elif self.does("curly-quotes", 0.05):
            opens, closes = "“", "”"
        # Both quotes of a quotation are escaped, or neither is; and where the string ends is plain.
        plain = re.fullmatch(r"\w+ \"so\" [a-z]+|\w+ it's [a-z]+", text) and closes in text
        raw = bool(inner and plain) and self.does("inner-quotes", 0.5)
        # Beside a backslash that is text, `\n` may be a line break or text: then none is left.
        self.may_leave_backslash = "\n" not in text
        pairs = zip(text, text[1:] + " ", strict=False)
        body = (self.char(*pair, closes, raw) for pair in pairs)
        return opens + "".join(body) + closes

    def char(self, char: str, following: str, closes: str, raw: bool) -> str:
        unknown = following.isascii() and following.isalpha() and following not in "bfnrtu"
        if char == closes and char in "\"'":
            return char if raw else "\\" + char
        if char == "\n" and self.does("raw-newlines"):
            return char
        if char == "\\" and unknown and self.may_leave_backslash and self.does("bad-escapes"):
            return char
        if char == "'" and self.does("bad-escapes"):
            return "\\'"
        return char if char == '"' else json.dumps(char, ensure_ascii=False)[1:-1]


LEADS = [
    "Sure: ",
    "1. See [1] and {x}, {{y}}, [z](https://example.org).\n",
    "3 items, not []: ",
    "- [ ] to do\n",
    "[TOOL]\n",
    "null and void: ",
    "-- ",
    '<think>{"a": [1</think>\nSo: ',
    "Use `x` and ``y``.\n",
]


@st.composite
def sloppy(draw: st.DrawFn) -> Sloppy:
    """A value as a model may write it, read by rules alone."""
    value = draw(values)
    writer = Writer(draw(st.randoms(use_true_random=False)))
    text = writer.document(value)
    return Sloppy(text, value, frozenset(writer.used))


SNIPPETS = [
    *"{}[],:\"'“”‘’\\/*#.…`<-01a\n\r \t\x1e\x00é😀",
    *("//", "/*", "*/", "...", "```", "```json\n", "\\u", "\\ud83d", "\\ude00", "{{", "[["),
    *("true", "nul", "True", "None", "NaN", "-Infinity", "undefined", "Tru", "12", "1.5", "1e"),
    *("007", "2024-01-01", "b: ", '"a": ', '"k"', '"x", ', ',"', "Sure, ", "[1]", "{}", "[]"),
    *('{"a": 1}', '["x"]', "<think>", "</think>", 'a "b" c', " " * 9, " " * 33, '\n{"n": 1}\n'),
]
garbage = st.lists(st.sampled_from(SNIPPETS), max_size=14).map("".join)


@st.composite
def broken(draw: st.DrawFn) -> str:
    """A sloppy text to which something else happened; now and then it is cut off, too."""
    text = draw(sloppy()).text
    for _ in range(draw(st.integers(0, 3))):
        at = draw(st.integers(0, len(text)))
        upto = at + draw(st.sampled_from([0, 0, 1, 2, 5]))
        text = text[:at] + draw(st.sampled_from(["", *SNIPPETS])) + text[upto:]
    return text[: draw(st.integers(0, len(text)))] if draw(st.booleans()) else text


rule_sets = st.one_of(
    st.just(True), st.frozensets(st.sampled_from(sorted(RULES)), min_size=1, max_size=len(RULES))
)


class Report(NamedTuple):
    """All that a parser has to say about a text, of one document or of many."""

    fragments: list[tuple[Any, ...]]
    repairs: list[Any]
    error: tuple[Any, ...] | None
    errors: list[tuple[Any, ...]]
    document: int


def report(pieces: Iterable[str | bytes], **options: Any) -> Report:
    parser = Parser(**options)
    fragments = []
    error = None
    try:
        for piece in pieces:
            fragments += parser.feed(piece)
        fragments += parser.flush()
    except (InvalidJSON, LimitExceeded) as raised:
        fragments += raised.fragments
        error = described(raised)
    joined: list[tuple[Any, ...]] = []
    for one in fragments:
        text = one.text
        partial = one.kind == "PartialString"
        if partial and joined and joined[-1][0] == one.kind:
            text = f"{joined.pop()[2]}{text}"
        # repr tells 1 from 1.0 and True, which == does not.
        joined.append((one.kind, one.path, text, repr(one.value), one.offset, one.document))
    errors = list(map(described, parser.errors))
    return Report(joined, list(parser.repairs), error, errors, parser.document)


def read(text: str, **options: Any) -> tuple[Any, list[str]]:
    """The value of a text, and the rules that were applied, in order."""
    document = Document(**{"repair": True, **options})
    document.feed(text)
    document.flush()
    return document.value, [repair.rule for repair in document.repairs]
