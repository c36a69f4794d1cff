"""Streaming JSON for programs that talk to language models, in both directions.

text → values      `values`, `texts`, `partial`; by hand: `Document`
text → fragments   `fragments`; by hand: `Parser`; back to a value: `Rebuilder`
snapshots → text   `chunks`; by hand: `Chunker`
tool calls         `tool_calls`; by hand: `ToolCalls`, which holds `ToolCall`s and tells of them
                   in `ToolCallUpdate`s; over the wire: `ToolCallEvents`
a fragment         `Fragment`: one of twelve `Kind`s, at a `Path`
text → updates     `updates`; by hand: `PartialStream`; an `Update`'s change: `apply_delta`
server-sent events `SSEEncoder`, `SSEDecoder`, `SSEEvent`, `encode_event`
wire forms         `to_wire`, `from_wire`, `CompactEncoder`, `WireReader`
paths              `to_text`, `from_text`, `to_pointer`, `from_pointer`
near-JSON          `repair=True` reports each `Repair`; `many=True` reads one document after another
speed              `compiled`: whether the core runs compiled; it is the same code either way
what goes wrong    `JsonrillError` and its children
"""

from . import machine as _machine
from .chunker import Chunker
from .delta import apply_delta
from .document import Document
from .errors import (
    FragmentError,
    InvalidJSON,
    InvalidSchema,
    JsonrillError,
    LimitExceeded,
    Limits,
    RevisionError,
    StreamClosed,
    Truncated,
)
from .fragments import CompactEncoder, Fragment, Kind, WireReader, from_wire, to_wire
from .parser import Parser
from .partial import PartialStream, Update
from .paths import Path, from_pointer, from_text, to_pointer, to_text
from .rebuilder import Rebuilder
from .sink import Repair
from .sse import SSEDecoder, SSEEncoder, SSEEvent, encode_event
from .streams import chunks, fragments, partial, texts, tool_calls, updates, values
from .toolcalls import ToolCall, ToolCallEvents, ToolCalls, ToolCallUpdate

compiled: bool = not _machine.__file__.endswith(".py")

__version__ = "0.1.0"

__all__ = [
    "Chunker",
    "CompactEncoder",
    "Document",
    "Fragment",
    "FragmentError",
    "InvalidJSON",
    "InvalidSchema",
    "JsonrillError",
    "Kind",
    "LimitExceeded",
    "Limits",
    "Parser",
    "PartialStream",
    "Path",
    "Rebuilder",
    "Repair",
    "RevisionError",
    "SSEDecoder",
    "SSEEncoder",
    "SSEEvent",
    "StreamClosed",
    "ToolCall",
    "ToolCallEvents",
    "ToolCallUpdate",
    "ToolCalls",
    "Truncated",
    "Update",
    "WireReader",
    "apply_delta",
    "chunks",
    "compiled",
    "encode_event",
    "fragments",
    "from_pointer",
    "from_text",
    "from_wire",
    "partial",
    "texts",
    "to_pointer",
    "to_text",
    "to_wire",
    "tool_calls",
    "updates",
    "values",
]
