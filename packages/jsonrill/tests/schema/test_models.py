"""Forty types with valid and invalid documents: the verdict is pydantic's, however the text is cut,
and no partial shows what the final value contradicts."""

from __future__ import annotations

import dataclasses
import datetime as dt
import enum
import json
from collections.abc import Iterable
from decimal import Decimal
from random import Random
from typing import Annotated, Any, Generic, Literal, NotRequired, TypeVar
from uuid import UUID

import pytest
from pydantic import (
    AfterValidator,
    AliasPath,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    RootModel,
    StringConstraints,
    TypeAdapter,
    ValidationError,
    field_validator,
    model_validator,
)
from typing_extensions import TypedDict

from jsonrill import InvalidSchema, values
from support import TIMES

T = TypeVar("T")


class Size(enum.StrEnum):
    SMALL = "small"
    SMART = "smart"
    LARGE = "large"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Item(BaseModel):
    name: str
    price: float = Field(ge=0)
    size: Size = Size.SMALL


class Closed(BaseModel):
    model_config = ConfigDict(extra="forbid")
    name: str
    count: int = 1


class Open(BaseModel):
    model_config = ConfigDict(extra="allow")
    name: str


class Exact(BaseModel):
    model_config = ConfigDict(strict=True)
    count: int
    day: dt.date
    flag: bool


class Tree(BaseModel):
    name: str
    children: list[Tree] = []


class Page(BaseModel, Generic[T]):
    items: list[T]
    next: str | None = None


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: int = 9


class Dog(BaseModel):
    kind: Literal["dog"]
    bark: str


class Aliased(BaseModel):
    model_config = ConfigDict(populate_by_name=True, extra="forbid")
    first_name: str = Field(alias="firstName")
    city: str = Field(default="", validation_alias=AliasPath("address", "city"))


class Ordered(BaseModel):
    low: int
    high: int

    @field_validator("high")
    @classmethod
    def above(cls, value: int, info: Any) -> int:
        if "low" in info.data and value < info.data["low"]:
            raise ValueError("high is below low")
        return value


class Pair(BaseModel):
    a: int
    b: int

    @model_validator(mode="after")
    def differ(self) -> Pair:
        if self.a == self.b:
            raise ValueError("a and b are equal")
        return self


class Wrapped(BaseModel):
    items: list[Item]

    @model_validator(mode="before")
    @classmethod
    def wrap(cls, value: Any) -> Any:
        return {"items": value} if isinstance(value, list) else value


class Names(RootModel[list[str]]):
    pass


class Stripped(BaseModel):
    model_config = ConfigDict(str_strip_whitespace=True, coerce_numbers_to_str=True)
    text: str


class Nested(BaseModel):
    id: UUID
    when: dt.datetime | None = None
    items: dict[str, Item] = {}
    tags: set[str] = set()


@dataclasses.dataclass
class Point:
    x: int
    y: int = 0


@dataclasses.dataclass
class Line:
    points: list[Point]
    label: str = ""


class Movie(TypedDict):
    title: str
    year: NotRequired[int]


def even(value: int) -> int:
    if value % 2:
        raise ValueError("odd")
    return value


Even = Annotated[int, AfterValidator(even)]
Tagged = Annotated[Cat | Dog, Field(discriminator="kind")]
ITEMS = [
    {"name": "a", "price": 1.5},
    {"price": "2", "name": "b", "size": "smart"},
    {"name": "c", "price": -1},
    {"name": 5, "price": 1},
    {"name": "d", "price": 1, "size": "smaller"},
    {"price": 1},
    {"name": "e", "price": None},
]
TYPES: list[tuple[Any, list[Any]]] = [
    (Item, ITEMS),
    (list[Item], [ITEMS[:2], ITEMS, [], {}, [ITEMS[0], 5]]),
    (Annotated[list[Item], Field(min_length=2)], [ITEMS[:2], ITEMS[:1]]),
    (dict[str, Item], [{"x": ITEMS[0]}, {"x": ITEMS[0], "y": ITEMS[2]}, []]),
    (dict[int, str], [{"1": "a", "2": "b"}, {"x": "a"}, {"1": 5}]),
    (dict[Size, int], [{"small": 1}, {"tiny": 1}]),
    (tuple[int, str], [[1, "a"], ["1", "a"], [1], [1, "a", 2], ["x", "a"]]),
    (tuple[int, ...], [[1, 2], [1, "x"], []]),
    (set[int], [[1, 2, 2], [1, "x"]]),
    (frozenset[Size], [["small"], ["small", "tiny"]]),
    (Closed, [{"name": "a"}, {"name": "a", "count": 2}, {"name": "a", "x": 1}, {"x": 1}]),
    (Open, [{"name": "a", "x": [1]}, {"x": 1}]),
    (Exact, [{"count": 1, "day": "2024-01-01", "flag": True}, {"count": "1"}, {"flag": 1}]),
    (Tree, [{"name": "a", "children": [{"name": "b"}]}, {"name": "a", "children": [{}]}]),
    (Page[Item], [{"items": ITEMS[:1]}, {"items": ITEMS[2:]}, {"items": [], "next": 5}]),
    (Page[int], [{"items": [1, "2"], "next": "x"}, {"items": ["x"]}]),
    (Tagged, [{"kind": "cat"}, {"bark": "x", "kind": "dog"}, {"kind": "cow"}, {"bark": 5}]),
    (Cat | Dog, [{"kind": "cat"}, {"bark": "x", "kind": "dog"}, {"kind": "cow"}, {"bark": 5}]),
    (list[Tagged], [[{"kind": "cat", "lives": 3}], [{"lives": "x", "kind": "cat"}]]),
    (
        Aliased,
        [{"firstName": "a"}, {"first_name": "a"}, {"firstName": "a", "address": {"city": 1}}],
    ),
    (Aliased, [{"firstName": "a", "address": {"city": "b"}}, {"name": "a"}, {"firstName": []}]),
    (Ordered, [{"low": 1, "high": 2}, {"high": 2, "low": 1}, {"low": 3, "high": 2}, {"high": "x"}]),
    (Pair, [{"a": 1, "b": 2}, {"a": 1, "b": 1}, {"a": 1}]),
    (list[Pair], [[{"a": 1, "b": 2}], [{"a": 1, "b": 1}, {"a": "x"}]]),
    (Wrapped, [ITEMS[:2], {"items": ITEMS[:2]}, {"items": ITEMS}, [5]]),
    (Names, [["a", "b"], ["a", 5], {"root": []}]),
    (Stripped, [{"text": " a "}, {"text": 5}, {"text": None}]),
    (Nested, [{"id": str(UUID(int=1)), "items": {"a": ITEMS[0]}, "tags": ["x"]}, {"id": "x"}]),
    (Nested, [{"id": str(UUID(int=1)), "when": "2024-01-01T00:00", "items": {"a": ITEMS[3]}}]),
    (Line, [{"points": [{"x": 1}]}, {"points": [{"y": 1}]}, {"points": 5}, {"label": "a"}]),
    (list[Point], [[{"x": 1, "y": 2}], [{"x": "a"}]]),
    (Movie, [{"title": "a", "year": 1999}, {"title": "a", "year": "x"}, {"year": 1}]),
    (int | None, [1, None, "x", []]),
    (int | str, [1, "1", True, None]),
    (list[int | str | None], [[1, "a", None], [1.5], [{}]]),
    (Literal["a", "ab", 1], ["a", "ab", "abc", 1, 2, None]),
    (Level, [1, 2, 3, "1"]),
    (Annotated[str, StringConstraints(pattern="^a+$", max_length=3)], ["a", "aaa", "aaaa", "b"]),
    (Annotated[str, StringConstraints(to_upper=True)], ["ab", 1]),
    (list[Even], [[2, 4], [2, 3], ["x"]]),
    (Annotated[int, BeforeValidator(len)], ["abc", [1, 2]]),
    (Decimal, ["1.5", 2, "x", True]),
    (dict[str, Any], [{"a": [1, {"b": None}]}, 5]),
    (dt.timedelta, ["P1D", 5, "x", None]),
]


def read(pieces: Iterable[str], type_: Any) -> tuple[list[Any], Any]:
    """Return the values that were shown, and the final one or what the violation says."""
    shown: list[Any] = []
    try:
        for value in values(pieces, type_):
            shown.append(value)
    except InvalidSchema as error:
        where = error.path, error.offset, error.line, error.column
        return shown, (*where, error.rule, error.message, repr(error.value))
    return shown, repr(shown[-1])


def cuts(text: str, count: int) -> Iterable[list[str]]:
    yield [text]
    yield list(text)
    chance = Random(text)
    for _ in range(count):
        at = sorted(chance.sample(range(len(text) + 1), min(len(text), chance.randint(1, 9))))
        yield [text[i:j] for i, j in zip([0, *at], [*at, len(text)], strict=True)]


def agrees(partial: Any, final: Any) -> bool:
    """Return whether a partial value may become the final one."""
    if isinstance(partial, BaseModel):
        names = partial.model_fields_set
        return all(agrees(getattr(partial, name), getattr(final, name)) for name in names)
    if dataclasses.is_dataclass(partial):
        return type(final) in type(partial).__mro__  # type: ignore[operator]
    if isinstance(partial, dict):
        return all(key in final and agrees(value, final[key]) for key, value in partial.items())
    if isinstance(partial, (list, tuple)):
        return len(partial) <= len(final) and all(map(agrees, partial, final))
    if isinstance(partial, (set, frozenset)):
        return partial <= final
    return bool(final.startswith(partial) if type(partial) is str else partial == final)


@pytest.mark.parametrize("type_, documents", TYPES, ids=[str(item[0])[:60] for item in TYPES])
def test_the_verdict_is_pydantics_for_any_cutting(type_: Any, documents: list[Any]) -> None:
    adapter: TypeAdapter[Any] = TypeAdapter(type_)
    for document in documents:
        text = json.dumps(document)
        try:
            final = adapter.validate_json(text)
            expected = repr(final)
        except ValidationError:
            final = expected = None
        ends = set()
        for pieces in cuts(text, max(3, int(20 * TIMES))):
            shown, end = read(pieces, type_)
            ends.add(end)
            if expected is not None:
                assert end == expected
                assert all(agrees(item, final) for item in shown), (text, shown)
        assert len(ends) == 1, (text, ends)
        assert (expected is not None) == isinstance(end, str), (text, end)
