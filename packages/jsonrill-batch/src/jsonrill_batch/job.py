"""What to do with each stream."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

KINDS: Final = ("values", "updates", "check", "calls")


@dataclass(frozen=True)
class Job:
    """What to do with each stream of a log, and how to find it in a line.

    `values` returns the last value, `updates` the updates of its entities, `check` only whether the
    stream is valid, `calls` the tool calls. `schema` is a JSON Schema of the value, for `updates`
    of an entity, for `calls` a mapping from tool names to schemas.

    `field` and `id_field` are dotted paths to the stream and its id in a line. Without `field` the
    usual forms are recognised; `"."` says that each line is the text itself.
    """

    kind: str
    schema: Any = None
    field: str | None = None
    id_field: str = "id"
    provider: str = "auto"
    repair: bool = False
    mode: str | Mapping[str, str] = "ONE-BY-ONE"
    entity: Any = None
    send: str = "data"

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"a job is one of {', '.join(KINDS)}, not {self.kind!r}")
