"""Errors as data: what an error knows is in its fields, and crosses the wire in `to_dict()`."""

from __future__ import annotations

import pickle
from decimal import Decimal
from typing import Any

import pytest

import jsonrill
from jsonrill import (
    InvalidJSON,
    InvalidSchema,
    JsonrillError,
    LimitExceeded,
    Limits,
    Parser,
    PartialStream,
    ToolCalls,
    Truncated,
    Update,
)
from jsonrill.errors import (
    FieldNotFound,
    FragmentError,
    Gap,
    InvalidMessage,
    RevisionError,
    StreamClosed,
)
from support import cuttings

PLACE: dict[str, Any] = {"offset": 7, "line": 2, "column": 3, "path": ("a", 1)}
WIRE = {"offset": 7, "line": 2, "column": 3, "path": "root.a[1]"}
TREE: list[tuple[JsonrillError, dict[str, Any]]] = [
    (InvalidJSON("m", **PLACE), {"code": "INVALID_JSON", **WIRE}),
    (Truncated("m", **PLACE), {"code": "TRUNCATED", **WIRE, "reason": "ended"}),
    (
        LimitExceeded("m", limit="keys", **PLACE),
        {"code": "LIMIT_EXCEEDED", **WIRE, "limit": "keys"},
    ),
    (InvalidSchema("m", rule="type", **PLACE), {"code": "INVALID_SCHEMA", **WIRE, "rule": "type"}),
    (FieldNotFound("m", field="a[*]"), {"code": "FIELD_NOT_FOUND", "field": "a[*]"}),
    (FragmentError("m", path=("a",)), {"code": "INVALID_FRAGMENT", "path": "root.a"}),
    (RevisionError("m", path=("a",), written=1, now=2), {"code": "REVISION", "path": "root.a"}),
    (Gap("m"), {"code": "GAP"}),
    (InvalidMessage("m"), {"code": "INVALID_MESSAGE"}),
    (StreamClosed("m"), {"code": "CLOSED"}),
    (jsonrill.errors.SourceFailed("m"), {"code": "SOURCE_FAILED"}),
    (jsonrill.errors.UnknownSource("m"), {"code": "UNKNOWN_SOURCE"}),
]
SCHEMA = {
    "type": "object",
    "properties": {"a": {"items": {"required": ["x"]}}, "n": {"type": "string"}},
}


@pytest.mark.parametrize("error, wire", TREE, ids=lambda error: type(error).__name__)
def test_an_error_writes_its_known_facts(error: JsonrillError, wire: dict[str, Any]) -> None:
    assert error.to_dict() == {"message": "m", **wire}
    assert pickle.loads(pickle.dumps(error)).to_dict() == error.to_dict()
    assert error.message == str(error) == "m"


def test_the_tree_is_tested_whole() -> None:
    raised = {
        value
        for value in vars(jsonrill.errors).values()
        if isinstance(value, type) and issubclass(value, JsonrillError)
    }
    assert raised == {type(error) for error, _ in TREE} | {JsonrillError}


def errors(text: str, **options: Any) -> list[Any]:
    """Return the errors of the updates, which must be equal for every cutting of `str` or bytes."""
    by_cutting = []
    for cut in cuttings(text):
        for pieces in (cut, [piece.encode("utf8", "surrogatepass") for piece in cut]):
            stream = PartialStream("REALTIME", **options)
            updates: list[Update] = []
            for piece in pieces:
                updates += stream.feed(piece)
            updates += stream.flush()
            by_cutting.append([update.error for update in updates if update.error is not None])
    assert all(outcome == by_cutting[0] for outcome in by_cutting)
    return by_cutting[0]


@pytest.mark.parametrize(
    "marked, options, path",
    [
        ('{"a": [\n  1,\n ^é', {}, "root.a[1]"),
        ('{"a": [\n  1,\n  ^x', {}, "root.a[1]"),
        ('{"a": [\n  1,\n\n^', {}, "root.a[1]"),
        ("[\n[\n^[", {"limits": Limits(depth=2)}, "root[0][0]"),
        # Refused at their end: the value began lines before that.
        ('\n{"a": [\n  ^{"y": 1,\n "z": [\n2]\n}\n]}', {"schema": SCHEMA}, "root.a[0]"),
        ('{\n"n":\n\n  ^12\n}', {"schema": SCHEMA}, "root.n"),
        ('{\n"n":\n\n  ^tru\n}', {"schema": SCHEMA}, "root.n"),
        (
            '[{"n": "é\\n"},\n\n {"n":\n^1}]',
            {"schema": {"type": "array", "items": SCHEMA}},
            "root[1].n",
        ),
        ('Here:\n{"n": ""\n"a":\n [^{}]}', {"schema": SCHEMA, "repair": True}, "root.a[0]"),
    ],
)
def test_the_place_of_an_error_does_not_depend_on_the_cutting(
    marked: str, options: dict[str, Any], path: str
) -> None:
    offset, text = marked.index("^"), marked.replace("^", "")
    error = errors(text, **options)[0]
    before = text[:offset].split("\n")
    assert (error["offset"], error["line"], error["column"], error["path"]) == (
        offset,
        len(before),
        len(before[-1]) + 1,
        path,
    )
    assert f"at character {offset}, in {path}" in error["message"]


def test_a_number_that_is_refused_has_begun_all_the_same() -> None:
    text = '{"n": 1e99999999999999999999}'
    all_errors = errors(text, schema=SCHEMA, parse_float=Decimal)
    assert all_errors[0]["code"] == "INVALID_SCHEMA" and all_errors[0]["rule"] == "type"
    parser = Parser(parse_float=Decimal)
    with pytest.raises(InvalidJSON):
        parser.feed(text)
    assert parser.pending == (("n",), text[6:-1], 6)


def test_updates_and_calls_report_the_same_violation() -> None:
    text = '{\n "a": [{"x": 1},\n  {"y": {\n}}]\n}'
    [expected] = errors(text, schema=SCHEMA)
    assert expected == {
        "code": "INVALID_SCHEMA",
        "message": expected["message"],
        "offset": 21,
        "line": 3,
        "column": 3,
        "path": "root.a[1]",
        "rule": "required",
    }
    calls = ToolCalls("openai_chat", schemas={"f": SCHEMA})
    for piece in ("", text[:30], text[30:]):
        call = {"index": 0, "id": "a", "function": {"name": "f", "arguments": piece}}
        calls.feed({"id": "m", "choices": [{"delta": {"tool_calls": [call]}}]})
    assert calls.calls[0].error == expected
