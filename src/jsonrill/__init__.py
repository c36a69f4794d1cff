"""Streaming JSON for programs that talk to language models, in both directions.

text → values      `values`, `texts`, `partial`; by hand: `Document`
text → fragments   `fragments`; by hand: `Parser`; back to a value: `Rebuilder`
a fragment         `Fragment`: one of twelve `Kind`s, at a `Path`
wire forms         `to_wire`, `from_wire`, `CompactEncoder`, `WireReader`
paths              `to_text`, `from_text`, `to_pointer`, `from_pointer`
near-JSON          `repair=True` reports each `Repair`; `many=True` reads one document after another
speed              `compiled`: whether the core runs compiled; it is the same code either way
what goes wrong    `JsonrillError` and its children
"""

from . import machine as _machine
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

compiled: bool = not _machine.__file__.endswith(".py")

__version__ = "0.1.0"

__all__ = [
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
    "compiled",
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
