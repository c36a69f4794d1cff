"""Every option of every stage, once: name, type, default, allowed values, stages, help.

The `TypedDict`s below are written out, because type checkers and editors read nothing else; a test
compares them with the table. What reads JSON text takes `ParseOptions` and hands it on whole, to
`parse/create.py`. Everything else is generated from the table:
checks, flags and `--help`, the server's options and its OpenAPI document, the checks of a batch
job, the tables in the docs. Registries add their names with `allow`. The server's `RunOptions` and
the batch's `Job` are written out for the same reason. Sizes that stop a text are not options but
`Limits`, in `errors.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from types import UnionType
from typing import Any, Final, Literal, TypedDict, get_args, get_origin

from .answer import Answer
from .errors import Limits

Stage = Literal["values", "fragments", "updates", "chunks", "calls", "rebuild", "select", "text"]
Front = Literal["cli", "server", "batch"]

Mode = Literal["BATCH", "ALL-TOGETHER", "ONE-BY-ONE", "PROGRESSIVE", "REALTIME"]
Modes = Mode | Mapping[str, Mode]
BATCH_MODE: Final[Mode] = "ONE-BY-ONE"
Send = Literal["data", "delta", "both"]
Null = Literal["value", "placeholder"]
Missing = Literal["none", "zero"]
Numbers = Literal["growing", "final"]
OnRevision = Literal["raise", "keep"]
Input = Literal["text", "snapshots", "events"]
Dialect = Literal["jsonrill", "juf"]
Rules = bool | Iterable[str]
Entity = str | Sequence[str] | Mapping[str, str] | None
Patterns = str | Sequence[str]
Schemas = Mapping[str, Any] | None
Provider = str | Callable[[dict[str, Any]], Sequence[Any]]
Tool = str | bool | None
ParseFloat = Callable[[str], Any]
OnRepair = Callable[[Any], None] | None


class TextOptions(TypedDict, total=False):
    """Options of all that read JSON text."""

    repair: Rules
    on_repair: OnRepair
    prefix: str
    limits: Limits | None


class ParseOptions(TextOptions, total=False):
    """Options of `Parser`, `Document` and `select`; its `schema` is a parameter of its own."""

    parse_float: ParseFloat


class SourceOptions(TypedDict, total=False):
    """Options of the functions that take a source: what of it they read."""

    choice: int
    tool: Tool
    sse: bool
    provider: Provider
    answer: Answer | None


class UpdateOptions(ParseOptions, total=False):
    """Options of `PartialStream`; `mode` and `schema` are parameters of their own."""

    entity: Entity
    send: Send
    partial_numbers: bool
    early_literals: bool
    zero_values: bool
    only_complete: Patterns
    missing: Missing


class ReadOptions(ParseOptions, SourceOptions, total=False):
    """Options of `values`, `fragments` and `select`."""


class ReadTextOptions(TextOptions, SourceOptions, total=False):
    """Options of `text`."""


class ReadUpdateOptions(UpdateOptions, SourceOptions, total=False):
    """Options of `updates`; `mode` and `schema` are parameters of their own."""


class ChunkOptions(TypedDict, total=False):
    """Options of `Chunker`."""

    eager: bool
    null: Null
    on_revision: OnRevision
    verify: bool
    numbers: Numbers


class AnswerOptions(TypedDict, total=False):
    """Options of `ToolCalls` and `Parts`."""

    provider: Provider
    schemas: Schemas
    repair: Rules
    on_repair: OnRepair
    limits: Limits | None


class CallOptions(AnswerOptions, total=False):
    """Options of `ToolCalls`."""

    keep: int | None


class PartOptions(AnswerOptions, total=False):
    """Options of `Parts`."""


# The names of what `create_machine` takes, which is all that reads JSON text hands it.
PARSE: Final = frozenset(ParseOptions.__annotations__)


class Kind:
    """The values that an option may have: whether one is allowed, in words, as JSON Schema."""

    def __init__(self, words: str = "", accepts: Any = object, **json_schema: Any) -> None:
        # Classes of values, or a function.
        self._accepts = accepts
        self._words = words
        self.json_schema = json_schema or {"type": "string"}

    def words(self, option: Option) -> str:
        return self._words

    def spelled(self, option: Option, value: Any) -> Any:
        """The value as the option spells it."""
        return value

    def accepts(self, option: Option, value: Any) -> bool:
        if isinstance(self._accepts, type | UnionType):
            return isinstance(value, self._accepts)
        return bool(self._accepts(value))

    def schema_of(self, option: Option) -> dict[str, Any]:
        return {**self.json_schema, "description": option.help}


class _Number(Kind):
    """A number in the range of its option."""

    def words(self, option: Option) -> str:
        top = "up" if option.most is None else f"to {option.most}"
        return f"a {self._words} from {option.least} {top}"

    def accepts(self, option: Option, value: Any) -> bool:
        # A bool is an int, but not a number.
        if type(value) is bool or not Kind.accepts(self, option, value):
            return False
        least, most = option.least, option.most
        return (least is None or least <= value) and (most is None or value <= most)

    def schema_of(self, option: Option) -> dict[str, Any]:
        bounds = {"minimum": option.least, "maximum": option.most}
        known = {name: bound for name, bound in bounds.items() if bound is not None}
        return Kind.schema_of(self, option) | known


class _Name(Kind):
    """One of the names that the option has, or what else its type accepts.

    Without names the registry that holds them is not loaded: what reads the option checks it.
    """

    def words(self, option: Option) -> str:
        return f"one of {', '.join(option.choices)}" if option.choices else self._words

    def spelled(self, option: Option, value: Any) -> Any:
        if not option.folds or not isinstance(value, str) or value in option.choices:
            return value
        return {_folded(choice): choice for choice in option.choices}.get(_folded(value), value)

    def accepts(self, option: Option, value: Any) -> bool:
        if not option.choices:
            return True
        return value in option.choices if isinstance(value, str) else self._is_other(option, value)

    def _is_other(self, option: Option, value: Any) -> bool:
        return self._accepts is not object and Kind.accepts(self, option, value)

    def schema_of(self, option: Option) -> dict[str, Any]:
        return Kind.schema_of(self, option) | {"enum": [*option.choices]}


class _Rules(Kind):
    """True, false, or names of repairs."""

    def schema_of(self, option: Option) -> dict[str, Any]:
        name = {"type": "string", "enum": [*option.choices]}
        return Kind.schema_of(self, option) | {"items": name}


class _Modes(_Name):
    """A mode, or one for each name."""

    def spelled(self, option: Option, value: Any) -> Any:
        if isinstance(value, Mapping):
            return {str(name): option.check(mode) for name, mode in value.items()}
        return _Name.spelled(self, option, value)

    def _is_other(self, option: Option, value: Any) -> bool:
        return isinstance(value, Mapping)

    def schema_of(self, option: Option) -> dict[str, Any]:
        name = {"type": "string", "enum": [*option.choices]}
        by_name = {"type": "object", "additionalProperties": name}
        return {"anyOf": [name, by_name], "description": option.help}


def _are_names(value: Any) -> bool:
    if isinstance(value, list | tuple | set | frozenset):
        return all(isinstance(name, str) for name in value)
    return isinstance(value, Iterable) and not isinstance(value, Mapping | bytes)


def _are_rules(value: Any) -> bool:
    return isinstance(value, bool | str) or _are_names(value)


def _are_patterns(value: Any) -> bool:
    return isinstance(value, str) or (isinstance(value, Sequence) and _are_names(value))


def _folded(name: str) -> str:
    return name.lower().replace("-", "_")


_FUNCTION: Final = Kind("a function", callable)
_NAMES: Final[dict[str, Any]] = {"items": {"type": "string"}}
# Of each type of an option what it allows. Patterns of entities, schemas and names of repairs are
# checked by the stage.
_KINDS: Final[dict[Any, Kind]] = {
    bool: Kind("true or false", bool, type="boolean"),
    int: _Number("whole number", int, type="integer"),
    int | None: _Number("whole number", int, type="integer"),
    float: _Number("number", int | float, type="number"),
    float | None: _Number("number", int | float, type="number"),
    str: Kind("a text", str),
    Modes: _Modes(),
    Provider: _Name(accepts=callable),
    Tool: Kind("a tool's name, or true for any", str | bool, type=["string", "boolean"]),
    Rules: _Rules("true, false, or names of repairs", _are_rules, type=["boolean", "array"]),
    Entity: Kind(type=["string", "array", "object"], **_NAMES),
    Patterns: Kind(
        "a pattern such as steps[*].name, or several",
        _are_patterns,
        type=["string", "array"],
        **_NAMES,
    ),
    Any: Kind(type=["object", "boolean"]),
    Schemas: Kind("", Mapping, type="object"),
    Limits | None: Kind("a Limits object such as Limits(depth=64)", Limits),
    Answer | None: Kind("an Answer object", Answer),
    ParseFloat: _FUNCTION,
    OnRepair: _FUNCTION,
}
_NAME: Final = _Name()


@dataclass(slots=True)
class Option:
    """One option. A number has a range, a name has `choices`; `folds` ignores case, - and _.

    `modes` are those of updates that use it, if not all of them do.
    """

    name: str
    type: Any
    default: Any
    stages: tuple[str, ...]
    help: str
    least: float | None = None
    most: float | None = None
    choices: tuple[str, ...] = ()
    folds: bool = False
    modes: tuple[Mode, ...] = ()

    def __post_init__(self) -> None:
        for kind in (self.type, *get_args(self.type)):
            if get_origin(kind) is Literal:
                self.choices = get_args(kind)

    @property
    def kind(self) -> Kind:
        """What its type allows; of a text that has names, one of these."""
        kind = _KINDS.get(self.type, _NAME)
        return _NAME if self.choices and self.type is str else kind

    @property
    def allowed(self) -> str:
        """The allowed values in words, for messages and docs."""
        return self.kind.words(self)

    @property
    def used_in(self) -> str:
        """The modes that use it in words; "" if all do."""
        kind = "mode" if len(self.modes) == 1 else "modes"
        return f"the {kind} {' and '.join(self.modes)}" if self.modes else ""

    def check(self, value: Any) -> Any:
        """The value as a stage takes it; `ValueError` if it is not allowed."""
        if value is None and (self.default is None or self.type in (int | None, float | None)):
            return None
        value = self.kind.spelled(self, value)
        if not self.kind.accepts(self, value):
            raise ValueError(f"{self.name} is {self.allowed or 'an object'}, not {value!r}")
        return value

    @property
    def json_schema(self) -> dict[str, Any]:
        """The JSON Schema of the option, for OpenAPI."""
        return self.kind.schema_of(self)


_TEXTS: Final = ("values", "fragments", "updates", "select")
TEXT_STAGES: Final = (*_TEXTS, "text")
_UPDATES: Final = ("updates",)
_VIEWED: Final = ("updates", "view")
_CHUNKS: Final = ("chunks",)
_CALLS: Final = ("calls",)
# Not a stage: what a function reads of its source.
_SOURCE: Final = ("source",)
_READERS: Final = (*TEXT_STAGES, *_CALLS)
_ENTITY: Final = (
    "What counts as an entity: a key, a pattern such as days[*].activities, or NAME=PATTERN."
)
_SCHEMA: Final = "JSON Schema of the value, or of each entity."
_ON_REVISION: Final = "When a snapshot contradicts what is written: stop, or keep that."
_NUMBERS: Final = "Numbers may get more digits, or each is final when it first comes."
_MODE: Final = "When updates are emitted: of all entities, or by name of each."
_ONLY_COMPLETE: Final = "What of an entity is shown only when complete: keys, or patterns in it."
_GROWING: Final[tuple[Mode, ...]] = ("PROGRESSIVE", "REALTIME")
_REALTIME: Final[tuple[Mode, ...]] = ("REALTIME",)
_LEASE: Final = "Seconds of silence after which the producer counts as lost."
_MISSING: Final = "What fields of a partial model are that have not come: None, or zeros."
_PROVIDER: Final = "Whose events these are."
_ANSWER: Final = "Gets the text, the end and the token counts of the answer."

TABLE: Final[dict[str, Option]] = {
    option.name: option
    for option in (
        Option("mode", Modes, "REALTIME", _VIEWED, _MODE, choices=get_args(Mode), folds=True),
        Option("entity", Entity, None, _VIEWED, _ENTITY),
        Option("schema", Any, None, ("updates", "select", "checked"), _SCHEMA),
        Option("send", Send, "data", _VIEWED, "Emit complete data, what is new in it, or both."),
        Option(
            *("partial_numbers", bool, True, _UPDATES, "Show numbers as they grow."),
            modes=_REALTIME,
        ),
        Option(*("early_literals", bool, False, _UPDATES, "Show true at its t."), modes=_REALTIME),
        Option(
            *("zero_values", bool, False, _UPDATES, "Show the schema's zeros before values come."),
            modes=_GROWING,
        ),
        Option("only_complete", Patterns, (), _UPDATES, _ONLY_COMPLETE, modes=_GROWING),
        Option("missing", Missing, "none", _UPDATES, _MISSING),
        Option("repair", Rules, False, _READERS, "Read what models write instead of JSON."),
        Option("on_repair", OnRepair, None, _READERS, "Is called with each repair."),
        Option("prefix", str, "", TEXT_STAGES, "Text that was sent before the answer, such as {."),
        Option("many", bool, False, ("many",), "Read one document after another."),
        Option("parse_float", ParseFloat, float, _TEXTS, "Makes a number with a fraction."),
        Option("eager", bool, False, _CHUNKS, "Of several new values, show one at once."),
        Option("null", Null, "value", _CHUNKS, "A null is a value, or one that has not come yet."),
        Option("on_revision", OnRevision, "raise", _CHUNKS, _ON_REVISION),
        Option("verify", bool, False, _CHUNKS, "Check at the end that the text is the snapshot."),
        Option("numbers", Numbers, "growing", _CHUNKS, _NUMBERS),
        Option("choice", int, 0, _SOURCE, "Which of several answers to read.", least=0),
        Option("tool", Tool, None, _SOURCE, "Read the arguments of this tool's calls."),
        Option("sse", bool, False, _SOURCE, "The text is an event stream."),
        Option("provider", Provider, "auto", (*_CALLS, *_SOURCE), _PROVIDER, folds=True),
        Option("answer", Answer | None, None, _SOURCE, _ANSWER),
        Option("schemas", Schemas, None, _CALLS, "JSON Schemas of the tools' arguments, by name."),
        Option("keep", int | None, 256, _CALLS, "Calls of ended responses to keep.", least=0),
        Option("limits", Limits | None, None, _READERS, "Size limits for the input."),
        Option("dialect", Dialect, "jsonrill", ("rebuild",), "Who wrote the fragments."),
        # Of the server alone: of a stream, and of a reader's view of it.
        Option("input", Input, "text", ("stream",), "What is published."),
        Option("lease", float | None, None, ("stream",), _LEASE, least=1, most=86_400),
        Option("format", str, None, ("view",), "What the events are."),
    )
}

# Options that a front does not offer, and why.
NOT_OFFERED: Final[dict[str, tuple[tuple[Front, ...], str]]] = {
    "on_repair": (("cli", "server", "batch"), "it is a Python function; updates list the repairs"),
    "parse_float": (("cli", "server", "batch"), "it is a Python function"),
    "keep": (("cli", "server", "batch"), "they read one stream and keep its calls"),
    "missing": (("cli", "server", "batch"), "they have no models"),
    "answer": (("cli", "server", "batch"), "it is a Python object"),
    "limits": (("server",), "the defaults hold; the server also bounds records and streams"),
    "verify": (("server", "batch"), "it holds the whole text in memory"),
    "dialect": (("server", "batch"), "they do not read fragments"),
    "sse": (("cli", "server", "batch"), "they have their own way to say it"),
    "many": (("server", "batch"), "a stream, or a line of a log, holds one document"),
}


# The stages whose options a batch job takes. Any text may come as snapshots, hence "chunks";
# "checked" is the validation of a document by a schema.
JOBS: Final[dict[str, tuple[str, ...]]] = {
    "calls": ("calls",),
    "check": ("values", "chunks", "checked"),
    "chunks": ("chunks",),
    "fragments": ("fragments", "chunks"),
    "updates": ("updates", "chunks"),
    "values": ("values", "chunks", "checked"),
}


def jobs_of(option: Option) -> list[str]:
    """The batch jobs that take an option."""
    return [kind for kind, stages in JOBS.items() if not set(stages).isdisjoint(option.stages)]


def allow(name: str, names: Iterable[str]) -> None:
    """Add allowed values of an option; the registry that holds them calls this."""
    TABLE[name].choices += tuple(names)


@cache
def taken_by(*stages: str) -> tuple[Option, ...]:
    """The options of these stages."""
    return tuple(it for it in TABLE.values() if not set(stages).isdisjoint(it.stages))


def offered(front: Front, *stages: str) -> list[Option]:
    """The options of these stages (default: all) that a front offers."""
    taken = taken_by(*stages or get_args(Stage))
    return [it for it in taken if front not in NOT_OFFERED.get(it.name, ((), ""))[0]]


def of_stage(stage: Stage, options: Mapping[str, Any]) -> dict[str, Any]:
    """The given options that the stage takes."""
    return {it.name: options[it.name] for it in taken_by(stage) if it.name in options}


def check(**options: Any) -> None:
    """`ValueError` if one of these options has a value that is not allowed."""
    for name, value in options.items():
        TABLE[name].check(value)


def modes_of(text: str) -> Any:
    """A mode as text: one for all, or `title=REALTIME,items=ONE-BY-ONE`. The option checks it."""
    if "=" not in text:
        return text
    pairs = [part.rpartition("=") for part in text.split(",")]
    if not all(name for name, _, _ in pairs):
        raise ValueError(f"mode is one for all, or NAME=MODE for each name, not {text!r}")
    return {name: mode for name, _, mode in pairs}


def modes_text(mode: Modes) -> str:
    """The text that `modes_of` reads."""
    return (
        mode if isinstance(mode, str) else ",".join(f"{name}={one}" for name, one in mode.items())
    )


def is_used(option: Option, modes: Iterable[str]) -> bool:
    """True if one of these modes uses the option."""
    return not option.modes or not set(modes).isdisjoint(option.modes)


def refuse_unused(modes: Iterable[str], **options: Any) -> None:
    """`ValueError` for an option that is not at its default and that none of these modes uses."""
    for name, value in options.items():
        option = TABLE[name]
        if value != option.default and not is_used(option, modes):
            these = " and ".join(mode for mode in get_args(Mode) if mode in modes)
            raise ValueError(f"{name} is for {option.used_in}, not for {these}")


def refuse_unknown(names: Iterable[str], known: Iterable[str], what: str) -> None:
    """`TypeError` for an unknown name; the message suggests the most similar known one."""
    known = list(known)
    for name in names:
        if name not in known:
            from difflib import get_close_matches

            closest = get_close_matches(name, known, 1)
            remedy = f"did you mean {closest[0]}?" if closest else f"there are {', '.join(known)}"
            raise TypeError(f"{what}: {name}; {remedy}")
