"""Flags: made from the table of options and from the commands' own, read for the library."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated, Any, Final, Literal, get_type_hints

import typer

from ..options import Entity, Option, Rules, Schemas
from .input import Source
from .output import Sink

_TEXTS: Final = ("values", "updates", "fragments")
_REPAIRING: Final = (*_TEXTS, "calls")
_PACED: Final = (*_REPAIRING, "chunks")
_FILTERS: Final = (*_PACED, "rebuild")
_BATCH: Final = ("batch",)
_Engine = Literal["local", "dask"]
_Rows = Literal["jsonl", "parquet"]
_Lines = Literal["auto", "jsonl", "sse"]
# What commands have beside the options of their stage.
OWN: Final = (
    Option("watch", bool, False, ("values",), "Show one value growing, instead of one a line."),
    Option("compact", bool, False, ("fragments",), "The compact wire form."),
    Option("text", bool, False, ("chunks",), "Write the text itself, not a JSON string a line."),
    Option("wire", bool, False, ("calls",), "Wire events with fragments, not the calls."),
    Option("report", bool, False, _REPAIRING, "Report repairs on standard error."),
    Option("tokens", int, 0, _TEXTS, "Cut the text into pieces of N characters.", least=0),
    Option("delay", float, 0.0, _PACED, "Wait N milliseconds after each piece.", least=0),
    Option("sse", bool, False, _FILTERS, "Read and write text/event-stream."),
    Option("sse_in", bool, False, _FILTERS, "Read text/event-stream, write lines."),
    Option("sse_out", bool, False, _FILTERS, "Write text/event-stream."),
    Option("pretty", bool, False, _FILTERS, "Indent what is written."),
    Option("color", bool | None, None, _FILTERS, "Colours; by default on a terminal."),
    Option("resume", str | None, None, _BATCH, "Do what is missing of the run in this folder."),
    Option("engine", _Engine, "local", _BATCH, "Processes here, or a Dask cluster."),
    Option("workers", int | None, None, _BATCH, "Processes; by default all processors.", least=0),
    Option("scheduler", str | None, None, _BATCH, "Dask's address, like tcp://host:8786."),
    Option("format", _Rows, "jsonl", _BATCH, "How rows are written."),
    Option("input", _Lines, "auto", _BATCH, "What files hold: a stream a line, or event streams."),
    Option("field", str | None, None, _BATCH, "Where a line has the stream: response.chunks."),
    Option("id_field", str, "id", _BATCH, "Where in a line its id is."),
    Option("schema", list[str] | None, None, _BATCH, "JSON Schema or module:Name; TOOL=FILE."),
    Option("shard_size", str | None, None, _BATCH, "Bytes of input for each part, like 64MB."),
    Option("max_line", str, "32MiB", _BATCH, "A longer line is put into quarantine."),
)
_FILES: Final = Parameter(
    "files",
    Parameter.KEYWORD_ONLY,
    default=None,
    annotation=Annotated[
        list[Path] | None,
        typer.Argument(help="Files to read; - or none is standard input.", show_default=False),
    ],
)


class Own(SimpleNamespace):
    """The flags of a command."""

    def source(self) -> Source:
        tokens, delay = vars(self).get("tokens", 0), vars(self).get("delay", 0)
        return Source(self.files or [], tokens, delay, self.sse or self.sse_in)

    def sink(self) -> Sink:
        return Sink(pretty=self.pretty, color=self.color, sse=self.sse or self.sse_out)


def json_file(path: str | None) -> Any:
    if path is None:
        return None
    try:
        return json.loads(Path(path).read_text("utf8"))
    except OSError as error:
        raise ValueError(f"{path}: {error.strerror}") from error
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error


def flagged(
    options: Iterable[Option], schema_of: Callable[[str | None], Any] = json_file
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command a flag for each of these options; it gets them as the dict `options`.

    A parameter `own` stands for the flags in `OWN` and the files; any other is typer's.
    """
    table = {option.name: option for option in options}

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        own = [option for option in OWN if command.__name__ in option.stages]
        hints = get_type_hints(command, include_extras=True)
        parameters: list[Parameter] = []
        for name, parameter in signature(command).parameters.items():
            if name == "options":
                parameters += [flag for option in table.values() for flag in _flags(option)]
            elif name == "own":
                parameters += [_FILES] * (command.__name__ in _FILTERS)
                parameters += [flag for option in own for flag in _flags(option)]
            else:
                kind = Parameter.KEYWORD_ONLY
                parameters.append(parameter.replace(annotation=hints[name], kind=kind))

        @wraps(command)
        def run(**given: Any) -> None:
            if "options" in hints:
                rules = given.pop("rules", None)
                found = {name: given.pop(name) for name in table}
                if rules is not None:
                    found["repair"] = tuple(sorted(name.strip() for name in rules.split(",")))
                given["options"] = made(lambda: {**found, **_read(table, found, schema_of)})
            if "own" in hints:
                names = {"files", *(option.name for option in own)} & given.keys()
                flags = {name: given.pop(name) for name in names}
                given["own"] = Own(**given.get("options", {}), **flags)
            command(**given)

        run.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {it.name: it.annotation for it in parameters}
        del run.__wrapped__  # typer would look through to it
        return run

    return decorate


def _flags(option: Option) -> Iterator[Parameter]:
    """The parameter for one option; repair has two."""
    kind, help = option.type, option.help
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
    elif option.least is not None:
        more |= {"min": option.least, "max": option.most}
    elif option.folds:
        kind, help = str, f"{help} One of {', '.join(option.choices)}."
    yield _flag(option.name, option.default, kind, flag, help=help, **more)
    if option.type == Rules:
        help = f"Only these repairs, with commas between: {', '.join(option.choices)}."
        yield _flag("rules", None, str | None, "--rules", help=help)


def _flag(name: str, default: Any, kind: Any, *flags: str, **more: Any) -> Parameter:
    annotation = Annotated[kind, typer.Option(*flags, **more)]
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _read(
    table: dict[str, Option], given: dict[str, Any], schema_of: Callable[[str | None], Any]
) -> dict[str, Any]:
    """The options that are typed otherwise than the library takes them."""
    readers: dict[Any, Callable[[Any], Any]]
    readers = {Entity: entities_of, Schemas: tool_schemas_of, Any: schema_of}
    return {
        name: readers[option.type](given[name])
        for name, option in table.items()
        if option.type in readers
    }


def made(make: Callable[[], Any]) -> Any:
    """An object made from options; one that it refuses is bad usage."""
    try:
        return make()
    except (TypeError, ValueError) as error:
        raise typer.BadParameter(str(error)) from error
    except ImportError as error:
        typer.echo(f"jsonrill: {error}", err=True)
        raise typer.Exit(1) from None


def entities_of(names: list[str] | None) -> Any:
    if not names:
        return None
    if any("=" in name for name in names):
        pairs = [name.partition("=") for name in names]
        return {name: pattern or name for name, _, pattern in pairs}
    return names[0] if len(names) == 1 else names


def tool_schemas_of(schemas: list[str] | None) -> dict[str, Any] | None:
    if not schemas:
        return None
    pairs = [schema.partition("=") for schema in schemas]
    if not all(name and path for name, _, path in pairs):
        raise ValueError("--schema is TOOL=FILE")
    return {name: json_file(path) for name, _, path in pairs}


def bytes_of(size: str | None) -> int | None:
    """A size like 64MB or 1.5GiB."""
    if size is None:
        return None
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)\s*([kmgt]?)(i?)b?", size.strip().lower())
    if found is None:
        raise typer.BadParameter(f"a size is a number with perhaps kB, MB or GB, not {size!r}")
    count, unit, binary = found.groups()
    return int(float(count) * (1024 if binary else 1000) ** " kmgt".index(unit or " "))
