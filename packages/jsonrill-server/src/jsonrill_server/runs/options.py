"""Options of a stream and of a reader's view of it, read from JSON and from queries.

Both are checked when they arrive, a stream's together by `render.check_options`: `rendering()` of
an accepted pair never fails later.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Annotated, Any, Final, Literal
from weakref import WeakValueDictionary

from pydantic import BeforeValidator, ConfigDict, Field, TypeAdapter, ValidationError, with_config
from typing_extensions import TypedDict

from jsonrill.dialects import DIALECTS
from jsonrill.errors import check_names
from jsonrill.partial_stream import Mode

from .records import Input

log = logging.getLogger("jsonrill_server.runs")
FORMATS: Final = ("updates", "fragments", "text", "deltas", "calls", "parts", "raw", *DIALECTS)
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

# Up to this length, options are read and schemas are weighed at once.
SHORT: Final = 1 << 14


def _spelled(mode: Any) -> Any:
    """Return a mode as it is spelled, which a client may write in lower case and with `_`."""
    return mode.upper().replace("_", "-") if isinstance(mode, str) else mode


_Mode = Annotated[Mode, BeforeValidator(_spelled)]
Modes = _Mode | dict[str, _Mode]
Send = Literal["data", "delta", "both"]


_STRICT: Final = ConfigDict(extra="forbid", strict=True)


class RunOptions(TypedDict, total=False):
    """Options of a run: how what it logs is read. They are those of a stream of the server."""

    mode: Modes
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
    input: Input


@with_config(_STRICT)
class CreateOptions(RunOptions, total=False):
    """Options of a stream of the server; `lease`: a producer silent for so long is lost."""

    lease: Annotated[float, Field(ge=1, le=86_400)] | None


@with_config(_STRICT)
class ReaderOptions(TypedDict, total=False):
    """What a reader may choose."""

    format: str
    mode: Modes
    entity: str | None
    send: Send


class EventOptions(TypedDict, total=False):
    """Options of the events that a reader gets; `thread` and `run` are ids for AG-UI."""

    mode: Modes
    entity: str | None
    send: Send
    thread: str
    run: str


STREAM: Final = TypeAdapter[CreateOptions](CreateOptions)
VIEW: Final = TypeAdapter[ReaderOptions](ReaderOptions)


class BadOption(ValueError):
    """An option is unknown, or its value is not allowed."""


class TooMany(Exception):
    """A limit of this process is reached."""


class StreamOptions:
    """The given options, stored with the stream; `of` returns those that a stage takes."""

    def __init__(self, /, **options: Any) -> None:
        self.given = checked(STREAM, options)
        self.input: Input = options.get("input", "text")
        self.lease: float | None = options.get("lease")
        self.provider: str = options.get("provider", "auto")
        # Schemas that count as long as these options are in use.
        self.heavy: object = None
        # What the server keeps with the stream for itself; no client sets or sees it.
        self.notes: dict[str, Any] = {}
        # Whether they were accepted before, maybe by a later version of this program.
        self.stored = False

    @classmethod
    def from_json(cls, options: Any) -> StreamOptions:
        if not isinstance(options, dict):
            raise BadOption("the options are a JSON object")
        return cls(**options)

    def of(self, stage: str) -> dict[str, Any]:
        return {name: self.given[name] for name in STAGES[stage] if name in self.given}

    @cached_property
    def schemas(self) -> tuple[list[Any], str]:
        """The schemas, and their text."""
        schemas = [self.given.get(name) for name in ("schema", "schemas")]
        return schemas, json.dumps(schemas)

    def to_bytes(self) -> bytes:
        notes = {"notes": self.notes} if self.notes else {}
        return json.dumps({**self.given, **notes}).encode()

    @classmethod
    def from_bytes(cls, data: bytes) -> StreamOptions:
        """Read options that were stored with a stream, maybe by a later version of this program.

        What is not known here is left out: an option changes how a log is shown, not what is in
        it, and a stream must not end because a replica was not upgraded yet.
        """
        options = _LARGE.get(data)
        if options is None:
            options = cls._read(data)
            if len(data) > SHORT:
                _LARGE[data] = options
        return options

    @classmethod
    def _read(cls, data: bytes) -> StreamOptions:
        stored = json.loads(data)
        notes = stored.pop("notes", {})
        try:
            options = cls(**stored)
        except BadOption:
            options = cls.as_far_as_known(stored, bool)
        options.notes = notes
        options.stored = True
        return options

    @classmethod
    def as_far_as_known(
        cls, stored: dict[str, Any], is_usable: Callable[[StreamOptions], object]
    ) -> StreamOptions:
        """Those of the given options that are known and usable together, with a warning of others.

        Schemas are the first, because others need one.
        """
        known: dict[str, Any] = {}
        for name in sorted(stored, key=lambda name: "schema" not in name):
            try:
                more = cls(**known, **{name: stored[name]})
            except BadOption:
                continue
            if is_usable(more):
                known = more.given
        _warn(", ".join(sorted(stored.keys() - known.keys())))
        return cls(**known)


# Large options while they are in use: the JSON of a large schema takes long to read, and a request
# asks for them several times.
_LARGE: Final[WeakValueDictionary[bytes, StreamOptions]] = WeakValueDictionary()


@lru_cache(100)  # once for each, not for each request
def _warn(names: str) -> None:
    log.warning("streams have options of another version, which are left out here: %s", names)


@dataclass(frozen=True, slots=True)
class ViewOptions:
    """The options of a reader's view: format, mode, entity and what is sent.

    Readers of equal views share one: modes by name are pairs, so that a view has a hash.
    """

    format: str = "updates"
    mode: Mode | tuple[tuple[str, Mode], ...] = "REALTIME"
    send: Send = "data"
    entity: str | None = None
    thread: str = ""
    run: str = ""

    @classmethod
    def from_query(cls, query: Mapping[str, str], stream: StreamOptions) -> ViewOptions:
        asked: dict[str, Any] = {name: text for name, text in query.items() if name != "after"}
        format = "calls" if stream.input == "events" else "updates"
        return cls._of({"format": format, **_kept(stream, asked), **asked})

    @classmethod
    def of_run(
        cls, format: str, parameters: Mapping[str, Any], stream: StreamOptions
    ) -> ViewOptions:
        """The view that a reader of a run asks for; the run's own options are the defaults."""
        asked = {name: value for name, value in parameters.items() if name not in ("thread", "run")}
        view = cls._of({**_kept(stream, asked), **asked, "format": format})
        return replace(view, thread=parameters.get("thread", ""), run=parameters.get("run", ""))

    @classmethod
    def _of(cls, parameters: dict[str, Any]) -> ViewOptions:
        format = parameters["format"]
        if format not in FORMATS:
            raise BadOption(f"format is one of {', '.join(FORMATS)}, not {format!r}")
        options = checked(VIEW, parameters)
        if isinstance(options.get("mode"), Mapping):
            options["mode"] = tuple(options["mode"].items())
        return cls(**options)

    @property
    def modes(self) -> Mode | dict[str, Mode]:
        """The mode of all entities, or of each by name."""
        return self.mode if isinstance(self.mode, str) else dict(self.mode)


def _kept(stream: StreamOptions, asked: Mapping[str, Any]) -> dict[str, Any]:
    """The options of the stream that are a reader's defaults.

    Its modes by name are for its own entities, and not for others that a reader asks for.
    """
    kept = {name: value for name, value in stream.given.items() if name in ("mode", "send")}
    if "entity" in asked and isinstance(kept.get("mode"), Mapping):
        del kept["mode"]
    return kept


def checked(kind: TypeAdapter[Any], options: dict[str, Any]) -> dict[str, Any]:
    """The options as stages take them; BadOption for one that is unknown or not allowed."""
    try:
        return dict(kind.validate_python(options))
    except ValidationError as error:
        try:
            check_names(options, kind.json_schema()["properties"])
        except TypeError as unknown:
            raise BadOption(str(unknown)) from error
        first = error.errors(include_url=False, include_context=False)[0]
        name = str(first["loc"][0])
        message = first["msg"].replace("Input should be", "expected")
        raise BadOption(f"{name} cannot be {options[name]!r:.80}: {message}") from error
