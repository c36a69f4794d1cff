"""Streaming JSON for programs that talk to language models, in both directions.

text → values      `values`, `fields`, `loads`, `partial`; by hand: `Document`
text → fields      `select`: complete values at a path; `text`: a string as it grows
text → updates     `updates`; by hand: `PartialStream`; an `Update`'s change: `apply_delta`
text → fragments   `fragments`; by hand: `Parser`; back to a value: `Rebuilder`
snapshots → text   `chunks`; by hand: `Chunker`
what was answered  `Answer`: its text, how it ended, its token counts
a provider's text  `content`: what all of the above read of a provider's stream
an answer's parts  `parts` yields a `Part` for each change; by hand: `Parts`
running tools      `run_tools`: starts them early, and has the turn for the next request
tool calls         `tool_calls`; by hand: `ToolCalls`, which holds `ToolCall`s and tells of them
                   in `ToolCallUpdate`s; over the wire: `ToolCallEvents`
a fragment         `Fragment`: one of twelve `Kind`s, at a `Path`
server-sent events `sse`
near-JSON          `repair=True` reports each `Repair`; `many=True` reads one document after another
speed              `compiled`: whether the core runs compiled; it is the same code either way
what goes wrong    `JsonrillError` and its children; `feedback` tells the model

The folders are the journey of the data. A part imports only from parts above it.

    jsontext.py      writing JSON: one iterative writer, quoting, surrogates
    paths.py         where a value sits: paths, patterns, JSON Pointer
    errors.py        the error tree, each with its place and to_dict(); size limits
    answer.py        what a caller may want to know of an answer beside its values
    options.py       every option of every stage: types, defaults, checks, help
    eventstream.py   server-sent events, no I/O; when a heartbeat is sent
    parse/           text → events, strict and repairing
    wire/            fragments, in memory and on the wire; `Parser`
    build/           events and fragments → values; `Document`, `Rebuilder`
    schema/          which values a schema allows, told as early as possible
    selection.py     text → the values and strings at some paths
    partial_stream/  text → updates in five modes; deltas
    chunker/         snapshots → text
    providers/       events of each provider → statements: what they say
    toolcalls/       what providers say → tool calls that grow
    sources/         any source → pieces of text: an answer's text, arguments of calls
    opening.py       streams, files, pipes, responses → their elements, or blocks of text
    answers/         the parts of an answer, and the next turn
    streams/         the public functions, sync and async
    dialects/        what providers say, and JSON → events of other people's clients
    tools.py         `run_tools`: which tools run, in threads or in the event loop
    ext/             adapters for frameworks: responses of Starlette
    testing/         upstreams for tests: scripted, or as a provider would answer
    terminal.py      values on a terminal
    demo/            recordings, the demo in a terminal
    cli/             the commands
"""

import typing as _typing
from importlib import import_module as _import_module

if _typing.TYPE_CHECKING:
    from .answer import Answer as Answer
    from .answers import Part as Part
    from .answers import Parts as Parts
    from .build.document import Document as Document
    from .chunker import Chunker as Chunker
    from .fragment import Fragment as Fragment
    from .fragment import Kind as Kind
    from .fragment import Parser as Parser
    from .fragment import Rebuilder as Rebuilder
    from .errors import FieldNotFound as FieldNotFound
    from .errors import FragmentError as FragmentError
    from .errors import InvalidJSON as InvalidJSON
    from .errors import InvalidSchema as InvalidSchema
    from .errors import JsonrillError as JsonrillError
    from .errors import LimitExceeded as LimitExceeded
    from .errors import Limits as Limits
    from .errors import RevisionError as RevisionError
    from .errors import SourceFailed as SourceFailed
    from .errors import StreamClosed as StreamClosed
    from .errors import Truncated as Truncated
    from .errors import UnknownEvents as UnknownEvents
    from .errors import UnknownSource as UnknownSource
    from .errors import feedback as feedback
    from .parse.sink import Repair as Repair
    from .partial_stream import PartialStream as PartialStream
    from .partial_stream import Update as Update
    from .partial_stream.delta import apply_delta as apply_delta
    from .paths import Path as Path
    from .schema.partials import is_partial as is_partial
    from .streams.answering import content as content
    from .streams.answering import parts as parts
    from .streams.answering import tool_calls as tool_calls
    from .streams.chunking import chunks as chunks
    from .streams.documents import fields as fields
    from .streams.documents import loads as loads
    from .streams.documents import partial as partial
    from .streams.documents import values as values
    from .streams.fragmenting import fragments as fragments
    from .streams.framing import sse as sse
    from .streams.selecting import select as select
    from .streams.selecting import text as text
    from .streams.updating import updates as updates
    from .toolcalls import ToolCall as ToolCall
    from .toolcalls import ToolCallEvents as ToolCallEvents
    from .toolcalls import ToolCalls as ToolCalls
    from .toolcalls import ToolCallUpdate as ToolCallUpdate
    from .tools import run_tools as run_tools

    compiled: bool

__version__ = "1.0.0.dev0"

# Where each name comes from. It is loaded when it is first used: reading text needs neither
# providers nor schemas, and importing the package should cost nothing.
_MODULES: _typing.Final = {
    name: module
    for module, names in (
        (".answer", "Answer"),
        (".answers", "Part Parts"),
        (".build.document", "Document"),
        (".chunker", "Chunker"),
        (
            ".errors",
            "FieldNotFound FragmentError InvalidJSON InvalidSchema JsonrillError "
            "LimitExceeded Limits RevisionError SourceFailed StreamClosed Truncated "
            "UnknownEvents UnknownSource feedback",
        ),
        (".parse.sink", "Repair"),
        (".partial_stream", "PartialStream Update"),
        (".partial_stream.delta", "apply_delta"),
        (".paths", "Path"),
        (".schema.partials", "is_partial"),
        (".streams.documents", "values fields partial loads"),
        (".streams.selecting", "select text"),
        (".streams.fragmenting", "fragments"),
        (".streams.updating", "updates"),
        (".streams.chunking", "chunks"),
        (".streams.answering", "content parts tool_calls"),
        (".streams.framing", "sse"),
        (".toolcalls", "ToolCall ToolCallEvents ToolCalls ToolCallUpdate"),
        (".tools", "run_tools"),
        (".fragment", "Fragment Kind Parser Rebuilder"),
    )
    for name in names.split()
}
# Modules with names of their own, so that `jsonrill.wire.to_wire` works like `jsonrill.values`.
_SUBMODULES: _typing.Final = (
    "dialects",
    "eventstream",
    "paths",
    "schema",
    "testing",
    "wire",
)


def __getattr__(name: str) -> _typing.Any:
    if name in _SUBMODULES:
        return _import_module(f".{name}", __name__)
    if name == "compiled":
        machine = _import_module(".parse.machine", __name__)
        value: _typing.Any = not str(machine.__file__).endswith(".py")
    elif name in _MODULES:
        value = getattr(_import_module(_MODULES[name], __name__), name)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, *_SUBMODULES]


__all__ = [
    "Answer",
    "Chunker",
    "Document",
    "FieldNotFound",
    "Fragment",
    "FragmentError",
    "InvalidJSON",
    "InvalidSchema",
    "JsonrillError",
    "Kind",
    "LimitExceeded",
    "Limits",
    "Parser",
    "Part",
    "PartialStream",
    "Parts",
    "Path",
    "Rebuilder",
    "Repair",
    "RevisionError",
    "SourceFailed",
    "StreamClosed",
    "ToolCall",
    "ToolCallEvents",
    "ToolCallUpdate",
    "ToolCalls",
    "Truncated",
    "UnknownEvents",
    "UnknownSource",
    "Update",
    "apply_delta",
    "chunks",
    "compiled",
    "content",
    "feedback",
    "fields",
    "fragments",
    "is_partial",
    "loads",
    "partial",
    "parts",
    "run_tools",
    "select",
    "sse",
    "text",
    "tool_calls",
    "updates",
    "values",
]
