"""Around the value: prose, fences, thoughts, and the text after it or between documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ...errors import InvalidJSON
from ..grammar import SPACE
from ..states import (
    ASIDE,
    BEFORE,
    BLOCK_COMMENT,
    CODE,
    END,
    IGNORED,
    LINE_COMMENT,
    PROSE,
    THOUGHTS,
    VALUE,
)
from . import lookahead, patterns
from .lookahead import Shape
from .rules import QUOTES

if TYPE_CHECKING:
    from .core import Leniency

# Before a tag that is spoken of.
_QUOTES_TAG: Final = ("`", '"', "'", "“")
# What a fence may name and still hold JSON: nothing, something with "json" in it, or one of these.
_NO_LANGUAGES: Final = frozenset(("", "text", "txt", "plaintext", "plain", "output", "response"))
# As much of the text before a bracket is remembered as the patterns look at.
_REMEMBERED: Final = 160
# As much of the text after a value is looked through for a second number or word.
_LONGEST_TRAILING: Final = 1000


class Prose:
    """Finds the value in the text around it."""

    __slots__ = (
        "aside_is_broken",
        "aside_is_object",
        "before_text",
        "between",
        "depth_aside",
        "in_prose",
        "introduction",
        "is_doubtful",
        "is_scalar",
        "json_fence",
        "scalar_list",
        "trailing_code",
        "trailing_text",
        "trailing_thoughts",
        "trailing_words",
    )

    def __init__(self) -> None:
        # With many documents: whether one has ended and the next has not begun.
        self.between = False
        # The end of the prose so far; how many brackets are open in it.
        self.before_text = ""
        self.depth_aside = 0
        # A fence that names JSON is open, and no value has begun in it.
        self.json_fence = False
        # A bracket of the prose that is passed over: it may be an object, or it begins as no text.
        self.aside_is_object = self.aside_is_broken = False
        # Something was passed over that may be the value: numbers after a colon, `{}.` in a line.
        self.is_doubtful = False
        # The value was found in prose; it is a list of numbers or words, or empty; or no bracket.
        self.in_prose = self.scalar_list = self.is_scalar = False
        # The end of the prose before it.
        self.introduction = ""
        # Of the text after it: if there were words, if thoughts or code have begun, its beginning.
        self.trailing_words = self.trailing_thoughts = self.trailing_code = False
        self.trailing_text = ""

    def before(self, m: Leniency, text: str, pos: int) -> int:
        """Read where a value may begin: at the start, after a fence, between documents."""
        space = patterns.SPACE_OR_SEPARATOR if m._many else SPACE
        pos = space.match(text, pos).end()  # type: ignore[union-attr]  # may be empty
        if pos == len(text):
            return pos
        if text[pos] in lookahead.ODD_SPACES and m._may_repair("odd-spaces", text, pos):
            return pos + 1
        if text.startswith('{"', pos):  # the commonest beginning
            return self.begin_value(m, text, pos)
        end = self.fix_around(m, text, pos)
        if end >= 0:
            return end
        if QUOTES.get(text[pos]) in m._rules or self.prose_rule(m) not in m._rules:
            return self.begin_value(m, text, pos)
        shape = lookahead.ANY_VALUE_BEGINS if m._many else lookahead.VALUE_BEGINS
        seen = self.sees_value(m, shape, text, pos)
        if seen is None:
            return m._hold(text, pos)
        return self.begin_value(m, text, pos) if seen else self.begin_prose(m, text, pos)

    def sees_value(self, m: Leniency, shape: Shape, text: str, pos: int) -> bool | None:
        if text[pos] == "(" and "tuples" not in m._rules:
            return False
        if m._last and text[pos] in "{[" and shape.cut.match(text, pos):
            # Cut off right after its bracket. In a sentence, [1 may be a footnote, {name a blank.
            if shape is not lookahead.BRACKET or patterns.DUE.search(self.before_text):
                return True
        return m._sees(shape, text, pos)

    def begin_value(self, m: Leniency, text: str, pos: int) -> int:
        self.json_fence, self.is_scalar = False, text[pos] not in "{[("
        m._end_repair(m._offset + pos)
        # Where prose is read, a list was seen to its end before it begins; elsewhere it may be cut.
        sees_all = self.prose_rule(m) in m._rules
        self.scalar_list = sees_all and patterns.SCALAR_LIST.match(text, pos) is not None
        if self.between:
            self.between = False
            m._next_document(VALUE, pos)
        elif m._many:
            m._begin_at(m._offset + pos)
        m._state = VALUE
        return pos

    def prose_rule(self, m: Leniency) -> str:
        return "trailing-text" if self.between else "leading-text"

    def begin_prose(self, m: Leniency, text: str, pos: int) -> int:
        thinks = m._sees(lookahead.THOUGHTS, text, pos)
        if thinks is None:
            return m._hold(text, pos)
        m._passes = m._may_repair(self.prose_rule(m), text, pos)
        m._state = THOUGHTS if thinks else PROSE
        self.before_text = ""
        self.is_doubtful = patterns.SCALAR_FIRST.match(text, pos) is not None
        return pos + 1 if thinks else pos

    def prose(self, m: Leniency, text: str, pos: int) -> int:
        """Look for a fence, for thoughts, or for a bracket that has something of JSON in it."""
        breaks = patterns.BREAKS_PROSE_OF_MANY if m._many else patterns.BREAKS_PROSE
        before, start = self.before_text, pos
        while (match := breaks.search(text, pos)) is not None:
            pos = match.start()
            char = text[pos]
            if char in "\n\x1e":
                m._state = BEFORE
                return pos
            self.before_text = (before + text[max(start, pos - _REMEMBERED) : pos])[-_REMEMBERED:]
            if char == "`":
                end = self.fix_fence(m, text, pos)
                if end >= 0:
                    return end
            elif self.before_text[-1:] not in _QUOTES_TAG and char != "{":
                thinks = m._sees(lookahead.THOUGHTS, text, pos)
                if thinks is None:
                    return m._hold(text, pos)
                if thinks:
                    m._state = THOUGHTS
                    return pos + 1
            if char in "`<◁":
                pos += 1
                continue
            self.aside_is_object = self.aside_is_broken = False
            if self.is_code(char):
                return self.begin_aside(m, pos, "[-]")
            seen = self.sees_value(m, lookahead.BRACKET, text, pos)
            fits = seen and m.schema.fits(m, text, pos)
            if seen is None or fits is None:
                return m._hold(text, pos)
            self.in_prose = bool(fits) and self.is_value(m, text, pos)
            if self.in_prose:
                self.introduction = self.before_text
                numbers = patterns.NUMBERS.match(text, pos) is not None
                end = self.begin_value(m, text, pos)
                # Any other number after numbers in a sentence makes them doubtful.
                self.is_scalar = numbers and not patterns.IN_LINE.search(self.before_text)
                return end
            after = lookahead.SPACES.match(text, pos + 1).end()  # type: ignore[union-attr]
            if not seen and char == "{" and text.startswith("{", after):  # of a template
                pos += 1
                continue
            if not seen:
                self.aside_is_object = char == "{"
                self.aside_is_broken = not patterns.ASIDE_BEGINS.match(text, after)
            scalars = seen and patterns.SCALAR_LIST.match(text, pos)
            might_be = scalars or patterns.EMPTY_OR_ONE.match(text, pos)
            announced = patterns.ANNOUNCES.search(self.before_text) is not None
            first = not patterns.ENTRY.match(text, pos) and patterns.IN_LINE.search(
                self.before_text
            )
            # After one of two values nothing is the value, least of all what is inside it.
            one_of_two = (fits and not scalars) or (might_be and (announced or first))
            self.is_doubtful = self.is_doubtful or bool(one_of_two)
            return self.begin_aside(m, pos, "[]" if might_be else "[-]")
        self.before_text = (before + text[max(start, len(text) - _REMEMBERED) :])[-_REMEMBERED:]
        return len(text)

    def is_value(self, m: Leniency, text: str, pos: int) -> bool:
        """False for one of two operands, and for numbers, words or nothing in a sentence.

        Those are a footnote, an interval or code, unless they are alone in their line or come after
        a colon; there one number is a footnote in any language, and more are not the value after
        the colon of a list of sources or of a key. A schema that asks for a list decides.
        """
        if self.is_doubtful or patterns.OPERAND.search(self.before_text):
            return False
        if not patterns.SCALAR_LIST.match(text, pos):
            return True
        numbers = patterns.NUMBERS.match(text, pos) is not None
        if patterns.IN_LINE.search(self.before_text):
            # What ended in a tag before it was thought aloud.
            return not numbers or "[]" not in self.before_text.rpartition("</")[2]
        if not patterns.ANNOUNCES.search(self.before_text):
            return False
        if not numbers or m.schema.guide is not None:
            return True
        before = self.before_text
        cited = patterns.EMPTY_OR_ONE.match(text, pos) or patterns.CITES.search(before)
        return not (cited or patterns.KEY_BEFORE.search(before))

    def is_code(self, bracket: str) -> bool:
        """True if a bracket after the prose so far is part of something else than an answer."""
        before = self.before_text
        if patterns.IN_CODE.search(before) or (bracket == "[" and patterns.NO_LIST.search(before)):
            return True
        line = before.rpartition("\n")[2]
        return line.count('"') % 2 > 0 or line.count("“") > line.count("”")

    def begin_aside(self, m: Leniency, pos: int, short: str) -> int:
        """A bracket in prose that is not the value: `see [1, p. 3]`, `d["k"]`, `{name: string}`.

        Nothing inside it is the value, so it is passed over up to the bracket that closes it. Of
        what is before the next bracket it is `short`.
        """
        self.depth_aside = 0
        m._state = ASIDE
        self.before_text = (self.before_text + short)[-_REMEMBERED:]
        return pos

    def aside(self, m: Leniency, text: str, pos: int) -> int:
        breaks = patterns.BREAKS_ASIDE_OF_MANY if m._many else patterns.BREAKS_ASIDE
        while (match := breaks.search(text, pos)) is not None:
            pos = match.start()
            char = text[pos]
            if char in "\n\x1e":
                m._state = BEFORE
                return pos
            # `{it's": 1}` and `{ - "a": 1}` are not prose, but objects that are broken.
            broken = self.aside_is_broken or (self.aside_is_object and char == '"')
            if broken and char in '"{[' and self.depth_aside:
                got = "but got a quote" if char == '"' else f"but got {char!r}"
                raise m._error(InvalidJSON, "a key or '}'", got, text, pos)
            if char in "{[":
                if self.depth_aside and text[pos - 1 : pos] == "\n":  # never closed: a new text
                    m._state = PROSE
                    self.before_text += "\n"
                    return pos
                self.depth_aside += 1
            elif char in "]}":
                self.depth_aside -= 1
                if self.depth_aside <= 0:
                    m._state = PROSE
                    return pos + 1
            pos += 1
        waits = text.endswith("\n") and not m._last
        return m._hold(text, len(text) - 1) if waits else len(text)

    def thoughts(self, m: Leniency, text: str, pos: int) -> int:
        """Skip what a model thinks aloud: nothing of it is the answer."""
        while (tag := patterns.TAG.search(text, pos)) is not None:
            pos = tag.start()
            match = lookahead.THOUGHTS_END.whole.match(text, pos)
            if match:
                m._state = BEFORE
                return match.end()
            if lookahead.THOUGHTS_END.cut.match(text, pos) and not m._last:
                return m._hold(text, pos)
            pos += 1
        return len(text)

    def fix_around(self, m: Leniency, text: str, pos: int) -> int:
        if text[pos] == "`":
            return self.fix_fence(m, text, pos)
        return m.comments.begin_mark(m, text, pos) if text[pos] == "/" else -1

    def fix_fence(self, m: Leniency, text: str, pos: int) -> int:
        if m._state == END:
            return m._fix_mark("fences", lookahead.FENCE, text, pos)
        seen = "fences" in m._rules and m._sees(lookahead.NAMED_FENCE, text, pos)
        if not seen:
            return m._hold(text, pos) if seen is None else -1
        fence = patterns.FENCE_NAME.match(text, pos).group()  # type: ignore[union-attr]
        m._may_repair("fences", text, pos, len(fence))
        if self.json_fence and m._state == PROSE:
            raise m._error(InvalidJSON, "a value", "but the fence ended", text, pos)
        name = fence.replace("`", "").lower()
        self.json_fence = "json" in name and not m._many
        m._state = BEFORE if "json" in name or name in _NO_LANGUAGES else CODE
        return pos + len(fence)

    def code(self, m: Leniency, text: str, pos: int) -> int:
        """In a fence that names another language: nothing in it is JSON."""
        pos = text.find("`", pos)
        if pos < 0:
            return len(text)
        end = m._fix_mark("fences", lookahead.FENCE, text, pos)
        if end < 0:
            return pos + 1
        if not m._held:
            m._state = BEFORE
        return end

    def ignored(self, m: Leniency, text: str, pos: int) -> int:
        """Pass over the text after the value, but for what shows that the value is another.

        A bracket that closes nothing shows that the value's bracket was none; the end of thoughts
        that they began before it; a second value, or a fence with one, that the first may have been
        an example, or wrong.
        """
        start = pos
        while (match := patterns.BREAKS_TRAILING.search(text, pos)) is not None:
            pos = match.start()
            self.note_trailing(text, start, pos)
            start = pos
            char = text[pos]
            if char in "`~":
                end = self.trailing_fence(m, text, pos)
                if end == len(text):
                    return end
                pos = end
                continue
            if self.trailing_code:
                pos += 1
                continue
            if char in "{[" and self.is_second(m, text, pos) is None:
                return m._hold(text, pos)
            if char in "<◁[":
                ends = m._sees(lookahead.ONLY_THOUGHTS_END, text, pos)
                begins = m._sees(lookahead.THOUGHTS, text, pos)
                if ends is None or begins is None:
                    return m._hold(text, pos)
                if ends and not self.trailing_thoughts:
                    raise m._two_readings(
                        "the value has ended", "it was part of thoughts", text, pos
                    )
                if begins or ends:
                    self.trailing_thoughts = bool(begins)
            if char in "{[":
                self.depth_aside += 1
            elif char in "}]":
                if self.depth_aside:
                    self.depth_aside -= 1
                elif self.trailing_words and not patterns.IN_FACE.search(self.before_text):
                    raise m._two_readings("the value has ended", "this bracket ends it", text, pos)
            pos += 1
        self.note_trailing(text, start, len(text))
        return len(text)

    def trailing_fence(self, m: Leniency, text: str, pos: int) -> int:
        """Ticks in the text after the value: they close its fence, or open and close code."""
        if "fences" not in m._rules:
            return pos + 1
        seen = not self.trailing_code and m._sees(lookahead.JSON_FENCE, text, pos)
        fence = m._sees(lookahead.FENCE, text, pos)
        opens = m._sees(lookahead.OPENING_FENCE, text, pos)
        if seen is None or fence is None or opens is None:
            return m._hold(text, pos)
        if seen:
            raise self.two_values(m, text, pos)
        if fence:
            self.trailing_code = not self.trailing_code and bool(opens)
            return pos + 3
        # `code` in the middle of a later sentence is passed over whole.
        if self.trailing_code or not patterns.IN_SENTENCE.search(self.before_text):
            return pos + 1
        seen = self.is_later() and m._sees(lookahead.QUOTED_CODE, text, pos)
        if seen is None:
            return m._hold(text, pos)
        return text.index("`", pos + 1) + 1 if seen else pos + 1

    def is_later(self) -> bool:
        """True if words come after the sentence or the line in which the value ended."""
        return patterns.LATER.search(self.trailing_text) is not None

    def is_second(self, m: Leniency, text: str, pos: int) -> bool | None:
        """None if more text must come to tell. A second value is refused.

        In the sentence of the value any bracket is one; in a later one, numbers are a footnote.
        """
        before = self.before_text
        if self.depth_aside or self.trailing_thoughts:
            return False
        if (text[pos] == "[" or before.endswith("(")) and patterns.PART.search(before):
            return False
        due = not self.is_later() or patterns.SECOND_DUE.search(before) is not None
        cited = m._sees(lookahead.CITED, text, pos)
        if cited is None:
            return None
        is_source = not due or patterns.CITES.search(before) is not None
        if cited and is_source and not self.scalar_list and not self.is_scalar:
            return False
        in_line = "\n" not in self.trailing_text
        seen = True if cited and in_line else m._sees(lookahead.BRACKET, text, pos)
        if due and m._last and lookahead.BRACKET.cut.match(text, pos):
            seen = before.endswith("`") or not patterns.IN_FACE.search(before)
        if seen and m.schema.fits(m, text, pos):
            raise self.two_values(m, text, pos)
        return seen

    def two_values(self, m: Leniency, text: str, pos: int) -> InvalidJSON:
        return m._two_readings("the value is before this", "it begins here", text, pos)

    def note_trailing(self, text: str, start: int, end: int) -> None:
        if end == start or self.trailing_code:
            return
        run = text[start:end]
        self.before_text = (self.before_text + run)[-_REMEMBERED:]
        self.trailing_words = self.trailing_words or patterns.WORD.search(run) is not None
        if len(self.trailing_text) < _LONGEST_TRAILING:
            self.trailing_text = (self.trailing_text + run)[:_LONGEST_TRAILING]

    def after(self, m: Leniency, text: str, pos: int) -> int:
        """Text after the value, or after one of many."""
        if m._many:
            if text[pos] == ":":
                return -1
            self.between = True
            m._state = BEFORE
            return pos
        if text[pos] in lookahead.ODD_SPACES and m._may_repair("odd-spaces", text, pos):
            return pos + 1
        opens = m._sees(lookahead.OPENING_FENCE, text, pos)
        if opens is None:
            return m._hold(text, pos)
        end = -1 if opens else self.fix_around(m, text, pos)
        # A comment is looked through for a second value, as other text is.
        comment = m._state in (LINE_COMMENT, BLOCK_COMMENT) and "trailing-text" in m._rules
        if comment or (end < 0 and m._may_repair("trailing-text", text, pos)):
            m._state = IGNORED
            m._passes = True
            in_line = m._position(text, pos)[1] == m.brackets.root_line
            self.before_text = self.trailing_text = "" if in_line else "\n"
            self.depth_aside = 0
            self.trailing_words = self.trailing_thoughts = self.trailing_code = False
            return end if comment else pos
        return end
