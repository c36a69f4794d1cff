"""Snapshots → text chunks whose concatenation is the last snapshot.

snapshot.py  a snapshot → a tree in which equal means equal
prefix.py    the same for texts that begin alike: reads only what is new
compare.py   what is empty, what differs
leaves.py    the open string or number; a tree → JSON text
frames.py    the open containers, and what may be written into them
spine.py     reads a snapshot against all that is open; writes
chunker.py   `Chunker`: options, revisions, the end
"""

from .chunker import Chunker

__all__ = ["Chunker"]
