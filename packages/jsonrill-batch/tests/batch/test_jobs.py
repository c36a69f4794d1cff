"""What each kind of job makes of a stream: what the library makes of it, in rows."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonrill.options import Mode

import jsonrill
import support
from jsonrill_batch import Job, Summary, process_shard, whole
from support import at, at_random, by, examples
from support.documents import values
from support.prefixes import cuttings, strict_texts

COLOURS = '{"colors": [{"hex": "#94"}, {"hex": "#10"}], "ok": true}'


def do(job: Job, *records: Any) -> tuple[list[Any], list[Any], Summary]:
    rows: list[str] = []
    bad: list[str] = []
    lines = [json.dumps(record) for record in records]
    summary = process_shard(lines, job, rows.append, bad.append)
    return [json.loads(row) for row in rows], [json.loads(row) for row in bad], summary


def stream(text: str, size: int = 4, **more: Any) -> dict[str, Any]:
    return {"id": "s", "chunks": by(size, text), **more}


@examples(40)
@given(values)
def test_values_are_the_last_value(value: Any) -> None:
    rows, bad, summary = do(Job(kind="values"), stream(json.dumps(value)))
    assert rows == [{"id": "s", "value": value}] and not bad
    assert summary.ok == summary.streams == 1


def test_what_was_good_before_an_error_is_kept() -> None:
    rows, bad, summary = do(Job(kind="values"), stream('{"a": [1, 2, x]}'), stream('{"a": "b'))
    assert [row["value"] for row in rows] == [{"a": [1, 2]}, {"a": "b"}]
    error = rows[0]["error"]
    assert (error["code"], error["offset"], error["path"]) == ("INVALID_JSON", 13, "root.a[2]")
    assert summary.errors == {"INVALID_JSON": 1, "TRUNCATED": 1}
    assert not bad and summary.ok == 0 and summary.streams == 2


def test_nothing_is_a_stream_too() -> None:
    rows, _, summary = do(Job(kind="values"), {"id": 1, "chunks": []})
    assert rows[0]["value"] is None and rows[0]["error"]["code"] == "TRUNCATED"
    assert summary.pieces == 0 and not summary.first


def test_repairs_are_told_and_counted() -> None:
    rows, _, summary = do(Job(kind="values", repair=True), stream('Sure: {"a": [1,],}'))
    assert rows[0]["value"] == {"a": [1]}
    assert [rule for rule, _ in rows[0]["repairs"]] == [
        "around",
        "commas",
        "commas",
    ]
    assert summary.repairs == {"around": 1, "commas": 2}
    rows, _, _ = do(Job(kind="values", repair=("around",)), stream('Sure: {"a": [1,],}'))
    assert rows[0]["error"]["code"] == "INVALID_JSON"


SCHEMA = {
    "type": "object",
    "properties": {"n": {"type": "integer", "maximum": 9}, "s": {"maxLength": 3}},
    "required": ["n"],
}


@pytest.mark.parametrize(
    "text, offset",
    [
        ('{"n": 1, "s": "abc"}', None),
        ('{"n": "x", "s": 1}', 6),
        ('{"n": 1, "s": "abcd efgh ijkl"}', 14),
        ('{"n": 10}', 6),
        ('{"s": "a"}', 0),
        ("[1, 2]", 0),
    ],
)
def test_check_tells_where_a_schema_is_broken(text: str, offset: int | None) -> None:
    pytest.importorskip("jsonschema_rs")
    for size in (1, 3, 100):
        rows, _, summary = do(Job(kind="check", schema=SCHEMA), stream(text, size))
        assert rows[0]["ok"] == (offset is None)
        if offset is not None:
            assert rows[0]["error"]["code"] == "INVALID_SCHEMA"
            assert rows[0]["error"]["offset"] == offset
            assert summary.errors == {"INVALID_SCHEMA": 1}
    values = do(Job(kind="values", schema=SCHEMA), stream(text))[0][0]
    assert ("error" in values) == (offset is not None)


def test_a_schema_does_not_hide_other_errors() -> None:
    pytest.importorskip("jsonschema_rs")
    job = Job(kind="check", schema=SCHEMA)
    rows, _, _ = do(job, stream('{"n": 1, x'), stream('{"n": 1'), stream(""))
    codes = [row["error"]["code"] for row in rows]
    assert codes == ["INVALID_JSON", "TRUNCATED", "TRUNCATED"]


def test_characters_after_an_error_are_counted() -> None:
    _, _, summary = do(Job(kind="check"), stream("x" + "." * 99, 10))
    assert (summary.characters, summary.after_error) == (100, 90)


def test_check_tells_how_long_the_first_value_took() -> None:
    record = {"id": 1, "chunks": ["{", '"a', '": ', '"x', 'y"}', "\n"], "start": 10}
    record["times"] = [11, 12, 13, 14, 15, 16]
    rows, _, summary = do(Job(kind="check"), record)
    assert rows[0]["first"] == {"characters": 8, "pieces": 4, "seconds": 4.0}
    assert rows[0]["last"] == {"characters": 11, "pieces": 5, "seconds": 5.0}
    assert (rows[0]["characters"], rows[0]["pieces"]) == (12, 6)
    assert summary.first["seconds"].most == 4.0 and summary.last["pieces"].most == 5


@pytest.mark.parametrize("mode", ["BATCH", "ALL-TOGETHER", "ONE-BY-ONE", "PROGRESSIVE", "REALTIME"])
def test_updates_are_those_of_the_library(mode: Mode) -> None:
    rows, _, summary = do(Job(kind="updates", mode=mode, entity="colors"), stream(COLOURS))
    wanted = [
        update.to_dict() for update in jsonrill.updates(by(4, COLOURS), mode, entity="colors")
    ]
    assert [row.pop("seq") for row in rows] == list(range(len(wanted)))
    assert all(row.pop("id") == "s" for row in rows)
    assert rows == wanted and summary.rows == len(wanted)


def test_an_error_update_is_counted() -> None:
    rows, _, summary = do(Job(kind="updates"), stream("[1, 2, oops] and more"))
    assert [row["status"] for row in rows] == ["COMPLETED", "COMPLETED", "ERROR"]
    assert summary.errors == {"INVALID_JSON": 1} and summary.ok == 0
    assert summary.characters == 21 and summary.after_error > 0


def test_entities_may_have_a_schema_each() -> None:
    pytest.importorskip("jsonschema_rs")
    entity = {"colour": "colors", "ok": "ok"}
    schema = {"colour": {"required": ["rgb"]}, "ok": {"type": "boolean"}}
    job = Job(kind="updates", entity=entity, schema=schema)
    rows, _, _ = do(Job.from_json(json.loads(json.dumps(job.to_json()))), stream(COLOURS))
    assert [row["status"] for row in rows] == ["ERROR", "ERROR", "COMPLETED"]


def test_one_name_may_have_its_schema_too() -> None:
    pytest.importorskip("jsonschema_rs")
    job = Job(kind="updates", entity="colors", schema={"colors": {"required": ["rgb"]}})
    rows, _, _ = do(job, stream(COLOURS))
    assert [row["status"] for row in rows] == ["ERROR", "ERROR"]


def test_fragments_are_those_of_the_library() -> None:
    rows, _, _ = do(Job(kind="fragments"), stream(COLOURS))
    wanted = [jsonrill.wire.to_wire(fragment) for fragment in jsonrill.fragments(by(4, COLOURS))]
    for number, row in enumerate(rows):
        assert (row.pop("id"), row.pop("seq")) == ("s", number)
    assert rows == wanted


def test_fragments_before_an_error_are_there_and_then_it() -> None:
    rows, _, summary = do(Job(kind="fragments"), stream("[1, x", 100))
    assert [row.get("kind") for row in rows] == ["StartArray", "CompleteNumber", None]
    assert rows[-1]["error"]["code"] == "INVALID_JSON" and summary.errors == {"INVALID_JSON": 1}


SNAPSHOTS = [{"a": "He"}, {"b": [], "a": "Hello"}, {"b": [1, 2], "a": "Hello"}]


def test_chunks_join_to_the_last_snapshot() -> None:
    rows, _, summary = do(Job(kind="chunks"), {"id": "s", "snapshots": SNAPSHOTS})
    assert rows == [{"id": "s", "chunks": list(jsonrill.chunks(SNAPSHOTS))}]
    assert summary.pieces == 3 and summary.last["pieces"].most == 3
    # What it writes is a log again.
    again, _, _ = do(Job(kind="values"), *rows)
    assert again == [{"id": "s", "value": SNAPSHOTS[-1]}]


@pytest.mark.parametrize("kind", ["chunks", "values", "updates", "fragments", "check"])
def test_a_revision_is_an_error_of_the_stream(kind: str) -> None:
    record = {"id": "s", "snapshots": [{"a": "Hello"}, {"a": "Bye"}]}
    rows, bad, summary = do(Job(kind=kind), record)
    assert rows[-1]["error"]["code"] == "REVISION" and rows[-1]["error"]["path"] == "root.a"
    assert summary.errors == {"REVISION": 1} and not bad
    kept, _, summary = do(Job(kind=kind, on_revision="keep"), record)
    assert not summary.errors and "error" not in kept[-1]


def call_events(*arguments: str) -> list[Any]:
    def event(call: dict[str, Any], end: str | None = None) -> dict[str, Any]:
        return {"choices": [{"index": 0, "delta": {"tool_calls": [call]}, "finish_reason": end}]}

    first = {"index": 0, "id": "c1", "function": {"name": "weather", "arguments": ""}}
    rest = [event({"index": 0, "function": {"arguments": text}}) for text in arguments]
    end = {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}
    return [event(first), *rest, end]


def test_calls_are_those_of_the_stream() -> None:
    events = call_events('{"city": "Li', 'sbon"}')
    rows, _, summary = do(Job(kind="calls"), {"id": 1, "events": events})
    (call,) = rows[0]["calls"]
    assert (call["id"], call["name"], call["status"]) == ("c1", "weather", "complete")
    assert call["args"] == {"city": "Lisbon"} and "raw" not in call
    assert summary.ok == 1 and summary.characters == 18
    # They are not the text of the answer, and that is said.
    values, bad, _ = do(Job(kind="values"), {"id": 1, "events": events})
    assert not values and bad[0]["code"] == "NO_TEXT" and "calls" in bad[0]["message"]


def test_calls_that_went_wrong_keep_their_text() -> None:
    rows, _, summary = do(
        Job(kind="calls"),
        {"events": call_events('{"city": oops}')},
        {"events": call_events('{"city": "Li')[:-1]},
    )
    assert [row["calls"][0]["status"] for row in rows] == ["error", "truncated"]
    assert [row["calls"][0]["raw"] for row in rows] == ['{"city": oops}', '{"city": "Li']
    assert summary.errors == {"INVALID_JSON": 1, "TRUNCATED": 1}


def test_calls_may_have_schemas() -> None:
    pytest.importorskip("jsonschema_rs")
    job = Job(kind="calls", schemas={"weather": {"required": ["country"]}})
    rows, _, summary = do(job, {"events": call_events('{"city": "x"}')})
    assert rows[0]["calls"][0]["error"]["code"] == "INVALID_SCHEMA"
    assert summary.errors == {"INVALID_SCHEMA": 1}


@pytest.mark.parametrize("kind, form", [("chunks", "chunks"), ("calls", "snapshots")])
def test_a_form_that_a_job_cannot_use_goes_to_quarantine(kind: str, form: str) -> None:
    rows, bad, summary = do(Job(kind=kind), {"id": 1, form: []})
    assert not rows and bad[0]["code"] == "WRONG_FORM" and form in bad[0]["message"]
    assert summary.streams == 0 and summary.quarantined == {"WRONG_FORM": 1}


@pytest.mark.parametrize(
    "options, message",
    [
        ({"kind": "nothing"}, "kind is one of"),
        ({"kind": "check", "mode": "BATCH"}, "mode is for updates"),
        ({"kind": "chunks", "repair": True}, "repair is for"),
        ({"kind": "check", "schemas": {}}, "schemas is for calls"),
        ({"kind": "values", "max_line": 0}, "max_line"),
        ({"kind": "values", "repair": ("nonsense",)}, "no repair rule is named"),
    ],
)
def test_options_without_effect_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Job(**options)


@pytest.mark.parametrize(
    "options, message",
    [
        ({"kind": "updates", "mode": "SOMETIMES"}, "mode"),
        ({"kind": "calls", "provider": "nobody"}, "provider"),
        ({"kind": "check", "null": "nothing"}, "null"),
        ({"kind": "chunks", "on_revision": "weep"}, "on_revision"),
        ({"kind": "check", "schema": "nowhere:Thing"}, "nowhere"),
        ({"kind": "check", "schema": "json:nothing"}, "nothing"),
        ({"kind": "check", "schema": "plain text"}, "module:Name"),
    ],
)
def test_options_that_a_stage_refuses_are_found_before_any_line(
    options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        process_shard([], Job(**options))


def test_a_schema_may_be_the_name_of_a_type() -> None:
    pytest.importorskip("pydantic")
    job = Job(kind="check", schema="batch.models:Trip")
    rows, _, _ = do(job, stream('{"city": "Faro", "days": 2}'), stream('{"city": [1]}'))
    assert [row["ok"] for row in rows] == [True, False]


def test_a_job_survives_as_json() -> None:
    job = Job(
        kind="updates",
        schema={"type": "object"},
        repair=("around", "comments"),
        limits=jsonrill.Limits(depth=7),
        entity={"a": "b"},
    )
    assert Job.from_json(json.loads(json.dumps(job.to_json()))) == job
    assert Job(kind="values").to_json() == {"kind": "values"}


@pytest.mark.parametrize("kind", ["check", "values", "updates", "fragments"])
def test_snapshots_may_contradict_after_another_error(kind: str) -> None:
    job = Job(kind=kind, limits=jsonrill.Limits(string=3))
    record = {"snapshots": [{"a": "long"}, {"a": "longer"}, {"a": "no"}]}
    rows, bad, summary = do(job, record)
    assert not bad and rows[-1]["error"]["code"] == "LIMIT_EXCEEDED"
    assert summary.errors == {"LIMIT_EXCEEDED": 1} and summary.after_error == len("er")


def test_a_stream_counts_once_for_each_code() -> None:
    pytest.importorskip("jsonschema_rs")
    rows, _, summary = do(Job(kind="updates", schema={"type": "string"}), stream("[1, 2, 3]"))
    assert len(rows) == 3 and summary.errors == {"INVALID_SCHEMA": 1}


def test_an_error_is_no_value() -> None:
    _, _, summary = do(Job(kind="updates"), stream(""), stream("x"), stream("[1]"))
    assert summary.first["characters"].count == summary.last["characters"].count == 1


@pytest.mark.parametrize("options", [{"field": "a..b"}, {"id_field": "["}, {"id_field": ""}])
def test_a_place_that_is_none_is_refused_before_any_line(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="not a path"):
        Job(kind="values", **options)


@pytest.mark.parametrize("kind", ["values", "check", "updates", "fragments"])
def test_repairs_after_the_last_row_are_counted(kind: str) -> None:
    _, _, summary = do(Job(kind=kind, repair=True), stream("[1, 2,]"))
    assert summary.repairs == {"commas": 1}


@pytest.mark.parametrize("kind", ["calls", "values"])
def test_what_are_no_events_is_put_aside_by_each_job(kind: str) -> None:
    rows, bad, _ = do(Job(kind=kind), {"events": ["not an event", 5, {"a": 1}]})
    assert not rows and bad[0]["code"] == "NOT_A_STREAM"


# ---- valid streams are read in one go ----

SPACED = [
    ' {"a" : 1 }\n',
    "[ ]",
    "\t[ [ ] ]",
    "[ 1.5e3 , -2 ] \n",
    '{"a\\"b": "c\\\\"}',
    '{"a": "\\"", "b": {}}',
]
TWICE = ['{"a": 1, "a": 1}', '{"a": "x", "a": "x"}', '{"a": null, "a": null}', '{"a": [], "a": []}']
HALVES = [
    '["\\ud83d\\ude00"]',
    '["\\ud83d"]',
    '["\\\\ud83d"]',
    '{"a": "\\ud83d"  }',
    '["\\ud83dx"]',
    "[" * 120 + '"\\ud83d"' + "]" * 120,
]
SCALARS = ["1", " 1 ", '""', '"a"', "null", '"\\ud83d"']


def both_ways(job: Job, monkeypatch: pytest.MonkeyPatch, *records: Any) -> None:
    """In one go and piece by piece: the same rows, the same summary."""

    def refuse(*_: Any) -> None:
        raise ValueError("piece by piece")

    at_once = do(job, *records)
    with monkeypatch.context() as patch:
        patch.setattr(whole, "read_at_once", refuse)
        rows, bad, summary = do(job, *records)
    assert at_once[:2] == (rows, bad)
    assert at_once[2] == summary


@pytest.mark.parametrize("kind", ["values", "check"])
def test_a_short_text_is_measured_the_same_in_one_go(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    short = [text for text, good in strict_texts(3) if good]
    records = [{"chunks": pieces} for text in short for pieces in cuttings(text)]
    for text in (*SPACED, *TWICE, *HALVES, *SCALARS):
        records += [{"chunks": pieces} for pieces in support.cuttings(text)]
        records += [{"chunks": at([place, place], text)} for place in range(len(text) + 1)]
    both_ways(Job(kind=kind), monkeypatch, *records)


@pytest.mark.parametrize("schema", [None, {"type": ["object", "array"], "maxItems": 2}])
def test_any_stream_is_measured_the_same_in_one_go(
    schema: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    @examples(60)
    @given(st.lists(values, min_size=1, max_size=3), st.integers(0, 9), st.booleans())
    def check(documents: list[Any], seed: int, spaced: bool) -> None:
        texts = [json.dumps(value, indent=1 if spaced else None) for value in documents]
        chunks = [{"chunks": at_random(text, seed)} for text in texts]
        cut = [{"chunks": by(3, text[: len(text) - seed])} for text in texts]
        events = [{"events": [*map(openai_text, at_random(text, seed))]} for text in texts]
        snapshots = [{"snapshots": [documents]}, {"text": texts[0]}]
        both_ways(job, monkeypatch, *chunks, *cut, *events, *snapshots)

    job = Job(kind="check", schema=schema)
    check()


def openai_text(text: str) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": {"content": text}}]}


def test_an_answer_that_was_cut_is_not_complete_in_one_go(monkeypatch: pytest.MonkeyPatch) -> None:
    last = {"choices": [{"index": 0, "delta": {}, "finish_reason": "length"}]}
    record = {"events": [openai_text('{"a": 1}'), last]}
    both_ways(Job(kind="check"), monkeypatch, record)
