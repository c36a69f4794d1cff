"""The text of an answer as it is put together: what it is, and how much of it may be shown."""

from __future__ import annotations

from typing import Any, Final

from ..build.document import Document
from ..errors import InvalidJSON, InvalidSchema, LimitExceeded
from ..options import Rules
from ..parse.sink import TextBuffer
from .outline import Outline

_BEGINS_JSON: Final = '{["-0123456789tfn'


class JoinedText:
    """A text that is put together from answers.

    `plain`: it is not JSON, so that nothing is known of its form. `violation` is that of the
    schema, behind which nothing is added.
    """

    def __init__(self, schema: Any = None, repair: Rules = False) -> None:
        self._schema = schema
        self._repair = repair
        self._buffer = TextBuffer()
        self.size = 0
        # What has not been shown.
        self._rest = ""
        # Where the JSON begins: `repair` skips what is before it.
        self.begin: int | None = None
        # False: more may come behind the value, which tells that it was read in a wrong way.
        self.ended = True
        self.outline = Outline()
        self.violation: InvalidSchema | None = None
        # True if it was JSON when another answer went on with it.
        self._was_json = False
        # Any: the module is loaded if there is a schema.
        self._check: Any = None
        if schema is not None:
            from ..schema.document import SchemaDocument

            self._check = SchemaDocument(schema, live=True, repair=repair)

    @property
    def text(self) -> str:
        """The text so far."""
        return self._buffer.text()

    @property
    def has_schema(self) -> bool:
        """True if it is checked by a schema."""
        return self._check is not None

    @property
    def shown(self) -> int:
        """How much of it has been shown."""
        return self.size - len(self._rest)

    @property
    def plain(self) -> bool:
        """True if this is not JSON."""
        return self.outline.dead or (self.begin is None and not self.text.isspace())

    @property
    def complete(self) -> bool:
        """True if it is one complete value."""
        return self.begin is not None and self.outline.done and not self.outline.dead

    @property
    def clean(self) -> int:
        """The end of what may be shown, because it cannot mean anything else any more."""
        if self.begin is None or (self.outline.dead and not self._was_json):
            return self.size
        if self.outline.done and not self.outline.dead:
            return self.size if self.ended else self.size - 1
        return self.begin + self.outline.clean

    def add(self, piece: str) -> str:
        """Add text, up to the end of the value; returns what is behind it."""
        if self.begin is None:
            self._append(piece)
            return self._find_begin(self.size - len(piece))
        if self.outline.dead:
            self._append(piece)
            return ""
        return self._follow(piece)

    def add_talk(self, text: str) -> None:
        """Add what is behind the value."""
        self._append(text)

    def take(self) -> str:
        """What may be shown now and was not before."""
        size = self.clean - self.shown
        text, self._rest = self._rest[:size], self._rest[size:]
        return text

    def mark_shown(self) -> None:
        """Another process has shown all of it, and knew that a number at its end is complete."""
        if self.outline.word:
            self.add(" ")
        self._rest = ""

    def fork(self, *, rewound: bool = False) -> JoinedText:
        """The same text, which goes on for itself; with `rewound` from its last clean place."""
        other = self._copy(self.clean if rewound else self.size)
        if rewound and other.outline.word:
            # A number before a clean place is complete.
            other.add(" ")
        other._was_json = not self.plain
        return other

    def good(self) -> JoinedText:
        """The text without an end that is wrong: behind a violation, or not JSON any more.

        What has been shown stays.
        """
        is_broken = self._was_json and self.outline.dead
        self.ended = True
        if self.violation is None and not is_broken:
            return self
        size = max((self.begin or 0) + self.outline.clean, self.shown)
        return self._copy(size if is_broken else self.size)

    def document(self) -> Document:
        """The value of the text up to its last clean place; all of it, if it is complete."""
        document = Document()
        if self.begin is not None and not self.outline.dead:
            text = self.text[self.begin : self.size if self.complete else self.clean]
            # A number is complete when something follows it.
            document.feed(text if self.outline.in_string else text + " ")
        return document

    def _copy(self, size: int) -> JoinedText:
        other = JoinedText(self._schema, self._repair)
        other.add(self.text[:size])
        other._rest = other._rest[self.shown :]
        return other

    def _append(self, piece: str) -> None:
        self._buffer.add(piece)
        self.size += len(piece)
        self._rest += piece

    def _find_begin(self, before: int) -> str:
        text = self.text
        begun = text.lstrip("\ufeff \t\r\n")
        at = len(text) - len(begun)
        if begun and begun[0] not in _BEGINS_JSON:
            at = next((at for at in range(before, len(text)) if text[at] in "{["), len(text))
        if at == len(text):
            return ""
        self.begin = at
        self._cut_to(text, at)
        return self._follow(text[at:])

    def _follow(self, piece: str) -> str:
        """More of the JSON text; returns what is behind its end."""
        size = self.outline.feed(piece)
        if self.outline.dead:
            size = len(piece)
        self._append(piece[:size])
        self._validate(piece[:size])
        if self.violation is not None:
            self._go_back(self.violation)
            return ""
        return piece[size:]

    def _validate(self, piece: str) -> None:
        if self._check is None:
            return
        try:
            self._check.feed(piece)
        except InvalidSchema as violation:
            self.violation = violation
        except (InvalidJSON, LimitExceeded):
            self._check = None

    def _go_back(self, violation: InvalidSchema) -> None:
        """Leave out what is behind the last clean place before the violation, unless it was shown.

        The reader must not see what cannot stay.
        """
        text, begin = self.text, self.begin or 0
        outline = Outline()
        outline.feed(text[begin : begin + violation.offset])
        good = max(begin + outline.clean, self.shown)
        self.outline = Outline()
        self.outline.feed(text[begin:good])
        self._cut_to(text, good)

    def _cut_to(self, text: str, size: int) -> None:
        """Leave out what is behind a place that has not been shown."""
        shown = self.shown
        self._buffer, self.size, self._rest = TextBuffer(), 0, ""
        self._append(text[:size])
        self._rest = text[shown:size]
