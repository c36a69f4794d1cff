"""The flags that several commands share: each group is a function that returns what they say."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import fields
from inspect import Parameter, Signature, signature
from typing import Annotated, Any

import typer

from ..errors import Limits
from ..parse.options import RULES, rule_names
from .files import Input, Output, report

Files = Annotated[
    list[str] | None,
    typer.Argument(help="Files to read, each on its own; - or none is standard input."),
]
SchemaFile = Annotated[str | None, typer.Option(help="JSON Schema in a file.", metavar="FILE")]


def inputs(
    files: Files = None,
    tokens: Annotated[int, typer.Option(min=0, help="Cut the text into pieces of N bytes.")] = 0,
    delay: Annotated[float, typer.Option(min=0, help="Wait N milliseconds after a piece.")] = 0,
) -> list[Input]:
    return [Input(file, tokens, delay) for file in files or ["-"]]


def output(pretty: Annotated[bool, typer.Option(help="Indent the output.")] = False) -> Output:
    return Output(pretty)


def reading(
    tool: Annotated[
        str | None, typer.Option(help="Read the arguments of this tool's calls; true: of any.")
    ] = None,
    choice: Annotated[int, typer.Option(min=0, help="Which of several answers to read.")] = 0,
    provider: Annotated[str, typer.Option(help="Whose events these are.")] = "auto",
    sse: Annotated[bool, typer.Option("--sse", help="The input is an event stream.")] = False,
    repair: Annotated[bool, typer.Option("--repair", help="Read what is nearly JSON.")] = False,
    rules: Annotated[
        str | None, typer.Option(help=f"Apply only these repairs: {', '.join(RULES)}.")
    ] = None,
    on_repair: Annotated[
        bool, typer.Option("--report", help="Report repairs on standard error.")
    ] = False,
    prefix: Annotated[str, typer.Option(help="Text that comes before the answer.")] = "",
    limit: Annotated[
        list[str] | None,
        typer.Option(help=f"NAME=N: {', '.join(field.name for field in fields(Limits))}."),
    ] = None,
) -> dict[str, Any]:
    """Return the options of reading JSON text from a source."""
    options: dict[str, Any] = {"choice": choice, "provider": provider, "sse": sse, "prefix": prefix}
    options["tool"] = True if tool == "true" else tool
    names = rule_names(rule.strip() for rule in rules.split(",")) if rules else True
    options["repair"] = names if repair or rules else False
    options["limits"] = limits_of(limit or [])
    if on_repair:
        options["on_repair"] = report_repair
    return options


def report_repair(repair: Any) -> None:
    place = f"at character {repair.offset} (line {repair.line}, column {repair.column})"
    report(f"repaired {repair.rule} {place}")


def limits_of(texts: list[str]) -> Limits:
    """Return the limits given as NAME=N."""
    known = [field.name for field in fields(Limits)]
    limits = dict(map(_pair, texts))
    if not (limits.keys() <= {*known} and all(map(str.isdecimal, limits.values()))):
        raise ValueError(f"a limit must be NAME=N, where NAME is one of {', '.join(known)}")
    return Limits(**{name: int(number) for name, number in limits.items()})


def named(texts: list[str] | None) -> Any:
    """Return one text, several, or a mapping if they are NAME=TEXT; None if there are none."""
    if not texts:
        return None
    if any("=" in text for text in texts):
        return {name: text or name for name, text in map(_pair, texts)}
    return texts[0] if len(texts) == 1 else texts


def _pair(text: str) -> tuple[str, str]:
    name, _, value = text.partition("=")
    return name, value


def load_json(path: str | None) -> Any:
    """Return the JSON value in a file; `ValueError` if it cannot be read."""
    if path is None:
        return None
    try:
        with open(path, encoding="utf8") as file:
            return json.load(file)
    except OSError as error:
        raise ValueError(f"{path}: {error.strerror}") from error
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error


def load_named(files: list[str] | None) -> dict[str, Any] | None:
    """Return the JSON values in files that are given as NAME=FILE."""
    paths = dict(map(_pair, files or []))
    if not all(paths.values()):
        raise ValueError("--schema must be TOOL=FILE")
    return {name: load_json(path) for name, path in paths.items()} or None


def checked(work: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    """Call the library; an option that it refuses is a usage error."""
    try:
        return work(*arguments, **options)
    except (TypeError, ValueError) as error:
        raise typer.BadParameter(str(error)) from error
    except ImportError as error:
        report(str(error))
        raise typer.Exit(2) from None


def with_flags(work: Callable[..., None]) -> Callable[..., None]:
    """Return a command in which each parameter named like a group is replaced by its flags."""
    parameters = dict(signature(work, eval_str=True).parameters)
    groups = {
        group: signature(group, eval_str=True).parameters
        for group in (reading, inputs, output)
        if parameters.pop(group.__name__, None)
    }
    flags = [*parameters.values(), *(flag for own in groups.values() for flag in own.values())]

    def run(**given: Any) -> None:
        for group, own in groups.items():
            given[group.__name__] = checked(group, **{name: given.pop(name) for name in own})
        work(**given)

    keywords = [flag.replace(kind=Parameter.KEYWORD_ONLY) for flag in flags]
    run.__signature__ = Signature(keywords)  # type: ignore[attr-defined]
    run.__annotations__ = {flag.name: flag.annotation for flag in flags}
    run.__name__, run.__doc__ = work.__name__, work.__doc__
    return run
