"""What to read of an answer, and what a caller may want to know about it beside its values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


class Answer:
    """Pass one as `answer=` to any function that reads a stream, and look at it afterwards.

    `finish` is how the answer ended: complete, calls, length, filtered, refused, lost or error;
    None before the provider says it, and of plain text. `usage` are the token counts, with the
    names of the provider; None until its stream has been read to the end, and if it has none.
    """

    __slots__ = ("_pieces", "finish", "usage")

    def __init__(self) -> None:
        self.begin()

    @property
    def text(self) -> str:
        """The text of the answer so far, without reasoning and calls."""
        return joined(self._pieces)

    def begin(self) -> None:
        """Forget the answer before: another stream is read."""
        self._pieces: list[Any] = []
        self.finish: str | None = None
        self.usage: dict[str, Any] | None = None

    def add(self, text: str | bytes | bytearray | memoryview) -> None:
        """More of the text."""
        self._pieces.append(text)

    def __repr__(self) -> str:
        return f"Answer(finish={self.finish!r}, usage={self.usage!r}, text={self.text!r})"


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerOptions:
    """What to read of a source: its text, a provider's answer, or the arguments of its calls.

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
            raise ValueError(f"choice is a whole number from 0 up, not {self.choice!r}")
        if not isinstance(self.tool, str | bool | None):
            raise ValueError(f"tool is a tool's name, or true for any, not {self.tool!r}")
        if not isinstance(self.sse, bool):
            raise ValueError(f"sse is true or false, not {self.sse!r}")
        if not isinstance(self.answer, Answer | None):
            raise ValueError(f"answer is an Answer object, not {self.answer!r}")
        if not isinstance(self.many, bool):
            raise ValueError(f"many is true or false, not {self.many!r}")
        if self.provider != "auto":
            from .providers import Reader

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
        """True if nothing but JSON is expected: a text that begins otherwise is prose."""
        return not (self.repair or self.many or self.reads_events or self.prefix or self.tool)


def joined(pieces: list[Any]) -> str:
    """The text of pieces that are text or UTF-8."""
    if all(isinstance(piece, str) for piece in pieces):
        return "".join(pieces)
    raw = [it.encode("utf-8", "replace") if isinstance(it, str) else bytes(it) for it in pieces]
    return b"".join(raw).decode("utf-8", "replace")
