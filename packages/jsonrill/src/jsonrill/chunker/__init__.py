"""Turn snapshots into text chunks whose concatenation is the last snapshot.

snapshot.py  a snapshot → a tree that keeps the texts of numbers
frames.py    the open containers, and the rules that say what is written when
chunker.py   `Chunker`: options, revisions, the end
"""

from .chunker import Chunker

__all__ = ["Chunker"]
