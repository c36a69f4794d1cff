"""Brackets that contradict each other: one is missing, one too many, or one was meant as another.

All readings of a run of closing brackets are compared by what follows the run (`fix_closer`). The
root's bracket is not emitted before the next character: a member after it shows that it was one too
many (`closing`). Where two readings are as likely, the text is refused.
"""

from __future__ import annotations

from json import JSONDecoder
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final

from ...errors import InvalidJSON
from ...paths import Path, format_path
from ..machine import Machine
from ..states import AFTER, CLOSING, FIRST_ELEMENT, FIRST_KEY, GUIDED, NEXT_KEY, STRING, VALUE
from . import lookahead, patterns
from .keys import REPEATED, as_set, repeats
from .rules import QUOTES
from .strings import CLOSERS

if TYPE_CHECKING:
    from .core import Leniency

ANY_CLOSER: Final = ("}", "]", ")")
# Containers nested deeper than this are not looked at one by one.
_FAR: Final = 32
# What was read at once has to be looked at, or the last object of a list in it.
UNKNOWN: Final = -1
IN_LIST: Final = -2
# After a list of numbers these go on with the sentence, as letters do.
_UNITS: Final = "°%‰€$£¥"


class Brackets:
    """Reads brackets where they have one reading."""

    __slots__ = (
        "bracketed",
        "closed",
        "deeper",
        "lists_in_lists",
        "misled",
        "misled_by",
        "nested",
        "root_decoded",
        "root_end",
        "root_line",
        "root_size",
        "shallower",
        "trailing",
    )

    def start_document(self, m: Leniency) -> None:
        # The root's bracket that is not emitted yet.
        self.root_end = self.root_line = -1
        self.root_size = 0
        # The containers that ended last, in a row, each with the one that ended before it in that
        # row: if it is an object, its size, its keys, or its text, start and end if it was read at
        # once. And the same for the root if it was read at once and its bracket is held.
        m._closed_at = -1
        self.closed: Any = None
        self.root_decoded: Any = None
        # Where the last bracket was that had a comma before it.
        self.trailing = -1
        # Where the first object ended in an object, by the depth of the outermost object around it
        # with no list in between: if a bracket is one too many, it may have been that one. And if
        # that was so in the last one, and what ended in it or around it if it is not known.
        self.nested: dict[int, int] = {}
        self.misled = 0
        self.misled_by: Any = None
        # Whether a list began with a list: its bracket may have come twice.
        self.lists_in_lists = False
        # A bracket was read as another: from now on no key comes twice.
        self.bracketed = False
        m._exact = m._unique
        # Another reading of the brackets so far would leave more open, or fewer.
        self.deeper = self.shallower = False

    def brackets(self, m: Leniency) -> str:
        """The brackets that close what is open, the outermost first."""
        kinds = [frame[0] for frame in m._frames[1:]] + [m._object]
        parens = m._parens
        closers = ["}" if kind else "]" for kind in kinds]
        for at in parens:
            closers[at - 1] = ")"
        return "".join(closers)

    def fix_closer(self, m: Leniency, text: str, pos: int, char: str) -> int:
        """A bracket after a comma, or one that does not close what is open."""
        comma = m._state == NEXT_KEY or m._state == VALUE
        fits = char == self.brackets(m)[-1]
        if comma:
            if "trailing-commas" not in m._rules or (not fits and "brackets" not in m._rules):
                return -1
            if fits:
                m._may_repair("trailing-commas", text, pos)
                m._take_comma_back()
                self.trailing = m._offset + pos
        if fits:
            if char == ")":
                return self.close_tuple(m, text, pos, comma)
            return pos if m._state != FIRST_KEY else -1
        if "brackets" not in m._rules:
            return -1
        seen = lookahead.after_brackets(text, pos, m._last)
        if seen is None:
            return m._hold(text, pos)
        doubled = not comma and m._closed_at >= m._token and self.closes_again(char)
        if comma:
            m._may_repair("trailing-commas", text, pos)
            m._take_comma_back()
        string = self.last_string(m)
        if string[-1:] in ANY_CLOSER or string[:1] in ("{", "["):
            raise self.bracket_in_string(m, text, pos)
        if comma and not only_missing(self.brackets(m), seen.closers):
            raise m._two_readings("the bracket is wrong", "a value is missing before it", text, pos)
        return self.fix_brackets(m, text, pos, char, seen, doubled)

    def fix_bracket(self, m: Leniency, text: str, pos: int, size: int = 0) -> None:
        """Report that `size` brackets are read in another way than they are written."""
        if self.has_repeats(m):
            raise self.key_twice(m, text, pos)
        m._may_repair("brackets", text, pos, size)
        if not self.bracketed:
            self.bracketed = m._exact = True
            m._frames[:] = [(*frame[:3], as_set(frame[3])) for frame in m._frames]
            m._seen = as_set(m._seen)

    def repeats(self, m: Leniency, key: str, text: str, quote: int) -> None:
        """A key comes again. With a repaired bracket before it, that bracket was another one."""
        if m._unique:
            Machine._repeats(m, key, text, quote)
        if self.bracketed:
            raise self.key_twice(m, text, quote)
        if m.text.comma_at == m._token:
            raise m._two_readings(
                "a key comes twice in an object", "brackets are missing before it", text, quote
            )
        m._seen.add(REPEATED)  # type: ignore[union-attr]  # only a set tells of repeats

    def has_repeats(self, m: Leniency) -> bool:
        """True if a key came twice in an open object, or in one that ended last in a row."""
        seen = [frame[3] for frame in m._frames[1:]] + [m._seen]
        if any(map(repeats, seen)):
            return True
        if self.root_decoded is not None:
            return _ended_with(self.root_decoded)[1]
        return self.ended_last(m)[1]

    def key_twice(
        self, m: Leniency, text: str, pos: int, kind: type[InvalidJSON] = InvalidJSON
    ) -> InvalidJSON:
        return m._two_readings(
            "a key comes twice in an object", "a bracket is wrong", text, pos, kind
        )

    def bracket_in_string(self, m: Leniency, text: str, pos: int) -> InvalidJSON:
        return m._two_readings(
            "the bracket is wrong", "a bracket in the string before belongs here", text, pos
        )

    def last_string(self, m: Leniency) -> str:
        """The string that came last, but for brackets, else ""."""
        *_, single, value = self.ended_last(m)
        if m._string_at == m._token:
            value = m.text.shown(m)
        if not isinstance(value, str):
            return ""
        string = value.strip()
        if string:
            return string
        if m._closed_at < m._token:
            single = m._count == (m._state == VALUE) and not m._object
        return "[]" if single else ""  # [""]: the quotes may belong around the brackets

    def ended_last(self, m: Leniency) -> tuple[int, bool, bool, Any]:
        """Of the containers that ended last, in a row, what may matter.

        The largest size; if a key came twice in one; if the innermost is a list of one; and the
        last value, which is only known if that was read at once.
        """
        largest, repeated, single = 0, False, False
        closed = self.closed if m._closed_at >= m._token else None
        while closed is not None:
            is_object, size, keys, closed = closed
            if type(keys) is tuple:
                inner = _ended_with(keys)
                return max(largest, inner[0]), repeated or inner[1], inner[2], inner[3]
            largest = max(largest, size)
            repeated = repeated or repeats(keys)
            single = size == 1 and not is_object
        return largest, repeated, single, None

    def closes_again(self, closer: str) -> bool:
        """True if the container that ended last is one that this bracket closes."""
        return self.closed is not None and closer == ("}" if self.closed[0] else "]")

    def close_tuple(self, m: Leniency, text: str, pos: int, comma: bool) -> int:
        if m._state == AFTER and not m._count and not comma:
            raise m._two_readings("a tuple of one", "a value in parentheses", text, pos)
        return m._close(pos)

    def fix_brackets(
        self, m: Leniency, text: str, pos: int, char: str, seen: lookahead.Run, doubled: bool
    ) -> int:
        """Choose the reading of a run of closing brackets whose first does not fit, and apply it.

        All that counts is how many containers it leaves open: there the text goes on.
        """
        expected = self.brackets(m)
        ways = bracket_readings(expected, seen.closers, doubled, seen.then)
        if not ways:
            raise m._error(InvalidJSON, f"',' or {expected[-1]!r}", f"but got {char!r}", text, pos)
        open_paren = max(m._parens, default=0) > min(ways)
        ends = seen.then == "end" or seen.then == "text"
        if open_paren or (ends and not may_end(expected, seen.closers, doubled)):
            raise m._two_readings("a bracket is one too many", "one is missing", text, pos)
        (opened, cost), *others = sorted(ways.items(), key=itemgetter(1))
        if self.deeper or self.shallower or (doubled and self.is_misled(m)):
            raise m._two_readings("this bracket is wrong", "one before it is", text, pos)
        if seen.then == "key" or seen.then == "value":
            if cost > 1:
                raise m._two_readings("a bracket is one too many", "one is missing", text, pos)
            if others and others[0][1] == cost:
                raise m._two_readings(
                    f"what follows is in {self.place(m, opened)}",
                    f"in {self.place(m, others[0][0])}",
                    text,
                    pos,
                )
            alternatives = [at for at, other in others if other == cost + 1]
            self.deeper = max(alternatives, default=opened) > opened
            self.shallower = min(alternatives, default=opened) < opened
        self.refuse_doubled(m, text, pos)
        if not doubled:
            self.refuse_shifted(m, text, pos)
        self.fix_bracket(m, text, pos, seen.end - pos)
        while len(m._frames) > opened:
            self.leave(m, pos)
        return seen.end

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

    def fix_missing_brace(self, m: Leniency, text: str, pos: int) -> int:
        """`[{"i": 1, {"i": 2}]`: an object where a key is due, in an object of a list."""
        in_list = len(m._frames) > 1 and not m._frames[-1][0]
        if not in_list or "brackets" not in m._rules:
            return -1
        m._take_comma_back()
        self.refuse_shifted(m, text, pos)
        if self.last_string(m)[-1:] in ANY_CLOSER:
            raise self.bracket_in_string(m, text, pos)
        self.fix_bracket(m, text, pos)
        self.leave(m, pos)
        self.deeper = True
        m._add_comma()
        return pos

    def string_element(self, m: Leniency, text: str, pos: int) -> int:
        """A quote in a list. After other values it may open a key: the list was not closed."""
        if not m._object and m._frames:
            follows = m._string_at == m._token > m._closed_at
            in_object = len(m._frames) > 1 and m._frames[-1][0]
            if m._state == VALUE and in_object and not follows and "brackets" in m._rules:
                seen = m._sees(lookahead.QUOTED_KEY, text, pos)
                if seen is None:
                    return m._hold(text, pos)
                if seen:
                    return self.fix_open_list(m, text, pos)
        if not m.text.collects(m, pos):
            m._start_string(m._offset + pos)
        return m._open_string(STRING, text, pos)

    def fix_open_list(self, m: Leniency, text: str, pos: int) -> int:
        """`{"a": [1, 2, "b": 3}`: a key in a list that belongs to the object around it."""
        m._take_comma_back()
        if self.deeper or self.shallower:
            raise m._two_readings("a bracket is missing here", "one before it", text, pos)
        self.refuse_doubled(m, text, pos)
        self.refuse_shifted(m, text, pos)
        if self.last_string(m)[-1:] in ANY_CLOSER:
            raise self.bracket_in_string(m, text, pos)
        self.fix_bracket(m, text, pos)
        self.leave(m, pos)
        self.deeper = True
        m._state = NEXT_KEY
        return pos

    def refuse_doubled(
        self, m: Leniency, text: str, pos: int, kind: type[InvalidJSON] = InvalidJSON
    ) -> None:
        """After `[[`: a closing bracket is missing, or the opening one came twice."""
        if self.lists_in_lists and m._state == AFTER and m._closed_at >= m._token:
            raise m._two_readings(
                "a bracket is missing here", "one came twice in [[", text, pos, kind
            )

    def refuse_shifted(
        self, m: Leniency, text: str, pos: int, kind: type[InvalidJSON] = InvalidJSON
    ) -> None:
        """`{"a": {"b": 1, "c": 2}`: the last bracket is missing, or one before "c"."""
        after = m._state == AFTER and m._closed_at >= m._token
        alike = self.closes_again("}" if m._object else "]")
        if after and alike and self.ended_last(m)[0] > 1:
            raise m._two_readings("a bracket is missing here", "one before it", text, pos, kind)

    def refuse_open(
        self, m: Leniency, text: str, pos: int, kind: type[InvalidJSON] = InvalidJSON
    ) -> None:
        """Where the value is cut off: brackets before it that have another reading."""
        if self.shallower:
            raise m._two_readings(
                "the text stopped early", "a bracket before was wrong", text, pos, kind
            )
        if self.has_repeats(m):
            raise self.key_twice(m, text, pos, kind)
        self.refuse_doubled(m, text, pos, kind)
        if len(m._frames) == 1:
            self.refuse_shifted(m, text, pos, kind)

    def close_root(self, m: Leniency, pos: int) -> int:
        if not self.keeps_root_open(m):
            return self.leave(m, pos)
        empty = m._state == FIRST_ELEMENT or m._state == FIRST_KEY
        self.hold_root(m, m._offset + pos, 0 if empty else m._count + 1)
        return pos + 1

    def keeps_root_open(self, m: Leniency) -> bool:
        return not m._many and "brackets" in m._rules

    def hold_root(self, m: Leniency, offset: int, size: int) -> None:
        """The root's bracket: it is emitted when it is seen not to be one too many."""
        self.root_end = offset
        self.root_size = size
        m._state = CLOSING

    def leave(self, m: Leniency, pos: int) -> int:
        """End the open container, and remember what may be needed to tell readings apart."""
        depth = len(m._frames)
        is_object = m._object
        size = m._count if is_object else m._count + 1
        if m._state == FIRST_ELEMENT or m._state == FIRST_KEY:
            size = 0
        before = self.closed if m._closed_at >= m._token else None
        at = m._offset + pos
        if is_object:
            if depth > 1 and m._frames[depth - 1][0]:
                self.nested.setdefault(self.chain(m, depth - 1), at)
            else:
                self.misled, self.misled_by = UNKNOWN, before
                if self.nested and 0 <= self.nested.pop(depth, -1) < m._token:
                    self.misled = 1
        self.closed = (is_object, size, m._seen if is_object else None, before)
        m._closed_at = at
        if m._parens:
            m._parens.discard(depth)
        end: int = m._leave(pos)
        if not is_object and not m._object and not m._count and m._frames:
            self.lists_in_lists = True
        return end

    def chain(self, m: Leniency, depth: int) -> int:
        """The depth of the outermost object around the one at `depth` with no list in between."""
        frames, least = m._frames, max(depth - _FAR, 1)
        while depth > least and frames[depth - 1][0]:
            depth -= 1
        return depth

    def may_decode(self, m: Leniency) -> bool:
        """True but where a schema asks for types, or the root must stay open and cannot."""
        if m._leniency == GUIDED:
            return False
        return bool(m._frames) or not self.keeps_root_open(m) or m._sink.takes_open()

    def emit_decoded(self, m: Leniency, value: Any, text: str, pos: int, end: int) -> None:
        # What brackets inside it may mean is only looked at if others contradict each other.
        decoded = (text, pos, end)
        is_object = type(value) is dict
        if not m._frames and self.keeps_root_open(m):
            m._frames.append((m._object, m._key, m._count, m._seen))
            m._object = is_object
            m._count = len(value) if is_object else len(value) - 1
            m._key = next(reversed(value), "") if is_object else ""
            m._sink.start_with(value, m._offset + pos)
            m._token = m._offset + pos
            self.root_decoded = decoded
            self.hold_root(m, m._offset + end - 1, len(value))
            return
        if not self.lists_in_lists:
            inner = not is_object and not m._object and not m._count
            self.lists_in_lists = inner or patterns.LIST_IN_LIST.search(text, pos, end) is not None
        m._closed_at = m._offset + end - 1
        self.closed = (is_object, len(value), decoded, None)
        m._token = m._offset + pos
        if is_object:
            if m._object:
                self.nested.setdefault(self.chain(m, len(m._frames)), m._closed_at)
            else:
                self.misled, self.misled_by = UNKNOWN, self.closed
        if (m._object or not is_object) and _has_listed(value, text, pos, end):
            self.misled, self.misled_by = IN_LIST, self.closed
        m._sink.scalar(value, None, m._offset + pos)
        m._ended(end)

    def may_be_earlier(self, m: Leniency) -> bool:
        """True if a bracket inside the root may have been one too many."""
        if self.root_decoded is not None:
            return _has_nested(_members(self.root_decoded))
        if 0 <= self.nested.get(1, -1) < m._token:
            return True
        closed = self.closed if m._closed_at > m._token else None
        return _has_nested(_members(_decoded_in(closed)))

    def is_misled(self, m: Leniency) -> bool:
        if self.misled < 0:
            value = _members(_decoded_in(self.misled_by))
            self.misled = _has_nested(_last_listed(value) if self.misled == IN_LIST else value)
        return self.misled > 0

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
        goes_on = char.isalpha() or char in _UNITS or (char == "," and m.prose.in_prose)
        if m.prose.scalar_list and goes_on and m._position(text, pos)[1] == self.root_line:
            raise m._two_readings("the value is before this", "it is part of a sentence", text, pos)
        if char in ".(" and m._offset + pos == self.root_end + 1:
            code = m._sees(lookahead.MEMBER, text, pos)
            if code is None:
                return m._hold(text, pos)
            if code:
                raise m._two_readings(
                    "the value is before this", "it is part of a program", text, pos
                )
        if char in ".;":  # perhaps typed for a comma
            after = lookahead.SPACES.match(text, pos + 1).end()  # type: ignore[union-attr]
            if after == len(text) and after - pos < _FAR and not m._last:
                return m._hold(text, pos)
        if self.is_quote(m, text[after : after + 1]):
            raise m._two_readings(
                "the bracket before this ends the value", "a bracket is wrong", text, pos
            )
        odd = self.trailing == self.root_end or not self.root_size
        if odd or char in ",，}]\"'“:：":
            seen = lookahead.after_brackets(text, pos, m._last)
            if seen is None:
                return m._hold(text, pos)
            goes_on = seen.then == "key" or (seen.then == "value" and (seen.comma or odd))
            if self.goes_on_after(m, seen, text):
                self.fix_bracket(m, text, pos)
                self.reopen_root(m)
                return seen.end
            if char in ":：" or goes_on or (seen.closers and self.closers_mislead(m, seen.closers)):
                member = seen.comma and seen.then == "key" and not seen.closers and m._object
                unsure = self.deeper or self.shallower or self.follows_key(m)
                if not member or unsure or self.may_be_earlier(m):
                    raise m._two_readings(
                        "the bracket before this ends the value", "a bracket is wrong", text, pos
                    )
                self.fix_bracket(m, text, pos)
                self.reopen_root(m)
                return pos
        if char != "`" and m.prose.begins_another(m, text, pos):
            return m._hold(text, pos)
        self.end_root(m)
        return pos

    def goes_on_after(self, m: Leniency, seen: lookahead.Run, text: str) -> bool:
        """`[{"a": 1}]}, {"b": 2}]`: list and object were closed although the list goes on."""
        if m._object or seen.closers != "}" or not seen.comma or seen.then != "value":
            return False
        if self.deeper or self.shallower or m.prose.in_prose or not self.closes_again("}"):
            return False
        return patterns.NEXT_OBJECT.match(text, seen.end) is not None

    def follows_key(self, m: Leniency) -> bool:
        """`b: {"c": 1}, "d": 2}`: a bracket is missing before the value, not one too many after."""
        return m.prose.in_prose and patterns.KEY_BEFORE.search(m.prose.before_text) is not None

    def is_quote(self, m: Leniency, char: str) -> bool:
        """True for a quote of this text's strings: the bracket before it may be in a string."""
        odd = m.text.opened if m.text.opened in QUOTES else ""
        return char != "" and (char == '"' or char == odd or char == CLOSERS.get(odd))

    def reopen_root(self, m: Leniency) -> None:
        """The root's bracket was one too many: go on as if it had not come."""
        m._state = AFTER
        if self.root_decoded is not None:
            self.lists_in_lists = patterns.LIST_IN_LIST.search(*self.root_decoded) is not None
            last = _members(self.root_decoded)[-1:]
            if last and isinstance(last[0][1], _Members):
                self.nested[1] = m._token
            if m._object:
                m._seen = {key for key, _ in _members(self.root_decoded)}
            self.root_decoded = None

    def closers_mislead(self, m: Leniency, closers: str) -> bool:
        """True if brackets after the value may show that one is missing, or another too many.

        Braces after an object are only too many. In front of a list, or of an object in one, a
        bracket may be missing.
        """
        only_braces = m._object and not closers.strip("})") and not self.follows_key(m)
        return self.deeper or self.shallower or not only_braces or self.may_be_earlier(m)

    def end_root(self, m: Leniency) -> None:
        m._leave(self.root_end - m._offset)


class _Members(list[tuple[str, Any]]):
    """The members of an object, also those with a key that comes again."""


_DECODER: Final = JSONDecoder(object_pairs_hook=_Members)


def _members(decoded: tuple[str, int, int] | None) -> Any:
    """The container that was read at once, with the members that its dict does not have."""
    if decoded is None:
        return None
    text, pos, end = decoded
    return _DECODER.decode(text[pos:end])


def _ended_with(decoded: tuple[str, int, int]) -> tuple[int, bool, bool, Any]:
    """As `ended_last`, for the containers that end where this one does."""
    largest, repeated, single = 0, False, False
    value = _members(decoded)
    while isinstance(value, list):
        is_object = isinstance(value, _Members)
        largest = max(largest, len(value))
        repeated = repeated or (is_object and repeats([key for key, _ in value]))
        single = len(value) == 1 and not is_object
        value = None if not value else value[-1][1] if is_object else value[-1]
    return largest, repeated, single, value


def _decoded_in(closed: Any) -> tuple[str, int, int] | None:
    """What was read at once and ended last, but for objects around it; else None."""
    while closed is not None:
        is_object, _, keys, closed = closed
        if type(keys) is tuple:
            return keys
        if not is_object:
            return None
    return None


def _last_listed(value: Any) -> Any:
    """The object in a list, inside of this container, that ended last; else None."""
    # What is still to be looked at, the last one first; True: it is in a list.
    waiting = [(value, False)]
    while waiting:
        value, listed = waiting.pop()
        is_list = not isinstance(value, _Members)
        if listed and not is_list:
            return value
        inner = value if is_list else [member for _, member in value]
        waiting += [(member, is_list) for member in inner if isinstance(member, list)]
    return None


def _has_listed(value: Any, text: str, pos: int, end: int) -> bool:
    """True if there is an object in a list inside of this container, which `text` has."""
    start = text.find("[", pos, end)
    if start < 0 or text.find("{", start, end) < 0:
        return False
    waiting = [value]
    while waiting:
        value = waiting.pop()
        is_list = type(value) is list
        for inner in value if is_list else value.values():
            kind = type(inner)
            if kind is dict and is_list:
                return True
            if kind is list or kind is dict:
                waiting.append(inner)
    return False


def _has_nested(value: Any) -> bool:
    """True if an object in this one, or in its last member, is followed by another member."""
    while isinstance(value, _Members) and value:
        *before, (_, value) = value
        if any(isinstance(member, _Members) for _, member in before):
            return True
    return False


def only_missing(expected: str, closers: str) -> bool:
    """True if the brackets that came close what is open once others are put between them."""
    rest = iter(reversed(expected))
    return all(closer in rest for closer in closers)


def may_end(expected: str, closers: str, doubled: bool) -> bool:
    """True if nothing but forgotten or mistaken brackets explains those at the end of a value.

    One that is left over may show that an opening one is missing, if it does not repeat the brace
    before it.
    """
    if doubled and closers[0] == "}" and may_end(expected, closers[1:], False):
        return True
    if len(closers) > len(expected):
        return False
    mistaken = sum(a != b for a, b in zip(reversed(expected), closers, strict=False))
    return only_missing(expected, closers) or mistaken == 1


def bracket_readings(
    expected: str, closers: str, doubled: bool, then: lookahead.Following
) -> dict[int, int]:
    """How many containers stay open in each reading of the closing brackets → its least cost.

    `expected` are the brackets that close what is open, the outermost first; `closers` those that
    came, of which the first does not fit (`doubled`: it repeats the one before it); `then` is what
    follows them. A bracket may be meant as another one, or one may be missing before it: cost 1.
    It may be one too many: cost 1 if it is a brace that repeats the one before it, else 2.
    """
    ways: dict[int, int] = {len(expected): 0}
    before = closers[0] if doubled else ""
    for closer in closers:
        costs: dict[int, int] = {}
        for opened, cost in ways.items():
            extra = cost + (1 if closer == before == "}" else 2)
            costs[opened] = min(costs.get(opened, extra), extra)
            for missing in range(min(opened, 3)):
                left = opened - missing - 1
                fits = expected[left] == closer
                paid = cost + missing + (not fits)
                costs[left] = min(costs.get(left, paid), paid)
        ways = {opened: cost for opened, cost in costs.items() if cost <= 4}
        before = closer
    if then == "key":
        return {at: cost for at, cost in ways.items() if at and expected[at - 1] == "}"}
    if then == "value":
        return {at: cost for at, cost in ways.items() if at and expected[at - 1] != "}"}
    return {at: cost + at for at, cost in ways.items()}
