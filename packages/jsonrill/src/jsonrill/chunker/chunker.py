"""Snapshots in, text out: the stage itself, its options, and what happens when they contradict."""

from __future__ import annotations

import reprlib
from collections.abc import Iterator
from typing import Any

from ..errors import RevisionError, StreamClosed, refuse_copy
from ..options import Null, Numbers, OnRevision, check
from ..paths import ABSENT, Path, format_path
from .compare import Difference, differences
from .frames import Frame, Rules
from .leaves import Leaf, whole
from .prefix import PrefixReader
from .snapshot import Snapshot, Tree, decode, plain, read, too_deep
from .spine import SnapshotDiff, Spine


class Chunker:
    """Turns complete snapshots of a growing JSON value back into a stream of text.

    The texts that `feed` and `flush` return, joined, are valid JSON equal to the last snapshot
    (the order of members may differ). What was returned cannot be taken back: a snapshot that
    contradicts it raises `RevisionError` and changes nothing, so it may be skipped.

    eager        of several values that appear at once, show one at once instead of waiting
    null         "placeholder": a null means that the value has not come yet
    on_revision  "keep": do not raise, keep what is written and note it in `revisions`
    verify       keep the text and have `flush` prove that it equals the last snapshot
    numbers      "final": a number never gets more digits, so it is written at once
    """

    # A deep copy and a pickle work; a shallow copy would share what grows.
    __copy__ = refuse_copy

    def __init__(
        self,
        *,
        eager: bool = False,
        null: Null = "value",
        on_revision: OnRevision = "raise",
        verify: bool = False,
        numbers: Numbers = "growing",
    ) -> None:
        check(eager=eager, null=null, on_revision=on_revision, verify=verify, numbers=numbers)
        self.revisions: list[RevisionError] = []
        atoms = (bool, type(None), bytes) if numbers == "final" else (bool, type(None))
        self._rules = Rules(eager, null == "placeholder", atoms)
        self._keep = on_revision == "keep"
        self._verify = verify
        self._chunks: list[str] = []
        self._spine = Spine(self._rules)
        self._prefix = PrefixReader()
        self._last: Tree = ABSENT
        self._gone: list[Difference] = []
        self._known: set[Path] = set()
        self._warned = False
        self._closed = False
        # True if the last snapshot only had more of the open value, at the end of its text.
        self._alone = False

    def feed(self, snapshot: Snapshot) -> str:
        """The text that this snapshot adds; `""` when there is none yet."""
        if self._closed:
            raise StreamClosed("the chunker was flushed; a new document needs a new one")
        alone, self._alone = self._alone, False
        try:
            if type(snapshot) is str:
                tree = self._prefix.read(snapshot)
                prefix = None if tree is ABSENT else self._prefix
                if prefix is None:
                    tree = decode(snapshot)
            else:
                prefix, tree = None, read(snapshot, self._last)
            text = (
                self._spine.extend(prefix.open_text) if prefix and alone and prefix.grew else None
            )
            if text is not None:
                self._alone = True
            else:
                grown = self._spine.diff(tree) if self._gone else self._spine.grow(tree)
                if isinstance(grown, SnapshotDiff):
                    text = self._settle(tree, grown)
                else:
                    text = grown
                    # If the open string is also the last value of the text, it may grow alone.
                    self._alone = (
                        prefix is not None
                        and prefix.in_string
                        and self._spine.only_leaf_grew
                        and prefix.open_path == self._spine.open_path
                    )
        except RecursionError:
            raise too_deep() from None
        self._last = tree
        self._warned = False
        if self._verify:
            self._chunks.append(text)
        return text

    def flush(self) -> str:
        """The rest of the text. `RevisionError` when the last snapshot lacks something that is
        written; a second call then closes the text as it is."""
        if self._closed or self._last is ABSENT:
            self._closed = True
            return ""
        missing = [difference for difference in self._gone if not self._is_known(difference.path)]
        if missing and not self._keep and not self._warned:
            self._warned = True
            raise _error(missing[0], self._rules)
        for difference in missing:
            self._note(_error(difference, self._rules))
        self._closed = True
        text = self._spine.finish(self._last)
        if self._verify:
            self._prove("".join(self._chunks) + text)
        return text

    @property
    def open_path(self) -> Path | None:
        """The path of the value that is open at the end of the text; None if nothing is."""
        return None if self._closed else self._spine.open_path

    @property
    def held(self) -> dict[Path, Any]:
        """What the last snapshot showed and the text does not have yet, or not all of, by path."""
        return {} if self._closed else {path: _value(it) for path, it in self._spine.held()}

    def _settle(self, tree: Tree, diff: SnapshotDiff) -> str:
        """Check the snapshot for contradictions, then write. Nothing changes before the check."""
        new = self._contradictions(diff) if diff.revised else []
        if diff.gone or self._gone:
            differs = tree != self._last
        else:
            differs = diff.deepest >= 0
        if differs:
            self._spine.plan(diff)
        for error, at in new:
            if at is not None:
                at.freeze()
            self._note(error)
        self._gone = diff.gone
        return self._spine.write(diff) if differs else ""

    def _contradictions(
        self, diff: SnapshotDiff
    ) -> list[tuple[RevisionError, Frame | Leaf | None]]:
        unknown = [(it, at) for it, at in diff.revised if not self._is_known(it.path)]
        if unknown and not self._keep:
            raise _error(unknown[0][0], self._rules)
        return [(_error(it, self._rules), at) for it, at in unknown]

    def _is_known(self, path: Path) -> bool:
        """True if a revision was noted at this path or above it."""
        return bool(self._known) and any(path[:end] in self._known for end in range(len(path) + 1))

    def _note(self, error: RevisionError) -> None:
        if not self._is_known(error.path):
            self.revisions.append(error)
            self._known.add(error.path)

    def _prove(self, text: str) -> None:
        """Raise if the text, read back, differs from the last snapshot but for noted revisions."""
        try:
            written = decode(text)
        except RecursionError:
            raise too_deep() from None
        for difference in differences(written, self._last, placeholder=False):
            if not self._is_known(difference.path):
                raise _error(difference, self._rules)


def _error(change: Difference, rules: Rules) -> RevisionError:
    written, now = (
        _value(change.was),
        None if change.now is ABSENT else _value(change.now),
    )
    shown = "missing" if change.now is ABSENT else reprlib.repr(now)
    message = (
        f"{format_path(change.path)} was written as {reprlib.repr(written)} and is now {shown}"
        f"; written text cannot be taken back. To try: {', '.join(_ways_out(change, rules))}"
    )
    return RevisionError(change.path, written, now, message)


def _value(tree: Tree) -> Any:
    try:
        return plain(tree)
    except RecursionError:
        return whole(tree)


def _ways_out(difference: Difference, rules: Rules) -> Iterator[str]:
    if not rules.placeholder and None in (difference.was, difference.now):
        yield 'null="placeholder" (a null means "not yet")'
    if bytes in rules.atoms and type(difference.was) is bytes and type(difference.now) is bytes:
        yield 'numbers="growing" (if numbers get more digits)'
    yield 'on_revision="keep" (what is written stays)'
