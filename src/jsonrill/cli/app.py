"""The commands: they parse arguments, open files, and call the library."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer

from .. import (
    Chunker,
    CompactEncoder,
    Document,
    InvalidJSON,
    JsonrillError,
    LimitExceeded,
    Parser,
    PartialStream,
    Rebuilder,
    ToolCall,
    ToolCallEvents,
    ToolCalls,
    __version__,
    compiled,
    to_wire,
)
from .. import Repair as Repaired
from ..options import offered
from .batch import batch
from .input import BadInput, Source
from .options import Own, flagged, made
from .output import Sink
from .serve import serve

app = typer.Typer(
    name="jsonrill",
    help="Streaming JSON in both directions, as filters: standard input (or files) to standard"
    " output, one JSON a line. Try: jsonrill demo",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.command()
@flagged(offered("cli", "values"))
def values(options: dict[str, Any], own: Own) -> None:
    """What is known of a JSON text, after each piece that changed it.

    Example: echo '{"name": "Ada", "langs": ["en", "f' | jsonrill values --repair
    """
    source = own.source()
    document = made(lambda: Document(**options))
    if own.watch:
        from ..terminal import watched

        return _filter(None, lambda _: watched(source.pieces(), document), own.report and document)

    def show(sink: Sink) -> None:
        for changed in _changes(document, source):
            for value in document.finished:
                sink.write(value)
            if changed:
                sink.write(document.live)

    return _filter(own.sink(), show, own.report and document)


@app.command()
@flagged(offered("cli", "updates"))
def updates(options: dict[str, Any], own: Own) -> None:
    """How far each entity of a JSON text has come: the Partial Stream Spec in five modes.

    Example: echo '{"colors": [{"hex": "#94"}, {"hex": "#1' | jsonrill updates --entity colors
    """
    source = own.source()
    stream = made(lambda: PartialStream(**options))

    def show(sink: Sink) -> None:
        failed = None
        for piece in _ended(source.pieces()):
            for update in stream.flush() if piece is None else stream.feed(piece):
                sink.line(update.to_json())
                failed = failed or update.error
        if failed:
            raise BadInput(f"{failed['code']}: {failed['message']}")

    return _filter(own.sink(), show, own.report and stream)


@app.command()
@flagged(offered("cli", "fragments"))
def fragments(options: dict[str, Any], own: Own) -> None:
    """A JSON text as small addressed changes, one a line (compact: one list for each piece).

    Example: echo '{"a": [1, "x"]}' | jsonrill fragments --compact
    """
    source = own.source()
    parser = made(lambda: Parser(**options))
    if own.compact and options["many"]:
        raise typer.BadParameter("--compact is for one document, --many for several")
    encoder = CompactEncoder()

    def show(sink: Sink) -> None:
        for piece in _ended(source.pieces()):
            try:
                found = parser.flush() if piece is None else parser.feed(piece)
                error = None
            except (InvalidJSON, LimitExceeded) as raised:
                found, error = raised.fragments, raised
            if own.compact and found:
                sink.write(encoder.feed(found))
            elif not own.compact:
                for fragment in found:
                    sink.write(to_wire(fragment))
            if error:
                raise error

    return _filter(own.sink(), show, own.report and parser)


@app.command()
@flagged(())
def rebuild(own: Own) -> None:
    """The value that fragments tell of, after each line of them: the inverse of `fragments`.

    Example: echo '{"a": [1, "x"]}' | jsonrill fragments | jsonrill rebuild
    """
    source = own.source()
    rebuilder = Rebuilder(dialect=own.dialect)

    def show(sink: Sink) -> None:
        for item in source.events():
            rebuilder.feed(item if isinstance(item, list) and _is_batch(item) else [item])
            if rebuilder.started:
                sink.write(rebuilder.live)

    return _filter(own.sink(), show)


@app.command()
@flagged(offered("cli", "chunks"))
def chunks(options: dict[str, Any], own: Own) -> None:
    """Complete JSON snapshots, one a line, as chunks of text that join to the last of them.

    Example: printf '{"a":"He"}\\n{"b":1,"a":"Hello"}\\n' | jsonrill chunks
    """
    source = own.source()
    chunker = made(lambda: Chunker(**options))

    def show(sink: Sink) -> None:
        for line in _ended(source.lines()):
            chunk = chunker.flush() if line is None else chunker.feed(line)
            if chunk and own.text:
                sink.raw(chunk)
            elif chunk:
                sink.write(chunk)
        if own.text:
            sink.raw("\n")
        for revision in chunker.revisions:
            typer.echo(f"jsonrill: kept: {revision}", err=True)

    return _filter(own.sink(), show)


@app.command()
@flagged(offered("cli", "calls"))
def calls(options: dict[str, Any], own: Own) -> None:
    """The tool calls in a provider's stream, after each event that changed one.

    The input is one event a line, or the event stream as it came over HTTP (a log saved with
    curl), which is recognised.

    Example: curl -sN ... | jsonrill calls --sse-in
    """
    source = own.source()
    live = made(lambda: ToolCalls(**options))
    events = ToolCallEvents(live)

    def show(sink: Sink) -> None:
        for event in _ended(source.events()):
            if own.wire:
                for message in events.flush() if event is None else events.feed(event):
                    sink.write(message)
                continue
            changed = live.flush() if event is None else live.feed(event)
            for call in {id(update.call): update.call for update in changed}.values():
                sink.write(_call(call))
        wrong = [call for call in live.calls if call.status in ("error", "truncated")]
        if wrong:
            raise BadInput(f"{wrong[0].name} {wrong[0].status}: {wrong[0].error or wrong[0].raw}")

    return _filter(own.sink(), show, own.report and live)


app.command()(batch)


app.command("serve")(serve)


@app.command()
def demo(
    fast: Annotated[bool, typer.Option("--fast", help="Without the pauses.")] = False,
) -> None:
    """See the three jobs in about ten seconds, on recorded streams, without a network.

    Example: jsonrill demo
    """
    from ..demo.terminal import show

    return _filter(None, lambda _: show(pace=0.0 if fast else 1.0))


@app.command()
def version() -> None:
    """The version, and whether the core is compiled.

    Example: jsonrill version
    """
    typer.echo(f"jsonrill {__version__} ({'compiled' if compiled else 'pure Python'})")


def run() -> None:
    """The entry point."""
    app()


def _filter(sink: Sink | None, show: Callable[[Any], None], reported: Any = None) -> None:
    """Run a command: bad input is one line and exit 1, a reader that left is no error."""
    try:
        with _telling(reported):
            show(sink)
            if sink is not None:
                sink.close()
    except (JsonrillError, BadInput) as error:
        typer.echo(f"jsonrill: {_line(error)}", err=True)
        raise typer.Exit(1) from None
    except OSError as error:
        # The interpreter would complain once more when it closes standard output.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):
            typer.echo(f"jsonrill: standard output: {error.strerror}", err=True)
            raise typer.Exit(1) from None
    except KeyboardInterrupt:
        raise typer.Exit(130) from None


@contextmanager
def _telling(stage: Any) -> Iterator[None]:
    """Tell of repairs, also when an error ends it all."""
    try:
        yield
    finally:
        for repair in stage.repairs if stage else ():
            typer.echo(f"jsonrill: {_repair(repair)}", err=True)


def _repair(repair: Repaired) -> str:
    return (
        f"repaired {repair.rule} at character {repair.offset}"
        f" (line {repair.line}, column {repair.column})"
    )


def _line(error: Exception) -> str:
    text = " ".join(str(error).split())
    if isinstance(error, InvalidJSON | LimitExceeded):
        text += f" (line {error.line}, column {error.column})"
    return text


def _changes(document: Document, source: Source) -> Iterator[bool]:
    """Feed all of the source; what was good before an error is shown before it is raised."""
    for piece in _ended(source.pieces()):
        try:
            changed = document.flush() if piece is None else document.feed(piece)
        except (InvalidJSON, LimitExceeded):
            if document.changed:
                yield True
            raise
        yield changed
    if document.errors:
        raise document.errors[0]


def _call(call: ToolCall) -> dict[str, Any]:
    fields = ("id", "index", "name", "status", "args", "error")
    shown = {name: getattr(call, name) for name in fields}
    if call.args is None or call.status == "error":
        shown["raw"] = call.raw
    return {name: value for name, value in shown.items() if value is not None}


def _ended(items: Iterator[Any]) -> Iterator[Any]:
    """The items, and then None."""
    yield from items
    yield None


def _is_batch(item: list[Any]) -> bool:
    """Is this list many fragments, and not one in compact form?"""
    return not item or not isinstance(item[0], int)
