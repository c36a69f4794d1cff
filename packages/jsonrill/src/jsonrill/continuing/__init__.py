"""`unbroken`: an answer that outlives its connection, its token limit and its model.

outline.py   where a JSON text stands, and where another may go on
joined.py    the text that is put together
anew.py      a second answer that begins again, or has only what is missing
joining.py   the ways in which a second text may join the first
session.py   what attempts add to the answer, and whether to ask again
missing.py   what the schema still asks for
requests.py  the request for the rest
so_far.py    what the program learns that asks
source.py    `unbroken`, sync and async
"""

from .so_far import Called, SoFar
from .source import AsyncUnbroken, Unbroken, unbroken

__all__ = ["AsyncUnbroken", "Called", "SoFar", "Unbroken", "unbroken"]
