"""P5 and P6 on streams nobody thought of: chunks joined are the last snapshot, or an error says
so; and after every chunk a reader sees a prefix of the snapshot it came from."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Iterator
from itertools import takewhile
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsonrill import Document, RevisionError
from jsonrill.chunker import Chunker
from support import examples, tries

from .chunker_streams import (
    ALL_KINDS,
    KEYS,
    MISSING,
    TEXTS,
    Changes,
    Documents,
    Num,
    contradicts,
    dump,
    is_prefix,
    load,
    overlaid,
    same,
    sequential,
)

STEPS = (1, 2, 4, 12, 40, 120, 400)

seeds = st.integers(0, 2**32)
strings = st.lists(st.sampled_from(TEXTS) | st.text(max_size=6), max_size=4).map("".join)
numbers = st.builds(
    lambda sign, digits, fraction, power: Num(sign + digits + fraction + power),
    st.sampled_from(["", "-"]),
    st.integers(0, 10**20).map(str),
    st.sampled_from(["", ".0", ".34", ".05", ".50"]),
    st.sampled_from(["", "", "e5", "E-2"]),
)


def trees(leaves: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    keys = st.sampled_from(KEYS) | st.text(max_size=3)
    return st.recursive(
        leaves,
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=5),
        max_leaves=20,
    )


documents = trees(strings | numbers | st.none() | st.booleans())
# What can be shown before it is there: a boolean or null that changes is a revision.
prefilled_documents = trees(strings | numbers)


def check(snapshots: Iterable[Any], rng: random.Random, **options: Any) -> None:
    """Feed the snapshots, each with its keys in another order; hold the chunker to P5 and P6."""
    chunker = Chunker(verify=True, **options)
    reader = Document()
    text = ""
    known: Any = None
    value: Any = None
    for value in snapshots:
        chunk = chunker.feed(dump(value, rng))
        known = overlaid(known, value)
        text += chunk
        reader.feed(chunk)
        assert not reader.started or is_prefix(reader.live, json.loads(dump(known)))
    text += chunker.flush()
    assert same(load(text), load(dump(value)))


@examples(150)
@given(
    document=documents,
    step=st.sampled_from(STEPS),
    grow=st.booleans(),
    repeat=st.sampled_from([0.0, 0.1, 0.5]),
    eager=st.booleans(),
    seed=seeds,
)
def test_any_document_written_in_one_go(
    document: Any, step: int, grow: bool, repeat: float, eager: bool, seed: int
) -> None:
    rng = random.Random(seed)
    snapshots = sequential(document, rng, step, grow=grow, repeat=repeat)
    check(snapshots, rng, eager=eager)


@pytest.mark.parametrize("eager", [False, True])
@pytest.mark.parametrize("step", STEPS)
def test_every_kind_of_document_at_every_step(step: int, eager: bool) -> None:
    for seed in range(tries(3 if step < 4 else 9)):
        for kinds in ((), *((kind,) for kind in ALL_KINDS), ALL_KINDS):
            rng = random.Random(f"{seed} {kinds}")
            document = Documents(rng, set(kinds)).object(2)
            check(sequential(document, rng, step, grow=seed % 2 == 0), rng, eager=eager)


# ---- sources that show a skeleton first ----


def in_turn(value: Any, left: list[int], empty: Any = ...) -> Any:
    """`value` with all its keys, filled from the front as far as `left` characters go.

    What is not begun is an empty value of its type, or `empty`. Every character spent shows.
    """
    if left[0] <= 0 and empty is not ... and not (isinstance(value, dict) and value):
        return empty
    if isinstance(value, dict):
        return {key: in_turn(item, left, empty) for key, item in value.items()}
    if isinstance(value, list):
        return [*elements_in_turn(value, left, empty)]
    if isinstance(value, Num):
        shown = value if left[0] > 0 else Num("0")
        left[0] -= value != "0"
        return shown
    shown = value[: max(left[0], 0)]
    left[0] -= len(value)
    return shown


def elements_in_turn(value: list[Any], left: list[int], empty: Any) -> Iterator[Any]:
    for item in value:
        if left[0] <= 0:
            return
        left[0] -= 1
        yield item if isinstance(item, Num) else in_turn(item, left, empty)


def together(value: Any, time: int) -> Any:
    """`value` with all its keys, everything that is not whole growing at the same time."""
    if isinstance(value, dict):
        return {key: together(item, time) for key, item in value.items()}
    return in_turn(value, [time])


def until_whole(document: Any, shown: Iterator[Any]) -> Iterator[Any]:
    yield from takewhile(lambda value: not same(value, document), shown)
    yield document


@pytest.mark.parametrize("eager", [False, True])
@examples(60)
@given(document=prefilled_documents, step=st.sampled_from(STEPS), seed=seeds)
def test_skeletons_filled_in_turn(eager: bool, document: Any, step: int, seed: int) -> None:
    shown = (in_turn(document, [size]) for size in range(0, 10**6, step))
    check(until_whole(document, shown), random.Random(seed), eager=eager)


@pytest.mark.parametrize("eager", [False, True])
@examples(60)
@given(document=prefilled_documents, step=st.sampled_from(STEPS), seed=seeds)
def test_skeletons_filled_together(eager: bool, document: Any, step: int, seed: int) -> None:
    shown = (together(document, time) for time in range(0, 10**6, step))
    check(until_whole(document, shown), random.Random(seed), eager=eager)


@pytest.mark.parametrize("eager", [False, True])
@examples(60)
@given(document=prefilled_documents, step=st.sampled_from(STEPS), seed=seeds)
def test_null_placeholders(eager: bool, document: Any, step: int, seed: int) -> None:
    shown = (in_turn(document, [size], None) for size in range(0, 10**6, step))
    snapshots = until_whole(document, shown)
    check(snapshots, random.Random(seed), eager=eager, null="placeholder")


def test_the_made_up_sources_are_what_they_say() -> None:
    document = {"a": "xy", "b": ["pq", Num("7")], "c": {"d": Num("30"), "e": "z"}}
    assert in_turn(document, [0]) == {"a": "", "b": [], "c": {"d": "0", "e": ""}}
    assert in_turn(document, [1], None) == {"a": "x", "b": None, "c": {"d": None, "e": None}}
    assert in_turn(document, [4]) == {"a": "xy", "b": ["p"], "c": {"d": "0", "e": ""}}
    assert in_turn(document, [6]) == {"a": "xy", "b": ["pq", "7"], "c": {"d": "0", "e": ""}}
    assert together(document, 1) == {"a": "x", "b": [""], "c": {"d": "30", "e": "z"}}
    assert together(document, 2) == {"a": "xy", "b": ["p"], "c": {"d": "30", "e": "z"}}
    assert same(in_turn(document, [99]), document)
    assert same(together(document, 99), document)


# ---- sources that change their mind ----


modes = st.fixed_dictionaries(
    {
        "eager": st.booleans(),
        "null": st.sampled_from(["value", "placeholder"]),
    }
)


@examples(200)
@given(document=documents, options=modes, step=st.sampled_from(STEPS), seed=seeds)
def test_an_injected_rewriting_is_refused_and_leaves_no_trace(
    document: Any, options: Any, step: int, seed: int
) -> None:
    rng = random.Random(seed)
    placeholder = options["null"] == "placeholder"
    chunker, untouched = Chunker(**options), Chunker(**options)
    text = ""
    value: Any = None
    for value in sequential(document, rng, step):
        snapshot = dump(value, rng)
        wrong = Changes(rng).rewriting(value)
        if rng.random() < 0.5 and text and contradicts(text, wrong, placeholder=placeholder):
            with pytest.raises(RevisionError):
                chunker.feed(dump(wrong, rng))
        chunk = chunker.feed(snapshot)
        assert chunk == untouched.feed(snapshot)
        text += chunk
    text += chunker.flush()
    assert same(load(text), load(dump(value)))


@examples(400)
@given(options=modes, seed=seeds)
def test_never_wrong_text(options: Any, seed: int) -> None:
    rng = random.Random(seed)
    changes = Changes(rng)
    placeholder = options["null"] == "placeholder"
    chunker = Chunker(**options)
    value = changes.value()
    shown = [value]
    text, last = "", MISSING
    accepted: list[tuple[str, str]] = []
    for _ in range(rng.randint(1, 14)):
        snapshot = dump(value, rng)
        wrong = bool(text) and contradicts(text, value, placeholder=placeholder)
        try:
            chunk = chunker.feed(snapshot)
        except RevisionError:
            value = last if rng.random() < 0.8 else value
        else:
            assert not wrong
            text += chunk
            last = value
            accepted.append((snapshot, chunk))
        value = changes.growth(value) if rng.random() < 0.75 else rng.choice(shown)
        shown.append(value)
    try:
        rest = chunker.flush()
    except RevisionError:
        json.loads(text + chunker.flush())
        return
    assert same(load(text + rest), load(dump(last)))
    # What was refused left no trace.
    again = Chunker(**options)
    assert [again.feed(snapshot) for snapshot, _ in accepted] == [chunk for _, chunk in accepted]
    assert again.flush() == rest


def changed_paths(was: Any, now: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where two values differ; a container that got more members is named itself."""
    if isinstance(was, dict) and isinstance(now, dict):
        if now.keys() - was.keys():
            yield path
        for key in was:
            yield from changed_paths(was[key], now.get(key, MISSING), (*path, key))
    elif isinstance(was, list) and isinstance(now, list):
        if len(now) > len(was):
            yield path
        now = now + [MISSING] * (len(was) - len(now))
        for index, item in enumerate(was):
            yield from changed_paths(item, now[index], (*path, index))
    elif not same(was, now):
        yield path


@examples(400)
@given(options=modes, seed=seeds)
def test_what_is_kept_is_noted(options: Any, seed: int) -> None:
    rng = random.Random(seed)
    changes = Changes(rng)
    chunker = Chunker(on_revision="keep", verify=True, **options)
    value = changes.value()
    shown = [value]
    text = ""
    for _ in range(rng.randint(1, 14)):
        last = value
        text += chunker.feed(dump(value, rng))
        value = changes.growth(value) if rng.random() < 0.75 else rng.choice(shown)
        shown.append(value)
    text += chunker.flush()
    noted = [error.path for error in chunker.revisions]
    assert len(set(noted)) == len(noted)
    for path in changed_paths(load(text), load(dump(last))):
        assert any(path[: len(above)] == above for above in noted)
