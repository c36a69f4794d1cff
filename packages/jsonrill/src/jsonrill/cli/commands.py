"""The commands: they read flags, open files, and call the library."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from importlib.metadata import entry_points
from typing import Annotated, Any, Final

import typer

from .. import __version__, compiled, streams
from ..errors import JsonrillError
from ..stages import LastValueStage
from ..toolcalls import ToolCall, ToolCalls
from . import EXTRAS, not_installed
from .files import BadInput, Input, Output, place_of, process, report, write_utf8
from .options import SchemaFile, checked, load_json, load_named, named, with_flags

app = typer.Typer(
    name="jsonrill",
    help="Growing JSON: filters from standard input (or files) to standard output, one JSON a line."
    " Try: jsonrill demo\n\nExit code 0: all went well; 1: some of the input is not valid; 2: the"
    " command was used wrongly; 130: it was stopped by Ctrl-C.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
Reading = dict[str, Any]
Many = Annotated[bool, typer.Option("--many", help="Read one document after another.")]
# Other distributions add their commands by an entry point of this group.
GROUP: Final = "jsonrill.commands"


def command(work: Callable[..., None]) -> Callable[..., None]:
    app.command()(with_flags(work))
    return work


@command
def values(
    reading: Reading,
    inputs: list[Input],
    output: Output,
    schema: SchemaFile = None,
    many: Many = False,
    each: Annotated[
        bool | None,
        typer.Option(help="Write the value after each piece; by default on a terminal."),
    ] = None,
) -> None:
    """Write the value of a JSON text: on a terminal after each piece that changed it, else once.

    With --many it is written once for each document. If the text is wrong or ends early, the value
    up to there is written, and the exit code is 1.

    Example: echo '{"name": "Ada", "langs": ["en",' | jsonrill values --repair
    """
    rules = checked(load_json, schema)
    if output.is_terminal if each is None else each:
        options = {**reading, "many": many}
        _filter(lambda source: streams.values(source, rules, **options), inputs, output)
        return
    _filter(lambda source: _last_values(source, rules, many, reading), inputs, output)


@command
def repair(reading: Reading, inputs: list[Input], output: Output) -> None:
    """Write the JSON that a text was meant to be, once and whole; --report lists the repairs.

    Example: echo "Sure: {'name': 'Ada', langs: ['en',]}" | jsonrill repair --report
    """
    reading = {**reading, "repair": reading["repair"] or True}
    _filter(lambda source: _last_values(source, None, False, reading), inputs, output)


@command
def select(
    field: Annotated[str, typer.Argument(help="A path or pattern, such as days[*].title.")],
    reading: Reading,
    inputs: list[Input],
    output: Output,
    schema: SchemaFile = None,
) -> None:
    """Write each value at a path of a JSON text when it is complete; keep nothing else.

    An array at the path selects its elements.

    Example: echo '{"results": [{"id": 1}, {"id": 2}]}' | jsonrill select results
    """
    rules = checked(load_json, schema)
    _filter(lambda source: streams.select(source, field, rules, **reading), inputs, output)


@command
def updates(
    reading: Reading,
    inputs: list[Input],
    output: Output,
    mode: Annotated[
        list[str] | None,
        typer.Option(
            help="BATCH, ALL-TOGETHER, ONE-BY-ONE, PROGRESSIVE or"
            " REALTIME; or NAME=MODE for each entity."
        ),
    ] = None,
    entity: Annotated[
        list[str] | None, typer.Option(help="A key, a pattern such as days[*], or NAME=PATTERN.")
    ] = None,
    schema: SchemaFile = None,
    send: Annotated[str, typer.Option(help="data, delta or both.")] = "data",
    partial_numbers: Annotated[bool, typer.Option(help="Show numbers as they grow.")] = True,
    early_literals: Annotated[bool, typer.Option(help="Show true at its t.")] = False,
    zero_values: Annotated[bool, typer.Option(help="Show zeros before values come.")] = False,
    only_complete: Annotated[
        list[str] | None, typer.Option(help="What to show only when it is complete.")
    ] = None,
    many: Many = False,
) -> None:
    """Write updates of the entities in a JSON text: the Partial Stream Spec in five modes.

    Example: echo '{"colors": [{"hex": "#94"}, {"hex": "#1' | jsonrill updates --entity colors
    """
    options = {
        **reading,
        "entity": named(entity),
        "schema": checked(load_json, schema),
        "send": send,
        "partial_numbers": partial_numbers,
        "early_literals": early_literals,
        "zero_values": zero_values,
        "only_complete": tuple(only_complete or ()),
        "many": many,
    }

    def work(file: Input) -> None:
        problem = None
        modes = named([text.replace("_", "-") for text in mode or []]) or "REALTIME"
        for update in checked(streams.updates, file.pieces(), modes, **options):
            output.write(update.to_dict())
            problem = problem or update.error
        if problem:
            raise BadInput(f"{problem['code']}: {problem['message']}{place_of(problem)}")

    process(inputs, work)


@command
def fragments(reading: Reading, inputs: list[Input], output: Output) -> None:
    """Write a JSON text as fragments, one a line.

    Example: echo '{"a": [1, "x"]}' | jsonrill fragments
    """

    _filter(lambda source: streams.fragments(source, **reading), inputs, output)


@command
def chunks(
    inputs: list[Input],
    output: Output,
    eager: Annotated[bool, typer.Option(help="Show one of several new values at once.")] = False,
    null: Annotated[str, typer.Option(help="value, or placeholder: it has not come.")] = "value",
    on_revision: Annotated[str, typer.Option(help="raise, or keep what is written.")] = "raise",
    numbers: Annotated[str, typer.Option(help="growing, or final when they come.")] = "growing",
    verify: Annotated[bool, typer.Option(help="Check the text at the end.")] = False,
    text: Annotated[bool, typer.Option("--text", help="Write the text itself.")] = False,
) -> None:
    """Turn complete JSON snapshots, one a line, into chunks whose joined text is the last one.

    Example: printf '{"a":"He"}\\n{"b":1,"a":"Hello"}\\n' | jsonrill chunks
    """
    from .. import Chunker

    options: Any = {"eager": eager, "null": null, "on_revision": on_revision}
    options |= {"numbers": numbers, "verify": verify}
    checked(Chunker, **options)
    write = output.write_text if text else output.write

    def work(file: Input) -> None:
        chunker = Chunker(**options)
        for number, line in enumerate(file.lines(), 1):
            try:
                chunk = chunker.feed(line)
            except JsonrillError as error:
                raise BadInput(f"item {number}: {error.problem}") from error
            if chunk:
                write(chunk)
        if chunk := chunker.flush():
            write(chunk)
        if text:
            write("\n")
        for revision in chunker.revisions:
            report(f"kept: {revision}")

    process(inputs, work)


@command
def calls(
    inputs: list[Input],
    output: Output,
    provider: Annotated[str, typer.Option(help="Whose events these are.")] = "auto",
    schema: Annotated[
        list[str] | None, typer.Option(help="TOOL=FILE: JSON Schema of a tool's arguments.")
    ] = None,
    repair: Annotated[bool, typer.Option("--repair", help="Read what is nearly JSON.")] = False,
) -> None:
    """Write the tool calls in a provider's stream, after each change of one.

    The input is one event a line, or the event stream as it came over HTTP.

    Example: curl -sN ... | jsonrill calls
    """
    options: Any = {"provider": provider, "schemas": checked(load_named, schema), "repair": repair}
    checked(ToolCalls, **options)

    def work(file: Input) -> None:
        calls = ToolCalls(**options)
        for update in streams.tool_calls(file.pieces(), calls=calls):
            output.write(_shown(update.call))
        bad = [call for call in calls.calls if call.status in ("error", "truncated")]
        if bad:
            raise BadInput(f"{bad[0].name} {bad[0].status}: {bad[0].error or bad[0].raw}")

    process(inputs, work)


@app.command()
def demo(
    fast: Annotated[bool, typer.Option("--fast", help="Do not pause.")] = False,
) -> None:
    """Show what jsonrill does, on recorded streams, in about ten seconds.

    Example: jsonrill demo
    """
    from .demo import show

    process([Input()], lambda file: show(0.0 if fast else 1.0))


def _filter(make: Callable[[Any], Any], inputs: list[Input], output: Output) -> None:
    """Write what `make` returns for each file, including the items before an error."""
    checked(make, [])  # report wrong options before reading files

    def work(file: Input) -> None:
        output.write_all(make(file.pieces()))

    process(inputs, work)


def _last_values(source: Any, schema: Any, many: bool, reading: Reading) -> Iterable[Any]:
    """Yield the final value of each document; the last good value before an error is raised."""
    begin = partial(LastValueStage, schema, "none")
    values = streams.read_text(source, begin, reading, many=many)
    try:
        yield from values
    except JsonrillError as error:
        if error.value is not None:
            yield error.value
        raise


def _shown(call: ToolCall) -> dict[str, Any]:
    """Return the state of a call, with its raw text if that cannot be parsed."""
    is_unread = call.args is None or call.status == "error"
    names = ("id", "index", "name", "status", "args", "error", *(["raw"] if is_unread else []))
    fields = {name: getattr(call, name) for name in names}
    return {name: value for name, value in fields.items() if value is not None}


# ---- commands of other distributions ----


def _add_extras() -> None:
    """Add the commands that are installed; the others say how to install them."""
    missing = {name: not_installed(name, extra) for name, extra in EXTRAS.items()}
    for entry in entry_points(group=GROUP):
        missing.pop(entry.name, None)
        try:
            entry.load()(app)
        except ImportError as error:
            missing[entry.name] = f"{entry.name} cannot be loaded: {error}"
    for name, message in missing.items():
        _add_missing(name, message)


def _add_missing(name: str, message: str) -> None:
    def missing(context: typer.Context) -> None:
        report(message)
        raise typer.Exit(2)

    anything = {"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []}
    app.command(name, help=message, context_settings=anything)(missing)


_add_extras()


def _version(is_given: bool) -> None:
    if is_given:
        typer.echo(f"jsonrill {__version__} ({'compiled' if compiled else 'pure Python'})")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Write the version.")
    ] = False,
) -> None:
    pass


def run() -> None:
    """Run the command line."""
    write_utf8()
    app()
