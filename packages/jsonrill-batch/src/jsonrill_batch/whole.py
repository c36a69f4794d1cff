"""Streams that are valid as a whole, as most are: one call of the C scanner, and no machine.

When such a stream showed its first value, and when it changed last, is seen from both ends of its
text. Where anything is unusual there is no row: the stream is read piece by piece, which says what
is wrong. The rows are those of `_values` and `_check` in `operations.py`, key by key.
"""

from __future__ import annotations

import re
from collections import Counter
from json import JSONDecoder
from operator import itemgetter
from typing import Any, Final

from jsonrill.parse.c_scanner import passes_a_limit, scanner

from jsonrill.errors import DEFAULT_LIMITS
from jsonrill.jsontext import dumps, quoted
from jsonrill.schema import Schema

from .input.line import Line
from .output.summary import Spread, Summary
from .output.tally import Place

# A container, and up to where it shows its first value: a string or a container as soon as it
# begins, a word when it is complete, a number with what comes after it.
_FIRST: Final = re.compile(
    r'[ \t\n\r]*((?:\[|\{\s*"(?:[^"\\]|\\.)*"\s*:)\s*(?:["\[{]|true|false|null|[-+.0-9eE]+.))',
    re.S,
)
# Half of a surrogate pair: what follows it decides when it is shown.
_LONE: Final = re.compile(r"\\u[dD][89abAB]")
_LIMITS: Final = DEFAULT_LIMITS.depth, DEFAULT_LIMITS.number, DEFAULT_LIMITS.keys
_LONGEST: Final = min(DEFAULT_LIMITS.text, DEFAULT_LIMITS.string)
_VALUE: Final = scanner(float)
_RECORD: Final = JSONDecoder().scan_once  # type: ignore[attr-defined]
# Streams that are counted at once.
_TOGETHER: Final = 1000
# Characters, pieces, and where the first value was shown and the last change came.
Measures = tuple[int, int, Place, Place]


def read_at_once(pieces: list[str], schema: Schema | None) -> tuple[Any, int, Place, Place]:
    """The value of a stream that is valid as a whole, the number of its characters, and where it
    showed its first value and changed last. Some exception for any other stream."""
    text = "".join(pieces)
    first = _FIRST.match(text)
    if first is None:
        raise ValueError("no value is shown before the end")
    value, end = _VALUE(text, first.start(1))
    if end != len(text) and text[end:].strip(" \t\n\r"):
        raise ValueError("more comes after the value")
    if len(text) > _LONGEST or passes_a_limit(value, text, 0, end, *_LIMITS):
        raise ValueError("a limit may be passed")
    if schema is None:
        changed = _last_change(text)
    else:
        schema.validate(value)
        # The end of the document counts, too: then the value has been found valid.
        changed = len(text.rstrip(" \t\n\r"))
    size = len(text)
    return value, size, _from_start(pieces, first.end()), _from_end(pieces, size, changed)


def _last_change(text: str) -> int:
    """The number of characters up to the last one that changed the value of a valid text."""
    end = len(text.rstrip("]} \t\n\r"))
    if text[end - 1] == '"':
        if _LONE.match(text, max(end - 7, 0)):
            raise ValueError("the end decides what is shown")
        return end - 1  # the last character of a string, or the quote before an empty one
    # What comes after a number completes it.
    return min(end + 1, len(text)) if text[end - 1].isdigit() else end


def _from_start(pieces: list[str], offset: int) -> Place:
    """Pieces and characters up to the end of the piece with the character before `offset`."""
    came = count = 0
    for piece in pieces:
        came += len(piece)
        count += 1
        if came >= offset:
            break
    return count, came


def _from_end(pieces: list[str], size: int, offset: int) -> Place:
    """The same, looked for from the end."""
    came, count = size, len(pieces)
    while came - len(pieces[count - 1]) >= offset:
        count -= 1
        came -= len(pieces[count])
    return count, came


def _value(name: str, value: Any, measures: Measures) -> str:
    return f'{{"id":{name},"value":{dumps(value)}}}'


def _verdict(name: str, value: Any, measures: Measures) -> str:
    characters, pieces, first, last = measures
    return (
        f'{{"id":{name},"ok":true,"characters":{characters},"pieces":{pieces},'
        f'"first":{{"characters":{first[1]},"pieces":{first[0]}}},'
        f'"last":{{"characters":{last[1]},"pieces":{last[0]}}}}}'
    )


ROWS: Final = {"values": _value, "check": _verdict}


class WholeLines:
    """The rows of lines `{"id": …, "chunks": […]}` whose stream is valid as a whole."""

    def __init__(self, kind: str, schema: Schema | None, summary: Summary) -> None:
        self._row = ROWS[kind]
        self._schema = schema
        self._summary = summary
        # Of streams that the summary does not count yet: many are counted at once.
        self._measures: list[Measures] = []

    def row(self, line: Line) -> str | None:
        """The row of such a line; None for any other."""
        try:
            text = line.text if isinstance(line.text, str) else line.text.decode()
            record, end = _RECORD(text, 0)
            pieces = record["chunks"]
            if end != len(text) or type(pieces) is not list or "times" in record:
                return None
            value, size, first, last = read_at_once(pieces, self._schema)
            name = record.get("id")
            if name is None:
                name = line.label
            if type(name) is not str and type(name) is not int:
                return None
            measures = (size, len(pieces), first, last)
            row = self._row(quoted(name) if type(name) is str else str(name), value, measures)
        except Exception:  # reading the line piece by piece says what is wrong
            return None
        self._measures.append(measures)
        if len(self._measures) >= _TOGETHER:
            self.count()
        return row

    def count(self) -> None:
        """Add what is not counted yet to the summary."""
        if not self._measures:
            return
        summary = self._summary
        sizes, counts, *places = zip(*self._measures, strict=True)
        summary.streams += len(sizes)
        summary.ok += len(sizes)
        summary.rows += len(sizes)
        summary.characters += sum(sizes)
        summary.pieces += sum(counts)
        for spreads, column in zip((summary.first, summary.last), places, strict=True):
            for at, unit in enumerate(("pieces", "characters")):
                spread = spreads.setdefault(unit, Spread())
                for measure, times in Counter(map(itemgetter(at), column)).items():
                    spread.add(measure, times)
        self._measures = []
