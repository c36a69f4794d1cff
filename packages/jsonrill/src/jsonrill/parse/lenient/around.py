"""Leniency around the value: prose, fences, thoughts, comments, text between many documents.

`ProseMachine` is the strict machine, only that it begins where a value may begin and not where one
must. It also has what all rules need: to report a repair, to look ahead, to hold what cannot be
told yet. What leniency does inside the value is in the modules after
this one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from ...errors import InvalidJSON
from ...options import OnRepair
from ..grammar import SPACE
from ..machine import Machine
from ..sink import Repair, Sink
from ..states import (
    AFTER,
    ASIDE,
    BEFORE,
    BLOCK_COMMENT,
    CODE,
    END,
    FENCE,
    IGNORED,
    LENIENT,
    LINE_COMMENT,
    NEXT_KEY,
    PROSE,
    THOUGHTS,
    VALUE,
    WARY,
)
from . import lookahead, patterns
from .lookahead import Shape
from .rules import QUOTES, rule_names

# No words of the text after the value; and before a bracket that is meant as itself, or as a face.
_NO_WORDS: Final = " \t\r\n,;)]}"
_NO_CLOSER: Final = ("`", ":", ";", "=")
# Before a tag that is spoken of.
_QUOTES_TAG: Final = ("`", '"', "'", "“")
# Before a bracket that is the value, even if the text stops after it, or if it is a list of numbers
# or words. (In a sentence that is a footnote, or an interval.)
_INTRODUCES: Final = ("", ":", "\n")
# What a fence may name and still hold JSON: nothing, something with "json" in it, or one of these.
_NO_LANGUAGES: Final = frozenset(("", "text", "txt", "plaintext", "plain", "output", "response"))
_NO_LIST: Final = (".", "?", "!", "&", "'")
# There are two quotes in a row in a comment: they may belong around it.
_TWO_QUOTES: Final = -(10**9)
# As much of the prose is remembered as these patterns look at.
_REMEMBERED: Final = 160
_LONGEST_LANGUAGE: Final = 16
# Among the keys of an object: one of them came twice.
REPEATED: Final[Any] = 0


class ProseMachine(Machine):
    """The machine that finds the value in the text around it.

    A method `_mend_…` says where to read on, or -1 if its rule does not fit or is off.
    """

    __slots__ = (
        "_aside_is_broken",
        "_aside_is_due",
        "_aside_is_quoted",
        "_bare_keys",
        "_announced",
        "_before_text",
        "_between",
        "_comment_closes",
        "_comment_quoted",
        "_comment_quotes",
        "_depth_aside",
        "_in_prose",
        "_json_fence",
        "_language",
        "_last",
        "_mended",
        "_on_repair",
        "_resume",
        "_rules",
        "_scalar_list",
        "_trailing_code",
        "_trailing_digits",
        "_trailing_letters",
        "_trailing_thoughts",
        "_trailing_words",
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
        self._wary = WARY
        self._bound = self._text_limit = max(self._text_limit, lookahead.REACH)
        self._state = self._fresh = BEFORE
        # With many documents: whether one has ended and the next has not begun.
        self._between = False
        # The text has ended: what waits for more of it is decided now.
        self._last = False
        # The state that a comment interrupted.
        self._resume = BEFORE
        # The end of the prose so far; the language that a fence names; how many brackets are open
        # in the prose.
        self._before_text = ""
        self._language = ""
        self._depth_aside = 0
        # A fence that names JSON is open, and no value has begun in it.
        self._json_fence = False
        # Of a comment: how many quotes it has, and if there is a closing bracket in it.
        self._comment_quotes = 0
        self._comment_closes = self._comment_quoted = False
        # A bracket of the prose begins where the value is due, or in a quotation.
        self._aside_is_due = self._aside_is_quoted = self._aside_is_broken = False
        # The value was found in prose; it is a list of numbers or words.
        self._in_prose = self._scalar_list = False
        # Of the text after it: if there were words, or letters; if thoughts have begun, or code.
        self._trailing_words = self._trailing_letters = self._trailing_digits = False
        # The end of it announces a value: a colon, or a new line.
        self._trailing_thoughts = self._trailing_code = self._announced = False
        self._start_document()

    def _start_document(self) -> None:
        """Forget what was remembered of the document before."""
        # How many repairs this document has, and if a key without quotes is among them.
        self._mended = 0
        self._bare_keys = False

    @property
    def pending_key(self) -> tuple[str, int] | None:
        """None: how a key will be repaired is not known before its end."""
        return None

    @property
    def pending_text(self) -> str | None:
        """Text of the number or literal that is being read, else None.

        At the root it may still be prose, and a minus or another letter the beginning of no JSON.
        """
        text = super().pending_text
        # A number that may have no digit has begun with none.
        certain = text and self._frames and text != "-" and text[0] in "-0123456789tfn"
        return text if certain else None

    # ---- what all rules need -----------------------------------------------------------------

    def _may_repair(self, rule: str, text: str, pos: int, size: int = 1) -> bool:
        """True if this rule is on; then the repair of `size` characters is reported."""
        if rule not in self._rules:
            return False
        self._mended += 1
        if self._mended > self._limits.repairs:
            raise self._over("repairs", self._limits.repairs, text, pos)
        offset, line, column = self._position(text, pos)
        repair = Repair(rule, offset, line, column, self.document, offset + size)
        self.repairs.append(repair)
        if self._on_repair is not None:
            self._on_repair(repair)
        return True

    def _ends_repair(self, rule: str, end: int) -> None:
        """The repair that was reported last, if it is one of this rule, ends before this offset."""
        if self.repairs and self.repairs[-1].rule == rule:
            self.repairs[-1] = self.repairs[-1]._replace(end=end)

    def _two_readings(
        self, one: str, other: str, text: str, pos: int, kind: type[InvalidJSON] = InvalidJSON
    ) -> InvalidJSON:
        """The error where two readings are possible and none may be taken."""
        got = f"but there are two: {one}, or {other},"
        error: InvalidJSON = self._error(kind, "one reading", got, text, pos)
        error.readings = (one, other)
        return error

    def _sees(self, shape: Shape, text: str, pos: int) -> bool | None:
        """True if the text goes on in this shape, None if more text must come to tell.

        The end of the text counts as the end of a line.
        """
        if self._last:
            return shape.whole.match(text + "\n", pos) is not None
        if shape.whole.match(text, pos):
            return True
        return None if shape.cut.match(text, pos) else False

    def _mend_mark(self, rule: str, shape: Shape, text: str, pos: int) -> int:
        """Report a mark of this shape and go past it, or hold what may become one."""
        if rule not in self._rules:
            return -1
        found = shape.whole.match(text, pos)
        if found:
            self._may_repair(rule, text, pos, found.end() - pos)
            return found.end()
        # Half a mark in a container is cut off with it, elsewhere it is none.
        waits = shape.cut.match(text, pos) and (self._frames or not self._last)
        return self._hold(text, pos) if waits else -1

    def _hold(self, text: str, pos: int) -> int:
        self._held = text[pos:]
        return len(text)

    def _add_comma(self) -> None:
        self._state = NEXT_KEY if self._object else VALUE
        self._count += not self._object

    def _take_comma_back(self) -> None:
        self._state = AFTER
        self._count -= not self._object

    def _skip(self, text: str, pos: int) -> int:
        step = _STEPS.get(self._state)
        return Machine._skip(self, text, pos) if step is None else step(self, text, pos)

    # ---- before the value --------------------------------------------------------------------

    def _before(self, text: str, pos: int) -> int:
        """Read where a value may begin: at the start, after a fence, between documents."""
        space = patterns.SPACE_OR_SEPARATOR if self._many else SPACE
        pos = space.match(text, pos).end()  # type: ignore[union-attr]  # may be empty
        if pos == len(text):
            return pos
        if text[pos] in lookahead.ODD_SPACES and self._may_repair("odd-spaces", text, pos):
            return pos + 1
        if text.startswith('{"', pos):  # the commonest beginning
            return self._begin_value(text, pos)
        end = self._mend_around(text, pos)
        if end >= 0:
            return end
        if QUOTES.get(text[pos]) in self._rules or self._prose_rule() not in self._rules:
            return self._begin_value(text, pos)
        shape = lookahead.ANY_VALUE_BEGINS if self._many else lookahead.VALUE_BEGINS
        seen = self._sees_value(shape, text, pos)
        if seen is None:
            return self._hold(text, pos)
        return self._begin_value(text, pos) if seen else self._begin_prose(text, pos)

    def _sees_value(self, shape: Shape, text: str, pos: int) -> bool | None:
        if text[pos] == "(" and "tuples" not in self._rules:
            return False
        if self._last and text[pos] in "{[" and shape.cut.match(text, pos):
            # Cut off right after its bracket. In a sentence, [1 may be a footnote, {name a blank.
            after = lookahead.SPACES.match(text, pos + 1).end()  # type: ignore[union-attr]
            bare = text[after : after + 1] not in ("{", "[") and text[pos:].rstrip() != "{"
            before = self._before_text.rstrip(" \t")[-1:]
            if shape is not lookahead.BRACKET or not bare or before in _INTRODUCES:
                return True
        return self._sees(shape, text, pos)

    def _begin_value(self, text: str, pos: int) -> int:
        self._json_fence = False
        self._ends_repair(self._prose_rule(), self._offset + pos)
        self._scalar_list = patterns.SCALAR_LIST.match(text, pos) is not None
        if self._between:
            self._between = False
            self._next_document(VALUE, pos)
        elif self._many:
            self._begin_at(self._offset + pos)
        self._state = VALUE
        return pos

    def _next_document(self, state: int, pos: int) -> None:
        self._start_document()
        Machine._next_document(self, state, pos)

    def _leave_ended(self) -> None:
        if self._between:
            self._state = END
            self._between = False
        Machine._leave_ended(self)

    def _prose_rule(self) -> str:
        return "trailing-text" if self._between else "leading-text"

    def _begin_prose(self, text: str, pos: int) -> int:
        thinks = self._sees(lookahead.THOUGHTS, text, pos)
        if thinks is None:
            return self._hold(text, pos)
        self._may_repair(self._prose_rule(), text, pos)
        self._state = THOUGHTS if thinks else PROSE
        self._before_text = ""
        return pos + 1 if thinks else pos

    def _prose(self, text: str, pos: int) -> int:
        """Look for a fence, for thoughts, or for a bracket that has something of JSON in it."""
        breaks = patterns.BREAKS_PROSE_OF_MANY if self._many else patterns.BREAKS_PROSE
        before, start = self._before_text, pos
        while (found := breaks.search(text, pos)) is not None:
            pos = found.start()
            char = text[pos]
            if char in "\n\x1e":
                self._state = BEFORE
                return pos
            self._before_text = (before + text[max(start, pos - _REMEMBERED) : pos])[-_REMEMBERED:]
            if char == "`":
                end = self._mend_fence(text, pos)
                if end >= 0:
                    return end
            elif self._before_text[-1:] not in _QUOTES_TAG and char != "{":
                thinks = self._sees(lookahead.THOUGHTS, text, pos)
                if thinks is None:
                    return self._hold(text, pos)
                if thinks:
                    self._state = THOUGHTS
                    return pos + 1
            if char in "`<◁":
                pass
            elif self._is_code(char):
                self._aside_is_due = self._aside_is_broken = False
                return self._begin_aside(pos)
            else:
                seen = self._sees_value(lookahead.BRACKET, text, pos)
                if seen is None:
                    return self._hold(text, pos)
                if seen:
                    fits = self._fits(text, pos)
                    if fits is None:
                        return self._hold(text, pos)
                    self._aside_is_due = self._aside_is_broken = False
                    self._in_prose = bool(fits) and self._is_announced(text, pos)
                    return (
                        self._begin_value(text, pos) if self._in_prose else self._begin_aside(pos)
                    )
                after = lookahead.SPACES.match(text, pos + 1).end()  # type: ignore[union-attr]
                if char == "{" and text.startswith("{", after):  # of a template
                    pos += 1
                    continue
                self._aside_is_broken = not patterns.ASIDE_BEGINS.match(text, after)
                self._aside_is_due = char == "{" and not self._before_text
                return self._begin_aside(pos)
            pos += 1
        self._before_text = (before + text[max(start, len(text) - _REMEMBERED) :])[-_REMEMBERED:]
        return len(text)

    def _fits(self, text: str, pos: int) -> bool | None:
        """True if a schema allows what begins here; None if more text must come to tell."""
        return True

    def _is_announced(self, text: str, pos: int) -> bool:
        """False for a list of numbers or words in the middle of a sentence."""
        if not patterns.NEEDS_ANNOUNCING.match(text, pos):
            return True
        return patterns.ANNOUNCES.search(self._before_text.rstrip(" \t")) is not None

    def _is_code(self, bracket: str) -> bool:
        """True if a bracket after the prose so far is part of something else than an answer."""
        before = self._before_text
        if patterns.SUBSCRIPT.search(before[-16:]) or before.endswith('"'):
            return True
        if bracket == "[" and before.endswith(_NO_LIST):
            return True
        lines = before.rsplit("\n", 2)
        line = lines[-1]
        if line.count('"') % 2 or line.count("“") > line.count("”"):
            return True
        if len(lines) > 1 and patterns.YAML_KEY.match(line) and patterns.YAML_LINE.match(lines[-2]):
            return True
        found = patterns.IN_CODE.search(line)
        return found is not None and (found.start() > 0 or len(lines) > 1 or line[-1] != ",")

    def _begin_aside(self, pos: int) -> int:
        """A bracket in prose that begins no JSON: `see [1, p. 3]`, `d["k"]`, `{name: string}`.

        Nothing inside it is the value, so it is passed over up to the bracket that closes it.
        """
        self._depth_aside = 0
        self._state = ASIDE
        self._aside_is_quoted = self._before_text.rpartition("\n")[2].count('"') % 2 > 0
        self._before_text = ""
        return pos

    def _aside(self, text: str, pos: int) -> int:
        breaks = patterns.BREAKS_ASIDE_OF_MANY if self._many else patterns.BREAKS_ASIDE
        start = pos
        while (found := breaks.search(text, pos)) is not None:
            at = found.start()
            if text[at] in "\n\x1e":
                self._refuse_due(text, start, at)
                self._state = BEFORE
                return at
            if text[at] in "{[":
                if self._aside_is_broken and self._depth_aside:
                    self._refuse_due(text, start, at)
                    raise self._broken(text, at)
                before = text[at - 1] if at > pos else self._before_text
                if before == "\n" and self._depth_aside:  # never closed: a new line, a new text
                    self._refuse_due(text, start, at)
                    self._state = PROSE
                    self._before_text = "\n"
                    return at
                self._depth_aside += 1
            else:
                self._depth_aside -= 1
                if self._depth_aside <= 0:
                    self._refuse_due(text, start, at)
                    self._state = PROSE
                    self._before_text = ('"' if self._aside_is_quoted else "") + text[at]
                    return at + 1
            pos = at + 1
            self._before_text = text[at]
        if pos < len(text):
            self._before_text = text[-1]
        self._refuse_due(text, start, len(text))
        return len(text)

    def _refuse_due(self, text: str, start: int, end: int) -> None:
        """`{it's": 1}` where the value is due is not prose, but an object that is broken.

        So is `{ - "a": 1}` anywhere.
        """
        if self._aside_is_due or self._aside_is_broken:
            quote = text.find('"', start, end)
            if quote >= 0:
                raise self._broken(text, quote)

    def _broken(self, text: str, pos: int) -> InvalidJSON:
        got = "but got a quote" if text[pos] == '"' else f"but got {text[pos]!r}"
        error: InvalidJSON = self._error(InvalidJSON, "a key or '}'", got, text, pos)
        return error

    def _thoughts(self, text: str, pos: int) -> int:
        """Skip what a model thinks aloud: nothing of it is the answer."""
        while (tag := patterns.TAG.search(text, pos)) is not None:
            pos = tag.start()
            found = lookahead.THOUGHTS_END.whole.match(text, pos)
            if found:
                self._state = BEFORE
                return found.end()
            if lookahead.THOUGHTS_END.cut.match(text, pos) and not self._last:
                return self._hold(text, pos)
            pos += 1
        return len(text)

    # ---- marks around the value, and what follows it -----------------------------------------

    def _mend_around(self, text: str, pos: int) -> int:
        if text[pos] == "`":
            return self._mend_fence(text, pos)
        return self._mend_comment(text, pos) if text[pos] == "/" else -1

    def _mend_fence(self, text: str, pos: int) -> int:
        if lookahead.FENCE.whole.match(text, pos):
            self._ends_repair(self._prose_rule(), self._offset + pos)
        end = self._mend_mark("fences", lookahead.FENCE, text, pos)
        if end >= 0 and not self._held and self._state != END:
            if self._json_fence and self._state == PROSE:
                raise self._error(InvalidJSON, "a value", "but the fence ended", text, pos)
            self._json_fence = False
            self._state = FENCE
            self._language = ""
        return end

    def _fence(self, text: str, pos: int) -> int:
        """In more ticks, or in the language that the fence names."""
        end = patterns.FENCE_REST.match(text, pos).end()  # type: ignore[union-attr]  # may be empty
        if len(self._language) < _LONGEST_LANGUAGE:
            name = self._language + text[pos:end].replace("`", "").lower()
            self._language = name[:_LONGEST_LANGUAGE]
        self._ends_repair("fences", self._offset + end)
        if end < len(text):
            name = self._language
            json = "json" in name
            self._json_fence = json and not self._many
            self._state = BEFORE if json or name in _NO_LANGUAGES else CODE
        return end

    def _code(self, text: str, pos: int) -> int:
        """In a fence that names another language: nothing in it is JSON."""
        pos = text.find("`", pos)
        if pos < 0:
            return len(text)
        end = self._mend_mark("fences", lookahead.FENCE, text, pos)
        if end < 0:
            return pos + 1
        if not self._held:
            self._state = BEFORE
        return end

    def _mend_comment(self, text: str, pos: int) -> int:
        end = self._mend_mark("comments", lookahead.COMMENT, text, pos)
        if end >= 0 and not self._held:
            self._begin_comment(BLOCK_COMMENT if text[end - 1] == "*" else LINE_COMMENT)
        return end

    def _begin_comment(self, state: int) -> None:
        self._resume = self._state
        self._state = state
        self._comment_quotes = 0
        self._comment_closes = self._comment_quoted = False

    def _line_comment(self, text: str, pos: int) -> int:
        end = text.find("\n", pos)
        stop = len(text) if end < 0 else end
        self._comment_quotes += text.count('"', pos, stop)
        if text.find('""', pos, stop) >= 0 or (self._comment_quoted and text[pos] == '"'):
            self._comment_quotes = _TWO_QUOTES
        self._comment_quoted = text[stop - 1] == '"'
        self._comment_closes = (
            self._comment_closes or text.find("]", pos, stop) >= 0 or text.find("}", pos, stop) >= 0
        )
        self._ends_repair("comments", self._offset + stop)
        if end < 0:
            return stop
        self._refuse_comment(text, end)
        self._state = self._resume
        return end

    def _refuse_comment(
        self, text: str, pos: int, kind: type[InvalidJSON] = InvalidJSON, last: bool = False
    ) -> None:
        """`[// no"]`: a comment, or a string without its first quote."""
        odd = self._comment_quotes % 2 or self._comment_quotes < 0
        if self._frames and (odd or (last and self._comment_closes)):
            raise self._two_readings("this is a comment", "a quote is missing", text, pos, kind)

    def _block_comment(self, text: str, pos: int) -> int:
        end = text.find("*/", pos)
        if end < 0:
            return self._hold(text, len(text) - 1) if text.endswith("*") else len(text)
        self._ends_repair("comments", self._offset + end + 2)
        self._state = self._resume
        return end + 2

    def _mend_after(self, text: str, pos: int) -> int:
        """Text after the value, or after one of many."""
        if self._many:
            if text[pos] == ":":
                return -1
            self._between = True
            self._state = BEFORE
            return pos
        if text[pos] in lookahead.ODD_SPACES and self._may_repair("odd-spaces", text, pos):
            return pos + 1
        if self._begins_another(text, pos):
            return self._hold(text, pos)
        opens = self._sees(lookahead.OPENING_FENCE, text, pos)
        if opens is None:
            return self._hold(text, pos)
        end = -1 if opens else self._mend_around(text, pos)
        if end < 0 and self._may_repair("trailing-text", text, pos):
            self._state = IGNORED
            self._before_text = ""
            self._depth_aside = 0
            self._trailing_words = self._trailing_letters = self._trailing_digits = False
            self._trailing_thoughts = self._trailing_code = self._announced = False
            return pos
        return end

    def _begins_another(self, text: str, pos: int) -> bool:
        """True if more text must come to tell. A second value, or one in a fence, is refused."""
        if "trailing-text" not in self._rules:
            return False
        char = text[pos]
        if char == "`":
            seen = "fences" in self._rules and self._sees(lookahead.NAMED_FENCE, text, pos)
        elif char in "{[":
            seen = self._sees(lookahead.BRACKET, text, pos) and self._fits(text, pos)
        else:
            seen = self._sees(lookahead.ALONE, text, pos)
        if seen:
            raise self._two_readings("the value is before this", "it begins here", text, pos)
        return seen is None

    def _ignored(self, text: str, pos: int) -> int:
        """Pass over the text after the value, but for what shows that the value is another.

        A bracket that closes nothing shows that the value's bracket was none; the end of thoughts
        that they began before it; a second value, or a fence with one, that the first may have been
        an example, or wrong.
        """
        start = pos
        while (found := patterns.BREAKS_TRAILING.search(text, pos)) is not None:
            pos = found.start()
            self._note_trailing(text, start, pos)
            start = pos
            char = text[pos]
            if char in "`~":
                end = self._trailing_fence(text, pos)
                if end == len(text):
                    return end
                pos = end
                continue
            if self._trailing_code:
                pos += 1
                continue
            if char in "{[" and self._is_later(text, pos):
                return self._hold(text, pos)
            if char in "<◁[":
                ends = self._sees(lookahead.ONLY_THOUGHTS_END, text, pos)
                begins = self._sees(lookahead.THOUGHTS, text, pos)
                if ends is None or begins is None:
                    return self._hold(text, pos)
                if ends and not self._trailing_thoughts:
                    raise self._two_readings(
                        "the value has ended", "it was part of thoughts", text, pos
                    )
                if begins or ends:
                    self._trailing_thoughts = bool(begins)
                if char == "[":
                    self._depth_aside += 1
            elif char == "{":
                self._depth_aside += 1
            elif char in "}]":
                if self._depth_aside:
                    self._depth_aside -= 1
                elif self._trailing_words and self._before_text not in _NO_CLOSER:
                    raise self._two_readings(
                        "the value has ended", "this bracket ends it", text, pos
                    )
            pos += 1
        self._note_trailing(text, start, len(text))
        return len(text)

    def _trailing_fence(self, text: str, pos: int) -> int:
        """Ticks in the text after the value: they close its fence, or open and close code."""
        if "fences" not in self._rules:
            return pos + 1
        seen = not self._trailing_code and self._sees_json_fence(text, pos)
        fence = self._sees(lookahead.FENCE, text, pos)
        opens = self._sees(lookahead.OPENING_FENCE, text, pos)
        if seen is None or fence is None or opens is None:
            return self._hold(text, pos)
        if seen:
            raise self._two_readings("the value is before this", "it is in this fence", text, pos)
        if not fence:
            return pos + 1
        self._trailing_code = not self._trailing_code and bool(opens)
        return pos + 3

    def _sees_json_fence(self, text: str, pos: int) -> bool | None:
        seen = self._sees(lookahead.JSON_FENCE, text, pos)
        found = lookahead.JSON_FENCE.whole.match(text, pos)
        if found is None or text[found.end() - 1] not in "{[":
            return seen
        return self._sees(lookahead.BRACKET, text, found.end() - 1)

    def _is_later(self, text: str, pos: int) -> bool:
        """True if more text must come to tell. A second value is refused.

        Numbers in a sentence are a footnote.
        """
        if (
            self._depth_aside
            or self._trailing_thoughts
            or patterns.NO_VALUE.match(self._before_text)
        ):
            return False
        if self._trailing_letters and not self._announced:
            footnote = self._sees(lookahead.FOOTNOTE, text, pos)
            if footnote is not False:
                return footnote is None
        seen = self._sees(lookahead.BRACKET, text, pos) and self._fits(text, pos)
        if seen:
            raise self._two_readings("the value is before this", "it begins here", text, pos)
        return seen is None

    def _note_trailing(self, text: str, start: int, end: int) -> None:
        if end == start or self._trailing_code:
            return
        self._before_text = text[end - 1]
        run = text[start:end]
        self._trailing_words = self._trailing_words or run.strip(_NO_WORDS) != ""
        if not self._trailing_letters:
            letter = patterns.LETTER.search(run)
            found = patterns.SECOND.search(run, 0, letter.start() if letter else len(run))
            if found:
                raise self._two_readings(
                    "the value is before this", "it begins here", text, start + found.start()
                )
            self._trailing_letters = letter is not None
            self._trailing_digits = self._trailing_digits or any(map(str.isdigit, run))
        visible = run.rstrip(" \t")
        if visible:
            self._announced = visible[-1] in ":\n"

    def _outside(self) -> bool:
        return not self._frames if self._state >= LENIENT else Machine._outside(self)


def as_set(keys: Any) -> Any:
    """The keys of an object as a set, in which a key that came twice is noted."""
    if type(keys) is not list:
        return keys
    found: set[Any] = set(keys)
    if len(found) < len(keys):
        found.add(REPEATED)
    return found


def repeats(keys: Any) -> bool:
    """True if a key of an object came twice."""
    return keys is not None and REPEATED in as_set(keys)


_STEPS: Final[dict[int, Callable[[ProseMachine, str, int], int]]] = {
    BEFORE: ProseMachine._before,
    PROSE: ProseMachine._prose,
    THOUGHTS: ProseMachine._thoughts,
    ASIDE: ProseMachine._aside,
    CODE: ProseMachine._code,
    FENCE: ProseMachine._fence,
    IGNORED: ProseMachine._ignored,
    LINE_COMMENT: ProseMachine._line_comment,
    BLOCK_COMMENT: ProseMachine._block_comment,
}
