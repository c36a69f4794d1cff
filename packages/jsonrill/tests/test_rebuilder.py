"""Fragments in, a value out; `cases/rebuilder.json` pins it for any language."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsonrill import Fragment, Parser, Rebuilder
from jsonrill.errors import FragmentError
from jsonrill.paths import format_path
from support import ROOT, at, examples
from support.documents import same, texts

CASES = json.loads((ROOT / "cases" / "rebuilder.json").read_text("utf8"))["cases"]
NAMES = [case["name"] for case in CASES]
REFUSED = [case for case in CASES if "refused" in case]


def fragments_of(text: str) -> list[Fragment]:
    parser = Parser()
    return parser.feed(text) + parser.flush()


def state(rebuilder: Rebuilder) -> tuple[Any, ...]:
    value = copy.deepcopy(rebuilder.value)
    return rebuilder.started, repr(value), rebuilder.open_path, rebuilder.complete


# ---- the pinned cases ----


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_the_value_after_each_feed(case: dict[str, Any]) -> None:
    rebuilder = Rebuilder()
    refused = case.get("refused", [None, None])
    for number, (feed, value, path) in enumerate(
        zip(case["feeds"], case["values"], case["open"], strict=True)
    ):
        if number == refused[0]:
            with pytest.raises(FragmentError) as caught:
                rebuilder.feed(feed)
            facts = {"code": "INVALID_FRAGMENT", "message": str(caught.value)}
            assert caught.value.to_dict() == {**facts, "path": path or "root"}
        else:
            rebuilder.feed(feed)
        assert same(rebuilder.value, value)
        assert same(rebuilder.live, value)
        open_path = rebuilder.open_path
        assert (None if open_path is None else format_path(open_path)) == path
    assert rebuilder.complete is case["complete"]


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_the_grouping_does_not_matter(case: dict[str, Any]) -> None:
    rebuilder = Rebuilder()
    items = [item for feed in case["feeds"] for item in feed]
    feed, item = case.get("refused", [len(case["feeds"]), 0])
    good = sum(len(feed) for feed in case["feeds"][:feed]) + item
    rebuilder.feed(items[:good])
    assert same(rebuilder.value, case["values"][-1])
    for item in items[good : good + 1]:
        with pytest.raises(FragmentError):
            rebuilder.feed([item])


@pytest.mark.parametrize("case", REFUSED, ids=[case["name"] for case in REFUSED])
def test_a_refused_fragment_changes_nothing(case: dict[str, Any]) -> None:
    feed, item = case["refused"]
    before = [item for feed in case["feeds"][:feed] for item in feed] + case["feeds"][feed][:item]
    rebuilder, other = Rebuilder(), Rebuilder()
    rebuilder.feed(before)
    other.feed(before)
    for _ in range(2):
        with pytest.raises(FragmentError):
            rebuilder.feed(case["feeds"][feed][item:])
        assert state(rebuilder) == state(other)


# ---- misfits ----


@examples(100)
@given(texts(), st.data())
def test_a_fragment_out_of_place_is_refused_and_harms_nothing(text: str, data: Any) -> None:
    """One fragment of a document left out, sent twice, or exchanged with the next."""
    fragments = fragments_of(text)
    number = data.draw(st.integers(0, len(fragments) - 1))
    what = data.draw(st.sampled_from(["left out", "twice", "exchanged", "moved"]))
    broken = list(fragments)
    if what == "left out":
        del broken[number]
    elif what == "twice":
        broken.insert(number, broken[number])
    elif what == "exchanged":
        broken[number : number + 2] = reversed(broken[number : number + 2])
    else:
        fragment = broken[number]
        path = (*fragment.path, "x")
        broken[number] = Fragment(fragment.kind, path, fragment.text, fragment.value)
    rebuilder, good = Rebuilder(), Rebuilder()
    for item in broken:
        before = state(rebuilder)
        try:
            rebuilder.feed([item.to_dict()])
        except FragmentError:
            assert state(rebuilder) == before
            break
        good.feed([item])
        assert state(good) == state(rebuilder)
    else:
        # No fragment was refused. A missing last array element cannot be detected.
        assert what == "left out" or same(rebuilder.value, json.loads(text))


def test_a_stream_continues_after_a_refusal() -> None:
    rebuilder = Rebuilder()
    with pytest.raises(FragmentError):
        rebuilder.feed([Fragment("StartArray"), Fragment("Key", (), None, "a")])
    rebuilder.feed([Fragment("CompleteNull", (0,)), Fragment("EndArray"), Fragment("JsonComplete")])
    assert rebuilder.complete and rebuilder.value == [None]


def test_a_refusal_says_what_was_expected() -> None:
    rebuilder = Rebuilder()
    rebuilder.feed([Fragment("StartObject"), Fragment("Key", (), None, "a b")])
    with pytest.raises(FragmentError, match=r'root\["a b"\]'):
        rebuilder.feed([Fragment("CompleteNull", ("b",))])


@pytest.mark.parametrize(
    "wrong", ["text", b"bytes", {"path": "root", "kind": "StartArray"}, None, 5, Fragment("Key")]
)
def test_a_list_of_fragments_is_wanted(wrong: Any) -> None:
    rebuilder = Rebuilder()
    rebuilder.feed([Fragment("StartString")])
    with pytest.raises(TypeError):
        rebuilder.feed(wrong)
    assert rebuilder.value == ""


def test_a_generator_that_fails_is_not_hidden() -> None:
    def failing() -> Any:
        yield Fragment("StartArray")
        raise ConnectionError

    rebuilder = Rebuilder()
    with pytest.raises(ConnectionError):
        rebuilder.feed(failing())
    assert rebuilder.value == []


def test_the_senders_objects_are_not_kept() -> None:
    fragments = [fragment.to_dict() for fragment in fragments_of('{"a": [1, "x"]}')]
    rebuilder = Rebuilder()
    for wire in fragments:
        rebuilder.feed([wire])
        wire.clear()
    assert rebuilder.value == {"a": [1, "x"]}


# ---- the foreign generator's dialect, for any document ----


class PublicGenerator:
    """Imitate the foreign generator (see `fragment.py`), including its bugs.

    * Paths contain raw keys.
    * In a nested object, all keys but the first have the path of its parent's container.
    * An object ends at the path of its container, plus its last key.
    * After an object in an array, the paths of later elements end with its last key.
    * Partial text lacks its escapes, and every value is a string.
    """

    def __init__(self, early: bool) -> None:
        self.sent: list[dict[str, Any]] = []
        if early:
            self.add("JsonComplete", "root", text="")

    def add(self, kind: str, path: str, text: str, value: str | None = None) -> None:
        wire = {"path": path, "kind": kind, "textValue": text}
        self.sent.append(wire if value is None else {**wire, "value": value})

    def write(self, value: Any, path: str, parent: str) -> None:
        source = json.dumps(value)
        if isinstance(value, dict):
            self.object(value, path, parent)
        elif isinstance(value, list):
            self.array(value, path, parent)
        elif isinstance(value, str):
            self.add("StartString", path, '"')
            partial_text = without_escapes(source)
            for part in (partial_text[:3], partial_text[3:]):
                if part:
                    self.add("PartialString", path, part, part)
            self.add("CompleteString", path, source, source)
        elif value is None:
            self.add("CompleteNull", path, "null")
        else:
            kind = "CompleteBoolean" if isinstance(value, bool) else "CompleteNumber"
            self.add(kind, path, source, source)

    def object(self, value: dict[str, Any], path: str, parent: str) -> None:
        self.add("StartObject", path, "{")
        last = ""
        for number, (key, item) in enumerate(value.items()):
            self.add("Key", parent if number else path, json.dumps(key), json.dumps(key))
            last = f".{json.dumps(key)[1:-1]}" if key else ""
            self.write(item, path + last, path)
        self.add("EndObject", parent + last, "}")

    def array(self, value: list[Any], path: str, parent: str) -> None:
        self.add("StartArray", path, "[")
        leak = ""
        for number, item in enumerate(value):
            self.write(item, f"{path}[{number}]{leak}", path)
            if isinstance(item, dict) and item:
                leak = f".{[*item][-1]}"
        self.add("EndArray", path + leak, "]")


def without_escapes(source: str) -> str:
    """Drop each backslash and the character after it, but keep the digits of a `\\u` escape."""
    text, skip = "", False
    for char in source[1:-1]:
        if skip or char == "\\":
            skip = not skip
        else:
            text += char
    return text


keys = st.text('ab.[]\n"é', max_size=3)
documents = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(-1e9, 1e9)
    | st.text('a"\\\né😀', max_size=6),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4),
    max_leaves=12,
)


@examples(100)
@given(documents, st.booleans(), st.data())
def test_the_dialect_is_read_despite_wrong_paths(value: Any, early: bool, data: Any) -> None:
    generator = PublicGenerator(early)
    generator.write(value, "root", "root")
    generator.add("JsonComplete", "root", json.dumps(value))
    rebuilder = Rebuilder()
    cuts = data.draw(st.lists(st.integers(0, len(generator.sent)), max_size=5))
    # `at` cuts strings, so let it cut a string with one character for each fragment.
    start = 0
    for piece in at(cuts, "." * len(generator.sent)):
        rebuilder.feed(generator.sent[start : start + len(piece)])
        start += len(piece)
    assert rebuilder.complete
    assert same(rebuilder.value, value)


# ---- any grouping ----


@given(texts(), st.data())
def test_the_grouping_of_any_document_does_not_matter(text: str, data: Any) -> None:
    fragments = fragments_of(text)
    cuts = data.draw(st.lists(st.integers(0, len(fragments)), max_size=6))
    rebuilder, start = Rebuilder(), 0
    for piece in at(cuts, "." * len(fragments)):
        rebuilder.feed(fragments[start : start + len(piece)])
        start += len(piece)
    assert rebuilder.complete
    assert same(rebuilder.value, json.loads(text))
