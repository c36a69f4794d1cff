"""Models are read without `model_dump`, and come out as it would have written them."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Annotated, Any

import pytest
from openai.types.chat import ChatCompletionChunk
from openai.types.responses import ResponseTextDeltaEvent
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PlainSerializer,
    RootModel,
    computed_field,
    field_serializer,
    model_serializer,
)

from jsonrill.providers.models import OwnWay, read_model
from jsonrill.providers.objects import plain


class Inner(BaseModel):
    model_config = ConfigDict(extra="allow")

    text: str = "default"
    parts: list[Inner] = []
    members: dict[str, Any] = {}


class Named(BaseModel):
    model_config = ConfigDict(populate_by_name=True)

    tool_call: str = Field(default="", alias="toolCall")
    done: bool = Field(default=False, serialization_alias="isDone")
    inner: Inner | None = None


class Colour(Enum):
    RED = "red"


class Subclass(str):
    pass


class WithEnum(BaseModel):
    colour: Colour = Colour.RED


class Counted(BaseModel):
    a: int = 1

    @computed_field  # type: ignore[prop-decorator]
    @property
    def twice(self) -> int:
        return 2 * self.a


class Loud(BaseModel):
    a: str = "x"

    @field_serializer("a")
    def _loud(self, value: str) -> str:
        return value.upper()


class Whole(BaseModel):
    a: str = "x"

    @model_serializer
    def _whole(self) -> dict[str, Any]:
        return {"b": self.a}


class Annotating(BaseModel):
    a: Annotated[str, PlainSerializer(lambda value: value * 2)] = "x"


class Hidden(BaseModel):
    a: str = "x"
    b: str = Field(default="y", exclude=True)


class Items(RootModel[list[int]]):
    pass


class Dumping(BaseModel):
    a: str = "x"

    def model_dump(self, **options: Any) -> dict[str, Any]:
        return {"own": self.a}


CHUNK = {
    "id": "c",
    "object": "chat.completion.chunk",
    "created": 1,
    "model": "m",
    "choices": [
        {
            "index": 0,
            "delta": {
                "tool_calls": [
                    {"index": 0, "id": "a", "function": {"arguments": '{"a', "name": "f"}}
                ]
            },
            "finish_reason": None,
            "unknown": {"of": ["a", {"newer": 1.5}]},
        }
    ],
}
TEXT = {
    "type": "response.output_text.delta",
    "delta": "a",
    "item_id": "i",
    "output_index": 0,
    "content_index": 0,
    "sequence_number": 3,
    "logprobs": [],
}

AS_DUMPED: dict[str, Callable[[], BaseModel]] = {
    "chunk": lambda: ChatCompletionChunk.construct(**CHUNK),  # type: ignore[arg-type]
    "validated chunk": lambda: ChatCompletionChunk.model_validate(CHUNK),
    "response event": lambda: ResponseTextDeltaEvent.construct(**TEXT),  # type: ignore[arg-type]
    "nothing set": lambda: Inner(),
    "extra fields": lambda: Inner(  # type: ignore[call-arg]
        text="a", more=[{"b": None}], inner=Inner(members={"a": Inner()})
    ),
    "aliases": lambda: Named(  # type: ignore[call-arg]
        tool_call="a", done=True, inner=Inner(parts=[Inner(text="b")])
    ),
    "by alias": lambda: Named.model_validate({"toolCall": "a"}),
}
OWN_WAY: dict[str, Callable[[], BaseModel]] = {
    "enum": lambda: WithEnum(colour=Colour.RED),
    "subclass": lambda: Inner(members={"a": Subclass("a")}),
    "computed": lambda: Counted(a=3),
    "field serializer": lambda: Loud(a="b"),
    "model serializer": lambda: Whole(a="b"),
    "annotated serializer": lambda: Annotating(a="b"),
    "excluded": lambda: Hidden(a="b", b="c"),
    "own model_dump": lambda: Dumping(a="b"),
    "in a list": lambda: Inner(members={"a": [Loud(a="b")]}),
}


def dumped(model: BaseModel) -> Any:
    return model.model_dump(by_alias=True, exclude_unset=True, warnings=False)


@pytest.mark.parametrize("name", AS_DUMPED)
def test_fields_are_read_as_model_dump_writes_them(name: str) -> None:
    model = AS_DUMPED[name]()
    assert read_model(model, ()) == dumped(model)
    assert plain(model) == dumped(model)


@pytest.mark.parametrize("name", OWN_WAY)
def test_what_writes_itself_is_left_to_model_dump(name: str) -> None:
    model = OWN_WAY[name]()
    with pytest.raises(OwnWay):
        read_model(model, ())
    assert plain(model) == dumped(model)


def test_a_root_model_is_left_to_model_dump() -> None:
    with pytest.raises(OwnWay):
        read_model(Items([1, 2]), ())


def test_a_field_that_is_left_out_is_not_read() -> None:
    model = Inner(text="a", snapshot=object())  # type: ignore[call-arg]
    assert read_model(model, {"snapshot"}) == {"text": "a"}


def test_a_model_that_holds_itself_ends() -> None:
    model = Inner(text="a")
    model.parts = [model]
    with pytest.raises(OwnWay):
        read_model(model, ())
    assert plain(model) is None
