"""`jsonrill batch`: a sub-command for each job; shows progress, report and exit code."""

from __future__ import annotations

import os
import shlex
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

import typer
from jsonrill.options import BATCH_MODE, Option, jobs_of, offered

from jsonrill.cli.options import Own, bytes_of, flagged, json_file, made, own_flags, tool_schemas_of
from jsonrill.jsontext import dumps

if TYPE_CHECKING:
    from . import Progress, Report

# Without a terminal, progress is one line in this many seconds.
EVERY = 10.0

INPUTS = "Files, folders, patterns or URLs (s3://...) to read."
# What each job is for: the first line of its help.
HELP = {
    "check": "Say of each stream whether it is valid, where it is not, and how long it took.",
    "values": "Write the last value of each stream.",
    "updates": "Write the updates of each stream: the Partial Stream Spec in five modes.",
    "fragments": "Write the fragments of each stream.",
    "chunks": "Write the chunks that the snapshots of each stream make.",
    "calls": "Write the tool calls of each stream, with their arguments.",
}
EXAMPLES = {
    "check": "logs/*.jsonl.gz --schema trip.json --out checked",
    "values": "logs/ --repair --out values --format parquet",
    "updates": "logs/ --entity days --send delta --out updates",
    "fragments": "logs/ --out fragments",
    "chunks": "snapshots.jsonl --null placeholder --out chunks",
    "calls": "answers.sse --schema weather=weather.json --out calls",
}

app = typer.Typer(
    name="batch",
    no_args_is_help=True,
    rich_markup_mode=None,
    help="""Convert, validate or check millions of recorded streams, on all processors or on Dask.

A line of a log is a stream: {"id": ..., "chunks": [...]}, or its snapshots, events or text; .gz,
recorded event streams and exports of OpenAI batches, Langfuse and Helicone are read, too.
Rows go to rows/part-*.jsonl in the folder, lines that are no streams to quarantine.jsonl;
report.html shows the results. Continue a run that was stopped with: jsonrill batch resume FOLDER

Exit code 0: all done, all valid; 1: some streams are not valid, or some lines are in quarantine;
2: the run could not start; 3: it failed, or a shard did; 130: it was stopped.

Example: jsonrill batch check logs/*.jsonl.gz --out checked""",
)


def _schema(place: str | None) -> Any:
    """The JSON Schema in a file; or module:Name as it is, which workers import."""
    if place is None or (":" in place and not Path(place).exists()):
        if place is not None and os.getcwd() not in sys.path:
            sys.path.append(os.getcwd())  # last, so that it hides no other module
        return place
    return json_file(place)


def _options(kind: str) -> Iterator[Option]:
    """The options of a job, but --schema, which means something else for each."""
    snapshots = kind != "chunks"
    for option in offered("cli"):
        if option not in offered("batch") or kind not in jobs_of(option):
            continue
        if option.name in ("schema", "schemas"):
            continue
        default = BATCH_MODE if option.name == "mode" else option.default
        of = "For snapshots: " if snapshots and option.stages == ("chunks",) else ""
        yield replace(option, help=of + option.help, default=default)


def _add(kind: str) -> None:
    """Add the sub-command of a job."""

    def work(options: dict[str, Any], own: Own) -> None:
        from . import Job, run
        from .operations import Work

        if not own.files or own.out is None:
            raise typer.BadParameter("at least one input, and --out FOLDER, are needed")
        sizes = made(lambda: (bytes_of(own.max_line), bytes_of(own.shard_size)))
        options |= {"field": own.field, "id_field": own.id_field, "max_line": sizes[0]}
        schemas = made(lambda: _schemas(vars(own).get("schema")))
        job = made(lambda: Work(Job(kind=kind, **options, **schemas)).job)
        where = _where(own) | {"format": own.format, "input_format": own.input}
        where |= {"shard_bytes": sizes[1]}
        _do(lambda show: run(job, own.files, own.out, **where, on_progress=show), own.out, own.json)

    work.__name__ = kind
    work.__doc__ = f"{HELP[kind]}\n\nExample: jsonrill batch {kind} {EXAMPLES[kind]}"
    rows = [*own_flags("batch"), *own_flags(f"batch-{kind}"), *_options(kind)]
    app.command(kind)(flagged(work, rows, {"files": INPUTS}, _schema))


def _resume(options: dict[str, Any], own: Own) -> None:
    """Continue the run in a folder, with the job and the inputs that it was started with.

    Example: jsonrill batch resume checked
    """
    from . import resume

    work = lambda show: resume(own.folder, **_where(own), on_progress=show)  # noqa: E731
    _do(work, own.folder, own.json)


def _where(own: Own) -> dict[str, Any]:
    return {"engine": own.engine, "workers": own.workers, "scheduler": own.scheduler}


for _kind in HELP:
    _add(_kind)
app.command("resume")(
    flagged(_resume, own_flags("batch-resume"), {"folder": "The folder of the run."})
)


def _do(work: Callable[[Callable[[Progress], None]], Report], out: str, as_json: bool) -> None:
    """Run the job, show its progress, and exit with its report."""
    from . import BatchError, Interrupted, OutputError
    from .output.report import printable

    started = False

    def on_progress(progress: Progress) -> None:
        nonlocal started
        started = True
        show(progress)

    try:
        with _stoppable(), _showing() as show:
            report = work(on_progress)
    except (BatchError, ValueError, ImportError, KeyboardInterrupt) as error:
        again = f". Continue with: jsonrill batch resume {shlex.quote(out)}" if started else ""
        _complain(f"{str(error) or 'stopped'}{again}")
        if isinstance(error, Interrupted | KeyboardInterrupt):
            raise typer.Exit(130) from None
        raise typer.Exit(3 if started or isinstance(error, OutputError) else 2) from None
    if as_json:
        typer.echo(dumps(report.to_json()))
    else:
        typer.echo(report.to_text(), nl=False)
        typer.echo(printable(f"  in          {out}/ (report.html)"))
    if report.failed:
        _complain(f"some shards failed. Continue with: jsonrill batch resume {shlex.quote(out)}")
        raise typer.Exit(3)
    if not report.summary.lines:
        _complain("the input is empty")
        raise typer.Exit(1)
    raise typer.Exit(0 if report.ok else 1)


def _complain(text: str) -> None:
    from .output.report import printable

    typer.echo(f"jsonrill: {printable(' '.join(text.split()))}", err=True)


@contextmanager
def _stoppable() -> Iterator[None]:
    """Treat SIGTERM as Ctrl-C."""

    def stop(number: int, frame: Any) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def _showing() -> Iterator[Callable[[Progress], None]]:
    """A function that shows progress: a bar on a terminal, else a line now and then."""
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
    from .output.report import duration, number, size

    now = progress.bytes_done - progress.bytes_before
    speed = size(now / progress.seconds) if progress.seconds > 0 else "-"
    parts = [f"{number(progress.streams)} streams", f"{speed}/s"]
    if progress.left is not None:
        parts.append(f"{duration(progress.left)} left")
    for count, what in ((progress.quarantined, "in quarantine"), (progress.failed, "failed")):
        if count:
            parts.append(f"{number(count)} {what}")
    return " · ".join(parts)


def _schemas(places: str | list[str] | None) -> dict[str, Any]:
    if not places:
        return {}
    if isinstance(places, str):
        return {"schema": _schema(places)}
    return {"schemas": tool_schemas_of(places)}


def add(commands: typer.Typer) -> None:
    """Add the command to those of the library (an entry point)."""
    commands.add_typer(app)
