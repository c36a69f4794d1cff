"""Millions of recorded streams: converted, validated, checked, on one machine or on Dask.

`run` does a `Job` on files and leaves rows, a quarantine and a `Report` in a folder; `resume` goes
on after whatever stopped it. `process_shard` is the work itself, for an engine of one's own: lines
in, rows out, a `Summary` at the end.

record.py   a line → a stream, in any of its forms
work.py     a stream → rows, one function for each kind of job; judged.py, tally.py: its parts
shard.py    lines → rows, quarantine and summary; pure
reading.py  files → lines: ranges, event streams; archives.py: .gz, .zst
plan.py     inputs → files → shards
task.py     one shard, from its files to its record
engine.py, local.py, cluster.py, worker.py   who does the shards, and what if they die
folder.py, manifest.py, run.py               what is kept, so that nothing is done twice or lost
summary.py, report.py, page.py               what it came to
"""

from .errors import BatchError, InputError, Interrupted, OutputError
from .input.line import Line
from .job import Job
from .output.report import Report
from .output.summary import Spread, Summary
from .runner import Progress, resume, run
from .shard import process_shard

__all__ = [
    "BatchError",
    "InputError",
    "Interrupted",
    "Job",
    "Line",
    "OutputError",
    "Progress",
    "Report",
    "Spread",
    "Summary",
    "process_shard",
    "resume",
    "run",
]
