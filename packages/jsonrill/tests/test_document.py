"""Growing values: the value after each character, and which parts are copied or shared.

Most tests run with a Document and with a Rebuilder, directly and over the wire.
"""

from __future__ import annotations

import copy
import json
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsonrill import Document, InvalidJSON, LimitExceeded, Limits, Truncated
from jsonrill.errors import StreamClosed
from jsonrill.paths import Path, format_path
from support import by, cuttings, examples, pieces
from support.documents import READERS, error_fields, growth, outcome, same, tokens, values

readers = pytest.mark.parametrize("make", READERS)


def all_paths(value: Any, path: Path = ()) -> list[Path]:
    items: list[tuple[str | int, Any]] = []
    if isinstance(value, dict):
        items = list(value.items())
    elif isinstance(value, list):
        items = list(enumerate(value))
    return [
        path,
        *(inner_path for key, item in items for inner_path in all_paths(item, (*path, key))),
    ]


# ---- the value after each piece, compared with the specification in documents.py ----


@readers
@examples(40)
@given(st.data())
def test_the_value_after_every_character_is_the_specified_one(
    make: Any, data: st.DataObject
) -> None:
    written = data.draw(tokens(data.draw(values)))
    reader = make()
    assert (reader.started, reader.value, reader.live, reader.open_path) == (
        False,
        None,
        None,
        None,
    )
    for char, expected in zip([*"".join(written), None], growth(written), strict=True):
        if char is None:
            reader.flush()
        else:
            reader.feed(char)
        assert same(reader.value, expected.value)
        assert same(reader.live, expected.value)
        assert reader.open_path == expected.open
        assert (reader.started, reader.complete) == (expected.started, expected.complete)


@readers
@examples(40)
@given(st.data())
def test_is_complete_is_right_in_any_grouping(make: Any, data: st.DataObject) -> None:
    written = data.draw(tokens(data.draw(values)))
    text, growths = "".join(written), list(growth(written))
    reader, length = make(), 0
    for piece in data.draw(pieces(text)):
        reader.feed(piece)
        length += len(piece)
        if not length:
            continue
        expected = growths[length - 1]
        assert same(reader.value, expected.value)
        assert reader.open_path == expected.open
        for path in all_paths(expected.value) if expected.started else []:
            still_open = expected.open is not None and expected.open[: len(path)] == path
            assert reader.is_complete(path) is not still_open
            assert reader.is_complete(format_path(path)) is not still_open
            assert not reader.is_complete((*path, "no such key"))
            assert not reader.is_complete((*path, 99))
    reader.flush()
    assert all(reader.is_complete(path) for path in all_paths(reader.value))


def test_the_value_after_each_piece() -> None:
    # One row for each piece: did the value change, the value, the open path.
    document = Document()
    assert document.started is False
    for piece, changed, value, path in [
        (" ", False, None, None),
        ("{", True, {}, ()),
        ('"na', False, {}, ()),
        ('me"', False, {}, ()),
        (":", False, {}, ()),
        ('"', True, {"name": ""}, ("name",)),
        ("A", True, {"name": "A"}, ("name",)),
        ("\\", False, {"name": "A"}, ("name",)),
        ("n", True, {"name": "A\n"}, ("name",)),
        ('"', False, {"name": "A\n"}, ()),
        (', "n": 1', False, {"name": "A\n"}, ()),
        ("2", False, {"name": "A\n"}, ()),
        (",", True, {"name": "A\n", "n": 12}, ()),
        ('"x": tru', False, {"name": "A\n", "n": 12}, ()),
        ("e", True, {"name": "A\n", "n": 12, "x": True}, ()),
        (', "l": [', True, {"name": "A\n", "n": 12, "x": True, "l": []}, ("l",)),
        ("[", True, {"name": "A\n", "n": 12, "x": True, "l": [[]]}, ("l", 0)),
        ("]", False, {"name": "A\n", "n": 12, "x": True, "l": [[]]}, ("l",)),
        ("]", False, {"name": "A\n", "n": 12, "x": True, "l": [[]]}, ()),
        ("}", False, {"name": "A\n", "n": 12, "x": True, "l": [[]]}, None),
        (" \n", False, {"name": "A\n", "n": 12, "x": True, "l": [[]]}, None),
    ]:
        assert document.feed(piece) is changed
        assert document.value == document.live == value
        assert document.open_path == path
    assert document.complete
    assert document.flush() is False


@readers
def test_a_null_differs_from_no_value(make: Any) -> None:
    reader = make()
    assert (reader.started, reader.value, reader.complete) == (False, None, False)
    assert not reader.is_complete(()) and not reader.is_complete()
    reader.feed("nul")
    assert (reader.started, reader.value, reader.complete) == (False, None, False)
    reader.feed("l")
    assert (reader.started, reader.value, reader.complete) == (True, None, True)
    assert reader.is_complete(()) and reader.is_complete()


@readers
def test_is_complete_is_false_for_a_missing_path(make: Any) -> None:
    reader = make()
    reader.feed('{"a": [1, {"b": "x')
    for path in [(), ("a",), ("a", 1), ("a", 1, "b"), "root", "a", "a[1].b"]:
        assert not reader.is_complete(path)  # growing
    for path in [("a", 0), "root.a[0]", "a[0]"]:
        assert reader.is_complete(path)
    for path in [("b",), ("a", 2), ("a", -1), ("a", "0"), ("a", 0, 0), ("a", 1, "b", 0), (0,), "c"]:
        assert not reader.is_complete(path)
    with pytest.raises(ValueError):
        reader.is_complete("a[")


# ---- safe to keep ----


@readers
@examples(40)
@given(st.data())
def test_a_value_handed_out_stays_as_it_was(make: Any, data: st.DataObject) -> None:
    text = "".join(data.draw(tokens(data.draw(values))))
    reader, snapshots = make(), []
    for piece in data.draw(pieces(text)):
        reader.feed(piece)
        snapshots.append((reader.value, copy.deepcopy(reader.value)))
    reader.flush()
    snapshots.append((reader.value, copy.deepcopy(reader.value)))
    for value, copied in snapshots:
        assert same(value, copied)


@readers
def test_finished_subtrees_are_shared(make: Any) -> None:
    reader = make()
    reader.feed('{"done": {"x": [1, 2]}, "list": [[1], [2]')
    first = reader.value
    reader.feed(', [3], "te')
    second = reader.value
    reader.feed('xt"], "more": {}}')
    last = reader.value
    assert first["done"] is second["done"] is last["done"]
    assert first["list"] is not second["list"]  # it was open
    for index in range(2):
        assert first["list"][index] is second["list"][index] is last["list"][index]
    assert second["list"][2] is last["list"][2]
    assert first == {"done": {"x": [1, 2]}, "list": [[1], [2]]}
    assert second["list"][3] == "te"


@readers
def test_live_is_the_value_itself(make: Any) -> None:
    reader = make()
    reader.feed('{"a": [1, {"b": "x')
    live, inner = reader.live, reader.live["a"][1]
    reader.feed('y"}, 2')
    assert reader.live is live and live["a"][1] is inner
    assert live == {"a": [1, {"b": "xy"}]}
    reader.feed("]}")
    assert reader.live is reader.value is live
    assert live == {"a": [1, {"b": "xy"}, 2]}


@readers
def test_changing_a_returned_value_changes_nothing_else(make: Any) -> None:
    reader = make()
    reader.feed('{"a": [1, {"b": "x')
    value = reader.value
    value["a"][1]["b"] = None
    value["a"].clear()
    value.clear()
    reader.feed('y"}]}')
    assert reader.value == {"a": [1, {"b": "xy"}]}


# ---- errors ----


@pytest.mark.parametrize(
    "text, value",
    [
        ('{"a": [1, 2, x', {"a": [1, 2]}),
        ('{"a": "xy\\q', {"a": "xy"}),
        ('["abc\x00', ["abc"]),
        ("[tru1", []),
        ("[1.5.", []),
        ("[-]", []),
        ('{"a": 1, b', {"a": 1}),
        ("x", None),
        ("{} x", {}),
        ('[{"a": [{"b": "c"}], "d": "' + "e" * 100 + '"}, 1, [2, ]]', None),
    ],
)
def test_an_error_keeps_the_value_before_it(text: str, value: Any) -> None:
    if value is None and text[0] == "[":
        value = json.loads(text[: text.index(", ]")] + "]]")
    for cut in cuttings(text):
        document = Document()
        with pytest.raises(InvalidJSON):
            for piece in cut:
                document.feed(piece)
        assert same(document.value, value)
        assert same(document.live, value)
        with pytest.raises(StreamClosed):
            document.feed("]")
        assert same(document.value, value)
        assert document.flush() is False


def test_a_document_and_a_parser_raise_the_same_error() -> None:
    long = '{"a": [{"b": "' + "c" * 100 + '"}, 1, '
    for text in ("[1, x", '{"a"1', long + "x", long + "\n\n]", '["\\ud83d\\uq'):
        for cut in cuttings(text):
            document = Document()
            with pytest.raises(InvalidJSON) as caught:
                for piece in cut:
                    document.feed(piece)
                document.flush()
            assert error_fields(caught.value) == outcome([text]).error


def test_a_cut_off_text_is_truncated_and_keeps_its_value() -> None:
    document = Document()
    document.feed('{"a": ["x", 12')
    with pytest.raises(Truncated):
        document.flush()
    assert document.value == {"a": ["x"]}
    assert (document.complete, document.open_path) == (False, ("a",))
    assert document.flush() is False
    with pytest.raises(StreamClosed):
        document.feed("]")


def test_a_wrong_argument_changes_nothing() -> None:
    document = Document()
    document.feed('["x')
    with pytest.raises(TypeError):
        document.feed(None)  # type: ignore[arg-type]
    document.feed('y"]')
    assert document.value == ["xy"]


LONG = "x" * 100


RECORD = '{"id": 12, "note": "[{:", "tags": [1, 2.5]}'
# For each limit, build a JSON text that uses exactly `count` of it.
TEXTS = {
    "depth": lambda count: "[" * (count - 1) + "]" * (count - 1),  # inside one more array
    "number": lambda count: "1." + "5" * (count - 2),
    "keys": lambda count: "{" + ",".join(f'"{at}":{at}' for at in range(count)) + "}",
    # A repeated key counts again.
    "keys, all the same": lambda count: "{" + ",".join('"":0' for _ in range(count)) + "}",
}


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("filler", [RECORD, f'"{LONG}"'], ids=["records", "prose"])
def test_limits_are_exact_in_a_large_text_that_is_read_at_once(name: str, filler: str) -> None:
    kind = name.split(",")[0]
    limits = Limits(**{kind: 600})
    before, after = "[" + f"{filler}," * 300, f",{filler}" * 300 + "]"
    text = before + TEXTS[name](600) + after
    assert read_whole(text, limits=limits) == json.loads(text)
    text = before + TEXTS[name](601) + after
    for cut in ([text], by(7, text)):
        document = Document(limits=limits)
        with pytest.raises(LimitExceeded) as caught:
            for piece in cut:
                document.feed(piece)
        assert caught.value.limit == kind


# ---- options ----


def read_whole(text: str | bytes, **options: Any) -> Any:
    document = Document(**options)
    document.feed(text)
    document.flush()
    return document.value


def test_documents_take_the_options_of_the_parser() -> None:
    long = "[1.10, " + "0.0, " * 50 + "1E400, 7]"
    for text in ("[1.10, 1E400, 7]", long):
        values = read_whole(text, parse_float=Decimal)
        assert same(values, json.loads(text, parse_float=Decimal))
    text = '{"a": {"b": 1}, "long": "' + LONG + '", "a": 2}'
    assert same(read_whole(text), json.loads(text))


def test_a_repeated_key_keeps_its_first_place_and_gets_the_last_value() -> None:
    for text in ('{"a": 1, "b": 2, "a": 3}', '{"a": {"x": 1}, "b": [], "a": {"y": "z"}, "b": 1}'):
        for make in READERS:
            reader = make()
            for char in text:
                reader.feed(char)
            assert same(reader.value, json.loads(text))


def test_a_number_at_the_root_appears_at_the_end() -> None:
    document = Document()
    assert document.feed("12") is False
    assert (document.started, document.value) == (False, None)
    assert document.flush() is True
    assert (document.started, document.value, document.complete) == (True, 12, True)


# ---- several objects of a list in one piece ----

ROWS = [{"id": n, "tags": ["a", {"id": n}], "text": f"row {n}, in words"} for n in range(60)]
LIST_DOCUMENTS = {
    "unusual": [{"text": "a\n\ud83dé😀", "list": [1.5, -0, None, {}], "": {"": [10**30]}}] * 20,
    "alike": {"rows": ROWS, "more": ROWS},
    "trees": {"rows": [{"id": n, "rows": [{"id": -n}, {"id": n / 8}]} for n in range(80)]},
    "the beginning in a string": {"rows": [{"id": n, "text": ', {"id": '} for n in range(80)]},
    "other keys": {"rows": [{f"key {n}": n, "id": n} for n in range(80)]},
    "other values": {"rows": [1, *ROWS, [ROWS], None, *ROWS, "x", {}]},
    "lists in lists": [[ROWS, ROWS[:3]], [], [[]], [ROWS]],
}


@pytest.mark.slow
@pytest.mark.parametrize("name", LIST_DOCUMENTS)
@pytest.mark.parametrize("indent", [None, 2])
def test_the_scanner_changes_no_result(name: str, indent: int | None) -> None:
    """A document scans containers that are complete in a piece; a parser reads every token."""
    text = json.dumps(LIST_DOCUMENTS[name], indent=indent)
    for size in (1, 63, 65, 513, 4_000, len(text)):
        document, rebuilder = Document(), READERS[1]()
        for piece in by(size, text):
            document.feed(piece)
            rebuilder.feed(piece)
            assert same(document.live, rebuilder.live)
            assert document.open_path == rebuilder.open_path
        document.flush()
        assert same(document.value, json.loads(text))


def test_objects_of_a_list_share_their_keys() -> None:
    # The parser makes one string for each key in a piece, not one for each object.
    text = json.dumps({"rows": [{"number": n, "name": "x"} for n in range(900)]})
    document = Document()
    for piece in by(6_000, text):
        document.feed(piece)
    keys = [key for row in document.value["rows"] for key in row]
    assert len(keys) == 1_800 and len({*map(id, keys)}) < 60


@pytest.mark.parametrize(
    "row, limits",
    [
        ('{"id": 1, "a": [[[1]]]}', Limits(depth=4)),
        ('{"id": 1, "a": 123456789}', Limits(number=8)),
        ('{"id": 1, "a": "a long text"}', Limits(string=8)),
        ('{"id": 1, "a": 1, "b": 1}', Limits(keys=2)),
        ('{"id": 1, "a": 01}', None),
        ('{"id": 1, "a": NaN}', None),
        ('{"id": 1 "a": 1}', None),
        ('{"id": 1, "a": 1}]', None),
        ('{"id": 1, "a": 1', None),
        ('{"id": 1},', None),
    ],
)
def test_an_error_in_a_list_has_the_right_position_in_any_grouping(
    row: str, limits: Limits | None
) -> None:
    rows = ['{"id": 1, "a": 1}'] * 90
    text = '{"rows": [' + ", ".join([*rows[:70], row, *rows]) + "]}"

    def read(size: int) -> tuple[str, Any, Any]:
        document = Document(limits=limits)
        try:
            for piece in by(size, text):
                document.feed(piece)
            document.flush()
        except (InvalidJSON, LimitExceeded) as error:
            return type(error).__name__, error.to_dict(), document.value
        raise AssertionError("not refused")

    assert read(4) == read(700) == read(3_000) == read(len(text) - 1)


@pytest.mark.parametrize("pieces", [[], [""], [b""], [b"", ""]])
@pytest.mark.parametrize("repair", [False, True])
def test_a_prefix_is_read_if_nothing_follows_it(pieces: list[Any], repair: bool) -> None:
    document = Document(prefix="12", repair=repair)
    for piece in pieces:
        document.feed(piece)
    assert document.flush()
    assert document.value == 12
