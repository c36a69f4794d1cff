"""Streaming JSON for programs that talk to language models, in both directions.

text → values      `values`, `texts`, `partial`; by hand: `Document`
text → fragments   `fragments`; by hand: `Parser`; back to a value: `Rebuilder`
snapshots → text   by hand: `Chunker`
a fragment         `Fragment`: one of twelve `Kind`s, at a `Path`
wire forms         `to_wire`, `from_wire`, `CompactEncoder`, `WireReader`
paths              `to_text`, `from_text`, `to_pointer`, `from_pointer`
near-JSON          `repair=True` reports each `Repair`; `many=True` reads one document after another
what goes wrong    `JsonrillError` and its children
"""

from .chunker import Chunker
from .document import Document
from .errors import (
    FragmentError,
    InvalidJSON,
    JsonrillError,
    LimitExceeded,
    RevisionError,
    StreamClosed,
    Truncated,
)
from .fragments import CompactEncoder, Fragment, Kind, WireReader, from_wire, to_wire
from .machine import Limits, Repair
from .parser import Parser
from .paths import Path, from_pointer, from_text, to_pointer, to_text
from .rebuilder import Rebuilder
from .streams import fragments, partial, texts, values

__version__ = "0.1.0"

__all__ = [
    "Chunker",
    "CompactEncoder",
    "Document",
    "Fragment",
    "FragmentError",
    "InvalidJSON",
    "JsonrillError",
    "Kind",
    "LimitExceeded",
    "Limits",
    "Parser",
    "Path",
    "Rebuilder",
    "Repair",
    "RevisionError",
    "StreamClosed",
    "Truncated",
    "WireReader",
    "fragments",
    "from_pointer",
    "from_text",
    "from_wire",
    "partial",
    "texts",
    "to_pointer",
    "to_text",
    "to_wire",
    "values",
]
