"""The table of kinds in docs/schema.md, cell by cell, against jsonrill and against pydantic."""

from __future__ import annotations

import dataclasses
import datetime as dt
import enum
import pathlib
from decimal import Decimal
from typing import Any, Literal
from uuid import UUID

import pytest
from pydantic import AnyUrl, BaseModel, ConfigDict, SecretStr, TypeAdapter, create_model
from typing_extensions import TypedDict

from jsonrill.schema import Schema
from support import ROOT
from support.schemas import begun

from .pydantic_types import takes


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Size(enum.IntEnum):
    SMALL = 1
    LARGE = 2


class Model(BaseModel):
    x: int = 0


@dataclasses.dataclass
class Data:
    x: int = 0


class Dict(TypedDict, total=False):
    x: int


TYPES: dict[str, list[Any]] = {
    "`str`": [str],
    "`int`": [int],
    "`float`": [float],
    "`bool`": [bool],
    "`None`": [None],
    "`bytes`": [bytes],
    "`Decimal`": [Decimal],
    "`date`": [dt.date],
    "`time`": [dt.time],
    "`datetime`": [dt.datetime],
    "`timedelta`": [dt.timedelta],
    "`UUID`": [UUID],
    '`Literal["red"]`': [Literal["red"]],
    "`Literal[1]`": [Literal[1]],
    "`Enum` of texts": [Color],
    "`IntEnum`": [Size],
    "`list`, `tuple`, `set`": [list, list[int], tuple[int, ...], tuple[int, int], set[int]],
    "`dict`, model, dataclass, `TypedDict`": [dict, dict[str, int], Model, Data, Dict],
    "`Path`, `AnyUrl`, `SecretStr`": [pathlib.Path, AnyUrl, SecretStr],
    **{f'JSON Schema `"{name}"`': [{"type": name}] for name in ("string", "integer", "number")},
    'JSON Schema `"boolean"`': [{"type": "boolean"}],
}
# How a value of each kind begins, and samples: whatever some type might take of it.
KINDS: dict[str, tuple[list[str], list[str]]] = {
    '`"…"`': (['"'], [f'"{text}"' for text in (
        *("", "a", "red", "1", "1.0", "1.5", "0", "true", "no", "null", "P1D", "10:00", "1 day"),
        *("2020-01-01", "2020-01-01T10:00:00Z", "1577836800", "http://a.b", "NaN", "Infinity"),
        "00000000-0000-0000-0000-000000000000",
    )]),
    "`1`": (["1"], ["0", "1", "2", "-1", "86400", "1577836800", "12345678901234567890123"]),
    "`1.5`": (["1.5"], ["0.0", "1.0", "1.5", "2.0", "-0.5", "86400.0", "1e3", "1e400"]),
    "`true`": (["t", "f"], ["true", "false"]),
    "`null`": (["n"], ["null"]),
    "`{…}`": (["{"], ["{}", '{"x":1}', '{"1":1}', '{"value":"red"}']),
    "`[…]`": (["["], ["[]", "[1]", "[0,1]", '["red"]', '[["x",1]]', "[null]"]),
}  # fmt: skip


def rows() -> dict[str, list[str]]:
    """The table of the page: type → what its cells say."""
    text = (ROOT / "docs" / "schema.md").read_text("utf8")
    lines = text.partition("<!-- table: kinds -->")[2].strip().partition("\n\n")[0].splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    assert cells[0][1:] == list(KINDS)
    return {row[0]: row[1:] for row in cells[2:]}


def strict(type_: Any) -> Any:
    """The same type as a field of a strict model."""
    return create_model("Strict", __config__=ConfigDict(strict=True), x=(type_, ...))


def test_the_table_lists_what_is_tested() -> None:
    assert list(rows()) == list(TYPES)


@pytest.mark.parametrize("mode", ["lax", "strict"])
@pytest.mark.parametrize("row", TYPES)
def test_each_cell_is_what_happens(row: str, mode: str) -> None:
    for type_ in TYPES[row]:
        if mode == "strict" and isinstance(type_, dict):
            continue
        schema = Schema(strict(type_) if mode == "strict" else type_)
        open_ = '{"x":' if mode == "strict" else ""
        for (beginnings, _), cell in zip(KINDS.values(), rows()[row], strict=True):
            refused = all(begun(schema, open_ + one) for one in beginnings)
            assert refused == (cell == "✗" or cell == mode), (type_, beginnings)


@pytest.mark.parametrize("mode", ["lax", "strict"])
@pytest.mark.parametrize("row", [row for row in TYPES if not row.startswith("JSON")])
def test_each_alarm_is_right_whatever_follows(row: str, mode: str) -> None:
    """An alarm where pydantic takes one of many values of that kind would be a false one."""
    for type_ in TYPES[row]:
        adapter: TypeAdapter[Any] = TypeAdapter(strict(type_) if mode == "strict" else type_)
        for kind, cell in zip(KINDS, rows()[row], strict=True):
            if cell == "✗" or cell == mode:
                for sample in KINDS[kind][1]:
                    text = f'{{"x":{sample}}}' if mode == "strict" else sample
                    assert not takes(adapter, text), (type_, mode, text)


@pytest.mark.parametrize("row", [row for row in TYPES if not row.startswith("JSON")])
def test_what_waits_may_be_taken(row: str) -> None:
    """Where the table says nothing, pydantic does take a value of that kind: no time is lost."""
    unknown = {pathlib.Path, AnyUrl, SecretStr}
    for type_ in TYPES[row]:
        for kind, cell in zip(KINDS, rows()[row], strict=True):
            if cell != "✗" and type_ not in unknown:
                assert any(takes(type_, sample) for sample in KINDS[kind][1]), (type_, kind)
