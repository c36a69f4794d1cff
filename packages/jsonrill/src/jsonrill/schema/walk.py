"""Events of one value → the first violation: the walk over the nodes of a schema.

The walk knows which nodes the value being read must fulfil: its obligations. An event asks each of
them. A choice (`anyOf`) has a branch for each alternative; a refusal ends its branch, and when the
last branch of a choice has ended, or outside of all choices, it is the violation. With the schema
`{"properties": {"n": {"anyOf": [{"type": "null"}, {"enum": ["red", "blue"]}]}}}`:

    {          the value is an object: its node stays as the obligation of the open frame
    "n":       the node of the member `n` is expected: a choice of two
    "          a string begins: the first branch (null) ends, the second one is left
    r          still a beginning of "red"
    o          "ro" begins no allowed value: the last branch ends, this is the violation

What a node cannot say early, such as `pattern`, its validator is asked when the value is complete.
Refusals are ordered by the character at which they are certain, so how the text was cut does not
matter. Every event costs in proportion to its own length and the number of obligations, which is
bounded.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from itertools import groupby
from operator import itemgetter
from typing import Any, Final

from ..errors import InvalidSchema, LimitExceeded
from ..parse.sink import PlacedSink, Sink, TextBuffer
from ..paths import Path, Place, path_of, short_path
from .branches import Branch, Naming, Obligation, Refused, alive, expand, refuse
from .nodes import (
    ARRAY,
    FALSE,
    FRACTION,
    INTEGER,
    LIMIT,
    NULL,
    NUMBER,
    OBJECT,
    STRING,
    TRUE,
    Node,
    Refusal,
    allowed,
    common,
    count,
    shown,
)

# A container is validated when it closes, at most this many around each other, so that the cost
# stays linear; and nothing so deep that a recursive validator could run out of stack.
NESTED_VALIDATIONS: Final = 3
DEEPEST: Final = 500

_FIRST: Final = {"t": TRUE, "f": FALSE, "n": NULL, **dict.fromkeys("-0123456789", NUMBER)}


class TextCheck:
    """One obligation of an open string, read run by run."""

    __slots__ = ("_end", "_first", "_length", "branch", "node")

    def __init__(self, node: Node, branch: Branch | None) -> None:
        self.node = node
        self.branch = branch
        self._length = 0
        # Of the allowed values, which are sorted, those that begin like the string does.
        self._first = 0
        self._end = 0 if node.texts is None else len(node.texts)

    def read(self, run: str) -> tuple[int, Refusal] | None:
        """The index of the first character of the run that is invalid, and the refusal."""
        refusal = self._compare(run) if self.node.texts is not None else None
        limit = self.node.max_length
        if limit is not None and self._length + len(run) > limit:
            excess = limit - self._length
            if refusal is None or excess < refusal[0]:
                text = f"longer than {count(limit, 'character')}"
                refusal = excess, Refusal(self.node.length_rule, text)
        self._length += len(run)
        return refusal

    def refuses(self, value: str) -> bool:
        """True if the complete string, all of which has been read, is not an allowed value."""
        texts = self.node.texts
        # Of the values that begin with it, the string itself is the first.
        return texts is not None and (self._first == self._end or texts[self._first] != value)

    def refusal(self, value: str) -> Refusal:
        """The refusal of a complete string that is not an allowed value."""
        reason = f"{shown(value)} is not an allowed value: {allowed(self.node.texts or ())}"
        return Refusal(self.node.text_rule, reason)

    def _compare(self, run: str) -> tuple[int, Refusal] | None:
        """Search by halves, so that a string costs its length, however many values there are."""
        texts, at = self.node.texts or (), self._length
        first, end = self._first, self._end
        key = itemgetter(slice(at, at + len(run)))
        self._first = bisect_left(texts, run, first, end, key=key)
        self._end = bisect_right(texts, run, self._first, end, key=key)
        if self._first < self._end:
            return None
        # One of the two neighbours in order has most in common with it.
        neighbours = texts[max(self._first - 1, first) : min(self._first + 1, end)]
        far = max((common(text, at, run) for text in neighbours), default=0)
        begun = (neighbours[0][:at] if neighbours else "") + run[: far + 1]
        reason = f"no allowed value begins with {shown(begun)}: {allowed(texts)}"
        return far, Refusal(self.node.text_rule, reason)


class Frame:
    """An open container: its obligations, its keys so far, and its value if it is needed."""

    __slots__ = ("asked", "obligations", "offset", "seen", "unsure", "value")

    def __init__(self, obligations: list[Obligation], offset: int) -> None:
        # Those of the beginning, and those of them whose branch has not ended.
        self.asked = self.obligations = obligations
        self.offset = offset
        self.seen: set[str] = set()
        self.unsure: list[Obligation] = []
        self.value: Any = None

    def put(self, place: Place | None, value: Any) -> None:
        if type(self.value) is list:
            self.value.append(value)
        elif self.value is not None and place is not None:
            self.value[place.key] = value


class Walk(PlacedSink):
    """Validates one value while it arrives, and passes valid events on to `then`.

    `violation` is the first one found. `violated` is called with each, and with the path of the
    value that is refused if `then` has a part of it already.
    """

    __slots__ = ("_active", "_keeps_all", "_member", "_nodes", "_offset", "_starts", "_string",
                 "_text", "_texts", "_then", "_validating", "_violated", "budget", "deepest",
                 "violation")  # fmt: skip
    _inside: Frame | None

    def __init__(
        self,
        node: Node,
        root: Place | None = None,
        then: Sink | None = None,
        violated: Callable[[InvalidSchema, Path | None], None] | None = None,
    ) -> None:
        PlacedSink.__init__(self, root)
        # True in a subclass that keeps the text of every string, and complete values itself.
        self._keeps_all = False
        self._nodes: list[Obligation] = [(node, None)]
        # How much the validators may still do for the stream of this value.
        self.budget: Any = None
        self._then = Sink() if then is None else then
        self._violated = violated
        self.violation: InvalidSchema | None = None
        # Obligations of the member whose key came last and of the open string; its text, if needed.
        self._member: list[Obligation] = []
        self._active: list[Obligation] = []
        self._texts: list[TextCheck] = []
        self._text: TextBuffer | None = None
        self._string: Place | None = None
        self._offset = 0
        self._validating = 0
        # Where every value began, for those who later ask.
        self._starts: list[tuple[Place | None, int]] = []
        self.deepest = 0

    # Events

    def start_object(self, offset: int) -> None:
        if self._start(OBJECT, "", offset):
            self._then.start_object(offset)

    def start_array(self, offset: int) -> None:
        if self._start(ARRAY, 0, offset):
            self._then.start_array(offset)

    def end_container(self, offset: int) -> None:
        frame, place, step = self._inside, self._container, self._step
        assert frame is not None
        self._leave()
        self._validating -= bool(frame.unsure)
        refused: Refused = []
        for node, branch in alive(frame.obligations):
            missing = _missing(node, frame.seen, step)
            if missing is not None:
                refused.append((branch, missing))
        if self._allows(refused, place, frame.offset, begun=True):
            asked = frame.unsure if self.deepest <= DEEPEST else []
            asks = asked or self._keeps_all
            refused = self._validated(asked, frame.value, container=True) if asks else []
            if self._allows(refused, place, frame.offset, begun=True):
                if self._keeps_all:
                    self._complete_container()
                self._then.end_container(offset)

    def key(self, key: str, offset: int) -> None:
        frame = self._inside
        assert frame is not None
        frame.seen.add(key)
        self._step = key
        refused = self._find_member(frame, key)
        # Only a key that is refused can have been so before its end, which then counts first.
        if refused:
            if not self._allows_beginning(key, offset):
                self._member = []
                return
            refused = self._find_member(frame, key)
        if not refused or self._allows(refused, self._here(), offset):
            self._then.key(key, offset)

    def start_string(self, offset: int) -> None:
        active, refused = self._begin(STRING)
        self._active, self._offset = active, offset
        self._string = self._started(offset)
        self._texts = [
            TextCheck(node, branch)
            for node, branch in active
            if node.texts is not None or node.max_length is not None
        ]
        frame = self._inside
        asked = frame is not None and (frame.value is not None or _unsure(active, STRING))
        self._text = TextBuffer() if self._texts or asked or self._keeps_all else None
        if self._allows(refused, self._string, offset):
            if self._keeps_all:
                self._opened_string()
            self._then.start_string(offset)

    def text(self, run: str) -> None:
        if self._text is not None:
            self._text.add(run)
        if not self._texts or self._read(run):
            self._then.text(run)

    def end_string(self) -> None:
        value = "" if self._text is None else self._text.take()
        active, texts = self._active, self._texts
        self._active, self._texts = [], []
        refused: Refused = [
            (text.branch, text.refusal(value)) for text in texts if text.refuses(value)
        ]
        place, offset = self._string, self._offset
        if self._allows(refused, place, offset, True, value):
            refused = self._end_scalar(active, STRING, place, value)
            if self._allows(refused, place, offset, begun=True):
                if self._keeps_all:
                    self._complete_scalar(value)
                self._then.end_string()

    def scalar(self, value: Any, text: str | None, offset: int) -> None:
        kind = _kind(value, text)
        active, refused = self._begin(kind)
        # A number is known to be one before its end tells which.
        first = self._begin(NUMBER)[1] if refused and kind & NUMBER else []
        place = self._started(offset)
        if (
            self._allows(first, place, offset)
            and self._allows(refused, place, offset)
            and self._allows(
                self._end_scalar(active, kind, place, value), place, offset, False, value
            )
        ):
            if self._keeps_all:
                self._complete_scalar(value)
            self._then.scalar(value, text, offset)

    def complete(self, offset: int) -> None:
        self._then.complete(offset)

    def next_document(self) -> None:
        self._then.next_document()

    def pending_value(self, text: str, offset: int) -> InvalidSchema | None:
        """The violation of a number or literal that has begun. It may be called again for it."""
        self.violation = None
        kind = _FIRST.get(text[:1], 0)
        if not kind:
            return None
        refused = self._begin(kind)[1]
        if refused and not self._allows(refused, self._here(), offset):
            return self.violation
        if kind == NUMBER and ("." in text or "e" in text or "E" in text):
            refused = self._begin(FRACTION)[1]
            self._allows(refused, self._here(), offset)
        return self.violation

    def pending_key(self, text: str, offset: int) -> InvalidSchema | None:
        """The violation of a key that has begun. It may be called again for it."""
        self.violation = None
        self._allows_beginning(text, offset)
        return self.violation

    def offset_of(self, path: Path) -> int:
        """The offset of the value at this path; if it never came, of the one around it."""
        for length in range(len(path), 0, -1):
            for place, offset in reversed(self._starts):
                if path_of(place) == path[:length]:
                    return offset
        return self._starts[0][1] if self._starts else 0

    # Values begin

    def _begin(self, kind: int) -> tuple[list[Obligation], Refused]:
        """The obligations of the value that begins now, and the refusals of it."""
        expected, refused = self._expected()
        if not expected:
            return [], refused
        active, more = expand(expected, kind)
        return active, refused + more if refused else more

    def _expected(self) -> tuple[list[Obligation], Refused]:
        """The obligations of the value that begins now, and who refuses any value here."""
        frame, index = self._inside, self._step
        if frame is None:
            return self._nodes, []
        if type(index) is not int or not frame.obligations:
            return [] if type(index) is int else self._member, []
        frame.obligations = alive(frame.obligations)
        expected: list[Obligation] = []
        refused: Refused = []
        for node, branch in frame.obligations:
            if node.elements is not None:
                nodes = node.elements.find(index)
                if isinstance(nodes, Refusal):
                    refused.append((branch, nodes))
                else:
                    expected += [(child, branch) for child in nodes]
        return expected, refused

    def _find_member(self, frame: Frame, key: str) -> Refused:
        """Find the obligations of the member with this key; returns the refusals of it."""
        self._member = []
        refused: Refused = []
        frame.obligations = alive(frame.obligations)
        for node, branch in frame.obligations:
            if node.members is None:
                continue
            nodes = node.members.find(key)
            if isinstance(nodes, Refusal):
                refused.append((branch, nodes))
            elif refusal := node.members.excess(len(frame.seen)):
                refused.append((branch, refusal))
            else:
                self._member += [(child, branch) for child in nodes]
        return refused

    def _started(self, offset: int) -> Place | None:
        place = self._next()
        self._starts.append((place, offset))
        return place

    def _start(self, kind: int, step: str | int, offset: int) -> bool:
        active, refused = self._begin(kind)
        place = self._started(offset)
        outer, frame = self._inside, Frame(active, offset)
        # The outermost value needs none of this: close() asks the validator.
        if outer is not None:
            if active and (self._keeps_all or self._validating < NESTED_VALIDATIONS):
                frame.unsure = _unsure(active, kind)
                self._validating += bool(frame.unsure)
            if not self._keeps_all and (frame.unsure or outer.value is not None):
                frame.value = {} if kind == OBJECT else []
                outer.put(place, frame.value)
        self._enter(place, step, frame)
        self.deepest = max(self.deepest, len(self._frames))
        if not self._allows(refused, place, offset):
            return False
        if self._keeps_all:
            self._opened_container(kind, frame)
        return True

    def _read(self, run: str) -> bool:
        """Text of a string of which not every one is allowed."""
        violations = []
        for text in self._texts:
            if wrong := text.read(run):
                violations.append((wrong, text.branch))
        if not violations:
            return True
        read = "" if self._text is None else self._text.text()
        for at, refused in _in_order(violations):
            value = read[: len(read) - len(run) + at + 1]
            if not self._allows(refused, self._string, self._offset, True, value, False):
                return False
        self._texts = [text for text in self._texts if not (text.branch and text.branch.gone)]
        return True

    def _allows_beginning(self, key: str, offset: int) -> bool:
        """False if no allowed key begins like this one, which may not be complete.

        The path is that of the object: how much of the key has arrived makes no difference to it.
        """
        frame = self._inside
        assert frame is not None
        refusals = []
        for node, branch in frame.obligations:
            members = node.members
            if members is not None and members.closed and (wrong := members.forbidden(key)):
                refusals.append((wrong, branch))
        if refusals:
            for _, refused in _in_order(refusals):
                if not self._allows(refused, self._container, offset):
                    return False
        return True

    def _end_scalar(
        self, active: list[Obligation], kind: int, place: Place | None, value: Any
    ) -> Refused:
        """Ask the validators what the nodes could not say. The outermost value waits for close."""
        frame = self._inside
        if frame is None:
            return []
        frame.put(place, value)
        unsure = _unsure(active, kind)
        return self._validated(unsure, value) if unsure or self._keeps_all else []

    def _allows(
        self,
        refused: Refused,
        place: Place | None,
        offset: int,
        begun: bool = False,
        value: Any = None,
        whole: bool = True,
    ) -> bool:
        """False if these refusals, all at one character, are a violation of the whole.

        With `begun`, `then` has been told of a part of the value. `value` is the scalar that is
        refused, or the beginning of a string.
        """
        if not refused:
            return True
        naming: Naming | None = None
        frame, refused_at = self._inside, place
        if value is not None and frame is not None and place is not None:
            naming = frame.asked, place.key, value, whole
        reason = refuse(refused, (place, offset), naming)
        if reason is None:
            return True
        last, (place, offset) = reason
        path = path_of(place)
        if last.path:
            path += last.path
            offset = self.offset_of(path)
        violation = violation_at(path, offset, last)
        self.violation = self.violation or violation
        if self._violated is not None:
            self._violated(violation, path_of(refused_at) if begun else None)
        return False

    def _validated(
        self, obligations: list[Obligation], value: Any, container: bool = False
    ) -> Refused:
        """The refusals of a complete value by the validators of these obligations."""
        return validated(obligations, value, self.budget)

    # For the subclass that keeps all and converts it: a valid value has begun, or is complete.

    def _opened_container(self, kind: int, frame: Frame) -> None: ...
    def _opened_string(self) -> None: ...
    def _complete_container(self) -> None: ...
    def _complete_scalar(self, value: Any) -> None: ...


def violation_at(path: Path, offset: int | None, refusal: Refusal) -> InvalidSchema:
    """A refusal at its place, as one readable sentence."""
    where = f"in {short_path(path)}"
    if offset is not None:
        where = f"at character {offset}, {where}"
    message = f"{refusal.text} ({refusal.rule}) {where}"
    # A validator of the user's may have put any text into it; a message can always be sent.
    message = message.encode("utf-8", "backslashreplace").decode()
    violation = InvalidSchema(message, rule=refusal.rule, offset=offset, path=path)
    if refusal.rule == LIMIT:
        violation.code = LimitExceeded.code
    return violation


def _in_order(
    refusals: list[tuple[tuple[int, Refusal], Branch | None]],
) -> Iterator[tuple[int, Refused]]:
    """The refusals of a text, by the character at which they are certain."""
    refusals.sort(key=lambda one: one[0][0])
    for at, same in groupby(refusals, key=lambda one: one[0][0]):
        yield at, [(branch, refusal) for (_, refusal), branch in same]


def validated(obligations: list[Obligation], value: Any, budget: Any = None) -> Refused:
    """The refusals of a complete value by the validators of these obligations."""
    refused: Refused = []
    for node, branch in obligations:
        if node.end_validator is not None and (branch is None or not branch.gone):
            refusal = node.end_validator.refusal(value, budget)
            if refusal is not None:
                refused.append((branch, refusal))
    return refused


def _unsure(active: list[Obligation], kind: int) -> list[Obligation]:
    """Those of which the validator has to be asked about a value of this kind."""
    return [one for one in active if not one[0].sure & kind]


def _missing(node: Node, seen: set[str], step: str | int) -> Refusal | None:
    if type(step) is int:
        return node.elements.missing(step) if node.elements is not None else None
    return node.members.missing(seen) if node.members is not None else None


def _kind(value: Any, text: str | None) -> int:
    if text is None and value is None:
        return NULL
    if text is None and type(value) is bool:
        return TRUE if value else FALSE
    return INTEGER if type(value) is int else FRACTION
