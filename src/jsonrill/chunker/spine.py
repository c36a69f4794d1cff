"""The open end of the written text: the containers from the root down, and the leaf at the tip.

`survey` and `plan` read a snapshot against it and change nothing: what contradicts the text, what
is new, where to write. `write` and `finish` carry it out and cannot fail. So a snapshot that is
refused leaves no trace.
"""

from __future__ import annotations

from ..paths import Path
from .compare import ABSENT, Difference, differences
from .frames import Array, Frame, Leaf, Look, Move, Number, Object, Root, String
from .rules import Rules
from .snapshot import Tree


class Opening:
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
            look = frame.look(value, True, rules)
            if look is None:
                return
            move = frame.move(look, value, rules, True) or Move([])
            was = frame.was(move.opened)
            frame.hold(look, value, True)
            frame.make(move, value, self.text)
            if move.opened is None:
                return
            value = value[move.opened]
        self.leaf = String() if type(value) is str else Number()
        self.text += ('"' if type(value) is str else "", self.leaf.grow(value))


class Survey:
    """What a snapshot says, level by level from the root; `plan` adds where to write what."""

    __slots__ = (
        "deepest",
        "gone",
        "leaf",
        "level",
        "looks",
        "move",
        "opening",
        "revised",
        "values",
    )

    def __init__(self) -> None:
        self.values: list[Tree] = []
        self.looks: list[Look | None] = []
        self.leaf: Tree = ABSENT
        self.deepest = -1  # the lowest level at which something changed
        self.gone: list[Difference] = []
        self.revised: list[tuple[Difference, int | None]] = []  # and which level is open, if any
        self.level = 0
        self.move: Move | None = None
        self.opening: Opening | None = None


class Spine:
    __slots__ = ("_frames", "_leaf", "_rules")

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self._frames: list[Frame] = [Root(ABSENT, rules)]
        self._leaf: Leaf | None = None

    def survey(self, tree: Tree) -> Survey:
        survey = Survey()
        value: Tree = [tree]
        for level, frame in enumerate(self._frames):
            value = self._admitted(level, value, survey)
            survey.values.append(value)
            if value is ABSENT:
                survey.looks.append(None)
                continue
            agreed = frame.agrees(value)
            if not agreed:
                self._disagree(level, value, survey)
            look = frame.look(value, agreed, self._rules)
            survey.looks.append(look)
            if look is not None and look.differs:
                survey.deepest = level
            if frame.open is not None:
                value = self._child(level, value, survey)
        if self._leaf is not None and value is not ABSENT:
            self._survey_leaf(self._leaf, value, survey)
        return survey

    def plan(self, survey: Survey) -> None:
        """Where the snapshot lets us write: at the highest level that must, for all below it is
        closed by that."""
        for level, look in enumerate(survey.looks):
            if look is None:
                continue
            frame, value = self._frames[level], survey.values[level]
            move = frame.move(look, value, self._rules, survey.deepest <= level)
            if move is not None:
                survey.level, survey.move = level, move
                if move.opened is not None:
                    survey.opening = Opening(
                        value[move.opened], frame.was(move.opened), self._rules
                    )
                return

    def write(self, survey: Survey) -> str:
        out: list[str] = []
        move, at = survey.move, survey.level
        for level, look in enumerate(survey.looks if move is None else survey.looks[: at + 1]):
            if look is not None:
                self._frames[level].hold(look, survey.values[level], survey.deepest <= level)
        if move is not None:
            frame = self._frames[at]
            if frame.open is not None:
                frame.end(self._close(at + 1, survey.values, survey.leaf, out))
            frame.make(move, survey.values[at], out)
            if survey.opening is not None:
                self._frames += survey.opening.frames
                self._leaf = survey.opening.leaf
                out += survey.opening.text
        elif self._leaf is not None and survey.leaf is not ABSENT:
            out.append(self._leaf.grow(survey.leaf))
        return "".join(out)

    def finish(self, tree: Tree) -> str:
        """Write all of `tree`, the last snapshot, that is not written yet, and close everything."""
        out: list[str] = []
        values: list[Tree] = []
        value: Tree = [tree]
        for frame in self._frames:
            if frame.frozen or type(value) is not frame.kind:
                value = ABSENT
            values.append(value)
            if value is not ABSENT and frame.open is not None:
                value = frame.child(value)
        if self._leaf is not None and (self._leaf.frozen or not self._leaf.fits(value)):
            value = ABSENT
        self._close(0, values, value, out)
        return "".join(out)

    def freeze(self, level: int) -> None:
        """What is open there stays as it is written, whatever the snapshots say."""
        if level < len(self._frames):
            self._frames[level].frozen = True
        elif self._leaf is not None:
            self._leaf.frozen = True

    def _close(self, start: int, values: list[Tree], leaf: Tree, out: list[str]) -> Tree:
        """Close what is open from the tip up to level `start`. What was written there?"""
        written: Tree = None
        if self._leaf is not None:
            out.append(self._leaf.finish(leaf))
            written = self._leaf.written
            self._leaf = None
        while len(self._frames) > start:
            frame = self._frames.pop()
            frame.end(written)
            written = frame.finish(values[len(self._frames)], out)
        return written

    def _admitted(self, level: int, value: Tree, survey: Survey) -> Tree:
        """`value` if an open container can go on with it."""
        frame = self._frames[level]
        if type(value) is frame.kind and not frame.frozen:
            return value
        if value is not ABSENT and not frame.frozen:
            self._revise(level, value, survey)
        return ABSENT

    def _child(self, level: int, value: Tree, survey: Survey) -> Tree:
        child = self._frames[level].child(value)
        if self._rules.is_there(child):
            return child
        path = self._path(level + 1)
        survey.gone.append(Difference(path, self._so_far(level + 1), child, True))
        survey.deepest = len(self._frames)  # it did not stand still
        return ABSENT

    def _survey_leaf(self, leaf: Leaf, value: Tree, survey: Survey) -> None:
        if leaf.frozen:
            return
        if not leaf.fits(value):
            self._revise(len(self._frames), value, survey)
            return
        survey.leaf = value
        if value != leaf.seen:
            survey.deepest = len(self._frames)

    def _revise(self, level: int, value: Tree, survey: Survey) -> None:
        difference = Difference(self._path(level), self._so_far(level), value, False)
        survey.revised.append((difference, level))

    def _disagree(self, level: int, value: Tree, survey: Survey) -> None:
        """Which closed values are missing, which are not as they were written?"""
        path = self._path(level)
        for key, was, now in self._frames[level].closed(value):
            at = (*path, key) if level else ()
            for found in differences(was, now, placeholder=self._rules.placeholder, at=at):
                if found.gone:
                    survey.gone.append(found)
                    survey.deepest = level
                else:
                    survey.revised.append((found, None))

    def _path(self, level: int) -> Path:
        """Where the frame of that level is; the root frame stands outside of the document."""
        return tuple(frame.open for frame in self._frames[1:level] if frame.open is not None)

    def _so_far(self, level: int) -> Tree:
        """What is written of the value that the frame of that level, or the leaf, is writing."""
        written: Tree = None if self._leaf is None else self._leaf.written
        for frame in reversed(self._frames[level:]):
            written = frame.so_far(written)
        return written
