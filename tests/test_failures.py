"""The tables of how functions fail (tools/failures.py) say what the functions do."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from typing import Any

import pytest

import jsonrill
from jsonrill import Answer, JsonrillError, Limits
from support import ROOT
from support.streams import collect

sys.path.append(str(ROOT / "tools"))

from failures import CAUSES, FRONTS

SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}}
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "values": jsonrill.values,
    "fields": lambda source, **how: jsonrill.fields(source, how.pop("schema", {}), **how),
    "select": lambda source, **how: jsonrill.select(source, "a", **how),
    "text": lambda source, **how: jsonrill.text(source, "a", **how),
    "texts": lambda source, **how: jsonrill.texts(source, "a", **how),
    "fragments": jsonrill.fragments,
    "loads": lambda source, **how: [jsonrill.loads(source, **how)],
    "partial": lambda source, **how: [jsonrill.partial(source, **how)],
    "content": jsonrill.content,
    "arguments": lambda source, **how: jsonrill.arguments(source, True, **how),
    "updates": jsonrill.updates,
    "tool_calls": jsonrill.tool_calls,
    "parts": jsonrill.parts,
    "run_tools": lambda source, **how: jsonrill.run_tools(source, {"f": lambda **its: 1}, **how),
}
OF_CALLS = ("tool_calls", "parts", "run_tools", "arguments")


def chunk(delta: dict[str, Any], reason: str | None = None) -> Any:
    return {"id": "c", "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}


def answer(function: str, text: str, reason: str | None = "stop") -> Any:
    if function in ("loads", "partial"):
        return text
    call = {"index": 0, "id": "1", "function": {"name": "f", "arguments": text}}
    delta = {"tool_calls": [call]} if function in OF_CALLS else {"content": text}
    return [chunk(delta), *([] if reason is None else [chunk({}, reason)])]


def source(cause: str, function: str) -> tuple[Any, dict[str, Any]]:
    """What makes a function fail for this cause: its source and its options."""
    schema: dict[str, Any] = {"schema": SCHEMA}
    if function in OF_CALLS:
        schema = {"schemas": {"f": SCHEMA}}
    if function == "select":
        schema = {"schema": {"type": "string"}}
    return {
        "json": lambda: (answer(function, '{"a": x}'), {}),
        "schema": lambda: (answer(function, '{"a": 1}'), schema),
        "cut": lambda: (answer(function, '{"a": "x', "length"), {}),
        "limit": lambda: (answer(function, '{"a": [[1]]}'), {"limits": Limits(depth=2)}),
        "provider": lambda: (
            [*answer(function, '{"a": "', None), {"error": {"message": "no"}}],
            {},
        ),
        "unknown": lambda: ([{"foo": 1}], {}),
        "field": lambda: (answer(function, '{"b": 1}'), {}),
        "use": lambda: (answer(function, "{}"), {"qqqq": 1}),
    }[cause]()


PAIRS = [(name, cause) for name in FUNCTIONS for cause in CAUSES if cause in FRONTS[name]]


@pytest.mark.parametrize(("function", "cause"), PAIRS)
def test_a_function_fails_as_its_table_says(function: str, cause: str) -> None:
    documented = FRONTS[function][cause]
    failing, options = source(cause, function)
    if cause == "use":
        with pytest.raises((TypeError, ValueError)):
            FUNCTIONS[function](failing, **options)
        return
    kind = re.search(r"raises `(\w+)`", documented)
    try:
        items, error = collect(FUNCTIONS[function](failing, **options))
    except JsonrillError as raised:
        items, error = [], raised
    if kind is not None:
        assert type(error).__name__ == kind[1]
        return
    assert error is None
    last = items[-1]
    code: Any = re.search(r"code `(\w+)`", documented)
    if function == "updates":
        assert last.status == "ERROR"
        assert last.error["reason"] == "length" if cause == "cut" else last.error["code"] == code[1]
    elif function in ("content", "arguments"):
        told = Answer()
        collect(FUNCTIONS[function](failing, answer=told))
        assert told.finish == "length"
    elif function == "partial":
        assert last == {"a": "x"}
    else:
        call = next(it.call for it in reversed(items) if it.call)
        assert call.status == ("truncated" if cause == "cut" else "error")
        assert code is None or call.error["code"] == code[1]
        if function == "run_tools" and cause in ("schema", "cut"):
            assert any(it.kind == "result" for it in items) is (cause == "schema")


def test_a_text_of_parts_that_was_cut() -> None:
    for read in (FUNCTIONS["parts"], FUNCTIONS["run_tools"]):
        parts, error = collect(read(answer("values", '{"a": "x', "length")))
        assert error is None and not parts[-1].complete and "token limit" in parts[-1].error
