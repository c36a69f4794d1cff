"""Typed values: partial instances on the way, the validated one at last, errors at once."""

from __future__ import annotations

import copy
import dataclasses
import datetime as dt
import enum
import json
import pickle
import uuid
import warnings
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Sequence
from decimal import Decimal
from typing import Annotated, Any, Generic, Literal, NamedTuple, TypeVar, cast

import pytest
from annotated_types import Gt
from hypothesis import given
from hypothesis import strategies as st
from pydantic import (
    AfterValidator,
    AliasChoices,
    AliasPath,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainValidator,
    PrivateAttr,
    RootModel,
    SecretStr,
    StringConstraints,
    TypeAdapter,
    ValidationInfo,
    WrapValidator,
    computed_field,
    create_model,
    field_serializer,
    field_validator,
    model_validator,
)
from typing_extensions import TypedDict

import jsonrill
from jsonrill import InvalidJSON, InvalidSchema, Truncated, is_partial
from jsonrill.schema import Schema
from jsonrill.schema.document import SchemaDocument
from support import examples
from support.schemas import since_pydantic

T = TypeVar("T")


class Kind(enum.Enum):
    CITY = "city"
    SEA = "sea"


class Stop(BaseModel):
    name: str
    when: dt.date
    kind: Kind = Kind.CITY
    cost: Decimal | None = None


class Trip(BaseModel):
    title: str
    start: dt.datetime | None = None
    stops: list[Stop] = []
    note: str | None = None
    by_id: dict[str, Stop] = Field(default_factory=dict)


@dataclasses.dataclass
class Point:
    x: int
    label: str = "none"
    tags: list[str] = dataclasses.field(default_factory=list)


@dataclasses.dataclass(slots=True, frozen=True)
class Frozen:
    x: int
    label: str = "none"


class Words(TypedDict, total=False):
    first: str
    day: dt.date


class Pair(NamedTuple):
    x: int
    y: str


STOPS = [
    {"name": "Rome", "when": "2024-05-02", "kind": "sea", "cost": "1.50"},
    {"name": "Bari é\n", "when": "2024-05-03"},
]
TRIP = {
    "title": "To the sea",
    "start": "2024-05-01T10:00:00Z",
    "stops": STOPS,
    "note": None,
    "by_id": {"a": STOPS[0]},
}


def looks(type_: Any, value: Any, size: int = 1, **options: Any) -> list[Any]:
    """The values that a text in pieces of this size yields."""
    text = value if isinstance(value, str) else json.dumps(value, indent=1)
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    return list(jsonrill.values(pieces, type_, **options))


def cut(type_: Any, text: str) -> Any:
    """What is left of a text that was cut off."""
    with pytest.raises(Truncated) as caught:
        looks(type_, text)
    return caught.value.value


def final(type_: Any, value: Any) -> Any:
    """What pydantic makes of it."""
    adapter = type_ if isinstance(type_, TypeAdapter) else TypeAdapter(type_)
    return adapter.validate_json(json.dumps(value))


def begins(part: Any, whole: Any) -> bool:
    """True if a part is a beginning of the whole, of what has come."""
    if isinstance(whole, BaseModel):
        if not isinstance(part, type(whole)):
            return False
        names = part.model_fields_set
        return all(begins(getattr(part, name), getattr(whole, name)) for name in names)
    if dataclasses.is_dataclass(whole):
        fields = dataclasses.fields(whole)
        return isinstance(part, type(whole)) and all(
            getattr(part, it.name) in (None, _default(it))
            or begins(getattr(part, it.name), getattr(whole, it.name))
            for it in fields
        )
    if isinstance(whole, dict):
        return all(key in whole and begins(part[key], whole[key]) for key in part)
    if isinstance(whole, (list, tuple)):
        pairs = zip(part, whole, strict=False)
        return len(part) <= len(whole) and all(begins(one, other) for one, other in pairs)
    if isinstance(whole, str):
        return isinstance(part, str) and whole.startswith(part)
    if isinstance(whole, (set, frozenset)):
        return part <= whole
    return bool(part == whole) and type(part) is type(whole)


def _default(field: dataclasses.Field[Any]) -> Any:
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return field.default


class Node(BaseModel):
    value: int
    kids: list[Node] = []
    best: Node | None = None


class Cat(BaseModel):
    kind: Literal["cat"]
    name: str = ""


class Dog(BaseModel):
    kind: Literal["dog"]
    name: str = ""
    age: int = 0


Pet = Annotated[Cat | Dog, Field(discriminator="kind")]


class Aliased(BaseModel):
    model_config = ConfigDict(populate_by_name=True)
    one: str = Field(validation_alias="uno")
    two: str = Field(validation_alias=AliasChoices("dos", "zwei"))
    deep: int = Field(default=0, validation_alias=AliasPath("box", 1))


class Strict(BaseModel):
    model_config = ConfigDict(strict=True)
    when: dt.date
    pair: tuple[int, str]
    id: uuid.UUID


class Loose(BaseModel):
    model_config = ConfigDict(extra="allow")
    a: int = 0


class Box(BaseModel, Generic[T]):
    content: T
    label: str = ""


class Limited(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")
    short: Annotated[str, Field(min_length=3, max_length=8)]
    code: Annotated[str, Field(pattern="^a+$")] = "a"
    many: Annotated[list[int], Field(min_length=1, max_length=3)] = [1]
    number: Annotated[int, Field(gt=2)] = 3
    secret: SecretStr = SecretStr("")
    money: Decimal = Decimal(1)
    level: Literal["low", "high"] = "low"
    either: int | str = 0


class Names(RootModel[list[str]]):
    pass


CASES: list[tuple[Any, Any]] = [
    (Trip, TRIP),
    (list[Stop], STOPS),
    (list[Trip], [TRIP, TRIP]),
    (dict[str, Stop], {"a": STOPS[0], "b": STOPS[1]}),
    (dict[int, Stop], {"1": STOPS[0], "2": STOPS[1]}),
    (dict[Kind, list[dt.date]], {"sea": ["2024-05-02"], "city": []}),
    (Trip | None, TRIP),
    (Trip | None, None),
    (TypeAdapter(list[Stop]), STOPS),
    (Point, {"x": "5", "label": "long", "tags": ["a", "bc"]}),
    (list[Frozen], [{"x": 1}, {"label": "y", "x": 2}]),
    (Words, {"first": "abc", "day": "2024-05-02"}),
    (list[Words], [{"first": "abc"}, {}]),
    (Pair, [1, "ab"]),
    (list[Pair], [[1, "ab"], [2, "cd"]]),
    (Node, {"value": 1, "kids": [{"value": 2, "kids": [{"value": 3}]}], "best": {"value": 4}}),
    (list[Pet], [{"kind": "cat", "name": "ab"}, {"name": "cd", "kind": "dog", "age": "3"}]),
    (list[Cat | Dog], [{"kind": "cat", "name": "ab"}, {"name": "cd", "kind": "dog", "age": "3"}]),
    (Cat | Dog | None, {"name": "ab", "kind": "dog"}),
    (Aliased, {"uno": "abc", "zwei": "def", "box": [1, 2]}),
    (Aliased, {"one": "abc", "dos": "def"}),
    (Aliased, {"zwei": "abc", "dos": "abcdef", "uno": "x"}),
    (Strict, {"when": "2024-05-02", "pair": [1, "ab"], "id": str(uuid.UUID(int=5))}),
    (Loose, {"b": "text", "a": 1, "c": [{"d": "e"}]}),
    (Box[Stop], {"content": STOPS[0], "label": "ab"}),
    (Box[list[dt.date]], {"content": ["2024-05-02"]}),
    (
        Limited,
        {
            "short": "abcd", "code": "aaa", "many": [1, 2], "number": 5, "secret": "hidden",
            "money": 12.5, "level": "high", "either": "word",
        },
    ),
    (Names, ["ab", "cd"]),
    (RootModel[str], "abc"),
    (list[RootModel[str]], ["abc", "de"]),
    (RootModel[dict[str, Stop]], {"a": STOPS[0]}),
    (set[str], ["ab", "cd", "ab"]),
    (frozenset[int], [1, 2]),
    (tuple[int, ...], [1, 2, 3]),
    (tuple[int, str], [1, "ab"]),
    (Sequence[Stop], STOPS),
    (str, "abc"),
    (str | None, "abc"),
    (int, 12),
    (float, 12),
    (bool, True),
    (dt.date, "2024-05-02"),
    (Any, {"a": ["b", 1]}),
    (list[Any], [{"a": ["b", 1]}]),
    (dict, {"a": [1]}),
]  # fmt: skip


@pytest.mark.parametrize("type_, value", CASES)
@pytest.mark.parametrize("size", [1, 3, 7, 10_000])
def test_each_look_begins_the_last_which_is_what_pydantic_makes(
    type_: Any, value: Any, size: int
) -> None:
    values = looks(type_, json.dumps(value, indent=1), size)
    expected = final(type_, value)
    assert values[-1] == expected and type(values[-1]) is type(expected)
    assert not is_partial(values[-1])
    for part in values[:-1]:
        assert begins(part, expected), part
        if isinstance(expected, BaseModel) or dataclasses.is_dataclass(expected):
            assert is_partial(part) and type(part).__name__ == f"Partial[{type(expected).__name__}]"


@pytest.mark.parametrize("type_, value", CASES)
def test_looks_only_grow(type_: Any, value: Any) -> None:
    values = looks(type_, json.dumps(value))
    assert all(begins(one, other) for one, other in zip(values, values[1:], strict=False))


@pytest.mark.parametrize("type_, value", [it for it in CASES if not isinstance(it[1], list)])
def test_updates_have_the_same_models(type_: Any, value: Any) -> None:
    updates = list(jsonrill.updates(list(json.dumps(value)), schema=type_))
    assert updates[-1].status == "COMPLETED" and updates[-1].model == final(type_, value)
    for update in updates[:-1]:
        assert update.model is None or begins(update.model, updates[-1].model)


def test_a_partial_has_what_is_complete_and_strings_as_they_grow() -> None:
    part = cut(Trip, '{"stops": [{"name": "Ro')
    assert isinstance(part, Trip) and is_partial(part)
    assert repr(part.stops) == (
        "[Partial[Stop](name='Ro', when=None, kind=<Kind.CITY: 'city'>, cost=None)]"
    )
    shown: Any = part.title, part.start, part.note, part.by_id
    assert shown == (None, None, None, {})
    assert part.model_fields_set == {"stops"}
    assert part.stops[0].model_fields_set == {"name"}


@pytest.mark.parametrize(
    "type_, text",
    [
        (dt.date, "2024-05-02"),
        (Kind, "sea"),
        (Decimal, "1.25"),
        (Literal["ab", "abc"], "abc"),
        (uuid.UUID, str(uuid.UUID(int=7))),
        (bytes, "abc"),
        (SecretStr, "abc"),
        (int, "123"),
        (dt.date | str, "2024-05-02"),
        (Annotated[str, AfterValidator(str.upper)], "abc"),
        (Annotated[str, BeforeValidator(str.strip)], " abc "),
        (Annotated[str, PlainValidator(len)], "abc"),
        (Annotated[str, WrapValidator(lambda value, handler: handler(value)[::-1])], "abc"),
        (Annotated[str, StringConstraints(strip_whitespace=True)], " abc "),
    ],
)
def test_other_types_appear_when_they_are_complete(type_: Any, text: str) -> None:
    class Model(BaseModel):
        first: type_
        last: str

    expected = final(Model, {"first": text, "last": "ab"})
    values = [part.first for part in looks(Model, {"first": text, "last": "ab"})]
    assert list(dict.fromkeys(map(repr, values))) == [repr(None), repr(expected.first)]


@pytest.mark.parametrize(
    "type_",
    [
        str,
        str | None,
        str | int,
        int | float | str,
        Literal["ab"] | str,
        Any,
        Annotated[str, Field(min_length=2, max_length=9, pattern="^a")],
    ],
)
def test_strings_that_are_taken_as_they_are_are_shown_as_they_grow(type_: Any) -> None:
    class Model(BaseModel):
        text: type_ = None

    texts = [part.text for part in looks(Model, {"text": "abc"})]
    assert list(dict.fromkeys(texts)) == [None, "", "a", "ab", "abc"]


def test_numbers_are_complete_or_absent() -> None:
    assert [it["a"] for it in looks(dict[str, int], '{"a": 123}') if it] == [123]


# Validators


class Counted:
    """A model whose functions are counted by name."""

    def __init__(self) -> None:
        calls = self.calls = Counter[str]()

        class Inner(BaseModel):
            price: int
            label: str = ""

            @field_validator("price")
            @classmethod
            def price_after(cls, value: int) -> int:
                calls["inner price"] += 1
                return value + 1

            @field_validator("label", mode="before")
            @classmethod
            def label_before(cls, value: Any) -> Any:
                calls["inner label"] += 1
                return value.strip()

            @model_validator(mode="after")
            def all_after(self) -> Any:
                calls["inner model"] += 1
                return self

        class Outer(BaseModel):
            title: str
            size: int
            items: list[Inner]
            one: Inner
            by_name: dict[str, Inner] = {}

            @field_validator("title", mode="wrap")
            @classmethod
            def title_wrap(cls, value: Any, handler: Any) -> Any:
                calls["title"] += 1
                return handler(value)

            @field_validator("size", mode="plain")
            @classmethod
            def size_plain(cls, value: Any) -> Any:
                calls["size"] += 1
                return value * 2

            @field_validator("items")
            @classmethod
            def items_after(cls, value: Any) -> Any:
                calls["items"] += 1
                return value

            @model_validator(mode="after")
            def all_after(self) -> Any:
                calls["model"] += 1
                return self

        self.model = Outer


COUNTED = {
    "title": "a long title in many pieces",
    "size": 4,
    "items": [{"price": 1, "label": " ab "}, {"price": 2, "label": "cd"}],
    "one": {"price": 3, "label": "ef"},
    "by_name": {"a": {"price": 4, "label": "gh"}},
}


@since_pydantic("2.13")
@pytest.mark.parametrize("size", [1, 5, 10_000])
def test_validators_run_once_for_a_value_and_once_for_the_whole(size: int) -> None:
    counted = Counted()
    values = looks(counted.model, COUNTED, size)
    assert values[-1] == final(counted.model, COUNTED)
    counted = Counted()
    looks(counted.model, COUNTED, size)
    once = {"title": 1, "size": 1, "items": 1}
    inner = {"inner price": 4, "inner label": 4, "inner model": 4}
    assert counted.calls == {
        **{name: 2 * count for name, count in (once | inner).items()}, "model": 1,
    }  # fmt: skip


@since_pydantic("2.13")
def test_in_updates_validators_run_no_more_often_however_often_models_are_read() -> None:
    counted = Counted()
    updates = list(jsonrill.updates(list(json.dumps(COUNTED)), schema=counted.model))
    for update in [*updates, *reversed(updates)]:
        assert isinstance(update.model, counted.model)
    assert max(counted.calls.values()) == 8 and counted.calls["model"] == 1


@pytest.mark.parametrize(
    "mode", ["before", "wrap", pytest.param("after", marks=since_pydantic("2.13"))]
)
def test_model_validators_of_every_mode(mode: Any) -> None:
    calls = Counter[str]()

    def after(self: Any) -> Any:
        calls["model"] += 1
        return self

    def before(cls: Any, data: Any) -> Any:
        calls["model"] += 1
        return data

    def wrap(cls: Any, data: Any, handler: Any) -> Any:
        calls["model"] += 1
        return handler(data)

    function: Any = {"after": after, "before": before, "wrap": wrap}[mode]

    class Model(BaseModel):
        check = model_validator(mode=mode)(function if mode == "after" else classmethod(function))
        when: dt.date
        text: str = ""

        @field_validator("text")
        @classmethod
        def text_after(cls, value: str) -> str:
            calls["text"] += 1
            return value

    value = {"one": {"when": "2024-05-02", "text": "ab"}}
    values = looks(dict[str, Model], value)
    assert values[-1] == final(dict[str, Model], value)
    days = [part["one"].when for part in values if part]
    assert days[0] is None and dt.date(2024, 5, 2) in days[1:-1]
    calls.clear()
    looks(dict[str, Model], value)
    assert calls == {"model": 2, "text": 2}


@since_pydantic("2.13")
def test_a_validator_that_looks_at_other_fields_waits_for_them() -> None:
    calls: list[int] = []

    class Model(BaseModel):
        low: int
        high: int

        @field_validator("high")
        @classmethod
        def in_order(cls, value: int, info: ValidationInfo) -> int:
            calls.append(value)
            if value < info.data["low"]:
                raise ValueError("too low")
            return value

    values = looks(list[Model], [{"high": 5, "low": 1}, {"low": 2, "high": 3}])
    assert len(calls) == 4  # for two values, each when it is complete and with the whole
    assert values[-1] == [Model(low=1, high=5), Model(low=2, high=3)]
    shown = [(it.low, it.high) for part in values for it in part[-1:] if is_partial(it)]
    assert list(dict.fromkeys(shown)) == [(None, None), (1, None), (2, None), (2, 3)]
    with pytest.raises(InvalidSchema, match="too low"):
        looks(list[Model], [{"high": 5, "low": 1}, {"low": 2, "high": 1}])


def test_a_failing_validator_is_a_violation_where_its_value_ends() -> None:
    class Model(BaseModel):
        name: str
        rest: str = ""

        @field_validator("name")
        @classmethod
        def refuses(cls, value: str) -> str:
            raise ValueError("never")

    source = Source(json.dumps({"name": "ab", "rest": "x" * 100}))
    with pytest.raises(InvalidSchema, match="never") as caught:
        list(jsonrill.values(source, Model))
    assert source.read == len('{"name": "ab"')
    assert (caught.value.path, caught.value.rule) == (("name",), "value_error")


def test_a_function_that_breaks_early_counts_only_in_its_place() -> None:
    seen: list[int] = []

    def breaks_once(value: int) -> int:
        seen.append(value)
        if len(seen) == 1:
            raise RuntimeError
        return value

    class Model(BaseModel):
        a: Annotated[int, AfterValidator(breaks_once)]

    assert looks(Model, {"a": 1})[-1] == Model.model_construct(a=1)


# Errors


class Source:
    """An iterable of characters that knows how many were read and whether it was closed."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.read = 0
        self.closed = False

    def __iter__(self) -> Iterator[str]:
        for char in self.text:
            self.read += 1
            yield char

    def close(self) -> None:
        self.closed = True


def test_a_violation_is_raised_at_its_first_character_and_closes_the_source() -> None:
    text = '{\n "title": "x",\n "stops": [{"name": "Rome", "kind": "see", "when": 1}]}'
    source = Source(text)
    trips = []
    with pytest.raises(InvalidSchema) as caught:
        for trip in jsonrill.values(source, Trip):
            trips.append(trip)
    error = caught.value
    assert (source.read, source.closed) == (text.index("see") + 3, True)
    assert (error.path, error.rule) == (("stops", 0, "kind"), "enum")
    assert (error.offset, error.line, error.column) == (text.index('"see"'), 3, 37)
    assert is_partial(best := cast(Any, error.value)) and best.stops[0].name == "Rome"
    assert trips[-1].stops[0].name == "Rome"
    assert issubclass(type(error), ValueError) and issubclass(type(error), jsonrill.JsonrillError)


def test_a_violation_is_the_same_however_the_text_is_cut() -> None:
    text = '{"title": "abc", "stops": [{"name": "a"}, {"name": 5}]}'
    seen = set()
    for size in (1, 2, 5, 100):
        with pytest.raises(InvalidSchema) as caught:
            looks(Trip, text, size)
        error = caught.value
        seen.add((str(error), error.line, error.column, repr(error.value)))
    assert len(seen) == 1


def test_what_was_good_before_a_violation_is_yielded_before_it_is_raised() -> None:
    iterator = jsonrill.values(['{"title": "abc", "note": 5}'], Trip)
    assert next(iterator).title == "abc"
    with pytest.raises(InvalidSchema):
        next(iterator)


def test_a_violation_of_the_whole_comes_at_the_end() -> None:
    class Model(BaseModel):
        a: int

        @model_validator(mode="after")
        def refuses(self) -> Any:
            raise ValueError("never")

    with pytest.raises(InvalidSchema, match="never") as caught:
        looks(Model, {"a": 1})
    assert (caught.value.path, cast(Any, caught.value.value).a) == ((), 1)
    with pytest.raises(InvalidSchema, match='"title" is missing') as caught:
        looks(Trip, '{"note": "x"}')
    assert cast(Any, caught.value.value).note == "x"


def test_a_truncated_text_keeps_its_partial() -> None:
    for text, error in (('{"title": "ab', Truncated), ('{"title": "ab"]', InvalidJSON)):
        trips = []
        with pytest.raises(error) as caught:
            for trip in jsonrill.values(list(text), Trip):
                trips.append(trip)
        assert trips[-1].title == "ab" and cast(Any, caught.value.value).title == "ab"
        assert is_partial(caught.value.value)


def test_a_class_is_compiled_once() -> None:
    """Until it is rebuilt; and types that are merely equal are not taken for each other."""
    assert Schema(Trip).node is Schema(Trip).node

    class Node(BaseModel):
        size: int

    first = Schema(Node).node
    Node.model_fields["size"].annotation = str
    Node.__annotations__["size"] = str
    Node.model_rebuild(force=True)
    assert Schema(Node).node is not first
    assert str(next(jsonrill.values('{"size": "x"}', Node)).size) == "x"
    one, two = Annotated[int, Gt(1)], Annotated[int, Gt(True)]
    assert one == two
    assert Schema(one).node is not Schema(two).node


def test_many_documents_are_instances_one_after_the_other() -> None:
    text = '{"title": "a"}\n{"title": "b", "note": "c"}\n'
    for size in (1, 5, 100):
        trips = looks(Trip, text, size, many=True)
        done = [trip for trip in trips if not is_partial(trip)]
        assert done == [Trip(title="a"), Trip(title="b", note="c")]
    with pytest.raises(InvalidJSON):
        looks(Trip, '{"title": "a"}\n{"title": ]\n{"title": "c"}', 1, many=True)


def test_live_with_a_schema_is_refused_at_the_call() -> None:
    with pytest.raises(TypeError, match="leave out live or schema"):
        jsonrill.values("{}", Trip, live=True)  # type: ignore[call-overload]


@pytest.mark.parametrize(
    "schema, message",
    [
        (Trip(title="x"), r"an instance of Trip: pass the class, schema=Trip"),
        ('{"type": "object"}', r"a JSON Schema as a dict.*json\.loads"),
        (5, "a pydantic type or a JSON Schema as a dict, not int"),
    ],
)
def test_what_is_no_schema_is_refused_at_the_call(schema: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        jsonrill.values("{}", schema)
    with pytest.raises(TypeError, match=message):
        jsonrill.updates("{}", schema=schema)


def test_with_a_json_schema_values_are_plain_and_violations_raise() -> None:
    schema = {"properties": {"a": {"type": "string", "maxLength": 3}, "b": {"enum": ["xy"]}}}
    assert list(jsonrill.values(['{"a": "', 'b"}'], schema)) == [{"a": ""}, {"a": "b"}]
    source = Source('{"a": "abcdefgh", "b": "xz"}')
    with pytest.raises(InvalidSchema) as caught:
        list(jsonrill.values(source, schema=schema))
    assert source.read == len('{"a": "abcd') and source.closed
    assert (caught.value.rule, caught.value.value) == ("maxLength", {})


# What a partial instance can do


class Computed(BaseModel):
    name: str
    when: dt.date
    nested: list[Computed] = []

    @computed_field  # type: ignore[prop-decorator]
    @property
    def upper(self) -> str:
        return self.name.upper()

    @computed_field  # type: ignore[prop-decorator]
    @property
    def always(self) -> int:
        return 1

    @field_serializer("when")
    def write_when(self, value: dt.date) -> str:
        return value.isoformat()


def test_a_partial_can_be_dumped_at_any_time() -> None:
    value = {"nested": [{"name": "ab", "when": "2024-05-02"}], "name": "x", "when": "2024-05-01"}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for part in looks(Computed, value):
            dumped = part.model_dump()
            assert dumped["always"] == 1 and ("upper" in dumped) == (part.name is not None)
            assert json.loads(part.model_dump_json()) == part.model_dump(mode="json")
            assert "nested" in part.model_dump(include={"nested"})
            assert "name" not in part.model_dump(exclude={"name"})
            repr(part)
        for part in looks(Trip, TRIP):
            part.model_dump()
            part.model_dump(mode="json", exclude_unset=True, by_alias=True)
            json.loads(part.model_dump_json())


def test_a_dump_has_what_has_come() -> None:
    part = cut(Computed, '{"nested": [{"name": "ab"')
    assert part.model_dump() == {
        "name": None,
        "when": None,
        "nested": [{"name": "ab", "when": None, "nested": [], "upper": "AB", "always": 1}],
        "always": 1,
    }
    assert part.model_dump(exclude_unset=True)["nested"][0]["name"] == "ab"


def test_partials_are_copied_pickled_and_compared() -> None:
    part = cut(Trip, '{"title": "a", "stops": [{"name": "b')
    for other in (copy.copy(part), copy.deepcopy(part), pickle.loads(pickle.dumps(part))):
        assert other == part and is_partial(other) and isinstance(other, Trip)
        assert other.model_fields_set == {"title", "stops"}
    assert part.model_copy(update={"title": "z"}).title == "z"
    assert part != Trip(title="a")
    for type_ in (Point, Frozen):
        half = cut(type_, '{"label": "b')
        assert is_partial(half) and isinstance(half, type_)
        assert pickle.loads(pickle.dumps(half)) == half == copy.deepcopy(half)
        assert dataclasses.asdict(half)["label"] == "b"
        assert repr(half).startswith(f"Partial[{type_.__name__}](x=None, label='b'")


def test_is_partial_answers_for_models_and_dataclasses() -> None:
    assert not any(map(is_partial, (Trip(title="a"), Trip, Point(1), {}, None, 5, "x")))
    assert is_partial(cut(Point, '{"x": 1'))
    assert not is_partial(cut(Words, '{"first": "x'))


def test_making_a_partial_class_calls_nothing_of_the_users() -> None:
    calls = []

    class Registry(BaseModel):
        def __init_subclass__(cls, **options: Any) -> None:
            calls.append(cls.__name__)

        @classmethod
        def __pydantic_init_subclass__(cls, **options: Any) -> None:
            calls.append(cls.__name__)

    class Plugin(Registry):
        a: str
        _hidden: int = PrivateAttr(default=7)

        def model_post_init(self, context: Any) -> None:
            calls.append("post init")

    calls.clear()
    part = cut(Plugin, '{"a": "x')
    assert part._hidden == 7 and calls == []
    assert Registry.__subclasses__() == [Plugin]
    assert isinstance(part, Registry) and not isinstance(Plugin(a="x"), type(part))


def test_defaults_are_there_before_their_fields() -> None:
    calls = []

    def fresh() -> list[int]:
        calls.append(1)
        return []

    def fails() -> int:
        raise RuntimeError

    class Model(BaseModel):
        model_config = ConfigDict(validate_default=True)
        first: str
        day: dt.date = "2024-05-02"  # type: ignore[assignment]
        items: list[int] = Field(default_factory=fresh)
        bad: int = Field(default_factory=fails)

    part = cut(Model, '{"first": "a long text in many pieces')
    assert (part.day, part.items, part.bad) == (dt.date(2024, 5, 2), [], None)
    assert part.model_fields_set == {"first"} and len(calls) == 1


def test_complete_parts_are_shared_between_looks() -> None:
    trips = looks(Trip, TRIP)
    with_two = [trip for trip in trips[:-1] if len(trip.stops) == 2]
    assert len({id(trip.stops[0]) for trip in with_two}) == 1
    assert not is_partial(with_two[0].stops[0])
    assert is_partial(with_two[0].stops[1]) and not is_partial(with_two[-1].stops[1])


class Plain(BaseModel):
    first: int
    second: str = "x"


class Hidden(Plain):
    _hidden: int = PrivateAttr(default=7)


class Changed(Plain):
    def model_post_init(self, context: Any) -> None:
        self.second = self.second.upper()


class Checked(Plain):
    @model_validator(mode="after")
    def _double(self) -> Checked:
        self.first *= 2
        return self


class Kept(Plain, extra="allow"):
    pass


@pytest.mark.parametrize("kind", [Plain, Hidden, Changed, Checked, Kept])
@pytest.mark.parametrize(
    "value", [{"second": "b", "first": 1}, {"first": 1}, {"first": 1, "second": "b", "third": 3}]
)
def test_a_complete_model_in_a_partial_one_is_what_pydantic_makes_of_it(
    kind: type[Plain], value: dict[str, Any]
) -> None:
    """Also where it is made of its fields, without asking pydantic."""
    around = create_model("Around", inner=(kind, ...), rest=(str, ...))
    document = SchemaDocument(around)
    document.feed(f'{{"inner": {json.dumps(value)}, "rest": "')
    inner, wanted = document.value.inner, kind.model_validate(value)
    assert type(inner) is kind and inner == wanted
    assert inner.model_fields_set == wanted.model_fields_set
    assert list(inner.__dict__) == list(wanted.__dict__)
    assert inner.model_extra == wanted.model_extra
    assert inner.__pydantic_private__ == wanted.__pydantic_private__


def test_dataclasses_run_their_post_init_once_complete() -> None:
    seen = []

    @dataclasses.dataclass
    class Checked:
        a: str
        b: int = 0

        def __post_init__(self) -> None:
            seen.append((self.a, self.b))

    assert looks(list[Checked], [{"a": "long", "b": 1}])[-1] == [Checked("long", 1)]
    assert set(seen) == {("long", 1)} and len(seen) == 3


# Fields


def test_fields_come_one_by_one_when_complete() -> None:
    fields = []
    for name, value in jsonrill.fields(list(json.dumps(TRIP)), Trip):
        fields.append((name, value))
    assert dict(fields) == {name: getattr(final(Trip, TRIP), name) for name in TRIP}
    assert [name for name, _ in fields] == [*TRIP]


def test_a_field_comes_with_its_last_character() -> None:
    source = Source(json.dumps(TRIP))
    for name, value in jsonrill.fields(source, Trip):
        assert name == "title" and value == "To the sea"
        break
    assert source.read == len('{"title": "To the sea"') and source.closed


def test_fields_of_other_types() -> None:
    def names(type_: Any, value: Any) -> list[Any]:
        return list(jsonrill.fields(list(json.dumps(value)), type_))

    assert names(Point, {"label": "a", "x": "5"}) == [("label", "a"), ("x", 5)]
    assert names(Words, {"day": "2024-05-02"}) == [("day", dt.date(2024, 5, 2))]
    assert names(Aliased, {"dos": "a", "box": [1, 2], "uno": "b"}) == [
        ("two", "a"), ("one", "b"), ("deep", 2),
    ]  # fmt: skip
    assert names(Loose, {"z": 1, "a": 2}) == [("z", 1), ("a", 2)]
    assert names(Cat | Dog, {"name": "a", "kind": "dog"}) == [("name", "a"), ("kind", "dog")]
    assert names({"type": "object"}, {"a": [1], "b": 2}) == [("a", [1]), ("b", 2)]


def test_fields_before_an_error_are_yielded() -> None:
    iterator = jsonrill.fields(['{"title": "a", "note": 5}'], Trip)
    assert next(iterator) == ("title", "a")
    with pytest.raises(InvalidSchema):
        next(iterator)
    with pytest.raises(Truncated):
        list(jsonrill.fields('{"title": "a"', Trip))


@pytest.mark.parametrize("type_", [list[int], int, Names])
def test_a_type_without_fields_is_refused_at_the_call(type_: Any) -> None:
    with pytest.raises(TypeError, match="has no fields"):
        jsonrill.fields("[]", type_)


# Sources


def test_an_async_source() -> None:
    import asyncio

    async def pieces() -> AsyncIterator[str]:
        for char in json.dumps(TRIP):
            yield char

    async def read() -> list[Any]:
        trips = [trip async for trip in jsonrill.values(pieces(), Trip)]
        return [trips[-1], dict([it async for it in jsonrill.fields(pieces(), Trip)])]

    trip, fields = asyncio.run(read())
    assert trip == final(Trip, TRIP) and fields["title"] == trip.title


# Any text


@given(st.data(), st.sampled_from(CASES), st.integers(1, 12))
@examples(200)
def test_any_changed_text_gives_what_pydantic_gives(
    data: st.DataObject, case: tuple[Any, Any], size: int
) -> None:
    """Whatever is cut out or put in: the same verdict, and the same instance."""
    type_, value = case
    text = json.dumps(value)
    at = data.draw(st.integers(0, len(text)))
    to = data.draw(st.integers(at, min(at + 3, len(text))))
    put = data.draw(st.sampled_from(["", "1", "null", '"x"', "{", "]", ",", '"', "true", "[]"]))
    text = text[:at] + put + text[to:]
    adapter = type_ if isinstance(type_, TypeAdapter) else TypeAdapter(type_)
    try:
        plain = json.loads(text)
        expected: Any = adapter.validate_json(json.dumps(plain))
    except ValueError:
        with pytest.raises((InvalidSchema, InvalidJSON)):
            looks(type_, text, size)
    else:
        assert looks(type_, text, size)[-1] == expected


# Types that were refused or not taken


class Named(BaseModel):
    name: str


def test_an_annotated_model_is_a_type_and_no_instance() -> None:
    noted = Annotated[Named, Field(description="A name.")]
    values = list(jsonrill.values(['{"name": "Ro', 'me"}'], noted))
    assert [is_partial(it) for it in values] == [True, False]
    assert values[-1] == Named(name="Rome")


def test_a_list_where_an_object_was_possible_has_no_fields() -> None:
    type_ = TypeAdapter(list[Named] | Named)
    assert list(jsonrill.fields(['[{"name": "Rome"}]'], type_)) == []
    assert list(jsonrill.fields(['{"name": "Rome"}'], type_)) == [("name", "Rome")]


class Renamed(BaseModel):
    a: int = Field(validation_alias=AliasChoices("a", "A"))
    b: str = ""

    @model_validator(mode="after")
    def _upper(self) -> Renamed:
        if self.b:
            self.b = self.b.upper()
        return self


@pytest.mark.parametrize(
    ("schema", "text", "last"),
    [
        (Named, '{"name": "x", "name": "y"}', {"name": "y"}),
        ({"type": "object"}, '{"a": 1, "b": 2, "a": 3}', {"a": 3, "b": 2}),
        (Renamed, '{"A": 1, "a": 2}', {"a": 2}),
        (Renamed, '{"a": 1, "A": 2}', {"a": 1}),
        (Renamed, '{"b": "x", "a": 2}', {"a": 2, "b": "X"}),
    ],
    ids=["twice", "twice-plain", "alias-before", "alias-after", "validator"],
)
def test_fields_that_change_are_yielded_again(
    schema: Any, text: str, last: dict[str, object]
) -> None:
    for pieces in ([text], list(text), [text, "  ", "\n"]):
        assert dict(jsonrill.fields(pieces, schema)) == last
        fields = list(jsonrill.fields(pieces, schema))
        assert len(fields) <= len(last) + 1


# ---- what is allowed ----


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


ALLOWED: list[tuple[Any, str, str]] = [
    (Literal[1, 2, 3], "17", "1, 2 or 3, not 17"),
    (Level, "7", "1 or 2, not 7"),
    (Annotated[int, Field(ge=0, le=5)], "7", "not 7: allowed is at least 0 and at most 5"),
    (Annotated[float, Field(gt=0, lt=5)], "7", "not 7: allowed is more than 0 and less than 5"),
    (Annotated[float, Field(gt=0.5, lt=5.0)], "7", "allowed is more than 0.5 and less than 5 ("),
    (Annotated[int, Field(ge=0, lt=5)] | None, "-1", "not -1: allowed is at least 0 and less"),
    (Annotated[int, Field(gt=0)], "-1", "greater than 0, not -1 (greater"),
    ({"minimum": 0, "maximum": 5}, "7", "maximum of 5: allowed is at least 0 and at most 5"),
    ({"exclusiveMinimum": 0, "maximum": 5}, "0", ": allowed is more than 0 and at most 5"),
    ({"minimum": 0}, "-1", "less than the minimum of 0 (minimum)"),
    ({"enum": [1, 2, None]}, "7", "7 is not one of 1, 2 or null"),
    ({"enum": [1, 2, None]}, "[1]", "no allowed value is an array: allowed are 1, 2, null"),
    ({"enum": [True, "a"]}, "{", 'no allowed value is an object: allowed are true, "a"'),
    ({"const": 5}, "6", "5 was expected, not 6"),
    ({"const": {"a": [1]}}, '{"a": 5}', "no allowed value is a number: allowed is [1]"),
    ({"const": [[1]]}, "[{}]", "no allowed value is an object: allowed is [1]"),
    ({"enum": [[1], {"a": 1}]}, "[2]", "1 was expected, not 2"),
    (
        {"additionalProperties": False, "properties": {"a": {}}, "patternProperties": {"^b": {}}},
        '{"c": 1}',
        'this key is not allowed: allowed is "a"',
    ),
]


@pytest.mark.parametrize(("kind", "text", "allowed"), ALLOWED)
def test_a_violation_says_what_is_allowed(kind: Any, text: str, allowed: str) -> None:
    schema = (
        {"properties": {"x": kind}} if isinstance(kind, dict) else create_model("M", x=(kind, 0))
    )
    for pieces in ([*f'{{"x": {text}}}'], [f'{{"x": {text}}}']):
        with pytest.raises(InvalidSchema) as caught:
            list(jsonrill.values(pieces, schema))
        assert allowed in str(caught.value) and allowed in jsonrill.feedback(caught.value)
