"""Typed values: what partial instances are, and which violation is raised where."""

from __future__ import annotations

import copy
import json
import warnings
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any, Generic, Literal, TypeVar
from uuid import UUID

import pytest
from pydantic import (
    AfterValidator,
    AliasChoices,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainValidator,
    RootModel,
    TypeAdapter,
    computed_field,
    field_serializer,
    field_validator,
    model_validator,
)
from typing_extensions import TypedDict

from jsonrill import InvalidSchema, Truncated, feedback, fields, partial, select, values
from jsonrill.schema import is_partial

T = TypeVar("T")


class Stop(BaseModel):
    name: str
    day: date


class Trip(BaseModel):
    title: str
    stops: list[Stop] = []


def last(source: Iterable[str], type_: Any, **options: Any) -> Any:
    """Return the last value before the source stops, which may be in the middle of the text."""
    shown = [None]
    with suppress(Truncated):
        for value in values(source, type_, **options):
            shown.append(value)
    return shown[-1]


def violation(source: Iterable[str], type_: Any) -> InvalidSchema:
    with pytest.raises(InvalidSchema) as caught:
        list(values(source, type_))
    return caught.value


def test_the_example_of_the_readme() -> None:
    class Trip(BaseModel):
        city: str
        days: int
        stops: list[str]

    pieces = ['{"', 'city": "Rom', 'e", "days": 3', ', "stops": ["Li', 'sbon", "P', 'orto"]}']
    assert list(map(repr, values(pieces, Trip))) == [
        "Partial[Trip](city=None, days=None, stops=None)",
        "Partial[Trip](city='Rom', days=None, stops=None)",
        "Partial[Trip](city='Rome', days=None, stops=None)",
        "Partial[Trip](city='Rome', days=3, stops=['Li'])",
        "Partial[Trip](city='Rome', days=3, stops=['Lisbon', 'P'])",
        "Trip(city='Rome', days=3, stops=['Lisbon', 'Porto'])",
    ]


def test_the_example_of_the_documentation() -> None:
    pieces = ['{"title": "To the s', 'ea", "stops": [{"name": "Ro', 'me", "day": "2024-05-01"}]}']
    assert list(map(repr, values(pieces, Trip))) == [
        "Partial[Trip](title='To the s', stops=[])",
        "Partial[Trip](title='To the sea', stops=[Partial[Stop](name='Ro', day=None)])",
        "Trip(title='To the sea', stops=[Stop(name='Rome', day=datetime.date(2024, 5, 1))])",
    ]


def test_a_partial_instance_knows_which_fields_have_arrived() -> None:
    trip = last(['{"title": "To'], Trip)
    assert isinstance(trip, Trip)
    assert is_partial(trip) and type(trip).__name__ == "Partial[Trip]"
    assert trip.model_fields_set == {"title"}
    assert not is_partial(last(['{"title": "To"}'], Trip))


def test_a_partial_can_be_dumped_and_copied() -> None:
    class Sized(Trip):
        @computed_field  # type: ignore[prop-decorator]
        @property
        def size(self) -> int:
            return len(self.title)

    trip = last(['{"stops": [{"name": "Ro'], Sized)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        dump = {"title": None, "stops": [{"name": "Ro", "day": None}], "size": None}
        assert trip.model_dump() == json.loads(trip.model_dump_json()) == dump
    plain = last(['{"title": "To'], Trip)
    twin = copy.deepcopy(plain)
    assert twin == plain and is_partial(twin)


def test_what_a_serializer_or_computed_field_needs_may_not_have_arrived() -> None:
    class Box(BaseModel):
        width: int
        until: date
        inner: list[Box] = []

        @computed_field  # type: ignore[prop-decorator]
        @property
        def area(self) -> int:
            return self.width * self.width

        @field_serializer("until")
        def in_words(self, value: date) -> str:
            return f"{value:%d %b}"

    box = last(['{"inner": [{"width": 2'], Box)
    assert box.inner[0].area is None
    assert box.model_dump() == {"inner": [{"area": None}], "area": None}
    assert "area=None" in repr(box)


def test_complete_children_are_shared_between_partial_values() -> None:
    text = '{"title": "x", "stops": [{"name": "Rome", "day": "2024-05-01"}, {"name": "Os'
    trips = []
    with pytest.raises(Truncated):
        for trip in values(list(text), Trip):
            trips.append(trip)
    stops = [trip.stops[0] for trip in trips if len(trip.stops) > 1]
    assert len(stops) > 2 and all(stop is stops[0] for stop in stops)
    assert not is_partial(stops[0])


def test_the_members_of_a_complete_dict_are_shared_with_it() -> None:
    class Days(BaseModel):
        by_name: dict[str, Stop] | None = None
        note: str = ""

    text = '{"by_name": {"a": {"name": "Rome", "day": "2024-05-01"}}, "note": "end"}'
    days = list(values(list(text), Days))[:-1]
    stops = [day.by_name["a"] for day in days if day.by_name and "a" in day.by_name]
    complete = [stop for stop in stops if not is_partial(stop)]
    assert len(complete) > 3 and all(stop is complete[0] for stop in complete)


def test_zeros_replace_missing_fields() -> None:
    class Plan(BaseModel):
        city: str
        nights: int
        stops: list[Stop]
        best: Stop
        until: date
        note: str | None
        rate: float = 1.5

    plan = last(['{"stops": [{"name": "Ro'], Plan, missing="zero")
    assert repr(plan) == (
        "Partial[Plan](city='', nights=0, stops=[Partial[Stop](name='Ro', day=None)], "
        "best=Partial[Stop](name='', day=None), until=None, note=None, rate=1.5)"
    )
    assert plan.model_fields_set == {"stops"}


def test_a_recursive_zero_ends() -> None:
    class Tree(BaseModel):
        name: str
        left: Tree | None = None
        inner: list[Tree]

    assert repr(last(["{"], Tree, missing="zero")) == "Partial[Tree](name='', left=None, inner=[])"
    tree = last(['{"name": "a", "inner": [{"inner": [{"name": "c'], Tree)
    assert tree.inner[0].inner[0].name == "c"


def test_defaults_are_not_shared() -> None:
    class Row(BaseModel):
        tags: list[str] = Field(default_factory=list)

    first, second = last(["{"], Row), last(["{"], Row)
    assert first.tags == [] and first.tags is not second.tags


@dataclass
class Point:
    x: int
    label: str = "none"


class Row(TypedDict):
    at: Point
    note: str


def test_dataclasses_and_typed_dicts() -> None:
    row = last(['{"note": "ab", "at": {"x": "3", "label": "h'], Row)
    assert row == {"note": "ab", "at": row["at"]}
    assert isinstance(row["at"], Point) and is_partial(row["at"])
    assert (row["at"].x, row["at"].label) == (3, "h")
    done = last(['{"note": "ab", "at": {"x": 3}}'], Row)
    assert done == {"note": "ab", "at": Point(3)}


def test_a_field_is_read_by_its_aliases_or_its_name() -> None:
    class Person(BaseModel):
        model_config = ConfigDict(populate_by_name=True)
        first: str = Field(alias="firstName")
        last: str = Field(validation_alias=AliasChoices("lastName", "surname"))

    person = last(['{"firstName": "Ad', 'a", "lastName": "Lo'], Person)
    assert (person.first, person.last) == ("Ada", "Lo")
    # An alias that counts before this one may still come.
    assert last(['{"first": "Ada", "surname": "Lo'], Person).model_fields_set == set()
    person = last(['{"first": "Ada", "surname": "Lo"}'], Person)
    assert (person.first, person.last) == ("Ada", "Lo")


def test_an_extra_key_with_the_name_of_a_field_waits_for_the_end() -> None:
    class Open(BaseModel):
        model_config = ConfigDict(extra="allow")
        name: str = Field(alias="title")

    pieces = ['{"title": "a", "name": 1', ', "other": 2', ', "third": 3', "}"]
    *partials, last_value = values(pieces, Open)
    assert list(map(repr, partials)) == [
        "Partial[Open](name='a')",
        "Partial[Open](name='a', other=2)",
    ]
    assert last_value.model_extra == {"name": 1, "other": 2, "third": 3}


def test_partials_of_a_generic_model_are_typed() -> None:
    class Page(BaseModel, Generic[T]):
        items: list[T]

    page = last(['{"items": [{"title": "a'], Page[Trip])
    assert isinstance(page.items[0], Trip)


def test_root_models_lists_and_dicts() -> None:
    class Names(RootModel[list[str]]):
        pass

    assert last(['["a", "b'], Names).root == ["a", "b"]
    assert last(['[{"title": "a'], list[Trip])[0].title == "a"
    assert last(['{"x": {"title": "a'], dict[str, Trip])["x"].title == "a"


def test_sets_tuples_and_converted_keys_are_shown_when_they_are_complete() -> None:
    class Numbers(BaseModel):
        some: set[int] = set()
        pair: tuple[int, str] = (0, "")
        names: dict[int, str] = {}

    numbers = last(['{"some": [1], "pair": [1, "a"], "names": {"1": "b'], Numbers)
    assert (numbers.some, numbers.pair, numbers.names) == ({1}, (1, "a"), {})

    class Loud(BaseModel):
        model_config = ConfigDict(str_to_upper=True)
        counts: dict[str, int] = {}

    assert last(['{"counts": {"a": 1'], Loud).counts == {}


class Cat(BaseModel):
    kind: Literal["cat"]
    name: str = ""


class Dog(BaseModel):
    kind: Literal["dog"]
    name: str = ""
    age: int = 0


Tagged = Annotated[Cat | Dog, Field(discriminator="kind")]


@pytest.mark.parametrize("pet", [Tagged, Cat | Dog], ids=["discriminator", "literal"])
def test_a_union_is_shown_when_one_type_is_left(pet: Any) -> None:
    adapter: TypeAdapter[Any] = TypeAdapter(list[pet])
    shown = list(values(['[{"name": "Rex', '", "kind": "dog"', ', "age": 3', "}]"], adapter))
    assert [list(map(repr, item)) for item in shown] == [
        [],
        ["Partial[Dog](kind='dog', name='Rex', age=0)"],
        ["Dog(kind='dog', name='Rex', age=3)"],
    ]


def test_the_chosen_type_of_a_union_is_checked() -> None:
    error = violation(['{"name": "Rex", "kind": "dog", "age": {'], Tagged)
    assert (error.path, error.rule) == (("age",), "int_type")
    error = violation(['{"kind": "do', "nkey"], Tagged)
    assert (error.path, error.rule) == (("kind",), "union_tag_invalid")


def test_a_discriminator_counts_when_it_is_complete() -> None:
    class Bird(BaseModel):
        kind: Literal["dogbird"]

    assert last(['[{"kind": "dog'], list[Annotated[Dog | Bird, Field(discriminator="kind")]]) == []
    assert (
        repr(last(['[{"kind": "dog"'], list[Tagged]))
        == "[Partial[Dog](kind='dog', name='', age=0)]"
    )


def test_a_union_without_a_discriminator_is_refused_when_it_is_complete() -> None:
    class Red(BaseModel):
        color: Literal["red"]

    class Blue(BaseModel):
        color: Literal["blue"]
        size: int

    pieces = ['{"color": "blue", "size": []', ', "name": "x"', "}"]
    shown = values(pieces, Red | Blue)  # type: ignore[arg-type]
    assert repr(next(shown)) == "Partial[Blue](color='blue', size=None)"
    error = violation(pieces, Red | Blue)
    assert (error.path, error.offset) == (("size",), 26)
    assert error.to_dict() == violation(["".join(pieces)], Red | Blue).to_dict()


class Color(Enum):
    RED = "red"
    GREEN = "green"


def test_an_enum_may_find_members_for_other_values() -> None:
    class Size(Enum):
        LARGE = "large"

        @classmethod
        def _missing_(cls, value: object) -> Size | None:
            return cls.LARGE if value == "huge" else None

    assert last(list('"huge"'), Size) is Size.LARGE
    assert violation(list('"small"'), Size).offset == 0


class Strict(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")
    count: int = Field(default=0, le=9)
    color: Color = Color.RED
    size: Literal["small", "smart"] = "small"
    inner: Stop | None = None


@pytest.mark.parametrize(
    "text, path, rule",
    [
        ('{"count": "1"', ("count",), "int_type"),
        ('{"count": n', ("count",), "int_type"),
        ('{"count": [', ("count",), "int_type"),
        ('{"color": "b', ("color",), "enum"),
        ('{"size": "sme', ("size",), "literal_error"),
        ('{"inner": 1', ("inner",), "model_type"),
        ('{"other"', ("other",), "extra_forbidden"),
        ('{"count": 10,', ("count",), "less_than_equal"),
        ('{"size": "smar"', ("size",), "literal_error"),
        ('{"inner": {"name": "x"}', ("inner",), "missing"),
        ("[", (), "model_type"),
    ],
)
def test_a_violation_is_raised_at_the_character_that_proves_it(
    text: str, path: Any, rule: str
) -> None:
    error = violation(text, Strict)
    assert (error.path, error.rule) == (path, rule)
    assert last(text[:-1], Strict) is None or is_partial(last(text[:-1], Strict))


def test_numbers_of_another_type_do_not_change_the_verdict() -> None:
    class Price(BaseModel):
        model_config = ConfigDict(strict=True)
        day: date
        amount: Decimal

    text = '{"day": "2024-05-01", "amount": 0.12345678901234567890}'
    price = list(values(list(text), Price, parse_float=Decimal))[-1]
    assert price == Price(day=date(2024, 5, 1), amount=Decimal("0.12345678901234567890"))


def test_lax_mode_waits_where_it_may_convert() -> None:
    class Lax(BaseModel):
        count: int
        day: date

    assert last(['{"count": "12", "day": 0}'], Lax) == Lax(count=12, day=date(1970, 1, 1))
    assert violation(['{"count": "x', 'y"'], Lax).rule == "int_parsing"


def test_a_violation_has_its_position_and_the_last_good_value() -> None:
    text = '{"title": "x",\n "stops": [{"name": "y", "day": "2024-05-01"}, {"name": 5'
    error = violation([text], Trip)
    assert (error.path, error.rule) == (("stops", 1, "name"), "string_type")
    assert (error.offset, error.line, error.column) == (71, 2, 57)
    assert error.value == violation(list(text), Trip).value
    good = error.value
    assert isinstance(good, Trip) and is_partial(good) and len(good.stops) == 2
    assert "Input should be a valid string" in feedback(error)
    listed = violation(['{"color": "blue'], Strict)
    assert listed.allowed == ("green", "red")
    assert violation(['{"size": "smar"}'], Strict).allowed == ("small", "smart")


def test_an_error_of_the_text_has_the_partial() -> None:
    with pytest.raises(Truncated) as caught:
        list(values(['{"title": "To the s'], Trip))
    assert repr(caught.value.value) == "Partial[Trip](title='To the s', stops=[])"


def test_user_validators_run_once_for_each_value_and_once_for_the_whole() -> None:
    calls: list[str] = []

    def note(value: str) -> str:
        calls.append(value)
        return value

    class Order(BaseModel):
        first: Annotated[str, AfterValidator(note)]
        codes: list[Annotated[str, AfterValidator(note)]]

    list(values('{"first": "a", "codes": ["b", "c"]}', Order))
    list(values(list('{"first": "d", "codes": ["e"]}'), Order))
    assert calls == ["a", "b", "c", *"dede"]


def test_a_validator_that_needs_other_fields_waits_for_the_object() -> None:
    class Range(BaseModel):
        low: int
        high: int

        @field_validator("high")
        @classmethod
        def above(cls, value: int, info: Any) -> int:
            if value < info.data["low"]:
                raise ValueError("high is below low")
            return value

    assert last(['{"low": 1, "high": 2,'], Range).high is None
    error = violation(list('{"low": 3, "high": 2}'), Range)
    assert (error.path, error.rule) == (("high",), "value_error")

    class Outer(BaseModel):
        least: int
        stop: Stop

        @field_validator("stop")
        @classmethod
        def check(cls, value: Stop, info: Any) -> Stop:
            if len(value.name) < (info.data or {}).get("least", 99):
                raise ValueError("too short")
            return value

    stop = {"name": "Rome", "day": "2024-05-01"}
    assert last(list(json.dumps({"least": 1, "stop": stop})), Outer).stop.name == "Rome"

    def above_low(value: int, info: Any) -> int:
        if value < (info.data or {}).get("low", 99):
            raise ValueError("below low")
        return value

    class Heights(BaseModel):
        low: int
        maximum: Annotated[int, AfterValidator(above_low)] | None = None
        plain: Annotated[int, PlainValidator(above_low)] = 0
        all: list[Annotated[int, AfterValidator(above_low)]] = []

    text = '{"low": 1, "maximum": 2, "plain": 3, "all": [4]}'
    assert last(list(text), Heights) == Heights.model_validate_json(text)


def test_what_user_code_may_change_is_shown_and_not_refused() -> None:
    class Flexible(BaseModel):
        name: str
        count: Annotated[int, BeforeValidator(len)]

        @model_validator(mode="before")
        @classmethod
        def rename(cls, value: Any) -> Any:
            return {**value, "name": str(value["name"])}

    assert last(['{"name": "ab'], Flexible).name == "ab"
    assert last(list('{"name": 5, "count": [1, 2]}'), Flexible) == Flexible(name="5", count=[1, 2])  # type: ignore[arg-type]


def test_a_string_with_a_validator_is_shown_when_it_is_complete() -> None:
    class Shout(BaseModel):
        text: Annotated[str, AfterValidator(str.upper)]

    assert last(['{"text": "ab'], Shout).text is None
    assert last(['{"text": "ab",'], Shout).text == "AB"


def test_fields_are_yielded_when_they_are_complete() -> None:
    pieces = ['{"title": "To', '", "stops": [', "]", "}"]
    assert list(fields(pieces, Trip)) == [("title", "To"), ("stops", [])]
    seen = []
    with pytest.raises(InvalidSchema):
        for name, value in fields(['{"title": "To", "stops": [5'], Trip):
            seen.append((name, value))
    assert seen == [("title", "To")]


def test_each_field_of_a_dict_is_yielded_once() -> None:
    for schema in (dict[UUID, int], RootModel[dict[str, int]]):
        text = json.dumps({str(UUID(int=1)): 1, str(UUID(int=2)): 2})
        expected: Any = TypeAdapter(schema).validate_json(text)
        items = list(getattr(expected, "root", expected).items())
        assert list(fields([text], schema)) == list(fields(list(text), schema)) == items


def test_select_yields_instances() -> None:
    text = '{"stops": [{"name": "a", "day": "2024-05-01"}, {"name": 5}]}'
    stops = select([text], "stops[*]", Stop)
    assert next(stops) == Stop(name="a", day=date(2024, 5, 1))
    with pytest.raises(InvalidSchema) as caught:
        next(stops)
    assert (caught.value.path, caught.value.offset) == (("stops", 1, "name"), 47)


def test_partial_reads_a_cut_text() -> None:
    assert repr(partial('{"title": "To', Trip)) == "Partial[Trip](title='To', stops=[])"


def test_a_key_that_comes_again_replaces_the_first() -> None:
    text = '{"title": "a", "stops": [], "title": "b"}'
    assert last(list(text), Trip) == last([text], Trip) == Trip(title="b", stops=[])


def test_a_piece_that_changes_nothing_brings_no_value() -> None:
    shown = [trip.title for trip in values(list('{"title": "\\u00e9"}'), Trip)]
    assert shown == [None, "", "é", "é"]  # the last one is complete


def test_a_repair_is_reported_once_also_before_a_violation() -> None:
    repairs: list[Any] = []
    with pytest.raises(InvalidSchema):
        list(values(["{'title': 5}"], Trip, repair=True, on_repair=repairs.append))
    assert [repair.rule for repair in repairs] == ["quotes"]


def test_a_violation_deep_inside_is_the_same_in_one_piece() -> None:
    class Tree(BaseModel):
        name: str
        inner: list[Tree] = []

    text = '{"name": "a", "inner": [' * 100 + '{"name": 5}' + "]}" * 100
    whole, single = violation([text], Tree), violation(list(text), Tree)
    assert (whole.path, whole.offset) == (single.path, single.offset)
    assert whole.path == ("inner", 0) * 100 + ("name",)


def test_bytes_and_a_prefix_count_as_characters() -> None:
    data = '{"title": "é漢", "stops": 5}'.encode()
    for pieces in ([data], [data[at : at + 1] for at in range(len(data))]):
        assert violation(pieces, Trip).offset == 25  # type: ignore[arg-type]
    with pytest.raises(InvalidSchema) as caught:
        list(values(['"title": 5}'], Trip, prefix="{"))
    assert (caught.value.offset, caught.value.column) == (9, 10)


@pytest.mark.parametrize("schema", ["Trip", b"{}", [int], Trip(title="x")])
def test_an_object_that_is_not_a_schema(schema: Any) -> None:
    with pytest.raises(TypeError, match="a schema must be"):
        list(values(["{}"], schema))
