"""`jsonrill batch`: what is asked for, made into a job; progress; the report; exit codes."""

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

from ..options import BATCH_MODE, Option, Stage, offered
from .options import Own, bytes_of, flagged, json_file, made, own_flags, tool_schemas_of

if TYPE_CHECKING:
    from ..batch import Progress, Report

# Without a terminal: a line after this many seconds.
EVERY = 10.0

INPUTS = (
    "What to do (values, updates, fragments, chunks, calls or check), and the files, folders,"
    " patterns or addresses (s3://...) to read."
)
# What --resume may be given with; all else is in the folder.
_OF_A_RUN = {"resume", "engine", "workers", "scheduler", "json"}


def _schema(given: str | None) -> Any:
    """A file, or the name of a type, which workers import."""
    if given is None or (":" in given and not Path(given).exists()):
        if given is not None and os.getcwd() not in sys.path:
            sys.path.append(os.getcwd())  # last: nothing in it stands for another module
        return given
    return json_file(given)


def _options() -> Iterator[Option]:
    """Those of all stages, but for --schema, which means another thing for each."""
    of: dict[tuple[str, ...], str]
    of = {("updates",): "For updates: ", ("chunks",): "For snapshots: ", ("calls",): "For calls: "}
    for option in offered("cli"):
        stages = tuple(stage for stage in option.stages if stage in get_args(Stage))
        if option in offered("batch") and option.name not in ("schema", "schemas"):
            default = BATCH_MODE if option.name == "mode" else option.default
            yield replace(option, help=of.get(stages, "") + option.help, default=default)


def batch(options: dict[str, Any], own: Own) -> None:
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

    where = {"engine": own.engine, "workers": own.workers, "scheduler": own.scheduler}
    if own.resume is not None:
        source = own.context.get_parameter_source
        typed = {name for name in own.context.params if source(name).name != "DEFAULT"}
        if typed - _OF_A_RUN:
            raise typer.BadParameter("--resume takes the job and its inputs from the folder")
        _do(lambda tell: resumed(own.resume, **where, tell=tell), own.resume, own.json)
        return
    kind, *paths = own.files or [""]
    if not paths or own.out is None:
        raise typer.BadParameter("what to do, at least one input, and --out FOLDER are needed")
    options |= {"field": own.field, "id_field": own.id_field, "max_line": bytes_of(own.max_line)}
    job = made(lambda: Work(Job(kind=kind, **options, **_schemas(kind, own.schema))).job)
    more = {"format": own.format, "form": own.input, "shard_bytes": bytes_of(own.shard_size)}
    _do(lambda tell: begun(job, paths, own.out, **where, **more, tell=tell), own.out, own.json)


command = flagged(batch, [*own_flags("batch"), *_options()], INPUTS, _schema)


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
        from ..jsontext import dumps

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


def _schemas(kind: str, given: list[str] | None) -> dict[str, Any]:
    if not given:
        return {}
    if kind == "calls":
        return {"schemas": tool_schemas_of(given)}
    if len(given) > 1:
        raise ValueError("there is one --schema, but for calls one for each tool")
    return {"schema": _schema(given[0])}
