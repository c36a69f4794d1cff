"""A type checker accepts this program; a comment is the type that it reveals."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing, closing
from dataclasses import dataclass
from typing import reveal_type

from pydantic import BaseModel, TypeAdapter
from typing_extensions import TypedDict

import jsonrill


class Trip(BaseModel):
    title: str


class Words(TypedDict):
    first: str


@dataclass
class Point:
    x: int


EITHER: TypeAdapter[Trip | Point] = TypeAdapter(Trip | Point)


async def pieces() -> AsyncIterator[str]:
    yield "{}"


def events() -> list[object]:
    return []


reveal_type(jsonrill.values("{}"))  # Generator[Any]
reveal_type(jsonrill.values(["{", "}"], live=True, repair=True))  # Generator[Any]
reveal_type(jsonrill.values(pieces(), repair=["around"], many=True))  # AsyncGenerator[Any]
reveal_type(jsonrill.fragments("{}", repair=True))  # Generator[Fragment]
reveal_type(jsonrill.fragments(pieces()))  # AsyncGenerator[Fragment]
reveal_type(jsonrill.updates("{}"))  # Generator[Update[Any]]
reveal_type(jsonrill.updates("{}", "REALTIME", entity="days[*]"))  # Generator[Update[Any]]
reveal_type(jsonrill.updates(pieces(), mode="BATCH", every=0.1))  # AsyncGenerator[Update[Any]]
reveal_type(jsonrill.chunks([{}], null="placeholder", eager=True))  # Generator[str]
reveal_type(jsonrill.tool_calls(events(), schemas={"f": {}}))  # Generator[ToolCallUpdate]
reveal_type(jsonrill.text("{}", "answer"))  # Generator[str]
reveal_type(jsonrill.text(pieces(), "answer", tool="write"))  # AsyncGenerator[str]
reveal_type(jsonrill.select("{}", "results", int))  # Generator[int]
reveal_type(jsonrill.select(pieces(), "results", schema=int, repair=True))  # AsyncGenerator[int]
reveal_type(jsonrill.select(pieces(), "results", {"type": "object"}))  # AsyncGenerator[Any]
reveal_type(jsonrill.PartialStream("ONE-BY-ONE").feed("{}"))  # list[Update[Any]]
reveal_type(jsonrill.Chunker(on_revision="keep").feed({}))  # str
reveal_type(jsonrill.values("{}", Trip))  # Generator[Trip]
reveal_type(jsonrill.values(pieces(), Trip, repair=True))  # AsyncGenerator[Trip]
reveal_type(jsonrill.values(events(), schema=Point))  # Generator[Point]
reveal_type(jsonrill.values("{}", Words))  # Generator[Words]
reveal_type(jsonrill.values("[]", list[Trip]))  # Generator[list[Trip]]
reveal_type(jsonrill.values("[]", dict[str, Trip], tool="plan"))  # Generator[dict[str, Trip]]
reveal_type(jsonrill.values("{}", EITHER))  # Generator[Trip | Point]
reveal_type(jsonrill.fields("{}", Trip))  # Generator[tuple[str, object]]
reveal_type(jsonrill.fields(pieces(), Trip))  # AsyncGenerator[tuple[str, object]]
reveal_type(jsonrill.updates("{}", schema=Trip))  # Generator[Update[Trip]]
reveal_type(next(jsonrill.updates("{}", schema=Trip)).model)  # Trip | None
reveal_type(next(jsonrill.updates("{}")).completed)  # list[tuple[str | int, ...]]
reveal_type(next(jsonrill.values("{}", Trip)).title)  # str
reveal_type(jsonrill.partial("{", Trip, missing="zero"))  # Trip | None
reveal_type(jsonrill.values(events(), Trip, answer=jsonrill.Answer()))  # Generator[Trip]
reveal_type(jsonrill.Answer().finish)  # str | None
reveal_type(jsonrill.updates(pieces(), schema=Point))  # AsyncGenerator[Update[Point]]


def closes(source: AsyncIterator[str]) -> None:
    aclosing(jsonrill.values(source, Trip))
    aclosing(jsonrill.updates(source))
    aclosing(jsonrill.select(source, "a"))
    aclosing(jsonrill.parts(source))
    aclosing(jsonrill.run_tools(source, {}))
    closing(jsonrill.values("{}"))


for part in jsonrill.parts(events()):
    if part.call is not None:
        reveal_type(part.call)  # ToolCall

for update in jsonrill.tool_calls(events()):
    if isinstance(args := update.call.args, dict):
        reveal_type(args)  # dict[Any, Any]
    if update.call.error is not None:
        reveal_type(update.call.error["message"])  # str

for change in jsonrill.updates("{}"):
    if change.error is not None:
        reveal_type(change.error["code"])  # str
        reveal_type(change.error.get("offset"))  # int | None

try:
    list(jsonrill.values("{}", Trip))
except jsonrill.InvalidJSON as error:
    reveal_type(error.text)  # str | None
    reveal_type(error.value)  # object
    if isinstance(error.value, Trip):
        reveal_type(error.value.title)  # str
    reveal_type(error.to_dict()["message"])  # str
