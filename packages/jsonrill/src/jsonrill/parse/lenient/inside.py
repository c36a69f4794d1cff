"""`LenientMachine`: the strict machine that asks a reader where it would refuse.

It reads as the strict machine does until a character fits nowhere, or the state is one that JSON
does not have. Then one of the readers it holds is asked:

    reader      module         asked for
    prose       prose.py       text, fences and thoughts around the value
    comments    comments.py    comments, around the value and in it
    tokens      tokens.py      a character between tokens: commas, fences, ellipses
    words       words.py       words without quotes, numbers in other ways of writing
    text        strings.py     text of a string: odd quotes, escapes, control characters
    quotes      quotes.py      a quote in a string: does it end it?
    brackets    brackets.py    brackets that contradict each other, the root's bracket
    schema      by_schema.py   which reading a schema asks for
    ending      ending.py      the end of the text

In a state that JSON does not have, `READERS` names the method. A character that fits nowhere goes
to `_unexpected`: between tokens to `Tokens.fix`, which chooses by character, after the value to
`Tokens.fix_after`, in a number to `Words.fix_number`. In strings and at brackets the hooks of the
strict machine, below, name it: text that is unusual goes to `_odd_run` and `_take_watched`, a quote
to `_end_string`, a backslash to `_odd_escape`. The end of the text is `TextEnd.finish`.

A reader says where reading goes on and in which state, or -1 if it has no answer: then the text is
refused. A reading is taken only if it is the only sensible one.
"""

from __future__ import annotations

from typing import Any, Final

from ..expected import Guide
from ..machine import Machine
from ..sink import Sink
from ..states import (
    AFTER,
    ASIDE,
    BARE_KEY,
    BARE_VALUE,
    BEFORE,
    BLOCK_COMMENT,
    BLOCK_STRING,
    CLOSING,
    CODE,
    DIGITS,
    END,
    GUIDED,
    IGNORED,
    KEY,
    LENIENT,
    LINE_COMMENT,
    ODD_KEY,
    ODD_STRING,
    PROSE,
    STRING,
    THOUGHTS,
)
from . import brackets, by_schema, comments, ending, prose, quotes, strings, tokens, words
from .core import Leniency

# For each state of leniency the name of its reader, and the method.
READERS: Final[dict[int, tuple[str, str]]] = {
    BEFORE: ("prose", "before"),
    PROSE: ("prose", "prose"),
    THOUGHTS: ("prose", "thoughts"),
    ASIDE: ("prose", "aside"),
    CODE: ("prose", "code"),
    IGNORED: ("prose", "ignored"),
    LINE_COMMENT: ("comments", "line"),
    BLOCK_COMMENT: ("comments", "block"),
    BARE_KEY: ("words", "bare_key"),
    BARE_VALUE: ("words", "bare_value"),
    ODD_STRING: ("text", "odd_string"),
    ODD_KEY: ("text", "odd_string"),
    BLOCK_STRING: ("text", "block_string"),
    CLOSING: ("brackets", "closing"),
}


class LenientMachine(Leniency):
    """The machine with an answer where the strict one refuses."""

    __slots__ = ("_brackets", "_quotes", "_text")

    def __init__(self, sink: Sink, **options: Any) -> None:
        super().__init__(sink, **options)
        self.prose, self.comments = prose.Prose(), comments.Comments()
        self.schema, self.words = by_schema.BySchema(), words.Words()
        self.text, self.quotes = strings.Strings(), quotes.Quotes()
        self.brackets, self.tokens = brackets.Brackets(), tokens.Tokens()
        self.ending = ending.TextEnd()
        # Those that nearly every string and bracket passes, once more: typed for the compiler.
        self._text, self._quotes, self._brackets = self.text, self.quotes, self.brackets
        self._start_document()

    def _start_document(self) -> None:
        """Forget what was remembered of the document before."""
        self._repaired = 0
        self._bare_keys = False
        self._passed = None
        self.words.start_document(self)
        self.text.start_document(self)
        self.brackets.start_document(self)

    def _unexpected(self, text: str, pos: int, expected: str = "") -> int:
        state, end = self._state, -1
        if self._passed is not None:
            return self._contradicts(text, pos)
        if state == DIGITS:
            end = self.words.fix_number(self, text, pos)
        elif state == END:
            end = self.tokens.fix_after(self, text, pos)
        elif state < STRING:
            end = self.tokens.fix(self, text, pos, text[pos])
        return end if end >= 0 else Machine._unexpected(self, text, pos, expected)

    def _skip(self, text: str, pos: int) -> int:
        if self._state < LENIENT:
            return Machine._skip(self, text, pos)
        reader, method = READERS[self._state]
        end: int = getattr(getattr(self, reader), method)(self, text, pos)
        return end

    # ---- the hooks of the strict machine -----------------------------------------------------

    @property
    def closing(self) -> bool:
        """True if the root's bracket was read and is not emitted yet."""
        return self._state == CLOSING

    @property
    def pending_key(self) -> tuple[str, int] | None:
        """None: how a key will be repaired is not known before its end."""
        return None

    @property
    def pending_text(self) -> str | None:
        """Text of the number or literal that is being read, else None.

        At the root it may still be prose, and a minus or another letter the beginning of no JSON;
        and it may be a string without quotes.
        """
        text = super().pending_text
        # A number that may have no digit has begun with none.
        certain = text and self._frames and text != "-" and text[0] in "-0123456789tfn"
        return text if certain and not self.words.bare_rule(self) else None

    def guide(self, guide: Guide) -> None:
        self.schema.guide = guide
        self._leniency = GUIDED

    def _outside(self) -> bool:
        if self._state in (ODD_STRING, BLOCK_STRING, BARE_VALUE):
            return False
        return not self._frames if self._state >= LENIENT else Machine._outside(self)

    def _next_document(self, state: int, pos: int) -> None:
        self._start_document()
        Machine._next_document(self, state, pos)

    def _leave_ended(self) -> None:
        if self.prose.between:
            self._state = END
            self.prose.between = False
        Machine._leave_ended(self)

    def _finish(self) -> None:
        self.ending.finish(self)

    def _fail_at(self, text: str, pos: int) -> dict[str, Any]:
        if self._passed is not None:
            self._back_to_quote()
        self.ending.strictly(self)
        self._end_repair(self._offset + pos)
        return Machine._fail_at(self, text, pos)

    def _take_watched(self, run: str) -> None:
        self._text.take(self, run)

    def _is_plain(self, run: str) -> bool:
        return self._text.is_plain(run)

    def _odd_run(self, text: str, stop: int, run: str) -> int:
        return self._text.odd_run(self, text, stop, run)

    def _escaped(self, text: str, pos: int) -> int:
        if self._careful_at != self._token:
            pos = Machine._escaped(self, text, pos)
            if pos == len(text) or (self._state != STRING and self._state != KEY):
                return pos
        return self._text.escaped(self, text, pos)

    def _note_code(self, text: str, end: int) -> None:
        if self._text.has_code(self, text, end):
            self._text.code_at = self._token

    def _odd_escape(self, text: str, pos: int) -> int:
        return self._text.odd_escape(self, text, pos)

    def _control(self, text: str, pos: int) -> int:
        return self._text.control(self, text, pos)

    def _end_string(self, text: str, quote: int) -> int:
        careful = self._careful_at == self._token or self._offset + quote == self._token + 1
        if not careful and self._frames and self._text.inner:
            self._string_at = self._token
            self._passed = ""
            self._state = AFTER
            return quote + 1
        return self._quotes.end_string(self, text, quote)

    def _unclosed_key(self, text: str, quote: int) -> int:
        return self._quotes.unclosed_key(self, text, quote)

    def _string_element(self, text: str, pos: int) -> int:
        return self._brackets.string_element(self, text, pos)

    def _close_root(self, pos: int) -> int:
        return self._brackets.close_root(self, pos)

    def _may_decode(self) -> bool:
        return self._brackets.may_decode(self)

    def _emit_decoded(self, value: Any, text: str, pos: int, end: int) -> None:
        self._brackets.emit_decoded(self, value, text, pos, end)

    def _repeats(self, key: str, text: str, quote: int) -> None:
        self._brackets.repeats(self, key, text, quote)

    def _ends_number(self, text: str, pos: int) -> bool:
        return self.words.ends_number(self, text, pos)

    def _odd_literal(self, text: str, pos: int, word: str) -> int:
        return self.words.odd_literal(self, text, pos, word)
