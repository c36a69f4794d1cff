"""What one event says about one call: a statement that is made for every piece of arguments.

It is apart from the others (`statements.py`), because it is compiled.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from ..errors import Problem
from .fields import ABSENT

if TYPE_CHECKING:
    from .statements import End, Part


class CallDelta:
    """What one event says about one call.

    `text` is new argument text, as it came; instead of it there may be a `value`, the complete
    arguments, or `parts`, values at paths. `free`: the text is free text, not JSON. `preset` are
    complete arguments stated at the start, which count if nothing else comes. `message` is the
    response (None: the current one), `choice` which of its choices. `alias` is another id under
    which later events name this call. Unless it `opens`, it cannot open a call. `hosted`: the
    provider runs this tool itself. `unread`: it brings something that is not known, so that a call
    to which nothing else comes is not one without arguments. Of jsonrill's own wire events
    (`received`): the `fragments` that were sent (None: none), `status` and `error`.
    """

    __slots__ = ("alias", "choice", "end", "error", "fragments", "free", "hosted", "id", "index",
                 "message", "name", "opens", "parts", "preset", "received", "status", "text",
                 "unread", "value")  # fmt: skip

    def __init__(
        self,
        id: str | None = None,
        index: int | None = None,
        name: str | None = None,
        text: str | None = None,
        message: str | None = None,
        choice: int = 0,
        alias: str | None = None,
        opens: bool = True,
        free: bool = False,
        hosted: bool = False,
        unread: bool = False,
        value: Any = ABSENT,
        parts: Sequence[Part] = (),
        preset: Any = ABSENT,
        end: End | None = None,
        received: bool = False,
        fragments: list[Any] | None = None,
        status: str | None = None,
        error: Problem | None = None,
    ) -> None:
        self.id = id
        self.index = index
        self.name = name
        self.text = text
        self.message = message
        self.choice = choice
        self.alias = alias
        self.opens = opens
        self.free = free
        self.hosted = hosted
        self.unread = unread
        self.value = value
        self.parts = parts
        self.preset = preset
        self.end = end
        self.received = received
        self.fragments = fragments
        self.status = status
        self.error = error

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CallDelta):
            return NotImplemented
        return not [it for it in CALL_DELTA_FIELDS if getattr(self, it) != getattr(other, it)]

    __hash__ = None  # type: ignore[assignment]  # arguments may be of any type

    def __repr__(self) -> str:
        plain = CallDelta()
        fields = [(name, getattr(self, name)) for name in CALL_DELTA_FIELDS]
        shown = [f"{name}={value!r}" for name, value in fields if value != getattr(plain, name)]
        return f"CallDelta({', '.join(shown)})"


CALL_DELTA_FIELDS: Final = (
    *("id", "index", "name", "text", "message", "choice", "alias", "opens", "free", "hosted"),
    *("unread", "value", "parts", "preset", "end", "received", "fragments", "status", "error"),
)
