"""Options that several commands have, declared once.

A group is a dataclass of options. A command has it as a parameter; `grouped` gives the command's
options to typer one by one and the group, filled, to the command.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from ..parse.lenient.rules import RULES
from .input import Source
from .options import rules_of
from .output import Sink

Delay = Annotated[float, typer.Option(min=0, help="Wait N milliseconds after each piece.")]


@dataclass(frozen=True)
class Ends:
    """Where input comes from, and how output looks."""

    files: Annotated[
        list[Path] | None,
        typer.Argument(help="Files to read; - or none is standard input.", show_default=False),
    ] = None
    sse: Annotated[bool, typer.Option("--sse", help="Read and write text/event-stream.")] = False
    sse_in: Annotated[
        bool, typer.Option("--sse-in", help="Read text/event-stream, write lines.")
    ] = False
    sse_out: Annotated[bool, typer.Option("--sse-out", help="Write text/event-stream.")] = False
    pretty: Annotated[bool, typer.Option("--pretty", help="Indent what is written.")] = False
    color: Annotated[
        bool | None,
        typer.Option(
            "--color/--no-color", help="Colours; by default on a terminal.", show_default=False
        ),
    ] = None

    def source(self, tokens: int = 0, delay: float = 0) -> Source:
        return Source(self.files or [], tokens, delay, self.sse or self.sse_in)

    def sink(self) -> Sink:
        return Sink(pretty=self.pretty, color=self.color, sse=self.sse or self.sse_out)


@dataclass(frozen=True)
class Pace:
    """How a text is cut and paced, as if a model sent it."""

    tokens: Annotated[
        int, typer.Option(min=0, help="Cut the text into pieces of N characters.")
    ] = 0
    delay: Delay = 0


@dataclass(frozen=True)
class Leniency:
    """What may be read as JSON."""

    repair: Annotated[
        bool, typer.Option("--repair", help="Read what models write instead of JSON.")
    ] = False
    rules: Annotated[
        str | None,
        typer.Option(help=f"Only these repairs, with commas between: {', '.join(RULES)}."),
    ] = None
    many: Annotated[bool, typer.Option("--many", help="Read one document after another.")] = False
    report: Annotated[bool, typer.Option("--report", help="Tell of repairs on standard error.")] = (
        False
    )

    def wanted(self) -> dict[str, Any]:
        """For a Parser, a Document or a PartialStream."""
        return {"repair": rules_of(self.repair, self.rules), "many": self.many}


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """The command with the options of its groups in place of the groups."""
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, Any] = {name: hint for name, hint in hints.items() if is_dataclass(hint)}
    parameters: list[Parameter] = []
    for name, parameter in signature(command).parameters.items():
        if name in groups:
            kinds = get_type_hints(groups[name], include_extras=True)
            of_group = ((it.name, it.default, kinds[it.name]) for it in fields(groups[name]))
            parameters += [_option(*it) for it in of_group]
        else:
            parameters.append(_option(name, parameter.default, hints[name]))

    @wraps(command)
    def run(**given: Any) -> None:
        for name, group in groups.items():
            given[name] = group(**{it.name: given.pop(it.name) for it in fields(group)})
        command(**given)

    run.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {it.name: it.annotation for it in parameters}
    del run.__wrapped__  # typer would look through to it
    return run


def _option(name: str, default: Any, kind: Any) -> Parameter:
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=kind)
