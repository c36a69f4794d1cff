"""Which parts of a document are entities: declarations, names, indices and paths."""

from __future__ import annotations

import json
from typing import Any

import pytest

from jsonrill import PartialStream
from jsonrill.partial_stream import Mode
from support import cuttings
from support.streams import MODES, run

COLORS = '{"title": "t", "colors": [{"hex": 1}, {"hex": [2, {"x": 3}]}], "n": [{"hex": 9}]}'


def entities(text: str, entity: Any, mode: Mode = "ONE-BY-ONE") -> list[tuple[Any, ...]]:
    results = [
        [
            (u.entity, u.index, u.path, u.data)
            for u in run(pieces, mode, entity=entity)
            if not u.error
        ]
        for pieces in cuttings(text)
    ]
    assert all(result == results[0] for result in results)
    return results[0]


@pytest.mark.parametrize(
    "text, expected",
    [
        ('[{"a": 1}, [2]]', [(None, 0, (0,), {"a": 1}), (None, 1, (1,), [2])]),
        ("[3, 4]", [(None, 0, (0,), 3), (None, 1, (1,), 4)]),
        ('{"a": [1, 2]}', [(None, 0, (), {"a": [1, 2]})]),
        ('"x"', [(None, 0, (), "x")]),
        ("12", [(None, 0, (), 12)]),
        (" null ", [(None, 0, (), None)]),
        ("[]", []),
        ("[[[]], {}]", [(None, 0, (0,), [[]]), (None, 1, (1,), {})]),
    ],
)  # fmt: skip
def test_without_a_name_the_elements_or_the_root_are_entities(text: str, expected: Any) -> None:
    assert entities(text, None) == expected
    assert entities(text, "root") == expected


@pytest.mark.parametrize("mode", MODES)
def test_an_entity_that_matches_nothing_is_an_error(mode: Mode) -> None:
    [update] = run([COLORS], mode, entity="colours")
    assert update.status == "ERROR" and update.error is not None
    assert update.error["code"] == "FIELD_NOT_FOUND"
    assert update.error["message"] == "the document has no entity at 'colours'"
    assert not [u for u in run(['{"colours": []}'], mode, entity="colours") if u.error]


def test_a_name_means_the_elements_of_the_array_at_that_key() -> None:
    assert entities(COLORS, "colors") == [
        ("colors", 0, ("colors", 0), {"hex": 1}),
        ("colors", 1, ("colors", 1), {"hex": [2, {"x": 3}]}),
    ]


@pytest.mark.parametrize("value", [{"hex": [1]}, "red", 3, None, {}])
def test_a_name_whose_key_holds_no_array_means_its_value(value: Any) -> None:
    text = json.dumps({"a": 1, "colors": value, "b": [2]})
    assert entities(text, "colors") == [("colors", 0, ("colors",), value)]


@pytest.mark.parametrize("mode", ["ONE-BY-ONE", "REALTIME"])
def test_a_number_outside_entities_counts_once_for_any_cutting(mode: Mode) -> None:
    """Showing a number that is still being read must not advance the index."""
    text = '{"a": [1234, true, {"b": 5678}, null, {"b": "x"}]}'
    for pieces in cuttings(text):
        last = {u.index: (u.path, u.data) for u in run(pieces, mode, entity="a[*].b")}
        assert last == {0: (("a", 2, "b"), 5678), 1: (("a", 4, "b"), "x")}


def test_a_name_and_a_root_array() -> None:
    assert entities('[{"colors": 1}, 2]', "colors") == [
        ("colors", 0, (0,), {"colors": 1}),
        ("colors", 1, (1,), 2),
    ]
    assert entities("[1]", {"color": "colors"}) == [("color", 0, (0,), 1)]
    # The elements of a root array belong to a name only if it is the only one, without a pattern.
    assert entities("[1]", ["colors", "shapes"]) == []
    assert entities("[1]", "colors[*]") == []


def test_the_key_counts_at_the_root_only() -> None:
    assert entities('{"a": {"colors": [1]}, "b": [{"colors": [2]}]}', "colors") == []


@pytest.mark.parametrize(
    "pattern, expected",
    [
        ("colors[*]", [("colors", 0, ("colors", 0)), ("colors", 1, ("colors", 1))]),
        ("root.colors[*]", [("colors", 0, ("colors", 0)), ("colors", 1, ("colors", 1))]),
        ("colors[1]", [("colors", 0, ("colors", 1))]),
        ("colors[*].hex", [("hex", 0, ("colors", 0, "hex")), ("hex", 1, ("colors", 1, "hex", 0)),
                           ("hex", 2, ("colors", 1, "hex", 1))]),
        ("colors[*].hex[*]", [("hex", 0, ("colors", 1, "hex", 0)),
                              ("hex", 1, ("colors", 1, "hex", 1))]),
        ("*[*].hex", [("hex", 0, ("colors", 0, "hex")), ("hex", 1, ("colors", 1, "hex", 0)),
                      ("hex", 2, ("colors", 1, "hex", 1)), ("hex", 3, ("n", 0, "hex"))]),
        ("root.*", [(None, 0, ("title",)), (None, 1, ("colors", 0)), (None, 2, ("colors", 1)),
                    (None, 3, ("n", 0))]),
        ("title", [("title", 0, ("title",))]),
        ("none.such", []),
        ("colors.hex", []),
        ('["title"]', [("title", 0, ("title",))]),
    ],
)  # fmt: skip
def test_a_pattern_selects_entities(pattern: str, expected: Any) -> None:
    assert [entity[:3] for entity in entities(COLORS, pattern)] == expected


def test_a_pattern_that_ends_in_a_star_selects_elements_of_any_type() -> None:
    text = '{"m": [[1, 2], [3]], "k": {"x": 1}}'
    assert [entity[2:] for entity in entities(text, "m[*]")] == [
        (("m", 0), [1, 2]),
        (("m", 1), [3]),
    ]
    assert [entity[2:] for entity in entities(text, "m[0]")] == [(("m", 0, 0), 1), (("m", 0, 1), 2)]
    assert entities(text, "k[*]") == []


def test_several_names_are_counted_apart() -> None:
    text = '{"shapes": [1], "colors": ["a", "b"], "x": [0], "shape": 2}'
    assert entities(text, ["colors", "shapes"]) == [
        ("shapes", 0, ("shapes", 0), 1),
        ("colors", 0, ("colors", 0), "a"),
        ("colors", 1, ("colors", 1), "b"),
    ]
    named = {"c": "colors[*]", "s": "shapes"}
    assert [entity[:2] for entity in entities(text, named)] == [("s", 0), ("c", 0), ("c", 1)]
    # One name for two places: one count.
    assert [
        entity[:3] for entity in entities('{"a": {"t": [1]}, "b": {"t": [2]}}', ["a.t", "b.t"])
    ] == [
        ("t", 0, ("a", "t", 0)),
        ("t", 1, ("b", "t", 0)),
    ]


def test_batch_has_one_list_for_each_declared_name() -> None:
    text = '{"shapes": [1], "colors": ["a", "b"]}'
    updates = run([text], "BATCH", entity=["colors", "shapes", "sizes"])
    assert [(u.index, u.status, u.entity, u.data) for u in updates] == [
        (0, "COMPLETED", "colors", ["a", "b"]),
        (0, "COMPLETED", "shapes", [1]),
        (0, "COMPLETED", "sizes", []),
    ]
    [error] = run([text[:-3]], "BATCH", entity=["colors", "shapes"])
    assert (error.index, error.entity, error.data) == (
        1,
        "colors",
        {"colors": ["a"], "shapes": [1]},
    )


def test_text_outside_entities_makes_no_updates() -> None:
    stream = PartialStream("REALTIME", entity="colors")
    assert stream.feed('{"title": "a long one", "n": 12, "deep": [[{"colors": [1]}], ') == []
    assert stream.feed('[{"colors": "x"}]], "big": [' + "[1, 2, 3], " * 20 + "4]") == []
    assert [u.data for u in stream.feed(', "colors": ["re')] == ["re"]
    assert [u.status for u in stream.feed('d"], "after": {"colors": [')] == ["COMPLETED"]
    assert stream.feed("5]}}") == [] and stream.flush() == []


@pytest.mark.parametrize("key", ["my-colors", "Farben 2", "résumé", "a/b", "~", "$ref"])
def test_a_name_may_be_any_key_without_pattern_signs(key: str) -> None:
    assert entities(json.dumps({key: [1]}), key) == [(key, 0, (key, 0), 1)]


@pytest.mark.parametrize(
    "entity, error, message",
    [
        ("", ValueError, "empty"),
        ("a..b", ValueError, "not a path"),
        ("a[", ValueError, "not a path"),
        ([], ValueError, "no entity"),
        ({}, ValueError, "no entity"),
        (3, TypeError, "an entity must be"),
        (b"colors", TypeError, "an entity must be"),
        ([1], TypeError, "strings"),
        ({1: "a"}, TypeError, "strings"),
        ({"a": None}, TypeError, "strings"),
        (["a", "a"], ValueError, "inside another"),
        (["days", "days[*].steps[*]"], ValueError, "inside another"),
        (["days[*]", "days[0]"], ValueError, "inside another"),
        (["root", "a"], ValueError, "inside another"),
        (["*[*]", "a.b"], None, ""),
        (["*.b", "a.b[*]"], ValueError, "inside another"),
        (["m[0]", "m[1]"], None, ""),
    ],
)
def test_declarations_that_are_refused(
    entity: Any, error: type[Exception] | None, message: str
) -> None:
    if error is None:
        PartialStream("BATCH", entity=entity)
    else:
        with pytest.raises(error, match=message):
            PartialStream("BATCH", entity=entity)


def test_the_same_key_twice_brings_more_entities() -> None:
    assert [entity[1:] for entity in entities('{"a": [1], "a": [2], "a": 3}', "a")] == [
        (0, ("a", 0), 1), (1, ("a", 0), 2), (2, ("a",), 3),
    ]  # fmt: skip


def test_each_declared_name_may_have_its_own_mode() -> None:
    text = '{"title": "ab", "items": [{"n": 1}, {"n": 2}], "notes": ["x", "y"], "rest": [1, 2]}'
    entity = ["title", "items", "notes", "rest"]
    mode: Any = {"items": "one-by-one", "notes": "BATCH", "rest": "ALL-TOGETHER"}
    stream = PartialStream(mode, entity=entity)
    fed = [update for char in text for update in stream.feed(char)]
    assert [(u.entity, u.status, u.data) for u in fed] == [
        ("title", "PARTIAL", "a"), ("title", "PARTIAL", "ab"),
        ("title", "COMPLETED", "ab"),
        ("items", "COMPLETED", {"n": 1}), ("items", "COMPLETED", {"n": 2}),
    ]  # fmt: skip
    assert [(u.entity, u.status, u.data) for u in stream.flush()] == [
        ("rest", "COMPLETED", 1), ("rest", "COMPLETED", 2), ("notes", "COMPLETED", ["x", "y"]),
    ]  # fmt: skip
    stream = PartialStream(mode, entity=entity)
    *rest, error = stream.feed(text[:-1] + "x")
    assert [(u.entity, u.data) for u in rest[-2:]] == [("rest", 1), ("rest", 2)]
    assert (error.status, error.data) == ("ERROR", ["x", "y"])


def test_a_mode_for_a_name_that_is_not_declared_is_refused() -> None:
    with pytest.raises(ValueError, match="mode names titel, which `entity` does not declare"):
        PartialStream({"titel": "BATCH"}, entity=["title", "items"])
    with pytest.raises(ValueError, match="mode must be one of"):
        PartialStream({"title": "FAST"}, entity="title")  # type: ignore[dict-item]
