"""`jsonrill batch`: makes a job from the flags, shows progress, report and exit code."""

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
from typing import TYPE_CHECKING, Any, get_args

import typer

from ..jsontext import dumps
from ..options import BATCH_MODE, Option, Stage, offered
from .options import Own, bytes_of, flagged, json_file, made, own_flags, tool_schemas_of

if TYPE_CHECKING:
    from ..batch import Progress, Report

# Without a terminal, progress is one line in this many seconds.
EVERY = 10.0

INPUTS = (
    "The job (values, updates, fragments, chunks, calls or check), then the files, folders,"
    " patterns or URLs (s3://...) to read."
)
# The flags that --resume allows; the manifest in the folder has all others.
_OF_A_RUN = {"resume", "engine", "workers", "scheduler", "json"}


def _schema(given: str | None) -> Any:
    """The JSON Schema in a file; or module:Name as it is, which workers import."""
    if given is None or (":" in given and not Path(given).exists()):
        if given is not None and os.getcwd() not in sys.path:
            sys.path.append(os.getcwd())  # last, so that it hides no other module
        return given
    return json_file(given)


def _options() -> Iterator[Option]:
    """The options of all stages, but --schema, which means something else for each job."""
    of: dict[tuple[str, ...], str]
    of = {("updates",): "For updates: ", ("chunks",): "For snapshots: ", ("calls",): "For calls: "}
    for option in offered("cli"):
        stages = tuple(stage for stage in option.stages if stage in get_args(Stage))
        if option in offered("batch") and option.name not in ("schema", "schemas"):
            default = BATCH_MODE if option.name == "mode" else option.default
            yield replace(option, help=of.get(stages, "") + option.help, default=default)


def batch(options: dict[str, Any], own: Own) -> None:
    """Convert, validate or check millions of recorded streams, on all processors or on Dask.

    A line of a log is a stream: {"id": ..., "chunks": [...]}, or its snapshots, events or text;
    .gz, .zst and recorded event streams are read, too. Rows go to part-*.jsonl in the folder, lines
    that are no streams to quarantine.jsonl; report.html shows the results. --resume FOLDER
    continues a run that was stopped.

    Exit code 0: all done; 1: some lines are in quarantine, a shard failed, or (check) a stream is
    not valid; 2: the run could not start; 130: it was stopped, continue with --resume.

    Example: jsonrill batch check logs/*.jsonl.gz --out checked
    """
    from ..batch import Job
    from ..batch import resume as resumed
    from ..batch import run as begun
    from ..batch.operations import Work

    where = {"engine": own.engine, "workers": own.workers, "scheduler": own.scheduler}
    if own.resume is not None:
        source = own.context.get_parameter_source
        typed = {name for name in own.context.params if source(name).name != "DEFAULT"}
        if typed - _OF_A_RUN:
            raise typer.BadParameter("--resume takes the job and its inputs from the folder")
        _do(lambda show: resumed(own.resume, **where, on_progress=show), own.resume, own.json)
        return
    kind, *paths = own.files or [""]
    if not paths or own.out is None:
        raise typer.BadParameter("a job, at least one input, and --out FOLDER are needed")
    sizes = made(lambda: (bytes_of(own.max_line), bytes_of(own.shard_size)))
    options |= {"field": own.field, "id_field": own.id_field, "max_line": sizes[0]}
    job = made(lambda: Work(Job(kind=kind, **options, **_schemas(kind, own.schema))).job)
    where |= {"format": own.format, "input_format": own.input}
    where |= {"shard_bytes": sizes[1]}
    _do(lambda show: begun(job, paths, own.out, **where, on_progress=show), own.out, own.json)


command = flagged(batch, [*own_flags("batch"), *_options()], {"files": INPUTS}, _schema)


def _do(work: Callable[[Callable[[Progress], None]], Report], out: str, as_json: bool) -> None:
    """Run the job, show its progress, and exit with its report."""
    from ..batch import BatchError, Interrupted, OutputError
    from ..batch.output.report import printable

    started = False

    def on_progress(progress: Progress) -> None:
        nonlocal started
        started = True
        show(progress)

    try:
        with _stoppable(), _showing() as show:
            report = work(on_progress)
    except (BatchError, ValueError, ImportError, KeyboardInterrupt) as error:
        again = f". Continue with: jsonrill batch --resume {shlex.quote(out)}" if started else ""
        _complain(f"{str(error) or 'stopped'}{again}")
        if isinstance(error, Interrupted | KeyboardInterrupt):
            raise typer.Exit(130) from None
        raise typer.Exit(1 if started or isinstance(error, OutputError) else 2) from None
    if as_json:
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


def _schemas(kind: str, given: list[str] | None) -> dict[str, Any]:
    if not given:
        return {}
    if kind == "calls":
        return {"schemas": tool_schemas_of(given)}
    if len(given) > 1:
        raise ValueError("only calls takes more than one --schema, one for each tool")
    return {"schema": _schema(given[0])}
