"""Near-JSON by class: read as it was meant or refused, never read as something else.

The classes are those in which readers of near-JSON return a wrong value without an error.
"""

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
    PartialStream,
    Repair,
    ToolCalls,
    Truncated,
    partial,
    select,
    text,
    updates,
    values,
)
from support import ROOT, by_character, cuttings
from support.documents import is_prefix, same
from support.mutations import KINDS, run
from support.near_json import read

CASES = json.loads((ROOT / "cases/near_json.json").read_text("utf8"))["cases"]
CLASSES: dict[str, list[Any]] = {}
for case in CASES:
    CLASSES.setdefault(case["class"], []).append(case)


def test_each_class_has_five_texts() -> None:
    assert min(map(len, CLASSES.values())) >= 5
    assert len({case["text"] for case in CASES}) == len(CASES)


@pytest.mark.parametrize("name", CLASSES)
def test_a_text_is_read_as_it_was_meant_or_refused(name: str) -> None:
    for case in CLASSES[name]:
        check_reading(case)


def check_reading(case: Any) -> None:
    for cut in cuttings(case["text"]):
        document = Document(repair=True)
        shown: list[Any] = []
        try:
            for piece in cut:
                document.feed(piece)
                if document.started:
                    shown.append(document.value)
            document.flush()
        except InvalidJSON:
            assert "refused" in case, case["text"]
        else:
            assert "value" in case and same(document.value, case["value"]), case["text"]
        if case["class"] == "a key that comes twice":  # the last one counts, as in all JSON
            continue
        for one, other in zip(shown, [*shown[1:], document.value], strict=False):
            assert is_prefix(one, other), case["text"]


@pytest.mark.parametrize("name", CLASSES)
def test_cut_off_anywhere_nothing_is_shown_that_is_not_there(name: str) -> None:
    for case in CLASSES[name]:
        check_cut_off(case["text"])


def check_cut_off(whole: str) -> None:
    for end in range(len(whole)):
        document = Document(repair=True)
        try:
            document.feed(whole[:end])
            before = document.value if document.started else None
            document.flush()
        except InvalidJSON:
            continue
        assert before is None or is_prefix(before, document.value), whole[:end]


@pytest.mark.parametrize(
    "source, message",
    [
        ("[1,, 2]", "the comma is one too many, or a value is missing before it"),
        ('{"o": {"k": ["v"}, "l": 1}}', "what follows is in root.o, or in root"),
        ('{"a": "x"", "b": 1}', "this quote ends the string, or it ends a quotation in it"),
        ('{"a": {"b": 1, "c": 2}', "a bracket is missing here, or one before it"),
    ],
)
def test_a_refusal_names_both_readings(source: str, message: str) -> None:
    with pytest.raises(InvalidJSON) as caught:
        partial_or_whole(source)
    assert f"expected one reading but there are two: {message}, at character" in str(caught.value)


def partial_or_whole(source: str) -> None:
    document = Document(repair=True)
    document.feed(source)
    document.flush()


# ---- what is held back ----


def test_the_root_is_complete_with_the_next_character_or_the_end() -> None:
    document = Document(repair=True)
    document.feed('{"a": 1} \n ')
    assert document.value == {"a": 1} and not document.complete
    document.feed("S")
    assert document.complete
    stream = PartialStream(repair=True)
    assert [one.status for one in stream.feed('{"a": 1}')] == ["PARTIAL"]
    assert [one.status for one in stream.flush()] == ["COMPLETED"]


def test_a_comma_at_the_end_of_a_string_waits_for_the_next_character() -> None:
    document = Document(repair=True)
    document.feed('{"a": "one, ')
    assert document.value == {"a": "one"}
    document.feed("two")
    assert document.value == {"a": "one, two"}


@pytest.mark.parametrize("repair", [False, True])
def test_a_number_that_is_none_is_not_in_the_value(repair: bool) -> None:
    for cut in cuttings('{"n": 1, "when": 2024-05-01}'):
        document = Document(repair=repair)
        with pytest.raises(InvalidJSON):
            for piece in cut:
                document.feed(piece)
        assert document.value == {"n": 1}
    all_updates = list(updates(by_character('{"n": 1, "when": 2024-05-01}'), repair=repair))
    assert all_updates[-1].status == "ERROR" and all_updates[-1].data == {"n": 1}


# ---- options ----


def test_on_repair_is_called_with_each_repair() -> None:
    near_json = "So: {'a': {'b': 'x',},}"
    for read_it in (
        lambda **options: list(values(near_json, **options)),
        lambda **options: list(updates(near_json, **options)),
        lambda **options: list(select(near_json, "a", **options)),
        lambda **options: list(text(near_json, "a.b", **options)),
        lambda **options: partial(near_json, **options),
        lambda **options: Parser(**options).feed(near_json + "\n."),
    ):
        seen: list[Repair] = []
        read_it(repair=True, on_repair=seen.append)
        rules = [repair.rule for repair in seen]
        assert rules[:5] == ["leading-text", *["single-quotes"] * 3, "trailing-commas"]


def test_on_repair_is_called_for_the_arguments_of_calls() -> None:
    seen: list[Repair] = []
    calls = ToolCalls("openai_chat", repair=True, on_repair=seen.append)
    function = {"name": "f", "arguments": "{'a': 1}"}
    delta = {"tool_calls": [{"index": 0, "id": "c", "function": function}]}
    calls.feed({"choices": [{"index": 0, "delta": delta}]})
    calls.flush()
    assert [repair.rule for repair in seen] == ["single-quotes"]
    assert calls.calls[0].args == {"a": 1}
    with pytest.raises(ValueError, match="on_repair is a function"):
        ToolCalls(on_repair=1)  # type: ignore[arg-type]


@pytest.mark.parametrize("repair", [False, True])
def test_a_prefix_is_put_back(repair: bool) -> None:
    answer = '"title": "Storm", "n": [1, 2]}'
    for cut in cuttings(answer):
        *_, last = values(cut, prefix="{", repair=repair)
        assert last == {"title": "Storm", "n": [1, 2]}
    with pytest.raises(Truncated):
        list(values("", prefix="{"))
    with pytest.raises(InvalidJSON, match="at character 7, in root.title") as caught:
        list(values('"title"; 1', prefix="{", repair=repair))
    assert (caught.value.line, caught.value.column) == (1, 8)
    with pytest.raises(InvalidJSON, match='pass prefix="{"'):
        list(values(answer, repair=True))


# ---- with a schema ----

SCHEMA = {
    "type": "object",
    "properties": {
        "n": {"type": "integer"},
        "ok": {"type": "boolean"},
        "o": {"type": "object"},
        "l": {"type": "array", "items": {"type": "number"}},
        "s": {"type": "string"},
        "e": {"enum": ["Red", "Green"]},
    },
}
FITTING: list[tuple[str, Any]] = [
    ('{"n": "5"}', {"n": 5}),
    ('{"ok": "true", "l": ["1", 2.5]}', {"ok": True, "l": [1, 2.5]}),
    (r'{"o": "{\"a\": [1]}"}', {"o": {"a": [1]}}),
    ('{"e": "red"}', {"e": "Red"}),
    ('{"e": "Green", "s": "5"}', {"e": "Green", "s": "5"}),
    ('{"s": hello world, "n": 1}', {"s": "hello world", "n": 1}),
    ('{"s": nothing, "e": green}', {"s": "nothing", "e": "Green"}),
    ('{"s": 2024-05-01}', {"s": "2024-05-01"}),
    ('Such as {"x": 1}, or [1, 2]: {"n": 3}', {"n": 3}),
    ('{"s": and/or, "n": 1}', {"s": "and/or", "n": 1}),
    ('{"l": [1, 2, "n": 5}', {"l": [1, 2], "n": 5}),
    ('{"s": "x", "n": "5', {"s": "x"}),
    ('{"l": [1, "12.5', {"l": [1]}),
    ('{"s": "x", "e": "Red', {"s": "x"}),
    ("{'s': 'x', 'ok': 'true", {"s": "x"}),
    ('{"s": "x", "o": "{}', {"s": "x"}),
    ("""{"o": "{'x': [1, 'y',], z: None}"}""", {"o": {"x": [1, "y"], "z": None}}),
    (r'{"o": "{\"x\": {\"y\": \"a\"}, \"z\": [\"b\",]}"}', {"o": {"x": {"y": "a"}, "z": ["b"]}}),
    ('{"ok": "True", "l": "(1, 2)"}', {"ok": True, "l": [1, 2]}),
    ('{"ok": "FALSE", "l": "[1 2]"}', {"ok": False, "l": [1, 2]}),
    ('{"o": "```json\\n{}\\n```"}', {"o": {}}),
    ('{"l": ["5"}', {"l": [5]}),
    ('{"e": "red", "l": ["1", "2"}', {"e": "Red", "l": [1, 2]}),
    ("{'s': 'x', 'l': ['1.5' // one\n}", {"s": "x", "l": [1.5]}),
]


@pytest.mark.parametrize("near_json, value", FITTING)
def test_with_a_schema_the_reading_that_fits_is_taken(near_json: str, value: Any) -> None:
    pytest.importorskip("jsonschema_rs")
    for cut in cuttings(near_json):
        seen: list[Repair] = []
        *_, last = values(cut, SCHEMA, repair=True, on_repair=seen.append)
        assert same(last, value)
        assert bool(seen) == (near_json != json.dumps(value))
        if near_json.startswith("{"):
            all_updates = list(updates(cut, schema=SCHEMA, repair=True))
            assert all_updates[-1].status == "COMPLETED" and same(all_updates[-1].data, value)


@pytest.mark.parametrize(
    "near_json",
    [
        *('{"n": "five"}', '{"o": "{"}', '{"e": "blue"}', '{"n": five}', '{"ok": "yes"}'),
        *('{"n": "1,000"}', '{"n": "007"}', '{"n": "12 kg"}', '{"o": "see {}"}', '{"o": "[1]"}'),
        *('{"n": "True"}', """{"o": "{'a': 1"}"""),
    ],
)
def test_what_fits_in_no_reading_is_refused(near_json: str) -> None:
    pytest.importorskip("jsonschema_rs")
    with pytest.raises(JsonrillError):
        list(values(near_json, SCHEMA, repair=True))


@pytest.mark.parametrize(
    "value", ["a] b", "hello } world", "f(x)", "hello; world", "hello // c\n", "x /* y */", "a)"]
)
def test_a_word_without_quotes_has_no_brackets_and_no_comment(value: str) -> None:
    pytest.importorskip("jsonschema_rs")
    near_json = f'{{"s": {value}, "n": 1}}'
    for cut in cuttings(near_json):
        with pytest.raises(JsonrillError):
            list(values(cut, SCHEMA, repair=True))
        with pytest.raises(JsonrillError):
            read("".join(cut), repair=["bare-values", "trailing-text", "brackets", "comments"])


CALLS: list[tuple[str, Any]] = [
    *FITTING[:5],
    ('{"s": hello world, "n": 1}', {"s": "hello world", "n": 1}),
    ("{'n': '5', \"o\": '{}'}", {"n": 5, "o": {}}),
]


@pytest.mark.parametrize("near_json, value", CALLS)
def test_the_schema_of_a_call_guides_its_arguments(near_json: str, value: Any) -> None:
    pytest.importorskip("jsonschema_rs")
    for cut in cuttings(near_json):
        seen: list[Repair] = []
        calls = ToolCalls("openai_chat", schemas={"f": SCHEMA}, repair=True, on_repair=seen.append)
        calls.feed(_call({"name": "f", "arguments": ""}))
        for piece in cut:
            calls.feed(_call({"arguments": piece}))
        calls.flush()
        call = calls.calls[0]
        assert call.error is None and same(call.args, value) and call.raw == near_json
        assert [one[:5] for one in call.repairs] == [one[:5] for one in seen]
        assert bool(seen) == (near_json != json.dumps(value))


@pytest.mark.parametrize(
    "near_json",
    ['{"code": "print("}")", "n": 1}', '{"a": "x"} "y", "b": 1}', '{"a": 1}; "b": 2}'],
)
def test_arguments_that_may_have_ended_in_a_string_are_an_error(near_json: str) -> None:
    for cut in cuttings(near_json):
        calls = ToolCalls("openai_chat", repair=True)
        calls.feed(_call({"name": "f", "arguments": ""}))
        for piece in cut:
            calls.feed(_call({"arguments": piece}))
            assert not calls.calls[0].complete_args
        calls.flush()
        assert calls.calls[0].status == "error"


def test_without_a_schema_arguments_are_what_they_say() -> None:
    pytest.importorskip("jsonschema_rs")
    for schemas in (None, {"g": SCHEMA}):
        calls = ToolCalls("openai_chat", schemas=schemas, repair=True)
        calls.feed(_call({"name": "f", "arguments": '{"n": "5"}'}))
        calls.flush()
        assert calls.calls[0].args == {"n": "5"}


def test_the_repaired_arguments_do_not_differ_from_those_that_are_stated() -> None:
    pytest.importorskip("jsonschema_rs")
    calls = ToolCalls("vercel", schemas={"f": SCHEMA}, repair=True)
    calls.feed({"type": "tool-input-start", "toolCallId": "c", "toolName": "f"})
    calls.feed({"type": "tool-input-delta", "toolCallId": "c", "inputTextDelta": '{"n": "5"}'})
    stated = {"toolCallId": "c", "toolName": "f", "input": {"n": "5"}}
    calls.feed({"type": "tool-input-available", **stated})
    assert calls.calls[0].error is None and calls.calls[0].args == {"n": 5}


def _call(function: Any) -> Any:
    delta = {"tool_calls": [{"index": 0, "id": "c", "function": function}]}
    return {"choices": [{"index": 0, "delta": delta}]}


def test_bare_values_are_strings_where_the_rule_is_named() -> None:
    assert read('{"a": done, "b": [x y, 1]}', repair=["bare-values"])[0] == {
        "a": "done",
        "b": ["x y", 1],
    }
    both = ["bare-values", "missing-commas"]
    assert read('{"a": done "b": 1}', repair=both)[0] == {"a": "done", "b": 1}
    for near_json in ('{"a": it "is"}', '{"a": it is "b": 1}', '{"a": it"b": 1}'):
        with pytest.raises(InvalidJSON):
            read(near_json, repair=both)


# ---- mutations ----


@pytest.mark.parametrize("kind", KINDS)
def test_a_mutated_document_is_read_as_the_original_or_refused(kind: str) -> None:
    counts, wrong = run(kind, seed=7, texts=2000)
    assert not wrong, wrong[0]
    refusing = kind not in ("second", "symbol")
    assert counts["original" if refusing else "refused"]


def test_a_list_of_a_blank_text_is_refused_in_any_cutting() -> None:
    """The brackets of `["\\t"]` may belong into the quotes, also where the list is read at once."""
    row = '{"name": "a text that makes the object long enough", "b": {"c": [12], "d": ["\\t"]}}'
    text = f'[{{}}, 1, {row}}}, "e"]'
    for cut in cuttings(text):
        document = Document(repair=True)
        with pytest.raises(InvalidJSON, match="there are two"):
            for piece in cut:
                document.feed(piece)
            document.flush()


def test_errors_are_the_documented_ones() -> None:
    for case in CASES:
        for end in range(len(case["text"])):
            try:
                read(case["text"][end:])
            except (InvalidJSON, LimitExceeded):
                pass
