"""The open end of the written text: the containers from the root down, and the leaf at the tip.

`diff` holds a snapshot against it: what contradicts the text, what is new. `plan` finds where to
write what. Neither changes anything; `write` and `finish` carry out and cannot fail. So a snapshot
that is refused leaves no trace. `grow` is all of it for a snapshot that contradicts nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from ..paths import ABSENT, Path
from .compare import NOTHING, Difference, differences
from .frames import Array, Changes, Frame, Object, Root, Rules, WritePlan
from .leaves import Leaf, Number, String
from .snapshot import Tree


class OpenedValue:
    """A value written but for its end: the frames and the leaf that stay open, and the text.

    `was` is the value as it was held back: what changed in it since tells what is growing.
    """

    __slots__ = ("frames", "leaf", "text")

    def __init__(self, value: Tree, was: Tree, rules: Rules) -> None:
        self.frames: list[Frame] = []
        self.leaf: Leaf | None = None
        self.text: list[str] = []
        while type(value) in (dict, list):
            frame = Object(was, rules) if type(value) is dict else Array(was, rules)
            self.frames.append(frame)
            self.text.append(frame.brackets[0])
            changes = frame.changes(value)
            if changes is None:
                return
            plan = frame.plan(changes, value, True) or WritePlan(())
            opened = plan.opened
            was = ABSENT if opened is None else frame.was(opened)
            frame.make(plan, changes, value, self.text)
            if opened is None:
                return
            value = value[opened]
        self.leaf = String("") if type(value) is str else Number(b"")
        self.text += ('"' if type(value) is str else "", self.leaf.grow(value) or "")


class SnapshotDiff:
    """What a snapshot says to each level of the spine from `base` down; above it nothing is new.

    `plan` adds where to write what.
    """

    __slots__ = ("all_changes", "base", "changes", "deepest", "gone", "index", "leaf", "lost",
                 "opened_value", "plan", "revised", "values")  # fmt: skip

    def __init__(self, base: int) -> None:
        self.base = base
        self.deepest = -1  # the lowest level at which something changed
        self.lost = -1  # the lowest level at which something written is missing
        self.leaf: Tree = ABSENT
        self.index = 0  # counted from `base`: the level to write at
        self.changes: Changes | None = None
        self.plan: WritePlan | None = None
        self.opened_value: OpenedValue | None = None
        self.values: list[Tree] = []
        self.all_changes: list[Changes | None] = []
        self.gone: list[Difference] = []
        self.revised: list[tuple[Difference, Frame | Leaf | None]] = []  # and what is open there


class Spine:
    """All that is open, from the root to the tip. Level 0 is the root's own frame."""

    __slots__ = ("_frames", "_leaf", "_lost", "_rules", "only_leaf_grew")

    def __init__(self, rules: Rules) -> None:
        self.only_leaf_grew = False  # in the last snapshot
        self._rules = rules
        self._frames: list[Frame] = [Root(ABSENT, rules)]
        self._leaf: Leaf | None = None
        self._lost = -1

    def grow(self, tree: Tree) -> str | SnapshotDiff:
        """The text that a snapshot adds. If it lacks or contradicts something that is written:
        what it says, with nothing changed."""
        grown = self._follow(tree)
        self.only_leaf_grew = isinstance(grown, str)
        if isinstance(grown, str) or grown.revised or grown.gone:
            return grown
        if grown.deepest < 0:
            return ""
        self.plan(grown)
        return self.write(grown)

    def _follow(self, tree: Tree) -> str | SnapshotDiff:
        """The text when nothing but the open leaf grew, as in most snapshots; else the diff."""
        leaf, value, base = self._leaf, tree, 1
        if tree is None or self._frames[0].open is None:
            return self.diff(tree)
        for frame in islice(self._frames, 1, None):
            child = frame.follow(value)
            if child is ABSENT or child is None:
                return self._diff(base, value)
            value = child
            base += 1
        if value is NOTHING:
            return ""
        text = None if leaf is None or leaf.frozen else leaf.grow(value)
        return self.diff(tree) if text is None else text

    def extend(self, value: str) -> str | None:
        """The text to add when the open string is this now and all else is as it was; else None."""
        leaf = self._leaf
        return None if leaf is None or leaf.frozen else leaf.grow(value)

    def diff(self, tree: Tree) -> SnapshotDiff:
        return self._diff(0, [tree])

    def plan(self, diff: SnapshotDiff) -> None:
        """Find the level to write at: the highest one that must, because writing there closes
        all below it."""
        for index, changes in enumerate(diff.all_changes):
            if changes is None:
                continue
            level = diff.base + index
            frame, value = self._frames[level], diff.values[index]
            plan = frame.plan(changes, value, diff.deepest <= level)
            if plan is not None:
                diff.index, diff.changes, diff.plan = index, changes, plan
                opened = plan.opened
                if opened is not None:
                    diff.opened_value = OpenedValue(value[opened], frame.was(opened), self._rules)
                return

    def write(self, diff: SnapshotDiff) -> str:
        self._lost = diff.lost
        if diff.plan is None or diff.changes is None:
            self._hold(diff, len(diff.all_changes))
            if self._leaf is None or diff.leaf is ABSENT:
                return ""
            if diff.deepest < len(self._frames):
                return self._leaf.stay()
            return self._leaf.grow(diff.leaf) or ""
        out: list[str] = []
        index = diff.index
        self._lost = min(self._lost, diff.base + index)
        self._hold(diff, index)
        frame = self._frames[diff.base + index]
        if frame.open is not None:
            below = diff.values[index + 1 :]
            frame.end(self._close(diff.base + index + 1, below, diff.leaf, out))
        frame.make(diff.plan, diff.changes, diff.values[index], out)
        if diff.opened_value is not None:
            self._frames += diff.opened_value.frames
            self._leaf = diff.opened_value.leaf
            out += diff.opened_value.text
        return "".join(out)

    def finish(self, tree: Tree) -> str:
        """Write all of `tree`, the last snapshot, that is not written yet, and close everything."""
        out: list[str] = []
        values: list[Tree] = []
        value: Tree = [tree]
        for frame in self._frames:
            if type(value) is not frame.kind or frame.frozen:
                value = ABSENT
            values.append(value)
            if value is not ABSENT and frame.open is not None:
                value = frame.child(value)
        if self._leaf is not None and (self._leaf.frozen or not self._leaf.fits(value)):
            value = ABSENT
        self._close(0, values, value, out)
        return "".join(out)

    @property
    def open_path(self) -> Path | None:
        """The path of the value that is open at the end of the text; None if there is none."""
        return None if self._frames[0].open is None else self._path(len(self._frames))

    def held(self) -> Iterator[tuple[Path, Tree]]:
        """Path and value of all in the last snapshot that is not written, or not all of it."""
        for level, frame in enumerate(self._frames):
            path = self._path(level)
            for key, value in frame.waiting():
                yield (*path, key) if level else (), value
        if self._leaf is not None and self._leaf.seen != self._leaf.written:
            yield self._path(len(self._frames)), self._leaf.seen

    def _hold(self, diff: SnapshotDiff, end: int) -> None:
        for index in range(end):
            changes = diff.all_changes[index]
            if changes is not None:
                level = diff.base + index
                self._frames[level].hold(changes, diff.values[index], diff.deepest <= level)

    def _close(self, start: int, values: list[Tree], leaf: Tree, out: list[str]) -> Tree:
        """Close what is open, from the leaf up to level `start`, whose values are `values`.
        Returns the value written at `start`."""
        written: Tree = None
        if self._leaf is not None:
            out.append(self._leaf.finish(leaf))
            written = self._leaf.written
            self._leaf = None
        while len(self._frames) > start:
            frame = self._frames.pop()
            frame.end(written)
            value = values.pop()
            written = frame.finish(value, out)
            # Later snapshots may show this very object, so that comparing takes no time.
            if written == value:
                written = value
        return written

    def _diff(self, base: int, value: Tree) -> SnapshotDiff:
        diff = SnapshotDiff(base)
        for level in range(base, len(self._frames)):
            value = self._diff_frame(level, value, diff)
        if self._leaf is not None and value is not ABSENT:
            self._diff_leaf(self._leaf, value, diff)
        # What is missing, or comes back, did not stand still.
        diff.deepest = max(diff.deepest, diff.lost, self._lost)
        return diff

    def _diff_frame(self, level: int, value: Tree, diff: SnapshotDiff) -> Tree:
        """Compare one open container; returns the value of what is open in it."""
        frame = self._frames[level]
        if type(value) is not frame.kind or frame.frozen:
            if value is not ABSENT and not frame.frozen:
                self._revise(level, frame, value, diff)
            diff.values.append(ABSENT)
            diff.all_changes.append(None)
            return ABSENT
        if not frame.agrees(value):
            self._disagree(level, value, diff)
        changes = frame.changes(value)
        diff.values.append(value)
        diff.all_changes.append(changes)
        if changes is not None and (changes.new or changes.changed or changes.gone):
            diff.deepest = level
        if frame.open is None:
            return ABSENT
        child = frame.child(value)
        if child is not ABSENT and not (child is None and self._rules.placeholder):
            return child
        removed = Difference(self._path(level + 1), self._so_far(level + 1), child, True)
        diff.gone.append(removed)
        diff.lost = len(self._frames)
        return ABSENT

    def _diff_leaf(self, leaf: Leaf, value: Tree, diff: SnapshotDiff) -> None:
        if leaf.frozen:
            return
        if not leaf.fits(value):
            self._revise(len(self._frames), leaf, value, diff)
            return
        diff.leaf = value
        if value != leaf.seen:
            diff.deepest = len(self._frames)

    def _revise(self, level: int, at: Frame | Leaf, value: Tree, diff: SnapshotDiff) -> None:
        revision = Difference(self._path(level), self._so_far(level), value, False)
        diff.revised.append((revision, at))

    def _disagree(self, level: int, value: Tree, diff: SnapshotDiff) -> None:
        """Add the closed values that are missing or changed to the diff."""
        path = self._path(level)
        for key, was, now in self._frames[level].closed(value):
            at = (*path, key) if level else ()
            for difference in differences(was, now, placeholder=self._rules.placeholder, at=at):
                if difference.gone:
                    diff.gone.append(difference)
                    diff.lost = level
                else:
                    diff.revised.append((difference, None))

    def _path(self, level: int) -> Path:
        """The path of the frame at that level; the root frame is outside of the document."""
        return tuple(frame.open for frame in self._frames[1:level] if frame.open is not None)

    def _so_far(self, level: int) -> Tree:
        """The part of the value at that level that is written."""
        written: Tree = None if self._leaf is None else self._leaf.written
        for frame in reversed(self._frames[level:]):
            written = frame.so_far(written)
        return written
