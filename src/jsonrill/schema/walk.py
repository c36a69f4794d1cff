"""Fragments of one value in, the first violation out: the walk over a graph of nodes.

A refusal ends a branch, or, outside of all choices, is the violation. What happens is ordered by
the character at which it is certain, so how the text was cut does not matter. Every fragment costs
in proportion to its own length and the number of obligations, which is bounded.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any, Final

from ..errors import InvalidSchema
from ..paths import Path, to_text
from ..wire.fragment import Fragment
from .branches import Branch, Obligation, Refused, alive, expand, refuse
from .nodes import (
    ARRAY,
    FALSE,
    FRACTION,
    INTEGER,
    NULL,
    NUMBER,
    OBJECT,
    STRING,
    TRUE,
    Node,
    Refusal,
    count,
    shown,
)

# A container is validated when it closes, at most so many around each other, so that the cost
# stays linear; and nothing so deep that a recursive validator could run out of stack.
_NESTED_JUDGES: Final = 3
DEEPEST: Final = 500

_FIRST: Final = {"t": TRUE, "f": FALSE, "n": NULL, **dict.fromkeys("-0123456789", NUMBER)}


class Text:
    """One obligation of an open string, read run by run."""

    __slots__ = ("_length", "branch", "node", "texts")

    def __init__(self, node: Node, branch: Branch | None) -> None:
        self.node = node
        self.branch = branch
        # The allowed values that begin like the string does, if only some are allowed.
        self.texts: Sequence[str] | None = node.texts
        self._length = 0

    def read(self, run: str) -> tuple[int, Refusal] | None:
        """Which character of the run cannot be, and why."""
        found = self._compare(run) if self.texts is not None else None
        limit = self.node.max_length
        if limit is not None and self._length + len(run) > limit:
            excess = limit - self._length
            if found is None or excess < found[0]:
                text = f"longer than {count(limit, 'character')}"
                found = excess, Refusal(self.node.length_rule, text)
        self._length += len(run)
        return found

    def _compare(self, run: str) -> tuple[int, Refusal] | None:
        at, texts = self._length, self.texts or ()
        self.texts = [text for text in texts if text.startswith(run, at)]
        if self.texts:
            return None
        far = max((_common(text, at, run) for text in texts), default=0)
        return far, Refusal(self.node.text_rule, "no allowed value begins like this")


class Frame:
    """An open container: its obligations, what it has so far, and its value if it is needed."""

    __slots__ = ("count", "is_object", "judged", "obligations", "offset", "seen", "value")

    def __init__(self, obligations: list[Obligation], offset: int, is_object: bool) -> None:
        self.obligations = obligations
        self.offset = offset
        self.is_object = is_object
        self.seen: set[str] = set()
        self.count = 0
        self.judged: list[Obligation] = []
        self.value: Any = None

    def put(self, key: str, value: Any) -> None:
        if type(self.value) is dict:
            self.value[key] = value
        elif self.value is not None:
            self.value.append(value)


class Watch:
    """The judge of one value while it arrives."""

    __slots__ = ("_active", "_frames", "_judging", "_key", "_member", "_root", "_starts", "_texts",
                 "deepest")  # fmt: skip

    def __init__(self, root: Node) -> None:
        self._root: list[Obligation] = [(root, None)]
        self._frames: list[Frame] = []
        # Obligations of the member whose key has come, and of the open string.
        self._member: list[Obligation] = []
        self._active: list[Obligation] = []
        self._texts: list[Text] = []
        self._key = ""
        self._judging = 0
        # The first fragment of every value, for those who later ask where one began.
        self._starts: list[Fragment] = []
        self.deepest = 0

    def feed(self, fragment: Fragment) -> InvalidSchema | None:
        kind = fragment.kind
        if kind == "PartialString":
            return self._text(fragment) if self._texts else None
        if kind == "Key":
            return self._on_key(fragment)
        if kind == "CompleteString":
            return self._end_string(fragment)
        if kind == "EndObject" or kind == "EndArray":
            return self._end(fragment)
        if kind == "JsonComplete":
            return None
        self._starts.append(fragment)
        if kind == "StartString":
            return self._start_string(fragment)
        if kind == "StartObject" or kind == "StartArray":
            return self._start(fragment, OBJECT if kind == "StartObject" else ARRAY)
        return self._scalar(fragment)

    def pending(self, path: Path, text: str, offset: int) -> InvalidSchema | None:
        """A number or literal has begun. Asking twice about the same one does no harm."""
        kind = _FIRST.get(text[:1])
        if kind is None:
            return None
        violation = self._refuse(self._begin(kind)[1], path, offset)
        if violation is None and kind == NUMBER and any(sign in text for sign in ".eE"):
            violation = self._refuse(self._begin(FRACTION)[1], path, offset)
        return violation

    def offset_of(self, path: Path) -> int:
        """Where the value at this path began; if it never came, where the one around it did."""
        for length in range(len(path), 0, -1):
            for fragment in reversed(self._starts):
                if fragment.path == path[:length]:
                    return fragment.offset
        return self._starts[0].offset if self._starts else 0

    # Values begin

    def _begin(self, kind: int) -> tuple[list[Obligation], Refused]:
        """What is asked of the value that begins now, and who refuses it."""
        expected, refused = self._expected()
        if not expected:
            return [], refused
        active, more = expand(expected, kind)
        return active, refused + more if refused else more

    def _expected(self) -> tuple[list[Obligation], Refused]:
        """The obligations of the value that begins now, and who refuses any value here."""
        if not self._frames:
            return self._root, []
        frame = self._frames[-1]
        if frame.is_object or not frame.obligations:
            return self._member if frame.is_object else [], []
        frame.obligations = alive(frame.obligations)
        found: list[Obligation] = []
        refused: Refused = []
        for node, branch in frame.obligations:
            if node.elements is not None:
                nodes = node.elements.find(frame.count)
                if isinstance(nodes, Refusal):
                    refused.append((branch, nodes))
                else:
                    found += [(child, branch) for child in nodes]
        return found, refused

    def _scalar(self, fragment: Fragment) -> InvalidSchema | None:
        kind = _kind(fragment)
        active, refused = self._begin(kind)
        if not refused:
            return self._end_scalar(active, kind, fragment)
        # A number is known to be one before its end tells which.
        first = self._begin(NUMBER)[1] if kind & NUMBER else []
        violation = self._refuse(first, fragment, fragment.offset)
        violation = violation or self._refuse(refused, fragment, fragment.offset)
        return violation or self._end_scalar(active, kind, fragment)

    def _start_string(self, fragment: Fragment) -> InvalidSchema | None:
        self._active, refused = self._begin(STRING)
        self._texts = [
            Text(node, branch)
            for node, branch in self._active
            if node.texts is not None or node.max_length is not None
        ]
        return self._refuse(refused, fragment, fragment.offset)

    def _start(self, fragment: Fragment, kind: int) -> InvalidSchema | None:
        active, refused = self._begin(kind)
        frame = Frame(active, fragment.offset, kind == OBJECT)
        # The outermost value needs none of this: close() asks the validator.
        if self._frames:
            if active and self._judging < _NESTED_JUDGES:
                frame.judged = [one for one in active if not one[0].sure & kind]
                self._judging += bool(frame.judged)
            if frame.judged or self._frames[-1].value is not None:
                frame.value = {} if kind == OBJECT else []
                self._frames[-1].put(self._key, frame.value)
        self._frames.append(frame)
        self.deepest = max(self.deepest, len(self._frames))
        return self._refuse(refused, fragment, fragment.offset)

    # Values go on and end

    def _text(self, fragment: Fragment) -> InvalidSchema | None:
        run = fragment.text or ""
        found = []
        for order, text in enumerate(self._texts):
            wrong = text.read(run)
            if wrong is not None:
                found.append((wrong[0], order, text.branch, wrong[1]))
        if not found:
            return None
        found.sort(key=lambda one: one[:2])
        for _, same in groupby(found, key=lambda one: one[0]):
            refused = [(branch, refusal) for _, _, branch, refusal in same]
            violation = self._refuse(refused, fragment, fragment.offset)
            if violation is not None:
                return violation
        self._texts = [text for text in self._texts if not (text.branch and text.branch.gone)]
        return None

    def _end_string(self, fragment: Fragment) -> InvalidSchema | None:
        value = fragment.value
        active, texts = self._active, self._texts
        self._active, self._texts = [], []
        refused: Refused = [
            (text.branch, Refusal(text.node.text_rule, f"{shown(value)} is not an allowed value"))
            for text in texts
            if text.texts is not None and value not in text.texts
        ]
        violation = self._refuse(refused, fragment, fragment.offset)
        return violation or self._end_scalar(active, STRING, fragment)

    def _end_scalar(
        self, active: list[Obligation], kind: int, fragment: Fragment
    ) -> InvalidSchema | None:
        """Ask the validators what the nodes could not say. The outermost value waits for close."""
        if not self._frames:
            return None
        frame = self._frames[-1]
        frame.count += 1
        if frame.value is not None:
            frame.put(self._key, fragment.value)
        judged = [one for one in active if not one[0].sure & kind]
        return self._refuse(_asked(judged, fragment.value), fragment, fragment.offset)

    def _on_key(self, fragment: Fragment) -> InvalidSchema | None:
        key = fragment.value
        frame = self._frames[-1]
        frame.seen.add(key)
        self._key = key
        self._member = []
        refused: Refused = []
        frame.obligations = alive(frame.obligations)
        for node, branch in frame.obligations:
            if node.members is None:
                continue
            found = node.members.find(key)
            if isinstance(found, Refusal):
                refused.append((branch, found))
            elif refusal := node.members.excess(len(frame.seen)):
                refused.append((branch, refusal))
            else:
                self._member += [(child, branch) for child in found]
        if not refused:
            return None
        return self._refuse(refused, (*fragment.path, key), fragment.offset)

    def _end(self, fragment: Fragment) -> InvalidSchema | None:
        frame = self._frames.pop()
        if self._frames:
            self._frames[-1].count += 1
        self._judging -= bool(frame.judged)
        refused: Refused = []
        for node, branch in alive(frame.obligations):
            missing = _missing(node, frame)
            if missing is not None:
                refused.append((branch, missing))
        violation = self._refuse(refused, fragment, frame.offset)
        if violation is None and frame.judged and self.deepest <= DEEPEST:
            refused = _asked(frame.judged, frame.value)
            violation = self._refuse(refused, fragment, frame.offset)
        return violation

    def _refuse(
        self, refused: Refused, where: Path | Fragment, offset: int
    ) -> InvalidSchema | None:
        """The violation that refusals at the same character make, if they do."""
        last = refuse(refused) if refused else None
        if last is None:
            return None
        path = where.path if isinstance(where, Fragment) else where
        if last.path:
            path += last.path
            offset = self.offset_of(path)
        return violation_at(path, offset, last)


def violation_at(path: Path, offset: int, refusal: Refusal) -> InvalidSchema:
    """A refusal at its place, as one readable sentence."""
    where = f"at character {offset}, in {to_text(path)}"
    message = f"{refusal.text} ({refusal.rule}) {where}"
    # A validator of the user's may have put any text into it; a message can always be sent.
    message = message.encode("utf-8", "backslashreplace").decode()
    return InvalidSchema(message, rule=refusal.rule, offset=offset, path=path)


def _asked(judged: list[Obligation], value: Any) -> Refused:
    """What the validators say about a value that is whole."""
    refused: Refused = []
    for node, branch in judged:
        if node.judge is not None and (branch is None or not branch.gone):
            refusal = node.judge.refusal(value)
            if refusal is not None:
                refused.append((branch, refusal))
    return refused


def _missing(node: Node, frame: Frame) -> Refusal | None:
    if frame.is_object:
        return node.members.missing(frame.seen) if node.members is not None else None
    return node.elements.missing(frame.count) if node.elements is not None else None


def _kind(fragment: Fragment) -> int:
    if fragment.kind == "CompleteNull":
        return NULL
    if fragment.kind == "CompleteBoolean":
        return TRUE if fragment.value else FALSE
    return INTEGER if type(fragment.value) is int else FRACTION


def _common(text: str, at: int, run: str) -> int:
    """How many characters of `run` agree with `text` from `at` on."""
    rest = text[at : at + len(run)]
    for index, char in enumerate(rest):
        if char != run[index]:
            return index
    return len(rest)
