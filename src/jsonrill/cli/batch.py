"""`jsonrill batch`: what is asked for, made into a job; progress; the report; exit codes."""

from __future__ import annotations

import os
import shlex
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from ..parse.lenient.rules import RULES
from .options import bytes_of, entities_of, json_file, made, rules_of, tool_schemas_of

if TYPE_CHECKING:
    from ..batch import Progress, Report

# Without a terminal: a line after this many seconds.
EVERY = 10.0

Inputs = Annotated[
    list[str] | None,
    typer.Argument(
        help="What to do (values, updates, fragments, chunks, calls or check), and the files,"
        " folders, patterns or addresses (s3://...) to read.",
        show_default=False,
    ),
]


# What --resume may be given with; all else is in the folder.
_OF_A_RUN = {"resume", "engine", "workers", "scheduler", "json_report"}


def batch(
    context: typer.Context,
    inputs: Inputs = None,
    out: Annotated[
        str | None, typer.Option("--out", "-o", help="A new folder for what is made.")
    ] = None,
    resume: Annotated[
        str | None, typer.Option(help="Do what is missing of the run in this folder.")
    ] = None,
    engine: Annotated[
        Literal["local", "dask"], typer.Option(help="Processes here, or a Dask cluster.")
    ] = "local",
    workers: Annotated[
        int | None,
        typer.Option(
            min=0, help="Processes; by default one for each processor.", show_default=False
        ),
    ] = None,
    scheduler: Annotated[
        str | None, typer.Option(help="Where Dask is, like tcp://host:8786; by default here.")
    ] = None,
    format: Annotated[
        Literal["jsonl", "parquet"], typer.Option(help="How rows are written.")
    ] = "jsonl",
    input: Annotated[
        Literal["auto", "jsonl", "sse"],
        typer.Option(help="What files hold: a stream a line, or event streams as they came."),
    ] = "auto",
    field: Annotated[
        str | None, typer.Option(help="Where in a line the stream is, like response.chunks.")
    ] = None,
    id_field: Annotated[str, typer.Option(help="Where in a line its id is.")] = "id",
    schema: Annotated[
        list[str] | None,
        typer.Option(help="A file with a JSON Schema, or module:Name; for calls TOOL=FILE."),
    ] = None,
    document_schema: Annotated[
        str | None, typer.Option(help="For updates: the schema of the document.")
    ] = None,
    mode: Annotated[
        str | None, typer.Option(help="For updates: as of jsonrill updates. [default: ONE-BY-ONE]")
    ] = None,
    entity: Annotated[
        list[str] | None, typer.Option(help="For updates: what is one entity.")
    ] = None,
    send: Annotated[
        Literal["data", "delta", "both"], typer.Option(help="For updates: what they carry.")
    ] = "data",
    eager: Annotated[
        bool, typer.Option("--eager", help="For snapshots: show one of several values at once.")
    ] = False,
    null: Annotated[
        Literal["value", "placeholder"],
        typer.Option(help="For snapshots: is a null a value, or one that has not come yet?"),
    ] = "value",
    on_revision: Annotated[
        Literal["raise", "keep"],
        typer.Option(help="For snapshots that contradict: an error, or keep what is written."),
    ] = "raise",
    provider: Annotated[str, typer.Option(help="For calls: whose events these are.")] = "auto",
    repair: Annotated[
        bool, typer.Option("--repair", help="Read what models write instead of JSON.")
    ] = False,
    rules: Annotated[
        str | None,
        typer.Option(help=f"Only these repairs, with commas between: {', '.join(RULES)}."),
    ] = None,
    shard_size: Annotated[
        str | None, typer.Option(help="Bytes of input for each part, like 64MB.")
    ] = None,
    max_line: Annotated[str, typer.Option(help="A longer line is put into quarantine.")] = "32MiB",
    json_report: Annotated[bool, typer.Option("--json", help="Write the report as JSON.")] = False,
) -> None:
    """Millions of recorded streams: converted, validated or checked, on all processors or on Dask.

    A line of a log is a stream: {"id": ..., "chunks": [...]}, or its snapshots, events or text;
    .gz, .zst and event streams as they came are read, too. Rows go to part-*.jsonl in the folder,
    lines that are no streams to quarantine.jsonl, and report.html tells how it went. A run that was
    stopped, by whatever, goes on with --resume FOLDER.

    Exit code 0: all done; 1: some lines are in quarantine, a shard failed, or (check) a stream is
    not valid; 2: it could not begin; 130: stopped, go on with --resume.

    Example: jsonrill batch check logs/*.jsonl.gz --out checked
    """
    from ..batch import Job
    from ..batch import resume as resumed
    from ..batch import run as begun
    from ..batch.operations import Work

    where: dict[str, Any] = {"engine": engine, "workers": workers, "scheduler": scheduler}
    if resume is not None:
        if _given(context) - _OF_A_RUN:
            raise typer.BadParameter("--resume takes the job and its inputs from the folder")
        _do(lambda tell: resumed(resume, **where, tell=tell), resume, json_report)
        return
    kind, *paths = inputs or [""]
    if not paths or out is None:
        raise typer.BadParameter("what to do, at least one input, and --out FOLDER are needed")
    options: dict[str, Any] = {
        "document_schema": made(lambda: _schema(document_schema)),
        "mode": mode,
        "entity": entities_of(entity),
        "send": send,
        "eager": eager,
        "null": null,
        "on_revision": on_revision,
        "provider": provider,
        "repair": _repair(repair, rules),
        "field": field,
        "id_field": id_field,
        "max_line": bytes_of(max_line),
        **made(lambda: _schemas(kind, schema)),
    }
    given = {name: value for name, value in options.items() if value is not None}
    job = made(lambda: Work(Job(kind=kind, **given)).job)
    size = bytes_of(shard_size)
    _do(
        lambda tell: begun(
            job, paths, out, **where, format=format, form=input, shard_bytes=size, tell=tell
        ),
        out,
        json_report,
    )


def _given(context: typer.Context) -> set[str]:
    """What was typed, and is not what it is by itself."""
    source = context.get_parameter_source
    return {name for name in context.params if (found := source(name)) and found.name != "DEFAULT"}


def _do(work: Callable[[Callable[[Progress], None]], Report], out: str, as_json: bool) -> None:
    """Run it, show how far it is, tell how it went."""
    from ..batch import BatchError, Interrupted, OutputError
    from ..batch.output.report import printable

    begun = False

    def tell(progress: Progress) -> None:
        nonlocal begun
        begun = True
        show(progress)

    try:
        with _stoppable(), _showing() as show:
            report = work(tell)
    except (BatchError, ValueError, ImportError, KeyboardInterrupt) as error:
        again = f". Go on with: jsonrill batch --resume {shlex.quote(out)}" if begun else ""
        _complain(f"{str(error) or 'stopped'}{again}")
        if isinstance(error, Interrupted | KeyboardInterrupt):
            raise typer.Exit(130) from None
        raise typer.Exit(1 if begun or isinstance(error, OutputError) else 2) from None
    if as_json:
        from ..parse.grammar import dumps

        typer.echo(dumps(report.to_json()))
    else:
        typer.echo(report.to_text(), nl=False)
        typer.echo(printable(f"  in          {out}/ (report.html)"))
    raise typer.Exit(0 if report.ok else 1)


def _complain(text: str) -> None:
    from ..batch.output.report import printable

    typer.echo(f"jsonrill: {printable(' '.join(text.split()))}", err=True)


@contextmanager
def _stoppable() -> Iterator[None]:
    """To be told to end is as good as Ctrl-C."""

    def stop(number: int, frame: Any) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def _showing() -> Iterator[Callable[[Progress], None]]:
    """A bar for who looks on, a line now and then for a log."""
    if not sys.stderr.isatty():
        yield _lines()
        return
    from rich.console import Console
    from rich.progress import BarColumn, TaskProgressColumn, TextColumn
    from rich.progress import Progress as Bar

    columns = (BarColumn(), TaskProgressColumn(), TextColumn("{task.description}"))
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("planning", total=None)

        def show(progress: Progress) -> None:
            bar.update(
                task,
                total=progress.bytes,
                completed=progress.bytes_done,
                description=_said(progress),
            )

        yield show


def _lines() -> Callable[[Progress], None]:
    last = monotonic()

    def show(progress: Progress) -> None:
        nonlocal last
        if monotonic() - last >= EVERY:
            last = monotonic()
            share = 100 * progress.bytes_done / (progress.bytes or 1)
            _complain(f"{share:.0f} % · {_said(progress)}")

    return show


def _said(progress: Progress) -> str:
    from ..batch.output.report import duration, number, size

    now = progress.bytes_done - progress.bytes_before
    speed = size(now / progress.seconds) if progress.seconds > 0 else "-"
    parts = [f"{number(progress.streams)} streams", f"{speed}/s"]
    if progress.left is not None:
        parts.append(f"{duration(progress.left)} left")
    for count, what in ((progress.quarantined, "in quarantine"), (progress.failed, "failed")):
        if count:
            parts.append(f"{number(count)} {what}")
    return " · ".join(parts)


def _repair(repair: bool, rules: str | None) -> bool | tuple[str, ...]:
    found = rules_of(repair, rules)
    return found if isinstance(found, bool) else tuple(sorted(found))


def _schemas(kind: str, given: list[str] | None) -> dict[str, Any]:
    if not given:
        return {}
    if kind == "calls":
        return {"tool_schemas": tool_schemas_of(given)}
    if len(given) > 1:
        raise ValueError("there is one --schema, but for calls one for each tool")
    return {"schema": _schema(given[0])}


def _schema(given: str | None) -> Any:
    """A file, or the name of a type, which workers import."""
    if given is None or (":" in given and not Path(given).exists()):
        if given is not None and os.getcwd() not in sys.path:
            sys.path.append(os.getcwd())  # last: nothing in it stands for another module
        return given
    return json_file(Path(given))
