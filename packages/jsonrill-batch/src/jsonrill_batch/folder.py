"""The output of a run: a file of rows for each partition, and `job.json`."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from time import monotonic
from typing import Any, Final

from .errors import BatchError
from .job import Job
from .output import TEMPORARY, temporary
from .partition import Partition
from .summary import Summary

# Seconds between two writes of job.json.
_INTERVAL: Final = 1.0


class Folder:
    """The folder that a run writes to.

    `job.json` has the job, so that rows of different jobs are not mixed, and the summary of each
    partition that is done.
    """

    def __init__(self, path: Path, job: Job, parquet: bool) -> None:
        self.path = path.absolute()
        self._format = "parquet" if parquet else "jsonl"
        self._file = self.path / "job.json"
        self._job = {"job": json.loads(json.dumps(asdict(job))), "format": self._format}
        self._done: dict[str, Any] = {}
        self._written_at = 0.0
        self.path.mkdir(parents=True, exist_ok=True)
        if self._file.exists():
            self._read()
        elif any(it.suffix != ".tmp" for it in self.path.iterdir()):
            raise BatchError(f"{path} is not empty and not the output of a batch")
        self.remove_temporary()
        self._write()

    def output(self, partition: Partition) -> str:
        """Return the path of the rows of a partition."""
        return str(self.path / f"{partition.name}.{self._format}")

    def has(self, partition: Partition) -> bool:
        """Return whether the rows of a partition are there, from the file as it is now."""
        entry = self._done.get(partition.name, {})
        is_same = entry.get("version") == [*partition.version, partition.end]
        return is_same and Path(self.output(partition)).exists()

    def add(self, partition: Partition, summary: Summary) -> None:
        """Note that the rows of a partition are there."""
        version = [*partition.version, partition.end]
        self._done[partition.name] = {"version": version, "summary": summary.to_dict()}
        if monotonic() - self._written_at > _INTERVAL:
            self._write()

    def summary(self, partition: Partition) -> Summary:
        """Return the summary of a partition that is done."""
        return Summary.from_dict(self._done[partition.name]["summary"])

    def close(self) -> None:
        """Write `job.json`, and remove what dead workers left."""
        self._write()
        self.remove_temporary()

    def remove_temporary(self) -> None:
        for file in self.path.glob(TEMPORARY):
            file.unlink(missing_ok=True)

    def _read(self) -> None:
        try:
            content = json.loads(self._file.read_text("utf8"))
            self._done = content.pop("done")
        except (ValueError, KeyError, AttributeError) as error:
            raise BatchError(f"{self._file} cannot be read: {error}") from error
        if content != self._job:
            raise BatchError(f"{self.path} has rows of another job: choose another folder")

    def _write(self) -> None:
        with temporary(self._file) as file:
            file.write_text(json.dumps({**self._job, "done": self._done}), "utf8")
        self._written_at = monotonic()
