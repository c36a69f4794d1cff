"""One tool call and its life: streaming → complete | error | truncated.

A call takes what statements bring (`take`), and is told when it has ended (`end`, `finish`,
`abandon`). It judges its arguments by a schema where there is one. Which statements are meant for
it is not known here.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, Literal

from ..fragments import Fragment
from ..grammar import dumps
from ..machine import Limits
from ..parser import Parser
from ..providers.deltas import ABSENT, CallDelta, End
from ..providers.writer import Writer
from .arguments import (
    Arguments,
    FreeText,
    Frozen,
    JsonArguments,
    Problem,
    Received,
    problem,
)

if TYPE_CHECKING:
    from ..schema import Check, Violation

Status = Literal["streaming", "complete", "error", "truncated"]

_NOTHING: Final[Arguments] = Frozen()


class ToolCall:
    """One call. It grows with the stream; the `args` it hands out are safe to keep.

    `raw` is the argument text as received, always there. `args` is its value as far as known:
    None before anything is, the text itself for tools that take free text (`encoding`). `error` is
    a dict with `code`, `message` and, where there is one, the `offset` in `raw`.
    """

    __slots__ = (
        "_arguments",
        "_check",
        "_preset",
        "_unjudged",
        "_void",
        "_writer",
        "answered",
        "encoding",
        "error",
        "given",
        "id",
        "index",
        "message_id",
        "model",
        "name",
        "open",
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
        self.answered = False
        self.result: Any = None
        self.result_is_error = False
        # The validated instance, if there was a pydantic schema and the arguments are whole.
        self.model: Any = None
        # For identity: is the id the provider's own, may more come?
        self.given = True
        self.open = True
        # Ended without a character: only the end of the response tells whether it was cut.
        self._void = False
        self._arguments: Arguments = _NOTHING
        self._preset: Any = ABSENT
        self._writer: Writer | None = None
        # A check of the schema; before the name is known, what it will have to look at.
        self._check: Check | None = None
        self._unjudged: list[Fragment] | None = None

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

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ToolCall):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in _COMPARED)

    __hash__ = None  # type: ignore[assignment]  # it changes

    def __repr__(self) -> str:
        return f"<ToolCall {self.id} {self.name} {self.status} {self.raw!r}>"

    # ---- what statements bring ----

    def take(self, delta: CallDelta, limits: Limits) -> tuple[str | None, list[Fragment] | None]:
        """The new argument text and its fragments, if there are any."""
        if delta.free and self._arguments is _NOTHING:
            self.encoding = "text"
            self._arguments = Received(free=True) if delta.received else FreeText(limits)
        if delta.received:
            return self._receive(delta)
        if delta.text is not None:
            return self._append(delta.text, limits)
        if delta.preset is not ABSENT:
            self._preset = delta.preset
        text = self._written(delta)
        return self._append(text, limits) if text else (None, None)

    def end(self, end: End, limits: Limits) -> tuple[str | None, list[Fragment] | None]:
        """The provider says that the arguments have ended; text, if it had not sent any before."""
        text, fragments = self._stated(end.text, end.value, limits)
        if end.error is not None:
            self._fail(problem("PROVIDER_ERROR", end.error))
        self._close(cut=end.cut, error=None, void=not end.sure)
        return text, fragments

    def finish(
        self, cut: bool, error: str | None, limits: Limits
    ) -> tuple[str | None, list[Fragment] | None]:
        """The response has ended."""
        news = (None, None) if cut else self._stated(None, ABSENT, limits)
        self._close(cut=cut, error=error)
        return news

    def abandon(self) -> None:
        """The stream is over and nobody said that the call has ended."""
        if self.status == "streaming" and not self._void and not self._arguments.whole:
            self.status = "truncated"
            self._freeze(self.args)
        else:
            self._close(cut=False, error=None)

    def judged_by(self, check: Check | None) -> None:
        """From now on the schema sees every fragment; and those that came before the name."""
        fragments, self._unjudged = self._unjudged or [], None
        self._check = check
        if check is not None and fragments:
            self._judge(fragments)

    def wait_for_name(self) -> None:
        """There are schemas, and only the name will tell which one it is."""
        self._unjudged = []

    def replace(self, delta: CallDelta) -> None:
        """The final state, whatever was streamed."""
        raw = delta.text or ""
        if delta.value is not ABSENT:
            value = delta.value
        elif delta.free:
            value = raw
        elif raw == self.raw and self.status != "streaming":
            value = self.args
        else:
            value = _loaded(raw) if raw.strip() else {}
            value = None if value is ABSENT else value
        self.encoding = "text" if delta.free else "json"
        self.status = delta.status or "complete"  # type: ignore[assignment]  # checked when read
        self.error = delta.error
        self._arguments = Frozen(raw, value)
        self.open = False

    # ---- how ----

    def _written(self, delta: CallDelta) -> str | None:
        """The text of a delta that brings values instead."""
        try:
            if delta.parts or (self._writer is not None and delta.end is not None):
                return self._parts(delta)
            if delta.value is ABSENT:
                return None
            if not self.raw:
                return dumps(delta.value)
        except (ValueError, TypeError, RecursionError) as error:
            self._fail(problem("INVALID_JSON", str(error)))
            return None
        self._compare(None, delta.value)
        return None

    def _parts(self, delta: CallDelta) -> str:
        if self._writer is None:
            self._writer = Writer()
        if self.status == "error":
            return ""
        text = "".join([self._writer.write(part) for part in delta.parts])
        return text if delta.end is None else text + self._writer.close()

    def _append(self, text: str, limits: Limits) -> tuple[str | None, list[Fragment] | None]:
        if self._arguments is _NOTHING:
            self._arguments = JsonArguments(limits)
        arguments = self._arguments
        fragments = arguments.feed(text)
        if fragments is None:
            return None, None
        if self.status == "streaming":
            if self._check is not None:
                self._judge(fragments)
            elif self._unjudged is not None:
                self._unjudged += fragments
            if arguments.error is not None:
                self._fail(arguments.error)
        return text, fragments

    def _receive(self, delta: CallDelta) -> tuple[str | None, list[Fragment] | None]:
        """What another jsonrill says: it judges, this call only follows."""
        if self._arguments is _NOTHING:
            self._arguments = Received()
        fragments = None
        if isinstance(self._arguments, Received):
            fragments = self._arguments.receive(delta.text, delta.fragments)
        if delta.status is not None and self.status == "streaming":
            if delta.status == "error":
                self._fail(delta.error or problem("PROVIDER_ERROR", "the sender gave no reason"))
            elif delta.status == "complete":
                self._close(cut=False, error=None)
            else:
                self.status = "truncated"
                self._freeze(self.args)
        return delta.text, fragments

    def _stated(
        self, text: str | None, value: Any, limits: Limits
    ) -> tuple[str | None, list[Fragment] | None]:
        """The full arguments: held against those that came, or in place of none."""
        if self.raw:
            self._compare(text, value)
            return None, None
        if text is None and value is ABSENT:
            value = self._preset
            if isinstance(value, str):
                text = value
        if text is None and self.encoding == "text" and isinstance(value, str):
            text = value
        if text is None:
            text = self._written(CallDelta(value=value))
        return self._append(text, limits) if text else (None, None)

    def _compare(self, text: str | None, value: Any) -> None:
        """Does the provider's own account fit what it streamed?"""
        if self.status != "streaming":
            return
        try:
            fits = self._fits(text, value)
        except RecursionError:  # too deep to compare is not different
            fits = True
        if not fits:
            said = "the arguments stated at the end are not those that were streamed"
            self._fail(problem("ARGUMENTS_DIFFER", said))

    def _fits(self, text: str | None, value: Any) -> bool:
        if self.encoding == "text":
            return (value if text is None else text) in (ABSENT, None, self.raw)
        if text is not None:
            return text == self.raw or (self.whole and _loaded(text) == self.live)
        return value is ABSENT or (self.whole and _extends(value, self.live))

    def _close(self, *, cut: bool, error: str | None, void: bool = False) -> None:
        """Nothing more will come: what has become of it?"""
        value: Any = None
        if self.status == "streaming":
            outcome, fragments = self._arguments.end()
            if outcome == "empty" and not cut and error is None:
                if void:
                    self._void = True
                    return
                outcome, value, fragments = "complete", {}, Parser().feed("{}")
            if outcome == "complete":
                self.status = "complete"
                if self._check is not None and fragments:
                    self._judge(fragments, value)
            elif error is not None:
                self._fail(problem("PROVIDER_ERROR", error))
            else:
                self.status = "truncated"
        self._freeze(self.args if value is None else value)

    def _freeze(self, value: Any) -> None:
        self._arguments = Frozen(self.raw, value)
        self._check = self._unjudged = self._writer = None
        self._preset = ABSENT
        self.open = False

    def _fail(self, error: Problem) -> None:
        if self.status != "error":
            self.status, self.error, self.model = "error", error, None

    # ---- the schema ----

    def _judge(self, fragments: list[Fragment], value: Any = None) -> None:
        """The first violation ends the call's hopes, at the character that proves it."""
        check = self._check
        assert check is not None
        for fragment in fragments:
            if fragment.kind == "JsonComplete":
                violation = check.close(self.args if value is None else value)
                self.model = check.model if violation is None else None
            else:
                violation = check.feed(fragment)
            if violation is not None:
                return self._violated(violation)
        begun = self._arguments.begun
        if begun is not None and (violation := check.pending(*begun)) is not None:
            self._violated(violation)

    def _violated(self, violation: Violation) -> None:
        self._check = None
        self._fail(problem("INVALID_SCHEMA", violation.message, violation.offset))


_COMPARED: Final = (
    *("id", "index", "message_id", "name", "raw", "args", "status", "error"),
    *("result", "result_is_error", "encoding"),
)


def _loaded(text: str) -> Any:
    """What the text says, ABSENT if it is not JSON."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return ABSENT


def _extends(stated: Any, streamed: Any) -> bool:
    """Is it the same value? Validators may have added members that the model left out."""
    if isinstance(streamed, dict):
        return isinstance(stated, dict) and all(
            key in stated and _extends(stated[key], value) for key, value in streamed.items()
        )
    if isinstance(streamed, list):
        return (
            isinstance(stated, list)
            and len(stated) == len(streamed)
            and all(_extends(one, other) for one, other in zip(stated, streamed, strict=True))
        )
    same: bool = stated == streamed
    return same and isinstance(stated, bool) == isinstance(streamed, bool)
