"""Random pydantic types, and values that try to fit them, for the tests of schemas."""

from __future__ import annotations

import dataclasses
import datetime as dt
import enum
from collections import deque
from collections.abc import Callable
from decimal import Decimal
from random import Random
from typing import Annotated, Any, Literal, NotRequired, Optional, Union
from uuid import UUID

from pydantic import (
    AfterValidator,
    AliasChoices,
    AliasPath,
    AnyUrl,
    BeforeValidator,
    ConfigDict,
    Field,
    Json,
    PlainValidator,
    RootModel,
    SecretStr,
    Strict,
    StringConstraints,
    TypeAdapter,
    ValidationError,
    WrapValidator,
    create_model,
    field_validator,
    model_validator,
)
from typing_extensions import TypedDict

from support.schemas import TEXTS, value


class Number(enum.IntEnum):
    ONE = 1
    TWO = 2


class Word(enum.StrEnum):
    AB = "ab"
    ABC = "abc"
    RED = "red"


class Mixed(enum.Enum):
    ONE = 1
    X = "x"
    HALF = 2.5
    NOTHING = None
    YES = True


class Text(enum.Enum):
    AB = "ab"
    RED = "red"


class Guess(enum.Enum):
    AB = "ab"

    @classmethod
    def _missing_(cls, value: object) -> Guess | None:
        return cls.AB if value == "abc" else None


def first(data: Any) -> Any:
    return data[0] if isinstance(data, list) and data else data


def not_five(data: Any) -> Any:
    if data in (5, "red", [1]):
        raise ValueError("no five")
    return data


def forgiving(data: Any, inner: Callable[[Any], Any]) -> Any:
    try:
        return inner(data)
    except ValidationError:
        return None


def with_info(data: Any, info: Any) -> Any:
    if info.data and info.data.get("a") == 1:
        raise ValueError("a is one")
    return data


SCALARS: list[Any] = [
    *(Any, None, bool, int, float, str, bytes, Decimal, UUID, AnyUrl, Json, Json[int], SecretStr),
    *(dt.date, dt.time, dt.datetime, dt.timedelta, Number, Word, Mixed, Text, Guess),
    *(Literal["ab", "abd"], Literal[1, "x"], Literal[True, None]),
    *(Annotated[int, Field(gt=1, le=5)], Annotated[float, Field(lt=3, allow_inf_nan=False)]),
    Annotated[str, Field(max_length=2)],
    Annotated[str, Field(min_length=2, pattern="^a")],
    Annotated[str, StringConstraints(max_length=2, strip_whitespace=True)],
    Annotated[str, StringConstraints(max_length=2, to_upper=True)],
    *(Annotated[one, Strict()] for one in (int, str, bool, float, dt.date, Decimal, Number)),
    *(Annotated[int, BeforeValidator(first)], Annotated[int, BeforeValidator(with_info)]),
    *(Annotated[int, AfterValidator(not_five)], Annotated[str, AfterValidator(not_five)]),
    *(Annotated[int, WrapValidator(forgiving)], Annotated[int, PlainValidator(first)]),
]
SETTINGS: dict[str, list[Any]] = {
    "strict": [True],
    "extra": ["forbid", "forbid", "allow", "ignore"],
    "validate_by_name": [True],
    "coerce_numbers_to_str": [True],
    "str_max_length": [2],
    "str_strip_whitespace": [True],
}
NAMES = ["a", "b", "c"]
ALIASES = [
    *("A", "ab", "k"),
    *(AliasChoices("A", "b"), AliasPath("k", 0), AliasChoices(AliasPath("k", "a"), "A")),
    AliasChoices("c", AliasPath("A", 1)),
]


class TypeMaker:
    """Random types: scalars, containers, unions, and classes with fields of all sorts."""

    def __init__(self, chance: Random) -> None:
        self.chance = chance
        self.count = 0

    def make(self, depth: int) -> Any:
        if depth <= 0 or self.chance.random() < 0.35:
            return self.chance.choice(SCALARS)
        self.count += 1
        makers = [self.array, self.array, self.mapping, self.union, self.union, self.typed_dict]
        makers += [self.dataclass, self.root_model, self.tagged, self.model, self.model]
        return self.chance.choice(makers)(depth - 1)

    def array(self, depth: int) -> Any:
        inner = self.make(depth)
        return self.chance.choice(
            [
                list[inner],
                Annotated[list[inner], Field(max_length=2, min_length=1)],
                tuple[inner, ...],
                tuple[inner, self.make(depth)],
                deque[inner],
                set[int],
                Annotated[set[int], Field(max_length=1)],
                frozenset[Word],
            ]
        )

    def mapping(self, depth: int) -> Any:
        key = self.chance.choice([str, str, int, Word, Annotated[str, Field(max_length=1)]])
        plain = dict[key, self.make(depth)]  # type: ignore[misc, valid-type]
        return plain if self.chance.random() < 0.6 else Annotated[plain, Field(max_length=1)]

    def union(self, depth: int) -> Any:
        if self.chance.random() < 0.4:
            return Optional[self.make(depth)]  # noqa: UP045
        both = Union[self.make(depth), self.make(depth)]  # noqa: UP007
        return both

    def typed_dict(self, depth: int) -> Any:
        fields = {name: self.make(depth) for name in self.chance.sample(NAMES, 2)}
        optional = {name: NotRequired[one] for name, one in list(fields.items())[1:]}
        return TypedDict(f"Dict{self.count}", {**fields, **optional})  # type: ignore[operator]

    def dataclass(self, depth: int) -> Any:
        one, two = self.chance.sample(NAMES, 2)
        fields = [(one, self.make(depth)), (two, self.make(depth), dataclasses.field(default=None))]
        return dataclasses.make_dataclass(f"Data{self.count}", fields)

    def root_model(self, depth: int) -> Any:
        return RootModel[self.make(depth)]  # type: ignore[misc]

    def tagged(self, depth: int) -> Any:
        one = create_model(f"One{self.count}", k=(Literal["ab"], ...), a=(self.make(depth), ...))
        two = create_model(f"Two{self.count}", k=(Literal["abc"], ...), b=(self.make(depth), None))
        both = Union[one, two]  # noqa: UP007
        return Annotated[both, Field(discriminator="k")] if self.chance.random() < 0.7 else both

    def model(self, depth: int) -> Any:
        chance = self.chance
        config = {
            name: chance.choice(values)
            for name, values in SETTINGS.items()
            if chance.random() < 0.25
        }
        names = chance.sample(NAMES, chance.randint(1, 3))
        fields: dict[str, Any] = {name: (self.make(depth), self.field()) for name in names}
        return create_model(
            f"Model{self.count}",
            __config__=ConfigDict(**config),  # type: ignore[typeddict-item]
            __validators__=self.validators(names),
            **fields,
        )

    def field(self) -> Any:
        chance = self.chance
        settings: dict[str, Any] = {}
        if chance.random() < 0.3:
            settings["validation_alias"] = chance.choice(ALIASES)
        if chance.random() < 0.4:
            settings["default"] = None
        return Field(**settings)

    def validators(self, names: list[str]) -> dict[str, Any]:
        by_name: dict[str, Any] = {}
        if self.chance.random() < 0.15:
            mode = self.chance.choice(["before", "after"])
            checked = field_validator(self.chance.choice(names), mode=mode)
            by_name["checked"] = checked(classmethod(lambda cls, one, info: with_info(one, info)))
        if self.chance.random() < 0.1:
            from_text = classmethod(lambda cls, one: {"a": 1} if isinstance(one, str) else one)
            by_name["begin"] = model_validator(mode="before")(from_text)
        if self.chance.random() < 0.1:
            by_name["finish"] = model_validator(mode="after")(a_is_not_one)
        return by_name


def a_is_not_one(self: Any) -> Any:
    if getattr(self, "a", None) == 1:
        raise ValueError("a is one")
    return self


OF_LEAVES: dict[str, list[Any]] = {
    "int": [1, 2, 3, 5, "1", 1.0, True],
    "float": [1, 1.5, "2"],
    "bool": [True, "true", 0],
    "none": [None],
    "decimal": ["1", 1, 1.5],
    "date": ["2020-01-01", 0],
    "time": ["12:00", 5],
    "datetime": ["2020-01-01", 5],
    "timedelta": ["P1D", 5],
    "uuid": ["00000000-0000-0000-0000-000000000000"],
    "json": ["1", "[1]"],
    "url": ["http://a.b"],
}


def value_for(chance: Random, core: Any, known: Any = None, depth: int = 6) -> Any:
    """A value that tries to fit a core schema, without always doing so."""
    known = {} if known is None else known
    if depth <= 0 or chance.random() < 0.1:
        return value(chance, 1)

    def inner(part: Any) -> Any:
        return value_for(chance, part, known, depth - 1)

    match core["type"]:
        case "definitions":
            known.update((one["ref"], one) for one in core["definitions"])
            return value_for(chance, core["schema"], known, depth)
        case "definition-ref":
            return inner(known[core["schema_ref"]])
        case "list" | "set" | "frozenset" | "deque":
            return [inner(core["items_schema"]) for _ in range(chance.randint(0, 3))]
        case "tuple":
            return _tuple(chance, core, inner)
        case "dict":
            keys = chance.sample(["a", "1", "2", "red", "ab"], chance.randint(0, 3))
            return {key: inner(core["values_schema"]) for key in keys}
        case "nullable":
            return None if chance.random() < 0.2 else inner(core["schema"])
        case "union":
            one = chance.choice(core["choices"])
            return inner(one[0] if isinstance(one, tuple) else one)
        case "tagged-union":
            return inner(chance.choice(list(core["choices"].values())))
        case "json-or-python":
            return inner(core["json_schema"])
        case "lax-or-strict":
            return inner(core["lax_schema"])
        case "literal":
            return chance.choice(core["expected"])
        case "enum":
            return chance.choice(core["members"]).value
        case "model-fields" | "typed-dict" | "dataclass-args":
            return _fields(chance, core, inner)
    if "schema" in core and core["type"] != "json":
        return inner(core["schema"])
    return chance.choice(OF_LEAVES.get(core["type"], TEXTS))


def _tuple(chance: Random, core: Any, inner: Callable[[Any], Any]) -> list[Any]:
    items = core["items_schema"]
    if core.get("variadic_item_index") is not None:
        return [inner(items[-1]) for _ in range(chance.randint(0, 3))]
    elements = [inner(item) for item in items]
    return chance.choice([elements, elements, elements, elements[:1], [*elements, 1]])


def _fields(chance: Random, core: Any, inner: Callable[[Any], Any]) -> dict[str, Any]:
    fields = core["fields"]
    if isinstance(fields, list):
        fields = {field["name"]: field for field in fields}
    members: dict[str, Any] = {}
    for name in chance.sample(list(fields), len(fields)):
        if chance.random() < 0.08:
            continue
        field_value = inner(fields[name]["schema"])
        alias = fields[name].get("validation_alias")
        paths = [[name]] if alias is None or chance.random() < 0.2 else []
        if alias is not None:
            several = isinstance(alias, list) and isinstance(alias[0], list)
            paths += alias if several else [alias if isinstance(alias, list) else [alias]]
        for path in paths if chance.random() < 0.3 else paths[-1:]:
            one = field_value if chance.random() < 0.8 else value(chance, 1)
            if len(path) > 1:
                one = [one, one] if isinstance(path[1], int) else {path[1]: one}
            members[path[0]] = one
    if chance.random() < 0.15:
        members[chance.choice(["a", "b", "A", "k", "x"])] = value(chance, 1)
    return members


def takes(one: Any, text: str) -> bool:
    """Does pydantic take this JSON text for a value of this type?"""
    adapter: TypeAdapter[Any] = one if isinstance(one, TypeAdapter) else TypeAdapter(one)
    try:
        adapter.validate_json(text)
    except ValidationError:
        return False
    return True
