"""One tool call, as its users see it. How it grows and ends is `life.py`'s to know."""

from __future__ import annotations

from typing import Any, Final, Literal

from ..parse.sink import Repair
from .arguments import Arguments, Problem

Status = Literal["streaming", "complete", "error", "truncated"]

NOTHING: Final = Arguments()


class ToolCall:
    """One call. It grows with the stream; the `args` it hands out are safe to keep.

    `raw` is the argument text as received, always there. `args` is its value as far as known:
    None before anything is, the text itself for tools that take free text (`encoding`). `error` is
    what `JsonrillError.to_dict` says; its offset, line and column are those in `raw`.
    """

    __slots__ = (
        "_arguments",
        "answered",
        "encoding",
        "error",
        "id",
        "index",
        "message_id",
        "model",
        "name",
        "result",
        "result_is_error",
        "status",
    )

    def __init__(self, id: str, index: int | None = None, message_id: str = "") -> None:
        self.id = id
        self.index = index
        self.message_id = message_id
        self.name: str | None = None
        self.status: Status = "streaming"
        self.error: Problem | None = None
        self.encoding: Literal["json", "text"] = "json"
        # Has a result come? It may be None.
        self.answered = False
        self.result: Any = None
        self.result_is_error = False
        # The validated instance, if there was a pydantic schema and the arguments are whole.
        self.model: Any = None
        self._arguments: Arguments = NOTHING

    @property
    def raw(self) -> str:
        """The argument text as received."""
        return self._arguments.raw

    @property
    def args(self) -> Any:
        """The arguments as far as they are known, safe to keep."""
        return self._arguments.value

    @property
    def live(self) -> Any:
        """The same without any copy: look now, it changes with the next event."""
        return self._arguments.live

    @property
    def whole(self) -> bool:
        """Are the arguments whole JSON? (Only `status` says that the provider meant it.)"""
        return self.status == "complete" or self._arguments.whole

    @property
    def repairs(self) -> list[Repair]:
        """What had to be put right in the text, with `repair`."""
        return list(self._arguments.repairs)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ToolCall):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in _COMPARED)

    __hash__ = None  # type: ignore[assignment]  # it changes

    def __repr__(self) -> str:
        return f"<ToolCall {self.id} {self.name} {self.status} {self.raw!r}>"


_COMPARED: Final = (
    *("id", "index", "message_id", "name", "raw", "args", "status", "error"),
    *("result", "result_is_error", "encoding"),
)
