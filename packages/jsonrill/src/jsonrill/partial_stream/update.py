"""An update: the progress of one entity.

It keeps a position in the log of its entity, not a copy: its data and delta are built when they
are first read, and making or keeping an update costs the same however large the entity is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Generic, Literal

from ..errors import Problem
from ..jsontext import dumps
from ..parse.sink import Repair
from ..paths import ABSENT, Path, Place, format_path, is_complete, path_of, place_of
from .codes import UNREAD
from .delta import difference
from .entities import Entity
from .log import Log
from .replay import Delta, complete_paths

Status = Literal["PARTIAL", "COMPLETED", "ERROR"]

_NO_REPAIRS: Final[tuple[list[Repair], int, int]] = ([], 0, 0)


if TYPE_CHECKING:
    # Only there it may have a default in Python 3.11, so that a bare `Update` can be written.
    from typing_extensions import TypeVar

    T = TypeVar("T", default=Any)
else:
    from typing import TypeVar

    T = TypeVar("T")


class Record:
    """The fields of an update, and those of its properties that are read for each piece.

    `Update` has the rest, and the type parameter that a compiled class cannot have.
    """

    __slots__ = ("_at", "_completed", "_data", "_delta", "_entity", "_log", "_model", "_open",
                 "_since", "_repairs", "_string", "error", "status")  # fmt: skip

    status: Status
    error: Problem | None
    _at: int
    _completed: list[Path] | None
    _data: Any
    _delta: Any
    _entity: Entity
    _log: Log | None
    _model: Any
    _open: Path | None
    _repairs: tuple[list[Repair], int, int]
    _since: int
    _string: Place | None

    def _of(self, entity: Entity, status: Status, log: Log | None, data: Any, delta: Any) -> None:
        """Make this the update of an entity, as its log has it now."""
        self.status = status
        self.error = None
        self._entity = entity
        self._log = log
        self._data = data
        self._delta = delta
        self._model = UNREAD
        self._open = None
        self._repairs = _NO_REPAIRS
        if log is not None:
            # The update before this one was at `_since`, when `_string` was the open string.
            self._since = log.sent
            self._string = log.sent_string
            self._at = len(log.entries)
        else:
            self._completed = None

    @property
    def data(self) -> Any:
        if self._data is UNREAD and self._log is not None:
            self._data = self._log.at(self._at).value
        return None if self._data is ABSENT else self._data

    @property
    def delta(self) -> Delta | None:
        if self._delta is UNREAD:
            self._delta = self._change()
        return None if self._delta is ABSENT else self._delta

    def _change(self) -> Delta:
        """The changes since the update before; compared, if an error removed something."""
        log = self._log
        if log is not None and self.status != "ERROR":
            return log.delta(self._since, self._string, self._at)
        data = self.data
        if log is not None and self._since > 0:
            return difference(log.at(self._since).value, data)
        if data is None and self.status == "ERROR":
            return []
        return [{"op": "add", "path": "", "value": data}]


class Update(Record, Generic[T]):
    """The state of one entity. Treat it as read-only; its data is safe to keep.

    `index` counts the entities of one name from 0, `status` is PARTIAL, COMPLETED or ERROR,
    `data` what is known, `entity` the declared name, `delta` what is new since the update before,
    `error` what `JsonrillError.to_dict` says. A field that an update does not have is None.
    """

    __slots__ = ()

    def __init__(
        self,
        index: int | None,
        status: Status,
        data: Any = ABSENT,
        entity: str | None = None,
        delta: Delta | None = None,
        error: Problem | None = None,
    ) -> None:
        self._of(Entity(index, entity), status, None, data, ABSENT if delta is None else delta)
        self.error = error

    @property
    def index(self) -> int | None:
        return self._entity.index

    @property
    def entity(self) -> str | None:
        return self._entity.name

    @property
    def path(self) -> Path:
        """The path of the entity in its document."""
        return path_of(self._entity.place)

    @property
    def document(self) -> int:
        """The number of the entity's document in the stream, from 0."""
        return self._entity.document

    @property
    def repairs(self) -> list[Repair]:
        """The repairs that were needed to read the document this far."""
        repairs, start, end = self._repairs
        return repairs[start:end]

    @property
    def model(self) -> T | None:
        """With a pydantic type as schema: a partial instance; the validated one at COMPLETED.

        At ERROR it is the last good partial instance. It is made when it is first read.
        """
        if self._model is UNREAD:
            check = self._entity.check
            log = self._log
            if check is None:
                self._model = None
            elif self.status == "ERROR" or log is None:
                self._model = check.partial_of(self.data, self._open)
            elif self._at == len(log.entries) and not log.lags and not check.is_refused:
                self._model = check.partial_now()
            else:
                reading = log.at(self._at)
                self._model = check.partial_of(reading.live, reading.open_path)
        model: T | None = self._model
        return model

    @property
    def completed(self) -> list[Path]:
        """The paths, within the data, of the values that became complete with this update."""
        log = self._log
        if log is None and self._completed is not None:
            return self._completed
        paths = log.completed(self._since, self._at) if log else complete_paths(self.data)
        if self.status == "ERROR":  # which may have removed one again
            known = self.data, self.open_path
            paths = (path for path in paths if is_complete(known[0], path, known[1]))
        return list(paths)

    @property
    def open_path(self) -> Path | None:
        """The path, within the data, of the value that still grows; None if nothing does."""
        if self.status == "PARTIAL" and self._log is not None:
            return self._log.at(self._at).open_path
        return self._open

    def is_complete(self, path: Path | str = ()) -> bool:
        """True if there is a value at this path, within the data (without one: all of it), and it
        is complete."""
        log = None if self.status == "ERROR" else self._log
        value = self.data if log is None else log.at(self._at).live
        return is_complete(value, path, self.open_path)

    def to_dict(self, *also: str) -> dict[str, Any]:
        """The update as JSON wants it. Further attributes (`path`, `open_path`, `completed`,
        `document`, `repairs`) are there if named."""
        fields: dict[str, Any] = {"index": self.index, "status": self.status}
        if fields["index"] is None:
            del fields["index"]
        if self._data is not ABSENT:
            fields["data"] = self.data
        if self._entity.name is not None:
            fields["entity"] = self._entity.name
        if self._delta is not ABSENT:
            fields["delta"] = self.delta
        if self.error is not None:
            fields["error"] = self.error
        for name in also:
            fields[name] = self._further(name)
        return fields

    def to_json(self, *also: str) -> str:
        """The update as compact JSON text; arguments as for `to_dict`."""
        return dumps(self.to_dict(*also))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Update):
            return NotImplemented
        return self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment]  # data may be of any type

    def __reduce__(self) -> tuple[Any, ...]:
        # A copy, or what another process gets, is an update without a log.
        known = (
            *(self.path, self.open_path, self.document, self.repairs, self.model),
            self.completed,
        )
        return _restored, (self.to_dict(), *known)

    def __repr__(self) -> str:
        return f"Update({self.to_json()})"

    def _further(self, name: str) -> Any:
        if name == "path":
            return format_path(self.path)
        if name == "open_path":
            return None if self.open_path is None else format_path(self.open_path)
        if name == "completed":
            return [format_path(path) for path in self.completed]
        if name == "document":
            return self.document
        if name == "repairs":
            return [repair._asdict() for repair in self.repairs]
        raise ValueError(f"an update has no {name!r} to send")


def _restored(
    fields: dict[str, Any],
    path: Path,
    growing: Path | None,
    document: int,
    repairs: list[Repair],
    model: Any,
    completed: list[Path],
) -> Update:
    update = Update(**{"index": None, **fields})
    update._entity.place = place_of(path)
    update._entity.document = document
    update._open, update._repairs, update._model = growing, (repairs, 0, len(repairs)), model
    update._completed = completed
    return update


def absorb(earlier: Update, later: Update) -> bool:
    """Make `later` tell also what `earlier` would have; False if they are of two entities."""
    if earlier._entity is not later._entity:
        return False
    later._since, later._string = earlier._since, earlier._string
    return True
