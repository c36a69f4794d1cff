"""The command `jsonrill batch`."""

from __future__ import annotations

import json
import signal
from collections import Counter
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import Progress
from rich.table import Column, Table

from .output import BatchError
from .reader import Job, Kind


def batch(
    kind: Annotated[Kind, typer.Argument(help="What to write for each stream.")],
    inputs: Annotated[list[str], typer.Argument(help="Files (.gz, too), folders or patterns.")],
    out: Annotated[str, typer.Option(help="The folder for the rows.", metavar="DIR")],
    schema: Annotated[
        Path | None, typer.Option(exists=True, help="A JSON Schema; for calls, schemas by tool.")
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

    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        rules = None if schema is None else json.loads(schema.read_text("utf8"))
        job = Job(kind, rules, field, id_field, provider, repair, mode, entity)
        with Progress(console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task(kind, total=None)

            def show(done: int, total: int) -> None:
                bar.update(task, completed=done, total=total)

            counts = run(inputs, out, job, scheduler, workers, parquet, on_progress=show)
    except (ValueError, TypeError) as error:
        raise typer.BadParameter(str(error)) from error
    except (BatchError, OSError) as error:
        typer.echo(f"jsonrill: {error}", err=True)
        raise typer.Exit(3) from None
    except KeyboardInterrupt:
        typer.echo("jsonrill: stopped; the same command continues the run", err=True)
        raise typer.Exit(130) from None
    if as_json:
        typer.echo(json.dumps(counts))
    else:
        Console().print(_table(counts))
    raise typer.Exit(0 if counts["complete"] == counts["streams"] else 1)


def _table(counts: Counter[str]) -> Table:
    details = sorted(name for name in counts if ": " in name)
    table = Table("", Column(justify="right"), show_header=False)
    for name in ["streams", "complete", "cut", "invalid", *details]:
        table.add_row(name, f"{counts[name]:,}")
    table.add_row("seconds", f"{counts['milliseconds'] / 1000:,.1f}")
    return table


def add(commands: typer.Typer) -> None:
    """Add the command to the commands of the library."""
    commands.command("batch")(batch)
