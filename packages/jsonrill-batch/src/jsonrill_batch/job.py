"""What to do with each stream, and the errors of a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from jsonrill import JsonrillError

Kind = Literal["values", "updates", "check", "calls"]


class BatchError(Exception):
    """The run cannot start or cannot be finished."""


class LineError(JsonrillError):
    """A line has no stream that can be read; `code` says why."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True)
class Job:
    """What to do with each stream of a log, and how to find it in a line.

    `values` returns the last value, `updates` the updates of its entities, `check` only whether the
    stream is valid, `calls` the tool calls. `schema` is a JSON Schema of the value, for `updates`
    of an entity, for `calls` a mapping from tool names to schemas.

    `field` and `id_field` are dotted paths to the stream and its id in a line. Without `field` the
    usual forms are recognised; `"."` says that each line is the text itself.
    """

    kind: Kind
    schema: Any = None
    field: str | None = None
    id_field: str = "id"
    provider: str = "auto"
    repair: bool = False
    mode: str | Mapping[str, str] = "ONE-BY-ONE"
    entity: Any = None
    send: str = "data"

    def __post_init__(self) -> None:
        if self.kind not in get_args(Kind):
            raise ValueError(f"a job is one of {', '.join(get_args(Kind))}, not {self.kind!r}")
