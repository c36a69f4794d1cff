"""Decide what to write of a snapshot, and write it.

Written text cannot be taken back. So at most one value is open at the end of the text: a string
without its quote, a number that may get more digits, or a container without its bracket. Writing
anything else closes it. Each open container has a `Frame`, the open string or number a `Leaf`. A
frame writes a member only when it is known to grow or to be complete, and holds the others. With
these snapshots the chunker returns:

    {"a": "x"}                 {"a":"x       one new member: it is opened
    {"a": "xy"}                y             the open member grew
    {"a": "xy", "b": "1"}      ","b":"1      a new member: `a` is complete, `b` is opened
    {"a": "xy", "b": "12"}     2

`choose` has the rules in the order of docs/chunker.md. `Stack` applies them to all open containers:
it first compares a snapshot with everything that is open and changes nothing, so that a refused
snapshot leaves no trace.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from ..jsontext import quoted
from ..paths import Path
from .snapshot import MISSING, Difference, Tree, differences, is_blank, is_empty, to_text

Key = Any  # a str in an object, an int in an array


class Options(NamedTuple):
    """The options that decide when a value is written."""

    eager: bool
    has_blanks: bool  # nulls are placeholders
    final_types: tuple[type, ...]  # of values that are complete when they are first shown


class Changes:
    """The members of an open container that are neither written nor open.

    Members at `final_keys` cannot change any more. The others are new, or they were held and have
    grown, are unchanged or are missing.
    """

    __slots__ = ("blanks", "final_keys", "grown_keys", "missing_keys", "new_keys", "unchanged_keys")

    def __init__(self) -> None:
        self.final_keys: list[Key] = []
        self.new_keys: list[Key] = []
        self.grown_keys: list[Key] = []
        self.unchanged_keys: list[Key] = []
        self.missing_keys: list[Key] = []
        self.blanks = 0  # how many placeholders there are

    def is_any(self) -> bool:
        return bool(self.final_keys or self.new_keys or self.grown_keys or self.missing_keys)


class Choice(NamedTuple):
    """The members to write: complete ones, then one that stays open."""

    complete_keys: Sequence[Key]
    open_key: Key | None = None


def choose(
    frame: Frame, changes: Changes, value: Tree, is_still: bool, options: Options
) -> Choice | None:
    """Choose what to write into a container; None if that is nothing.

    `is_still`: the value that is open in it is the same as in the snapshot before.
    """
    if frame.kind is list:
        return _choose_elements(frame, changes, value, is_still, options)

    # Literals are complete.
    complete_keys = sorted(changes.final_keys)

    # Sibling: a new member is opened. Pending: several new members are held.
    new_key = _choose_new(changes, value, options)

    # Growing: a held member that alone grew is opened, or is complete if there is a new member.
    # Of several that grew, one that also grew in the snapshot before is opened.
    open_key, last_keys = new_key, []
    if new_key is not None and len(changes.grown_keys) == 1:
        last_keys = changes.grown_keys
    elif changes.grown_keys:
        open_key = _choose_grown(frame, changes, value, options)

    closes_open_value = bool(complete_keys) or (new_key is not None and open_key == new_key)
    if not closes_open_value and not is_still and frame.open is not None:
        return None

    # Unchanged: a held member that did not change is complete, except an empty one (rule Empty).
    complete_keys += sorted(key for key in changes.unchanged_keys if not is_empty(value[key]))

    complete_keys += last_keys
    return Choice(complete_keys, open_key) if complete_keys or open_key is not None else None


def _choose_new(changes: Changes, value: Tree, options: Options) -> Key | None:
    """Choose the new member to open."""
    new_keys = sorted(changes.new_keys)
    if len(new_keys) == 1:
        # Typed sources have null for a value that has not begun, but an empty array for a list.
        candidates = [key for key in new_keys if not (changes.blanks and is_empty(value[key]))]
    else:
        candidates = [key for key in new_keys if type(value[key]) is bytes]
        if options.eager:
            others = [key for key in new_keys if type(value[key]) is not bytes]
            candidates = [key for key in others if not is_empty(value[key])] + candidates
        elif len(candidates) > 1:
            return None
    return next((key for key in candidates if not is_unsettled(value[key])), None)


def _choose_grown(frame: Frame, changes: Changes, value: Tree, options: Options) -> Key | None:
    """Choose which of the held members that grew to open."""
    grown_keys = changes.grown_keys
    if len(grown_keys) > 1 and not options.eager:
        grown_keys = [key for key in grown_keys if key in frame.grown_keys]
    return min((key for key in grown_keys if not is_unsettled(value[key])), default=None)


def _choose_elements(
    frame: Frame, changes: Changes, value: Tree, is_still: bool, options: Options
) -> Choice | None:
    """Choose what to write into an array. Elements come in order: all but the last are complete."""
    elements = frame.unwritten(value, options)
    # Some sources send a null before the document.
    if not elements or (frame.is_root and value[0] is None):
        return None
    last = elements[-1]
    if not changes.is_any():
        return Choice(elements) if is_still and not is_empty(value[last]) else None
    if type(value[last]) in options.final_types:
        return Choice(elements)
    if not is_unsettled(value[last]):
        return Choice(elements[:-1], last)
    return Choice(elements[:-1]) if len(elements) > 1 else None


def is_unsettled(tree: Tree) -> bool:
    """Return True for a number that may be rewritten instead of extended.

    Sources show 3.0 before 30.34, 0 before -0.5, and change the exponent as digits come.
    """
    return type(tree) is bytes and (
        tree[-2:] == b".0" or tree == b"0" or tree == b"-0" or b"e" in tree or b"E" in tree
    )


def _settled_length(scalar: Tree) -> int:
    """Return how much of a growing string or number will not change.

    A replacement character or a lone surrogate at the end of a string may be half a character.
    """
    if type(scalar) is bytes:
        return 0 if is_unsettled(scalar) else len(scalar)
    end = len(scalar)
    while end and (scalar[end - 1] == "\ufffd" or "\ud800" <= scalar[end - 1] <= "\udfff"):
        end -= 1
    return end


class Leaf:
    """The open string or number: its `written` part, and its `value` in the last snapshot."""

    __slots__ = ("is_frozen", "value", "written")

    def __init__(self, value: Tree) -> None:
        self.value: Tree = value[:0]
        self.written: Tree = self.value
        self.is_frozen = False  # keep what is written, whatever later snapshots show

    def fits(self, value: Tree) -> bool:
        """Return True if the value begins with the written text."""
        return type(value) is type(self.written) and value.startswith(self.written)

    def grow(self, value: Tree) -> str:
        """Return the text that is new and certain in a value that fits."""
        self.value = value
        return self._write(max(_settled_length(value), len(self.written)))

    def settle(self) -> str:
        """Return the rest of the text, because the source has gone on to another value."""
        return self._write(len(self.value))

    def finish(self, value: Tree) -> str:
        """Return the rest of the text and the closing quote; MISSING adds nothing."""
        quote = '"' if type(self.written) is str else ""
        if value is MISSING:
            return quote
        self.value = value
        return self.settle() + quote

    def _write(self, end: int) -> str:
        start = len(self.written)
        if end == start:
            return ""
        self.written = self.value[:end]
        text = self.value[start:end]
        return quoted(text)[1:-1] if type(text) is str else str(text, "ascii")


class Frame:
    """An open container: its `written` members, the key of the `open` one and the `held` ones.

    `held` has the value of each in the last snapshot, `grown_keys` the keys of the members that
    grew in it. The document is the only element of the root's frame, an array without brackets.
    """

    __slots__ = ("grown_keys", "held", "is_frozen", "is_root", "kind", "open", "written")

    def __init__(self, value: Tree, before: Tree, options: Options, is_root: bool = False) -> None:
        self.kind: Any = type(value)
        self.is_root = is_root
        self.open: Key = None
        self.written: Any = self.kind()
        self.held: dict[Key, Tree] = {}
        self.grown_keys: set[Key] = set()
        self.is_frozen = False  # keep what is written, whatever later snapshots show
        if type(before) is self.kind:
            members = before.items() if self.kind is dict else enumerate(before)
            self.held = {
                key: item for key, item in members if not (options.has_blanks and is_blank(item))
            }

    def is_unchanged(self, value: Tree) -> bool:
        """Return True if all but the open member is as it was. Compares at the speed of C."""
        written, held = self.written, self.held
        if len(value) != len(written) + len(held) + (self.open is not None):
            return False
        if self.kind is dict:
            return (
                (self.open is None or self.open in value)
                and written.items() <= value.items()
                and (not held or held.items() <= value.items())
            )
        return self.agrees(value) and value[len(value) - len(held) :] == list(held.values())

    def agrees(self, value: Tree) -> bool:
        """Return True if the value has all written members unchanged."""
        if self.kind is dict:
            return bool(self.written.items() <= value.items())
        return bool(value[: len(self.written)] == self.written)

    def unwritten(self, value: Tree, options: Options) -> Sequence[Key]:
        """Return the keys that are neither written nor open."""
        if self.kind is dict:
            written, open_key = self.written, self.open
            return [key for key in value if key not in written and key != open_key]
        end = len(value)
        while options.has_blanks and end and not self.is_root and is_blank(value[end - 1]):
            end -= 1
        return range(len(self.written) + (self.open is not None), end)

    def compare(self, value: Tree, options: Options) -> Changes:
        """Compare a value with the held one."""
        changes = Changes()
        held = self.held
        for key in self.unwritten(value, options):
            item = value[key]
            if options.has_blanks and self.kind is dict and is_blank(item):
                changes.blanks += 1
            elif type(item) in options.final_types:
                changes.final_keys.append(key)
            elif key not in held:
                changes.new_keys.append(key)
            elif held[key] == item:
                changes.unchanged_keys.append(key)
            else:
                changes.grown_keys.append(key)
        if held:
            keys = {*changes.final_keys, *changes.unchanged_keys, *changes.grown_keys}
            changes.missing_keys = [key for key in held.keys() - keys if held[key] is not MISSING]
        return changes

    def hold(self, changes: Changes, value: Tree) -> None:
        """Remember the members that are not written as they are now."""
        for key in (*changes.final_keys, *changes.new_keys, *changes.grown_keys):
            self.held[key] = value[key]
        for key in changes.missing_keys:
            self.held[key] = MISSING
        self.grown_keys = set(changes.grown_keys)

    def write(self, choice: Choice, changes: Changes, value: Tree) -> str:
        """Write the chosen values, up to the one that is opened."""
        self.hold(changes, value)
        out: list[str] = []
        for key in choice.complete_keys:
            out += (self._start(key), to_text(value[key]))
            self.add(key, value[key])
            self.held.pop(key, None)
        self.open = choice.open_key
        if self.open is not None:
            out.append(self._start(self.open))
            self.held.pop(self.open, None)
        return "".join(out)

    def add(self, key: Key, item: Tree) -> None:
        """Remember a member that is written completely."""
        if self.kind is dict:
            self.written[key] = item
        else:
            self.written.append(item)

    def finish(self, value: Tree) -> str:
        """Write the members that are not written yet, sorted by key, and close the container."""
        out: list[str] = []
        if value is not MISSING:
            if self.kind is dict:
                keys: Any = sorted(value.keys() - self.written.keys())
            else:
                keys = range(len(self.written), len(value))
            for key in keys:
                out += (self._start(key), to_text(value[key]))
                self.add(key, value[key])
        return "".join(out) + self.brackets()[1]

    def brackets(self) -> tuple[str, str]:
        if self.is_root:
            return "", ""
        return ("{", "}") if self.kind is dict else ("[", "]")

    def _start(self, key: Key) -> str:
        comma = "," if self.written else ""
        return f"{comma}{quoted(key)}:" if self.kind is dict else comma


class Comparison:
    """What a snapshot changes in each open container, from the root down.

    `deepest` is the lowest level at which something changed, `missing_level` the lowest one at
    which something written is missing; -1 if there is none.
    """

    __slots__ = ("changes", "deepest", "leaf", "missing", "missing_level", "revised", "values")

    def __init__(self) -> None:
        self.values: list[Tree] = []
        self.changes: list[Changes | None] = []  # None: nothing but the open member changed
        self.leaf: Tree = MISSING
        self.deepest = self.missing_level = -1
        self.missing: list[Difference] = []
        # What contradicts the text, and the frame or leaf in which it is, if that is open.
        self.revised: list[tuple[Difference, Frame | Leaf | None]] = []


class Plan:
    """A choice for one level, and the frames, leaf and text of the value that it opens."""

    __slots__ = ("changes", "choice", "frames", "leaf", "level", "text")

    def __init__(self, level: int, changes: Changes, choice: Choice) -> None:
        self.level = level
        self.changes = changes
        self.choice = choice
        self.frames: list[Frame] = []
        self.leaf: Leaf | None = None
        self.text: list[str] = []

    def open(self, value: Tree, before: Tree, options: Options) -> None:
        """Add a value that is written but for its end. `before` is its value when it was held."""
        while type(value) in (dict, list):
            frame = Frame(value, before, options)
            self.frames.append(frame)
            self.text.append(frame.brackets()[0])
            changes = frame.compare(value, options)
            choice = choose(frame, changes, value, True, options)
            if choice is None:
                frame.hold(changes, value)
                return
            before = frame.held.get(choice.open_key, MISSING)
            self.text.append(frame.write(choice, changes, value))
            if choice.open_key is None:
                return
            value = value[choice.open_key]
        self.leaf = Leaf(value)
        self.text += ('"' if type(value) is str else "", self.leaf.grow(value))


class Stack:
    """Everything that is open: the frames from the root down, and the leaf in the last one."""

    __slots__ = ("_frames", "_leaf", "_missing_level", "_options")

    def __init__(self, options: Options) -> None:
        self._options = options
        self._frames = [Frame([], MISSING, options, is_root=True)]
        self._leaf: Leaf | None = None
        self._missing_level = -1  # where the last snapshot lacked something that is written

    def compare(self, tree: Tree) -> Comparison:
        """Compare a snapshot with the open containers."""
        comparison = Comparison()
        value: Tree = [tree]
        for level, frame in enumerate(self._frames):
            value = self._compare_frame(level, frame, value, comparison)
        leaf = self._leaf
        if leaf is not None and value is not MISSING and not leaf.is_frozen:
            if not leaf.fits(value):
                self._revise(len(self._frames), leaf, value, comparison)
            else:
                comparison.leaf = value
                if value != leaf.value:
                    comparison.deepest = len(self._frames)
        # What goes missing or comes back has changed.
        comparison.deepest = max(comparison.deepest, comparison.missing_level, self._missing_level)
        return comparison

    def plan(self, comparison: Comparison) -> Plan | None:
        """Find the level to write at.

        Parent-Level: the highest level wins, because writing there closes everything below.
        """
        for level, frame in enumerate(self._frames):
            value = comparison.values[level]
            changes = comparison.changes[level]
            is_still = comparison.deepest <= level
            if value is MISSING:
                continue
            if changes is None:
                if not frame.held or not (is_still or frame.open is None):
                    continue
                changes = frame.compare(value, self._options)
            choice = choose(frame, changes, value, is_still, self._options)
            if choice is not None:
                plan = Plan(level, changes, choice)
                if choice.open_key is not None:
                    before = frame.held.get(choice.open_key, MISSING)
                    plan.open(value[choice.open_key], before, self._options)
                return plan
        return None

    def write(self, comparison: Comparison, plan: Plan | None) -> str:
        """Carry out a plan, or let the leaf grow if there is none."""
        level = len(self._frames) if plan is None else plan.level
        for index, changes in enumerate(comparison.changes[:level]):
            if changes is not None:
                self._frames[index].hold(changes, comparison.values[index])
        self._missing_level = comparison.missing_level
        if plan is None:
            if self._leaf is None or comparison.leaf is MISSING:
                return ""
            is_still = comparison.deepest < len(self._frames)
            return self._leaf.settle() if is_still else self._leaf.grow(comparison.leaf)
        self._missing_level = min(self._missing_level, level)
        out = self._close(level + 1, comparison.values, comparison.leaf)
        out.append(self._frames[level].write(plan.choice, plan.changes, comparison.values[level]))
        self._frames += plan.frames
        self._leaf = plan.leaf
        return "".join(out + plan.text)

    def finish(self, tree: Tree) -> str:
        """Write all of the last snapshot that is not written yet, and close everything."""
        values: list[Tree] = []
        value: Tree = [tree]
        for frame in self._frames:
            if type(value) is not frame.kind or frame.is_frozen:
                value = MISSING
            values.append(value)
            value = _open_member(frame, value)
        if self._leaf is not None and (self._leaf.is_frozen or not self._leaf.fits(value)):
            value = MISSING
        return "".join(self._close(0, values, value))

    def last_string(self, tree: Tree) -> str | None:
        """Return the open string if it is the last value in a snapshot and written completely."""
        value = tree
        for frame in self._frames[1:]:
            if type(value) is not frame.kind or frame.is_frozen or not value or frame.open is None:
                return None
            last = next(reversed(value)) if frame.kind is dict else len(value) - 1
            if frame.open != last:
                return None
            value = value[last]
        leaf = self._leaf
        if leaf is None or leaf.is_frozen or type(value) is not str or value is tree:
            return None
        return value if leaf.written == value else None

    def extend(self, tree: Tree, text: str) -> str:
        """Add characters to the open string, which is the last value of the snapshot `tree`."""
        container = tree
        *keys, last = self._path(len(self._frames))
        for key in keys:
            container = container[key]
        container[last] += text
        return "" if self._leaf is None else self._leaf.grow(container[last])

    @property
    def open_path(self) -> Path | None:
        """The path of the open value; None if there is none."""
        return None if self._frames[0].open is None else self._path(len(self._frames))

    def held(self) -> Iterator[tuple[Path, Tree]]:
        """Yield path and value of everything that is not written, or not completely."""
        for level, frame in enumerate(self._frames):
            for key in sorted(frame.held):
                value = frame.held[key]
                if value is not MISSING and not (self._options.has_blanks and is_blank(value)):
                    yield self._member_path(level, key), value
        if self._leaf is not None and self._leaf.value != self._leaf.written:
            yield self._path(len(self._frames)), self._leaf.value

    def _compare_frame(self, level: int, frame: Frame, value: Tree, comparison: Comparison) -> Tree:
        """Compare one open container. Return the value of its open member."""
        if type(value) is not frame.kind or frame.is_frozen:
            if value is not MISSING and not frame.is_frozen:
                self._revise(level, frame, value, comparison)
            comparison.values.append(MISSING)
            comparison.changes.append(None)
            return MISSING
        changes = None
        if not frame.is_unchanged(value):
            if not frame.agrees(value):
                self._compare_written(level, frame, value, comparison)
            changes = frame.compare(value, self._options)
            if changes.is_any():
                comparison.deepest = level
            else:
                changes = None
        comparison.values.append(value)
        comparison.changes.append(changes)
        if frame.open is None:
            return MISSING
        item = _open_member(frame, value)
        if item is MISSING or (item is None and self._options.has_blanks):
            missing = Difference(self._path(level + 1), self._written(level + 1), item, True)
            comparison.missing.append(missing)
            comparison.missing_level = len(self._frames)
            return MISSING
        return item

    def _compare_written(
        self, level: int, frame: Frame, value: Tree, comparison: Comparison
    ) -> None:
        """Note the complete members that are missing or have changed."""
        written = frame.written.items() if frame.kind is dict else enumerate(frame.written)
        for key, old in written:
            new = _member(value, key)
            if old == new:
                continue
            path = self._member_path(level, key)
            for difference in differences(path, old, new, self._options.has_blanks):
                if difference.is_missing:
                    comparison.missing.append(difference)
                    comparison.missing_level = level
                else:
                    comparison.revised.append((difference, None))

    def _revise(self, level: int, at: Frame | Leaf, value: Tree, comparison: Comparison) -> None:
        revision = Difference(self._path(level), self._written(level), value, False)
        comparison.revised.append((revision, at))

    def _close(self, level: int, values: list[Tree], leaf: Tree) -> list[str]:
        """Close everything that is open from a level down."""
        out: list[str] = []
        item: Tree = None
        if self._leaf is not None:
            out.append(self._leaf.finish(leaf))
            item = self._leaf.written
            self._leaf = None
        while len(self._frames) > level:
            frame = self._frames.pop()
            if frame.open is not None:
                frame.add(frame.open, item)
            out.append(frame.finish(values[len(self._frames)]))
            item = frame.written
        if level and self._frames[-1].open is not None:
            self._frames[-1].add(self._frames[-1].open, item)
            self._frames[-1].open = None
        return out

    def _path(self, level: int) -> Path:
        """Return the path of the container at a level. The root's frame is outside the document."""
        return tuple(frame.open for frame in self._frames[1:level] if frame.open is not None)

    def _member_path(self, level: int, key: Key) -> Path:
        return (*self._path(level), key) if level else ()

    def _written(self, level: int) -> Tree:
        """Return the part of the value at a level that is written."""
        value: Tree = None if self._leaf is None else self._leaf.written
        for frame in reversed(self._frames[level:]):
            members = frame.written
            if frame.open is None:
                value = members
            elif frame.kind is dict:
                value = {**members, frame.open: value}
            else:
                value = [*members, value]
        return value


def _open_member(frame: Frame, value: Tree) -> Tree:
    return MISSING if value is MISSING or frame.open is None else _member(value, frame.open)


def _member(value: Tree, key: Key) -> Tree:
    """Return a member of a container; MISSING if it is not there."""
    if type(value) is dict:
        return value.get(key, MISSING)
    return value[key] if key < len(value) else MISSING
