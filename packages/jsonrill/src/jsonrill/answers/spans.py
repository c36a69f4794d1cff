"""Where a JSON value in a text ends, found without parsing it: it may come in any pieces."""

from __future__ import annotations

import re
from typing import Final

_SPACE: Final = " \t\n\r"
_STRUCTURE: Final = {False: re.compile(r'["{}\[\]]'), True: re.compile(r"[\"'{}\[\]]")}
_IN_STRING: Final = {'"': re.compile(r'["\\]'), "'": re.compile(r"['\\]")}
_SCALAR_END: Final = re.compile(r'[\s,:}\]\["{<]')


class JsonSpan:
    """Follows one JSON value through a text. `take` returns how much of a text belongs to it.

    With `repair` strings may be in single quotes, too.
    """

    __slots__ = ("_depth", "_escaped", "_quote", "_structure", "done", "in_string", "started")

    def __init__(self, repair: bool = False) -> None:
        self._structure = _STRUCTURE[repair]
        self._quote = '"'
        self.started = False
        self.done = False
        # True inside of a string, where a tag or a fence means nothing.
        self.in_string = False
        self._depth = 0
        self._escaped = False

    def take(self, text: str, at: int) -> int:
        """The place after the part of the value that `text[at:]` has; sets `done` at its end."""
        if not self.started:
            while at < len(text) and text[at] in _SPACE:
                at += 1
            if at == len(text):
                return at
            self.started = True
            if text[at] not in '"{[' and not (text[at] == "'" and self._structure.match("'")):
                return self._scalar(text, at)
        elif not self.in_string and self._depth == 0:
            return self._scalar(text, at)
        while at < len(text):
            if self.in_string:
                at = self._string(text, at)
                if self.in_string:
                    return at
            else:
                token = self._structure.search(text, at)
                if token is None:
                    return len(text)
                at = token.end()
                match token[0]:
                    case '"' | "'" as quote:
                        self.in_string = True
                        self._quote = quote
                        continue
                    case "{" | "[":
                        self._depth += 1
                    case _:
                        self._depth -= 1
            if self._depth <= 0:
                self.done = True
                return at
        return at

    def _string(self, text: str, at: int) -> int:
        """The place after the string, or the end of the text."""
        while at < len(text):
            if self._escaped:
                self._escaped = False
                at += 1
                continue
            token = _IN_STRING[self._quote].search(text, at)
            if token is None:
                return len(text)
            at = token.end()
            if token[0] == self._quote:
                self.in_string = False
                return at
            self._escaped = True
        return at

    def _scalar(self, text: str, at: int) -> int:
        """A number, literal or bare word ends at a delimiter, which is not part of it."""
        match = _SCALAR_END.search(text, at)
        self.done = match is not None
        return len(text) if match is None else match.start()
