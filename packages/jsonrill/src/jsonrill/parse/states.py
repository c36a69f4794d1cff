"""The states of the machines: what they expect, or what they are reading.

A compiled module turns its own constants into C integers, which other modules cannot import. So the
states have a module that is not compiled.
"""

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

# What is expected in a state, for errors.
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
}
