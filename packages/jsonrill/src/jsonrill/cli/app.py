"""The commands: they read arguments, open files, and call the library."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from importlib.metadata import entry_points
from typing import Annotated, Any

import typer

from .. import (
    Chunker,
    Document,
    InvalidJSON,
    JsonrillError,
    LimitExceeded,
    Parser,
    PartialStream,
    SourceFailed,
    ToolCall,
    ToolCallEvents,
    ToolCalls,
    __version__,
    compiled,
)
from ..errors import Problem
from ..options import TEXT_STAGES, Stage, offered, taken_by
from ..parse.sink import Repair
from ..selection import Selection
from ..sources import EventReading, Opened, Reading
from ..sources.complete import events_of
from ..sources.failures import is_complete_answer
from ..streams.documents import ValueStage
from ..streams.fragmenting import FragmentStage
from ..streams.many import ManyDocuments
from ..streams.settings import take_options
from ..streams.updating import counted
from ..terminal import safe
from ..wire import CompactEncoder, to_wire
from .elsewhere import ELSEWHERE, not_installed
from .input import BadInput, Source
from .options import LIMITS, Own, flagged, made, own_flags
from .output import BadOutput, Output, write_utf8

app = typer.Typer(
    name="jsonrill",
    help="Streaming JSON in both directions, as filters from standard input (or files) to standard"
    " output, one JSON a line. Try: jsonrill demo\n\nExit code 0: all went well; 1: the input (or a"
    " part of it) is not valid; 2: the command was not used rightly; 3: a batch failed; 130: it was"
    " stopped by Ctrl-C.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


# The options of validation, which a document has with a schema.
CHECKED = tuple(option.name for option in taken_by("checked"))


def command(
    make: Callable[..., Any], *, options_of: Stage | None = None, **argument: str
) -> Callable[[Callable[[Any, Source, Own, Output], None]], None]:
    """Add a filter: a function of its stage (made by `make`), a file, its flags and its output.

    Each file gets a stage of its own. `options_of` is the stage, if it has not the name of the
    function. `argument` is the name and the help of one that comes before the files, if the stage
    has one.
    """

    def add(work: Callable[[Any, Source, Own, Output], None]) -> None:
        stage_name: Any = options_of or work.__name__
        # Such a command reads the text of a provider's answer, too, or of calls; some only of one.
        reads_text = stage_name in TEXT_STAGES
        one_call = work.__name__ == "repair"

        def run(options: dict[str, Any], own: Own) -> None:
            first = [vars(own)[name] for name in argument]
            own.many = options.pop("many", False)
            own.begin = lambda options: make(*first, **options)

            def stage_of(repairs: list[Repair]) -> tuple[Any, Reading]:
                reading, own.taken = Reading(), options
                if reads_text:
                    reading, own.taken = take_options(
                        stage_name, options, *CHECKED, first=one_call, many=own.many
                    )
                if vars(own).get("report"):
                    own.taken = {**own.taken, "on_repair": repairs.append}
                return own.begin(own.taken), reading

            made(lambda: stage_of([]))  # options that are wrong come before all files

            def filtered() -> bool:
                sink = own.sink()
                good = [_filter(source, sink) for source in own.sources()]
                if all(good):
                    sink.close()
                return all(good)

            def _filter(source: Source, sink: Output) -> bool:
                repairs: list[Repair] = []
                stage, source.reading = stage_of(repairs)
                try:
                    try:
                        work(stage, source, own, sink)
                    finally:
                        _report(repairs)
                except (JsonrillError, BadInput) as error:
                    _complain(error, source if own.files else None)
                    return False
                return True

            _do(filtered)

        run.__name__, run.__doc__ = work.__name__, work.__doc__
        stages: tuple[str, ...] = (stage_name, "source") if reads_text else (stage_name,)
        stages += ("checked",) if stage_name == "values" else ()
        stages += ("many",) if work.__name__ in ("values", "updates") else ()
        rows = [*offered("cli", *stages), *own_flags(work.__name__)]
        files = "Files to read, each for itself; - or none is standard input."
        app.command()(flagged(run, rows, {**argument, "files": files}))

    return add


def _document(schema: Any = None, **options: Any) -> Any:
    """A `Document`, or as one with a schema."""
    if schema is None:
        return Document(**options)
    from ..schema.document import SchemaDocument

    return SchemaDocument(schema, live=True, **options)


@command(_document)
def values(document: Document, source: Source, own: Own, sink: Output) -> None:
    """Write the value of a JSON text: on a terminal after each piece that changed it, else once.

    With --many it is written once for each document. If the text is wrong or ends early, the value
    up to there is written, and the exit code is 1.

    Example: echo '{"name": "Ada", "langs": ["en", "f' | jsonrill values --repair
    """
    pieces = source.pieces()
    if own.watch:
        from ..terminal import watched

        return watched(pieces, document)
    each = sink.live if own.each is None else own.each

    def begin(options: Mapping[str, Any]) -> ValueStage:
        nonlocal document
        document = own.begin(options)
        return ValueStage(document, True, each=each)

    try:
        for value in _read(begin, pieces, source, own):
            sink.write(value)
    except SourceFailed:
        if not each and document.started:
            sink.write(document.live)
        raise


def _read(
    begin: Callable[[Mapping[str, Any]], Any],
    pieces: Iterator[bytes | str],
    source: Source,
    own: Own,
) -> Iterator[Any]:
    """Yield what the stage, or with many documents the stage of each, makes of the pieces."""
    if own.many or source.reading.reads_calls:
        stage: Any = ManyDocuments(begin, own.taken, splits=own.many)
    else:
        stage = begin(own.taken)
    for piece in _ended(pieces):
        yield from stage.flush(source.reading.cut) if piece is None else stage.feed(piece)


def _repairing(repair: Any, **options: Any) -> Any:
    return _document(repair=repair or True, **options)


@command(_repairing, options_of="values")
def repair(document: Document, source: Source, own: Own, sink: Output) -> None:
    """Write the JSON that a text was meant to be, once and whole; --report lists the repairs.

    Example: echo "Sure: {'name': 'Ada', langs: ['en',]}" | jsonrill repair --report
    """
    for piece in _ended(source.pieces()):
        if piece is None:
            document.flush(source.reading.cut)
        else:
            document.feed(piece)
    sink.write(document.value)


@command(Selection, field="A path or pattern, such as results[*] or days[*].title.")
def select(selection: Selection, source: Source, own: Own, sink: Output) -> None:
    """Write each value at a path of a JSON text when it is complete; keep nothing else.

    An array at the path stands for its elements.

    Example: echo '{"results": [{"id": 1}, {"id": 2}]}' | jsonrill select results
    """
    for value in _read(own.begin, source.pieces(), source, own):
        sink.write(value)


@command(PartialStream)
def updates(stream: PartialStream, source: Source, own: Own, sink: Output) -> None:
    """Write updates of the entities in a JSON text: the Partial Stream Spec in five modes.

    Example: echo '{"colors": [{"hex": "#94"}, {"hex": "#1' | jsonrill updates --entity colors
    """
    failed = None
    for update in _read(counted(own.begin), source.pieces(), source, own):
        sink.line(update.to_json())
        failed = failed or update.error
    if failed:
        raise BadInput(f"{failed['code']}: {failed['message']}{_place(failed)}")


@command(Parser)
def fragments(parser: Parser, source: Source, own: Own, sink: Output) -> None:
    """Write a JSON text as fragments, one a line (--compact: one list for each piece).

    Example: echo '{"a": [1, "x"]}' | jsonrill fragments --compact
    """
    if not own.compact:
        for fragment in _read(FragmentStage, source.pieces(), source, own):
            sink.write(to_wire(fragment))
        return
    if source.reading.reads_calls:
        raise typer.BadParameter("--compact is for one document, --tool for many calls")
    encoder = CompactEncoder()
    for piece in _ended(source.pieces()):
        try:
            news = parser.flush(source.reading.cut) if piece is None else parser.feed(piece)
            error = None
        except (InvalidJSON, LimitExceeded) as raised:
            news, error = raised.fragments, raised
        if news:
            sink.write(encoder.feed(news))
        if error:
            raise error


@command(Chunker)
def chunks(chunker: Chunker, source: Source, own: Own, sink: Output) -> None:
    """Turn complete JSON snapshots, one a line, into chunks whose joined text is the last one.

    Example: printf '{"a":"He"}\\n{"b":1,"a":"Hello"}\\n' | jsonrill chunks
    """
    for number, line in enumerate(_ended(source.lines()), start=1):
        try:
            chunk = chunker.flush() if line is None else chunker.feed(line)
        except JsonrillError as error:
            raise error if line is None else BadInput(f"item {number}: {error}") from error
        if chunk:
            (sink.raw if own.text else sink.write)(chunk)
    if own.text:
        sink.raw("\n")
    for revision in chunker.revisions:
        typer.echo(f"jsonrill: kept: {revision}", err=True)


@command(ToolCalls)
def calls(live: ToolCalls, source: Source, own: Own, sink: Output) -> None:
    """Write the tool calls in a provider's stream, after each event that changed one.

    The input is one event a line, or the event stream as it came over HTTP. A complete answer,
    which was not streamed, is read as well.

    Example: curl -sN ... | jsonrill calls
    """
    events, empty = ToolCallEvents(live), True
    for event in _ended(_events(source, live)):
        empty = empty and event is None
        if own.wire:
            for message in events.flush() if event is None else events.feed(event):
                sink.write(message)
            continue
        changed = live.flush() if event is None else live.read(live.reader.feed(event))
        for call in {id(update.call): update.call for update in changed}.values():
            sink.write(_call(call))
    if empty:
        raise BadInput("the input has no events")
    wrong = [call for call in live.calls if call.status in ("error", "truncated")]
    if wrong:
        raise BadInput(f"{wrong[0].name} {wrong[0].status}: {wrong[0].error or wrong[0].raw}")


def _events(source: Source, live: ToolCalls) -> Iterator[Any]:
    """The events; a complete answer as the events of a stream. `UnknownSource` for others."""
    decoder = EventReading(live.reader.named).decoder({}, Opened((), None))
    assert decoder is not None
    for event in source.events():
        answer = events_of(event) if is_complete_answer(event) else None
        for one in answer or [event]:
            yield from decoder.feed(one)
    yield from decoder.flush()


# Other distributions add their commands by an entry point of this group.
GROUP = "jsonrill.commands"


def _add_commands() -> None:
    """Add what is installed beside the library; what is not says how to install it."""
    installed = {entry.name: entry for entry in entry_points(group=GROUP)}
    for name, extra in ELSEWHERE.items():
        if name not in installed:
            _add_missing(name, extra)
    for entry in installed.values():
        entry.load()(app)


def _add_missing(name: str, extra: str) -> None:
    message = not_installed(name, extra)

    def missing(context: typer.Context) -> None:
        typer.echo(f"jsonrill: {message}", err=True)
        raise typer.Exit(2)

    anything = {"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []}
    app.command(name, help=message, context_settings=anything)(missing)


_add_commands()


@app.command()
def demo(
    fast: Annotated[bool, typer.Option("--fast", help="Do not pause.")] = False,
) -> None:
    """Show the three jobs in about ten seconds, on recorded streams, without a network.

    Example: jsonrill demo
    """
    from ..demo.terminal import show

    return _do(lambda: show(pace=0.0 if fast else 1.0))


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"jsonrill {__version__} ({'compiled' if compiled else 'pure Python'})")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            callback=_version,
            is_eager=True,
            help="Write the version and whether the core is compiled, and exit.",
        ),
    ] = False,
) -> None:
    pass


def run() -> None:
    """Run the command line."""
    write_utf8()
    app()


def _do(work: Callable[[], bool | None]) -> None:
    """Run a command. False is exit code 1; bad input is one line; a closed pipe is no error."""
    try:
        good = work()
    except (JsonrillError, BadInput, BadOutput) as error:
        _complain(error)
        raise typer.Exit(1) from None
    except OSError as error:
        # The interpreter would report the error again when it closes standard output.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):
            return
        typer.echo(f"jsonrill: standard output: {error.strerror}", err=True)
        raise typer.Exit(1) from None
    except KeyboardInterrupt:
        raise typer.Exit(130) from None
    if good is False:
        raise typer.Exit(1)


def _complain(error: Exception, source: Source | None = None) -> None:
    """One line for an error; it begins with the file, if files were given."""
    place = "" if source is None else f"{'standard input' if source.piped else source.file}: "
    place = safe(place).encode("utf-8", "backslashreplace").decode()
    typer.echo(f"jsonrill: {place}{_line(error)}", err=True)


def _report(repairs: list[Repair]) -> None:
    for repair in repairs:
        place = f"at character {repair.offset} (line {repair.line}, column {repair.column})"
        typer.echo(f"jsonrill: repaired {repair.rule} {place}", err=True)


def _line(error: Exception) -> str:
    text = " ".join(str(error).split())
    if isinstance(error, JsonrillError) and error.line is not None:
        text += _place(error.to_dict())
    if isinstance(error, LimitExceeded) and error.limit in LIMITS:
        text += f"; on the command line --max-{error.limit} N"
    return text


def _place(error: Problem) -> str:
    known = error.get("line") is not None
    return f" (line {error['line']}, column {error['column']})" if known else ""


def _call(call: ToolCall) -> dict[str, Any]:
    fields = ("id", "index", "name", "status", "args", "error")
    shown = {name: getattr(call, name) for name in fields}
    if call.args is None or call.status == "error":
        shown["raw"] = call.raw
    return {name: value for name, value in shown.items() if value is not None}


def _ended(items: Iterator[Any]) -> Iterator[Any]:
    """The items, then None for the end."""
    yield from items
    yield None
