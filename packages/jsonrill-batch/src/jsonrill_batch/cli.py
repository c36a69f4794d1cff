"""The command `jsonrill batch`."""

from __future__ import annotations

import json
import signal
from collections import Counter
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from .errors import BatchError
from .job import Job
from .reader import Reader
from .summary import Summary


class Kind(StrEnum):
    """The jobs, for the help."""

    values = "values"
    updates = "updates"
    check = "check"
    calls = "calls"


def batch(
    kind: Annotated[Kind, typer.Argument(help="What to write for each stream.")],
    inputs: Annotated[list[str], typer.Argument(help="Files (.gz, too), folders or patterns.")],
    out: Annotated[str, typer.Option(help="The folder for the rows.", metavar="DIR")],
    schema: Annotated[
        list[str] | None,
        typer.Option(help="JSON Schema in a file; for calls TOOL=FILE.", metavar="FILE"),
    ] = None,
    field: Annotated[
        str | None, typer.Option(help="Path of the stream in a line; . if the line is the text.")
    ] = None,
    id_field: Annotated[str, typer.Option(help="Path of the id in a line.")] = "id",
    provider: Annotated[str, typer.Option(help="Whose events these are.")] = "auto",
    repair: Annotated[bool, typer.Option("--repair", help="Read what is nearly JSON.")] = False,
    mode: Annotated[str, typer.Option(help="For updates: their mode.")] = "ONE-BY-ONE",
    entity: Annotated[
        str | None, typer.Option(help="For updates: a key, or a pattern such as days[*].")
    ] = None,
    send: Annotated[str, typer.Option(help="For updates: data, delta or both.")] = "data",
    parquet: Annotated[bool, typer.Option("--parquet", help="Write Parquet, not JSONL.")] = False,
    scheduler: Annotated[str | None, typer.Option(help="Address of a Dask scheduler.")] = None,
    workers: Annotated[int | None, typer.Option(min=1, help="Number of local processes.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Write the summary as JSON.")] = False,
) -> None:
    """Turn logs of recorded streams into rows, on all processors or on a Dask cluster.

    A second run skips what is done. Exit code 0: all streams are complete; 1: some are not; 2: the
    command was used wrongly; 3: the run failed; 130: it was stopped.

    Example: jsonrill batch check logs/*.jsonl.gz --schema trip.json --out checked
    """
    from .runner import run  # loads Dask

    if scheduler is not None and workers is not None:
        raise typer.BadParameter("leave out --scheduler or --workers")
    try:
        rules = _schema(kind, schema or [])
        job = Job(kind.value, rules, field, id_field, provider, repair, mode, entity, send)
        Reader(job)
    except (ValueError, TypeError) as error:
        raise typer.BadParameter(str(error)) from error
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn())
    console = Console(stderr=True)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with Progress(*columns, TimeRemainingColumn(), console=console, transient=True) as bar:
            task = bar.add_task(kind.value, total=None)
            summary = run(
                inputs,
                out,
                job,
                scheduler,
                workers=workers,
                parquet=parquet,
                on_progress=lambda done, total: bar.update(task, completed=done, total=total),
            )
    except (BatchError, OSError) as error:
        typer.echo(f"jsonrill: {error}", err=True)
        raise typer.Exit(3) from None
    except KeyboardInterrupt:
        typer.echo("jsonrill: stopped; the same command continues the run", err=True)
        raise typer.Exit(130) from None
    if as_json:
        typer.echo(json.dumps(summary.to_dict()))
    else:
        Console().print(_table(summary))
    raise typer.Exit(0 if summary.complete == summary.streams else 1)


def _schema(kind: str, files: list[str]) -> Any:
    """Return the JSON Schema in a file; for calls a schema for each tool."""
    if kind == "calls":
        pairs = [text.partition("=") for text in files]
        if not all(file for _, _, file in pairs):
            raise ValueError("for calls, --schema is TOOL=FILE")
        return {tool: _load(file) for tool, _, file in pairs} or None
    if len(files) > 1:
        raise ValueError("only calls take several schemas")
    return _load(files[0]) if files else None


def _load(file: str) -> Any:
    try:
        return json.loads(Path(file).read_text("utf8"))
    except (OSError, ValueError) as error:
        raise ValueError(f"{file}: {error}") from error


def _table(summary: Summary) -> Table:
    table = Table("streams", f"{summary.streams:,}")
    table.columns[1].justify = "right"

    def add(name: str, count: float) -> None:
        table.add_row(name, f"{count:,}")

    def add_all(name: str, counts: Counter[str]) -> None:
        for key, count in counts.most_common():
            add(f"{name}: {key}", count)

    add("complete", summary.complete)
    add("cut", summary.cut)
    add_all("invalid", summary.invalid)
    add_all("repairs", summary.repairs)
    add_all("tokens", summary.tokens)
    add("seconds", round(summary.seconds, 1))
    return table


def add(commands: typer.Typer) -> None:
    """Add the command to the commands of the library."""
    commands.command("batch")(batch)
