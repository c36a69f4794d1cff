"""The lifecycle of one call: streaming → complete | error | truncated.

A call takes what statements bring (`take`). It ends because its provider says so (`end`), because
its response ends (`finish`), or because the stream stops (`abandon`). If there is a schema, it
validates its arguments as they come. Which statements are about it is decided in `identity.py`.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ..errors import Limits, Problem
from ..jsontext import dumps
from ..options import OnRepair
from ..providers.call_delta import CallDelta
from ..providers.fields import ABSENT
from ..providers.statements import End
from ..providers.writer import Writer
from ..wire.compact import CompactEncoder
from ..wire.foreign import is_juf
from ..wire.fragment import Fragment
from .arguments import Arguments, FreeText, JsonArguments, Received, is_blank
from .call import NOTHING, ToolCall

if TYPE_CHECKING:
    from ..schema import Check, Schema

# New argument text and its fragments; None where there is nothing new.
News = tuple[str | None, list[Fragment] | None]


class LiveCall(ToolCall):
    """A call together with what makes it grow."""

    __slots__ = ("_check", "_is_received", "_is_typed", "_preset", "_unread", "_void", "_writer",
                  "apart", "encoder", "ended", "event", "ids", "limits", "number",
                 "on_repair", "open", "own_id", "repair", "sent_id")  # fmt: skip

    def __init__(
        self,
        id: str,
        index: int | None,
        message_id: str,
        *,
        limits: Limits,
        repair: frozenset[str] = frozenset(),
        on_repair: OnRepair = None,
    ) -> None:
        super().__init__(id, index, message_id)
        self.limits = limits
        self.repair = repair
        self.on_repair = on_repair
        # The number of the last event about it.
        self.event = 0
        # For `Identity`, which says what they mean.
        self.number = 0
        self.ids: list[str] = []
        self.own_id = True
        self.open = True
        # True if its response has ended.
        self.ended = False
        # True if the arguments are not what their text says; then they are sent beside it.
        self.apart = False
        # Writes all fragments of this call in compact form.
        self.encoder: CompactEncoder | None = None
        # The id under which it was sent to a client that cannot learn another.
        self.sent_id: str | None = None
        # The arguments ended without a character: the end of the response decides if they were
        # cut off.
        self._void = False
        # Something of it came that is not known: without anything else its arguments are not known.
        self._unread = False
        # True if the sender has read it already; it may leave out the name.
        self._is_received = False
        self._preset: Any = ABSENT
        self._writer: Writer | None = None
        # The check of the arguments, from the name on; whether it makes instances of a type.
        self._check: Check | None = None
        self._is_typed = False

    @property
    def begun(self) -> bool:
        """True if argument text has arrived."""
        return bool(self.raw)

    @property
    def is_placeholder(self) -> bool:
        """True for a `{}` that the arguments may still replace."""
        return self._arguments.is_placeholder

    @property
    def args_ended(self) -> bool:
        """True if the arguments are a complete JSON value, though the call may be in error."""
        return self.status == "complete" or self._arguments.complete

    @property
    def settled(self) -> bool:
        """True if it has ended. (One in error may still gain text, or its id.)"""
        return self.ended or self.status in ("complete", "truncated")

    # ---- what statements bring ----

    def take(self, delta: CallDelta) -> News:
        """Add the arguments of a delta, which come as text, values or fragments."""
        if delta.hosted:
            self.hosted = True
        if delta.unread:
            self._unread = True
        if delta.free and self._arguments is NOTHING:
            self.encoding = "text"
            free = FreeText(limits=self.limits)
            self._arguments = Received(self.limits, free=True) if delta.received else free
        if delta.received:
            return self._receive(delta)
        if delta.text is not None:
            return self._append(delta.text)
        if delta.preset is not ABSENT:
            self._preset = delta.preset
        text = self._written(delta)
        return self._append(text) if text else (None, None)

    def end(self, end: End) -> News:
        """End the arguments, as the provider says; it may repeat them, or state them only now."""
        news = self._stated(end.text, end.value)
        if end.error is not None:
            self._fail(_problem("PROVIDER_ERROR", end.error))
        if self.name is None and self.status == "streaming" and not (end.incomplete or end.sure):
            return news  # the name may come with a later event: the end of the response decides
        return joined(news, self._close(incomplete=end.incomplete, void=not end.sure))

    def finish(self, *, incomplete: bool = False, error: str | None = None) -> News:
        """End the call with its response."""
        news = (None, None) if incomplete else self._stated(None, ABSENT)
        return joined(news, self._close(incomplete=incomplete, error=error))

    def abandon(self, *, counted: bool = False) -> None:
        """End the call because the stream stopped: truncated, unless the arguments are complete.

        `{}` is enough only if the tokens were `counted` after it: the arguments might follow.
        """
        arguments = self._arguments
        ended = self._void or (arguments.complete and (counted or not arguments.is_placeholder))
        if self.status == "streaming" and not ended:
            self.status = "truncated"
            self._freeze(self.args)
        else:
            self._close()

    def replace(self, delta: CallDelta) -> None:
        """Replace what was streamed by the final state."""
        raw = delta.text or ""
        self.apart = delta.value is not ABSENT
        if self.apart:
            value = delta.value
        elif delta.free:
            value = raw
        elif raw == self.raw and self.status != "streaming":
            value = self.args
        else:
            value = {} if is_blank(raw) else _loaded(raw)
        self.encoding = "text" if delta.free else "json"
        self.status = delta.status or "complete"  # type: ignore[assignment]  # checked when read
        self.error = delta.error
        self._arguments = Arguments(raw, None if value is ABSENT else value)
        self.open = False

    # ---- text, and what becomes text ----

    def _append(self, text: str) -> News:
        if self._arguments is NOTHING:
            self._arguments = JsonArguments(self.limits, self.repair, self.on_repair)
        fragments = self._arguments.feed(text)
        if self.status == "streaming":
            if fragments is not None:
                self._validate()
            if self._arguments.error is not None:
                self._fail(self._arguments.error)
        return (None, None) if fragments is None else (text, fragments)

    def _written(self, delta: CallDelta) -> str | None:
        """The JSON text of a delta that brings values; None if it brings none."""
        try:
            if delta.parts or (self._writer is not None and delta.end is not None):
                return self._parts(delta)
            if delta.value is ABSENT:
                return None
            if not self.raw or self._arguments.is_placeholder:
                return dumps(delta.value)
        except (ValueError, TypeError, RecursionError) as error:
            self._fail(_problem("INVALID_JSON", str(error)))
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

    def _receive(self, delta: CallDelta) -> News:
        """Follow what another jsonrill has found: its fragments, and its verdict.

        Of the public generator the text is read: its fragments lose escapes.
        """
        self._is_received = True
        if delta.text and not self.begun and self.encoding == "json" and is_juf(delta.fragments):
            self._arguments = NOTHING
        elif self._arguments is NOTHING:
            self._arguments = Received(self.limits)
        news: News = (None, None)
        if isinstance(self._arguments, Received):
            news = self._arguments.receive(delta.text, delta.fragments)
        elif delta.text and self.open:
            news = self._append(delta.text)
        if self.status == "streaming":
            if delta.status == "error":
                self._fail(delta.error or _problem("PROVIDER_ERROR", "the sender gave no reason"))
            elif delta.status == "complete":
                self._close()
            elif delta.status == "truncated":
                self.status = "truncated"
                self._freeze(self.args)
        return news

    # ---- the full arguments, said by the provider ----

    def _stated(self, text: str | None, value: Any) -> News:
        """Compare stated arguments with those that came; take them if none came."""
        if self.raw and not self._arguments.is_placeholder:
            self._compare(text, value)
            return None, None
        if text is None:
            value = self._preset if value is ABSENT else value
            is_text = isinstance(value, str) and (value is self._preset or self.encoding == "text")
            text = value if is_text else self._written(CallDelta(value=value))
        return self._append(text) if text else (None, None)

    def _compare(self, text: str | None, value: Any) -> None:
        if self.status != "streaming":
            return
        if any(repair.rule == "by-schema" for repair in self.repairs):
            return  # it is the reading that the schema asks for, not the text's own
        try:
            fits = self._fits(text, value)
        except RecursionError:  # too deep to compare is not different
            fits = True
        if not fits:
            message = "the arguments stated at the end are not those that were streamed"
            self._fail(_problem("ARGUMENTS_DIFFER", message))

    def _fits(self, text: str | None, value: Any) -> bool:
        if self.encoding == "text":
            return (value if text is None else text) in (ABSENT, None, self.raw)
        if text is not None:
            return text == self.raw or (self.complete_args and _loaded(text) == self.live)
        return value is ABSENT or (self.complete_args and _extends(value, self.live))

    # ---- the end ----

    def _close(
        self, *, incomplete: bool = False, error: str | None = None, void: bool = False
    ) -> News:
        """Set the final status. With `void`, arguments without a character stay undecided.

        Returns the fragments of a placeholder that was the value.
        """
        known = self.args
        if self.status == "streaming":
            was_placeholder = self._arguments.is_placeholder
            outcome, fragments = self._arguments.end()
            if outcome == "empty" and not (incomplete or self._unread) and error is None:
                if void:
                    self._void = True
                    return None, None
                self._complete({})
                return None, None
            if outcome == "complete" and not (was_placeholder and (incomplete or error)):
                self._complete(self.args)
                return None, fragments if was_placeholder else None
            if error is not None:
                self._fail(_problem("PROVIDER_ERROR", error))
            else:
                self.status = "truncated"
        self._freeze(known)
        return None, None

    def _complete(self, value: Any) -> None:
        """Complete the call, unless the schema finds a violation in what the end made certain."""
        known = self.args
        if self.name is None and not self._is_received:
            self._fail(_problem("NO_NAME", "the call ended without a name"))
            self._freeze(value)
            return
        self.status = "complete"
        self._validate(value)
        self._freeze(known if self.error is not None else value)

    def _freeze(self, value: Any) -> None:
        cut = None if self.status == "complete" else self._arguments.open_path
        self._arguments = Arguments(self.raw, value, self._arguments.repairs, open_path=cut)
        self._check = self._writer = None
        self._preset = ABSENT
        self.open = False

    def _fail(self, error: Problem) -> None:
        if self.status != "error":
            self.status, self.error, self.model = "error", error, None

    # ---- the schema ----

    def validate_with(self, schema: Schema | None) -> None:
        """Validate with this schema from now on, also what has arrived."""
        self._check = None if schema is None else schema.check()
        self._is_typed = schema is not None and schema.is_typed
        if self.status == "streaming":
            self._validate()

    def _validate(self, complete: Any = ABSENT) -> None:
        """Check the arguments, which may be complete; a violation makes the call an error."""
        check, arguments = self._check, self._arguments
        if check is None or arguments is NOTHING and complete is ABSENT:
            return
        from ..schema import Refused
        from ..schema.errors import offset_of, violation

        try:
            if complete is not ABSENT or (arguments.complete and not arguments.is_placeholder):
                self._check = None
                model = check.close(arguments.live if complete is ABSENT else complete)
                self.model = model if self._is_typed else None
            elif not arguments.is_placeholder:
                arguments.check(check)
        except Refused as refused:
            self._check = None
            options = {"repair": self.repair, "limits": self.limits}
            offset = offset_of(self.raw, refused.refusal, options)
            error = violation(refused.refusal, (), offset)
            self._fail(error.locate(self.raw).to_dict())


def joined(news: News, more: News) -> News:
    """Both together; at most one of them has text."""
    fragments = None if news[1] is more[1] is None else [*(news[1] or ()), *(more[1] or ())]
    return news[0] if more[0] is None else more[0], fragments


def _problem(code: str, message: str) -> Problem:
    return {"code": code, "message": message}


def _loaded(text: str) -> Any:
    """The value of the text, ABSENT if it is not JSON."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return ABSENT


def _extends(stated: Any, streamed: Any) -> bool:
    """True for the same value. A validator may have added fields that the model left out."""
    todo = [(stated, streamed)]  # no recursion, which compiled code does not bound
    while todo:
        now, was = todo.pop()
        if isinstance(was, dict):
            if not isinstance(now, dict) or not was.keys() <= now.keys():
                return False
            todo += [(now[key], value) for key, value in was.items()]
        elif isinstance(was, list):
            if not isinstance(now, list) or len(now) != len(was):
                return False
            todo += zip(now, was, strict=True)
        elif now != was or isinstance(now, bool) != isinstance(was, bool):
            return False
    return True
