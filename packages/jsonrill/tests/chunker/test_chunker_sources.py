"""The chunker on what real sources send: jiter, LangChain and instructor as installed, and
streams as Apple's Foundation Models show them."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any

import pytest

from jsonrill import RevisionError, chunks
from jsonrill.chunker import Chunker
from support import at_random, by_character, whole

from .chunker_streams import itineraries, withholds

EAGER = pytest.mark.parametrize("eager", [False, True])

# As Apple's framework shows it: any key order, strings that start empty, several keys at once.
LUNCH = {"title": "Lunch at the pier", "type": "food"}
ITINERARY: list[dict[str, Any]] = [
    {"days": []},
    {"days": [{"title": "Arri"}]},
    {"days": [{"subtitle": "", "title": "Arrival"}]},
    {"days": [{"title": "Arrival", "subtitle": "By"}]},
    {
        "days": [
            {
                "activities": [{"type": "food", "title": ""}],
                "subtitle": "By sea",
                "title": "Arrival",
            }
        ]
    },
    {
        "days": [
            {
                "title": "Arrival",
                "activities": [{"title": "Lunch", "type": "food"}],
                "subtitle": "By sea",
            }
        ]
    },
    {"days": [{"title": "Arrival", "activities": [LUNCH, {"type": "walk"}], "subtitle": "By sea"}]},
    {
        "name": "A week",
        "days": [
            {"title": "Arrival", "subtitle": "By sea", "activities": [LUNCH, {"type": "walk"}]}
        ],
    },
]


def chunked(snapshots: Any, **options: Any) -> tuple[str, Any]:
    """The joined text, and the last snapshot as JSON."""
    chunker = Chunker(verify=True, **options)
    text, last = "", None
    for snapshot in snapshots:
        text += chunker.feed(snapshot)
        last = snapshot
    return text + chunker.flush(), last


def orders(seed: int) -> dict[str, Any]:
    """A document with everything that makes partial parsers show odd things."""
    rng = random.Random(seed)
    return {
        "title": "Order é 1",
        "items": [
            {
                "name": "Widget",
                "price": rng.choice([30.34, 3.0, 0.5, 100.0, 0.0, 12.0]),
                "count": rng.choice([0, 7, 120]),
                "tags": ["a", "bc"][: rng.randint(0, 2)],
                "sizes": [1.5, 30.0, 0.25][: rng.randint(0, 3)],
                "in_stock": rng.random() < 0.5,
                "place": {"street": "Main", "zip": "0123", "lat": rng.choice([-0.5, 51.05, -12.0])},
            }
            for _ in range(rng.randint(0, 3))
        ],
        "total": rng.choice([99.95, 5.0, 10.0]),
        "note": rng.choice([None, "hi"]),
    }


def streams() -> Iterator[tuple[dict[str, Any], list[str]]]:
    """Documents, and their text as a model might send it."""
    for seed in range(8):
        document = orders(seed)
        text = json.dumps(document)
        yield document, [by_character, at_random, whole][seed % 3](text)


@EAGER
def test_keys_in_any_order(eager: bool) -> None:
    text, last = chunked(ITINERARY, eager=eager)
    assert json.loads(text) == last


@EAGER
def test_jiter(eager: bool) -> None:
    jiter = pytest.importorskip("jiter")
    for document, pieces in streams():
        texts = ("".join(pieces[: end + 1]).encode() for end in range(len(pieces)))
        snapshots = (jiter.from_json(it, partial_mode="trailing-strings") for it in texts)
        text, last = chunked(snapshots, eager=eager)
        assert json.loads(text) == last == document


@EAGER
def test_langchain(eager: bool) -> None:
    parsers = pytest.importorskip("langchain_core.output_parsers")
    for document, pieces in streams():
        snapshots = parsers.JsonOutputParser().transform(iter(pieces))
        text, last = chunked(snapshots, eager=eager)
        assert json.loads(text) == last == document


@pytest.fixture(scope="module")
def partial_order() -> Any:
    """instructor's partial model of an order."""
    instructor = pytest.importorskip("instructor")
    from pydantic import BaseModel

    class Place(BaseModel):
        street: str
        zip: str
        lat: float

    class Item(BaseModel):
        name: str
        price: float
        count: int
        tags: list[str]
        sizes: list[float]
        in_stock: bool
        place: Place

    class Order(BaseModel):
        title: str
        items: list[Item]
        total: float
        note: str | None

    return instructor.Partial[Order]


@EAGER
def test_instructor(eager: bool, partial_order: Any) -> None:
    for document, pieces in streams():
        snapshots = partial_order.model_from_chunks(pieces)
        text, last = chunked(snapshots, eager=eager, null="placeholder")
        assert json.loads(text) == last.model_dump(mode="json") == document


def test_instructor_needs_placeholders(partial_order: Any) -> None:
    snapshots = partial_order.model_from_chunks(by_character(json.dumps(orders(1))))
    with pytest.raises(RevisionError, match="placeholder"):
        chunked(snapshots)


def test_instructor_shows_a_float_as_the_rules_expect(partial_order: Any) -> None:
    pieces = by_character(json.dumps({**orders(1), "total": 30.3}))
    seen = [snapshot.total for snapshot in partial_order.model_from_chunks(pieces)]
    assert list(dict.fromkeys(seen)) == [None, 3.0, 30.0, 30.3]
    assert None in seen[seen.index(30.0) :]


def test_a_single_model_or_mapping_is_one_snapshot() -> None:
    pytest.importorskip("pydantic")
    from pydantic import BaseModel

    class Item(BaseModel):
        name: str

    for source in (
        Item(name="a"),
        {"name": "a"},
        '{"name":"a"}',
        b'{"name":"a"}',
        [Item(name="a")],
    ):
        assert list(chunks(source)) == ['{"name":"a', '"}']


# ---- snapshots as an on-device framework shows them ----

ITINERARIES = itineraries()


@EAGER
@pytest.mark.parametrize("number", range(len(ITINERARIES)))
def test_a_source_with_its_keys_in_any_order(number: int, eager: bool) -> None:
    text, last = chunked(ITINERARIES[number], eager=eager)
    assert json.loads(text) == json.loads(last)


@pytest.mark.parametrize("eager, share", [(False, 0.06), (True, 0.01)])
def test_little_is_withheld(eager: bool, share: float) -> None:
    """Of how many snapshots could a reader not see all the text at once?"""
    held = total = 0
    for snapshots in ITINERARIES:
        chunker = Chunker(eager=eager)
        text = ""
        for snapshot in snapshots:
            text += chunker.feed(snapshot)
            held += withholds(text, json.loads(snapshot))
            total += 1
    assert total > 150
    assert held / total <= share


def test_withholding_is_measured() -> None:
    assert not withholds('{"a":"x', {"a": "x", "b": "", "c": []})
    assert withholds('{"a":"x', {"a": "xy"})
    assert withholds('{"a":"x', {"a": "x", "b": ["y"]})
    assert withholds("", {"a": "x"})
    held = dict.fromkeys((False, True), 0)
    for eager in held:
        chunker, text = Chunker(eager=eager), ""
        for snapshot in ITINERARY:
            text += chunker.feed(snapshot)
            held[eager] += withholds(text, snapshot)
    assert held == {False: 1, True: 0}
