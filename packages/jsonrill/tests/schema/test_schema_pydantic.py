"""With pydantic its own verdict rules: early where it would refuse whatever follows, else late."""

from __future__ import annotations

import dataclasses
import datetime as dt
import enum
import json
from collections import OrderedDict, defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Annotated, Any, Generic, Literal, NamedTuple, Optional, TypeVar

import pytest
from pydantic import (
    AfterValidator,
    AliasChoices,
    AliasPath,
    AnyUrl,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    Json,
    PlainValidator,
    RootModel,
    Strict,
    StringConstraints,
    Tag,
    TypeAdapter,
    WrapValidator,
    create_model,
    field_validator,
    model_validator,
)
from pydantic.dataclasses import dataclass as pydantic_dataclass
from pydantic_core import core_schema
from typing_extensions import TypeAliasType, TypedDict

from jsonrill import InvalidSchema, Limits, Parser
from jsonrill.paths import format_path, parse_pattern
from jsonrill.schema import Schema
from jsonrill.schema.validators import PydanticValidator
from support import cuttings
from support.schemas import begun, placed, since_pydantic, validated

from .pydantic_types import Guess, Number, Word, takes

T = TypeVar("T")
SINCE_2_11, SINCE_2_12 = since_pydantic("2.11"), since_pydantic("2.12")
Nothing = TypeAliasType("Nothing", "Nothing | None")  # type: ignore[misc]


class Item(BaseModel):
    id: int
    name: str = Field(default="", max_length=3)
    kind: Literal["book", "boat"] | None = None


class Closed(BaseModel):
    model_config = ConfigDict(extra="forbid")
    id: int
    when: dt.date = dt.date(2000, 1, 1)


class StrictOne(BaseModel):
    model_config = ConfigDict(strict=True)
    i: int = 0
    f: float = 0
    b: bool = False
    d: dt.date | None = None
    t: tuple[int, str] | None = None
    e: Word | None = None
    s: set[int] = set()
    inner: Item | None = None


class Tree(BaseModel):
    name: str
    kids: list[Tree] = []


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: int = 9


class Dog(BaseModel):
    kind: Literal["dog"]
    name: str


class Dot(BaseModel):
    kind: Literal["dot", "dots"]
    size: float


Pet = Annotated[Cat | Dog | Dot, Field(discriminator="kind")]
ByFunction = Annotated[
    Annotated[Cat, Tag("c")] | Annotated[Dog, Tag("d")],
    Discriminator(lambda value: "c" if "lives" in value else "d"),
]


class Named(BaseModel):
    a: int = Field(validation_alias="A")
    b: int = Field(default=0, validation_alias=AliasChoices("B", "bee"))
    c: int = Field(default=0, validation_alias=AliasPath("C", 1))


class ByName(Named):
    model_config = ConfigDict(validate_by_name=True)


class ByNameClosed(Named):
    model_config = ConfigDict(validate_by_name=True, extra="forbid")


class Box(BaseModel, Generic[T]):
    content: T
    count: int


@dataclasses.dataclass
class Point:
    x: int
    y: int = 0
    _: dataclasses.KW_ONLY
    label: str = dataclasses.field(default="", init=False)


@pydantic_dataclass(config=ConfigDict(extra="forbid"))
class ClosedPoint:
    x: int


class Options(TypedDict, total=False):
    limit: int
    deep: Options


class Pair(NamedTuple):
    x: int
    y: str = ""


class Size(RootModel[Annotated[int, Field(le=3)]]):
    pass


def halves(value: Any) -> Any:
    return len(value) if isinstance(value, (str, list)) else value


def even(value: int) -> int:
    if value % 2:
        raise ValueError("odd")
    return value


class Checked(BaseModel):
    before: Annotated[int, BeforeValidator(halves)] = 0
    after: Annotated[int, AfterValidator(even)] = 0
    plain: Annotated[int, PlainValidator(halves)] = 0
    wrapped: Annotated[int, WrapValidator(lambda value, inner: 0)] = 0
    listed: Annotated[list[int], AfterValidator(lambda value: even(len(value)) and value)] = []
    other: int = 0


class Begins(BaseModel):
    a: int

    @model_validator(mode="before")
    @classmethod
    def from_number(cls, value: Any) -> Any:
        return {"a": value} if isinstance(value, int) else value


class Ends(BaseModel):
    low: int
    high: int

    @model_validator(mode="after")
    def in_order(self) -> Ends:
        if self.low > self.high:
            raise ValueError("upside down")
        return self


class Informed(BaseModel):
    a: int
    b: int = 0

    @field_validator("b")
    @classmethod
    def not_a(cls, b: int, info: Any) -> int:
        if b == info.data.get("a"):
            raise ValueError("the same")
        return b


class Dependent(BaseModel):
    a: int
    b: int = 0

    @field_validator("b", mode="before")
    @classmethod
    def after_a(cls, b: Any, info: Any) -> Any:
        if "a" not in (info.data or {}):
            raise ValueError("a comes first")
        return b


class SharedKey(BaseModel):
    model_config = ConfigDict(extra="forbid")
    b: list[int] = Field(validation_alias="A")
    c: int = Field(validation_alias=AliasChoices(AliasPath("k", "a"), "A"))


class OwnInit(BaseModel):
    a: int

    def __init__(self, **fields: Any) -> None:
        super().__init__(a=len(fields))


class Foreign:
    """A class of somebody else, with a core schema of its own."""

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        return core_schema.no_info_plain_validator_function(lambda value: str(value))


def of(type_: Any, **settings: Any) -> type[BaseModel]:
    return create_model("Of", __config__=ConfigDict(**settings), x=(type_, ...))  # type: ignore[typeddict-item]


class Purrs(BaseModel):
    kind: Literal["cat"]
    purr: Annotated[int, Field(ge=0)] = 0


class Barks(BaseModel):
    kind: Literal["dog"]
    bark: Annotated[int, Field(ge=0)] = 0


Vocal = Annotated[Purrs | Barks, Field(discriminator="kind")]


# type, the text up to the character that proves it, the rest, rule, path
EARLIEST: list[Any] = [
    (Item, "[", "]", "model_type", "root"),
    (Item, '{"id":{', "}}", "int_type", "root.id"),
    (Item, '{"id":n', "ull}", "int_type", "root.id"),
    (Item, '{"id":"x"', "}", "int_parsing", "root.id"),
    (Item, '{"id":1.5,', '"a":1}', "int_from_float", "root.id"),
    (Item, '{"id":1,"name":1', "}", "string_type", "root.name"),
    (Item, '{"id":1,"name":"abcd', '"}', "string_too_long", "root.name"),
    (Item, '{"id":1,"kind":"bot', '"}', "literal_error", "root.kind"),
    (Item, '{"id":1,"kind":"boa"', "}", "literal_error", "root.kind"),
    (Item, '{"id":1,"kind":1', "}", "literal_error", "root.kind"),
    (Item, "{}", "", "missing", "root"),
    (list[Item], '[{"id":1},{"name":"a"}', "]", "missing", "root[1]"),
    (Closed, '{"id":1,"why', '":1}', "extra_forbidden", "root"),
    (Closed, '{"when":t', 'rue,"id":1}', "date_type", "root.when"),
    (Closed, '{"when":"2020-13-01"', ',"id":1}', "date_from_datetime_parsing", "root.when"),
    (TypeAdapter(dict[str, list[bool]]), '{"a":[true,"maybe"', "]}", "bool_parsing", "root.a[1]"),
    # strict: every early check
    (StrictOne, '{"i":"', '1"}', "int_type", "root.i"),
    (StrictOne, '{"i":1.', "0}", "int_type", "root.i"),
    (StrictOne, '{"i":1e', "2}", "int_type", "root.i"),
    (StrictOne, '{"i":t', "rue}", "int_type", "root.i"),
    (StrictOne, '{"f":"', '1"}', "float_type", "root.f"),
    (StrictOne, '{"b":1', "}", "bool_type", "root.b"),
    (StrictOne, '{"d":1', "}", "date_type", "root.d"),
    (StrictOne, '{"t":["', '1",""]}', "int_type", "root.t[0]"),
    (StrictOne, '{"e":"rex', '"}', "enum", "root.e"),
    (of(Annotated[int, Strict()]), '{"x":"', '1"}', "int_type", "root.x"),
    (TypeAdapter(list[int], config=ConfigDict(strict=True)), '["', '1"]', "int_type", "root[0]"),
    (of(Number, strict=True), '{"x":"', '1"}', "enum", "root.x"),
    # keys are aliases
    (Named, '{"A":[', "]}", "int_type", "root.A"),
    (Named, '{"a":1}', "", "missing", "root"),
    (Named, '{"A":1,"B":n', "ull}", "int_type", "root.B"),
    pytest.param(ByNameClosed, '{"a":n', "ull}", "int_type", "root.a", marks=SINCE_2_11),
    (ByNameClosed, '{"A":1,"x', '":1}', "extra_forbidden", "root"),
    # arrays and mappings
    (of(Annotated[list[int], Field(max_length=1)]), '{"x":[1,2', "]}", "too_long", "root.x[1]"),
    (of(Annotated[list[int], Field(min_length=1)]), '{"x":[]', "}", "too_short", "root.x"),
    (of(Annotated[set[int], Field(max_length=1)]), '{"x":[1,1,2]', "}", "too_long", "root.x"),
    (of(Annotated[dict[str, int], Field(max_length=1)]), '{"x":{"a":1,"b"', ":1}}", "too_long",
     "root.x.b"),
    (of(tuple[int, str]), '{"x":[1,"",n', "ull]}", "too_long", "root.x[2]"),
    (of(tuple[int, str]), '{"x":[1]', "}", "too_short", "root.x"),
    (of(tuple[int, ...]), '{"x":[1,[', "]]}", "int_type", "root.x[1]"),
    (of(dict[int, Any]), '{"x":{"1":1,"a"', ":1}}", "int_parsing", "root.x.a"),
    (of(dict[Word, Any]), '{"x":{"ab":1,"a"', ":1}}", "enum", "root.x.a"),
    (of(Sequence[int]), '{"x":[n', "ull]}", "int_type", "root.x[0]"),
    pytest.param(of(Mapping[str, int]), '{"x":{"a":n', "ull}}", "int_type", "root.x.a",
                 marks=SINCE_2_12),
    # other types
    (of(Annotated[str, Field(pattern="^a")]), '{"x":"b"', "}", "string_pattern_mismatch", "root.x"),
    (of(Annotated[int, Field(gt=3)]), '{"x":3}', "", "greater_than", "root.x"),
    (of(Decimal), '{"x":"much"', "}", "decimal_parsing", "root.x"),
    (of(Json[int]), '{"x":"{}"', "}", "int_type", "root.x"),
    (of(AnyUrl), '{"x":"nowhere"', "}", "url_parsing", "root.x"),
    (of(Word), '{"x":"rex', '"}', "enum", "root.x"),
    (of(Guess), '{"x":"red"', "}", "enum", "root.x"),
    (of(Literal[1, "one"]), '{"x":"on"', "}", "literal_error", "root.x"),
    (of(Annotated[str, StringConstraints(max_length=2, strip_whitespace=True)]),
     '{"x":"  abc "', "}", "string_too_long", "root.x"),
    (of(str, str_max_length=1), '{"x":"ab', '"}', "string_too_long", "root.x"),
    (of(Optional[Item]), '{"x":1', "}", "model_type", "root.x"),  # noqa: UP045
    (of(int | str), '{"x":[', "]}", "union", "root.x"),
    (of(Point), '{"x":{"x":[', "]}}", "int_type", "root.x.x"),
    (of(Point), '{"x":{"y":1}', "}", "missing", "root.x"),
    (of(ClosedPoint), '{"x":{"y', '":1}}', "unexpected_keyword_argument", "root.x"),
    (of(Options), '{"x":{"deep":{"limit":n', "ull}}}", "int_type", "root.x.deep.limit"),
    (of(Pair), '{"x":["a"]', "}", "int_parsing", "root.x[0]"),
    (of(Size), '{"x":4}', "", "less_than_equal", "root.x"),
    (of(OrderedDict[str, int]), '{"x":{"a":"b"}', "}", "int_parsing", "root.x.a"),
    (of(defaultdict[str, int]), '{"x":{"a":"b"}', "}", "int_parsing", "root.x.a"),
    (of(deque[int]), '{"x":["b"]', "}", "int_parsing", "root.x[0]"),
    (Box[Item], '{"content":{"id":[', "]}}", "int_type", "root.content.id"),
    (Tree, '{"name":"","kids":[{"name":"","kids":[{"name":1', "}]}]}", "string_type",
     "root.kids[0].kids[0].name"),
    # alternatives
    (of(Pet), '{"x":{"kind":"co', 'w"}}', "literal_error", "root.x.kind"),
    (of(Pet), '{"x":{"kind":"do!', '"}}', "union", "root.x.kind"),
    (of(Pet), '{"x":{"kind":"dog","name":1', "}}", "string_type", "root.x.name"),
    pytest.param(of(Pet), '{"x":{"kind":"dot"}', "}", "missing", "root.x", marks=SINCE_2_11),
    (of(Pet), '{"x":{"kind":1', "}}", "union", "root.x.kind"),
    (of(Cat | Dog), '{"x":{"kind":"dog","name":1', "}}", "string_type", "root.x.name"),
    (of(ByFunction), '{"x":{"kind":"co', 'w"}}', "literal_error", "root.x.kind"),
    # an alternative that a member names says why not, although it ended before
    (of(Vocal), '{"x":{"bark":-5,"kind":"d', 'og"}}', "greater_than_equal", "root.x.bark"),
    (of(list[Vocal]), '{"x":[{"bark":"-","kind":"d', 'og"}]}', "int_parsing", "root.x[0].bark"),
    (of(Purrs | Barks), '{"x":{"purr":-5,"kind":"c', 'at"}}', "greater_than_equal", "root.x.purr"),
    (of(Vocal), '{"x":{"bark":-5,"kind":"b', 'ird"}}', "literal_error", "root.x.kind"),
    # your own code: when its value ends
    (Checked, '{"before":{}', "}", "int_type", "root.before"),
    (Checked, '{"before":1.5,', '"a":1}', "int_from_float", "root.before"),
    (Checked, '{"after":[', "]}", "int_type", "root.after"),
    (Checked, '{"after":3,', '"other":1}', "value_error", "root.after"),
    (Checked, '{"listed":[1,n', "ull]}", "int_type", "root.listed[1]"),
    (Checked, '{"listed":[1]', "}", "value_error", "root.listed"),
    (of(Begins), '{"x":{"a":"b"}', "}", "int_parsing", "root.x.a"),
    (of(Begins), '{"x":[]', "}", "model_type", "root.x"),
    (of(Ends), '{"x":{"low":2,"high":1}', ',"y":1}', "value_error", "root.x"),
    (of(Ends), '{"x":{"low":n', "ull}}", "int_type", "root.x.low"),
    (of(Informed), '{"x":{"a":1,"b":1}}', "", "value_error", "root.x.b"),
    (Informed, '{"a":1,"b":1}', "", "value_error", "root.b"),
    (Informed, '{"a":1,"b":n', "ull}", "int_type", "root.b"),
]  # fmt: skip


@pytest.mark.parametrize("type_, proof, rest, rule, path", EARLIEST)
def test_a_violation_is_found_at_the_character_that_proves_it(
    type_: Any, proof: str, rest: str, rule: str, path: str
) -> None:
    text = proof + rest
    read, violation, _ = validated(type_, text)
    assert violation is not None
    assert text[:read] == proof
    assert (violation.rule, format_path(violation.path)) == (rule, path)
    assert begun(type_, proof[:-1]) is None
    assert not takes(type_, text)


@pytest.mark.parametrize("type_, proof, rest, rule, path", EARLIEST)
def test_cutting_does_not_matter(type_: Any, proof: str, rest: str, rule: str, path: str) -> None:
    schema = Schema(type_)
    violations = {
        str(validated(schema, proof + rest, cut).violation) for cut in cuttings(proof + rest)
    }
    assert len(violations) == 1


VALID: list[Any] = [
    (Item, '{"id":"7","name":"abc","kind":null,"more":{}}'),
    (Item, '{"id":true}'),
    (Item, '{"kind":"boat","id":1.0}'),
    (Closed, '{"id":1,"when":"2020-01-01"}'),
    (Closed, '{"id":1,"when":1577836800}'),
    (StrictOne, '{"i":1,"f":1,"d":"2020-01-01","t":[1,"a"],"e":"red","s":[1,1]}'),
    (StrictOne, '{"inner":{"id":"1"}}'),
    (Named, '{"A":1,"a":"anything","bee":2,"C":[0,1]}'),
    (Named, '{"A":1,"bee":"no number","B":2}'),
    pytest.param(ByName, '{"a":1}', marks=SINCE_2_11),
    (ByName, '{"a":"not looked at","A":1}'),
    pytest.param(ByNameClosed, '{"a":1,"bee":1}', marks=SINCE_2_11),
    (SharedKey, '{"A":[1],"k":{"a":1}}'),
    (Dependent, '{"b":"2","a":1}'),
    (of(Dependent), '{"x":{"a":1,"b":2}}'),
    (of(str, coerce_numbers_to_str=True), '{"x":1.5}'),
    (of(Annotated[str, StringConstraints(max_length=2, strip_whitespace=True)]), '{"x":"  ab  "}'),
    (of(Annotated[set[int], Field(max_length=1)]), '{"x":[1,1,1]}'),
    (of(Annotated[dict[int, int], Field(max_length=1)]), '{"x":{"1":1,"01":1}}'),
    (of(Guess), '{"x":"abc"}'),
    (of(Number), '{"x":"1"}'),
    (of(Literal[1]), '{"x":1.0}'),
    (of(tuple[int, str]), '{"x":["1","a"]}'),
    (of(Iterable[int]), '{"x":["not looked at"]}'),
    (of(Any), '{"x":[{"y":null}]}'),
    (of(Foreign), '{"x":{"any":"thing"}}'),
    (of(OwnInit), '{"x":{"b":1,"c":[]}}'),
    (of(Pair), '{"x":{"x":1}}'),
    (of(Pair), '{"x":[1,"a"]}'),
    (of(Point), '{"x":{"x":1,"label":5}}'),
    (of(Options), '{"x":{"deep":{"deep":{}}}}'),
    (of(Size), '{"x":"3"}'),
    (of(Pet), '{"x":{"lives":1,"kind":"cat"}}'),
    (of(Pet), '{"x":{"size":1,"kind":"dots"}}'),
    (of(ByFunction), '{"x":{"kind":"cat","lives":1}}'),
    (of(int | list[int] | None), '{"x":["1"]}'),
    (Checked, '{"before":[1,2],"plain":"abc","wrapped":{"a":1},"after":"2","listed":[]}'),
    (of(Begins), '{"x":5}'),
    (of(list[Begins]), '{"x":[5,{"a":1}]}'),
    (Box[int | None], '{"content":null,"count":1}'),
    (Tree, '{"kids":[{"name":"b"}],"name":"a"}'),
    (of(float), '{"x":1e400}'),
    (of(int), '{"x":123456789012345678901234567890}'),
    (of(Annotated[list[int], Field(max_length=2)]), '{"x":[1,2]}'),
]  # fmt: skip


@pytest.mark.parametrize("type_, text", VALID)
def test_what_pydantic_takes_is_let_pass(type_: Any, text: str) -> None:
    assert takes(type_, text)
    for cut in cuttings(text):
        assert validated(type_, text, cut).violation is None


@pytest.mark.parametrize("type_, text", VALID)
def test_the_model_is_the_one_pydantic_makes(type_: Any, text: str) -> None:
    adapter = TypeAdapter(type_)
    model, expected = validated(type_, text).check.model, adapter.validate_json(text)
    assert type(model) is type(expected)
    if "not looked at" not in text:
        assert model == expected


@pytest.mark.parametrize(
    "type_, text, message",
    [
        (Item, '{"id":[]}', "Input should be a valid integer, not an array"),
        (Item, '{"id":"x"}', "Input should be a valid integer, unable to parse string as an integer"
         ', not "x"'),
        (Item, '{"name":"a"}', '"id" is missing'),
        (StrictOne, '{"i":1.5}',
         "Input should be a valid integer, not a number with a point or an exponent"),
        (of(Ends), '{"x":{"low":2,"high":1}}', "Value error, upside down"),
    ],
)  # fmt: skip
def test_what_a_message_says(type_: Any, text: str, message: str) -> None:
    violation = validated(type_, text).violation
    assert violation is not None
    assert violation.message.partition(f" ({violation.rule}) at character")[0] == message


def test_the_end_names_where_the_value_began() -> None:
    text = '{"x": {"low": 1, "high": 0}}'
    check = Schema(of(Ends)).check()
    for fragment in Parser().feed(text):
        check.feed(fragment)  # the violation is passed over, to see what the validator says
    last = check.close(json.loads(text))
    assert last is not None and placed(last) == (("x",), 6, "value_error")
    missing = Schema(of(Item)).check().close({"x": {}})
    assert missing is not None and (missing.path, missing.rule) == (("x",), "missing")


def test_a_validator_function_runs_when_its_value_ends_and_at_the_very_end() -> None:
    calls: list[Any] = []

    def seen(value: Any) -> Any:
        calls.append(value)
        return value

    model = of(Annotated[str, BeforeValidator(seen)])
    schema = Schema(model)
    assert calls == []
    assert begun(schema, '{"x":"a') is None and calls == []
    assert begun(schema, '{"x":"ab"') is None and calls == ["ab"]
    assert validated(schema, '{"x":"ab"}').violation is None and calls == ["ab"] * 3


def test_validating_nested_containers_does_not_add_up() -> None:
    calls = 0

    class Nest(BaseModel):
        inner: Nest | None = None

        @model_validator(mode="after")
        def count(self) -> Nest:
            nonlocal calls
            calls += 1
            return self

    depth = 100
    text = '{"inner":' * depth + "null" + "}" * depth
    assert validated(Nest, text).violation is None
    assert calls < 5 * depth


def test_a_function_that_looks_around_runs_at_the_end_only() -> None:
    schema = Schema(Informed)
    assert begun(schema, '{"a":1,"b":1,') is None
    assert validated(schema, '{"a":1,"b":1}').violation is not None
    assert validated(schema, '{"a":1,"b":2}').violation is None


def test_an_error_in_a_validator_function_is_its_verdict_at_the_end() -> None:
    def broken(value: Any) -> Any:
        raise KeyError("nothing \ud800 here")

    schema = Schema(of(Annotated[int, BeforeValidator(broken)]))
    assert begun(schema, '{"x":1,') is None
    violation = validated(schema, '{"x":1}').violation
    assert violation is not None and violation.rule == "KeyError"
    violation.message.encode()


def test_on_error_another_value_is_no_violation() -> None:
    inner = core_schema.with_default_schema(core_schema.int_schema(), default=1, on_error="default")

    assert validated(of(given_core(inner)), '{"x":{"a":1}}').violation is None


def given_core(core: Any) -> Any:
    """A type with this core schema."""

    class Given:
        @classmethod
        def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
            return core

    return Given


@pytest.mark.parametrize(
    "core, right, wrong",
    [
        (core_schema.chain_schema([core_schema.str_schema(), core_schema.int_schema()]),
         ['"1"'], ["1", '"x"', "[]"]),
        (core_schema.list_schema(), ["[1]"], ["1"]),
        (core_schema.dict_schema(), ['{"a":[]}'], ["[]"]),
        (core_schema.tuple_schema([core_schema.int_schema(), core_schema.with_default_schema(
            core_schema.int_schema(), default=1)]), ["[1,2]"], ["[]", "[1,2,3]", '[1,"x"]']),
        (core_schema.tuple_schema([core_schema.int_schema(), core_schema.str_schema(),
            core_schema.bool_schema()], variadic_item_index=1),
         ["[1,true]", '[1,"a","b",false]'], ["[[]]", '[1,"a"]', "[1]"]),
        (core_schema.dict_schema(core_schema.with_info_before_validator_function(
            lambda value, info: value, core_schema.int_schema())), ['{"1":1}'], ['{"x":1}']),
        (core_schema.json_schema(core_schema.with_info_before_validator_function(
            lambda value, info: value, core_schema.int_schema())), ['"1"'], ['"x"', "1", "[1]"]),
        (core_schema.str_schema(strip_whitespace=True, max_length=1), ['" a "'], ['" ab"']),
        (core_schema.lax_or_strict_schema(core_schema.int_schema(), core_schema.none_schema()),
         ['"1"'], ["null"]),
        (core_schema.custom_error_schema(core_schema.int_schema(), "a", custom_error_message="b"),
         ["1"], ['"x"', "[]"]),
    ],
)  # fmt: skip
def test_core_schemas_of_all_sorts(core: Any, right: list[str], wrong: list[str]) -> None:
    model = of(given_core(core))
    for text in right + wrong:
        whole = f'{{"x":{text}}}'
        assert takes(model, whole) == (text in right)
        assert (validated(model, whole).violation is None) == (text in right)


def test_extra_keys_may_have_a_type() -> None:
    class Extra(BaseModel):
        model_config = ConfigDict(extra="allow")
        __pydantic_extra__: dict[str, int] = Field(init=False)
        a: str = ""

    assert validated(Extra, '{"a":"x","b":"1"}').violation is None
    assert begun(Extra, '{"b":[') is not None
    assert validated(Extra, '{"b":"x"}').violation is not None


def test_numbers_for_texts() -> None:
    for type_ in (Word, Literal["1"], Annotated[str, Field(max_length=1)], str):
        for text in ("1", "1.5", '"1"', '"red"', "true"):
            model, whole = of(type_, coerce_numbers_to_str=True), f'{{"x":{text}}}'
            assert (validated(model, whole).violation is None) == takes(model, whole)


def test_a_recursive_type_that_may_be_missing() -> None:
    class Loop(BaseModel):
        inner: Annotated[Optional[Loop], AfterValidator(lambda value: value)]  # noqa: UP045
        root: RootModel[int] = RootModel[int](1)

    assert validated(Loop, '{"inner":{"inner":null}}').violation is None
    assert validated(Loop, '{"inner":{}}').violation is not None
    assert begun(Loop, '{"inner":{"inner":1') is not None


def test_an_alias_of_itself() -> None:
    class Endless(BaseModel):
        x: Nothing

    assert validated(Endless, '{"x":null}').violation is None
    assert validated(Endless, "{}").violation is not None


def test_a_part_that_cannot_be_asked_alone() -> None:
    def fails() -> Any:
        raise TypeError("no validator")

    judge = PydanticValidator(fails)
    assert not judge.is_usable()
    assert judge.sample(1) is None and judge.refusal(1) is None
    refusal, model = judge.final(1)
    assert refusal is not None and refusal.rule == "TypeError" and model is None


def test_a_value_that_pydantic_alone_can_show() -> None:
    violation = Schema(of(Annotated[Decimal, Field(lt=1)])).check().close({"x": Decimal("1.5")})
    assert violation is not None and ", not 1.5 (less_than)" in violation.message


@pytest.mark.parametrize(
    "settings", [{}, {"coerce_numbers_to_str": True}, {"str_strip_whitespace": True}]
)
def test_a_type_without_a_configuration_is_taken_leniently(settings: dict[str, Any]) -> None:
    short = core_schema.str_schema(max_length=2, min_length=2)
    fields = {"a": core_schema.typed_dict_field(short, required=False)}
    model = of(given_core(core_schema.typed_dict_schema(fields)), **settings)
    mapping = core_schema.dict_schema(short, core_schema.literal_schema(["a"]))
    other = of(
        given_core(core_schema.typed_dict_schema({"a": core_schema.typed_dict_field(mapping)}))
    )
    for text in ('{"a":55}', '{"a":" b"}', '{"a":"  bb"}', '{"a":"b","c":1}', "[]", '{"c":1}'):
        whole = f'{{"x":{text}}}'
        assert (validated(model, whole).violation is None) == takes(model, whole)
    for text in ('{"a":{"bb":"a"}}', '{"a":{"b":"a"}}', '{"a":{"bb":"b"}}'):
        whole = f'{{"x":{text}}}'
        assert (validated(other, whole).violation is None) == takes(other, whole)


def test_an_adapter_that_hides_its_configuration() -> None:
    adapter: TypeAdapter[Any] = TypeAdapter(
        list[str], config=ConfigDict(coerce_numbers_to_str=True)
    )
    vars(adapter).pop("_config")
    assert validated(adapter, "[1]").violation is None
    assert validated(adapter, "[[]]").violation is not None
    assert begun(adapter, "{") is not None


def test_lone_surrogates_get_pydantics_verdict() -> None:
    text = '{"x":"\\ud800"}'
    assert not takes(of(str), text)
    violation = validated(of(str), text).violation
    assert violation is not None
    violation.message.encode()


def test_deep_values_are_refused_and_never_crash() -> None:
    schema = Schema(list[Any])
    for depth in (400, 3000):
        parser, check = Parser(limits=Limits(depth=5000)), schema.check()
        text = "[" * depth + "]" * depth
        assert not any(check.feed(one) for one in parser.feed(text))
        value: Any = []
        for _ in range(depth - 1):
            value = [value]
        violation = check.close(value)
        assert (violation is None) == (depth == 400 and takes(list[Any], text))


def test_a_deep_value_that_was_not_fed_is_refused() -> None:
    deep: Any = []
    for _ in range(5000):
        deep = [deep]
    violation = Schema(list[Any]).check().close(deep)
    assert violation is not None and violation.rule == "depth"


def test_numbers_of_another_kind_can_be_validated() -> None:
    check = Schema(of(Decimal)).check()
    assert check.close({"x": Decimal("1.10")}) is None
    assert str(check.model.x) == "1.10"


@pytest.mark.parametrize("type_", [object(), list["Nowhere"], lambda: 0, Box["Nowhere"]])  # type: ignore[name-defined]  # noqa: F821
def test_what_pydantic_does_not_take_is_a_value_error(type_: Any) -> None:
    if callable(type_) and not isinstance(type_, type):
        type_ = set[list[object()]]  # type: ignore[misc]
    with pytest.raises(ValueError, match="pydantic takes no such type"):
        Schema(type_)


@pytest.mark.parametrize(
    "type_, right, wrong",
    [
        (list[Item], '{"id":1}', '{"id":['),
        (TypeAdapter(list[Item]), '{"id":1}', '{"id":['),
        (Optional[list[Item]], '{"id":1}', '{"id":['),  # noqa: UP045
        (tuple[Item, ...], '{"id":1}', '{"id":['),
        (set[int], "1", "["),
        (tuple[int, Item], '{"id":1}', "["),
        (RootModel[list[Item]], '{"id":1}', '{"id":['),
        (Annotated[list[Item], BeforeValidator(halves)], '{"id":1}', '{"id":['),
        (list[Pet], '{"kind":"cat"}', '{"kind":"cow'),
        (list[Tree], '{"name":""}', '{"name":1'),
        (Item, None, None),
        (int, None, None),
        (Any, None, None),
        (dict[str, int], None, None),
        (list, "1", None),
        (list[int] | int, None, None),
        (Annotated[list[int], PlainValidator(halves)], None, None),
    ],
)
def test_the_items_of_an_array(type_: Any, right: str | None, wrong: str | None) -> None:
    items = Schema(type_).items()
    assert (items is None) == (right is None)
    if items is not None and right is not None:
        assert validated(items, right).violation is None
        assert wrong is None or begun(items, wrong) is not None


def test_items_have_their_own_models() -> None:
    items = Schema(list[Item]).items()
    assert items is not None
    assert validated(items, '{"id":"1"}').check.model == Item(id=1)


class Plan(BaseModel):
    model_config = ConfigDict(validate_by_name=True)
    days: list[dict[str, list[Tree]]] = Field(validation_alias="Days")
    title: str | None = None
    pair: tuple[int, str] = (0, "")
    begins: Begins | None = None
    pet: Pet | None = None
    checked: Checked | None = None


@pytest.mark.parametrize(
    "pattern, right, wrong",
    [
        ("root", '{"Days":[]}', '{"Days":{'),
        ("Days", "[]", "{"),
        ("Days[*]", '{"a":[]}', '{"a":{'),
        ("Days[*].*[*]", '{"name":""}', '{"name":1'),
        ("Days[*].a[0].kids[*].name", '""', "1"),
        ("title", "null", "1"),
        ("pair[0]", "1", "["),
        ("pair[1]", '""', "1"),
        ("pair[*]", '"a"', "["),
        ("checked.after", "2", "["),
        ("days", None, None),
        ("begins.a", None, None),
        ("pet.kind", None, None),
        ("nothing", None, None),
        ("pair[2]", None, None),
    ],
)
def test_the_part_at_a_path(pattern: str, right: str | None, wrong: str | None) -> None:
    part = Schema(Plan).at(parse_pattern(pattern))
    if pattern == "pet.kind":
        assert part is not None and begun(part, '"cow') is not None
        return
    assert (part is None) == (right is None)
    if part is not None and right is not None and wrong is not None:
        assert validated(part, right).violation is None
        assert begun(part, wrong) is not None


@pytest.mark.parametrize(
    "path, zero",
    [
        ((), (True, {})),
        (("Days",), (True, [])),
        (("Days", 0, "a", 0, "name"), (True, "")),
        (("title",), (True, None)),
        (("pair", 0), (True, 0)),
        (("pair", 1), (True, "")),
        (("begins", "a"), (True, 0)),
        (("checked", "before"), (True, 0)),
        (("checked", "plain"), (False, None)),
        (("pet", "kind"), (True, "")),
        (("nothing",), (False, None)),
    ],
)
def test_zero_values(path: Any, zero: Any) -> None:
    assert Schema(Plan).zero(path) == zero


@pytest.mark.parametrize(
    "type_, zero",
    [
        (str, ""),
        (int, 0),
        (float, 0),
        (bool, False),
        (dt.date, ""),
        (Word, ""),
        (Number, 0),
        (Literal["a"], ""),
        (list[int], []),
        (Item, {}),
        (Point, {}),
        (Options, {}),
        (Size, 0),
        (None, None),
        (int | None, None),
        (Annotated[int, BeforeValidator(halves)], 0),
        (Annotated[int, AfterValidator(even)], 0),
    ],
)
def test_zero_values_of_types(type_: Any, zero: Any) -> None:
    known_and_zero = Schema(type_).zero(())
    assert known_and_zero == (True, zero) and type(known_and_zero[1]) is type(zero)


@pytest.mark.parametrize("type_", [Any, int | str, Decimal, Foreign])
def test_types_without_a_zero_value(type_: Any) -> None:
    assert Schema(type_).zero(()) == (False, None)


def test_an_unfinished_class_is_refused() -> None:
    class Unfinished(BaseModel):
        other: NotYet  # type: ignore[name-defined]  # noqa: F821

    with pytest.raises(ValueError, match="pydantic takes no such type"):
        Schema(Unfinished)


def test_enums_with_every_sort_of_value() -> None:
    class Odd(enum.Enum):
        PAIR = (1, 2)
        TEXT = "text"

    class Bits(enum.IntFlag):
        A = 1
        B = 2

    for type_, texts in (
        (Odd, ('"text"', '"tex"', "[1,2]", "1", "{}")),
        (Bits, ("1", "3", "8", '"1"', "[]")),
        (Literal[b"x", 1], ('"x"', "1", "[]")),
        (Literal[Word.RED], ('"red"', '"re"', "1")),
    ):
        for text in texts:
            whole = f'{{"x":{text}}}'
            assert (validated(of(type_), whole).violation is None) == takes(of(type_), whole)


def test_a_complete_value_is_typed_or_refused_with_its_path() -> None:
    """What `select` and others use for values that are complete already."""
    schema = Schema(list[dt.date])
    assert schema.typed(["2024-05-01"]) == [dt.date(2024, 5, 1)]
    with pytest.raises(InvalidSchema, match=r"in root\.days\[1\]") as caught:
        schema.typed(["2024-05-01", "x"], ("days",))
    where: Any = caught.value.path, caught.value.offset
    assert where == (("days", 1), None)
    plain = {"type": "integer"}
    assert Schema(plain).typed(5) == 5
    with pytest.raises(InvalidSchema, match="at character 7, in root.n"):
        Schema(plain).typed("5", ("n",), 7)
