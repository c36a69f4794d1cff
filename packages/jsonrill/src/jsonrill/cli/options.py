"""Makes flags from the table of options and the commands' own, and reads their values."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from inspect import Parameter, Signature
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated, Any, Final, Literal

import typer

from ..errors import DEFAULT_LIMITS, Limits
from ..options import Entity, Modes, Option, Patterns, Rules, Schemas, Tool, modes_of
from .input import Source
from .output import Output

_TEXTS: Final = ("values", "updates", "fragments", "select", "repair")
_REPAIRING: Final = (*_TEXTS, "calls")
_FILTERS: Final = (*_REPAIRING, "chunks")
_BATCH: Final = ("batch",)
_RESUME: Final = ("batch", "batch-resume")
_DOCUMENTS: Final = ("batch-check", "batch-updates", "batch-values")
_Engine = Literal["local", "dask"]
_Rows = Literal["jsonl", "parquet"]
_Lines = Literal["auto", "jsonl", "sse"]
# The flags that commands have beside the options of their stage.
OWN: Final = (
    Option(
        "each",
        bool | None,
        None,
        ("values",),
        "Write the value after each piece, not only the last one; by default on a terminal.",
    ),
    Option("watch", bool, False, ("values",), "Show one growing value instead of a value a line."),
    Option("compact", bool, False, ("fragments",), "Write the compact wire form."),
    Option(
        "text", bool, False, ("chunks",), "Write the text itself instead of a JSON string a line."
    ),
    Option("wire", bool, False, ("calls",), "Write wire events with fragments instead of calls."),
    Option("report", bool, False, _REPAIRING, "Report repairs on standard error."),
    Option("tokens", int, 0, _TEXTS, "Cut the text into pieces of N characters.", least=0),
    Option("delay", float, 0.0, _FILTERS, "Wait N milliseconds after each piece.", least=0),
    Option("sse", bool, False, _FILTERS, "Read and write text/event-stream."),
    Option(
        "sse_in",
        bool | None,
        None,
        _FILTERS,
        "Read text/event-stream; by default it is recognised by its beginning.",
    ),
    Option("sse_out", bool, False, _FILTERS, "Write text/event-stream."),
    Option("pretty", bool, False, _FILTERS, "Indent the output."),
    Option("color", bool | None, None, _FILTERS, "Write colours; by default on a terminal."),
    Option("out", str | None, None, _BATCH, "A new folder for the output."),
    Option("engine", _Engine, "local", _RESUME, "Processes on this machine, or a Dask cluster."),
    Option("workers", int | None, None, _RESUME, "Processes; by default one a processor.", least=0),
    Option("scheduler", str | None, None, _RESUME, "Address of Dask, such as tcp://host:8786."),
    Option("format", _Rows, "jsonl", _BATCH, "Format of the rows."),
    Option(
        "input", _Lines, "auto", _BATCH, "Format of the files: a stream a line, or event streams."
    ),
    Option(
        "field", str | None, None, _BATCH, "Path of the stream in a line, such as response.chunks."
    ),
    Option("id_field", str, "id", _BATCH, "Path of the id in a line."),
    Option("schema", str | None, None, _DOCUMENTS, "JSON Schema in a file, or module:Name."),
    Option("schema", list[str] | None, None, ("batch-calls",), "TOOL=FILE: JSON Schema of a tool."),
    Option("shard_size", str | None, None, _BATCH, "Bytes of input for each shard, such as 64MB."),
    Option("max_line", str, "32MiB", _BATCH, "A longer line goes to quarantine."),
    Option("json", bool, False, _RESUME, "Write the report as JSON."),
)


# What each of the limits bounds; its flag is --max-NAME.
LIMITS: Final = {
    "depth": "Refuse deeper nesting.",
    "text": "Refuse a longer document: characters, such as 100M.",
    "string": "Refuse a longer string: characters.",
    "number": "Refuse a number with more digits.",
    "keys": "Refuse an object with more keys.",
}


def own_flags(command: str) -> list[Option]:
    """The flags that only this command has."""
    return [option for option in OWN if command in option.stages]


class Own(SimpleNamespace):
    """The values of all flags, as the library takes them."""

    def sources(self) -> Iterator[Source]:
        """The files, or standard input."""
        tokens, delay = vars(self).get("tokens", 0), vars(self).get("delay", 0)
        for file in self.files or ["-"]:
            yield Source(Path(file), tokens, delay, self.sse or self.sse_in)

    def sink(self) -> Output:
        pretty, color = vars(self).get("pretty", False), vars(self).get("color")
        return Output(pretty=pretty, color=color, sse=self.sse or self.sse_out)


def json_file(path: str | None) -> Any:
    """The JSON value in a file; `ValueError` if it cannot be read."""
    if path is None:
        return None
    try:
        return json.loads(Path(path).read_text("utf8"))
    except OSError as error:
        raise ValueError(f"{path}: {error.strerror}") from error
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error


def flagged(
    work: Callable[[dict[str, Any], Own], None],
    rows: list[Option],
    arguments: dict[str, str],
    schema_of: Callable[[str | None], Any] = json_file,
) -> Callable[..., None]:
    """A command with a flag for each of these options; `arguments` has the help of the others.

    The last of those are any number of files.
    It calls `work` with the options of the stage, and with all flags.
    """

    def run(**flags: Any) -> None:
        rules = flags.pop("rules", None)
        if rules is not None:
            flags["repair"] = tuple(sorted(name.strip() for name in rules.split(",")))
        if any(row.name == "limits" for row in rows):
            flags["limits"] = made(lambda: limits_of(flags))
        readers: dict[Any, Callable[[Any], Any]]
        readers = {
            Entity: entities_of,
            Modes: lambda modes: modes_of(",".join(modes)),
            Patterns: tuple,
            Schemas: tool_schemas_of,
            Tool: lambda name: True if name == "true" else name,
            Any: schema_of,
        }
        written = [row for row in rows if row.type in readers]
        read = made(lambda: {row.name: readers[row.type](flags[row.name]) for row in written})
        own = Own(**{**flags, **read})
        work({row.name: vars(own)[row.name] for row in rows if row not in OWN}, own)

    parameters = [Parameter("context", Parameter.KEYWORD_ONLY, annotation=typer.Context)]
    for name, help in arguments.items():
        argument: dict[str, Any] = {"help": help, "show_default": False}
        kind: Any = Annotated[str, typer.Argument(**argument)]
        if name == "files":
            kind = Annotated[list[str] | None, typer.Argument(**argument)]
        default = None if name == "files" else Parameter.empty
        parameters.append(Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=kind))
    parameters += [flag for row in rows for flag in _flags(row)]
    run.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {it.name: it.annotation for it in parameters}
    run.__name__, run.__doc__ = work.__name__, work.__doc__
    return run


def _flags(option: Option) -> Iterator[Parameter]:
    """The parameters for one option: one, but for repair two, and for limits one each."""
    if option.type == Limits | None:
        for name, help in LIMITS.items():
            default = str(getattr(DEFAULT_LIMITS, name))
            if int(default) % 2**20 == 0:
                default = f"{int(default) // 2**20}Mi"
            yield _flag(f"max_{name}", default, str, f"--max-{name}", help=help, metavar="N")
        return
    kind, help = option.type, option.help
    if option.modes:
        help = f"{help} For {option.used_in}."
    flag = f"--{option.name.replace('_', '-')}"
    more: dict[str, Any] = {"show_default": option.default is not None}
    if option.type in (bool, bool | None):
        flag += f"/--no-{flag[2:]}" if option.default is not False else ""
    elif option.type == Rules:
        kind = bool
    elif option.type == Schemas:
        flag, kind, help = "--schema", list[str] | None, f"TOOL=FILE: {help}"
    elif option.type is Any:
        kind, more["metavar"] = str | None, "FILE"
    elif option.type == Entity:
        kind = list[str] | None
    elif option.type == Tool:
        kind, help = str | None, f"{help} {option.allowed.capitalize()}."
    elif option.type == Patterns:
        kind, option = list[str], replace(option, default=[])
        more["show_default"] = False
    elif option.type == Modes:
        help = f"{help} One of {', '.join(option.choices)}; or NAME=MODE, for each name."
        kind, option = list[str], replace(option, default=[option.default])
    elif option.least is not None:
        more |= {"min": option.least, "max": option.most}
    elif option.folds:
        kind, help = str, f"{help} One of {', '.join(option.choices)}."
    flags = (flag, "-o") if option.name == "out" else (flag,)
    yield _flag(option.name, option.default, kind, *flags, help=help, **more)
    if option.type == Rules:
        help = f"Apply only these repairs, separated by commas: {', '.join(option.choices)}."
        yield _flag("rules", None, str | None, "--rules", help=help)


def _flag(name: str, default: Any, kind: Any, *flags: str, **more: Any) -> Parameter:
    annotation = Annotated[kind, typer.Option(*flags, **more)]
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def made(make: Callable[[], Any]) -> Any:
    """The object that `make` returns; an option that it refuses is a usage error."""
    try:
        return make()
    except (TypeError, ValueError) as error:
        raise typer.BadParameter(str(error)) from error
    except ImportError as error:
        typer.echo(f"jsonrill: {error}", err=True)
        raise typer.Exit(2) from None


def entities_of(names: list[str] | None) -> Any:
    """The value of the option `entity`: one pattern, several, or a mapping of NAME=PATTERN."""
    if not names:
        return None
    if any("=" in name for name in names):
        pairs = [name.partition("=") for name in names]
        return {name: pattern or name for name, _, pattern in pairs}
    return names[0] if len(names) == 1 else names


def tool_schemas_of(schemas: list[str] | None) -> dict[str, Any] | None:
    """The JSON Schemas in files given as TOOL=FILE, by tool."""
    if not schemas:
        return None
    pairs = [schema.partition("=") for schema in schemas]
    if not all(name and path for name, _, path in pairs):
        raise ValueError("--schema must be TOOL=FILE")
    return {name: json_file(path) for name, _, path in pairs}


def limits_of(flags: dict[str, Any]) -> Limits:
    """The limits that --max-depth and the others name; they leave `flags`."""
    return Limits(**{name: bytes_of(flags.pop(f"max_{name}")) or 0 for name in LIMITS})


def bytes_of(size: str | None) -> int | None:
    """The bytes of a size such as 64MB or 1.5GiB."""
    if size is None:
        return None
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)\s*([kmgt]?)(i?)b?", size.strip().lower())
    if match is None:
        raise ValueError(f"a size is a number with perhaps kB, MB or GB, not {size!r}")
    count, unit, binary = match.groups()
    return int(float(count) * (1024 if binary else 1000) ** " kmgt".index(unit or " "))
