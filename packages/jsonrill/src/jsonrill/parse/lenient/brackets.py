"""Brackets that contradict each other: one is missing, one too many, or one was meant as another.

All readings of a run of closing brackets are compared by what follows the run (`_mend_closer`). The
root's bracket is not emitted before the next character: a member after it shows that it was one too
many (`_closing`). Where two readings are as likely, the text is refused.
"""

from __future__ import annotations

from json import JSONDecoder
from typing import Any, Final

from ...errors import InvalidJSON
from ...paths import Path, format_path
from ..states import AFTER, CLOSING, FIRST_ELEMENT, FIRST_KEY, GUIDED, NEXT_KEY, STRING, VALUE
from . import lookahead, patterns
from .around import REPEATED, as_set, repeats
from .quotes import QuoteMachine
from .rules import QUOTES
from .strings import CLOSERS

ANY_CLOSER: Final = ("}", "]", ")")
# Containers nested deeper than this are not looked at one by one.
_FAR: Final = 32
UNKNOWN: Final = -1
_NO_ELEMENT: Final = (None, False)


class BracketMachine(QuoteMachine):
    """The machine that reads brackets where they have one reading."""

    __slots__ = (
        "_bracketed",
        "_decoded_in_list",
        "_deeper",
        "_last_closed",
        "_last_closer",
        "_last_decoded",
        "_last_element",
        "_last_size",
        "_lists_in_lists",
        "_misled",
        "_nested",
        "_root_decoded",
        "_root_end",
        "_root_line",
        "_run_is_large",
        "_run_keys",
        "_shallower",
        "_trailing",
    )

    def _start_document(self) -> None:
        QuoteMachine._start_document(self)
        # The root's bracket that is not emitted yet.
        self._root_end = self._root_line = -1
        # Where the last container ended, what it was, and if a comma was before its bracket.
        self._last_closed = -1
        self._last_closer = ""
        # Text, start and end of the last container that was read at once, of the last one that was
        # an object outside of an object (or has one, then True), and of the root if its bracket is
        # held.
        self._last_decoded: Any = None
        self._last_element: Any = _NO_ELEMENT
        self._root_decoded: Any = None
        # The last one is in a list that has ended, too.
        self._decoded_in_list = False
        self._trailing = -1
        # Where the first object ended in an object, by the depth of the outermost object around it
        # with no list in between: if a bracket is one too many, it may have been that one. And if
        # that was so in the last one.
        self._nested: dict[int, int] = {}
        self._misled = 0
        # How many members the last container had, and if one of those that ended with it had more
        # than one.
        self._last_size = self._run_is_large = 0
        # Whether a list began with a list: its bracket may have come twice.
        self._lists_in_lists = False
        # A bracket was read as another: from now on no key comes twice.
        self._bracketed = False
        self._exact = self._unique
        # The keys of the objects that ended last in a row, each with those before it.
        self._run_keys: Any = None
        # Another reading of the brackets so far would leave more open, or fewer.
        self._deeper = self._shallower = False

    # ---- closing brackets ------------------------------------------------------------------

    @property
    def closing(self) -> bool:
        """True if the root's bracket was read and is not emitted yet."""
        return self._state == CLOSING

    def _brackets(self) -> str:
        """The brackets that close what is open, the outermost first."""
        kinds = [frame[0] for frame in self._frames[1:]] + [self._object]
        return "".join(
            "}" if kind else ")" if at in self._parens else "]" for at, kind in enumerate(kinds, 1)
        )

    def _mend_closer(self, text: str, pos: int, char: str) -> int:
        """A bracket after a comma, or one that does not close what is open."""
        comma = self._state == NEXT_KEY or self._state == VALUE
        fits = char == self._brackets()[-1]
        if comma:
            if "trailing-commas" not in self._rules or (not fits and "brackets" not in self._rules):
                return -1
            if fits:
                self._may_repair("trailing-commas", text, pos)
                self._take_comma_back()
                self._trailing = self._offset + pos
        if fits:
            if char == ")":
                return self._close_tuple(text, pos, comma)
            return pos if self._state != FIRST_KEY else -1
        if "brackets" not in self._rules:
            return -1
        seen = lookahead.after_brackets(text, pos, self._last)
        if seen is None:
            return self._hold(text, pos)
        doubled = not comma and self._last_closed >= self._token and self._last_closer == char
        if comma:
            self._may_repair("trailing-commas", text, pos)
            self._take_comma_back()
        string = self._last_string()
        if string[-1:] in ANY_CLOSER or string[:1] in ("{", "["):
            raise self._bracket_in_string(text, pos)
        if comma and not only_missing(self._brackets(), seen.closers):
            raise self._two_readings(
                "the bracket is wrong", "a value is missing before it", text, pos
            )
        return self._mend_brackets(text, pos, char, seen, doubled)

    def _mend_bracket(self, text: str, pos: int, size: int = 0) -> None:
        """Report that `size` brackets are read in another way than they are written."""
        if self._has_repeats():
            raise self._key_twice(text, pos)
        self._may_repair("brackets", text, pos, size)
        if not self._bracketed:
            self._bracketed = self._exact = True
            self._frames[:] = [(*frame[:3], as_set(frame[3])) for frame in self._frames]
            self._seen = as_set(self._seen)

    def _repeats(self, key: str, text: str, quote: int) -> None:
        """A key comes again. With a repaired bracket before it, that bracket was another one."""
        if self._unique:
            QuoteMachine._repeats(self, key, text, quote)
        if self._bracketed:
            raise self._key_twice(text, quote)
        if self._comma_at == self._token:
            raise self._two_readings(
                "a key comes twice in an object", "brackets are missing before it", text, quote
            )
        self._seen.add(REPEATED)  # type: ignore[union-attr]  # only a set tells of repeats

    def _has_repeats(self) -> bool:
        """True if a key came twice in an open object, or in one that ended last in a row."""
        seen = [frame[3] for frame in self._frames[1:]] + [self._seen]
        if any(map(repeats, seen)):
            return True
        if self._root_decoded is not None:
            return _repeats_in_run(_members(self._root_decoded))
        if self._last_closed < self._token:
            return False
        run = self._run_keys
        while run is not None:
            keys, run = run
            if repeats(keys):
                return True
        return _repeats_in_run(_members(self._last_decoded))

    def _key_twice(self, text: str, pos: int, kind: type[InvalidJSON] = InvalidJSON) -> InvalidJSON:
        error: InvalidJSON = self._two_readings(
            "a key comes twice in an object", "a bracket is wrong", text, pos, kind
        )
        return error

    def _bracket_in_string(self, text: str, pos: int) -> InvalidJSON:
        error: InvalidJSON = self._two_readings(
            "the bracket is wrong", "a bracket in the string before belongs here", text, pos
        )
        return error

    def _last_string(self) -> str:
        """First and last character of the string that came last, but for brackets, else ""."""
        if self._string_at == self._token:
            return self._first.lstrip()[:1] + self._shown.rstrip()[-1:]
        value = _members(self._last_decoded) if self._last_closed >= self._token else None
        while value and isinstance(value, list):
            if len(value) == 1 and isinstance(value[0], str) and not value[0].strip():
                return "[]"  # as in `_finish_string`
            value = value[-1][1] if isinstance(value, _Members) else value[-1]
        return value.strip() if isinstance(value, str) else ""

    def _close_tuple(self, text: str, pos: int, comma: bool) -> int:
        if self._state == AFTER and not self._count and not comma:
            raise self._two_readings("a tuple of one", "a value in parentheses", text, pos)
        return self._close_warily(pos)

    def _mend_brackets(
        self, text: str, pos: int, char: str, seen: lookahead.Run, doubled: bool
    ) -> int:
        """Choose the reading of a run of closing brackets whose first does not fit, and apply it.

        All that counts is how many containers it leaves open: there the text goes on.
        """
        expected = self._brackets()
        ways = bracket_readings(expected, seen.closers, doubled, seen.then)
        if not ways:
            raise self._error(
                InvalidJSON, f"',' or {expected[-1]!r}", f"but got {char!r}", text, pos
            )
        if seen.then in ("end", "text") and not may_end(expected, seen.closers, doubled):
            raise self._two_readings("a bracket is one too many", "one is missing", text, pos)
        (opened, cost), *others = sorted(ways.items(), key=lambda way: way[1])
        if self._deeper or self._shallower or (doubled and self._is_misled()):
            raise self._two_readings("this bracket is wrong", "one before it is", text, pos)
        if seen.then == "key" or seen.then == "value":
            if cost > 1:
                raise self._two_readings("a bracket is one too many", "one is missing", text, pos)
            if others and others[0][1] == cost:
                raise self._two_readings(
                    f"what follows is in {self._place(opened)}",
                    f"in {self._place(others[0][0])}",
                    text,
                    pos,
                )
            near = [at for at, other in others if other == cost + 1]
            self._deeper = any(at > opened for at in near)
            self._shallower = any(at < opened for at in near)
        self._refuse_doubled(text, pos)
        if not doubled:
            self._refuse_shifted(text, pos)
        self._mend_bracket(text, pos, seen.end - pos)
        while len(self._frames) > opened:
            self._leave_noted(pos)
        return seen.end

    def _place(self, opened: int) -> str:
        """The path of the container that `opened` brackets are open in, as text."""
        path: Path = self._path(value=False)
        return format_path(path[: max(opened - 1, 0)])

    # ---- missing brackets ------------------------------------------------------------------

    def _mend_tuple(self, text: str, pos: int) -> int:
        if not self._may_repair("tuples", text, pos):
            return -1
        end: int = self._open(text, pos, "[")
        self._parens.add(len(self._frames))
        return end

    def _mend_missing_brace(self, text: str, pos: int) -> int:
        """`[{"i": 1, {"i": 2}]`: an object where a key is due, in an object of a list."""
        in_list = len(self._frames) > 1 and not self._frames[-1][0]
        if not in_list or "brackets" not in self._rules:
            return -1
        self._take_comma_back()
        self._refuse_shifted(text, pos)
        if self._last_string()[-1:] in ANY_CLOSER:
            raise self._bracket_in_string(text, pos)
        self._mend_bracket(text, pos)
        self._leave_noted(pos)
        self._deeper = True
        self._add_comma()
        return pos

    def _string_element(self, text: str, pos: int) -> int:
        """A quote in a list. After other values it may open a key: the list was not closed."""
        if not self._object and self._frames:
            depth = len(self._frames)
            follows = self._string_index == self._count - 1 and self._string_depth == depth
            if (
                self._state == VALUE
                and not follows
                and depth > 1
                and self._frames[-1][0]
                and "brackets" in self._rules
            ):
                seen = self._sees(lookahead.QUOTED_KEY, text, pos)
                if seen is None:
                    return self._hold(text, pos)
                if seen:
                    return self._mend_open_list(text, pos)
            self._string_depth, self._string_index = depth, self._count
        if self._wary == GUIDED and self._collects():
            return self._open_string(STRING, text, pos)
        self._sink.start_string(self._offset + pos)
        return self._open_string(STRING, text, pos)

    def _mend_open_list(self, text: str, pos: int) -> int:
        """`{"a": [1, 2, "b": 3}`: a key in a list that belongs to the object around it."""
        self._take_comma_back()
        if self._deeper or self._shallower:
            raise self._two_readings("a bracket is missing here", "one before it", text, pos)
        self._refuse_doubled(text, pos)
        self._refuse_shifted(text, pos)
        if self._last_string()[-1:] in ANY_CLOSER:
            raise self._bracket_in_string(text, pos)
        self._mend_bracket(text, pos)
        self._leave_noted(pos)
        self._deeper = True
        self._state = NEXT_KEY
        return pos

    def _refuse_doubled(self, text: str, pos: int, kind: type[InvalidJSON] = InvalidJSON) -> None:
        """After `[[`: a closing bracket is missing, or the opening one came twice."""
        if self._lists_in_lists and self._state == AFTER and self._last_closed >= self._token:
            raise self._two_readings(
                "a bracket is missing here", "one came twice in [[", text, pos, kind
            )

    def _refuse_shifted(self, text: str, pos: int, kind: type[InvalidJSON] = InvalidJSON) -> None:
        """`{"a": {"b": 1, "c": 2}`: the last bracket is missing, or one before "c"."""
        after = self._state == AFTER and self._last_closed >= self._token
        alike = self._last_closer == ("}" if self._object else "]")
        if after and alike and self._is_run_large():
            raise self._two_readings("a bracket is missing here", "one before it", text, pos, kind)

    def _close_all(self, text: str, pos: int) -> None:
        self._refuse_doubled(text, pos)
        if len(self._frames) == 1:
            self._refuse_shifted(text, pos)
        while self._frames:
            self._leave_noted(pos)

    # ---- what is remembered of containers --------------------------------------------------

    def _close_warily(self, pos: int) -> int:
        if len(self._frames) == 1 and self._keeps_root_open():
            empty = self._state == FIRST_ELEMENT or self._state == FIRST_KEY
            self._hold_root(self._offset + pos, 0 if empty else self._count + 1)
            return pos + 1
        return self._leave_noted(pos)

    def _keeps_root_open(self) -> bool:
        return not self._many and "brackets" in self._rules

    def _hold_root(self, offset: int, size: int) -> None:
        """The root's bracket: it is emitted when it is seen not to be one too many."""
        self._root_end = offset
        self._last_size = size
        self._state = CLOSING

    def _leave_noted(self, pos: int) -> int:
        """End the open container, and remember what may be needed to tell readings apart."""
        at = self._offset + pos
        depth = len(self._frames)
        size = self._count
        continued = self._last_closed >= self._token
        if not continued:
            self._last_decoded = self._run_keys = None
        if self._object:
            if size > 1:
                self._run_keys = (self._seen, self._run_keys)
            if depth > 1 and self._frames[depth - 1][0]:
                self._nested.setdefault(self._chain(depth - 1), at)
            else:
                self._misled = UNKNOWN
                if self._nested and 0 <= self._nested.pop(depth, -1) < self._token:
                    self._misled = 1
                self._last_element = _NO_ELEMENT
                if self._last_decoded is not None and not self._decoded_in_list:
                    self._last_element = (self._last_decoded, False)
            self._last_closer = "}"
        else:
            self._string_depth = 0
            self._decoded_in_list = True
            self._last_closer = "]"
            size += 1
        if self._state == FIRST_ELEMENT or self._state == FIRST_KEY:
            size = 0
        self._last_size = size
        if size > 1:
            self._run_is_large = 1
        elif not continued:
            self._run_is_large = 0
        self._last_closed = at
        if self._parens:
            self._parens.discard(depth)
        end: int = self._leave(pos)
        if self._last_closer == "]" and not self._object and not self._count and self._frames:
            self._lists_in_lists = True
        return end

    def _chain(self, depth: int) -> int:
        """The depth of the outermost object around the one at `depth` with no list in between."""
        frames, least = self._frames, max(depth - _FAR, 1)
        while depth > least and frames[depth - 1][0]:
            depth -= 1
        return depth

    def _may_decode(self) -> bool:
        """True but where a schema asks for types, or the root must stay open and cannot."""
        if self._wary == GUIDED:
            return False
        return bool(self._frames) or not self._keeps_root_open() or self._sink.takes_open()

    def _emit_decoded(self, value: Any, text: str, pos: int, end: int) -> None:
        # What brackets inside it may mean is only looked at if others contradict each other.
        decoded = (text, pos, end)
        is_object = type(value) is dict
        if not self._frames and self._keeps_root_open():
            self._frames.append((self._object, self._key, self._count, self._seen))
            self._object = is_object
            self._count = len(value) if is_object else len(value) - 1
            self._key = next(reversed(value), "") if is_object else ""
            self._sink.start_with(value, self._offset + pos)
            self._token = self._offset + pos
            self._root_decoded = decoded
            self._hold_root(self._offset + end - 1, len(value))
            return
        if not self._lists_in_lists:
            inner = not is_object and not self._object and not self._count
            self._lists_in_lists = inner or patterns.LIST_IN_LIST.search(text, pos, end) is not None
        self._last_closed = self._offset + end - 1
        self._last_closer = "}" if is_object else "]"
        self._last_size = len(value)
        self._run_is_large = UNKNOWN
        self._last_decoded = decoded
        self._decoded_in_list = False
        self._run_keys = None
        self._token = self._offset + pos
        if is_object:
            if self._object:
                self._nested.setdefault(self._chain(len(self._frames)), self._last_closed)
            else:
                self._misled = UNKNOWN
                self._last_element = (decoded, False)
        if (self._object or not is_object) and _has_listed(value, text, pos, end):
            self._misled = UNKNOWN
            self._last_element = (decoded, True)
        self._sink.scalar(value, None, self._offset + pos)
        self._ended(end)

    def _may_be_earlier(self) -> bool:
        """True if a bracket inside the root may have been one too many."""
        if self._root_decoded is not None:
            return _has_nested(_members(self._root_decoded))
        if 0 <= self._nested.get(1, -1) < self._token:
            return True
        if self._decoded_in_list or self._last_closed <= self._token:
            return False
        return _has_nested(_members(self._last_decoded))

    def _is_misled(self) -> bool:
        if self._misled == UNKNOWN:
            decoded, inside = self._last_element
            value = _members(decoded)
            self._misled = _has_nested(_last_listed(value) if inside else value)
        return self._misled > 0

    def _is_run_large(self) -> bool:
        """True if one of the containers that ended last, in a row, had more than one member."""
        if self._run_is_large == UNKNOWN:
            self._run_is_large = _run_size(_members(self._last_decoded)) > 1
        return self._run_is_large > 0

    # ---- the root's bracket ----------------------------------------------------------------

    def _closing(self, text: str, pos: int) -> int:
        """After the root's bracket: what comes next shows if it was one too many."""
        if self._root_line < 0:
            self._root_line = self._position(text, pos)[1]
        pos = lookahead.SPACES.match(text, pos).end()  # type: ignore[union-attr]  # may be empty
        if pos == len(text):
            return pos
        char = text[pos]
        after = pos
        if char in ":;=":
            face = self._sees(lookahead.FACE, text, pos)
            if face is None:
                return self._hold(text, pos)
            if face:
                self._end_root()
                return pos
        if self._scalar_list and char.isalpha() and self._position(text, pos)[1] == self._root_line:
            raise self._two_readings(
                "the value is before this", "it is part of a sentence", text, pos
            )
        if char in ".;":  # perhaps typed for a comma
            after = lookahead.SPACES.match(text, pos + 1).end()  # type: ignore[union-attr]
            if after == len(text) and after - pos < _FAR and not self._last:
                return self._hold(text, pos)
        if self._is_quote(text[after : after + 1]):
            raise self._two_readings(
                "the bracket before this ends the value", "a bracket is wrong", text, pos
            )
        odd = self._trailing == self._root_end or not self._last_size
        if odd or char in ",，}]\"'“:：":
            seen = lookahead.after_brackets(text, pos, self._last)
            if seen is None:
                return self._hold(text, pos)
            goes_on = seen.then == "key" or (seen.then == "value" and (seen.comma or odd))
            if self._goes_on_after(seen, text):
                self._mend_bracket(text, pos)
                self._reopen_root()
                return seen.end
            if char in ":：" or goes_on or (seen.closers and self._closers_mislead(seen.closers)):
                member = seen.comma and seen.then == "key" and not seen.closers and self._object
                unsure = self._deeper or self._shallower or self._follows_key()
                if not member or unsure or self._may_be_earlier():
                    raise self._two_readings(
                        "the bracket before this ends the value", "a bracket is wrong", text, pos
                    )
                self._mend_bracket(text, pos)
                self._reopen_root()
                return pos
        if char != "`" and self._begins_another(text, pos):
            return self._hold(text, pos)
        self._end_root()
        return pos

    def _goes_on_after(self, seen: lookahead.Run, text: str) -> bool:
        """`[{"a": 1}]}, {"b": 2}]`: list and object were closed although the list goes on."""
        if self._object or seen.closers != "}" or not seen.comma or seen.then != "value":
            return False
        if self._deeper or self._shallower or self._in_prose or self._last_closer != "}":
            return False
        return patterns.NEXT_OBJECT.match(text, seen.end) is not None

    def _follows_key(self) -> bool:
        """`b: {"c": 1}, "d": 2}`: a bracket is missing before the value, not one too many after."""
        return self._in_prose and patterns.KEY_BEFORE.search(self._before_text) is not None

    def _is_quote(self, char: str) -> bool:
        """True for a quote of this text's strings: the bracket before it may be in a string."""
        odd = self._opened if self._opened in QUOTES else ""
        return char != "" and (char == '"' or char == odd or char == CLOSERS.get(odd))

    def _reopen_root(self) -> None:
        """The root's bracket was one too many: go on as if it had not come."""
        self._state = AFTER
        if self._root_decoded is not None:
            self._lists_in_lists = patterns.LIST_IN_LIST.search(*self._root_decoded) is not None
            last = _members(self._root_decoded)[-1:]
            if last and isinstance(last[0][1], _Members):
                self._nested[1] = self._token
            if self._object:
                self._seen = {key for key, _ in _members(self._root_decoded)}
            self._last_decoded, self._root_decoded = self._root_decoded, None

    def _closers_mislead(self, closers: str) -> bool:
        """True if brackets after the value may show that one is missing, or another too many.

        Braces after an object are only too many. In front of a list, or of an object in one, a
        bracket may be missing.
        """
        only_braces = self._object and not closers.strip("})") and not self._follows_key()
        return self._deeper or self._shallower or not only_braces or self._may_be_earlier()

    def _end_root(self) -> None:
        self._leave(self._root_end - self._offset)


class _Members(list[tuple[str, Any]]):
    """The members of an object, also those with a key that comes again."""


_DECODER: Final = JSONDecoder(object_pairs_hook=_Members)


def _members(decoded: tuple[str, int, int] | None) -> Any:
    """The container that was read at once, with the members that its dict does not have."""
    if decoded is None:
        return None
    text, pos, end = decoded
    return _DECODER.decode(text[pos:end])


def _repeats_in_run(value: Any) -> bool:
    """True if a key comes twice in one of the objects that end where this container does."""
    while value and isinstance(value, list):
        if isinstance(value, _Members):
            if len({key for key, _ in value}) < len(value):
                return True
            value = value[-1][1]
        else:
            value = value[-1]
    return False


def _run_size(value: Any) -> int:
    """The size of the largest of the containers that end where this one does."""
    size = 0
    while value and isinstance(value, list):
        size = max(size, len(value))
        value = value[-1][1] if isinstance(value, _Members) else value[-1]
    return size


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
        found: dict[int, int] = {}
        for opened, cost in ways.items():
            extra = cost + (1 if closer == before == "}" else 2)
            found[opened] = min(found.get(opened, extra), extra)
            for missing in range(min(opened, 3)):
                left = opened - missing - 1
                fits = expected[left] == closer
                paid = cost + missing + (not fits)
                found[left] = min(found.get(left, paid), paid)
        ways = {opened: cost for opened, cost in found.items() if cost <= 4}
        before = closer
    if then == "key":
        return {at: cost for at, cost in ways.items() if at and expected[at - 1] == "}"}
    if then == "value":
        return {at: cost for at, cost in ways.items() if at and expected[at - 1] != "}"}
    return {at: cost + at for at, cost in ways.items()}
