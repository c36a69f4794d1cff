"""Options of a stream, which its creator sets, and the few that a reader may choose."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal, get_args

from pydantic import BeforeValidator, ConfigDict, Field, TypeAdapter, ValidationError, with_config
from typing_extensions import TypedDict

from jsonrill import Chunker, Document, PartialStream, ToolCalls
from jsonrill.errors import JsonrillError

from .records import Input

log = logging.getLogger("jsonrill_server")
Format = Literal[
    "updates", "fragments", "text", "deltas", "calls", "parts", "raw", "ai-sdk", "ag-ui"
]
FORMATS: Final = get_args(Format)
Send = Literal["data", "delta", "both"]
SCHEMA_BYTES: Final = 64 << 10
# The options that each stage takes.
STAGES: Final = {
    "document": ("repair", "prefix"),
    "updates": (
        *("mode", "entity", "schema", "send", "repair", "prefix"),
        *("partial_numbers", "early_literals", "zero_values", "only_complete"),
    ),
    "text": ("eager", "null", "on_revision", "numbers"),
    "calls": ("provider", "schemas", "repair"),
}
# The options of updates that need one of these modes.
_MODE_OPTIONS: Final = {
    "PROGRESSIVE": ("zero_values", "only_complete"),
    "REALTIME": ("partial_numbers", "early_literals", "zero_values", "only_complete"),
}


def _spelled(mode: Any) -> Any:
    return mode.upper().replace("_", "-") if isinstance(mode, str) else mode


_MODES = Literal["BATCH", "ALL-TOGETHER", "ONE-BY-ONE", "PROGRESSIVE", "REALTIME"]
Mode = Annotated[_MODES, BeforeValidator(_spelled)]
_STRICT: Final = ConfigDict(extra="forbid", strict=True)


class BadOption(ValueError):
    """An option is unknown, or its value is not allowed."""


class RunOptions(TypedDict, total=False):
    """How the records of a log are read; the options of the library's stages."""

    input: Input
    mode: Mode | dict[str, Mode]
    entity: str | list[str] | dict[str, str] | None
    schema: Any
    send: Send
    partial_numbers: bool
    early_literals: bool
    zero_values: bool
    only_complete: str | list[str]
    repair: bool | str | list[str]
    prefix: str
    eager: bool
    null: Literal["value", "placeholder"]
    on_revision: Literal["raise", "keep"]
    numbers: Literal["growing", "final"]
    provider: str
    schemas: dict[str, Any] | None


@with_config(_STRICT)
class StreamOptions(RunOptions, total=False):
    """The same for a stream of the server. `lease`: a producer that is silent for so many seconds
    is lost. `keep`: the seconds that the stream is kept after its last record."""

    lease: Annotated[float, Field(ge=1, le=86_400)] | None
    keep: Annotated[float, Field(ge=1)] | None


class EventOptions(TypedDict, total=False):
    """What a reader gets, besides the format; `thread` and `run` are ids for AG-UI."""

    mode: Mode | dict[str, Mode]
    entity: str | None
    send: Send
    thread: str
    run: str


@with_config(_STRICT)
class ReaderOptions(EventOptions, total=False):
    """The same with the format."""

    format: Format


_STREAM: Final = TypeAdapter[StreamOptions](StreamOptions)
_READER: Final = TypeAdapter[ReaderOptions](ReaderOptions)


class Options:
    """The options of one stream, checked."""

    def __init__(self, given: Mapping[str, Any]) -> None:
        self.given = _checked(_STREAM, given)
        self.input: Input = self.given.get("input", "text")
        self.provider: str = self.given.get("provider", "auto")
        schemas = [self.given.get(name) for name in ("schema", "schemas")]
        if any(schemas) and len(json.dumps(schemas)) > SCHEMA_BYTES:
            raise BadOption(f"schemas have at most {SCHEMA_BYTES} bytes")
        try:
            PartialStream(**self.of("updates"))
            Document(**self.of("document"))
            Chunker(**self.of("text"))
            ToolCalls(**self.of("calls"))
        except (ValueError, TypeError, RecursionError, JsonrillError) as error:
            raise BadOption(str(error)) from error

    def of(self, stage: str) -> dict[str, Any]:
        return {name: self.given[name] for name in STAGES[stage] if name in self.given}

    @classmethod
    def stored(cls, given: Any) -> Options:
        """Read stored options, maybe of a later version; those that are not known are left out."""
        given = given if isinstance(given, dict) else {}
        try:
            return cls(
                {name: given[name] for name in StreamOptions.__annotations__ if name in given}
            )
        except BadOption as error:
            log.warning("the options of a stream are left out: %s", error)
            return cls({})


@dataclass(frozen=True, slots=True)
class ViewOptions:
    """What a reader gets. Modes by name are pairs, so that equal options are one key."""

    format: Format = "updates"
    mode: str | tuple[tuple[str, str], ...] = "REALTIME"
    send: Send = "data"
    entity: str | None = None
    thread: str = ""
    run: str = ""

    @classmethod
    def of(cls, chosen: Mapping[str, Any], stream: Options) -> ViewOptions:
        """Return what a reader has chosen; the options of the stream are the defaults."""
        defaults: dict[str, Any] = {
            "format": "calls" if stream.input == "events" else "updates",
            **{name: stream.given[name] for name in ("mode", "send") if name in stream.given},
        }
        # Modes by name are for the stream's own entities.
        if "entity" in chosen and isinstance(defaults.get("mode"), dict):
            del defaults["mode"]
        options = _checked(_READER, {**defaults, **chosen})
        if isinstance(options.get("mode"), dict):
            options["mode"] = tuple(options["mode"].items())
        return cls(**options)

    def of_updates(self, stream: Options) -> dict[str, Any]:
        """Return the options of `PartialStream`."""
        entity = {} if self.entity is None else {"entity": self.entity}
        mode = self.mode if isinstance(self.mode, str) else dict(self.mode)
        options = {**stream.of("updates"), "mode": mode, "send": self.send, **entity}
        # The creator's options for another mode than the reader's do not apply.
        modes = {mode} if isinstance(mode, str) else {*mode.values(), "REALTIME"}
        used = {name for mode in modes for name in _MODE_OPTIONS.get(mode, ())}
        unused = {*_MODE_OPTIONS["REALTIME"]} - used
        return {name: value for name, value in options.items() if name not in unused}


def _checked(kind: TypeAdapter[Any], options: Mapping[str, Any]) -> dict[str, Any]:
    try:
        return dict(kind.validate_python(dict(options)))
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        message = first["msg"].replace("Input should be", "expected")
        message = message.replace("Extra inputs are not permitted", "there is no such option")
        # There is no place for a key that has no UTF-8 form.
        place = "".join(f"{name}: " for name in first["loc"][:1])
        raise BadOption(place + message) from error
