"""The options that select which part of a source is read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from ..answer import Answer

# Precedes each document of a source that has several.
NEXT_DOCUMENT: Final = object()


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerOptions:
    """Which part of a source to read: its text, an answer, or the arguments of calls.

    `is_first_call`: only the first call is read. `reads_events`: plain text holds events, and an
    answer may have no text.
    """

    tool: str | bool | None = None
    choice: int = 0
    provider: Any = "auto"
    sse: bool = False
    answer: Answer | None = None
    repair: Any = False
    prefix: str = ""
    many: bool = False
    is_first_call: bool = False
    reads_events: bool = False

    def __post_init__(self) -> None:
        if type(self.choice) is not int or self.choice < 0:
            raise ValueError(f"choice must be a whole number from 0 up, not {self.choice!r}")
        if not isinstance(self.tool, str | bool | None):
            raise ValueError(f"tool must be a tool's name, or true for any, not {self.tool!r}")
        if not isinstance(self.answer, Answer | None):
            raise ValueError(f"answer must be an Answer object, not {self.answer!r}")
        if self.provider != "auto":
            from ..providers import Reader

            Reader(self.provider)  # refuses an unknown name

    @property
    def has_events(self) -> bool:
        """True if plain text holds events."""
        is_selected = self.tool or self.choice or self.provider != "auto"
        return bool(is_selected or self.sse or self.reads_events)

    @property
    def reads_calls(self) -> bool:
        """True if the text is the arguments of one call after another."""
        return bool(self.tool) and not self.is_first_call

    @property
    def has_only_json(self) -> bool:
        """True if only JSON is expected: a text that begins otherwise is prose."""
        return not (self.repair or self.many or self.reads_events or self.prefix or self.tool)
