"""Text → updates: `PartialStream`.

The machine emits to the `EntityFinder` outside entities, and inside one to its `Recorder`. Bad data
never raises here: an error is an update like any other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final, Literal, NoReturn, cast, get_args

from ..errors import (
    CutShort,
    FieldNotFound,
    InvalidJSON,
    JsonrillError,
    LimitExceeded,
    stream_error,
)
from ..finder import Finder, Place
from ..parse.grammar import LITERALS, NUMBER
from ..parse.machine import Frame, Repair, Sink, path_of
from ..parse.options import create_machine, rule_names
from ..paths import ABSENT, Path, Pattern
from ..schema import Check, Refused, Schema
from ..schema.check import SourceText
from .entities import Entities, pattern_of
from .recorder import Recorder
from .update import Record, Status, Update

Mode = Literal["BATCH", "ALL-TOGETHER", "ONE-BY-ONE", "PROGRESSIVE", "REALTIME"]
MODES: Final[tuple[Mode, ...]] = get_args(Mode)
# The modes in which an entity is sent before it is complete. In the others its root is hidden.
_GROWING: Final = ("PROGRESSIVE", "REALTIME")
_ROOT: Final[tuple[Pattern, ...]] = ((),)
# Keep this many characters, because the start of an entity may be in an earlier piece.
_MAX_PENDING: Final = 500


class EntityFinder(Finder):
    """Follows the text outside entities, and passes control at the first event of an entity.

    `begin(place, depth, offset)` returns the sink of the entity, to which the machine emits from
    then on. `has_found` is true after the first entity or list of entities.
    """

    __slots__ = ("_begin", "_places", "_takes_whole", "has_found")

    def __init__(
        self, places: list[Place], begin: Callable[[Place, int, int], Sink], takes_whole: bool
    ) -> None:
        self._places = places
        self._begin = begin
        self._takes_whole = takes_whole
        self.has_found = False

    def find(self, depth: int, kind: str, offset: int) -> Sink | None:
        is_array = kind == "an array"
        is_list = is_array and any(place.is_list(self.frames, depth) for place in self._places)
        place = self._place(depth, is_array)
        self.has_found = self.has_found or is_list or place is not None
        return None if place is None else self._begin(place, depth, offset)

    def takes_values(self) -> bool:
        if not any(place.may_contain(self.frames) for place in self._places):
            return True
        # A place that selects an array here selects a value of any type.
        return self._takes_whole and self._place(len(self.frames), is_array=True) is not None

    def _place(self, depth: int, is_array: bool) -> Place | None:
        places = (place for place in self._places if place.selects(self.frames, depth, is_array))
        return next(places, None)


class Entity:
    """The entity being read: its name, its place, its value and the check of its schema."""

    __slots__ = ("check", "depth", "index", "is_typed", "mode", "name", "path", "recorder",
                 "schema")  # fmt: skip

    def __init__(
        self, name: Any, mode: Mode, index: int, path: Path, recorder: Recorder, schema: Any
    ) -> None:
        self.name: str | None = name
        self.mode = mode
        self.index = index
        # Its place in the document, and the number of containers around it.
        self.path = path
        self.depth = len(path)
        self.recorder = recorder
        self.schema: Schema | None = schema
        self.check: Check | None = None if schema is None else schema.check()
        self.is_typed = schema is not None and schema.is_typed


class PartialStream:
    """Text in, updates out. Bad data never raises: an ERROR is an update.

    `entity` declares which parts of a document are entities, and `schema` describes one of them.
    `mode` decides when updates are sent, for all entities or by name; `send`, whether they carry
    the data, the changes or both. The values at `only_complete` appear when they are complete.
    After the end, or an ERROR of the stream, `ended` is true and no more updates come. A violation
    of the schema ends its entity, and the stream if the entity is the root.
    """

    __slots__ = ("_batch_index", "_counts", "_data", "_delta", "_entities", "_entity", "_finder",
                 "_is_skipping", "_late_updates", "_literals", "_machine", "_modes", "_numbers",
                 "_only_complete", "_options", "_out", "_parse_float", "_schema_of", "_text",
                 "_zeros", "ended", "failed")  # fmt: skip

    # The rest of the contract of a stage (`pipeline.py`).
    error = rest = None

    def rescue(self, error: Exception) -> NoReturn:
        raise error

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
        **options: Any,
    ) -> None:
        if send not in ("data", "delta", "both"):
            raise ValueError(f"send must be 'data', 'delta' or 'both', not {send!r}")
        self._entities = Entities(entity)
        self._modes = _modes(mode, self._entities)
        _refuse_unused(
            set(self._modes.values()),
            partial_numbers=not partial_numbers,
            early_literals=early_literals,
            zero_values=zero_values,
            only_complete=bool(only_complete),
        )
        self._data, self._delta = send != "delta", send != "data"
        # A number that is cut off may be dropped by that repair: it is shown when it is complete.
        rules = rule_names(options.get("repair", False))
        options["repair"] = rules
        self._numbers = partial_numbers and "cut-off" not in rules
        self._literals = early_literals
        self._only_complete = _patterns(only_complete)
        self._parse_float = options.get("parse_float", float)
        self._options = options
        if zero_values and schema is None:
            raise ValueError("zero_values needs a schema")
        self._zeros = zero_values
        self._schema_of = _schemas(schema, self._entities)
        # With a schema: the text of the open entity, to find the offset of a violation.
        self._text = None if schema is None else SourceText(options.get("prefix", ""))
        takes_whole = set(_GROWING).isdisjoint(self._modes.values())
        self._finder = EntityFinder(self._entities.places, self._begin, takes_whole)
        self._machine = create_machine(self._finder, options)
        self.ended = self.failed = False
        # The number of entities so far, by name, and the index of the updates of BATCH.
        self._counts: Counter[str | None] = Counter()
        self._batch_index = 0
        # The entity being read.
        self._entity: Entity | None = None
        # Whether the rest of a refused entity is skipped.
        self._is_skipping = False
        # Updates for this call, and updates for the end.
        self._out: list[Update] = []
        self._late_updates: list[Update] = []

    def follow(self, earlier: PartialStream) -> None:
        """Continue the indices of an earlier document of the same source."""
        self._counts = earlier._counts
        self._batch_index = earlier._batch_index + 1

    @property
    def repairs(self) -> list[Repair]:
        """All repairs so far, also those after the last update."""
        return self._machine.repairs

    def feed(self, data: str | bytes) -> list[Update]:
        """Return the updates that this piece of text brings: at most one for each entity."""
        if self.ended:
            return []
        if self._text is not None:
            if self._entity is None:
                self._text.begin(self._text.end - _MAX_PENDING)
            self._text.add(data)
        try:
            self._machine.feed(data)
        except (InvalidJSON, LimitExceeded) as error:
            return self._fail(error)
        if self._entity is None and self._machine.pending_text is not None:
            self._begin_pending()
        self._check_schema()
        entity = self._entity
        if entity is not None:
            if self._zeros or not entity.recorder.in_string:
                self._show_pending(entity)
            if entity.recorder.has_news():
                self._out.append(self._update("PARTIAL", entity))
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
        for name, updates in self._release().items():
            self._out.append(self._batch(name, updates))
        return self._take()

    def _take(self) -> list[Update]:
        updates = self._out
        self._out = []
        return updates

    # ---- entities ----

    def _begin(self, place: Place, depth: int, offset: int) -> Sink:
        """Begin an entity inside `depth` containers; return the sink for its events."""
        name = place.name
        mode = self._modes[name]
        hidden = self._only_complete if mode in _GROWING else _ROOT
        recorder = Recorder(depth, self._end, mode == "REALTIME", hidden)
        path = path_of(self._machine.frames, 0, depth)
        schema = None
        if self._schema_of is not None and self._text is not None:
            schema = self._schema_of(name, self._machine.frames[:depth])
            self._text.begin(offset)
        self._entity = Entity(name, mode, self._counts[name], path, recorder, schema)
        self._machine.redirect(recorder)
        return recorder

    def _begin_pending(self) -> None:
        """Begin the entity of a number or literal that is being read, unless it was refused.

        Not with `repair`, which may drop what is cut off.
        """
        if not self._is_skipping and not self._options["repair"]:
            depth = len(self._machine.frames)
            self._finder.find(depth, "a number", self._machine.pending_offset)

    def _end(self) -> None:
        """Complete the entity, unless its schema refuses it."""
        entity = self._entity
        self._is_skipping = False
        if entity is not None:
            try:
                model = None if entity.check is None else entity.check.close(entity.recorder.root)
                update = self._update("COMPLETED", entity)
                update.model = model if entity.is_typed else None
                is_late = entity.mode in ("BATCH", "ALL-TOGETHER")
                (self._late_updates if is_late else self._out).append(update)
            except Refused as refused:
                self._refuse(entity, refused)
            self._leave(entity)
        self._machine.redirect(self._finder)

    def _leave(self, entity: Entity) -> None:
        self._counts[entity.name] += 1
        self._entity = None

    # ---- schemas ----

    def _check_schema(self) -> None:
        """Check the changes of the open entity, and end it at the first violation."""
        entity = self._entity
        if entity is None or entity.check is None:
            return
        try:
            entity.recorder.inspect(entity.check.look)
            if not entity.recorder.in_string and not self._options["repair"]:
                entity.check.begin_at(self._machine, entity.depth)
        except Refused as refused:
            self._refuse(entity, refused)
            self._leave(entity)
            self._is_skipping = True

    def _refuse(self, entity: Entity, refused: Refused) -> None:
        """Emit the ERROR of a violation, with the last good value."""
        assert entity.check is not None and self._text is not None
        entity.recorder.reveal()
        good, model = entity.check.before(entity.recorder.root, refused.path)
        update = self._new("ERROR", entity, None if good is ABSENT else good, None)
        update.error = self._text.violation(refused, self._options, entity.path).to_dict()
        update.open_path = None if good is ABSENT else refused.path[:-1]
        update.model = model if entity.is_typed and model is not ABSENT else None
        self._out.append(update)
        if entity.depth == 0:
            self.ended = self.failed = True

    # ---- values that are not complete ----

    def _show_pending(self, entity: Entity) -> None:
        """Show the number or literal being read, or the zero of a value that has not come."""
        recorder, text = entity.recorder, self._machine.pending_text
        if text is not None and entity.mode == "REALTIME":
            if text[0] in LITERALS:
                if self._literals:
                    return recorder.offer(LITERALS[text[0]][1])
            # A model has only complete numbers, and so does the data that is sent with it.
            elif self._numbers and not entity.is_typed and (match := NUMBER.match(text)):
                read = int if match.group().lstrip("-").isdecimal() else self._parse_float
                with suppress(ValueError):  # sys.set_int_max_str_digits
                    recorder.offer(read(match.group()))
                return None
        if self._zeros and recorder.wants_zero() and entity.schema is not None:
            zero = entity.schema.zero(recorder.next_path())
            if zero is not ABSENT:
                recorder.offer(zero)
        return None

    # ---- updates ----

    def _new(self, status: Status, entity: Entity, data: Any, delta: list[Any] | None) -> Update:
        """Return an update of an entity; without a delta, it sets all of the data."""
        if not self._delta:
            delta = None
        elif delta is None:
            delta = [["set", "", data]]
        update = Record(entity.index, status, data, entity.name, delta)
        update.path = entity.path
        if self._options["repair"]:
            update.repairs = self._machine.repairs[:]
        return update  # type: ignore[return-value]  # it is an Update when it runs

    def _update(self, status: Status, entity: Entity) -> Update:
        """Return an update of the open entity with the changes since the last one."""
        recorder = entity.recorder
        has_data = self._data or status != "PARTIAL"
        value = recorder.value if has_data else ABSENT
        operations, completed = recorder.take()
        if not self._delta:
            recorder.is_sent = False  # it needs no operations
        update = self._new(status, entity, value, operations)
        update._completed = completed
        if status != "COMPLETED":
            update.open_path = recorder.path_of_open()
        if status == "PARTIAL" and entity.check is not None and entity.is_typed:
            model = entity.check.partial(recorder.hidden_depth)
            update.model = None if model is ABSENT else model
        return update

    def _fail(self, error: JsonrillError) -> list[Update]:
        """End the stream and the open entity with an error, and emit complete entities."""
        if self.ended:  # by a violation before it
            return self._take()
        if self._entity is None and self._machine.pending_text is not None:
            self._begin_pending()
        self._check_schema()
        if self.ended:
            return self._take()
        self.ended = self.failed = True
        update = self._error_update()
        update.error = stream_error(error)
        lists = {name: [item.data for item in items] for name, items in self._release().items()}
        if lists and self._entity is not None and self._entity.mode != "BATCH":
            self._out.append(update)  # the data of the open entity; the lists are the stream's
            update = Update(None, "ERROR", None)
            update.error = stream_error(error)
        if lists:
            update._data = lists if len(lists) > 1 else next(iter(lists.values()))
            update.delta = [["set", "", update._data]] if self._delta else None
            update.open_path = None
            update._completed = [((), update._data)]
        self._out.append(update)
        return self._take()

    def _error_update(self) -> Update:
        """Return the ERROR update of the open entity, or of none."""
        entity = self._entity
        if entity is None:
            return Update(None, "ERROR", None, delta=[] if self._delta else None)
        if entity.mode in _GROWING:
            entity.recorder.settle()
        else:
            entity.recorder.reveal()
        update = self._update("ERROR", entity)
        if entity.mode not in _GROWING:
            update._completed = [((), update.data)]
        if entity.check is not None and entity.is_typed:
            model = entity.check.partial_of(update.data, update.open_path)
            update.model = None if model is ABSENT else model
        return update

    def _not_found(self) -> FieldNotFound:
        names = [place.text for place in self._entities.places]
        places = ", ".join(map(repr, names))
        return FieldNotFound(f"the document has no entity at {places}", field=", ".join(names))

    def _release(self) -> dict[str | None, list[Update]]:
        """Emit the updates that waited for the end; return the updates of BATCH by name."""
        batches: dict[str | None, list[Update]] = {
            name: [] for name, mode in self._modes.items() if mode == "BATCH"
        }
        for update in self._late_updates:
            batches.get(update.entity, self._out).append(update)
        return batches

    def _batch(self, name: str | None, updates: list[Update]) -> Update:
        """Return the update of all entities of one name."""
        data = [item.data for item in updates]
        update: Update = Update(self._batch_index, "COMPLETED", data, name)
        update.delta = [["set", "", data]] if self._delta else None
        update._completed = [((), data)]
        if self._schema_of is not None:
            update.model = [item.model for item in updates]
        update.repairs = self._machine.repairs[:]
        return update


def _patterns(only_complete: Any) -> tuple[Pattern, ...]:
    texts = [only_complete] if isinstance(only_complete, str) else only_complete
    is_list = isinstance(texts, (list, tuple, set, frozenset))
    if not is_list or not all(isinstance(text, str) for text in texts):
        raise TypeError(f"only_complete must be a path, or a list of paths, not {only_complete!r}")
    return tuple(map(pattern_of, texts))


def _mode(name: Any) -> Mode:
    """Return a mode by its name, in any case and with `-` or `_`."""
    mode = name.upper().replace("_", "-") if isinstance(name, str) else name
    if mode not in MODES:
        raise ValueError(f"mode must be one of {', '.join(MODES)}, not {name!r}")
    return cast(Mode, mode)


def _refuse_unused(modes: set[Mode], **options: bool) -> None:
    """Raise for an option that has no effect in any of these modes."""
    names = " and ".join(mode for mode in MODES if mode in modes)
    for option, is_given in options.items():
        is_realtime = option in ("partial_numbers", "early_literals")
        effective = {"REALTIME"} if is_realtime else {"PROGRESSIVE", "REALTIME"}
        if is_given and modes.isdisjoint(effective):
            text = "the mode REALTIME" if is_realtime else "the modes PROGRESSIVE and REALTIME"
            raise ValueError(f"{option} is for {text}, not for {names}")


def _modes(mode: Any, entities: Entities) -> dict[str | None, Mode]:
    """Return the mode of each declared entity; REALTIME for entities that a mapping leaves out."""
    modes = mode if isinstance(mode, Mapping) else dict.fromkeys(entities.names, mode)
    by_name = {name: _mode(mode) for name, mode in modes.items()}
    unknown_names = by_name.keys() - set(entities.names)
    if unknown_names:
        raise ValueError(
            f"mode names {', '.join(sorted(unknown_names))}, which `entity` does not declare"
        )
    return {name: by_name.get(name, "REALTIME") for name in entities.names}


SchemaOf = Callable[[str | None, list[Frame]], Schema | None]


def _schemas(schema: Any, entities: Entities) -> SchemaOf | None:
    """Return a function that returns the schema of an entity inside some frames.

    An entity has the schema of its name, the only one, or its part of the schema of a root array.
    """
    if schema is None:
        return None
    if _is_by_name(schema, entities):
        by_name = {name: Schema(model) for name, model in schema.items()}
        return lambda name, frames: by_name.get(name or "")
    whole = Schema(schema)
    if entities.is_default and whole.describes_arrays:
        return lambda name, frames: whole.item(frames[0].count) if frames else whole
    return lambda name, frames: whole


def _is_by_name(schema: Any, entities: Entities) -> bool:
    """Return whether this is a schema for each name rather than one JSON Schema."""
    return (
        isinstance(schema, Mapping)
        and bool(schema)
        and schema.keys() <= set(entities.names)
        and not any(isinstance(value, (str, float, list)) for value in schema.values())
    )
