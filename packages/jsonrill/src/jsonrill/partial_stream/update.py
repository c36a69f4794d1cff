"""An update: the progress of one entity."""

from __future__ import annotations

from types import GenericAlias
from typing import TYPE_CHECKING, Any, Generic, Literal, Self

from ..errors import Problem
from ..jsontext import dumps
from ..parse.machine import Repair
from ..paths import ABSENT, Path, complete_paths, format_path, is_complete
from .recorder import Completed

Status = Literal["PARTIAL", "COMPLETED", "ERROR"]
Delta = list[list[Any]]


class Record:
    """An `Update`, without its type parameter, which a compiled class cannot have."""

    __slots__ = ("_completed", "_data", "delta", "entity", "error", "index", "model", "open_path",
                 "path", "repairs", "status")  # fmt: skip

    __class_getitem__: Any = classmethod(GenericAlias)

    def __init__(
        self,
        index: int | None,
        status: Status,
        data: Any = ABSENT,
        entity: str | None = None,
        delta: Delta | None = None,
        error: Problem | None = None,
    ) -> None:
        self.index = index
        self.status: Status = status
        self._data = data
        self.entity = entity
        self.delta = delta
        self.error = error
        self.path: Path = ()
        self.open_path: Path | None = None
        self._completed: Completed = ()
        self.model: Any = None
        self.repairs: list[Repair] = []

    @property
    def data(self) -> Any:
        return None if self._data is ABSENT else self._data

    @property
    def completed(self) -> list[Path]:
        growing = self.open_path
        paths = [path + rest for path, value in self._completed for rest in complete_paths(value)]
        if growing is None:
            return paths
        return [path for path in paths if path != growing[: len(path)]]

    def is_complete(self, path: Path | str = ()) -> bool:
        """Return whether there is a complete value at this path, within the data."""
        return is_complete(self.data, path, self.open_path)

    def to_dict(self, *also: str) -> dict[str, Any]:
        """Return the update for JSON. Further attributes (`path`, `open_path`, `completed`,
        `repairs`) are there if named."""
        fields: dict[str, Any] = {}
        if self.index is not None:
            fields["index"] = self.index
        fields["status"] = self.status
        if self._data is not ABSENT:
            fields["data"] = self._data
        for name in ("entity", "delta", "error"):
            if getattr(self, name) is not None:
                fields[name] = getattr(self, name)
        for name in also:
            fields[name] = self._further(name)
        return fields

    def to_json(self, *also: str) -> str:
        """Return the update as compact JSON text; arguments as for `to_dict`."""
        return dumps(self.to_dict(*also))

    def absorb(self, earlier: Record) -> Self | None:
        """Merge an earlier update of the same entity into this one; None for another entity."""
        if (earlier.entity, earlier.index) != (self.entity, self.index):
            return None
        if earlier.delta is not None and self.delta is not None:
            self.delta = _joined(earlier.delta, self.delta)
        old = earlier._completed
        merged: list[Any] = old if isinstance(old, list) else [*old]
        merged += self._completed  # not a new list: many updates may be held
        self._completed = merged
        return self

    def _further(self, name: str) -> Any:
        if name == "path":
            return format_path(self.path)
        if name == "open_path":
            return None if self.open_path is None else format_path(self.open_path)
        if name == "completed":
            return [format_path(path) for path in self.completed]
        if name == "repairs":
            return [repair._asdict() for repair in self.repairs]
        raise ValueError(f"an update has no {name!r} to send")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Record):
            return NotImplemented
        return self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment]  # data may be of any type

    def __repr__(self) -> str:
        return f"Update({self.to_json()})"


if TYPE_CHECKING:
    # In Python 3.11 only this one takes a default, which allows a bare `Update`.
    from typing_extensions import TypeVar

    T = TypeVar("T", default=Any)

    class Update(Record, Generic[T]):
        """The state of one entity. Treat it as read-only; its data is safe to keep.

        `index` counts the entities of one name from 0, `status` is PARTIAL, COMPLETED or ERROR,
        `data` the value so far, `entity` the declared name, `delta` the operations since the
        previous update, `error` the dict that `JsonrillError.to_dict` returns. Absent fields are
        None. `path` leads to the entity in its document; within the data, `open_path` leads to the
        value that still grows, and `completed` to the values that this update completes. `model`
        is the data as an instance of the schema's type, `repairs` are those so far.
        """

        model: T | None
else:
    Update = Record


def _joined(earlier: Delta, later: Delta) -> Delta:
    """Return the earlier operations with the later ones; appended text becomes one operation."""
    if earlier and later and earlier[-1][:2] == later[0][:2] == ["append", earlier[-1][1]]:
        earlier[-1][2] += later[0][2]
        later = later[1:]
    earlier += later
    return earlier
