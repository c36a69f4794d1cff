"""The codes of a log's entries, as numbers for the compiler; and a mark for what is not built."""

from __future__ import annotations

from typing import Any, Final

OBJECT: Final = 0
ARRAY: Final = 1
STRING: Final = 2
SCALAR: Final = 3
SHOWN: Final = 4  # provisional: a number that grows, a literal guessed, a zero value
END: Final = 5
END_STRING: Final = 6

# What each of them does to the depth of what is open.
DEEPER: Final = (1, 1, 1, 0, 0, -1, -1)

# Marks data and deltas that are built when they are first read.
UNREAD: Final[Any] = object()
