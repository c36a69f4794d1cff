"""Converts, validates or checks millions of recorded streams, on one machine or on Dask.

`run` does a `Job` on files and writes rows, a quarantine and a `Report` into a folder; `resume`
continues a run that was stopped. `process_shard` is the work alone, for an engine of your own:
lines in, rows out, a `Summary` at the end.

A part imports only from parts above it.

    job.py         what is to be done with each stream
    errors.py      what stops a run, and what is wrong with a line
    files.py       files of this machine and of others
    input/         files → lines → streams
    output/        the folder, the formats of rows, the summary and the report
    whole.py       streams that are valid as a whole, in one go
    operations.py  a stream → rows: one function for each kind of job
    plan.py        inputs → files → shards
    shard.py       lines → rows, quarantine and summary; no files
    engines/       who does the shards, and what happens when workers die
    manifest.py    what was planned and what is done
    runner.py      run and resume
    cli.py         the command `jsonrill batch`
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
