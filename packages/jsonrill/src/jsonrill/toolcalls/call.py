"""One tool call: how its arguments grow, and how it ends.

A call is `streaming` until it is `complete`, in `error` or `truncated`. `take` adds what a
statement brings. A call ends because its provider says so (`end`), because its response ends
(`finish`), or because the stream stops (`abandon`). `identity.py` decides which statements are
about it.

The arguments come in one of four ways:

    JSON text     one machine and one builder read it, for the value and the fragments
    free text     the text is the value
    fragments     of a sender that has read the text: `Rebuilder` applies them
    values        at paths, or complete: they are written as JSON text
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal

from ..document import Document
from ..errors import DEFAULT_LIMITS, FragmentError, InvalidJSON, LimitExceeded, Problem
from ..fragment import Fragment, FragmentBuilder, Rebuilder, is_foreign
from ..jsontext import dumps
from ..parse.machine import Repair
from ..parse.options import ParseOptions, create_machine
from ..paths import ABSENT, Path, is_complete
from ..providers.statements import CallDelta, End
from ..providers.writer import Writer

if TYPE_CHECKING:
    from ..schema import Check, Schema

Status = Literal["streaming", "complete", "error", "truncated"]

# The white space of JSON.
_SPACES: Final = " \t\n\r"


@dataclass(slots=True, eq=False, repr=False)
class ToolCall:
    """One call. It grows with the stream; the `args` it returns are safe to keep.

    `raw` is the argument text as received. `error` is what `JsonrillError.to_dict` returns, with
    offset, line and column in `raw`. `model` is the validated instance, if the schema is a type and
    the arguments are complete. `hosted`: the provider runs the tool. `answered`: there is a
    `result`, which may be None.
    """

    id: str
    index: int | None = None
    message_id: str = ""
    name: str | None = None
    raw: str = ""
    status: Status = "streaming"
    error: Problem | None = None
    encoding: Literal["json", "text"] = "json"
    hosted: bool = False
    answered: bool = False
    result: Any = None
    result_is_error: bool = False
    model: Any = None
    # The number of the call, in the order of opening, and all its ids and aliases.
    number: int = 0
    ids: list[str] = field(default_factory=list)
    # Whether the id is the provider's own and will not change; whether the call may still grow.
    own_id: bool = True
    is_open: bool = True
    # Whether its response has ended, and the number of the last event about it.
    has_ended: bool = False
    event: int = 0
    # Whether the arguments differ from their text, so that they must be sent with it.
    sends_args: bool = False
    # The argument text and its fragments that came with the last event, if any.
    new_text: str | None = None
    new_fragments: list[Fragment] | None = None
    # Whether the text is a `{}` that came alone. The arguments that some providers send after it
    # replace it, so it makes no fragments before its end.
    is_placeholder: bool = False
    _options: ParseOptions = field(default_factory=ParseOptions)
    # What reads the arguments while they grow, and their value once they have ended.
    _machine: Any = None
    _builder: FragmentBuilder | None = None
    _rebuilder: Rebuilder | None = None
    _writer: Writer | None = None
    _value: Any = None
    _cut_path: Path | None = None
    _repairs: list[Repair] = field(default_factory=list)
    # Whether the text is not JSON. Whether the arguments ended without a character: then the end of
    # the response decides if they were cut off. Whether an event had content that was not read.
    _is_broken: bool = False
    _is_void: bool = False
    _has_unread: bool = False
    # Whether another jsonrill sends it, which may leave out the name.
    _is_received: bool = False
    _preset: Any = ABSENT
    _check: Check | None = None
    _is_typed: bool = False

    # ---- public state ----

    @property
    def args(self) -> Any:
        """The arguments as far as they are known, safe to keep; of free text, the text."""
        growing = self._builder or self._rebuilder
        return self.live if growing is None else growing.value

    @property
    def live(self) -> Any:
        """The arguments without a copy: they change with the next event."""
        if self._builder is not None:
            return self._builder.root
        if self._rebuilder is not None:
            return self._rebuilder.live
        if self.encoding == "text":
            return self.raw
        return {} if self.is_placeholder else self._value

    def args_until(self, length: int) -> Any:
        """Return the arguments as they were after `length` characters of their text."""
        if length >= len(self.raw):
            return self.args
        text = self.raw[:length]
        return text if self.encoding == "text" else _read(text, self._options)[0]

    @property
    def open_path(self) -> Path | None:
        """The path, within the arguments, of the value that is growing or was cut off."""
        growing = self._builder or self._rebuilder
        if growing is not None:
            return growing.open_path
        return () if self.encoding == "text" and self.is_open else self._cut_path

    def is_complete(self, path: Path | str = ()) -> bool:
        """Return whether the value at this path is complete; without a path, all arguments."""
        has_begun = self.live is not None or self.complete_args
        growing = None if self.complete_args else self.open_path or ()
        return has_begun and is_complete(self.live, path, growing)

    @property
    def complete_args(self) -> bool:
        """True once the arguments are a complete JSON value. It never becomes true twice."""
        return self.status == "complete" or (self.status == "streaming" and self._is_done)

    @property
    def _is_done(self) -> bool:
        if self._builder is not None:
            return self._builder.done and not self._is_broken
        return self._rebuilder is not None and self._rebuilder.complete

    @property
    def repairs(self) -> list[Repair]:
        """With `repair`: the repairs in the argument text."""
        return self._repairs if self._machine is None else list(self._machine.repairs)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ToolCall):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in _COMPARED)

    def __repr__(self) -> str:
        return f"<ToolCall {self.id} {self.name} {self.status} {self.raw!r}>"

    # ---- for `Identity` ----

    @property
    def has_all_args(self) -> bool:
        """True if the arguments are a complete JSON value, though the call may be in error."""
        return self.status == "complete" or self.is_placeholder or self._is_done

    @property
    def is_settled(self) -> bool:
        """True if the call has ended. (A call in error may still get text, or its id.)"""
        return self.has_ended or self.status in ("complete", "truncated")

    # ---- statements ----

    def take(self, delta: CallDelta) -> None:
        """Add the arguments of a delta, which are text, values or fragments."""
        self.hosted = self.hosted or delta.hosted
        self._has_unread = self._has_unread or delta.unread
        if delta.preset is not ABSENT:
            self._preset = delta.preset
        if delta.free and not self.raw:
            self.encoding = "text"
        if delta.received:
            self._receive(delta)
        elif delta.text is not None:
            self._append(delta.text)
        elif delta.parts or (self._writer is not None and delta.end is not None):
            self._append(None if self.status == "error" else self._write_values(delta))
        elif delta.value is not ABSENT:
            self._reconcile(None, delta.value)

    def end(self, end: End) -> None:
        """End the arguments. The provider may repeat them here, or state them only now."""
        self._reconcile(end.text, end.value)
        if end.error is not None:
            self._fail({"code": "PROVIDER_ERROR", "message": end.error})
        if self.name is None and self.status == "streaming" and not (end.incomplete or end.sure):
            return  # the name may come with a later event: the end of the response decides
        self._close(is_cut=end.incomplete, is_void=not end.sure)

    def finish(self, *, is_cut: bool = False, error: str | None = None) -> None:
        """End the call with its response."""
        if not is_cut:
            self._reconcile(None, ABSENT)
        self._close(is_cut=is_cut, error=error)

    def abandon(self, *, counted: bool = False) -> None:
        """End the call because the stream stopped: truncated, unless the arguments are complete.

        `{}` is enough only if the tokens were `counted` after it: the arguments might follow.
        """
        is_done = self._is_void or self._is_done or (self.is_placeholder and counted)
        self._close(is_cut=not is_done)

    def replace(self, delta: CallDelta) -> None:
        """Replace the streamed arguments by the final state."""
        raw, value = delta.text or "", delta.value
        self.sends_args = value is not ABSENT
        problem: Problem | None = None
        if value is ABSENT and delta.free:
            value = raw
        elif value is ABSENT and raw == self.raw and self.status != "streaming":
            value = self.args
        elif value is ABSENT:
            value, problem = ({}, None) if _is_blank(raw) else _read(raw)
        self.encoding = "text" if delta.free else "json"
        self.status, self.error = delta.status or "complete", delta.error  # type: ignore[assignment]
        if problem is not None and self.status == "complete":
            self.status, self.error = "error", problem
        self.raw = raw
        self._freeze(value)

    # ---- text, and values that are written as text ----

    def _add_text(self, text: str) -> None:
        """Add to the argument text, and set the new text (at most once for each event)."""
        self.new_text = text or self.new_text
        # The string must have no other owner while it grows: then CPython extends it in place.
        raw = self.raw
        self.raw = ""
        raw += text
        self.raw = raw

    def _add_fragments(self, fragments: list[Fragment]) -> None:
        self.new_fragments = self.new_fragments + fragments if self.new_fragments else fragments

    def _append(self, text: str | None, *, is_final: bool = False) -> None:
        """Read new text, unless it is a repetition. `is_final`: an empty object is the value."""
        if not text:
            return
        if self.encoding == "text" or self._is_broken:
            self._append_unread(text)
        elif not (self.raw or is_final) and _is_empty_object(text):
            self.is_placeholder = True
            self._add_text(text)
            self._add_fragments([])
        elif not self._repeats(text):
            if self.is_placeholder:
                self.raw, self.is_placeholder = "", False
            self._add_text(text)
            self._add_fragments(self._parse(text))

    def _append_unread(self, text: str) -> None:
        """Keep free text, and text that is not JSON, up to the limit of text."""
        bound = (self._options.get("limits") or DEFAULT_LIMITS).text
        if len(self.raw) + len(text) > bound:
            error = LimitExceeded(f"more than {bound} (text)", limit="text", offset=bound, path=())
            self._fail(error.locate(self.raw + text).to_dict())
            return
        fragments = [Fragment("PartialString", (), text)] if self.encoding == "text" else []
        if fragments and not self.raw:
            fragments.insert(0, Fragment("StartString"))
        self._add_text(text)
        self._add_fragments(fragments)

    def _repeats(self, text: str) -> bool:
        """Return whether this text only repeats complete arguments."""
        if self.is_placeholder:
            return _is_blank(text) or _is_empty_object(text)
        return self._is_done and (text == self.raw or _is_empty_object(text))

    def _parse(self, text: str) -> list[Fragment]:
        """Return the fragments of new text, after those of text that no parser has read yet."""
        if self._builder is None:
            text, self._builder = self.raw, FragmentBuilder()
            self._machine = create_machine(self._builder, self._options)
        try:
            self._machine.feed(text)
        except (InvalidJSON, LimitExceeded) as error:
            self._validate()
            self._is_broken = True
            self._fail(error.to_dict())
        else:
            if self._check is not None:
                self._validate()
        return self._builder.take()

    def _write_values(self, delta: CallDelta) -> str | None:
        """Return the JSON text of the values of a delta; None if they cannot be written."""
        try:
            if not delta.parts and delta.end is None:
                return dumps(delta.value)
            writer = self._writer = self._writer or Writer()
            text = "".join([writer.write(part) for part in delta.parts])
            return text if delta.end is None else text + writer.close()
        except (ValueError, TypeError, RecursionError) as error:
            self._fail({"code": "INVALID_JSON", "message": str(error)})
            return None

    # ---- calls that another jsonrill sends ----

    def _receive(self, delta: CallDelta) -> None:
        """Apply the fragments of a sender, or read the text, and follow the sender's verdict."""
        self._is_received = True
        if delta.status == "error":
            message = "the sender gave no reason"
            self._fail(delta.error or {"code": "PROVIDER_ERROR", "message": message})
        text, fragments = delta.text or "", delta.fragments
        if self._needs_text(text, fragments):
            self._append(text, is_final=fragments is None)
        elif text or fragments is not None:
            self._apply(text, fragments)
        if self.status == "streaming" and delta.status == "complete":
            self._close()
        elif self.status == "streaming" and delta.status == "truncated":
            self.status = "truncated"
            self._freeze(self.args)

    def _needs_text(self, text: str, fragments: list[Any] | None) -> bool:
        """Return whether to read the text: without usable fragments, or if it was read before."""
        if self.encoding == "text" or self._machine is not None:
            return True
        if self._rebuilder is not None:
            return False
        if fragments:
            # The foreign generator's fragments lack escapes.
            return bool(text) and any(map(is_foreign, fragments))
        is_empty = self.is_placeholder or (not self.raw and _is_empty_object(text))
        return fragments is None or is_empty

    def _apply(self, text: str, fragments: list[Any] | None) -> None:
        """Apply fragments; if there are none or they do not fit, read the text instead."""
        if self.is_placeholder:
            # Arguments replace the placeholder; without text, the placeholder is the value.
            self.raw, self.is_placeholder = self.raw if not text else "", False
        self._add_text(text)
        try:
            if fragments is None:
                raise FragmentError("there are no fragments")
            if fragments:
                self._rebuilder = self._rebuilder or Rebuilder()
                self._rebuilder.feed(fragments)
            is_known = not any(map(is_foreign, fragments))
            self._add_fragments([*map(Fragment.from_dict, fragments)] if is_known else [])
            self._validate()
        except (FragmentError, TypeError):
            if self.raw:
                self._rebuilder = None
                self._parse(self.raw)

    # ---- the complete arguments, stated by the provider ----

    def _reconcile(self, text: str | None, value: Any) -> None:
        """Compare stated arguments with the streamed ones; use them if none were streamed."""
        if self.raw and not self.is_placeholder:
            if self.status == "streaming" and not self._agrees(text, value):
                message = "the arguments stated at the end are not those that were streamed"
                self._fail({"code": "ARGUMENTS_DIFFER", "message": message})
            return
        value = self._preset if value is ABSENT else value
        if text is None and value is not ABSENT:
            is_text = isinstance(value, str) and (value is self._preset or self.encoding == "text")
            text = value if is_text else self._write_values(CallDelta(value=value))
        self._append(text)

    def _agrees(self, text: str | None, value: Any) -> bool:
        if self.encoding == "text":
            return (value if text is None else text) in (ABSENT, None, self.raw)
        if text is not None:
            return text == self.raw or (self.complete_args and _read(text) == (self.live, None))
        try:
            return value is ABSENT or (self.complete_args and _extends(value, self.live))
        except RecursionError:  # values too deep to compare count as equal
            return True

    # ---- the end ----

    def _close(
        self, *, is_cut: bool = False, error: str | None = None, is_void: bool = False
    ) -> None:
        """Set the final status. With `is_void`, leave a call with empty arguments undecided."""
        is_intact = not is_cut and error is None
        is_empty = is_intact and self.status == "streaming" and self._is_empty()
        if is_empty and is_void:
            self._is_void = True
            return
        if self.status != "streaming":
            pass
        elif not (is_empty or self._is_finished(is_intact)):
            self.status = "truncated"
            if error is not None:
                self._fail({"code": "PROVIDER_ERROR", "message": error})
        elif self.name is None and not self._is_received:
            self._fail({"code": "NO_NAME", "message": "the call ended without a name"})
        else:
            self._validate({} if is_empty else self.args)
            if self.error is None:
                self.status = "complete"
            else:
                is_empty = False
        self._freeze({} if is_empty else self.args)

    def _is_empty(self) -> bool:
        """Return whether no character of arguments came, which is an empty object at the end."""
        is_json = self.encoding == "json" and self._rebuilder is None
        return is_json and not self._has_unread and _is_blank(self.raw)

    def _is_finished(self, is_intact: bool) -> bool:
        """Return whether the arguments are complete when no more text follows.

        For JSON the parser decides. Text that was cut off (not `is_intact`) is not complete, unless
        its value is.
        """
        if self.encoding == "text" or (self.is_placeholder and not is_intact):
            return is_intact
        if self.is_placeholder:
            # The placeholder is the value.
            self.is_placeholder = False
            self._add_fragments(self._parse(""))
        elif is_intact and self._machine is None and not (self._is_done or _is_blank(self.raw)):
            self._rebuilder = None
            self._parse("")  # a number at the root is complete only now
        if self._machine is None or not is_intact:
            return self._is_done
        try:
            self._machine.flush()
        except (InvalidJSON, LimitExceeded):
            return False
        return True

    def _freeze(self, value: Any) -> None:
        """Keep the final value, and drop the objects that were needed to read it."""
        self._cut_path = None if self.status == "complete" else self.open_path
        self._repairs = self.repairs
        self._value = value
        self._machine = self._builder = self._rebuilder = self._writer = self._check = None
        self._preset = ABSENT
        self.is_open = self.is_placeholder = False

    def _fail(self, error: Problem) -> None:
        if self.status != "error":
            self.status, self.error, self.model = "error", error, None

    # ---- the schema ----

    def validate_with(self, schema: Schema | None) -> None:
        """Validate with this schema from now on, and validate the arguments so far."""
        self._check = None if schema is None else schema.check()
        self._is_typed = schema is not None and schema.is_typed
        self._validate()

    def _validate(self, value: Any = ABSENT) -> None:
        """Check the arguments so far. A violation puts the call in error."""
        check = self._check
        if check is None or self.status != "streaming":
            return
        from ..schema import Refused
        from ..schema.errors import offset_of, violation

        try:
            if value is not ABSENT or self._is_done:
                self._check = None
                model = check.close(self.live if value is ABSENT else value)
                self.model = model if self._is_typed else None
            elif self._builder is not None:
                check.look(self._builder.root, self._builder.open_path)
                if "repair" not in self._options:
                    check.begin_at(self._machine)
        except Refused as refused:
            self._check = None
            offset = offset_of(self.raw, refused, self._options)
            self._fail(violation(refused, (), offset).locate(self.raw).to_dict())


_COMPARED: Final = (
    *("id", "index", "message_id", "name", "raw", "args", "status", "error"),
    *("result", "result_is_error", "encoding"),
)


def _is_blank(text: str) -> bool:
    return not text.strip(_SPACES)


def _is_empty_object(text: str) -> bool:
    """Return whether the text is an object without fields, written in one piece."""
    text = text.strip(_SPACES)
    return text[:1] == "{" and text[-1:] == "}" and len(text) > 1 and _is_blank(text[1:-1])


def _read(text: str, options: ParseOptions = {}) -> tuple[Any, Problem | None]:  # noqa: B006
    """Return the value of a text, and its error if it has one."""
    document = Document(**options)
    try:
        document.feed(text)
        document.flush()
    except (InvalidJSON, LimitExceeded) as error:
        return document.value, error.to_dict()
    return document.value, None


def _extends(stated: Any, streamed: Any) -> bool:
    """Return whether the values are equal, except for fields that a validator may have added."""
    if isinstance(streamed, dict):
        if not isinstance(stated, dict) or not streamed.keys() <= stated.keys():
            return False
        return all(_extends(stated[key], value) for key, value in streamed.items())
    if isinstance(streamed, list):
        if not isinstance(stated, list) or len(stated) != len(streamed):
            return False
        return all(map(_extends, stated, streamed))
    return stated == streamed and isinstance(stated, bool) == isinstance(streamed, bool)
