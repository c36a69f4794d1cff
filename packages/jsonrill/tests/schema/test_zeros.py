"""`missing="zero"`: what has not come of a partial instance is the zero value of its type."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Generic, Literal, NewType, NotRequired, TypeVar
from uuid import UUID

import pydantic
import pytest
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    Field,
    RootModel,
    SecretStr,
    StringConstraints,
)
from typing_extensions import TypedDict

import jsonrill
from jsonrill import InvalidSchema, Truncated, is_partial, partial, updates, values


class Color(Enum):
    RED = "red"


class Stop(BaseModel):
    name: str
    nights: int


class Tags(RootModel[list[str]]):
    pass


class Words(TypedDict):
    first: str
    last: NotRequired[str]


@dataclass
class Point:
    x: int
    label: str = "here"


@pydantic.dataclasses.dataclass
class Place:
    name: str
    point: Point


T = TypeVar("T")


class Box(BaseModel, Generic[T]):
    inside: T


def refused(value: str) -> str:
    raise ValueError("a zero is not validated")


Number = NewType("Number", int)
ZEROS: dict[str, tuple[Any, Any]] = {
    "str": (str, ""),
    "a str with bounds": (Annotated[str, Field(min_length=3)], ""),
    "a str with a pattern": (Annotated[str, Field(pattern="a+")], ""),
    "a str that is stripped": (Annotated[str, StringConstraints(strip_whitespace=True)], ""),
    "a str with a validator": (Annotated[str, AfterValidator(refused)], ""),
    "a str with a validator before": (Annotated[str, BeforeValidator(refused)], ""),
    "int": (int, 0),
    "a positive int": (Annotated[int, Field(gt=0)], 0),
    "a new type": (Number, 0),
    "float": (float, 0.0),
    "int or float": (int | float, 0),
    "bool": (bool, False),
    "bytes": (bytes, b""),
    "Decimal": (Decimal, Decimal(0)),
    "list": (list[int], []),
    "a list with bounds": (Annotated[list[int], Field(min_length=2)], []),
    "Sequence": (Sequence[str], []),
    "set": (set[int], set()),
    "frozenset": (frozenset[int], frozenset()),
    "dict": (dict[str, int], {}),
    "Mapping": (Mapping[str, int], {}),
    "tuple": (tuple[int, ...], ()),
    "a tuple of two": (tuple[int, str], (0, "")),
    "a TypedDict": (Words, {"first": ""}),
    "null or a str": (str | None, None),
    "a date": (date, None),
    "a time": (timedelta, None),
    "an enum": (Color, None),
    "a literal": (Literal["a", "b"], None),
    "a UUID": (UUID, None),
    "a path": (Path, None),
    "a secret": (SecretStr, None),
    "a str or a list": (str | list[int], None),
    "a model or another": (Stop | Tags, None),
    "anything": (Any, None),
}


@pytest.mark.parametrize("name", ZEROS)
def test_the_zero_of_each_type(name: str) -> None:
    kind, zero = ZEROS[name]
    Model = pydantic.create_model("Model", first=(str, ...), it=(kind, ...))
    for text in ("{", '{"first": "', '{"first": "x", '):
        shown: Any = partial(text, Model, missing="zero")
        assert shown.it == zero and type(shown.it) is type(zero)
        assert is_partial(shown) and "it" not in shown.model_fields_set
        assert shown.first == ("x" if "x" in text else "")
    assert vars(partial("{", Model))["it"] is None


def test_classes_are_partial_instances() -> None:
    class Trip(BaseModel):
        city: str
        stop: Stop
        tags: Tags
        place: Place
        box: Box[int]
        stops: list[Stop]

    shown: Any = partial('{"city": "Ro', Trip, missing="zero")
    assert shown.stop.name == "" and shown.stop.nights == 0 and is_partial(shown.stop)
    assert shown.tags.root == [] and is_partial(shown.tags)
    assert shown.place.name == "" and shown.place.point.label == "here"
    assert shown.place.point.x == 0 and is_partial(shown.place) and is_partial(shown.place.point)
    assert shown.box.inside == 0 and shown.stops == [] and shown.model_fields_set == {"city"}
    shown = partial('{"stops": [{"name": "A', Trip, missing="zero")
    assert shown.stops[0].nights == 0 and is_partial(shown.stops[0])
    assert len(shown.city) == 0


def test_a_default_wins() -> None:
    class Trip(BaseModel):
        a: str = "x"
        b: int | None = 7
        c: list[int] = Field(default_factory=lambda: [1])
        d: str | None = None

    assert partial("{", Trip, missing="zero") == partial("{", Trip)
    assert vars(partial("{", Trip, missing="zero")) == {"a": "x", "b": 7, "c": [1], "d": None}


class Tree(BaseModel):
    name: str
    left: Tree
    others: list[Tree]


class Even(BaseModel):
    odd: Odd


class Odd(BaseModel):
    even: Even


Even.model_rebuild()


def test_a_recursive_model_is_none_from_its_second_level_on() -> None:
    tree: Any = partial("{", Tree, missing="zero")
    assert tree.left is None and tree.others == [] and tree.name == ""
    tree = partial('{"left": {', Tree, missing="zero")
    assert tree.left.name == "" and tree.left.left is None
    even: Any = partial("{", Even, missing="zero")
    assert is_partial(even.odd) and even.odd.even is None


def test_dicts_and_dataclasses() -> None:
    assert partial("{", Words, missing="zero") == {"first": ""}
    assert partial('{"last": "B', Words, missing="zero") == {"first": "", "last": "B"}
    assert partial('{"last": "B', Words) == {"last": "B"}
    assert partial("[{", list[Words], missing="zero") == [{"first": ""}]
    point: Any = partial("{", Point, missing="zero")
    assert (point.x, point.label) == (0, "here") and is_partial(point)


def test_the_static_types_hold_at_each_piece() -> None:
    class Trip(BaseModel):
        city: str
        nights: int
        stops: list[Stop]

    text = '{"stops": [{"nights": 2, "name": "Ostia"}], "nights": 3, "city": "Rome"}'
    for trip in values(text, Trip, missing="zero"):
        assert (
            len(trip.stops) >= 0 and trip.nights + 1 > 0 and trip.city.upper() == trip.city.upper()
        )
        assert all(stop.nights + len(stop.name) >= 0 for stop in trip.stops)
    assert not is_partial(trip) and trip == Trip.model_validate_json(text)
    for update in updates([*text], schema=Trip, missing="zero"):
        model = update.model
        assert model is not None and len(model.stops) + len(model.city) + model.nights >= 0


def test_zeros_do_not_pass_for_values() -> None:
    with pytest.raises(Truncated) as cut:
        list(values('{"name": "A"', Stop, missing="zero"))
    best: Any = cut.value.value
    assert best.nights == 0 and is_partial(best)
    with pytest.raises(InvalidSchema, match='"nights" is missing'):
        list(values('{"name": "A"}', Stop, missing="zero"))


def test_it_needs_a_schema_and_a_name_that_is_known() -> None:
    with pytest.raises(TypeError, match='missing="zero" needs a schema'):
        values("{}", missing="zero")  # type: ignore[call-overload]
    with pytest.raises(ValueError, match="missing is one of none, zero, not 'zeros'"):
        partial("{", Stop, missing="zeros")  # type: ignore[call-overload]
    with pytest.raises(ValueError, match="missing is one of none, zero, not 0"):
        jsonrill.updates("{}", schema=Stop, missing=0)  # type: ignore[call-overload]


@pytest.mark.parametrize("text", ['{"name": "A', "```json\n{name: 'A", 'Here: {"name": "A",'])
def test_repair_does_not_make_an_unfinished_text_a_complete_one(text: str) -> None:
    stop: Any = partial(text, Stop, repair=True)
    assert is_partial(stop) and stop.name == "A" and stop.nights is None
    assert partial(text, Stop, repair=True, missing="zero") == partial(
        '{"name": "A', Stop, missing="zero"
    )
    assert partial('{"name": "A", "nights": 2,}', Stop, repair=True) == Stop(name="A", nights=2)
