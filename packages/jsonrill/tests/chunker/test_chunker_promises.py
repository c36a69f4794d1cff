"""The chunker's promises, for three kinds of sources, several step sizes and all key orders.

P5: joined, the chunks are the last snapshot, or `RevisionError` is raised.
P6: after each chunk a reader sees a prefix of the snapshot.
P11: text flows. In a source that writes one value after another, a value that shows something is
not held any more two different snapshots after it was first shown.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import jiter
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsonrill import Chunker, Document
from jsonrill.errors import RevisionError
from jsonrill.paths import Path, lookup
from support import examples

STEPS = (1, 3, 9, 25, 80)
KEYS = st.sampled_from(["a", "b", "name", "x.y", "x[0]", "", 'q"', "é", "0", "long key"])
TEXTS = st.sampled_from(["", "v", "Ada", "a walk", 'q"\\\n', "é😀", "\u0001\u2028", "prose " * 12])
NUMBERS = st.sampled_from([0, 7, -3, 1.5, 30.34, 12345, 0.05, 2.0, 1e-7, 10**20])
LITERALS = st.none() | st.booleans()


def containers(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=6)


def objects(leaves: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.dictionaries(
        KEYS, st.recursive(leaves, containers, max_leaves=12), min_size=1, max_size=8
    )


DOCUMENTS = objects(TEXTS | NUMBERS | LITERALS)
# A literal cannot be filled in: it is complete when it is first shown.
FORMS = objects(TEXTS | NUMBERS)
SEEDS = st.integers(0, 2**32)


# ---- sources: the snapshots of a document, each different from the one before ----


def sequential(document: Any, step: int) -> Iterator[Any]:
    """Show what is known of the document's text after each step."""
    text = json.dumps(document)
    reader = Document()
    for at in range(0, len(text), step):
        if reader.feed(text[at : at + step]):
            yield reader.value
    reader.flush()
    yield document


def digits(document: Any, step: int) -> Iterator[Any]:
    """Do the same with a parser that shows numbers while they grow."""
    text = json.dumps(document).encode()
    for end in range(1, len(text), step):
        yield jiter.from_json(text[:end], partial_mode="trailing-strings")
    yield document


def skeleton(document: Any, step: int) -> Iterator[Any]:
    """Show all keys from the start, then fill one value after another."""
    size = 0
    while (shown := filled(document, [size])) != document:
        yield shown
        size += step
    yield document


def side_by_side(document: Any, step: int) -> Iterator[Any]:
    """Show all keys from the start, then fill all values at the same time."""

    def shown(value: Any, size: int) -> Any:
        if isinstance(value, dict):
            return {key: shown(item, size) for key, item in value.items()}
        return filled(value, [size])

    size = 0
    while (snapshot := shown(document, size)) != document:
        yield snapshot
        size += step
    yield document


def filled(value: Any, left: list[int]) -> Any:
    """Return the value, filled from its front as far as `left` characters go."""
    if isinstance(value, dict):
        return {key: filled(item, left) for key, item in value.items()}
    if isinstance(value, list):
        shown = []
        for item in value:
            left[0] -= 1
            if left[0] < 0:
                break
            # An element is not filled in later; a number in it is complete.
            shown.append(item if isinstance(item, (int, float)) else filled(item, left))
        return shown
    # Each unit of `left` shows something, so that nothing pauses while it is filled.
    size = max(left[0], 0)
    left[0] -= len(value) if isinstance(value, str) else value != 0
    if isinstance(value, str):
        return value[:size]
    return value if size else 0


def ordered(value: Any, order: Callable[[list[str]], list[str]]) -> Any:
    """Return the value with its keys in another order, at every depth."""
    if isinstance(value, dict):
        return {key: ordered(value[key], order) for key in order(list(value))}
    return [ordered(item, order) for item in value] if isinstance(value, list) else value


# ---- what a reader of the text sees ----


def is_prefix(shown: Any, value: Any) -> bool:
    if isinstance(shown, dict) and isinstance(value, dict):
        return all(key in value and is_prefix(item, value[key]) for key, item in shown.items())
    if isinstance(shown, list) and isinstance(value, list):
        return len(shown) <= len(value) and all(map(is_prefix, shown, value))
    if isinstance(shown, str) and isinstance(value, str):
        return value.startswith(shown)
    return type(shown) is type(value) and shown == value


def leaves(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Yield the strings and numbers that show something."""
    if isinstance(value, (dict, list)):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(item, (*path, key))
    elif value:
        yield path, value


def held_for_long(snapshots: list[Any], shown: Any, held: dict[Path, Any]) -> list[Path]:
    """Return what the first of three snapshots shows, and a reader does not see after the last.

    A number may still change; and a reader does not see one that the text ends with.
    """
    paths = []
    for path, value in leaves(snapshots[0]):
        if isinstance(value, str):
            is_late = not is_prefix(value, lookup(shown, path)[1])
        else:
            is_still = all(lookup(snapshot, path)[1] == value for snapshot in snapshots)
            is_late = is_still and any(path[:end] in held for end in range(len(path) + 1))
        if is_late:
            paths.append(path)
    return paths


# ---- the promises ----


def run(snapshots: list[Any], *, flows: bool, as_text: bool, **options: Any) -> list[str]:
    """Return the chunks of the snapshots; check P5, P6 and, if it `flows`, P11."""
    chunker = Chunker(verify=True, **options)
    reader = Document()
    chunks = []
    for at, snapshot in enumerate(snapshots):
        chunks.append(chunker.feed(json.dumps(snapshot) if as_text else snapshot))
        reader.feed(chunks[-1])
        assert not reader.started or is_prefix(reader.live, snapshot)
        opened = lookup(snapshot, chunker.open_path or ())[1]
        # Values next to a growing number wait.
        if flows and at >= 2 and not isinstance(opened, (int, float)):
            assert not held_for_long(snapshots[at - 2 : at + 1], reader.live, chunker.held)
    chunks.append(chunker.flush())
    assert json.loads("".join(chunks)) == snapshots[-1]
    return chunks


def check(source: Callable[[Any, int], Iterator[Any]], document: Any, step: int, seed: int) -> None:
    rng = random.Random(seed)
    document = ordered(document, lambda keys: rng.sample(keys, len(keys)))
    snapshots = list(source(document, step))
    different = snapshots[:1] + [now for was, now in pairwise(snapshots) if was != now]
    orders: list[Callable[[list[str]], list[str]]] = [
        sorted,
        lambda keys: sorted(keys, reverse=True),
        lambda keys: rng.sample(keys, len(keys)),
    ]
    for eager in (False, True):
        results = []
        for order in orders:
            shown = [ordered(snapshot, order) for snapshot in different]
            flows = source is not side_by_side and not eager
            results.append(run(shown, flows=flows, as_text=order is sorted, eager=eager))
        assert results[0] == results[1] == results[2], "the text depends on the key order"


@pytest.mark.parametrize("step", STEPS)
@examples(150)
@given(document=DOCUMENTS, seed=SEEDS)
def test_p5_p6_p11_in_a_sequential_source(step: int, document: Any, seed: int) -> None:
    check(sequential, document, step, seed)


@pytest.mark.parametrize("step", STEPS)
@examples(100)
@given(document=DOCUMENTS, seed=SEEDS)
def test_p5_p6_p11_where_numbers_grow(step: int, document: Any, seed: int) -> None:
    check(digits, document, step, seed)


@pytest.mark.parametrize("step", STEPS)
@examples(150)
@given(document=FORMS, seed=SEEDS)
def test_p5_p6_p11_in_a_skeleton(step: int, document: Any, seed: int) -> None:
    check(skeleton, document, step, seed)


@pytest.mark.parametrize("step", STEPS)
@examples(150)
@given(document=FORMS, seed=SEEDS)
def test_p5_p6_where_values_grow_side_by_side(step: int, document: Any, seed: int) -> None:
    check(side_by_side, document, step, seed)


# ---- sources that change their mind ----


def edited(value: Any, rng: random.Random) -> Any:
    """Return the value with one change somewhere: growth, rewriting, removal, another type."""
    if isinstance(value, (dict, list)) and value and rng.random() < 0.9:
        value = value.copy()
        key = rng.choice(list(value) if isinstance(value, dict) else range(len(value)))
        if rng.random() < 0.1:
            del value[key]
        else:
            value[key] = edited(value[key], rng)
        return value
    if isinstance(value, dict):
        return {**value, rng.choice("abc"): rng.choice(["", "x", 1, None, {}])}
    if isinstance(value, list):
        return [*value, rng.choice(["", "x", 1, None, {}])]
    if isinstance(value, str) and rng.random() < 0.8:
        return value + rng.choice(["x", "\ufffd", "é"])
    return rng.choice(["", "y", 1, 12, 2.0, None, True, {}, [], value])


@pytest.mark.parametrize("null", ["value", "placeholder"])
@examples(300)
@given(document=DOCUMENTS, seed=SEEDS, eager=st.booleans())
def test_p5_no_wrong_text_and_no_trace_of_a_refused_snapshot(
    null: Any, document: Any, seed: int, eager: bool
) -> None:
    rng = random.Random(seed)
    chunker, accepted, chunks = Chunker(null=null, eager=eager), [], []
    value = document
    for _ in range(12):
        try:
            chunks.append(chunker.feed(value))
            accepted.append(value)
        except RevisionError:
            pass
        value = edited(accepted[-1] if rng.random() < 0.8 else value, rng)
    again = Chunker(null=null, eager=eager)
    assert [again.feed(snapshot) for snapshot in accepted] == chunks
    try:
        text = "".join(chunks) + chunker.flush()
    except RevisionError as error:
        # A written value is missing in the last snapshot: the text still has it.
        assert lookup(json.loads("".join(chunks) + chunker.flush()), error.path)[0]
    else:
        assert json.loads(text) == accepted[-1]


@examples(200)
@given(document=DOCUMENTS, seed=SEEDS)
def test_p5_what_is_kept_is_noted(document: Any, seed: int) -> None:
    rng = random.Random(seed)
    chunker = Chunker(on_revision="keep", verify=True)  # flush() compares, except for revisions
    text, value = "", document
    for _ in range(12):
        text += chunker.feed(value)
        value = edited(value, rng)
    json.loads(text + chunker.flush())
    noted = [revision.path for revision in chunker.revisions]
    assert len(set(noted)) == len(noted)
