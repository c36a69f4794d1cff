"""Fragments: addressed changes of a document, in memory and on the wire.

`to_wire` and `from_wire` write and read the full form, `CompactEncoder` writes the compact one, and
`WireReader` reads any of them.

fragment.py  a fragment, and the check of what it carries
cursor.py    document order: where the next fragment must be
foreign.py   the dialect of another generator
full.py      the full form: JSON objects
compact.py   the compact form: short JSON arrays
reader.py    any of these → checked fragments
parser.py    text → fragments, fragments → events
"""

from .compact import CompactEncoder
from .full import from_wire, to_wire
from .reader import WireReader

__all__ = ["CompactEncoder", "WireReader", "from_wire", "to_wire"]
