"""The commands: they parse arguments, open files, and call the library."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Literal

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
from .batch import batch
from .groups import Delay, Ends, Leniency, Pace, grouped
from .input import BadInput, Source
from .options import entities_of, json_file, made, tool_schemas_of
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

Duplicates = Annotated[
    Literal["last", "error"], typer.Option(help="What a key means that comes twice.")
]
Mode = Annotated[
    str, typer.Option(help="BATCH, ALL-TOGETHER, ONE-BY-ONE, PROGRESSIVE or REALTIME.")
]
Entity = Annotated[
    list[str] | None,
    typer.Option(help="What is one entity: a key, a pattern like days[*].activities, or name=it."),
]
Send = Annotated[
    Literal["data", "delta", "both"], typer.Option(help="Whole data, what is new, or both.")
]
SchemaFile = Annotated[
    Path | None, typer.Option(help="A file with the JSON Schema of one entity.", show_default=False)
]
DocumentSchemaFile = Annotated[
    Path | None,
    typer.Option(help="A file with the JSON Schema of the document.", show_default=False),
]
ToolSchemas = Annotated[
    list[str] | None,
    typer.Option("--schema", help="TOOL=FILE: the JSON Schema of a tool's arguments."),
]


@app.command()
@grouped
def values(
    duplicates: Duplicates = "last",
    watch: Annotated[
        bool, typer.Option("--watch", help="Show one value growing, instead of one a line.")
    ] = False,
    *,
    ends: Ends,
    pace: Pace,
    leniency: Leniency,
) -> None:
    """What is known of a JSON text, after each piece that changed it.

    Example: echo '{"name": "Ada", "langs": ["en", "f' | jsonrill values --repair
    """
    source = ends.source(pace.tokens, pace.delay)
    document = made(lambda: Document(**leniency.wanted(), duplicates=duplicates))
    if watch:
        from ..terminal import watched

        return _filter(
            None, lambda _: watched(source.pieces(), document), document, leniency.report
        )

    def show(sink: Sink) -> None:
        for changed in _changes(document, source):
            for value in document.finished:
                sink.write(value)
            if changed:
                sink.write(document.live)

    return _filter(ends.sink(), show, document, leniency.report)


@app.command()
@grouped
def updates(
    mode: Mode = "REALTIME",
    entity: Entity = None,
    send: Send = "data",
    schema: SchemaFile = None,
    document_schema: DocumentSchemaFile = None,
    partial_numbers: Annotated[
        bool,
        typer.Option("--partial-numbers/--no-partial-numbers", help="Show numbers as they grow."),
    ] = True,
    early_literals: Annotated[
        bool, typer.Option("--early-literals", help="Show true at its t.")
    ] = False,
    zero_values: Annotated[
        bool, typer.Option("--zero-values", help="Show zeros of the schema before values come.")
    ] = False,
    *,
    ends: Ends,
    pace: Pace,
    leniency: Leniency,
) -> None:
    """How far each entity of a JSON text has come: the Partial Stream Spec in five modes.

    Example: echo '{"colors": [{"hex": "#94"}, {"hex": "#1' | jsonrill updates --entity colors
    """
    source = ends.source(pace.tokens, pace.delay)
    stream = made(
        lambda: PartialStream(
            mode,
            entity=entities_of(entity),
            send=send,
            schema=json_file(schema),
            document_schema=json_file(document_schema),
            partial_numbers=partial_numbers,
            early_literals=early_literals,
            zero_values=zero_values,
            **leniency.wanted(),
        )
    )

    def show(sink: Sink) -> None:
        failed = None
        for piece in _ended(source.pieces()):
            for update in stream.flush() if piece is None else stream.feed(piece):
                sink.line(update.to_json())
                failed = failed or update.error
        if failed:
            raise BadInput(f"{failed['code']}: {failed['message']}")

    return _filter(ends.sink(), show, stream, leniency.report)


@app.command()
@grouped
def fragments(
    compact: Annotated[bool, typer.Option("--compact", help="The compact wire form.")] = False,
    duplicates: Duplicates = "last",
    *,
    ends: Ends,
    pace: Pace,
    leniency: Leniency,
) -> None:
    """A JSON text as small addressed changes, one a line (compact: one list for each piece).

    Example: echo '{"a": [1, "x"]}' | jsonrill fragments --compact
    """
    source = ends.source(pace.tokens, pace.delay)
    parser = made(lambda: Parser(**leniency.wanted(), duplicates=duplicates))
    if compact and leniency.many:
        raise typer.BadParameter("--compact is for one document, --many for several")
    encoder = CompactEncoder()

    def show(sink: Sink) -> None:
        for piece in _ended(source.pieces()):
            try:
                found = parser.flush() if piece is None else parser.feed(piece)
                error = None
            except (InvalidJSON, LimitExceeded) as raised:
                found, error = raised.fragments, raised
            if compact and found:
                sink.write(encoder.feed(found))
            elif not compact:
                for fragment in found:
                    sink.write(to_wire(fragment))
            if error:
                raise error

    return _filter(ends.sink(), show, parser, leniency.report)


@app.command()
@grouped
def rebuild(
    dialect: Annotated[
        Literal["jsonrill", "juf"], typer.Option(help="Who wrote the fragments.")
    ] = "jsonrill",
    *,
    ends: Ends,
) -> None:
    """The value that fragments tell of, after each line of them: the inverse of `fragments`.

    Example: echo '{"a": [1, "x"]}' | jsonrill fragments | jsonrill rebuild
    """
    source = ends.source()
    rebuilder = Rebuilder(dialect=dialect)

    def show(sink: Sink) -> None:
        for item in source.events():
            rebuilder.feed(item if isinstance(item, list) and _is_batch(item) else [item])
            if rebuilder.started:
                sink.write(rebuilder.live)

    return _filter(ends.sink(), show)


@app.command()
@grouped
def chunks(
    eager: Annotated[
        bool, typer.Option("--eager", help="Show one of several new values at once.")
    ] = False,
    null: Annotated[
        Literal["value", "placeholder"],
        typer.Option(help="Is a null a value, or one that has not come yet?"),
    ] = "value",
    on_revision: Annotated[
        Literal["raise", "keep"],
        typer.Option(help="When a snapshot contradicts what is written: stop, or keep that."),
    ] = "raise",
    patience: Annotated[
        int, typer.Option(min=1, help="Snapshots a value must stand still before another grows.")
    ] = 1,
    text: Annotated[
        bool, typer.Option("--text", help="Write the text itself, not a JSON string a line.")
    ] = False,
    delay: Delay = 0,
    *,
    ends: Ends,
) -> None:
    """Complete JSON snapshots, one a line, as chunks of text that join to the last of them.

    Example: printf '{"a":"He"}\\n{"b":1,"a":"Hello"}\\n' | jsonrill chunks
    """
    source = ends.source(delay=delay)
    chunker = Chunker(eager=eager, null=null, on_revision=on_revision, patience=patience)

    def show(sink: Sink) -> None:
        for line in _ended(source.lines()):
            chunk = chunker.flush() if line is None else chunker.feed(line)
            if chunk and text:
                sink.raw(chunk)
            elif chunk:
                sink.write(chunk)
        if text:
            sink.raw("\n")
        for revision in chunker.revisions:
            typer.echo(f"jsonrill: kept: {revision}", err=True)

    return _filter(ends.sink(), show)


@app.command()
@grouped
def calls(
    provider: Annotated[str, typer.Option(help="Whose events these are.")] = "auto",
    schema: ToolSchemas = None,
    wire: Annotated[
        bool, typer.Option("--wire", help="Wire events with fragments, not the calls themselves.")
    ] = False,
    delay: Delay = 0,
    *,
    ends: Ends,
) -> None:
    """The tool calls in a provider's stream, after each event that changed one.

    The input is one event a line, or the event stream as it came over HTTP (a log saved with
    curl), which is recognised.

    Example: curl -sN ... | jsonrill calls --sse-in
    """
    source = ends.source(delay=delay)
    live = made(lambda: ToolCalls(provider, schemas=tool_schemas_of(schema)))
    events = ToolCallEvents(live)

    def show(sink: Sink) -> None:
        for event in _ended(source.events()):
            if wire:
                for message in events.flush() if event is None else events.feed(event):
                    sink.write(message)
                continue
            changed = live.flush() if event is None else live.feed(event)
            for call in {id(update.call): update.call for update in changed}.values():
                sink.write(_call(call))
        wrong = [call for call in live.calls if call.status in ("error", "truncated")]
        if wrong:
            raise BadInput(f"{wrong[0].name} {wrong[0].status}: {wrong[0].error or wrong[0].raw}")

    return _filter(ends.sink(), show)


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


def _filter(
    sink: Sink | None,
    show: Callable[[Any], None],
    stage: Any = None,
    report: bool = False,
) -> None:
    """Run a command: bad input is one line and exit 1, a reader that left is no error."""
    try:
        with _telling(stage if report else None):
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
        for repair in stage.repairs if stage is not None else ():
            typer.echo(f"jsonrill: {_repair(repair)}", err=True)


def _repair(repair: Repaired) -> str:
    return (
        f"repaired {repair.rule} at character {repair.offset}"
        f" (line {repair.line}, column {repair.column})"
    )


def _line(error: Exception) -> str:
    text = " ".join(str(error).split())
    if isinstance(error, JsonrillError) and error.line is not None:
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
