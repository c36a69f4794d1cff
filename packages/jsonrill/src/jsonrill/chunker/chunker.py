"""The chunker: snapshots in, text out."""

from __future__ import annotations

import reprlib
from collections.abc import Iterator
from typing import Any, Literal

from ..errors import RevisionError, StreamClosed
from ..paths import Path, format_path
from .frames import Options, Stack
from .snapshot import (
    MISSING,
    Difference,
    Snapshot,
    TextEnd,
    Tree,
    decode,
    differences,
    read,
    to_value,
    too_deep,
)


class Chunker:
    """Turn complete snapshots of a growing JSON value back into a stream of text.

    The texts that `feed` and `flush` return, joined, are valid JSON equal to the last snapshot (the
    order of members may differ). They cannot be taken back: a snapshot that contradicts them raises
    `RevisionError` and changes nothing, so it may be skipped.

    eager        of several values that appear at once, write one at once instead of waiting
    null         "placeholder": a null means that the value has not come yet
    on_revision  "keep": do not raise, keep what is written and note it in `revisions`
    numbers      "final": a number never gets more digits, so it is written at once
    verify       keep the text and have `flush` check that it equals the last snapshot
    """

    def __init__(
        self,
        *,
        eager: bool = False,
        null: Literal["value", "placeholder"] = "value",
        on_revision: Literal["raise", "keep"] = "raise",
        numbers: Literal["growing", "final"] = "growing",
        verify: bool = False,
    ) -> None:
        _check("eager", eager, True, False)
        _check("null", null, "value", "placeholder")
        _check("on_revision", on_revision, "raise", "keep")
        _check("numbers", numbers, "growing", "final")
        _check("verify", verify, True, False)
        self.revisions: list[RevisionError] = []
        self._has_blanks = null == "placeholder"
        self._has_final_numbers = numbers == "final"
        final_types = (bool, type(None), bytes) if self._has_final_numbers else (bool, type(None))
        self._keep = on_revision == "keep"
        self._verify = verify
        self._chunks: list[str] = []
        self._stack = Stack(Options(eager, self._has_blanks, final_types))
        self._last: Tree = None
        self._text_end: TextEnd | None = None
        self._missing: list[Difference] = []
        self._revised_paths: set[Path] = set()
        self._is_begun = False
        self._is_warned = False
        self._is_closed = False

    def feed(self, snapshot: Snapshot) -> str:
        """Return the text that this snapshot adds; `""` if there is none yet."""
        if self._is_closed:
            raise StreamClosed("the chunker was flushed; a new document needs a new Chunker")
        new = "" if self._text_end is None else self._text_end.added(snapshot)
        if new:
            text = self._stack.extend(self._last, new)
        else:
            self._text_end = None
            try:
                tree = read(snapshot)
                text = self._write(tree)
            except RecursionError:
                raise too_deep() from None
            self._last = tree
            if isinstance(snapshot, str) and not self._missing:
                self._text_end = TextEnd.after(self._stack.last_string(tree), snapshot)
        self._is_begun = True
        self._is_warned = False
        if self._verify:
            self._chunks.append(text)
        return text

    def flush(self) -> str:
        """Return the rest of the text.

        Raise `RevisionError` if the last snapshot lacks something that is written; a second call
        then closes the text as it is.
        """
        if self._is_closed or not self._is_begun:
            self._is_closed = True
            return ""
        missing = [change for change in self._missing if not self._is_noted(change.path)]
        if missing and not self._keep and not self._is_warned:
            self._is_warned = True
            raise self._error(missing[0])
        for change in missing:
            self._note(change)
        self._is_closed = True
        text = self._stack.finish(self._last)
        if self._verify:
            self._check_text("".join(self._chunks) + text)
        return text

    @property
    def open_path(self) -> Path | None:
        """The path of the value that is open at the end of the text; None if there is none."""
        return None if self._is_closed else self._stack.open_path

    @property
    def held(self) -> dict[Path, Any]:
        """The values of the last snapshot that are not completely in the text, by path."""
        return {} if self._is_closed else {path: to_value(v) for path, v in self._stack.held()}

    def _write(self, tree: Tree) -> str:
        """Write the new text. Nothing changes until the snapshot is known to be acceptable."""
        comparison = self._stack.compare(tree)
        revised = [pair for pair in comparison.revised if not self._is_noted(pair[0].path)]
        if revised and not self._keep:
            raise self._error(revised[0][0])
        is_repeated = comparison.deepest < 0
        if comparison.missing or self._missing:
            is_repeated = tree == self._last
        plan = None if is_repeated else self._stack.plan(comparison)
        for change, open_part in revised:
            if open_part is not None:
                open_part.is_frozen = True
            self._note(change)
        self._missing = comparison.missing
        return "" if is_repeated else self._stack.write(comparison, plan)

    def _is_noted(self, path: Path) -> bool:
        """Return True if there is a revision at this path or above it."""
        noted = self._revised_paths
        return bool(noted) and any(path[:end] in noted for end in range(len(path) + 1))

    def _note(self, change: Difference) -> None:
        if not self._is_noted(change.path):
            self.revisions.append(self._error(change))
            self._revised_paths.add(change.path)

    def _check_text(self, text: str) -> None:
        """Raise if the text differs from the last snapshot, except for noted revisions."""
        try:
            written = decode(text)
        except RecursionError:
            raise too_deep() from None
        for change in differences((), written, self._last, has_blanks=False):
            if not self._is_noted(change.path):
                raise self._error(change)

    def _error(self, change: Difference) -> RevisionError:
        written = to_value(change.written)
        now = None if change.now is MISSING else to_value(change.now)
        shown = "missing" if change.now is MISSING else reprlib.repr(now)
        message = (
            f"{format_path(change.path)} was written as {reprlib.repr(written)} and is now {shown}"
            f"; written text cannot be taken back. To try: {', '.join(self._remedies(change))}"
        )
        return RevisionError(message, path=change.path, written=written, now=now)

    def _remedies(self, change: Difference) -> Iterator[str]:
        if not self._has_blanks and None in (change.written, change.now):
            yield 'null="placeholder" (a null means "not yet")'
        are_numbers = type(change.written) is bytes and type(change.now) is bytes
        if self._has_final_numbers and are_numbers:
            yield 'numbers="growing" (if numbers get more digits)'
        yield 'on_revision="keep" (what is written stays)'


def _check(name: str, value: object, *allowed: object) -> None:
    if value not in allowed or type(value) is not type(allowed[0]):
        raise ValueError(f"{name} is {' or '.join(map(repr, allowed))}, not {value!r}")
