"""What was read of an answer, and what its errors say of that to a person."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import filterfalse
from typing import Any, Final

from ..answer import Answer, joined
from ..errors import InvalidJSON, JsonrillError, Truncated
from ..parse.reasoning import ELEMENTS, MARKS
from ..parse.sink import TEXT, Noted

# How many characters of an answer are kept for its errors.
_KEPT: Final = 1 << 16
# How many of them a message quotes.
_QUOTED: Final = 60
_PAGE: Final = re.compile(r"<(?:!doctype|html|head|body|\?xml)\b", re.IGNORECASE)
_TAGS: Final = (*(f"<{name}" for name in ELEMENTS), *(mark for mark, _ in MARKS))
_FILE: Final = re.compile(r"[^\s{}\[\]\"]{1,200}\.(?:json|jsonl|ndjson|txt|log|sse)", re.IGNORECASE)


class Transcript:
    """What was read of an answer: its text up to a limit."""

    def __init__(self) -> None:
        # Gets all of the text, too, if the caller asks for it.
        self.copy: Answer | None = None
        self._noted = Noted(_KEPT)

    def add(self, piece: Any) -> None:
        """Keep a piece of text or bytes, if there is room."""
        self._to_copy(piece)
        self._noted.add(piece)

    def noted(self, pieces: Iterator[Any]) -> Iterator[Any]:
        """The pieces, which are kept, without the `None` that deltas have in place of no text."""
        self._noted.pieces = pieces if self.copy is None else filterfalse(self._to_copy, pieces)
        return self._noted

    def _to_copy(self, piece: Any) -> None:
        if self.copy is not None and isinstance(piece, TEXT):
            self.copy.add(piece)

    @property
    def text(self) -> str:
        """The text up to here; its beginning, if it is long."""
        return joined(self._noted.kept)[:_KEPT]


def explained(error: JsonrillError, transcript: Transcript, *, strict: bool) -> JsonrillError:
    """The error with what was read, and with the words that a person needs to mend the program."""
    if error.text is None:
        error.text = transcript.text
    told = error
    if isinstance(error, InvalidJSON) and _is_at_the_beginning(error, error.text):
        told = _of_the_beginning(error, error.text, strict)
    if told.value is None and error.text and (error.offset or 0) <= len(error.text) < _KEPT:
        told.value = _last_good(error.text[: error.offset], strict)
    return told


def _is_at_the_beginning(error: InvalidJSON, text: str) -> bool:
    """True if nothing of a value has been read."""
    if error.offset is None or error.path:
        return False
    blank = len(text) - len(text.lstrip("\ufeff \t\r\n"))
    return error.offset <= blank or (error.expected == "a value" and error.offset >= len(text))


def _of_the_beginning(error: InvalidJSON, text: str, strict: bool) -> InvalidJSON:
    cut = isinstance(error, Truncated) and error.reason != "ended"
    begun = text.lstrip("\ufeff \t\r\n")
    if cut:
        why = error.message.partition("; expected")[0]
        if not begun:
            why += ": there is no text"
        elif error.message.startswith(why + ";") and ":" not in why:
            why += f": {quoted(begun)}"
        return _saying(error, why)
    if not begun:
        return _saying(error, "the text is empty")
    shown = quoted(begun)
    if _PAGE.match(begun):
        message = f"this is an HTML page, not JSON: {shown}"
    elif _FILE.fullmatch(begun.strip()) and strict:
        message = f"{shown} is not JSON: if a file is meant, pass open({begun.strip()!r})"
    elif strict and begun.startswith("```"):
        message = f"the JSON is in a fence, which repair=True reads: {shown}"
    elif strict and begun.lower().startswith(_TAGS):
        message = f"the model thinks aloud before the JSON, which repair=True skips: {shown}"
    elif begun[0].isalpha() or begun[0] in "#*>_":
        message = f"the answer is text, not JSON: {shown}"
        message += " (repair=True skips text around JSON)" if strict else ""
    else:
        return error
    return _saying(error, message)


def _saying(error: InvalidJSON, message: str) -> InvalidJSON:
    """The error with this message; text that is not JSON is not truncated."""
    if type(error) is Truncated and error.reason == "ended" and error.text and error.text.strip():
        place = {name: getattr(error, name) for name in JsonrillError._fields}
        told = InvalidJSON(message, expected=error.expected, **place)
        told.text, told.value, told.fragments = error.text, error.value, error.fragments
        return told
    error.args = (message,)
    return error


def quoted(text: str) -> str:
    """The beginning of a text, in quotes."""
    line = " ".join(text[: 4 * _QUOTED].split())
    return repr(line if len(line) <= _QUOTED else line[: _QUOTED - 1] + "…")


def _last_good(text: str, strict: bool) -> Any:
    from ..build.document import Document

    document = Document(repair=not strict)
    try:
        document.feed(text)
    except JsonrillError:
        pass
    return document.value
