"""Streaming JSON for programs that talk to language models, in both directions.

text → values      `values`, `fields`, `partial`; by hand: `Document`
text → fields      `select`: complete values at a path; `text`, `texts`: strings as they grow
text → fragments   `fragments`; by hand: `Parser`; back to a value: `Rebuilder`
snapshots → text   `chunks`; by hand: `Chunker`
a provider's text  `content`, `arguments`: what all of the above read of a provider's stream
an answer's parts  `parts` yields a `Part` for each change; by hand: `Parts`
running tools      `run_tools`: starts them early, and has the turn for the next request
other clients      `to_openai`, `to_ai_sdk`, `to_ag_ui`, `to_text`, `to_mcp_app`, `ai_sdk_message`
tool calls         `tool_calls`; by hand: `ToolCalls`, which holds `ToolCall`s and tells of them
                   in `ToolCallUpdate`s; over the wire: `ToolCallEvents`
a fragment         `Fragment`: one of twelve `Kind`s, at a `Path`
text → updates     `updates`; by hand: `PartialStream`; an `Update`'s change: `apply_delta`
server-sent events `sse`; by hand: `SSEEncoder`, `SSEDecoder`, `SSEEvent`, `encode_event`
wire forms         `to_wire`, `from_wire`, `CompactEncoder`, `WireReader`
paths              `format_path`, `parse_path`, `to_pointer`, `from_pointer`
near-JSON          `repair=True` reports each `Repair`; `many=True` reads one document after another
speed              `compiled`: whether the core runs compiled; it is the same code either way
what goes wrong    `JsonrillError` and its children

The folders are the journey of the data. A part imports only from parts above it.

    jsontext.py      writing JSON: one iterative writer, quoting, surrogates
    paths.py         where a value sits: paths, patterns, JSON Pointer
    errors.py        the error tree, each with its place and to_dict(); size limits
    options.py       every option of every stage: types, defaults, checks, help
    eventstream.py   server-sent events, no I/O
    parse/           text → events, strict and lenient
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
    answers/         the parts of an answer; which calls are run, and the next turn
    dialects/        what providers say, and JSON → events of other people's clients
    streams.py       the public functions, sync and async
    translations.py  `to_openai` and the others: events of other people's clients
    toolrunner.py    `run_tools`: tools run in threads or in the event loop
    ext/             adapters for frameworks: responses of Starlette and Django, LangChain's parser
    testing/         upstreams for tests: scripted, or as a provider would answer
    terminal.py      values on a terminal
    archives.py      .gz and .zst, as files and piece by piece
    demo/            recordings, the demo in a terminal
    cli/             the commands
"""

from .answers import Part, Parts
from .build.document import Document
from .build.rebuilder import Rebuilder
from .chunker import Chunker
from .dialects.ai_sdk_message import ai_sdk_message
from .errors import (
    FieldNotFound,
    FragmentError,
    InvalidJSON,
    InvalidSchema,
    JsonrillError,
    LimitExceeded,
    Limits,
    RevisionError,
    SourceFailed,
    StreamClosed,
    Truncated,
    UnknownEvents,
    UnknownSource,
)
from .eventstream import SSEDecoder, SSEEncoder, SSEEvent, encode_event
from .parse import machine as _machine
from .parse.sink import Repair
from .partial_stream import PartialStream, Update
from .partial_stream.delta import apply_delta
from .paths import Path, format_path, from_pointer, parse_path, to_pointer
from .streams import (
    arguments,
    chunks,
    content,
    fields,
    fragments,
    is_partial,
    partial,
    parts,
    select,
    sse,
    text,
    texts,
    tool_calls,
    updates,
    values,
)
from .toolcalls import ToolCall, ToolCallEvents, ToolCalls, ToolCallUpdate
from .toolrunner import run_tools
from .translations import to_ag_ui, to_ai_sdk, to_mcp_app, to_openai, to_text
from .wire.compact import CompactEncoder
from .wire.fragment import Fragment, Kind
from .wire.full import from_wire, to_wire
from .wire.parser import Parser
from .wire.reader import WireReader

compiled: bool = not _machine.__file__.endswith(".py")

__version__ = "0.2.0"

__all__ = [
    "Chunker",
    "CompactEncoder",
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
    "SSEDecoder",
    "SSEEncoder",
    "SSEEvent",
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
    "WireReader",
    "ai_sdk_message",
    "apply_delta",
    "arguments",
    "chunks",
    "compiled",
    "content",
    "encode_event",
    "fields",
    "format_path",
    "fragments",
    "from_pointer",
    "from_wire",
    "is_partial",
    "parse_path",
    "partial",
    "parts",
    "run_tools",
    "select",
    "sse",
    "text",
    "texts",
    "to_ag_ui",
    "to_ai_sdk",
    "to_mcp_app",
    "to_openai",
    "to_pointer",
    "to_text",
    "to_wire",
    "tool_calls",
    "updates",
    "values",
]
