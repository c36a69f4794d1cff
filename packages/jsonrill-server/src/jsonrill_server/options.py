"""Options of a stream, which its creator sets, and the few that a reader may choose."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, get_args

from pydantic import BeforeValidator, ConfigDict, Field, TypeAdapter, ValidationError, with_config
from typing_extensions import TypedDict

from jsonrill import Chunker, Document, PartialStream, ToolCalls, partial_stream
from jsonrill.errors import JsonrillError

from .records import Input

log = logging.getLogger("jsonrill_server")
Format = Literal[
    "updates", "fragments", "text", "deltas", "calls", "parts", "raw", "ai-sdk", "ag-ui"
]
FORMATS: Final = get_args(Format)
Send = Literal["data", "delta", "both"]
SCHEMA_BYTES: Final = 64 << 10
# The options that fit some modes only.
OF_MODE: Final = ("partial_numbers", "early_literals", "zero_values", "only_complete")
# The options that each stage takes.
STAGES: Final = {
    "document": ("repair", "prefix"),
    "updates": ("mode", "entity", "schema", "send", "repair", "prefix", *OF_MODE),
    "text": ("eager", "null", "on_revision", "numbers"),
    "calls": ("provider", "schemas", "repair"),
}


def _spelled(mode: Any) -> Any:
    return mode.upper().replace("_", "-") if isinstance(mode, str) else mode


Mode = Annotated[partial_stream.Mode, BeforeValidator(_spelled)]


class BadOption(ValueError):
    """An option is unknown, or its value is not allowed."""


@with_config(ConfigDict(extra="forbid", strict=True))
class Choices(TypedDict, total=False):
    """The options that a reader may choose."""

    format: Format
    mode: Mode | dict[str, Mode]
    entity: str | list[str] | dict[str, str] | None
    send: Send


@with_config(ConfigDict(extra="forbid", strict=True))
class StreamOptions(Choices, total=False):
    """How the records of a log are read; most are options of the library's stages.

    `lease`: a producer that is silent for this long is lost. `keep`: the seconds that the log
    is kept after its last record.
    """

    input: Input
    schema: Any
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
    lease: Annotated[float, Field(ge=1, le=86_400)] | None
    keep: Annotated[float, Field(ge=1)] | None


_OPTIONS: Final = TypeAdapter[StreamOptions](StreamOptions)
CHOICES: Final = TypeAdapter[Choices](Choices)


class Options:
    """The options of one stream, checked."""

    def __init__(self, given: Mapping[str, Any]) -> None:
        self.given = checked(given, _OPTIONS)
        self.input: Input = self.given.get("input", "text")
        self.provider: str = self.given.get("provider", "auto")
        format = "calls" if self.input == "events" else "updates"
        self.format: Format = self.given.get("format", format)
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
    def stored(cls, given: Mapping[str, Any], choices: Mapping[str, Any] | None = None) -> Options:
        """Return the options of a stored stream, with a reader's choices.

        This leaves out the creator's options for another mode or entity, and all of them if they
        are damaged or come from a later version.
        """
        chosen, mode = checked(choices or {}, CHOICES), given.get("mode", "REALTIME")
        is_other = chosen.get("mode", mode) != mode or ("entity" in chosen and type(mode) is dict)
        left_out = ("mode", *OF_MODE) if is_other else ()
        kept = {name: value for name, value in given.items() if name not in left_out}
        try:
            return cls({**kept, **chosen})
        except BadOption as error:
            if chosen and cls.stored(given).given:
                raise
            log.warning("the options of a stream are left out: %s", error)
            return cls(chosen)


def checked(options: Any, adapter: TypeAdapter[Any]) -> dict[str, Any]:
    """Return valid options; the adapter is the one for creators or for readers."""
    try:
        return dict(adapter.validate_python(options))
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        message = first["msg"].replace("Input should be", "expected")
        message = message.replace("Extra inputs are not permitted", "there is no such option")
        # There is no place for a key that has no UTF-8 form.
        place = "".join(f"{name}: " for name in first["loc"][:1])
        raise BadOption(place + message) from error
