"""The chunker: its rules case by case, revisions, snapshots of every kind, errors and cost."""

from __future__ import annotations

import copy
import enum
import json
import pickle
import random
from collections import UserDict, namedtuple
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from jsonrill import Chunker, Document, InvalidJSON, LimitExceeded, chunks
from jsonrill.errors import RevisionError, StreamClosed
from support import cases
from support.costs import assert_linear

CASES = cases("chunker.json")["cases"]
RECORDED = [
    file.read_text("utf8").splitlines()
    for file in sorted(Path(__file__).parent.glob("snapshots/*.jsonl"))
]


def run(snapshots: list[Any], **options: Any) -> list[str]:
    chunker = Chunker(verify=True, **options)
    return [*map(chunker.feed, snapshots), chunker.flush()]


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_case(case: dict[str, Any]) -> None:
    options = case.get("options", {})
    assert run(case["snapshots"], **options) == case["chunks"]
    assert run([text.encode() for text in case["snapshots"]], **options) == case["chunks"]


def test_a_copy_continues_at_any_snapshot() -> None:
    for case in CASES:
        chunker, written = Chunker(**case.get("options", {})), []
        for snapshot in case["snapshots"]:
            chunker = copy.deepcopy(pickle.loads(pickle.dumps(chunker)))
            written.append(chunker.feed(snapshot))
        assert [*written, chunker.flush()] == case["chunks"], case["name"]


# ---- revisions ----

REVISIONS: dict[str, tuple[list[str], Any, Any, Any]] = {
    # snapshots, the last of them a contradiction; path, written, now
    "rewritten": (['{"a":"Hello"}', '{"a":"Goodbye"}'], ("a",), "Hello", "Goodbye"),
    "shortened": (['{"a":"Hello"}', '{"a":"He"}'], ("a",), "Hello", "He"),
    "resumed": (['{"a":"x"}', '{"a":"x","b":"y"}', '{"a":"xx","b":"y"}'], ("a",), "x", "xx"),
    "null became a value": (['{"a":null}', '{"a":"x"}'], ("a",), None, "x"),
    "a value became null": (['{"a":"x"}', '{"a":null}'], ("a",), "x", None),
    "1 is not true": (["[1,2]", "[true,2]"], (0,), 1, True),
    "false is not 0": (['{"a":false}', '{"a":0}'], ("a",), False, 0),
    "1 is not 1.0": (["[1,2]", "[1.0,2]"], (0,), 1, 1.0),
    '1 is not "1"': (["[1,2]", '["1",2]'], (0,), 1, "1"),
    "a string became an object": (['{"a":"x"}', '{"a":{}}'], ("a",), "x", {}),
    "an object became an array": (['{"a":{"b":"x"}}', '{"a":["x"]}'], ("a",), {"b": "x"}, ["x"]),
    "the root changed its type": (['{"a":"x"}', "[]"], (), {"a": "x"}, []),
    "an open number shrank": (['{"a":12}', '{"a":1}'], ("a",), 12, 1),
    "a closed array grew": (
        ['{"a":[1]}', '{"a":[1],"b":"x"}', '{"a":[1,2],"b":"x"}'],
        ("a",),
        [1],
        [1, 2],
    ),
    "a closed object grew": (
        ['[{"a":1}]', '[{"a":1},{}]', '[{"a":1,"b":2},{}]'],
        (0,),
        {"a": 1},
        {"a": 1, "b": 2},
    ),
    "deep in what is closed": (
        [
            '{"a":{"b":[1,{"c":"x"}]}}',
            '{"a":{"b":[1,{"c":"x"}]},"d":"y"}',
            '{"a":{"b":[1,{"c":"z"}]},"d":"y"}',
        ],
        ("a", "b", 1, "c"),
        "x",
        "z",
    ),
}


@pytest.mark.parametrize("name", REVISIONS)
def test_a_revision_is_refused_and_leaves_no_trace(name: str) -> None:
    (*before, last), path, written, now = REVISIONS[name]
    chunker = Chunker()
    text = "".join(map(chunker.feed, before))
    with pytest.raises(RevisionError) as raised:
        chunker.feed(last)
    error = raised.value
    assert (error.path, error.written, error.now) == (path, written, now)
    assert (type(error.written), type(error.now)) == (type(written), type(now))
    assert json.loads(text + chunker.flush()) == json.loads(before[-1])
    assert chunker.revisions == []


@pytest.mark.parametrize("name", REVISIONS)
def test_a_kept_revision_is_noted_once(name: str) -> None:
    (*before, last), path, written, now = REVISIONS[name]
    chunker = Chunker(on_revision="keep", verify=True)
    text = "".join(map(chunker.feed, before))
    assert chunker.feed(last) == chunker.feed(last) == ""
    assert [(item.path, item.written, item.now) for item in chunker.revisions] == [
        (path, written, now)
    ]
    assert json.loads(text + chunker.flush()) == json.loads(before[-1])


def test_kept_text_does_not_change_and_the_rest_continues() -> None:
    chunker = Chunker(on_revision="keep", verify=True)
    snapshots = [
        '{"a":"Hello"}',
        '{"a":"Bye"}',
        '{"a":"Hello!","b":{"c":"x"}}',
        '{"a":"Bye","b":{"c":"xy","d":[1]},"e":true}',
        '{"a":"Bye","b":{"c":"other","d":[1]},"e":true,"f":"z"}',
    ]
    text = "".join([*map(chunker.feed, snapshots), chunker.flush()])
    assert json.loads(text) == {"a": "Hello", "b": {"c": "xy", "d": [1]}, "e": True, "f": "z"}
    assert [item.path for item in chunker.revisions] == [("a",), ("b", "c")]


def test_a_kept_container_ignores_everything_below_it() -> None:
    chunker = Chunker(on_revision="keep", verify=True)
    snapshots = ['{"a":{"b":"x"}}', '{"a":1}', '{"a":{"b":"xyz","c":[]}}', '{"a":2,"d":"e"}']
    text = "".join([*map(chunker.feed, snapshots), chunker.flush()])
    assert json.loads(text) == {"a": {"b": "x"}, "d": "e"}
    assert [item.path for item in chunker.revisions] == [("a",)]


@pytest.mark.parametrize(
    "snapshots, path",
    [
        (['{"a":"x"}', "{}"], ("a",)),
        (['{"a":"x","b":true}', '{"a":"x"}'], ("b",)),
        (['{"a":[1,2,3]}', '{"a":[1]}'], ("a", 1)),
        (['{"a":{"b":true}}', '{"a":{"b":true},"d":"y"}', '{"a":{},"d":"y"}'], ("a", "b")),
    ],
)
def test_a_member_missing_at_the_end_is_one_revision(snapshots: list[str], path: Any) -> None:
    chunker = Chunker()
    text = "".join(map(chunker.feed, snapshots))
    with pytest.raises(RevisionError, match="is now missing") as raised:
        chunker.flush()
    assert (raised.value.path, raised.value.now) == (path, None)
    assert json.loads(text + chunker.flush()) == json.loads(snapshots[-2])
    assert chunker.flush() == ""
    kept = Chunker(on_revision="keep", verify=True)
    assert "".join(map(kept.feed, snapshots)) + kept.flush()
    assert kept.revisions[0].path == path


def test_a_missing_member_may_come_back() -> None:
    chunker = Chunker(verify=True)
    text = "".join(map(chunker.feed, ['{"n":3,"ok":true}', '{"ok":true}']))
    with pytest.raises(RevisionError):
        chunker.flush()
    text += chunker.feed('{"n":3.5,"ok":true}') + chunker.flush()
    assert json.loads(text) == {"n": 3.5, "ok": True}
    snapshots = [
        '{"a":{"b":[1,2]},"c":""}',
        '{"a":{"b":[1,2]},"c":"x"}',
        '{"a":{"b":[1]},"c":"xy"}',
        '{"c":"xyz"}',
        '{"a":{"b":[1,2]},"c":"xyz!"}',
    ]
    assert "".join(run(snapshots)) == snapshots[-1]


@pytest.mark.parametrize(
    "snapshots, options, hints",
    [
        (['{"a":null}', '{"a":1}'], {}, ['null="placeholder"', 'on_revision="keep"', "root.a"]),
        (['{"a b":"x"}', '{"a b":"y"}'], {}, ['on_revision="keep"', 'root["a b"]', "'x'", "'y'"]),
        (['{"n":3}', '{"n":30}'], {"numbers": "final"}, ['numbers="growing"']),
    ],
)
def test_an_error_message_has_a_remedy(
    snapshots: list[str], options: Any, hints: list[str]
) -> None:
    chunker = Chunker(**options)
    chunker.feed(snapshots[0])
    with pytest.raises(RevisionError) as raised:
        chunker.feed(snapshots[1])
    for hint in hints:
        assert hint in str(raised.value)


def test_an_error_is_short() -> None:
    deep = "[" * 600 + "]" * 600
    for before, after in [(["x" * 10_000] * 100, "y"), (json.loads(deep), 2)]:
        chunker = Chunker()
        chunker.feed([before, 1])
        with pytest.raises(RevisionError) as raised:
            chunker.feed([after, 1])
        assert len(str(raised.value)) < 500


# ---- snapshots of every kind ----


class Color(enum.StrEnum):
    RED = "red"


class Level(enum.IntEnum):
    HIGH = 3


class Item(BaseModel):
    name: str
    size: float | None = None


@dataclass
class Trip:
    city: str
    items: list[Item]


Point = namedtuple("Point", "x y")


@pytest.mark.parametrize(
    "snapshot, text",
    [
        ({"a": [1, 1.5, True, None, "x"]}, '{"a":[1,1.5,true,null,"x"]}'),
        ((1, (2, 3)), "[1,[2,3]]"),
        ({"p": Point(1, 2)}, '{"p":[1,2]}'),
        (UserDict({"a": UserDict({"b": 1})}), '{"a":{"b":1}}'),
        ({"c": Color.RED, "l": Level.HIGH, Color.RED: 1}, '{"c":"red","l":3,"red":1}'),
        ({"m": 1e16, "n": -0.0, "o": 10**30}, '{"m":1e+16,"n":-0.0,"o":1' + "0" * 30 + "}"),
        (Item(name="a"), '{"name":"a","size":null}'),
        (
            Trip("Oslo", [Item(name="a", size=2)]),
            '{"city":"Oslo","items":[{"name":"a","size":2.0}]}',
        ),
        (bytearray(b'{"a":1}'), '{"a":1}'),
        (b"\xef\xbb\xbf[1]", "[1]"),
        ({"\ud83d\ude00": "\ud83d\ude00\ud83d"}, '{"😀":"😀\\ud83d"}'),
        ('{"\ud83d\ude00":"\ud83d\\ude00\\\\\ud83d"}', '{"😀":"😀\\\\\\ud83d"}'),
    ],
)
def test_snapshots_of_every_kind(snapshot: Any, text: str) -> None:
    joined = "".join(run([snapshot]))
    assert json.loads(joined) == json.loads(text)
    assert len(joined) == len(text)


def test_chunks_takes_streams_of_models_and_dataclasses() -> None:
    models = [Item(name="a"), Item(name="ab"), Item(name="ab", size=1.5)]
    assert list(chunks(models, null="placeholder")) == ['{"name":"a', "b", '","size":1.5', "}"]
    trips = (Trip("Os" + rest, []) for rest in ("", "lo", "lo S"))
    assert list(chunks(trips)) == ["{", '"city":"Oslo', " S", '","items":[]}']


@pytest.mark.parametrize("source", [Item(name="a", size=2.5), {"a": 1}, '{"a":1}', b'{"a":1}'])
def test_one_value_is_one_snapshot(source: Any) -> None:
    assert list(chunks(source)) == [text for text in run([source]) if text]


def test_the_source_may_change_its_objects_later() -> None:
    value: dict[str, Any] = {"a": {"b": ["x"]}}
    chunker = Chunker(verify=True)
    text = chunker.feed(value)
    value["a"]["b"][0] += "!"
    text += chunker.feed(value)
    value["a"]["b"].append({"c": "y"})
    text += chunker.feed(value)
    before = copy.deepcopy(value)
    value.clear()
    assert json.loads(text + chunker.flush()) == before


@pytest.mark.parametrize(
    "snapshot, error",
    [
        ("", InvalidJSON),
        ("{", InvalidJSON),
        ('{"a":1} x', InvalidJSON),
        ('{"a":1}{"a":2}', InvalidJSON),
        ("NaN", InvalidJSON),
        (b"\xff", InvalidJSON),
        ({"a": float("nan")}, InvalidJSON),
        ([float("inf")], InvalidJSON),
        ("[" * 100_000, LimitExceeded),
        ("[" * 100_000 + "]" * 100_000, LimitExceeded),
        ([10**5000], LimitExceeded),
        (1, TypeError),
        (None, TypeError),
        ({"a"}, TypeError),
        ({(1, 2): "x"}, TypeError),
        ({"a": object()}, TypeError),
        ({"a": b"x"}, TypeError),
        (Item, TypeError),
    ],
)
def test_an_invalid_snapshot_changes_nothing(snapshot: Any, error: type[Exception]) -> None:
    chunker = Chunker(verify=True)
    text = chunker.feed('{"a":"x","b":[1,2]}') + chunker.feed('{"a":"x","b":[1,2,3]}')
    with pytest.raises(error):
        chunker.feed(snapshot)
    text += chunker.feed('{"a":"x","b":[1,2,34],"c":"y"}') + chunker.flush()
    assert json.loads(text) == {"a": "x", "b": [1, 2, 34], "c": "y"}


def test_a_value_that_contains_itself_is_too_deep() -> None:
    circle: list[Any] = []
    circle.append(circle)
    with pytest.raises(LimitExceeded) as raised:
        Chunker().feed(circle)
    assert raised.value.limit == "depth"


def test_an_error_says_where() -> None:
    with pytest.raises(InvalidJSON) as raised:
        Chunker().feed('{"a":\n  tru}')
    assert (raised.value.offset, raised.value.line, raised.value.column) == (8, 2, 3)


def test_numbers_of_any_length() -> None:
    digits = "9" * 10_000
    assert run([f"[{digits}]", f"[{digits}0]"]) == [f"[{digits}", "0", "]"]
    chunker = Chunker()
    chunker.feed(f"[{digits},1]")
    with pytest.raises(RevisionError) as raised:
        chunker.feed("[1,1]")
    assert raised.value.written == digits


# ---- text that only adds characters to the open string is not decoded ----


@pytest.mark.parametrize(
    "texts",
    [
        ['{"a":"x"}', '{"a":"xy"}', '{"a":"xy z"}', '{"a":"xy z","b":1}'],
        ['["x"]', '["xé"]', '["xé\\n"]', '["xé\\ny"]', '["xé\\ny\\"}"]'],
        ['"x"', '"x}"', '"x}]"', '"x}] "'],
        ['{"a":"x"}\n', '{"a":"xy"}\n', '{"a":"xyz"}'],
        ['{"a":{"b":"x"},"c":"y"}', '{"a":{"b":"x"},"c":"yy"}', '{"a":{"b":"x"},"c":"yyz"}'],
        ['["\ufffd"]', '["é\ufffd"]', '["éa\ufffdb"]', '["éa\ufffdb\ufffd"]'],
        [
            '{"a":"x","b":true}',
            '{"a":"xy","b":true}',
            '{"b":true,"a":"xyz"}',
            '{"b":true,"a":"xyzz"}',
        ],
    ],
)
def test_text_gives_the_chunks_of_bytes_which_are_always_decoded(texts: list[str]) -> None:
    assert run(texts) == run([text.encode() for text in texts])


def test_a_change_behind_the_open_string_is_a_revision() -> None:
    chunker = Chunker()
    texts = ['{"a":1}', '{"b":"h","a":1}', '{"b":"he","a":1}']
    assert "".join(map(chunker.feed, texts)) == '{"a":1,"b":"he'
    with pytest.raises(RevisionError):
        chunker.feed('{"b":"he","a":11}')


def test_text_that_is_cut_short_is_refused_after_growth() -> None:
    chunker = Chunker()
    chunker.feed('{"a":"x"}')
    assert chunker.feed('{"a":"xyz"}') == "yz"
    with pytest.raises(RevisionError):
        chunker.feed('{"a":"xy"}')
    assert chunker.feed('{"a":"xyz!"}') + chunker.flush() == '!"}'


# ---- the stage ----


def test_after_the_end_snapshots_are_refused() -> None:
    chunker = Chunker(verify=True)
    assert chunker.flush() == ""
    with pytest.raises(StreamClosed):
        chunker.feed("{}")
    chunker = Chunker()
    chunker.feed("{}")
    assert [chunker.flush(), chunker.flush()] == ["}", ""]
    with pytest.raises(StreamClosed):
        chunker.feed("{}")


@pytest.mark.parametrize(
    "options, message",
    [
        ({"null": "none"}, "null is 'value' or 'placeholder', not 'none'"),
        ({"on_revision": "ignore"}, "on_revision is 'raise' or 'keep', not 'ignore'"),
        ({"numbers": "grow"}, "numbers is 'growing' or 'final', not 'grow'"),
        ({"eager": 1}, "eager is True or False, not 1"),
    ],
)
def test_wrong_options_are_refused(options: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Chunker(**options)


def test_verify_compares_the_text_with_the_last_snapshot() -> None:
    chunker = Chunker(verify=True)
    chunker.feed('{"a":"x"}')
    chunker._chunks[0] = '{"a":"y'
    with pytest.raises(RevisionError) as raised:
        chunker.flush()
    assert (raised.value.path, raised.value.written, raised.value.now) == (("a",), "y", "x")


def test_the_open_path_and_the_held_values() -> None:
    chunker = Chunker()
    assert (chunker.open_path, chunker.held) == (None, {})
    chunker.feed("null")
    assert (chunker.open_path, chunker.held) == (None, {(): None})
    chunker.feed({"a": {"b": "x"}})
    assert (chunker.open_path, chunker.held) == (("a", "b"), {})
    chunker.feed({"a": {"b": "x", "c": "1", "d": [2]}})
    assert (chunker.open_path, chunker.held) == (("a", "b"), {("a", "c"): "1", ("a", "d"): [2]})
    chunker.feed({"a": {"b": "x", "c": "1", "d": [2, 3.0]}})
    assert (chunker.open_path, chunker.held) == (("a", "d"), {("a", "d", 1): 3.0})
    chunker.feed({"a": {"b": "x", "c": "1", "d": [2, 3.5, "\ud83d"]}})
    assert (chunker.open_path, chunker.held) == (("a", "d", 2), {("a", "d", 2): "\ud83d"})
    chunker.flush()
    assert (chunker.open_path, chunker.held) == (None, {})


# ---- how much waits, and what it costs ----


def is_visible(shown: Any, value: Any) -> bool:
    """Return True if all text in the value is shown."""
    if isinstance(value, dict):
        shown = shown if isinstance(shown, dict) else {}
        return all(is_visible(shown.get(key), item) for key, item in value.items())
    if isinstance(value, list):
        shown = shown if isinstance(shown, list) else []
        return all(map(is_visible, shown + [None] * (len(value) - len(shown)), value))
    return value == "" or bool(shown == value)


@pytest.mark.parametrize("eager, expected", [(False, 10), (True, 1)])
def test_little_text_is_withheld(eager: bool, expected: int) -> None:
    withheld = total = 0
    for snapshots in RECORDED:
        chunker, reader = Chunker(eager=eager, verify=True), Document()
        for snapshot in snapshots:
            reader.feed(chunker.feed(snapshot))
            withheld += not is_visible(reader.live, json.loads(snapshot))
            total += 1
        chunker.flush()
    assert (withheld, total) == (expected, 180)


def shuffled_keys(size: int) -> Any:
    keys = [f"key{at}" for at in range(size)]
    random.Random(size).shuffle(keys)
    return dict.fromkeys(keys, "value")


@pytest.mark.parametrize(
    "document",
    [
        shuffled_keys,
        lambda size: [{"a": at, "b": ["x"]} for at in range(size)],
        lambda size: {f"key{at}": {"a": ""} for at in range(size)},
        lambda size: "long text " * size,
    ],
    ids=["wide object", "long array", "skeleton", "long string"],
)
def test_cost_is_linear_in_the_size_of_a_snapshot(document: Any) -> None:
    def work(size: int) -> Callable[[], object]:
        value = document(size)
        texts = [json.dumps({"big": value, "tip": "x" * step}) for step in range(6)]
        return lambda: run(texts)

    assert_linear(work, 150)


def test_many_held_values_that_grow_together_cost_linear_time() -> None:
    def work(size: int) -> Callable[[], object]:
        texts = [json.dumps(dict.fromkeys(shuffled_keys(size), "x" * step)) for step in range(4)]
        return lambda: run(texts)

    assert_linear(work, 5000)
