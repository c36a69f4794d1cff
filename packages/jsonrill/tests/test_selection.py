"""Values and texts at paths: `select` and `text`; `cases/fields.json` pins them."""

from __future__ import annotations

import asyncio
import json
import tracemalloc
from collections.abc import AsyncIterator, Iterator
from decimal import Decimal
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

import jsonrill
from jsonrill import InvalidSchema, LimitExceeded, Limits, select, text
from jsonrill.errors import FieldNotFound
from support import by, cases, cuttings, hard, pieces
from support.documents import tokens, values
from support.streams import collect


class Closable(list[Any]):
    closed = 0

    def close(self) -> None:
        self.closed += 1


TABLE = cases("fields.json")["cases"]


def joined(items: list[Any], kind: str) -> list[Any]:
    """Return the pieces of a string joined."""
    return items if kind == "select" else ["".join(items)] if items else []


def options_of(case: dict[str, Any]) -> dict[str, Any]:
    options = dict(case.get("options", {}))
    if "limits" in options:
        options["limits"] = Limits(**options["limits"])
    return options


@pytest.mark.parametrize("case", TABLE, ids=lambda item: f"{item['call']} {item['text'][:40]}")
def test_the_cases_for_every_language(case: dict[str, Any]) -> None:
    kind, *fields = case["call"]
    sources = [*cuttings(case["text"]), *cuttings(case["text"].encode())]
    errors = set()
    for source in sources:
        items, error = collect(getattr(jsonrill, kind)(source, *fields, **options_of(case)))
        assert joined(items, kind) == case["out"], source
        assert getattr(error, "code", None) == case.get("error")
        errors.add(str(error))
    assert len(errors) == 1
    if "message" in case:
        # Python adds how to allow more.
        assert {error.partition(": pass limits")[0] for error in errors} == {case["message"]}


def test_a_value_comes_with_the_piece_that_completes_it() -> None:
    read = []

    def source() -> Iterator[str]:
        for piece in ('{"results": [{"id": 1', "}, ", "2", ", 3", "]}"):
            read.append(piece)
            yield piece

    seen = [(value, len(read)) for value in select(source(), "results")]
    assert seen == [({"id": 1}, 2), (2, 4), (3, 5)]


def test_leaving_the_loop_closes_the_source() -> None:
    source = Closable(["[", '"a", ', '"b"]'])
    for _ in select(source, "[*]"):
        break
    assert source.closed == 1
    violated = Closable(["[1", ", ", '"x"', ", 3]"])
    selected, error = collect(select(violated, "root", int))
    assert (selected, type(error), violated.closed) == ([1], InvalidSchema, 1)


def test_async_sources_are_selected_from() -> None:
    async def source() -> AsyncIterator[bytes]:
        for piece in (b'{"a": [1, {"b"', b': "x', b'y"}]}'):
            yield piece

    async def main() -> None:
        assert [value async for value in select(source(), "a")] == [1, {"b": "xy"}]
        assert [piece async for piece in text(source(), "a[1].b")] == ["x", "y"]

    asyncio.run(main())


def test_a_path_may_be_a_tuple() -> None:
    source = '{"a.b": [{"c": "x"}]}'
    assert list(select(source, ("a.b", 0, "c"))) == ["x"]
    assert list(text(source, ("a.b", 0, "c"))) == ["x"]
    with pytest.raises(FieldNotFound, match=r'the field root\["a.b"\]\[1\] never came'):
        list(select(source, ("a.b", 1)))


def test_wrong_use_is_a_type_error_at_the_call() -> None:
    for function in (select, text):
        with pytest.raises(TypeError, match='a field is a path like "answer"'):
            cast(Any, function)([], 5)
    for function in (select, text):
        with pytest.raises(TypeError, match="takes str or bytes, not int"):
            list(cast(Any, function)(["[", 5], "[0]"))
    with pytest.raises(ValueError, match="wildcards"):
        text([], "items[*].title")


def test_options_of_the_parser() -> None:
    assert list(select('{"a": [1.5]}', "a", parse_float=Decimal)) == [Decimal("1.5")]
    assert list(select("```json\n{'a': [1, 2,]}\n```", "a", repair=True)) == [1, 2]
    assert list(text("{a: 'x", "a", repair=True)) == ["x"]
    for function in (select, text):
        with pytest.raises(TypeError, match="did you mean repair"):
            cast(Any, function)("{}", "a", repiar=True)
    with pytest.raises(TypeError, match="unknown option: many"):
        text("{}", "a", many=True)  # type: ignore[call-overload]


@given(st.data())
def test_a_selected_value_equals_the_value_in_the_whole_text(data: st.DataObject) -> None:
    items = data.draw(st.lists(values, max_size=4))
    value = {"n": data.draw(values), "a": {"items": items}, "z": data.draw(values)}
    cut = data.draw(pieces("".join(data.draw(tokens(value)))))
    assert list(select(cut, "a.items")) == items
    assert list(select(cut, "a.items[*]")) == items
    assert list(select(cut, "root")) == [value]
    seconds = [
        [*item, None][1] if isinstance(item, list) and len(item) > 1 else None for item in items
    ]
    selected, _ = collect(select(cut, "a.items[*][1]"))
    expected: list[Any] = []
    for second in seconds:
        expected += second if isinstance(second, list) else [] if second is None else [second]
    assert selected == expected


ELEMENTS = [
    '{"id": 1, "other": [{"id": 9}], "text": "enough to be read in one go, not walked"}',
    '{"id": 1, "id": 2, "text": "enough to be read in one go, but a key comes twice"}',
    '{"id": 1, "\\u0069d": 2, "text": "enough to be read in one go, but a key comes twice"}',
    '{"id": null, "x": {"id": 1, "id": 2}}',
    '{"id": null, "text": "enough to be read in one go: a null stands for nothing"}',
    '{"id": [1, null, [2]], "text": "an array stands for its elements, and a null for nothing"}',
    '{"id": {"id": {"id": "deep"}}, "text": "enough to be read in one go, not walked"}',
    "[1, 2]",
    "null",
    '"id"',
    "{}",
]


@given(st.lists(st.sampled_from(ELEMENTS), max_size=6), st.booleans(), st.data())
def test_cutting_does_not_matter(elements: list[str], is_list: bool, data: st.DataObject) -> None:
    """Elements that are complete in a piece are read in one step, others character by character."""
    field = data.draw(st.sampled_from(["a[*].id", "a[*].id.id", "a[*].id[*]", "a[1].id", "a"]))
    container = f"[{', '.join(elements)}]"
    if not is_list:
        members = [f'"k{at}": {element}' for at, element in enumerate(elements)]
        container, field = f"{{{', '.join(members)}}}", field.replace("[*]", ".*", 1)
    text = f'{{"skipped": {container}, "a": {container}}}'
    expected = collect(select(by(1, text), field))
    for cut in ([text], data.draw(pieces(text))):
        selected, error = collect(select(cut, field))
        assert selected == expected[0] and str(error) == str(expected[1])


# ---- limits ----


def test_the_limit_of_the_text_counts_for_each_value() -> None:
    row = ["y" * 50]
    document = json.dumps({"skip": "x" * 500, "rows": [row] * 100 + [["z" * 60]]})
    errors = set()
    for cut in (by(1, document), by(7, document), by(64, document), [document]):
        selected, error = collect(select(cut, "rows", limits=Limits(text=54)))
        assert selected == [row] * 100
        assert isinstance(error, LimitExceeded) and error.limit == "text"
        errors.add(str(error))
    assert len(errors) == 1 and "in root.rows[100][0]: pass limits=" in errors.pop()


@pytest.mark.parametrize("limit", range(1, 12))
def test_the_limit_of_a_value_holds_for_text_that_waited(limit: int) -> None:
    text, limits = '[{"a": "","b":1}]', Limits(text=limit)
    for prefix in ("", text[:9]):
        source = text.removeprefix(prefix)
        for repair in (True, False):
            options = {"prefix": prefix, "repair": repair, "limits": limits}
            _, error = collect(select(source, "[*]", **options))  # type: ignore[call-overload]
            assert isinstance(error, LimitExceeded) and error.limit == "text"
            assert error.offset == 1 + limit - len(prefix)
    # This used to hang.
    assert not collect(select('[{ ""}', "[*]", repair=True, limits=limits))[0]


@hard
def test_nothing_else_is_kept() -> None:
    row = json.dumps({"id": 1, "text": "x" * 1000})

    def source() -> Iterator[str]:
        yield '{"skipped": [' + row
        for _ in range(10):
            yield ("," + row) * 100
        yield '], "long": "'
        for _ in range(1000):
            yield "y" * 1000
        yield '", "rows": [' + row
        for _ in range(20):
            yield ("," + row) * 100
        yield "]}"

    tracemalloc.start()
    try:
        selected = select(source(), "rows", limits=Limits(text=2000))
        assert sum(value["id"] for value in selected) == 2001
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 2_000_000


# ---- schemas ----


def test_a_schema_gives_typed_values() -> None:
    pydantic = pytest.importorskip("pydantic")

    class Row(pydantic.BaseModel):  # type: ignore[misc,name-defined]
        id: int
        price: Decimal = Decimal(0)

    source = '{"rows": [{"id": 1, "price": "2.5"}, {"id": 2}, {"id": "x"}, {"id": 4}]}'
    for cut in cuttings(source):
        selected, error = collect(select(cut, "rows", Row))
        assert selected == [Row(id=1, price=Decimal("2.5")), Row(id=2)]
        assert isinstance(error, InvalidSchema)
        assert error.path == ("rows", 2, "id") and error.offset == source.index('{"id": "x"')


def test_a_json_schema_refuses_with_the_path() -> None:
    pytest.importorskip("jsonschema_rs")
    schema = {"type": "object", "required": ["id"]}
    source = '{"rows": [{"id": 1}, {"a": {"id": 2}}]}'
    selected, error = collect(select(source, "rows[*]", schema=schema))
    assert selected == [{"id": 1}]
    assert isinstance(error, InvalidSchema) and error.path == ("rows", 1)
    assert error.rule == "required"
