"""Brackets that contradict each other: one is missing, one too many, or one was meant as another.

A run of closing brackets is read with one slip at most, and what follows the run decides which it
was (`readings`). The root's bracket is not emitted before the next character: a member after it
shows that it was one too many (`closing`). Where two readings are as likely, or where a bracket was
repaired before, the text is refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from json import JSONDecoder
from typing import TYPE_CHECKING, Any, Final

from ...errors import InvalidJSON
from ...paths import Path, format_path
from ..states import AFTER, CLOSING, FIRST_KEY, GUIDED, NEXT_KEY, STRING, VALUE
from . import lookahead, patterns
from .core import note_object
from .rules import QUOTES
from .strings import CLOSERS, closes_bracket

if TYPE_CHECKING:
    from .core import Leniency

_ANY_CLOSER: Final = ("}", "]", ")")
# So much white space may be between a full stop and what follows it.
_FAR: Final = 32
# After a list of numbers these go on with the sentence, as letters do.
_UNITS: Final = "°%‰€$£¥"


class Brackets:
    """Reads brackets where they have one reading."""

    __slots__ = ("bracketed", "comma_at", "root_end", "root_line", "trailing")

    def start_document(self, m: Leniency) -> None:
        # The root's bracket that is not emitted yet, and its line.
        self.root_end = self.root_line = -1
        m._closed_at = -1
        m._closed = None
        # Where the last bracket was that had a comma before it, and where one was missing.
        self.trailing = self.comma_at = -1
        # A bracket was read as another: from now on no key comes twice.
        self.bracketed = False
        m._exact = False

    def brackets(self, m: Leniency) -> str:
        """The brackets that close what is open, the outermost first."""
        kinds = [frame[0] for frame in m._frames[1:]] + [m._object]
        closers = ["}" if kind else "]" for kind in kinds]
        for at in m._parens:
            closers[at - 1] = ")"
        return "".join(closers)

    def fix_closer(self, m: Leniency, text: str, pos: int, char: str) -> int:
        """A bracket after a comma, or one that does not close what is open."""
        comma = m._state == NEXT_KEY or m._state == VALUE
        expected = self.brackets(m)
        if char == expected[-1]:
            if comma:
                if not m._may_repair("trailing-commas", text, pos):
                    return -1
                m._take_comma_back()
                self.trailing = m._offset + pos
            if char == ")":
                if m._state == AFTER and not m._count and not comma:
                    raise m._two_readings("a tuple of one", "a value in parentheses", text, pos)
                return m._close(pos)
            return pos if m._state != FIRST_KEY else -1
        if "brackets" not in m._rules:
            return -1
        seen = lookahead.after_brackets(text, pos, m._last)
        if seen is None:
            return m._hold(text, pos)
        string = self.last_string(m)
        doubled = char == "}" and m._closed_at >= m._token and m._closed[0]
        ways = readings(expected, seen.closers, doubled, seen.then)
        unsure = self.bracketed or (doubled and self.ended_last(m)[1])
        if unsure or comma or not string or string[0] in "{[" or not ways:
            raise m._two_readings("a bracket is one too many", "one is missing", text, pos)
        self.refuse_earlier(m, text, pos, not doubled)
        if len(ways) > 1:
            one, other = [self.place(m, opened) for opened in ways]
            raise m._two_readings(f"what follows is in {one}", f"in {other}", text, pos)
        self.fix_bracket(m, text, pos, seen.end - pos)
        while len(m._frames) > ways[0]:
            m._leave(pos)
        return seen.end

    def refuse_earlier(
        self, m: Leniency, text: str, pos: int, missing: bool = True, kind: Any = InvalidJSON
    ) -> None:
        """Refuse to repair a bracket here if another one may be the wrong one, or `missing`."""
        if m._state != STRING and self.swallows(m, self.last_string(m)):
            raise m._two_readings(
                "the bracket is wrong", "one in the string before belongs here", text, pos, kind
            )
        ended = m._state == AFTER and m._closed_at >= m._token and m._closed[0] == m._object
        if missing and ended and (self.ended_last(m)[0] > 1 or not m._object):
            raise m._two_readings("a bracket is missing here", "one before it", text, pos, kind)

    def fix_bracket(self, m: Leniency, text: str, pos: int, size: int = 0) -> None:
        """Report that `size` brackets are read in another way than they are written."""
        m._may_repair("brackets", text, pos, size)
        self.bracketed = m._exact = True
        m._frames[:] = [(*frame[:3], frame[3] and {*frame[3]}) for frame in m._frames]
        m._seen = m._seen and {*m._seen}

    def repeats(self, m: Leniency, key: str, text: str, quote: int) -> None:
        """A key comes again. With a repaired bracket before it, that bracket was another one."""
        if self.bracketed or self.comma_at == m._token:
            raise m._two_readings(
                "a key comes twice in an object", "a bracket is wrong or missing", text, quote
            )

    def swallows(self, m: Leniency, string: str) -> bool:
        """True if a string ends in a bracket that may close what is open, or nothing in it."""
        last = string.rstrip()[-1:]
        return last in _ANY_CLOSER and (last in self.brackets(m) or closes_bracket(string))

    def last_string(self, m: Leniency) -> str:
        """The string that came last, but for brackets; a dash if something else did."""
        value = m.text.shown(m) if m._string_at == m._token else self.ended_last(m)[2]
        return value.strip() if isinstance(value, str) else "-"

    def ended_last(self, m: Leniency) -> tuple[int, bool, Any]:
        """Of the containers that ended last, in a row, what may matter.

        Of the outer ones, as long as they are objects: the largest size, and if an object in one of
        them has another member after it. And the last value, if that was read at once.
        """
        row: list[Any] = []
        largest, followed, value = 0, False, None
        closed = m._closed if m._closed_at >= m._token else None
        while closed is not None:
            if type(closed[2]) is tuple:
                value = _expand(closed[2], row)
                break
            row.append(closed[:3])
            closed = closed[3]
        for is_object, size, keys in row:
            if not is_object:
                break
            largest = max(largest, size)
            followed = followed or _is_followed(keys, size)
        return largest, followed, value

    def place(self, m: Leniency, opened: int) -> str:
        """The path of the container that `opened` brackets are open in, as text."""
        path: Path = m._path(value=False)
        return format_path(path[: max(opened - 1, 0)])

    def fix_tuple(self, m: Leniency, text: str, pos: int) -> int:
        if not m._may_repair("tuples", text, pos):
            return -1
        end: int = m._open(text, pos, "[")
        m._parens.add(len(m._frames))
        return end

    def string_element(self, m: Leniency, text: str, pos: int) -> int:
        """A quote in a list. After other values it may open a key: the list was not closed."""
        if not m._object and m._frames:
            follows = m._string_at == m._token > m._closed_at
            if m._state == VALUE and m._frames[-1][0] and not follows and "brackets" in m._rules:
                seen = m._sees(lookahead.QUOTED_KEY, text, pos)
                if seen is None:
                    return m._hold(text, pos)
                if seen:
                    return self.fix_unclosed(m, text, pos)
        if not m.text.collects(m, pos):
            m._start_string(m._offset + pos)
        return m._open_string(STRING, text, pos)

    def fix_unclosed(self, m: Leniency, text: str, pos: int) -> int:
        """A member of the container around: `[{"i": 1, {"i": 2}]`, `{"a": [1, 2, "b": 3}`."""
        if len(m._frames) == 1 or m._frames[-1][0] == m._object or "brackets" not in m._rules:
            return -1
        m._take_comma_back()
        self.refuse_earlier(m, text, pos)
        if self.bracketed and not m._object:
            raise m._two_readings("a bracket is missing here", "one before it", text, pos)
        self.fix_bracket(m, text, pos)
        m._leave(pos)
        m._add_comma()
        return pos

    def refuse_open(self, m: Leniency, text: str, pos: int, kind: Any = InvalidJSON) -> None:
        """Where the value is cut off: brackets before it that have another reading."""
        if self.bracketed:
            raise m._two_readings(
                "the text stopped early", "a bracket before was wrong", text, pos, kind
            )
        self.refuse_earlier(m, text, pos, len(m._frames) == 1, kind)

    def close_root(self, m: Leniency, pos: int) -> int:
        if not self.keeps_root_open(m):
            return int(m._leave(pos))
        m._note_end(pos)
        self.root_end = m._closed_at
        m._state = CLOSING
        return pos + 1

    def keeps_root_open(self, m: Leniency) -> bool:
        return not m._many and "brackets" in m._rules

    def may_decode(self, m: Leniency) -> bool:
        """True but where a schema asks for types, or the root must stay open and cannot."""
        if m._leniency == GUIDED:
            return False
        return bool(m._frames) or not self.keeps_root_open(m) or m._sink.takes_open()

    def emit_decoded(self, m: Leniency, value: Any, text: str, pos: int, end: int) -> None:
        # What brackets inside it may mean is only looked at if others contradict each other.
        is_object = type(value) is dict
        m._closed = (is_object, len(value), (text, pos, end), None)
        m._closed_at = m._offset + end - 1
        m._token = m._offset + pos
        if m._frames or not self.keeps_root_open(m):
            if is_object and m._object:
                note_object(m._seen, m._count)
            m._sink.scalar(value, None, m._token)
            m._ended(end)
            return
        m._frames.append((m._object, m._key, m._count, m._seen))
        m._object = is_object
        m._count = len(value) if is_object else len(value) - 1
        m._key = next(reversed(value), "") if is_object else ""
        m._seen = {*value} if is_object else None
        m._sink.start_with(value, m._token)
        self.root_end = m._closed_at
        m._state = CLOSING

    def closing(self, m: Leniency, text: str, pos: int) -> int:
        """After the root's bracket: what comes next shows if it was one too many."""
        if self.root_line < 0:
            self.root_line = m._position(text, pos)[1]
        pos = lookahead.SPACES.match(text, pos).end()  # type: ignore[union-attr]  # may be empty
        if pos == len(text):
            return pos
        char = text[pos]
        after = pos
        if char in ":;=":
            face = m._sees(lookahead.FACE, text, pos)
            if face is None:
                return m._hold(text, pos)
            if face:
                self.end_root(m)
                return pos
        sentence = char.isalpha() or char in _UNITS or (char == "," and m.prose.in_prose)
        sentence = sentence and m.prose.scalar_list
        code: bool | None = False
        if char in ".(" and m._offset + pos == self.root_end + 1:
            code = m._sees(lookahead.MEMBER, text, pos)
        if char in ".;":  # perhaps typed for a comma
            after = lookahead.SPACES.match(text, pos + 1).end()  # type: ignore[union-attr]
        if code is None or (after == len(text) and after - pos < _FAR and not m._last):
            return m._hold(text, pos)
        sentence = sentence and m._position(text, pos)[1] == self.root_line
        if sentence or code or self.is_quote(m, text[after : after + 1]):
            raise m._two_readings(
                "the value is before this", "it is part of something else", text, pos
            )
        odd = self.trailing == self.root_end or not m._closed[1]
        if odd or char in ",，}]\"'“:：":
            seen = lookahead.after_brackets(text, pos, m._last)
            if seen is None:
                return m._hold(text, pos)
            goes_on = seen.then == "key" or (seen.then == "value" and (seen.comma or odd))
            if self.goes_on_after(m, seen, text):
                self.fix_bracket(m, text, pos)
                m._state = AFTER
                return seen.end
            braces = m._object and not seen.closers.strip("})")
            if char in ":：" or goes_on or (seen.closers and (not braces or self.is_unsure(m))):
                member = seen.comma and seen.then == "key" and not seen.closers and m._object
                if not member or self.is_unsure(m):
                    raise m._two_readings(
                        "the bracket before this ends the value", "a bracket is wrong", text, pos
                    )
                self.fix_bracket(m, text, pos)
                m._state = AFTER
                return pos
        self.end_root(m)
        return pos

    def is_unsure(self, m: Leniency) -> bool:
        """True if another bracket than the root's may have been one too many, or is missing."""
        # `b: {"c": 1}, "d": 2}`: one is missing before the value.
        follows = m.prose.in_prose and patterns.KEY_BEFORE.search(m.prose.before_text)
        return bool(self.bracketed or follows or self.ended_last(m)[1])

    def goes_on_after(self, m: Leniency, seen: lookahead.Run, text: str) -> bool:
        """`[{"a": 1}]}, {"b": 2}]`: list and object were closed although the list goes on."""
        if m._object or seen.closers != "}" or not seen.comma or seen.then != "value":
            return False
        if self.bracketed or m.prose.in_prose or not self.ends_in_object(m):
            return False
        return patterns.NEXT_OBJECT.match(text, seen.end) is not None

    def ends_in_object(self, m: Leniency) -> bool:
        """True if the last element of the root is an object."""
        *_, keys, before = m._closed
        if type(keys) is tuple:
            return bool(keys[0][: keys[2] - 1].rstrip().endswith("}"))
        return before is not None and bool(before[0])

    def is_quote(self, m: Leniency, char: str) -> bool:
        """True for a quote of this text's strings: the bracket before it may be in a string."""
        odd = m.text.opened if m.text.opened in QUOTES else ""
        return char != "" and (char == '"' or char == odd or char == CLOSERS.get(odd))

    def end_root(self, m: Leniency) -> None:
        m._leave(self.root_end - m._offset)


class _Members(list[tuple[str, Any]]):
    """The members of an object, also those with a key that comes again."""


_DECODER: Final = JSONDecoder(object_pairs_hook=_Members)


def _expand(decoded: tuple[str, int, int], row: list[Any]) -> Any:
    """Add to `row` what ended where a container that was read at once did; gives the last value."""
    value = _DECODER.decode(decoded[0][decoded[1] : decoded[2]])
    while isinstance(value, list):
        is_object = isinstance(value, _Members)
        inner = [member for _, member in value] if is_object else value
        keys = [at for at, one in enumerate(inner, 1) if isinstance(one, _Members)]
        row.append((is_object, len(inner), keys))
        value = inner[-1] if inner else None
    return value


def _is_followed(keys: Any, size: int) -> bool:
    """True if a member that is an object is not the last one."""
    return any(type(key) is int and key < size for key in keys)


def readings(expected: str, closers: str, doubled: bool, then: lookahead.Following) -> list[int]:
    """How many containers may stay open after closing brackets of which the first does not fit.

    `expected` are the brackets that close what is open, the outermost first; `then` is what follows
    those that came. Their first is one too many (`doubled`: it repeats a brace), or meant as the
    one that fits, or that one is missing before it. Where the text ends, more may be missing.
    """
    opened, size = expected[::-1], len(expected) - len(closers)
    ways = [size + 1] if doubled and opened.startswith(closers[1:]) else []
    ways += [size] if opened[1:].startswith(closers[1:]) else []
    ways += [size - 1] if opened[1:].startswith(closers) else []
    ways = [left for left in ways if ")" not in expected[left:]]
    if then == "key" or then == "value":
        return [left for left in ways if left and (expected[left - 1] == "}") == (then == "key")]
    if then == "end" and ")" not in expected:
        ways += [0 for skip in range(doubled + 1) if _fit(closers[skip:], iter(opened))]
    return [0] if 0 in ways else []


def _fit(closers: str, opened: Iterator[str]) -> bool:
    """True if these close what is open once others are put between them."""
    return all(closer in opened for closer in closers)
