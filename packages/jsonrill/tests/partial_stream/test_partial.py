"""Updates: the spec's own examples, then tables of what each mode and option shows."""

from __future__ import annotations

import copy
import json
import pickle
from typing import Any

import pytest

from jsonrill import Limits, PartialStream, Update, sse
from jsonrill.partial_stream import Mode
from support import by, by_character, cases
from support.streams import MODES, run, short


@pytest.mark.parametrize("mode", MODES)
def test_the_examples_of_the_spec(mode: Mode) -> None:
    for case in cases("updates.json")["cases"]:
        stream, seen, updates = PartialStream(mode, entity=case["entity"]), [], []
        for after, piece in enumerate([*case["chunks"], None]):
            for update in stream.flush() if piece is None else stream.feed(piece):
                seen.append({"after": after, "update": update.to_dict()})
                updates.append(update)
        assert seen == case["modes"][mode]["updates"], case["name"]
        assert b"".join(sse(updates)).decode() == case["modes"][mode]["sse"], case["name"]
        assert json.dumps(seen) == json.dumps(case["modes"][mode]["updates"]), "another order"


@pytest.mark.parametrize("case", cases("update_streams.json")["cases"], ids=lambda c: c["name"])
def test_the_cases_that_other_languages_read_too(case: dict[str, Any]) -> None:
    options = dict(case["options"])
    if "limits" in options:
        options["limits"] = Limits(**options["limits"])
    stream, seen = PartialStream(**options), []
    for after, piece in enumerate([*case["pieces"], None]):
        for update in stream.flush() if piece is None else stream.feed(piece):
            fields = update.to_dict(*case.get("also", ()))
            if update.error is not None:
                message = update.error["message"].partition(": pass limits=")[0]
                fields["error"] = {**update.error, "message": message}
            seen.append({"after": after, "update": fields})
    assert json.dumps(seen) == json.dumps(case["updates"])


@pytest.mark.parametrize("case", cases("update_streams.json")["refused"])
def test_options_that_other_languages_refuse_too(case: dict[str, Any]) -> None:
    with pytest.raises(ValueError) as error:
        PartialStream(**case["options"])
    assert str(error.value) == case["message"]


A, B = {"name": "a.txt", "size": 12}, {"name": "b"}


@pytest.mark.parametrize(
    "mode, text, shown",
    [
        # An empty entity is not sent, but an empty container inside is.
        ("PROGRESSIVE", '{"a": {"b": ["x", 12, true]}}', [
            {"a": {}}, {"a": {"b": []}}, {"a": {"b": ["x"]}}, {"a": {"b": ["x", 12]}},
            {"a": {"b": ["x", 12, True]}},
        ]),
        ("REALTIME", '{"a": {"b": ["x", 12, true]}}', [
            {"a": {}}, {"a": {"b": []}}, {"a": {"b": [""]}}, {"a": {"b": ["x"]}},
            {"a": {"b": ["x", 1]}}, {"a": {"b": ["x", 12]}}, {"a": {"b": ["x", 12, True]}},
        ]),
        ("REALTIME", '"ab"', ["a", "ab"]),
        ("PROGRESSIVE", '"ab"', []),
        ("REALTIME", "12", [1, 12]),
        ("PROGRESSIVE", "12 ", []),
        ("REALTIME", "null", []),
        ("REALTIME", "{}", []),
        ("REALTIME", "[]", []),
        # Half an escape, half a surrogate pair and half a number change nothing.
        ("REALTIME", '{"a": "\\u00e9\\ud83d\\ude00"}', [{"a": ""}, {"a": "é"}, {"a": "é😀"}]),
        ("REALTIME", '{"a": -1.5e1}', [{"a": -1}, {"a": -1.5}, {"a": -15.0}]),
        ("REALTIME", '{"a": 1.0}', [{"a": 1}]),
        ("REALTIME", '{"a": -0.5}', [{"a": 0}, {"a": -0.5}]),
    ],
)  # fmt: skip
def test_partials_character_by_character(mode: Mode, text: str, shown: list[Any]) -> None:
    updates = run(by_character(text), mode)
    assert [update.data for update in updates if update.status == "PARTIAL"] == shown
    completed = [] if text == "[]" else [json.loads(text)]
    assert [update.data for update in updates if update.status == "COMPLETED"] == completed


def test_an_entity_that_closes_in_a_piece_sends_only_its_completed() -> None:
    updates = PartialStream("REALTIME").feed('[{"a": 1}, {"a": 2}, "x')
    assert short(updates) == [
        (0, "COMPLETED", {"a": 1}), (1, "COMPLETED", {"a": 2}), (2, "PARTIAL", "x"),
    ]  # fmt: skip


def test_realtime_may_hide_growing_numbers_and_show_literals_early() -> None:
    text = '{"n": 12, "b": true, "z": null}'
    plain = [update.data for update in run(by_character(text), "REALTIME", partial_numbers=False)]
    assert {"n": 1} not in plain and {"n": 12} in plain
    early = [update.data for update in run(by(1, text), "REALTIME", early_literals=True)]
    assert early[2] == {"n": 12, "b": True}
    pieces = ['{"n": 12, "b": t', "rue"]
    stream = PartialStream("REALTIME", early_literals=True)
    assert [[u.data for u in stream.feed(piece)] for piece in pieces] == [
        [{"n": 12, "b": True}], [],
    ]  # fmt: skip


@pytest.mark.parametrize("spelling", ["realtime", "Real-Time", "ONE_BY_ONE", "all-together"])
def test_spellings_of_modes(spelling: Any) -> None:
    if spelling == "Real-Time":
        with pytest.raises(ValueError, match="mode must be one of"):
            PartialStream(spelling)
    else:
        mode: Any = spelling.upper().replace("_", "-")
        assert PartialStream(spelling).feed("[[1, 2") == PartialStream(mode).feed("[[1, 2")


@pytest.mark.parametrize(
    "options, error",
    [
        ({"mode": "STREAM"}, ValueError),
        ({"mode": None}, ValueError),
        ({"send": "everything"}, ValueError),
        ({"models": "partial"}, TypeError),
        ({"zero_values": True}, ValueError),
        ({"repair": {"magic"}}, ValueError),
        ({"speed": 3}, TypeError),
    ],
)
def test_wrong_options_are_refused(options: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        PartialStream(**{"mode": "REALTIME", **options})


def test_fields_in_their_order_and_absent_ones_left_out() -> None:
    [update] = PartialStream("REALTIME", entity="a", send="both").feed('{"a": {"b": [1, "x')
    assert update.to_json() == (
        '{"index":0,"status":"PARTIAL","data":{"b":[1,"x"]},"entity":"a",'
        '"delta":[["set","",{"b":[1,"x"]}]]}'
    )
    [error] = PartialStream("REALTIME").feed("?")
    assert list(error.to_dict()) == ["status", "data", "error"]
    assert (error.index, error.entity, error.delta, error.data) == (None, None, None, None)
    [null] = PartialStream("ONE-BY-ONE").feed("null")
    assert null.to_json() == '{"index":0,"status":"COMPLETED","data":null}'


def test_a_delta_replaces_the_data_until_the_end() -> None:
    stream = PartialStream("REALTIME", send="delta")
    [first], [second], [last] = (stream.feed(piece) for piece in ('{"a": "x', "yz", '"}'))
    assert first.to_dict()["delta"] == [["set", "", {"a": "x"}]]
    assert second.to_dict() == {
        "index": 0,
        "status": "PARTIAL",
        "delta": [["append", "/a", "yz"]],
    }
    assert (second.data, second.open_path, second.is_complete("a")) == (None, ("a",), False)
    assert (last.data, last.delta) == ({"a": "xyz"}, [])


def test_an_update_has_its_path_open_path_and_repairs() -> None:
    stream = PartialStream("REALTIME", entity="days[*].steps[*]")
    [update] = stream.feed('{"days": [{"steps": [{"n": 1, "done": [true], "note": "a')
    assert update.path == ("days", 0, "steps", 0)
    assert (update.entity, update.repairs, update.model) == ("steps", [], None)
    assert update.open_path == ("note",)
    assert [update.is_complete(path) for path in ("n", "done", ("done", 0), "note", "x", ())] == [
        True, True, True, False, False, False,
    ]  # fmt: skip
    assert update.to_dict("path", "open_path", "repairs") == {
        "index": 0,
        "status": "PARTIAL",
        "data": {"n": 1, "done": [True], "note": "a"},
        "entity": "steps",
        "path": "root.days[0].steps[0]",
        "open_path": "root.note",
        "repairs": [],
    }
    with pytest.raises(ValueError, match="no 'colour'"):
        update.to_dict("colour")
    [done] = stream.feed('"}')
    assert (done.open_path, done.is_complete(()), done.is_complete("note")) == (None, True, True)
    assert done.to_dict("open_path")["open_path"] is None


def test_a_growing_number_is_the_open_value() -> None:
    stream = PartialStream("REALTIME")
    [update] = stream.feed('{"a": [1, 2')
    assert (update.data, update.open_path) == ({"a": [1, 2]}, ("a", 1))
    assert update.is_complete(("a", 0)) and not update.is_complete(("a", 1))
    [root] = PartialStream("REALTIME").feed("12")
    assert (root.data, root.open_path, root.is_complete(())) == (12, (), False)


def test_updates_compare_by_content() -> None:
    [one], [two] = (PartialStream("ONE-BY-ONE").feed('{"a": 1}') for _ in "12")
    assert one == two == Update(0, "COMPLETED", {"a": 1})
    assert one != Update(0, "COMPLETED", {"a": 1}, "a") and one != {"a": 1}
    assert repr(one) == 'Update({"index":0,"status":"COMPLETED","data":{"a":1}})'
    with pytest.raises(TypeError):
        hash(one)


def test_updates_can_be_copied_and_sent_to_other_processes() -> None:
    stream = PartialStream("REALTIME", entity="a", send="delta")
    updates = stream.feed('{"a": [{"b": 1}, {"c": ["x') + stream.feed("?\\q")
    assert [update.status for update in updates] == ["COMPLETED", "PARTIAL", "ERROR"]
    for update in updates:
        for twin in (copy.deepcopy(update), pickle.loads(pickle.dumps(update))):
            assert twin == update and twin.to_json("path") == update.to_json("path")
            assert (twin.path, twin.open_path) == (update.path, update.open_path)
            assert twin.is_complete(("b",)) == (update.index == 0)


def test_keys_that_come_twice() -> None:
    shown = [u.data for u in run(by_character('{"a": 1, "a": 1, "a": "x", "a": "x"}'), "REALTIME")]
    assert shown == [{"a": 1}, {"a": ""}, {"a": "x"}, {"a": ""}, {"a": "x"}, {"a": "x"}]
    stream = PartialStream("REALTIME")
    pieces = ['{"a": [1]', ', "a": [1]', ', "a": [1', "2]"]
    assert [len(stream.feed(piece)) for piece in pieces] == [1, 0, 0, 1]
    progressive = run(by_character('{"a": [1], "a": [1], "b": 2}'), "PROGRESSIVE")
    assert [u.data for u in progressive] == [
        {"a": []}, {"a": [1]}, {"a": []}, {"a": [1]}, {"a": [1], "b": 2},
    ]  # fmt: skip


def test_bytes_and_empty_pieces() -> None:
    text = '[{"a": "é😀"}]'
    assert short(run(by(1, text.encode()), "ONE-BY-ONE")) == [(0, "COMPLETED", {"a": "é😀"})]
    stream = PartialStream("REALTIME")
    assert [stream.feed(piece) for piece in ("", b"", "  \n")] == [[], [], []]
    with pytest.raises(TypeError):
        stream.feed(3)  # type: ignore[arg-type]
    assert short(stream.feed('{"a": 1}')) == [(0, "COMPLETED", {"a": 1})]


def test_after_the_end_nothing_comes() -> None:
    stream = PartialStream("ONE-BY-ONE")
    stream.feed("{}")
    assert not stream.ended
    assert (stream.flush(), stream.flush(), stream.feed("{}"), stream.ended) == ([], [], [], True)
