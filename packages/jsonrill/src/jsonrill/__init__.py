"""Growing JSON: from a model to a program, from a program to a screen.

text → values      `values`, `fields`, `loads`, `partial`; without I/O: `Document`
text → fields      `select`: complete values at a path; `text`: a string as it grows
text → updates     `updates`; without I/O: `PartialStream`, `Update`, `apply_delta`
text → fragments   `fragments`; without I/O: `Parser`; back to a value: `Rebuilder`
snapshots → text   `chunks`; without I/O: `Chunker`
state → messages   `send`, `receive`; without I/O: `Sender`, `Receiver`
provider events    `content`, `tool_calls`, `parts`, `run_tools`; `ToolCalls`, `Parts`, `Answer`
events → bytes     `sse`
speed              `compiled`: whether the core runs compiled; it is the same code either way
errors             `JsonrillError` and its children; `feedback` tells the model

The modules are in the order in which data passes them. A module imports only those above it.

    jsontext.py      writing JSON
    paths.py         paths, patterns, JSON Pointer
    errors.py        the error tree and the limits
    eventstream.py   server-sent events: text ↔ events
    parse/           text → events, strict or repairing
    document.py      text → a value that grows: `Document`
    finder.py        values at places: what `select` and `updates` share
    fragment.py      fragments, their wire form, `Parser`, `Rebuilder`
    schema/          types and JSON Schemas
    partial_stream/  text → updates in five modes
    chunker/         snapshots → text
    answer.py        what a caller may want to know about an answer: `Answer`
    providers/       a provider's events → statements
    toolcalls/       statements → tool calls that grow
    answer_parts.py  statements → the parts of an answer; `thinking.py` finds `<think>` tags
    messages.py      the turn that the next request sends back
    deltas.py        operations: the difference of two values, and its effect
    wire.py          the wire for growing JSON: `Sender`, `Receiver`
    pipeline.py      the contract of stages, and two stages in a row
    sources/         any source → elements; their events, and the text of an answer
    many.py          one document after another: `many=True`
    driver.py        a stage over a source, sync or async
    stages.py        the stages of the public functions
    selection.py     the stages of `select` and `text`: values and strings at a path
    streams.py       the public functions
    sending.py       `send` and `receive`
    tools.py         `run_tools`
    dialects/        streams for other projects' clients
    starlette.py     a response that is an event stream
    testing.py       simulated models for your tests
    cli/, demo/      the commands
"""

import typing as _typing
from importlib import import_module as _import_module

if _typing.TYPE_CHECKING:
    from .answer import Answer as Answer
    from .answer_parts import Part as Part
    from .answer_parts import Parts as Parts
    from .chunker import Chunker as Chunker
    from .deltas import apply_delta as apply_delta
    from .document import Document as Document
    from .errors import InvalidJSON as InvalidJSON
    from .errors import InvalidSchema as InvalidSchema
    from .errors import JsonrillError as JsonrillError
    from .errors import LimitExceeded as LimitExceeded
    from .errors import Limits as Limits
    from .errors import Truncated as Truncated
    from .errors import feedback as feedback
    from .fragment import Fragment as Fragment
    from .fragment import Parser as Parser
    from .fragment import Rebuilder as Rebuilder
    from .partial_stream import PartialStream as PartialStream
    from .partial_stream import Update as Update
    from .sending import receive as receive
    from .sending import send as send
    from .streams import chunks as chunks
    from .streams import content as content
    from .streams import fields as fields
    from .streams import fragments as fragments
    from .streams import loads as loads
    from .streams import partial as partial
    from .streams import parts as parts
    from .streams import select as select
    from .streams import sse as sse
    from .streams import text as text
    from .streams import tool_calls as tool_calls
    from .streams import updates as updates
    from .streams import values as values
    from .toolcalls import ToolCall as ToolCall
    from .toolcalls import ToolCalls as ToolCalls
    from .tools import run_tools as run_tools
    from .wire import Receiver as Receiver
    from .wire import Sender as Sender

    compiled: bool

__version__ = "1.0.0.dev0"

# Where each name comes from. It is loaded when it is first used: reading text needs neither
# providers nor schemas.
_MODULES: _typing.Final = {
    name: module
    for module, names in {
        "answer": "Answer",
        "answer_parts": "Part Parts",
        "document": "Document",
        "chunker": "Chunker",
        "deltas": "apply_delta",
        "errors": "InvalidJSON InvalidSchema JsonrillError LimitExceeded Limits Truncated feedback",
        "fragment": "Fragment Parser Rebuilder",
        "wire": "Receiver Sender",
        "partial_stream": "PartialStream Update",
        "sending": "receive send",
        "streams": "chunks content fields fragments loads partial parts select sse text"
        " tool_calls updates values",
        "toolcalls": "ToolCall ToolCalls",
        "tools": "run_tools",
    }.items()
    for name in names.split()
}

__all__ = sorted([*_MODULES, "compiled"])


def __getattr__(name: str) -> _typing.Any:
    if name == "compiled":
        machine = _import_module(".parse.machine", __name__)
        value: _typing.Any = not str(machine.__file__).endswith(".py")
    elif name in _MODULES:
        value = getattr(_import_module(f".{_MODULES[name]}", __name__), name)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
