"""The drop-ins give what the originals give, for every beginning of texts that grow."""

from __future__ import annotations

import copy
import json
import os
import random
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import jsonrill
from jsonrill import InvalidJSON, Truncated
from jsonrill.compat import jiter as our_jiter
from support import tries

from .growing_texts import beginnings, outcome, text

MODES: tuple[Any, ...] = (False, True, "trailing-strings")
# Drop-in → the original's module, the function, the options that are tried, as bytes or not.
ORIGINALS: dict[str, tuple[str, str, list[dict[str, Any]], bool]] = {
    "jiter": ("jiter", "from_json", [{"partial_mode": mode} for mode in MODES], True),
    "pydantic_core": (
        "pydantic_core",
        "from_json",
        [{"allow_partial": mode} for mode in MODES],
        False,
    ),
    "langchain": (
        "langchain_core.utils.json",
        "parse_partial_json",
        [{}, {"strict": True}],
        False,
    ),
}


def parsers(name: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
    module, function, _, _ = ORIGINALS[name]
    theirs = getattr(import_module(module), function)
    return theirs, getattr(import_module(f"jsonrill.compat.{name}"), function)


@pytest.mark.usefixtures("eager")
@pytest.mark.parametrize("name", ORIGINALS)
def test_every_beginning_of_a_growing_text_gives_what_the_original_gives(name: str) -> None:
    theirs, ours = parsers(name)
    _, _, choices, raw = ORIGINALS[name]
    chance = random.Random(41)
    # LangChain tries all the text again for each character that it takes away.
    for _ in range(tries(30 if name == "langchain" else 120)):
        for beginning in beginnings(chance, text(chance)):
            data = beginning.encode() if raw else beginning
            for options in choices:
                expected = outcome(theirs, data, **options)
                assert outcome(ours, data, **options) == expected, (data, options)
                assert outcome(ours, data, share=True, **options) == expected, (data, options)


@pytest.mark.parametrize("name", ORIGINALS)
def test_as_it_is_used_with_many_streams_side_by_side(name: str) -> None:
    theirs, ours = parsers(name)
    _, _, choices, raw = ORIGINALS[name]
    # They begin alike: each is remembered apart from the others as soon as it is another text.
    rows = [{"id": n, "note": f"number {n}, and é"} for n in range(200)]
    streams = [json.dumps(rows[:150] + [{"stream": n}] + rows[150:]) for n in range(3)]
    for end in range(500, len(streams[0]), 411):
        for stream in streams:
            data: Any = stream[:end].encode() if raw else stream[:end]
            for options in choices:
                assert outcome(ours, data, **options) == outcome(theirs, data, **options)


@pytest.mark.usefixtures("eager")
@pytest.mark.parametrize("share", [False, True])
@pytest.mark.parametrize(
    "whole",
    [
        '{"a": 1, "a": "xy", "b": {"c": [1], "c": "xyz", "d": "x"}, "b": "x", "b": [2.5, 3]}',
        '[{"a": "x", "b": 12, "a": -3.5, "b": true}, "\\ud83d\\ude00 \\u00e9\\\\ud83d", "\\n", 1]',
        '["a\\\\", "\\\\\\ud83d\\ude00", {"\\ud83d\\ude00": 1}, "\\uD83D\\uDE00"]',
        '["good", "\\ud83d", "alone"]',
        '["good", "\\ude00\\ud83d", "the wrong way round"]',
    ],
)
def test_keys_that_come_again_and_halves_of_pairs(whole: str, share: bool) -> None:
    import jiter

    for step in (1, 3, 7):
        for end in range(1, len(whole) + step, step):
            beginning = whole[:end].encode()
            for mode in MODES:
                expected = outcome(jiter.from_json, beginning, partial_mode=mode)
                shown = outcome(our_jiter.from_json, beginning, partial_mode=mode, share=share)
                assert shown == expected, (beginning, mode)


@pytest.mark.usefixtures("eager")
@pytest.mark.parametrize("mode", [True, "trailing-strings"])
def test_what_is_open_is_nobody_elses(mode: Any) -> None:
    """Also of values that share what is complete, and if nothing has come since."""
    whole = b'{"a": [1, {"b": [2, "text", 3'
    for end in range(1, len(whole) + 1):
        first, second = (
            our_jiter.from_json(whole[:end], partial_mode=mode, share=True) for _ in range(2)
        )
        assert first == second
        assert first is not second
        if first.get("a"):
            assert first["a"] is not second["a"]
            first["a"].append("changed")
    assert our_jiter.from_json(whole, partial_mode=mode, share=True) == {
        "a": [1, {"b": [2, "text", 3]}]
    }


@pytest.mark.usefixtures("eager")
def test_options_of_jiter() -> None:
    import jiter

    data = b'{"a": 1.5, "a": [2.25, 1e5], "b": NaN, "c": 1.7'
    for options in (
        {"float_mode": "decimal"},
        {"float_mode": "lossless-float"},
        {"catch_duplicate_keys": True},
        {"allow_inf_nan": False},
        {"cache_mode": "none"},
        {"partial_mode": "sometimes"},
        {"partial_mode": 1},
        {"float_mode": "int"},
        {"colour": 1},
    ):
        for end in range(1, len(data) + 1):
            beginning = data[:end]
            for mode in MODES:
                both = {"partial_mode": mode, **options}
                expected = outcome(jiter.from_json, beginning, **both)
                assert outcome(our_jiter.from_json, beginning, **both) == expected, both
    for wrong in ("text", bytearray(b"[1]"), 5, None):
        with pytest.raises(TypeError):
            our_jiter.from_json(wrong)  # type: ignore[arg-type]  # on purpose


@pytest.mark.usefixtures("eager")
@pytest.mark.parametrize("name", ["jiter", "pydantic_core"])
@pytest.mark.parametrize("opening", ["[", '{"a":', "[1,"])
def test_as_deep_as_the_original(name: str, opening: str) -> None:
    theirs, ours = parsers(name)
    _, _, choices, raw = ORIGINALS[name]
    for depth in range(197, 204):
        # What is empty may be one level deeper than what is not.
        for inner in ("", "1", "[]", "[2", "{"):
            data: Any = opening * depth + inner
            data = data.encode() if raw else data
            for options in choices:
                assert outcome(ours, data, **options) == outcome(theirs, data, **options)


@pytest.mark.usefixtures("eager")
@pytest.mark.parametrize("name", ORIGINALS)
def test_a_caller_who_changes_a_value_does_not_change_a_later_one(name: str) -> None:
    _, ours = parsers(name)
    _, _, choices, raw = ORIGINALS[name]
    whole = '{"a": [1, {"b": []}], "c": {"d": [[2], {"e": "f"}], "g": "hij'
    kept: list[tuple[Any, Any]] = []
    for end in range(1, len(whole) + 1):
        data: Any = whole[:end].encode() if raw else whole[:end]
        try:
            value = ours(data, **choices[-1])
        except ValueError:
            continue
        assert outcome(ours, data, **choices[-1]) == ascii(value)
        kept.append((value, copy.deepcopy(value)))
        spoil(ours(data, **choices[-1]))
        assert all(value == before for value, before in kept)


def spoil(value: Any) -> None:
    """Change all that can be changed."""
    if isinstance(value, dict | list):
        for inner in tuple(value.values() if isinstance(value, dict) else value):
            spoil(inner)
        value.clear()


@pytest.mark.usefixtures("eager")
def test_what_is_complete_is_shared_on_request() -> None:
    first = our_jiter.from_json(b'[{"a": 1}, {"b":', partial_mode=True, share=True)
    second = our_jiter.from_json(b'[{"a": 1}, {"b": 2', partial_mode=True, share=True)
    assert second == [{"a": 1}, {"b": 2}]
    assert first == [{"a": 1}, {}]
    assert first[0] is second[0]


@pytest.mark.usefixtures("eager")
def test_strict_keeps_the_promises_of_jsonrill() -> None:
    strictly: Any = {"partial_mode": True, "strict": True}
    assert our_jiter.from_json(b'{"n": 1', **strictly) == {}
    assert our_jiter.from_json(b'{"n": 12.5}', **strictly) == {"n": 12.5}
    with pytest.raises(InvalidJSON, match="expected ',' or ']' but got '2'"):
        our_jiter.from_json(b"[1 2", **strictly)
    with pytest.raises(Truncated):
        our_jiter.from_json(b"[1, 2", strict=True)
    assert our_jiter.from_json(b"12", strict=True) == 12


def test_other_names_are_those_of_the_originals() -> None:
    import jiter
    import pydantic_core

    assert our_jiter.LosslessFloat is jiter.LosslessFloat
    assert import_module("jsonrill.compat.pydantic_core").to_json is pydantic_core.to_json
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        our_jiter.nothing  # noqa: B018


def test_without_the_originals() -> None:
    script = """
import sys
for name in ("jiter", "pydantic_core", "partial_json_parser", "json_repair", "langchain_core"):
    sys.modules[name] = None
from jsonrill.compat import jiter, pydantic_core, partial_json_parser, langchain, json_repair
text = '{"a": [1, 2.5, "x\\\\u00e9", {"b": tr'
expected = {"a": [1, 2.5, "xé", {}]}
assert jiter.from_json(text.encode(), partial_mode=True) == expected
assert pydantic_core.from_json(text, allow_partial=True) == expected
assert langchain.parse_partial_json(text) == expected
assert partial_json_parser.loads(text) == {"a": [1, 2.5, "xé", {"b": True}]}
Allow = partial_json_parser.Allow
assert partial_json_parser.loads(text, Allow.ALL ^ Allow.BOOL) == expected
for call, error in (
    (lambda: jiter.from_json(text.encode()), ValueError),
    (lambda: jiter.from_json(b"[1 2]", partial_mode=True), ValueError),
    (lambda: jiter.from_json(b'["\\xc3', partial_mode=True), ValueError),
    (lambda: jiter.from_json(text), TypeError),
    (lambda: partial_json_parser.loads("[1 2]"), partial_json_parser.MalformedJSON),
    (lambda: partial_json_parser.loads("[1", Allow.OBJ), partial_json_parser.PartialJSON),
    (lambda: langchain.parse_partial_json("no"), ValueError),
    (lambda: langchain.parse_json_markdown("{}"), ImportError),
    (lambda: json_repair.loads("{'a': 1"), ImportError),
):
    try:
        call()
    except error:
        continue
    raise AssertionError(error)
"""
    source = str(Path(str(jsonrill.__file__)).parents[1])
    subprocess.run(
        [sys.executable, "-c", script], check=True, env={**os.environ, "PYTHONPATH": source}
    )
