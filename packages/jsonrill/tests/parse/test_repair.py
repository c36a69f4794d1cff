"""Near-JSON: how typical texts are read, which are refused, and what is reported."""

from __future__ import annotations

import json
from typing import Any

import pytest

from jsonrill import (
    Document,
    InvalidJSON,
    JsonrillError,
    LimitExceeded,
    Parser,
    Truncated,
    loads,
    updates,
)
from jsonrill.errors import CutShort
from jsonrill.parse.machine import Repair
from jsonrill.parse.options import RULES
from support import HARDER, ROOT, by, cuttings
from support.costs import assert_linear
from support.documents import same

CASES = json.loads((ROOT / "cases/repair.json").read_text("utf8"))["cases"]


def read(pieces: Any, **options: Any) -> Document:
    document = Document(**{"repair": True, **options})
    for piece in pieces:
        document.feed(piece)
    document.flush()
    return document


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_a_text_of_the_cases_is_repaired(case: Any) -> None:
    for pieces in cuttings(case["text"]):
        if "refused" in case:
            with pytest.raises(InvalidJSON) as caught:
                read(pieces)
            assert caught.value.offset == case["refused"]
            continue
        document = read(pieces)
        assert same(document.value, case["value"])
        assert [[item.rule, item.offset] for item in document.repairs] == case["repairs"]


def test_every_rule_has_a_natural_text() -> None:
    used = {rule for case in CASES for rule, _ in case.get("repairs", ())}
    assert used == set(RULES)


@pytest.mark.parametrize(
    "text",
    [
        '{"a": [1, -2.5e3, true, null, "x\\n\\u00e9\\ud83d\\ude00"], "b": {}, "c": []}',
        '  [ [ ] , { "" : "" } ]  ',
        '"He said \\"yes\\", then"',
        "-12.5",
        "null",
        '{"a":"b"' + " " * 2000 + ',"c":1}',
        '{"a"' + " " * 2000 + ":1}",
        "[" * 200 + "]" * 200,
    ],
)
def test_valid_json_is_read_as_by_the_strict_parser(text: str) -> None:
    for pieces in ([text], list(text)):
        strict, repairing = Parser(), Parser(repair=True)
        wanted = [item for piece in pieces for item in strict.feed(piece)] + strict.flush()
        found = [item for piece in pieces for item in repairing.feed(piece)] + repairing.flush()
        assert found == wanted and repairing.repairs == []


def test_only_selected_rules_apply() -> None:
    assert read(["[1, /* two */ 3,]"], repair={"commas", "comments"}).value == [1, 3]
    assert read(['{"a": "b'], repair="cut-off").value == {"a": "b"}
    examples = {
        "around": "Sure: {}\n[1]",
        "commas": "[1,]",
        "comments": "[1 /* one */]",
        "quotes": "['a']",
        "inner-quotes": '["say "a" b"]',
        "keys": "{a: 1}",
        "words": "[None]",
        "newlines": '["a\nb"]',
        "escapes": r'["\d"]',
        "spaces": "[1,\u00a02]",
        "ellipses": "[1, ...]",
        "cut-off": "[1",
    }
    assert examples.keys() == set(RULES)
    for rule, text in examples.items():
        assert {item.rule for item in read([text]).repairs} == {rule}
        with pytest.raises(JsonrillError):
            read([text], repair=set(RULES) - {rule})


def test_an_unknown_rule_raises_with_a_suggestion() -> None:
    with pytest.raises(ValueError, match="'comma': did you mean commas"):
        Document(repair={"comma"})
    with pytest.raises(ValueError, match="there are around, commas"):
        Document(repair=["magic"])


def test_repairs_are_reported_when_they_happen() -> None:
    reported: list[Repair] = []
    assert loads("{'a': 1,\n b: 2}", repair=True, on_repair=reported.append) == {"a": 1, "b": 2}
    assert reported == [Repair("quotes", 1, 1, 2), Repair("keys", 10, 2, 2)]
    *_, last = updates(["{'a': ", "1,}"], repair=True)
    assert [item.rule for item in last.repairs] == ["quotes", "commas"]


def test_a_text_that_just_ends_is_closed_and_reported() -> None:
    document = read(['{"title": "Storm", "tags": ["a", "b'])
    assert document.value == {"title": "Storm", "tags": ["a", "b"]}
    assert document.repairs == [Repair("cut-off", 35, 1, 36)]


@pytest.mark.parametrize(
    "text", ['{"a": "b}', '{"a": "b "c', '{"a": "b\n', r'{"path": "C:\dir\"', '{"a": 1, "b: 2}']
)
def test_a_cut_string_that_may_have_lost_its_end_is_refused(text: str) -> None:
    with pytest.raises(InvalidJSON):
        read([text])


@pytest.mark.parametrize("text", ['{""a"": ""b""}', "{''a'': 1}", '[{"a": 1, ""b"": 2}]'])
def test_doubled_quotes_around_a_key_are_refused(text: str) -> None:
    """Quotes are doubled in CSV: they are not part of the key."""
    for pieces in ([text], list(text)):
        with pytest.raises(InvalidJSON, match="escaped quotes"):
            read(pieces)


@pytest.mark.parametrize("reason", ["length", "lost", "filtered", "refused"])
def test_an_answer_that_the_provider_cut_is_truncated(reason: str) -> None:
    for text in ('{"a": ["x', '{"a": 1', "[1, 2", "{'a': 'b'", "Here it is:"):
        document = Document(repair=True)
        document.feed(text)
        with pytest.raises(Truncated) as caught:
            document.flush(CutShort(reason))
        assert caught.value.reason == reason and not document.complete


@pytest.mark.slow
@pytest.mark.parametrize(
    "unit", ['"', "'", "[", "]", "{", "`", "\\", "/", '["', '" "', ", ", "//\n", "a:"]
)
@pytest.mark.parametrize("before", ["", '["', '{"a": "', "Text "])
def test_a_megabyte_of_one_kind_is_read_in_linear_time(unit: str, before: str) -> None:
    def read_all(count: int) -> None:
        for pieces in ([before + unit * count], by(1000, before + unit * count)):
            try:
                read(pieces)
            except (InvalidJSON, LimitExceeded):
                pass

    assert_linear(lambda count: lambda: read_all(count), 5_000 // len(unit))
    read_all((1_000_000 if HARDER else 100_000) // len(unit))


@pytest.mark.slow
def test_paths_with_u_are_read_in_linear_time() -> None:
    assert_linear(lambda count: lambda: read(['["' + r"C:\users\util " * count + '"]']), 1_000)
    text = r"C:\users\util " * 70_000
    assert read([f'["{text}"]']).value == [text]


def test_at_most_a_thousand_characters_wait() -> None:
    """Held text is shown or refused at most a thousand characters later."""
    document = Document(repair=True)
    document.feed('["a" "b')
    with pytest.raises(InvalidJSON):
        document.feed("b" * 1001)
    for text in ("{" + " " * 5000, '["a"' + " " * 5000):
        document = Document(repair=True)
        document.feed(text)
        assert document.started
