"""Text → updates: `PartialStream`.

The machine emits to the `Finder` outside entities, and inside one to its `Recorder` (or, where
only the complete entity is sent, to a plain builder). Bad data never raises here: an error is an
update like any other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, Literal, NoReturn, cast

from ..document import ValueBuilder
from ..errors import (
    CutShort,
    FieldNotFound,
    InvalidJSON,
    JsonrillError,
    LimitExceeded,
    refuse_copy,
    stream_error,
)
from ..parse.create import create_machine
from ..parse.grammar import LITERALS, NUMBER
from ..parse.rules import rule_names
from ..parse.sink import Frame, Repair, Sink, path_of
from ..paths import ABSENT, Path, Pattern
from .entities import Declared, Entities, pattern_of
from .recorder import Recorder
from .update import Status, Update

if TYPE_CHECKING:
    from ..schema import Check, Refusal, Schema
    from ..schema.errors import SourceText

Mode = Literal["BATCH", "ALL-TOGETHER", "ONE-BY-ONE", "PROGRESSIVE", "REALTIME"]
MODES: Final = ("BATCH", "ALL-TOGETHER", "ONE-BY-ONE", "PROGRESSIVE", "REALTIME")
# How much text before an entity is kept: its first characters may be in an earlier piece.
_MOST_PENDING: Final = 500


class Whole(ValueBuilder):
    """An entity that is sent only when it is complete."""

    __slots__ = ("_on_end",)

    def __init__(self, base: int, on_end: Callable[[], None]) -> None:
        ValueBuilder.__init__(self, base)
        self._on_end = on_end

    def end_container(self, offset: int) -> None:
        ValueBuilder.end_container(self, offset)
        if self._frame is None:
            self._on_end()

    def end_string(self) -> None:
        ValueBuilder.end_string(self)
        if self._frame is None:
            self._on_end()

    def scalar(self, value: Any, text: str | None, offset: int) -> None:
        ValueBuilder.scalar(self, value, text, offset)
        if self._frame is None:
            self._on_end()


class Finder(Sink):
    """Follows the text outside entities, and hands over at the first event of each.

    `begin(declared, depth, offset)` returns the sink of the entity, to which the machine emits
    from then on. `has_found` tells whether there was an entity, or a list for some.
    """

    __slots__ = ("_begin", "_entities", "_takes_whole", "has_found")

    def __init__(
        self, entities: Entities, begin: Callable[[Declared, int, int], Sink], takes_whole: bool
    ) -> None:
        self._entities = entities
        self._begin = begin
        self._takes_whole = takes_whole
        self.has_found = False

    def start_object(self, offset: int) -> None:
        sink = self.find(len(self.frames) - 1, offset)
        if sink is not None:
            sink.start_object(offset)

    def start_array(self, offset: int) -> None:
        depth = len(self.frames) - 1
        sink = self.find(depth, offset, is_array=True)
        if sink is not None:
            sink.start_array(offset)
        elif self._entities.is_list(self.frames, depth):
            self.has_found = True

    def start_string(self, offset: int) -> None:
        sink = self.find(len(self.frames), offset)
        if sink is not None:
            sink.start_string(offset)

    def scalar(self, value: Any, text: str | None, offset: int) -> None:
        sink = self.find(len(self.frames), offset)
        if sink is not None:
            sink.scalar(value, text, offset)

    def takes_values(self) -> bool:
        if not self._entities.may_contain(self.frames):
            return True
        # An array that is an entity itself is one whatever its type is.
        return self._takes_whole and bool(
            self._entities.find(self.frames, len(self.frames), is_array=True)
        )

    def find(self, depth: int, offset: int, is_array: bool = False) -> Sink | None:
        """Return the sink of the entity that begins here, inside `depth` frames, if one does."""
        declared = self._entities.find(self.frames, depth, is_array)
        if declared is None:
            return None
        self.has_found = True
        return self._begin(declared, depth, offset)


class Skipper(Sink):
    """Passes over the rest of a refused entity, and says when it has ended."""

    __slots__ = ("_depth", "_on_end")

    def __init__(self, depth: int, on_end: Callable[[], None]) -> None:
        self._depth = depth
        self._on_end = on_end

    def end_container(self, offset: int) -> None:
        if len(self.frames) - 1 == self._depth:
            self._on_end()

    def end_string(self) -> None:
        if len(self.frames) == self._depth:
            self._on_end()

    def scalar(self, value: Any, text: str | None, offset: int) -> None:
        if len(self.frames) == self._depth:
            self._on_end()

    def takes_values(self) -> bool:
        return True


class PartialStream:
    """Text in, updates out. Nothing is raised for bad data: an ERROR is an update.

    `mode` says what arrives (or a mapping says it for each declared name), `entity` which parts of
    a document are entities, `schema` what one of them must look like, `send` whether updates carry
    their data, what is new in it, or both, and `only_complete` what of an entity is shown only
    when it is complete. After the end, or an ERROR of the stream, `ended` is true and nothing more
    comes. A violation of the schema ends its entity, and the stream if that is the root.
    """

    __slots__ = ("_check", "_counts", "_data", "_declared", "_delta", "_depth", "_entities",
                 "_finder", "_is_skipping", "_kept", "_literals", "_machine", "_modes", "_numbers",
                 "_only_complete", "_options", "_out", "_parse_float", "_path", "_schema",
                 "_schema_of", "_sink", "_text", "_zeros", "ended", "mode")  # fmt: skip

    def __init__(
        self,
        mode: Mode | Mapping[str, Mode] = "REALTIME",
        *,
        entity: str | Sequence[str] | Mapping[str, str] | None = None,
        schema: Any = None,
        send: Literal["data", "delta", "both"] = "data",
        partial_numbers: bool = True,
        early_literals: bool = False,
        zero_values: bool = False,
        only_complete: str | Sequence[str] = (),
        missing: Literal["none", "zero"] = "none",
        **options: Any,
    ) -> None:
        if send not in ("data", "delta", "both"):
            raise ValueError(f"send is 'data', 'delta' or 'both', not {send!r}")
        self._entities = Entities(entity)
        self._modes = _modes(mode, self._entities)
        self.mode = mode if isinstance(mode, Mapping) else self._modes[self._entities.names[0]]
        _refuse_unused(
            set(self._modes.values()),
            partial_numbers=not partial_numbers,
            early_literals=early_literals,
            zero_values=zero_values,
            only_complete=bool(only_complete),
        )
        self._data, self._delta = send != "delta", send != "data"
        # A number that is cut off may be dropped by that repair: it is shown when it is complete.
        rules = rule_names(options.get("repair") or False)
        options["repair"] = rules
        self._numbers = partial_numbers and "cut-off" not in rules
        self._literals = early_literals
        self._only_complete = _patterns(only_complete)
        self._parse_float = options.get("parse_float", float)
        self._options = options
        if zero_values and schema is None:
            raise ValueError("zero_values needs a schema")
        self._zeros = zero_values
        self._schema_of = _schemas(schema, self._entities, missing == "zero")
        # With a schema: the text of the open entity, to find the offset of a violation.
        self._text: SourceText | None = None
        if self._schema_of is not None:
            from ..schema.errors import SourceText

            self._text = SourceText(options.get("prefix", ""))
        takes_whole = {"PROGRESSIVE", "REALTIME"}.isdisjoint(self._modes.values())
        self._finder = Finder(self._entities, self._begin, takes_whole)
        self._machine = create_machine(self._finder, options)
        self.ended = False
        # The number of entities so far, by name.
        self._counts: dict[str | None, int] = dict.fromkeys(self._entities.names, 0)
        # The entity being read: what it is, how many containers are around it, its path and sink.
        self._declared: Declared | None = None
        self._depth = 0
        self._path: Path = ()
        self._sink: Recorder | Whole | None = None
        # Its schema, and the check of its value.
        self._schema: Schema | None = None
        self._check: Check | None = None
        # Whether the rest of a refused entity is passed over.
        self._is_skipping = False
        # Updates for this call, and those for the end.
        self._out: list[Update] = []
        self._kept: list[Update] = []

    def __copy__(self) -> NoReturn:
        refuse_copy(self)

    @property
    def repairs(self) -> list[Repair]:
        """All repairs so far, also those after the last update."""
        return self._machine.repairs

    def feed(self, data: str | bytes) -> list[Update]:
        """Return the updates that this piece of text brings: at most one for each entity."""
        if self.ended:
            return []
        if self._text is not None:
            if self._sink is None:
                self._text.begin(self._text.end - _MOST_PENDING)
            self._text.add(data)
        try:
            self._machine.feed(data)
        except (InvalidJSON, LimitExceeded) as error:
            return self._fail(error)
        if self._machine.pending_text is not None:
            self._begin_pending()
        if self._check is not None:
            self._look()
        recorder = self._recorder()
        if recorder is not None and (self._zeros or not recorder.in_string):
            self._offer(recorder)
        if recorder is not None and recorder.has_news():
            self._out.append(self._update("PARTIAL", recorder))
        return self._take()

    def flush(self, cut: CutShort | None = None) -> list[Update]:
        """End the text: return the last updates, among them an ERROR if it stopped early.

        With `cut`, the provider says that the answer stopped early: nothing is completed.
        """
        if self.ended:
            return []
        try:
            self._machine.flush(cut)
        except (InvalidJSON, LimitExceeded) as error:
            return self._fail(error)
        if not self._finder.has_found and not self._entities.is_default:
            return self._fail(self._not_found())
        self.ended = True
        batched = self._batched()
        self._out += [update for update in self._kept if update.entity not in batched]
        self._out += [self._batch(name) for name in batched]
        return self._take()

    def _take(self) -> list[Update]:
        updates = self._out
        self._out = []
        return updates

    # ---- entities ----

    def _begin(self, declared: Declared, depth: int, offset: int) -> Sink:
        """Begin an entity inside `depth` containers; return the sink for its events."""
        self._declared, self._depth = declared, depth
        self._path = path_of(self._machine.frames, 0, depth)
        if self._schema_of is not None and self._text is not None:
            self._schema = self._schema_of(declared, self._machine.frames[:depth])
            self._check = None if self._schema is None else self._schema.check()
            self._text.begin(offset)
        mode = self._modes[declared.name]
        if mode == "REALTIME" or mode == "PROGRESSIVE":
            strings = mode == "REALTIME"
            self._sink = Recorder(depth, self._end, strings, self._only_complete)
        else:
            self._sink = Whole(depth, self._end)
        self._machine.redirect(self._sink)
        return self._sink

    def _end(self) -> None:
        """Complete the entity, unless its schema refuses it."""
        declared, sink = self._declared, self._sink
        assert declared is not None and sink is not None
        model = None
        if self._check is not None:
            from ..schema import Refused

            try:
                model = self._check.close(sink.root)
            except Refused as refused:
                self._refuse(refused.refusal)
                self._leave()
                return
        update = self._update("COMPLETED", sink)
        if self._is_typed():
            update.model = model
        is_kept = self._modes[declared.name] in ("BATCH", "ALL-TOGETHER")
        (self._kept if is_kept else self._out).append(update)
        self._leave()

    def _begin_pending(self) -> None:
        """Begin the entity of a number or literal that is being read, unless it was refused.

        Not with `repair`, which may drop what is cut off.
        """
        if self._sink is None and not self._is_skipping and not self._options["repair"]:
            self._finder.find(len(self._machine.frames), self._machine.pending_offset)

    def _leave(self, sink: Sink | None = None) -> None:
        """Leave the entity; emit to `sink`, or look for the next entity."""
        assert self._declared is not None
        self._counts[self._declared.name] += 1
        self._declared = self._sink = self._check = self._schema = None
        self._machine.redirect(sink or self._finder)

    # ---- schemas ----

    def _is_typed(self) -> bool:
        return self._schema is not None and self._schema.is_typed

    def _look(self) -> None:
        """Check what is new in the open entity; end it at the first violation."""
        from ..schema import Refused

        sink, check = self._sink, self._check
        assert sink is not None and check is not None
        open_path = sink.read_path if isinstance(sink, Recorder) else sink.open_path
        try:
            check.look(sink.root, open_path)
            if not self._options.get("repair"):
                check.begin_at(self._machine, self._depth)
        except Refused as refused:
            self._refuse(refused.refusal)
            self._leave(Skipper(self._depth, self._resume))
            self._is_skipping = True

    def _resume(self) -> None:
        self._is_skipping = False
        self._machine.redirect(self._finder)

    def _refuse(self, refusal: Refusal) -> None:
        """Emit the ERROR of a violation, with what was good before it."""
        sink, check, text = self._sink, self._check, self._text
        assert sink is not None and check is not None and text is not None
        update = self._update("ERROR", sink)
        update.error = text.violation(refusal, self._options, update.path).to_dict()
        good, model = check.before(sink.root, refusal.path)
        update.open_path = None if good is ABSENT else refusal.path[:-1]
        update._completed = [], None
        update.model = model if self._is_typed() and model is not ABSENT else None
        good = None if good is ABSENT else good
        update._data = good
        update.delta = [["set", "", good]] if self._delta else None
        self._out.append(update)
        self.ended = self.ended or self._depth == 0

    def _recorder(self) -> Recorder | None:
        return self._sink if isinstance(self._sink, Recorder) else None

    # ---- values that are not complete ----

    def _offer(self, recorder: Recorder) -> None:
        """Show the number or literal being read, or the zero of a value that has not come."""
        text = self._machine.pending_text
        declared = self._declared
        assert declared is not None
        if text is not None and self._modes[declared.name] == "REALTIME":
            if text[0] in LITERALS:
                if self._literals:
                    return recorder.offer(LITERALS[text[0]][1])
            # A model has a number when it is complete, and so does the data beside it.
            elif self._numbers and not self._is_typed() and (match := NUMBER.match(text)):
                return self._offer_number(recorder, match.group())
        if self._zeros and recorder.wants_zero() and self._schema is not None:
            has_zero, zero = self._schema.zero(recorder.next_path)
            if has_zero:
                recorder.offer(zero.copy() if isinstance(zero, (dict, list)) else zero)
        return None

    def _offer_number(self, recorder: Recorder, number: str) -> None:
        is_integer = number.lstrip("-").isdecimal()
        with suppress(ValueError):  # sys.set_int_max_str_digits
            recorder.offer(int(number) if is_integer else self._parse_float(number))

    # ---- updates ----

    def _update(self, status: Status, sink: Recorder | Whole) -> Update:
        """Make an update of the open entity."""
        declared = self._declared
        assert declared is not None
        has_data = self._data or status != "PARTIAL"
        value = sink.value if has_data else ABSENT
        update: Update = Update(self._counts[declared.name], status, value, declared.name)
        update.path = self._path
        if isinstance(sink, Recorder):
            operations, completed = sink.take()
            update._completed = completed, None
            update.open_path = None if status == "COMPLETED" else sink.open_path
            if self._check is not None and self._is_typed():
                is_partial = status == "PARTIAL"
                partial = self._check.partial(sink.hidden_depth) if is_partial else ABSENT
                update.model = None if partial is ABSENT else partial
        else:
            operations = [["set", "", value]]
            update.completed_in(value)
        update.delta = operations if self._delta else None
        update.repairs = list(self._machine.repairs)
        return update

    def _fail(self, error: JsonrillError) -> list[Update]:
        """End the stream, and the open entity, with an error; what is complete is emitted."""
        if self.ended:  # by a violation before it
            return self._take()
        if self._begins_value(error):
            self._begin_pending()
        if self._check is not None:
            self._look()
            if self.ended:
                return self._take()
        self.ended = True
        if isinstance(self._sink, Recorder):
            self._sink.settle()
        if self._sink is None:
            update: Update = Update(None, "ERROR", None)
            update.delta = [] if self._delta else None
        else:
            update = self._update("ERROR", self._sink)
            update.open_path = self._sink.open_path
            if self._check is not None and self._is_typed():
                model = self._check.partial_of(update.data, update.open_path)
                update.model = None if model is ABSENT else model
        update.error = stream_error(error)
        batched = self._batched()
        if batched:
            lists = {name: self._data_of(name) for name in batched}
            update._data = lists if len(lists) > 1 else next(iter(lists.values()))
            update.delta = [["set", "", update._data]] if self._delta else None
            update.open_path = None
            update.completed_in(update._data)
        self._out += [one for one in self._kept if one.entity not in batched]
        self._out.append(update)
        return self._take()

    def _begins_value(self, error: JsonrillError) -> bool:
        """Return whether a number or literal has begun, however the text was cut before it."""
        is_long_number = isinstance(error, LimitExceeded) and error.limit == "number"
        return is_long_number or self._machine.pending_text is not None

    def _not_found(self) -> FieldNotFound:
        places = ", ".join(repr(declared.text) for declared in self._entities.declared)
        return FieldNotFound(f"the document has no entity at {places}", field=places)

    def _batched(self) -> list[str | None]:
        return [name for name, mode in self._modes.items() if mode == "BATCH"]

    def _data_of(self, name: str | None) -> list[Any]:
        return [update.data for update in self._kept if update.entity == name]

    def _batch(self, name: str | None) -> Update:
        """Make the update of all entities of one name."""
        data = self._data_of(name)
        update: Update = Update(0, "COMPLETED", data, name)
        update.delta = [["set", "", data]] if self._delta else None
        update.completed_in(data)
        if self._schema_of is not None:
            update.model = [one.model for one in self._kept if one.entity == name]
        update.repairs = list(self._machine.repairs)
        return update


def _patterns(only_complete: Any) -> tuple[Pattern, ...]:
    texts = [only_complete] if isinstance(only_complete, str) else only_complete
    is_list = isinstance(texts, (list, tuple, set, frozenset))
    if not is_list or not all(isinstance(text, str) for text in texts):
        raise TypeError(f"only_complete is a path, or a list of paths, not {only_complete!r}")
    return tuple(map(pattern_of, texts))


def _mode(name: Any) -> Mode:
    """Return a mode by its name, in any case and with `-` or `_`."""
    spelled = name.upper().replace("_", "-") if isinstance(name, str) else name
    if spelled not in MODES:
        raise ValueError(f"mode is one of {', '.join(MODES)}, not {name!r}")
    return cast(Mode, spelled)


def _refuse_unused(modes: set[Mode], **options: bool) -> None:
    """Raise for an option that has no effect in any of these modes."""
    names = " and ".join(mode for mode in MODES if mode in modes)
    for option, is_given in options.items():
        of_realtime = option in ("partial_numbers", "early_literals")
        wanted = {"REALTIME"} if of_realtime else {"PROGRESSIVE", "REALTIME"}
        if is_given and modes.isdisjoint(wanted):
            of = "the mode REALTIME" if of_realtime else "the modes PROGRESSIVE and REALTIME"
            raise ValueError(f"{option} is for {of}, not for {names}")


def _modes(mode: Any, entities: Entities) -> dict[str | None, Mode]:
    """Return the mode of each declared entity; REALTIME for those that a mapping leaves out."""
    modes = mode if isinstance(mode, Mapping) else dict.fromkeys(entities.names, mode)
    given = {name: _mode(one) for name, one in modes.items()}
    unknown = given.keys() - set(entities.names)
    if unknown:
        raise ValueError(
            f"mode names {', '.join(sorted(unknown))}, which `entity` does not declare"
        )
    return {name: given.get(name, "REALTIME") for name in entities.names}


SchemaOf = Callable[[Declared, list[Frame]], "Schema | None"]


def _schemas(schema: Any, entities: Entities, zeros: bool) -> SchemaOf | None:
    """Return a function that returns the schema of an entity inside some frames.

    An entity has the schema of its name, the only one, or its part of the schema of a root array.
    """
    if schema is None:
        return None
    from ..schema import Schema

    if _is_by_name(schema, entities):
        by_name = {name: Schema(one, zeros=zeros) for name, one in schema.items()}
        return lambda declared, frames: by_name.get(declared.name or "")
    whole = Schema(schema, zeros=zeros)
    if entities.is_default and whole.describes_arrays:
        return lambda declared, frames: whole.item(frames[0].count) if frames else whole
    return lambda declared, frames: whole


def _is_by_name(schema: Any, entities: Entities) -> bool:
    """Return whether this is a schema for each name rather than one JSON Schema."""
    return (
        isinstance(schema, Mapping)
        and bool(schema)
        and schema.keys() <= set(entities.names)
        and not any(isinstance(one, (str, float, list)) for one in schema.values())
    )
