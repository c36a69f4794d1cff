"""A type checker accepts this program; a comment is the type that it reveals."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from decimal import Decimal
from typing import reveal_type

from pydantic import BaseModel, TypeAdapter
from typing_extensions import TypedDict

import jsonrill
import jsonrill_server


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


reveal_type(jsonrill.values("{}"))  # Iterator[Any]
reveal_type(jsonrill.values(["{", "}"], live=True, repair=True))  # Iterator[Any]
reveal_type(jsonrill.values(pieces(), repair=["fences"], many=True))  # AsyncIterator[Any]
reveal_type(jsonrill.values(b"{}", parse_float=Decimal))  # Iterator[Any]
reveal_type(jsonrill.fragments("{}", duplicates="error"))  # Iterator[Fragment]
reveal_type(jsonrill.fragments(pieces()))  # AsyncIterator[Fragment]
reveal_type(jsonrill.updates("{}"))  # Iterator[Update[Any]]
reveal_type(jsonrill.updates("{}", "REALTIME", entity="days[*]"))  # Iterator[Update[Any]]
reveal_type(jsonrill.updates(pieces(), mode="BATCH", every=0.1))  # AsyncIterator[Update[Any]]
reveal_type(jsonrill.updates("{}", schema={}, send="both"))  # Iterator[Update[Any]]
reveal_type(jsonrill.chunks([{}], null="placeholder", patience=2))  # Iterator[str]
reveal_type(jsonrill.tool_calls(events(), provider="auto"))  # Iterator[ToolCallUpdate]
reveal_type(jsonrill.tool_calls(events(), schemas={"f": {}}))  # Iterator[ToolCallUpdate]
reveal_type(jsonrill.text("{}", "answer"))  # Iterator[str]
reveal_type(jsonrill.text(pieces(), "answer", tool="write"))  # AsyncIterator[str]
reveal_type(jsonrill.texts("{}", "a", "b[*]"))  # Iterator[tuple[tuple[str | int, ...], str]]
reveal_type(jsonrill.select("{}", "results"))  # Iterator[Any]
reveal_type(jsonrill.select("{}", "results", int))  # Iterator[int]
reveal_type(jsonrill.select(pieces(), "results", schema=int, repair=True))  # AsyncIterator[int]
reveal_type(jsonrill.select(pieces(), "results", {"type": "object"}))  # AsyncIterator[Any]
reveal_type(jsonrill.PartialStream("ONE-BY-ONE").feed("{}"))  # list[Update[Any]]
reveal_type(jsonrill.Chunker(on_revision="keep").feed({}))  # str
reveal_type(jsonrill.values("{}", Trip))  # Iterator[Trip]
reveal_type(jsonrill.values(pieces(), Trip, repair=True))  # AsyncIterator[Trip]
reveal_type(jsonrill.values(events(), schema=Point))  # Iterator[Point]
reveal_type(jsonrill.values("{}", Words))  # Iterator[Words]
reveal_type(jsonrill.values("[]", list[Trip]))  # Iterator[list[Trip]]
reveal_type(jsonrill.values("[]", dict[str, Trip], tool="plan"))  # Iterator[dict[str, Trip]]
reveal_type(jsonrill.values("{}", EITHER))  # Iterator[Trip | Point]
reveal_type(jsonrill.values("{}", {"type": "object"}))  # Iterator[Any]
reveal_type(jsonrill.fields("{}", Trip))  # Iterator[tuple[str, Any]]
reveal_type(jsonrill.fields(pieces(), Trip))  # AsyncIterator[tuple[str, Any]]
reveal_type(jsonrill.updates("{}", schema=Trip))  # Iterator[Update[Trip]]
reveal_type(next(jsonrill.updates("{}", schema=Trip)).model)  # Trip | None
reveal_type(next(jsonrill.updates("{}")).completed)  # list[tuple[str | int, ...]]
reveal_type(next(jsonrill.values("{}", Trip)).title)  # str
reveal_type(jsonrill.is_partial(5))  # bool
reveal_type(jsonrill.updates(pieces(), schema=Point))  # AsyncIterator[Update[Point]]

client = jsonrill_server.Client("http://localhost")
later = jsonrill_server.AsyncClient("http://localhost")
reveal_type(client.create(entity="days", lease=5))  # str
reveal_type(client.read("s", mode="REALTIME"))  # Iterator[Update[Any]]
reveal_type(client.read("s", "fragments"))  # Iterator[Fragment]
reveal_type(client.read("s", "chunks", after="3"))  # Iterator[str]
reveal_type(client.read("s", "calls"))  # Iterator[ToolCallUpdate]
reveal_type(client.read("s", "openai"))  # Iterator[dict[str, Any]]
reveal_type(client.values("s", Trip))  # Iterator[Trip]
reveal_type(client.status("s").last)  # int
reveal_type(later.values("s", Trip))  # AsyncIterator[Trip]
reveal_type(later.read("s", "raw"))  # AsyncIterator[Any]
