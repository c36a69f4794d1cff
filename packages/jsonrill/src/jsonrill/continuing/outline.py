"""Where a JSON text stands: what is open, and the last place at which another text may go on.

Such a place is *clean*: inside the text of a string, or right behind a value or an opening bracket.
Half a number, half an escape or a key is not: what was cut there is not shown before it is known
how it goes on. For example, of `{"a": "Par` all is clean, of `{"a": 1, "b": 2` only `{"a": 1`.
"""

from __future__ import annotations

import json
import re
from typing import Final

_RUN: Final = re.compile(r'[^"\\\x00-\x1f]*')
_SPACE: Final = re.compile(r"[ \t\r\n]*")
_WORD: Final = re.compile(r"[-+.0-9A-Za-z]*")
_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")
# What the text of a number may be while it comes.
_DIGITS: Final = re.compile(
    r"-?(?:(?:0|[1-9][0-9]*)(?:\.(?:[0-9]+(?:[eE](?:[-+]?[0-9]*)?)?)?|[eE](?:[-+]?[0-9]*)?)?)?"
)
_WORDS: Final = ("true", "false", "null")
_ESCAPE: Final = re.compile(r'\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})')
_HALF_ESCAPE: Final = re.compile(r"\\(?:u[0-9a-fA-F]{0,3})?")
_HIGH: Final = re.compile(r"\\u[dD][89abAB]")

VALUE, FIRST_VALUE, KEY, FIRST_KEY, IN_KEY, COLON, STRING, WORD, AFTER, DONE = range(10)


class _Level:
    """An open container: its bracket, the keys it has and how many members have begun."""

    __slots__ = ("count", "is_object", "key", "keys")

    def __init__(self, is_object: bool) -> None:
        self.is_object = is_object
        self.count = 0
        self.keys: set[str] = set()
        # The key whose value comes next.
        self.key = ""

    def copy(self) -> _Level:
        frame = _Level(self.is_object)
        frame.count, frame.keys, frame.key = self.count, {*self.keys}, self.key
        return frame


class Outline:
    """Follows a strict JSON text, in any pieces.

    `at` is how much was read, `clean` the last clean place in it. `dead`: no continuation can make
    this JSON. With `unique` a key that comes twice is not taken, either. `tokens` counts brackets,
    commas, colons and quotes.
    """

    __slots__ = ("_frames", "_held", "at", "clean", "dead", "state", "tokens", "unique")

    def __init__(self) -> None:
        self.at = self.clean = self.tokens = 0
        self.dead = self.unique = False
        self.state = VALUE
        self._frames: list[_Level] = []
        # A key, a number, a word or an escape that has not ended.
        self._held = ""

    @property
    def done(self) -> bool:
        """True if the value is complete."""
        return self.state == DONE or (self.state == WORD and not self._frames and self._is_word())

    @property
    def in_string(self) -> bool:
        """True inside of a string that is a value."""
        return self.state == STRING

    @property
    def in_word(self) -> bool:
        """True inside of a number or a literal."""
        return self.state == WORD

    @property
    def in_text(self) -> bool:
        """True inside of a string or a key, where nearly any character may follow."""
        return self.state in (STRING, IN_KEY)

    @property
    def pending_key(self) -> str | None:
        """The key behind the last clean place, whose value has not come."""
        has_key = self.state in (COLON, VALUE, WORD) and self._frames and self._frames[-1].is_object
        return self._frames[-1].key if has_key else None

    def copy(self) -> Outline:
        """An outline of the same text, which goes on for itself."""
        other = Outline()
        other.at, other.clean, other.tokens = self.at, self.clean, self.tokens
        other.dead, other.unique = self.dead, self.unique
        other.state, other._held = self.state, self._held
        other._frames = [frame.copy() for frame in self._frames]
        return other

    def rewound(self) -> Outline:
        """An outline of the text up to its last clean place."""
        other = self.copy()
        other.at, other._held = self.clean, ""
        if other.state != STRING and other.state != DONE:
            frames = other._frames
            other.state = _inside(frames[-1]) if frames else VALUE
        return other

    def feed(self, text: str) -> int:
        """Read on, up to the end of the value; returns how much was read."""
        at, end = 0, len(text)
        while at < end and not self.dead and self.state != DONE:
            if self.state == STRING or self.state == IN_KEY:
                at = self._string(text, at)
            elif self.state == WORD:
                at = self._word(text, at)
            else:
                space = _SPACE.match(text, at)
                assert space is not None
                at = space.end()
                if at < end:
                    self._token(text[at], self.at + at)
                    at += self.state != WORD
        self.at += at
        return at

    def _token(self, char: str, offset: int) -> None:
        state = self.state
        self.tokens += 1
        if state == COLON:
            self.dead = char != ":"
            self.state = VALUE
        elif state == KEY or state == FIRST_KEY:
            if char == '"':
                self.state, self._held = IN_KEY, ""
            elif char == "}" and state == FIRST_KEY:
                self._close(offset)
            else:
                self.dead = True
        elif state == AFTER:
            self._after(char, offset)
        elif char == "]" and state == FIRST_VALUE:
            self._close(offset)
        else:
            self._begin(char, offset)

    def _begin(self, char: str, offset: int) -> None:
        """A value begins."""
        if char == '"':
            self._count()
            self.state, self.clean = STRING, offset + 1
        elif char == "{" or char == "[":
            self._count()
            self._frames.append(_Level(char == "{"))
            self.state, self.clean = (FIRST_KEY if char == "{" else FIRST_VALUE), offset + 1
        elif char in "-0123456789tfn":
            self.tokens -= 1
            self.state, self._held = WORD, ""
        else:
            self.dead = True

    def _count(self) -> None:
        """A member is there to see."""
        if self._frames:
            frame = self._frames[-1]
            frame.count += 1
            if frame.is_object:
                self.dead = self.dead or (self.unique and frame.key in frame.keys)
                frame.keys.add(frame.key)

    def _after(self, char: str, offset: int) -> None:
        frame = self._frames[-1]
        if char == ",":
            self.state = KEY if frame.is_object else VALUE
        elif char == ("}" if frame.is_object else "]"):
            self._close(offset)
        else:
            self.dead = True

    def _close(self, offset: int) -> None:
        self._frames.pop()
        self._ended(offset + 1)

    def _ended(self, clean: int) -> None:
        self.state = AFTER if self._frames else DONE
        self.clean = clean

    def _string(self, text: str, at: int) -> int:
        """Read on in a string. A pair of surrogates is clean behind its second one."""
        is_key = self.state == IN_KEY
        if self._held and not is_key:
            return self._escape(text, at)
        run = _RUN.match(text, at)
        assert run is not None
        end = run.end()
        if is_key:
            return self._in_key(text, at, end)
        if end > at:
            self.clean = self.at + end
        if end == len(text):
            return end
        char = text[end]
        if char == '"':
            self.tokens += 1
            self._ended(self.at + end + 1)
        elif char == "\\":
            self._held = char
        else:
            self.dead = True
        return end + 1

    def _escape(self, text: str, at: int) -> int:
        """One more character of an escape, or of a pair of them."""
        held = self._held + text[at]
        first = _ESCAPE.match(held)
        rest = held if first is None else held[first.end() :]
        is_pair = first is not None and _HIGH.match(held) is not None
        if first is not None and not rest:
            # The other half of a character may follow.
            self._held = held if is_pair else ""
            self.clean = self.clean if is_pair else self.at + at + 1
        elif first is not None and not rest.startswith("\\"):
            self._held, self.clean = "", self.at + at
            return at
        elif _ESCAPE.fullmatch(rest):
            self._held, self.clean = "", self.at + at + 1
        elif _HALF_ESCAPE.fullmatch(rest):
            self._held = held
        else:
            self.dead = True
        return at + 1

    def _in_key(self, text: str, at: int, end: int) -> int:
        self._held += text[at:end]
        if end == len(text):
            return end
        # A backslash at the end takes the next character with it.
        slashes = len(self._held) - len(self._held.rstrip("\\"))
        if text[end] == '"' and slashes % 2 == 0:
            self.tokens += 1
            self._take_key()
        elif text[end] in '"\\':
            self._held += text[end]
        else:
            self.dead = True
        return end + 1

    def _take_key(self) -> None:
        try:
            self._frames[-1].key = json.loads(f'"{self._held}"')
        except ValueError:
            self.dead = True
        self.state, self._held = COLON, ""

    def _word(self, text: str, at: int) -> int:
        """Read on in a number or a word, whose end is known by what follows."""
        run = _WORD.match(text, at)
        assert run is not None
        self._held += run.group()
        if run.end() == len(text):
            held = self._held
            is_begun = any(word.startswith(held) for word in _WORDS)
            self.dead = not (is_begun or _DIGITS.fullmatch(held))
        elif self._is_word():
            self._count()
            self._held = ""
            self._ended(self.at + run.end())
        else:
            self.dead = True
        return run.end()

    def _is_word(self) -> bool:
        return self._held in _WORDS or _NUMBER.fullmatch(self._held) is not None


def _inside(frame: _Level) -> int:
    """The state in a container whose last member is complete."""
    if frame.count:
        return AFTER
    return FIRST_KEY if frame.is_object else FIRST_VALUE
