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
    FENCE,
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

# No words of the text after the value.
_NO_WORDS: Final = " \t\r\n,;)]}"
# Before a tag that is spoken of.
_QUOTES_TAG: Final = ("`", '"', "'", "“")
# Before a bracket that is the value, even if the text stops after it, or if it is a list of numbers
# or words. (In a sentence that is a footnote, or an interval.)
_INTRODUCES: Final = ("", ":", "\n")
# What a fence may name and still hold JSON: nothing, something with "json" in it, or one of these.
_NO_LANGUAGES: Final = frozenset(("", "text", "txt", "plaintext", "plain", "output", "response"))
_NO_LIST: Final = (".", "?", "!", "&", "'")
# As much of the prose is remembered as these patterns look at.
_REMEMBERED: Final = 160
_LONGEST_LANGUAGE: Final = 16
# As much of the text after a value is looked through for a second number or word.
_LONGEST_TRAILING: Final = 1000
# And as much of it before a bracket.
_BEFORE_SECOND: Final = 16


class Prose:
    """Finds the value in the text around it."""

    __slots__ = (
        "aside_is_broken",
        "aside_is_due",
        "aside_is_quoted",
        "before_text",
        "between",
        "depth_aside",
        "in_prose",
        "json_fence",
        "language",
        "passed_list",
        "scalar_list",
        "trailing_code",
        "trailing_letters",
        "trailing_text",
        "trailing_thoughts",
        "trailing_words",
    )

    def __init__(self) -> None:
        # With many documents: whether one has ended and the next has not begun.
        self.between = False
        # The end of the prose so far; the language that a fence names; how many brackets are open
        # in the prose.
        self.before_text = ""
        self.language = ""
        self.depth_aside = 0
        # A fence that names JSON is open, and no value has begun in it.
        self.json_fence = False
        # A bracket of the prose begins where the value is due, in a quotation, or as no value does.
        self.aside_is_due = self.aside_is_quoted = self.aside_is_broken = False
        # The value was found in prose; it is a list of numbers or words.
        self.in_prose = self.scalar_list = False
        # A list of numbers was passed over before it: a footnote, an interval, or a value.
        self.passed_list = False
        # Of the text after it: if there were words, or letters; if thoughts have begun, or code;
        # and its beginning.
        self.trailing_words = self.trailing_letters = False
        self.trailing_thoughts = self.trailing_code = False
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
            after = lookahead.SPACES.match(text, pos + 1).end()  # type: ignore[union-attr]
            bare = text[after : after + 1] not in ("{", "[") and text[pos:].rstrip() != "{"
            before = self.before_text.rstrip(" \t")[-1:]
            if shape is not lookahead.BRACKET or not bare or before in _INTRODUCES:
                return True
        return m._sees(shape, text, pos)

    def begin_value(self, m: Leniency, text: str, pos: int) -> int:
        self.json_fence = False
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

    @property
    def listed(self) -> bool:
        """True if the value is a list of numbers or words in prose."""
        return self.in_prose and self.scalar_list

    def prose_rule(self, m: Leniency) -> str:
        return "trailing-text" if self.between else "leading-text"

    def begin_prose(self, m: Leniency, text: str, pos: int) -> int:
        thinks = m._sees(lookahead.THOUGHTS, text, pos)
        if thinks is None:
            return m._hold(text, pos)
        m._passes = m._may_repair(self.prose_rule(m), text, pos)
        m._state = THOUGHTS if thinks else PROSE
        self.before_text = ""
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
                pass
            elif self.is_code(m, char):
                self.aside_is_due = self.aside_is_broken = False
                return self.begin_aside(m, pos)
            else:
                seen = self.sees_value(m, lookahead.BRACKET, text, pos)
                if seen is None:
                    return m._hold(text, pos)
                if seen:
                    fits = m.schema.fits(m, text, pos)
                    if fits is None:
                        return m._hold(text, pos)
                    self.aside_is_due = self.aside_is_broken = False
                    self.in_prose = bool(fits) and self.is_announced(m, text, pos)
                    if self.in_prose:
                        return self.begin_value(m, text, pos)
                    return self.pass_over(m, text, pos)
                after = lookahead.SPACES.match(text, pos + 1).end()  # type: ignore[union-attr]
                if char == "{" and text.startswith("{", after):  # of a template
                    pos += 1
                    continue
                self.aside_is_broken = not patterns.ASIDE_BEGINS.match(text, after)
                self.aside_is_due = (
                    char == "{" and patterns.DUE.search(self.before_text) is not None
                )
                return self.pass_over(m, text, pos)
            pos += 1
        self.before_text = (before + text[max(start, len(text) - _REMEMBERED) :])[-_REMEMBERED:]
        return len(text)

    def is_announced(self, m: Leniency, text: str, pos: int) -> bool:
        """False for a list of numbers or words in a sentence, for a block of code and an operand.

        After such a list in the prose, another list may be the value or be one of two.
        """
        before = self.before_text.rstrip(" \t`*")
        scalars = patterns.SCALAR_LIST.match(text, pos) is not None
        if patterns.OPERAND.search(self.before_text):
            return False
        if text[pos] == "{" and not scalars:
            return not (patterns.COMMENTED.match(text, pos) and patterns.OPENS_BLOCK.search(before))
        if not scalars and not self.passed_list:
            return True
        line = before.rpartition("\n")[2]
        if scalars and line.count("(") > line.count(")"):  # (95% CI: [1.2, 3.4])
            return False
        if patterns.FOOTNOTE.match(text, pos) and patterns.CITES.search(self.before_text):
            return False
        numbers = scalars and self.passed_list and text[pos] == "["
        announces = patterns.ANNOUNCES_NUMBERS if numbers else patterns.ANNOUNCES
        return announces.search(before) is not None

    def is_code(self, m: Leniency, bracket: str) -> bool:
        """True if a bracket after the prose so far is part of something else than an answer."""
        before = self.before_text
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
        match = patterns.IN_CODE.search(line)
        return match is not None and (match.start() > 0 or len(lines) > 1 or line[-1] != ",")

    def pass_over(self, m: Leniency, text: str, pos: int) -> int:
        """A bracket that is not the value, but might have been."""
        self.passed_list = self.passed_list or patterns.NUMBERS.match(text, pos) is not None
        return self.begin_aside(m, pos)

    def begin_aside(self, m: Leniency, pos: int) -> int:
        """A bracket in prose that begins no JSON: `see [1, p. 3]`, `d["k"]`, `{name: string}`.

        Nothing inside it is the value, so it is passed over up to the bracket that closes it.
        """
        self.depth_aside = 0
        m._state = ASIDE
        self.aside_is_quoted = self.before_text.rpartition("\n")[2].count('"') % 2 > 0
        self.before_text = ""
        return pos

    def aside(self, m: Leniency, text: str, pos: int) -> int:
        breaks = patterns.BREAKS_ASIDE_OF_MANY if m._many else patterns.BREAKS_ASIDE
        start = pos
        while (match := breaks.search(text, pos)) is not None:
            at = match.start()
            if text[at] in "\n\x1e":
                self.refuse_due(m, text, start, at)
                m._state = BEFORE
                return at
            if text[at] in "{[":
                if self.aside_is_broken and self.depth_aside:
                    self.refuse_due(m, text, start, at)
                    raise self.broken(m, text, at)
                before = text[at - 1] if at > pos else self.before_text
                if before == "\n" and self.depth_aside:  # never closed: a new line, a new text
                    self.refuse_due(m, text, start, at)
                    m._state = PROSE
                    self.before_text = "\n"
                    return at
                self.depth_aside += 1
            else:
                self.depth_aside -= 1
                if self.depth_aside <= 0:
                    self.refuse_due(m, text, start, at)
                    m._state = PROSE
                    self.before_text = ('"' if self.aside_is_quoted else "") + text[at]
                    return at + 1
            pos = at + 1
            self.before_text = text[at]
        if pos < len(text):
            self.before_text = text[-1]
        self.refuse_due(m, text, start, len(text))
        return len(text)

    def refuse_due(self, m: Leniency, text: str, start: int, end: int) -> None:
        """`{it's": 1}` where the value is due is not prose, but an object that is broken.

        So is `{ - "a": 1}` anywhere.
        """
        if self.aside_is_due or self.aside_is_broken:
            quote = text.find('"', start, end)
            if quote >= 0:
                raise self.broken(m, text, quote)

    def broken(self, m: Leniency, text: str, pos: int) -> InvalidJSON:
        got = "but got a quote" if text[pos] == '"' else f"but got {text[pos]!r}"
        return m._error(InvalidJSON, "a key or '}'", got, text, pos)

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
        end = m._fix_mark("fences", lookahead.FENCE, text, pos)
        if end >= 0 and not m._held and m._state != END:
            if self.json_fence and m._state == PROSE:
                raise m._error(InvalidJSON, "a value", "but the fence ended", text, pos)
            self.json_fence = False
            m._state = FENCE
            m._passes = True
            self.language = ""
        return end

    def fence(self, m: Leniency, text: str, pos: int) -> int:
        """In more ticks, or in the language that the fence names."""
        end = patterns.FENCE_REST.match(text, pos).end()  # type: ignore[union-attr]  # may be empty
        if len(self.language) < _LONGEST_LANGUAGE:
            name = self.language + text[pos:end].replace("`", "").lower()
            self.language = name[:_LONGEST_LANGUAGE]
        if end < len(text):
            m._end_repair(m._offset + end)
            name = self.language
            json = "json" in name
            self.json_fence = json and not m._many
            m._state = BEFORE if json or name in _NO_LANGUAGES else CODE
        return end

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

    def begins_another(self, m: Leniency, text: str, pos: int) -> bool:
        """True if more text must come to tell. A second value, or one in a fence, is refused."""
        if "trailing-text" not in m._rules:
            return False
        char = text[pos]
        if char == "`":
            seen = "fences" in m._rules and self.sees_json_fence(m, text, pos)
        elif char in "{[":
            seen = self.sees_second(m, text, pos, True)
        else:
            seen = m._sees(lookahead.ALONE, text, pos)
        if seen:
            raise self.two_values(m, text, pos)
        return seen is None

    def ignored(self, m: Leniency, text: str, pos: int) -> int:
        """Pass over the text after the value, but for what shows that the value is another.

        A bracket that closes nothing shows that the value's bracket was none; the end of thoughts
        that they began before it; a second value, or a fence with one, that the first may have been
        an example, or wrong.
        """
        start = pos
        while (match := patterns.BREAKS_TRAILING.search(text, pos)) is not None:
            pos = match.start()
            self.note_trailing(m, text, start, pos)
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
            if char in "{[" and self.is_later(m, text, pos):
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
                if char == "[":
                    self.depth_aside += 1
            elif char == "{":
                self.depth_aside += 1
            elif char in "}]":
                if self.depth_aside:
                    self.depth_aside -= 1
                elif self.trailing_words and not patterns.NO_CLOSER.search(self.before_text):
                    raise m._two_readings("the value has ended", "this bracket ends it", text, pos)
            pos += 1
        self.note_trailing(m, text, start, len(text))
        return len(text)

    def trailing_fence(self, m: Leniency, text: str, pos: int) -> int:
        """Ticks in the text after the value: they close its fence, or open and close code."""
        if "fences" not in m._rules:
            return pos + 1
        seen = not self.trailing_code and self.sees_json_fence(m, text, pos)
        fence = m._sees(lookahead.FENCE, text, pos)
        opens = m._sees(lookahead.OPENING_FENCE, text, pos)
        if seen is None or fence is None or opens is None:
            return m._hold(text, pos)
        if seen:
            raise self.two_values(m, text, pos)
        if not fence:
            return pos + 1
        self.trailing_code = not self.trailing_code and bool(opens)
        return pos + 3

    def sees_json_fence(self, m: Leniency, text: str, pos: int) -> bool | None:
        seen = m._sees(lookahead.JSON_FENCE, text, pos)
        match = lookahead.JSON_FENCE.whole.match(text, pos)
        if match is None or text[match.end() - 1] not in "{[":
            return seen
        return m._sees(lookahead.BRACKET, text, match.end() - 1)

    def is_later(self, m: Leniency, text: str, pos: int) -> bool:
        """True if more text must come to tell. A second value is refused.

        Numbers in a sentence are a footnote.
        """
        if self.depth_aside or self.trailing_thoughts:
            return False
        announced = patterns.ANNOUNCES_SECOND.search(self.before_text) is not None
        part = patterns.QUOTES_VALUE.search(self.before_text)
        if text[pos] == "[" and self.trailing_letters:
            part = part or patterns.SUBSCRIPT.search(self.before_text)
        if part and not announced:
            return False
        if self.trailing_letters and not announced and not self.scalar_list:
            footnote = m._sees(lookahead.FOOTNOTE, text, pos)
            if footnote is not False:
                return footnote is None
        seen = self.sees_second(m, text, pos, announced)
        if seen:
            raise self.two_values(m, text, pos)
        return seen is None

    def sees_second(self, m: Leniency, text: str, pos: int, due: bool) -> bool | None:
        """True if a second value begins here; where it is due, it may be cut off."""
        seen = m._sees(lookahead.BRACKET, text, pos)
        if due and m._last and lookahead.BRACKET.cut.match(text, pos):
            return True
        return seen and m.schema.fits(m, text, pos)

    def two_values(self, m: Leniency, text: str, pos: int) -> InvalidJSON:
        return m._two_readings("the value is before this", "it begins here", text, pos)

    def note_trailing(self, m: Leniency, text: str, start: int, end: int) -> None:
        if end == start or self.trailing_code:
            return
        run = text[start:end]
        self.before_text = (self.before_text + run)[-_BEFORE_SECOND:]
        self.trailing_words = self.trailing_words or run.strip(_NO_WORDS) != ""
        if not self.trailing_letters:
            letter = patterns.LETTER.search(run)
            match = patterns.SECOND.search(run, 0, letter.start() if letter else len(run))
            if match:
                raise self.two_values(m, text, start + match.start())
            self.trailing_letters = letter is not None
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
        if self.begins_another(m, text, pos):
            return m._hold(text, pos)
        opens = m._sees(lookahead.OPENING_FENCE, text, pos)
        if opens is None:
            return m._hold(text, pos)
        end = -1 if opens else self.fix_around(m, text, pos)
        # A comment is looked through for a second value, as other text is.
        comment = m._state in (LINE_COMMENT, BLOCK_COMMENT) and "trailing-text" in m._rules
        if comment or (end < 0 and m._may_repair("trailing-text", text, pos)):
            m._state = IGNORED
            m._passes = True
            self.before_text = ""
            self.depth_aside = 0
            self.trailing_words = self.trailing_letters = False
            self.trailing_thoughts = self.trailing_code = False
            self.trailing_text = ""
            return end if comment else pos
        return end
