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
LENIENT: Final = 11  # this and all above: states of `lenient/`
BEFORE: Final = LENIENT  # where the value may begin
PROSE: Final = LENIENT + 1  # in text before it
THOUGHTS: Final = LENIENT + 2  # in <think>, where nothing is looked for
ASIDE: Final = LENIENT + 3  # in brackets that are part of the prose
IGNORED: Final = LENIENT + 4  # in text after the value
LINE_COMMENT: Final = LENIENT + 5
BLOCK_COMMENT: Final = LENIENT + 6
BARE_KEY: Final = LENIENT + 7
ODD_STRING: Final = LENIENT + 8  # in a string value with quotes that are not JSON's
ODD_KEY: Final = LENIENT + 9
CLOSING: Final = LENIENT + 10  # after the root's bracket, which may be one too many
BLOCK_STRING: Final = LENIENT + 11  # in a string between """ or ```
BARE_VALUE: Final = LENIENT + 12  # in a string without quotes
CODE: Final = LENIENT + 13  # in a fence that names another language than JSON

# How the next piece is taken in. Many documents are always read carefully.
PLAIN: Final = 0  # inside a string: the piece may be nothing but plain text
WATCHED: Final = 1  # the same with leniency, in a string that has nothing unusual so far
READY: Final = 2  # nothing is held: the piece is run as it is
HELD: Final = 3  # what is held comes before it
CUT: Final = 4  # after half a UTF-8 character: only bytes can follow
CLOSED: Final = 5  # nothing can follow

# An offset that no string has, not even in a prefix.
NOWHERE: Final = -1_000_000_000

# How closely the text is looked at where a token may be missing or too many; 0: not at all.
TOLERANT: Final = 1  # with leniency
KEEPING: Final = 2  # and the text of strings is kept, as the sink does not
GUIDED: Final = 3  # and a schema asks for some types

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
}
