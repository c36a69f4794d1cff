"""Leniency by tables: every rule, a corpus of what models send, and what is left alone."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from jsonrill import (
    Document,
    InvalidJSON,
    LimitExceeded,
    Limits,
    Parser,
    PartialStream,
    Rebuilder,
    Repair,
    Truncated,
    fragments,
    partial,
    updates,
    values,
)
from jsonrill.parse.lenient import lookahead
from jsonrill.parse.lenient.rules import RULES
from support import ROOT, by_character, cuttings
from support.documents import is_prefix, same
from support.near_json import read, report

CORPUS = json.loads((ROOT / "cases/repair.json").read_text("utf8"))["cases"]
MEANT = [case for case in CORPUS if "refused" not in case]
REFUSED = [case for case in CORPUS if "refused" in case]


def refusal(text: str, **options: Any) -> Any:
    document = Document(**{"repair": True, **options})
    with pytest.raises((InvalidJSON, LimitExceeded)) as caught:
        document.feed(text)
        document.flush()
    return caught.value


# ---- the table of rules ----


# What a schema asks for has tests of its own.
WITHOUT_SCHEMA = [name for name in RULES if name != "by-schema"]


@pytest.mark.parametrize("name", WITHOUT_SCHEMA)
@pytest.mark.parametrize("alone", [True, False], ids=["alone", "with all"])
def test_the_example_of_a_rule_is_read_as_it_says(name: str, alone: bool) -> None:
    rule = RULES[name]
    rules = [name] if alone or name == "bare-values" else True
    for cut in cuttings(rule.text):
        document = Document(repair=rules)
        for piece in cut:
            document.feed(piece)
        document.flush()
        assert same(document.value, json.loads(rule.json))
        assert {repair.rule for repair in document.repairs} == {name}


@pytest.mark.parametrize("name", WITHOUT_SCHEMA)
def test_without_the_rule_its_example_is_refused(name: str) -> None:
    # Text around the value would take a fence for prose, and so on.
    others = {"cut-off", "leading-text", "trailing-text", "bare-values", "bad-escapes"}
    refusal(RULES[name].text, repair=RULES.keys() - {name, *others})
    with pytest.raises(ValueError):
        json.loads(RULES[name].text, parse_constant=json.loads)


def shown(text: str) -> str:
    """As the page shows it: a line end as a sign, ticks between more ticks."""
    ticks = "````" if "`" in text else "`"
    inside = text.replace("\n", "⏎")
    return f"{ticks} {inside} {ticks}" if "`" in text else f"{ticks}{inside}{ticks}"


def test_the_page_has_the_table_of_rules() -> None:
    page = (ROOT / "docs/repair.md").read_text("utf8")
    rows = [
        f"| `{name}` | {rule.reason} | {shown(rule.text)} | {shown(rule.json)} |"
        for name, rule in RULES.items()
    ]
    assert "| --- | --- | --- | --- |\n" + "\n".join(rows) + "\n\n" in page


@pytest.mark.parametrize("sign", ["=>", "->", "→", "="])
def test_a_sign_announces_a_second_value(sign: str) -> None:
    assert isinstance(refusal(f'{{"a": [7]}}\n\nBesser {sign} [8]\n'), InvalidJSON)
    assert read('{"a": [7]}\nAs shown in [8] it grows.') == ({"a": [7]}, ["trailing-text"])


def test_rules_are_chosen_by_name() -> None:
    assert read("[1,]", repair="trailing-commas") == ([1], ["trailing-commas"])
    assert read("[1,]", repair=iter(["trailing-commas", "fences"])) == ([1], ["trailing-commas"])
    assert isinstance(refusal("[1,]", repair=[]), InvalidJSON)
    assert isinstance(refusal("[1,]", repair=False), InvalidJSON)


@pytest.mark.parametrize("stage", [Parser, Document, lambda **o: PartialStream("BATCH", **o)])
def test_an_unknown_rule_is_named(stage: Any) -> None:
    with pytest.raises(ValueError, match="no such repair: commas, quotes; there are leading-text"):
        stage(repair={"quotes", "commas", "fences"})


# ---- what is looked at ahead ----

SHAPES = {name: one for name, one in vars(lookahead).items() if isinstance(one, lookahead.Shape)}


def longest(ways: list[list[Any]]) -> int:
    """The length of the longest text that one of these ways sees."""
    return max(sum(map(length, way)) for way in ways)


def length(item: Any) -> int:
    if isinstance(item, list):
        return longest(item)
    times = re.search(r"\{(?:\d+,)?(\d+)\}\Z", item)
    return int(times[1]) if times else 1


@pytest.mark.parametrize("name", SHAPES)
def test_a_shape_does_not_look_too_far_ahead(name: str) -> None:
    assert longest(SHAPES[name].ways) < lookahead.REACH / 2


@pytest.mark.parametrize("name", SHAPES)
def test_a_beginning_of_what_a_shape_sees_is_cut(name: str) -> None:
    shape = SHAPES[name]
    for text in (case["text"] for case in CORPUS):
        for at in range(len(text)):
            match = shape.whole.match(text, at)
            if match:
                shorter = [text[:end] for end in range(at, match.end())]
                assert all(shape.whole.match(it, at) or shape.cut.match(it, at) for it in shorter)


# ---- the corpus ----


def test_the_corpus_is_large_and_each_name_once() -> None:
    assert len(MEANT) >= 60
    assert len({case["name"] for case in CORPUS}) == len(CORPUS)
    rules = {rule for case in MEANT for rule, _ in case["repairs"]}
    assert rules <= set(RULES)


@pytest.mark.parametrize("case", MEANT, ids=lambda case: case["name"])
def test_a_broken_answer_is_read_as_it_was_meant(case: Any) -> None:
    for cut in cuttings(case["text"]):
        document, parser, rebuilder = Document(repair=True), Parser(repair=True), Rebuilder()
        for piece in cut:
            document.feed(piece)
            rebuilder.feed(parser.feed(piece))
            assert same(rebuilder.value, document.value)
            assert not document.started or is_prefix(document.value, case["value"])
        document.flush()
        rebuilder.feed(parser.flush())
        assert same(document.value, case["value"])
        assert same(rebuilder.value, case["value"])
        assert document.complete and rebuilder.complete
        assert document.repairs == parser.repairs
        assert [list(repair[:2]) for repair in document.repairs] == case["repairs"]


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case["name"])
def test_what_cannot_be_told_is_refused(case: Any) -> None:
    for cut in cuttings(case["text"]):
        outcome = report(cut, repair=True)
        assert outcome.error is not None and outcome.error[1] == case["refused"]
        assert [list(repair[:2]) for repair in outcome.repairs] == case["repairs"]


@pytest.mark.parametrize("case", CORPUS, ids=lambda case: case["name"])
def test_every_beginning_of_an_answer_is_read_or_refused(case: Any) -> None:
    """Closed where it is cut off, it shows nothing that the answer does not hold."""
    text = case["text"]
    for end in range(len(text)):
        try:
            value, _ = read(text[:end])
        except InvalidJSON:
            continue
        document = Document(repair=True)
        document.feed(text[:end])
        assert not document.started or is_prefix(document.value, value)


# ---- around the value ----

WITH_VALUE: list[tuple[str, Any]] = [
    # Text that begins like a value is one.
    ("42", 42),
    ("-1.5e3 \n", -1500.0),
    ('"Yes."', "Yes."),
    ("true", True),
    ("None", None),
    ("-Infinity\n", None),
    ("'so'", "so"),
    ("“so”", "so"),
    ("[]", []),
    ("{}\nThat is all.", {}),
    ("[1]\n", [1]),
    ("[ 1 ]" + " " * 40, [1]),
    ("42\nThat is all.", 42),
    ("[[1], [2]]", [[1], [2]]),
    ("[[[]]]", [[[]]]),
    ("[[]]", [[]]),
    ("{" + " " * 50 + "}", {}),
    ("[" + "\n" * 50 + "1]", [1]),
    ("[1" + " " * 50 + ", 2]", [1, 2]),
    ("[" + "9" * 50 + "]", [int("9" * 50)]),
    ("9" * 50, int("9" * 50)),
    ("[true, false]", [True, False]),
    ("[null]", [None]),
    ("[-Infinity]", [None]),
    # Otherwise it is prose, up to a fence or to a bracket with JSON in it.
    ("So: {}", {}),
    ("So: []\n", []),
    ("So: [1, 2]", [1, 2]),
    ("So [1]: [1, 2]", [1, 2]),
    ("So:\n[1]", [1]),
    ("So:\n[1 2]", [1, 2]),
    ("So {x}: {x: 1}", {"x": 1}),
    ("So {key: value}: {key: true}", {"key": True}),
    ("So {x: y}: {'x': 'y'}", {"x": "y"}),
    ("So {#x}: { # y\n'x': 1}", {"x": 1}),
    ("So [x]: [// y\n1]", [1]),
    ("So [[x]]:\n[[1, 2]]", [[1, 2]]),
    ("So [{x}]: [{x: 1}]", [{"x": 1}]),
    ("So [null and void]: [null, 1]", [None, 1]),
    ("So [2024-05-01]:\n[2024, 5, 1]", [2024, 5, 1]),
    ("42 is it:\n[4, 2]", [4, 2]),
    ("4. It is: [true]", [True]),
    ("-> [4, 2]", [4, 2]),
    ("true story: [null]", [None]),
    ("truly: []", []),
    ("No: {}", {}),
    ("No: [4, 2]", [4, 2]),
    ("None of [that]:\n[4, 2]", [4, 2]),
    ("`x` and ``y``: ```\n42\n```", 42),
    ("so ```x\ny\n``` and ```\n[1]\n```", [1]),
    ("```json5\n42```", 42),
    ("``````\n42", 42),
    ("<think>[1, 2]</think>42", 42),
    ("<thinking>[1, 2] </think </thinking>\n\n[]", []),
    ("<thin>[1, 2]", [1, 2]),
    ("// [1, 2]\n[3]", [3]),
    ("/* [1, 2] **/ [3]", [3]),
    ("{ ... } or {{x}}: {}", {}),
    # Cut off right after the bracket.
    ("So: {", {}),
    ("So: [ ", []),
    ("{", {}),
    ("[1", []),
]


@pytest.mark.parametrize("text, value", WITH_VALUE)
def test_the_value_is_found(text: str, value: Any) -> None:
    for cut in cuttings(text):
        document = Document(repair=True)
        for piece in cut:
            document.feed(piece)
        document.flush()
        assert same(document.value, value)


WITHOUT_VALUE = [
    *("", " \n", "So.", "see [1] or {}.", "[1] and more", "42 is it", "nullify", "-", "So: 42"),
    *("Source: [1]", "Domain: [0, 1]", "key: [4, 2]", "It is [4, 2]", "It is {}"),
    *(
        "<think>[1, 2]",
        "```\n",
        "```json",
        "`",
        "/",
        "<",
        "[ ] to do",
        "{name}",
        "[...]",
        'So: "x"',
    ),
    *("{\\", "[2024-05-01] is it", "1.", "1. "),
]


@pytest.mark.parametrize("text", WITHOUT_VALUE)
def test_text_without_a_value_is_not_json(text: str) -> None:
    error = refusal(text)
    # Only where nothing came, or the value was still to come, has the text stopped early.
    stopped = not text.strip() or text.startswith(("<think>", "```"))
    assert isinstance(error, Truncated) == stopped
    assert error.offset == len(text)
    assert str(error).startswith("expected a value but the text")


@pytest.mark.parametrize(
    "text, value, rules",
    [
        ("{} // so", {}, ["comments"]),
        ("{} /* so", {}, ["comments"]),
        ("{}\n/so", {}, ["trailing-text"]),
        ("{}\n/", {}, ["trailing-text"]),
        ("{}\n```", {}, ["fences"]),
        ("{} `", {}, ["trailing-text"]),
        ("{} ````", {}, ["fences", "trailing-text"]),
        ("[0, 1] [see] ```", [0, 1], ["trailing-text"]),
        ("{'a': 1}}", {"a": 1}, ["single-quotes", "trailing-text"]),
        ('"a"\nb', "a", ["trailing-text"]),
    ],
)
def test_what_follows_the_value_is_reported_not_parsed(
    text: str, value: Any, rules: list[str]
) -> None:
    for cut in cuttings(text):
        outcome = report(cut, repair=True)
        assert [repair.rule for repair in outcome.repairs] == rules
    assert read(text) == (value, rules)


@pytest.mark.parametrize("text", ["{} /", "{} `", "{} ``", "{} ```", "{} //", "{} x", "`{}", "/"])
@pytest.mark.parametrize("rules", ["fences", "comments", "brackets"])
def test_a_rule_that_is_off_leaves_text_to_the_strict_machine(text: str, rules: str) -> None:
    strict = report([text])
    for cut in cuttings(text):
        outcome = report(cut, repair=rules)
        assert outcome.repairs or outcome == strict


# ---- in the value ----

INSIDE: list[tuple[str, Any, list[str]]] = [
    # Commas.
    ("{'a': 1,, 'b': 2}", {"a": 1, "b": 2}, ["single-quotes", "trailing-commas", "single-quotes"]),
    ("{, 'a': 1}", {"a": 1}, ["trailing-commas", "single-quotes"]),
    ("[0, 1 true]", [0, 1, True], ["missing-commas"]),
    ("[0, [1]{}]", [0, [1], {}], ["missing-commas"]),
    ("['a' 'b']", ["a", "b"], ["single-quotes", "missing-commas", "single-quotes"]),
    ("{'a': 1 b: 2}", {"a": 1, "b": 2}, ["single-quotes", "missing-commas", "bare-keys"]),
    # Brackets.
    ("[{'a': 1]", [{"a": 1}], ["single-quotes", "brackets"]),
    ("[0, {]", [0, {}], ["brackets"]),
    ("[0, [1}]", [0, [1]], ["brackets"]),
    (r'{"a": [1}, "b \"c\"": 2}', {"a": [1], 'b "c"': 2}, ["brackets"]),
    ("{'a': {'b': 1]}", {"a": {"b": 1}}, ["single-quotes"] * 2 + ["brackets"]),
    # Ellipses.
    ("[1, 2 ...]", [1, 2], ["ellipses"]),
    ("[1, …]", [1], ["ellipses"]),
    ("[1, ..., /* 3 */]", [1], ["ellipses", "comments", "trailing-commas"]),
    ("{'a': [0, ...], ...}", {"a": [0]}, ["single-quotes", "ellipses", "ellipses"]),
    # Words.
    ("[True,False]", [True, False], ["python-literals"] * 2),
    ("{'None': None}", {"None": None}, ["single-quotes", "python-literals"]),
    ("[1, -Infinity]", [1, None], ["nan"]),
    # Escapes and control characters.
    (r"['\'\"\n\u00e9']", ["'\"\né"], ["single-quotes"]),
    (r'["\'"]', ["'"], ["bad-escapes"]),
    (r'["\xg1\8\u12\u00"]', [r"\xg1\8\u12\u00"], ["bad-escapes"] * 4),
    (r'["\user"]', ["\\user"], ["bad-escapes"]),
    ('{"a\tb": "\x00"}', {"a\tb": "\x00"}, ["raw-newlines"] * 2),
    # Comments.
    ("[1 # x\n, 2 /* y\n */ , /**/ 3] // z", [1, 2, 3], ["comments"] * 4),
    # Fences in a value that was not closed.
    ("[1, [2\n```", [1, [2]], ["cut-off", "fences"]),
    ('{"a": {"b"\n``` so', {"a": {}}, ["cut-off", "fences", "trailing-text"]),
]


@pytest.mark.parametrize("text, value, rules", INSIDE)
def test_inside_the_value(text: str, value: Any, rules: list[str]) -> None:
    for cut in cuttings(text):
        document = Document(repair=True)
        for piece in cut:
            document.feed(piece)
        document.flush()
        assert same(document.value, value)
        assert [repair.rule for repair in document.repairs] == rules


QUOTED: list[tuple[str, Any]] = [
    # A quote ends the string before a bracket, a line end, a comma with something of JSON after it.
    ('["a"  ]', ["a"]),
    ('["a"\n"b"]', ["a", "b"]),
    ('["a" \t,\t"b"]', ["a", "b"]),
    ('["a", true]', ["a", True]),
    ('["a", -1]', ["a", -1]),
    ('["a", {}]', ["a", {}]),
    ('["a",]', ["a"]),
    ('["a" // b\n]', ["a"]),
    ('["a" # b\n]', ["a"]),
    ('["a", ...]', ["a"]),
    ('["a" "b"]', ["a", "b"]),
    ('["a"         x]', None),
    ('{"a": "b", c: 1}', {"a": "b", "c": 1}),
    ('{"a": "b" "c": 1}', {"a": "b", "c": 1}),
    ("""{"a": "b" 'c': 1}""", {"a": "b", "c": 1}),
    # Elsewhere it is part of the text.
    ('["a "b" c"]', ['a "b" c']),
    ('["a "b""]', ['a "b"']),
    ('["a 5" b"]', ['a 5" b']),
    ('{"h": "6\'2" tall"}', {"h": "6'2\" tall"}),
    ('{"a": "b "c", d"}', {"a": 'b "c", d'}),
    ('{"a": "b "c" "d" e"}', {"a": 'b "c" "d" e'}),
    ('{"a": "b "c"", "d": 1}', {"a": 'b "c"', "d": 1}),
    ("['it's']", ["it's"]),
    ("{“a”: “b ”c” d”}", {"a": "b ”c” d"}),
    # A quote that is left alone may be one too many, or another is missing.
    ('["a"b"]', None),
    ('["a", b"]', None),
    ('["a", truly"]', None),
    ('["a" 5 b"]', None),
    ('{"a": "b" , [c"}', None),
    # Not so in keys, nor at the root.
    ('{"a"b": 1}', None),
    ('"a "b" c"', None),
]


@pytest.mark.parametrize("text, value", QUOTED)
def test_a_quote_ends_a_string_or_is_part_of_it(text: str, value: Any) -> None:
    for cut in cuttings(text):
        document = Document(repair=True)
        try:
            for piece in cut:
                document.feed(piece)
            document.flush()
        except InvalidJSON:
            assert value is None
        else:
            assert same(document.value, value)


CUT_OFF: list[tuple[str, Any]] = [
    ("[", []),
    ('{"a', {}),
    ('{"a"', {}),
    ('{"a":', {}),
    ('{"a": "', {"a": ""}),
    ('{"a": "b\\', {"a": "b"}),
    ('{"a": "b\\u00e', {"a": "b"}),
    ('{"a": "b\\ud83d', {"a": "b"}),
    ('{"a": "b"', {"a": "b"}),
    ('{"a": "b" ', {"a": "b"}),
    ('{"a": "b",', {"a": "b"}),
    ("{'a': 'b", {"a": "b"}),
    ("{'a", {}),
    ("{a", {}),
    ("[1", []),
    ("[1, -", [1]),
    ("[1, -Inf", [1]),
    ("[1 ", [1]),
    ("[t", [True]),
    ("[nul", [None]),
    ("[Fa", [False]),
    ("[N", [None]),
    ("[1 /", [1]),
    ("[1 // x", [1]),
    ("[1 /* x *", [1]),
    ("[1, ..", [1]),
    ('"a', "a"),
    ("[[{", [[{}]]),
]


@pytest.mark.parametrize("text, value", CUT_OFF)
def test_a_cut_off_end_is_closed(text: str, value: Any) -> None:
    for cut in cuttings(text):
        document = Document(repair=True)
        for piece in cut:
            document.feed(piece)
        assert not document.complete
        document.flush()
        assert document.complete
        assert same(document.value, value)
        assert document.repairs[-1][:2] == ("cut-off", len(text))


def test_half_a_fence_is_cut_off_too() -> None:
    assert read("[0, 1 ``") == ([0, 1], ["cut-off"])


def test_without_the_rule_a_cut_off_end_is_truncated() -> None:
    for text, _ in CUT_OFF:
        assert isinstance(refusal(text, repair=RULES.keys() - {"cut-off"}), Truncated), text


@pytest.mark.parametrize("end", [1, 2, 3])
def test_half_a_character_is_cut_off_with_the_rest(end: int) -> None:
    for text in ("['a😀", "[1 // 😀", '["x"] so 😀', '{"😀'):
        document = Document(repair=True)
        document.feed(text.encode()[:-end])
        document.flush()
        assert document.complete
    with pytest.raises(InvalidJSON, match="the rest of a UTF-8 character"):
        list(values("[0, 1]😀".encode()[:-end], repair="fences"))


REFUSALS = [
    ('{"a": }', "expected a value but got '}' at character 6, in root.a"),
    ('{"a": , "b": 1}', "expected a value but got ',' at character 6, in root.a"),
    ("{'x': {a b: 1}}", "expected ':' but got 'b' at character 9, in root.x.a"),
    ("{'a' = 1}", "expected ':' but got '=' at character 5, in root.a"),
    ("[0, {: 1}]", "expected a key or '}' but got ':' at character 5, in root[1]"),
    ('{"a": b}', "expected a value but got 'b' at character 6, in root.a"),
    ("[0, 1; 2]", "expected ',' or ']' but got ';' at character 5, in root[1]"),
    ("[1, 2024-01-01]", "expected ',' or ']' but got '-' at character 8, in root[1]"),
    ("[1, 007]", "expected ',' or ']' but got '0' at character 5, in root[1]"),
    ("[1, 50%]", "expected ',' or ']' but got '%' at character 6, in root[1]"),
    ('{"a": 1,000}', "expected ':' but got '}' at character 11, in root[\"000\"]"),
    (
        "[1, ..., ...]",
        "expected one reading but there are two: there is nothing here, or values were left out,"
        " at character 4, in root[1]",
    ),
    ("[1, .x]", "expected a value but got '.' at character 4, in root[1]"),
    ("[1, +x]", "expected a value but got '+' at character 4, in root[1]"),
    ("[1, tru]", "expected 'true' but got ']' at character 7, in root[1]"),
    ("[1, -x]", "expected a digit but got 'x' at character 5, in root[1]"),
    ("{'a': 1, 'a\x80': 2 !}", "expected ',' or '}' but got '!' at character 17, in root"),
]


@pytest.mark.parametrize("text, message", REFUSALS)
def test_no_value_and_no_name_is_invented(text: str, message: str) -> None:
    for cut in cuttings(text):
        outcome = report(cut, repair=True)
        assert outcome.error is not None and outcome.error[1] == message


# ---- reports, limits, layers ----


def test_a_repair_has_its_place() -> None:
    text = "So:\n\n{'a': 1,\r\n  b: 2,\n}"
    for cut in cuttings(text):
        parser = Parser(repair=True)
        for piece in cut:
            parser.feed(piece)
        parser.flush()
        assert parser.repairs == [
            Repair("leading-text", 0, 1, 1, end=5),
            Repair("single-quotes", 6, 3, 2, end=7),
            Repair("bare-keys", 17, 4, 3, end=18),
            Repair("trailing-commas", 23, 5, 1, end=24),
        ]


@pytest.mark.parametrize("text", ["[,,,]", "['a' 'b']", "{a:1,b:2,c:3}", "[\\\\\\"])
def test_more_repairs_than_allowed_end_it(text: str) -> None:
    for cut in cuttings(text):
        outcome = report(cut, repair=True, limits=Limits(repairs=2))
        if outcome.error is not None and outcome.error[0] == "LimitExceeded":
            assert outcome.error[2] == "repairs"
            assert len(outcome.repairs) == 2


@pytest.mark.parametrize("text", ["['abc']", "{abc: 1}", "{'abc': 1}", '["a 5" b"]', "['a\\'b']"])
def test_odd_strings_keep_to_the_limit(text: str) -> None:
    assert read(text, limits=Limits(string=6))
    for cut in cuttings(text):
        outcome = report(cut, repair=True, limits=Limits(string=1))
        assert outcome.error is not None and outcome.error[:3:2] == ("LimitExceeded", "string")


def test_depth_is_checked_as_ever() -> None:
    assert str(refusal("[[[1", limits=Limits(depth=2))).startswith("more than 2 (depth)")


@pytest.mark.parametrize(
    "text, pending",
    [
        ("[0, 1", ((1,), "1")),
        ("[0, -1.", ((1,), "-1.")),
        ("[0, nul", ((1,), "nul")),
        ("[0, -", None),
        ("[0, -Inf", None),
        ("[0, Tru", None),
        ("[0, 1 ", None),
        ("12", None),
        ("tru", None),
        ("[1", None),
    ],
)
def test_what_is_pending_is_certain(text: str, pending: Any) -> None:
    parser = Parser(repair=True)
    parser.feed(text)
    assert parser.pending == pending


def test_through_the_short_ways() -> None:
    text = "So: {'a': [1, 2,], 'b': 'x"
    assert list(values(by_character(text), repair=True))[-1] == {"a": [1, 2], "b": "x"}
    assert partial(text, repair=True) == {"a": [1, 2], "b": "x"}
    rebuilder = Rebuilder()
    rebuilder.feed(fragments(text, repair=True))
    assert rebuilder.value == {"a": [1, 2], "b": "x"}


def test_updates_carry_the_repairs() -> None:
    text = "So: [{a: 1}, {b: 'x"
    all_updates = list(updates([text[:12], text[12:]], "ONE-BY-ONE", repair=True))
    assert [
        (one.status, one.data, [repair.rule for repair in one.repairs]) for one in all_updates
    ] == [
        ("COMPLETED", {"a": 1}, ["leading-text", "bare-keys"]),
        (
            "COMPLETED",
            {"b": "x"},
            ["leading-text", "bare-keys", "bare-keys", "single-quotes", "cut-off"],
        ),
    ]


def test_a_cut_off_end_completes_its_entity_or_is_an_error_without_repair() -> None:
    text = '[{"a": "x'
    assert [one.status for one in updates(text, "REALTIME", repair=True)] == [
        "PARTIAL",
        "COMPLETED",
    ]
    assert [one.status for one in updates(text, "REALTIME")] == ["PARTIAL", "ERROR"]


@pytest.mark.parametrize("text", ['{"b": 1N "c": 2}', '{"a": x"", "b": 1}', '[a"", 0]', "[a {1}]"])
def test_a_bare_value_that_ends_at_no_delimiter_is_refused(text: str) -> None:
    """Nothing of it is lost, and nothing of it becomes part of what follows."""
    with pytest.raises(InvalidJSON):
        read(text, repair=RULES.keys())


def test_a_string_that_a_prefix_begins_is_read_like_any_other() -> None:
    for cut in cuttings(text := 'say "hi" now, ok"}'):
        document = Document(repair=True, prefix='{"a": "')
        for piece in cut:
            document.feed(piece)
        document.flush()
        assert document.value == {"a": 'say "hi" now, ok'}, text
