"""The states of the machine: what it expects or is inside of, as numbers for the compiler."""

from __future__ import annotations

from typing import Final

VALUE: Final = 0  # a value
FIRST_ELEMENT: Final = 1  # after "[": a value or "]"
FIRST_KEY: Final = 2  # after "{": a key or "}"
NEXT_KEY: Final = 3  # after "," in an object: a key
COLON: Final = 4
AFTER: Final = 5  # after a value in a container: "," or the closing bracket
END: Final = 6  # after the root value: white space
STRING: Final = 7  # in a string value
KEY: Final = 8  # in a key
DIGITS: Final = 9  # in a number
SKIPPED: Final = 10  # after an error in one of many documents: anything up to a newline
BEFORE: Final = 11  # in text before the value; this and all below: of `repair.py`
LINE_COMMENT: Final = 12
BLOCK_COMMENT: Final = 13
ELLIPSIS: Final = 14  # after "..."

# How the next piece is taken in. Many documents are always read carefully.
PLAIN: Final = 0  # inside a string: the piece may be nothing but plain text
READY: Final = 1  # nothing is held: the piece is run as it is
HELD: Final = 2  # what is held comes before it
CUT: Final = 3  # after half a UTF-8 character: only bytes can follow
CLOSED: Final = 4  # nothing can follow

# An offset that no token has, not even in a prefix.
NOWHERE: Final = -1_000_000_000

# What could stand where the text is refused or ends.
EXPECTED: Final = {
    VALUE: "a value",
    FIRST_ELEMENT: "a value or ']'",
    FIRST_KEY: "a key or '}'",
    NEXT_KEY: "a key",
    COLON: "':'",
    END: "the end of the text",
    STRING: "the end of the string",
    KEY: "the end of the key",
    DIGITS: "a digit",
    SKIPPED: "a newline",
    BEFORE: "a value",
    LINE_COMMENT: "a newline",
    BLOCK_COMMENT: "'*/'",
    ELLIPSIS: "a closing bracket",
}
