"""Updates of random documents under random cuttings, held against `json` alone."""

from __future__ import annotations

import json
import operator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prefixes import KEYS, SCALARS, prefix_value, texts

from jsonrill import PartialStream
from jsonrill.partial_stream import Mode
from support import cuttings, examples, pieces
from support.documents import is_prefix, same
from support.streams import MODES, check_law, finals, run, short

EMPTY: tuple[Any, ...] = ({}, [], "")


def entities(document: Any) -> list[Any]:
    return document if isinstance(document, list) else [document]


def is_empty(value: Any) -> bool:
    return any(type(value) is type(empty) and value == empty for empty in EMPTY)


@st.composite
def cut_texts(draw: st.DrawFn) -> list[str]:
    return draw(pieces(draw(texts())))


@pytest.mark.parametrize("mode", MODES[1:])
@examples(40)
@given(parts=cut_texts())
def test_p2_each_entity_is_completed_once_and_grows_into_its_end(
    mode: Mode, parts: list[str]
) -> None:
    whole = entities(json.loads("".join(parts)))
    stream = PartialStream(mode)
    per_call = [stream.feed(part) for part in parts] + [stream.flush()]
    updates = [update for call in per_call for update in call]
    done = [(u.index, u.data) for u in updates if u.status == "COMPLETED"]
    assert [(at, repr(data)) for at, data in done] == [
        (at, repr(data)) for at, data in enumerate(whole)
    ]
    for call in per_call:
        indices = [update.index for update in call]
        assert indices == sorted(set(indices))  # type: ignore[type-var]
    for index, final in enumerate(whole):
        own = [update for update in updates if update.index == index]
        assert [update.status for update in own] == ["PARTIAL"] * (len(own) - 1) + ["COMPLETED"]
        shown = [update.data for update in own[:-1]]
        assert not any(map(is_empty, shown))
        assert all(one != two for one, two in zip(shown, shown[1:], strict=False))
        assert all(is_prefix(data, final, numbers_grow=True) for data in shown)


@examples(40)
@given(parts=cut_texts())
def test_batch_has_all_entities(parts: list[str]) -> None:
    assert short(run(parts, "BATCH")) == [(0, "COMPLETED", entities(json.loads("".join(parts))))]


@pytest.mark.parametrize("mode", ["PROGRESSIVE", "REALTIME"])
@examples(50)
@given(parts=cut_texts())
def test_a_value_has_everything_that_the_text_allows(mode: Mode, parts: list[str]) -> None:
    stream = PartialStream(mode)
    state: dict[int | None, Any] = {}
    for at, part in enumerate(parts, start=1):
        state |= {update.index: update.data for update in stream.feed(part)}
        text = "".join(parts[:at])
        allowed = prefix_value(text, finished=mode == "PROGRESSIVE")
        expected = entities(allowed[0]) if allowed else []
        for index, data in enumerate(expected):
            assert state.get(index, data) == data, text
            assert index in state or is_empty(data), text
        assert len(state) <= len(expected)


@examples(40)
@given(parts=cut_texts())
def test_progressive_never_shows_an_unfinished_scalar(parts: list[str]) -> None:
    whole = entities(json.loads("".join(parts)))
    for update in run(parts, "PROGRESSIVE"):
        for path, leaf in leaves(update.data):
            final = whole[update.index or 0]
            for step in path:
                final = final[step]
            assert repr(final) == repr(leaf)


def leaves(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[tuple[Any, ...], Any]]:
    if isinstance(value, dict):
        return [leaf for key in value for leaf in leaves(value[key], (*path, key))]
    if isinstance(value, list):
        return [leaf for at, item in enumerate(value) for leaf in leaves(item, (*path, at))]
    return [(path, value)]


@st.composite
def bad_texts(draw: st.DrawFn) -> str:
    """Draw a text cut short, with a character changed, or with something before or after it."""
    text = draw(texts())
    kind = draw(st.sampled_from(["cut", "changed", "before", "after"]))
    at = draw(st.integers(0, len(text)))
    if kind == "cut":
        return text[:at]
    if kind == "changed":
        return text[:at] + draw(st.sampled_from(list('x"\\{}[],:0-tn\n '))) + text[at + 1 :]
    junk = draw(st.sampled_from(["Sure: ", "x", "{", "]", "```", " tr", "-"]))
    return junk + text if kind == "before" else text + junk


@pytest.mark.parametrize("mode", MODES)
@examples(50)
@given(text=bad_texts(), data=st.data())
def test_p1_ends_and_errors_do_not_depend_on_the_cutting(
    mode: Mode, text: str, data: st.DataObject
) -> None:
    expected = repr(finals(run([text], mode)))
    for parts in [*cuttings(text), data.draw(pieces(text))]:
        assert repr(finals(run(parts, mode, send="data"))) == expected
    raw = text.encode()
    assert repr(finals(run(data.draw(pieces(raw)), mode))) == expected


@pytest.mark.parametrize("mode", MODES)
@examples(40)
@given(text=bad_texts())
def test_no_finished_entity_is_lost(mode: Mode, text: str) -> None:
    one_by_one = [u.data for u in run([text], "ONE-BY-ONE") if u.status == "COMPLETED"]
    updates = run([text], mode)
    if mode == "BATCH":
        assert repr(updates[-1].data) == repr(one_by_one) and len(updates) == 1
    else:
        assert repr([u.data for u in updates if u.status == "COMPLETED"]) == repr(one_by_one)
    assert all(update.status == "COMPLETED" for update in updates[:-1] if mode == "ALL-TOGETHER")


@st.composite
def odd_texts(draw: st.DrawFn) -> str:
    """Draw objects with duplicate keys."""
    members = draw(st.lists(st.tuples(st.sampled_from("ab"), odd_values), max_size=6))
    return "{" + ", ".join(f"{json.dumps(key)}: {text}" for key, text in members) + "}"


odd_values = st.recursive(
    st.sampled_from(["1", "12", '""', '"x"', '"xy"', "true", "null", "[]", "{}", "1.0", "[1]"]),
    lambda inner: st.one_of(
        inner.map(lambda text: f'{{"a": {text}, "a": {text}}}'),
        st.lists(inner, max_size=3).map(lambda items: f"[{', '.join(items)}]"),
    ),
    max_leaves=4,
)


@examples(100)
@given(text=odd_texts(), mode=st.sampled_from(["PROGRESSIVE", "REALTIME"]), data=st.data())
def test_keys_that_come_twice_send_nothing_twice(
    text: str, mode: Mode, data: st.DataObject
) -> None:
    updates = run(data.draw(pieces(text)), mode, send="both")
    assert updates[-1].status == "COMPLETED" and updates[-1].data == json.loads(text)
    shown = [update.data for update in updates[:-1]]
    # For `==` alone, 1 and true are the same.
    assert not any(same(one, two) for one, two in zip(shown, shown[1:], strict=False))
    check_law(updates, exact=False)  # 1, then 1.0 for the same key, is not a change


FLAGS = st.fixed_dictionaries({"partial_numbers": st.booleans(), "early_literals": st.booleans()})
HOLDING = st.fixed_dictionaries(
    {"only_complete": st.lists(st.sampled_from(["a", "b", "*", "[*]"]))}
)
# The options that a mode uses.
OPTIONS = {"REALTIME": st.builds(operator.or_, FLAGS, HOLDING), "PROGRESSIVE": HOLDING}


@pytest.mark.parametrize("mode", MODES)
@examples(50)
@given(text=st.one_of(texts(), bad_texts()), data=st.data())
def test_p7_the_law_of_deltas(mode: Mode, text: str, data: st.DataObject) -> None:
    parts, options = data.draw(pieces(text)), data.draw(OPTIONS.get(mode, st.just({})))
    updates = run(parts, mode, send="both", **options)
    check_law(updates)
    for update, other in zip(updates, run(parts, mode, send="delta", **options), strict=True):
        fields = update.to_dict()
        if update.status == "PARTIAL":
            del fields["data"]
        assert repr(other.to_dict()) == repr(fields)
    order = data.draw(st.permutations(range(len(updates))))
    unread = run(parts, mode, send="both", **options)
    for at in order:
        assert repr(unread[at].to_dict()) == repr(updates[at].to_dict())


@examples(50)
@given(text=st.one_of(texts(), bad_texts()), data=st.data())
def test_an_update_knows_its_complete_paths(text: str, data: st.DataObject) -> None:
    parts = data.draw(pieces(text))
    for update in run(parts, "REALTIME", early_literals=True):
        growing = update.open_path
        for path, _ in leaves(update.data):
            is_open = growing is not None and growing == path
            assert update.is_complete(path) is not is_open
        if update.status == "COMPLETED":
            assert growing is None


@examples(40)
@given(members=st.dictionaries(KEYS, st.lists(SCALARS, max_size=3), max_size=3), data=st.data())
def test_entities_under_a_pattern(members: dict[str, list[Any]], data: st.DataObject) -> None:
    text = json.dumps({"x": members, "y": [1, {"x": 2}]})
    updates = run(data.draw(pieces(text)), "REALTIME", entity="x.*[*]")
    expected = [
        (("x", key, at), item) for key, items in members.items() for at, item in enumerate(items)
    ]
    completed = [(u.path, u.data) for u in updates if u.status == "COMPLETED"]
    assert repr(completed) == repr(expected)


@pytest.mark.parametrize("mode", MODES)
@examples(50)
@given(text=st.one_of(st.text(max_size=30), st.binary(max_size=30)), data=st.data())
def test_p9_nothing_is_ever_raised(mode: Mode, text: str | bytes, data: st.DataObject) -> None:
    parts: list[Any] = data.draw(pieces(text))
    options: dict[str, Any] = {
        "repair": data.draw(st.booleans()),
        **data.draw(OPTIONS.get(mode, st.just({}))),
    }
    updates = run(parts, mode, send="both", **options)
    for update in updates:
        json.loads(update.to_json("path", "open_path", "repairs"))


@pytest.mark.parametrize("mode", MODES)
@examples(40)
@given(text=bad_texts(), data=st.data())
def test_repaired_texts(mode: Mode, text: str, data: st.DataObject) -> None:
    """Cutting does not matter, nothing that was shown is taken back, and deltas keep their law."""
    options: dict[str, Any] = {"repair": True}
    expected = repr(finals(run([text], mode, **options)))
    parts = data.draw(pieces(text))
    assert repr(finals(run(parts, mode, **options))) == expected
    updates = run(parts, mode, send="both", **options)
    check_law([update for update in updates if update.index is not None and mode != "BATCH"])
    last = {update.index: update.data for update in updates}
    grown = [u for u in updates if mode != "BATCH"]
    assert all(is_prefix(u.data, last[u.index], numbers_grow=True) for u in grown)
