"""The rules of the chunker, case by case: snapshots in, the exact chunks out, `flush()` last."""

from __future__ import annotations

import copy
import enum
import json
from collections import UserDict, namedtuple
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsonrill import Document, InvalidJSON, LimitExceeded, RevisionError, StreamClosed
from jsonrill.chunker import Chunker
from support import cases, examples, pieces
from support.costs import is_linear

from .chunker_cases import CASES
from .chunker_streams import load, same

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-20, 200) | st.floats(-9, 9) | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text("abc", max_size=2), inner, max_size=4)
    ),
)


def run(snapshots: list[Any], **options: Any) -> list[str]:
    chunker = Chunker(verify=True, **options)
    return [*map(chunker.feed, snapshots), chunker.flush()]


@pytest.mark.parametrize("name", CASES)
def test_case(name: str) -> None:
    snapshots, chunks, *options = CASES[name]
    assert run(snapshots, **(options[0] if options else {})) == chunks
    assert same(load("".join(chunks)), load(snapshots[-1]))


@pytest.mark.parametrize("name", CASES)
def test_case_as_bytes_and_as_models(name: str) -> None:
    snapshots, chunks, *options = CASES[name]
    chosen = options[0] if options else {}
    assert run([text.encode() for text in snapshots], **chosen) == chunks
    plain = run([json.dumps(json.loads(text)) for text in snapshots], **chosen)
    assert run([Dumps(json.loads(text)) for text in snapshots], **chosen) == plain


def test_walkthrough() -> None:
    walkthroughs = cases("walkthrough.json")["cases"]
    assert len(walkthroughs) >= 15
    for case in walkthroughs:
        assert run(case["snapshots"]) == case["chunks"], case["name"]


# ---- revisions (rule 9) ----

REVISIONS: dict[str, tuple[list[str], Any, Any, Any]] = {
    # snapshots, of which the last one contradicts; path, written, now
    "rewritten": (['{"a":"Hello"}', '{"a":"Goodbye"}'], ("a",), "Hello", "Goodbye"),
    "shortened": (['{"a":"Hello"}', '{"a":"He"}'], ("a",), "Hello", "He"),
    "resumed": (['{"a":"x"}', '{"a":"x","b":"y"}', '{"a":"xx","b":"y"}'], ("a",), "x", "xx"),
    "null became a value": (['{"a":null}', '{"a":"x"}'], ("a",), None, "x"),
    "a value became null": (['{"a":"x"}', '{"a":null}'], ("a",), "x", None),
    "1 is not true": (["[1,2]", "[true,2]"], (0,), 1, True),
    "true is not 1": (["[true]", "[1]"], (0,), True, 1),
    "0 is not false": (["[0,2]", "[false,2]"], (0,), 0, False),
    "false is not 0": (['{"a":false}', '{"a":0}'], ("a",), False, 0),
    "1 is not 1.0": (["[1,2]", "[1.0,2]"], (0,), 1, 1.0),
    "1.0 is not 1": (["[1.0,2]", "[1,2]"], (0,), 1.0, 1),
    '1 is not "1"': (["[1,2]", '["1",2]'], (0,), 1, "1"),
    "1e5 is not 100000.0": (["[1e5,2]", "[100000.0,2]"], (0,), 1e5, 1e5),
    "a string became an object": (['{"a":"x"}', '{"a":{}}'], ("a",), "x", {}),
    "an object became an array": (['{"a":{"b":"x"}}', '{"a":["x"]}'], ("a",), {"b": "x"}, ["x"]),
    "the root changed its type": (['{"a":"x"}', "[]"], (), {"a": "x"}, []),
    "a root literal changed": (["true", "false"], (), True, False),
    "an open number shrank": (['{"a":12}', '{"a":1}'], ("a",), 12, 1),
    "a closed number grew": (
        ['{"a":1,"b":"x"}', '{"a":1,"b":"xy"}', '{"a":12,"b":"xy"}'],
        ("a",),
        1,
        12,
    ),
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
    "a half character turned out whole, and other": (
        ['"ab\ufffd"', '"ab\ufffdc"', '"abéc"'],
        (),
        "ab\ufffdc",
        "abéc",
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
    assert same(load(text + chunker.flush()), load(before[-1]))
    assert chunker.revisions == []


@pytest.mark.parametrize("name", REVISIONS)
def test_a_revision_is_kept_out_and_noted_once(name: str) -> None:
    (*before, last), path, written, now = REVISIONS[name]
    chunker = Chunker(on_revision="keep", verify=True)
    text = "".join(map(chunker.feed, before))
    assert chunker.feed(last) == chunker.feed(last) == ""
    assert [(it.path, it.written, it.now) for it in chunker.revisions] == [(path, written, now)]
    assert same(load(text + chunker.flush()), load(before[-1]))


def test_what_is_kept_stays_and_all_else_goes_on() -> None:
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
    assert [it.path for it in chunker.revisions] == [("a",), ("b", "c")]


@pytest.mark.parametrize("before, after", [('"Hello"', '"Hello!"'), ("1", "12"), ("[]", "[1]")])
def test_what_is_kept_does_not_grow_again(before: str, after: str) -> None:
    chunker = Chunker(on_revision="keep", verify=True)
    texts = [f'{{"a":{value}}}' for value in (before, '"other"', after)]
    assert "".join(map(chunker.feed, texts)) + chunker.flush() == texts[0]
    assert [it.path for it in chunker.revisions] == [("a",)]


def test_what_is_below_a_noted_path_is_not_noted() -> None:
    chunker = Chunker(on_revision="keep", verify=True)
    texts = ['[{"a":1},2]', '[{"a":7,"b":3},2]', '[{"a":8,"b":3,"c":4},2,5]']
    assert json.loads("".join(map(chunker.feed, texts)) + chunker.flush()) == [{"a": 1}, 2, 5]
    assert [it.path for it in chunker.revisions] == [(0,)]


def test_a_kept_container_ignores_everything_below_it() -> None:
    chunker = Chunker(on_revision="keep", verify=True)
    chunks = map(
        chunker.feed, ['{"a":{"b":"x"}}', '{"a":1}', '{"a":{"b":"xyz","c":[]}}', '{"a":2,"d":"e"}']
    )
    assert json.loads("".join(chunks) + chunker.flush()) == {"a": {"b": "x"}, "d": "e"}
    assert [it.path for it in chunker.revisions] == [("a",)]


@pytest.mark.parametrize(
    "snapshots, path",
    [
        (['{"a":"x"}', "{}"], ("a",)),
        (['{"a":"x","b":true}', '{"a":"x"}'], ("b",)),
        (['{"a":[1,2,3]}', '{"a":[1,2]}'], ("a", 2)),
        (['{"a":[1,2,3]}', '{"a":[1]}'], ("a", 1)),
        (
            [
                '{"a":{"b":"x","c":true}}',
                '{"a":{"b":"x","c":true},"d":"y"}',
                '{"a":{"b":"x"},"d":"y"}',
            ],
            ("a", "c"),
        ),
    ],
)
def test_what_is_missing_at_the_end_is_a_revision_once(snapshots: list[str], path: Any) -> None:
    chunker = Chunker()
    text = "".join(map(chunker.feed, snapshots))
    with pytest.raises(RevisionError) as raised:
        chunker.flush()
    assert raised.value.path == path
    assert raised.value.now is None
    assert same(load(text + chunker.flush()), load(snapshots[-2]))
    assert chunker.flush() == ""
    kept = Chunker(on_revision="keep", verify=True)
    assert "".join(map(kept.feed, snapshots)) + kept.flush()
    assert kept.revisions[0].path == path


def test_what_was_missing_may_come_back_after_the_end_was_refused() -> None:
    chunker = Chunker(verify=True)
    text = "".join(map(chunker.feed, ['{"n":3,"ok":true}', '{"ok":true}']))
    with pytest.raises(RevisionError):
        chunker.flush()
    assert json.loads(text + chunker.feed('{"n":3.5,"ok":true}') + chunker.flush()) == {
        "n": 3.5,
        "ok": True,
    }


def test_what_is_still_missing_is_refused_again() -> None:
    chunker = Chunker()
    for snapshot in ('{"a":"x","ok":true}', '{"ok":true}'):
        chunker.feed(snapshot)
    for more in ('{"ok":true,"b":"y"}', '{"ok":true,"b":"yz"}'):
        with pytest.raises(RevisionError):
            chunker.flush()
        chunker.feed(more)
    with pytest.raises(RevisionError):
        chunker.flush()


def test_a_placeholder_that_comes_too_late_is_a_revision_at_the_end() -> None:
    chunker = Chunker(null="placeholder")
    snapshots = ['{"a":{"b":"x"}}', '{"a":{"b":"x"},"c":"y"}', '{"a":{"b":"x","d":null},"c":"y"}']
    text = "".join(map(chunker.feed, snapshots))
    with pytest.raises(RevisionError) as raised:
        chunker.flush()
    assert raised.value.path == ("a",)
    assert text + chunker.flush() == '{"a":{"b":"x"},"c":"y"}'


def test_missing_for_a_while_in_what_is_closed() -> None:
    snapshots = [
        '{"a":{"b":[1,2]},"c":""}',
        '{"a":{"b":[1,2]},"c":"x"}',
        '{"a":{"b":[1]},"c":"xy"}',
        '{"c":"xyz"}',
    ]
    assert (
        "".join(run([*snapshots, '{"a":{"b":[1,2]},"c":"xyz!"}'])) == '{"a":{"b":[1,2]},"c":"xyz!"}'
    )


def test_what_closes_while_something_in_it_is_missing_keeps_it() -> None:
    chunks = run(
        [
            '{"a":{"b":true,"c":"x"}}',
            '{"a":{"c":"xy"},"d":"z"}',
            '{"a":{"b":true,"c":"xy"},"d":"z"}',
        ]
    )
    assert chunks == ['{"a":{"b":true,"c":"x', 'y"},"d":"z', "", '"}']


@pytest.mark.parametrize(
    "snapshots, options, hints",
    [
        (['{"a":null}', '{"a":1}'], {}, ['null="placeholder"', 'on_revision="keep"', "root.a"]),
        (['{"a":"x"}', '{"a":null}'], {}, ['null="placeholder"', "'x'", "None"]),
        (['{"a b":"x"}', '{"a b":"y"}'], {}, ['on_revision="keep"', 'root["a b"]']),
    ],
)
def test_the_error_tells_what_to_try(snapshots: list[str], options: Any, hints: list[str]) -> None:
    chunker = Chunker(**options)
    chunker.feed(snapshots[0])
    with pytest.raises(RevisionError) as raised:
        chunker.feed(snapshots[1])
    for hint in hints:
        assert hint in str(raised.value)


def test_an_error_stays_short_whatever_was_written() -> None:
    chunker = Chunker()
    chunker.feed(json.dumps([["x" * 10_000] * 100, 1]))
    with pytest.raises(RevisionError) as raised:
        chunker.feed(json.dumps([["y" * 10_000] * 100, 1]))
    assert len(str(raised.value)) < 500


# ---- snapshots of every kind (rule 11) ----


class Color(enum.StrEnum):
    RED = "red"


class Level(enum.IntEnum):
    HIGH = 3


class Celsius(float):
    pass


class Dumps:
    """As a pydantic model looks from outside."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def model_dump(self, *, mode: str) -> Any:
        assert mode == "json"
        return self.value


Point = namedtuple("Point", "x y")


@pytest.mark.parametrize(
    "snapshot, text",
    [
        ({"a": [1, 1.5, True, None, "x"]}, '{"a":[1,1.5,true,null,"x"]}'),
        ((1, (2, 3)), "[1,[2,3]]"),
        ([Celsius(21.5)], "[21.5]"),
        ({"p": Point(1, 2)}, '{"p":[1,2]}'),
        (UserDict({"a": UserDict({"b": 1})}), '{"a":{"b":1}}'),
        ({"c": Color.RED, "l": Level.HIGH, Color.RED: 1}, '{"c":"red","l":3,"red":1}'),
        (
            {"m": 1e16, "n": -0.0, "o": 10**30},
            '{"m":1e+16,"n":-0.0,"o":1000000000000000000000000000000}',
        ),
        (Dumps({"a": Dumps([1])}), '{"a":[1]}'),
        ([Dumps("not text")], '["not text"]'),
        (Dumps("[1]"), '"[1]"'),
        (Dumps(None), "null"),
        (bytearray(b'{"a":1}'), '{"a":1}'),
        (b"\xef\xbb\xbf[1]", "[1]"),
        ({"\ud83d\ude00": "\ud83d\ude00\ud83d"}, '{"😀":"😀\\ud83d"}'),
        ('{"\ud83d\ude00":"\ud83d\\ude00\\\\\ud83d"}', '{"😀":"😀\\\\\\ud83d"}'),
    ],
)
def test_snapshots_of_every_kind(snapshot: Any, text: str) -> None:
    assert json.loads("".join(run([snapshot]))) == json.loads(text)
    assert len("".join(run([snapshot]))) == len(text)


def test_pydantic_models() -> None:
    pytest.importorskip("pydantic")
    from pydantic import BaseModel

    class Item(BaseModel):
        name: str
        size: float | None = None

    snapshots = [Item(name="a"), Item(name="ab"), Item(name="ab", size=1.5)]
    assert run(snapshots, null="placeholder") == ['{"name":"a', "b", '","size":1.5', "}"]
    assert run([[Item(name="a")]]) == ['[{"size":null,"name":"a', '"}]']


def test_what_the_source_hands_over_is_not_kept() -> None:
    value: dict[str, Any] = {"a": {"b": ["x"]}}
    chunker = Chunker(verify=True)
    text = chunker.feed(value)
    value["a"]["b"][0] += "!"
    text += chunker.feed(value)
    value["a"]["b"].append({"c": "y"})
    text += chunker.feed(value)
    value["a"]["b"][1]["c"] += "?"
    text += chunker.feed(value)
    before = copy.deepcopy(value)
    value.clear()
    assert json.loads(text + chunker.flush()) == before


def test_what_is_handed_over_is_not_changed() -> None:
    value = {"a": [1, {"b": "x"}], "c": None}
    before = copy.deepcopy(value)
    run([value, value])
    assert value == before


@pytest.mark.parametrize(
    "snapshot, error",
    [
        ("", InvalidJSON),
        ("  ", InvalidJSON),
        ("{", InvalidJSON),
        ('{"a":1} x', InvalidJSON),
        ('{"a":1}{"a":2}', InvalidJSON),
        ("\ufeff{}", InvalidJSON),
        ("NaN", InvalidJSON),
        ('{"a":-Infinity}', InvalidJSON),
        (b"\xff", InvalidJSON),
        (b'"\xc3"', InvalidJSON),
        ({"a": float("nan")}, InvalidJSON),
        ([float("inf")], InvalidJSON),
        ("[" * 100_000, LimitExceeded),
        ("[" * 100_000 + "]" * 100_000, LimitExceeded),
        ('{"a":' * 100_000 + "1" + "}" * 100_000, LimitExceeded),
        ([10**5000], LimitExceeded),
        (1, TypeError),
        (None, TypeError),
        ({"a"}, TypeError),
        ({1: "x"}, TypeError),
        ({"a": [{None: 1}]}, TypeError),
        ({"a": object()}, TypeError),
        ({"a": b"x"}, TypeError),
    ],
)
def test_what_is_no_snapshot_changes_nothing(snapshot: Any, error: type[Exception]) -> None:
    chunker = Chunker(verify=True)
    text = chunker.feed('{"a":"x","b":[1,2]}') + chunker.feed('{"a":"x","b":[1,2,3]}')
    with pytest.raises(error):
        chunker.feed(snapshot)
    text += chunker.feed('{"a":"x","b":[1,2,34],"c":"y"}') + chunker.flush()
    assert json.loads(text) == {"a": "x", "b": [1, 2, 34], "c": "y"}


def test_a_circle_is_too_deep() -> None:
    circle: list[Any] = []
    circle.append(circle)
    with pytest.raises(LimitExceeded) as raised:
        Chunker().feed(circle)
    assert raised.value.limit == "depth"


def test_an_error_says_where() -> None:
    with pytest.raises(InvalidJSON) as raised:
        Chunker().feed('{"a":\n  tru}')
    assert (raised.value.offset, raised.value.line, raised.value.column) == (8, 2, 3)


@pytest.mark.parametrize("depth", [10, 100, 300])
def test_deep_snapshots(depth: int) -> None:
    text = ['{"a":[' * depth + f'"{word}"' + "]}" * depth for word in ("x", "xy", "xyz")]
    assert "".join(run(text)) == text[-1]


def test_a_revision_of_something_deep() -> None:
    chunker = Chunker()
    deep = "[" * 600 + "]" * 600
    chunker.feed(f"[{deep},1]")
    with pytest.raises(RevisionError) as raised:
        chunker.feed("[2,1]")
    assert raised.value.path == (0,)
    assert len(str(raised.value)) < 500


def test_a_proof_that_cannot_be_read_back(monkeypatch: pytest.MonkeyPatch) -> None:
    chunker = Chunker(verify=True)
    chunker.feed("[]")

    def too_deep(text: str) -> Any:
        return too_deep(text)

    monkeypatch.setattr("jsonrill.chunker.chunker.decode", too_deep)
    with pytest.raises(LimitExceeded):
        chunker.flush()


def test_numbers_of_any_length() -> None:
    digits = "9" * 10_000
    assert run([f"[{digits}]", f"[{digits}0]"]) == [f"[{digits}", "0", "]"]
    chunker = Chunker()
    chunker.feed(f"[{digits},1]")
    with pytest.raises(RevisionError) as raised:
        chunker.feed("[1,1]")
    assert raised.value.written == digits


# ---- the stage ----


def test_nothing_fed_nothing_written() -> None:
    chunker = Chunker(verify=True)
    assert chunker.flush() == ""
    with pytest.raises(StreamClosed):
        chunker.feed("{}")


def test_after_the_end() -> None:
    chunker = Chunker()
    chunker.feed("{}")
    assert chunker.flush() == "}"
    assert chunker.flush() == ""
    with pytest.raises(StreamClosed):
        chunker.feed("{}")


@pytest.mark.parametrize("options", [{"null": "none"}, {"on_revision": "ignore"}])
def test_options_are_checked(options: Any) -> None:
    with pytest.raises(ValueError):
        Chunker(**options)


def test_verify_proves_or_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    chunker = Chunker(verify=True)
    chunker.feed('{"a":"x"}')
    chunker._chunks[0] = '{"a":"y'
    with pytest.raises(RevisionError) as raised:
        chunker.flush()
    assert (raised.value.path, raised.value.written, raised.value.now) == (("a",), "y", "x")


# ---- cost (rule 12) ----


def growing(value: Any) -> list[str]:
    """A large document that does not change, and a string that grows beside it."""
    return [json.dumps({"big": value, "tip": "x" * step}) for step in range(6)]


@pytest.mark.parametrize(
    "document",
    [
        lambda size: {f"key{i}": "value" for i in range(size)},
        lambda size: [{"a": i, "b": ["x"]} for i in range(size)],
        lambda size: {f"key{i}": {"a": ""} for i in range(size)},
        lambda size: [i + 0.5 for i in range(size)],
        lambda size: "long text " * size,
    ],
    ids=["wide object", "long array", "skeleton", "numbers", "long string"],
)
@pytest.mark.parametrize("eager", [False, True])
def test_cost_is_linear_in_the_size_of_a_snapshot(document: Any, eager: bool) -> None:
    def work(size: int) -> Callable[[], object]:
        texts = growing(document(size))
        return lambda: run(texts, eager=eager)

    is_linear(work, 150)


def test_final_numbers_are_written_at_once_and_a_string_beside_them_is_opened() -> None:
    text = "x" * 500
    snapshots = ({"n": 5, "text": text}, {"text": text, "n": 0}, {"n": 1.0, "m": 1e5, "text": text})
    for snapshot in snapshots:
        written = Chunker(numbers="final").feed(snapshot)
        assert written.endswith(f'"text":"{text}') and written.count(":") == len(snapshot)
        waiting = Chunker()
        waiting.feed(snapshot)
        assert ("text",) in waiting.held
    assert Chunker(numbers="final").feed([1, 0]) == "[1,0"
    assert Chunker(numbers="final").feed("0") == "0"


def test_a_final_number_that_changes_is_a_revision_that_names_the_way_out() -> None:
    chunker = Chunker(numbers="final")
    chunker.feed({"n": 3})
    with pytest.raises(RevisionError, match='To try: numbers="growing"'):
        chunker.feed({"n": 30})
    with pytest.raises(ValueError, match="numbers is one of growing, final, not 'grow'"):
        Chunker(numbers="grow")  # type: ignore[arg-type]


def test_what_is_open_and_what_waits_can_be_asked() -> None:
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


def test_a_snapshot_that_repeats_the_one_before_releases_nothing() -> None:
    chunker = Chunker()
    snapshot = {"a": "x", "b": "y"}
    assert [chunker.feed(snapshot) for _ in range(3)] == ["{", "", ""]
    assert chunker.held == {("a",): "x", ("b",): "y"}


@given(VALUES, st.data())
@examples(150)
def test_joined_the_chunks_are_the_last_snapshot_with_final_numbers(value: Any, data: Any) -> None:
    """The snapshots of a `Document` show a number when it is complete, and not before."""
    text = json.dumps(value)
    document, chunker = Document(), Chunker(numbers="final", verify=True)
    written = ""
    for piece in data.draw(pieces(text)):
        if document.feed(piece):
            written += chunker.feed(json.dumps(document.value))
            assert not any(type(it) in (int, float) for it in chunker.held.values())
    document.flush()
    written += chunker.feed(text) + chunker.flush()
    assert json.loads(written) == value
