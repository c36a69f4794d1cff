"""Errors are updates: their code, index and data, in every mode and for every cutting."""

from __future__ import annotations

from typing import Any

import pytest

from jsonrill import Limits, PartialStream, Update, partial
from jsonrill.partial_stream import Mode
from support import by, cuttings
from support.documents import is_prefix
from support.streams import MODES, check_law, run

PARTIAL_MODES: list[Mode] = ["ONE-BY-ONE", "PROGRESSIVE", "REALTIME"]


def ends(text: str, mode: Mode, **options: Any) -> list[dict[str, Any]]:
    """Return all but PARTIALs, checked to be equal for every cutting; ERRORs without messages."""
    results = []
    for pieces in cuttings(text):
        updates = run(pieces, mode, **options)
        assert all(update.status == "PARTIAL" for update in updates if not is_end(update))
        results.append([update.to_dict() for update in updates if is_end(update)])
    assert all(result == results[0] for result in results)
    for update in results[0]:
        if "error" in update:
            update["error"] = update["error"]["code"]
    return results[0]


def is_end(update: Update) -> bool:
    return update.status != "PARTIAL"


def error(data: Any, index: int | None = None, code: str = "INVALID_JSON") -> dict[str, Any]:
    fields = {"index": index, "status": "ERROR", "data": data, "error": code}
    return fields if index is not None else {k: v for k, v in fields.items() if k != "index"}


def done(data: Any, index: int = 0) -> dict[str, Any]:
    return {"index": index, "status": "COMPLETED", "data": data}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "text, known",
    [
        # The error has the open entity's index, and as data what was known before the character.
        ('{"a": "x", "b": 1 "c"', {"a": "x", "b": 1}),
        ('{"a": "x", "b": "yz', {"a": "x", "b": "yz"}),
        ('{"a": "x\\q', {"a": "x"}),
        ('{"a": "x\n', {"a": "x"}),
        ('{"a": ["x", {"b": tru', {"a": ["x", {}]}),
        ('{"a": ["x", {"b": trux', {"a": ["x", {}]}),
        ('{"a": [1, 23', {"a": [1]}),
        ('{"a": [1, 2.x', {"a": [1]}),
        ('{"a": [1, -', {"a": [1]}),
        ('{"a"', {}),
        ("{", {}),
        ('"ab', "ab"),
        ('"', ""),
        ("12.", None),
        ("-", None),
        ("nul", None),
        ("nux", None),
        ("1e+x", None),
    ],
)
def test_an_error_in_the_root(mode: Mode, text: str, known: Any) -> None:
    data = [] if mode == "BATCH" else known
    assert ends(text, mode) == [error(data, 0)]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("text", ["", "  \n", "Sure! {}", "x", "]", ",1", "'a'", "```json\n{}"])
def test_nothing_there_or_text_before_the_value(mode: Mode, text: str) -> None:
    assert ends(text, mode) == [error([] if mode == "BATCH" else None)]


@pytest.mark.parametrize("mode", PARTIAL_MODES)
def test_text_after_the_value(mode: Mode) -> None:
    assert ends('{"a": 1} Hope it helps', mode) == [done({"a": 1}), error(None)]
    assert ends("[1, 2] 3", mode) == [done(1), done(2, 1), error(None)]


def test_finished_entities_are_not_lost() -> None:
    text = '[{"a": 1}, {"b": 2}, {"c": "x'
    finished = [done({"a": 1}), done({"b": 2}, 1)]
    for mode in [*PARTIAL_MODES, "ALL-TOGETHER"]:
        assert ends(text, mode) == [*finished, error({"c": "x"}, 2)]
        assert ends(text[:20], mode) == [*finished, error(None)]
    assert ends(text, "BATCH") == [error([{"a": 1}, {"b": 2}], 2)]
    assert ends('{"a": 1} x', "ALL-TOGETHER") == [done({"a": 1}), error(None)]
    assert ends('{"a": 1} x', "BATCH") == [error([{"a": 1}])]


def test_an_open_entity_keeps_its_data_when_others_wait_for_the_end() -> None:
    modes: dict[str, Mode] = {"title": "REALTIME", "items": "BATCH"}
    stream = PartialStream(modes, entity=["title", "items"], send="both")
    *_, partial, failed, batch = stream.feed('{"items": [1, 2], "title": "Ro') + stream.flush()
    assert (partial.data, failed.data, failed.delta) == ("Ro", "Ro", [])
    assert (failed.entity, failed.status, failed.index) == ("title", "ERROR", 0)
    assert (batch.entity, batch.status, batch.data) == (None, "ERROR", [1, 2])
    assert failed.error == batch.error


@pytest.mark.parametrize("mode", PARTIAL_MODES)
@pytest.mark.parametrize(
    "text, open_entity",
    [
        # A value that has begun is open, if only by its first character.
        ("[1, 2", 1), ("[1, -", 1), ("[1, t", 1), ("[1, trx", 1), ("[1, -x", 1), ('[1, "', 1),
        ("[1, {", 1), ("[1, ", None), ("[1, x", None), ("[1", 0), ("[", None), ("[1 ", None),
        ("[1, ]", None), ("[true, fals", 1), ("[[1], [", 1), ("[1]]", None),
    ],
)  # fmt: skip
def test_which_entity_is_open(mode: Mode, text: str, open_entity: int | None) -> None:
    last = ends(text, mode)[-1]
    assert last["status"] == "ERROR" and last.get("index") == open_entity
    named = run([text], mode, entity="colors")[-1]
    assert named.entity == (None if open_entity is None else "colors")
    if mode == "REALTIME":
        assert ends(text, mode, early_literals=True)[-1] == last


def test_outside_entities_none_is_open() -> None:
    for text in ('{"a": 12', '{"a": tr', '{"a": ["x', '{"colors": x', '{"colors": [1]'):
        update = run([text], "REALTIME", entity="colors")[-1]
        assert (update.status, update.index, update.entity) == ("ERROR", None, None), text
    update = run(['{"colors": [1, 2'], "REALTIME", entity="colors")[-1]
    assert (update.index, update.entity, update.data) == (1, "colors", None)
    update = run(['{"colors": 2'], "REALTIME", entity="colors")[-1]
    assert (update.index, update.entity, update.data) == (0, "colors", None)


def test_the_message_names_the_place() -> None:
    [update] = PartialStream("REALTIME").feed('{"a": [1, x')
    assert update.error == {
        "code": "INVALID_JSON",
        "message": "expected a value but got 'x' at character 10, in root.a[1]",
        "offset": 10,
        "line": 1,
        "column": 11,
        "path": "root.a[1]",
    }
    assert update.open_path == ("a",) and update.is_complete(("a", 0))
    stream = PartialStream("REALTIME")
    stream.feed('{"a": "x')
    [update] = stream.flush()
    assert update.error is not None
    assert update.error["message"].startswith("expected the end of the string but the text ended")
    assert update.open_path == ("a",)


@pytest.mark.parametrize("mode", MODES)
def test_after_an_error_nothing_comes(mode: Mode) -> None:
    stream = PartialStream(mode)
    assert [update.status for update in stream.feed("[1, x")][-1] == "ERROR"
    assert stream.ended
    assert (stream.feed(", 2]"), stream.feed("}"), stream.flush()) == ([], [], [])


def test_an_error_comes_instead_of_what_the_same_piece_would_have_shown() -> None:
    stream = PartialStream("REALTIME")
    assert [u.data for u in stream.feed('{"a": "x')] == [{"a": "x"}]
    assert [(u.status, u.data) for u in stream.feed('yz", ?')] == [("ERROR", {"a": "xyz"})]


@pytest.mark.parametrize(
    "limits, text, known",
    [
        (Limits(depth=2), '{"a": ["x", ["y"]]}', {"a": ["x"]}),
        (Limits(string=3), '{"a": "x", "b": "abcd"}', {"a": "x", "b": "abc"}),
        (Limits(number=3), '{"a": 1, "b": 12345}', {"a": 1}),
        (Limits(keys=1), '{"a": 1, "b": 2}', {"a": 1}),
        (Limits(text=9), '{"a": "xyz"}', {"a": "xy"}),
        (Limits(text=8), '{"a": true}', {}),
        (Limits(text=3), "[1234]", None),
        (Limits(text=2), "[true]", None),
        (Limits(number=2), "[1234]", None),
    ],
)
@pytest.mark.parametrize("mode", PARTIAL_MODES)
def test_a_limit_is_an_error_update_that_names_it(
    mode: Mode, limits: Limits, text: str, known: Any
) -> None:
    assert ends(text, mode, limits=limits) == [error(known, 0, "LIMIT_EXCEEDED")]


def test_each_mode_sends_the_delta_of_an_error() -> None:
    for mode in MODES:
        update = run(['{"a": "x'], mode, send="both")[-1]
        data = [] if mode == "BATCH" else {"a": "x"}
        assert update.data == data
        first = mode != "REALTIME"
        assert update.delta == ([["set", "", data]] if first else [])
    [update] = PartialStream("REALTIME", send="delta").feed("?")
    assert update.to_dict()["delta"] == [] and update.to_dict()["data"] is None


def test_repairs_are_reported_and_nothing_is_taken_back() -> None:
    text = 'Sure:\n```json\n{"a": [1, 2,], "b": True, "c": "x'
    updates = run(by(3, text), "REALTIME", repair=True)
    assert [update.status for update in updates[:-1]] == ["PARTIAL"] * (len(updates) - 1)
    last = updates[-1]
    assert (last.status, last.data) == ("COMPLETED", {"a": [1, 2], "b": True, "c": "x"})
    rules = [repair.rule for repair in last.repairs]
    assert rules == ["around", "commas", "words", "cut-off"]
    counts = [len(update.repairs) for update in updates]
    assert counts == sorted(counts) and counts[0] == 1
    assert last.to_dict("repairs")["repairs"][0] == {
        "rule": "around", "offset": 0, "line": 1, "column": 1,
    }  # fmt: skip
    [batch] = run([text], "BATCH", repair=True)
    assert [repair.rule for repair in batch.repairs] == rules


def test_a_number_that_repair_may_drop_is_not_shown() -> None:
    for text in ('{"a": "x", "b": 12', "[1, 23", '{"a": [1, -', "[[12", "[1, tr", '{"a": {"b": [3'):
        for pieces in cuttings(text):
            updates = run(pieces, "REALTIME", repair=True, send="both")
            check_law(updates)
            assert updates[-1].status == "COMPLETED"
            value = partial(text, repair=True)
            done = [u.data for u in updates if is_end(u)]
            assert done == (value if isinstance(value, list) else [value])
            for update in updates:
                assert is_prefix(update.data, done[update.index or 0], numbers_grow=True)
    some = run(list('{"b": 12'), "REALTIME", repair={"around"})
    assert [update.data for update in some] == [{"b": 1}, {"b": 12}, {}]


def test_a_zero_value_whose_value_never_comes() -> None:
    schema = {"properties": {"n": {"type": "integer"}, "a": {"items": {"type": "string"}}}}
    options: dict[str, Any] = {"schema": schema, "zero_values": True, "send": "both"}
    shown = [{"a": ["x"]}, {"a": ["x"], "n": 0}, {"a": ["x"]}]
    for mode in PARTIAL_MODES[-2:]:
        updates = run(['{"a": ["x"], ', '"n": ', " "], mode, repair=True, **options)
        assert [update.data for update in updates] == shown
        check_law(updates)


def test_prose_that_begins_with_a_number_is_not_shown() -> None:
    for pieces in cuttings('1. First: {"a": 1}'):
        updates = run(pieces, "REALTIME", repair=True)
        assert [(u.index, u.data) for u in updates if is_end(u)] == [(0, {"a": 1})]
        assert all(isinstance(u.data, dict) for u in updates)


def test_a_number_limit_of_zero_rejects_every_number_with_repair_too() -> None:
    stream = PartialStream(repair=True, limits=Limits(number=0))
    (update,) = stream.feed('{"a": 1}')
    assert update.error is not None and update.error["limit"] == "number" and update.data == {}
