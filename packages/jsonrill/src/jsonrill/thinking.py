"""Reasoning that a model writes into the text of its answer, between `<think>` and `</think>`.

Only tags at the beginning of the text count. Open models write them there; anywhere else the tag
is part of the prose.
"""

from __future__ import annotations

from typing import Final

from .providers.statements import Reasoning, Text

# An opening tag, and the tag that closes it.
TAGS: Final = {"<think>": "</think>", "<thinking>": "</thinking>"}
# White space before a tag is held back up to this length.
_MAX_HELD: Final = 100


class ThinkTags:
    """Splits a text into reasoning and answer, however it is cut into pieces."""

    __slots__ = ("_close", "_held", "is_answer")

    def __init__(self) -> None:
        self._held = ""
        self._close: str | None = None
        # True once the rest of the text is the answer.
        self.is_answer = False

    def feed(self, text: str) -> list[Reasoning | Text]:
        """Return the pieces of this text.

        The beginning of what may be a tag is held back.
        """
        if self.is_answer:
            return [Text(text)]
        text, self._held = self._held + text, ""
        if self._close is None:
            start = text.lstrip()
            tag = next((tag for tag in TAGS if start.startswith(tag)), None)
            if tag is None:
                if len(text) < _MAX_HELD and any(tag.startswith(start) for tag in TAGS):
                    self._held = text
                    return []
                self.is_answer = True
                return [Text(text)]
            self._close = TAGS[tag]
            text = start[len(tag) :]
        thought, close, answer = text.partition(self._close)
        if close:
            self.is_answer = True
            return [piece for piece in (Reasoning(thought), Text(answer)) if piece.text]
        end = len(text) - _overlap(text, self._close)
        self._held = text[end:]
        return [Reasoning(text[:end])] if end else []

    def flush(self) -> list[Reasoning | Text]:
        """Return the text that was held back, at the end."""
        held, self._held = self._held, ""
        self.is_answer = True
        make = Text if self._close is None else Reasoning
        return [make(held)] if held else []


def _overlap(text: str, tag: str) -> int:
    """Return how many characters at the end of the text may begin the tag."""
    longest = min(len(tag) - 1, len(text))
    return next((size for size in range(longest, 0, -1) if text.endswith(tag[:size])), 0)
