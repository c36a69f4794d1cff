"""What all readers of leniency need: to report a repair, to look ahead, to hold what is not known.

`Leniency` is the strict machine and holds the readers. A reader gets the machine with each call,
and keeps nothing of it. What a reader does is in its own module; which of them is asked for a
character is in `inside.py`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ...errors import InvalidJSON
from ...options import OnRepair
from ..grammar import REMEMBERED
from ..machine import Machine
from ..sink import Repair, Sink, TextBuffer
from ..states import (
    AFTER,
    BEFORE,
    FIRST_ELEMENT,
    FIRST_KEY,
    KEEPING,
    NEXT_KEY,
    NOWHERE,
    STRING,
    TOLERANT,
    VALUE,
)
from . import lookahead
from .lookahead import Shape
from .rules import rule_names

if TYPE_CHECKING:
    from . import brackets, by_schema, comments, ending, prose, quotes, strings, tokens, words


class Leniency(Machine):
    """The machine with the state that its readers share."""

    __slots__ = (
        "_bare_keys",
        "_closed",
        "_repaired",
        "_on_repair",
        "_parens",
        "_passes",
        "_rules",
        "brackets",
        "comments",
        "ending",
        "prose",
        "quotes",
        "schema",
        "text",
        "tokens",
        "words",
    )

    def __init__(
        self,
        sink: Sink,
        *,
        rules: bool | Iterable[str],
        on_repair: OnRepair = None,
        **options: Any,
    ) -> None:
        super().__init__(sink, **options)
        self._rules = rule_names(rules)
        self._on_repair = on_repair
        self._repairs = []
        self._leniency = TOLERANT
        self._bound = self._text_limit = max(self._text_limit, lookahead.REACH)
        self._state = self._fresh = BEFORE
        if sink.kept_text() is None:
            self._memory = TextBuffer()
            self._leniency = KEEPING
        # The depths that a "(" opened.
        self._parens: set[int] = set()
        # The containers that ended last, in a row, each with the one that ended before it in that
        # row: if it is an object, its size, and its keys, among them the number of each member that
        # is an object; or its text, start and end if it was read at once.
        self._closed: Any = None
        # The readers, which `LenientMachine` makes: they are imported there.
        later: Any = None
        self.prose: prose.Prose = later
        self.comments: comments.Comments = later
        self.schema: by_schema.BySchema = later
        self.words: words.Words = later
        self.text: strings.Strings = later
        self.quotes: quotes.Quotes = later
        self.brackets: brackets.Brackets = later
        self.tokens: tokens.Tokens = later
        self.ending: ending.TextEnd = later
        # The repair that was reported last has not ended.
        self._passes = False
        # How many repairs this document has, and if a key without quotes is among them.
        self._repaired = 0
        self._bare_keys = False

    def _may_repair(self, rule: str, text: str, pos: int, size: int = 1) -> bool:
        """True if this rule is on; then the repair of `size` characters is reported."""
        if rule not in self._rules:
            return False
        self._repaired += 1
        if self._repaired > self._limits.repairs:
            raise self._over("repairs", self._limits.repairs, text, pos)
        offset, line, column = self._position(text, pos)
        self._end_repair(offset)
        repair = Repair(rule, offset, line, column, self.document, offset + size)
        self.repairs.append(repair)
        if self._on_repair is not None:
            self._on_repair(repair)
        return True

    def _end_repair(self, end: int) -> None:
        """The repair that was reported last ends before this offset, if it is still open.

        It is open where text is passed over (`_passes`). It ends where that text does, where the
        next repair begins, or where the text is refused: so its end does not depend on the pieces.
        """
        if self._passes:
            self._passes = False
            last = self.repairs[-1]
            self.repairs[-1] = last._replace(end=max(end, last.offset + 1))

    def _two_readings(
        self, one: str, other: str, text: str, pos: int, kind: type[InvalidJSON] = InvalidJSON
    ) -> InvalidJSON:
        """The error where two readings are possible and none may be taken."""
        got = f"but there are two: {one}, or {other},"
        error: InvalidJSON = self._error(kind, "one reading", got, text, pos)
        error.readings = (one, other)
        return error

    def _sees(self, shape: Shape, text: str, pos: int) -> bool | None:
        return shape.sees(text, pos, self._last)

    def _fix_mark(self, rule: str, shape: Shape, text: str, pos: int) -> int:
        """Report a mark of this shape and go past it, or hold what may become one."""
        if rule not in self._rules:
            return -1
        match = shape.whole.match(text, pos)
        if match:
            self._may_repair(rule, text, pos, match.end() - pos)
            return match.end()
        # Half a mark in a container is cut off with it, elsewhere it is none.
        waits = shape.cut.match(text, pos) and (self._frames or not self._last)
        return self._hold(text, pos) if waits else -1

    def _start_string(self, offset: int) -> None:
        if self._memory is not None:
            self._memory.take()
        self._sink.start_string(offset)

    def _show_text(self, run: str) -> None:
        self._sink.text(run)
        if self._memory is not None:
            self._memory.add(run)

    def _text_of_string(self) -> str:
        """What was emitted of the string that is being read, or was read last."""
        memory = self._memory
        return (self._sink.kept_text() if memory is None else memory.text()) or ""

    def _hold(self, text: str, pos: int) -> int:
        self._held = text[pos:]
        return len(text)

    # ---- a quote that was read as the end of its string -------------------------------------

    def _contradicts(self, text: str, pos: int) -> int:
        if self._passed:
            self._unread()
            held, self._held = self._held, ""
            self._run(held + text)
            return len(text)
        self._back_to_quote()
        return self.quotes.end_string(self, text, text.rfind('"', 0, pos))

    def _keep_passed(self, text: str, after: int) -> None:
        if after == self._offset:
            return  # the piece was read anew, from before its beginning on
        passed = self._passed or ""
        start = 0 if passed else text.rfind('"')
        if "\n" in text:
            self._count_lines(text, start)
            if "\n" not in passed:
                self._passed_line = self._line_start
            self._count_lines(text, len(text))
        self._passed = passed = passed + text[start:]
        self._offset = after
        if len(passed) >= REMEMBERED:
            self._read_quote()

    def _read_quote(self) -> None:
        """Ask for the reading of the quote, with what was passed since."""
        self._unread()
        held, self._held = self._held, ""
        self._run(held, self.quotes.end_string(self, held, 0))

    def _unread(self) -> None:
        if self._passed is not None:
            self._held = self._passed
            self._offset -= len(self._held)
            self._uncount_lines(self._held.count("\n"), self._passed_line)
            self._back_to_quote()

    def _back_to_quote(self) -> None:
        """Be in the string at whose quote reading went on as if that were its end."""
        if self._state == VALUE:
            self._count -= 1
        self._passed = None
        self._state = STRING
        self._string_at = NOWHERE

    # ---- brackets and commas ---------------------------------------------------------------

    def _note_end(self, pos: int) -> None:
        if self._passed is not None:  # the string before has ended
            self._passed = None
            self._sink.end_string()
        size = self._count if self._object else self._count + 1
        if self._state != AFTER and self._state in (FIRST_ELEMENT, FIRST_KEY):
            size = 0
        before = self._closed if self._closed_at >= self._token else None
        self._closed = (self._object, size, self._seen, before)
        self._closed_at = self._offset + pos
        if self._object and self._frames[-1][0]:
            _, _, count, keys = self._frames[-1]
            note_object(keys, count)
        if self._parens and len(self._frames) > 1:
            self._parens.discard(len(self._frames))

    def _add_comma(self) -> None:
        self._state = NEXT_KEY if self._object else VALUE
        self._count += not self._object

    def _take_comma_back(self) -> None:
        self._state = AFTER
        self._count -= not self._object


def note_object(keys: Any, count: int) -> None:
    """The member of that number in an object with these keys is an object."""
    if type(keys) is list:
        keys.append(count)
    elif keys is not None:
        keys.add(count)
