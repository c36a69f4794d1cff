"""The plan of a run, written before it starts, and the records of shards that are done.

`manifest.json` has the job and the inputs as they were. Each shard that is done writes one record
of its own into `done/`: no file is appended to, so that any process may die at any time.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from .engines.task import files_of
from .errors import BatchError, InputError
from .job import Job
from .output.folder import DONE, MANIFEST, Folder
from .plan import File, Shard, cut, find_files

VERSION: Final = 3
QUARANTINED: Final = "quarantine.jsonl"


@dataclass(frozen=True)
class Manifest:
    """Job, input files and formats of a run; its shards follow from them."""

    job: Job
    files: list[File]
    shard_size: int
    format: str = "jsonl"

    def shards(self) -> list[Shard]:
        """The shards, the same ones every time."""
        return cut(self.files, self.shard_size)

    def to_json(self) -> dict[str, Any]:
        return {
            "version": VERSION,
            "job": self.job.to_json(),
            "format": self.format,
            "shard_size": self.shard_size,
            "files": [file._asdict() for file in self.files],
        }

    def save(self, folder: Folder) -> None:
        folder.write(MANIFEST, json.dumps(self.to_json(), indent=1).encode())

    @classmethod
    def load(cls, folder: Folder) -> Manifest:
        """The manifest of the run in this folder; `BatchError` if there is none."""
        text = folder.read(MANIFEST)
        if text is None:
            raise BatchError(f"{folder.path} has no {MANIFEST}: there is no run to resume")
        try:
            fields = json.loads(text)
            if fields["version"] != VERSION:
                raise BatchError(f"{folder.path} was written by another version of jsonrill")
            files = [File(**file) for file in fields["files"]]
            return cls(Job.from_json(fields["job"]), files, fields["shard_size"], fields["format"])
        except (ValueError, KeyError, TypeError) as error:
            raise BatchError(f"{folder.path}/{MANIFEST} cannot be read: {error}") from error

    def check_inputs(self) -> None:
        """`InputError` if an input has changed since the run was planned."""
        changed = []
        for file in self.files:
            try:
                now = find_files([file.path], file.input_format)[0]
            except InputError as error:
                changed.append(str(error))
                continue
            if now.version != file.version:
                changed.append(f"{file.name} has changed")
        if changed:
            more = f"; and {len(changed) - 5} more" if len(changed) > 5 else ""
            raise InputError(
                "the inputs have changed since the run was started: "
                + "; ".join(changed[:5])
                + f"{more}. Put them back, or start a new run in another folder"
            )


def done_of(folder: Folder, manifest: Manifest, shards: list[Shard]) -> dict[int, dict[str, Any]]:
    """By index, the records of shards that are done and whose files are complete."""
    names = set(folder.names(DONE))
    done = {}
    for shard in shards:
        record = _record(folder, shard) if f"{shard.name}.json" in names else None
        if (
            record is not None
            and folder.size(files_of(shard.name, manifest.format)[0]) == record["part"]
        ):
            done[shard.index] = record
    if len(done) == len(shards) and folder.size(QUARANTINED) is not None:
        return done
    # Until the quarantine is gathered in one file, each shard needs its own.
    return {index: record for index, record in done.items() if _has_quarantine(folder, record)}


def _record(folder: Folder, shard: Shard) -> dict[str, Any] | None:
    text = folder.read(f"{DONE}/{shard.name}.json")
    try:
        record = json.loads(text or b"")
    except ValueError:
        return None
    return record if isinstance(record, dict) and record.get("shard") == shard.name else None


def _has_quarantine(folder: Folder, record: dict[str, Any]) -> bool:
    name = files_of(record["shard"], "")[1]
    return record["quarantine"] is None or folder.size(name) == record["quarantine"]


def gather_quarantine(folder: Folder, shards: list[Shard], done: dict[int, dict[str, Any]]) -> None:
    """Gather the quarantine of all shards in one file, with line numbers of the input file.

    A shard that starts in the middle of a file does not know how many lines come before it, so
    its line numbers are added up here.
    """
    if all(record["quarantine"] is None for record in done.values()):
        folder.remove(QUARANTINED)
        return
    with folder.create(QUARANTINED) as file:
        for row in _all_quarantined(folder, shards, done):
            file.write(row)
    for shard in shards:
        folder.remove(files_of(shard.name, "")[1])


def first_quarantined(folder: Folder, count: int = 10) -> list[dict[str, Any]]:
    """The first rows of the quarantine without their text, for the report."""
    rows = [json.loads(line) for line in islice(folder.lines(QUARANTINED), count)]
    return [{name: value for name, value in row.items() if name != "text"} for row in rows]


def _all_quarantined(
    folder: Folder, shards: list[Shard], done: dict[int, dict[str, Any]]
) -> Iterator[bytes]:
    before, path = 0, ""
    for shard in shards:
        first = shard.segments[0]
        before = before if first.path == path and first.start else 0
        path = first.path
        record = done[shard.index]
        if record["quarantine"] is not None:
            for line in folder.lines(files_of(shard.name, "")[1]):
                row = json.loads(line)
                row["line"] += before
                yield json.dumps(row, ensure_ascii=True, separators=(",", ":")).encode() + b"\n"
        before += record["summary"]["lines"]
