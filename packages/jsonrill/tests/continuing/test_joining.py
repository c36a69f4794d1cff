"""How the text of a second answer joins the first one: each way, and what is not certain."""

from __future__ import annotations

import json
from typing import Any

import pytest

from jsonrill.continuing.joined import JoinedText
from jsonrill.continuing.joining import Joiner


def join(first: str, *answers: str, size: int = 3, schema: Any = None) -> str | None:
    """The text that comes of it; None if it is not certain. Nothing that was shown changes."""
    joined = JoinedText(schema)
    joined.add(first)
    shown = joined.take()
    joiner = Joiner([joined])
    for answer in answers:
        for at in range(0, len(answer), size):
            joiner.feed(answer[at : at + size])
            if joiner.way is not None:
                shown += joiner.way.joined.take()
        joiner.flush()
    if joiner.way is None or joiner.way.dead:
        return None
    shown += joiner.way.joined.take()
    assert shown == joiner.way.joined.text
    return shown


DOCUMENT = '{"title": "One two three four", "n": 12, "list": [true, {"a": "b"}], "end": "last"}'
VALUE = json.loads(DOCUMENT)
CUTS = range(1, len(DOCUMENT))


@pytest.mark.parametrize("cut", CUTS)
def test_all_ways_end_in_the_same_value(cut: int) -> None:
    first, rest, size = DOCUMENT[:cut], DOCUMENT[cut:], (1, 7, 1000)[cut % 3]
    for answer in (
        rest,
        DOCUMENT,
        json.dumps(VALUE, indent=1),
        json.dumps(dict(reversed(VALUE.items()))),
        f"```json\n{rest}\n```",
        f"Here is the rest:\n{rest}",
        f"Sure!\n\nHere it is:\n\n```\n{rest}\n```\nThat is all.",
        f"The complete answer:\n```json\n{DOCUMENT}\n```",
    ):
        text = join(first, answer, size=size)
        assert text is not None and json.loads(text) == VALUE, answer


@pytest.mark.parametrize("cut", [cut for cut in CUTS if cut > 20])
def test_what_is_repeated_is_left_out(cut: int) -> None:
    text = join(DOCUMENT[:cut], DOCUMENT[cut - 20 :])
    assert text is None or json.loads(text) == VALUE


@pytest.mark.parametrize("cut", CUTS)
def test_only_the_missing_fields(cut: int) -> None:
    joined = JoinedText()
    joined.add(DOCUMENT[:cut])
    document = joined.document()
    known, path = document.value, document.open_path
    missing = {
        key: it for key, it in VALUE.items() if key not in known or (key,) == (path or ())[:1]
    }
    text = join(DOCUMENT[:cut], json.dumps(missing))
    assert text is not None and json.loads(text) == VALUE


@pytest.mark.parametrize(
    ("first", "answer"),
    [
        # A number that ends in the digit with which the next one may begin.
        ("[1, 1", "1, 2]"),
        # Elements that are repeated, or new ones.
        ("[0, 0, 0, ", "0, 0, 1]"),
        ('[{"id": 7}, {"id": 7}, ', '{"id": 7}, {"id": 8}]'),
        # One word twice.
        ('{"a": "the ', 'the end"}'),
        # An empty string that is repeated, or its quote.
        ('["", "", "', '"", "one"]'),
        # Escapes that come twice, and a run of one character.
        (r'{"a": "\ud83d\udc69\u200d\ud83d', r'\udc69\u200d\ud83d\udc67"}'),
        ('{"a": "AAAAAAAAAAAAAAAAAA', 'AAAAAAAAAAAAAAAAAAAAAAA"}'),
        # A line break in a string, and no word of an announcement.
        ('{"a": "one', 'two\nthree"}'),
    ],
)
def test_what_is_not_certain_is_not_joined(first: str, answer: str) -> None:
    assert join(first, answer) is None


@pytest.mark.parametrize(
    ("first", "answer", "value"),
    [
        ('{"a": "hel', 'lo"}', {"a": "hello"}),
        ('{"a": 1', '2, "b": 3}', {"a": 12, "b": 3}),
        ('{"a": -', "1.5e3}", {"a": -1500.0}),
        # Half a number is not repeated.
        ('{"a": 2000', '0000.0, "b": 1}', {"a": 20000000.0, "b": 1}),
        ("[12.12", "12, 3]", [12.1212, 3]),
        ('{"a": tr', "ue}", {"a": True}),
        (r'{"a": "\u00', 'e9"}', {"a": "é"}),
        (r'{"a": "\ud83d', r'\ude00"}', {"a": "😀"}),
        (r'{"a": "\ud83d\u', 'de00"}', {"a": "😀"}),
        ('{"a": "C:' + "\\", "\\" + 'Home"}', {"a": "C:\\Home"}),
        ('{"a"', ': "b"}', {"a": "b"}),
        ('{"a": "b"', "}", {"a": "b"}),
        (
            '{"code": "function() ',
            '{ return 1; }", "x": 2}',
            {"code": "function() { return 1; }", "x": 2},
        ),
        ('{"a": "', '", "b": ""}', {"a": "", "b": ""}),
        ('{"a": [', '{"a": 1}]}', {"a": [{"a": 1}]}),
        ('{"a": ', '{"b": 1}}', {"a": {"b": 1}}),
        ("[", "[1, 2], [3]]", [[1, 2], [3]]),
        ('{"a": "```', 'py"}', {"a": "```py"}),
        # One character comes again.
        ('{"a": 1, "', '"b": 2}', {"a": 1, "b": 2}),
        ('{"a"', '": 1}', {"a": 1}),
        ('{"a": 1,', ', "b": 2}', {"a": 1, "b": 2}),
        # The sentence before the rest begins as the string ends.
        (
            '{"a": "No. Here is the rest',
            'Here is the rest of the JSON:\n\n of it", "b": 2}',
            {"a": "No. Here is the rest of it", "b": 2},
        ),
    ],
)
def test_places_that_are_hard_to_cut(first: str, answer: str, value: Any) -> None:
    for size in (1, 3, 100):
        text = join(first, answer, size=size)
        assert (None if text is None else json.loads(text)) == value


@pytest.mark.parametrize(
    ("first", "answer", "path"),
    [
        ('{"a": 1, "b": "x', '{"a": 2, "b": "xy"}', ("a",)),
        ('{"a": {"b": [1, 2, ', '{"a": {"b": [1, 3, 4]}}', ("a", "b", 1)),
        ('{"a": "Rome, the', '{"a": "Paris"}', ("a",)),
        ('{"a": [1, ', '{"a": {}}', ("a",)),
    ],
)
def test_what_is_complete_stays(first: str, answer: str, path: Any) -> None:
    joined = JoinedText()
    joined.add(first)
    joiner = Joiner([joined])
    joiner.feed(answer)
    joiner.flush()
    assert joiner.way is None and joiner.contradiction is not None
    assert joiner.contradiction.path == path


@pytest.mark.parametrize(
    ("first", "answer"),
    [
        # It may be the next member, and stopped early.
        ('{"¶":', ' [], "é": "Wind'),
        ('{"a": ["years quiet", "with a house to', '["years quiet", "with a '),
        ('{"title": {"a": 1}, "x": [', '{"title": 11, "price": "The'),
    ],
)
def test_a_text_that_stopped_early_contradicts_nothing(first: str, answer: str) -> None:
    joined = JoinedText()
    joined.add(first)
    joiner = Joiner([joined])
    joiner.feed(answer)
    joiner.flush()
    assert joiner.contradiction is None


def test_who_goes_on_with_a_prefill_repeats_nothing() -> None:
    for first, answer, value in (
        ("[1, 1", "1, 2]", [1, 11, 2]),
        ('["the', ' the end"]', ["the the end"]),
        ('{"a": "the ', 'the end"}', {"a": "the the end"}),
    ):
        joined = JoinedText()
        joined.add(first)
        joiner = Joiner([joined], dropped="")
        joiner.feed(answer)
        joiner.flush()
        assert joiner.way is not None and json.loads(joiner.way.joined.text) == value


def test_a_schema_decides_what_syntax_does_not() -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"type": "array", "items": {"type": "integer", "maximum": 9}}},
    }
    text = join('{"a": [1, 1', "1, 2]}", schema=schema)
    assert text is not None and json.loads(text) == {"a": [1, 1, 2]}


def test_what_is_cut_is_shown_when_it_cannot_mean_anything_else() -> None:
    shown = []
    for text in (
        '{"a": "Par',
        '{"a": 1, "b": 2',
        '{"a": 1, "b',
        '{"a": "x' + "\\u00",
        "[tr",
        "[true,",
    ):
        joined = JoinedText()
        joined.add(text)
        shown.append(joined.take())
    assert shown == ['{"a": "Par', '{"a": 1', '{"a": 1', '{"a": "x', "[", "[true"]
