"""Reasoning that a model writes into the text of its answer, between `<think>` and `</think>`.

Only tags at the beginning of the text count. Open models write them there; anywhere else the tag
is part of the prose.
"""

from __future__ import annotations

from typing import Final

# An opening tag, and the tag that closes it.
TAGS: Final = {"<think>": "</think>", "<thinking>": "</thinking>"}
# White space before a tag is held back up to this length.
_MOST_HELD: Final = 100


class ThinkTags:
    """Divides a text into reasoning and answer, however it is cut into pieces."""

    __slots__ = ("_close", "_held", "is_answer")

    def __init__(self) -> None:
        self._held = ""
        self._close: str | None = None
        # True once the rest of the text is the answer.
        self.is_answer = False

    def feed(self, text: str) -> list[tuple[bool, str]]:
        """Return the pieces of this text, each with whether it is reasoning.

        The beginning of what may be a tag is held back.
        """
        if self.is_answer:
            return [(False, text)]
        text, self._held = self._held + text, ""
        if self._close is None:
            start = text.lstrip()
            tag = next((tag for tag in TAGS if start.startswith(tag)), None)
            if tag is None:
                if len(text) < _MOST_HELD and any(tag.startswith(start) for tag in TAGS):
                    self._held = text
                    return []
                self.is_answer = True
                return [(False, text)]
            self._close = TAGS[tag]
            text = start[len(tag) :]
        thought, close, answer = text.partition(self._close)
        if close:
            self.is_answer = True
            return [piece for piece in ((True, thought), (False, answer)) if piece[1]]
        end = len(text) - _overlap(text, self._close)
        self._held = text[end:]
        return [(True, text[:end])] if end else []

    def flush(self) -> list[tuple[bool, str]]:
        """Return what was held back: the text has ended."""
        held, self._held = self._held, ""
        self.is_answer = True
        return [(self._close is not None, held)] if held else []


def _overlap(text: str, tag: str) -> int:
    """Return how many characters at the end of the text may begin the tag."""
    longest = min(len(tag) - 1, len(text))
    return next((size for size in range(longest, 0, -1) if text.endswith(tag[:size])), 0)
