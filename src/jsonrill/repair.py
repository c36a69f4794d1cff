"""What lenient parsing accepts: one table of rules, applied by the one state machine.

`LenientMachine` is the strict machine with an answer where that one refuses: each rule looks at
the refused character, says where reading goes on and in which state, and is reported. What cannot
be told yet is held until it can (the shapes of `ahead.py`). So valid JSON never meets a rule,
nothing is read twice, and nothing that was shown is taken back.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any, Final, NamedTuple

from . import ahead
from .ahead import Shape
from .grammar import (
    CUT_ESCAPE,
    ESCAPE,
    GOOD_ESCAPE,
    LITERALS,
    LONE_HIGH,
    RECORD_END,
    SPACE,
    unescape,
)
from .machine import Machine, Repair, Sink
from .paths import Path
from .states import (
    AFTER,
    BARE_KEY,
    BEFORE,
    BLOCK_COMMENT,
    COLON,
    DIGITS,
    END,
    FENCE,
    FIRST_ELEMENT,
    FIRST_KEY,
    IGNORED,
    KEY,
    LENIENT,
    LINE_COMMENT,
    NEXT_KEY,
    ODD_KEY,
    ODD_STRING,
    PROSE,
    STRING,
    THOUGHTS,
    VALUE,
)


class Rule(NamedTuple):
    """One thing that models do: why, and an example with the JSON it is read as."""

    reason: str
    text: str
    json: str


RULES: Final[dict[str, Rule]] = {
    "leading-text": Rule("models explain before they answer", 'Sure: {"a": 1}', '{"a": 1}'),
    "trailing-text": Rule("and after", '{"a": 1} Hope it helps!', '{"a": 1}'),
    "fences": Rule("answers come as Markdown", '```json\n{"a": 1}\n```', '{"a": 1}'),
    "trailing-commas": Rule("most languages allow them", '{"a": [1, 2,],}', '{"a": [1, 2]}'),
    "missing-commas": Rule(
        "forgotten at line ends", '{"a": 1 "b": [1 2]}', '{"a": 1, "b": [1, 2]}'
    ),
    "brackets": Rule("one closing bracket forgotten, or too many", '{"a": [1, 2}', '{"a": [1, 2]}'),
    "ellipses": Rule("lists are abridged", '{"a": [1, 2, ...]}', '{"a": [1, 2]}'),
    "comments": Rule("explaining inside the answer", '{"a": 1 // one\n}', '{"a": 1}'),
    "single-quotes": Rule("Python and JavaScript habits", "{'a': 'it is'}", '{"a": "it is"}'),
    "curly-quotes": Rule("typographers' habits", "{“a”: “b”}", '{"a": "b"}'),
    "inner-quotes": Rule(
        "quotations are not escaped", '{"a": "the "b" here"}', r'{"a": "the \"b\" here"}'
    ),
    "bare-keys": Rule("JavaScript habits", "{a: 1}", '{"a": 1}'),
    "python-literals": Rule("Python habits", '{"a": True, "b": None}', '{"a": true, "b": null}'),
    "nan": Rule("JSON has no such values", '{"a": [NaN, undefined]}', '{"a": [null, null]}'),
    "raw-newlines": Rule("text is pasted into strings", '{"a": "x\ny"}', '{"a": "x\\ny"}'),
    "bad-escapes": Rule(
        "paths and formulas are not escaped", r'{"a": "C:\Home"}', r'{"a": "C:\\Home"}'
    ),
    "cut-off": Rule("the token limit was reached", '{"a": ["x", "y', '{"a": ["x", "y"]}'),
}

# Words that are no JSON, what they are read as, and by which rule.
_WORDS: Final[dict[str, tuple[bool | None, str]]] = {
    "True": (True, "python-literals"),
    "False": (False, "python-literals"),
    "None": (None, "python-literals"),
    "NaN": (None, "nan"),
    "Infinity": (None, "nan"),
    "undefined": (None, "nan"),
}
_BEGINS_VALUE: Final = frozenset('"{[-0123456789tfn') | {word[0] for word in _WORDS}

# An opening quote that is not JSON's: its rule, the quote that ends it, the plain text between.
_QUOTES: Final = {
    "'": ("single-quotes", "'", re.compile(r"[^'\\\x00-\x1f]*")),
    "“": ("curly-quotes", "”", re.compile(r"[^”\\\x00-\x1f]*")),
    "‘": ("curly-quotes", "’", re.compile(r"[^’\\\x00-\x1f]*")),
}

_SPACE_OR_SEPARATOR: Final = re.compile(r"[ \t\n\r\x1e]*")
_BREAKS_PROSE: Final = re.compile(r"[{\[`]")
_BREAKS_PROSE_OF_MANY: Final = re.compile(r"[{\[`\n\x1e]")
_FENCE_REST: Final = re.compile(r"[`\w+-]*")
_BARE: Final = re.compile(r"[\w$-]*")
_BARE_START: Final = re.compile(r"[\w$]")

# What the states of leniency are to the strict machine; a comment is what it interrupted.
_STRICT: Final = {
    **dict.fromkeys((BEFORE, PROSE, THOUGHTS, FENCE), VALUE),
    IGNORED: END,
    BARE_KEY: KEY,
    ODD_KEY: KEY,
    ODD_STRING: STRING,
}


def rule_names(rules: bool | Iterable[str]) -> frozenset[str]:
    """The rules that `repair=` asks for; a `ValueError` names one that there is not."""
    if isinstance(rules, bool):
        return frozenset(RULES if rules else ())
    names = frozenset([rules] if isinstance(rules, str) else rules)
    unknown = sorted(map(str, names - RULES.keys()))
    if unknown:
        raise ValueError(f"no such repair: {', '.join(unknown)}; there are {', '.join(RULES)}")
    return names


class LenientMachine(Machine):
    """The machine with an answer where the strict one refuses.

    A method `_mend_…` says where to read on, or -1 if its rule does not fit or is not wanted.
    """

    __slots__ = ("_between", "_inner", "_last", "_mended", "_opened", "_resume", "_rules")

    def __init__(self, sink: Sink, *, rules: bool | Iterable[str], **options: Any) -> None:
        super().__init__(sink, **options)
        self._rules = rule_names(rules)
        self._inner = "inner-quotes" in self._rules
        self._state = self._fresh = BEFORE
        # How many repairs this document has.
        self._mended = 0
        # With many documents: has one ended, and the next not begun?
        self._between = False
        # The text has ended: what waits for more of it is decided now.
        self._last = False
        # The state that a comment interrupted; the quote that opened an odd string.
        self._resume = BEFORE
        self._opened = ""

    @property
    def pending(self) -> tuple[Path, str] | None:
        """Path and text of the number or literal that is being read, else None."""
        if self._state == BEFORE and self._held and self._held[0] in "-0123456789tfn":
            return (), self._held.rstrip()
        return super().pending

    def _unexpected(self, text: str, pos: int, expected: str = "") -> int:
        state, end = self._state, -1
        if state == DIGITS:
            end = self._mend_infinity(text, pos)
        elif state == END:
            end = self._mend_after(text, pos)
        elif state < STRING and not expected:  # with `expected` it is half a literal
            end = (self._mend_inside if self._frames else self._mend_value)(text, pos, text[pos])
        return end if end >= 0 else Machine._unexpected(self, text, pos, expected)

    def _note(self, rule: str, text: str, pos: int) -> bool:
        """Report a repair, if its rule is on."""
        if rule not in self._rules:
            return False
        self._mended += 1
        if self._mended > self._limits.repairs:
            raise self._over("repairs", self._limits.repairs, text, pos)
        offset, line, column = self._position(text, pos)
        self.repairs.append(Repair(rule, offset, line, column, self.document))
        return True

    def _sees(self, shape: Shape, text: str, pos: int) -> bool | None:
        """Does the text go on in this shape? None: there is too little of it to tell."""
        if shape.whole.match(text, pos):
            return True
        return None if shape.cut.match(text, pos) else False

    def _decides(self, shape: Shape, text: str, pos: int) -> bool | None:
        """The same, but the end of the text decides: it is the end of a line."""
        if self._last:
            return shape.whole.match(text + "\n", pos) is not None
        return self._sees(shape, text, pos)

    def _hold(self, text: str, pos: int) -> int:
        self._held = text[pos:]
        return len(text)

    def _skip(self, text: str, pos: int) -> int:
        step = _STEPS.get(self._state)
        return Machine._skip(self, text, pos) if step is None else step(self, text, pos)

    # ---- outside the value -------------------------------------------------------------------

    def _before(self, text: str, pos: int) -> int:
        """Where a value may begin: at the start of the text, after a fence, between documents."""
        space = _SPACE_OR_SEPARATOR if self._many else SPACE
        pos = space.match(text, pos).end()  # type: ignore[union-attr]  # may be empty
        if pos == len(text):
            return pos
        char = text[pos]
        if char == "`" or char == "/":
            end = self._mend_fence(text, pos) if char == "`" else self._mend_comment(text, pos)
            if end >= 0:
                return end
        in_quotes = char in _QUOTES and _QUOTES[char][0] in self._rules
        if in_quotes or self._prose_rule() not in self._rules:
            return self._begin_value(pos)
        shape = ahead.ANY_VALUE_BEGINS if self._many else ahead.VALUE_BEGINS
        seen = self._sees_value(shape, text, pos)
        if seen is None:
            return self._hold(text, pos)
        return self._begin_value(pos) if seen else self._begin_prose(text, pos)

    def _sees_value(self, shape: Shape, text: str, pos: int) -> bool | None:
        if self._last and text[pos] in "{[" and shape.cut.match(text, pos):
            return True  # cut off right after its bracket
        return self._decides(shape, text, pos)

    def _begin_value(self, pos: int) -> int:
        if self._between:
            self._between = False
            self._next_document(VALUE, pos)
        elif self._many:
            self._begin = self._offset + pos
        self._state = VALUE
        return pos

    def _next_document(self, state: int, pos: int) -> None:
        self._mended = 0
        Machine._next_document(self, state, pos)

    def _prose_rule(self) -> str:
        return "trailing-text" if self._between else "leading-text"

    def _begin_prose(self, text: str, pos: int) -> int:
        thoughts = self._decides(ahead.THOUGHTS, text, pos)
        if thoughts is None:
            return self._hold(text, pos)
        self._note(self._prose_rule(), text, pos)
        self._state = THOUGHTS if thoughts else PROSE
        return pos + 1

    def _prose(self, text: str, pos: int) -> int:
        """Look for a fence, or for a bracket that has something of JSON in it."""
        breaks = _BREAKS_PROSE_OF_MANY if self._many else _BREAKS_PROSE
        while (found := breaks.search(text, pos)) is not None:
            pos = found.start()
            if text[pos] in "\n\x1e":
                self._state = BEFORE
                return pos
            if text[pos] != "`":
                seen = self._sees_value(ahead.BRACKET, text, pos)
            else:
                seen = "fences" in self._rules and self._decides(ahead.FENCE, text, pos)
            if seen is None:
                return self._hold(text, pos)
            if seen:
                self._state = BEFORE
                return pos if text[pos] == "`" else self._begin_value(pos)
            pos += 1
        return len(text)

    def _thoughts(self, text: str, pos: int) -> int:
        """In what a model thinks aloud: nothing of it is the answer."""
        while (pos := text.find("<", pos)) >= 0:
            seen = self._decides(ahead.THOUGHTS_END, text, pos)
            if seen is None:
                return self._hold(text, pos)
            pos += 1
            if seen:
                self._state = BEFORE
                return text.index(">", pos) + 1
        return len(text)

    def _mend_fence(self, text: str, pos: int) -> int:
        if "fences" not in self._rules:
            return -1
        seen = self._decides(ahead.FENCE, text, pos)
        if seen is None:
            return self._hold(text, pos)
        if not seen:
            return -1
        self._note("fences", text, pos)
        if self._state == BEFORE:
            self._state = FENCE
        return pos + 3

    def _fence(self, text: str, pos: int) -> int:
        """In more ticks, or in the language that the fence names."""
        end = _FENCE_REST.match(text, pos).end()  # type: ignore[union-attr]  # may be empty
        if end < len(text):
            self._state = BEFORE
        return end

    def _mend_after(self, text: str, pos: int) -> int:
        """Text after the value, or after one of many."""
        if self._many:
            self._between = True
            self._state = BEFORE
            return pos
        char, end = text[pos], -1
        if char == "`" or char == "/":
            end = self._mend_fence(text, pos) if char == "`" else self._mend_comment(text, pos)
        if end < 0 and self._note("trailing-text", text, pos):
            self._state = IGNORED
            return pos
        return end

    def _ignored(self, text: str, pos: int) -> int:
        return len(text)

    def _outside(self) -> bool:
        if self._state < LENIENT:
            return Machine._outside(self)
        return not self._frames and self._state != ODD_STRING

    # ---- comments ----------------------------------------------------------------------------

    def _mend_comment(self, text: str, pos: int) -> int:
        if "comments" not in self._rules:
            return -1
        if text[pos] == "/":
            look = self._sees if self._frames else self._decides
            seen = look(ahead.COMMENT, text, pos)
            if seen is None:
                return self._hold(text, pos)
            if not seen:
                return -1
        self._note("comments", text, pos)
        self._resume = self._state
        self._state = BLOCK_COMMENT if text.startswith("/*", pos) else LINE_COMMENT
        return pos + 2 if text[pos] == "/" else pos + 1

    def _line_comment(self, text: str, pos: int) -> int:
        end = text.find("\n", pos)
        if end < 0:
            return len(text)
        self._state = self._resume
        return end

    def _block_comment(self, text: str, pos: int) -> int:
        end = text.find("*/", pos)
        if end < 0:
            return self._hold(text, len(text) - 1) if text.endswith("*") else len(text)
        self._state = self._resume
        return end + 2

    # ---- between the tokens of a container ---------------------------------------------------

    def _mend_inside(self, text: str, pos: int, char: str) -> int:
        if char in "/#":
            return self._mend_comment(text, pos)
        if char in _QUOTES:
            return self._mend_quote(text, pos, char)
        if char == ":" or self._state == COLON:
            return -1
        if self._state == VALUE and self._object:  # after a colon: nothing stands for a value
            return self._mend_word(text, pos)
        if char == ",":
            return pos + 1 if self._note("trailing-commas", text, pos) else -1
        if char in "]}":
            return self._mend_closer(text, pos, char)
        if char in ".…":
            return self._mend_ellipsis(text, pos)
        if self._state == AFTER:
            return self._mend_missing_comma(text, pos, char)
        if self._object:
            return self._mend_bare_key(text, pos, char)
        return self._mend_word(text, pos)

    def _mend_closer(self, text: str, pos: int, char: str) -> int:
        """A closing bracket after a comma, or of the wrong kind."""
        if self._state == NEXT_KEY or self._state == VALUE:
            if not self._note("trailing-commas", text, pos):
                return -1
            self._take_comma_back()
        if char == ("}" if self._object else "]"):
            return pos
        if not self._note("brackets", text, pos):
            return -1
        outer_is_object = self._frames[-1][0]
        if len(self._frames) > 1 and char == ("}" if outer_is_object else "]"):
            self._close(pos)
            return pos
        return pos + 1

    def _mend_ellipsis(self, text: str, pos: int) -> int:
        if "ellipses" not in self._rules:
            return -1
        seen = self._sees(ahead.ELLIPSIS, text, pos)
        if seen is None:
            return self._hold(text, pos)
        if not seen:
            return -1
        self._note("ellipses", text, pos)
        if self._state == NEXT_KEY or self._state == VALUE:
            self._take_comma_back()
        return pos + 3 if text[pos] == "." else pos + 1

    def _mend_missing_comma(self, text: str, pos: int, char: str) -> int:
        if self._object:
            fits = char == '"' or ("bare-keys" in self._rules and _BARE_START.match(char))
        else:
            # 2024-01-01 and 007 are no numbers with forgotten commas.
            fits = char in _BEGINS_VALUE and self._number_end != self._offset + pos
        if not fits or not self._note("missing-commas", text, pos):
            return -1
        self._add_comma()
        return pos

    def _add_comma(self) -> None:
        self._state = NEXT_KEY if self._object else VALUE
        self._count += not self._object

    def _take_comma_back(self) -> None:
        self._state = AFTER
        self._count -= not self._object

    # ---- keys and words ----------------------------------------------------------------------

    def _mend_bare_key(self, text: str, pos: int, char: str) -> int:
        if not _BARE_START.match(char) or not self._note("bare-keys", text, pos):
            return -1
        self._open_string(BARE_KEY, text, pos)
        return pos

    def _bare_key(self, text: str, pos: int) -> int:
        end = _BARE.match(text, pos).end()  # type: ignore[union-attr]  # may be empty
        if self._offset + end > self._stop:
            raise self._over("string", self._limits.string, text, self._stop - self._offset)
        self._parts.add(text[pos:end])
        if end == len(text):
            return end
        self._state = KEY
        self._end_key(text, end)
        return end

    def _mend_value(self, text: str, pos: int, char: str) -> int:
        """The root, where it is no JSON."""
        return self._mend_quote(text, pos, char) if char in _QUOTES else self._mend_word(text, pos)

    def _mend_word(self, text: str, pos: int) -> int:
        """True, None, NaN and their like; if cut off, held for what comes or for `_cut_off`."""
        for word, (value, rule) in _WORDS.items():
            if text[pos] != word[0] or rule not in self._rules:
                continue
            seen = self._sees(ahead.WORD[word], text, pos)
            if seen is None:
                return self._hold(text, pos)
            if seen:
                self._note(rule, text, pos)
                self._sink.scalar(value, None, self._offset + pos)
                self._ended(pos + len(word))
                return pos + len(word)
        return -1

    def _mend_infinity(self, text: str, pos: int) -> int:
        """-Infinity: the minus was read as that of a number."""
        if self._number_state != "minus" or "nan" not in self._rules:
            return -1
        seen = self._sees(ahead.WORD["Infinity"], text, pos)
        if seen is None:
            return self._hold(text, pos)
        if not seen:
            return -1
        del self._number[:]
        self._note("nan", text, self._token - self._offset)
        self._sink.scalar(None, None, self._token)
        self._ended(pos + len("Infinity"))
        return pos + len("Infinity")

    # ---- strings -----------------------------------------------------------------------------

    def _mend_quote(self, text: str, pos: int, char: str) -> int:
        """A string or key in quotes that are not JSON's, perhaps after a missing comma."""
        rule = _QUOTES[char][0]
        if rule not in self._rules or self._state == COLON:
            return -1
        if self._state == AFTER:
            if not self._note("missing-commas", text, pos):
                return -1
            self._add_comma()
        self._note(rule, text, pos)
        self._opened = char
        if self._state == FIRST_KEY or self._state == NEXT_KEY:
            return self._open_string(ODD_KEY, text, pos)
        self._sink.start_string(self._offset + pos)
        return self._open_string(ODD_STRING, text, pos)

    def _odd_string(self, text: str, pos: int) -> int:
        """In a string or key with odd quotes: take its characters, up to the one that ends it."""
        _, closer, plain = _QUOTES[self._opened]
        end = plain.match(text, pos).end()  # type: ignore[union-attr]  # may be empty
        end = max(pos, min(end, self._stop - self._offset))
        if end > pos:
            self._take(text[pos:end])
        if end == len(text):
            return end
        if text[end] == closer:
            return self._close_odd_string(text, end)
        if self._offset + end >= self._stop:
            raise self._over("string", self._limits.string, text, end)
        if text[end] == "\\":
            return self._escape(text, end, closer)
        return self._control(text, end)

    def _close_odd_string(self, text: str, quote: int) -> int:
        if self._state == ODD_KEY:
            return self._end_key(text, quote)
        self._state = STRING
        end = self._end_string(text, quote)
        if self._state == STRING:  # a quote in the text, or one that cannot be told yet
            self._state = ODD_STRING
        return end

    def _escape(self, text: str, pos: int, closer: str) -> int:
        """An escape between odd quotes: JSON's, or the quote itself."""
        if text.startswith(closer, pos + 1):
            self._take(closer)
            return pos + 2
        found = ESCAPE.match(text, pos)
        if found:
            self._take(unescape(found.group()))
            return found.end()
        return self._hold(text, pos) if CUT_ESCAPE.match(text, pos) else self._odd_escape(text, pos)

    def _take(self, run: str) -> None:
        if self._state == ODD_STRING:
            self._sink.text(run)
        else:
            Machine._take(self, run)

    def _end_string(self, text: str, quote: int) -> int:
        """A quote in a string: its end, or part of its text?"""
        if not self._inner or not self._frames:
            return Machine._end_string(self, text, quote)
        # Nearly every string ends in one of these ways, told without a pattern.
        pos, end = quote + 1, len(text)
        if pos < end and text[pos] == ",":
            pos += 1
            if pos < end and text[pos] == " ":
                pos += 1
            plain = pos < end and text[pos] in '"\n'
        else:
            plain = pos < end and text[pos] in "}]\n"
        if plain:
            self._sink.end_string()
            self._state = AFTER
            return quote + 1
        if pos == end and not self._last:
            return self._hold(text, quote)
        return self._doubtful_quote(text, quote)

    def _doubtful_quote(self, text: str, quote: int) -> int:
        ends = ahead.STRING_ENDS_IN_OBJECT if self._object else ahead.STRING_ENDS_IN_ARRAY
        seen = self._decides(ends, text, quote + 1)
        if seen is None:
            return self._hold(text, quote)
        if seen:
            return Machine._end_string(self, text, quote)
        self._note("inner-quotes", text, quote)
        self._take(text[quote])
        return quote + 1

    def _odd_escape(self, text: str, pos: int) -> int:
        """What follows a backslash and is no escape stays as it is, but for an apostrophe."""
        if LONE_HIGH.match(text, pos) or not self._note("bad-escapes", text, pos):
            return Machine._odd_escape(self, text, pos)
        if text[pos + 1] == "'":
            self._take("'")
            return pos + 2
        end = GOOD_ESCAPE.match(text, pos).end()  # type: ignore[union-attr]  # of any backslash
        self._take(text[pos:end])
        return end

    def _control(self, text: str, pos: int) -> int:
        """A control character in a string; with many documents a newline tells of a lost end."""
        if (self._many and RECORD_END.match(text, pos)) or not self._note(
            "raw-newlines", text, pos
        ):
            return Machine._control(self, text, pos)
        self._take(text[pos])
        return pos + 1

    # ---- the end -----------------------------------------------------------------------------

    def _finish(self) -> None:
        self._last = True
        held, self._held = self._held, ""
        self._run(held)
        if self._state >= LENIENT or self._state == STRING or self._state == KEY:
            self._tail = b""  # half a character of text that is cut off or ignored
        self._strictly()
        is_open = self._frames or self._state == STRING
        if is_open and self._note("cut-off", self._held, len(self._held)):
            self._cut_off()
        else:
            Machine._finish(self)

    def _strictly(self) -> None:
        """Be in the state of the strict machine that comes nearest to this one."""
        if self._state == LINE_COMMENT or self._state == BLOCK_COMMENT:
            self._state = self._resume
        self._state = _STRICT.get(self._state, self._state)

    def _cut_off(self) -> None:
        """Close what is open. Half a key, escape or number is dropped, half a word has one end."""
        end = len(self._held)
        if self._state == STRING:
            self._sink.end_string()
            self._ended(end)
        elif self._held and self._state <= FIRST_ELEMENT:
            for word, value in (*LITERALS.values(), *((w, v) for w, (v, _) in _WORDS.items())):
                if word.startswith(self._held):
                    self._sink.scalar(value, None, self._offset)
                    break
        while self._frames:
            self._close(end)

    def _place(self, text: str, pos: int) -> dict[str, Any]:
        self._strictly()
        return Machine._place(self, text, pos)


_STEPS: Final[dict[int, Callable[[LenientMachine, str, int], int]]] = {
    BEFORE: LenientMachine._before,
    PROSE: LenientMachine._prose,
    THOUGHTS: LenientMachine._thoughts,
    FENCE: LenientMachine._fence,
    IGNORED: LenientMachine._ignored,
    LINE_COMMENT: LenientMachine._line_comment,
    BLOCK_COMMENT: LenientMachine._block_comment,
    BARE_KEY: LenientMachine._bare_key,
    ODD_STRING: LenientMachine._odd_string,
    ODD_KEY: LenientMachine._odd_string,
}


def machine(sink: Sink, *, repair: bool | Iterable[str] = False, **options: Any) -> Machine:
    """The machine for these options, strict or lenient."""
    return LenientMachine(sink, rules=repair, **options) if repair else Machine(sink, **options)
