"""One tool call, as its users see it. How it grows and ends is in `lifecycle.py`."""

from __future__ import annotations

from typing import Any, Final, Literal

from ..errors import Problem
from ..parse.sink import Repair
from ..paths import Path, is_complete
from .arguments import Arguments

Status = Literal["streaming", "complete", "error", "truncated"]

# What arguments may be: as a rule an object; a text of a tool that takes free text.
Json = dict[str, Any] | list[Any] | str | int | float | bool | None
NOTHING: Final = Arguments()


class ToolCall:
    """One call. It grows with the stream; the `args` it hands out are safe to keep.

    `raw` is the argument text as received. `args` is its value as far as known: None before
    anything is, the text itself for tools that take free text (`encoding`). `error` is what
    `JsonrillError.to_dict` returns; its offset, line and column are those in `raw`. `model` is the
    validated instance, if the schema is a pydantic model and the arguments are complete.
    """

    __slots__ = ("_arguments", "answered", "encoding", "error", "hosted", "id", "index",
                 "message_id", "model", "name", "result", "result_is_error", "status")  # fmt: skip

    def __init__(
        self,
        id: str,
        index: int | None = None,
        message_id: str = "",
        name: str | None = None,
        status: Status = "streaming",
        error: Problem | None = None,
        encoding: Literal["json", "text"] = "json",
        answered: bool = False,
        result: Any = None,
        result_is_error: bool = False,
        model: Any = None,
        hosted: bool = False,
    ) -> None:
        self.id = id
        self.index = index
        self.message_id = message_id
        self.name = name
        self.status: Status = status
        self.error = error
        self.encoding: Literal["json", "text"] = encoding
        # True once there is a result, which may be None.
        self.answered = answered
        self.result = result
        self.result_is_error = result_is_error
        self.model = model
        # True if the provider runs the tool itself.
        self.hosted = hosted
        self._arguments: Arguments = NOTHING

    @property
    def raw(self) -> str:
        """The argument text as received."""
        return self._arguments.raw

    @property
    def args(self) -> Json:
        """The arguments as far as they are known, safe to keep."""
        args: Json = self._arguments.value
        return args

    @property
    def live(self) -> Any:
        """The arguments without a copy: they change with the next event."""
        return self._arguments.live

    @property
    def open_path(self) -> Path | None:
        """The path, within the arguments, of the value that still grows, or was cut off."""
        return self._arguments.open_path

    def is_complete(self, path: Path | str = ()) -> bool:
        """True if there is a value at this path, within the arguments, and it is complete.

        Without a path: all of them."""
        begun = self.live is not None or self.complete_args
        return begun and is_complete(self.live, path, self.open_path)

    @property
    def complete_args(self) -> bool:
        """True if the arguments are a complete JSON value; `status` is the provider's word.

        `{}` may be a placeholder: if the arguments follow, they replace it.
        """
        streaming = self.status == "streaming"
        return self._arguments.complete if streaming else self.status == "complete"

    @property
    def repairs(self) -> list[Repair]:
        """With `repair`: the repairs in the argument text."""
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
