"""JSON for a JSON Schema: valid, and the same each time; or the schema is refused."""

from __future__ import annotations

import enum
import json
import uuid
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Annotated, Any, Literal, Optional

import pytest
from pydantic import AnyUrl, BaseModel, Field, TypeAdapter

from jsonrill_server.demo.examples import NoExample, example


class Kind(enum.Enum):
    A = "a"
    B = "b"


class Stop(BaseModel):
    name: str
    nights: int = Field(ge=1, le=10)


class Node(BaseModel):
    label: str
    children: list[Node] = []
    parent: Optional[Node] = None  # noqa: UP045 (refers to itself)


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: int = 9


class Dog(BaseModel):
    kind: Literal["dog"]
    tricks: list[str]


class Everything(BaseModel):
    city: str
    start: date
    at: datetime
    clock: time
    duration: timedelta
    id: uuid.UUID
    price: Decimal
    stops: list[Stop] = Field(min_length=1, max_length=4)
    kind: Kind
    tags: set[str]
    pair: tuple[int, str]
    pets: list[Annotated[Cat | Dog, Field(discriminator="kind")]]
    node: Node
    scores: dict[str, float]
    confidence: float = Field(gt=0, lt=1)
    sevens: int = Field(multiple_of=7, ge=15)
    long: str = Field(min_length=120, max_length=130)
    short: str = Field(max_length=3)
    nothing: None
    anything: Any
    five: frozenset[int] = Field(min_length=5)
    url: AnyUrl
    optional: int | None
    unit: str = "celsius"


@pytest.mark.parametrize(
    "type_",
    [Everything, list[Stop], Node, int, dict[str, list[int]], str | None, Cat | Dog, bool],
    ids=str,
)
def test_what_is_written_for_a_type_is_valid_and_the_same_each_time(type_: Any) -> None:
    adapter = TypeAdapter(type_)
    schema = adapter.json_schema()
    value = example(schema)
    adapter.validate_json(json.dumps(value))
    assert example(schema) == value


def test_values_follow_the_names_of_properties_and_of_the_prompt() -> None:
    value = example(Everything.model_json_schema(), ["Rome"])
    assert value["city"] == "Rome" and value["stops"][0] == {"name": "Lisbon", "nights": 3}
    assert value["unit"] == "celsius" and value["optional"] == 1
    assert [pet["kind"] for pet in value["pets"]] == ["cat", "dog"]
    assert value["node"]["children"][0]["children"] == []
    schema = {"type": "array", "items": Stop.model_json_schema(), "title": "stops"}
    listed = {"type": "object", "properties": {"cities": schema}}
    assert [it["name"] for it in example(listed, ["Lima", "Oslo"])["cities"]] == ["Lima", "Oslo"]


@pytest.mark.parametrize(
    "schema, expected",
    [
        (True, "Text 1"),
        ({"enum": ["x", None]}, "x"),
        ({"const": {"a": [1]}}, {"a": [1]}),
        ({"type": ["null", "integer"]}, 1),
        ({"type": "string", "examples": ["Ostia"]}, "Ostia"),
        ({"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 0.001}, 0.0005),
        ({"type": "integer", "multipleOf": 7, "minimum": 15}, 28),
        ({"type": "array", "items": {"enum": [1, 2]}, "uniqueItems": True, "minItems": 2}, [1, 2]),
        ({"type": "array", "prefixItems": [{"type": "integer"}], "items": False}, [1]),
        ({"type": "string", "minLength": 9, "maxLength": 9, "title": "Thing"}, "Thing...."),
        ({"allOf": [{"type": "integer"}, {"minimum": 7}]}, 8),
    ],
)
def test_keywords(schema: Any, expected: Any) -> None:
    assert example(schema) == expected


@pytest.mark.parametrize(
    "schema",
    [
        False,
        {"type": "integer", "minimum": 3, "maximum": 2},
        {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/a"}}},
        {"$ref": "https://example.org/other"},
        {"$ref": "#/$defs/missing"},
        {"type": "bogus"},
        {"type": 5},
        {"type": "object", "required": ["x"], "additionalProperties": False},
        {"$defs": {"n": {"required": ["n"], "properties": {"n": {"$ref": "#/$defs/n"}}}},
         "type": "object", "required": ["a"], "properties": {"a": {"$ref": "#/$defs/n"}}},
        {"type": "array", "items": {"type": "integer"}, "minItems": 1_000_000},
        {"type": "string", "minLength": 1_000_000_000},
        {"type": "string", "pattern": "^[A-Z]{3}$"},
        {"type": "object", "minProperties": 1},
    ],
)  # fmt: skip
def test_a_schema_that_nothing_meets_is_refused(schema: Any) -> None:
    with pytest.raises(NoExample) as refused:
        example(schema)
    assert str(refused.value)
