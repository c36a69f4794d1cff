"""Text → updates: `PartialStream`.

The machine emits to the sink of what is being read: outside entities the finder of `entities.py`,
inside one its log, behind the `Check` of its schema if there is one. Bad data never raises here: an
error is an update like any other.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, NoReturn, Unpack

from ..errors import (
    CutShort,
    InvalidJSON,
    InvalidSchema,
    LimitExceeded,
    refuse_copy,
    stream_error,
)
from ..options import Modes, ParseOptions, UpdateOptions
from ..parse.create import create_machine
from ..parse.grammar import LITERALS, NUMBER
from ..parse.sink import Repair, Sink, weak_method
from ..paths import ABSENT, Place, path_of
from .codes import UNREAD
from .entities import Declared, Entity, Finder
from .log import FinishedLog, Held, Log, Whole
from .settings import StreamSettings
from .update import Status, Update

if TYPE_CHECKING:
    from ..schema import Refusal

# More levels than any text can have.
_ALL_LEVELS: Final = 1 << 60
# What a strict machine takes for the beginning of a number or literal.
# As much text as may be before an entity of which a piece before has the first characters.
_PENDING: Final = 500
_BEGINS: Final = frozenset((*LITERALS, *"-0123456789"))
# Looked up once: an update is made for each piece.
_NEW: Final = Update.__new__


class PartialStream:
    """Text in, updates out. Nothing is raised for bad data: an ERROR is an update.

    `mode` says what arrives (or a mapping says it for each declared name), `entity` which parts of
    a document are entities, `schema` what one of them must look like, `send` whether updates carry
    their data, what is new in it, or both, and `only_complete` what of an entity is shown only when
    it is complete. After the end, or an ERROR of the stream, `ended` is true and nothing more
    comes. A violation of the schema ends its entity, and the stream if the entity is the root.
    """

    # More attributes than 30 would cost each of them the short way that Python has to it.
    __slots__ = ("__weakref__", "_counts", "_data", "_delta", "_document", "_entity",
                 "_errors", "_finder", "_held_back", "_is_refused", "_kept", "_kept_before",
                 "_repairing", "_log", "_machine", "_out", "_realtime",
                 "_recorder", "_repairs", "_schema_of", "_sees_pending", "_settings", "_text",
                 "_told", "_violations", "_zeros", "ended", "mode")  # fmt: skip

    def __copy__(self) -> NoReturn:
        refuse_copy(self)

    def __deepcopy__(self, memo: Any) -> NoReturn:
        refuse_copy(self)

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        refuse_copy(self)

    def __init__(
        self, mode: Modes = "REALTIME", *, schema: Any = None, **options: Unpack[UpdateOptions]
    ) -> None:
        settings = StreamSettings(mode, schema, options)
        self._begin_stream(settings, settings.parsing)

    def following(self) -> PartialStream:
        """Return a stream for the next of many documents, which goes on counting the entities."""
        stream = PartialStream()
        parsing: Any = {**self._settings.parsing}
        parsing.pop("prefix", None)
        stream._begin_stream(self._settings, parsing)
        stream._counts = self._counts
        return stream

    def _begin_stream(self, settings: StreamSettings, parsing: ParseOptions) -> None:
        self._settings = settings
        self.mode = settings.mode
        self.ended = False
        self._data, self._delta = settings.data, settings.delta
        self._schema_of = settings.schema_of
        self._sees_pending, self._zeros = settings.sees_pending, settings.zeros
        # With a schema: the text of the open entity, to find the offset of a violation.
        self._text: Any = None
        if self._schema_of is not None:
            from ..schema.errors import SourceText

            self._text = SourceText(parsing.get("prefix", ""))
        self._counts: dict[str | None, int] = dict.fromkeys(settings.entities.names, 0)
        is_unchecked = self._schema_of is None
        # What is called while the machine runs: nothing of it keeps the stream.
        begin = weak_method(self, PartialStream._begin)
        next_document = weak_method(self, PartialStream._next_document)
        self._told = weak_method(self, PartialStream._end), next_document
        self._finder = Finder(settings.entities, begin, next_document, is_unchecked)
        self._machine = create_machine(self._finder, parsing)
        self._repairing = bool(settings.rules)
        self._is_refused = False
        # Which document this is; how many errors, repairs and kept updates were before it.
        self._document = 0
        self._errors = 0
        self._repairs = 0
        self._kept_before = 0
        # The entity being read, and what writes it down (a log, if it is read before its end).
        self._entity: Entity | None = None
        self._recorder: Whole | Log | None = None
        self._log: Log | None = None
        self._held_back: Held | None = None
        self._realtime = False
        # A schema sees no lines: those of a violation are found when the piece has been read. So
        # the machine keeps where lines begin while an entity with a schema is open.
        self._violations: list[tuple[InvalidSchema, Update]] = []
        # Updates for this call, and those for the end.
        self._out: list[Update] = []
        self._kept: list[Update] = []

    @property
    def repairs(self) -> list[Repair]:
        """All that had to be repaired so far, also after the last update."""
        return self._machine.repairs

    def feed(self, data: str | bytes, *, more: bool = False) -> list[Update]:
        """The updates that this piece of text brings: at most one for each entity.

        With `more` it is part of a longer piece, whose rest follows: an entity that is open has
        its update with the last part.
        """
        if self.ended:
            return []
        if self._text is not None:
            if self._entity is None:
                self._text.begin(self._text.end - _PENDING)
            self._text.add(data)
        try:
            self._machine.feed(data)
        except (InvalidJSON, LimitExceeded) as error:
            if not self._is_refused:
                return self._failed(error)
        if self._text is not None:
            self._look()
        log = self._log
        if self._sees_pending and not (more or self._is_refused):
            if log is None or log.string is None or self._zeros:
                self._see_pending()
                log = self._log
        if self._violations:
            self._find_violations()
        updates = self._out
        self._out = []
        if log is None or more:
            return updates
        if log.news() if log.doubtful else log.changed:
            assert self._entity is not None
            updates.append(self._update(self._entity, "PARTIAL", self._data))
            log.mark()
        return updates

    def flush(self, cut: CutShort | None = None) -> list[Update]:
        """The text has ended: the last updates, among them an ERROR if it stopped early.

        With `cut` the answer goes on behind the text, as the provider says: nothing is repaired.
        """
        if self.ended:
            return []
        try:
            self._machine.flush(cut)
        except (InvalidJSON, LimitExceeded) as error:
            if not self._is_refused:
                return self._failed(error)
        if not self._is_refused:
            self._lost()
        self._find_violations()
        self.ended = True
        return self._out if self._is_refused else self._out + self._held()

    def _held(self) -> list[Update]:
        """The updates that come at the end, in the modes that have some."""
        batched = [name for name, mode in self._settings.mode_of.items() if mode == "BATCH"]
        others = [update for update in self._kept if update.entity not in batched]
        return others + [self._batch(name) for name in batched]

    # Called by the finder, the recorders and the check while the machine runs.

    def _begin(self, declared: Declared, place: Place | None, offset: int) -> Sink:
        """Begin an entity; returns the sink for its events."""
        index = self._counts[declared.name]
        self._counts[declared.name] = index + 1
        schema = None if self._schema_of is None else self._schema_of(declared, place)
        entity = Entity(index, declared.name, place, self._document, schema, offset=offset)
        self._entity = entity
        mode = self._settings.mode_of[declared.name]
        self._realtime = mode == "REALTIME"
        if self._realtime:
            recorder: Whole | Log = Log(*self._told)
        elif mode == "PROGRESSIVE":
            recorder = FinishedLog(*self._told)
        else:
            recorder = Whole(*self._told)
        self._recorder = recorder
        self._log = recorder if isinstance(recorder, Log) else None
        sink: Sink = recorder
        if self._log is not None and self._settings.only_complete:
            sink = self._held_back = Held(self._log, self._settings.only_complete)
        if schema is not None:
            from .checked import CheckedValue

            if not self._violations:
                self._machine.keep_lines(True)
            self._text.begin(offset)
            sink = entity.check = CheckedValue(schema, sink)
        self._machine.tell(sink)
        return sink

    def _end(self) -> None:
        """Complete the entity, unless its schema refuses it."""
        entity, recorder = self._entity, self._recorder
        assert entity is not None and recorder is not None
        if entity.check is not None:
            from ..schema import Refused

            try:
                entity.check.close()
            except Refused as refused:
                self._violated(refused.refusal)
                return
        held = self._settings.mode_of[entity.name] in ("BATCH", "ALL-TOGETHER")
        (self._kept if held else self._out).append(self._completed(entity, recorder))
        self._leave()

    def _look(self) -> None:
        """Check what is new in the open entity, and the number or literal that has begun."""
        if self._is_refused:
            return
        machine = self._machine
        is_pending = not self._repairing and machine.is_pending() and machine.pending_text
        if is_pending and self._entity is None:
            self._finder.begin(machine.pending_offset)
        entity = self._entity
        if entity is None or entity.check is None:
            return
        from ..schema import Refused

        try:
            entity.check.look(machine, not self._repairing)
        except Refused as refused:
            self._violated(refused.refusal)
            if is_pending and not self._is_refused:
                self._finder.skip(entity.check.depth, begun=True)

    def _violated(self, refusal: Refusal) -> None:
        """End the entity with the ERROR of its violation; skip the rest of it, or of the text."""
        from ..schema.errors import violation

        entity = self._entity
        assert entity is not None and entity.check is not None
        update = self._error()
        value, update._model, update._open = entity.check.good_before(refusal)
        update._data = None if value is ABSENT else value
        offset = self._text.offset_of(refusal, self._settings.parsing)
        error = violation(refusal, path_of(entity.place), offset)
        self._violations.append((error, update))
        self._out.append(update)
        self._leave()
        if entity.place is None:
            if self._kept:
                self._out += self._held()
            self._refuse()
        else:
            self._finder.skip(entity.check.depth)

    def _refuse(self) -> None:
        """End the stream with this piece, whose rest is read and ignored."""
        self._is_refused = True
        self._finder.skip(_ALL_LEVELS)
        self._machine.tell(Sink())

    def _find_violations(self) -> None:
        """Set the errors of violations in this piece, with line and column."""
        for violation, update in self._violations:
            place = self._machine.line_and_column(violation.offset)
            violation.line, violation.column = place
            update.error = violation.to_dict()
        self._violations.clear()
        self.ended = self.ended or self._is_refused
        if self._entity is None:
            self._machine.keep_lines(False)

    def _leave(self) -> None:
        self._entity = self._recorder = self._log = self._held_back = None
        if not self._violations:
            self._machine.keep_lines(False)
        self._machine.tell(self._finder)

    def _next_document(self) -> None:
        """Leave a document, one of many, that has ended or failed."""
        self._lost()
        self._leave()
        self._finder.reset()
        self._document += 1
        self._repairs = len(self._machine.repairs)
        self._kept_before = len(self._kept)

    # Without an event of the machine: a value that is beginning, and the end by an error.

    def _see_pending(self) -> None:
        """Look at the number or literal that is being read, or at a key without a value."""
        text = self._machine.pending_text if self._machine.is_pending() else None
        if text is not None and self._entity is None and not self._repairing:
            self._finder.begin(self._machine.pending_offset)
        log = self._log
        held = self._held_back
        if log is None or (held is not None and held.holds_next()):
            return
        is_shown = text is not None and self._realtime and self._show(log, text)
        if self._zeros and log.waits and not is_shown:
            self._show_zero(log)

    def _show(self, log: Log, text: str) -> bool:
        """Show the number or literal that begins so; False if nothing can be shown of it."""
        if text[0] in LITERALS:
            if self._settings.literals:
                log.show(LITERALS[text[0]][1])
            return self._settings.literals
        schema = None if self._entity is None else self._entity.schema
        # A model has a number when it is complete, and so does the data beside it.
        is_shown = self._settings.numbers and (schema is None or not schema.is_typed)
        match = NUMBER.match(text) if is_shown else None
        if match is None:
            return False
        number = match.group()
        with suppress(ValueError):  # sys.set_int_max_str_digits
            log.show(
                int(number)
                if number.lstrip("-").isdecimal()
                else self._settings.parse_float(number)
            )
        return True

    def _show_zero(self, log: Log) -> None:
        schema = self._entity.schema if self._entity is not None else None
        if schema is not None:
            known, zero = schema.zero(log.waiting_path())
            if known:
                log.show(zero.copy() if isinstance(zero, (dict, list)) else zero)

    def _failed(self, error: InvalidJSON | LimitExceeded) -> list[Update]:
        """End the stream, and the open entity, with an error."""
        self.ended = True
        self._fail(error)
        self._find_violations()
        self._leave()
        return self._out

    def _lost(self) -> None:
        """Emit the error of a document that was given up, one of many."""
        if len(self._machine.errors) > self._errors:
            self._errors += 1
            self._fail(self._machine.errors[-1])

    def _fail(self, error: InvalidJSON | LimitExceeded) -> None:
        """End the document with an error; what is complete in it is emitted."""
        self._begin_pending(error)
        if self._text is not None:
            self._look()
        if self._is_refused:
            return
        update = self._error()
        update.error = stream_error(error)
        self._end_with(update)

    def _end_with(self, update: Update) -> None:
        """Emit the error of a document; what is complete in it is emitted, too."""
        finished = self._kept[self._kept_before :]
        del self._kept[self._kept_before :]
        batched = [name for name, mode in self._settings.mode_of.items() if mode == "BATCH"]
        if batched:
            update._data = _by_name(batched, finished)
            update._model = None
        self._out += [one for one in finished if one.entity not in batched]
        self._out.append(update)

    def _begin_pending(self, error: InvalidJSON | LimitExceeded) -> None:
        """Begin the entity of a number or literal that has begun, however the text was cut."""
        text = self._machine.pending_text
        is_number = isinstance(error, LimitExceeded) and error.limit == "number"
        if self._entity is None and (is_number or (text is not None and text[:1] in _BEGINS)):
            self._finder.begin(self._machine.pending_offset)

    # Updates.

    def _update(self, entity: Entity, status: Status, data: Any) -> Update:
        """An update of an entity as its log has it now."""
        update: Update = _NEW(Update)
        update._of(entity, status, self._log, data, self._delta)
        if self._repairing:
            repairs = self._machine.repairs
            update._repairs = (repairs, self._repairs, len(repairs))
        return update

    def _completed(self, entity: Entity, recorder: Whole | Log) -> Update:
        update = self._update(entity, "COMPLETED", UNREAD)
        if isinstance(recorder, Whole):
            update._data = recorder.root
        if entity.check is not None:
            update._model = entity.check.model
        return update

    def _error(self) -> Update:
        """An ERROR of the open entity, or of none."""
        update = self._update(
            self._entity or Entity(None, None, None, self._document), "ERROR", None
        )
        if self._recorder is not None:
            update._data, update._open = self._recorder.known()
        return update

    def _batch(self, name: str | None) -> Update:
        """All entities of one name, as one."""
        parts = [update for update in self._kept if update.entity == name]
        update = self._update(Entity(0, name), "COMPLETED", [part.data for part in parts])
        if self._schema_of is not None:
            update._model = [part.model for part in parts]
        if self._repairing:
            update._repairs = (self._machine.repairs, 0, len(self._machine.repairs))
        return update


def _by_name(names: list[str | None], finished: list[Update]) -> Any:
    """The data of complete entities, for an ERROR in BATCH: a list, or one for each name."""
    lists = {name: [one.data for one in finished if one.entity == name] for name in names}
    return lists if len(lists) > 1 else next(iter(lists.values()))
