"""What a stream is made with, and how a reader wants to see it. Read from JSON and from queries.

Both are checked when they arrive: `rendering()` of an accepted pair never fails later.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Final, Literal, get_args

from .records import Input

Format = Literal["updates", "fragments", "chunks", "calls", "raw", "openai", "ai-sdk", "ag-ui"]
FORMATS: Final[tuple[str, ...]] = get_args(Format)
INPUTS: Final[tuple[str, ...]] = get_args(Input)
MODES: Final = ("BATCH", "ALL-TOGETHER", "ONE-BY-ONE", "PROGRESSIVE", "REALTIME")
SENDS: Final = ("data", "delta", "both")
WIRES: Final = ("full", "compact")


class BadOption(ValueError):
    """An option that is unknown, or has a value that it cannot have."""


@dataclass(frozen=True, slots=True)
class StreamOptions:
    """Kept with the stream. `lease` is how long it may be silent before its producer is lost."""

    input: Input = "text"
    entity: Any = None
    schema: Any = None
    document_schema: Any = None
    schemas: Any = None
    provider: str = "auto"
    repair: Any = False
    many: bool = False
    duplicates: str = "last"
    partial_numbers: bool = True
    early_literals: bool = False
    zero_values: bool = False
    eager: bool = False
    null: str = "value"
    on_revision: str = "raise"
    patience: int = 1
    mode: str = "REALTIME"
    send: str = "data"
    lease: float | None = None

    @classmethod
    def from_json(cls, given: Any) -> StreamOptions:
        if not isinstance(given, dict):
            raise BadOption("the options are a JSON object")
        known = {field.name: field for field in fields(cls)}
        if unknown := sorted(given.keys() - known.keys()):
            raise BadOption(f"unknown option: {', '.join(unknown[:5])}")
        options = cls(**given)
        options._check()
        return options

    def _check(self) -> None:
        _one_of("input", self.input, INPUTS)
        for name in ("many", "partial_numbers", "early_literals", "zero_values", "eager"):
            if not isinstance(getattr(self, name), bool):
                raise BadOption(f"{name} is true or false")
        if self.lease is not None and not (_is_number(self.lease) and 1 <= self.lease <= 86_400):
            raise BadOption("lease is a number of seconds from 1 to 86400")
        if type(self.patience) is not int or not 1 <= self.patience <= 1000:
            raise BadOption("patience is a whole number from 1 to 1000")
        if not isinstance(self.provider, str):
            raise BadOption("provider is a name")
        if not isinstance(self.schemas, dict | None):
            raise BadOption("schemas maps names of tools to JSON Schemas")
        _one_of("duplicates", self.duplicates, ("last", "error"))

    def to_bytes(self) -> bytes:
        return json.dumps(asdict(self)).encode()

    @classmethod
    def from_bytes(cls, data: bytes) -> StreamOptions:
        return cls(**json.loads(data))


@dataclass(frozen=True, slots=True)
class ViewOptions:
    """How one reader sees a stream: format and mode, and what may be put together.

    `fragments` adds them to dialects that have room for more than their own fields.
    `every` (milliseconds) and `size` (characters) coalesce: events wait until either is reached.
    """

    format: Format = "updates"
    mode: str = "REALTIME"
    send: str = "data"
    wire: str = "full"
    entity: str | None = None
    fragments: bool = False
    every: int = 0
    size: int = 0
    thread: str = ""
    run: str = ""

    @classmethod
    def from_query(cls, query: Mapping[str, str], stream: StreamOptions) -> ViewOptions:
        known = {"format", "mode", "send", "wire", "entity", "fragments"}
        known |= {"every", "size", "after", "ticket"}
        if unknown := sorted(query.keys() - known):
            raise BadOption(f"unknown parameter: {', '.join(unknown[:5])}")
        default: Format = "calls" if stream.input == "events" else "updates"
        options = cls(
            format=query.get("format", default),  # type: ignore[arg-type]
            mode=query.get("mode", stream.mode),
            send=query.get("send", stream.send),
            wire=query.get("wire", "full"),
            entity=query.get("entity"),
            fragments=bool(_number("fragments", query.get("fragments", "0"), 1)),
            every=_number("every", query.get("every", "0"), 60_000),
            size=_number("size", query.get("size", "0"), 1 << 20),
        )
        return options.checked()

    def checked(self) -> ViewOptions:
        _one_of("format", self.format, FORMATS)
        mode = str(self.mode).upper().replace("_", "-")
        _one_of("mode", mode, MODES)
        _one_of("send", self.send, SENDS)
        _one_of("wire", self.wire, WIRES)
        return replace(self, mode=mode)


def _one_of(name: str, value: Any, choices: tuple[str, ...]) -> None:
    if not isinstance(value, str) or value not in choices:
        raise BadOption(f"{name} is one of {', '.join(choices)}")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _number(name: str, text: str, most: int) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 10 and int(text) <= most):
        raise BadOption(f"{name} is a whole number up to {most}")
    return int(text)
