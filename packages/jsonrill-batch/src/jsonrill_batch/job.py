"""The job: what is to be done with each stream. It is JSON, for workers and for the manifest.

The stages of jsonrill know what their options mean; a job only refuses an option that would have
no effect.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pkgutil import resolve_name
from typing import Any, Final

from jsonrill.options import (
    BATCH_MODE,
    JOBS,
    Entity,
    Modes,
    Null,
    Numbers,
    OnRevision,
    Patterns,
    Schemas,
    Send,
    jobs_of,
    offered,
)

from jsonrill.errors import Limits
from jsonrill.parse.rules import rule_names
from jsonrill.paths import parse_path

DEFAULT_ID: Final = "id"


@dataclass(frozen=True, kw_only=True)
class Job:
    """What to make of each stream (`kind`), and the options for it.

    `values` writes the last value, `updates` and `fragments` one row for each, `chunks` the chunks
    that snapshots make, `calls` the tool calls, and `check` whether the stream is valid JSON, where
    it is not, and how long the first value took.

    `schema` is a JSON Schema, or `"module:Name"` of a pydantic type that workers can import: of
    the document (`values`, `check`) or of one entity (`updates`). `field` and `id_field` are paths
    in a line, for logs with other names. A line longer than `max_line` bytes goes to quarantine,
    which keeps the first `keep` bytes of a line.
    """

    kind: str
    schema: Any = None
    schemas: Schemas = None
    mode: Modes = BATCH_MODE
    entity: Entity = None
    send: Send = "data"
    partial_numbers: bool = True
    early_literals: bool = False
    zero_values: bool = False
    only_complete: Patterns = ()
    provider: str = "auto"
    repair: bool | tuple[str, ...] = False
    prefix: str = ""
    eager: bool = False
    null: Null = "value"
    on_revision: OnRevision = "raise"
    numbers: Numbers = "growing"
    field: str | None = None
    id_field: str = DEFAULT_ID
    limits: Limits = Limits()
    max_line: int = 32 * 2**20
    keep: int = 64 * 2**10

    def __post_init__(self) -> None:
        if self.kind not in JOBS:
            raise ValueError(f"kind is one of {', '.join(JOBS)}, not {self.kind!r}")
        if self.max_line < 1 or self.keep < 0:
            raise ValueError("max_line must be at least 1, and keep at least 0")
        options = self._given()
        for option in offered("batch"):
            kinds = jobs_of(option)
            if option.name in options and self.kind not in kinds:
                raise ValueError(f"{option.name} is for {', '.join(kinds)}, not for {self.kind}")
            option.check(getattr(self, option.name))
        for path in (self.field, self.id_field):
            if path is not None:
                parse_path(path)
        if not isinstance(self.repair, bool):
            object.__setattr__(self, "repair", tuple(sorted(rule_names(self.repair))))
        if not isinstance(self.only_complete, str):
            object.__setattr__(self, "only_complete", tuple(self.only_complete))

    def _given(self) -> set[str]:
        """The names of options that differ from their defaults."""
        return {
            option.name
            for option in fields(self)
            if option.name != "kind" and getattr(self, option.name) != option.default
        }

    def to_json(self) -> dict[str, Any]:
        """The job as JSON, without options that have their defaults."""
        shown = {name: getattr(self, name) for name in sorted(self._given())}
        if "limits" in shown:
            shown["limits"] = {name: getattr(self.limits, name) for name in Limits.__slots__}
        if "repair" in shown and isinstance(self.repair, tuple):
            shown["repair"] = list(self.repair)
        return {"kind": self.kind, **shown}

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> Job:
        """The job that `to_json` wrote."""
        options = dict(fields)
        if "limits" in options:
            options["limits"] = Limits(**options["limits"])
        if isinstance(options.get("repair"), list):
            options["repair"] = tuple(options["repair"])
        return cls(**options)


def resolved(schema: Any) -> Any:
    """The schema as `Schema` takes it; a type that is named is imported."""
    if not isinstance(schema, str):
        return schema
    if ":" not in schema:
        raise ValueError(f'a schema is JSON Schema or "module:Name", not {schema!r}')
    try:
        return resolve_name(schema)
    except (ImportError, AttributeError) as error:
        raise ValueError(f"schema {schema!r}: {error}") from error
