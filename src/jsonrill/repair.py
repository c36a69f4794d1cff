"""What lenient parsing accepts: one table of rules, applied by the one state machine.

`LenientMachine` is the strict machine with an answer where that one refuses: each rule looks at
the refused character, says where reading goes on and in which state, and is reported. So valid
JSON never meets a rule, nothing is read twice, and nothing that was shown is taken back.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from .grammar import CUT_ESCAPE, ESCAPE, LITERALS, unescape
from .machine import NO_CONTROL, Machine, Repair, Sink
from .states import (
    AFTER,
    BARE_KEY,
    BLOCK_COMMENT,
    COLON,
    DIGITS,
    END,
    FIRST_ELEMENT,
    FIRST_KEY,
    IGNORED,
    KEY,
    LINE_COMMENT,
    NEXT_KEY,
    PROSE,
    STRING,
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
    "trailing-commas": Rule("allowed in most languages", '{"a": [1, 2,],}', '{"a": [1, 2]}'),
    "missing-commas": Rule(
        "forgotten at line ends", '{"a": 1 "b": [1 2]}', '{"a": 1, "b": [1, 2]}'
    ),
    "comments": Rule("explaining inside the answer", '{"a": 1 // one\n}', '{"a": 1}'),
    "single-quotes": Rule("Python and JavaScript habits", "{'a': 'it is'}", '{"a": "it is"}'),
    "bare-keys": Rule("JavaScript habits", "{a: 1}", '{"a": 1}'),
    "python-literals": Rule("Python habits", '{"a": True, "b": None}', '{"a": true, "b": null}'),
    "nan": Rule("Python writes them, JSON has no such number", '{"a": NaN}', '{"a": null}'),
    "raw-newlines": Rule("text is pasted into strings", '{"a": "x\ny"}', '{"a": "x\\ny"}'),
    "bad-escapes": Rule(
        "paths and formulas are not escaped", r'{"a": "C:\Home"}', r'{"a": "C:\\Home"}'
    ),
    "cut-off": Rule("the token limit was reached", '{"a": ["x", "y', '{"a": ["x", "y"]}'),
}

# A bracket of JSON is told from one in prose by the first thing inside it ...
_STARTS: Final = re.compile(
    r"""\{\s{0,200}(?:["'}]|//|/\*|[A-Za-z_$][\w$-]{0,80}\s{0,9}:)"""
    r"""|\[\s{0,200}(?:[\[{"'\]0-9-]|//|/\*"""
    r"""|(?:true|false|null|True|False|None|NaN|Infinity)\s{0,9}[,\]])"""
)
# ... which may not have come yet: every beginning of the above. Both are bounded, and alike.
_MAY_START: Final = re.compile(
    r"\{\s{0,200}(?:/|[A-Za-z_$][\w$-]{0,80}\s{0,9})?\Z|\[\s{0,200}(?:/|[A-Za-z]{1,8}\s{0,9})?\Z"
)
_CANDIDATE: Final = re.compile(r"[{\[`]")
_FENCE: Final = re.compile(r"`{3,40}[\w+-]{0,40}")
_MAY_BE_FENCE: Final = re.compile(r"`{1,2}\Z|`{3,40}[\w+-]{0,40}\Z")
_TICKS: Final = re.compile(r"```")
_MAY_BE_TICKS: Final = re.compile(r"`{1,2}\Z")
_BARE: Final = re.compile(r"[\w$-]*")
_BARE_START: Final = re.compile(r"[A-Za-z_$]")
_PLAIN_SINGLE: Final = re.compile(r"[^'\\\x00-\x1f]*")
_VALUE_START: Final = frozenset('"{[-0123456789tfn')

_WORDS: Final[dict[str, tuple[tuple[str, Any, str], ...]]] = {
    "T": (("True", True, "python-literals"),),
    "F": (("False", False, "python-literals"),),
    "N": (("None", None, "python-literals"), ("NaN", None, "nan")),
    "I": (("Infinity", None, "nan"),),
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

    It calls the strict one by name: compiled methods have no `super()`.
    """

    __slots__ = ("_resume", "_rules")

    def __init__(self, sink: Sink, *, rules: bool | Iterable[str], **options: Any) -> None:
        super().__init__(sink, **options)
        self._rules = rule_names(rules)
        # The state to go back to after a comment.
        self._resume = VALUE

    def _unexpected(self, text: str, pos: int, expected: str = "") -> int:
        state = self._state
        if state == STRING or state == KEY:
            end = self._mend_string(text, pos, expected)
        elif state == DIGITS:
            end = self._mend_number(text, pos)
        elif not self._frames:
            end = self._mend_outside(text, pos)
        elif expected:  # half a literal
            end = -1
        else:
            end = self._mend_inside(text, pos)
        return end if end >= 0 else Machine._unexpected(self, text, pos, expected)

    def _note(self, rule: str, text: str, pos: int) -> bool:
        """Report a repair, if its rule is on."""
        if rule not in self._rules:
            return False
        offset, line, column = self._position(text, pos)
        self.repairs.append(Repair(rule, offset, line, column, self.document))
        return True

    # ---- outside the value -------------------------------------------------------------------

    def _mend_outside(self, text: str, pos: int) -> int:
        """Text before or after the value. No rule fits: -1."""
        if self._many and (self._state == END or text[pos] == "\x1e"):
            return -1
        if text[pos] == "`" and "fences" in self._rules:
            opens = self._state == VALUE
            if (_MAY_BE_FENCE if opens else _MAY_BE_TICKS).match(text, pos):
                return self._hold(text, pos)
            fence = (_FENCE if opens else _TICKS).match(text, pos)
            if fence:
                self._note("fences", text, pos)
                return fence.end()
        if self._state == VALUE and (comment := self._mend_comment(text, pos, "/")) >= 0:
            return comment
        before = self._state == VALUE
        if not self._note("leading-text" if before else "trailing-text", text, pos):
            return -1
        self._state = PROSE if before else IGNORED
        return pos

    def _skip(self, text: str, pos: int) -> int:
        state = self._state
        if state == PROSE:
            return self._prose(text, pos)
        if state == BARE_KEY:
            return self._bare_key(text, pos)
        if state == LINE_COMMENT or state == BLOCK_COMMENT:
            return self._comment(text, pos)
        return len(text) if state == IGNORED else Machine._skip(self, text, pos)

    def _prose(self, text: str, pos: int) -> int:
        """Look for a fence, or for a bracket that has something of JSON in it."""
        while (found := _CANDIDATE.search(text, pos)) is not None:
            at = found.start()
            if text[at] == "`":
                if _MAY_BE_FENCE.match(text, at):
                    return self._hold(text, at)
                fence = _FENCE.match(text, at)
                if fence and self._note("fences", text, at):
                    self._state = VALUE
                    return fence.end()
                pos = fence.end() if fence else at + 1
            elif _STARTS.match(text, at):
                self._state = VALUE
                return at
            elif _MAY_START.match(text, at):
                return self._hold(text, at)
            else:
                pos = at + 1
        return len(text)

    def _hold(self, text: str, pos: int) -> int:
        self._held = text[pos:]
        return len(text)

    # ---- between the tokens of a container ---------------------------------------------------

    def _mend_inside(self, text: str, pos: int) -> int:
        """A comma too many or too few, a comment, a bare key, a word. No rule fits: -1."""
        state, char = self._state, text[pos]
        if char in "/#":
            return self._mend_comment(text, pos, char)
        if char == "'":
            return self._mend_quote(text, pos)
        if char == ",":
            extra = state in (VALUE, FIRST_ELEMENT, FIRST_KEY, NEXT_KEY) and not self._after_colon()
            return pos + 1 if extra and self._note("trailing-commas", text, pos) else -1
        if char in "]}" and (state == NEXT_KEY or state == VALUE):
            closes = char == ("}" if self._object else "]") and not self._after_colon()
            if closes and self._note("trailing-commas", text, pos):
                return self._close(pos)
            return -1
        if state == AFTER:
            return self._mend_missing_comma(text, pos, char)
        if state == FIRST_KEY or state == NEXT_KEY:
            if _BARE_START.match(char) and self._note("bare-keys", text, pos):
                self._state = BARE_KEY
                self._token = self._offset + pos
                self._stop = self._token + self._string_limit
                return pos
            return -1
        return self._mend_word(text, pos) if state <= FIRST_ELEMENT else -1

    def _after_colon(self) -> bool:
        return self._object and self._state == VALUE

    def _mend_missing_comma(self, text: str, pos: int, char: str) -> int:
        if self._object:
            fits = char == '"' or (_BARE_START.match(char) and "bare-keys" in self._rules)
        else:
            fits = char in _VALUE_START or char in _WORDS
        if not fits or not self._note("missing-commas", text, pos):
            return -1
        self._comma()
        return pos

    def _comma(self) -> None:
        if self._object:
            self._state = NEXT_KEY
        else:
            self._state = VALUE
            self._count += 1

    def _mend_quote(self, text: str, pos: int) -> int:
        """A string or key in single quotes, perhaps with a comma missing before it."""
        if "single-quotes" not in self._rules or self._state == COLON:
            return -1
        if self._state == AFTER:
            if not self._note("missing-commas", text, pos):
                return -1
            self._comma()
        self._note("single-quotes", text, pos)
        self._single = True
        if self._state == FIRST_KEY or self._state == NEXT_KEY:
            return self._open_string(KEY, text, pos)
        self._sink.start_string(self._offset + pos)
        return self._open_string(STRING, text, pos)

    def _mend_comment(self, text: str, pos: int, char: str) -> int:
        mark = text[pos : pos + 2] if char == "/" else "#"
        if "comments" not in self._rules or text[pos] != char:
            return -1
        if mark == "/":
            return self._hold(text, pos) if pos + 1 == len(text) else -1
        if mark not in ("//", "/*", "#"):
            return -1
        self._note("comments", text, pos)
        self._resume = self._state
        self._state = BLOCK_COMMENT if mark == "/*" else LINE_COMMENT
        return pos + len(mark)

    def _comment(self, text: str, pos: int) -> int:
        if self._state == LINE_COMMENT:
            end = text.find("\n", pos)
            if end < 0:
                return len(text)
        else:
            end = text.find("*/", pos)
            if end < 0:
                return self._hold(text, len(text) - 1) if text.endswith("*") else len(text)
            end += 2
        self._state = self._resume
        return end

    def _bare_key(self, text: str, pos: int) -> int:
        end = _BARE.match(text, pos).end()  # type: ignore[union-attr]  # may be empty
        if self._offset + end > self._stop:
            raise self._over("string", self._limits.string, text, self._stop - self._offset)
        self._parts.add(text[pos:end])
        if end == len(text):
            return end
        self._state = KEY
        return self._close_string(text, end) - 1

    # ---- inside a token ----------------------------------------------------------------------

    def _mend_word(self, text: str, pos: int) -> int:
        """True, None, NaN and their like, whole or cut off. No rule fits: -1."""
        rest = text[pos : pos + 8]
        for word, value, rule in _WORDS.get(text[pos], ()):
            if rule not in self._rules:
                continue
            if rest.startswith(word):
                self._note(rule, text, pos)
                self._sink.scalar(value, None, self._offset + pos)
                self._ended(pos + len(word))
                return pos + len(word)
            if word.startswith(rest) and pos + len(rest) == len(text):
                return self._hold(text, pos)
        return -1

    def _mend_number(self, text: str, pos: int) -> int:
        """-Infinity; or prose that begins with what looks like a number. No rule fits: -1."""
        if self._number_state == "minus" and text[pos] == "I" and "nan" in self._rules:
            self._number.clear()
            self._state = VALUE
            return self._mend_word(text, pos) if self._frames else pos
        if self._frames or not self._note("leading-text", text, pos):
            return -1
        self._number.clear()
        self._state = PROSE
        return pos

    def _single_string(self, text: str, pos: int) -> int:
        end = _PLAIN_SINGLE.match(text, pos).end()  # type: ignore[union-attr]  # may be empty
        if self._offset + end > self._stop:
            end = self._stop - self._offset
        if end > pos:
            self._take(text[pos:end])
        if end == len(text):
            return end
        if text[end] == "'":
            self._single = False
            return self._close_string(text, end)
        if self._offset + end >= self._stop:
            raise self._over("string", self._limits.string, text, end)
        if text[end] == "\\":
            return self._single_escape(text, end)
        return self._unexpected(text, end, "no control character in a string")

    def _single_escape(self, text: str, pos: int) -> int:
        """An escape in single quotes: the strict ones, and the quote itself."""
        if text.startswith("'", pos + 1):
            self._take("'")
            return pos + 2
        found = ESCAPE.match(text, pos)
        if found:
            self._take(unescape(found.group()))
            return found.end()
        return self._hold(text, pos) if CUT_ESCAPE.match(text, pos) else self._odd_escape(text, pos)

    def _mend_string(self, text: str, pos: int, expected: str) -> int:
        """A control character, or what follows a backslash and is no escape. No rule fits: -1."""
        if expected == NO_CONTROL:
            if not self._note("raw-newlines", text, pos):
                return -1
            self._take(text[pos])
            return pos + 1
        start = text.rindex("\\", 0, pos)
        if not self._note("bad-escapes", text, start):
            return -1
        if text[pos] == "'" and pos == start + 1:
            self._take("'")
            return pos + 1
        self._take(text[start:pos])
        return pos

    # ---- the end -----------------------------------------------------------------------------

    def _finish(self) -> None:
        if self._state == LINE_COMMENT or self._state == BLOCK_COMMENT:
            self._state, self._held = self._resume, ""
        if self._frames or self._state == STRING:
            if not self._note("cut-off", self._held, len(self._held)):
                return Machine._finish(self)
            return self._cut_off()
        if self._state == END and self._held:
            self._note("trailing-text", self._held, 0)
        elif self._state == PROSE:
            self._state, self._held = VALUE, ""
        if self._state != IGNORED:
            Machine._finish(self)
        return None

    def _cut_off(self) -> None:
        """Close what is open. Half a key, escape or number is dropped, half a word has one end."""
        end = len(self._held)
        if self._state == STRING:
            self._sink.end_string()
            self._ended(end)
        elif self._held and self._state <= FIRST_ELEMENT:
            word = LITERALS.get(self._held[0]) or _WORDS.get(self._held[0], ((None, None),))[0]
            if word[0] is not None:
                self._sink.scalar(word[1], None, self._offset)
        while self._frames:
            self._close(end)


def machine(sink: Sink, *, repair: bool | Iterable[str] = False, **options: Any) -> Machine:
    """The machine for these options, strict or lenient."""
    return LenientMachine(sink, rules=repair, **options) if repair else Machine(sink, **options)
